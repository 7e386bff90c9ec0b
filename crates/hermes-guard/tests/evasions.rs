//! The table of commands that tried to hide and of commands that only looked bad (`evasions.txt`), judged one by one.

#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use hermes_guard::command::{Context, Finding, Judgement, judge};

const TABLE: &str = include_str!("evasions.txt");

/// One line of the table.
struct Row<'t> {
    outcome: &'t str,
    rule: &'t str,
    command: String,
}

fn rows() -> impl Iterator<Item = Row<'static>> {
    TABLE.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')).map(|line| {
        let mut parts = line.splitn(3, ' ');
        let mut next = || parts.next().expect("three columns");
        Row { outcome: next(), rule: next(), command: next().replace('⏎', "\n") }
    })
}

fn follow(path: &str) -> Option<String> {
    let real = match path.strip_prefix("/home/ada/project/") {
        Some(rest) => match rest.split_once('/').unwrap_or((rest, "")) {
            ("link", rest) => format!("/etc/{rest}"),
            ("tohome", rest) => format!("/home/ada/{rest}"),
            _ => path.to_owned(),
        },
        None => path.to_owned(),
    };
    Some(real)
}

fn judged(command: &str) -> (&'static str, Vec<Finding>) {
    let sight = Context {
        home: "/home/ada",
        hermes_home: "/home/ada/.hermes",
        cwd: Some("/home/ada/project"),
        resolve: Some(&follow),
        ..Context::default()
    };
    match judge(command, &sight) {
        Judgement::Allowed => ("allow", Vec::new()),
        Judgement::Ask { findings } => ("ask", findings),
        Judgement::Refused { finding } => ("refuse", vec![finding]),
    }
}

#[test]
fn every_command_of_the_table_has_its_outcome() {
    let mut wrong = Vec::new();
    for row in rows() {
        let (outcome, findings) = judged(&row.command);
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule.as_str()).collect();
        if outcome != row.outcome || (row.rule != "-" && !rules.contains(&row.rule)) {
            wrong.push(format!("{:?}: wanted {} {}, got {outcome} {rules:?}", row.command, row.outcome, row.rule));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn the_table_is_large_enough_on_both_sides() {
    let count = |wanted: &[&str]| rows().filter(|row| wanted.contains(&row.outcome)).count();
    assert!(count(&["refuse", "ask"]) >= 200, "{}", count(&["refuse", "ask"]));
    assert!(count(&["allow"]) >= 100, "{}", count(&["allow"]));
}

#[test]
fn a_finding_quotes_the_part_it_is_about() {
    let (_, findings) = judged("make && rm -rf build && ls");
    assert_eq!(findings.len(), 1);
    assert_eq!(findings[0].part, "rm -rf build");
    assert_eq!(findings[0].prefix, None, "one directory is not every directory");
    let (_, findings) = judged("git push --force origin main");
    assert_eq!(findings[0].prefix.as_deref(), Some(["git".to_owned(), "push".to_owned()].as_slice()));
}
