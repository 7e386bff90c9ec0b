//! A `state.db` in a temporary directory, and short ways to say things in it.

use std::path::PathBuf;

use hermes_store::sessions::{
    Body, Kind, MessageId, NewMessage, NewSession, Role, SessionId, SessionStore, View,
};
use jiff::Timestamp;
use tempfile::TempDir;

/// A store that is gone with the test. Its clock goes on by a second with everything that happens.
pub struct Fixture {
    directory: TempDir,
    pub store: SessionStore,
    now: i64,
}

pub fn id(name: &str) -> SessionId {
    SessionId::from(name)
}

impl Fixture {
    pub fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = SessionStore::open(&directory.path().join("state.db")).unwrap();
        Self { directory, store, now: 1_800_000_000 }
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("state.db")
    }

    pub fn now(&mut self) -> Timestamp {
        self.now += 1;
        Timestamp::from_second(self.now).unwrap()
    }

    /// A session through the usual door.
    pub fn session(&mut self, name: &str) -> SessionId {
        self.session_with(name, |_| ())
    }

    pub fn session_with(&mut self, name: &str, change: impl FnOnce(&mut NewSession)) -> SessionId {
        let mut new = NewSession::new(id(name), "cli", self.now());
        change(&mut new);
        self.store.create(&new).unwrap();
        new.id
    }

    /// A session under another.
    pub fn child(&mut self, name: &str, parent: &SessionId, kind: Kind) -> SessionId {
        self.session_with(name, |new| {
            new.parent = Some(parent.clone());
            new.kind = kind;
        })
    }

    pub fn say(&mut self, session: &SessionId, role: Role, text: &str) -> MessageId {
        let message = NewMessage::new(role, text, self.now());
        self.store.append(session, &message).unwrap()
    }

    /// A question and its answer.
    pub fn turn(&mut self, session: &SessionId, question: &str, answer: &str) -> (MessageId, MessageId) {
        (self.say(session, Role::User, question), self.say(session, Role::Assistant, answer))
    }

    /// What the model would see.
    pub fn seen(&mut self, session: &SessionId) -> Vec<String> {
        self.texts(session, View::Active)
    }

    pub fn texts(&mut self, session: &SessionId, view: View) -> Vec<String> {
        let messages = self.store.messages(session, view).unwrap();
        messages.iter().map(|m| m.message.content.as_ref().map(Body::text).unwrap_or_default()).collect()
    }
}
