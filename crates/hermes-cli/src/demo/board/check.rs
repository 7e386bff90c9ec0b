//! Looks at the finished project without any agent.

use std::path::Path;
use std::process::{Command, Stdio};

/// Years and what everybody agrees on; not those the workers tried.
const YEARS: [(&str, &str); 5] =
    [("2028", "leap"), ("2026", "common"), ("2100", "common"), ("2400", "leap"), ("1600", "leap")];

/// What is true of the project, or what is wrong with it.
pub fn project(dir: &Path) -> Result<String, String> {
    for (year, want) in YEARS {
        let got = run(dir, &["leap.sh", year])?;
        if got.trim() != want {
            return Err(format!("leap.sh says {year} is '{}', not '{want}'", got.trim()));
        }
    }
    run(dir, &["check.sh"])?;
    let readme =
        std::fs::read_to_string(dir.join("README.md")).map_err(|error| format!("README.md: {error}"))?;
    if !readme.contains("sh leap.sh 2024\n    leap") {
        return Err("README.md has no example that was run".to_owned());
    }
    Ok(format!(
        "leap.sh is right for {} other years, check.sh succeeds, README.md tells the truth",
        YEARS.len()
    ))
}

fn run(dir: &Path, arguments: &[&str]) -> Result<String, String> {
    let shown = arguments.join(" ");
    let ended = Command::new("sh").args(arguments).current_dir(dir).stdin(Stdio::null()).output();
    let ended = ended.map_err(|error| format!("`sh {shown}`: {error}"))?;
    if !ended.status.success() {
        return Err(format!("`sh {shown}` fails: {}", String::from_utf8_lossy(&ended.stdout).trim()));
    }
    Ok(String::from_utf8_lossy(&ended.stdout).into_owned())
}
