//! How a file of notes is made up: entries, between them a line with nothing but `§`.

/// What stands alone on the line between two entries.
const MARK: &str = "§";
/// Between two entries.
pub const SEPARATOR: &str = "\n§\n";

/// The entries of a file: without white space around them, none empty, none twice.
pub fn parse(text: &str) -> Vec<String> {
    let text = text.replace("\r\n", "\n");
    let mut entries: Vec<String> = Vec::new();
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    // By lines: a mark at the beginning or end of an entry would be taken for a separator once it is written.
    for entry in lines.split(|line| line.trim() == MARK) {
        let entry = entry.join("\n");
        let entry = entry.trim();
        if !entry.is_empty() && !entries.iter().any(|known| known == entry) {
            entries.push(entry.to_owned());
        }
    }
    entries
}

/// The file of these entries.
pub fn join(entries: &[String]) -> String {
    entries.join(SEPARATOR)
}

/// How many characters the file of these entries has.
pub fn length(entries: &[String]) -> usize {
    let between = entries.len().saturating_sub(1) * SEPARATOR.chars().count();
    entries.iter().map(|entry| entry.chars().count()).sum::<usize>() + between
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_is_read_as_people_and_programs_write_it() {
        assert_eq!(
            parse("\u{feff}one\r\n§\r\n two, with a § inside \n\n§\none\n§\n\n"),
            ["one", "two, with a § inside"]
        );
        assert_eq!(parse("\n§\n \n"), Vec::<String>::new());
        assert_eq!(parse("a\nb"), ["a\nb"]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(text in "([a-c§ \n]|é){0,60}") {
            let entries = parse(&text);
            prop_assert_eq!(parse(&join(&entries)), entries.clone());
            prop_assert_eq!(join(&entries).chars().count(), length(&entries));
        }
    }
}
