//! `hermes doctor`: looks at the home and what it needs, and says how to mend what is wrong.

mod checks;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use crate::app::App;
use crate::ui;

/// Check the home, the settings and what they need
///
/// Every line is ok, a warning or a failure, with the command that mends it. Nothing is changed unless --fix is given,
/// and then only file modes.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit code: 1 if anything fails, 0 if all is well or there are only warnings.")]
pub struct Args {
    /// Mend file modes that are too open
    #[arg(long)]
    fix: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Ok,
    Warning,
    Failure,
}

/// One line of the report.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// The part of the program it is about.
    pub area: &'static str,
    /// How it came out.
    pub outcome: Outcome,
    /// What was seen.
    pub seen: String,
    /// The command or change that mends it.
    pub fix: Option<String>,
    /// A file whose mode is too open, with the mode it should have.
    #[serde(skip)]
    pub mode: Option<(PathBuf, u32)>,
}

impl Check {
    fn new(area: &'static str, outcome: Outcome, seen: impl Into<String>) -> Self {
        Self { area, outcome, seen: seen.into(), fix: None, mode: None }
    }

    fn ok(area: &'static str, seen: impl Into<String>) -> Self {
        Self::new(area, Outcome::Ok, seen)
    }

    fn warning(area: &'static str, seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(area, Outcome::Warning, seen) }
    }

    fn failure(area: &'static str, seen: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(area, Outcome::Failure, seen) }
    }
}

/// Runs the checks and prints them.
pub fn run(profile: Option<String>, args: &Args) -> anyhow::Result<ExitCode> {
    // A home that no other command can open is the one that needs looking at.
    let (app, refused) = App::open_anyway(profile)?;
    let refused = refused
        .map(|e| Check::failure("Home", e.to_string(), "the checks below are about the default profile"));
    let mut found: Vec<Check> = refused.into_iter().chain(checks::all(&app)).collect();
    if args.fix {
        found.iter_mut().for_each(mend);
    }
    let failed = found.iter().any(|c| c.outcome == Outcome::Failure);
    if args.json {
        ui::print_json(&found)?;
    } else {
        ui::print(&report(&found))?;
    }
    Ok(if failed { ExitCode::from(ui::FAILED) } else { ExitCode::SUCCESS })
}

/// All checks, for `hermes status --deep`.
pub fn results(app: &App) -> Vec<Check> {
    checks::all(app)
}

/// The only thing that can be mended without asking: a mode that is too open.
fn mend(check: &mut Check) {
    let Some((path, mode)) = &check.mode else { return };
    let permissions = std::os::unix::fs::PermissionsExt::from_mode(*mode);
    match std::fs::set_permissions(path, permissions) {
        Ok(()) => {
            let seen = format!("{}: mode set to {mode:o}", path.display());
            *check = Check::ok(check.area, seen);
        }
        Err(e) => {
            let seen = format!("{}: cannot set the mode: {e}", path.display());
            *check = Check::failure(check.area, seen, check.fix.clone().unwrap_or_default());
        }
    }
}

/// Lines grouped by area, then the count.
pub fn report(checks: &[Check]) -> String {
    let mut text = String::new();
    let mut area = "";
    for check in checks {
        if check.area != area {
            let _ = writeln!(text, "{}{}", if area.is_empty() { "" } else { "\n" }, check.area);
            area = check.area;
        }
        let mark = match check.outcome {
            Outcome::Ok => "ok     ",
            Outcome::Warning => "warning",
            Outcome::Failure => "FAILURE",
        };
        let _ = writeln!(text, "  {mark}  {}", check.seen);
        if let Some(fix) = &check.fix {
            let _ = writeln!(text, "           → {fix}");
        }
    }
    let count = |o| checks.iter().filter(|c| c.outcome == o).count();
    let (failures, warnings) = (count(Outcome::Failure), count(Outcome::Warning));
    let _ = match (failures, warnings) {
        (0, 0) => writeln!(text, "\nEverything is in order."),
        (f, w) => writeln!(text, "\n{}, {}.", ui::count(f as u64, "failure"), ui::count(w as u64, "warning")),
    };
    text
}
