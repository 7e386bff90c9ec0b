//! `hermes setup`: a few questions, and everything works. What works already is kept.

pub mod report;
mod reset;
mod terminal;

use std::process::ExitCode;

use clap::ValueEnum;

use super::model::{Desk, Refresh, choose_and_save};
use crate::app::App;
use crate::prompt::{self, Enter, Left};
use crate::ui;
use report::{Standing, model_standing};

/// Set up what is needed, by answering a few questions
///
/// Asks for the model and for the place where commands run. What works is kept and only shown. A key is tested with a
/// real request before it is saved. Leave at any point with q, Ctrl-D or Ctrl-C: the question you leave changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  hermes setup                       asks for what is missing
  hermes setup terminal              only where commands run
  hermes setup --non-interactive     says what is missing and how to set it; exit code 1 if anything is")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of its own on the command line")]
pub struct Args {
    /// Only this part
    #[arg(value_enum)]
    section: Option<Section>,
    /// Ask nothing: say what is missing and which commands set it
    #[arg(long)]
    non_interactive: bool,
    /// First take the settings of these parts out of config.yaml (a copy is kept, keys in .env stay)
    #[arg(long)]
    reset: bool,
    /// Ask for everything, also for what works
    #[arg(long, conflicts_with = "quick")]
    reconfigure: bool,
    /// Ask only for what nothing works without
    #[arg(long)]
    quick: bool,
    /// With --reset: do not ask
    #[arg(long, short = 'y')]
    yes: bool,
}

/// A part of the setup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Section {
    /// The model that answers
    Model,
    /// Where commands run
    Terminal,
    /// Speech
    Tts,
    /// Messaging platforms
    Gateway,
    /// Which tools the agent has
    Tools,
    /// How the agent works
    Agent,
}

impl Section {
    /// What there are questions for.
    const ASKED: [Self; 2] = [Self::Model, Self::Terminal];

    fn name(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Terminal => "terminal",
            Self::Tts => "tts",
            Self::Gateway => "gateway",
            Self::Tools => "tools",
            Self::Agent => "agent",
        }
    }
}

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// What nothing works without.
    Quick,
    /// What was never set.
    Missing,
    /// Everything.
    All,
}

/// Runs `hermes setup`.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let sections = match args.section {
        None => Section::ASKED.to_vec(),
        Some(section) if Section::ASKED.contains(&section) => vec![section],
        Some(section) => {
            ui::note(&format!(
                "There are no questions about '{}' in this version. Its settings: hermes config --all, and hermes config set KEY VALUE.",
                section.name()
            ));
            return Ok(ExitCode::from(ui::FAILED));
        }
    };
    let silent = args.non_interactive || !prompt::is_possible();
    if args.reset && !reset::run(app, &sections, args.yes, silent)? {
        ui::note("Nothing was changed.");
        return Ok(ExitCode::from(ui::FAILED));
    }
    if silent {
        return report::missing(app, &sections);
    }
    let depth = match args.section {
        Some(_) => Depth::All,
        None if args.reconfigure => Depth::All,
        None if args.quick => Depth::Quick,
        None => Depth::Missing,
    };
    ask(app, &sections, depth)
}

fn ask(app: &App, sections: &[Section], depth: Depth) -> anyhow::Result<ExitCode> {
    for section in sections {
        let done = match section {
            Section::Model => model(app, depth),
            _ => terminal::run(app, depth == Depth::All, depth == Depth::Quick),
        };
        match done {
            Err(e) if e.is::<Left>() => {
                ui::note(&format!("Left at '{}': it stays as it was.", section.name()));
                return Ok(ExitCode::from(ui::FAILED));
            }
            other => other?,
        }
    }
    report::summary(app)
}

fn model(app: &App, depth: Depth) -> anyhow::Result<()> {
    let desk = Desk::open(app)?;
    match model_standing(&desk) {
        Standing::Works(what) if depth != Depth::All => {
            ui::note(&format!("Model: {what}. Kept (hermes setup model changes it)."));
            return confirm_it_answers(&desk);
        }
        Standing::Works(what) => ui::note(&format!("Model: {what}.")),
        Standing::Missing(_) => ui::note("No model is set up yet."),
        Standing::Broken(why) => ui::note(&format!("The model that is set cannot be used: {why}")),
    }
    choose_and_save(&desk, Refresh::WhenOld)
}

/// A key that was good once may not be any more; then a new choice is offered, not forced.
fn confirm_it_answers(desk: &Desk<'_>) -> anyhow::Result<()> {
    let Some(problem) = report::live_problem(desk) else { return Ok(()) };
    ui::note(&format!("  But {problem}"));
    if prompt::yes("Choose anew?", Enter::Yes)? { choose_and_save(desk, Refresh::WhenOld) } else { Ok(()) }
}
