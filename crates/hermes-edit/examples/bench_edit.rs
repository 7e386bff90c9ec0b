//! Times of edits in large texts: `cargo run --release -p hermes-edit --example bench_edit`.

#![allow(clippy::print_stdout, reason = "a program that prints figures")]

use std::time::Instant;

use hermes_edit::{Occurrences, Patch, check, ratio, replace, unified};

/// Lines of the text that is edited.
const LINES: usize = 50_000;

fn main() {
    let text = (0..LINES)
        .map(|n| format!("    let value_{n} = compute({n}, \"some text that is {}\");\n", n % 97))
        .collect::<Vec<_>>()
        .concat();
    let middle = "    let value_25000 = compute(25000, \"some text that is 71\");";
    let new = "    let value_25000 = 0;";
    let edited = text.replacen(middle, new, 1);

    timed("exact match", || replace(&text, middle, new, Occurrences::Only).is_ok());
    timed("line_trimmed", || replace(&text, middle.trim(), new, Occurrences::Only).is_ok());
    let wider = middle.replace(' ', "  ");
    timed("whitespace_normalized", || replace(&text, &wider, new, Occurrences::Only).is_ok());
    let block =
        (25_000..25_050).map(|n| format!("let valve_{n} = computed({n});\n")).collect::<Vec<_>>().concat();
    timed("50 lines, not found", || replace(&text, &block, new, Occurrences::Only).is_err());
    timed("one line, not found", || replace(&text, "completely(different)", new, Occurrences::Only).is_err());
    let same = "x\n".repeat(LINES);
    let deep = "x\n".repeat(LINES / 2) + "y\n";
    timed("half of a file of equal lines, not found", || {
        replace(&same, &deep, new, Occurrences::Only).is_err()
    });
    let long = "ab".repeat(200_000);
    timed("one line of 400,000 characters, not found", || {
        replace(&long, &"ba".repeat(100_000).replace("baba", "bcab"), new, Occurrences::Only).is_err()
    });

    let diff = unified("f", "f", &text, &edited);
    timed("difference of one line", || !unified("f", "f", &text, &edited).is_empty());
    let reversed = text.lines().rev().collect::<Vec<_>>().join("\n");
    timed("difference of the text and its reverse", || !unified("f", "f", &text, &reversed).is_empty());
    let (many, few) = (alternating(LINES, 7), alternating(LINES, 11));
    timed("difference of two texts of few different lines", || !unified("f", "f", &many, &few).is_empty());
    let patch = format!("*** Update File: f\n{}", diff.lines().skip(2).collect::<Vec<_>>().join("\n"));
    timed("patch of one hunk", || {
        Patch::parse(&patch).is_ok_and(|patch| patch.plan(|_| Ok::<_, String>(Some(text.clone()))).is_ok())
    });
    let json = format!("[{}1]", "{\"a\": [1, 2, 3]},".repeat(LINES));
    timed("check of JSON", || check("a.json", &json).is_none());
    timed("ratio of two lines", || ratio(middle, &wider) > 0.5);
}

fn alternating(lines: usize, every: usize) -> String {
    (0..lines).map(|n| if n % every < every / 2 { "a\n" } else { "b\n" }).collect()
}

fn timed(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    let as_expected = done();
    println!(
        "{:>10.3} ms  {what}{}",
        start.elapsed().as_secs_f64() * 1e3,
        if as_expected { "" } else { " (UNEXPECTED)" }
    );
}
