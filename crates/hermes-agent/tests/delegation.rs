//! Helpers against a scripted model over real HTTP, with conversations in `state.db`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hermes_agent::delegation::{Delegate, Family, Kit, Limits};
use hermes_agent::prompt::{Guidance, Place, Platform, PromptParts};
use hermes_agent::{
    Agent, AgentEvent, Clock, Control, History, Outcome, Parts, Rules, SharedStore, StoreJournal,
};
use hermes_model::Caller;
use hermes_model::budget::{Ledger as _, Limit, Limits as Budget, MemoryLedger, Meter, Period, Span};
use hermes_store::sessions::{Kind, NewSession, Resume, SessionId, SessionStore};
use hermes_testkit::model::{ModelServer, Request};
use hermes_tools::gate::ask::{AskGate, Mode};
use hermes_tools::gate::{Reach, Waiting};
use hermes_tools::tool::Access;
use hermes_tools::{
    Action, Answerer, Gate, Notifications, Question, Reply, Sharing, Tool, ToolOutput, Toolbox, Verdict,
};
use serde_json::Value;
use support::{Open, caller, controlled, echo, route, said, slow_tool, tool, turn};

const PARENT: &str = "20260105_120000_abcdef";

/// An agent that can have helpers.
struct Setup {
    caller: Caller,
    tools: Vec<Arc<dyn Tool>>,
    limits: Limits,
    gate: Arc<dyn Gate>,
    clock: Clock,
}

struct World {
    agent: Agent,
    store: SharedStore,
    news: Notifications,
    _dir: tempfile::TempDir,
}

impl Setup {
    fn new(server: &ModelServer, tools: Vec<Arc<dyn Tool>>) -> Self {
        Self {
            caller: caller(vec![route(server)]),
            tools,
            limits: Limits::default(),
            gate: Arc::new(Open),
            clock: Arc::new(|| "2026-01-05T12:00:00[UTC]".parse().unwrap()),
        }
    }

    fn open(self) -> World {
        let dir = tempfile::tempdir().unwrap();
        let store = SharedStore::new(SessionStore::open(&dir.path().join("state.db")).unwrap());
        let now = "2026-01-05T12:00:00Z".parse().unwrap();
        let session = NewSession::new(SessionId::from(PARENT), "cli", now);
        let journal = StoreJournal::begin(store.clone(), session.clone(), "127.0.0.1");
        let (news, family) = (Notifications::default(), Family::default());
        let redactor = Arc::new(hermes_guard::Redactor::new([]));
        let kit = Kit {
            store: store.clone(),
            workplace: None,
            news: news.clone(),
            shelf: None,
            redactor: Arc::clone(&redactor),
            clock: Arc::clone(&self.clock),
            prompt: prompt(),
            rules: Rules::default(),
            limits: self.limits,
            caller: None,
            effort: None,
            session,
        };
        let own = Toolbox::new(self.tools);
        let delegate = Delegate::new(Some(kit), family.clone(), own.clone(), Arc::clone(&self.gate));
        let agent = Agent::new(Parts {
            caller: self.caller,
            side: hermes_agent::agent::SideCallers::default(),
            redactor,
            tools: Toolbox::new(own.iter().cloned().chain([Arc::new(delegate) as Arc<dyn Tool>])),
            shelf: None,
            news: news.clone(),
            hints: None,
            gate: self.gate,
            journal: Box::new(journal),
            history: History::default(),
            system: "Be the parent.".into(),
            rules: Rules::default(),
            clock: Arc::new(|| "2026-01-05T12:00:00[UTC]".parse().unwrap()),
            family,
        });
        World { agent, store, news, _dir: dir }
    }
}

fn prompt() -> PromptParts {
    PromptParts {
        identity: None,
        skills: None,
        tools: Vec::new(),
        guidance: Guidance::default(),
        place: Place::Sandbox { description: "Work in /workspace.".into() },
        place_hint: None,
        profile: None,
        platform: Platform::Cli,
        instructions: None,
        context: Vec::new(),
        memory: None,
        user: None,
        date: jiff::civil::date(2026, 1, 5),
        model: String::new(),
        provider: String::new(),
        session_id: None,
    }
}

/// The result of the newest call the agent made.
fn result(world: &World) -> Value {
    let last = said(&world.agent).into_iter().rfind(|line| line.starts_with("delegate_task: ")).unwrap();
    serde_json::from_str(last.trim_start_matches("delegate_task: ")).unwrap_or(Value::String(last))
}

/// The requests that were made for a goal.
fn requests(server: &ModelServer, goal: &str) -> Vec<Request> {
    server.calls().into_iter().filter(|call| call.newest_user_text().starts_with(goal)).collect()
}

/// A tool that ends when all of so many calls have begun: it hangs if they do not run at the same time.
fn meeting(of: usize) -> Arc<dyn Tool> {
    let barrier = Arc::new(tokio::sync::Barrier::new(of));
    slow_tool("meet", Sharing::InOrder, move |_| {
        let barrier = Arc::clone(&barrier);
        Box::pin(async move {
            barrier.wait().await;
            ToolOutput::text("met")
        })
    })
}

/// A tool that asks before it acts.
fn asking() -> Arc<dyn Tool> {
    slow_tool("ask", Sharing::InOrder, |run| {
        Box::pin(async move {
            let line = run.arguments["text"].as_str().unwrap();
            match run.gate.decide(&Action::Command { line, workdir: None, reach: Reach::Host }).await {
                Verdict::Allowed => ToolOutput::text("allowed"),
                Verdict::Refused { reason } => ToolOutput::error(reason),
            }
        })
    })
}

/// A tool that never ends by itself, and says when it has begun.
fn holding(begun: &Arc<tokio::sync::Notify>, ended: &Arc<AtomicUsize>) -> Arc<dyn Tool> {
    let (begun, ended) = (Arc::clone(begun), Arc::clone(ended));
    slow_tool("hold", Sharing::InOrder, move |run| {
        let (begun, ended) = (Arc::clone(&begun), Arc::clone(&ended));
        Box::pin(async move {
            begun.notify_one();
            run.cancel.cancelled().await;
            ended.fetch_add(1, Ordering::SeqCst);
            ToolOutput::error("ended")
        })
    })
}

/// A tool that touches a file, as far as anybody is told.
fn touching(name: &'static str, access: Access) -> Arc<dyn Tool> {
    let paths = vec![PathBuf::from("/project/notes.txt")];
    tool(name, Sharing::Files { paths, access }, |_| ToolOutput::text("done"))
}

#[tokio::test]
async fn helpers_work_at_the_same_time_and_their_results_keep_the_order() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"tasks": [{"goal": "first thing", "context": "it is blue"}, {"goal": "second thing"}]}
           ---
           when "first thing"
           say "Looking."
           call meet {}
           usage in=100 out=10
           ---
           when "second thing"
           call meet {}
           ---
           when "first thing"
           say "First is done."
           usage in=200 out=20
           ---
           when "second thing"
           say "Second is done."
           ---
           when "go"
           say "Both are done.""#,
    );
    let mut world = Setup::new(&server, vec![meeting(2)]).open();
    let (report, events) = turn(&mut world.agent, "go").await;
    assert_eq!((report.outcome, report.text.as_str()), (Outcome::Completed, "Both are done."));
    server.assert_done();

    let told = result(&world);
    let results = told["results"].as_array().unwrap();
    assert_eq!(results[0]["summary"], "First is done.");
    assert_eq!(results[1]["summary"], "Second is done.");
    assert_eq!((&results[0]["task_index"], &results[0]["status"]), (&0.into(), &"completed".into()));
    assert_eq!((&results[0]["api_calls"], &results[0]["exit_reason"]), (&2.into(), &"completed".into()));
    assert_eq!(results[0]["tokens"], serde_json::json!({"input": 300, "output": 30}));
    assert_eq!(results[0]["tool_trace"][0]["tool"], "meet");
    assert_eq!(results[0]["model"], "mock-model");
    assert!(told["total_duration_seconds"].is_number());
    assert_eq!(report.spending.calls, 6, "what helpers took is part of the turn");

    // A helper knows its task, and nothing of the conversation.
    let first = &requests(&server, "first thing")[0];
    assert!(first.newest_user_text().contains("it is blue"));
    assert!(first.system().contains("You are a helper") && first.system().contains("/workspace"));
    assert!(!String::from_utf8_lossy(&first.raw).contains("Be the parent."));

    // Whoever watches sees who does what.
    let lines: String = events
        .iter()
        .filter_map(
            |event| if let AgentEvent::ToolOutput { text, .. } = event { Some(text.as_str()) } else { None },
        )
        .collect();
    for words in ["[1 first thing]", "[2 second thing]", "meet", "says: Looking.", "completed: 2 model calls"]
    {
        assert!(lines.contains(words), "{words} is missing in:\n{lines}");
    }
}

#[tokio::test]
async fn a_helper_has_a_session_of_its_own_that_is_never_the_latest() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "a thing"}
           ---
           when "a thing"
           say "Done."
           ---
           when "go"
           say "ok""#,
    );
    let mut world = Setup::new(&server, vec![echo()]).open();
    turn(&mut world.agent, "go").await;
    let id = result(&world)["results"][0]["session_id"].as_str().unwrap().to_owned();
    let row = world.store.lock().row(&SessionId::from(id.as_str())).unwrap();
    assert_eq!((row.kind, row.parent.as_ref().map(SessionId::as_str)), (Kind::Delegated, Some(PARENT)));
    assert_eq!(row.end_reason.as_deref(), Some("completed"));
    let latest = world.store.lock().find(&Resume::Latest { source: "cli".into() }).unwrap().unwrap();
    assert_eq!(latest.as_str(), PARENT);
}

#[tokio::test]
async fn more_tasks_than_allowed_are_refused() {
    let server = ModelServer::scripted(
        r#"call delegate_task {"tasks": "[{\"goal\": \"a\"}, {\"goal\": \"b\"}, {\"goal\": \"c\"}]"}
           ---
           say "ok""#,
    );
    let mut setup = Setup::new(&server, vec![]);
    setup.limits.at_once = 2;
    let mut world = setup.open();
    turn(&mut world.agent, "go").await;
    let error = result(&world)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("3 tasks") && error.contains("max_concurrent_children"), "{error}");
    assert_eq!(server.calls().len(), 2, "no helper was started");
}

#[tokio::test]
async fn a_helper_has_no_more_tools_than_its_agent_and_never_some() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "all of it"}
           call delegate_task {"goal": "some of it", "toolsets": ["file", "memory"]}
           call delegate_task {"goal": "none of it", "toolsets": ["browser"]}
           call delegate_task {"goal": "no such", "toolsets": ["nonsense"]}
           ---
           when "of it"
           always
           say "Done."
           ---
           when "go"
           say "ok""#,
    );
    let plain = |name| tool(name, Sharing::Freely, |_| ToolOutput::text(""));
    let tools = vec![
        InSet::of("terminal", "terminal"),
        InSet::of("file", "read_file"),
        InSet::of("memory", "memory"),
        InSet::of("clarify", "clarify"),
        plain("mcp_thing"),
    ];
    let mut world = Setup::new(&server, tools).open();
    turn(&mut world.agent, "go").await;
    assert_eq!(requests(&server, "all of it")[0].tool_names(), ["mcp_thing", "read_file", "terminal"]);
    assert_eq!(requests(&server, "some of it")[0].tool_names(), ["mcp_thing", "read_file"]);
    let told = said(&world.agent).join("\n");
    assert!(told.contains("there is no toolset 'nonsense'"), "{told}");
}

/// A tool of a toolset.
struct InSet {
    set: &'static str,
    tool: Arc<dyn Tool>,
}

impl InSet {
    fn of(set: &'static str, name: &'static str) -> Arc<dyn Tool> {
        Arc::new(Self { set, tool: tool(name, Sharing::Freely, |_| ToolOutput::text("")) })
    }
}

impl Tool for InSet {
    fn spec(&self) -> hermes_model::ToolSpec {
        self.tool.spec()
    }

    fn toolset(&self) -> &'static str {
        self.set
    }

    fn brief(&self, arguments: &hermes_tools::Arguments) -> String {
        self.tool.brief(arguments)
    }

    fn run<'a>(&'a self, run: hermes_tools::Run<'a>) -> hermes_tools::Running<'a> {
        self.tool.run(run)
    }
}

#[tokio::test]
async fn a_budget_counts_what_helpers_take_and_stops_them() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "a costly thing"}
           usage in=100 out=10
           ---
           when "a costly thing"
           say "Half of it."
           call echo {"text": "x"}
           usage in=90000 out=10
           ---
           when "go"
           say "never asked for""#,
    );
    let ledger = Arc::new(MemoryLedger::default());
    let limits = Budget::default().with(Period::Session, Limit { tokens: Some(90_100), money: None });
    let mut setup = Setup::new(&server, vec![echo()]);
    setup.caller = setup.caller.with_meter(Arc::new(Meter::new(limits, Arc::clone(&ledger) as _)));
    let mut world = setup.open();
    let (report, _) = turn(&mut world.agent, "go").await;
    let helper = &result(&world)["results"][0];
    assert_eq!((&helper["status"], &helper["exit_reason"]), (&"failed".into(), &"budget".into()));
    assert_eq!(helper["summary"], "Half of it.");
    assert!(helper["error"].as_str().unwrap().contains("budget.session.tokens"), "{helper}");
    assert_eq!(report.outcome, Outcome::OutOfBudget, "the agent has no more than its helper");
    assert_eq!(server.calls().len(), 2);
    assert_eq!(ledger.spent(&Span::Session(PARENT.into())).unwrap().tokens, 90_120);
    let turns: Vec<String> = ledger.entries().into_iter().map(|entry| entry.scope.turn).collect();
    assert_eq!(turns[0], turns[1], "it is one turn");
}

#[tokio::test]
async fn a_helper_can_have_a_limit_of_its_own() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "a long thing"}
           ---
           when "a long thing"
           always
           call echo {"text": "x"}
           usage in=600 out=1
           ---
           when "go"
           say "Enough.""#,
    );
    let mut setup = Setup::new(&server, vec![echo()]);
    setup.limits.tokens = Some(1000);
    let mut world = setup.open();
    let (report, _) = turn(&mut world.agent, "go").await;
    assert_eq!(report.text, "Enough.");
    let helper = &result(&world)["results"][0];
    assert_eq!((&helper["exit_reason"], &helper["api_calls"]), (&"budget".into(), &2.into()));
    assert!(helper["error"].as_str().unwrap().contains("delegation.max_tokens"));
}

/// A person who says the same to everything.
struct Person(Reply, Mutex<Vec<String>>);

impl Answerer for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> Waiting<'a, Reply> {
        self.1.lock().unwrap().push(format!("{}: {}", question.subject, question.text));
        Box::pin(std::future::ready(self.0.clone()))
    }
}

const ASKS: &str = r#"when "go"
    call delegate_task {"goal": "build it"}
    ---
    when "build it"
    call ask {"text": "git push --force"}
    ---
    when "build it"
    call ask {"text": "git push --force", "count": 2}
    ---
    when "build it"
    say "Done."
    ---
    when "go"
    say "ok""#;

#[tokio::test]
async fn helpers_ask_the_same_person_through_the_same_gate() {
    let server = ModelServer::scripted(ASKS);
    // The second choice is "and this same command again".
    let person = Arc::new(Person(Reply::Choice(1), Mutex::default()));
    let mut setup = Setup::new(&server, vec![asking()]);
    let gate = Arc::new(AskGate::new(Mode::default(), Some(Arc::clone(&person) as Arc<dyn Answerer>)));
    setup.gate = Arc::clone(&gate) as Arc<dyn Gate>;
    let mut world = setup.open();
    turn(&mut world.agent, "go").await;
    let asked = person.1.lock().unwrap().clone();
    assert_eq!(asked.len(), 1, "what was granted once stays granted: {asked:?}");
    assert!(
        asked[0].starts_with("git push --force: ") && asked[0].contains("helper \"build it\""),
        "{asked:?}"
    );
    let own = Action::Command { line: "git push --force", workdir: None, reach: Reach::Host };
    assert_eq!(gate.decide(&own).await, Verdict::Allowed, "the grant is the conversation's");
}

#[tokio::test]
async fn with_nobody_to_ask_a_helper_is_refused() {
    let server = ModelServer::scripted(ASKS);
    let mut setup = Setup::new(&server, vec![asking()]);
    setup.gate = Arc::new(AskGate::new(Mode::default(), None));
    let mut world = setup.open();
    turn(&mut world.agent, "go").await;
    let results = requests(&server, "build it").last().unwrap().tool_results();
    assert!(results.iter().all(|(_, text)| text.contains("nobody can be asked")), "{results:?}");
    assert_eq!(result(&world)["results"][0]["tool_trace"][0]["status"], "error");
}

const HOLDS: &str = r#"when "go"
    call delegate_task {"goal": "a slow thing"}
    ---
    when "a slow thing"
    say "I wrote the notes."
    call write {}
    ---
    when "a slow thing"
    say "Now I wait."
    call hold {}
    ---
    when "go"
    say "ok""#;

#[tokio::test]
async fn an_interrupt_ends_helpers_at_once_and_keeps_what_they_did() {
    let server = ModelServer::scripted(HOLDS);
    let (begun, ended) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
    let tools = vec![touching("write", Access::Write), holding(&begun, &ended)];
    let mut world = Setup::new(&server, tools).open();
    let control = Control::new();
    let interrupt = async {
        begun.notified().await;
        control.interrupt();
    };
    let ((report, _), ()) = tokio::join!(controlled(&mut world.agent, "go", &control), interrupt);
    assert_eq!((report.outcome, ended.load(Ordering::SeqCst)), (Outcome::Interrupted, 1));
    let helper = &result(&world)["results"][0];
    assert_eq!(helper["status"], "interrupted");
    assert_eq!(helper["summary"], "Now I wait.");
    assert_eq!(helper["files_written"], serde_json::json!(["/project/notes.txt"]));
    assert_eq!(helper["tool_calls"], 2);
    let notes = helper["notes"].to_string();
    assert!(notes.contains("hermes sessions show"), "{notes}");
}

#[tokio::test]
async fn a_helper_whose_time_is_up_gives_what_it_has() {
    let server = ModelServer::scripted(HOLDS);
    let (begun, ended) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
    let tools = vec![touching("write", Access::Write), holding(&begun, &ended)];
    let mut setup = Setup::new(&server, tools);
    setup.limits.time = Some(Duration::from_secs(2));
    let mut world = setup.open();
    let (report, _) = turn(&mut world.agent, "go").await;
    assert_eq!((report.text.as_str(), ended.load(Ordering::SeqCst)), ("ok", 1));
    let helper = &result(&world)["results"][0];
    assert_eq!((&helper["status"], &helper["summary"]), (&"timeout".into(), &"Now I wait.".into()));
    let id = SessionId::from(helper["session_id"].as_str().unwrap());
    assert_eq!(world.store.lock().row(&id).unwrap().end_reason.as_deref(), Some("timeout"));
}

#[tokio::test]
async fn what_happens_to_one_helper_is_a_result_and_the_others_go_on() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"tasks": [{"goal": "the refused"}, {"goal": "the lucky"}]}
           ---
           when "the refused"
           status 401
           ---
           when "the lucky"
           say "Done."
           ---
           when "go"
           say "ok""#,
    );
    let mut world = Setup::new(&server, vec![]).open();
    let (report, _) = turn(&mut world.agent, "go").await;
    assert_eq!(report.outcome, Outcome::Completed);
    let told = result(&world);
    assert_eq!(
        (&told["results"][0]["status"], &told["results"][1]["status"]),
        (&"failed".into(), &"completed".into())
    );
    assert!(told["results"][0]["error"].as_str().unwrap().contains("401"), "{told}");
}

#[tokio::test]
async fn a_helper_that_breaks_is_a_result_too() {
    let server = ModelServer::scripted(
        "when \"go\"\ncall delegate_task {\"goal\": \"a thing\"}\n---\nwhen \"go\"\nsay \"ok\"",
    );
    let mut setup = Setup::new(&server, vec![]);
    // The second look at the clock is the helper's own.
    let looked = AtomicUsize::new(0);
    setup.clock = Arc::new(move || {
        assert_ne!(looked.fetch_add(1, Ordering::SeqCst), 1, "the clock breaks");
        "2026-01-05T12:00:00[UTC]".parse().unwrap()
    });
    let mut world = setup.open();
    let (report, _) = turn(&mut world.agent, "go").await;
    assert_eq!(report.text, "ok");
    let helper = &result(&world)["results"][0];
    assert_eq!((&helper["status"], &helper["exit_reason"]), (&"error".into(), &"crashed".into()));
}

#[tokio::test]
async fn orchestrators_delegate_as_deep_as_they_may() {
    let script = r#"when "go"
        call delegate_task {"goal": "the outer", "role": "orchestrator"}
        ---
        when "the outer"
        call delegate_task {"goal": "the inner", "role": "orchestrator"}
        ---
        when "the inner"
        say "Inner done."
        usage in=50 out=5
        ---
        when "the outer"
        say "Outer done."
        ---
        when "go"
        say "ok""#;
    let server = ModelServer::scripted(script);
    let mut setup = Setup::new(&server, vec![echo()]);
    setup.limits.depth = 2;
    let mut world = setup.open();
    let (report, events) = turn(&mut world.agent, "go").await;
    server.assert_done();
    assert_eq!(requests(&server, "the outer")[0].tool_names(), ["delegate_task", "echo"]);
    assert_eq!(requests(&server, "the inner")[0].tool_names(), ["echo"]);
    let inner = requests(&server, "the outer")[1].tool_results()[0].1.clone();
    assert!(inner.contains("could not be an orchestrator"), "{inner}");
    assert_eq!(report.spending.calls, 5, "helpers of helpers count too");
    let nested = |event: &AgentEvent| matches!(event, AgentEvent::ToolOutput { text, .. } if text.contains("[the outer]") && text.contains("[the inner]"));
    assert!(events.iter().any(nested), "{events:?}");

    // One generation is the preset.
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "the outer", "role": "orchestrator"}
           ---
           when "the outer"
           say "Alone."
           ---
           when "go"
           say "ok""#,
    );
    let mut world = Setup::new(&server, vec![echo()]).open();
    turn(&mut world.agent, "go").await;
    assert_eq!(requests(&server, "the outer")[0].tool_names(), ["echo"]);
    assert!(result(&world)["results"][0]["notes"].to_string().contains("max_spawn_depth"));
}

#[tokio::test]
async fn a_file_that_was_read_and_changed_by_a_helper_is_named() {
    let server = ModelServer::scripted(
        r#"when "go"
           call read {}
           ---
           when "go"
           call delegate_task {"goal": "change it"}
           ---
           when "change it"
           call write {}
           ---
           when "change it"
           say "Changed."
           ---
           when "go"
           say "ok""#,
    );
    let tools = vec![touching("read", Access::Read), touching("write", Access::Write)];
    let mut world = Setup::new(&server, tools).open();
    turn(&mut world.agent, "go").await;
    let notes = result(&world)["results"][0]["notes"].to_string();
    assert!(notes.contains("read them again: /project/notes.txt"), "{notes}");
}

#[tokio::test]
async fn work_in_the_background_returns_at_once_and_is_told_when_it_is_over() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "a thing beside", "background": true}
           ---
           when "a thing beside"
           call meet {}
           ---
           when "a thing beside"
           say "Found it."
           ---
           when "go"
           say "It runs."
           ---
           when "what came of it"
           say "It was found.""#,
    );
    let mut world = Setup::new(&server, vec![meeting(2)]).open();
    let (report, _) = turn(&mut world.agent, "go").await;
    assert_eq!(report.text, "It runs.", "the conversation does not wait");
    let told = result(&world);
    assert_eq!((&told["id"], &told["status"]), (&"deleg_1".into(), &"running".into()));
    assert_eq!(world.agent.family().running(), 1);

    // The helper goes on as soon as somebody meets it.
    let other = world.agent.tools().get("meet").unwrap().clone();
    let (arguments, cancel, progress) = (
        hermes_tools::Arguments::new(),
        tokio_util::sync::CancellationToken::new(),
        hermes_tools::Progress::silent(),
    );
    other
        .run(hermes_tools::Run {
            call_id: "x",
            arguments: &arguments,
            session: "x",
            cancel: &cancel,
            progress: &progress,
            gate: &Open,
            most_chars: 100_000,
        })
        .await;
    world.news.changed().await;
    assert!(world.agent.look_at_news().unwrap().contains("Found it."));
    assert!(world.agent.has_ends(), "it is worth a turn");
    assert_eq!(world.agent.family().running(), 0);
    turn(&mut world.agent, "what came of it").await;
    let asked = server.last_call().newest_user_text();
    assert!(asked.contains("deleg_1") && asked.contains("Found it."), "{asked}");
}

#[tokio::test]
async fn work_in_the_background_can_be_looked_at_waited_for_and_ended() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "hold on", "background": true}
           ---
           when "hold on"
           say "I hold."
           call hold {}
           ---
           when "go"
           say "It runs."
           ---
           when "how is it"
           call delegate_task {"action": "status", "id": "deleg_1"}
           call delegate_task {"goal": "too much"}
           call delegate_task {"action": "cancel", "id": "deleg_1"}
           call delegate_task {"action": "wait", "id": "deleg_1"}
           call delegate_task {"action": "wait", "id": "deleg_9"}
           ---
           when "how is it"
           say "It is over.""#,
    );
    let (begun, ended) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
    let mut setup = Setup::new(&server, vec![holding(&begun, &ended)]);
    setup.limits.at_once = 1;
    let mut world = setup.open();
    turn(&mut world.agent, "go").await;
    begun.notified().await;
    turn(&mut world.agent, "how is it").await;
    let results: Vec<String> =
        server.last_call().tool_results().into_iter().skip(1).map(|(_, text)| text).collect();
    assert!(results[0].contains("\"running\"") && results[0].contains("hold"), "{}", results[0]);
    assert!(results[1].contains("1 of the 1 helpers"), "{}", results[1]);
    assert!(results[2].contains("interrupted") && results[2].contains("I hold."), "{}", results[2]);
    assert!(results[3].contains("I hold."), "{}", results[3]);
    assert!(results[4].contains("no delegation 'deleg_9'"), "{}", results[4]);
    assert_eq!(ended.load(Ordering::SeqCst), 1);
    assert_eq!(world.agent.take_news(), None, "what was waited for is not told again");
}

#[tokio::test]
async fn helpers_in_the_background_end_with_their_agent() {
    let server = ModelServer::scripted(
        r#"when "go"
           call delegate_task {"goal": "hold on", "background": true}
           ---
           when "hold on"
           call hold {}
           ---
           when "go"
           say "It runs.""#,
    );
    let (begun, ended) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicUsize::new(0)));
    let mut world = Setup::new(&server, vec![holding(&begun, &ended)]).open();
    turn(&mut world.agent, "go").await;
    begun.notified().await;
    let id = result(&world)["session_ids"][0].as_str().unwrap().to_owned();
    world.agent.close().await;
    assert_eq!((ended.load(Ordering::SeqCst), world.agent.family().running()), (1, 0));
    let row = world.store.lock().row(&SessionId::from(id.as_str())).unwrap();
    assert_eq!(row.end_reason.as_deref(), Some("interrupted"), "how far it got is on record");
}

#[test]
fn the_description_is_short() {
    let delegate = Delegate::new(None, Family::default(), Toolbox::default(), Arc::new(Open));
    let spec = delegate.spec();
    let bytes = serde_json::json!({"name": spec.name, "description": spec.description, "parameters": spec.parameters});
    assert!(bytes.to_string().len() < 1000, "{}", bytes.to_string().len());
}
