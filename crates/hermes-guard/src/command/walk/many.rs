//! Programs that start another one for each of many things: `xargs`, `parallel`, `find -exec`, `fd -x`.

use super::Walk;
use super::options::{Given, has, value_of};
use crate::command::call::{Call, Via};
use crate::command::word::Word;

impl Walk<'_> {
    /// `xargs` and `parallel`.
    pub(super) fn many(&mut self, call: &Call, name: &str, options: &[Given], words: &[Word]) {
        let mut call = call.clone();
        if let Some(file) = value_of(options, &["-a", "--arg-file"])
            && let Some(input) = Self::descriptor_of(&call, &file)
        {
            call.input = input;
        }
        let replaces = has(options, &["-I", "-i", "--replace", "-J"]);
        let place = value_of(options, &["-I", "-i", "--replace", "-J"]).and_then(|word| word.text());
        let place = place.or_else(|| (replaces || name == "parallel").then(|| "{}".to_owned()));
        let written =
            words.iter().any(|word| place.as_deref().is_some_and(|place| word.shown().contains(place)));
        self.each_known(&call, words, place.as_deref().filter(|_| replaces || written));
        let words: Vec<Word> =
            words.iter().map(|word| filled(word, place.as_deref().unwrap_or("{}"))).collect();
        if name == "parallel" {
            return self.parallel(&call, &words);
        }
        // Those that hold a port are not just any.
        let by_port = |words: &[Word]| {
            words.first().is_some_and(|name| name.text().as_deref() == Some("lsof"))
                && words.iter().any(|word| word.text().is_some_and(|text| text.contains(':')))
        };
        let kills = words.first().is_some_and(|name| name.text().as_deref() == Some("kill"));
        let narrow = kills && matches!(call.input.upstream.as_slice(), [one] if by_port(one));
        self.start(&call, words, if narrow { Via::Line } else { Via::Many });
    }

    /// What `xargs` and `parallel` run for texts that stand in the line.
    fn each_known(&mut self, call: &Call, words: &[Word], place: Option<&str>) {
        let lists: Vec<Word> =
            words.iter().skip_while(|word| !word.beginning().starts_with(":::")).skip(1).cloned().collect();
        let program: Vec<Word> =
            words.iter().take_while(|word| !word.beginning().starts_with(":::")).cloned().collect();
        let read = call.input.text.as_deref().unwrap_or_default();
        let given: Vec<Word> =
            lists.into_iter().chain(read.split_whitespace().take(100).map(with_patterns)).collect();
        if given.is_empty() || program.is_empty() {
            return;
        }
        match place {
            None => self.start(call, program.into_iter().chain(given).collect(), Via::Many),
            Some(place) => {
                for text in given.iter().filter_map(Word::text).take(16) {
                    let filled = |word: &Word| match word.text() {
                        Some(written) if !place.is_empty() => Word::known(written.replace(place, &text)),
                        _ => word.clone(),
                    };
                    let words: Vec<Word> = program.iter().map(filled).collect();
                    match words.as_slice() {
                        [one] if one.text().is_some_and(|text| text.contains(' ')) => {
                            self.code_word(call, Some(one.clone()));
                        }
                        _ => self.start(call, words, Via::Many),
                    }
                }
            }
        }
    }

    /// `parallel` takes one text as a command line, or a program with arguments, before `:::`.
    fn parallel(&mut self, call: &Call, rest: &[Word]) {
        let words: Vec<Word> =
            rest.iter().take_while(|word| !word.beginning().starts_with(":::")).cloned().collect();
        match words.as_slice() {
            [one] if one.text().is_some_and(|text| text.contains(' ')) => {
                self.code_word(call, Some(one.clone()));
            }
            // A text with a place for what is only known later.
            [one] if one.has_unknown() && one.beginning().contains(' ') => {
                let words = self.words_of(&one.shown().replace('…', "{}")).unwrap_or_default();
                self.start(call, words.iter().map(|word| filled(word, "{}")).collect(), Via::Many);
            }
            [] => {
                let given: Vec<Word> =
                    rest.iter().filter(|word| !word.beginning().starts_with(":::")).cloned().collect();
                if given.is_empty() {
                    self.code_from_input(call);
                }
                for word in given {
                    self.code_word(call, Some(word));
                }
            }
            // It is a shell that reads them, signs between commands included.
            _ => {
                let sign =
                    |word: &Word| matches!(word.text().as_deref(), Some(";" | "&&" | "||" | "|" | "&"));
                for words in words.split(sign) {
                    self.start(call, words.to_vec(), Via::Many);
                }
            }
        }
    }

    /// `find … -exec program … ;`, `fd pattern -x program …`. The program gets what was found, so that stands before it.
    pub(super) fn found(&mut self, call: &Call) {
        const EXECS: &[&str] = &["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"];
        let args = call.args();
        let lister = if call.is(&["fd", "fdfind"]) { fd_as_find(call) } else { find_as_find(call) };
        // The rules know one spelling of it.
        if call.is(&["find", "gfind"]) && lister != call.words {
            self.look.calls.push(Call { words: lister.clone(), ..call.clone() });
        }
        for (place, word) in args.iter().enumerate() {
            if word.text().is_some_and(|text| EXECS.contains(&text.as_str())) {
                let is_end = |word: &&Word| !matches!(word.text().as_deref(), Some(";" | "+"));
                let words: Vec<Word> =
                    args[place + 1..].iter().take_while(is_end).map(|word| filled(word, "{}")).collect();
                let mut input = call.input.clone();
                input.upstream.push(std::sync::Arc::new(lister.clone()));
                self.start(&Call { input, ..call.clone() }, words, Via::Many);
            }
        }
    }
}

/// The search of `find` as the rules know it: the program, where it begins, and its tests; those that fit everything left out.
fn find_as_find(call: &Call) -> Vec<Word> {
    let mut words = vec![Word::known("find")];
    let mut rest = call.args();
    while let Some((first, after)) = rest.split_first() {
        let text = first.beginning();
        rest = match text.as_str() {
            "-D" => after.get(1..).unwrap_or_default(),
            "--" | "-L" | "-H" | "-P" => after,
            text if text.starts_with("-O") => after,
            _ => break,
        };
    }
    while let Some((first, after)) = rest.split_first() {
        let all = match (first.text().as_deref(), after.first().and_then(Word::text).as_deref()) {
            (Some("-regex" | "-iregex"), Some(".*" | "/.*")) => true,
            (Some("-path" | "-ipath" | "-wholename" | "-name" | "-iname"), Some(pattern)) => {
                pattern.chars().all(|c| matches!(c, '*' | '/')) && pattern.contains('*')
            }
            _ => false,
        };
        if all {
            rest = after.get(1..).unwrap_or_default();
        } else {
            words.push(first.clone());
            rest = after;
        }
    }
    words
}

/// `fd pattern dir` as `find` would say it; a pattern that fits everything is none.
fn fd_as_find(call: &Call) -> Vec<Word> {
    let mut words = vec![Word::known("find")];
    let before: Vec<Word> = call
        .args()
        .iter()
        .take_while(|word| !matches!(word.text().as_deref(), Some("-x" | "-X" | "--exec" | "--exec-batch")))
        .filter(|word| !word.beginning().starts_with('-'))
        .cloned()
        .collect();
    let (pattern, roots) = before.split_first().map_or((None, &[][..]), |(first, rest)| (Some(first), rest));
    words.extend_from_slice(roots);
    if let Some(pattern) =
        pattern.filter(|word| !matches!(word.text().as_deref(), Some("." | "" | ".*" | "*")))
    {
        words.extend([Word::known("-name"), pattern.clone()]);
    }
    words
}

/// A word in which this text stands for something that is only known later.
fn filled(word: &Word, place: &str) -> Word {
    let Some(text) = word.text().filter(|text| !place.is_empty() && text.contains(place)) else {
        return word.clone();
    };
    let mut filled = Word::default();
    for (at, part) in text.split(place).enumerate() {
        if at > 0 {
            filled.0.push(crate::command::word::Piece::Unknown);
        }
        if !part.is_empty() {
            filled.push_text(part);
        }
    }
    filled
}

/// A word that some program printed; what looks like a pattern in it stands for files that are not known.
fn with_patterns(text: &str) -> Word {
    let mut word = Word::default();
    for c in text.chars() {
        if matches!(c, '*' | '?') {
            word.0.push(crate::command::word::Piece::Glob(c.to_string()));
        } else {
            word.push_text(c.encode_utf8(&mut [0; 4]));
        }
    }
    word
}
