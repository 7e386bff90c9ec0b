//! The commands that stop, remove or make anew. What destroys has a dry run.

use std::fmt::Write as _;
use std::process::ExitCode;

use hermes_sandbox::docker::inspect::Observed;
use hermes_sandbox::error::SandboxError;
use hermes_sandbox::manage::{Force, Manager, PrunePlan};
use hermes_sandbox::plan::Decided;
use jiff::Timestamp;
use serde_json::json;

use super::Place;
use crate::ui;

/// How far to go, and what to print: the same for everything that ends a container.
#[derive(Debug, clap::Args)]
struct HowFar {
    /// Also if it is in use or another profile's: commands and jobs in it end
    #[arg(short, long)]
    force: bool,
    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl HowFar {
    fn force(&self) -> Force {
        if self.force { Force::Yes } else { Force::No }
    }
}

/// Make this profile's container anew from today's settings
#[derive(Debug, clap::Args)]
pub struct RecreateArgs {
    #[command(flatten)]
    how: HowFar,
}

/// End a container; `rm` also removes it. Its kept directories stay
#[derive(Debug, clap::Args)]
pub struct EndArgs {
    /// Its name or the beginning of its id [default: the one this profile uses]
    name: Option<String>,
    #[command(flatten)]
    how: HowFar,
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

/// Makes it anew.
pub fn recreate(place: &Place, args: &RecreateArgs) -> anyhow::Result<ExitCode> {
    let manager = place.manager()?;
    let how = &args.how;
    if how.dry_run {
        manager.endable(None, how.force())?;
        let differences = manager.diff(None)?;
        if how.json {
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
    let done = manager.recreate(how.force(), &mut |line| ui::note(line))?;
    for notice in &done.notices {
        ui::note(&format!("note: {notice}"));
    }
    if how.json {
        ui::print_json(&done)?;
    } else {
        ui::print(&format!("{} was made anew.", done.name))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops one.
pub fn stop(place: &Place, args: &EndArgs) -> anyhow::Result<ExitCode> {
    end(place, args, "stopped", Manager::stop)
}

/// Removes one.
pub fn remove(place: &Place, args: &EndArgs) -> anyhow::Result<ExitCode> {
    end(place, args, "removed", Manager::remove)
}

/// Ends one in a way, or says which it would be.
fn end(
    place: &Place,
    args: &EndArgs,
    what: &str,
    way: impl Fn(&Manager, Option<&str>, Force) -> Result<Observed, SandboxError>,
) -> anyhow::Result<ExitCode> {
    let (manager, how) = (place.manager()?, &args.how);
    let way =
        |name, force| if how.dry_run { manager.endable(name, force) } else { way(&manager, name, force) };
    let one = way(args.name.as_deref(), how.force())?;
    if how.json {
        let done = if how.dry_run { "nothing" } else { what };
        ui::print_json(
            &json!({"name": one.name, "id": one.id, "done": done, "dry_run": how.dry_run, "would_be": what}),
        )?;
    } else {
        ui::print(&format!("{} {} {what}.", one.name, if how.dry_run { "would be" } else { "was" }))?;
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
    let mut text = decisions("remove", &plan.containers.remove);
    for dir in &plan.directories {
        let _ = writeln!(text, "remove    {}   nothing refers to it", dir.path.display());
    }
    text.push_str(&decisions("keep", &plan.containers.spare));
    if text.is_empty() { "Nothing to remove.\n".to_owned() } else { text }
}

fn decisions(verb: &str, list: &[Decided]) -> String {
    let line = |d: &Decided| format!("{verb:<10}{} ({})   {}\n", d.name, d.state.as_str(), d.reason);
    list.iter().map(line).collect::<Vec<_>>().concat()
}
