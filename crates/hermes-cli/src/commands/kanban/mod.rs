//! `hermes kanban`: cards that agents and people work on together.

mod act;
mod attach;
mod attend;
mod boards;
mod columns;
mod create;
mod daemon;
mod diagnose;
mod dispatch;
mod edit;
mod follow;
mod gc;
mod json;
mod look;
mod mode;
mod notify;
mod review;
mod screen;
mod show;
mod status;
mod stop;
mod swarm;
mod text;
mod top;
mod tree;
mod triage;
mod why;

use std::collections::BTreeSet;
use std::process::ExitCode;

use clap::Subcommand;
use hermes_board::act::By;
use hermes_board::{Board, BoardError, CardId, Overrides, Root, RunId, Seconds, Slug};
use hermes_home::settings::table::kanban as settings;
use serde_json::Value;

use crate::app::App;
use crate::ui;

/// Boards of cards that agents and people work on together
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use this board instead of the current one
    #[arg(long, global = true, value_name = "SLUG")]
    board: Option<String>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
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
    Board(columns::Args),
    Show(show::Args),
    Runs(show::RunsArgs),
    Stats(look::StatsArgs),
    Assignees(look::AssigneesArgs),
    Tree(tree::Args),
    Search(look::SearchArgs),
    Context(show::ContextArgs),
    Status(status::Args),
    Why(why::Args),
    Top(top::Args),
    #[command(visible_alias = "diag")]
    Diagnostics(diagnose::Args),
    Assign(act::AssignArgs),
    Link(act::LinkArgs),
    Unlink(act::UnlinkArgs),
    Comment(act::CommentArgs),
    Attach(attach::AttachArgs),
    Attachments(attach::ListArgs),
    AttachRm(attach::RemoveArgs),
    Claim(act::ClaimArgs),
    Heartbeat(act::HeartbeatArgs),
    Complete(act::CompleteArgs),
    Edit(Box<edit::Args>),
    Approve(review::ApproveArgs),
    Reject(review::RejectArgs),
    Block(act::BlockArgs),
    Schedule(act::ScheduleArgs),
    Unblock(act::UnblockArgs),
    Promote(act::PromoteArgs),
    Archive(act::ArchiveArgs),
    Stop(stop::StopArgs),
    Reclaim(stop::ReclaimArgs),
    Reassign(stop::ReassignArgs),
    Daemon(daemon::Args),
    Dispatch(dispatch::Args),
    #[command(hide = true)]
    Attend(attend::Args),
    Pause(mode::PauseArgs),
    Resume(mode::ResumeArgs),
    Drain(mode::DrainArgs),
    Specify(triage::SpecifyArgs),
    Decompose(triage::DecomposeArgs),
    Swarm(swarm::Args),
    Tail(follow::TailArgs),
    Watch(follow::WatchArgs),
    Log(follow::LogArgs),
    NotifySubscribe(notify::SubscribeArgs),
    NotifyList(notify::ListArgs),
    NotifyUnsubscribe(notify::UnsubscribeArgs),
    Gc(gc::Args),
}

/// A board and what the command was started with.
struct Desk<'a> {
    app: &'a App,
    root: Root,
    slug: Slug,
    now: Seconds,
    /// Whether answers are for programs.
    json: bool,
}

impl<'a> Desk<'a> {
    fn new(app: &'a App, args: &Args) -> anyhow::Result<Self> {
        let env = |name: &str| app.env.get(std::ffi::OsStr::new(name)).cloned();
        let root = Root::new(app.home.root(), Overrides::from_env(env, &app.user_home()));
        let slug = match (hermes_board::boards::choose(&root, args.board.as_deref()), &args.action) {
            (Ok(slug), _) => slug,
            // What makes and lists boards must work while the one that is meant is not there.
            (Err(_), Action::Boards(_)) if args.board.is_none() => Slug::default_board(),
            (Err(error), _) => return Err(error.into()),
        };
        Ok(Self { app, root, slug, now: jiff::Timestamp::now().as_second(), json: args.json })
    }

    /// The board, to change it.
    fn board(&self) -> Result<Board, BoardError> {
        Board::open(&self.root, &self.slug)
    }

    /// The board, to look at it; nothing if nobody ever wrote to it.
    fn look(&self) -> Result<Option<Board>, BoardError> {
        Board::look(&self.root, &self.slug)
    }

    /// Prints an answer, for people or for programs.
    fn say(&self, text: &str, value: impl FnOnce() -> Value) -> anyhow::Result<ExitCode> {
        if self.json {
            ui::print_json(&value())?;
        } else {
            ui::print(text)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// As whom a card is changed: a worker that calls this program from its shell acts as its own attempt, and as nobody
    /// else.
    fn by(&self, id: &CardId) -> By {
        let own = self.app.var("HERMES_KANBAN_TASK").is_some_and(|task| task == id.as_str());
        let run = self.app.var("HERMES_KANBAN_RUN_ID").and_then(|run| run.parse().ok());
        run.filter(|_| own).map_or(By::Anybody, |run| By::Attempt(RunId(run)))
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

    /// The same, if there is a card among these that it matters for.
    fn fallback<'c>(
        &self,
        cards: impl IntoIterator<Item = &'c hermes_board::Card>,
    ) -> anyhow::Result<Option<String>> {
        if cards.into_iter().any(|card| card.assignee.is_none()) { self.default_assignee() } else { Ok(None) }
    }

    /// Whether there is a profile of this name.
    fn has_profile(&self, name: &str) -> bool {
        name == "default" || self.app.home.root().join("profiles").join(name).is_dir()
    }

    /// The profiles there are.
    fn profiles(&self) -> BTreeSet<String> {
        std::fs::read_dir(self.app.home.root().join("profiles"))
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                entry.ok().filter(|entry| entry.path().is_dir())?.file_name().into_string().ok()
            })
            .chain(["default".to_owned()])
            .collect()
    }
}

/// Runs a subcommand.
pub fn run(app: &App, args: Args) -> anyhow::Result<ExitCode> {
    let desk = Desk::new(app, &args)?;
    match args.action {
        Action::Init => init(&desk),
        Action::Boards(args) => boards::run(&desk, &args),
        Action::Create(args) => create::run(&desk, &args),
        Action::List(args) => look::list(&desk, &args),
        Action::Board(args) => columns::run(&desk, &args),
        Action::Show(args) => show::show(&desk, &args),
        Action::Runs(args) => show::runs(&desk, &args),
        Action::Stats(args) => look::stats(&desk, &args),
        Action::Assignees(args) => look::assignees(&desk, &args),
        Action::Tree(args) => tree::run(&desk, &args),
        Action::Search(args) => look::search(&desk, &args),
        Action::Context(args) => show::context(&desk, &args),
        Action::Status(args) => status::run(&desk, &args),
        Action::Why(args) => why::run(&desk, &args),
        Action::Top(args) => top::run(&desk, &args),
        Action::Diagnostics(args) => diagnose::run(&desk, &args),
        Action::Assign(args) => act::assign(&desk, &args),
        Action::Link(args) => act::link(&desk, &args),
        Action::Unlink(args) => act::unlink(&desk, &args),
        Action::Comment(args) => act::comment(&desk, &args),
        Action::Attach(args) => attach::attach(&desk, &args),
        Action::Attachments(args) => attach::list(&desk, &args),
        Action::AttachRm(args) => attach::remove(&desk, &args),
        Action::Claim(args) => act::claim(&desk, &args),
        Action::Heartbeat(args) => act::heartbeat(&desk, &args),
        Action::Complete(args) => act::complete(&desk, &args),
        Action::Approve(args) => review::approve(&desk, &args),
        Action::Reject(args) => review::reject(&desk, &args),
        Action::Edit(args) => edit::run(&desk, &args),
        Action::Block(args) => act::block(&desk, &args),
        Action::Schedule(args) => act::schedule(&desk, &args),
        Action::Unblock(args) => act::unblock(&desk, &args),
        Action::Promote(args) => act::promote(&desk, &args),
        Action::Archive(args) => act::archive(&desk, &args),
        Action::Stop(args) => stop::stop(&desk, &args),
        Action::Reclaim(args) => stop::reclaim(&desk, &args),
        Action::Reassign(args) => stop::reassign(&desk, &args),
        Action::Daemon(args) => daemon::run(&desk, &args),
        Action::Dispatch(args) => dispatch::run(&desk, &args),
        Action::Attend(args) => attend::run(&desk, &args),
        Action::Pause(args) => mode::pause(&desk, &args),
        Action::Resume(args) => mode::resume(&desk, &args),
        Action::Drain(args) => mode::drain(&desk, &args),
        Action::Specify(args) => triage::specify(&desk, &args),
        Action::Decompose(args) => triage::decompose(&desk, &args),
        Action::Swarm(args) => swarm::run(&desk, &args),
        Action::Tail(args) => follow::tail(&desk, &args),
        Action::Watch(args) => follow::watch(&desk, &args),
        Action::Log(args) => follow::log(&desk, &args),
        Action::NotifySubscribe(args) => notify::subscribe(&desk, &args),
        Action::NotifyList(args) => notify::list(&desk, &args),
        Action::NotifyUnsubscribe(args) => notify::unsubscribe(&desk, &args),
        Action::Gc(args) => gc::run(&desk, &args),
    }
}

fn init(desk: &Desk<'_>) -> anyhow::Result<ExitCode> {
    desk.board()?;
    let path = desk.root.database(&desk.slug);
    let text = format!("The board \"{}\" is in {}", desk.slug, path.display());
    desk.say(&text, || serde_json::json!({ "board": desk.slug.as_str(), "db_path": path }))
}
