//! Cells, wrapping and cutting, for wide characters too.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Line, Style};

/// How many cells text takes.
pub fn cells(text: &str) -> usize {
    text.width()
}

/// Cuts a line to a width; what is missing shows as `…`.
pub fn cut(line: &Line, width: usize) -> Line {
    if line.width() <= width {
        return line.clone();
    }
    let mut kept = Line::new();
    let mut room = width.saturating_sub(1);
    'spans: for span in line.spans() {
        for grapheme in span.text.graphemes(true) {
            let size = cells(grapheme);
            if size > room {
                break 'spans;
            }
            room -= size;
            kept.push(grapheme, span.style);
        }
    }
    if width > 0 {
        kept.push("…", Style::FAINT);
    }
    kept
}

/// Cuts text to a width; what is missing shows as `…`.
pub fn fit(text: &str, width: usize) -> String {
    cut(&Line::plain(text), width).text()
}

/// Breaks a line into lines no wider than `width`, at blanks where there are some. Lines after the first begin with
/// `hang`.
pub fn wrap(line: &Line, width: usize, hang: &Line) -> Vec<Line> {
    let width = width.max(2);
    if line.width() <= width {
        return vec![line.clone()];
    }
    // A wide hang would leave no room for words, not even for one wide character.
    let leaves_room = hang.width() * 2 <= width && hang.width() + 2 <= width;
    let hang = if leaves_room { hang.clone() } else { Line::new() };
    let mut wrapper = Wrapper { width, hang, done: Vec::new(), current: Line::new(), used: 0, begun: false };
    for word in words(line) {
        wrapper.word(&word);
    }
    wrapper.done.push(wrapper.current);
    wrapper.done
}

/// A run of blanks or of anything else, as graphemes with their styles.
struct Word<'a> {
    graphemes: Vec<(&'a str, Style)>,
    width: usize,
    blank: bool,
}

fn words(line: &Line) -> Vec<Word<'_>> {
    let mut words: Vec<Word<'_>> = Vec::new();
    for span in line.spans() {
        for grapheme in span.text.graphemes(true) {
            let blank = grapheme == " ";
            let size = cells(grapheme);
            // Wide characters (Chinese, Japanese, emoji) may be parted anywhere.
            let joins = |w: &&mut Word<'_>| w.blank == blank && (blank || size < 2);
            match words.last_mut().filter(joins) {
                Some(word) => {
                    word.graphemes.push((grapheme, span.style));
                    word.width += size;
                }
                None => words.push(Word { graphemes: vec![(grapheme, span.style)], width: size, blank }),
            }
        }
    }
    words
}

struct Wrapper {
    width: usize,
    hang: Line,
    done: Vec<Line>,
    current: Line,
    used: usize,
    begun: bool,
}

impl Wrapper {
    fn word(&mut self, word: &Word<'_>) {
        if self.used + word.width > self.width {
            if word.blank {
                // Blanks at a break are not worth a line.
                if self.begun {
                    self.next_line();
                }
                return;
            }
            if self.begun {
                self.next_line();
            }
        }
        if word.blank && !self.begun && !self.done.is_empty() {
            return;
        }
        for (grapheme, style) in &word.graphemes {
            let size = cells(grapheme);
            if self.used + size > self.width {
                self.next_line();
            }
            self.current.push(grapheme, *style);
            self.used += size;
            self.begun |= !word.blank;
        }
    }

    fn next_line(&mut self) {
        let full = std::mem::replace(&mut self.current, self.hang.clone());
        self.done.push(trimmed(full));
        self.used = self.hang.width();
        self.begun = false;
    }
}

/// Without blanks at the end.
fn trimmed(line: Line) -> Line {
    let keep = line.text().trim_end_matches(' ').len();
    let mut left = keep;
    let mut out = Line::new();
    for span in line.spans {
        let take = span.text.len().min(left);
        out.push(&span.text[..take], span.style);
        left -= take;
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wrapped(text: &str, width: usize, hang: &str) -> Vec<String> {
        wrap(&Line::plain(text), width, &Line::plain(hang)).iter().map(Line::text).collect()
    }

    #[test]
    fn breaks_at_blanks_and_hangs() {
        assert_eq!(wrapped("one two three four", 9, "  "), ["one two", "  three", "  four"]);
        assert_eq!(wrapped("short", 9, "  "), ["short"]);
    }

    #[test]
    fn splits_what_is_too_long_for_a_line() {
        assert_eq!(wrapped("abcdefghij", 4, ""), ["abcd", "efgh", "ij"]);
        assert_eq!(wrapped("ab abcdefg", 4, ""), ["ab", "abcd", "efg"]);
    }

    #[test]
    fn wide_characters_take_two_cells() {
        assert_eq!(wrapped("日本語テキスト", 5, ""), ["日本", "語テ", "キス", "ト"]);
        assert_eq!(wrapped("日日", 2, " "), ["日", "日"], "the hang gives way");
        assert_eq!(fit("日本語", 5), "日本…");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 3), "abc");
        assert_eq!(fit("abc", 0), "");
    }

    #[test]
    fn styles_survive() {
        let line = Line::plain("plain ").with("strong words", Style::STRONG);
        let lines = wrap(&line, 12, &Line::new());
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1].spans()[0].style, Style::STRONG);
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_the_screen_and_no_word_is_lost(
            text in "[a-z 日é👩‍🚀]{0,80}", width in 2usize..30, hang in " {0,6}"
        ) {
            let lines = wrapped(&text, width, &hang);
            for line in &lines {
                prop_assert!(cells(line) <= width, "{line:?} is wider than {width}");
            }
            let squeeze = |s: &str| s.replace(' ', "");
            prop_assert_eq!(squeeze(&lines.concat()), squeeze(&text));
        }
    }
}
