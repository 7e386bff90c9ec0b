//! What happens on the board, as a story: a line for everything that matters, and nothing for the rest.

use std::collections::HashMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use hermes_board::query::{Filter, Sort};
use hermes_board::rows::Happened;
use hermes_board::{Board, BoardError, Card, CardId};
use serde_json::Value;

use crate::ui;

/// See the module.
pub struct Story {
    began: Instant,
    colours: bool,
    cards: HashMap<CardId, Card>,
}

/// Says something.
pub fn say(text: &str) -> anyhow::Result<()> {
    Ok(ui::print(text)?)
}

/// Most events told at once.
const AT_ONCE: usize = 200;

impl Story {
    /// A story that begins now.
    pub fn new() -> Self {
        let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { began: Instant::now(), colours, cards: HashMap::new() }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }

    /// A card and its parts.
    pub fn tree(&mut self, board: &mut Board, root: &CardId) -> anyhow::Result<()> {
        let mut text = String::new();
        for id in board.details(root)?.parents {
            let details = board.details(&id)?;
            let waits: Vec<&str> = details.parents.iter().map(CardId::as_str).collect();
            let waits =
                if waits.is_empty() { String::new() } else { format!("  after {}", waits.join(", ")) };
            let who = details.card.assignee.as_deref().unwrap_or("nobody");
            text.push_str("  ");
            text.push_str(&self.paint("36", id.as_str()));
            text.push_str(&format_row(who, &details.card.title, &waits));
        }
        text.push_str("  ");
        text.push_str(&self.paint("36", root.as_str()));
        text.push_str(&format_row("default", "puts the parts together", "  after all of them"));
        say(&text)
    }

    /// Tells what happened since; gives the number of the last event.
    pub fn tell(&mut self, board: &mut Board, after: i64) -> anyhow::Result<i64> {
        let mut last = after;
        for event in board.events_after(after, None, AT_ONCE)? {
            last = last.max(event.id);
            self.learn(board, &event.task_id)?;
            if let Some((colour, line)) = self.line(&event) {
                let at = format!("{:>5.1}s", self.began.elapsed().as_secs_f64());
                let (at, id) = (self.paint("2", &at), self.paint("36", event.task_id.as_str()));
                say(&format!("{at}  {id}  {}", self.paint(colour, &line)))?;
            }
        }
        Ok(last)
    }

    fn learn(&mut self, board: &mut Board, id: &CardId) -> Result<(), BoardError> {
        if !self.cards.contains_key(id) {
            self.cards.insert(id.clone(), board.card(id)?);
        }
        Ok(())
    }

    /// An event as a line, if it matters.
    fn line(&self, event: &Happened) -> Option<(&'static str, String)> {
        let card = self.cards.get(&event.task_id)?;
        let who = card.assignee.as_deref().unwrap_or("nobody");
        let title = &card.title;
        let said = |key: &str| -> Option<&str> { event.payload.as_ref()?.get(key).and_then(Value::as_str) };
        Some(match event.kind.as_str() {
            "claimed" if said("source_status") == Some("review") => {
                ("35", format!("the reviewer looks at \"{title}\""))
            }
            "claimed" => ("33", format!("{who} begins \"{title}\"")),
            "check_pending" => ("2", "the acceptance command runs".to_owned()),
            "check_passed" => ("2", "the acceptance command succeeded".to_owned()),
            "status" if said("status") == Some("review") => {
                ("35", format!("{who} is done; somebody else looks at it first"))
            }
            "status" if said("status") == Some("ready") => ("31", "it goes back to its author".to_owned()),
            "blocked" => ("31", format!("blocked: {}", said("reason").unwrap_or("no reason given"))),
            "commented" => ("2", format!("{} says something about it", said("author").unwrap_or("somebody"))),
            "completed" => ("32", format!("done: {}", said("summary").unwrap_or(title))),
            "crashed" | "gave_up" | "timed_out" | "spawn_failed" | "protocol_violation" | "stale" => {
                ("31", format!("{}: {}", event.kind, said("error").unwrap_or("")))
            }
            _ => return None,
        })
    }
}

/// How it ended.
pub fn end(
    board: &mut Board,
    checked: &Result<String, String>,
    finished: bool,
    took: Duration,
) -> anyhow::Result<()> {
    let cards = board.list(&Filter::default(), Sort::default())?;
    let mut attempts = 0;
    let mut tokens = 0;
    for card in &cards {
        attempts += board.details(&card.id)?.attempts.len();
        tokens += board.usage(&card.id)?.tokens();
    }
    let facts = format!(
        "{}, {}, {tokens} tokens, {:.1} s.",
        ui::count(cards.len() as u64, "card"),
        ui::count(attempts as u64, "attempt"),
        took.as_secs_f64()
    );
    if !finished {
        say("\nThe project was not finished in time.")?;
    }
    match checked {
        Ok(found) => say(&format!("\nChecked without the agents: {found}.\n{facts}"))?,
        Err(problem) => say(&format!("\nThe check failed: {problem}.\n{facts}"))?,
    }
    say("\nNext:\n  hermes kanban create 'TITLE' --triage    write an idea down\n  \
         hermes kanban decompose CARD             let a model split it\n  \
         hermes kanban resume                     let the board's cards be started\n  \
         hermes kanban daemon                     start the dispatcher\n")
}

fn format_row(who: &str, title: &str, rest: &str) -> String {
    format!("  {who:<8} {title}{rest}\n")
}
