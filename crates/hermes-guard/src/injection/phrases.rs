//! The phrases that give an attempt away. Each is a few steps of alternative words with a bounded number of other words
//! between them, which reads like a sentence, costs no regular expression and survives rewording.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

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
    let table = Table::get();
    let mut findings = BTreeSet::new();
    for sentence in sentences(text, |word| table.lists_of(word)) {
        for (phrase, lists) in PHRASES.iter().zip(&table.phrases) {
            findings
                .extend(lists.lines(phrase, &sentence).map(|line| Finding { line, family: phrase.family }));
        }
    }
    for (line, content) in telling_lines(text) {
        findings.extend(in_line(&content.to_lowercase()).map(|family| Finding { line, family }));
    }
    findings.into_iter().collect()
}

/// The lines with something in them that [`in_line`] needs to find anything, found in one pass.
fn telling_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    static MARKS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let marks = MARKS.get_or_init(|| {
        let marks = ROLE_MARKS.iter().chain(SECRET_PLACES).chain(&["style="]);
        AhoCorasick::builder().ascii_case_insensitive(true).build(marks).ok()
    });
    let tells = |line: &str| marks.as_ref().is_none_or(|marks| marks.is_match(line));
    let lines = if tells(text) { text } else { "" };
    lines.split('\n').enumerate().filter(move |(_, line)| tells(line)).map(|(place, line)| (place + 1, line))
}

/// What a line in lower case gives away by its characters.
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

fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// The lists a word is in, one bit each.
type Lists = u64;

/// Every word of the phrases with the lists it is in, so that a word of a text is looked up once.
struct Table {
    words: HashMap<&'static str, Lists>,
    phrases: Vec<PhraseLists>,
}

/// The lists of one phrase.
struct PhraseLists {
    steps: Vec<Lists>,
    harmless_with: Lists,
}

impl Table {
    fn get() -> &'static Self {
        static TABLE: OnceLock<Table> = OnceLock::new();
        TABLE.get_or_init(|| {
            let mut words: HashMap<&'static str, Lists> = HashMap::new();
            let mut next: Lists = 1;
            let mut list = |text: &'static str| {
                let bit = next;
                next <<= 1;
                for word in text.split_ascii_whitespace() {
                    *words.entry(word).or_default() |= bit;
                }
                bit
            };
            let lists = |phrase: &Phrase| PhraseLists {
                steps: phrase.steps.iter().map(|step| list(step)).collect(),
                harmless_with: list(phrase.harmless_with),
            };
            let phrases = PHRASES.iter().map(lists).collect();
            Self { words, phrases }
        })
    }

    fn lists_of(&self, word: &str) -> Lists {
        self.words.get(word).copied().unwrap_or_default()
    }
}

impl PhraseLists {
    /// The lines of every place the phrase is found at.
    fn lines(&self, phrase: &Phrase, sentence: &[Word<Lists>]) -> impl Iterator<Item = usize> {
        let harmless = sentence.iter().any(|word| word.meaning & self.harmless_with != 0);
        let starts = if harmless { 0..0 } else { 0..sentence.len() };
        starts.filter_map(|start| self.at(phrase.gap, sentence, start)).flatten()
    }

    /// The lines the phrase covers if it starts at this word.
    fn at(
        &self,
        gap: usize,
        sentence: &[Word<Lists>],
        start: usize,
    ) -> Option<std::ops::RangeInclusive<usize>> {
        let (first, rest) = self.steps.split_first()?;
        let mut place = start;
        if sentence[place].meaning & first == 0 {
            return None;
        }
        for step in rest {
            let mut window = sentence.iter().enumerate().skip(place + 1).take(gap + 1);
            place = window.find(|(_, word)| word.meaning & step != 0)?.0;
        }
        Some(sentence[start].line..=sentence[place].line)
    }
}
