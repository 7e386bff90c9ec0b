//! What somebody typed, turned into a question that SQLite understands. Never fails, whatever was typed.

/// How to look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// There is nothing to look for.
    Nothing,
    /// In the index of words.
    Words(String),
    /// In the index of three characters in a row, for scripts that do not put spaces between words.
    Trigrams(String),
    /// In every message, for pieces shorter than three such characters.
    Pieces {
        /// What to look for.
        pieces: Vec<String>,
        /// Whether one of them is enough.
        any: bool,
    },
}

/// Longer questions are cut.
const LONGEST: usize = 2048;

/// Decides how to look for what was typed.
pub(crate) fn plan(text: &str) -> Plan {
    let text: String = text.chars().filter(|c| *c != '\0').take(LONGEST).collect();
    let terms = joined(terms(&text));
    if terms.is_empty() {
        return Plan::Nothing;
    }
    if !terms.iter().any(Term::has_cjk) {
        return Plan::Words(written(&terms, Term::in_words));
    }
    let long = terms.iter().all(|term| !term.has_cjk() || term.count_cjk() >= 3);
    // A word of one or two letters has no three characters in a row either.
    let all_long = terms.iter().all(|term| match term {
        Term::Operator(_) => true,
        Term::Word { text, .. } | Term::Phrase(text) => text.chars().count() >= 3,
    });
    if long && all_long {
        return Plan::Trigrams(written(&terms, Term::in_trigrams));
    }
    let any = terms.contains(&Term::Operator(Operator::Or));
    let pieces = terms.into_iter().filter_map(Term::piece).collect();
    Plan::Pieces { pieces, any }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    And,
    Or,
    Not,
}

impl Operator {
    fn as_str(self) -> &'static str {
        match self {
            Self::And => "AND",
            Self::Or => "OR",
            Self::Not => "NOT",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    Operator(Operator),
    Word { text: String, prefix: bool },
    Phrase(String),
}

impl Term {
    fn text(&self) -> &str {
        match self {
            Self::Operator(_) => "",
            Self::Word { text, .. } | Self::Phrase(text) => text,
        }
    }

    fn has_cjk(&self) -> bool {
        self.text().chars().any(is_cjk)
    }

    fn count_cjk(&self) -> usize {
        self.text().chars().filter(|c| is_cjk(*c)).count()
    }

    fn in_words(&self) -> String {
        match self {
            Self::Operator(operator) => operator.as_str().to_owned(),
            Self::Word { text, prefix } => {
                // Anything but letters and digits means something to SQLite, or splits the word.
                let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || !c.is_ascii());
                let word = if plain && !is_reserved(text) { text.clone() } else { quoted(text) };
                if *prefix { word + "*" } else { word }
            }
            Self::Phrase(text) => quoted(text),
        }
    }

    fn in_trigrams(&self) -> String {
        match self {
            Self::Operator(operator) => operator.as_str().to_owned(),
            term => quoted(term.text()),
        }
    }

    fn piece(self) -> Option<String> {
        match self {
            Self::Operator(_) => None,
            Self::Word { text, .. } | Self::Phrase(text) => Some(text),
        }
    }
}

fn is_reserved(word: &str) -> bool {
    matches!(word, "AND" | "OR" | "NOT" | "NEAR")
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

fn written(terms: &[Term], write: impl Fn(&Term) -> String) -> String {
    terms.iter().map(write).collect::<Vec<_>>().join(" ")
}

/// Splits what was typed into phrases, words and operators. A quote without its partner is a space.
fn terms(text: &str) -> Vec<Term> {
    let mut terms = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        let Some(length) = rest[start + 1..].find('"') else { break };
        terms.extend(words(&rest[..start]));
        let phrase = &rest[start + 1..start + 1 + length];
        if has_substance(phrase) {
            terms.push(Term::Phrase(phrase.to_owned()));
        }
        rest = &rest[start + length + 2..];
    }
    terms.extend(words(rest));
    terms
}

fn words(text: &str) -> impl Iterator<Item = Term> + '_ {
    text.split(|c: char| c.is_whitespace() || "+{}():\"^".contains(c)).filter_map(|word| match word {
        "AND" => Some(Term::Operator(Operator::And)),
        "OR" => Some(Term::Operator(Operator::Or)),
        "NOT" => Some(Term::Operator(Operator::Not)),
        _ => {
            let bare = word.trim_start_matches('*');
            let text = bare.trim_end_matches('*');
            let term = Term::Word { text: text.replace('*', " "), prefix: text.len() < bare.len() };
            has_substance(text).then_some(term)
        }
    })
}

/// Whether there is anything in it that an index knows.
fn has_substance(text: &str) -> bool {
    text.chars().any(|c| c.is_alphanumeric() || is_cjk(c))
}

/// Keeps an operator only between two terms, and one where there are several.
fn joined(terms: Vec<Term>) -> Vec<Term> {
    let mut kept: Vec<Term> = Vec::new();
    let mut pending: Option<Operator> = None;
    for term in terms {
        match term {
            // `AND NOT` is `NOT` to SQLite.
            Term::Operator(operator) => {
                pending = if pending == Some(Operator::Not) { pending } else { Some(operator) };
            }
            term => {
                if let (Some(operator), false) = (pending.take(), kept.is_empty()) {
                    kept.push(Term::Operator(operator));
                }
                kept.push(term);
            }
        }
    }
    kept
}

/// Whether a character belongs to a script that does not put spaces between words.
pub(super) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x3000..=0x30ff | 0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xac00..=0xd7af | 0x2_0000..=0x2_a6df)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(text: &str) -> String {
        match plan(text) {
            Plan::Words(query) => query,
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn words_phrases_and_operators_are_kept() {
        for (typed, meant) in [
            ("docker deploy", "docker deploy"),
            ("\"exact phrase\" x", "\"exact phrase\" x"),
            ("a OR b", "a OR b"),
            ("python NOT java", "python NOT java"),
            ("deploy*", "deploy*"),
            ("über", "über"),
        ] {
            assert_eq!(words_of(typed), meant);
        }
    }

    #[test]
    fn what_sqlite_would_misread_is_made_plain() {
        for (typed, meant) in [
            ("TODO: fix", "TODO fix"),
            ("a AND", "a"),
            ("OR b", "b"),
            ("a AND NOT b", "a NOT b"),
            ("a OR OR b", "a OR b"),
            ("***a***", "a*"),
            ("* a", "a"),
            ("un\"matched", "un matched"),
            ("(a^b)", "a b"),
            ("my-app.config.ts", "\"my-app.config.ts\""),
            ("snake_case*", "\"snake_case\"*"),
            ("it's", "\"it's\""),
            ("NEAR", "\"NEAR\""),
            ("a & b", "a b"),
        ] {
            assert_eq!(words_of(typed), meant, "{typed}");
        }
        for typed in ["", "   ", "\"\"", "AND OR NOT", "***", "+-"] {
            assert_eq!(plan(typed), Plan::Nothing, "{typed}");
        }
    }

    #[test]
    fn scripts_without_spaces_go_to_the_other_index_or_to_every_message() {
        assert_eq!(plan("漢字テスト"), Plan::Trigrams("\"漢字テスト\"".to_owned()));
        assert_eq!(
            plan("大别山项目 OR 广西桂林"),
            Plan::Trigrams("\"大别山项目\" OR \"广西桂林\"".to_owned())
        );
        let pieces =
            |list: &[&str], any| Plan::Pieces { pieces: list.iter().map(ToString::to_string).collect(), any };
        assert_eq!(plan("广西 OR 桂林"), pieces(&["广西", "桂林"], true));
        assert_eq!(plan("漢字 docker"), pieces(&["漢字", "docker"], false));
    }
}
