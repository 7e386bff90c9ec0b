//! From text to a tree, with the line of everything that is wrong.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput};

use super::{Document, Kind, Layout, Node, Style};

/// A configuration larger than this is a mistake; refusing it keeps memory bounded.
pub const MAX_BYTES: usize = 4 << 20;

/// Deeper nesting than this serves nobody and would exhaust the stack of recursive readers.
const MAX_DEPTH: usize = 100;

/// Why a file is not usable YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParseError {
    /// Not YAML.
    #[error("line {line}: {message}")]
    Syntax {
        /// Where.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A tab where only blanks may indent.
    #[error("line {line}: a tab is used for indentation: YAML allows only blanks there")]
    Tab {
        /// Where.
        line: usize,
    },
    /// The same key twice in one mapping.
    #[error("line {line}: \"{key}\" is set a second time, the first is on line {first}: remove one of them")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Where it stands again.
        line: usize,
        /// Where it stood first.
        first: usize,
    },
    /// More than one document in the file.
    #[error("line {line}: a second document starts here: keep only one")]
    SecondDocument {
        /// Where.
        line: usize,
    },
    /// Nested too deeply.
    #[error("line {line}: nested deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where.
        line: usize,
    },
    /// Larger than [`MAX_BYTES`].
    #[error("line 1: the file is larger than {} MiB", MAX_BYTES >> 20)]
    TooLarge,
}

impl ParseError {
    /// The line the error is on.
    pub fn line(&self) -> usize {
        match self {
            Self::Syntax { line, .. }
            | Self::Tab { line }
            | Self::DuplicateKey { line, .. }
            | Self::SecondDocument { line }
            | Self::TooDeep { line } => *line,
            Self::TooLarge => 1,
        }
    }
}

/// Parses one document. A byte order mark must already be gone.
pub fn parse(text: &str) -> Result<Document, ParseError> {
    if text.len() > MAX_BYTES {
        return Err(ParseError::TooLarge);
    }
    let mut builder = Builder {
        text,
        offsets: Offsets::of(text),
        parser: Parser::new_from_str(text),
        doc: Document::default(),
    };
    builder.document()?;
    Ok(builder.doc)
}

struct Builder<'a> {
    text: &'a str,
    offsets: Offsets,
    parser: Parser<'a, StrInput<'a>>,
    doc: Document,
}

impl<'a> Builder<'a> {
    fn document(&mut self) -> Result<(), ParseError> {
        let mut seen = false;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamEnd => return Ok(()),
                Event::DocumentStart(_) if seen => {
                    return Err(ParseError::SecondDocument { line: span.start.line() });
                }
                Event::DocumentStart(_) => {
                    seen = true;
                    let (event, span) = self.next()?;
                    let explicit_nothing =
                        matches!(&event, Event::Scalar(t, ScalarStyle::Plain, 0, None) if t.is_empty());
                    let root = self.node(event, span, 0)?;
                    self.doc.root = (!explicit_nothing).then_some(root);
                }
                _ => {}
            }
        }
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), ParseError> {
        match self.parser.next_event() {
            Some(Ok(found)) => Ok(found),
            Some(Err(e)) => Err(self.explain(e.marker().line(), e.info())),
            None => Ok((Event::StreamEnd, Span::default())),
        }
    }

    /// The parser's words for a tab are about tokens; the user's problem is the tab.
    fn explain(&self, line: usize, message: &str) -> ParseError {
        let near = |l: usize| self.text.lines().nth(l.saturating_sub(1));
        let indented_by_tab = |l: usize| near(l).is_some_and(|t| t.trim_start_matches(' ').starts_with('\t'));
        let line = line.max(1);
        match [line, line.saturating_sub(1)].into_iter().find(|l| indented_by_tab(*l)) {
            Some(line) => ParseError::Tab { line },
            None => ParseError::Syntax { line, message: message.to_owned() },
        }
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, ParseError> {
        if depth > MAX_DEPTH {
            return Err(ParseError::TooDeep { line: span.start.line() });
        }
        let start = self.offsets.byte(span.start.index());
        let mut node = Node {
            kind: Kind::Alias(0),
            span: start..self.offsets.byte(span.end.index()).max(start),
            line: span.start.line(),
            column: span.start.col(),
            anchor: 0,
        };
        match event {
            Event::Alias(id) => node.kind = Kind::Alias(id),
            Event::Scalar(text, style, anchor, tag) => {
                let is_text = tag.is_some_and(|t| t.suffix == "str" || !t.is_yaml_core_schema());
                node.kind = Kind::Scalar(text.into_owned(), style_of(style, is_text));
                node.anchor = anchor;
                self.trim(&mut node, style);
            }
            Event::SequenceStart(anchor, _) => self.sequence(&mut node, anchor, depth)?,
            Event::MappingStart(anchor, _) => self.mapping(&mut node, anchor, depth)?,
            other => {
                let message = format!("did not expect {other:?} here");
                return Err(ParseError::Syntax { line: node.line, message });
            }
        }
        if node.anchor != 0 {
            self.doc.anchors.insert(node.anchor, node.clone());
        }
        Ok(node)
    }

    /// The parser reports scalars with the white space and sometimes the comment behind them.
    fn trim(&self, node: &mut Node, style: ScalarStyle) {
        let text = &self.text[node.span.clone()];
        let len = match style {
            ScalarStyle::SingleQuoted => quoted_len(text, '\''),
            ScalarStyle::DoubleQuoted => quoted_len(text, '"'),
            _ => text.trim_end().len(),
        };
        node.span.end = node.span.start + len;
    }

    fn sequence(&mut self, node: &mut Node, anchor: usize, depth: usize) -> Result<(), ParseError> {
        let mut items = Vec::new();
        let end = loop {
            match self.next()? {
                (Event::SequenceEnd, span) => break span,
                (event, span) => items.push(self.node(event, span, depth + 1)?),
            }
        };
        let layout = self.close(node, &end, '[');
        node.kind = Kind::Seq(items, layout);
        node.anchor = anchor;
        Ok(())
    }

    fn mapping(&mut self, node: &mut Node, anchor: usize, depth: usize) -> Result<(), ParseError> {
        let mut pairs = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let end = loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::MappingEnd) {
                break span;
            }
            let key = self.node(event, span, depth + 1)?;
            note_key(&mut seen, &key)?;
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            pairs.push((key, value));
        };
        let layout = self.close(node, &end, '{');
        node.kind = Kind::Map(pairs, layout);
        node.anchor = anchor;
        Ok(())
    }

    fn close(&self, node: &mut Node, end: &Span, opener: char) -> Layout {
        if self.text[node.span.start..].starts_with(opener) {
            node.span.end = self.offsets.byte(end.end.index()).max(node.span.start);
            Layout::Flow
        } else {
            node.span.end = self.offsets.byte(end.start.index()).max(node.span.start);
            Layout::Block
        }
    }
}

/// How far a quoted scalar at the start of `text` reaches, quotes included.
fn quoted_len(text: &str, quote: char) -> usize {
    let mut chars = text.char_indices().skip(1).peekable();
    while let Some((i, c)) = chars.next() {
        let escapes = (quote == '"' && c == '\\')
            || (quote == '\'' && c == quote && chars.peek().is_some_and(|(_, next)| *next == quote));
        if escapes {
            chars.next();
        } else if c == quote {
            return i + 1;
        }
    }
    text.trim_end().len()
}

fn note_key(seen: &mut HashMap<String, usize>, key: &Node) -> Result<(), ParseError> {
    let Kind::Scalar(text, style) = &key.kind else { return Ok(()) };
    if text == "<<" && *style == Style::Plain {
        return Ok(());
    }
    match seen.insert(text.clone(), key.line) {
        Some(first) => Err(ParseError::DuplicateKey { key: text.clone(), line: key.line, first }),
        None => Ok(()),
    }
}

fn style_of(style: ScalarStyle, is_text: bool) -> Style {
    match style {
        ScalarStyle::Plain if is_text => Style::Tagged,
        ScalarStyle::Plain => Style::Plain,
        ScalarStyle::SingleQuoted => Style::Single,
        ScalarStyle::DoubleQuoted => Style::Double,
        ScalarStyle::Literal | ScalarStyle::Folded => Style::Block,
    }
}

/// The parser counts characters, edits need bytes.
struct Offsets(Option<Vec<usize>>, usize);

impl Offsets {
    fn of(text: &str) -> Self {
        let bytes = (!text.is_ascii()).then(|| text.char_indices().map(|(i, _)| i).collect());
        Self(bytes, text.len())
    }

    fn byte(&self, index: usize) -> usize {
        match &self.0 {
            None => index.min(self.1),
            Some(bytes) => bytes.get(index).copied().unwrap_or(self.1),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use std::fmt::Write as _;

    use super::*;
    use proptest::prelude::*;

    fn at<'a>(text: &'a str, path: &[&str]) -> &'a str {
        let doc = parse(text).unwrap();
        let node = doc.get(path).unwrap();
        &text[node.span.clone()]
    }

    #[test]
    fn spans_cover_exactly_the_value() {
        let text = "a: 1   # c\nb: 'x y'\nc: \"ü\" # k\nd:\n  e: é z  \n  f: [1, 2]\ng: {h: 1}\ni: |\n  t\n  u\n\nj: *x\n"
            .replace("*x", "2");
        assert_eq!(at(&text, &["a"]), "1");
        assert_eq!(at(&text, &["b"]), "'x y'");
        assert_eq!(at(&text, &["c"]), "\"ü\"");
        assert_eq!(at(&text, &["d", "e"]), "é z");
        assert_eq!(at(&text, &["d", "f"]), "[1, 2]");
        assert_eq!(at(&text, &["g"]), "{h: 1}");
        assert_eq!(at(&text, &["g", "h"]), "1");
        assert_eq!(at(&text, &["i"]), "t\n  u");
        assert_eq!(at(&text, &["j"]), "2");
    }

    #[test]
    fn anchors_aliases_and_merge_keys_are_followed() {
        let doc =
            parse("base: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\nlist:\n  <<: [*b]\n").unwrap();
        let text = |path: &[&str]| match &doc.get(path).unwrap().kind {
            Kind::Scalar(t, _) => t.clone(),
            other => format!("{other:?}"),
        };
        assert_eq!(text(&["use", "y"]), "2");
        assert_eq!(text(&["more", "x"]), "1");
        assert_eq!(text(&["more", "y"]), "3");
        assert_eq!(text(&["list", "x"]), "1");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        assert_eq!(
            parse("a: 1\nb: 2\na: 3\n").unwrap_err(),
            ParseError::DuplicateKey { key: "a".into(), line: 3, first: 1 }
        );
        assert_eq!(parse("a:\n\tb: 1\n").unwrap_err(), ParseError::Tab { line: 2 });
        assert!(matches!(parse("a: [1\nb: 2\n").unwrap_err(), ParseError::Syntax { line: 1..=3, .. }));
        assert_eq!(parse("a: 1\n---\nb: 2\n").unwrap_err(), ParseError::SecondDocument { line: 2 });
        assert!(matches!(
            parse(&"[".repeat(5000)).unwrap_err(),
            ParseError::TooDeep { .. } | ParseError::Syntax { .. }
        ));
    }

    #[test]
    fn an_empty_file_has_no_root() {
        for text in ["", "\n", "# only a comment\n", "---\n", "--- # x\n"] {
            assert!(parse(text).unwrap().root().is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_bomb_of_aliases_stays_small() {
        let mut text = "a0: &a0 [x, x]\n".to_owned();
        for i in 1..40 {
            let _ = writeln!(text, "a{i}: &a{i} [*a{0}, *a{0}]", i - 1);
        }
        assert!(parse(&text).is_ok());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn random_text_never_panics(text in "\\PC{0,80}|[ \\n\\t\\-:#'\"&*!|>\\[\\]{},?%@`a-c0-9]{0,80}") {
            if let Ok(doc) = parse(&text) {
                let _ = doc.get(&["a", "b"]);
            }
        }
    }
}
