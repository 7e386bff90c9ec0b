//! Asks the person at the terminal with plain lines, where there is no chat to ask through.

use hermes_tools::gate::Waiting;
use hermes_tools::{Answerer, Question, Reply, Words};

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
    ui::note(&ui::harmless(&question.text));
    for offer in &question.choices {
        ui::note(&format!("  {}) {}", offer.key, ui::harmless(&offer.text)));
    }
    loop {
        let Ok(line) = ui::ask("> ") else { return Reply::Nobody };
        if line.is_empty() {
            return Reply::Nobody;
        }
        if let Some(reply) = question.read(&line) {
            return reply;
        }
        ui::note(&again(question));
    }
}

/// What is said to a line that means nothing.
fn again(question: &Question) -> String {
    if question.choices.is_empty() {
        return "Type an answer; Ctrl-D leaves it unanswered.".to_owned();
    }
    let keys: Vec<String> = question.choices.iter().map(|offer| offer.key.to_string()).collect();
    let words = match question.words {
        Words::Answer => "or your own words",
        Words::Refusal => "or words to refuse it",
    };
    format!("Type {}, {words}; Ctrl-D leaves it unanswered.", keys.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_tools::gate::Offer;

    #[test]
    fn a_line_that_means_nothing_is_asked_again_with_what_can_be_typed() {
        let choices = vec![Offer::new('1', "Once"), Offer::new('0', "No")];
        let question =
            Question { subject: String::new(), text: "Run?".into(), choices, words: Words::Refusal };
        assert_eq!(question.read("yes"), None);
        assert!(again(&question).starts_with("Type 1, 0, or words"), "{}", again(&question));
    }
}
