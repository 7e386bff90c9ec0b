//! A reader of JSON that forgives what models get wrong and keeps apart what is only badly written and what is missing:
//! brackets may be missing at the end, the end of a string may not.

use serde_json::{Map, Number, Value};

/// Why a text cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It ends in the middle of something.
    Truncated,
    /// It is wrong.
    Wrong(String),
}

/// Deeper nesting is nobody's argument.
const DEEPEST: usize = 100;
/// So many brackets too many are dropped at the end.
const MOST_EXTRA: usize = 50;

/// Reads a value.
pub(super) fn read(text: &str) -> Result<Value, Broken> {
    let text = unfenced(text.trim());
    let mut reader = Reader { rest: text, text };
    let value = reader.value(0)?;
    reader.space();
    let extra = reader.rest.chars().filter(|c| !c.is_whitespace()).count();
    let only_closers = reader.rest.chars().all(|c| c.is_whitespace() || matches!(c, '}' | ']'));
    if extra > MOST_EXTRA || !only_closers {
        return Err(reader.wrong("something follows the end"));
    }
    Ok(value)
}

/// Without the fence of a code block around it.
fn unfenced(text: &str) -> &str {
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.map_or(text, |inner| inner.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).trim())
}

struct Reader<'t> {
    rest: &'t str,
    text: &'t str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Value, Broken> {
        if depth > DEEPEST {
            return Err(self.wrong("it is nested too deeply"));
        }
        self.space();
        match self.peek() {
            None => Err(Broken::Truncated),
            Some('{') => self.object(depth),
            Some('[') => self.list(depth),
            Some('"' | '\'') => Ok(Value::String(self.string()?)),
            Some(_) => self.word(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Broken> {
        self.skip();
        let mut object = Map::new();
        loop {
            self.separators();
            match self.peek() {
                Some('}') => {
                    self.skip();
                    return Ok(Value::Object(object));
                }
                // The one missing is the outer's, so this one's is missing as well.
                Some(']') => return Ok(Value::Object(object)),
                None if self.ends_with_closer() => return Ok(Value::Object(object)),
                None => return Err(Broken::Truncated),
                Some(_) => {}
            }
            let name = self.name()?;
            self.space();
            match self.peek() {
                Some(':') => self.skip(),
                None => return Err(Broken::Truncated),
                Some(_) => return Err(self.wrong("a colon is missing")),
            }
            let value = self.value(depth + 1)?;
            object.insert(name, value);
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, Broken> {
        self.skip();
        let mut list = Vec::new();
        loop {
            self.separators();
            match self.peek() {
                Some(']') => {
                    self.skip();
                    return Ok(Value::Array(list));
                }
                Some('}') => return Ok(Value::Array(list)),
                None if self.ends_with_closer() => return Ok(Value::Array(list)),
                None => return Err(Broken::Truncated),
                Some(_) => list.push(self.value(depth + 1)?),
            }
        }
    }

    /// A member's name, which need not be quoted.
    fn name(&mut self) -> Result<String, Broken> {
        if matches!(self.peek(), Some('"' | '\'')) {
            return self.string();
        }
        let word = self.take(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        let word = word.to_owned();
        match (word.is_empty(), self.rest.is_empty()) {
            (true, _) => Err(self.wrong("a name is missing")),
            (false, true) => Err(Broken::Truncated),
            (false, false) => Ok(word),
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        let quote = self.peek().unwrap_or('"');
        self.skip();
        let mut out = String::new();
        loop {
            out.push_str(self.take(|c| c != quote && c != '\\'));
            match self.peek() {
                None => return Err(Broken::Truncated),
                Some('\\') => {
                    self.skip();
                    self.escape(&mut out)?;
                }
                Some(_) => {
                    self.skip();
                    return Ok(out);
                }
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Broken> {
        let Some(c) = self.peek() else { return Err(Broken::Truncated) };
        self.skip();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            '"' | '\\' | '/' | '\'' => out.push(c),
            'u' => match self.unicode() {
                Some(c) => out.push(c),
                None => out.push_str("\\u"),
            },
            // A pattern whose backslash should have been doubled.
            c => out.extend(['\\', c]),
        }
        Ok(())
    }

    /// The character of four digits, or of two such escapes; half of a pair is no character.
    fn unicode(&mut self) -> Option<char> {
        let first = self.digits()?;
        if !(0xd800..0xdc00).contains(&first) {
            return Some(char::from_u32(first).unwrap_or('\u{fffd}'));
        }
        let before = self.rest;
        if let Some(rest) = self.rest.strip_prefix("\\u") {
            self.rest = rest;
            if let Some(second) = self.digits().filter(|second| (0xdc00..0xe000).contains(second)) {
                return char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
            self.rest = before;
        }
        Some('\u{fffd}')
    }

    fn digits(&mut self) -> Option<u32> {
        let digits = self.rest.get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        self.rest = &self.rest[4..];
        u32::from_str_radix(digits, 16).ok()
    }

    /// A number or one of the words JSON has, also as Python writes them.
    fn word(&mut self) -> Result<Value, Broken> {
        let word = self.take(|c| c.is_alphanumeric() || matches!(c, '+' | '-' | '.' | '_')).to_owned();
        if self.rest.is_empty() {
            // `tru`, `12`: nobody knows how it goes on.
            return Err(if word.is_empty() { self.wrong("a value is missing") } else { Broken::Truncated });
        }
        match word.as_str() {
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            "null" | "None" => Ok(Value::Null),
            word => word.parse::<Number>().map(Value::Number).map_err(|_| {
                self.wrong(if word.is_empty() { "a value is missing" } else { "a value has no quotes" })
            }),
        }
    }

    /// Whether the text ends with a bracket: then whoever wrote it thought that they were done.
    fn ends_with_closer(&self) -> bool {
        self.text.ends_with(['}', ']'])
    }

    fn separators(&mut self) {
        self.take(|c| c.is_whitespace() || c == ',');
    }

    fn space(&mut self) {
        self.take(char::is_whitespace);
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> &str {
        let end = self.rest.find(|c| !wanted(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn skip(&mut self) {
        let mut chars = self.rest.chars();
        chars.next();
        self.rest = chars.as_str();
    }

    fn wrong(&self, what: &str) -> Broken {
        let at = self.text.len() - self.rest.len();
        Broken::Wrong(format!("{what} at byte {at}"))
    }
}
