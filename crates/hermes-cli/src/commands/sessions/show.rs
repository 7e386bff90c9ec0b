//! `hermes sessions show`: what was said.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_guard::{Policy, Redactor};
use hermes_store::sessions::{
    Body, ModelUsage, Resume, Role, SessionError, SessionRow, Standing, StoredMessage, View,
};
use hermes_tools::masked;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{open_to_look, text};
use crate::app::App;
use crate::logging;
use crate::ui;

/// Show a conversation
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Its id, the beginning of its id, or its title [default: the one used last]
    session: Option<String>,
    /// Only the last messages
    #[arg(short = 'n', long, value_name = "N")]
    last: Option<usize>,
    /// Also what was summarised or taken back
    #[arg(long)]
    all: bool,
    /// Do not shorten results of tools
    #[arg(long)]
    full: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let which = match &args.session {
        Some(name) => Resume::Named(name.clone()),
        None => Resume::Latest { source: "cli".to_owned() },
    };
    let missing =
        || SessionError::NoSession { name: args.session.clone().unwrap_or_else(|| "latest".to_owned()) };
    let mut store = open_to_look(app)?.ok_or_else(missing)?;
    let id = store.find(&which)?.ok_or_else(missing)?;
    let row = store.row(&id)?;
    let usage = store.usage(&id)?;
    let view = if args.all { View::All } else { View::Active };
    let mut messages = store.messages(&id, view)?;
    let left_out = args.last.map_or(0, |last| messages.len().saturating_sub(last));
    messages.drain(..left_out);
    let redactor = logging::redactor(app);
    if args.json {
        let mut object = text::json(&row);
        object["usage"] = serde_json::to_value(&usage)?;
        object["transcript"] = messages.iter().map(message_json).collect();
        masked::value(&mut object, &redactor, Policy::Log);
        ui::print_json(&object)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut page = head(&row, &usage);
    if left_out > 0 {
        let _ = writeln!(page, "\n({} before)", ui::count(left_out as u64, "message"));
    }
    for message in &mut messages {
        // Before anything is shortened: half a key is not recognised.
        mask(message, &redactor);
        page.push_str(&said(message, args.full));
    }
    ui::print(&redactor.redact(&page, Policy::Log))?;
    ui::note(&format!("\nGo on with it: {}", text::resume_command(app, &id)));
    Ok(ExitCode::SUCCESS)
}

/// Takes the secrets out of what was said.
fn mask(message: &mut StoredMessage, redactor: &Redactor) {
    match &mut message.message.content {
        Some(Body::Text(text)) => *text = redactor.redact(text, Policy::Log).into_owned(),
        Some(Body::Parts(parts)) => masked::value(parts, redactor, Policy::Log),
        None => {}
    }
    if let Some(calls) = &mut message.message.tool_calls {
        masked::value(calls, redactor, Policy::Log);
    }
}

fn head(row: &SessionRow, usage: &[ModelUsage]) -> String {
    let mut page = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(page, "{label:<10}{value}");
    };
    line("session", &ui::harmless(row.id.as_str()));
    if let Some(title) = &row.title {
        line("title", &text::line(title, 100));
    }
    line("model", &row.model.as_deref().map_or_else(|| "–".to_owned(), |model| text::line(model, 80)));
    line("source", &format!("{} ({})", text::line(&row.source, 20), text::kind(row.kind)));
    let end = row.end_reason.as_deref().map(|reason| format!(", ended: {}", text::line(reason, 40)));
    let (now, from) = (Timestamp::now(), text::moment(row.started_at));
    line(
        "time",
        &format!("{from}, last active {}{}", text::ago(row.last_active, now), end.unwrap_or_default()),
    );
    if let Some(cwd) = &row.cwd {
        let branch = row.git_branch.as_deref().map(|branch| format!(" ({})", text::line(branch, 40)));
        line("directory", &format!("{}{}", text::line(cwd, 200), branch.unwrap_or_default()));
    }
    if let Some(parent) = &row.parent {
        line("under", &ui::harmless(parent.as_str()));
    }
    let cost = row.cost_usd().map(|cost| format!(", {}", text::dollars(cost))).unwrap_or_default();
    let (input, output) = (text::tokens(row.input_tokens), text::tokens(row.output_tokens));
    line("tokens", &format!("{input} in, {output} out, {} calls{cost}", row.api_call_count));
    for side in usage.iter().filter(|usage| !usage.task.is_empty()) {
        let (input, output) = (text::tokens(side.input), text::tokens(side.output));
        line("", &format!("{} in, {} out for {}", input, output, text::line(&side.task, 40)));
    }
    page
}

/// How many lines of a tool's result are shown.
const RESULT_LINES: usize = 6;
const ARGUMENTS: usize = 120;

/// One message as it is printed.
fn said(message: &StoredMessage, full: bool) -> String {
    let standing = match message.standing {
        Standing::Active => "",
        Standing::Compacted => " · summarised",
        Standing::TakenBack => " · taken back",
    };
    let inner = &message.message;
    let who = match &inner.role {
        Role::User => "You".to_owned(),
        Role::Assistant => "Hermes".to_owned(),
        Role::Tool => format!("Result of {}", text::line(inner.tool_name.as_deref().unwrap_or("a tool"), 40)),
        role => text::line(role.as_str(), 20),
    };
    let mut page = format!("\n── {who} · {}{standing}\n", text::moment(inner.timestamp));
    let words = inner.content.as_ref().map(shown_body).unwrap_or_default();
    let shorten = inner.role == Role::Tool && !full;
    page.push_str(&if shorten { first_lines(&words) } else { paragraph(&words) });
    for call in inner.tool_calls.iter().flat_map(calls) {
        let _ = writeln!(page, "→ {call}");
    }
    page
}

fn shown_body(body: &Body) -> String {
    match body {
        Body::Text(text) => ui::harmless(text),
        Body::Parts(parts) => {
            let others =
                parts.as_array().map_or(0, |list| list.iter().filter(|p| p.get("text").is_none()).count());
            let pictures = if others > 0 {
                format!("\n[{}]", ui::count(others as u64, "picture"))
            } else {
                String::new()
            };
            ui::harmless(&body.text()) + &pictures
        }
    }
}

fn paragraph(text: &str) -> String {
    if text.trim().is_empty() { String::new() } else { format!("{}\n", text.trim_end()) }
}

fn first_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let mut shown: String =
        lines.iter().take(RESULT_LINES).map(|line| text::line(line, 200) + "\n").collect();
    if lines.len() > RESULT_LINES {
        let _ = writeln!(shown, "… {} more (--full)", ui::count((lines.len() - RESULT_LINES) as u64, "line"));
    }
    shown
}

fn calls(value: &Value) -> Vec<String> {
    let one = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str).unwrap_or("?");
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        format!("{} {}", text::line(name, 60), text::line(&arguments, ARGUMENTS))
    };
    value.as_array().map(|list| list.iter().map(one).collect()).unwrap_or_default()
}

fn message_json(message: &StoredMessage) -> Value {
    let inner = &message.message;
    json!({
        "id": message.id.0,
        "role": inner.role.as_str(),
        "content": inner.content.as_ref().map(|body| match body {
            Body::Text(text) => Value::from(text.as_str()),
            Body::Parts(parts) => parts.clone(),
        }),
        "tool_calls": inner.tool_calls,
        "tool_call_id": inner.tool_call_id,
        "tool_name": inner.tool_name,
        "reasoning": inner.reasoning,
        "finish_reason": inner.finish_reason,
        "timestamp": inner.timestamp.to_string(),
        "standing": match message.standing {
            Standing::Active => "active",
            Standing::Compacted => "compacted",
            Standing::TakenBack => "taken-back",
        },
    })
}
