//! A model that looks at a dangerous command before a person is asked.

use super::Waiting;

/// What it is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    /// The command, or the text of a script.
    pub subject: String,
    /// Why it is not simply run.
    pub reasons: Vec<String>,
}

/// What it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Advice {
    /// Harmless: this one may run.
    Approve,
    /// Harmful: it may not.
    Deny,
    /// A person should decide. Also the answer when none could be had.
    Escalate,
}

impl Advice {
    /// Out of what a model said: one word, and nothing else counts.
    pub fn read(said: &str) -> Self {
        let word = said.trim().trim_matches(|c: char| !c.is_ascii_alphabetic()).to_ascii_uppercase();
        match word.as_str() {
            "APPROVE" => Self::Approve,
            "DENY" => Self::Deny,
            _ => Self::Escalate,
        }
    }
}

/// Gives advice.
pub trait Adviser: Send + Sync {
    /// Looks at it. Ends by itself; whatever goes wrong is [`Advice::Escalate`].
    fn advise<'a>(&'a self, case: &'a Case) -> Waiting<'a, Advice>;
}

#[cfg(test)]
mod tests {
    use super::Advice;

    #[test]
    fn only_one_word_counts() {
        assert_eq!(Advice::read(" approve.\n"), Advice::Approve);
        assert_eq!(Advice::read("**DENY**"), Advice::Deny);
        for said in ["", "APPROVE because it is safe", "I would DENY", "yes", "ESCALATE"] {
            assert_eq!(Advice::read(said), Advice::Escalate, "{said}");
        }
    }
}
