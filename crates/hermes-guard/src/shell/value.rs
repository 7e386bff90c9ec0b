//! What a word stands for, as far as that can be known without running anything.

use std::collections::BTreeMap;

use super::ast::{Word, WordPart};

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
    known: BTreeMap<String, Field>,
}

impl Variables {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// From here on `name` has this value.
    pub fn set(&mut self, name: &str, value: Field) {
        self.known.insert(name.to_owned(), value);
    }

    /// From here on nothing is known of `name`.
    pub fn forget(&mut self, name: &str) {
        self.known.remove(name);
    }

    /// The value of `name`.
    pub fn get(&self, name: &str) -> Option<&Field> {
        self.known.get(name)
    }

    /// What `word` becomes on the command line.
    pub fn resolve(&self, word: &Word) -> Value {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                WordPart::Literal(part) | WordPart::Single(part) => text.push_str(part),
                WordPart::Escaped(c) => text.push(*c),
                _ => return Value::Unknown,
            }
        }
        Value::Known(vec![Field { pieces: vec![Piece::Text(text)] }])
    }

    /// The text of a here-document, a here-string or the like, where nothing is split or matched.
    pub fn resolve_text(&self, parts: &[WordPart]) -> Field {
        let word = Word { span: super::ast::Span { start: 0, end: 0 }, parts: parts.to_vec() };
        match self.resolve(&word) {
            Value::Known(mut fields) => fields.pop().unwrap_or_default(),
            Value::Partly(_) | Value::Unknown => Field { pieces: vec![Piece::Unknown] },
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
