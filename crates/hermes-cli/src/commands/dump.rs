//! `hermes dump`: a summary to paste into a bug report, with no secret in it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use hermes_guard::Policy;
use hermes_home::settings::{self, Origin};

use super::doctor;
use crate::app::App;
use crate::{logging, ui};

/// Print a summary for a bug report, with no secret in it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
It holds versions, file names and sizes, settings that are not at their default, the checks of `hermes doctor` and the
newest errors. Secrets are masked twice: by kind, and by looking for them in the finished text.")]
pub struct Args {
    /// Show the ends of masked keys instead of only whether they are set
    #[arg(long)]
    show_keys: bool,
}

const ERROR_LINES: usize = 20;

/// Prints the summary.
pub fn run(app: &App, args: &Args) -> anyhow::Result<ExitCode> {
    let mut text = String::from("--- hermes dump ---\n");
    machine(&mut text);
    let _ = writeln!(text, "profile: {}\nhome: {}", app.home.profile(), app.home.dir().display());
    match app.settings() {
        Ok(loaded) => set_values(&mut text, app, &loaded, args.show_keys),
        Err(e) => {
            let _ = writeln!(text, "settings: cannot be read: {e}");
        }
    }
    files(&mut text, app.home.dir());
    let _ = write!(text, "\nchecks:\n{}", doctor::report(&doctor::results(app)));
    errors(&mut text, &app.home.logs_dir().join("errors.log"));
    text.push_str("--- end ---\n");
    let redactor = logging::redactor(app);
    let text = redactor.redact(&text, Policy::Log);
    ui::print(&text.lines().map(|l| settings::masked_text(l) + "\n").collect::<Vec<_>>().concat())?;
    Ok(ExitCode::SUCCESS)
}

fn machine(text: &mut String) {
    let name = rustix::system::uname();
    let system = format!("{} {}", name.sysname().to_string_lossy(), name.release().to_string_lossy());
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let distribution = release.lines().find_map(|l| l.strip_prefix("PRETTY_NAME=")).unwrap_or("unknown");
    let _ = writeln!(text, "version: {} (Rust)", env!("CARGO_PKG_VERSION"));
    let _ =
        writeln!(text, "system: {system} {} on {}", std::env::consts::ARCH, distribution.trim_matches('"'));
}

fn set_values(text: &mut String, app: &App, loaded: &settings::Settings, show_keys: bool) {
    text.push_str("\nsettings that are not at their default:\n");
    for spec in settings::all() {
        let line = match loaded.resolve(spec) {
            Ok(found) if found.origin == Origin::Default => continue,
            Ok(_) if spec.is_secret() && !show_keys => "set".to_owned(),
            Ok(found) => settings::shown(&settings::masked(spec, &found.value)),
            Err(e) => format!("unusable: must be {}", e.wanted),
        };
        let _ = writeln!(text, "  {} = {line}", spec.key);
    }
    let unreadable = loaded.sources().dotenv.problems().len();
    if unreadable > 0 {
        let _ = writeln!(text, "  ({unreadable} unreadable lines in {})", app.home.env_file().display());
    }
}

/// Names and sizes of what lies in the home, never contents.
fn files(text: &mut String, dir: &Path) {
    text.push_str("\nfiles:\n");
    let Ok(entries) = fs::read_dir(dir) else { return };
    let mut lines: Vec<String> = entries
        .flatten()
        .filter_map(|e| {
            let meta = e.metadata().ok()?;
            let size = if meta.is_dir() { "directory".to_owned() } else { format!("{} bytes", meta.len()) };
            Some(format!("  {} ({size})\n", e.file_name().to_string_lossy()))
        })
        .collect();
    lines.sort_unstable();
    text.push_str(&lines.concat());
}

fn errors(text: &mut String, log: &Path) {
    let Ok(bytes) = fs::read(log) else { return };
    let all = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = all.lines().collect();
    let _ = writeln!(text, "\nnewest errors:");
    for line in &lines[lines.len().saturating_sub(ERROR_LINES)..] {
        let _ = writeln!(text, "  {line}");
    }
}
