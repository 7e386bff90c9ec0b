//! `hermes kanban`, through the real binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod answers;
mod archives;
mod boards;
mod boxes;
mod cards;
mod dispatch;
mod dispatcher;
mod guard;
mod people;
mod triage;

use hermes_testkit::{Finished, Hermes, TestHome};

/// `hermes kanban ...` in this home.
fn kanban(home: &TestHome, args: &[&str]) -> Finished {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).arg("kanban").args(args).run()
}

/// Makes a card and gives its name.
fn create(home: &TestHome, args: &[&str]) -> String {
    let made = kanban(home, &[&["create"], args].concat());
    made.success();
    made.out().split_whitespace().nth(1).unwrap().to_owned()
}
