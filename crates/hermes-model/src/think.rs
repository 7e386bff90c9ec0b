//! Takes thoughts that a model writes into its text (`<think>…</think>`) out of it, while it streams.
//!
//! A tag opens a run of thoughts only at the start of a line, so that a sentence about the tag stays text. What may be
//! the beginning of a tag is held back until it is clear.

/// The tags models use, without brackets.
const TAGS: [&str; 5] = ["think", "thinking", "reasoning", "thought", "reasoning_scratchpad"];
/// `</reasoning_scratchpad>`
const LONGEST_TAG: usize = 24;

/// A piece of the text, sorted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// For the user.
    Text(String),
    /// Thoughts.
    Thought(String),
}

/// The filter's state between two deltas.
#[derive(Debug, Clone, Default)]
pub struct ThinkFilter {
    held: String,
    inside: Option<&'static str>,
    /// Whether something other than blanks stands on the current line already.
    in_line: bool,
    /// Blank lines right after thoughts belong to neither.
    skip_blanks: bool,
}

impl ThinkFilter {
    /// Takes the next delta and returns what is clear by now.
    pub fn push(&mut self, delta: &str) -> Vec<Piece> {
        self.held.push_str(delta);
        let mut pieces = Vec::new();
        while self.step(&mut pieces) {}
        pieces
    }

    /// The text is over: what was held back is what it looks like.
    pub fn finish(&mut self) -> Vec<Piece> {
        let rest = std::mem::take(&mut self.held);
        let mut pieces = Vec::new();
        self.emit(&mut pieces, &rest);
        pieces
    }

    /// Takes one tag or one run of text from what is held; false when more input is needed.
    fn step(&mut self, pieces: &mut Vec<Piece>) -> bool {
        let held = std::mem::take(&mut self.held);
        let Some(at) = self.next_bracket(&held) else {
            self.emit(pieces, &held);
            return false;
        };
        let (before, from) = held.split_at(at);
        self.emit(pieces, before);
        match self.tag_at(from) {
            Tag::Known { name, length } => {
                self.inside = if self.inside.is_some() { None } else { Some(name) };
                self.skip_blanks = true;
                self.in_line = false;
                from[length..].clone_into(&mut self.held);
                !self.held.is_empty()
            }
            Tag::Other => {
                self.emit(pieces, &from[..1]);
                from[1..].clone_into(&mut self.held);
                !self.held.is_empty()
            }
            Tag::Unclear => {
                from.clone_into(&mut self.held);
                false
            }
        }
    }

    /// Where the next `<` stands that could begin a tag here.
    fn next_bracket(&self, text: &str) -> Option<usize> {
        if self.inside.is_some() {
            return text.find("</").or_else(|| text.ends_with('<').then(|| text.len() - 1));
        }
        let mut in_line = self.in_line;
        for (at, c) in text.char_indices() {
            match c {
                '<' if !in_line => return Some(at),
                '\n' => in_line = false,
                c if !c.is_whitespace() => in_line = true,
                _ => {}
            }
        }
        None
    }

    fn tag_at(&self, text: &str) -> Tag {
        let prefix = if self.inside.is_some() { "</" } else { "<" };
        let Some(rest) = text.strip_prefix(prefix) else {
            return if prefix.starts_with(text) { Tag::Unclear } else { Tag::Other };
        };
        let lower: String = rest.chars().take(LONGEST_TAG).collect::<String>().to_lowercase();
        for name in TAGS.into_iter().filter(|name| self.inside.is_none_or(|open| open == *name)) {
            let whole = format!("{name}>");
            if lower.starts_with(&whole) {
                return Tag::Known { name, length: prefix.len() + whole.len() };
            }
            if whole.starts_with(&lower) {
                return Tag::Unclear;
            }
        }
        Tag::Other
    }

    fn emit(&mut self, pieces: &mut Vec<Piece>, text: &str) {
        let text = if self.skip_blanks { text.trim_start() } else { text };
        let Some(last) = text.chars().last() else { return };
        self.skip_blanks = false;
        let line = text.rsplit('\n').next().unwrap_or(text);
        let continues = !text.contains('\n') && self.in_line;
        self.in_line = last != '\n' && (continues || !line.trim().is_empty());
        match (self.inside, pieces.last_mut()) {
            (None, Some(Piece::Text(before))) | (Some(_), Some(Piece::Thought(before))) => {
                before.push_str(text);
            }
            (None, _) => pieces.push(Piece::Text(text.to_owned())),
            (Some(_), _) => pieces.push(Piece::Thought(text.to_owned())),
        }
    }
}

enum Tag {
    Known { name: &'static str, length: usize },
    Other,
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Text and thoughts, each joined.
    fn split(deltas: &[&str]) -> (String, String) {
        let mut filter = ThinkFilter::default();
        let mut pieces: Vec<Piece> = deltas.iter().flat_map(|delta| filter.push(delta)).collect();
        pieces.extend(filter.finish());
        let mut sorted = (String::new(), String::new());
        for piece in pieces {
            match piece {
                Piece::Text(text) => sorted.0.push_str(&text),
                Piece::Thought(text) => sorted.1.push_str(&text),
            }
        }
        sorted
    }

    fn pair(text: &str, thoughts: &str) -> (String, String) {
        (text.to_owned(), thoughts.to_owned())
    }

    #[test]
    fn thoughts_are_taken_out() {
        assert_eq!(split(&["<think>\nhm\n</think>\n\nHello"]), pair("Hello", "hm\n"));
        assert_eq!(split(&["a\n  <THINKING>x</thinking>b"]), pair("a\n  b", "x"));
        assert_eq!(split(&["<think>a<b></thought></think>c"]), pair("c", "a<b></thought>"));
        assert_eq!(split(&["<think>never closed"]), pair("", "never closed"));
    }

    #[test]
    fn text_about_tags_stays_text() {
        for text in
            ["use <think> like this", "a < b", "x <", "<thin", "<table>\n<tr>", "1 <\n2", "</think> alone"]
        {
            assert_eq!(split(&[text]), pair(text, ""), "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_cutting_gives_the_same(
            text in "(<think>|</think>|<thinking>|</thinking>|<|>|/|a|ä| |\n|think){0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
            let mut at: Vec<usize> = cuts.iter().map(|cut| ends[cut.index(ends.len())]).collect();
            at.push(text.len());
            at.sort_unstable();
            let mut start = 0;
            let mut deltas = Vec::new();
            for cut in at {
                deltas.push(&text[start..cut]);
                start = cut;
            }
            prop_assert_eq!(split(&deltas), split(&[&text]));
        }
    }
}
