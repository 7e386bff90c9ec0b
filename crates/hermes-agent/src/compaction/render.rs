//! The middle of a conversation as a transcript for the one who summarises it.

use std::fmt::Write as _;

use hermes_guard::{Policy, Redactor};
use hermes_model::{Content, Message, Part, ToolStatus};

use super::plan::Plan;

/// How much of a text is shown: its beginning and its end, in characters.
#[derive(Debug, Clone, Copy)]
struct Clip {
    head: usize,
    tail: usize,
}

const MESSAGE: Clip = Clip { head: 4_000, tail: 1_500 };
const ARGUMENTS: Clip = Clip { head: 1_200, tail: 0 };
/// When even short forms do not fit.
const TIGHT: Clip = Clip { head: 400, tail: 100 };

/// The transcript, in at most `limit` bytes. What does not fit is shown in its short form, then clipped hard, then left
/// out, the oldest first; each step only as far as it is needed.
pub(super) fn transcript(plan: &Plan<'_>, redactor: &Redactor, limit: u64) -> String {
    let whole = |place: &usize| render(&plan.history[*place].message, redactor, MESSAGE);
    let mut items: Vec<String> = plan.middle.iter().map(whole).collect();
    shrink(&mut items, limit, |index| {
        plan.pruned.get(&plan.middle[index]).map(|shorter| render(shorter, redactor, MESSAGE))
    });
    shrink(&mut items, limit, |index| {
        Some(render(&plan.history[plan.middle[index]].message, redactor, TIGHT))
    });
    let left_out = drop_oldest(&mut items, limit);
    let mut text = String::new();
    if left_out > 0 {
        let _ = writeln!(text, "[{left_out} older messages are not shown]\n");
    }
    text.push_str(&items.join("\n\n"));
    text
}

fn shrink(items: &mut [String], limit: u64, shorter: impl Fn(usize) -> Option<String>) {
    let mut total = bytes(items);
    for (index, item) in items.iter_mut().enumerate() {
        if total <= limit {
            return;
        }
        if let Some(shorter) = shorter(index).filter(|shorter| shorter.len() < item.len()) {
            total -= (item.len() - shorter.len()) as u64;
            *item = shorter;
        }
    }
}

fn drop_oldest(items: &mut Vec<String>, limit: u64) -> usize {
    let mut total = bytes(items);
    let fits = |item: &String| {
        let fits = total <= limit;
        total -= item.len() as u64 + 2;
        fits
    };
    let kept_from = items.iter().position(fits).unwrap_or(items.len());
    items.drain(..kept_from).count()
}

fn bytes(items: &[String]) -> u64 {
    items.iter().map(|item| item.len() as u64 + 2).sum()
}

/// One message. Secrets are masked before anything is cut: half a key is not recognised as one.
fn render(message: &Message, redactor: &Redactor, clip: Clip) -> String {
    let shown = |text: &str, clip: Clip| clipped(&redactor.redact(text, Policy::Log), clip);
    match message {
        Message::User(content) => format!("[user]\n{}", shown(&content_text(content), clip)),
        Message::Tool(result) => {
            let how = match result.status {
                ToolStatus::Ok => "result",
                ToolStatus::Failed => "failed",
            };
            format!("[{how} of {}]\n{}", result.name, shown(&content_text(&result.content), clip))
        }
        Message::Assistant(parts) => {
            let mut text = String::from("[assistant]");
            for part in parts {
                let _ = match part {
                    Part::Text(words) => write!(text, "\n{}", shown(words, clip)),
                    Part::Call(call) => {
                        let most = Clip { head: ARGUMENTS.head.min(clip.head), ..ARGUMENTS };
                        write!(text, "\n[calls {}] {}", call.name, shown(&call.arguments, most))
                    }
                    Part::Reasoning(_) => Ok(()),
                };
            }
            text
        }
    }
}

fn content_text(content: &[Content]) -> String {
    let shown = |item: &Content| match item {
        Content::Text(text) => text.clone(),
        Content::Image(_) => "[picture]".to_owned(),
    };
    content.iter().map(shown).collect::<Vec<_>>().join("\n")
}

fn clipped(text: &str, clip: Clip) -> String {
    let chars = text.chars().count();
    if chars <= clip.head + clip.tail {
        return text.to_owned();
    }
    let head: String = text.chars().take(clip.head).collect();
    let tail: String = text.chars().skip(chars - clip.tail).collect();
    format!("{head}\n[… {} characters …]\n{tail}", chars - clip.head - clip.tail)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use crate::compaction::testing::{conversation, long_conversation};
    use crate::compaction::{Estimator, Keep, Limits, plan};

    const LIMITS: fn() -> Limits = || Limits {
        protect_first: 0,
        protect_last: 0,
        tail_tokens: 100,
        window: 200_000,
        keep: Keep::Exchanges(0),
        estimator: Estimator::default(),
    };

    #[test]
    fn it_fits_whatever_the_limit() {
        let history = long_conversation(40);
        let plan = plan(&history, &LIMITS()).unwrap();
        let redactor = Redactor::disabled();
        let whole = transcript(&plan, &redactor, u64::MAX);
        assert!(
            whole.contains("[user]\nquestion 0") && whole.contains("[calls terminal] {\"command\":\"make\"}")
        );
        for limit in [100_000, 30_000, 8_000, 1_000, 0] {
            let text = transcript(&plan, &redactor, limit);
            assert!(text.len() as u64 <= limit + 60, "{} bytes for {limit}", text.len());
        }
        let tight = transcript(&plan, &redactor, 1_000);
        assert!(tight.contains("answer 39") && tight.contains("older messages are not shown"), "{tight}");
    }

    #[test]
    fn secrets_are_masked_before_texts_are_cut() {
        let key = format!("sk-proj-{}", "a1B2c3D4".repeat(6));
        let text = format!("{}{key} end", " ".repeat(MESSAGE.head - 20));
        let history =
            conversation(vec![Message::user(text.clone() + &"z".repeat(4_000)), Message::user("last")]);
        let plan = plan(&history, &LIMITS()).unwrap();
        let shown = transcript(&plan, &Redactor::new([]), u64::MAX);
        assert!(!shown.contains(&key[..20]), "{shown}");
    }
}
