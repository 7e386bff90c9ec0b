//! `hermes model`, `fallback`, `auth` and `setup` as a user runs them: the real binary, a real server, a real terminal.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod choosing;
mod fallbacks;
mod keys;
mod looking;
mod setting_up;
mod terminal;
mod wizard;

use hermes_testkit::model::{KeyFor, ModelServer};
use hermes_testkit::{Finished, Hermes, TestHome};

/// The key the servers of these tests take.
const KEY: &str = "sk-or-v1-0123456789abcdef0123456789abcdef";
/// One they do not take.
const WRONG: &str = "sk-or-v1-ffffffffffffffffffffffffffffffff";

fn hermes(home: &TestHome, args: &[&str]) -> Finished {
    command(home, args).run()
}

fn command(home: &TestHome, args: &[&str]) -> Hermes {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).args(args)
}

/// A server that stands in for `OpenRouter` and takes only [`KEY`].
fn openrouter(home: &TestHome, script: &str, what: KeyFor) -> ModelServer {
    let server = ModelServer::scripted(script);
    server.set_models(["alpha/one", "alpha/two", "beta/three"]);
    server.set_window("alpha/two", 65_536);
    server.require_key(KEY, what);
    home.env_file(format!("OPENROUTER_BASE_URL={}\n", server.openai_url()));
    server
}
