//! `clarify` with people who answer, turn away, or keep it waiting.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use hermes_tools::gate::Waiting;
use hermes_tools::{Answerer, Availability, Clarify, Question, Reply};
use serde_json::json;

use crate::fixture::Talk;

/// Gives these answers, one after the other, then none ever.
#[derive(Default)]
struct Person {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<Question>>,
}

impl Answerer for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply> {
        self.asked.lock().unwrap().push(question.clone());
        let reply = self.replies.lock().unwrap().pop_front();
        Box::pin(async move {
            match reply {
                Some(reply) => reply,
                None => std::future::pending().await,
            }
        })
    }
}

fn talk(replies: &[Reply]) -> (Talk, Arc<Person>) {
    let person =
        Arc::new(Person { replies: Mutex::new(replies.iter().cloned().collect()), ..Person::default() });
    (Talk::new(Clarify::new(Some(person.clone()))), person)
}

#[tokio::test]
async fn a_choice_or_own_words() {
    let question = json!({ "question": "Which?", "choices": ["a", "b", "c", "d", "e"] });
    let (chose, person) = talk(&[Reply::Choice(1)]);
    let answer = chose.call(question.clone()).await;
    assert_eq!(
        answer,
        json!({ "question": "Which?", "choices_offered": ["a", "b", "c", "d"], "user_response": "b" })
    );
    assert_eq!(person.asked.lock().unwrap()[0].choices.len(), 5, "own words are offered too");

    let (wrote, person) = talk(&[Reply::Choice(4), Reply::Text("neither".into())]);
    assert_eq!(wrote.call(question).await["user_response"], "neither");
    assert!(person.asked.lock().unwrap()[1].choices.is_empty());

    let (open, _) = talk(&[Reply::Text("blue".into())]);
    let answer = open.call(json!({ "question": "Which colour?" })).await;
    assert_eq!(
        answer,
        json!({ "question": "Which colour?", "choices_offered": null, "user_response": "blue" })
    );
}

#[tokio::test]
async fn nobody_there_means_decide_yourself() {
    let (gone, _) = talk(&[Reply::Nobody]);
    let answer = gone.call(json!({ "question": "Which?" })).await;
    assert!(answer["user_response"].as_str().unwrap().contains("Decide yourself"), "{answer}");
    let none = Talk::new(Clarify::new(None));
    assert!(matches!(none.tool.available(), Availability::No { .. }));
    assert!(none.call(json!({ "question": "Which?" })).await["error"].is_string());
    let (unasked, _) = talk(&[]);
    assert!(unasked.call(json!({ "question": " " })).await["error"].is_string());
}

#[tokio::test]
async fn a_question_ends_with_its_turn() {
    let (waits, person) = talk(&[]);
    let asking = waits.call(json!({ "question": "Which?" }));
    let ending = async {
        while person.asked.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        waits.cancel.cancel();
    };
    let (answer, ()) = tokio::join!(asking, ending);
    assert_eq!(answer, json!({ "status": "interrupted" }));
}
