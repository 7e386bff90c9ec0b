//! `hermes prompt-size`: what every first request carries before a word was said.

use std::process::ExitCode;

use hermes_agent::assembly;
use hermes_agent::compaction::{Estimator, tools_bytes};
use hermes_agent::prompt::Part;
use serde_json::json;

use crate::app::App;
use crate::talk::{self, args::TalkArgs};
use crate::ui;

/// Show what the first request carries before a word was said
///
/// Counts the system prompt and the descriptions of the tools, part by part. Nobody is contacted; tokens are estimates.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// For conversations through this door
    #[arg(long, value_name = "PLATFORM", default_value = "cli")]
    platform: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows it.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let mut opening = talk::opening(app, &TalkArgs::default())?;
    opening.source.clone_from(&args.platform);
    opening.person = talk::somebody_on(&args.platform);
    let (prompt, tools) = assembly::first_request(&opening)?;
    let parts: Vec<(String, u64)> =
        prompt.parts.iter().map(|part| (name_of(&part.part), part.bytes as u64)).collect();
    let schemas: Vec<(String, u64)> =
        tools.iter().map(|tool| (tool.name.clone(), tools_bytes(std::slice::from_ref(tool)))).collect();
    let sum = |rows: &[(String, u64)]| rows.iter().map(|(_, bytes)| bytes).sum::<u64>();
    let (prompt_bytes, tools_total) = (sum(&parts), sum(&schemas));
    let total = prompt_bytes + tools_total;
    let tokens = |bytes: u64| Estimator::default().tokens(bytes);
    if args.json {
        let rows = |rows: &[(String, u64)]| -> Vec<serde_json::Value> {
            rows.iter().map(|(name, bytes)| json!({"name": name, "bytes": bytes})).collect()
        };
        ui::print_json(&json!({
            "platform": args.platform,
            "system_prompt": {"bytes": prompt_bytes, "parts": rows(&parts)},
            "tools": {"bytes": tools_total, "count": schemas.len(), "tools": rows(&schemas)},
            "bytes": total,
            "tokens": tokens(total),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let row = |kind: &str, name: &str, bytes: u64| {
        vec![kind.to_owned(), name.to_owned(), bytes.to_string(), tokens(bytes).to_string()]
    };
    let mut rows: Vec<Vec<String>> = parts.iter().map(|(name, bytes)| row("prompt", name, *bytes)).collect();
    rows.extend(schemas.iter().map(|(name, bytes)| row("tool", name, *bytes)));
    rows.push(row("all", "", total));
    ui::print(&ui::table(&["", "PART", "BYTES", "TOKENS"], &rows))?;
    Ok(ExitCode::SUCCESS)
}

fn name_of(part: &Part) -> String {
    match part {
        Part::Identity => "identity".to_owned(),
        Part::Guidance => "guidance".to_owned(),
        Part::Skills => "skills".to_owned(),
        Part::Environment => "environment".to_owned(),
        Part::Platform => "platform".to_owned(),
        Part::Instructions => "agent.system_prompt".to_owned(),
        Part::ContextFile(path) => path.display().to_string(),
        Part::Memory => "memory".to_owned(),
        Part::UserProfile => "user profile".to_owned(),
        Part::Facts => "date and model".to_owned(),
    }
}
