//! The question to a person, and what each answer means.

use hermes_guard::command::Finding;

use super::grants::{Grant, prefix};
use crate::gate::{Action, NO, Offer, Question, Words};

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    Once,
    Session(Grant),
    Always,
    No,
}

/// The keys of the answers. Each means the same in every question; what is not offered leaves a gap.
const ONCE: char = '1';
const AGAIN: char = '2';
const KIND: char = '3';
const ALWAYS: char = '4';

/// The question, and what each of its choices means. `directory` is where a command would run, if that is known: without it
/// there is nothing a lasting agreement could be tied to.
pub(super) fn question(
    action: &Action<'_>,
    findings: &[Finding],
    directory: Option<&str>,
) -> (Question, Vec<Choice>) {
    let mut offers = vec![(Offer::new(ONCE, "Yes, this once"), Choice::Once)];
    let (subject, asked) = match action {
        Action::Command { line, .. } => {
            if let Some(directory) = directory {
                let grant = Grant::Line { line: (*line).to_owned(), directory: directory.to_owned() };
                let text = format!("Yes, and this same command in {directory} again in this conversation");
                offers.push((Offer::new(AGAIN, text), Choice::Session(grant)));
            }
            offers.extend(wider(findings));
            if let Some(directory) = directory {
                let text = format!("Yes, and this same command in {directory} always");
                offers.push((Offer::new(ALWAYS, text), Choice::Always));
            }
            (*line, "Run this command on your machine?".to_owned())
        }
        Action::Write { .. } => ("", "Write these files?".to_owned()),
        Action::Script { code, .. } => (*code, "Run this program on your machine?".to_owned()),
        Action::Input { command, text, .. } => {
            (*text, format!("Type this into `{}`?", command.lines().next().unwrap_or_default()))
        }
    };
    offers.push((Offer::new(NO, "No"), Choice::No));
    let text = format!("{asked} {}", reasons(subject, findings).join("; "));
    let (choices, meanings) = offers.into_iter().unzip();
    let (subject, text) = (subject.to_owned(), text.trim_end().to_owned());
    (Question { subject, text, choices, words: Words::Refusal }, meanings)
}

/// An agreement beyond the one command, where a single rule asks and it makes sense.
fn wider(findings: &[Finding]) -> Option<(Offer, Choice)> {
    let [finding] = findings else { return None };
    let grant = prefix(finding)?;
    let words = finding.prefix.as_ref()?.join(" ");
    let text = format!("Yes, and every `{words}` of this kind in this conversation");
    Some((Offer::new(KIND, text), Choice::Session(grant)))
}

/// How many names of one kind are told; nobody reads more before they answer.
const MOST_NAMES: usize = 6;

/// Why it is asked, each reason once, with the parts of the subject it is about.
pub(super) fn reasons(subject: &str, findings: &[Finding]) -> Vec<String> {
    let mut told: Vec<(&str, Vec<&str>)> = Vec::new();
    for finding in findings {
        // What a script reaches for stands behind the reason, and is told like a part.
        let (reason, part) = match finding.reason.split_once(": ") {
            Some((reason, name)) if finding.rule == SCRIPT => (reason, name),
            _ => (finding.reason.as_str(), finding.part.trim()),
        };
        let at = told.iter().position(|(known, _)| *known == reason).unwrap_or(told.len());
        if at == told.len() {
            told.push((reason, Vec::new()));
        }
        let whole = part == subject.trim() || part == WHOLE_SCRIPT;
        let says_nothing = part.is_empty() || whole || part.lines().count() > 1;
        if !says_nothing && !told[at].1.contains(&part) {
            told[at].1.push(part);
        }
    }
    told.into_iter().map(|(reason, parts)| sentence(reason, &shortest(&parts))).collect()
}

/// The rule about scripts whose reason names what they reach for.
const SCRIPT: &str = "script-reach";

/// How the rules call a script that is judged as a whole.
const WHOLE_SCRIPT: &str = "the script";

/// Without names that are the end of another: `system` says nothing beside `os.system`.
fn shortest<'p>(parts: &[&'p str]) -> Vec<&'p str> {
    let ends_another = |part: &str| {
        parts.iter().any(|other| other.strip_suffix(part).is_some_and(|rest| rest.ends_with('.')))
    };
    parts.iter().copied().filter(|part| !ends_another(part)).collect()
}

fn sentence(reason: &str, parts: &[&str]) -> String {
    if parts.is_empty() {
        return capital(reason);
    }
    let mut names: Vec<String> = parts.iter().take(MOST_NAMES).map(|part| format!("`{part}`")).collect();
    if parts.len() > MOST_NAMES {
        names.push(format!("and {} more", parts.len() - MOST_NAMES));
    }
    format!("{}: {}", capital(reason), names.join(", "))
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use hermes_guard::command::{Context, Judgement, judge_script};

    use super::*;

    fn asked(code: &str) -> Question {
        let Judgement::Ask { findings } = judge_script(code, &Context::default()) else {
            panic!("it is asked about: {code}")
        };
        question(&Action::Script { code, reach: crate::gate::Reach::Host }, &findings, None).0
    }

    #[test]
    fn a_script_is_told_once_what_it_reaches_for() {
        let text = asked("import os\nos.system('make')\nos.system('ls')\n").text;
        assert!(!text.contains("the script`"), "{text}");
        assert_eq!(text.matches("reaches beyond the tools").count(), 1, "{text}");
        assert_eq!(text.matches("system").count(), 1, "{text}");
        assert!(text.contains("`os.system`"), "{text}");
    }

    #[test]
    fn a_digit_means_the_same_in_every_question() {
        let finding = |prefix: Option<Vec<String>>| Finding { prefix, ..Finding::denied("", "git push -f") };
        let command = Action::Command { line: "x", workdir: None, reach: crate::gate::Reach::Host };
        let keys = |action: &Action<'_>, prefix, directory| {
            let (question, _) = question(action, &[finding(prefix)], directory);
            question.choices.iter().map(|offer| offer.key).collect::<String>()
        };
        assert_eq!(keys(&command, Some(vec!["git".into(), "push".into()]), Some("/a")), "12340");
        assert_eq!(keys(&command, None, Some("/a")), "1240");
        assert_eq!(keys(&command, None, None), "10", "nothing lasts where the directory is not known");
        assert_eq!(
            keys(&Action::Script { code: "x", reach: crate::gate::Reach::Host }, None, Some("/a")),
            "10"
        );
    }
}
