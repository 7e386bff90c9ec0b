//! The corpus: every secret in it is masked, nothing else is, and the figures are printed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

use hermes_guard::{Policy, Redactor};

const SECRETS: &str = include_str!("corpus/secrets.txt");
const CLEAN: &str = include_str!("corpus/clean.txt");

const ALL: &[Policy] = &[Policy::Log, Policy::EnvDump, Policy::Code, Policy::File, Policy::EnvFile];
const NAMES: &[Policy] = &[Policy::Log, Policy::EnvDump, Policy::EnvFile];
const VARIABLES: &[Policy] = &[Policy::EnvDump, Policy::EnvFile];
const ORDINARY: &[Policy] = &[Policy::Log, Policy::Code, Policy::File];

/// The lines of a corpus file with the tag that starts some of them.
fn lines(file: &str) -> Vec<(&str, String)> {
    let used = file.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("# "));
    used.map(|line| {
        let tagged = ["[log]", "[env]"]
            .into_iter()
            .find_map(|tag| Some((tag, line.strip_prefix(tag)?.strip_prefix(' ')?)));
        let (tag, text) = tagged.unwrap_or(("", line));
        (tag, text.replace('␤', "\n"))
    })
    .collect()
}

/// What is before, inside and after the marks.
fn split(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once('⟦').unwrap();
    let (secret, after) = rest.split_once('⟧').unwrap();
    (before, secret, after)
}

#[test]
fn every_secret_is_masked_and_nothing_around_it() {
    let redactor = Redactor::new([]);
    let (mut checks, mut misses) = (0, Vec::new());
    let corpus = lines(SECRETS);
    for (tag, text) in &corpus {
        let (before, secret, after) = split(text);
        let policies = match *tag {
            "[log]" => NAMES,
            "[env]" => VARIABLES,
            _ => ALL,
        };
        for policy in policies {
            checks += 1;
            let plain = format!("{before}{secret}{after}");
            let masked = redactor.redact(&plain, *policy);
            let hidden = masked.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
            if !hidden.is_some_and(|mask| {
                !mask.is_empty() && !mask.contains(secret) && mask.len() < secret.len().max(40)
            }) {
                misses.push(format!("{policy:?}: {plain:?} -> {masked:?}"));
            }
            assert_eq!(redactor.redact(&masked, *policy), masked, "masking twice changes nothing");
        }
    }
    let hits = checks - misses.len();
    println!("secrets: {} lines, {hits} of {checks} masked", corpus.len());
    assert!(corpus.len() >= 80);
    assert!(misses.is_empty(), "{} missed:\n{}", misses.len(), misses.join("\n"));
}

#[test]
fn ordinary_text_is_left_alone() {
    let redactor = Redactor::new([]);
    let (mut checks, mut alarms) = (0, Vec::new());
    let corpus = lines(CLEAN);
    for (tag, text) in &corpus {
        for policy in if *tag == "[env]" { ALL } else { ORDINARY } {
            checks += 1;
            let masked = redactor.redact(text, *policy);
            if masked != *text {
                alarms.push(format!("{policy:?}: {text:?} -> {masked:?}"));
            }
        }
    }
    println!("clean: {} lines, {} false alarms in {checks} checks", corpus.len(), alarms.len());
    assert!(corpus.len() >= 80);
    assert!(alarms.is_empty(), "{} false alarms:\n{}", alarms.len(), alarms.join("\n"));
}

/// All of it in one text: what one line holds must not change what is found in the next.
#[test]
fn the_corpus_as_one_text() {
    let redactor = Redactor::new([]);
    let clean: Vec<String> = lines(CLEAN).into_iter().map(|(_, text)| text).collect();
    let clean = clean.join("\n");
    assert_eq!(redactor.redact(&clean, Policy::Code), clean);
    let mut plain = String::new();
    let mut secrets = Vec::new();
    for (_, text) in lines(SECRETS).iter().filter(|(tag, _)| tag.is_empty()) {
        let (before, secret, after) = split(text);
        plain.extend([before, secret, after, "\n"]);
        // A value that is also an ordinary word may well stand elsewhere.
        if secret.len() >= 16 {
            secrets.push(secret.to_owned());
        }
    }
    let masked = redactor.redact(&plain, Policy::Code);
    let left: Vec<_> = secrets.iter().filter(|secret| masked.contains(secret.as_str())).collect();
    assert!(left.is_empty(), "{left:?}");
}
