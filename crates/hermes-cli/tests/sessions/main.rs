//! `hermes sessions` and `hermes insights`, through the real binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod changing;
mod looking;

use hermes_store::sessions::{
    Clash, Kind, NewMessage, NewSession, Role, SessionId, SessionStore, UsageDelta,
};
use hermes_testkit::{Finished, Hermes, TestHome};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

/// `hermes sessions ...` in this home.
fn sessions(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).arg("sessions").args(args).run()
}

fn store(home: &TestHome) -> SessionStore {
    SessionStore::open(&home.path().join("state.db")).unwrap()
}

fn days_ago(days: i64) -> Timestamp {
    Timestamp::now() - SignedDuration::from_hours(24 * days)
}

const FRESH: &str = "20260105_120000_aaaaaa";
const OLD: &str = "20250101_120000_bbbbbb";

/// A home with a fresh conversation, an old one that ended, and a helper's.
fn home() -> TestHome {
    let home = TestHome::new();
    let mut store = store(&home);
    let mut fresh = NewSession::new(SessionId::from(FRESH), "cli", days_ago(1));
    fresh.model = Some("vendor/large".into());
    fresh.cwd = Some("/w".into());
    store.create(&fresh).unwrap();
    let call = NewMessage {
        tool_calls: Some(
            json!([{"id": "1", "function": {"name": "terminal", "arguments": "{\"command\":\"ls\"}"}}]),
        ),
        ..NewMessage::empty(Role::Assistant, days_ago(1))
    };
    let result = NewMessage {
        tool_name: Some("terminal".into()),
        tool_call_id: Some("1".into()),
        ..NewMessage::new(Role::Tool, "1\n2\n3\n4\n5\n6\n7\n8", days_ago(1))
    };
    let words = [
        NewMessage::new(Role::User, "list the\u{1b}[31m zebras", days_ago(1)),
        call,
        result,
        NewMessage::new(Role::Assistant, "there are eight", days_ago(1)),
    ];
    store.append_all(&fresh.id, &words).unwrap();
    let usage = UsageDelta {
        input: 1200,
        output: 34,
        api_calls: 2,
        estimated_cost_usd: Some(0.0042),
        model: Some("vendor/large".into()),
        billing_provider: Some("vendor".into()),
        ..UsageDelta::default()
    };
    store.add_usage(&fresh.id, &usage, days_ago(1)).unwrap();

    let old = NewSession::new(SessionId::from(OLD), "telegram", days_ago(200));
    store.create(&old).unwrap();
    store.append(&old.id, &NewMessage::new(Role::User, "ages ago", days_ago(200))).unwrap();
    store.set_title(&old.id, "Old Work", Clash::Refuse).unwrap();
    store.end(&old.id, "user_exit", days_ago(200)).unwrap();

    let mut helper = NewSession::new(SessionId::from("20250101_120001_cccccc"), "cli", days_ago(199));
    helper.kind = Kind::Delegated;
    helper.parent = Some(old.id);
    store.create(&helper).unwrap();
    store.append(&helper.id, &NewMessage::new(Role::User, "help", days_ago(199))).unwrap();
    home
}

/// The ids that a list in JSON names.
fn ids(finished: &Finished) -> Vec<String> {
    finished.success();
    finished.json().as_array().unwrap().iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
}
