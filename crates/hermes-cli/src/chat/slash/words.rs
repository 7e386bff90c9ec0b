//! The words of a line as a shell would split it, and nothing else a shell does.

/// The words; nothing if a quote is not closed.
pub(super) fn split(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            c if c.is_whitespace() => words.extend(word.take()),
            '\'' => {
                let inside = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '\'' => break,
                        c => inside.push(c),
                    }
                }
            }
            '"' => {
                let inside = word.get_or_insert_default();
                loop {
                    match letters.next()? {
                        '"' => break,
                        '\\' => inside.push(letters.next()?),
                        c => inside.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(letters.next()?),
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn quotes_hold_words_together_and_nothing_is_run() {
        let words = |line: &str| split(line).map(|words| words.join("|"));
        assert_eq!(words("create \"a b\" --body 'c; $(d)'").as_deref(), Some("create|a b|--body|c; $(d)"));
        assert_eq!(words("a\\ b  \"\\\"x\\\"\" ''").as_deref(), Some("a b|\"x\"|"));
        assert_eq!(words("").as_deref(), Some(""));
        assert_eq!(words("comment it's"), None);
    }
}
