//! `hermes checkpoints`: snapshots of the directories the agent changed.

mod act;
mod find;
mod look;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Subcommand;
use hermes_checkpoint::{CheckpointError, Checkpoints};
use hermes_home::Settings;

use crate::app::App;

/// Look at snapshots of changed directories, and go back to one
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes checkpoints list                   the snapshots of this directory
  hermes checkpoints diff 1                 what is different since the newest
  hermes checkpoints restore 1 --dry-run    what going back would do
  hermes checkpoints restore 3f2a src/a.rs  put one file back")]
pub struct Args {
    #[command(subcommand)]
    command: Option<What>,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Show what the store holds, directory by directory
    Status {
        /// Most directories to show
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the snapshots of a directory
    List {
        #[command(flatten)]
        at: At,
        /// Most snapshots to show
        #[arg(long, default_value_t = 20)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what is different since a snapshot
    Diff {
        /// Its number in the list, or the beginning of its name
        id: String,
        #[command(flatten)]
        at: At,
        /// Only the names of files and numbers of lines
        #[arg(long)]
        stat: bool,
    },
    /// Go back to a snapshot; what you changed yourself stays unless you say --force
    Restore {
        /// Its number in the list, or the beginning of its name
        id: String,
        /// Only this file or directory, from the top of the snapshot's directory
        path: Option<PathBuf>,
        #[command(flatten)]
        at: At,
        /// Say what would be done and do nothing
        #[arg(long)]
        dry_run: bool,
        /// Do it without asking
        #[arg(short, long)]
        yes: bool,
        /// Undo changes of your own too, without asking
        #[arg(short, long)]
        force: bool,
    },
    /// Throw away snapshots of directories that are gone or not worked in, and give space back
    Prune {
        /// Directories nobody worked in for so many days (0 keeps them)
        #[arg(long)]
        retention_days: Option<u32>,
        /// Megabytes the store may take
        #[arg(long)]
        max_size_mb: Option<u64>,
        /// Keep snapshots of directories that are gone
        #[arg(long)]
        keep_orphans: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Throw all snapshots away
    Clear {
        /// Do it without asking
        #[arg(short, long)]
        force: bool,
    },
    /// Throw away what older versions left
    ClearLegacy {
        /// Do it without asking
        #[arg(short, long)]
        force: bool,
    },
}

#[derive(Debug, clap::Args)]
struct At {
    /// The directory instead of the current one
    #[arg(short = 'C', long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// What the commands work with.
struct Desk<'a> {
    app: &'a App,
    settings: Settings,
    checkpoints: Checkpoints,
}

/// Runs it.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let settings = app.settings()?;
    let store = hermes_agent::checkpoints::store(&app.home, &settings, &app.env)?;
    let desk = Desk { app, settings, checkpoints: store.ok_or(CheckpointError::NoGit)? };
    match args.command {
        None => desk.status(20, look::Form::Page),
        Some(What::Status { limit, json }) => desk.status(limit, json.into()),
        Some(What::List { at, limit, json }) => desk.list(at.dir.as_deref(), limit, json.into()),
        Some(What::Diff { id, at, stat }) => desk.diff(&id, at.dir.as_deref(), stat.into()),
        Some(What::Restore { id, path, at, dry_run, yes, force }) => {
            let how = act::How::new(dry_run, yes, force);
            desk.restore(&id, path, at.dir.as_deref(), how)
        }
        Some(What::Prune { retention_days, max_size_mb, keep_orphans, json }) => {
            let mut retention = hermes_agent::checkpoints::retention(&desk.settings)?;
            retention.days = retention_days.unwrap_or(retention.days);
            if let Some(megabytes) = max_size_mb {
                retention.store_bytes = (megabytes > 0).then(|| megabytes.saturating_mul(1024 * 1024));
            }
            if keep_orphans {
                retention.orphans = hermes_checkpoint::Orphans::Keep;
            }
            desk.prune(&retention, json.into())
        }
        Some(What::Clear { force }) => desk.clear(force.into()),
        Some(What::ClearLegacy { force }) => desk.clear_legacy(force.into()),
    }
}
