//! The `kanban_*` tools: a worker on its card, or somebody who looks after a board.
//!
//! A worker closes only its own card, and only while its attempt is the card's own. It may speak about other cards and make
//! new ones. Whoever looks after a board may do everything.

mod act;
mod attach;
mod create;
mod desk;
mod judge;
mod look;
mod table;

use std::sync::Arc;

use hermes_model::ToolSpec;
use serde_json::Value;

use crate::thread::{self, Outcome};
use crate::tool::{Arguments, Availability, Run, Running, Sharing, Tool, ToolOutput};
use crate::web::Web;
pub use desk::{Desk, Role, TASK};
pub use judge::{Goal, GoalJudge, Judgement};
use table::{Does, Entry};

/// One of the tools.
pub struct KanbanTool {
    entry: &'static Entry,
    desk: Desk,
    web: Web,
}

/// All tools of the board.
pub fn tools(desk: &Desk, web: &Web) -> Vec<Arc<dyn Tool>> {
    let tool = |entry| KanbanTool { entry, desk: desk.clone(), web: web.clone() };
    table::ALL.iter().map(|entry| Arc::new(tool(entry)) as Arc<dyn Tool>).collect()
}

/// A call, with whoever makes it.
pub(crate) struct Call {
    pub desk: Desk,
    pub arguments: Arguments,
    pub session: String,
}

impl KanbanTool {
    async fn work(&self, run: Run<'_>) -> Result<Value, String> {
        let call = Call {
            desk: self.desk.clone(),
            arguments: run.arguments.clone(),
            session: run.session.to_owned(),
        };
        match self.entry.does {
            Does::Look(does) | Does::Write(does) => apart(&run, move || does(&call)).await,
            Does::Complete => {
                act::agreed(&call, run.cancel).await?;
                apart(&run, move || act::complete(&call)).await
            }
            Does::Fetch => {
                let fetched = attach::fetch(&call, &self.web, run.cancel).await?;
                apart(&run, move || attach::fetched(&call, &fetched)).await
            }
        }
    }
}

/// Work with files and a database, on a thread of its own. It is never cut short: what was begun is written.
async fn apart(
    run: &Run<'_>,
    work: impl FnOnce() -> Result<Value, String> + Send + 'static,
) -> Result<Value, String> {
    match thread::run(run.cancel, |_| work()).await {
        Outcome::Done(done) => done,
        Outcome::Abandoned => Err("interrupted: look with kanban_show what was done".to_owned()),
        Outcome::Broken => Err("the board could not be used: its log says why".to_owned()),
    }
}

impl Tool for KanbanTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.entry.name.to_owned(),
            description: self.entry.about.to_owned(),
            parameters: (self.entry.parameters)(),
        }
    }

    fn toolset(&self) -> &'static str {
        "kanban"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        let word = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let words =
            ["task_id", "parent_id", "child_id", "title", "filename", "url", "reason", "summary", "body"];
        let said = words.into_iter().map(word).filter(|text| !text.is_empty()).collect::<Vec<_>>().join(" ");
        crate::fields::beginning(&said)
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        match self.entry.does {
            Does::Look(_) => Sharing::Freely,
            Does::Write(_) | Does::Complete | Does::Fetch => Sharing::InOrder,
        }
    }

    fn available(&self) -> Availability {
        match (self.entry.whom, self.desk.role()) {
            (table::Whom::Orchestrator, Role::Worker { .. }) => {
                Availability::No { why: "a worker has its card and no others".to_owned() }
            }
            _ => Availability::Yes,
        }
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        Box::pin(async move {
            match self.work(run).await {
                Ok(value) => ToolOutput::json(&value),
                Err(problem) => ToolOutput::error(problem),
            }
        })
    }
}
