//! `hermes -z`: one question, its answer on stdout, everything else on stderr.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use hermes_agent::assembly;
use hermes_agent::{AgentEvent, Level, Outcome, TurnReport};
use hermes_model::Content;
use hermes_tools::NobodyThere;

use super::args::{OneShotArgs, TalkArgs};
use super::ending::{self, Interrupts};
use super::{opening, picture, plain, skills};
use crate::app::App;
use crate::ui;

/// Asks one question.
pub fn run(app: &App, talk: &TalkArgs, args: &OneShotArgs, prompt: &str) -> anyhow::Result<ExitCode> {
    let answered = match answer(app, talk, args, prompt) {
        Ok(answered) => answered,
        Err(error) => {
            // The reason comes first, whatever becomes of the file.
            if let Err(error) = usage_file(args, None) {
                ui::warn(&error.to_string());
            }
            return Err(error);
        }
    };
    let Answered { report, events, interrupts } = answered;
    let printed = if args.json { events } else { print(&report) };
    ending::say(&report);
    usage_file(args, Some(&report))?;
    ending::unless_reader_left(printed).context("the answer cannot be written")?;
    Ok(interrupts.exit_code(report.outcome))
}

/// What came of the question.
struct Answered {
    report: TurnReport,
    /// Whether all events could be printed.
    events: std::io::Result<()>,
    interrupts: Interrupts,
}

fn print(report: &TurnReport) -> std::io::Result<()> {
    let text = report.text.trim_end();
    if text.is_empty() { Ok(()) } else { ui::print(&plain::for_stdout(text)) }
}

fn answer(app: &App, talk: &TalkArgs, args: &OneShotArgs, prompt: &str) -> anyhow::Result<Answered> {
    let question = question(prompt, args)?;
    let mut opening = opening(app, talk)?;
    let question: Vec<Content> = skills::load(&opening, &talk.skills)?.into_iter().chain(question).collect();
    opening.kind = assembly::Kind::OneShot;
    opening.person = Some(Arc::new(NobodyThere));
    let interrupts = Interrupts::watch()?;
    let worktree = super::worktree_for(talk, &mut opening)?;
    let opened = super::open(opening)?;
    for notice in &opened.notices {
        ui::warn(notice);
    }
    let mut agent = opened.agent;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut show = Shown::new(args.json);
    let mut on = |event| show.event(event);
    let report = runtime.block_on(agent.turn(question, interrupts.control(), &mut on));
    runtime.block_on(agent.close());
    // Whatever still waits for a tool that was told to end must not hold the answer back.
    runtime.shutdown_background();
    drop(agent);
    assembly::let_go(&opened.workplace);
    drop(worktree);
    Ok(Answered { report, events: show.written, interrupts })
}

/// The question with all that belongs to it.
fn question(prompt: &str, args: &OneShotArgs) -> anyhow::Result<Vec<Content>> {
    let mut text = if prompt == "-" { standard_input()? } else { prompt.to_owned() };
    if args.stdin && prompt != "-" {
        text = format!("{text}\n\n{}", standard_input()?);
    }
    if text.trim().is_empty() {
        return Err(ui::WrongUsage(
            "there is no question: give it after -z, or on standard input".to_owned(),
        )
        .into());
    }
    let mut content = vec![Content::Text(text)];
    for path in &args.image {
        content.push(picture::read(path)?);
    }
    Ok(content)
}

/// Everything on standard input, as text.
pub fn standard_input() -> anyhow::Result<String> {
    if std::io::stdin().is_terminal() {
        return Err(ui::WrongUsage(
            "standard input is a terminal: pipe the question in, or give it after -z".to_owned(),
        )
        .into());
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// What is shown while it works.
struct Shown {
    json: bool,
    /// Whether all events could be printed so far.
    written: std::io::Result<()>,
}

impl Shown {
    fn new(json: bool) -> Self {
        Self { json, written: Ok(()) }
    }

    fn event(&mut self, event: AgentEvent) {
        if self.json {
            // The turn goes on when nobody reads, its work may be wanted; the end tells.
            if self.written.is_ok() {
                self.written = print_event(&event);
            }
            return;
        }
        match event {
            AgentEvent::Notice { level: Level::Warning, text } => ui::warn(&text),
            AgentEvent::Switched { reason, provider, model } => {
                ui::warn(&format!("{reason}; '{model}' at {provider} takes over"));
            }
            _ => {}
        }
    }
}

fn print_event(event: &AgentEvent) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, event)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes what it took, for scripts that count.
fn usage_file(args: &OneShotArgs, report: Option<&TurnReport>) -> anyhow::Result<()> {
    let Some(path) = &args.usage_file else { return Ok(()) };
    let text = serde_json::to_string_pretty(&usage(report))? + "\n";
    write(path, &text).map_err(|error| anyhow::anyhow!("cannot write '{}': {error}", path.display()))
}

fn usage(report: Option<&TurnReport>) -> serde_json::Value {
    let Some(report) = report else {
        return serde_json::json!({"completed": false, "failed": true, "api_calls": 0});
    };
    let spent = report.spending;
    let cost = (spent.unpriced == 0).then_some(spent.micro_dollars as f64 / 1e6);
    serde_json::json!({
        "session_id": report.session_id,
        "model": report.model,
        "provider": report.provider,
        "completed": report.outcome.is_success(),
        "failed": matches!(report.outcome, Outcome::Failed | Outcome::OutOfBudget),
        "outcome": report.outcome,
        "error": report.error,
        "api_calls": spent.calls,
        "tool_calls": report.tool_calls,
        "input_tokens": spent.input,
        "output_tokens": spent.output,
        "cache_read_tokens": spent.cache_read,
        "cache_write_tokens": spent.cache_write,
        "reasoning_tokens": spent.reasoning,
        "total_tokens": spent.tokens(),
        "estimated_cost_usd": cost,
        "cost_status": if spent.unpriced == 0 { "estimated" } else { "unknown" },
        "elapsed_ms": report.elapsed_ms,
    })
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    std::fs::File::create(path)?.write_all(text.as_bytes())
}
