//! An engine for tests that records what it is asked and answers from a script.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::cli::{Engine, EngineCommand, Request};
use super::errors::EngineError;
use crate::context::Environment;
use crate::host::call::{OnLine, Output};

type Answer = Box<dyn FnMut(&[String]) -> Output + Send>;

/// Records every call; answers by the first rule whose words all occur in the arguments.
#[derive(Default)]
pub struct FakeEngine {
    rules: Mutex<Vec<(Vec<String>, Answer)>>,
    calls: Mutex<Vec<Vec<String>>>,
    silent: Mutex<bool>,
}

impl FakeEngine {
    /// Answers calls whose arguments contain all these words.
    pub fn on(self, words: &[&str], answer: impl FnMut(&[String]) -> Output + Send + 'static) -> Self {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        self.rules.lock().unwrap().push((words, Box::new(answer)));
        self
    }

    /// Answers with this text and exit code 0.
    pub fn say(self, words: &[&str], stdout: &str) -> Self {
        let stdout = stdout.as_bytes().to_vec();
        self.on(words, move |_| Output { code: 0, stdout: stdout.clone(), stderr: String::new() })
    }

    /// Answers with these texts, one after the other; the last one stays.
    pub fn say_in_turn(self, words: &[&str], texts: &[&str]) -> Self {
        let mut texts: VecDeque<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        self.on(words, move |_| {
            let text = if texts.len() > 1 { texts.pop_front().unwrap() } else { texts[0].clone() };
            Output { code: 0, stdout: text.into_bytes(), stderr: String::new() }
        })
    }

    /// Refuses with this exit code and message.
    pub fn refuse(self, words: &[&str], code: i32, stderr: &str) -> Self {
        let stderr = stderr.to_owned();
        self.on(words, move |_| Output { code, stdout: Vec::new(), stderr: stderr.clone() })
    }

    /// From now on nothing is answered in time.
    pub fn wedge(&self) {
        *self.silent.lock().unwrap() = true;
    }

    /// What it was asked, in order.
    pub fn calls(&self) -> Vec<Vec<String>> {
        self.calls.lock().unwrap().clone()
    }

    /// The first words of what it was asked.
    pub fn verbs(&self) -> Vec<String> {
        self.calls().iter().map(|args| args[0].clone()).collect()
    }
}

impl Engine for FakeEngine {
    fn ask(&self, request: &Request<'_>, _on_line: Option<OnLine<'_>>) -> Result<Output, EngineError> {
        self.calls.lock().unwrap().push(request.args.clone());
        if *self.silent.lock().unwrap() {
            return Err(EngineError::TimedOut {
                program: "docker".into(),
                doing: request.doing.into(),
                after: request.deadline,
            });
        }
        let mut rules = self.rules.lock().unwrap();
        let rule = rules.iter_mut().find(|(words, _)| words.iter().all(|word| request.args.contains(word)));
        match rule {
            Some((_, answer)) => Ok(answer(&request.args)),
            None => Ok(Output { code: 0, ..Output::default() }),
        }
    }

    fn command(&self) -> EngineCommand {
        EngineCommand { program: "docker".into(), env: Environment::default() }
    }
}
