//! The header of a SKILL.md: YAML between two lines of dashes. Never fails: what cannot be read is said.

use hermes_home::yaml;
use serde_json::{Map, Value};

/// A header.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Header {
    fields: Map<String, Value>,
}

/// A skill's text, divided.
pub struct Split<'a> {
    /// The header.
    pub header: Header,
    /// The text behind it.
    pub body: &'a str,
    /// What is wrong with the header.
    pub problem: Option<String>,
}

/// Divides a text.
pub fn split(text: &str) -> Split<'_> {
    let text = text.trim_start_matches('\u{feff}');
    let bare =
        |problem: &str| Split { header: Header::default(), body: text, problem: Some(problem.to_owned()) };
    let Some(inside) = text.strip_prefix("---").and_then(after_line) else {
        return bare("has no header: it must start with a line ---");
    };
    let Some((head, body)) = until_dashes(inside) else {
        return bare("has a header without an end: a line --- is missing");
    };
    let (fields, problem) = fields(head);
    Split { header: Header { fields }, body, problem }
}

/// What follows a line that has nothing more on it.
fn after_line(rest: &str) -> Option<&str> {
    let (line, rest) = rest.split_once('\n')?;
    line.trim().is_empty().then_some(rest)
}

fn until_dashes(inside: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in inside.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&inside[..start], &inside[start + line.len()..]));
        }
        start += line.len();
    }
    None
}

fn fields(head: &str) -> (Map<String, Value>, Option<String>) {
    let problem = match yaml::parse(head) {
        Ok(document) => match document.root().map(|root| yaml::to_json(&document, root)) {
            Some(Value::Object(fields)) => return (fields, None),
            None => return (Map::new(), None),
            Some(_) => "its header is not a mapping".to_owned(),
        },
        Err(error) => format!("its header is not YAML: {error}"),
    };
    (simple(head), Some(problem))
}

/// Lines `key: value`, for headers that are nearly YAML.
fn simple(head: &str) -> Map<String, Value> {
    let line = |line: &str| {
        let (key, value) = line.split_once(':')?;
        let is_key = !key.is_empty() && !key.starts_with([' ', '\t', '#', '-']);
        let value = value.trim().trim_matches(['"', '\'']);
        is_key.then(|| (key.trim().to_owned(), Value::from(value)))
    };
    head.lines().filter_map(line).collect()
}

impl Header {
    /// A field at the top.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.fields.get(key).filter(|value| !value.is_null())
    }

    /// A field of ours, below `metadata.hermes`; some write it at the top.
    pub fn ours(&self, key: &str) -> Option<&Value> {
        let inside = self.get("metadata").and_then(|metadata| metadata.get("hermes")?.get(key));
        inside.or_else(|| self.get(key))
    }

    /// A text at the top, on one line.
    pub fn text(&self, key: &str) -> Option<String> {
        let text = match self.get(key)? {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            _ => return None,
        };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        (!line.is_empty()).then_some(line)
    }

    /// A list of ours: a list, or words separated by commas.
    pub fn list(&self, key: &str) -> Vec<String> {
        self.ours(key).map(words).unwrap_or_default()
    }

    /// Whether it is for an operating system, as Rust names it.
    pub fn is_for(&self, system: &str) -> bool {
        let wanted = self.get("platforms").map(words).unwrap_or_default();
        let fits = |name: &String| match name.to_lowercase().as_str() {
            "macos" | "darwin" | "osx" => system == "macos",
            "windows" | "win32" => system == "windows",
            name => system.starts_with(name),
        };
        wanted.is_empty() || wanted.iter().any(fits)
    }
}

/// A list of texts, however it is written.
pub(super) fn words(value: &Value) -> Vec<String> {
    let texts: Vec<String> = match value {
        Value::Array(items) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(text) => text.trim_matches(['[', ']']).split(',').map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let clean = |text: String| text.trim().trim_matches(['"', '\'']).to_owned();
    texts.into_iter().map(clean).filter(|text| !text.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_header_is_read() {
        let text = "---\nname: git\ndescription: >\n  use\n  git\nplatforms: [linux, macos]\nmetadata:\n  hermes:\n    tags: a, b\n---  \nbody\n";
        let Split { header, body, problem } = split(text);
        assert_eq!((header.text("name").unwrap().as_str(), body, problem), ("git", "body\n", None));
        assert_eq!(header.text("description").unwrap(), "use git");
        assert_eq!(header.list("tags"), ["a", "b"]);
        assert!(header.is_for("linux") && header.is_for("macos") && !header.is_for("windows"));
        assert!(Header::default().is_for("windows"));
    }

    #[test]
    fn a_broken_header_says_what_is_wrong_and_gives_what_it_can() {
        let Split { header, problem, .. } = split("---\nname: x\ndescription: it's: [broken\n---\nb");
        assert_eq!(header.text("name").unwrap(), "x");
        assert!(problem.unwrap().contains("not YAML"));
        for (text, word) in [("no header", "no header"), ("---\nname: x\n", "without an end")] {
            let Split { body, problem, .. } = split(text);
            assert!(problem.unwrap().contains(word));
            assert_eq!(body, text);
        }
        assert!(split("---\n- a\n---\nb").problem.unwrap().contains("mapping"));
        assert_eq!(split("---\n---\nb").problem, None);
    }

    proptest! {
        #[test]
        fn any_text_is_taken(text in "(---\n)?(\\PC|\n){0,80}") {
            let split = split(&text);
            prop_assert!(text.ends_with(split.body));
            split.header.list("tags");
        }
    }
}
