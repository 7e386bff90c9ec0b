//! `hermes kanban boards`

use std::process::ExitCode;

use clap::Subcommand;
use hermes_board::boards::{self, Change, Removal};
use hermes_board::query::{Archived, Stats};
use hermes_board::{Board, Slug, Status};
use serde_json::json;

use super::Desk;
use crate::ui;

/// List, make, switch, rename and remove boards
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
}

#[derive(Debug, Default, clap::Args)]
struct ListArgs {
    /// Print JSON
    #[arg(long)]
    json: bool,
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
        Action::List(args) => return list(desk, args),
        Action::Create(args) => create(desk, args)?,
        Action::Rm(args) => {
            let how = if args.delete { Removal::Delete } else { Removal::Archive };
            remove(desk, &args.slug, how)?;
        }
        Action::Delete { slug } => remove(desk, slug, Removal::Delete)?,
        Action::Switch { slug } => {
            let slug = Slug::parse(slug)?;
            boards::switch(root, &slug)?;
            ui::print(&format!("The current board is \"{slug}\""))?;
        }
        Action::Show => ui::print(boards::current(root).as_str())?,
        Action::Rename { slug, name } => {
            let change = Change { name: Some(name.clone()), ..Change::default() };
            let board = boards::change(root, &Slug::parse(slug)?, &change, desk.now)?;
            ui::print(&format!("The board \"{}\" is called \"{}\"", board.slug, board.name))?;
        }
        Action::SetDefaultWorkdir { slug, path } => {
            let change =
                Change { default_workdir: Some(path.clone().unwrap_or_default()), ..Change::default() };
            let board = boards::change(root, &Slug::parse(slug)?, &change, desk.now)?;
            let text = match board.default_workdir {
                Some(dir) => format!("Cards of \"{}\" are worked on in {dir}", board.slug),
                None => format!("Cards of \"{}\" are worked on nowhere in particular", board.slug),
            };
            ui::print(&text)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn create(desk: &Desk<'_>, args: &CreateArgs) -> anyhow::Result<()> {
    let slug = Slug::parse(&args.slug)?;
    let change = Change {
        name: args.name.clone(),
        description: args.description.clone(),
        icon: args.icon.clone(),
        color: args.color.clone(),
        default_workdir: args.default_workdir.clone(),
    };
    boards::create(&desk.root, &slug, &change, desk.now)?;
    ui::print(&format!("Made the board \"{slug}\""))?;
    if args.switch {
        boards::switch(&desk.root, &slug)?;
        ui::print(&format!("The current board is \"{slug}\""))?;
    }
    Ok(())
}

fn remove(desk: &Desk<'_>, slug: &str, how: Removal) -> anyhow::Result<()> {
    let slug = Slug::parse(slug)?;
    let text = match boards::remove(&desk.root, &slug, how, desk.now)? {
        Some(away) => format!("The board \"{slug}\" was put away into {}", away.display()),
        None => format!("The board \"{slug}\" is gone"),
    };
    Ok(ui::print(&text)?)
}

fn list(desk: &Desk<'_>, args: &ListArgs) -> anyhow::Result<ExitCode> {
    let archived = if args.all { Archived::Shown } else { Archived::Hidden };
    let current = boards::current(&desk.root);
    let mut rows = Vec::new();
    let mut values = Vec::new();
    for board in boards::list(&desk.root, archived) {
        // A damaged board must not hide the others.
        let (stats, problem) = match Board::look(&desk.root, &board.slug)
            .and_then(|found| found.map(|mut board| board.stats(desk.now)).transpose())
        {
            Ok(stats) => (stats.unwrap_or_default(), None),
            Err(error) => (Stats::default(), Some(error.to_string())),
        };
        let here = board.slug == current;
        values.push(json!({
            "slug": board.slug.as_str(), "name": board.name, "description": board.description, "icon": board.icon,
            "color": board.color, "default_workdir": board.default_workdir, "created_at": board.created_at,
            "archived": board.archived, "db_path": desk.root.own_database(&board.slug), "is_current": here,
            "counts": stats.by_status, "total": stats.by_status.values().sum::<i64>(), "error": problem,
        }));
        let counts = problem.unwrap_or_else(|| counts(&stats));
        rows.push(vec![
            if here { "●" } else { "" }.to_owned(),
            board.slug.to_string(),
            ui::harmless(&board.name),
            ui::harmless(&counts),
        ]);
    }
    if args.json {
        ui::print_json(&values)?;
    } else {
        ui::print(&ui::table(&["", "SLUG", "NAME", "CARDS"], &rows))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn counts(stats: &Stats) -> String {
    let part = |(status, count): (&Status, &i64)| format!("{status} {count}");
    if stats.by_status.is_empty() {
        return "none".to_owned();
    }
    stats.by_status.iter().map(part).collect::<Vec<_>>().join(", ")
}
