//! Text as words with their lines: spelling, case and punctuation do not hide a phrase, the end of a sentence ends it.

use super::lookalike::is_mark;

/// A word of a text: what it is taken for, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<T> {
    /// What it is taken for.
    pub meaning: T,
    /// Its line, from 1.
    pub line: usize,
}

/// The sentences of a text. Blank lines, list items and headings end one too. `meaning` gets each word in lower case and
/// without apostrophes.
pub(super) fn sentences<T>(text: &str, meaning: impl Fn(&str) -> T) -> Vec<Vec<Word<T>>> {
    let mut sentences = vec![Vec::new()];
    let mut word = String::new();
    for (place, line) in text.split('\n').enumerate() {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || starts_anew(trimmed) {
            sentences.push(Vec::new());
        }
        for piece in line.split_whitespace() {
            for part in
                piece.split(|c: char| !c.is_alphanumeric() && !is_mark(c) && !matches!(c, '\'' | '’' | '_'))
            {
                word.clear();
                word.extend(part.chars().filter(|c| !matches!(c, '\'' | '’')).flat_map(char::to_lowercase));
                if let Some(sentence) = sentences.last_mut().filter(|_| !word.is_empty()) {
                    sentence.push(Word { meaning: meaning(&word), line: place + 1 });
                }
            }
            if piece.ends_with(['.', '!', '?', ';']) {
                sentences.push(Vec::new());
            }
        }
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn starts_anew(line: &str) -> bool {
    line.starts_with(['-', '*', '+', '#', '|'])
        || line.split_once(['.', ')']).is_some_and(|(number, _)| number.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let shown: Vec<Vec<String>> = sentences("Don't STOP.\nGo on\nhere\n\n- a b\n- c", str::to_owned)
            .into_iter()
            .map(|sentence| sentence.into_iter().map(|word| word.meaning).collect())
            .collect();
        let expected: [&[&str]; 4] = [&["dont", "stop"], &["go", "on", "here"], &["a", "b"], &["c"]];
        assert_eq!(shown, expected);
    }
}
