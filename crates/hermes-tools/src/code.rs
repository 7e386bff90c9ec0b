//! The `execute_code` tool: a Python script in the conversation's place that can call other tools.
//!
//! A launcher (`code/launcher.py`) runs in the box as one command. It starts the script, and passes what it prints and
//! the calls it makes over its own streams. Each call has a number, is made once and answered once; nothing is polled
//! and nothing is repeated.

mod frames;
mod launch;
mod offer;
mod outcome;
mod remains;
mod rules;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, mpsc};
use std::task::Poll;
use std::time::Instant;

use hermes_model::{Content, ToolSpec};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::gate::{Action, Verdict};
use crate::thread;
use crate::tool::{Arguments, Report, Run, Running, Tool, ToolOutput};
use crate::workplace::Workplace;
use frames::{Said, Wanted};
use launch::{End, Launch};
use offer::Offer;
use outcome::{Outcome, Printed, Status};
pub use rules::{Mode, Rules};

const MODULE: &str = include_str!("code/hermes_tools.py");
/// Frames that wait to be heard; the launcher waits while there are more.
const MOST_WAITING: usize = 16;

/// See the module.
pub struct ExecuteCode {
    place: Workplace,
    offer: Offer,
    rules: Rules,
}

impl ExecuteCode {
    /// The tool for this place; scripts can call those of the tools that scripts may call.
    pub fn new(place: Workplace, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { place, offer: Offer::new(tools), rules: Rules::default() }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with(self, rules: Rules) -> Self {
        Self { rules, ..self }
    }

    async fn work(&self, run: Run<'_>) -> Outcome {
        let Some(code) =
            run.arguments.get("code").and_then(|code| code.as_str()).filter(|code| !code.trim().is_empty())
        else {
            return Outcome::of(Status::Error, "'code' is missing: give the text of a Python script");
        };
        let action = Action::Script { code, reach: self.place.reach() };
        let verdict = tokio::select! {
            verdict = run.gate.decide(&action) => verdict,
            () = run.cancel.cancelled() => return interrupted(),
        };
        match verdict {
            Verdict::Refused { reason } => {
                Outcome::of(Status::Error, format!("the script was not run: {reason}"))
            }
            Verdict::Allowed => self.converse(run, code).await,
        }
    }

    /// Runs the script and answers its calls until it is over.
    async fn converse(&self, run: Run<'_>, code: &str) -> Outcome {
        let began = Instant::now();
        let (to_launcher, answers) = mpsc::channel();
        let (said, mut heard) = tokio::sync::mpsc::channel(MOST_WAITING);
        let launch = self.launch(run.session, code);
        let progress = run.progress.clone();
        let work = move |link: &thread::Link| launch.run(&progress, link, &said, answers);
        let mut launched = std::pin::pin!(thread::run(run.cancel, work));
        // Calls that are under way when the script is over are ended with it.
        let over = run.cancel.child_token();
        let redactor = Arc::clone(&self.place.options().redactor);
        let mut talk = Talk {
            tool: self,
            run,
            over: &over,
            calls: Vec::new(),
            made: 0,
            printed: Printed::new(&redactor, run.most_chars),
            ended: None,
        };
        let end = loop {
            tokio::select! {
                // The end, which may be a cancelled script's, comes before anything a script can make much of.
                biased;
                end = &mut launched => break end,
                (id, text) = first_done(&mut talk.calls) => {
                    // Fails only when the script is over, and then nobody waits for the answer.
                    let _ = to_launcher.send(frames::answer(id, &text));
                }
                Some(said) = heard.recv() => talk.hear(said, &to_launcher),
            }
        };
        heard.close();
        while let Ok(said) = heard.try_recv() {
            talk.hear_last(said);
        }
        over.cancel();
        while !talk.calls.is_empty() {
            first_done(&mut talk.calls).await;
        }
        talk.outcome(end, began)
    }

    fn launch(&self, session: &str, code: &str) -> Launch {
        // Variables the user named are for every command, so for scripts too.
        let config = self.place.config();
        let named: Vec<&String> = config.local.env_passthrough.iter().chain(&config.forward_env).collect();
        let order = json!({
            "code": code,
            "module": MODULE,
            "tools": self.offer.functions(),
            "mode": self.rules.mode.name(),
        });
        Launch {
            place: self.place.clone(),
            session: session.to_owned(),
            mode: self.rules.mode,
            timeout: self.rules.timeout,
            environment: rules::environment(&named).to_string(),
            start: frames::start(&order),
        }
    }
}

/// A call under way: its number and, when it is done, its result.
type Call<'a> = Pin<Box<dyn Future<Output = (u64, String)> + Send + 'a>>;

/// One script: what it said so far and the calls that are under way.
struct Talk<'a, 'r> {
    tool: &'a ExecuteCode,
    run: Run<'a>,
    over: &'a CancellationToken,
    calls: Vec<Call<'a>>,
    made: u64,
    printed: Printed<'r>,
    /// The script's exit code, or why it was not started.
    ended: Option<Result<i32, String>>,
}

impl<'a> Talk<'a, '_> {
    fn hear(&mut self, said: Said, to_launcher: &mpsc::Sender<Vec<u8>>) {
        match said {
            Said::Call(wanted) => match self.permitted(&wanted) {
                Ok(call) => self.calls.push(call),
                Err(problem) => {
                    let text = json!({ "error": problem }).to_string();
                    let _ = to_launcher.send(frames::answer(wanted.id, &text));
                }
            },
            other => self.hear_last(other),
        }
    }

    /// Hears what needs no answer.
    fn hear_last(&mut self, said: Said) {
        let text = match said {
            Said::Output(bytes) => self.printed.take(&bytes),
            Said::Complaint(bytes) => self.printed.take_complaint(&bytes),
            Said::Gap(bytes) => self.printed.skip(bytes),
            Said::Over(code) => return self.ended = Some(Ok(code)),
            Said::Failed(reason) => return self.ended = Some(Err(reason)),
            Said::Hello | Said::Directory(_) | Said::Call(_) | Said::NoCall(_) => return,
        };
        if !text.is_empty() {
            self.run.progress.tell(Report::Output(text));
        }
    }

    fn permitted(&mut self, wanted: &Wanted) -> Result<Call<'a>, String> {
        let most = self.tool.rules.most_calls;
        if self.made >= most {
            return Err(format!("a script may make {most} tool calls, and this one has made them"));
        }
        let (tool, arguments) = self.tool.offer.find(wanted)?;
        self.made += 1;
        let (id, run, over) = (wanted.id, self.run, self.over);
        Ok(Box::pin(async move {
            let call_id = format!("{}.{id}", run.call_id);
            // What a script gets is not shown to the model: only the tool's own limits count.
            let most_chars = usize::MAX;
            let call = Run { call_id: &call_id, arguments: &arguments, cancel: over, most_chars, ..run };
            (id, text_of(&tool.run(call).await))
        }))
    }

    fn outcome(self, end: thread::Outcome<(End, Vec<String>)>, began: Instant) -> Outcome {
        let seconds = self.tool.rules.timeout.as_secs();
        let (end, notes) = match end {
            thread::Outcome::Done(done) => done,
            thread::Outcome::Abandoned => (End::Cancelled, Vec::new()),
            thread::Outcome::Broken => {
                (End::Failed("the tool itself failed: see the log".into()), Vec::new())
            }
        };
        let mut outcome = match (end, self.ended) {
            (End::Cancelled, _) => interrupted(),
            (End::TimedOut, _) => Outcome::of(
                Status::Timeout,
                format!(
                    "the time limit of {seconds} s was reached: the script and all it started were ended"
                ),
            ),
            (End::Failed(reason), _) | (End::Told, Some(Err(reason))) => Outcome::of(Status::Error, reason),
            (End::Told, Some(Ok(0))) => Outcome { error: None, ..Outcome::of(Status::Success, "") },
            (End::Told, Some(Ok(code))) => {
                let reason = format!("the script ended with code {code}");
                Outcome { exit_code: Some(code), ..Outcome::of(Status::Error, reason) }
            }
            (End::Told, None) => Outcome::of(Status::Error, "the script's end was not told"),
        };
        if outcome.status == Status::Success {
            outcome.exit_code = Some(0);
        }
        outcome.tool_calls_made = self.made;
        outcome.notes = notes;
        self.printed.finish(&mut outcome, began.elapsed());
        outcome
    }
}

/// The result of the first call that is done; waits for ever if there are none.
async fn first_done(calls: &mut Vec<Call<'_>>) -> (u64, String) {
    poll_fn(|context| {
        for at in 0..calls.len() {
            if let Poll::Ready(done) = calls[at].as_mut().poll(context) {
                drop(calls.swap_remove(at));
                return Poll::Ready(done);
            }
        }
        Poll::Pending
    })
    .await
}

fn text_of(output: &ToolOutput) -> String {
    let texts = output.content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        Content::Image(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn interrupted() -> Outcome {
    Outcome::of(Status::Interrupted, "interrupted by the user: the script and all it started were ended")
}

impl Tool for ExecuteCode {
    fn spec(&self) -> ToolSpec {
        let names: Vec<&str> = self.offer.names().collect();
        let description = format!(
            "Run a Python script that can call tools, for several calls with logic between them. It imports them: \
             `from hermes_tools import {}` (same parameters, results as dicts; also json_parse, shell_quote, retry). \
             Only what it prints comes back, and what it started ends with it. Limits: {} s, {} tool calls, 50 KB of output.",
            names.join(", "),
            self.rules.timeout.as_secs(),
            self.rules.most_calls,
        );
        ToolSpec {
            name: "execute_code".to_owned(),
            description,
            parameters: json!({
                "type": "object",
                "properties": { "code": { "type": "string", "description": "The script" } },
                "required": ["code"]
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "code_execution"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let code = arguments.get("code").and_then(|code| code.as_str()).unwrap_or_default();
        let lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
        lines
            .clone()
            .find(|line| !line.starts_with('#') && !line.contains("import "))
            .unwrap_or_default()
            .to_owned()
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { self.work(run).await.output() })
    }
}
