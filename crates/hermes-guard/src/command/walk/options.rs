//! Options as programs read them: letters written together, values glued on or in the next word, long names cut short.

use crate::command::word::Word;

/// The options of a program, in the notation of getopt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spec {
    /// Letters: `a` alone, `b:` with a value, `c::` with a value only if it is glued on.
    pub(super) short: &'static str,
    /// Long names, blanks between them: `a` alone, `b=` with a value, `c==` with two, `d?` with one only after `=`.
    pub(super) long: &'static str,
}

/// How many values an option takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// Only what is glued on.
    Glued,
    /// This many, glued on or in the next words.
    Values(usize),
}

/// An option that was given: its name as the program knows it (`-o`, `--output`), and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Given {
    pub(super) name: String,
    pub(super) value: Option<Word>,
}

/// What the next word is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next<'w> {
    /// Options, and the words after them and their values.
    Options(Vec<Given>, &'w [Word]),
    /// `--`, and the words after it.
    Dashes(&'w [Word]),
    /// No option.
    Operand,
    /// There is none.
    End,
}

impl Spec {
    /// Reads the next word.
    pub(super) fn next<'w>(&self, words: &'w [Word]) -> Next<'w> {
        let Some((first, after)) = words.split_first() else { return Next::End };
        let text = first.beginning();
        if text == "--" && !first.has_unknown() {
            return Next::Dashes(after);
        }
        if text.len() < 2 || !text.starts_with('-') {
            return Next::Operand;
        }
        let (given, after) =
            if text.starts_with("--") { self.long(first, after) } else { self.cluster(first, after) };
        Next::Options(given, after)
    }

    /// Reads all options, also those after operands, up to `--`; the operands are what is left.
    pub(super) fn all(&self, words: &[Word]) -> (Vec<Given>, Vec<Word>) {
        let (mut options, mut operands, mut rest) = (Vec::new(), Vec::new(), words);
        loop {
            match self.next(rest) {
                Next::Options(given, after) => {
                    options.extend(given);
                    rest = after;
                }
                Next::Operand => {
                    operands.extend(rest.first().cloned());
                    rest = rest.get(1..).unwrap_or_default();
                }
                Next::Dashes(after) => {
                    operands.extend(after.iter().cloned());
                    return (options, operands);
                }
                Next::End => return (options, operands),
            }
        }
    }

    /// `-abc`, where the value of a letter is the rest of the word or the next one.
    fn cluster<'w>(&self, word: &Word, after: &'w [Word]) -> (Vec<Given>, &'w [Word]) {
        let text = word.beginning();
        let mut given = Vec::new();
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            let takes = self.letter(letter);
            if takes == Takes::Nothing {
                given.push(Given { name, value: None });
                continue;
            }
            let glued = text
                .get(..at + letter.len_utf8())
                .and_then(|before| word.without_prefix(before))
                .filter(|rest| !rest.is_empty());
            let from_next = glued.is_none() && takes != Takes::Glued;
            let value = if from_next { after.first().cloned() } else { glued };
            given.push(Given { name, value });
            return (given, if from_next { after.get(1..).unwrap_or_default() } else { after });
        }
        (given, after)
    }

    fn long<'w>(&self, word: &Word, after: &'w [Word]) -> (Vec<Given>, &'w [Word]) {
        let text = word.beginning();
        let (written, has_value) = match text.split_once('=') {
            Some((name, _)) => (name, true),
            None => (text.as_str(), false),
        };
        let (name, takes) = self.named(&written[2..]);
        let name = format!("--{name}");
        if has_value {
            let value = word.without_prefix(&format!("{written}="));
            return (vec![Given { name, value }], after);
        }
        let count = match takes {
            Takes::Values(count) => count.min(after.len()),
            Takes::Nothing | Takes::Glued => 0,
        };
        let value = after.first().filter(|_| count > 0).cloned();
        (vec![Given { name, value }], after.get(count..).unwrap_or_default())
    }

    fn letter(&self, letter: char) -> Takes {
        let Some(at) = self.short.find(letter).filter(|_| letter != ':') else { return Takes::Nothing };
        let rest = &self.short[at + letter.len_utf8()..];
        match rest.bytes().take_while(|byte| *byte == b':').count() {
            0 => Takes::Nothing,
            1 => Takes::Values(1),
            _ => Takes::Glued,
        }
    }

    /// The whole name of a long option that may be cut short, and what it takes.
    fn named(&self, written: &str) -> (String, Takes) {
        let options = || {
            self.long.split_whitespace().map(|option| {
                let name = option.trim_end_matches(['=', '?']);
                let takes = match option.len() - name.len() {
                    0 => Takes::Nothing,
                    _ if option.ends_with('?') => Takes::Glued,
                    count => Takes::Values(count),
                };
                (name, takes)
            })
        };
        let whole = options().find(|(name, _)| *name == written);
        let found =
            whole.or_else(|| options().find(|(name, _)| !written.is_empty() && name.starts_with(written)));
        found.map_or_else(|| (written.to_owned(), Takes::Nothing), |(name, takes)| (name.to_owned(), takes))
    }
}

/// The value of the first of these options that was given.
pub(super) fn value_of(given: &[Given], names: &[&str]) -> Option<Word> {
    given.iter().find(|option| names.contains(&option.name.as_str())).and_then(|option| option.value.clone())
}

/// Whether one of these options was given.
pub(super) fn has(given: &[Given], names: &[&str]) -> bool {
    given.iter().any(|option| names.contains(&option.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPEC: Spec = Spec { short: "nu:s:d::", long: "user= signal= differences? verbose bind==" };

    fn read(line: &str) -> (Vec<String>, Vec<String>) {
        let words: Vec<Word> = line.split(' ').map(Word::known).collect();
        let (options, mut rest) = (&mut Vec::new(), words.as_slice());
        loop {
            match SPEC.next(rest) {
                Next::Options(given, after) => {
                    options.extend(given.into_iter().map(|option| {
                        option.name
                            + &option.value.map(|value| format!(" {}", value.shown())).unwrap_or_default()
                    }));
                    rest = after;
                }
                Next::Dashes(after) => return (options.clone(), after.iter().map(Word::shown).collect()),
                Next::Operand | Next::End => {
                    return (options.clone(), rest.iter().map(Word::shown).collect());
                }
            }
        }
    }

    #[test]
    fn letters_stand_together_and_values_where_they_fit() {
        for (line, options, rest) in [
            ("-nu root rm", &["-n", "-u root"][..], &["rm"][..]),
            ("-nuroot rm", &["-n", "-u root"], &["rm"]),
            ("-d rm", &["-d"], &["rm"]),
            ("-dx rm", &["-d x"], &["rm"]),
            ("--us root rm", &["--user root"], &["rm"]),
            ("--user=root rm", &["--user root"], &["rm"]),
            ("--diff rm", &["--differences"], &["rm"]),
            ("--bind a b rm", &["--bind a"], &["rm"]),
            ("--other rm", &["--other"], &["rm"]),
            ("-n -- -u rm", &["-n"], &["-u", "rm"]),
            ("rm -u", &[], &["rm", "-u"]),
        ] {
            let (given, left) = read(line);
            assert_eq!(
                (given, left.iter().map(String::as_str).collect::<Vec<_>>()),
                (options.iter().map(|o| (*o).to_owned()).collect(), rest.to_vec()),
                "{line}"
            );
        }
    }
}
