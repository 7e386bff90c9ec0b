//! A title for a conversation, made by the model after the first exchange.

use hermes_model::budget::{Purpose, Scope};
use hermes_model::{Ask, CacheMarks, Message, Request};
use tokio_util::sync::CancellationToken;

use crate::agent::Agent;
use crate::journal::Used;

/// What side work is called in the records.
const TASK: &str = "title_generation";
/// Characters of the question and of the answer the model gets to see.
const SEEN: usize = 500;
/// Most characters of a title.
const LONGEST: usize = 80;

const INSTRUCTIONS: &str = "Give this conversation a title of three to seven words, in the language of the user. \
     Name the matter, not the act of asking. Answer with the title alone: no quotes, no full stop.";

impl Agent {
    /// Asks for a title, once there is an exchange to name. Nothing when it cannot be had: a title is never worth an
    /// error.
    pub async fn suggest_title(&mut self, cancel: &CancellationToken) -> Option<String> {
        let (question, answer) = self.first_exchange()?;
        let text = format!("User: {question}\n\nAssistant: {answer}");
        let text = self.redactor.redact(&text, hermes_guard::Policy::Log).into_owned();
        let now = (self.clock)();
        let scope = Scope {
            turn: format!("{}/title", self.session_id()),
            session: self.session_id().to_owned(),
            day: now.date(),
            purpose: Purpose::Auxiliary(TASK.to_owned()),
        };
        let caller = self.side.titles.as_mut().unwrap_or(&mut self.caller);
        let mut request = Request::new(String::new());
        INSTRUCTIONS.clone_into(&mut request.system);
        request.messages = vec![Message::user(text)];
        request.max_tokens = Some(500);
        request.temperature = Some(0.3);
        request.cache = CacheMarks::Off;
        let ask = Ask { request: &request, scope: &scope, shortened: 0 };
        let answered = caller.call(ask, cancel, &mut |_| {}).await.ok()?;
        let used = Used {
            provider: &answered.provider,
            base_url: "",
            model: &answered.model,
            usage: answered.answer.usage,
            cost: answered.cost,
            side_task: Some(TASK),
        };
        if let Err(error) = self.journal.add_usage(&used) {
            tracing::warn!(%error, "the usage of a title is not recorded");
        }
        clean(&answered.answer.text())
    }

    fn first_exchange(&self) -> Option<(String, String)> {
        let cut = |text: String| text.chars().take(SEEN).collect::<String>();
        let mut messages = self.history.messages();
        let question = messages.find(|message| matches!(message, Message::User(_)))?.text();
        let answer =
            messages.find(|m| matches!(m, Message::Assistant(_)) && !m.text().trim().is_empty())?.text();
        Some((cut(question), cut(answer)))
    }
}

/// A title out of what the model said: one line, without quotes and labels.
fn clean(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.strip_prefix("Title:").unwrap_or(line).trim();
    let line =
        line.trim_matches(|c: char| matches!(c, '"' | '\'' | '`' | '*' | '#' | '“' | '”' | '„')).trim();
    let title: String = line.trim_end_matches('.').chars().take(LONGEST).collect();
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_one_plain_line() {
        assert_eq!(clean("\n\"Fix the login page.\"\nBecause…").as_deref(), Some("Fix the login page"));
        assert_eq!(clean("Title: **Logs**").as_deref(), Some("Logs"));
        assert_eq!(clean(" \n"), None);
        assert_eq!(clean(&"x".repeat(200)).map(|title| title.len()), Some(LONGEST));
    }
}
