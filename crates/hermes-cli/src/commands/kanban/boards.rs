//! `hermes kanban boards`

use std::fmt::Write as _;
use std::process::ExitCode;

use clap::Subcommand;
use hermes_board::boards::{self, Change, Removal};
use hermes_board::dispatch::Liveness;
use hermes_board::query::{Archived, Stats};
use hermes_board::state::Mode;
use hermes_board::{Board, BoardError, Slug, Status};
use serde_json::json;

use super::Desk;
use super::screen::{line, table};
use crate::ui;

/// List, make, switch, rename, remove, export and import boards
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// List boards with the number of their cards
    #[command(visible_alias = "ls")]
    List(ListArgs),
    /// Make a board
    #[command(visible_alias = "new")]
    Create(CreateArgs),
    /// Put a board away
    #[command(visible_alias = "remove")]
    Rm(RemoveArgs),
    /// Remove a board for good
    Delete {
        /// The board
        slug: String,
    },
    /// Make a board the current one
    #[command(visible_alias = "use")]
    Switch {
        /// The board
        slug: String,
    },
    /// Print which board is the current one
    #[command(visible_alias = "current")]
    Show,
    /// Change a board's name for people
    Rename {
        /// The board
        slug: String,
        /// The new name
        name: String,
    },
    /// Say where a board's cards are worked on; without a path, nowhere in particular
    SetDefaultWorkdir {
        /// The board
        slug: String,
        /// A directory
        path: Option<String>,
    },
    /// Write a board into one file
    Export(ExportArgs),
    /// Make a board of such a file; nothing of it is started until `hermes kanban resume`
    Import(ImportArgs),
}

#[derive(Debug, clap::Args)]
struct ExportArgs {
    /// The board; the current one if it is not said
    slug: Option<String>,
    /// The file; SLUG.hermes-board.zip here if it is not said
    #[arg(short, long, value_name = "FILE")]
    output: Option<std::path::PathBuf>,
}

#[derive(Debug, clap::Args)]
struct ImportArgs {
    /// The file
    file: std::path::PathBuf,
    /// Call it this here
    #[arg(long, value_name = "SLUG")]
    r#as: Option<String>,
    /// Make it the current one
    #[arg(long)]
    switch: bool,
}

#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// Also boards that were put away
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// Its name on disk: lower-case letters, digits, "-" and "_"
    slug: String,
    /// Its name for people
    #[arg(long)]
    name: Option<String>,
    /// What it is for
    #[arg(long)]
    description: Option<String>,
    /// A sign for it
    #[arg(long)]
    icon: Option<String>,
    /// A colour for it
    #[arg(long)]
    color: Option<String>,
    /// Make it the current one
    #[arg(long)]
    switch: bool,
    /// Where its cards are worked on
    #[arg(long, value_name = "DIR")]
    default_workdir: Option<String>,
}

#[derive(Debug, clap::Args)]
struct RemoveArgs {
    /// The board
    slug: String,
    /// Remove it for good
    #[arg(long)]
    delete: bool,
}

/// Runs a subcommand; the list if none was named.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    let root = &desk.root;
    match args.action.as_ref().unwrap_or(&Action::List(ListArgs::default())) {
        Action::List(args) => list(desk, args),
        Action::Create(args) => create(desk, args),
        Action::Rm(args) => {
            let how = if args.delete { Removal::Delete } else { Removal::Archive };
            remove(desk, &args.slug, how)
        }
        Action::Delete { slug } => remove(desk, slug, Removal::Delete),
        Action::Switch { slug } => {
            let slug = Slug::parse(slug)?;
            boards::switch(root, &slug)?;
            desk.say(&format!("The current board is \"{slug}\""), || json!({ "current": slug.as_str() }))
        }
        Action::Show => {
            let slug = boards::choose(root, None)?;
            desk.say(slug.as_str(), || json!({ "current": slug.as_str() }))
        }
        Action::Rename { slug, name } => {
            if name.trim().is_empty() {
                return Err(ui::WrongUsage("a board needs a name for people".to_owned()).into());
            }
            let change = Change { name: Some(name.trim().to_owned()), ..Change::default() };
            let board = boards::change(root, &Slug::parse(slug)?, &change, desk.now)?;
            let text = format!("The board \"{}\" is called \"{}\"", board.slug, line(&board.name, 100));
            desk.say(&text, || board.to_json())
        }
        Action::SetDefaultWorkdir { slug, path } => workdir(desk, slug, path.as_deref()),
        Action::Export(args) => export(desk, args),
        Action::Import(args) => import(desk, args),
    }
}

fn workdir(desk: &Desk<'_>, slug: &str, path: Option<&str>) -> anyhow::Result<ExitCode> {
    let path = match path.filter(|path| !path.trim().is_empty()) {
        Some(path) => desk.absolute(path)?,
        None => String::new(),
    };
    if !path.is_empty() && !std::path::Path::new(&path).is_dir() {
        ui::note(&format!("there is no directory {} yet", line(&path, 500)));
    }
    let change = Change { default_workdir: Some(path), ..Change::default() };
    let board = boards::change(&desk.root, &Slug::parse(slug)?, &change, desk.now)?;
    let text = match &board.default_workdir {
        Some(dir) => format!("Cards of \"{}\" are worked on in {}", board.slug, line(dir, 500)),
        None => format!("Cards of \"{}\" are worked on nowhere in particular", board.slug),
    };
    desk.say(&text, || board.to_json())
}

fn create(desk: &Desk<'_>, args: &CreateArgs) -> anyhow::Result<ExitCode> {
    let slug = Slug::parse(&args.slug)?;
    let workdir = args.default_workdir.as_deref().map(|dir| desk.absolute(dir)).transpose()?;
    let change = Change {
        name: args.name.clone(),
        description: args.description.clone(),
        icon: args.icon.clone(),
        color: args.color.clone(),
        default_workdir: workdir,
    };
    let board = boards::create(&desk.root, &slug, &change, desk.now)?;
    let mut text = format!("Made the board \"{slug}\"");
    if args.switch {
        boards::switch(&desk.root, &slug)?;
        text = format!("{text}\nThe current board is \"{slug}\"");
    }
    desk.say(&text, || board.to_json())
}

fn remove(desk: &Desk<'_>, slug: &str, how: Removal) -> anyhow::Result<ExitCode> {
    let slug = Slug::parse(slug)?;
    if !slug.is_default() && boards::exists(&desk.root, &slug) {
        refuse_while_it_runs(desk, &slug)?;
    }
    let away = boards::remove(&desk.root, &slug, how, desk.now)?;
    let text = match &away {
        Some(away) => format!("The board \"{slug}\" was put away into {}", away.display()),
        None => format!("The board \"{slug}\" is gone"),
    };
    desk.say(&text, || json!({ "slug": slug.as_str(), "archived_to": away }))
}

/// Nobody would look after workers whose board is gone. A board that cannot be read runs nothing we could know of.
fn refuse_while_it_runs(desk: &Desk<'_>, slug: &Slug) -> anyhow::Result<()> {
    let Ok(Some(mut board)) = Board::look(&desk.root, slug) else { return Ok(()) };
    let workers = board.workers()?;
    let alive = workers.iter().filter(|worker| worker.process.liveness() == Liveness::Alive);
    let cards: Vec<String> = alive.map(|worker| worker.card.to_string()).collect();
    if !cards.is_empty() {
        anyhow::bail!(
            "workers of \"{slug}\" are running ({}): `hermes kanban --board {slug} stop CARD` ends one, \
             `hermes kanban --board {slug} drain` lets them finish",
            cards.join(", ")
        );
    }
    Ok(())
}

fn export(desk: &Desk<'_>, args: &ExportArgs) -> anyhow::Result<ExitCode> {
    let slug = match &args.slug {
        Some(slug) => boards::choose(&desk.root, Some(slug))?,
        None => boards::choose(&desk.root, None)?,
    };
    let file = args.output.clone().unwrap_or_else(|| format!("{slug}.hermes-board.zip").into());
    let file = std::path::absolute(file)?;
    let Some(mut board) = Board::look(&desk.root, &slug)? else {
        anyhow::bail!("the board \"{slug}\" has no cards yet: there is nothing to export");
    };
    let out = board.export(&file, desk.now)?;
    let text = format!(
        "Exported \"{slug}\" to {} ({}, {}, {})",
        file.display(),
        ui::count(out.cards.unsigned_abs(), "card"),
        ui::count(out.attachments as u64, "file"),
        ui::size(out.bytes)
    );
    desk.say(&text, || {
        json!({
            "slug": slug.as_str(), "file": file, "cards": out.cards, "attachments": out.attachments, "bytes": out.bytes,
        })
    })
}

fn import(desk: &Desk<'_>, args: &ImportArgs) -> anyhow::Result<ExitCode> {
    let name = args.r#as.as_deref().map(Slug::parse).transpose()?;
    let board = hermes_board::export::import(&desk.root, &args.file, name.as_ref(), desk.now)?;
    if args.switch {
        boards::switch(&desk.root, &board.slug)?;
    }
    let slug = &board.slug;
    let mut text = format!(
        "Imported \"{slug}\" ({}, {}); nothing of it is started until `hermes kanban --board {slug} resume`",
        ui::count(board.cards.unsigned_abs(), "card"),
        ui::count(board.attachments as u64, "file")
    );
    let mut add = |number: u64, what: &str| {
        if number > 0 {
            let _ = write!(text, "\n  {} {what}", ui::count(number, "card"));
        }
    };
    add(board.released as u64, "somebody worked on elsewhere: ready again");
    add(
        board.commands.unsigned_abs(),
        "with a command of its own, run when it is finished: look at it first",
    );
    add(board.directories.unsigned_abs(), "with a directory of its own: look whether it is meant here");
    desk.say(&text, || {
        json!({
            "slug": slug.as_str(), "cards": board.cards, "attachments": board.attachments,
            "released": board.released, "with_commands": board.commands, "with_directories": board.directories,
        })
    })
}

fn list(desk: &Desk<'_>, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let archived = if args.all { Archived::Shown } else { Archived::Hidden };
    let current = boards::current(&desk.root);
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for board in boards::list(&desk.root, archived) {
        // A damaged board must not hide the others.
        let look = || -> Result<(Stats, Mode), BoardError> {
            match Board::look(&desk.root, &board.slug)? {
                Some(mut board) => Ok((board.stats(desk.now)?, board.state()?.mode)),
                None => Ok((Stats::default(), Mode::default())),
            }
        };
        let (stats, mode, problem) = match look() {
            Ok((stats, mode)) => (stats, Some(mode), None),
            Err(error) => (Stats::default(), None, Some(error.to_string())),
        };
        let here = board.slug == current;
        values.push(json!({
            "slug": board.slug.as_str(), "name": board.name, "description": board.description, "icon": board.icon,
            "color": board.color, "default_workdir": board.default_workdir, "created_at": board.created_at,
            "archived": board.archived, "db_path": desk.root.own_database(&board.slug), "is_current": here,
            "mode": mode, "counts": stats.by_status, "total": stats.by_status.values().sum::<i64>(), "error": problem,
        }));
        let counts = problem.unwrap_or_else(|| counts(&stats));
        rows.push(vec![
            if here { "●" } else { "" }.to_owned(),
            board.slug.to_string(),
            line(&board.name, 40),
            mode.map_or("damaged", word).to_owned(),
            line(&counts, 400),
        ]);
    }
    if desk.json {
        ui::print_json(&values)?;
    } else {
        ui::print(&table(&["", "SLUG", "NAME", "MODE", "CARDS"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Parked => "parked",
        Mode::Active => "active",
        Mode::Paused => "paused",
        Mode::Draining => "draining",
    }
}

fn counts(stats: &Stats) -> String {
    let part = |(status, count): (&Status, &i64)| format!("{status} {count}");
    if stats.by_status.is_empty() {
        return "none".to_owned();
    }
    stats.by_status.iter().map(part).collect::<Vec<_>>().join(", ")
}
