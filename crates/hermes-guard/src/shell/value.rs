//! What a word stands for, as far as that can be known without running anything.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Span, Word};

/// How much of a value is followed: characters and pieces. A longer one counts as unknown, so that doubling a text
/// forty times costs nothing.
pub(super) const MOST_WEIGHT: usize = 64 * 1024;

/// How many outputs of substitutions are kept.
const MOST_PRINTED: usize = 32;

/// What a word becomes on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Exactly these fields. A word may become none (`$empty`) or several (`{a,b}`).
    Known(Vec<Field>),
    /// These fields, but some hold an unknown piece, which may itself split into several fields.
    Partly(Vec<Field>),
    /// Nothing is known, not even how many fields it becomes.
    Unknown,
}

/// One argument of a command, in pieces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Field {
    /// The pieces in order; neighbours are never both text.
    pub pieces: Vec<Piece>,
}

/// A piece of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Text that is there for certain.
    Text(String),
    /// The home directory of the user: `~`, `$HOME`.
    Home,
    /// The home directory of somebody else: `~name`.
    HomeOf(String),
    /// A pattern that is matched against file names: `*`, `?`, `[a-z]`.
    Glob(String),
    /// Anything: the output of a command, a variable from outside.
    Unknown,
}

impl Piece {
    pub(super) fn weight(&self) -> usize {
        match self {
            Self::Text(text) | Self::Glob(text) | Self::HomeOf(text) => text.len() + 1,
            Self::Home | Self::Unknown => 1,
        }
    }
}

impl Value {
    /// The fields as far as they are known.
    pub fn fields(&self) -> &[Field] {
        match self {
            Value::Known(fields) | Value::Partly(fields) => fields,
            Value::Unknown => &[],
        }
    }

    /// The fields as text, if every one of them is only text.
    pub fn texts(&self) -> Option<Vec<String>> {
        match self {
            Value::Known(fields) => fields.iter().map(Field::text).collect(),
            Value::Partly(_) | Value::Unknown => None,
        }
    }
}

impl Field {
    /// A field of text.
    pub fn from_text(text: &str) -> Self {
        Field { pieces: vec![Piece::Text(text.to_owned())] }
    }

    pub(super) fn unknown() -> Self {
        Field { pieces: vec![Piece::Unknown] }
    }

    /// Adds a piece; text joins the text before it.
    pub(super) fn push(&mut self, piece: Piece) {
        match (piece, self.pieces.last_mut()) {
            (Piece::Text(more), Some(Piece::Text(text))) => text.push_str(&more),
            (piece, _) => self.pieces.push(piece),
        }
    }

    /// How much it takes to keep it.
    pub(super) fn weight(&self) -> usize {
        self.pieces.iter().map(Piece::weight).sum()
    }

    /// The text, if it is only text.
    pub fn text(&self) -> Option<String> {
        self.pieces.iter().try_fold(String::new(), |mut all, piece| match piece {
            Piece::Text(text) => {
                all.push_str(text);
                Some(all)
            }
            _ => None,
        })
    }

    /// The text with `home` for the home directory; patterns stay as written. Nothing if a piece is unknown.
    pub fn path(&self, home: &str) -> Option<String> {
        self.pieces.iter().try_fold(String::new(), |mut all, piece| {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => all.push_str(text),
                Piece::Home => all.push_str(home),
                Piece::HomeOf(_) | Piece::Unknown => return None,
            }
            Some(all)
        })
    }

    /// For people: `~` for the home directory, `…` for what is unknown.
    pub fn shown(&self) -> String {
        self.pieces.iter().fold(String::new(), |mut all, piece| {
            match piece {
                Piece::Text(text) | Piece::Glob(text) => all.push_str(text),
                Piece::Home => all.push('~'),
                Piece::HomeOf(user) => {
                    all.push('~');
                    all.push_str(user);
                }
                Piece::Unknown => all.push('…'),
            }
            all
        })
    }
}

/// The variables of a script as far as their values are known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// What is known of each variable that the script has touched.
    touched: Arc<BTreeMap<String, State>>,
    /// Arrays whose elements are known; `@` are the arguments.
    arrays: Arc<BTreeMap<String, Vec<Field>>>,
    /// Names that stand for another variable.
    names: Arc<BTreeMap<String, String>>,
    /// What substitutions print that were looked at before, by where they stand.
    printed: Arc<BTreeMap<(usize, usize), String>>,
    /// Something ran that may have set any variable.
    anything: bool,
}

/// What is known of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    Known(Arc<Field>),
    Unknown,
    /// The script did not touch it; its value, if any, comes from outside.
    Untouched,
}

impl Variables {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From here on `name` is another name for `other`.
    pub fn refer(&mut self, name: &str, other: &str) {
        Arc::make_mut(&mut self.names).insert(name.to_owned(), other.to_owned());
    }

    /// The variable that a name stands for.
    pub fn meant<'n>(&'n self, name: &'n str) -> &'n str {
        self.names.get(name).map_or(name, String::as_str)
    }

    /// What the substitution that stands here prints, if that is known from elsewhere.
    pub fn set_printed(&mut self, at: Span, text: Option<String>) {
        let key = (at.start, at.end);
        match text.filter(|text| text.len() <= MOST_WEIGHT) {
            Some(text) => {
                // Only those of the command that is looked at are needed.
                if self.printed.len() >= MOST_PRINTED {
                    self.printed = Arc::default();
                }
                Arc::make_mut(&mut self.printed).insert(key, text);
            }
            None if self.printed.contains_key(&key) => drop(Arc::make_mut(&mut self.printed).remove(&key)),
            None => {}
        }
    }

    pub(super) fn printed(&self, at: Span) -> Option<&str> {
        self.printed.get(&(at.start, at.end)).map(String::as_str)
    }

    /// Whether the script touched it, or may have.
    pub fn is_touched(&self, name: &str) -> bool {
        self.state(name) != State::Untouched
    }

    /// The elements of a list, where they are known.
    pub fn elements(&self, name: &str) -> Option<&[Field]> {
        self.array(name)
    }

    /// From here on the element of `name` with this key has this value.
    pub fn set_element(&mut self, name: &str, key: &str, value: Field) {
        let name = self.meant(name).to_owned();
        if let Ok(place) = key.parse::<usize>()
            && let Some(elements) = Arc::make_mut(&mut self.arrays).get_mut(&name)
        {
            match place.cmp(&elements.len()) {
                Ordering::Less => elements[place] = value.clone(),
                Ordering::Equal => elements.push(value.clone()),
                Ordering::Greater => self.forget_array(&name),
            }
        }
        if key == "0" {
            Arc::make_mut(&mut self.touched).insert(name.clone(), State::Known(Arc::new(value.clone())));
        }
        let state = if value.weight() > MOST_WEIGHT { State::Unknown } else { State::Known(Arc::new(value)) };
        Arc::make_mut(&mut self.touched).insert(format!("{name}[{key}]"), state);
    }

    /// From here on `name` has this value.
    pub fn set(&mut self, name: &str, value: Field) {
        let name = &self.meant(name).to_owned();
        let unknown = value.pieces.len() == 1 && value.pieces.contains(&Piece::Unknown);
        let state = if unknown || value.weight() > MOST_WEIGHT {
            State::Unknown
        } else {
            State::Known(Arc::new(value))
        };
        self.forget_array(name);
        Arc::make_mut(&mut self.touched).insert(name.to_owned(), state);
    }

    /// From here on `name` is a list of these; the name alone means the first.
    pub fn set_array(&mut self, name: &str, elements: Vec<Field>) {
        match elements.first() {
            Some(first) => self.set(name, first.clone()),
            None => self.forget(name),
        }
        if elements.iter().map(Field::weight).sum::<usize>() <= MOST_WEIGHT {
            Arc::make_mut(&mut self.arrays).insert(name.to_owned(), elements);
        }
    }

    /// The elements of a list.
    pub(super) fn array(&self, name: &str) -> Option<&[Field]> {
        self.arrays.get(self.meant(name)).map(Vec::as_slice)
    }

    fn forget_array(&mut self, name: &str) {
        if self.arrays.contains_key(name) {
            Arc::make_mut(&mut self.arrays).remove(name);
        }
        let first = format!("{name}[");
        let keys: Vec<String> = self
            .touched
            .range(first.clone()..)
            .take_while(|(key, _)| key.starts_with(&first))
            .map(|(key, _)| key.clone())
            .collect();
        if !keys.is_empty() {
            let touched = Arc::make_mut(&mut self.touched);
            for key in &keys {
                touched.remove(key);
            }
        }
    }

    /// From here on nothing is known of the variables for which `keep` says no: another shell does not have them.
    pub fn keep_only(&mut self, keep: impl Fn(&str) -> bool) {
        for (name, state) in Arc::make_mut(&mut self.touched) {
            if !keep(name) {
                *state = State::Unknown;
            }
        }
        self.arrays = Arc::default();
    }

    /// From here on nothing is known of `name`.
    pub fn forget(&mut self, name: &str) {
        let name = &self.meant(name).to_owned();
        self.forget_array(name);
        Arc::make_mut(&mut self.touched).insert(name.to_owned(), State::Unknown);
    }

    /// From here on nothing is known of any variable.
    pub fn forget_all(&mut self) {
        self.touched = Arc::default();
        self.arrays = Arc::default();
        self.anything = true;
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&Field> {
        match self.touched.get(self.meant(name)) {
            Some(State::Known(field)) => Some(field),
            _ => None,
        }
    }

    /// How many variables something is known of.
    pub fn len(&self) -> usize {
        self.touched.len() + self.arrays.values().map(Vec::len).sum::<usize>()
    }

    /// Whether no variable was touched.
    pub fn is_empty(&self) -> bool {
        self.touched.is_empty()
    }

    pub(super) fn state(&self, name: &str) -> State {
        match self.touched.get(self.meant(name)) {
            Some(state) => state.clone(),
            None if self.anything => State::Unknown,
            None => State::Untouched,
        }
    }

    /// Where two ways meet: keeps what is the same on both.
    pub(super) fn meet(&mut self, other: &Variables) {
        self.anything |= other.anything;
        if self.arrays != other.arrays {
            self.arrays = Arc::default();
        }
        let names: Vec<String> = self.touched.keys().chain(other.touched.keys()).cloned().collect();
        for name in names {
            if self.touched.get(&name) != other.touched.get(&name) {
                self.forget(&name);
            }
        }
    }
}

impl Word {
    /// Its value if it is always one and the same text: quotes removed, escapes decoded.
    pub fn fixed(&self) -> Option<String> {
        match <[String; 1]>::try_from(Variables::new().resolve(self).texts()?) {
            Ok([text]) => Some(text),
            Err(_) => None,
        }
    }
}
