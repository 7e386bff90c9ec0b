//! The checks themselves. Each only looks; nothing is created, started or contacted.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use hermes_home::home::ChosenBy;
use hermes_home::settings::{self, LoadError, Severity};
use hermes_store::{AnySchema, Database, OpenMode};

use super::Check;
use crate::app::App;
use crate::commands::import;
use crate::commands::model::Desk;
use crate::commands::sandbox::Place;
use crate::commands::setup::report::{Standing, model_standing};
use crate::ui;

/// Every check, in the order of the report.
pub fn all(app: &App) -> Vec<Check> {
    let mut checks = home(app);
    checks.extend(private_files(app));
    checks.extend(configuration(app));
    checks.extend(databases(app));
    checks.extend(disk(app));
    checks.extend(programs(app));
    checks.extend(sandbox(app));
    checks.extend(model(app));
    checks
}

/// Where commands run, and whether that place can be reached: nothing is started in it.
fn sandbox(app: &App) -> Vec<Check> {
    const AREA: &str = "Sandbox";
    let place = match Place::of(app) {
        Ok(place) => place,
        Err(e) => return vec![Check::failure(AREA, e.to_string(), "hermes config explain terminal.backend")],
    };
    let seen = format!("commands run {}", place.describe());
    match place.reachable() {
        Ok(found) => vec![Check::ok(AREA, seen), Check::ok(AREA, found)],
        Err(e) => vec![Check::ok(AREA, seen), Check::failure(AREA, format!("{e:#}"), "hermes sandbox ls")],
    }
}

/// Whether there is a model to ask, by settings and keys alone.
fn model(app: &App) -> Vec<Check> {
    const AREA: &str = "Model";
    // Settings that cannot be read are told of above.
    let Ok(desk) = Desk::open(app) else { return Vec::new() };
    vec![match model_standing(&desk) {
        Standing::Works(what) => Check::ok(AREA, what),
        Standing::Missing(why) => Check::warning(AREA, why, "hermes setup"),
        Standing::Broken(why) => Check::failure(AREA, why, "hermes setup"),
    }]
}

fn home(app: &App) -> Vec<Check> {
    const AREA: &str = "Home";
    let dir = app.home.dir();
    let shown = dir.display();
    let profile = app.home.profile();
    let why = match app.home.chosen_by() {
        ChosenBy::Flag => "named with -p",
        ChosenBy::HermesHome => "HERMES_HOME points to it",
        ChosenBy::ActiveProfile => "the active profile",
        ChosenBy::Nothing => "the default",
    };
    let mut checks = vec![Check::ok(AREA, format!("profile {profile} ({why})"))];
    match fs::metadata(dir) {
        Err(_) => checks
            .push(Check::ok(AREA, format!("{shown} does not exist yet: it is made when it is first needed"))),
        Ok(meta) if !meta.is_dir() => {
            checks.push(Check::failure(
                AREA,
                format!("{shown} is not a directory"),
                "move it away, or set HERMES_HOME",
            ));
        }
        Ok(meta) => {
            let writable =
                rustix::fs::access(dir, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok();
            if writable {
                checks.push(Check::ok(AREA, format!("{shown} is writable")));
            } else {
                let mine = meta.uid() == rustix::process::geteuid().as_raw();
                let word = ui::shell_word(dir);
                let fix = if mine {
                    format!("chmod u+rwx {word}")
                } else {
                    format!("sudo chown -R \"$USER\" {word}")
                };
                checks.push(Check::failure(AREA, format!("{shown} is not writable"), fix));
            }
            checks.extend(owners(dir, meta.uid()));
            checks.extend(too_open(AREA, dir, meta.permissions().mode(), 0o700));
            if let Err(e) = import::refuse_if_pending(app.home.root()) {
                checks.push(Check::failure(AREA, e.to_string(), "hermes import --finish   (or --undo)"));
            }
        }
    }
    checks
}

/// Files of several owners: what `sudo hermes` made, the owner of the home can no longer use.
fn owners(dir: &Path, owner: u32) -> Option<Check> {
    const AREA: &str = "Home";
    let me = rustix::process::geteuid().as_raw();
    let word = ui::shell_word(dir);
    if me == 0 && owner != 0 {
        let seen =
            format!("you are root, but the home belongs to user {owner}: what is made now belongs to root");
        return Some(Check::warning(
            AREA,
            seen,
            format!("run hermes as that user; afterwards: chown -R {owner} {word}"),
        ));
    }
    let entries = fs::read_dir(dir).ok()?.flatten();
    let strange = |e: &fs::DirEntry| e.metadata().is_ok_and(|m| m.uid() != owner);
    let names: Vec<String> =
        entries.filter(strange).map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    if names.is_empty() {
        return None;
    }
    let seen = format!("these belong to another user than the home: {}", names.join(", "));
    Some(Check::warning(AREA, seen, format!("sudo chown -R {owner} {word}")))
}

fn private_files(app: &App) -> Vec<Check> {
    let secret = |name: &&str| {
        let path = app.home.path(name);
        let mode = fs::metadata(&path).ok()?.permissions().mode();
        Some(
            too_open("Secrets", &path, mode, 0o600)
                .unwrap_or_else(|| Check::ok("Secrets", format!("{name} is private"))),
        )
    };
    [".env", "auth.json"].iter().filter_map(secret).collect()
}

fn too_open(area: &'static str, path: &Path, mode: u32, wanted: u32) -> Option<Check> {
    let for_others = mode & 0o077;
    if for_others == 0 {
        return None;
    }
    let seen = format!("{} can be read by others (mode {:o})", path.display(), mode & 0o777);
    let fix = format!("chmod {wanted:o} {}   (or hermes doctor --fix)", ui::shell_word(path));
    let check =
        if wanted == 0o600 { Check::failure(area, seen, fix) } else { Check::warning(area, seen, fix) };
    Some(Check { mode: Some((path.to_path_buf(), wanted)), ..check })
}

fn configuration(app: &App) -> Vec<Check> {
    const AREA: &str = "Settings";
    let file = app.home.config_file();
    let loaded = match app.settings() {
        Ok(loaded) => loaded,
        // What cannot be read cannot be edited either.
        Err(LoadError::File(e)) => {
            let fix = format!("make {} a file that you can read", ui::shell_word(&file));
            return vec![Check::failure(AREA, e.to_string(), fix)];
        }
        Err(e) => return vec![Check::failure(AREA, e.to_string(), "hermes config edit")],
    };
    let findings = settings::check(&loaded);
    if findings.is_empty() {
        let state =
            if file.exists() { "is in order" } else { "does not exist: every setting has its default" };
        return vec![Check::ok(AREA, format!("{} {state}", file.display()))];
    }
    let line = |f: settings::Finding| {
        let subject = if f.key.is_empty() { String::new() } else { format!("{} ", f.key) };
        let seen = format!("{}: {subject}{}", f.place, f.problem);
        match f.severity {
            Severity::Error => Check::failure(AREA, seen, f.fix),
            Severity::Warning => Check::warning(AREA, seen, f.fix),
        }
    };
    findings.into_iter().map(line).collect()
}

fn databases(app: &App) -> Vec<Check> {
    database_files(app).into_iter().map(|path| database(&path)).collect()
}

fn database_files(app: &App) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        ["state.db", "response_store.db", "memory_store.db"].iter().map(|n| app.home.path(n)).collect();
    files.push(app.home.root().join("kanban.db"));
    if let Ok(boards) = fs::read_dir(app.home.root().join("kanban/boards")) {
        files.extend(boards.flatten().map(|b| b.path().join("kanban.db")));
    }
    files.retain(|f| f.is_file());
    files
}

/// Opened through SQLite, read-only: reading a live database's file any other way would cancel its locks.
fn database(path: &Path) -> Check {
    const AREA: &str = "Databases";
    let fix = "hermes import BACKUP.zip   (from `hermes backup`)";
    let opened = Database::open(path, OpenMode::ReadOnly, &AnySchema);
    match opened.and_then(|mut db| db.quick_check()) {
        Ok(()) => Check::ok(AREA, format!("{} is sound", path.display())),
        Err(e) => Check::failure(AREA, e.to_string(), fix),
    }
}

fn disk(app: &App) -> Vec<Check> {
    const AREA: &str = "Disk";
    let existing = app.home.dir().ancestors().find(|p| p.exists()).unwrap_or_else(|| Path::new("/"));
    let Ok(stat) = rustix::fs::statvfs(existing) else { return Vec::new() };
    let free_mb = stat.f_bavail * stat.f_frsize / (1 << 20);
    let seen = format!("{free_mb} MB free for {}", app.home.dir().display());
    let fix = "free some space, or move the home and set HERMES_HOME";
    vec![match free_mb {
        0..100 => Check::failure(AREA, seen, fix),
        100..1024 => Check::warning(AREA, seen, fix),
        _ => Check::ok(AREA, seen),
    }]
}

fn programs(app: &App) -> Vec<Check> {
    const AREA: &str = "Programs";
    let path = app.var("PATH").unwrap_or_default();
    let line = |(name, why, fix): (&str, &str, &str)| match find_program(path, name) {
        Some(found) => Check::ok(AREA, format!("{name} is {}", found.display())),
        None => Check::warning(AREA, format!("{name} is not installed: {why}"), fix),
    };
    [
        ("bash", "commands then run in plain sh, without functions and aliases", "apt install bash"),
        ("git", "worktrees and checkpoints need it", "apt install git"),
    ]
    .map(line)
    .into()
}

/// The first executable of that name on the search path.
pub fn find_program(path: &str, name: &str) -> Option<PathBuf> {
    let executable = |p: &PathBuf| p.is_file() && rustix::fs::access(p, rustix::fs::Access::EXEC_OK).is_ok();
    std::env::split_paths(path).map(|dir| dir.join(name)).find(executable)
}
