//! The question to a person, and what each answer means.

use hermes_guard::command::Finding;

use super::grants::{Grant, prefix};
use crate::gate::{Action, Question};

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Once,
    Session(Grant),
    Always,
    No,
}

/// The question, and what each of its choices means.
pub(super) fn question(action: &Action<'_>, findings: &[Finding]) -> (Question, Vec<Choice>) {
    let mut offers = vec![("Yes, this once".to_owned(), Choice::Once)];
    let (subject, asked) = match action {
        Action::Command { line, .. } => {
            offers.push((
                "Yes, and this same command again in this conversation".to_owned(),
                Choice::Session(Grant::Line((*line).to_owned())),
            ));
            offers.extend(wider(findings));
            offers.push(("Yes, and this same command always".to_owned(), Choice::Always));
            (*line, "Run this command on your machine?".to_owned())
        }
        Action::Write { .. } => ("", "Write these files?".to_owned()),
        Action::Script { code, .. } => (*code, "Run this program on your machine?".to_owned()),
        Action::Input { command, text, .. } => {
            (*text, format!("Type this into `{}`?", command.lines().next().unwrap_or_default()))
        }
    };
    offers.push(("No".to_owned(), Choice::No));
    let text = format!("{asked} {}", reasons(subject, findings).join("; "));
    let (choices, meanings) = offers.into_iter().unzip();
    (Question { subject: subject.to_owned(), text: text.trim_end().to_owned(), choices }, meanings)
}

/// An agreement beyond the one command, where a single rule asks and it makes sense.
fn wider(findings: &[Finding]) -> Option<(String, Choice)> {
    let [finding] = findings else { return None };
    let grant = prefix(finding)?;
    let words = finding.prefix.as_ref()?.join(" ");
    Some((format!("Yes, and every `{words}` of this kind in this conversation"), Choice::Session(grant)))
}

/// Why it is asked, each with the part of the subject it is about.
pub(super) fn reasons(subject: &str, findings: &[Finding]) -> Vec<String> {
    let reason = |finding: &Finding| {
        let part = finding.part.trim();
        if part.is_empty() || part == subject.trim() || part.lines().count() > 1 {
            capital(&finding.reason)
        } else {
            format!("{}: `{part}`", capital(&finding.reason))
        }
    };
    findings.iter().map(reason).collect()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
