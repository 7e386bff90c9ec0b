//! A page cut into tags and text, as forgiving as browsers are.

use std::borrow::Cow;

use super::entities::decode;
use super::tag::Tag;

/// A piece of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Text, as it is written.
    Text(&'a str),
    /// The beginning of an element.
    Open { tag: Tag, name: &'a str, attributes: Attributes<'a> },
    /// The end of one.
    Close { tag: Tag, name: &'a str },
}

/// What a `<` begins.
enum Markup<'a> {
    /// A tag.
    Token(Token<'a>),
    /// A comment or the like.
    Nothing,
    /// Nothing: it is a plain character.
    Text,
}

/// The attributes of a tag, read when asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attributes<'a>(&'a str);

/// Cuts a page into pieces.
pub(super) struct Tokens<'a> {
    text: &'a str,
    at: usize,
    /// The element whose content is no markup.
    raw: Option<(Tag, &'a str)>,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, at: 0, raw: None }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Text without markup, up to the end tag or the end of the page.
    fn raw_text(&mut self, name: &str) -> Option<Token<'a>> {
        let rest = self.rest();
        let end = raw_end(rest, name).unwrap_or(rest.len());
        self.at += end;
        (end > 0).then(|| Token::Text(&rest[..end]))
    }

    /// What a `<` begins.
    fn markup(&mut self) -> Markup<'a> {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        match bytes.get(1) {
            Some(b'!') => {
                self.at += declaration(rest);
                Markup::Nothing
            }
            Some(b'/') if bytes.get(2).is_some_and(u8::is_ascii_alphabetic) => {
                let (name, _) = self.tag(2);
                Markup::Token(Token::Close { tag: Tag::of(name), name })
            }
            Some(b'/' | b'?') => {
                self.at += past(rest, b'>');
                Markup::Nothing
            }
            Some(letter) if letter.is_ascii_alphabetic() => {
                let (name, attributes) = self.tag(1);
                let tag = Tag::of(name);
                if tag.is_raw() {
                    self.raw = Some((tag, name));
                }
                Markup::Token(Token::Open { tag, name, attributes })
            }
            _ => Markup::Text,
        }
    }

    /// Reads a tag whose name begins at `start`, up to the `>` that is in no quotes.
    fn tag(&mut self, start: usize) -> (&'a str, Attributes<'a>) {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        let is_end = |byte: u8| byte.is_ascii_whitespace() || byte == b'/' || byte == b'>';
        let name_end = bytes[start..].iter().position(|byte| is_end(*byte)).map_or(rest.len(), |n| start + n);
        let end = tag_end(bytes, name_end);
        self.at += (end + 1).min(rest.len());
        (&rest[start..name_end], Attributes(&rest[name_end..end]))
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            if let Some((_, name)) = self.raw.take()
                && let Some(text) = self.raw_text(name)
            {
                return Some(text);
            }
            let rest = self.rest();
            if rest.is_empty() {
                return None;
            }
            if rest.starts_with('<') {
                match self.markup() {
                    Markup::Token(token) => return Some(token),
                    Markup::Nothing => continue,
                    Markup::Text => {}
                }
            }
            // A `<` that begins nothing is text, with what follows.
            let first = usize::from(rest.starts_with('<'));
            let end = rest[first..].find('<').map_or(rest.len(), |at| first + at);
            self.at += end;
            return Some(Token::Text(&rest[..end]));
        }
    }
}

/// Where the content of an element without markup ends.
fn raw_end(text: &str, name: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find("</") {
        let after = at + found + 2;
        let is_name = text.as_bytes().get(after..after + name.len());
        if is_name.is_some_and(|bytes| bytes.eq_ignore_ascii_case(name.as_bytes())) {
            return Some(at + found);
        }
        at = after;
    }
    None
}

/// The length of a comment, a doctype or another declaration.
fn declaration(text: &str) -> usize {
    if let Some(comment) = text.strip_prefix("<!--") {
        // `<!-->` and `<!--->` are whole comments.
        if comment.starts_with('>') {
            return 5;
        }
        if comment.starts_with("->") {
            return 6;
        }
        return comment.find("-->").map_or(text.len(), |end| 4 + end + 3);
    }
    if text.starts_with("<![CDATA[") {
        return text.find("]]>").map_or(text.len(), |end| end + 3);
    }
    past(text, b'>')
}

fn past(text: &str, byte: u8) -> usize {
    text.bytes().position(|found| found == byte).map_or(text.len(), |at| at + 1)
}

/// The position of the `>` that ends a tag, or the end of the text.
fn tag_end(bytes: &[u8], from: usize) -> usize {
    let mut quote = None;
    let mut before_value = false;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        match (quote, byte) {
            (Some(open), byte) if open == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'>') => return at,
            // A quote counts only where a value begins: `<p title=it's>` is one tag.
            (None, b'"' | b'\'') if before_value => (quote, before_value) = (Some(*byte), false),
            (None, b'=') => before_value = true,
            (None, byte) if byte.is_ascii_whitespace() => {}
            (None, _) => before_value = false,
        }
    }
    bytes.len()
}

impl Attributes<'static> {
    /// None at all.
    pub(super) const NONE: Self = Attributes("");
}

impl<'a> Attributes<'a> {
    /// The value of an attribute; the empty text for one without a value.
    pub(super) fn get(self, name: &str) -> Option<Cow<'a, str>> {
        self.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| decode(value))
    }

    /// Names and values as they are written.
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
            if rest.is_empty() {
                return None;
            }
            // A name may begin with `=`, as in browsers.
            let first = rest.chars().next().map_or(0, char::len_utf8);
            let is_end = |c: char| c.is_ascii_whitespace() || c == '/' || c == '=';
            let end = rest[first..].find(is_end).map_or(rest.len(), |at| first + at);
            let name = &rest[..end];
            rest = rest[end..].trim_start_matches(|c: char| c.is_ascii_whitespace());
            let Some(after) = rest.strip_prefix('=') else { return Some((name, "")) };
            let after = after.trim_start_matches(|c: char| c.is_ascii_whitespace());
            let (value, left) = value(after);
            rest = left;
            Some((name, value))
        })
    }
}

fn value(text: &str) -> (&str, &str) {
    for quote in ['"', '\''] {
        if let Some(inside) = text.strip_prefix(quote) {
            return inside.split_once(quote).unwrap_or((inside, ""));
        }
    }
    text.split_at(text.find(|c: char| c.is_ascii_whitespace()).unwrap_or(text.len()))
}
