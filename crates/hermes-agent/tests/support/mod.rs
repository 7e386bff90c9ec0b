//! What the tests of the loop share: an agent over a scripted model, tools that do what the test says, and a record of
//! everything that happened.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "test helpers; not every test uses all of them"
)]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_agent::{Agent, AgentEvent, Control, History, Journal, MemoryJournal, Parts, Rules, TurnReport};
use hermes_model::call::Chance;
use hermes_model::keys::{KeyPool, Strategy};
use hermes_model::retry::RetryPolicy;
use hermes_model::{BaseUrl, Caller, Client, Content, Endpoint, Patience, Route, ToolSpec, Wire};
use hermes_testkit::model::ModelServer;
use hermes_tools::gate::Waiting;
use hermes_tools::{Action, Arguments, Gate, Run, Running, Sharing, Tool, ToolOutput, Toolbox, Verdict};
use serde_json::json;

/// Allows everything.
pub struct Open;

impl Gate for Open {
    fn decide<'a>(&'a self, _: &'a Action<'a>) -> Waiting<'a, Verdict> {
        Box::pin(async { Verdict::Allowed })
    }
}

type Does = dyn for<'a> Fn(Run<'a>) -> Running<'a> + Send + Sync;

/// A tool that does what the test says.
pub struct TestTool {
    name: &'static str,
    sharing: Sharing,
    does: Box<Does>,
}

impl Tool for TestTool {
    fn spec(&self) -> ToolSpec {
        let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}, "count": {"type": "integer"}}});
        ToolSpec { name: self.name.into(), description: "For a test.".into(), parameters }
    }

    fn toolset(&self) -> &'static str {
        "test"
    }

    fn brief(&self, arguments: &Arguments) -> String {
        arguments.get("text").and_then(|text| text.as_str()).unwrap_or_default().to_owned()
    }

    fn sharing(&self, _: &Arguments) -> Sharing {
        self.sharing.clone()
    }

    fn run<'a>(&'a self, run: Run<'a>) -> Running<'a> {
        (self.does)(run)
    }
}

/// A tool whose calls give a text made of their arguments.
pub fn tool(
    name: &'static str,
    sharing: Sharing,
    does: impl Fn(&Arguments) -> ToolOutput + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    let does = Arc::new(does);
    slow_tool(name, sharing, move |run| {
        let does = Arc::clone(&does);
        Box::pin(async move { does(run.arguments) })
    })
}

/// A tool whose calls take a while.
pub fn slow_tool(
    name: &'static str,
    sharing: Sharing,
    does: impl for<'a> Fn(Run<'a>) -> Running<'a> + Send + Sync + 'static,
) -> Arc<dyn Tool> {
    Arc::new(TestTool { name, sharing, does: Box::new(does) })
}

/// `echo`: gives its text back.
pub fn echo() -> Arc<dyn Tool> {
    tool("echo", Sharing::InOrder, |arguments| {
        ToolOutput::text(arguments["text"].as_str().unwrap_or("nothing"))
    })
}

/// A route to a scripted server.
pub fn route(server: &ModelServer) -> Route {
    Route {
        endpoint: Endpoint::new("test", BaseUrl::parse(&server.openai_url()).unwrap(), Wire::Chat),
        model: "mock-model".into(),
        keys: Arc::new(Mutex::new(KeyPool::new([], Strategy::FillFirst))),
        window: Some(100_000),
        price: None,
        patience: Patience::default(),
    }
}

/// Asks scripted servers, without long pauses.
pub fn caller(routes: Vec<Route>) -> Caller {
    let quick = RetryPolicy {
        tries: 2,
        first_pause: Duration::from_millis(1),
        longest_pause: Duration::from_millis(2),
        longest_wait: Duration::from_secs(10),
        shortenings: 3,
    };
    Caller::new(Arc::new(Client::default()), routes, quick).with_chance(Chance::seeded(1))
}

/// An agent with a conversation of its own.
pub fn agent_with(caller: Caller, tools: Vec<Arc<dyn Tool>>, rules: Rules) -> Agent {
    let journal = Box::new(MemoryJournal::new("20260105_120000_abcdef"));
    agent_over(journal, History::default(), caller, tools, rules)
}

/// An agent that goes on with a conversation.
pub fn agent_over(
    journal: Box<dyn Journal>,
    history: History,
    caller: Caller,
    tools: Vec<Arc<dyn Tool>>,
    rules: Rules,
) -> Agent {
    Agent::new(parts(journal, history, caller, tools, rules))
}

/// An agent over one scripted server that puts away what is too long.
pub fn agent_with_shelf(
    server: &ModelServer,
    tools: Vec<Arc<dyn Tool>>,
    shelf: Arc<dyn hermes_tools::limits::Shelf>,
) -> Agent {
    let journal = Box::new(MemoryJournal::new("20260105_120000_abcdef"));
    let parts = parts(journal, History::default(), caller(vec![route(server)]), tools, Rules::default());
    Agent::new(Parts { shelf: Some(shelf), ..parts })
}

fn parts(
    journal: Box<dyn Journal>,
    history: History,
    caller: Caller,
    tools: Vec<Arc<dyn Tool>>,
    rules: Rules,
) -> Parts {
    Parts {
        caller,
        side: hermes_agent::agent::SideCallers::default(),
        redactor: Arc::new(hermes_guard::Redactor::new([])),
        tools: Toolbox::new(tools),
        shelf: None,
        news: hermes_tools::Notifications::default(),
        hints: None,
        gate: Arc::new(Open),
        journal,
        history,
        system: "Be brief.".into(),
        rules,
        clock: Arc::new(|| "2026-01-05T12:00:00[UTC]".parse().unwrap()),
        family: hermes_agent::delegation::Family::default(),
    }
}

/// An agent over one scripted server.
pub fn agent(server: &ModelServer, tools: Vec<Arc<dyn Tool>>) -> Agent {
    agent_with(caller(vec![route(server)]), tools, Rules::default())
}

/// One turn, with everything that happened.
pub async fn turn(agent: &mut Agent, text: &str) -> (TurnReport, Vec<AgentEvent>) {
    controlled(agent, text, &Control::new()).await
}

/// One turn with a handle.
pub async fn controlled(agent: &mut Agent, text: &str, control: &Control) -> (TurnReport, Vec<AgentEvent>) {
    let mut events = Vec::new();
    let report =
        agent.turn(vec![Content::Text(text.to_owned())], control, &mut |event| events.push(event)).await;
    let last = events.last().expect("there is a last event");
    assert_eq!(*last, AgentEvent::TurnEnded { report: report.clone() });
    (report, events)
}

/// The texts of a conversation, each with who said it.
pub fn said(agent: &Agent) -> Vec<String> {
    use hermes_model::Message;
    let line = |message: &Message| match message {
        Message::User(_) => format!("user: {}", message.text()),
        Message::Assistant(_) => {
            let calls: Vec<&str> = message.calls().map(|call| call.name.as_str()).collect();
            let calls = if calls.is_empty() { String::new() } else { format!(" [{}]", calls.join(", ")) };
            format!("model: {}{calls}", message.text())
        }
        Message::Tool(result) => format!("{}: {}", result.name, message.text()),
    };
    agent.history().messages().map(line).collect()
}
