//! Asks the person at the terminal with plain lines, where there is no chat to ask through.

use hermes_tools::gate::Waiting;
use hermes_tools::{Answerer, Question, Reply};

use crate::ui;

/// Asks on the terminal. Enter alone is no answer; an end of input is nobody.
pub struct LineAnswerer;

impl Answerer for LineAnswerer {
    fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply> {
        let question = question.clone();
        Box::pin(async move {
            let asked = tokio::task::spawn_blocking(move || ask(&question)).await;
            asked.unwrap_or(Reply::Nobody)
        })
    }
}

fn ask(question: &Question) -> Reply {
    if !question.subject.is_empty() {
        ui::note(&format!("\n  {}", ui::harmless(&question.subject).replace('\n', "\n  ")));
    }
    ui::note(&question.text);
    for (place, choice) in question.choices.iter().enumerate() {
        ui::note(&format!("  {}) {choice}", place + 1));
    }
    loop {
        let Ok(line) = ui::ask("> ") else { return Reply::Nobody };
        if line.is_empty() {
            return Reply::Nobody;
        }
        if let Some(reply) = read(line.trim(), question.choices.len()) {
            return reply;
        }
        ui::note(&match question.choices.len() {
            0 => "Type an answer; Ctrl-D leaves it unanswered.".to_owned(),
            count => format!("Type a number from 1 to {count}."),
        });
    }
}

/// What a line means; nothing if it has to be asked again.
fn read(line: &str, choices: usize) -> Option<Reply> {
    if choices == 0 {
        return (!line.is_empty()).then(|| Reply::Text(line.to_owned()));
    }
    let number: usize = line.parse().ok()?;
    (1..=choices).contains(&number).then(|| Reply::Choice(number - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enter_alone_is_no_answer() {
        assert_eq!(read("", 3), None);
        assert_eq!(read("", 0), None);
        assert_eq!(read("2", 3), Some(Reply::Choice(1)));
        assert_eq!(read("4", 3), None);
        assert_eq!(read("yes", 3), None);
        assert_eq!(read("because", 0), Some(Reply::Text("because".into())));
    }
}
