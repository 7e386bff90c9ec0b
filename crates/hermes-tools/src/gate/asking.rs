//! A question to a person, and what they may say to it.

use super::Waiting;

/// A question to the person in front of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What it is about, such as a command line; shown as it is.
    pub subject: String,
    /// The question.
    pub text: String,
    /// The answers on offer; none means free text.
    pub choices: Vec<Offer>,
    /// What words mean that are none of the choices.
    pub words: Words,
}

/// An answer on offer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The key that picks it. The same key means the same in every question of a kind; what is not offered leaves a gap.
    pub key: char,
    /// What it says.
    pub text: String,
}

/// What words mean that are none of the choices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// They are the answer.
    Answer,
    /// They say no, and why. No words agree: a yes is one of the choices.
    Refusal,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// One of the choices, by its place.
    Choice(usize),
    /// Words of their own.
    Text(String),
    /// There is nobody to ask, or they turned away.
    Nobody,
}

/// Asks a person. Front doors implement it.
pub trait Answerer: Send + Sync {
    /// Asks and waits.
    fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply>;
}

/// The key of "no" in every question that can be answered with it.
pub const NO: char = '0';

/// Beginnings that sound like a yes: neither an agreement nor a reason against it, where no words agree.
const AGREEING: &[&str] = &["y", "yes", "yep", "yeah", "ok", "okay", "sure"];
/// Words that mean a yes when nothing else is said.
const AGREEING_ALONE: &[&str] =
    &["a", "always", "once", "go", "run", "fine", "allow", "approve", "agree", "agreed", "accept"];

/// Words that say no and give no reason.
const REFUSING: &[&str] = &["n", "no", "nope", "deny", "refuse", "reject", "never"];

impl Offer {
    /// An answer that this key picks.
    pub fn new(key: char, text: impl Into<String>) -> Self {
        Self { key, text: text.into() }
    }

    /// These answers, numbered from 1.
    pub fn numbered<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Vec<Self> {
        ('1'..='9').zip(texts).map(|(key, text)| Self::new(key, text)).collect()
    }

    /// Yes or no.
    pub fn yes_or_no() -> Vec<Self> {
        vec![Self::new('1', "Yes"), Self::new(NO, "No")]
    }
}

impl Question {
    /// The choice that a typed line picks: its key and nothing else.
    pub fn picked(&self, line: &str) -> Option<usize> {
        let mut chars = line.trim().chars();
        let (key, None) = (chars.next()?, chars.next()) else { return None };
        self.choices.iter().position(|offer| offer.key == key)
    }

    /// What a typed line means; nothing where it has to be asked again.
    pub fn read(&self, line: &str) -> Option<Reply> {
        let line = line.trim();
        if let Some(place) = self.picked(line) {
            return Some(Reply::Choice(place));
        }
        let number = !self.choices.is_empty() && line.chars().all(|c| c.is_ascii_digit());
        let unclear = match self.words {
            // A year may be the answer; a single digit is a slip of the finger.
            Words::Answer => number && line.len() == 1,
            Words::Refusal => {
                number || is_among(AGREEING, first_word(line)) || is_among(AGREEING_ALONE, bare(line))
            }
        };
        (!line.is_empty() && !unclear).then(|| Reply::Text(line.to_owned()))
    }
}

/// Whether words only say no.
pub(super) fn is_plain_no(words: &str) -> bool {
    is_among(REFUSING, bare(words))
}

fn bare(words: &str) -> &str {
    words.trim().trim_end_matches(['.', '!', ','])
}

fn first_word(line: &str) -> &str {
    line.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty()).unwrap_or_default()
}

fn is_among(list: &[&str], word: &str) -> bool {
    list.iter().any(|known| known.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(words: Words) -> Question {
        let choices = vec![Offer::new('1', "Once"), Offer::new('4', "Always"), Offer::new(NO, "No")];
        Question { subject: "rm -rf build".into(), text: "Run it?".into(), choices, words }
    }

    #[test]
    fn only_the_key_alone_picks() {
        let question = question(Words::Refusal);
        assert_eq!(question.read("1"), Some(Reply::Choice(0)));
        assert_eq!(question.read(" 4 "), Some(Reply::Choice(1)));
        assert_eq!(question.read("0"), Some(Reply::Choice(2)));
        for line in ["no, keep 3 files", "4 files have to stay", "1 2", "11 are too many", "a no", "go away"]
        {
            assert_eq!(question.read(line), Some(Reply::Text(line.into())), "{line}");
        }
    }

    #[test]
    fn what_is_unclear_is_asked_again() {
        for line in ["", "  ", "2", "9", "14", "y", "Yes", "ok, but later", "always"] {
            assert_eq!(question(Words::Refusal).read(line), None, "{line}");
        }
        assert_eq!(question(Words::Answer).read("yes"), Some(Reply::Text("yes".into())));
        assert_eq!(question(Words::Answer).read("2024"), Some(Reply::Text("2024".into())));
        assert_eq!(question(Words::Answer).read("7"), None);
        let free = Question { choices: Vec::new(), ..question(Words::Answer) };
        assert_eq!(free.read("7"), Some(Reply::Text("7".into())));
        assert_eq!(free.read(" "), None);
    }

    #[test]
    fn a_no_without_a_reason_is_known() {
        assert!(is_plain_no("No.") && is_plain_no("n"));
        assert!(!is_plain_no("no, keep 3 files"));
    }
}
