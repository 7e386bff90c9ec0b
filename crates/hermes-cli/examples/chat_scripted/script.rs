//! A conversation played from a script: what the user writes decides what is played.

use std::thread;
use std::time::{Duration, Instant};

use hermes_agent::event::{CallStatus, Level};
use hermes_agent::{AgentEvent, Control, Outcome, Spending, TurnReport};
use hermes_cli::chat::{
    Approvals, Choice, CommandOutcome, Conversation, Events, Exchange, Link, Request, StatusFacts, UserInput,
};
use hermes_tools::gate::{Answerer, Offer, Question, Reply, Words};
use serde_json::json;

fn first_facts() -> StatusFacts {
    StatusFacts {
        model: "scripted/not-a-real-model".into(),
        provider: "scripted".into(),
        session_id: "20260102_030405_abcdef".into(),
        window: Some(200_000),
        ..StatusFacts::default()
    }
}

/// How fast it is played.
#[derive(Clone, Copy)]
pub enum Speed {
    /// As models and tools are.
    #[allow(dead_code, reason = "tests have no time for it")]
    Real,
    /// Without pauses.
    Fast,
}

/// The conversation.
pub struct Scripted {
    link: Link,
    speed: Speed,
    facts: StatusFacts,
    last: UserInput,
}

impl Scripted {
    /// A new one; questions go through the link.
    pub fn new(link: Link, speed: Speed) -> Self {
        Self { link, speed, facts: first_facts(), last: UserInput::default() }
    }
}

impl Conversation for Scripted {
    fn start_turn(&mut self, input: UserInput, events: Events) -> Control {
        self.facts.messages += 2;
        self.facts.context += 1200;
        self.facts.spent.input += 1000;
        self.facts.spent.output += 200;
        self.facts.spent.micro_dollars += 4200;
        self.last = input.clone();
        let control = Control::new();
        let player = Player {
            control: control.clone(),
            events,
            link: self.link.clone(),
            speed: self.speed,
            started: Instant::now(),
            context: self.facts.context,
            tool_calls: 0,
            text: String::new(),
        };
        thread::spawn(move || player.play(&input));
        control
    }

    fn status(&self) -> StatusFacts {
        self.facts.clone()
    }

    fn command(&mut self, request: Request, events: Events) -> CommandOutcome {
        match request {
            Request::Retry => CommandOutcome::Started(self.start_turn(self.last.clone(), events)),
            Request::Undo { turns } => CommandOutcome::TakenBack {
                said: format!("Took back {turns} of your messages."),
                text: self.last.text.clone(),
            },
            Request::Model { wanted: Some(name) } => {
                self.facts.model.clone_from(&name);
                CommandOutcome::Said(format!("The model is `{name}` now."))
            }
            Request::Model { wanted: None } => CommandOutcome::Choose {
                title: "Model".into(),
                choices: self.suggest("model").into_iter().map(model_choice).collect(),
            },
            Request::Yolo => {
                self.facts.approvals = match self.facts.approvals {
                    Approvals::Asked => Approvals::Skipped,
                    Approvals::Skipped => Approvals::Asked,
                };
                CommandOutcome::Said("Approvals are switched.".into())
            }
            Request::Title { title: Some(title) } => {
                self.facts.title = Some(title);
                CommandOutcome::Said("It has a title now.".into())
            }
            Request::Resume { .. } => CommandOutcome::Switched {
                said: "Resumed.".into(),
                recent: vec![Exchange { user: "An old question".into(), answer: "An *old* answer.".into() }],
            },
            Request::New { .. } => {
                self.facts = first_facts();
                CommandOutcome::Said("A new session.".into())
            }
            other => CommandOutcome::Said(format!("The script has nothing for `{other:?}`.")),
        }
    }

    fn suggest(&self, command: &str) -> Vec<String> {
        let names =
            if command == "model" { &["small-model", "large-model", "thinking-model"][..] } else { &[] };
        names.iter().map(|n| (*n).to_owned()).collect()
    }
}

fn model_choice(name: String) -> Choice {
    Choice { label: name.clone(), detail: "scripted".into(), request: Request::Model { wanted: Some(name) } }
}

/// Plays one turn.
struct Player {
    control: Control,
    events: Events,
    link: Link,
    speed: Speed,
    started: Instant,
    context: u64,
    tool_calls: u32,
    text: String,
}

/// The user interrupted.
struct Interrupted;

impl Player {
    fn play(mut self, input: &UserInput) {
        self.events.send(AgentEvent::TurnStarted { session_id: "s".into() });
        let (outcome, error) = match self.scenes(input) {
            Ok(ended) => ended,
            Err(Interrupted) => (Outcome::Interrupted, None),
        };
        let spending =
            Spending { calls: 1, input: 1000, output: 200, micro_dollars: 4200, ..Spending::default() };
        self.events.send(AgentEvent::Usage { turn: spending, context: self.context, window: Some(200_000) });
        let report = TurnReport {
            session_id: "s".into(),
            outcome,
            text: self.text.clone(),
            error,
            cause: None,
            provider: "scripted".into(),
            model: "m".into(),
            spending,
            tool_calls: self.tool_calls,
            elapsed_ms: self.started.elapsed().as_millis() as u64,
            left_over: self.control.take_guidance(),
        };
        self.events.send(AgentEvent::TurnEnded { report });
    }

    fn scenes(&mut self, input: &UserInput) -> Result<(Outcome, Option<String>), Interrupted> {
        self.events.send(AgentEvent::Asking {
            provider: "scripted".into(),
            model: "m".into(),
            call: 1,
            of: 90,
        });
        self.pause(300)?;
        match input.text.split_whitespace().next().unwrap_or_default() {
            "work" => self.work()?,
            "ask" => self.ask(&["Allow once", "Allow for this session", "Refuse"])?,
            "clarify" => self.ask(&[])?,
            "table" => self.say(DOCUMENT)?,
            "fail" => {
                return Ok((
                    Outcome::Failed,
                    Some("the provider refused the key; `hermes model` sets another".into()),
                ));
            }
            "wait" => loop {
                self.pause(50)?;
            },
            _ => self.say(&format!("You said: *{}* ({} images)\n", input.text, input.images.len()))?,
        }
        Ok((Outcome::Completed, None))
    }

    fn work(&mut self) -> Result<(), Interrupted> {
        for piece in
            "I should look at the files first, then run the tests and see what breaks.".split_inclusive(' ')
        {
            self.events.send(AgentEvent::Reasoning { delta: piece.into() });
            self.pause(30)?;
        }
        self.say("Let me look at the project first.\n")?;
        self.tool("1", "read_file", "src/main.rs", &[], CallStatus::Ok, "fn main() {}")?;
        let output: Vec<String> = (1..=12).map(|i| format!("test parser::case_{i} ... ok\n")).collect();
        let output: Vec<&str> = output.iter().map(String::as_str).collect();
        self.tool(
            "2",
            "terminal",
            "cargo test --workspace --all-features -- --nocapture",
            &output,
            CallStatus::Ok,
            "ok",
        )?;
        let failure = r#"{"output":"Compiling demo v0.1.0\nerror[E0308]: mismatched types\n  --> src/lib.rs:10:5\n","exit_code":101}"#;
        self.tool("3", "terminal", "cargo build", &["Compiling demo v0.1.0\n"], CallStatus::Failed, failure)?;
        self.events.send(AgentEvent::Notice { level: Level::Info, text: "the sandbox was started".into() });
        if let Some(text) = self.control.take_guidance() {
            self.events.send(AgentEvent::Steered { text });
        }
        self.events.send(AgentEvent::Asking {
            provider: "scripted".into(),
            model: "m".into(),
            call: 2,
            of: 90,
        });
        self.say(DOCUMENT)
    }

    fn tool(
        &mut self,
        id: &str,
        name: &str,
        brief: &str,
        output: &[&str],
        status: CallStatus,
        result: &str,
    ) -> Result<(), Interrupted> {
        let since = Instant::now();
        self.tool_calls += 1;
        let (id, name) = (id.to_owned(), name.to_owned());
        self.events.send(AgentEvent::ToolStarted {
            id: id.clone(),
            name: name.clone(),
            brief: brief.into(),
            arguments: json!({}),
        });
        for text in output {
            self.events.send(AgentEvent::ToolOutput { id: id.clone(), text: (*text).into() });
            self.pause(150)?;
        }
        self.pause(200)?;
        let elapsed_ms = since.elapsed().as_millis() as u64;
        self.events.send(AgentEvent::ToolFinished { id, name, status, elapsed_ms, result: result.into() });
        Ok(())
    }

    fn ask(&mut self, choices: &[&str]) -> Result<(), Interrupted> {
        let question = Question {
            subject: if choices.is_empty() { String::new() } else { "rm -rf ./build && make all".into() },
            text: if choices.is_empty() {
                "Which branch should I use?".into()
            } else {
                "Run this command?".into()
            },
            choices: Offer::numbered(choices.iter().copied()),
            words: if choices.is_empty() { Words::Answer } else { Words::Refusal },
        };
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(|_| Interrupted)?;
        let token = self.control.token().clone();
        let reply = runtime.block_on(async {
            tokio::select! {
                reply = self.link.ask(&question) => Ok(reply),
                () = token.cancelled() => Err(Interrupted),
            }
        })?;
        let said = match reply {
            Reply::Choice(place) => format!("You picked number {}.\n", place + 1),
            Reply::Text(text) => format!("You wrote: {text}\n"),
            Reply::Nobody => "You did not want that, so I leave it.\n".into(),
        };
        self.say(&said)
    }

    fn say(&mut self, text: &str) -> Result<(), Interrupted> {
        for piece in text.split_inclusive([' ', '\n']) {
            self.text.push_str(piece);
            self.events.send(AgentEvent::Text { delta: piece.into() });
            self.pause(15)?;
        }
        Ok(())
    }

    fn pause(&self, milliseconds: u64) -> Result<(), Interrupted> {
        let pause = match self.speed {
            Speed::Real => milliseconds,
            Speed::Fast => milliseconds.min(50) / 50,
        };
        thread::sleep(Duration::from_millis(pause));
        if self.control.is_interrupted() { Err(Interrupted) } else { Ok(()) }
    }
}

const DOCUMENT: &str = "\
## What I found

The build fails because `parse()` returns a **borrowed** value that outlives its *owner*. Three things to do:

1. Return an owned `String` instead of `&str`
2. Change the call in `src/main.rs`, see [the book](https://doc.rust-lang.org/book/) for why
   - this is a nested point that is long enough to be wrapped on most screens, so that one sees how it hangs
3. Run the tests again

| file | lines | state |
|---|--:|---|
| src/lib.rs | 120 | broken |
| src/main.rs | 34 | fine |

```rust
fn parse(text: &str) -> String {
    // owned, so that it may leave
    text.trim().to_owned() + \"!\" // 42
}
```

> Anything else is a matter of taste.

Shall I go on?
";
