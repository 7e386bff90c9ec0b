//! Writes lines: white space collapsed, blocks apart, each line behind what its lists and quotes put in front.

/// What is longer is cut: nobody reads it.
const LONGEST: usize = 2 * 1024 * 1024;
/// Deeper lists and quotes are not moved further in.
const MOST_PREFIXES: usize = 16;

/// How far apart the next text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Line,
    Blank,
}

/// What stands in front of the lines of a list item or a quote.
#[derive(Debug)]
struct Prefix {
    first: String,
    rest: String,
    used: bool,
}

/// Text under way.
#[derive(Debug)]
pub(super) struct Writer {
    out: String,
    prefixes: Vec<Prefix>,
    /// Prefixes that were not put in front of anything, being too many.
    ignored: usize,
    gap: Gap,
    space: bool,
    /// White space came before anything else.
    led: bool,
}

impl Writer {
    pub(super) fn new() -> Self {
        Self {
            out: String::new(),
            prefixes: Vec::new(),
            ignored: 0,
            gap: Gap::Line,
            space: false,
            led: false,
        }
    }

    /// Text in which white space means only that words are apart.
    pub(super) fn text(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() && !self.is_full() {
            let is_space = |c: char| c.is_ascii_whitespace() || c == '\u{a0}';
            let words = rest.trim_start_matches(is_space);
            if words.len() < rest.len() {
                self.space();
            }
            let end = words.find(is_space).unwrap_or(words.len());
            self.verbatim(&words[..end]);
            rest = &words[end..];
        }
    }

    /// Text as it is, in the current line.
    pub(super) fn verbatim(&mut self, text: &str) {
        if text.is_empty() || self.is_full() {
            return;
        }
        if self.gap > Gap::None {
            self.start_line();
        } else if self.space {
            self.out.push(' ');
        }
        self.space = false;
        self.out.push_str(text);
    }

    /// A whole line as it is.
    pub(super) fn line(&mut self, text: &str) {
        self.end_line();
        if text.is_empty() {
            self.start_line();
        } else {
            self.verbatim(text);
        }
        self.end_line();
    }

    /// The next word is apart from the last.
    pub(super) fn space(&mut self) {
        if self.gap == Gap::None {
            self.space = true;
        } else if self.out.is_empty() {
            self.led = true;
        }
    }

    /// The next text begins a line.
    pub(super) fn end_line(&mut self) {
        self.gap = self.gap.max(Gap::Line);
        self.space = false;
    }

    /// The next text begins a block of its own; the first one of an item stays beside its mark.
    pub(super) fn end_block(&mut self) {
        let begun = self.prefixes.last().is_none_or(|prefix| prefix.used) || self.ignored > 0;
        self.gap = self.gap.max(if begun { Gap::Blank } else { Gap::Line });
        self.space = false;
    }

    /// A line break that the author put.
    pub(super) fn line_break(&mut self) {
        self.gap = if self.gap == Gap::None { Gap::Line } else { Gap::Blank };
        self.space = false;
    }

    /// Items of a list are not apart.
    pub(super) fn end_item(&mut self) {
        self.gap = Gap::Line;
        self.space = false;
    }

    /// Puts something in front of the lines that follow: once, then something else.
    pub(super) fn begin(&mut self, first: &str, rest: &str) {
        if self.prefixes.len() < MOST_PREFIXES {
            self.prefixes.push(Prefix { first: first.to_owned(), rest: rest.to_owned(), used: false });
        } else {
            self.ignored += 1;
        }
    }

    /// Takes that away again.
    pub(super) fn end(&mut self) {
        if self.ignored > 0 {
            self.ignored -= 1;
        } else {
            self.prefixes.pop();
        }
    }

    /// Whether there is no room for more.
    pub(super) fn is_full(&self) -> bool {
        self.out.len() >= LONGEST
    }

    fn start_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
            if self.gap == Gap::Blank {
                let used = self.prefixes.iter().take_while(|prefix| prefix.used);
                let front: String = used.map(|prefix| prefix.rest.as_str()).collect();
                self.out.push_str(front.trim_end());
                self.out.push('\n');
            }
        }
        for prefix in &mut self.prefixes {
            self.out.push_str(if prefix.used { &prefix.rest } else { &prefix.first });
            prefix.used = true;
        }
        (self.gap, self.space) = (Gap::None, false);
    }

    /// What was written, with whether white space was at its ends.
    pub(super) fn finish(self) -> Written {
        let text = self.out.trim_end().to_owned();
        Written { led: self.led, trailed: self.space || self.gap > Gap::None && !text.is_empty(), text }
    }
}

/// Text that was written.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) led: bool,
    pub(super) trailed: bool,
}
