//! Replacing one text by another: exactly, or by the first of eight forgiving rules that finds it.

mod escapes;
mod fit;
mod indent;
mod line_ends;
pub(crate) mod lines;
mod search;
pub(crate) mod similar;
mod typography;

use std::fmt::Write as _;
use std::ops::Range;

pub(crate) use indent::Reindent;
pub(crate) use typography::ascii;

use fit::Edit;
use line_ends::{View, fold};
use lines::LineIndex;

/// Whether one place is meant or every one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrences {
    /// The text must be found exactly once.
    Only,
    /// Every place is replaced.
    All,
}

/// How a text was found, in the order in which the rules are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strategy {
    /// Character by character.
    Exact,
    /// Whole lines, blanks at both ends ignored.
    LineTrimmed,
    /// Every run of spaces and tabs counts as one space.
    WhitespaceNormalized,
    /// Whole lines, indentation ignored.
    IndentationFlexible,
    /// A literal `\n`, `\t` or `\r` in the searched text stands for the character.
    EscapeNormalized,
    /// Whole lines, blanks at both ends of the first and last line ignored.
    TrimmedBoundary,
    /// Typographic quotes, dashes, ellipses and spaces count as their ASCII forms.
    UnicodeNormalized,
    /// First and last line fit and what is between is similar.
    BlockAnchor,
    /// Half of the lines or more are very similar.
    ContextAware,
}

impl Strategy {
    /// All rules in the order in which they are tried.
    pub const ALL: [Self; 9] = [
        Self::Exact,
        Self::LineTrimmed,
        Self::WhitespaceNormalized,
        Self::IndentationFlexible,
        Self::EscapeNormalized,
        Self::TrimmedBoundary,
        Self::UnicodeNormalized,
        Self::BlockAnchor,
        Self::ContextAware,
    ];

    /// The rule's name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::LineTrimmed => "line_trimmed",
            Self::WhitespaceNormalized => "whitespace_normalized",
            Self::IndentationFlexible => "indentation_flexible",
            Self::EscapeNormalized => "escape_normalized",
            Self::TrimmedBoundary => "trimmed_boundary",
            Self::UnicodeNormalized => "unicode_normalized",
            Self::BlockAnchor => "block_anchor",
            Self::ContextAware => "context_aware",
        }
    }
}

impl std::fmt::Display for Strategy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

/// A text after a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The whole new text.
    pub text: String,
    /// How the places were found.
    pub strategy: Strategy,
    /// How many places were replaced.
    pub count: usize,
}

/// Lines of the text that resemble what was searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// The number of the first line, from 1.
    pub line: usize,
    /// The lines, without a final line end.
    pub text: String,
}

/// Why nothing was replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplaceError {
    /// There is nothing to search for.
    #[error("the text to replace is empty: give the lines that should change")]
    EmptyOld,
    /// Old and new text are the same.
    #[error("the old and the new text are the same: nothing would change")]
    Same,
    /// No rule found the text.
    #[error("the text to replace was not found{}", did_you_mean(.similar))]
    NotFound {
        /// Up to three places that look like it, the most similar first.
        similar: Vec<Snippet>,
    },
    /// The text is there more than once and one place was asked for.
    #[error("the text to replace was found {} times (by rule {strategy}), at lines {}: add lines around it until it is unique, or replace all", .lines.len(), list(.lines))]
    Several {
        /// The rule that found it.
        strategy: Strategy,
        /// The first line of each place, from 1.
        lines: Vec<usize>,
    },
    /// The most similar place is hardly better than another one.
    #[error(
        "no exact match, and two places are about equally similar, at lines {best} and {other}: copy the old text exactly as it is in the file"
    )]
    TooClose {
        /// First line of the most similar place, from 1.
        best: usize,
        /// First line of the runner-up, from 1.
        other: usize,
    },
    /// Old and new text have escaped quotes where the file has plain ones.
    #[error(
        "old and new text contain {mark} but the file has none at line {line}: write the quotes without backslashes"
    )]
    EscapeDrift {
        /// The escaped quote, `\'` or `\"`.
        mark: &'static str,
        /// First line of the place, from 1.
        line: usize,
    },
}

pub(crate) fn list(lines: &[usize]) -> String {
    const SHOWN: usize = 10;
    let mut text = lines.iter().take(SHOWN).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > SHOWN {
        let _ = write!(text, " and {} more", lines.len() - SHOWN);
    }
    text
}

pub(crate) fn did_you_mean(similar: &[Snippet]) -> String {
    if similar.is_empty() {
        return ": read the file again and copy the lines as they are".to_owned();
    }
    let mut text = ". Similar lines in the file:".to_owned();
    for snippet in similar {
        for (offset, line) in snippet.text.lines().enumerate() {
            let _ = write!(text, "\n{}|{line}", snippet.line + offset);
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// Replaces `old` by `new` in `text`; the first rule that finds it wins.
///
/// Line ends count as equal whatever they are, and the text keeps its own. What a forgiving rule finds is
/// replaced with the text's own indentation.
pub fn replace(text: &str, old: &str, new: &str, which: Occurrences) -> Result<Replaced, ReplaceError> {
    if old.is_empty() {
        return Err(ReplaceError::EmptyOld);
    }
    if old == new {
        return Err(ReplaceError::Same);
    }
    let edit = Edit { old: fold(old).into_owned(), new: fold(new).into_owned() };
    if edit.old == edit.new {
        return only_line_ends(text, old, new, which);
    }
    let view = View::new(text);
    let (strategy, places) = first_found(view.folded(), &edit.old)?;
    if places.len() > 1 && which == Occurrences::Only {
        return Err(ReplaceError::Several { strategy, lines: line_numbers(view.folded(), &places) });
    }
    let mut result = String::with_capacity(text.len() + new.len());
    let mut done = 0;
    for place in &places {
        let region = view.original(place);
        result.push_str(&text[done..region.start]);
        let piece = edit.fitted(strategy, view.folded(), place, &text[region.clone()])?;
        result.push_str(&view.with_ends(&piece, &text[region.clone()], new));
        done = region.end;
    }
    result.push_str(&text[done..]);
    Ok(Replaced { text: result, strategy, count: places.len() })
}

/// The places one rule alone finds, as byte ranges of `text`, from front to back and apart from each other.
///
/// Line ends are compared as they are; the last rule gives the best place only.
pub fn find(strategy: Strategy, text: &str, old: &str) -> Result<Vec<Range<usize>>, ReplaceError> {
    let lines = LineIndex::new(text);
    search::search(strategy, text, &lines, old)
}

fn first_found(text: &str, old: &str) -> Result<(Strategy, Vec<Range<usize>>), ReplaceError> {
    let exact = search::exact(text, old);
    if !exact.is_empty() {
        return Ok((Strategy::Exact, exact));
    }
    let lines = LineIndex::new(text);
    for strategy in Strategy::ALL.into_iter().skip(1) {
        let places = search::search(strategy, text, &lines, old)?;
        if !places.is_empty() {
            return Ok((strategy, places));
        }
    }
    Err(ReplaceError::NotFound { similar: similar::did_you_mean(&lines.texts(text), old) })
}

/// An edit that turns one kind of line end into another is taken literally.
fn only_line_ends(text: &str, old: &str, new: &str, which: Occurrences) -> Result<Replaced, ReplaceError> {
    let places = search::exact(text, old);
    match (places.len(), which) {
        (0, _) => Err(ReplaceError::NotFound { similar: Vec::new() }),
        (2.., Occurrences::Only) => {
            Err(ReplaceError::Several { strategy: Strategy::Exact, lines: line_numbers(text, &places) })
        }
        (count, _) => Ok(Replaced { text: text.replace(old, new), strategy: Strategy::Exact, count }),
    }
}

fn line_numbers(text: &str, places: &[Range<usize>]) -> Vec<usize> {
    let (mut line, mut at) = (1, 0);
    places
        .iter()
        .map(|place| {
            line += text[at..place.start].matches('\n').count();
            at = place.start;
            line
        })
        .collect()
}
