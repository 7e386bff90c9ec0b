//! Starts the container engine for tests before a test run, and stops it afterwards.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command line program")]

use std::process::ExitCode;

use hermes_testkit::Engine;
use hermes_testkit::engine::{EngineError, Shutdown, Stopped};

const USAGE: &str = "\
usage: hermes-test-engine start [--for PID]
       hermes-test-engine stop [--for PID | --force]

start  finds or starts a container engine and prints DOCKER_HOST=...; it stays up while process PID lives
       (default: the parent process)
stop   ends it and removes all it made, unless other processes still use it; --force ends it in any case
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let parent = std::os::unix::process::parent_id();
    let done = match args.as_slice() {
        ["start"] => start(parent),
        ["stop"] => stop(Shutdown::UnlessUsed { holder: parent }),
        ["stop", "--force"] => stop(Shutdown::Now),
        [verb @ ("start" | "stop"), "--for", pid] => match (pid.parse(), *verb) {
            (Ok(holder), "start") => start(holder),
            (Ok(holder), _) => stop(Shutdown::UnlessUsed { holder }),
            (Err(_), _) => return wrong_usage(),
        },
        _ => return wrong_usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hermes-test-engine: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start(holder: u32) -> Result<(), EngineError> {
    let engine = Engine::get()?;
    Engine::hold_for(holder)?;
    for (name, value) in engine.env() {
        println!("{name}={value}");
    }
    Ok(())
}

fn stop(when: Shutdown) -> Result<(), EngineError> {
    match Engine::shutdown(when)? {
        Stopped::Removed => eprintln!("hermes-test-engine: stopped, and all it made is removed"),
        Stopped::NothingThere => eprintln!("hermes-test-engine: nothing to stop"),
        Stopped::StillUsed(pids) => {
            let pids: Vec<_> = pids.iter().map(u32::to_string).collect();
            eprintln!("hermes-test-engine: left running, still used by process {}", pids.join(", "));
        }
    }
    Ok(())
}

fn wrong_usage() -> ExitCode {
    eprint!("{USAGE}");
    ExitCode::from(2)
}
