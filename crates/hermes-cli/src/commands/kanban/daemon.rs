//! `hermes kanban daemon`: the dispatcher that stays.

use std::path::PathBuf;
use std::process::ExitCode;

use hermes_board::Slug;
use hermes_board::claim::Claimer;
use hermes_board::daemon::{Dispatcher, Told};
use hermes_board::dispatch::{Report, Rules};
use hermes_board::worker::launch::Processes;
use hermes_board::worker::signals::Signals;

use super::Desk;
use crate::app::App;
use crate::ui;

/// Start workers for cards of all boards, until it is ended; its workers go on
///
/// A second one waits and takes over when the first is gone. Boards are started with `hermes kanban resume`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Seconds between two looks at everything; what happens is noticed at once
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    interval: Option<u64>,
    /// Most cards of a board that run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,
    /// Failures after which a card is blocked
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    failure_limit: Option<u32>,
    /// Write the number of the process here
    #[arg(long, value_name = "PATH")]
    pidfile: Option<PathBuf>,
    /// Say what is done
    #[arg(short, long)]
    verbose: bool,
    /// Kept for scripts: nothing has to be forced
    #[arg(long, hide = true)]
    force: bool,
}

/// Dispatches until somebody wants an end.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    crate::logging::start(desk.app);
    let mut signals = Signals::listen()?;
    let app = desk.app;
    let dispatcher = Dispatcher {
        root: desk.root.clone(),
        homes: app.home.root().to_owned(),
        claimer: Claimer { host: super::act::host(), pid: std::process::id() },
        processes: Processes::new(std::env::current_exe()?, app.home.profile().as_str(), app.env.clone()),
    };
    let _file = args.pidfile.clone().map(Pidfile::write).transpose()?;
    let mut rules = || read(app, args).map_err(|error| format!("{error:#}"));
    let mut tell = |told: Told<'_>| hear(&told, args);
    dispatcher.run(&mut signals, &mut rules, &mut tell)?;
    Ok(ExitCode::SUCCESS)
}

/// The settings as they are now, and what was said on the command line.
fn read(app: &App, args: &Args) -> anyhow::Result<(Rules, Vec<String>)> {
    let env = |name: &str| app.var(name).map(str::to_owned);
    let (mut rules, warnings) = Rules::read(&app.settings()?, &env)?;
    rules.max_in_progress = args.max.or(rules.max_in_progress);
    rules.failure_limit = args.failure_limit.unwrap_or(rules.failure_limit);
    rules.interval_seconds = args.interval.unwrap_or(rules.interval_seconds);
    Ok((rules, warnings))
}

fn hear(told: &Told<'_>, args: &Args) {
    match told {
        Told::Waits => ui::note("another dispatcher is at work: this one takes over when it is gone"),
        Told::Begins => ui::note("dispatching; Ctrl-C ends it, workers go on"),
        Told::Warning(text) => {
            tracing::warn!("{text}");
            ui::warn(text);
        }
        Told::Looked(board, report) => {
            if args.verbose {
                say(board, report);
            }
        }
    }
}

fn say(board: &Slug, report: &Report) {
    for started in &report.spawned {
        ui::note(&format!("{board}: started {} for {}", started.assignee, started.task_id));
    }
    for (what, cards) in [
        ("the worker died", &report.crashed),
        ("the time was up", &report.timed_out),
        ("nothing was heard", &report.stale),
        ("nobody tries it any more", &report.auto_blocked),
    ] {
        for card in cards {
            ui::note(&format!("{board}: {card}: {what}"));
        }
    }
}

/// The number of this process in a file, for as long as it runs.
struct Pidfile(PathBuf);

impl Pidfile {
    fn write(path: PathBuf) -> anyhow::Result<Self> {
        let text = format!("{}\n", std::process::id());
        hermes_home::files::write_atomic(&path, text.as_bytes(), hermes_home::files::Access::Keep)?;
        Ok(Self(path))
    }
}

impl Drop for Pidfile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
