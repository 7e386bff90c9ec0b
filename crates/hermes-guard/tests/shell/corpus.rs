//! Realistic command lines: read like bash, printed back, and their commands found.

use hermes_guard::shell::{parse, print, sites};

use super::bash;

/// One case per entry: the names of the commands in it, ` => `, and the text. Entries are separated by `%%`.
const COMMANDS: &str = include_str!("../corpus/commands.txt");

fn cases() -> Vec<(Vec<&'static str>, String)> {
    COMMANDS
        .split("\n%%\n")
        .filter(|entry| !entry.trim().is_empty())
        .map(|entry| {
            let (names, text) = entry.split_once(" => ").unwrap();
            (names.split_whitespace().collect(), text.to_owned())
        })
        .collect()
}

#[test]
fn the_commands_are_found() {
    let cases = cases();
    assert!(cases.len() >= 150, "{}", cases.len());
    for (names, text) in &cases {
        let script = parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
        let found: Vec<String> = sites(&script)
            .iter()
            .map(|site| match site.simple().words.first() {
                Some(word) => word.fixed().unwrap_or_else(|| "?".to_owned()),
                None => "-".to_owned(),
            })
            .collect();
        assert_eq!(&found, names, "{text}");
    }
}

#[test]
fn bash_reads_them_the_same() {
    let texts: Vec<String> = cases().into_iter().map(|(_, text)| text).collect();
    let printed: Vec<String> = texts.iter().map(|text| print(&parse(text).unwrap())).collect();
    assert_eq!(bash::accepts(&texts), vec![true; texts.len()]);
    let (before, after) = (bash::declared(&texts), bash::declared(&printed));
    for ((text, before), after) in texts.iter().zip(before).zip(after) {
        assert!(before.is_some(), "{text}");
        assert_eq!(before, after, "{text}");
    }
}
