//! The tool calls of one answer: checked, run together where that is safe, and written down as they end.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hermes_model::{Answer, ToolCall, ToolStatus};
use hermes_tools::gate::{Action, Waiting};
use hermes_tools::{Arguments, Gate, Progress, Report, Run, Sharing, Tool, ToolOutput, Verdict};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::finish::{Done, Passed};
use super::prepare::{Prepared, prepare};
use super::room::Room;
use super::{Ended, Flow, MOST_BAD_ROUNDS, Turn, schedule};
use crate::event::{AgentEvent, CallStatus, Level};
use crate::journal::JournalError;
use crate::report::Outcome;

/// How long a tool that was told to end has before its result is given up.
const PATIENCE: Duration = Duration::from_secs(15);
/// Reports of running tools that wait to be passed on. Live output is a view: what does not fit is left out.
const REPORTS: usize = 512;
/// What stands for a call that was not run.
const NOT_RUN: &str = "Not run: the user interrupted.";
/// Tools whose calls do not change what the words beside them say.
const HOUSEKEEPING: [&str; 4] = ["memory", "todo", "skill_manage", "session_search"];

/// A call that can be run.
struct Ready {
    call: ToolCall,
    tool: Arc<dyn Tool>,
    arguments: Arguments,
}

/// A call that ended.
struct CallEnd {
    place: usize,
    output: ToolOutput,
    status: CallStatus,
    passed: Passed,
    elapsed: Duration,
}

/// Calls that run at the same time.
#[derive(Default)]
struct Group {
    tasks: JoinSet<CallEnd>,
    places: HashMap<tokio::task::Id, usize>,
}

/// What a running tool says.
struct Heard {
    id: String,
    report: Report,
}

impl Turn<'_, '_> {
    /// Runs the tools an answer calls.
    pub(super) async fn run_tools(&mut self, answer: Answer) -> Result<Flow, JournalError> {
        // The answer as it will be kept: a repaired name or argument stands in it as it was run.
        let (answer, ready, refused) = self.sort_calls(answer);
        self.store_answer(&answer)?;
        self.remember_words(&answer);
        self.rails.next_message();
        let nothing_ran = ready.is_empty();
        let mut left = ready.len() + refused.len();
        self.room = Room::new(self.limits(), left);
        for (call, reason) in refused {
            left -= 1;
            self.tell_started(&call, &call.name.clone(), &Arguments::new());
            let done = Done::not_run(&call, ToolOutput::error(reason), CallStatus::Failed);
            self.finish_call(done, left == 0).await?;
        }
        self.bad_rounds = if nothing_ran { self.bad_rounds + 1 } else { 0 };
        if self.bad_rounds >= MOST_BAD_ROUNDS {
            let error = "the model called tools that do not exist, or with arguments nobody can read, several times in a row";
            let text = std::mem::take(&mut self.before_tools);
            return Ok(Flow::End(Ended::new(Outcome::Partial, text, Some(error.to_owned()))));
        }
        let stopped = self.run_ready(ready).await?;
        self.tell_notices();
        self.tries = super::Tries { moved: self.tries.moved, ..super::Tries::default() };
        self.begun.clear();
        self.after_tools = true;
        Ok(match stopped {
            Some(reason) => {
                let text = std::mem::take(&mut self.before_tools);
                Flow::End(Ended::new(Outcome::Partial, text, Some(reason)))
            }
            None => Flow::GoOn,
        })
    }

    /// Words beside calls that only keep house are the answer, should nothing follow.
    fn remember_words(&mut self, answer: &Answer) {
        let keeps_house = answer.calls().all(|call| HOUSEKEEPING.contains(&call.name.as_str()));
        self.before_tools = if keeps_house { answer.text() } else { String::new() };
    }

    fn sort_calls(&self, mut answer: Answer) -> (Answer, Vec<Ready>, Vec<(ToolCall, String)>) {
        let (mut ready, mut refused): (Vec<Ready>, Vec<(ToolCall, String)>) = (Vec::new(), Vec::new());
        for part in &mut answer.parts {
            let hermes_model::Part::Call(call) = part else { continue };
            match prepare(call, &self.agent.tools) {
                Prepared::Ready { tool, arguments } => {
                    let again = |other: &Ready| other.call.name == call.name && other.arguments == arguments;
                    match ready.iter().find(|other| again(other)) {
                        Some(same) => refused.push((
                            call.clone(),
                            format!("not run: it is the same as call '{}' of this message", same.call.id),
                        )),
                        None => ready.push(Ready { call: call.clone(), tool, arguments }),
                    }
                }
                Prepared::Refused(reason) => refused.push((call.clone(), reason)),
            }
        }
        (answer, ready, refused)
    }

    /// Runs calls group by group. Gives the reason when the turn must end.
    async fn run_ready(&mut self, ready: Vec<Ready>) -> Result<Option<String>, JournalError> {
        let sharing: Vec<Sharing> = ready.iter().map(|r| r.tool.sharing(&r.arguments)).collect();
        let (tell, mut heard) = mpsc::channel(REPORTS);
        let mut left = ready.len();
        let mut stopped = None;
        for group in schedule::groups(&sharing) {
            if self.control.is_interrupted() || stopped.is_some() {
                for place in group {
                    left -= 1;
                    self.give_up(&ready[place], left == 0).await?;
                }
                continue;
            }
            let mut running = Group::default();
            let most_chars = self.room.share_out();
            for place in group {
                self.tell_started(&ready[place].call, &ready[place].call.name, &ready[place].arguments);
                self.tool_calls += 1;
                let task = running.tasks.spawn(self.start(place, &ready[place], most_chars, tell.clone()));
                running.places.insert(task.id(), place);
            }
            while let Some(ended) = self.next_end(&mut running, &mut heard).await {
                left -= 1;
                let one = &ready[ended.place];
                let ran = Some((&one.arguments, &sharing[ended.place]));
                let CallEnd { output, status, passed, elapsed, .. } = ended;
                let done = Done { call: &one.call, ran, passed, output, status, elapsed };
                stopped = stopped.or(self.finish_call(done, left == 0).await?);
            }
        }
        Ok(stopped)
    }

    /// A future that runs one call to its end, whatever the tool does.
    fn start(
        &self,
        place: usize,
        ready: &Ready,
        most_chars: usize,
        tell: mpsc::Sender<Heard>,
    ) -> impl Future<Output = CallEnd> + Send + 'static {
        let (tool, arguments, id) = (Arc::clone(&ready.tool), ready.arguments.clone(), ready.call.id.clone());
        let cancel = self.control.token().clone();
        let gate = UntilInterrupted {
            gate: Arc::clone(&self.agent.gate),
            cancel: cancel.clone(),
            refused: AtomicBool::new(false),
        };
        let session = self.agent.session_id().to_owned();
        async move {
            let started = Instant::now();
            let called = id.clone();
            let progress = Progress::new(move |report| {
                // A full queue means that nobody looks fast enough; the result has everything anyway.
                let _ = tell.try_send(Heard { id: called.clone(), report });
            });
            let run = Run {
                call_id: &id,
                arguments: &arguments,
                session: &session,
                cancel: &cancel,
                progress: &progress,
                gate: &gate,
                most_chars,
            };
            let late = async {
                cancel.cancelled().await;
                tokio::time::sleep(PATIENCE).await;
            };
            let (output, status) = tokio::select! {
                output = tool.run(run) => {
                    let ended_by_user = cancel.is_cancelled();
                    let status = match output.status {
                        ToolStatus::Failed if ended_by_user => CallStatus::Cancelled,
                        ToolStatus::Failed => CallStatus::Failed,
                        ToolStatus::Ok => CallStatus::Ok,
                    };
                    (output, status)
                }
                () = late => (ToolOutput::error("interrupted; the tool did not end in time"), CallStatus::Cancelled),
            };
            let passed = if gate.refused.load(Ordering::Relaxed) { Passed::No } else { Passed::Yes };
            CallEnd { place, output, status, passed, elapsed: started.elapsed() }
        }
    }

    /// The next call that ends; passes on what running tools say meanwhile.
    async fn next_end(&mut self, group: &mut Group, heard: &mut mpsc::Receiver<Heard>) -> Option<CallEnd> {
        let ended = loop {
            tokio::select! {
                biased;
                Some(said) = heard.recv() => self.pass_on(said),
                ended = group.tasks.join_next() => break ended?,
            }
        };
        while let Ok(said) = heard.try_recv() {
            self.pass_on(said);
        }
        Some(ended.unwrap_or_else(|broken| {
            // A tool that panics is a bug of ours; the conversation survives it.
            tracing::error!(%broken, "a tool broke");
            let place = group.places.get(&broken.id()).copied().unwrap_or_default();
            let output = ToolOutput::error("the tool broke; this is a bug in it, not in the call");
            let (status, passed) = (CallStatus::Failed, Passed::Yes);
            CallEnd { place, output, status, passed, elapsed: Duration::ZERO }
        }))
    }

    fn pass_on(&mut self, Heard { id, report }: Heard) {
        match report {
            Report::Output(text) => self.tell(AgentEvent::ToolOutput { id, text }),
            Report::Note(text) => self.notice(Level::Info, text),
        }
    }

    fn tell_started(&mut self, call: &ToolCall, name: &str, arguments: &Arguments) {
        let brief = self.agent.tools.get(name).map(|tool| tool.brief(arguments)).unwrap_or_default();
        self.tell(AgentEvent::ToolStarted {
            id: call.id.clone(),
            name: name.to_owned(),
            brief,
            arguments: serde_json::Value::Object(arguments.clone()),
        });
    }

    async fn give_up(&mut self, ready: &Ready, last: bool) -> Result<(), JournalError> {
        let output = ToolOutput::text(NOT_RUN).failed();
        self.finish_call(Done::not_run(&ready.call, output, CallStatus::Cancelled), last).await.map(drop)
    }
}

/// A gate that stops waiting for a person when the turn is interrupted, and remembers whether it refused anything.
struct UntilInterrupted {
    gate: Arc<dyn Gate>,
    cancel: CancellationToken,
    refused: AtomicBool,
}

impl Gate for UntilInterrupted {
    fn decide<'a>(&'a self, action: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(async move {
            let verdict = tokio::select! {
                biased;
                () = self.cancel.cancelled() => Verdict::Refused { reason: "the user interrupted".to_owned() },
                verdict = self.gate.decide(action) => verdict,
            };
            if matches!(verdict, Verdict::Refused { .. }) {
                self.refused.store(true, Ordering::Relaxed);
            }
            verdict
        })
    }
}
