//! The commands that stop, remove or make anew. What destroys has a dry run.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_sandbox::manage::{Force, PrunePlan};
use hermes_sandbox::plan::Decided;
use jiff::Timestamp;
use serde_json::json;

use super::Place;
use crate::ui;

/// Make this profile's container anew from today's settings
#[derive(Debug, clap::Args)]
pub struct RecreateArgs {
    /// Also if it is in use: commands and jobs in it end
    #[arg(short, long)]
    force: bool,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// End a container; `rm` also removes it. Its kept directories stay
#[derive(Debug, clap::Args)]
pub struct EndArgs {
    /// Its name or the beginning of its id [default: the one this profile uses]
    name: Option<String>,
    /// Also if it is in use or another profile's: commands and jobs in it end
    #[arg(short, long)]
    force: bool,
    /// Say which it would be, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Remove containers nobody uses any more, and directories nothing refers to
///
/// Never one that is in use, never another profile's, never another machine's. Every decision comes with its reason.
#[derive(Debug, clap::Args)]
pub struct PruneArgs {
    /// Say what would go and what would stay, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn force(yes: bool) -> Force {
    if yes { Force::Yes } else { Force::No }
}

/// Makes it anew.
pub fn recreate(place: &Place, args: &RecreateArgs) -> anyhow::Result<ExitCode> {
    let manager = place.manager()?;
    if args.dry_run {
        manager.endable(None, force(args.force))?;
        let differences = manager.diff(None)?;
        if args.json {
            ui::print_json(&json!({"dry_run": true, "differences": differences}))?;
        } else {
            let lines: Vec<String> = differences.iter().map(|d| format!("{d}\n")).collect();
            ui::print(&format!(
                "It would be made anew. Differences from the settings: {}\n{}",
                lines.len(),
                lines.concat()
            ))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let done = manager.recreate(force(args.force), &mut |line| ui::note(line))?;
    for notice in &done.notices {
        ui::note(&format!("note: {notice}"));
    }
    if args.json {
        ui::print_json(&done)?;
    } else {
        ui::print(&format!("{} was made anew.", done.name))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops one.
pub fn stop(place: &Place, args: &EndArgs) -> anyhow::Result<ExitCode> {
    let manager = place.manager()?;
    let one = if args.dry_run {
        manager.endable(args.name.as_deref(), force(args.force))?
    } else {
        manager.stop(args.name.as_deref(), force(args.force))?
    };
    ended(args, &one.name, &one.id, "stopped")
}

/// Removes one.
pub fn remove(place: &Place, args: &EndArgs) -> anyhow::Result<ExitCode> {
    let manager = place.manager()?;
    let one = if args.dry_run {
        manager.endable(args.name.as_deref(), force(args.force))?
    } else {
        manager.remove(args.name.as_deref(), force(args.force))?
    };
    ended(args, &one.name, &one.id, "removed")
}

fn ended(args: &EndArgs, name: &str, id: &str, what: &str) -> anyhow::Result<ExitCode> {
    if args.json {
        let done = if args.dry_run { "nothing" } else { what };
        ui::print_json(
            &json!({"name": name, "id": id, "done": done, "dry_run": args.dry_run, "would_be": what}),
        )?;
    } else {
        ui::print(&format!("{name} {} {what}.", if args.dry_run { "would be" } else { "was" }))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Removes what nobody uses.
pub fn prune(place: &Place, args: &PruneArgs) -> anyhow::Result<ExitCode> {
    let manager = place.manager()?;
    let now = Timestamp::now();
    if args.dry_run {
        let plan = manager.prune_plan(now)?;
        if args.json {
            ui::print_json(&plan)?;
        } else {
            ui::print(&plan_text(&plan))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let done = manager.prune(now)?;
    if args.json {
        ui::print_json(&done)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = decisions("removed", &done.containers.removed);
    text.push_str(&decisions("kept", &done.containers.kept));
    for dir in &done.directories {
        let _ = writeln!(text, "removed   {}", dir.path.display());
    }
    ui::print(if text.is_empty() { "Nothing to remove." } else { &text })?;
    Ok(ExitCode::SUCCESS)
}

fn plan_text(plan: &PrunePlan) -> String {
    let mut text = decisions("remove", &plan.exited.remove);
    text.push_str(&decisions("remove", &plan.idle.remove));
    for dir in &plan.directories {
        let _ = writeln!(text, "remove    {}   nothing refers to it", dir.path.display());
    }
    // Both plans look at every container; what one spares the other may remove, or has more to say about.
    let said = |d: &&Decided| plan.idle.remove.iter().chain(&plan.idle.spare).any(|other| other.id == d.id);
    let removed = |d: &&Decided| plan.exited.remove.iter().any(|other| other.id == d.id);
    let spared: Vec<Decided> = plan.exited.spare.iter().filter(|d| !said(d)).cloned().collect();
    text.push_str(&decisions("keep", &spared));
    let spared: Vec<Decided> = plan.idle.spare.iter().filter(|d| !removed(d)).cloned().collect();
    text.push_str(&decisions("keep", &spared));
    if text.is_empty() { "Nothing to remove.\n".to_owned() } else { text }
}

fn decisions(verb: &str, list: &[Decided]) -> String {
    let line = |d: &Decided| format!("{verb:<10}{} ({})   {}\n", d.name, d.state.as_str(), d.reason);
    list.iter().map(line).collect::<Vec<_>>().concat()
}
