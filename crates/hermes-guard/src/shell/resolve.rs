//! What a word becomes: expansion without running anything.

use super::ansi::{Dialect, decode};
use super::arithmetic::compute;
use super::ast::{
    Command, CommandKind, Instead, List, Mode, Operation, Parameter, ParameterForm, RedirectOperator,
    Substitution, Target, When, Word, WordPart,
};
use super::marks::{Marks, globs_in, mark};
use super::output::output_of;
use super::print::print_parts;
use super::transform::transform;
use super::value::{Field, MOST_WEIGHT, Piece, State, Value, Variables};
use super::word::Parts;

/// The most fields that braces may make before a word counts as unknown.
const MOST_FIELDS: usize = 256;

/// The most fields that one word may be split into before it counts as unknown.
const MOST_SPLIT: usize = 4096;

/// How deep echo within echo is followed.
const MOST_ECHOES: usize = 8;

/// Variables that the environment sets, so that a default for them says nothing.
const ENVIRONMENT: [&str; 12] = [
    "PATH", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM", "LANG", "HOSTNAME", "EDITOR",
    "UID",
];

/// Whether an expansion stands between double quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Quoting {
    Bare,
    Quoted,
}

impl Variables {
    /// What `word` becomes on the command line.
    pub fn resolve(&self, word: &Word) -> Value {
        let mut fields = Vec::new();
        let mut uncertain = false;
        let mut assigned = Vec::new();
        if odd_braces(&word.parts) {
            return Value::Unknown;
        }
        let Some(words) = brace_expand(&word.parts) else { return Value::Unknown };
        for parts in &words {
            // `~` with anything but a plain name: bash has its own ideas of `~:$x`.
            if matches!(parts.first(), Some(WordPart::Literal(text)) if text.starts_with('~')) {
                return Value::Unknown;
            }
            let mut split = Split::new(self);
            split.assigned = assigned;
            split.parts(parts, Quoting::Bare);
            assigned = std::mem::take(&mut split.assigned);
            let (more, unsure) = split.finish();
            uncertain |= unsure;
            fields.extend(more);
        }
        match (uncertain, &fields[..]) {
            (false, _) => Value::Known(fields),
            (true, [only]) if only.pieces == [Piece::Unknown] => Value::Unknown,
            (true, _) => Value::Partly(fields),
        }
    }

    /// The text of a here-document, a here-string, the value of an assignment or a redirection:
    /// places where nothing is split or matched against file names.
    pub fn resolve_text(&self, parts: &[WordPart]) -> Field {
        let mut split = Split::new(self);
        split.whole = true;
        split.parts(parts, Quoting::Bare);
        let (mut fields, _) = split.finish();
        match fields.len() {
            0 => Field::default(),
            1 => fields.remove(0),
            _ => Field::unknown(),
        }
    }

    fn resolve_echo(&self, list: &List, echoes: usize) -> Option<String> {
        let [item] = &list.items[..] else { return None };
        let chain = &item.chain;
        let plain = chain.rest.is_empty() && chain.first.prefixes.is_empty() && item.mode == Mode::Foreground;
        if !plain || echoes >= MOST_ECHOES {
            return None;
        }
        let mut text = None;
        for stage in &chain.first.stages {
            text = Some(self.output_from(&stage.command, text, echoes)?);
        }
        Some(text?.trim_end_matches('\n').to_owned())
    }

    /// What one command prints that reads this text.
    fn output_from(&self, command: &Command, text: Option<String>, echoes: usize) -> Option<String> {
        let CommandKind::Simple(simple) = &command.kind else { return None };
        if !simple.assignments.is_empty() {
            return None;
        }
        let text = match command.redirects.as_slice() {
            [] => text,
            [redirect] if redirect.is_input() => match (&redirect.target, redirect.operator) {
                (Target::Document(document), _) => Some(self.resolve_text(&document.body).text()?),
                (Target::Word(word), RedirectOperator::HereString) => {
                    Some(self.resolve_text(&word.parts).text()? + "\n")
                }
                _ => return None,
            },
            _ => return None,
        };
        let mut arguments = Vec::new();
        for word in &simple.words {
            if odd_braces(&word.parts) {
                return None;
            }
            for parts in brace_expand(&word.parts)? {
                let mut split = Split::new(self);
                split.echoes = echoes + 1;
                split.parts(&parts, Quoting::Bare);
                let (fields, unsure) = split.finish();
                if unsure {
                    return None;
                }
                for field in &fields {
                    arguments.push(field.text()?);
                }
            }
        }
        if matches!(arguments.as_slice(), [cat] if cat == "cat") {
            return text;
        }
        output_of(&arguments).or_else(|| self.place_of(&arguments))
    }

    /// What programs that print a path would print, links aside.
    fn place_of(&self, arguments: &[String]) -> Option<String> {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        match words.as_slice() {
            ["pwd"] => self.get("PWD")?.text(),
            ["realpath", path]
            | ["readlink", "-f" | "-e" | "-m", path]
            | ["realpath", "-e" | "-m" | "-s", path]
                if path.starts_with('/') =>
            {
                Some((*path).to_owned())
            }
            // Where a program lies does not matter, only which one it is.
            ["which" | "whereis", name] | ["command", "-v", name] | ["type", "-p" | "-P", name]
                if is_program(name) =>
            {
                Some(format!("/usr/bin/{name}"))
            }
            ["expr", number] if number.parse::<i64>().is_ok() => Some((*number).to_owned()),
            ["expr", left, sign @ ("+" | "-" | "*" | "/" | "%"), right] => {
                compute(&format!("{left} {sign} {right}"), self).result.map(|value| value.to_string())
            }
            ["dirname", path] => {
                let path = path.trim_end_matches('/');
                let (above, _) =
                    path.rsplit_once('/').unwrap_or((if path.is_empty() { "/" } else { "." }, ""));
                Some(if above.is_empty() { "/".to_owned() } else { above.to_owned() })
            }
            _ => None,
        }
    }
}

/// Collects fields while the parts of a word are expanded.
struct Split<'a> {
    variables: &'a Variables,
    fields: Vec<Field>,
    current: Option<Field>,
    uncertain: bool,
    /// Nothing is split or matched.
    whole: bool,
    echoes: usize,
    /// Set by `${name=word}` earlier in the same word.
    assigned: Vec<String>,
    /// How much was put together so far; beyond the limit nothing is added any more.
    weight: usize,
}

impl<'a> Split<'a> {
    fn new(variables: &'a Variables) -> Self {
        Split {
            variables,
            fields: Vec::new(),
            current: None,
            uncertain: false,
            whole: false,
            echoes: 0,
            assigned: Vec::new(),
            weight: 0,
        }
    }

    fn finish(mut self) -> (Vec<Field>, bool) {
        self.fields.extend(self.current.take());
        if self.is_full() {
            return (vec![Field::unknown()], true);
        }
        (self.fields, self.uncertain)
    }

    fn is_full(&self) -> bool {
        self.weight > MOST_WEIGHT || self.fields.len() > MOST_SPLIT
    }

    fn push(&mut self, piece: Piece) {
        self.weight = self.weight.saturating_add(piece.weight());
        if self.is_full() {
            return;
        }
        self.uncertain |= piece == Piece::Unknown;
        self.current.get_or_insert_default().push(piece);
    }

    fn text(&mut self, text: &str) {
        self.weight = self.weight.saturating_add(text.len());
        if self.is_full() {
            return;
        }
        let field = self.current.get_or_insert_default();
        if !text.is_empty() {
            field.push(Piece::Text(text.to_owned()));
        }
    }

    fn parts(&mut self, parts: &[WordPart], quoting: Quoting) {
        for part in parts {
            if self.is_full() {
                return;
            }
            self.part(part, quoting);
        }
    }

    fn part(&mut self, part: &WordPart, quoting: Quoting) {
        match part {
            WordPart::Literal(text) | WordPart::Single(text) => self.text(text),
            WordPart::Escaped(c) => self.text(c.encode_utf8(&mut [0; 4])),
            WordPart::AnsiC(written) if quoting == Quoting::Bare => match decode(written, Dialect::Quotes) {
                Some(text) => self.text(&text),
                None => self.push(Piece::Unknown),
            },
            WordPart::Double(inner) | WordPart::Translated(inner) => {
                self.text("");
                self.parts(inner, Quoting::Quoted);
            }
            WordPart::Parameter(parameter) => self.parameter(parameter, quoting),
            WordPart::Substitution(substitution) => self.substitution(substitution, quoting),
            WordPart::Tilde(name) if name.is_empty() => match self.variables.get("HOME") {
                Some(home) => self.value(&home.clone(), Quoting::Quoted),
                None => self.push(Piece::Home),
            },
            WordPart::Tilde(name) if name == "+" => match self.variables.get("PWD") {
                Some(here) => self.value(&here.clone(), Quoting::Quoted),
                None => self.push(Piece::Unknown),
            },
            WordPart::Tilde(name)
                if !name.starts_with(|c: char| matches!(c, '+' | '-') || c.is_ascii_digit()) =>
            {
                self.push(Piece::HomeOf(name.clone()));
            }
            WordPart::Glob(pattern) if self.whole => self.text(pattern),
            WordPart::Glob(pattern) => self.push(Piece::Glob(pattern.clone())),
            WordPart::Braces(_) | WordPart::Range(_) => {
                self.text(&print_parts(std::slice::from_ref(part)));
            }
            WordPart::Tilde(name) if name == "-" => match self.variables.get("OLDPWD") {
                Some(before) => self.value(&before.clone(), Quoting::Quoted),
                None => self.push(Piece::Unknown),
            },
            WordPart::Arithmetic(arithmetic) => {
                let text = self.variables.resolve_text(&arithmetic.parts).text();
                match text.and_then(|text| compute(&text, self.variables).result) {
                    Some(number) => self.text(&number.to_string()),
                    None => self.push(Piece::Unknown),
                }
            }
            // What it leaves out is not known, so it may be anything.
            WordPart::ExtendedGlob(..) if !self.whole => self.push(Piece::Glob("*".to_owned())),
            WordPart::AnsiC(_)
            | WordPart::Tilde(_)
            | WordPart::Process(_)
            | WordPart::ExtendedGlob(..)
            | WordPart::Array(_) => self.push(Piece::Unknown),
        }
    }

    fn substitution(&mut self, substitution: &Substitution, quoting: Quoting) {
        let known = self.variables.resolve_echo(&substitution.list, self.echoes);
        let known = known.or_else(|| {
            let printed = self.variables.printed(substitution.span)?;
            Some(printed.trim_end_matches('\n').to_owned())
        });
        match known {
            Some(text) => self.value(&Field::from_text(&text), quoting),
            None => self.push(Piece::Unknown),
        }
    }

    /// The value of a variable or the output of a command: split into fields if not quoted.
    fn value(&mut self, value: &Field, quoting: Quoting) {
        for piece in &value.pieces {
            match piece {
                Piece::Text(text) if quoting == Quoting::Bare && !self.whole => self.split(text),
                Piece::Text(text) => self.text(text),
                other => self.push(other.clone()),
            }
        }
    }

    fn split(&mut self, text: &str) {
        let between = match self.variables.state("IFS") {
            State::Untouched => " \t\n".to_owned(),
            State::Known(value) => match value.text() {
                Some(text) => text,
                None => return self.push(Piece::Unknown),
            },
            State::Unknown => return self.push(Piece::Unknown),
        };
        let blank = |c: char| between.contains(c);
        if text.starts_with(blank) {
            self.fields.extend(self.current.take());
        }
        for (i, word) in text.split(blank).filter(|word| !word.is_empty()).enumerate() {
            if self.is_full() {
                return;
            }
            if i > 0 {
                self.fields.extend(self.current.take());
            }
            let mut parts = Parts::default();
            globs_in(word, true, &mut parts);
            self.parts(&parts.into_vec(), Quoting::Bare);
        }
        if text.ends_with(blank) {
            self.fields.extend(self.current.take());
        }
    }

    fn parameter(&mut self, parameter: &Parameter, quoting: Quoting) {
        if let Some(elements) = self.elements_of(parameter) {
            return self.elements(&elements, parameter, quoting);
        }
        let Some(name) = self.variable_name(parameter) else { return self.push(Piece::Unknown) };
        if self.assigned.contains(&name) {
            return self.push(Piece::Unknown);
        }
        if matches!(parameter.operation, Operation::Instead(Instead::AssignDefault, ..)) {
            self.assigned.push(name.clone());
        }
        let value = self.variable(&name);
        match &parameter.operation {
            Operation::Value if parameter.form == ParameterForm::Length => {
                match value.as_ref().and_then(Field::text).filter(|text| text.is_ascii()) {
                    Some(text) => self.text(&text.len().to_string()),
                    None => self.push(Piece::Unknown),
                }
            }
            Operation::Instead(instead, when, word) => {
                let empty = value.as_ref().and_then(Field::text).is_some_and(|text| text.is_empty());
                let missing = value.is_none() && self.is_unset(&name) || empty && *when == When::UnsetOrEmpty;
                let known = missing || value.is_some();
                match instead {
                    Instead::Default | Instead::AssignDefault if missing => self.instead(word, quoting),
                    Instead::Alternative if missing => {}
                    Instead::Alternative if known => self.instead(word, quoting),
                    Instead::Error if missing => self.push(Piece::Unknown),
                    _ => self.value(&value.unwrap_or_else(Field::unknown), quoting),
                }
            }
            Operation::Value => self.value(&value.unwrap_or_else(Field::unknown), quoting),
            operation => {
                let text = value.and_then(|value| value.text());
                let changed = text.and_then(|text| transform(&text, operation, self.variables));
                self.value(&changed.map_or_else(Field::unknown, |text| Field::from_text(&text)), quoting);
            }
        }
    }

    /// The elements that `${x[@]}`, `${x[1]}` or `$@` stand for, where the list is known.
    fn elements_of(&self, parameter: &Parameter) -> Option<Vec<Field>> {
        let all = parameter.subscript.as_ref().map_or_else(
            || matches!(parameter.name.as_str(), "@" | "*"),
            |subscript| matches!(print_parts(subscript).as_str(), "@" | "*"),
        );
        if let (true, ParameterForm::Braced, Operation::Slice(offset, length)) =
            (all, parameter.form, &parameter.operation)
        {
            return self.sliced(parameter, offset, length.as_deref());
        }
        let plain = matches!(parameter.form, ParameterForm::Plain | ParameterForm::Braced)
            && parameter.operation == Operation::Value;
        if !plain {
            return None;
        }
        let Some(subscript) = &parameter.subscript else {
            let arguments = matches!(parameter.name.as_str(), "@" | "*");
            return if arguments { self.variables.array("@").map(<[Field]>::to_vec) } else { None };
        };
        let key = self.variables.resolve_text(subscript).text()?;
        if let Some(element) = self.variables.get(&format!("{}[{key}]", parameter.name)) {
            return Some(vec![element.clone()]);
        }
        let elements = self.variables.array(&parameter.name);
        match key.as_str() {
            "@" | "*" => match elements {
                Some(elements) => Some(elements.to_vec()),
                // A variable that is no list is one of a single element.
                None => self.variables.get(&parameter.name).map(|value| vec![value.clone()]),
            },
            "0" if elements.is_none() => self.variables.get(&parameter.name).map(|value| vec![value.clone()]),
            index => {
                let elements = elements?;
                let at = compute(index, self.variables).result?;
                let at = if at < 0 { at.checked_add(i64::try_from(elements.len()).ok()?)? } else { at };
                Some(elements.get(usize::try_from(at).ok()?).cloned().into_iter().collect())
            }
        }
    }

    /// `${x[@]:1:2}`, `${@:2}`
    fn sliced(
        &self,
        parameter: &Parameter,
        offset: &[WordPart],
        length: Option<&[WordPart]>,
    ) -> Option<Vec<Field>> {
        let arguments = parameter.subscript.is_none();
        let name = if arguments { "@" } else { parameter.name.as_str() };
        let elements = self.variables.array(name)?;
        let number =
            |parts: &[WordPart]| compute(&self.variables.resolve_text(parts).text()?, self.variables).result;
        let from = usize::try_from(number(offset)?).ok()?;
        // The arguments are counted from one; before them stands the name of the shell.
        let from = if arguments { from.saturating_sub(1) } else { from };
        let count = match length {
            Some(parts) => usize::try_from(number(parts)?).ok()?,
            None => elements.len(),
        };
        Some(elements.iter().skip(from).take(count).cloned().collect())
    }

    fn elements(&mut self, elements: &[Field], parameter: &Parameter, quoting: Quoting) {
        let star = parameter.name == "*"
            || parameter.subscript.as_ref().is_some_and(|subscript| print_parts(subscript) == "*");
        let joined = self.whole || star && quoting == Quoting::Quoted;
        for (place, element) in elements.iter().enumerate() {
            if place > 0 && joined {
                self.text(" ");
            } else if place > 0 {
                self.fields.extend(self.current.take());
            }
            if quoting == Quoting::Quoted {
                self.text("");
            }
            self.value(element, quoting);
        }
    }

    /// The word of `${x:-word}`: what is not quoted in it is split like a value.
    fn instead(&mut self, word: &[WordPart], quoting: Quoting) {
        for (i, part) in word.iter().enumerate() {
            match part {
                WordPart::Literal(text) if quoting == Quoting::Bare => match text.strip_prefix('~') {
                    Some(rest)
                        if i == 0 && (rest.starts_with('/') || (rest.is_empty() && word.len() == 1)) =>
                    {
                        self.push(Piece::Home);
                        self.value(&Field::from_text(rest), quoting);
                    }
                    Some(_) if i == 0 => self.push(Piece::Unknown),
                    _ => self.value(&Field::from_text(text), quoting),
                },
                other => self.part(other, quoting),
            }
        }
    }

    /// The variable that is meant, which with `${!x}` is the value of another one.
    fn variable_name(&self, parameter: &Parameter) -> Option<String> {
        match parameter.form {
            _ if parameter.subscript.is_some() => None,
            ParameterForm::Indirect => {
                let name = self.variables.get(&parameter.name)?.text()?;
                super::word::is_name(&name).then_some(name)
            }
            _ if matches!(parameter.operation, Operation::Unreadable(_) | Operation::Names(_)) => None,
            _ => Some(parameter.name.clone()),
        }
    }

    fn variable(&self, name: &str) -> Option<Field> {
        match (self.variables.state(name), name) {
            (State::Known(field), _) => Some(std::sync::Arc::unwrap_or_clone(field)),
            (State::Untouched, "HOME") => Some(Field { pieces: vec![Piece::Home] }),
            (State::Untouched, "IFS") => Some(Field::from_text(" \t\n")),
            _ => None,
        }
    }

    /// A name that the script never touched and that no environment sets is taken for unset.
    fn is_unset(&self, name: &str) -> bool {
        self.variables.state(name) == State::Untouched
            && super::word::is_name(name)
            && !ENVIRONMENT.contains(&name)
            && !name.starts_with("LC_")
            && !name.starts_with("BASH")
    }
}

/// Whether a text is the name of a program without its directory.
fn is_program(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('-') && !name.contains('/')
}

/// Braces that are left as text although they could be a list: bash has its own ideas of `{}a,b}`.
fn odd_braces(parts: &[WordPart]) -> bool {
    let has =
        |mark: &str| parts.iter().any(|part| matches!(part, WordPart::Literal(text) if text.contains(mark)));
    (has("{") || has("}")) && (has(",") || has(".."))
        || parts.iter().any(|part| match part {
            WordPart::Braces(alternatives) => {
                has("}") || has("{") || alternatives.iter().any(|a| odd_braces(a))
            }
            _ => false,
        })
}

/// The words that `{a,b}` makes of one, or nothing if they are too many or read differently afterwards.
fn brace_expand(parts: &[WordPart]) -> Option<Vec<Vec<WordPart>>> {
    let braces = |part: &WordPart| matches!(part, WordPart::Braces(_) | WordPart::Range(_));
    if !parts.iter().any(braces) {
        return Some(vec![parts.to_vec()]);
    }
    combine(parts)?.into_iter().map(read_again).collect()
}

/// Braces are expanded before anything else: `$d{a,b}` is `$da $db`, and `~{/x,/y}` is `~/x ~/y`.
fn read_again(word: Vec<WordPart>) -> Option<Vec<WordPart>> {
    let mut parts = Parts::default();
    for part in word {
        parts.push(part);
    }
    let parts = parts.into_vec();
    let named = |part: &WordPart| {
        matches!(part, WordPart::Parameter(this)
            if this.form == ParameterForm::Plain && super::word::is_name(&this.name))
    };
    let continues = |part: &WordPart| {
        matches!(part, WordPart::Literal(text)
            if text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    let joined = parts.windows(2).any(|pair| named(&pair[0]) && continues(&pair[1]));
    if joined { None } else { mark(parts, Marks::Tilde).ok() }
}

fn combine(parts: &[WordPart]) -> Option<Vec<Vec<WordPart>>> {
    let mut words: Vec<Vec<WordPart>> = vec![Vec::new()];
    for part in parts {
        let alternatives: Vec<Vec<WordPart>> = match part {
            WordPart::Braces(alternatives) => {
                let mut all = Vec::new();
                for alternative in alternatives {
                    all.extend(combine(alternative)?);
                }
                all
            }
            WordPart::Range(text) => {
                range(text)?.into_iter().map(|text| vec![WordPart::Literal(text)]).collect()
            }
            other => {
                for word in &mut words {
                    word.push(other.clone());
                }
                continue;
            }
        };
        if words.len() * alternatives.len() > MOST_FIELDS {
            return None;
        }
        words = words
            .iter()
            .flat_map(|word| alternatives.iter().map(|more| [&word[..], &more[..]].concat()))
            .collect();
    }
    Some(words)
}

/// `1..3` → 1 2 3. Nothing for what needs more care: steps, leading zeros, letters of different case.
fn range(text: &str) -> Option<Vec<String>> {
    let (from, to) = text.split_once("..")?;
    let plain = |text: &str| text == "0" || !text.trim_start_matches('-').starts_with(['0', '+']);
    if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let padded = !plain(text.split("..").next()?) || !plain(text.split("..").nth(1)?);
        let count = from.checked_sub(to)?.unsigned_abs();
        if padded || count >= MOST_FIELDS as u64 || text.contains('+') {
            return None;
        }
        let up: Vec<String> = (from.min(to)..=from.max(to)).map(|n| n.to_string()).collect();
        return Some(if from <= to { up } else { up.into_iter().rev().collect() });
    }
    let ([from], [to]) = (from.as_bytes(), to.as_bytes()) else { return None };
    if from.is_ascii_lowercase() != to.is_ascii_lowercase() {
        return None;
    }
    let up: Vec<String> = (*from.min(to)..=*from.max(to)).map(|b| (b as char).to_string()).collect();
    Some(if from <= to { up } else { up.into_iter().rev().collect() })
}
