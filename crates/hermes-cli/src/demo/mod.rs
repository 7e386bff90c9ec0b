//! `hermes demo`: the whole program on a small piece of work, without a key, a network or anything left behind.
//!
//! Only the model is scripted, and it says so. The loop, the sandbox, the files and the session are the real ones, in a
//! home and a directory that are removed at the end.

mod board;
mod data;
mod model;
mod script;

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hermes_agent::assembly::{self, Consent, Kind, Opened, Opening, TellId};
use hermes_agent::{Control, Outcome};
use hermes_home::{Home, Locator, Settings};
use hermes_model::Content;
use hermes_model::provider::Wanted;

use crate::app::App;
use crate::talk::ending::Interrupts;
use crate::talk::plain::{Detail, Paint, Plain};
use crate::ui;

/// See the agent at work: no key, no network, nothing left in your home
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Run the commands on this machine although a container engine is there
    #[arg(long)]
    local: bool,
    /// Keep the directory of the demo and say where it is
    #[arg(long)]
    keep: bool,
    /// See the board instead: a small project is split, worked on by three profiles, reviewed and finished
    #[arg(long)]
    board: bool,
}

const QUESTION: &str =
    "Something in access.log fails. Find out what and since when, and write a short report.";

/// Runs the demo.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    if args.board {
        return board::run(app, args);
    }
    let began = Instant::now();
    let interrupts = Interrupts::watch()?;
    let room = tempfile::Builder::new()
        .prefix("hermes-demo-")
        .tempdir()
        .context("no temporary directory can be made")?;
    let work = room.path().join("work");
    std::fs::create_dir(&work)?;
    let log = data::access_log();
    std::fs::write(work.join("access.log"), &log)?;
    let place = if args.local { Place::Local } else { place(app) };
    let opened = open(app, room.path(), &work, &place)?;
    introduce(&place)?;
    let (outcome, error, session) = work_on_it(opened, interrupts.control())?;
    if outcome == Outcome::Interrupted {
        ui::note("hermes: interrupted; nothing is left of the demo");
        return Ok(interrupts.exit_code(outcome));
    }
    let checked = check(&log, &work);
    let rest = if args.keep {
        format!("Kept: {}", room.keep().display())
    } else {
        "All of it is removed now.".to_owned()
    };
    let took = format!("{session}, {:.1} s", began.elapsed().as_secs_f64());
    conclude(&work, &took, &rest, &checked)?;
    if let Some(error) = error {
        ui::note(&format!("hermes: {error}"));
    }
    let good = outcome == Outcome::Completed && checked.is_ok();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) })
}

/// Where the commands of the demo run.
enum Place {
    /// In a container of this image.
    Container {
        /// The engine's command.
        engine: String,
        /// The image.
        image: String,
    },
    /// On this machine, in a temporary directory.
    Local,
}

/// A container where an engine answers at once and the image of the settings is there: a demo pulls nothing.
fn place(app: &App) -> Place {
    let image = app
        .settings()
        .ok()
        .and_then(|settings| settings.get(&hermes_home::settings::table::terminal::DOCKER_IMAGE).ok())
        .unwrap_or_default();
    for engine in ["docker", "podman"] {
        if !image.is_empty() && has_image(engine, &image) {
            return Place::Container { engine: engine.to_owned(), image };
        }
    }
    Place::Local
}

/// Whether an engine has an image, answered within two seconds or not at all.
fn has_image(engine: &str, image: &str) -> bool {
    let mut command = Command::new(engine);
    command
        .args(["image", "inspect", image])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return false };
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return status.success(),
            Ok(None) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(10)),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// A home of its own with the scripted model and the place in its settings.
fn open(app: &App, room: &Path, work: &Path, place: &Place) -> anyhow::Result<Opened> {
    let home_dir = room.join("home");
    std::fs::create_dir(&home_dir)?;
    let address =
        model::serve(script::next).context("no loopback port can be opened for the scripted model")?;
    let terminal = match place {
        Place::Container { image, .. } => format!(
            "terminal:\n  backend: docker\n  docker_image: {}\n  docker_mount_cwd_to_workspace: true\n  docker_persist_across_processes: false\n  container_persistent: false\n",
            serde_json::to_string(image)?
        ),
        Place::Local => "terminal:\n  backend: local\n".to_owned(),
    };
    let config = format!(
        "model:\n  provider: custom\n  base_url: {address}\n  default: {}\n  context_length: 128000\n{terminal}",
        model::NAME
    );
    std::fs::write(home_dir.join("config.yaml"), config)?;
    let home = Home::locate(&Locator {
        hermes_home: Some(home_dir.into_os_string()),
        user_home: app.user_home(),
        profile_flag: None,
    })?;
    // Settings of the environment belong to the user's own home, not to the demo.
    let mut env = app.env.clone();
    env.retain(|name, _| {
        let name = name.to_string_lossy();
        !name.starts_with("HERMES_") && !name.starts_with("TERMINAL_")
    });
    if let Place::Container { engine, .. } = place {
        env.insert("HERMES_DOCKER_BINARY".into(), engine.into());
    }
    let settings = Settings::load(&home, &env)?;
    Ok(assembly::open(Opening {
        home,
        settings,
        env,
        cwd: work.to_path_buf(),
        wanted: Wanted::default(),
        toolsets: vec!["terminal".to_owned()],
        resume: None,
        source: "cli".to_owned(),
        kind: Kind::Conversation,
        rules: hermes_agent::prompt::Rules::Ignore,
        consent: Consent::Yolo,
        person: None,
        most_calls: None,
        session_id: TellId::No,
    })?)
}

fn introduce(place: &Place) -> anyhow::Result<()> {
    let place = match place {
        Place::Container { engine, image } => format!("a {engine} container of '{image}'"),
        Place::Local => "a temporary directory of this machine".to_owned(),
    };
    ui::print(&format!(
        "The model is a built-in script ('{}'); everything else is real.\nCommands run in {place}.\n\n> {QUESTION}\n",
        model::NAME
    ))?;
    Ok(())
}

/// What came of the turn: how it ended, what went wrong, and the session as it was stored.
fn work_on_it(opened: Opened, control: &Control) -> anyhow::Result<(Outcome, Option<String>, String)> {
    let Opened { mut agent, store, workplace, .. } = opened;
    let colours = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let paint = if colours { Paint::Colours } else { Paint::Plain };
    let mut plain = Plain::new(std::io::stdout(), std::io::stdout(), paint, Detail::Output);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let question = vec![Content::Text(QUESTION.to_owned())];
    let report = runtime.block_on(agent.turn(question, control, &mut |event| plain.event(&event)));
    plain.end_line();
    let id = hermes_store::sessions::SessionId::from(report.session_id.as_str());
    let row = store.lock().row(&id)?;
    let session = format!(
        "{} messages, {} tool calls, {} model calls",
        row.message_count, row.tool_call_count, row.api_call_count
    );
    drop(agent);
    assembly::let_go(&workplace);
    Ok((report.outcome, report.error, session))
}

/// Looks at the result without the agent: is what the report says true?
fn check(log: &str, work: &Path) -> Result<String, String> {
    let truth = data::truth(log).ok_or("the log cannot be read")?;
    let report = std::fs::read_to_string(work.join("report.md"))
        .map_err(|error| format!("there is no report: {error}"))?;
    let line = report.lines().find(|line| line.starts_with(&truth.worst)).unwrap_or_default();
    let words: Vec<&str> = line.split_whitespace().collect();
    let says = [words.get(1), words.get(3)].map(|word| word.and_then(|word| word.parse().ok()));
    if says == [Some(truth.requests), Some(truth.errors)] {
        Ok(format!(
            "{} has {} errors in {} requests, as the report says",
            truth.worst, truth.errors, truth.requests
        ))
    } else {
        Err(format!(
            "the report says '{line}', but {} has {} errors in {} requests",
            truth.worst, truth.errors, truth.requests
        ))
    }
}

fn conclude(work: &Path, took: &str, rest: &str, checked: &Result<String, String>) -> anyhow::Result<()> {
    let mut text = String::new();
    match checked {
        Ok(found) => writeln!(text, "\nChecked without the agent: {found}.")?,
        Err(problem) => writeln!(text, "\nThe check failed: {problem}.")?,
    }
    let files: Vec<String> = std::fs::read_dir(work)?
        .flatten()
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    writeln!(text, "Stored as a session: {took}. {} files.\n{rest}", files.len())?;
    text.push_str(
        "\nNext:\n  hermes model      choose a model; the key is tested before it is saved\n  hermes            talk to it\n  hermes -z '…'     ask one question from a script\n  hermes sandbox    where commands run, and what runs there\n",
    );
    ui::print(&text)?;
    Ok(())
}
