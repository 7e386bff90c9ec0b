//! `hermes backup`: everything a home holds in one file, or a quick snapshot of what it cannot do without.

mod archive;
pub mod database;
mod output;
pub mod quick;
mod quiet;
mod report;
pub mod rules;
mod scan;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use jiff::Zoned;

use self::archive::{Added, Archive};
use self::database::Copied;
use self::output::Workspace;
use self::report::Summary;
use self::scan::{Item, Kind, Problem, Scan};
use crate::app::App;
use crate::commands::import;

/// Save the whole home, all profiles included, in one zip file
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Databases are copied by SQLite itself, so a backup is consistent while other programs write. Symbolic links are not \
followed, except those to settings, keys, memory and databases. Left out is what can be had again: caches, virtual environments, node_modules, .git, checkpoints, snapshots. \
The file holds your keys and conversations: it is readable by you only. Keep it that way.

When something could not be saved, the rest still is; the command says what and ends with exit code 1.

Examples:
  hermes backup                       writes ~/hermes-backup-<date>.zip
  hermes backup -o /mnt/usb/          writes it there
  hermes backup --quick -l update     a snapshot in state-snapshots/, the last 20 are kept
  hermes import FILE                  brings a backup or a snapshot back")]
pub struct Args {
    /// Where to write the zip file; a directory gets a dated name
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with = "quick")]
    output: Option<PathBuf>,

    /// Only settings, keys, conversations, boards and jobs of the active profile, as a snapshot inside the home
    #[arg(short = 'q', long)]
    quick: bool,

    /// A word to remember the snapshot by
    #[arg(short = 'l', long, value_name = "LABEL", requires = "quick")]
    label: Option<String>,

    /// Print the summary as JSON
    #[arg(long)]
    json: bool,
}

/// Makes the backup or the snapshot.
pub fn run(args: &Args, app: &App) -> anyhow::Result<ExitCode> {
    crate::logging::start(app);
    let now = Zoned::now();
    if args.quick {
        let made = quick::snapshot(app.home.dir(), args.label.as_deref(), &now)?;
        return report::snapshot(&made, args.json);
    }
    let root = app.home.root();
    let root = fs::canonicalize(root).with_context(|| format!("there is no home at {}", root.display()))?;
    import::refuse_if_pending(&root)?;
    let work_dir = std::env::current_dir().unwrap_or_default();
    let output = output::resolve(args.output.as_deref(), &app.user_home(), &work_dir, &now)?;
    let summary = back_up(&root, output, &now)?;
    report::backup(&summary, args.json)
}

/// Builds the archive beside its place and renames it when it is whole.
fn back_up(root: &Path, output: PathBuf, now: &Zoned) -> anyhow::Result<Summary> {
    let workspace = Workspace::begin(output.parent().unwrap_or(root))?;
    let Scan { items, left_out, skipped, mut problems } = scan::scan(root, &output);
    let building = workspace.path("archive");
    let mut archive = Archive::create(&building, now.time_zone().clone())?;
    let mut databases = 0;
    for item in &items {
        problems.extend(add(&mut archive, item, &workspace)?);
        databases += u64::from(item.kind == Kind::Database);
    }
    let (files, original_bytes) = (archive.files, archive.bytes);
    let bytes = archive.finish()?;
    fs::rename(&building, &output).with_context(|| format!("cannot write {}", output.display()))?;
    Ok(Summary { path: output, bytes, files, original_bytes, databases, left_out, skipped, problems })
}

/// Adds one item. What goes wrong with it alone is a problem; what goes wrong with the archive is an error.
fn add(archive: &mut Archive, item: &Item, workspace: &Workspace) -> anyhow::Result<Option<Problem>> {
    let path = &item.path;
    let added = match item.kind {
        Kind::EmptyDir => return archive.add_directory(&item.name, &item.meta).map(|()| None),
        Kind::Database => return add_database(archive, &item.name, path, &workspace.path("database")),
        Kind::File => archive.add_file(&item.name, path)?,
    };
    Ok(problem(&item.name, added))
}

/// Never by reading the file, unless it is damaged: then what there is of it is saved as it is, with its log.
fn add_database(
    archive: &mut Archive,
    name: &str,
    path: &Path,
    copy: &Path,
) -> anyhow::Result<Option<Problem>> {
    let copied = database::copy(name, path, copy);
    let outcome = match copied {
        Ok(Copied::Consistent) => problem(name, archive.add_file(name, copy)?),
        Ok(Copied::Damaged(why)) => {
            for (suffix, file) in database::files(copy) {
                archive.add_file(&format!("{name}{suffix}"), &file)?;
            }
            Some(Problem::damaged(name, &why))
        }
        Err(_) if !path.exists() => None,
        Err(e) => Some(Problem::new(name, format!("not saved: {e:#}"))),
    };
    for (_, file) in database::files(copy) {
        fs::remove_file(&file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    Ok(outcome)
}

fn problem(name: &str, added: Added) -> Option<Problem> {
    match added {
        Added::Yes | Added::Gone => None,
        Added::Unreadable(e) => Some(Problem::new(name, format!("not saved: {e}"))),
    }
}
