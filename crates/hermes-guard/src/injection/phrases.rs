//! The phrases that give an attempt away. Each is a few steps of alternative words with a bounded number of other words
//! between them, which reads like a sentence, costs no regular expression and survives rewording.

use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::words::{Lists, Vocabulary, Word, sentences};
use super::{Family, Finding, comments, encoded, scripts};

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
        gap: 4,
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
    Phrase {
        family: Family::Override,
        steps: &[
            "stop quit cease",
            "following obeying",
            "your previous prior system earlier",
            "instructions prompt rules guidelines",
        ],
        gap: 2,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &[
            "dont not never",
            "follow obey",
            "previous prior system earlier",
            "instructions prompt prompts directives orders",
        ],
        gap: 2,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &[
            "pay",
            "no",
            "attention",
            "previous prior above earlier your",
            "instructions rules prompt orders",
        ],
        gap: 2,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &["your", "real true actual", "instructions task goal purpose orders", "is are follow begin"],
        gap: 1,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &["decode decoded", "base64 rot13 hex", "follow execute obey"],
        gap: 8,
        harmless_with: REFUSALS,
    },
    Phrase {
        family: Family::Unbinding,
        steps: &["enable enter activate switch", "jailbreak dan unrestricted", "mode"],
        gap: 2,
        harmless_with: "",
    },
    Phrase {
        family: Family::Exfiltration,
        steps: &[
            "send upload post email transmit exfiltrate forward",
            "contents content all every any environment",
            "secrets credentials passwords tokens keys env variables",
            "http https",
        ],
        gap: 6,
        harmless_with: REFUSALS,
    },
    // German.
    Phrase {
        family: Family::Override,
        steps: &[
            "ignoriere ignorier ignorieren ignoriert vergiss vergesse vergessen missachte missachten",
            "vorherigen vorherige bisherigen bisherige obigen obige fruheren fruhere vorigen deine",
            "anweisungen anweisung instruktionen befehle regeln vorgaben",
        ],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Secrecy,
        steps: &[
            "sag sage sagen erzahle erzahl verrate verrat",
            "nutzer benutzer anwender",
            "nichts nicht nie niemals",
        ],
        gap: 3,
        harmless_with: "wenn falls bis ausser solange bevor",
    },
    // French, Spanish, Portuguese, Italian: the adjective may stand on either side.
    Phrase {
        family: Family::Override,
        steps: &[ROMANCE_IGNORE, ROMANCE_ORDERS, ROMANCE_FORMER],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &[ROMANCE_IGNORE, ROMANCE_FORMER, ROMANCE_ORDERS],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Secrecy,
        steps: &[
            "no nunca ne nao non jamais",
            "digas diga digais informes menciones reveles cuentes dis dites dire mentionne mentionnez informez revelez diga conte informe revele dire dica dite menzionare",
            "usuario utilisateur lutilisateur utente allutente",
        ],
        gap: 3,
        harmless_with: "si sauf cuando quando hasta sin sauf sans",
    },
    // Dutch, Polish, Turkish, Russian.
    Phrase {
        family: Family::Override,
        steps: &[
            "negeer negeren vergeet zignoruj ignoruj zapomnij",
            "vorige eerdere voorgaande bovenstaande poprzednie wczesniejsze powyzsze",
            "instructies opdrachten aanwijzingen instrukcje polecenia",
        ],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &[
            "onceki yukaridaki",
            "talimatlari talimatlarin talimatlar komutlari",
            "yok yoksay gormezden unut",
        ],
        gap: 2,
        harmless_with: "",
    },
    Phrase {
        family: Family::Override,
        steps: &[
            "игнорируй игнорируйте проигнорируй забудь забудьте",
            "предыдущие прежние предшествующие вышеуказанные системные",
            "инструкции указания команды правила",
        ],
        gap: 3,
        harmless_with: "",
    },
    Phrase {
        family: Family::Secrecy,
        steps: &["не никогда", "говори говорите сообщай сообщайте рассказывай упоминай", "пользователю"],
        gap: 3,
        harmless_with: "если пока когда",
    },
];

const ROMANCE_IGNORE: &str = "ignore ignorez ignorer oublie oubliez oublier ignora ignorar ignorad olvida olvide olvidar \
    esqueca esquece desconsidere ignorate ignorare dimentica dimenticate";
const ROMANCE_ORDERS: &str = "instructions consignes directives ordres instrucciones ordenes indicaciones directrices \
    instrucoes ordens orientacoes diretrizes istruzioni ordini direttive";
const ROMANCE_FORMER: &str = "precedentes precedente anterieures anterieurs dessus anteriores previas arriba acima precedenti \
    sopra";

/// Beginnings of messages as models see them.
const ROLE_MARKS: &[&str] = &[
    "<|im_start|>",
    "<|im_end|>",
    "<|system|>",
    "<|assistant|>",
    "<|user|>",
    "<|start_header_id|>",
    "<|eot_id|>",
    "<start_of_turn>",
    "</system>",
    "system override:",
    "[system override]",
];

/// Such beginnings that are written in capitals; in small letters they are code.
const SHOUTED_MARKS: &[&str] = &["[INST]", "[/INST]", "<<SYS>>"];

/// Styles that hide what they are put on.
const HIDING: &[&str] = &[
    "display:none",
    "display: none",
    "visibility:hidden",
    "visibility: hidden",
    "font-size:0",
    "font-size: 0",
    "opacity:0;",
    "opacity: 0;",
    "opacity:0\"",
    "opacity: 0\"",
];

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
    for sentence in sentences(text, &table.words) {
        let present = sentence.iter().fold(0, |lists, word| lists | word.lists);
        let possible = PHRASES.iter().zip(&table.phrases).filter(|(_, lists)| lists.may_be_among(present));
        for (phrase, lists) in possible {
            findings
                .extend(lists.lines(phrase, &sentence).map(|line| Finding { line, family: phrase.family }));
        }
    }
    for (line, content) in telling_lines(text) {
        findings.extend(in_line(content, &content.to_lowercase()).map(|family| Finding { line, family }));
    }
    findings.extend(comments::find(text));
    if !text.is_ascii() {
        for (place, line) in text.split('\n').enumerate().filter(|(_, line)| !line.is_ascii()) {
            findings.extend(scripts::in_line(line).map(|family| Finding { line: place + 1, family }));
        }
    }
    findings.into_iter().collect()
}

/// Every suspicious line of the text, those included that hold an order in base64.
pub(super) fn find_encoded_too(text: &str) -> Vec<Finding> {
    let mut findings: BTreeSet<Finding> = find(text).into_iter().collect();
    for (at, inner) in encoded::texts(text) {
        let hidden = find(&inner);
        if !hidden.is_empty() {
            let line = text[..at].matches('\n').count() + 1;
            findings.extend(hidden.into_iter().map(|found| Finding { line, family: found.family }));
        }
    }
    findings.into_iter().collect()
}

/// The lines with something in them that [`in_line`] needs to find anything, found in one pass.
fn telling_lines(text: &str) -> Vec<(usize, &str)> {
    static MARKS: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    let marks = MARKS.get_or_init(|| {
        let marks = ROLE_MARKS.iter().chain(SHOUTED_MARKS).chain(SECRET_PLACES).chain(&["style="]);
        AhoCorasick::builder().ascii_case_insensitive(true).kind(Some(AhoCorasickKind::DFA)).build(marks).ok()
    });
    let Some(marks) = marks else { return (1..).zip(text.split('\n')).collect() };
    let mut lines: Vec<(usize, &str)> = Vec::new();
    let (mut number, mut seen, mut end) = (1, 0, 0);
    for mark in marks.find_iter(text) {
        if mark.start() < end {
            continue;
        }
        let start = text[..mark.start()].rfind('\n').map_or(0, |line| line + 1);
        end = text[mark.start()..].find('\n').map_or(text.len(), |line| mark.start() + line);
        number += text[seen..start].matches('\n').count();
        seen = start;
        lines.push((number, &text[start..end]));
    }
    lines
}

/// What a line, as it is and in lower case, gives away by its characters.
fn in_line(written: &str, line: &str) -> impl Iterator<Item = Family> {
    let has = |marks: &[&str]| marks.iter().any(|mark| line.contains(mark));
    let hidden = line.contains("style=") && has(HIDING);
    let says = |list: &str| line.split(|c: char| !c.is_alphanumeric()).any(|word| is_one_of(word, list));
    let refused = says(REFUSALS) || line.contains("don't");
    let sent = has(SECRET_PLACES) && says(SENDERS) && has(HANDED_OVER) && !refused;
    [
        (has(ROLE_MARKS) || SHOUTED_MARKS.iter().any(|mark| written.contains(mark)))
            .then_some(Family::FakeRole),
        hidden.then_some(Family::HiddenText),
        sent.then_some(Family::Exfiltration),
    ]
    .into_iter()
    .flatten()
}

fn is_one_of(word: &str, list: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// Every word of the phrases with the lists it is in, so that a word of a text is looked up once.
struct Table {
    words: Vocabulary,
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
            let mut words = Vocabulary::default();
            let mut next: Lists = 1;
            let mut known: HashMap<&'static str, Lists> = HashMap::new();
            let mut list = |text: &'static str| {
                if let Some(bit) = known.get(text) {
                    return *bit;
                }
                let bit = next;
                next <<= 1;
                known.insert(text, bit);
                for word in text.split_ascii_whitespace() {
                    words.add(word, bit);
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
}

impl PhraseLists {
    /// The lines of every place the phrase is found at.
    fn lines(&self, phrase: &Phrase, sentence: &[Word]) -> impl Iterator<Item = usize> {
        (0..sentence.len()).filter_map(|start| self.at(phrase.gap, sentence, start)).flatten()
    }

    /// Whether words of these lists can make up the phrase: one for each step, and none that makes it harmless.
    fn may_be_among(&self, present: Lists) -> bool {
        present & self.harmless_with == 0 && self.steps.iter().all(|step| present & step != 0)
    }

    /// The lines the phrase covers if it starts at this word.
    fn at(&self, gap: usize, sentence: &[Word], start: usize) -> Option<std::ops::RangeInclusive<usize>> {
        let (first, rest) = self.steps.split_first()?;
        let mut at = start;
        if sentence[at].lists & first == 0 {
            return None;
        }
        for step in rest {
            let last = sentence[at].place + gap + 1;
            let near = sentence.iter().enumerate().skip(at + 1).take_while(|(_, word)| word.place <= last);
            at = near.into_iter().find(|(_, word)| word.lists & step != 0)?.0;
        }
        Some(sentence[start].line..=sentence[at].line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bits that run out would silently switch phrases off.
    #[test]
    fn every_phrase_is_found_by_its_own_words() {
        for phrase in PHRASES {
            let words: Vec<&str> =
                phrase.steps.iter().filter_map(|step| step.split_ascii_whitespace().last()).collect();
            let found = find(&words.join(" "));
            assert!(found.iter().any(|finding| finding.family == phrase.family), "{words:?}");
        }
    }
}
