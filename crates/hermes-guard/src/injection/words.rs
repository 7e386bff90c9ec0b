//! Text as words with their lines: spelling, case and punctuation do not hide a phrase, the end of a sentence ends it.

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// In lower case, without apostrophes.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

/// The sentences of a text. Blank lines, list items and headings end one too.
pub(super) fn sentences(text: &str) -> Vec<Vec<Word>> {
    let mut sentences = vec![Vec::new()];
    for (place, line) in text.split('\n').enumerate() {
        let trimmed = line.trim_start();
        if trimmed.is_empty() || starts_anew(trimmed) {
            sentences.push(Vec::new());
        }
        for piece in line.split_whitespace() {
            words_of(piece, place + 1, &mut sentences);
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

fn words_of(piece: &str, line: usize, sentences: &mut [Vec<Word>]) {
    let Some(sentence) = sentences.last_mut() else { return };
    for word in piece.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '’' | '_')) {
        let text: String =
            word.chars().filter(|c| !matches!(c, '\'' | '’')).flat_map(char::to_lowercase).collect();
        if !text.is_empty() {
            sentence.push(Word { text, line });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let shown: Vec<Vec<String>> = sentences("Don't STOP.\nGo on\nhere\n\n- a b\n- c")
            .into_iter()
            .map(|sentence| sentence.into_iter().map(|word| word.text).collect())
            .collect();
        let expected: [&[&str]; 4] = [&["dont", "stop"], &["go", "on", "here"], &["a", "b"], &["c"]];
        assert_eq!(shown, expected);
    }
}
