//! How a worker's program is started: its arguments and its environment, as the other program starts it too.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::card::{Card, CardId, GoalMode, RunId};
use crate::extras::Extras;
use crate::slug::Slug;

/// Variables of a process.
pub type Environment = BTreeMap<OsString, OsString>;

/// All that a worker is told when it is started.
#[derive(Clone)]
pub(super) struct Job<'a> {
    pub card: &'a Card,
    pub extras: &'a Extras,
    pub run: RunId,
    pub lock: &'a str,
    pub profile: &'a str,
    /// The profile's home.
    pub home: &'a Path,
    pub board: &'a Slug,
    pub database: &'a Path,
    pub workspaces: &'a Path,
    pub workspace: &'a Path,
    pub branch: Option<&'a str>,
    /// Where the profile's commands run.
    pub terminal: Terminal,
    /// What the profile mounts into its boxes.
    pub volumes: &'a [String],
    /// Variables the profile sets there.
    pub box_env: &'a BTreeMap<String, String>,
    /// Directories that must be seen in the box, beside the workspace.
    pub mounts: &'a [Mount],
    /// The process that looks after it.
    pub guard: u32,
}

/// Where a profile's commands run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Terminal {
    /// On this machine.
    Here,
    /// In a container of this machine's engine.
    Container,
    /// On another machine: nothing of this one can be seen there.
    Elsewhere,
}

/// A directory that must be seen in a box under its own name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// The directory.
    pub path: PathBuf,
    /// Whether it can be changed from there.
    pub access: Access,
}

impl Mount {
    /// As the settings of boxes have it.
    fn volume(&self) -> String {
        let path = self.path.display();
        match self.access {
            Access::Write => format!("{path}:{path}"),
            Access::Read => format!("{path}:{path}:ro"),
        }
    }
}

/// Whether something can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It can.
    Write,
    /// It cannot.
    Read,
}

/// Seconds that are left for a worker to say what happened when its command ran into the time limit.
const LAST_WORDS: i64 = 30;

impl Job<'_> {
    /// The arguments of the worker's program.
    pub fn arguments(&self) -> Vec<OsString> {
        let mut all: Vec<OsString> =
            vec!["-p".into(), self.profile.into(), "--cli".into(), "--accept-hooks".into()];
        for skill in &self.card.skills {
            all.extend(["--skills".into(), skill.into()]);
        }
        if let Some(model) = &self.card.model {
            all.extend(["-m".into(), model.into()]);
        }
        if let Some(provider) = &self.extras.provider {
            all.extend(["--provider".into(), provider.into()]);
        }
        if !self.extras.toolsets.is_empty() {
            all.extend(["--toolsets".into(), self.extras.toolsets.join(",").into()]);
        }
        all.extend(["chat".into(), "-q".into(), format!("work kanban task {}", self.card.id).into()]);
        if self.card.goal_mode == GoalMode::On {
            all.push("-Q".into());
        }
        all
    }

    /// The arguments for a card whose work is to split another: this program asks a model, no conversation is begun.
    pub fn splitting(&self, other: &CardId) -> Vec<OsString> {
        let words =
            ["-p", self.profile, "kanban", "--board", self.board.as_str(), "decompose", other.as_str()];
        let rest = ["--author", self.profile, "--job", self.card.id.as_str()];
        words.iter().chain(&rest).map(OsString::from).collect()
    }

    /// The environment of the worker's program, from that of the one who starts it.
    pub fn environment(&self, ours: &Environment) -> Environment {
        let mut env = ours.clone();
        // It would start a screen; and what the last worker was told is not for this one.
        for name in [
            "HERMES_TUI",
            "HERMES_TENANT",
            "HERMES_KANBAN_BRANCH",
            "HERMES_KANBAN_GOAL_MODE",
            "HERMES_KANBAN_GOAL_MAX_TURNS",
        ] {
            env.remove(OsStr::new(name));
        }
        let mut set = |name: &str, value: &OsStr| env.insert(name.into(), value.to_owned());
        set("HERMES_HOME", self.home.as_os_str());
        set("HERMES_PROFILE", self.profile.as_ref());
        set("HERMES_KANBAN_TASK", self.card.id.as_str().as_ref());
        set("HERMES_KANBAN_WORKSPACE", self.workspace.as_os_str());
        set("HERMES_KANBAN_RUN_ID", self.run.to_string().as_ref());
        set("HERMES_KANBAN_CLAIM_LOCK", self.lock.as_ref());
        set("HERMES_KANBAN_DB", self.database.as_os_str());
        set("HERMES_KANBAN_WORKSPACES_ROOT", self.workspaces.as_os_str());
        set("HERMES_KANBAN_BOARD", self.board.as_str().as_ref());
        set("HERMES_KANBAN_GUARD", self.guard.to_string().as_ref());
        if let Some(tenant) = &self.card.tenant {
            set("HERMES_TENANT", tenant.as_ref());
        }
        if let Some(branch) = self.branch {
            set("HERMES_KANBAN_BRANCH", branch.as_ref());
        }
        if self.card.goal_mode == GoalMode::On {
            set("HERMES_KANBAN_GOAL_MODE", "1".as_ref());
            if let Some(most) = self.card.goal_max_turns {
                set("HERMES_KANBAN_GOAL_MAX_TURNS", most.to_string().as_ref());
            }
        }
        self.place(&mut env);
        if let Some(limit) = self.card.max_runtime_seconds.filter(|limit| *limit > 0) {
            for name in ["TERMINAL_TIMEOUT", "TERMINAL_MAX_FOREGROUND_TIMEOUT"] {
                raise(&mut env, name, (limit - LAST_WORDS).max(1));
            }
        }
        env
    }

    /// Where its commands run: in the workspace, and in a box of the card's own. In one that is shared, the workspace of
    /// another card would be mounted; and what one card leaves running would end with another.
    fn place(&self, env: &mut Environment) {
        if self.terminal == Terminal::Elsewhere {
            return;
        }
        let mut set = |name: &str, value: OsString| env.insert(name.into(), value);
        set("TERMINAL_CWD", self.workspace.into());
        set("TERMINAL_SCOPE", "shared".into());
        set("TERMINAL_SCOPE_KEY", format!("card-{}-{}", self.board, self.card.id).into());
        if self.terminal == Terminal::Container {
            set("TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE", "true".into());
        }
        if self.terminal == Terminal::Container && !self.mounts.is_empty() {
            // What the profile has of its own stays: a variable takes the place of the whole setting.
            let volumes = self.volumes.iter().cloned().chain(self.mounts.iter().map(Mount::volume));
            set("TERMINAL_DOCKER_VOLUMES", json!(volumes.collect::<Vec<_>>()).to_string().into());
            // In the box the repository belongs to another user, which git refuses unless it is told.
            let mut inside = self.box_env.clone();
            for (name, value) in [
                ("GIT_CONFIG_COUNT", "1"),
                ("GIT_CONFIG_KEY_0", "safe.directory"),
                ("GIT_CONFIG_VALUE_0", "*"),
            ] {
                inside.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
            set("TERMINAL_DOCKER_ENV", json!(inside).to_string().into());
        }
    }
}

/// Raises a limit; one that is higher stays.
fn raise(env: &mut Environment, name: &str, least: i64) {
    let now = env.get(OsStr::new(name)).and_then(|text| text.to_str()?.trim().parse::<i64>().ok());
    if now.is_none_or(|now| now < least) {
        env.insert(name.into(), least.to_string().into());
    }
}

/// The program a worker runs: what `HERMES_BIN` names, by its path or by its name on the search path, or this one.
pub fn program(env: &Environment, own: &Path, cwd: &Path) -> Result<PathBuf, String> {
    let Some(named) = env.get(OsStr::new("HERMES_BIN")).filter(|name| !name.is_empty()) else {
        return Ok(own.to_owned());
    };
    let path = Path::new(named);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(cwd.join(path));
    }
    let dirs = env.get(OsStr::new("PATH")).map(std::env::split_paths).into_iter().flatten();
    let mut found = dirs.map(|dir| cwd.join(dir).join(path)).filter(|file| is_program(file));
    found.next().ok_or_else(|| {
        format!("HERMES_BIN is \"{}\", and there is no such program on the search path", path.display())
    })
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card() -> Card {
        let dir = tempfile::tempdir().unwrap();
        let root = crate::Root::new(dir.path(), crate::Overrides::default());
        let mut board = crate::Board::open(&root, &Slug::default_board()).unwrap();
        let made = board.create(&crate::create::NewCard::new("x"), 1).unwrap().card;
        Card { id: CardId::new("t_00000001"), ..made }
    }

    fn with<T>(card: &Card, extras: &Extras, terminal: Terminal, look: impl Fn(&Job<'_>) -> T) -> T {
        look(&Job {
            card,
            extras,
            run: RunId(7),
            lock: "here:42",
            profile: "alpha",
            home: Path::new("/h/profiles/alpha"),
            board: &Slug::parse("web").unwrap(),
            database: Path::new("/h/kanban/boards/web/kanban.db"),
            workspaces: Path::new("/h/kanban/boards/web/workspaces"),
            workspace: Path::new("/h/kanban/boards/web/workspaces/t_00000001"),
            branch: None,
            terminal,
            volumes: &["/data:/data".to_owned()],
            box_env: &BTreeMap::from([("A".to_owned(), "1".to_owned())]),
            mounts: &[],
            guard: 99,
        })
    }

    fn words(arguments: &[OsString]) -> String {
        arguments.join(OsStr::new(" ")).into_string().unwrap()
    }

    fn lines(env: &Environment) -> Vec<String> {
        env.iter().map(|(name, value)| format!("{}={}", name.display(), value.display())).collect()
    }

    fn env(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    #[test]
    fn arguments_are_those_the_other_program_gives() {
        let plain = with(&card(), &Extras::default(), Terminal::Here, |job| words(&job.arguments()));
        assert_eq!(plain, "-p alpha --cli --accept-hooks chat -q work kanban task t_00000001");
        let card = Card {
            skills: vec!["one".into(), "two".into()],
            model: Some("m".into()),
            goal_mode: GoalMode::On,
            ..card()
        };
        let extras = Extras {
            provider: Some("p".into()),
            toolsets: vec!["file".into(), "web".into()],
            ..Extras::default()
        };
        let full = with(&card, &extras, Terminal::Here, |job| words(&job.arguments()));
        assert_eq!(
            full,
            "-p alpha --cli --accept-hooks --skills one --skills two -m m --provider p --toolsets file,web chat -q \
             work kanban task t_00000001 -Q"
        );
    }

    #[test]
    fn the_environment_says_who_works_on_what_and_where() {
        let ours = env(&[("PATH", "/bin"), ("HERMES_TUI", "1"), ("HERMES_TENANT", "theirs")]);
        let told = with(&card(), &Extras::default(), Terminal::Here, |job| job.environment(&ours));
        assert_eq!(
            lines(&told),
            [
                "HERMES_HOME=/h/profiles/alpha",
                "HERMES_KANBAN_BOARD=web",
                "HERMES_KANBAN_CLAIM_LOCK=here:42",
                "HERMES_KANBAN_DB=/h/kanban/boards/web/kanban.db",
                "HERMES_KANBAN_GUARD=99",
                "HERMES_KANBAN_RUN_ID=7",
                "HERMES_KANBAN_TASK=t_00000001",
                "HERMES_KANBAN_WORKSPACE=/h/kanban/boards/web/workspaces/t_00000001",
                "HERMES_KANBAN_WORKSPACES_ROOT=/h/kanban/boards/web/workspaces",
                "HERMES_PROFILE=alpha",
                "PATH=/bin",
                "TERMINAL_CWD=/h/kanban/boards/web/workspaces/t_00000001",
                "TERMINAL_SCOPE=shared",
                "TERMINAL_SCOPE_KEY=card-web-t_00000001",
            ]
        );
    }

    #[test]
    fn what_only_some_cards_have_is_said_of_those() {
        let card = Card {
            tenant: Some("acme".into()),
            goal_mode: GoalMode::On,
            goal_max_turns: Some(4),
            max_runtime_seconds: Some(600),
            ..card()
        };
        let ours = env(&[("TERMINAL_TIMEOUT", "900")]);
        let told = with(&card, &Extras::default(), Terminal::Container, |job| {
            Job { branch: Some("wt/x"), ..job.clone() }.environment(&ours)
        });
        for line in [
            "HERMES_TENANT=acme",
            "HERMES_KANBAN_BRANCH=wt/x",
            "HERMES_KANBAN_GOAL_MODE=1",
            "HERMES_KANBAN_GOAL_MAX_TURNS=4",
            "TERMINAL_TIMEOUT=900",
            "TERMINAL_MAX_FOREGROUND_TIMEOUT=570",
            "TERMINAL_DOCKER_MOUNT_CWD_TO_WORKSPACE=true",
        ] {
            assert!(lines(&told).iter().any(|told| told == line), "{line} is missing in {told:?}");
        }
        let far = with(&card, &Extras::default(), Terminal::Elsewhere, |job| job.environment(&ours));
        assert!(!far.contains_key(OsStr::new("TERMINAL_CWD")), "nothing of this machine is there");
    }

    #[test]
    fn a_box_sees_the_repository_and_cannot_change_what_runs_here() {
        let mount = |path: &str, access| Mount { path: path.into(), access };
        let mounts = [mount("/p/.git", Access::Write), mount("/p/.git/hooks", Access::Read)];
        let told = with(&card(), &Extras::default(), Terminal::Container, |job| {
            Job { mounts: &mounts, ..job.clone() }.environment(&Environment::new())
        });
        let volumes =
            r#"TERMINAL_DOCKER_VOLUMES=["/data:/data","/p/.git:/p/.git","/p/.git/hooks:/p/.git/hooks:ro"]"#;
        assert!(lines(&told).iter().any(|line| line == volumes), "{told:?}");
        let inside = lines(&told).into_iter().find(|line| line.starts_with("TERMINAL_DOCKER_ENV=")).unwrap();
        assert!(inside.contains(r#""A":"1""#) && inside.contains("safe.directory"), "{inside}");
    }

    #[test]
    fn the_program_is_named_by_path_or_by_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("worker");
        std::fs::write(&file, "").unwrap();
        let (own, cwd) = (Path::new("/usr/bin/hermes"), Path::new("/w"));
        let find = |bin: &str| {
            let path = dir.path().to_str().unwrap();
            program(&env(&[("HERMES_BIN", bin), ("PATH", path)]), own, cwd)
        };
        assert_eq!(find(""), Ok(own.to_owned()));
        assert_eq!(find("/opt/x"), Ok("/opt/x".into()));
        assert_eq!(find("bin/x"), Ok("/w/bin/x".into()));
        assert!(find("worker").unwrap_err().contains("no such program"), "it is no program yet");
        std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(find("worker"), Ok(file.clone()));
    }
}
