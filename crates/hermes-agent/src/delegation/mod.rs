//! `delegate_task`: hands work to helpers. A helper is an agent with a conversation, a shell and limits of its own; it
//! spends its agent's budget, asks through its agent's gate, and what comes back says what it really did.

mod background;
mod child;
mod family;
mod gate;
mod limits;
mod order;
mod outcome;
mod record;
mod together;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use hermes_model::ToolSpec;
use hermes_tools::{Arguments, Gate, News, Notification, Progress, Run, Running, Tool, ToolOutput, Toolbox};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub use child::Kit;
pub use family::{Account, Family};
pub use limits::{Limits, Orchestrators, ServerTools};

use background::Batch;
use child::{Child, Under};
use order::{Mode, Order, Task};
use record::{Record, cut};
use together::Team;

/// The name of the tool.
pub const NAME: &str = "delegate_task";

/// The tool.
pub struct Delegate {
    /// Nothing where it is only shown.
    kit: Option<Arc<Kit>>,
    family: Family,
    /// The tools of the agent, without this one.
    tools: Toolbox,
    gate: Arc<dyn Gate>,
    /// The user's own agent is generation 0.
    generation: u8,
}

impl Delegate {
    /// For an agent with these tools. Without a kit it can be looked at and not used.
    pub fn new(kit: Option<Kit>, family: Family, tools: Toolbox, gate: Arc<dyn Gate>) -> Self {
        Self { kit: kit.map(Arc::new), family, tools, gate, generation: 0 }
    }

    async fn act(&self, run: Run<'_>) -> Result<ToolOutput, String> {
        let kit = self.kit.as_ref().ok_or("helpers cannot be started here")?;
        match Order::read(run.arguments)? {
            Order::Start { tasks, mode } => self.start(kit, run, &tasks, mode).await,
            Order::Status { id: None } => {
                let all: Vec<Value> = self.family.batches().iter().map(Batch::status).collect();
                Ok(ToolOutput::json(&json!({"delegations": all})))
            }
            Order::Status { id: Some(id) } => {
                let batch = self.find(&id)?;
                if batch.is_over() {
                    kit.news.seen(&id);
                }
                Ok(ToolOutput::json(&batch.status()))
            }
            Order::Wait { id } => {
                let batch = self.find(&id)?;
                let result = tokio::select! {
                    biased;
                    result = batch.ended() => result,
                    () = run.cancel.cancelled() => {
                        return Err(format!("interrupted; {id} goes on"));
                    }
                };
                Ok(told(kit, &id, result))
            }
            Order::Cancel { id } => {
                let batch = self.find(&id)?;
                batch.cancel();
                Ok(told(kit, &id, batch.ended().await))
            }
        }
    }

    async fn start(
        &self,
        kit: &Arc<Kit>,
        run: Run<'_>,
        tasks: &[Task],
        mode: Mode,
    ) -> Result<ToolOutput, String> {
        let (most, busy) = (kit.limits.at_once, self.family.running());
        if tasks.len() > most {
            return Err(format!(
                "{} tasks are more than the {most} helpers that may work at once \
                 ('delegation.max_concurrent_children'): give fewer tasks in one call",
                tasks.len()
            ));
        }
        if busy + tasks.len() > most {
            return Err(format!(
                "{busy} of the {most} helpers that may work at once are busy in the background \
                 ('delegation.max_concurrent_children'): wait for one (action=wait) or cancel it (action=cancel)"
            ));
        }
        let cancel = match mode {
            Mode::Foreground => run.cancel.child_token(),
            Mode::Background => CancellationToken::new(),
        };
        let under = Under {
            kit,
            family: &self.family,
            tools: &self.tools,
            gate: &self.gate,
            generation: self.generation,
            session: run.session,
            cancel: &cancel,
        };
        let children = tasks.iter().enumerate().map(|(place, task)| under.make(place, tasks.len(), task));
        let children = children.collect::<Result<Vec<Child>, String>>()?;
        let team = Team { kit: Arc::clone(kit), family: self.family.clone() };
        match mode {
            Mode::Foreground => Ok(output(&team.work(children, run.progress).await)),
            Mode::Background => Ok(self.in_background(team, children, tasks, cancel, run.session)),
        }
    }

    fn in_background(
        &self,
        team: Team,
        children: Vec<Child>,
        tasks: &[Task],
        cancel: CancellationToken,
        session: &str,
    ) -> ToolOutput {
        let goals: Vec<String> = tasks.iter().map(|task| cut(&task.goal, 120)).collect();
        let records: Vec<Arc<Mutex<Record>>> =
            children.iter().map(|child| Arc::clone(&child.record)).collect();
        let sessions: Vec<&str> = children.iter().map(|child| child.who.session.as_str()).collect();
        let batch = self.family.add(|id| Batch::new(id, goals, records, cancel, Instant::now()));
        let said = json!({
            "id": batch.id(),
            "status": "running",
            "session_ids": sessions,
            "hint": "You are told when it is over. action=status, wait or cancel with this id. It ends with this program.",
        });
        let (session, of) = (session.to_owned(), batch);
        // Ended by its batch at the latest when the agent is closed.
        tokio::spawn(async move {
            let news = team.kit.news.clone();
            let result = team.work(children, &Progress::silent()).await;
            let (process, command) = (of.id().to_owned(), of.brief());
            let told = News::Delegated { result: result.to_string() };
            of.finish(result);
            news.push(Notification { session, process, command, news: told });
        });
        ToolOutput::json(&said)
    }

    fn find(&self, id: &str) -> Result<Batch, String> {
        let batches = self.family.batches();
        let known: Vec<&str> = batches.iter().map(Batch::id).collect();
        let there = if known.is_empty() { "nothing".to_owned() } else { known.join(", ") };
        let found = batches.iter().find(|batch| batch.id() == id).cloned();
        found.ok_or_else(|| format!("there is no delegation '{id}' in the background; there is {there}"))
    }
}

/// The result of what ran in the background; the model knows of its end now.
fn told(kit: &Kit, id: &str, result: Option<Value>) -> ToolOutput {
    match result {
        Some(result) => {
            kit.news.seen(id);
            output(&result)
        }
        None => ToolOutput::error(format!("{id} was told to end and does not; see action=status")),
    }
}

/// A result of which at least one helper did its task is a success.
fn output(result: &Value) -> ToolOutput {
    let done = |helper: &Value| helper["status"] == "completed";
    let any = result["results"].as_array().is_some_and(|results| results.iter().any(done));
    let output = ToolOutput::json(result);
    if any { output } else { output.failed() }
}

impl Tool for Delegate {
    fn spec(&self) -> ToolSpec {
        // Toolsets and a role can be given for each task, too; a model that needs it finds out by trying.
        let task = json!({"goal": {"type": "string"}, "context": {"type": "string"}});
        ToolSpec {
            name: NAME.to_owned(),
            description: "Hand work to helpers with conversations of their own, who know only goal and context: one goal, \
                 or tasks to run at once. In results 'verified' and 'files_written' are facts, 'summary' is a claim."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "goal": {"type": "string", "description": "What to do and report"},
                    "context": {"type": "string", "description": "Paths, findings, constraints"},
                    "tasks": {"type": "array", "items": {"type": "object", "properties": task, "required": ["goal"]}},
                    "toolsets": {"type": "array", "items": {"type": "string"}, "description": "Only these of yours"},
                    "role": {"type": "string", "enum": ["leaf", "orchestrator"], "description": "orchestrator may delegate"},
                    "background": {"type": "boolean", "description": "Return an id at once"},
                    "action": {"type": "string", "enum": ["run", "status", "wait", "cancel"]},
                    "id": {"type": "string"},
                },
            }),
        }
    }

    fn toolset(&self) -> &'static str {
        "delegation"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        match Order::read(arguments) {
            Ok(Order::Start { tasks, .. }) => {
                tasks.iter().map(|task| cut(&task.goal, 60)).collect::<Vec<_>>().join(" | ")
            }
            Ok(Order::Status { id }) => format!("status {}", id.unwrap_or_default()).trim_end().to_owned(),
            Ok(Order::Wait { id }) => format!("wait {id}"),
            Ok(Order::Cancel { id }) => format!("cancel {id}"),
            Err(_) => String::new(),
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move { self.act(run).await.unwrap_or_else(ToolOutput::error) })
    }
}
