//! The corpora of the redactor: every secret is masked, nothing else is, and the figures are printed.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

#[path = "corpus/draw.rs"]
mod draw;

use std::collections::BTreeMap;

use hermes_guard::{Policy, Redactor};

const SECRETS: &str = include_str!("corpus/secrets.txt");
const CLEAN: &str = include_str!("corpus/clean.txt");
const SHAPES: &str = include_str!("corpus/shapes.txt");
const SURROUNDINGS: &str = include_str!("corpus/surroundings.txt");
/// Whole files that must come through unchanged.
const FILES: &[(&str, &str)] = &[
    ("cargo.lock", include_str!("corpus/files/cargo.lock")),
    ("package-lock.json", include_str!("corpus/files/package-lock.json")),
    ("lexer.py", include_str!("corpus/files/lexer.py")),
    ("session.ts", include_str!("corpus/files/session.ts")),
    ("login.go", include_str!("corpus/files/login.go")),
    ("deploy.yaml", include_str!("corpus/files/deploy.yaml")),
    ("guide.md", include_str!("corpus/files/guide.md")),
    ("build.log", include_str!("corpus/files/build.log")),
];

const ALL: &[Policy] = &[Policy::Log, Policy::EnvDump, Policy::Code, Policy::File, Policy::EnvFile];
const NAMES: &[Policy] = &[Policy::Log, Policy::EnvDump, Policy::EnvFile];
const VARIABLES: &[Policy] = &[Policy::EnvDump, Policy::EnvFile];
const ORDINARY: &[Policy] = &[Policy::Log, Policy::Code, Policy::File];

/// Keys drawn for each shape. With a few, a rule that misses one key in fifty would pass.
const DRAWN: u64 = 100;
/// Of those, how many are tried in every surrounding.
const SURROUNDED: u64 = 3;

/// Hits or false alarms of each policy.
#[derive(Default)]
struct Figures {
    by_policy: BTreeMap<String, (usize, usize)>,
    failures: Vec<String>,
}

impl Figures {
    fn add(&mut self, policy: Policy, passed: bool, what: impl FnOnce() -> String) {
        let (checks, failed) = self.by_policy.entry(format!("{policy:?}")).or_default();
        *checks += 1;
        if !passed {
            *failed += 1;
            self.failures.push(format!("{policy:?}: {}", what()));
        }
    }

    /// Prints the table and fails if anything failed.
    fn report(&self, title: &str, failed_name: &str) {
        println!("{title}");
        for (policy, (checks, failed)) in &self.by_policy {
            println!("  {policy:8} {checks:7} checks  {failed:5} {failed_name}");
        }
        let shown: Vec<&str> = self.failures.iter().take(60).map(String::as_str).collect();
        assert!(
            self.failures.is_empty(),
            "{title}: {} {failed_name}\n{}",
            self.failures.len(),
            shown.join("\n")
        );
    }
}

/// The lines of a corpus file without its remarks.
fn used(file: &str) -> impl Iterator<Item = &str> {
    file.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("# "))
}

/// The lines of a corpus file with the tag that starts some of them.
fn lines(file: &str) -> Vec<(&str, String)> {
    used(file)
        .map(|line| {
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

/// Whether the secret is masked, and nothing around it.
fn is_masked(masked: &str, before: &str, secret: &str, after: &str) -> bool {
    let hidden = masked.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
    hidden.is_some_and(|mask| !mask.is_empty() && !mask.contains(secret) && mask.len() < secret.len().max(40))
}

#[test]
fn every_secret_is_masked_and_nothing_around_it() {
    let redactor = Redactor::new([]);
    let mut figures = Figures::default();
    let corpus = lines(SECRETS);
    for (tag, text) in &corpus {
        let (before, secret, after) = split(text);
        let policies = match *tag {
            "[log]" => NAMES,
            "[env]" => VARIABLES,
            _ => ALL,
        };
        for policy in policies {
            let plain = format!("{before}{secret}{after}");
            let masked = redactor.redact(&plain, *policy);
            figures.add(*policy, is_masked(&masked, before, secret, after), || {
                format!("{plain:?} -> {masked:?}")
            });
            assert_eq!(redactor.redact(&masked, *policy), masked, "masking twice changes nothing");
        }
    }
    assert!(corpus.len() >= 180, "{}", corpus.len());
    figures.report(&format!("secrets written out, {} texts", corpus.len()), "missed");
}

#[test]
fn every_known_shape_is_masked_wherever_it_stands() {
    let redactor = Redactor::new([]);
    let mut figures = Figures::default();
    let shapes: Vec<&str> = used(SHAPES).collect();
    let surroundings: Vec<String> = used(SURROUNDINGS).map(|line| line.replace('␤', "\n")).collect();
    for shape in &shapes {
        for seed in 0..DRAWN {
            let secret = draw::draw(shape, seed);
            let tried = if seed < SURROUNDED { surroundings.len() } else { 1 };
            for surrounding in &surroundings[..tried] {
                let (before, after) = surrounding.split_once('§').unwrap();
                let plain = format!("{before}{secret}{after}");
                for policy in ALL {
                    let masked = redactor.redact(&plain, *policy);
                    // Where the name in front announces a value, the mask may be wider than the key but not than the value.
                    figures.add(*policy, is_masked(&masked, before, &secret, after), || {
                        format!("{shape}: {plain:?} -> {masked:?}")
                    });
                }
            }
        }
    }
    assert!(shapes.len() >= 130, "{}", shapes.len());
    let title =
        format!("keys drawn at random, {} shapes in {} surroundings", shapes.len(), surroundings.len());
    figures.report(&title, "missed");
}

#[test]
fn ordinary_text_is_left_alone() {
    let redactor = Redactor::new([]);
    let mut figures = Figures::default();
    let corpus = lines(CLEAN);
    for (tag, text) in &corpus {
        for policy in if *tag == "[env]" { ALL } else { ORDINARY } {
            let masked = redactor.redact(text, *policy);
            figures.add(*policy, masked == *text, || format!("{text:?} -> {masked:?}"));
        }
    }
    assert!(corpus.len() >= 200, "{}", corpus.len());
    figures.report(&format!("ordinary text, {} texts", corpus.len()), "false alarms");
}

#[test]
fn ordinary_files_are_left_alone() {
    let redactor = Redactor::new([]);
    let mut figures = Figures::default();
    for (name, text) in FILES {
        for policy in ORDINARY {
            let masked = redactor.redact(text, *policy);
            for (number, (line, now)) in text.lines().zip(masked.lines()).enumerate() {
                figures.add(*policy, line == now, || format!("{name}:{}: {line:?} -> {now:?}", number + 1));
            }
        }
    }
    figures.report(&format!("ordinary files, line by line, {} files", FILES.len()), "false alarms");
}

/// Hashes, identifiers and numbers as generators make them.
#[test]
fn what_is_random_but_public_is_left_alone() {
    let redactor = Redactor::new([]);
    let mut figures = Figures::default();
    let shapes = [
        "commit <h40>",
        "<h7> Fix the build",
        "sha256:<h64>",
        "<h8>-<h4>-4<h3>-a<h3>-<h12>",
        "checksum = \"<h64>\"",
        "\"integrity\": \"sha512-<b86>==\"",
        "image@sha256:<h64>",
        "etag: \"<h32>\"",
        "trace_id=<h32> span_id=<h16>",
        "index <h7>..<h7> 100644",
        "https://example.com/a/<a11>?v=<a8>",
        "https://cdn.example.com/<h40>/app.<h8>.js",
        "data:image/png;base64,<b200>",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43> me@host",
        "/nix/store/<a32>-glibc-2.40",
        "build-<h12>.tar.gz",
        "call_<a24>",
        "chatcmpl-<a29>",
        "msg_<a24> req_<a24> toolu_<a24>",
        "cus_<a14> pi_<a24> price_<a24> pk_live_<a24>",
        "h1:<b43>=",
    ];
    for shape in shapes {
        for seed in 0..DRAWN {
            let text = draw::draw(shape, seed);
            for policy in ALL {
                let masked = redactor.redact(&text, *policy);
                figures.add(*policy, masked == text, || format!("{text:?} -> {masked:?}"));
            }
        }
    }
    figures.report(&format!("public random values, {} shapes", shapes.len()), "false alarms");
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

/// Values of the environment and of `.env` are masked whatever they look like and wherever they stand.
#[test]
fn known_values_are_masked_in_every_surrounding() {
    let values =
        ["correct-horse-battery", "pässwörter-2026", "a b c d e f", "plain+slash/equals=", "quote\"inside1"];
    let redactor = Redactor::new(values.map(str::to_owned));
    let mut figures = Figures::default();
    for surrounding in used(SURROUNDINGS).map(|line| line.replace('␤', "\n")) {
        for value in values {
            let (before, after) = surrounding.split_once('§').unwrap();
            for policy in ALL {
                let plain = format!("{before}{value}{after}");
                let masked = redactor.redact(&plain, *policy);
                figures.add(*policy, !masked.contains(value), || format!("{value:?} -> {masked:?}"));
            }
        }
    }
    figures.report("known values in the same surroundings", "missed");
}
