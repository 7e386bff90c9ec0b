//! The phrases that give an attempt away. Each is a few steps of alternative words with a bounded number of other words
//! between them, which reads like a sentence, costs no regular expression and survives rewording.

use std::collections::BTreeSet;

use super::words::{Word, sentences};
use super::{Family, Finding};

/// A phrase.
struct Phrase {
    family: Family,
    /// Alternatives for each step, separated by blanks.
    steps: &'static [&'static str],
    /// Most other words between two steps.
    gap: usize,
    /// Words anywhere in the sentence that make it harmless.
    harmless_with: &'static str,
}

const CONDITIONS: &str = "unless until if when before while without once";
const REFUSALS: &str = "not never dont avoid without no cannot cant refuse";

const PHRASES: &[Phrase] = &[
    Phrase {
        family: Family::Override,
        steps: &[
            "ignore disregard forget override bypass",
            "previous prior above earlier preceding foregoing existing system your",
            "instructions instruction prompt prompts directions directives guidelines orders",
        ],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &["ignore disregard forget", "rules instructions directives", "above before given previously"],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Secrecy,
        steps: &[
            "dont not never",
            "tell inform notify mention reveal show disclose",
            "user users human owner operator",
        ],
        gap: 3,
        harmless_with: CONDITIONS,
    },
    Phrase {
        family: Family::Unbinding,
        steps: &["you", "are", "now", "unrestricted jailbroken uncensored unfiltered dan unbound"],
        gap: 2,
        harmless_with: "",
    },
    Phrase {
        family: Family::Unbinding,
        steps: &[
            "act pretend behave respond answer",
            "no without",
            "restrictions rules limits limitations filters guidelines safety",
        ],
        gap: 4,
        harmless_with: "",
    },
    Phrase {
        family: Family::PromptLeak,
        steps: &[
            "print reveal output repeat display leak show tell send dump",
            "your",
            "system hidden initial secret developer original",
            "prompt instructions message",
        ],
        gap: 2,
        harmless_with: "",
    },
];

/// Beginnings of messages as models see them.
const ROLE_MARKS: &[&str] =
    &["<|im_start|>", "<|im_end|>", "<|system|>", "<|start_header_id|>", "[inst]", "<<sys>>", "</system>"];

/// Where secrets are kept.
const SECRET_PLACES: &[&str] = &[
    ".ssh/",
    "id_rsa",
    "id_ed25519",
    ".aws/credentials",
    ".netrc",
    ".env",
    "auth.json",
    ".gnupg",
    ".git-credentials",
    "printenv",
    ".kube/config",
];

/// Commands that take something to another machine.
const SENDERS: &str = "curl wget nc ncat scp";

/// What hands a file over to such a command.
const HANDED_OVER: &[&str] = &["@", "|", "$(", "<", "`", " -t ", "--data", "scp "];

/// Every suspicious line of the text.
pub(super) fn find(text: &str) -> Vec<Finding> {
    let mut findings = BTreeSet::new();
    for sentence in sentences(text) {
        for phrase in PHRASES {
            findings.extend(phrase.lines(&sentence).map(|line| Finding { line, family: phrase.family }));
        }
    }
    for (place, line) in text.split('\n').enumerate() {
        findings.extend(in_line(&line.to_lowercase()).map(|family| Finding { line: place + 1, family }));
    }
    findings.into_iter().collect()
}

/// What a line gives away by its characters.
fn in_line(line: &str) -> impl Iterator<Item = Family> {
    let has = |marks: &[&str]| marks.iter().any(|mark| line.contains(mark));
    let hidden = line.contains("style=")
        && has(&["display:none", "display: none", "visibility:hidden", "font-size:0", "font-size: 0"]);
    let says = |list: &str| line.split(|c: char| !c.is_alphanumeric()).any(|word| is_one_of(word, list));
    let refused = says(REFUSALS) || line.contains("don't");
    let sent = has(SECRET_PLACES) && says(SENDERS) && has(HANDED_OVER) && !refused;
    [
        has(ROLE_MARKS).then_some(Family::FakeRole),
        hidden.then_some(Family::HiddenText),
        sent.then_some(Family::Exfiltration),
    ]
    .into_iter()
    .flatten()
}

impl Phrase {
    /// The lines of every place the phrase is found at.
    fn lines(&self, sentence: &[Word]) -> impl Iterator<Item = usize> {
        let harmless = sentence.iter().any(|word| is_one_of(&word.text, self.harmless_with));
        let starts = if harmless { 0..0 } else { 0..sentence.len() };
        starts.filter_map(|start| self.at(sentence, start)).flatten()
    }

    /// The lines the phrase covers if it starts at this word.
    fn at(&self, sentence: &[Word], start: usize) -> Option<std::ops::RangeInclusive<usize>> {
        let (first, rest) = self.steps.split_first()?;
        let mut place = start;
        if !is_one_of(&sentence[place].text, first) {
            return None;
        }
        for step in rest {
            let window = sentence.iter().enumerate().skip(place + 1).take(self.gap + 1);
            place = window.into_iter().find(|(_, word)| is_one_of(&word.text, step))?.0;
        }
        Some(sentence[start].line..=sentence[place].line)
    }
}

fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}
