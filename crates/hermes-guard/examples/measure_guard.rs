//! Runs the redactor and the injection scan over files that should hold nothing for them, and prints what they change:
//! `cargo run --release -p hermes-guard --example measure_guard -- [--show] PATH...`
#![allow(clippy::print_stdout, reason = "printing is what it is for")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use hermes_guard::{Policy, Redactor, injection};

#[derive(Default)]
struct Totals {
    files: usize,
    lines: usize,
    bytes: usize,
    masked: [usize; 2],
    marked: usize,
    invisible: usize,
    /// Lines that a tool result would be warned of.
    warned: usize,
    scanning: std::time::Duration,
}

const POLICIES: [Policy; 2] = [Policy::Code, Policy::Log];

fn main() {
    let mut paths: Vec<PathBuf> = std::env::args().skip(1).map(PathBuf::from).collect();
    let show = paths.iter().any(|path| path == Path::new("--show"));
    paths.retain(|path| path != Path::new("--show"));
    let redactor = Redactor::new([]);
    let mut totals = Totals::default();
    while let Some(path) = paths.pop() {
        if let Ok(entries) = std::fs::read_dir(&path) {
            paths.extend(entries.flatten().map(|entry| entry.path()));
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            measure(&redactor, &text, &mut totals, show.then_some(&path));
        }
    }
    let Totals { files, lines, bytes, masked, marked, invisible, warned, scanning } = totals;
    println!("{files} files, {lines} lines, {bytes} bytes");
    for (policy, masked) in POLICIES.iter().zip(masked) {
        println!("  lines masked, {policy:?}: {masked}");
    }
    println!("  lines marked as orders: {marked}");
    println!("  lines warned of in tool results: {warned}");
    let per_100_kb = scanning.as_secs_f64() * 1e3 / (bytes as f64 / 100_000.0);
    println!("  scan of tool results: {per_100_kb:.3} ms for 100,000 bytes");
    println!("  files with invisible characters: {invisible}");
}

fn measure(redactor: &Redactor, text: &str, totals: &mut Totals, shown: Option<&PathBuf>) {
    totals.files += 1;
    totals.lines += text.lines().count();
    totals.bytes += text.len();
    for (policy, total) in POLICIES.iter().zip(&mut totals.masked) {
        let masked = redactor.redact(text, *policy);
        let changed = changed(text, &masked);
        *total += changed.len();
        if let Some(path) = shown {
            for line in changed {
                println!("{policy:?} {}: {line}", path.display());
            }
        }
    }
    let began = std::time::Instant::now();
    totals.warned += injection::orders(text).len();
    totals.scanning += began.elapsed();
    let seen = injection::disarm(text);
    totals.marked += seen.findings.len();
    totals.invisible += usize::from(seen.invisible > 0);
    if let Some(path) = shown {
        for finding in &seen.findings {
            let line = text.lines().nth(finding.line - 1).unwrap_or_default();
            println!("{:?} {}:{}: {line}", finding.family, path.display(), finding.line);
        }
    }
}

/// The lines of the first text that are not in the second.
fn changed<'t>(text: &'t str, masked: &str) -> Vec<&'t str> {
    if text == masked {
        return Vec::new();
    }
    let after: HashSet<&str> = masked.lines().collect();
    text.lines().filter(|line| !after.contains(line)).collect()
}
