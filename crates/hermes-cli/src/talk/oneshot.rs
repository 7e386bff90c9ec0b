//! `hermes -z`: one question, its answer on stdout, everything else on stderr.

use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

use hermes_agent::assembly::{self, Consent};
use hermes_agent::{AgentEvent, Control, Level, Outcome, TurnReport};
use hermes_model::Content;

use super::args::{OneShotArgs, TalkArgs};
use super::{opening, picture};
use crate::app::App;
use crate::ui;

/// The exit code of a turn that was interrupted, as a shell gives it for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Asks one question.
pub fn run(app: &App, talk: &TalkArgs, args: &OneShotArgs, prompt: &str) -> anyhow::Result<ExitCode> {
    let question = question(prompt, args)?;
    let mut opening = opening(app, talk)?;
    opening.kind = assembly::Kind::OneShot;
    // Nobody is there to be asked; whoever runs a script has said yes by running it.
    opening.consent = Consent::Yolo;
    let worktree = super::worktree_for(talk, &mut opening)?;
    let opened = match assembly::open(opening) {
        Ok(opened) => opened,
        Err(error) => {
            super::end_worktree(worktree);
            usage_file(args, None)?;
            return Err(error.into());
        }
    };
    for notice in &opened.notices {
        ui::warn(notice);
    }
    let mut agent = opened.agent;
    let control = Control::new();
    super::interrupt_on_signals(&control)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut show = Shown::new(args.json);
    let report = runtime.block_on(agent.turn(question, &control, &mut |event| show.event(event)));
    // Whatever still waits for a tool that was told to end must not hold the answer back.
    runtime.shutdown_background();
    drop(agent);
    assembly::let_go(&opened.workplace);
    super::end_worktree(worktree);
    usage_file(args, Some(&report))?;
    finish(&report, args)
}

fn finish(report: &TurnReport, args: &OneShotArgs) -> anyhow::Result<ExitCode> {
    if !args.json && !report.text.trim().is_empty() {
        ui::print(report.text.trim_end())?;
    }
    if let Some(error) = &report.error {
        ui::note(&format!("hermes: {error}"));
    }
    Ok(match report.outcome {
        Outcome::Completed => ExitCode::SUCCESS,
        Outcome::Interrupted => {
            ui::note("hermes: interrupted");
            ExitCode::from(INTERRUPTED)
        }
        Outcome::Partial | Outcome::OutOfCalls | Outcome::OutOfBudget | Outcome::Failed => {
            ExitCode::from(ui::FAILED)
        }
    })
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
}

impl Shown {
    fn new(json: bool) -> Self {
        Self { json }
    }

    fn event(&mut self, event: AgentEvent) {
        if self.json {
            // A reader that left is noticed at the end; the turn goes on, its work may be wanted.
            let mut out = std::io::stdout().lock();
            let _ = serde_json::to_writer(&mut out, &event)
                .map_err(std::io::Error::from)
                .and_then(|()| out.write_all(b"\n"));
            let _ = out.flush();
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
