//! What background commands and helpers have to say between turns: a queue the front door drains.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use crate::workplace::lock;

/// So many are kept when nobody takes them; the oldest go first.
const MOST: usize = 256;

/// Something a background command has to say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// The conversation that started it.
    pub session: String,
    /// The command's id, as the `process` tool takes it.
    pub process: String,
    /// The command line, cut.
    pub command: String,
    /// What happened.
    pub news: News,
}

/// What happened to a background command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum News {
    /// It is over.
    Ended {
        /// Its exit code, if it is known.
        exit_code: Option<i32>,
        /// The end of what it printed.
        output: String,
    },
    /// It went away with the place it ran in, or can no longer be seen.
    Lost {
        /// Why.
        reason: String,
    },
    /// It printed lines that were waited for.
    Matched {
        /// The lines.
        lines: Vec<String>,
        /// Further matches that were left out since the last time.
        left_out: usize,
    },
    /// Work that was handed to helpers in the background is over.
    Delegated {
        /// What came of it, as the tool gives it.
        result: String,
    },
    /// Its matches came too fast: only its end will be told.
    WatchStopped {
        /// Matches left out.
        left_out: usize,
    },
}

impl News {
    /// Whether it is over with what is spoken of. That is worth a turn of its own, which lines in between are not.
    pub fn is_the_end(&self) -> bool {
        match self {
            Self::Ended { .. } | Self::Lost { .. } | Self::Delegated { .. } => true,
            Self::Matched { .. } | Self::WatchStopped { .. } => false,
        }
    }
}

impl Notification {
    /// As the model is told.
    pub fn text(&self) -> String {
        let Self { process, command, .. } = self;
        let named = format!("Background process {process} (`{command}`)");
        match &self.news {
            News::Ended { exit_code, output } => {
                let code =
                    exit_code.map_or_else(|| "an unknown code".to_owned(), |code| format!("code {code}"));
                let printed = if output.is_empty() {
                    "It printed nothing.".to_owned()
                } else {
                    format!("The end of its output:\n{output}")
                };
                format!("{named} ended with {code}. {printed}")
            }
            News::Lost { reason } => format!("{named} is gone: {reason}."),
            News::Matched { lines, left_out } => {
                let more =
                    if *left_out > 0 { format!("\n({left_out} more were left out)") } else { String::new() };
                format!("{named} printed what you watch for:\n{}{more}", lines.join("\n"))
            }
            News::Delegated { result } => {
                format!("Delegation {process} ({command}) is over. Its result:\n{result}")
            }
            News::WatchStopped { left_out } => format!(
                "{named} matches too often ({left_out} left out): its lines are no longer reported, only its end."
            ),
        }
    }

    /// For a person: what helpers found instead of all that is on record about them.
    pub fn shown(&self) -> String {
        let News::Delegated { result } = &self.news else { return self.text() };
        let value: Value = serde_json::from_str(result).unwrap_or_default();
        let word = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().trim().to_owned();
        let entries = value["results"].as_array().cloned().unwrap_or_default();
        let lines = entries.iter().map(|entry| {
            let said =
                [word(entry, "summary"), word(entry, "error")].into_iter().find(|text| !text.is_empty());
            format!("{}: {}", word(entry, "status"), said.unwrap_or_else(|| "it said nothing".to_owned()))
        });
        let head = format!("Delegation {} ({}) is over.", self.process, self.command);
        std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
    }
}

/// The queue. Cheap to clone; all clones are one queue.
#[derive(Clone, Default)]
pub struct Notifications(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Notification>,
    /// Commands whose end the model has seen already.
    seen: HashSet<String>,
}

impl Notifications {
    /// Takes what there is for a conversation, oldest first. Ends the model has seen by itself are left out.
    pub fn drain(&self, session: &str) -> Vec<Notification> {
        self.take(|note| note.session == session)
    }

    /// Takes everything.
    pub fn drain_all(&self) -> Vec<Notification> {
        self.take(|_| true)
    }

    /// Waits until something may have come. May return early; look, then wait again.
    pub async fn changed(&self) {
        self.0.changed.notified().await;
    }

    /// Adds something.
    pub fn push(&self, notification: Notification) {
        let mut state = lock(&self.0.state);
        if state.queue.len() >= MOST {
            state.queue.pop_front();
        }
        state.queue.push_back(notification);
        drop(state);
        self.0.changed.notify_one();
    }

    /// The model knows how this ended.
    pub fn seen(&self, process: &str) {
        lock(&self.0.state).seen.insert(process.to_owned());
    }

    fn take(&self, wanted: impl Fn(&Notification) -> bool) -> Vec<Notification> {
        let mut state = lock(&self.0.state);
        let (taken, left): (Vec<_>, Vec<_>) = std::mem::take(&mut state.queue).into_iter().partition(wanted);
        state.queue = left.into();
        let known = |note: &Notification| note.news.is_the_end() && state.seen.contains(&note.process);
        taken.into_iter().filter(|note| !known(note)).collect()
    }
}

impl std::fmt::Debug for Notifications {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Notifications({})", lock(&self.0.state).queue.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(session: &str, process: &str, news: News) -> Notification {
        Notification { session: session.into(), process: process.into(), command: "make".into(), news }
    }

    fn ended() -> News {
        News::Ended { exit_code: Some(0), output: String::new() }
    }

    #[test]
    fn each_conversation_gets_its_own() {
        let notifications = Notifications::default();
        notifications.push(note("a", "proc_1", ended()));
        notifications.push(note("b", "proc_2", ended()));
        let mine = notifications.drain("a");
        assert_eq!(mine.iter().map(|n| n.process.as_str()).collect::<Vec<_>>(), ["proc_1"]);
        assert!(notifications.drain("a").is_empty());
        assert_eq!(notifications.drain_all().len(), 1);
    }

    #[test]
    fn people_read_what_helpers_found_and_models_get_all_of_it() {
        let result = r#"{"results":[{"status":"completed","summary":"It is red."},{"status":"timeout","error":"too slow"}]}"#;
        let note = note("a", "deleg_1", News::Delegated { result: result.into() });
        assert_eq!(
            note.shown(),
            "Delegation deleg_1 (make) is over.\ncompleted: It is red.\ntimeout: too slow"
        );
        assert!(note.text().contains(result));
    }

    #[test]
    fn an_end_that_was_seen_is_not_told_again() {
        let notifications = Notifications::default();
        let matched = News::Matched { lines: vec!["ready".into()], left_out: 0 };
        notifications.push(note("a", "proc_1", matched.clone()));
        notifications.push(note("a", "proc_1", ended()));
        notifications.seen("proc_1");
        let told: Vec<News> = notifications.drain("a").into_iter().map(|n| n.news).collect();
        assert_eq!(told, [matched]);
    }

    #[test]
    fn the_queue_is_bounded() {
        let notifications = Notifications::default();
        for number in 0..MOST + 5 {
            notifications.push(note("a", &format!("proc_{number}"), ended()));
        }
        let all = notifications.drain_all();
        assert_eq!((all.len(), all[0].process.as_str()), (MOST, "proc_5"));
    }
}
