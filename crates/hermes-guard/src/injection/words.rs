//! Text as sentences of the words that matter, with their places and lines: spelling, case and punctuation do not hide a
//! phrase, the end of a sentence ends it. Most words of a text matter to nobody; they are counted and passed over.

use std::collections::HashMap;

use super::lookalike::{self, is_mark};

/// The lists a word is in, one bit each.
pub(super) type Lists = u128;

/// A word of a text that is in some list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// The lists it is in.
    pub lists: Lists,
    /// Which word of its sentence it is.
    pub place: usize,
    /// Its line, from 1.
    pub line: usize,
}

/// Words with the lists they are in.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: HashMap<&'static str, Lists>,
    /// Which beginnings, ends and lengths there are: tells most other words without a look at the table.
    shapes: Shapes,
    longest: usize,
}

#[derive(Debug)]
struct Shapes([u64; 64]);

impl Default for Shapes {
    fn default() -> Self {
        Self([0; 64])
    }
}

impl Shapes {
    /// Of a word in any case: what is the same in both is taken.
    fn of(first: u8, last: u8, length: usize) -> usize {
        (usize::from(first | 0x20) * 37 + usize::from(last | 0x20) * 5 + length * 131) % 4096
    }

    fn add(&mut self, word: &[u8]) {
        let (Some(first), Some(last)) = (word.first(), word.last()) else { return };
        let shape = Self::of(*first, *last, word.len());
        self.0[shape / 64] |= 1 << (shape % 64);
    }

    fn has(&self, word: &[u8]) -> bool {
        let (Some(first), Some(last)) = (word.first(), word.last()) else { return false };
        self.has_shape(*first, *last, word.len())
    }

    fn has_shape(&self, first: u8, last: u8, length: usize) -> bool {
        let shape = Self::of(first, last, length);
        self.0[shape / 64] & 1 << (shape % 64) != 0
    }
}

impl Vocabulary {
    pub(super) fn add(&mut self, word: &'static str, lists: Lists) {
        *self.words.entry(word).or_default() |= lists;
        self.shapes.add(word.as_bytes());
        self.longest = self.longest.max(word.len());
    }

    fn lists_of(&self, word: &str) -> Lists {
        if word.len() > self.longest || !self.shapes.has(word.as_bytes()) {
            return 0;
        }
        self.words.get(word).copied().unwrap_or_default()
    }

    /// The lists of a word in lower case, as it is written and as it looks.
    fn meaning(&self, word: &str) -> Lists {
        let written = self.lists_of(word);
        if !lookalike::is_foldable(word) || (word.is_ascii() && !self.may_look_like_one(word.as_bytes())) {
            return written;
        }
        written | self.lists_of(&lookalike::fold(word))
    }

    /// Whether a plain word with digits in it has the shape of a listed one when they are read as letters.
    fn may_look_like_one(&self, word: &[u8]) -> bool {
        let read = |at: Option<&u8>| at.map_or(0, |byte| lookalike::of_digit(char::from(*byte)) as u8);
        word.len() <= self.longest && self.shapes.has_shape(read(word.first()), read(word.last()), word.len())
    }
}

/// The sentences of a text that hold words of the vocabulary. Blank lines, list items and headings end one too.
pub(super) fn sentences(text: &str, vocabulary: &Vocabulary) -> Vec<Vec<Word>> {
    let mut reader = Reader::new(vocabulary);
    if text.is_ascii() {
        reader.ascii(text.as_bytes(), 1);
    } else {
        for (number, line) in (1..).zip(text.split('\n')) {
            if line.is_ascii() {
                reader.ascii(line.as_bytes(), number);
            } else {
                reader.any(line, number);
            }
        }
    }
    reader.end();
    reader.done
}

struct Reader<'v> {
    vocabulary: &'v Vocabulary,
    done: Vec<Vec<Word>>,
    sentence: Vec<Word>,
    place: usize,
    /// The word that is read, in lower case and without apostrophes.
    word: String,
}

impl<'v> Reader<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        Self { vocabulary, done: Vec::new(), sentence: Vec::new(), place: 0, word: String::new() }
    }

    /// Ends the sentence.
    fn end(&mut self) {
        self.place = 0;
        if !self.sentence.is_empty() {
            self.done.push(std::mem::take(&mut self.sentence));
        }
    }

    /// A text without other letters, beginning on this line.
    fn ascii(&mut self, text: &[u8], mut line: usize) {
        self.begin_line(text);
        let mut at = 0;
        while at < text.len() {
            let start = at;
            let mut kinds = 0;
            while let Some(kind) = text.get(at).map(|byte| KINDS[usize::from(*byte)])
                && kind & WORD != 0
            {
                kinds |= kind;
                at += 1;
            }
            if at > start {
                self.ascii_word(&text[start..at], kinds, line);
            }
            let Some(byte) = text.get(at) else { break };
            at += 1;
            match byte {
                b'\n' => {
                    line += 1;
                    self.begin_line(&text[at..]);
                }
                b'.' | b'!' | b'?' | b';' if text.get(at).is_none_or(u8::is_ascii_whitespace) => self.end(),
                _ => {}
            }
        }
    }

    /// What a line begins with may end the sentence before it.
    fn begin_line(&mut self, rest: &[u8]) {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c);
        let rest = &rest[rest.iter().take_while(blank).count()..];
        if matches!(rest.first(), None | Some(b'\n')) || starts_anew(rest) {
            self.end();
        }
    }

    /// A word of plain letters, and what kinds of bytes are in it.
    fn ascii_word(&mut self, word: &[u8], kinds: u8, line: usize) {
        let plain = kinds & ODD == 0;
        let has_apostrophe = kinds & APOSTROPHE != 0;
        let known =
            || self.vocabulary.shapes.has(word) || (!plain && self.vocabulary.may_look_like_one(word));
        if !has_apostrophe && (word.len() > self.vocabulary.longest || !known()) {
            self.place += 1;
            return;
        }
        self.word.clear();
        let letters = word.iter().filter(|byte| **byte != b'\'');
        self.word.extend(letters.map(|byte| char::from(byte.to_ascii_lowercase())));
        if !self.word.is_empty() {
            let lists = self.vocabulary.meaning(&self.word);
            self.push(lists, line);
        }
    }

    /// A line of any letters.
    fn any(&mut self, line: &str, number: usize) {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || starts_anew(trimmed.as_bytes()) {
            self.end();
        }
        for piece in line.split_whitespace() {
            for part in
                piece.split(|c: char| !c.is_alphanumeric() && !is_mark(c) && !matches!(c, '\'' | '’' | '_'))
            {
                self.word.clear();
                let letters = part.chars().filter(|c| !matches!(c, '\'' | '’'));
                self.word.extend(letters.flat_map(char::to_lowercase));
                if !self.word.is_empty() {
                    let lists = self.vocabulary.meaning(&self.word);
                    self.push(lists, number);
                }
            }
            if piece.ends_with(['.', '!', '?', ';']) {
                self.end();
            }
        }
    }

    fn push(&mut self, lists: Lists, line: usize) {
        if lists != 0 {
            self.sentence.push(Word { lists, place: self.place, line });
        }
        self.place += 1;
    }
}

/// A byte of a word.
const WORD: u8 = 1;
/// A digit or an apostrophe, which makes a word look like another one.
const ODD: u8 = 2;
/// An apostrophe, which is no part of the word.
const APOSTROPHE: u8 = 4;
const KINDS: [u8; 256] = {
    let mut kinds = [0; 256];
    let mut at = 0;
    while at < 128 {
        let byte = at as u8;
        if byte.is_ascii_alphabetic() || byte == b'_' {
            kinds[at] = WORD;
        } else if byte.is_ascii_digit() {
            kinds[at] = WORD | ODD;
        } else if byte == b'\'' {
            kinds[at] = WORD | ODD | APOSTROPHE;
        }
        at += 1;
    }
    kinds
};

fn starts_anew(line: &[u8]) -> bool {
    let digits = line.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    match line.get(digits) {
        Some(b'-' | b'*' | b'+' | b'#' | b'|') => digits == 0,
        Some(b'.' | b')') => (1..=5).contains(&digits),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const WORDS: &[&str] = &["dont", "stop", "go", "here", "c", "ignore", "два"];

    fn vocabulary() -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for (place, word) in WORDS.iter().enumerate() {
            vocabulary.add(word, 1 << place);
        }
        vocabulary
    }

    fn read(text: &str) -> Vec<Vec<(usize, usize, usize)>> {
        let word = |word: Word| (word.lists.trailing_zeros() as usize, word.place, word.line);
        sentences(text, &vocabulary())
            .into_iter()
            .map(|sentence| sentence.into_iter().map(word).collect())
            .collect()
    }

    #[test]
    fn sentences_end_where_people_end_them() {
        let expected: [&[(usize, usize, usize)]; 4] =
            [&[(0, 0, 1), (1, 1, 1)], &[(2, 0, 2), (3, 2, 3)], &[(2, 1, 5)], &[(4, 0, 6)]];
        assert_eq!(read("Don't STOP.\nGo on\nhere\n\n- a go\n- c"), expected);
        assert_eq!(read("1gn0re e.g. x ДВА"), [vec![(5, 0, 1)], vec![(6, 1, 1)]]);
    }

    proptest! {
        /// The quick way through plain lines and the way through all others read the same.
        #[test]
        fn both_ways_read_alike(text in "([a-c]|stop|Don't|1gn0re|go|here|[ .,;!'_0-9#-]|\n){0,40}") {
            let vocabulary = vocabulary();
            let mut reader = Reader::new(&vocabulary);
            for (number, line) in (1..).zip(text.split('\n')) {
                reader.any(line, number);
            }
            reader.end();
            prop_assert_eq!(sentences(&text, &vocabulary), reader.done);
        }
    }
}
