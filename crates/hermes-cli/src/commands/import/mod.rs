//! `hermes import`: brings back a backup or a snapshot, whole or not at all.

mod aliases;
mod entry;
mod in_use;
mod plan;
mod report;
mod source;
mod stage;
mod swap;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use hermes_home::files::{Lock, create_private_dir};
use jiff::Zoned;

use self::plan::{Plan, Replaces};
use self::report::{Mode, Summary};
use self::source::{Limits, Source};
use self::swap::{Journal, Kept, Swap};
use crate::app::App;
use crate::commands::backup::database;
use crate::commands::backup::rules::{self, SNAPSHOTS};
use crate::ui::{self, WrongUsage};

/// Bring back a backup made by `hermes backup`
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The files of the archive are put in place; what else the home holds stays. What is replaced is kept in \
state-snapshots/pre-import-<date>, and can be brought back with `hermes import` as well.

Nothing is changed before the whole archive is unpacked and checked. If the computer stops in the middle, the next \
import says so: --finish completes it, --undo puts everything back.

Examples:
  hermes import hermes-backup-2026-11-15-205722.zip --dry-run
  hermes import hermes-backup-2026-11-15-205722.zip --force
  hermes import ~/.hermes/state-snapshots/20261115-205743")]
#[allow(clippy::struct_excessive_bools, reason = "flags as they are typed")]
pub struct Args {
    /// The zip file, or the directory of a snapshot
    #[arg(value_name = "FILE", required_unless_present_any = ["finish", "undo"])]
    archive: Option<PathBuf>,

    /// Replace files that exist without asking
    #[arg(short = 'f', long)]
    force: bool,

    /// Check the archive and say what would be done
    #[arg(long)]
    dry_run: bool,

    /// Complete an import that was interrupted
    #[arg(long, conflicts_with_all = ["archive", "force", "dry_run", "undo"])]
    finish: bool,

    /// Put everything back that an interrupted import has changed
    #[arg(long, conflicts_with_all = ["archive", "force", "dry_run"])]
    undo: bool,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Restores, or takes up what was interrupted.
pub fn run(args: &Args, app: &App) -> anyhow::Result<ExitCode> {
    crate::logging::start(app);
    match &args.archive {
        Some(archive) => restore(args, archive, app),
        None => recover(args, app),
    }
}

fn restore(args: &Args, archive: &Path, app: &App) -> anyhow::Result<ExitCode> {
    let (mut source, target) = open(archive, app)?;
    let plan = plan::plan(&target, &source.entries)?;
    if args.dry_run {
        stage::verify(&mut source, &plan)?;
        return Summary::new(archive, &target, &source, &plan, Mode::DryRun).report(args.json);
    }
    let mut summary = Summary::new(archive, &target, &source, &plan, Mode::Real);
    // Before the lock: it is a file in the home, and who refuses or is refused must find nothing there.
    refuse_beside_another(&target)?;
    refuse_if_used(&target, app)?;
    if !args.force && !summary.may_replace()? {
        return Ok(ExitCode::from(ui::FAILED));
    }
    create_private_dir(&target)?;
    let target = fs::canonicalize(&target)?;
    let _lock = lock(&target)?;
    refuse_if_pending(&target)?;
    refuse_if_used(&target, app)?;
    swap::discard(&target)?;
    stage::unpack(&mut source, &plan, &target)?;
    settle_databases(&source, &plan, &target);
    let journal = journal(archive, &source, &plan, &Zoned::now(), &target);
    let swap = Swap::begin(&target, journal)?;
    let kept =
        put_in_place(&swap).inspect_err(|e| tracing::error!("import of {}: {e:#}", archive.display()))?;
    tracing::info!(files = plan.place.len(), "imported {} into {}", archive.display(), target.display());
    summary.kept_in = kept.dir;
    if !archive.is_dir() {
        summary.aliases = aliases::restore(app, source.entries.iter().map(|entry| entry.path.as_path()));
    }
    summary.report(args.json)
}

/// What is restored, and into which home: a backup into the root, a snapshot into the home it lies in.
fn open(archive: &Path, app: &App) -> anyhow::Result<(Source, PathBuf)> {
    if !archive.is_dir() {
        return Ok((Source::zip(archive, Limits::default())?, app.home.root().to_path_buf()));
    }
    let dir = fs::canonicalize(archive).with_context(|| format!("cannot read {}", archive.display()))?;
    let snapshots = dir.parent().filter(|parent| parent.file_name().is_some_and(|name| name == SNAPSHOTS));
    let Some(home) = snapshots.and_then(Path::parent) else {
        bail!(WrongUsage(format!(
            "{} is a directory, but not a snapshot in a home's {SNAPSHOTS}",
            archive.display()
        )));
    };
    let home = home.to_path_buf();
    Ok((Source::snapshot(&dir)?, home))
}

fn lock(target: &Path) -> anyhow::Result<Lock> {
    let path = target.join(SNAPSHOTS).join(".import.lock");
    let lock = Lock::try_acquire(&path)?;
    lock.with_context(|| format!("another import into {} is running", target.display()))
}

/// An import that is in the middle of its work either runs, or was interrupted: its lock tells.
fn refuse_beside_another(target: &Path) -> anyhow::Result<()> {
    if !swap::is_pending(target) {
        return Ok(());
    }
    let _lock = lock(target)?;
    refuse_if_pending(target)?;
    bail!("another import into {} has just ended: try again", target.display())
}

/// A home in the middle of an import is neither the old nor the new one.
pub fn refuse_if_pending(target: &Path) -> anyhow::Result<()> {
    if swap::is_pending(target) {
        let archive = Swap::resume(target).map(|swap| swap.archive().to_owned()).unwrap_or_default();
        bail!(
            "an import of {archive} into {} was interrupted: run `hermes import --finish` to complete it or `hermes import --undo` to put everything back",
            target.display()
        );
    }
    Ok(())
}

fn refuse_if_used(target: &Path, app: &App) -> anyhow::Result<()> {
    if let Some(user) = in_use::first_user(target, &app.user_home())? {
        bail!("{} is in use: {user}. End it and try again", target.display());
    }
    Ok(())
}

/// Lets `SQLite` merge the logs of the databases that are about to be replaced, so that each is one whole file. One that
/// is too damaged for that is kept together with its log.
fn settle_databases(source: &Source, plan: &Plan, target: &Path) {
    for placement in plan.place.iter().filter(|p| p.replaces == Replaces::Existing) {
        let path = &source.entries[placement.entry].path;
        if rules::is_database(path) {
            database::settle(&target.join(path));
        }
    }
}

fn journal(archive: &Path, source: &Source, plan: &Plan, now: &Zoned, target: &Path) -> Journal {
    let name = |path: &Path| path.to_string_lossy().into_owned();
    let base = format!("pre-import-{}", now.strftime("%Y%m%d-%H%M%S"));
    let mut names = (1..).map(|n| if n < 2 { base.clone() } else { format!("{base}-{n}") });
    let kept_in = names.find(|n| !target.join(SNAPSHOTS).join(n).exists()).unwrap_or_default();
    Journal {
        archive: name(archive),
        kept_in,
        place: plan.place.iter().map(|p| name(&source.entries[p.entry].path)).collect(),
        directories: plan.directories.iter().map(|d| name(d)).collect(),
    }
}

/// When a file cannot be put in place, what was done so far is taken back.
fn put_in_place(swap: &Swap) -> anyhow::Result<Kept> {
    let error = match swap.finish(&mut || Ok(())) {
        Ok(kept) => return Ok(kept),
        Err(error) => error,
    };
    match swap.undo(&mut || Ok(())) {
        Ok(()) => Err(anyhow::Error::from(error).context("nothing was restored")),
        Err(also) => Err(anyhow::Error::from(error).context(format!(
            "the import stopped half-way and could not be taken back ({also}): run `hermes import --undo` when the cause is mended"
        ))),
    }
}

/// `--finish` and `--undo`.
fn recover(args: &Args, app: &App) -> anyhow::Result<ExitCode> {
    let homes = [app.home.root(), app.home.dir()];
    let Some(target) = homes.into_iter().find(|home| swap::is_pending(home)) else {
        ui::note(&format!("no import into {} was interrupted", app.home.root().display()));
        return Ok(ExitCode::SUCCESS);
    };
    let _lock = lock(target)?;
    refuse_if_used(target, app)?;
    let swap = Swap::resume(target)?;
    let done = if args.undo {
        swap.undo(&mut || Ok(()))?;
        "put everything back as it was before the import of"
    } else {
        swap.finish(&mut || Ok(()))?;
        "completed the import of"
    };
    tracing::info!("{done} {}", swap.archive());
    if args.json {
        ui::print_json(&serde_json::json!({"target": target, "archive": swap.archive(), "done": done}))?;
    } else {
        ui::print(&format!("{done} {}", swap.archive()))?;
    }
    Ok(ExitCode::SUCCESS)
}
