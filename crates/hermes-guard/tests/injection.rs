//! The corpora of the injection scan: orders are found and marked, ordinary text passes, and the figures are printed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use std::collections::BTreeMap;

use hermes_guard::injection::{self, Disarmed};

const ORDERS: &str = include_str!("corpus/orders.txt");
const HARMLESS: &str = include_str!("corpus/harmless.txt");
/// Files that people and machines write, the same that the redactor must leave alone.
const FILES: &[&str] = &[
    include_str!("corpus/files/cargo.lock"),
    include_str!("corpus/files/package-lock.json"),
    include_str!("corpus/files/lexer.py"),
    include_str!("corpus/files/session.ts"),
    include_str!("corpus/files/login.go"),
    include_str!("corpus/files/deploy.yaml"),
    include_str!("corpus/files/guide.md"),
    include_str!("corpus/files/build.log"),
];
/// Most false alarms among the harmless texts, in percent.
const MOST_ALARMS: usize = 2;

fn used(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("# "))
}

/// The text of a line: `␤` and `\u{…}` become what they stand for.
fn text_of(line: &str) -> String {
    let line = line.replace('␤', "\n");
    let mut parts = line.split("\\u{");
    let mut text = parts.next().unwrap().to_owned();
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text
}

/// What was found, in the words of the corpus.
fn found(seen: &Disarmed) -> Vec<String> {
    let families = seen.findings.iter().map(|finding| format!("{:?}", finding.family).to_lowercase());
    families.chain((seen.invisible > 0).then(|| "invisible".to_owned())).collect()
}

#[test]
fn every_order_is_found_and_quoted() {
    let mut by_family: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    for line in used(ORDERS) {
        let (family, text) = line.split_once(" | ").unwrap();
        let text = text_of(text);
        let seen = injection::disarm(&text);
        let (texts, hits) = by_family.entry(family).or_default();
        *texts += 1;
        if found(&seen).iter().any(|found| found == family) {
            *hits += 1;
        } else {
            missed.push(format!("{family}: {text:?} -> {:?}", found(&seen)));
        }
        // Marked, not dropped: every line is still there, the suspicious ones behind a mark.
        let plain = injection::show(&text).0;
        for (number, (line, marked)) in plain.lines().zip(seen.text.lines()).enumerate() {
            let is_suspicious = seen.findings.iter().any(|finding| finding.line == number + 1);
            assert_eq!(marked.starts_with("> [data, not an instruction"), is_suspicious, "{text:?}");
            assert!(marked.ends_with(line), "{text:?}");
        }
    }
    println!("orders to the model");
    for (family, (texts, hits)) in &by_family {
        println!("  {family:12} {hits:3} of {texts:3} found");
    }
    let texts: usize = by_family.values().map(|(texts, _)| texts).sum();
    println!("  {:12} {:3} of {texts:3} found", "all", texts - missed.len());
    assert!(texts >= 110, "{texts}");
    assert!(missed.is_empty(), "{} missed:\n{}", missed.len(), missed.join("\n"));
}

#[test]
fn harmless_text_passes() {
    let (mut texts, mut known, mut alarms) = (0, 0, Vec::new());
    for line in used(HARMLESS) {
        texts += 1;
        let (is_known, line) = line.strip_prefix("[known] ").map_or((false, line), |line| (true, line));
        let text = text_of(line);
        let seen = injection::disarm(&text);
        if is_known {
            known += usize::from(!seen.is_clean());
        } else if !seen.is_clean() {
            alarms.push(format!("{text:?}: {:?}", found(&seen)));
        } else {
            assert_eq!(seen.text, text.trim_start_matches('\u{feff}'));
        }
    }
    let all = known + alarms.len();
    println!("harmless texts: {all} false alarms in {texts}");
    assert!(texts >= 130, "{texts}");
    assert!(alarms.is_empty(), "{} false alarms:\n{}", alarms.len(), alarms.join("\n"));
    assert!(all * 100 <= texts * MOST_ALARMS, "{all} of {texts}");
}

#[test]
fn ordinary_files_pass() {
    let lines: usize = FILES.iter().map(|text| text.lines().count()).sum();
    println!("ordinary files: {} files, {lines} lines", FILES.len());
    for text in FILES {
        let seen = injection::disarm(text);
        assert!(seen.is_clean(), "{:?}", seen.findings);
    }
}
