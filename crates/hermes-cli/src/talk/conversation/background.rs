//! Work beside the conversation: prompts in sessions of their own, and background processes of tools.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use hermes_agent::assembly::{self, Consent, Kind, Opened, Opening};
use hermes_agent::{AgentEvent, Control, Level};
use hermes_cli::chat::{CommandOutcome, Events};
use hermes_model::Content;
use hermes_store::sessions::SessionId;
use hermes_tools::workplace::Workplace;

/// A prompt in a session of its own.
struct Task {
    prompt: String,
    session: String,
    started: Instant,
    control: Control,
}

/// The prompts that run beside the conversation.
#[derive(Clone, Default)]
pub struct Background {
    tasks: Arc<Mutex<Vec<Task>>>,
}

impl Background {
    /// How many run.
    pub fn running(&self) -> usize {
        self.tasks().len()
    }

    /// What runs, a line each.
    pub fn list(&self) -> Vec<String> {
        let line = |task: &Task| {
            format!("{} s: {} (session {})", task.started.elapsed().as_secs(), task.prompt, task.session)
        };
        self.tasks().iter().map(line).collect()
    }

    /// Runs a prompt in a session of its own; its answer is told when it is there. Nobody is asked about its commands:
    /// what would need a yes is refused.
    pub fn start(&self, opening: &Opening, prompt: &str, events: Events) -> CommandOutcome {
        let mut opening = opening.clone();
        opening.resume = None;
        opening.kind = Kind::Conversation;
        if let Consent::Ask(_) = opening.consent {
            opening.consent = Consent::Nobody;
        }
        let Opened { mut agent, workplace, .. } = match assembly::open(opening) {
            Ok(opened) => opened,
            Err(error) => return CommandOutcome::Failed(error.to_string()),
        };
        let session = agent.session_id().to_owned();
        let control = Control::new();
        let short: String = prompt.chars().take(60).collect();
        let task = Task {
            prompt: short.clone(),
            session: session.clone(),
            started: Instant::now(),
            control: control.clone(),
        };
        self.tasks().push(task);
        let (own, input) = (self.clone(), vec![Content::Text(prompt.to_owned())]);
        let name = session.clone();
        let spawned = std::thread::Builder::new().name("background".to_owned()).spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            let report = runtime.block_on(agent.turn(input, &control, &mut |_| {}));
            runtime.shutdown_background();
            drop(agent);
            assembly::let_go(&workplace);
            own.tasks().retain(|task| task.session != name);
            let answer = report.error.map_or(report.text, |error| format!("it failed: {error}"));
            let text = format!("\"{short}\" is done (session {name}):\n{answer}");
            events.send(AgentEvent::Notice { level: Level::Info, text });
        });
        match spawned {
            Ok(_) => {
                CommandOutcome::Said(format!("It runs in session {session}; `/agents` lists what runs."))
            }
            Err(error) => CommandOutcome::Failed(format!("no thread can be started: {error}")),
        }
    }

    fn tasks(&self) -> MutexGuard<'_, Vec<Task>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        // Work nobody waits for ends with the chat.
        self.control.interrupt();
    }
}

/// Ends the background processes of a conversation; how many there were.
pub fn end_processes(workplace: &Workplace, session: &SessionId) -> Result<usize, String> {
    workplace.end_background(session.as_str()).map_err(|error| error.to_string())
}

/// The background processes of a conversation that run, a line each.
pub fn processes(workplace: &Workplace, session: &SessionId, now_ms: i64) -> Vec<String> {
    let running = workplace.background(session.as_str()).unwrap_or_default();
    let line = |job: &hermes_box::proto::job::JobInfo| {
        let command = String::from_utf8_lossy(&job.command);
        let first: String = command.lines().next().unwrap_or_default().chars().take(80).collect();
        format!(
            "{} s: `{}` ({})",
            (now_ms - job.started_ms).max(0) / 1000,
            crate::ui::harmless(&first),
            job.id
        )
    };
    running.iter().map(line).collect()
}
