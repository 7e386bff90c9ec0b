//! What a model proposes for a card, read from its words. What cannot be meant is refused; nothing is guessed.

use serde_json::Value;

/// A card written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// A better title, if there is one.
    pub title: Option<String>,
    /// What is to be done.
    pub body: Option<String>,
}

/// What is to become of a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Proposal {
    /// It is split.
    Split(Split),
    /// It stays one card, written out.
    Whole {
        /// How.
        draft: Draft,
        /// Who should do it.
        assignee: Option<String>,
    },
}

/// A card as several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// Why it is split this way.
    pub rationale: Option<String>,
    /// The parts; a part waits only for others of them, and never in a circle.
    pub parts: Vec<Part>,
}

/// One of the cards a card is split into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// What it is about.
    pub title: String,
    /// What is to be done.
    pub body: Option<String>,
    /// Who should do it.
    pub assignee: Option<String>,
    /// Which parts it waits for, by their place in the list.
    pub waits_for: Vec<usize>,
}

/// Why an answer is no proposal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProposal {
    /// It says nothing.
    #[error("the model gave an empty answer")]
    Empty,
    /// It holds no object that can be read.
    #[error("the model did not answer with one whole JSON object; its answer begins \"{0}\"")]
    NoObject(String),
    /// It says neither.
    #[error("the model's answer has neither parts nor a text for the card")]
    Nothing,
    /// It is split into nothing.
    #[error("the model wants to split the card and names no parts")]
    NoParts,
    /// Nobody wants that many.
    #[error("the model wants to split the card into {0} parts, and {MOST_PARTS} are the most")]
    TooMany(usize),
    /// A part is not an object with a title.
    #[error("part {0} of the model's answer has no title")]
    NoTitle(usize),
    /// Parts wait for each other.
    #[error("the parts {0} of the model's answer wait for each other in a circle")]
    Circle(String),
}

/// Most parts of a card. More is a board of its own.
pub const MOST_PARTS: usize = 40;
/// Longest title.
const TITLE: usize = 400;
/// Longest text.
const BODY: usize = 32_000;

/// Reads a card that was written out. An answer in plain words is the text itself; one that tries to be more and fails
/// is refused.
pub fn read_draft(reply: &str) -> Result<Draft, BadProposal> {
    let text = unfenced(reply);
    if text.is_empty() {
        return Err(BadProposal::Empty);
    }
    let Some(object) = object(text) else {
        if text.starts_with(['{', '[']) {
            return Err(BadProposal::NoObject(beginning(text)));
        }
        return Ok(Draft { title: None, body: Some(cut(text, BODY)) });
    };
    draft(&object).ok_or(BadProposal::Nothing)
}

/// Reads what is to become of a card.
pub fn read(reply: &str) -> Result<Proposal, BadProposal> {
    let text = unfenced(reply);
    if text.is_empty() {
        return Err(BadProposal::Empty);
    }
    let object = object(text).ok_or_else(|| BadProposal::NoObject(beginning(text)))?;
    let parts = object.get("tasks").and_then(Value::as_array).filter(|parts| !parts.is_empty());
    let wanted = object.get("fanout").and_then(Value::as_bool).unwrap_or(parts.is_some());
    if !wanted {
        let draft = draft(&object).ok_or(BadProposal::Nothing)?;
        return Ok(Proposal::Whole { draft, assignee: words(object.get("assignee"), TITLE) });
    }
    let parts = parts.ok_or(BadProposal::NoParts)?;
    if parts.len() > MOST_PARTS {
        return Err(BadProposal::TooMany(parts.len()));
    }
    let parts: Vec<Part> =
        parts.iter().enumerate().map(|(at, value)| part(value, at, parts.len())).collect::<Result<_, _>>()?;
    without_circle(&parts)?;
    Ok(Proposal::Split(Split { rationale: words(object.get("rationale"), BODY), parts }))
}

fn part(value: &Value, at: usize, of: usize) -> Result<Part, BadProposal> {
    let title = words(value.get("title"), TITLE).ok_or(BadProposal::NoTitle(at))?;
    let mut waits_for: Vec<usize> = Vec::new();
    // What points nowhere, or at the part itself, says nothing.
    for index in value.get("parents").and_then(Value::as_array).into_iter().flatten().filter_map(index) {
        if index < of && index != at && !waits_for.contains(&index) {
            waits_for.push(index);
        }
    }
    Ok(Part {
        title: one_line(&title),
        body: words(value.get("body"), BODY),
        assignee: words(value.get("assignee"), TITLE),
        waits_for,
    })
}

fn index(value: &Value) -> Option<usize> {
    let number = value.as_u64().or_else(|| value.as_str()?.trim().parse().ok())?;
    usize::try_from(number).ok()
}

/// Takes away what waits for nothing, again and again; whatever is left waits in a circle.
fn without_circle(parts: &[Part]) -> Result<(), BadProposal> {
    let mut left: Vec<usize> = (0..parts.len()).collect();
    loop {
        let waits = |at: &usize| parts[*at].waits_for.iter().any(|other| left.contains(other));
        let rest: Vec<usize> = left.iter().copied().filter(|at| waits(at)).collect();
        if rest.is_empty() {
            return Ok(());
        }
        if rest.len() == left.len() {
            let names: Vec<String> = rest.iter().map(ToString::to_string).collect();
            return Err(BadProposal::Circle(names.join(", ")));
        }
        left = rest;
    }
}

fn draft(object: &serde_json::Map<String, Value>) -> Option<Draft> {
    let title = words(object.get("title"), TITLE).map(|title| one_line(&title));
    let body = words(object.get("body"), BODY);
    (title.is_some() || body.is_some()).then_some(Draft { title, body })
}

/// The first whole object in a text that has more around it.
fn object(text: &str) -> Option<serde_json::Map<String, Value>> {
    text.match_indices('{').find_map(|(at, _)| {
        let mut values = serde_json::Deserializer::from_str(&text[at..]).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(map))) if !map.is_empty() => Some(map),
            _ => None,
        }
    })
}

/// The answer without marks of code around it.
fn unfenced(reply: &str) -> &str {
    let text = reply.trim();
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.split_once('\n').map_or(inside, |(_, rest)| rest);
    inside.strip_suffix("```").unwrap_or(inside).trim()
}

fn words(value: Option<&Value>, longest: usize) -> Option<String> {
    let text = value?.as_str()?.trim();
    (!text.is_empty()).then(|| cut(text, longest))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, longest: usize) -> String {
    text.chars().take(longest).collect()
}

fn beginning(text: &str) -> String {
    one_line(&cut(text, 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(reply: &str) -> Vec<Part> {
        match read(reply) {
            Ok(Proposal::Split(split)) => split.parts,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_split_is_read_wherever_it_stands() {
        let bare = r#"{"fanout": true, "rationale": "two", "tasks": [{"title": " A\n b ", "body": "do", "assignee": "Alpha"}, {"title": "B", "parents": [0]}]}"#;
        for reply in [
            bare.to_owned(),
            format!("```json\n{bare}\n```"),
            format!("Here it is: {{}} {bare} Good luck {{"),
        ] {
            let parts = split(&reply);
            assert_eq!(parts.len(), 2, "{reply}");
            assert_eq!(parts[0].title, "A b");
            assert_eq!(parts[0].assignee.as_deref(), Some("Alpha"));
            assert_eq!(parts[1].waits_for, [0]);
        }
        assert_eq!(split(r#"{"tasks": [{"title": "A"}]}"#).len(), 1, "parts speak for themselves");
    }

    #[test]
    fn what_points_nowhere_is_dropped() {
        let reply = r#"{"fanout": true, "tasks": [
            {"title": "A", "parents": [0, 7, -1, "x", null, 1.5, {}]}, {"title": "B", "parents": ["0", 0, 1]}, {"title": "C", "parents": "0"}]}"#;
        let waits: Vec<Vec<usize>> = split(reply).into_iter().map(|part| part.waits_for).collect();
        assert_eq!(waits, [vec![], vec![0], vec![]]);
    }

    #[test]
    fn circles_are_refused() {
        let reply = r#"{"tasks": [{"title": "A", "parents": [2]}, {"title": "B", "parents": [0]}, {"title": "C", "parents": [1]}, {"title": "D"}]}"#;
        assert_eq!(read(reply), Err(BadProposal::Circle("0, 1, 2".to_owned())));
        let diamond = r#"{"tasks": [{"title": "A"}, {"title": "B", "parents": [0]}, {"title": "C", "parents": [0]}, {"title": "D", "parents": [1, 2]}]}"#;
        assert_eq!(split(diamond).len(), 4);
    }

    #[test]
    fn one_card_stays_one() {
        let reply =
            r#"{"fanout": false, "title": "T", "body": "B", "assignee": "x", "tasks": [{"title": "no"}]}"#;
        let draft = Draft { title: Some("T".to_owned()), body: Some("B".to_owned()) };
        assert_eq!(read(reply), Ok(Proposal::Whole { draft, assignee: Some("x".to_owned()) }));
    }

    #[test]
    fn bad_answers_are_refused() {
        for (reply, why) in [
            (" \n", BadProposal::Empty),
            ("``` \n```", BadProposal::Empty),
            ("I would rather not.", BadProposal::NoObject("I would rather not.".to_owned())),
            ("{\"fanout\": true, \"tas", BadProposal::NoObject("{\"fanout\": true, \"tas".to_owned())),
            ("[1, 2]", BadProposal::NoObject("[1, 2]".to_owned())),
            (r#"{"fanout": true}"#, BadProposal::NoParts),
            (r#"{"fanout": true, "tasks": []}"#, BadProposal::NoParts),
            (r#"{"fanout": true, "tasks": "many"}"#, BadProposal::NoParts),
            (r#"{"fanout": false}"#, BadProposal::Nothing),
            (r#"{"fanout": false, "title": " ", "body": 4}"#, BadProposal::Nothing),
            (r#"{"tasks": [{"title": "A"}, {"title": "  "}]}"#, BadProposal::NoTitle(1)),
            (r#"{"tasks": ["A"]}"#, BadProposal::NoTitle(0)),
        ] {
            assert_eq!(read(reply), Err(why), "{reply}");
        }
        let many = serde_json::json!({ "tasks": vec![serde_json::json!({ "title": "A" }); MOST_PARTS + 1] });
        assert_eq!(read(&many.to_string()), Err(BadProposal::TooMany(MOST_PARTS + 1)));
    }

    #[test]
    fn plain_words_are_the_text_of_a_draft() {
        let draft = |title: Option<&str>, body: Option<&str>| {
            Ok(Draft { title: title.map(str::to_owned), body: body.map(str::to_owned) })
        };
        assert_eq!(read_draft("Do this.\nThen that."), draft(None, Some("Do this.\nThen that.")));
        assert_eq!(read_draft("```json\n{\"title\": \"T\"}\n```"), draft(Some("T"), None));
        assert_eq!(read_draft("{\"title\": \"T\", \"body\": \"B\"}"), draft(Some("T"), Some("B")));
        assert_eq!(read_draft(""), Err(BadProposal::Empty));
        assert_eq!(read_draft("{\"title\": "), Err(BadProposal::NoObject("{\"title\":".to_owned())));
        assert_eq!(read_draft("{\"other\": 1}"), Err(BadProposal::Nothing));
    }
}
