//! `hermes profile`, through the real binary.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod aliases;
mod archive;
mod crashing;
mod looking;
mod making;
mod packing;
mod removing;
mod renaming;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use hermes_testkit::{Finished, Hermes, Running, TestHome};

/// `hermes profile ...` in this home.
fn command(home: &TestHome, args: &[&str]) -> Hermes {
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), home).arg("profile").args(args)
}

fn profile(home: &TestHome, args: &[&str]) -> Finished {
    command(home, args).run()
}

/// A home that already has these profiles, without aliases.
fn home_with(names: &[&str]) -> TestHome {
    let home = TestHome::new();
    for name in names {
        profile(&home, &["create", name, "--no-alias"]).success();
    }
    home
}

fn dir(home: &TestHome, name: &str) -> PathBuf {
    home.path().join("profiles").join(name)
}

/// What `profile list` names.
fn listed(home: &TestHome) -> Vec<String> {
    let finished = profile(home, &["list", "--json"]);
    finished.success();
    finished.json().as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect()
}

/// Everything in the profiles directory, hidden entries too, but the lock and a file that the next writer replaces.
fn entries(home: &TestHome) -> BTreeSet<String> {
    let names = fs::read_dir(home.path().join("profiles")).into_iter().flatten();
    names
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .filter(|n| n != ".lock" && !n.ends_with(".hermes-write"))
        .collect()
}

fn alias_path(home: &TestHome, name: &str) -> PathBuf {
    home.user_home().join(".local/bin").join(name)
}

/// A process that stands in for the gateway of the profile at `dir`, with the files that name it.
fn start_gateway(home: &TestHome, dir: &Path) -> Running {
    let process = Hermes::new("/bin/sleep", home).arg("600").spawn();
    let stat = fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
    let started = stat.rsplit_once(')').unwrap().1.split_whitespace().nth(19).unwrap();
    let record = format!(
        r#"{{"pid": {}, "kind": "hermes-gateway", "argv": [], "start_time": {started}}}"#,
        process.pid()
    );
    fs::write(dir.join("gateway.pid"), record).unwrap();
    process
}
