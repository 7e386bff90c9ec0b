//! Conversations in `state.db`: kept before they are acted on, gone on with by another process, taken back, counted.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::{Arc, Mutex};

use hermes_agent::{Agent, History, Journal, Rules, SharedStore, StoreJournal, StoreLedger};
use hermes_model::budget::{Limit, Limits, Meter, Period};
use hermes_model::{Caller, Message};
use hermes_store::sessions::{Kind, NewSession, Resume, Role, SessionId, SessionStore, View};
use hermes_testkit::model::ModelServer;
use hermes_tools::{Sharing, Tool, ToolOutput};
use support::{agent_over, caller, echo, route, said, slow_tool, turn};

const ID: &str = "20260105_120000_abcdef";

fn store(dir: &Path) -> SharedStore {
    SharedStore::new(SessionStore::open(&dir.join("state.db")).unwrap())
}

fn begin(store: &SharedStore) -> StoreJournal {
    let now = "2026-01-05T12:00:00Z".parse().unwrap();
    let mut session = NewSession::new(SessionId::from(ID), "cli", now);
    session.model = Some("mock-model".into());
    StoreJournal::begin(store.clone(), session, "127.0.0.1")
}

fn over(journal: StoreJournal, history: History, caller: Caller, tools: Vec<Arc<dyn Tool>>) -> Agent {
    agent_over(Box::new(journal), history, caller, tools, Rules::default())
}

#[tokio::test]
async fn a_conversation_goes_on_in_another_process_with_the_same_messages() {
    let dir = tempfile::tempdir().unwrap();
    let server = ModelServer::scripted(
        "think \"hm\"\nsay \"Looking.\"\ncall echo {\"text\": \"one\"}\n---\nsay \"It is one.\"\n---\nsay \"Still one.\"",
    );
    let first = store(dir.path());
    let mut agent = over(begin(&first), History::default(), caller(vec![route(&server)]), vec![echo()]);
    turn(&mut agent, "look").await;
    let before = said(&agent);
    drop((agent, first));

    let second = store(dir.path());
    let id = second.lock().find(&Resume::Latest { source: "cli".into() }).unwrap().unwrap();
    let (journal, history) = StoreJournal::resume(second.clone(), id, "127.0.0.1").unwrap();
    let mut agent = over(journal, history, caller(vec![route(&server)]), vec![echo()]);
    assert_eq!(said(&agent), before);
    turn(&mut agent, "and now?").await;
    let calls = server.calls();
    let (earlier, later) = (calls[1].messages(), calls[2].messages());
    assert_eq!(&later[..earlier.len()], earlier, "the provider's cache holds across processes");
    let row = second.lock().row(&SessionId::from(ID)).unwrap();
    assert_eq!((row.message_count, row.tool_call_count, row.api_call_count), (6, 1, 3));
}

#[tokio::test]
async fn everything_is_on_record_before_a_tool_starts() {
    let dir = tempfile::tempdir().unwrap();
    let seen: Arc<Mutex<Vec<Role>>> = Arc::default();
    let (path, found) = (dir.path().join("state.db"), Arc::clone(&seen));
    let look = slow_tool("look", Sharing::InOrder, move |_| {
        // Another connection, as another process would have it.
        let mut other = SessionStore::open_read_only(&path).unwrap();
        let rows = other.messages(&SessionId::from(ID), View::Active).unwrap();
        *found.lock().unwrap() = rows.into_iter().map(|row| row.message.role).collect();
        Box::pin(async { ToolOutput::text("seen") })
    });
    let server = ModelServer::scripted("call look {}\n---\nsay \"ok\"");
    let store = store(dir.path());
    let mut agent = over(begin(&store), History::default(), caller(vec![route(&server)]), vec![look]);
    turn(&mut agent, "go").await;
    assert_eq!(*seen.lock().unwrap(), [Role::User, Role::Assistant]);
}

#[tokio::test]
async fn a_session_nobody_spoke_in_leaves_no_trace() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let mut journal = begin(&store);
    journal.keep_prompt("Be brief.").unwrap();
    drop(journal);
    assert_eq!(store.lock().find(&Resume::Id(SessionId::from(ID))).unwrap(), None);
}

#[tokio::test]
async fn what_was_taken_back_stays_taken_back_and_the_next_answer_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let server = ModelServer::scripted("say \"1\"\n---\nsay \"2\"\n---\nsay \"3\"");
    let first = store(dir.path());
    let mut agent = over(begin(&first), History::default(), caller(vec![route(&server)]), vec![]);
    turn(&mut agent, "a").await;
    turn(&mut agent, "b").await;
    assert_eq!(agent.undo(1).unwrap().unwrap().text(), "b");
    turn(&mut agent, "c").await;
    let (_, history) = StoreJournal::resume(store(dir.path()), SessionId::from(ID), "").unwrap();
    let texts: Vec<String> = history.messages().map(Message::text).collect();
    assert_eq!(texts, ["a", "1", "c", "3"]);
    let all = first.lock().messages(&SessionId::from(ID), View::All).unwrap();
    assert_eq!(all.len(), 6, "nothing is destroyed");
}

#[test]
fn an_answer_that_was_being_written_when_its_process_was_killed_is_not_lost() {
    let dir = tempfile::tempdir().unwrap();
    let shared = store(dir.path());
    let mut journal = begin(&shared);
    let at = "2026-01-05T12:00:00Z".parse().unwrap();
    let question = Message::user("tell me");
    journal.append(&hermes_agent::journal::Said { message: &question, finish: None, at }).unwrap();
    journal.keep_draft(Some("Once upon")).unwrap();
    journal.keep_draft(Some("Once upon a time")).unwrap();
    drop(journal);
    for _ in 0..2 {
        let (_, history) = StoreJournal::resume(store(dir.path()), SessionId::from(ID), "").unwrap();
        let texts: Vec<String> = history.messages().map(Message::text).collect();
        assert_eq!(texts, ["tell me", "Once upon a time"], "it is taken over once");
    }
}

#[tokio::test]
async fn spending_is_on_record_and_limits_hold_across_processes() {
    let dir = tempfile::tempdir().unwrap();
    let server = ModelServer::scripted("always\nsay \"ok\"\nusage in=900 out=50");
    let run = async |dir: &Path| {
        let store = store(dir);
        let limits = Limits::default().with(Period::Day, Limit { tokens: Some(950), money: None });
        let meter = Arc::new(Meter::new(limits, Arc::new(StoreLedger::new(store.clone()))));
        let caller = caller(vec![route(&server)]).with_meter(meter);
        let mut session =
            NewSession::new(SessionId::from(ID), "cli", "2026-01-05T12:00:00Z".parse().unwrap());
        session.kind = Kind::OneShot;
        let journal = StoreJournal::begin(store, session, "");
        turn(&mut over(journal, History::default(), caller, vec![]), "go").await.0
    };
    assert_eq!(run(dir.path()).await.outcome, hermes_agent::Outcome::Completed);
    let second = run(dir.path()).await;
    assert_eq!(second.outcome, hermes_agent::Outcome::OutOfBudget);
    assert!(second.error.unwrap().contains("day"));
    assert_eq!(server.calls().len(), 1);
}
