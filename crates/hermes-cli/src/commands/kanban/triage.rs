//! `hermes kanban specify` and `hermes kanban decompose`: a model looks at cards in triage.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::Context as _;
use hermes_agent::assembly::{AskError, Question, SideModel, SideWork};
use hermes_agent::triage as ask;
use hermes_board::act::{By, Report};
use hermes_board::card::{Card, CardId, RunId, Status};
use hermes_board::ending::Verdict;
use hermes_board::query::{Filter, Sort};
use hermes_board::triage::Parts;
use hermes_board::triage::proposal::{self, Proposal};
use hermes_board::triage::roster::Roster;
use hermes_board::{Board, BoardError};
use hermes_home::profiles::Profiles;
use hermes_home::settings::table::kanban as table;
use hermes_model::{Class, GaveUp};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Desk;
use crate::ui;

/// Which cards a model looks at.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The card
    #[arg(value_name = "CARD", required_unless_present = "all", conflicts_with = "all")]
    card: Option<String>,
    /// Every card in triage
    #[arg(long)]
    all: bool,
    /// With --all: only cards of this name space
    #[arg(long, requires = "all")]
    tenant: Option<String>,
    /// In whose name
    #[arg(long, value_name = "NAME")]
    author: Option<String>,
    /// Print a line of JSON for each card
    #[arg(long)]
    json: bool,
}

/// Let a model write cards in triage out, so that they can be worked on
#[derive(Debug, clap::Args)]
pub struct SpecifyArgs {
    #[command(flatten)]
    which: Which,
}

/// Let a model split cards in triage into parts for several profiles
#[derive(Debug, clap::Args)]
pub struct DecomposeArgs {
    #[command(flatten)]
    which: Which,
    /// The card this is the work of: it is finished with it
    #[arg(long, hide = true, requires = "card", value_name = "CARD")]
    job: Option<String>,
}

/// Exit code of a worker that the provider sent away.
const QUOTA: u8 = 75;

/// Why nothing came of a card.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Ask(#[from] AskError),
    #[error("{0}; nothing was changed, and it is still in triage")]
    Answer(#[from] proposal::BadProposal),
    #[error(transparent)]
    Board(#[from] BoardError),
}

/// What became of a card.
struct Done {
    new_title: Option<String>,
    children: Vec<CardId>,
    fanout: bool,
    status: Status,
}

/// Writes cards out.
pub fn specify(desk: &Desk<'_>, args: &SpecifyArgs) -> anyhow::Result<ExitCode> {
    let mut table = Table::open(desk, &args.which)?;
    if table.cards.is_empty() {
        return none(&args.which, "specified");
    }
    let max_tokens = desk
        .app
        .var("HERMES_KANBAN_SPECIFY_MAX_TOKENS")
        .and_then(|text| text.trim().parse().ok())
        .filter(|tokens: &u64| *tokens > 0)
        .unwrap_or(ask::specify::MAX_TOKENS);
    let mut model = Asker::open(desk, SideWork::Specify)?;
    let author = desk.author(args.which.author.as_deref());
    let mut fine = Fine::default();
    for card in std::mem::take(&mut table.cards) {
        let question = ask::specify::question(&card.title, card.body.as_deref(), max_tokens);
        let done = model.ask(&question).map_err(Failed::from).and_then(|reply| {
            let draft = proposal::read_draft(&reply)?;
            let done = table.board.specify(&card, &draft, &author, now())?;
            Ok(Done::whole(&card, &done.card))
        });
        fine.count(done.is_ok());
        let line = |done: &Result<Done, Failed>| {
            json!({
                "task_id": card.id, "ok": done.is_ok(), "reason": reason(done),
                "new_title": done.as_ref().ok().and_then(|done| done.new_title.clone()),
            })
        };
        tell(&args.which, &card, &done, "Specified", line)?;
    }
    Ok(fine.code())
}

/// Splits cards.
pub fn decompose(desk: &Desk<'_>, args: &DecomposeArgs) -> anyhow::Result<ExitCode> {
    let job = Job::of(desk, args)?;
    let mut table = match Table::open(desk, &args.which) {
        Err(error) if job.is_some() => return job.map_or(Err(error), |job| job.over(desk)),
        table => table?,
    };
    if table.cards.is_empty() {
        return none(&args.which, "decomposed");
    }
    let roster = desk.roster()?;
    let settings = desk.app.settings()?;
    let parts = if settings.get(&table::AUTO_PROMOTE_CHILDREN)? { Parts::Begin } else { Parts::Held };
    let mut model = match Asker::open(desk, SideWork::Decompose) {
        Ok(model) => model,
        Err(error) => {
            if let Some(job) = &job {
                job.say(desk, &Verdict::Infrastructure { error: error.to_string() })?;
            }
            return Err(error);
        }
    };
    let author = desk.author(args.which.author.as_deref());
    let mut fine = Fine::default();
    for card in std::mem::take(&mut table.cards) {
        let question = ask::decompose::question(&card.title, card.body.as_deref(), &roster);
        let done = model.ask(&question).map_err(Failed::from).and_then(|reply| {
            apply(&mut table.board, &card, &proposal::read(&reply)?, &roster, parts, &author)
        });
        fine.count(done.is_ok());
        let line = |done: &Result<Done, Failed>| {
            let known = done.as_ref().ok();
            json!({
                "task_id": card.id, "ok": done.is_ok(), "reason": reason(done),
                "fanout": known.is_some_and(|done| done.fanout),
                "child_ids": known.map(|done| done.children.clone()).filter(|ids| !ids.is_empty()),
                "new_title": known.and_then(|done| done.new_title.clone()),
            })
        };
        tell(&args.which, &card, &done, "Decomposed", line)?;
        if parts == Parts::Held && done.as_ref().is_ok_and(|done| done.fanout) {
            ui::note(
                "the parts are blocked ('kanban.auto_promote_children' is off): `hermes kanban unblock` lets them go",
            );
        }
        if let Some(job) = &job {
            return job.finish(desk, &card, &done);
        }
    }
    Ok(fine.code())
}

fn apply(
    board: &mut Board,
    card: &Card,
    proposal: &Proposal,
    roster: &Roster,
    parts: Parts,
    author: &str,
) -> Result<Done, Failed> {
    match proposal {
        Proposal::Whole { draft, assignee } => {
            let assignee = roster.resolve(assignee.as_deref());
            let done = board.specify_for(card, draft, &assignee, author, now())?;
            Ok(Done::whole(card, &done.card))
        }
        Proposal::Split(split) => {
            let done = board.decompose(card, split, roster, parts, author, now())?;
            Ok(Done { new_title: None, children: done.children, fanout: true, status: done.root.status })
        }
    }
}

impl Done {
    fn whole(before: &Card, now: &Card) -> Self {
        let new_title = (before.title != now.title).then(|| now.title.clone());
        Self { new_title, children: Vec::new(), fanout: false, status: now.status }
    }

    fn in_words(&self) -> String {
        if self.fanout { ui::count(self.children.len() as u64, "part") } else { "written out".to_owned() }
    }
}

/// The board and the cards that are looked at.
struct Table {
    board: Board,
    cards: Vec<Card>,
}

impl Table {
    fn open(desk: &Desk<'_>, which: &Which) -> anyhow::Result<Self> {
        let mut board = desk.board()?;
        let cards = match &which.card {
            None => {
                let filter = Filter {
                    status: Some(Status::Triage),
                    tenant: which.tenant.clone(),
                    ..Filter::default()
                };
                board.list(&filter, Sort::default())?
            }
            Some(id) => {
                let card = board.card(&CardId::new(id))?;
                if card.status != Status::Triage {
                    anyhow::bail!("{id} is {}: only cards in triage are looked at", card.status);
                }
                vec![card]
            }
        };
        Ok(Self { board, cards })
    }
}

/// Asks the model and waits.
struct Asker {
    model: SideModel,
    runtime: tokio::runtime::Runtime,
}

impl Asker {
    fn open(desk: &Desk<'_>, work: SideWork) -> anyhow::Result<Self> {
        let (model, notices) = SideModel::open(&desk.app.home, &desk.app.settings()?, work)?;
        for notice in notices {
            ui::warn(&notice);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { model, runtime })
    }

    fn ask(&mut self, question: &Question) -> Result<String, AskError> {
        self.runtime.block_on(self.model.ask(question, &CancellationToken::new()))
    }
}

impl Desk<'_> {
    /// The profiles that can be given work.
    fn roster(&self) -> anyhow::Result<Roster> {
        let profiles = Profiles::new(self.app.home.root(), &self.app.user_home()).list()?;
        let known: BTreeMap<String, String> = profiles
            .into_iter()
            .map(|summary| (summary.profile.as_str().to_owned(), summary.description.text))
            .collect();
        let settings = self.app.settings()?;
        let (fallback, orchestrator) =
            (settings.get(&table::DEFAULT_ASSIGNEE)?, settings.get(&table::ORCHESTRATOR_PROFILE)?);
        let active = self.app.home.profile().as_str();
        let (roster, unknown) = Roster::new(known, &fallback, &orchestrator, active);
        for name in unknown {
            ui::warn(&name.to_string());
        }
        Ok(roster)
    }
}

/// How many went well.
#[derive(Default)]
struct Fine {
    good: u32,
    bad: u32,
}

impl Fine {
    fn count(&mut self, good: bool) {
        *(if good { &mut self.good } else { &mut self.bad }) += 1;
    }

    fn code(&self) -> ExitCode {
        if self.bad == 0 { ExitCode::SUCCESS } else { ExitCode::from(ui::FAILED) }
    }
}

fn reason(done: &Result<Done, Failed>) -> String {
    match done {
        Err(error) => error.to_string(),
        Ok(done) => done.in_words(),
    }
}

fn tell(
    which: &Which,
    card: &Card,
    done: &Result<Done, Failed>,
    what: &str,
    line: impl Fn(&Result<Done, Failed>) -> Value,
) -> anyhow::Result<()> {
    if which.json {
        ui::print(&line(done).to_string())?;
        return Ok(());
    }
    let id = &card.id;
    match done {
        Err(error) => ui::note(&format!("hermes: {id}: {error}")),
        Ok(done) if done.fanout => {
            let ids: Vec<&str> = done.children.iter().map(CardId::as_str).collect();
            let parts = ui::count(ids.len() as u64, "part");
            ui::print(&format!("{what} {id} → {parts} ({}); it waits for them", ids.join(", ")))?;
        }
        Ok(done) => {
            let title = done.new_title.as_ref().map(|title| format!(": {}", ui::harmless(title)));
            ui::print(&format!("Specified {id} → {}{}", done.status, title.unwrap_or_default()))?;
        }
    }
    Ok(())
}

fn none(which: &Which, what: &str) -> anyhow::Result<ExitCode> {
    if which.json {
        ui::print(&json!({ what: 0, "total": 0 }).to_string())?;
    } else {
        let tenant = which.tenant.as_deref().map(|tenant| format!(" of \"{tenant}\"")).unwrap_or_default();
        ui::print(&format!("No cards{tenant} are in triage."))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The time after the model has thought.
fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// A card whose work is to split another.
struct Job {
    card: CardId,
    run: Option<RunId>,
}

impl Job {
    fn of(desk: &Desk<'_>, args: &DecomposeArgs) -> anyhow::Result<Option<Self>> {
        let Some(card) = args.job.as_deref().map(CardId::new) else { return Ok(None) };
        let run = match desk.app.var("HERMES_KANBAN_RUN_ID") {
            None => None,
            Some(text) => Some(RunId(text.parse().context("HERMES_KANBAN_RUN_ID is no number")?)),
        };
        Ok(Some(Self { card, run }))
    }

    fn close(&self, desk: &Desk<'_>, summary: &str, made: &[CardId]) -> anyhow::Result<ExitCode> {
        let report = Report {
            summary: Some(summary.to_owned()),
            metadata: (!made.is_empty()).then(|| json!({ "created": made })),
            ..Report::default()
        };
        let by = self.run.map_or(By::Anybody, By::Attempt);
        desk.board()?.complete(&self.card, &report, by, now())?;
        Ok(ExitCode::SUCCESS)
    }

    /// There is nothing to split any more.
    fn over(&self, desk: &Desk<'_>) -> anyhow::Result<ExitCode> {
        self.close(desk, "The card is not in triage any more; nothing was done.", &[])
    }

    fn finish(&self, desk: &Desk<'_>, card: &Card, done: &Result<Done, Failed>) -> anyhow::Result<ExitCode> {
        match done {
            Ok(done) => self.close(desk, &format!("{}: {}", card.id, done.in_words()), &done.children),
            Err(Failed::Board(BoardError::Refused { .. })) => self.over(desk),
            Err(error) => {
                let (verdict, code) = verdict(error);
                if let Some(verdict) = verdict {
                    self.say(desk, &verdict)?;
                }
                Ok(ExitCode::from(code))
            }
        }
    }

    fn say(&self, desk: &Desk<'_>, verdict: &Verdict) -> anyhow::Result<()> {
        if let Some(run) = self.run {
            desk.board()?.say_verdict(run, verdict)?;
        }
        Ok(())
    }
}

/// What a worker says of such a failure, and its exit code. A bad answer is the work's own failure.
fn verdict(error: &Failed) -> (Option<Verdict>, u8) {
    let text = error.to_string();
    match error {
        Failed::Ask(AskError::Model(GaveUp::Budget(_))) => {
            (Some(Verdict::OutOfBudget { what: text }), ui::FAILED)
        }
        Failed::Ask(AskError::Model(GaveUp::Failed(report)))
            if matches!(report.class(), Class::RateLimit | Class::Billing) =>
        {
            (Some(Verdict::Quota { until: None, error: text }), QUOTA)
        }
        Failed::Ask(AskError::CutOff(_)) | Failed::Answer(_) => (None, ui::FAILED),
        Failed::Ask(_) | Failed::Board(_) => (Some(Verdict::Infrastructure { error: text }), ui::FAILED),
    }
}
