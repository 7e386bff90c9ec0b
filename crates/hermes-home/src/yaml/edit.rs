//! Changing one value in a file people wrote: everything else stays byte for byte.
//!
//! Each edit is checked before it is handed back: the new text is parsed, and must differ from the old one in the
//! edited key alone.

use super::{Document, Kind, Layout, Node, ParseError, Scalar, Style, parse, render, resolve};

/// Why a value was not changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    /// The file itself is not usable.
    #[error("{0}")]
    Parse(#[from] ParseError),
    /// Something on the way to the key is not a mapping.
    #[error("line {line}: \"{key}\" is {found}, so nothing can be set below it")]
    NotAMapping {
        /// The key on the way.
        key: String,
        /// Where it stands.
        line: usize,
        /// What it is.
        found: &'static str,
    },
    /// The value is shared with other places through an anchor or alias.
    #[error(
        "line {line}: \"{key}\" is shared through an anchor (&, *): edit it by hand with `hermes config edit`"
    )]
    Shared {
        /// The key.
        key: String,
        /// Where it stands.
        line: usize,
    },
    /// The list is shorter.
    #[error("line {line}: the list \"{key}\" has no entry {index}")]
    NoSuchEntry {
        /// The list.
        key: String,
        /// Where it stands.
        line: usize,
        /// The index asked for.
        index: String,
    },
    /// The layout is one this editor does not change.
    #[error("line {line}: this layout cannot be changed safely: edit it by hand with `hermes config edit`")]
    Layout {
        /// Where.
        line: usize,
    },
}

/// What to write.
pub type NewValue = serde_json::Value;

/// Returns `text` with the value at `path` set.
pub fn set(text: &str, path: &[&str], value: &NewValue) -> Result<String, EditError> {
    let before = parse(text)?;
    let edited = Editor { text, doc: &before }.set(path, value)?;
    checked(&before, edited, path, Some(value))
}

/// Returns `text` without the value at `path`; `None` when it is not there.
pub fn unset(text: &str, path: &[&str]) -> Result<Option<String>, EditError> {
    let before = parse(text)?;
    let Some(edited) = (Editor { text, doc: &before }).unset(path)? else { return Ok(None) };
    checked(&before, edited, path, None).map(Some)
}

/// Refuses an edit that would change anything but the one key.
fn checked(
    before: &Document,
    edited: String,
    path: &[&str],
    value: Option<&NewValue>,
) -> Result<String, EditError> {
    let line = before.get(path).map_or(1, |n| n.line);
    let after = parse(&edited).map_err(|_| EditError::Layout { line })?;
    let mut expected = to_json(before, before.root());
    place(&mut expected, path, value);
    let same = comparable(&expected) == comparable(&to_json(&after, after.root()));
    if same { Ok(edited) } else { Err(EditError::Layout { line }) }
}

/// A removed last entry leaves an empty mapping or nothing, which mean the same here.
fn comparable(value: &NewValue) -> NewValue {
    match value {
        NewValue::Object(map) => {
            let kept = map.iter().map(|(k, v)| (k.clone(), comparable(v)));
            let kept: serde_json::Map<_, _> = kept.filter(|(_, v)| !v.is_null()).collect();
            if kept.is_empty() { NewValue::Null } else { NewValue::Object(kept) }
        }
        NewValue::Array(items) => NewValue::Array(items.iter().map(comparable).collect()),
        other => other.clone(),
    }
}

fn place(tree: &mut NewValue, path: &[&str], value: Option<&NewValue>) {
    let Some((key, rest)) = path.split_first() else {
        *tree = value.cloned().unwrap_or(NewValue::Null);
        return;
    };
    if let NewValue::Array(items) = tree {
        if let Some(item) = key.parse::<usize>().ok().and_then(|i| items.get_mut(i)) {
            place(item, rest, value);
        }
        return;
    }
    if !tree.is_object() {
        *tree = NewValue::Object(serde_json::Map::new());
    }
    if let NewValue::Object(map) = tree {
        if rest.is_empty() && value.is_none() {
            map.remove(*key);
        } else {
            place(map.entry(*key).or_insert(NewValue::Null), rest, value);
        }
    }
}

/// The whole tree with anchors and merge keys resolved.
pub(crate) fn to_json(doc: &Document, node: Option<&Node>) -> NewValue {
    fn walk(doc: &Document, node: &Node, budget: &mut usize) -> NewValue {
        // Aliases can multiply without end; what lies beyond the budget cannot be compared anyway.
        if *budget == 0 {
            return NewValue::String("…".to_owned());
        }
        *budget -= 1;
        let Some(node) = doc.follow(node) else { return NewValue::Null };
        match &node.kind {
            Kind::Alias(_) => NewValue::Null,
            Kind::Seq(items, _) => items.iter().map(|i| walk(doc, i, budget)).collect(),
            Kind::Map(..) => {
                let entries = doc.entries(node).into_iter();
                NewValue::Object(entries.map(|(k, v)| (k.to_owned(), walk(doc, v, budget))).collect())
            }
            Kind::Scalar(text, style) => match resolve(text, *style) {
                Scalar::Null => NewValue::Null,
                Scalar::Bool(b) => b.into(),
                Scalar::Int(i) => i.into(),
                Scalar::Float(f) if f.is_finite() => f.into(),
                Scalar::Float(_) => text.as_str().into(),
                Scalar::Text(t) => t.into(),
            },
        }
    }
    node.map_or(NewValue::Null, |n| walk(doc, n, &mut 200_000))
}

struct Editor<'a> {
    text: &'a str,
    doc: &'a Document,
}

impl Editor<'_> {
    fn set(&self, path: &[&str], value: &NewValue) -> Result<String, EditError> {
        let Some(root) = self.doc.root() else { return Ok(self.append_to_end(path, value)) };
        let mut node = root;
        for (depth, key) in path.iter().enumerate() {
            let parent_key = depth.checked_sub(1).map_or("the file", |d| path[d]);
            match step(node, key, parent_key)? {
                Some((_, child)) => node = child,
                None => return self.insert(node, path, depth, value),
            }
        }
        self.replace(path, value)
    }

    fn walk(&self, path: &[&str]) -> Result<Option<Vec<(&Node, &Node)>>, EditError> {
        let Some(mut node) = self.doc.root() else { return Ok(None) };
        let mut steps = Vec::new();
        for (depth, key) in path.iter().enumerate() {
            let name = depth.checked_sub(1).map_or("the file", |d| path[d]);
            let Some(step) = step(node, key, name)? else { return Ok(None) };
            node = step.1;
            steps.push(step);
        }
        Ok(Some(steps))
    }

    fn replace(&self, path: &[&str], value: &NewValue) -> Result<String, EditError> {
        let steps = self.walk(path)?.unwrap_or_default();
        let Some(&(key, node)) = steps.last() else { return Err(EditError::Layout { line: 1 }) };
        if node.anchor != 0 && self.is_shared(node.anchor) {
            return Err(EditError::Shared { key: path.join("."), line: node.line });
        }
        let style = if let Kind::Scalar(_, style) = node.kind { Some(style) } else { None };
        let new = flow(value, style);
        match &node.kind {
            Kind::Map(_, Layout::Block) | Kind::Seq(_, Layout::Block) => self.replace_block(key, node, &new),
            // Nothing is written yet: the value goes right behind the colon.
            Kind::Scalar(text, Style::Plain) if text.is_empty() => {
                let at = self.after_colon(key)?;
                Ok(self.splice(at, at, &format!(" {new}")))
            }
            // Its header (`|`, `>`) stands in front of the text, behind the colon.
            Kind::Scalar(_, Style::Block) => {
                let at = self.after_colon(key)?;
                let to = node.span.end.max(self.line_end(at));
                Ok(self.splice(at, to, &format!(" {new}")))
            }
            _ => Ok(self.splice(node.span.start, node.span.end, &new)),
        }
    }

    /// A block list or mapping gives way to one line behind its key; a comment behind the key stays.
    fn replace_block(&self, key: &Node, node: &Node, new: &str) -> Result<String, EditError> {
        let at = self.after_colon(key)?;
        let from = self.line_end(key.span.end);
        if node.span.start < from {
            return Err(EditError::Layout { line: node.line });
        }
        let to = self.line_end(node.end());
        let without = self.splice(from, to, "");
        Ok(format!("{} {new}{}", &without[..at], &without[at..]))
    }

    fn insert(
        &self,
        parent: &Node,
        path: &[&str],
        depth: usize,
        value: &NewValue,
    ) -> Result<String, EditError> {
        let rest = &path[depth..];
        match &parent.kind {
            Kind::Map(pairs, Layout::Flow) => {
                let entry = flow_entry(rest, value);
                let close = parent.span.end.saturating_sub(1);
                let at = self.text[..close].trim_end().len();
                let comma = if pairs.is_empty() || self.text[..at].ends_with(',') { "" } else { ", " };
                Ok(self.splice(at, at, &format!("{comma}{entry}")))
            }
            Kind::Map(pairs, Layout::Block) => {
                let Some((first, _)) = pairs.first() else {
                    return Err(EditError::Layout { line: parent.line });
                };
                let at = self.line_end(parent.end());
                Ok(self.insert_lines(at, &block_lines(rest, value, first.column)))
            }
            // `key:` with nothing below it yet.
            _ => {
                let steps = self.walk(&path[..depth])?.unwrap_or_default();
                let Some(&(key, null)) = steps.last() else {
                    return Err(EditError::Layout { line: parent.line });
                };
                let text = self.splice(null.span.start, null.span.end, "");
                let at = self.line_end(key.span.end) - (null.span.end - null.span.start);
                let lines = block_lines(rest, value, key.column + 2);
                Ok(Editor { text: &text, doc: self.doc }.insert_lines(at, &lines))
            }
        }
    }

    fn append_to_end(&self, path: &[&str], value: &NewValue) -> String {
        self.insert_lines(self.text.len(), &block_lines(path, value, 0))
    }

    fn insert_lines(&self, at: usize, lines: &[String]) -> String {
        let eol = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let block = lines.join(eol);
        let before = &self.text[..at];
        if before.is_empty() || before.ends_with('\n') {
            format!("{before}{block}{eol}{}", &self.text[at..])
        } else {
            let tail = &self.text[at..];
            let end = if tail.is_empty() { eol } else { "" };
            format!("{before}{eol}{block}{end}{tail}")
        }
    }

    fn unset(&self, path: &[&str]) -> Result<Option<String>, EditError> {
        let Some(steps) = self.walk(path)? else { return Ok(None) };
        let parent_of = |i: usize| if i == 0 { self.doc.root() } else { steps.get(i - 1).map(|s| s.1) };
        // A mapping that would be left empty goes too: other readers trip over a section that is null.
        let mut index = steps.len().saturating_sub(1);
        while index > 0
            && matches!(parent_of(index).map(|p| &p.kind), Some(Kind::Map(pairs, _)) if pairs.len() == 1)
        {
            index -= 1;
        }
        let (Some(parent), Some(&(key, value))) = (parent_of(index), steps.get(index)) else {
            return Ok(None);
        };
        if self.anchored_inside(value) {
            return Err(EditError::Shared { key: path.join("."), line: value.line });
        }
        match &parent.kind {
            Kind::Map(_, Layout::Block) => self.remove_lines(key, value).map(Some),
            Kind::Map(pairs, Layout::Flow) => Ok(Some(self.remove_flow(pairs, key, value))),
            _ => Err(EditError::Layout { line: value.line }),
        }
    }

    fn remove_lines(&self, key: &Node, value: &Node) -> Result<String, EditError> {
        let start = self.text[..key.span.start].rfind('\n').map_or(0, |i| i + 1);
        if !self.text[start..key.span.start].trim().is_empty() {
            return Err(EditError::Layout { line: key.line });
        }
        let mut end = self.line_end(value.end().max(key.span.end));
        end += self.text[end..].chars().take_while(|c| *c == '\r').count();
        end += usize::from(self.text[end..].starts_with('\n'));
        Ok(self.splice(start, end, ""))
    }

    fn remove_flow(&self, pairs: &[(Node, Node)], key: &Node, value: &Node) -> String {
        let index = pairs.iter().position(|(k, _)| k.span == key.span).unwrap_or(0);
        let end = value.end().max(key.span.end);
        match (pairs.get(index + 1), index.checked_sub(1).and_then(|i| pairs.get(i))) {
            (Some((next, _)), _) => self.splice(key.span.start, next.span.start, ""),
            (None, Some((k, v))) => self.splice(v.end().max(k.span.end), end, ""),
            (None, None) => self.splice(key.span.start, end, ""),
        }
    }

    fn after_colon(&self, key: &Node) -> Result<usize, EditError> {
        let rest = &self.text[key.span.end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest[blanks..].starts_with(':') {
            Ok(key.span.end + blanks + 1)
        } else {
            Err(EditError::Layout { line: key.line })
        }
    }

    /// Where the line around `at` ends, in front of its line break.
    fn line_end(&self, at: usize) -> usize {
        let end = self.text[at..].find('\n').map_or(self.text.len(), |i| at + i);
        end - usize::from(self.text[..end].ends_with('\r') && end > at)
    }

    fn splice(&self, from: usize, to: usize, new: &str) -> String {
        format!("{}{new}{}", &self.text[..from], &self.text[to..])
    }

    fn is_shared(&self, anchor: usize) -> bool {
        fn uses(node: &Node, anchor: usize) -> bool {
            match &node.kind {
                Kind::Alias(id) => *id == anchor,
                Kind::Seq(items, _) => items.iter().any(|i| uses(i, anchor)),
                Kind::Map(pairs, _) => pairs.iter().any(|(k, v)| uses(k, anchor) || uses(v, anchor)),
                Kind::Scalar(..) => false,
            }
        }
        self.doc.root().is_some_and(|root| uses(root, anchor))
    }

    fn anchored_inside(&self, node: &Node) -> bool {
        let below = match &node.kind {
            Kind::Seq(items, _) => items.iter().any(|i| self.anchored_inside(i)),
            Kind::Map(pairs, _) => pairs.iter().any(|(_, v)| self.anchored_inside(v)),
            _ => false,
        };
        below || (node.anchor != 0 && self.is_shared(node.anchor))
    }
}

/// One step down, in the file as written: aliases and merge keys are not followed, or we would edit elsewhere.
fn step<'n>(node: &'n Node, key: &str, name: &str) -> Result<Option<(&'n Node, &'n Node)>, EditError> {
    let fail = || EditError::NotAMapping { key: name.to_owned(), line: node.line, found: node.describe() };
    match &node.kind {
        Kind::Map(pairs, _) => Ok(pairs.iter().find(|(k, _)| key_is(k, key)).map(|(k, v)| (k, v))),
        Kind::Seq(items, _) => {
            let index = key.parse::<usize>().map_err(|_| fail())?;
            let missing =
                || EditError::NoSuchEntry { key: name.to_owned(), line: node.line, index: key.to_owned() };
            items.get(index).map(|item| Some((item, item))).ok_or_else(missing)
        }
        Kind::Alias(_) => Err(EditError::Shared { key: name.to_owned(), line: node.line }),
        Kind::Scalar(..) if node.is_null() => Ok(None),
        Kind::Scalar(..) => Err(fail()),
    }
}

fn key_is(node: &Node, key: &str) -> bool {
    matches!(&node.kind, Kind::Scalar(text, _) if text == key)
}

/// `a.b: v` as lines, indented from `column`.
fn block_lines(path: &[&str], value: &NewValue, column: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for (depth, key) in path.iter().enumerate() {
        let indent = " ".repeat(column + depth * 2);
        let end = if depth + 1 == path.len() { format!(" {}", flow(value, None)) } else { String::new() };
        lines.push(format!("{indent}{}:{end}", key_text(key)));
    }
    lines
}

fn flow_entry(path: &[&str], value: &NewValue) -> String {
    match path.split_first() {
        Some((key, [])) => format!("{}: {}", key_text(key), flow(value, None)),
        Some((key, rest)) => format!("{}: {{{}}}", key_text(key), flow_entry(rest, value)),
        None => flow(value, None),
    }
}

fn key_text(key: &str) -> String {
    render(&Scalar::Text(key.to_owned()), None)
}

/// A value on one line.
fn flow(value: &NewValue, before: Option<Style>) -> String {
    match value {
        NewValue::Null => "null".to_owned(),
        NewValue::Bool(b) => render(&Scalar::Bool(*b), None),
        NewValue::Number(n) => match n.as_i64() {
            Some(i) => render(&Scalar::Int(i), None),
            None => render(&Scalar::Float(n.as_f64().unwrap_or_default()), None),
        },
        NewValue::String(s) => render(&Scalar::Text(s.clone()), before),
        NewValue::Array(items) => {
            format!("[{}]", items.iter().map(|i| flow(i, Some(Style::Double))).collect::<Vec<_>>().join(", "))
        }
        NewValue::Object(map) => {
            let entry =
                |(k, v): (&String, &NewValue)| format!("{}: {}", key_text(k), flow(v, Some(Style::Double)));
            format!("{{{}}}", map.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests;
