//! A small look into YAML files: the top-level keys of one, and setting such keys without touching the rest.

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

/// A top-level key with its value.
#[derive(Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// The value.
    pub value: Value,
    /// The line it starts on, from 1.
    line: usize,
}

/// As much of a value as anyone here asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing, or `null`.
    Null,
    /// Text, as written without quotes.
    Text(String),
    /// A map of texts; what else it holds is left out.
    Map(Vec<(String, String)>),
    /// Anything else.
    Other,
}

impl Value {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text below `key`, if it is a map that has it.
    pub fn get(&self, key: &str) -> Option<&str> {
        match self {
            Self::Map(pairs) => pairs.iter().rev().find(|(k, _)| k == key).map(|(_, v)| v.as_str()),
            _ => None,
        }
    }
}

/// The value of a top-level key. The last one counts when there are several, as for other readers of these files.
pub fn lookup<'a>(entries: &'a [Entry], key: &str) -> Option<&'a Value> {
    entries.iter().rev().find(|e| e.key == key).map(|e| &e.value)
}

/// Reads the top-level keys of a document; the error says what is wrong with it.
pub fn top_level(text: &str) -> Result<Vec<Entry>, String> {
    let mut events = Events { parser: Parser::new_from_str(text.strip_prefix('\u{feff}').unwrap_or(text)) };
    let mut entries = Vec::new();
    loop {
        match events.next()? {
            (Event::StreamEnd, _) => return Ok(entries),
            (Event::MappingStart(..), _) => break,
            (Event::Scalar(text, style, ..), _) if is_null(&text, style) => {}
            (Event::Scalar(..) | Event::SequenceStart(..) | Event::Alias(_), _) => {
                return Err("it is not a list of keys and values".to_owned());
            }
            _ => {}
        }
    }
    while let Some((key, line)) = events.key()? {
        let value = events.value()?;
        entries.push(Entry { key, value, line });
    }
    Ok(entries)
}

struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
}

impl<'a> Events<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), String> {
        match self.parser.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(e)) => Err(format!("line {}: {}", e.marker().line(), e.info())),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The next key of a map; `None` at its end. A key that is no plain text is read past.
    fn key(&mut self) -> Result<Option<(String, usize)>, String> {
        match self.next()? {
            (Event::MappingEnd | Event::StreamEnd, _) => Ok(None),
            (Event::Scalar(key, ..), span) => Ok(Some((key.into_owned(), span.start.line()))),
            (event, span) => {
                self.skip(&event)?;
                Ok(Some((String::new(), span.start.line())))
            }
        }
    }

    fn value(&mut self) -> Result<Value, String> {
        let (event, _) = self.next()?;
        match event {
            Event::Scalar(text, style, ..) => Ok(scalar(text, style)),
            Event::MappingStart(..) => {
                let mut pairs = Vec::new();
                while let Some((key, _)) = self.key()? {
                    let (event, _) = self.next()?;
                    self.skip(&event)?;
                    if let Event::Scalar(text, style, ..) = event
                        && let Value::Text(text) = scalar(text, style)
                    {
                        pairs.push((key, text));
                    }
                }
                Ok(Value::Map(pairs))
            }
            other => {
                self.skip(&other)?;
                Ok(Value::Other)
            }
        }
    }

    /// Reads to the end of what `event` opened.
    fn skip(&mut self, event: &Event<'_>) -> Result<(), String> {
        let mut depth = depth_change(event);
        while depth > 0 {
            let (event, _) = self.next()?;
            if event == Event::StreamEnd {
                break;
            }
            depth += depth_change(&event);
        }
        Ok(())
    }
}

fn depth_change(event: &Event<'_>) -> i32 {
    match event {
        Event::MappingStart(..) | Event::SequenceStart(..) => 1,
        Event::MappingEnd | Event::SequenceEnd => -1,
        _ => 0,
    }
}

fn scalar(text: Cow<'_, str>, style: ScalarStyle) -> Value {
    if is_null(&text, style) { Value::Null } else { Value::Text(text.into_owned()) }
}

fn is_null(text: &str, style: ScalarStyle) -> bool {
    style == ScalarStyle::Plain && matches!(text, "" | "~" | "null" | "Null" | "NULL")
}

/// Sets top-level keys to values already written as YAML; all other lines stay as they are.
pub fn with_keys(text: &str, keys: &[(&str, String)]) -> Result<String, String> {
    let entries = top_level(text)?;
    refuse_unusual(text, &entries)?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut changed: Vec<Cow<'_, str>> = lines.iter().map(|line| Cow::Borrowed(*line)).collect();
    let mut missing = Vec::new();
    for (key, value) in keys {
        let line = format!("{key}: {value}\n");
        let mut places = entries.iter().enumerate().filter(|(_, e)| e.key == *key).map(|(i, _)| i);
        match places.next() {
            Some(first) => replace(&mut changed, &lines, &entries, first, &line),
            None => missing.push(line),
        }
        places.for_each(|again| replace(&mut changed, &lines, &entries, again, ""));
    }
    let mut result: String = changed.concat();
    if !result.is_empty() && !result.ends_with('\n') && !missing.is_empty() {
        result.push('\n');
    }
    result.extend(missing);
    Ok(result)
}

/// Puts `with` where the lines of an entry are; comments and blank lines after them belong to what follows.
fn replace(changed: &mut [Cow<'_, str>], lines: &[&str], entries: &[Entry], index: usize, with: &str) {
    let start = entries[index].line - 1;
    let next = entries.get(index + 1).map_or(lines.len(), |e| e.line - 1);
    let kept = lines[start + 1..next]
        .iter()
        .rev()
        .take_while(|line| line.trim().is_empty() || line.starts_with('#'))
        .count();
    changed[start] = Cow::Owned(with.to_owned());
    for line in &mut changed[start + 1..next - kept] {
        *line = Cow::Borrowed("");
    }
}

/// We only edit what has one key at the start of a line: what this file looks like unless someone plays with it.
fn refuse_unusual(text: &str, entries: &[Entry]) -> Result<(), String> {
    let shared_line = entries.windows(2).any(|pair| pair[0].line == pair[1].line);
    let flow = text.lines().any(|line| line.starts_with('{') || line.starts_with('?'));
    let marks = text.lines().filter(|line| line.starts_with("---") || line.starts_with("...")).count();
    if shared_line || flow || marks > 1 {
        return Err("it does not have one key per line".to_owned());
    }
    Ok(())
}

/// Writes text as a double-quoted YAML value that every reader takes the same way.
pub fn quote(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{10000}'.. => quoted.push(c),
            other => quoted.extend(format!("\\u{:04X}", u32::from(other)).chars()),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn top_level_keys_are_found_in_all_their_shapes() {
        let text = "\u{feff}# head\nmodel:\n  default: gpt-5\n  provider: 'x'\n  list: [1, {a: b}]\n\
                    description: >-\n  folded\n  text\nempty:\nlist:\n- 1\n";
        let entries = top_level(text).unwrap();
        let model = lookup(&entries, "model").unwrap();
        assert_eq!((model.get("default"), model.get("provider")), (Some("gpt-5"), Some("x")));
        assert_eq!(lookup(&entries, "description").unwrap().text(), Some("folded text"));
        assert_eq!(lookup(&entries, "empty"), Some(&Value::Null));
        assert_eq!(lookup(&entries, "list"), Some(&Value::Other));
        assert_eq!(top_level("").unwrap(), []);
        assert!(top_level("- a\n").is_err() && top_level("a: [\n").is_err());
    }

    #[test]
    fn setting_keys_leaves_every_other_line_alone() {
        let before = "# mine\nrole: reviewer  # keep\ndescription: a text\n  over two lines\n# about auto\ndescription_auto: true\nz: 1";
        let keys = [
            ("description", quote("new")),
            ("description_auto", "false".to_owned()),
            ("added", "1".to_owned()),
        ];
        let after = with_keys(before, &keys).unwrap();
        assert_eq!(
            after,
            "# mine\nrole: reviewer  # keep\ndescription: \"new\"\n# about auto\ndescription_auto: false\nz: 1\nadded: 1\n"
        );
        assert_eq!(with_keys("", &keys[1..2]).unwrap(), "description_auto: false\n");
        assert_eq!(with_keys("a: 1\na: 2\nb: 3\n", &[("a", "9".to_owned())]).unwrap(), "a: 9\nb: 3\n");
        assert!(with_keys("{a: 1}\n", &keys).is_err() && with_keys("a: 1\n---\nb: 2\n", &keys).is_err());
    }

    proptest! {
        #[test]
        fn any_text_survives_quoting(text in any::<String>()) {
            let document = format!("key: {}\n", quote(&text));
            let entries = top_level(&document).unwrap();
            prop_assert_eq!(lookup(&entries, "key").unwrap().text().unwrap(), text);
        }

        #[test]
        fn any_bytes_are_read_or_refused(text in any::<String>()) {
            let _ = top_level(&text);
            let _ = with_keys(&text, &[("description", "x".to_owned())]);
        }
    }
}
