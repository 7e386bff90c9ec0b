//! `hermes kanban swarm`

use std::collections::BTreeSet;
use std::process::ExitCode;

use hermes_board::create::Made;
use hermes_board::triage::swarm::{Member, Order, Worker};
use hermes_skills::skills::Library;

use super::Desk;
use crate::ui;

/// Let several work on one goal at once, one check it and one put it together
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What it is for
    goal: String,
    /// One of those who work at once: PROFILE:TITLE or PROFILE:TITLE:SKILL,SKILL; may be given several times
    #[arg(long, value_parser = Worker::parse, value_name = "WORKER")]
    worker: Vec<Worker>,
    /// The profile that checks
    #[arg(long, value_name = "PROFILE")]
    verifier: String,
    /// The profile that puts it together
    #[arg(long, value_name = "PROFILE")]
    synthesizer: String,
    /// A name space of its own
    #[arg(long)]
    tenant: Option<String>,
    /// Larger comes sooner
    #[arg(long, default_value_t = 0, allow_negative_numbers = true)]
    priority: i64,
    /// Who makes it
    #[arg(long, value_name = "NAME")]
    created_by: Option<String>,
    /// If there is a swarm with this key already, that one is meant
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Skills that help those who check and those who write, where they are installed.
const CHECKS: &str = "requesting-code-review";
const WRITES: &str = "humanizer";

/// Makes a swarm.
pub fn run(desk: &Desk<'_>, args: &Args) -> anyhow::Result<ExitCode> {
    if args.worker.is_empty() {
        let text = "a swarm needs a worker: --worker PROFILE:TITLE".to_owned();
        return Err(ui::WrongUsage(text).into());
    }
    let member = |profile: &str, skill: &str| Member {
        profile: profile.to_owned(),
        skills: if desk.has_skill(profile, skill) { vec![skill.to_owned()] } else { Vec::new() },
    };
    let order = Order {
        goal: args.goal.clone(),
        workers: args.worker.clone(),
        verifier: member(&args.verifier, CHECKS),
        synthesizer: member(&args.synthesizer, WRITES),
        created_by: desk.author(args.created_by.as_deref()),
        tenant: args.tenant.clone().or_else(|| desk.app.var("HERMES_TENANT").map(str::to_owned)),
        priority: args.priority,
        idempotency_key: args.idempotency_key.clone(),
    };
    let (swarm, made) = desk.board()?.swarm(&order, desk.now)?;
    let everybody = order.workers.iter().map(|worker| &worker.member);
    for member in everybody.chain([&order.verifier, &order.synthesizer]) {
        let name = hermes_board::card::assignee(&member.profile).unwrap_or_default();
        if !desk.has_profile(&name) {
            ui::note(&format!("there is no profile \"{name}\" here: nobody is started for it"));
        }
    }
    if args.json {
        ui::print_json(&swarm)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut lines = vec![format!("Swarm {}", swarm.root_id)];
    for (id, worker) in swarm.worker_ids.iter().zip(&order.workers) {
        lines.push(format!("  {id}  {}: {}", worker.member.profile, ui::harmless(&worker.title)));
    }
    lines.push(format!("  {}  {} checks", swarm.verifier_id, order.verifier.profile));
    lines.push(format!("  {}  {} puts it together", swarm.synthesizer_id, order.synthesizer.profile));
    ui::print(&lines.join("\n"))?;
    if made == Made::Before {
        ui::note("it was there already, with the same key");
    }
    Ok(ExitCode::SUCCESS)
}

impl Desk<'_> {
    /// Whether a profile has a skill of this name among its own.
    fn has_skill(&self, profile: &str, skill: &str) -> bool {
        let Some(name) = hermes_board::card::assignee(profile) else { return false };
        let root = self.app.home.root();
        let home = if name == "default" { root.to_path_buf() } else { root.join("profiles").join(name) };
        let library = Library::at(vec![home.join("skills")], BTreeSet::new(), std::env::consts::OS);
        library.list().iter().any(|found| found.dir_name() == skill)
    }
}
