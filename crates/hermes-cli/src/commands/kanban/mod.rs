//! `hermes kanban`: cards that agents and people work on together.

mod act;
mod attend;
mod boards;
mod create;
mod daemon;
mod follow;
mod look;
mod show;
mod stop;
mod swarm;
mod text;
mod triage;

use std::process::ExitCode;

use clap::Subcommand;
use hermes_board::{Board, BoardError, Overrides, Root, Seconds, Slug, json};
use hermes_home::settings::table::kanban as settings;

use crate::app::App;
use crate::ui;

/// Boards of cards that agents and people work on together
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use this board instead of the current one
    #[arg(long, global = true, value_name = "SLUG")]
    board: Option<String>,
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make the board's database if it is not there
    Init,
    Boards(boards::Args),
    Create(Box<create::Args>),
    #[command(visible_alias = "ls")]
    List(look::ListArgs),
    Show(show::Args),
    Runs(show::RunsArgs),
    Stats(look::StatsArgs),
    Assignees(look::AssigneesArgs),
    Tree(look::TreeArgs),
    Search(look::SearchArgs),
    Assign(act::AssignArgs),
    Link(act::LinkArgs),
    Unlink(act::UnlinkArgs),
    Comment(act::CommentArgs),
    Claim(act::ClaimArgs),
    Heartbeat(act::HeartbeatArgs),
    Complete(act::CompleteArgs),
    Edit(act::EditArgs),
    Block(act::BlockArgs),
    Schedule(act::ScheduleArgs),
    Unblock(act::UnblockArgs),
    Promote(act::PromoteArgs),
    Archive(act::ArchiveArgs),
    Stop(stop::StopArgs),
    Reclaim(stop::ReclaimArgs),
    Reassign(stop::ReassignArgs),
    Daemon(daemon::Args),
    #[command(hide = true)]
    Attend(attend::Args),
    Specify(triage::SpecifyArgs),
    Decompose(triage::DecomposeArgs),
    Swarm(swarm::Args),
    Tail(follow::TailArgs),
    Watch(follow::WatchArgs),
    Log(follow::LogArgs),
}

/// A board and what the command was started with.
struct Desk<'a> {
    app: &'a App,
    root: Root,
    slug: Slug,
    now: Seconds,
}

impl<'a> Desk<'a> {
    fn new(app: &'a App, board: Option<&str>) -> anyhow::Result<Self> {
        let env = |name: &str| app.env.get(std::ffi::OsStr::new(name)).cloned();
        let root = Root::new(app.home.root(), Overrides::from_env(env, &app.user_home()));
        let slug = hermes_board::boards::choose(&root, board)?;
        Ok(Self { app, root, slug, now: jiff::Timestamp::now().as_second() })
    }

    /// The board, to change it.
    fn board(&self) -> Result<Board, BoardError> {
        Board::open(&self.root, &self.slug)
    }

    /// The board, to look at it; nothing if nobody ever wrote to it.
    fn look(&self) -> Result<Option<Board>, BoardError> {
        Board::look(&self.root, &self.slug)
    }

    /// Who acts, if nobody says otherwise.
    fn author(&self, named: Option<&str>) -> String {
        let profile = self.app.home.profile().as_str();
        let fallback = if profile == "default" { "user" } else { profile };
        let named = named.or_else(|| self.app.var("HERMES_PROFILE_NAME"));
        named
            .or_else(|| self.app.var("HERMES_PROFILE"))
            .filter(|name| !name.is_empty())
            .unwrap_or(fallback)
            .to_owned()
    }

    /// Who gets cards that nobody was named for.
    fn default_assignee(&self) -> anyhow::Result<Option<String>> {
        let name = self.app.settings()?.get(&settings::DEFAULT_ASSIGNEE)?;
        let name = hermes_board::card::assignee(&name);
        Ok(name.filter(|name| self.has_profile(name)))
    }

    /// What the dispatcher goes by. What is odd about it is said.
    fn rules(&self) -> anyhow::Result<hermes_board::dispatch::Rules> {
        let env = |name: &str| self.app.var(name).map(str::to_owned);
        let (rules, warnings) = hermes_board::dispatch::Rules::read(&self.app.settings()?, &env)?;
        for warning in &warnings {
            ui::warn(warning);
        }
        Ok(rules)
    }

    /// Whether there is a profile of this name.
    fn has_profile(&self, name: &str) -> bool {
        name == "default" || self.app.home.root().join("profiles").join(name).is_dir()
    }
}

/// Runs a subcommand.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let desk = Desk::new(app, args.board.as_deref())?;
    match args.action {
        Action::Init => init(&desk),
        Action::Boards(args) => boards::run(&desk, &args),
        Action::Create(args) => create::run(&desk, &args),
        Action::List(args) => look::list(&desk, &args),
        Action::Show(args) => show::show(&desk, &args),
        Action::Runs(args) => show::runs(&desk, &args),
        Action::Stats(args) => look::stats(&desk, &args),
        Action::Assignees(args) => look::assignees(&desk, &args),
        Action::Tree(args) => look::tree(&desk, &args),
        Action::Search(args) => look::search(&desk, &args),
        Action::Assign(args) => act::assign(&desk, &args),
        Action::Link(args) => act::link(&desk, &args),
        Action::Unlink(args) => act::unlink(&desk, &args),
        Action::Comment(args) => act::comment(&desk, &args),
        Action::Claim(args) => act::claim(&desk, &args),
        Action::Heartbeat(args) => act::heartbeat(&desk, &args),
        Action::Complete(args) => act::complete(&desk, &args),
        Action::Edit(args) => act::edit(&desk, &args),
        Action::Block(args) => act::block(&desk, &args),
        Action::Schedule(args) => act::schedule(&desk, &args),
        Action::Unblock(args) => act::unblock(&desk, &args),
        Action::Promote(args) => act::promote(&desk, &args),
        Action::Archive(args) => act::archive(&desk, &args),
        Action::Stop(args) => stop::stop(&desk, &args),
        Action::Reclaim(args) => stop::reclaim(&desk, &args),
        Action::Reassign(args) => stop::reassign(&desk, &args),
        Action::Daemon(args) => daemon::run(&desk, &args),
        Action::Attend(args) => attend::run(&desk, &args),
        Action::Specify(args) => triage::specify(&desk, &args),
        Action::Decompose(args) => triage::decompose(&desk, &args),
        Action::Swarm(args) => swarm::run(&desk, &args),
        Action::Tail(args) => follow::tail(&desk, &args),
        Action::Watch(args) => follow::watch(&desk, &args),
        Action::Log(args) => follow::log(&desk, &args),
    }
}

fn init(desk: &Desk<'_>) -> anyhow::Result<ExitCode> {
    desk.board()?;
    ui::print(&format!("The board \"{}\" is in {}", desk.slug, desk.root.database(&desk.slug).display()))?;
    Ok(ExitCode::SUCCESS)
}
