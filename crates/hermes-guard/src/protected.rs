//! What is protected below a home: of this program, and of the user's login. One list for the tools that write files and for
//! commands; each asks it about names, which may be patterns in a command.

/// A name in a path: a plain one, or one that a pattern may stand for.
pub(crate) trait Name {
    /// Whether it may be this name.
    fn is(&self, name: &str) -> bool;
    /// Whether it may begin so.
    fn begins(&self, start: &str) -> bool;
}

impl Name for &std::ffi::OsStr {
    fn is(&self, name: &str) -> bool {
        *self == name
    }

    fn begins(&self, start: &str) -> bool {
        self.to_string_lossy().starts_with(start)
    }
}

/// What something in this program's home is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Own {
    /// Logins and keys.
    Login,
    /// What decides how the program behaves.
    Settings,
    /// What only its own code writes.
    Record,
    /// What it runs.
    Code,
    /// All of it.
    Home,
    /// Of another profile.
    Other,
}

/// Files with logins.
pub(crate) const LOGIN_FILES: &[&str] = &[
    ".env",
    "auth.json",
    "auth.lock",
    ".anthropic_oauth.json",
    "webhook_subscriptions.json",
    "auth/google_oauth.json",
];
/// Directories with logins.
const LOGIN_DIRS: &[&str] = &["mcp-tokens", "pairing", "skills/.hub"];
/// What decides how the program behaves.
pub(crate) const SETTINGS: &[&str] =
    &["config.yaml", ".settings.lock", "active_profile", "approvals.json", "SOUL.md"];
/// Directories that only their own code writes in.
const RECORD_DIRS: &[&str] = &["checkpoints", "sessions"];
/// Records that only their own code may write, whatever their names end in.
const RECORDS: &[&str] = &["state.db", "kanban.db"];
/// Directories whose files are run.
const CODE_DIRS: &[&str] = &["hooks", "plugins", "cron"];

/// What a path is, counted from the home of a profile.
pub(crate) fn own<N: Name>(rest: &[N]) -> Option<Own> {
    let file = |list: &[&str]| list.iter().any(|path| is_path(rest, path));
    let below = |list: &[&str]| list.iter().any(|path| is_below(rest, path));
    if file(LOGIN_FILES) || below(LOGIN_DIRS) {
        return Some(Own::Login);
    }
    if file(SETTINGS) {
        return Some(Own::Settings);
    }
    let record = rest.last().is_some_and(|name| RECORDS.iter().any(|record| name.begins(record)));
    if record || below(RECORD_DIRS) {
        return Some(Own::Record);
    }
    below(CODE_DIRS).then_some(Own::Code)
}

/// What something in the user's home is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Personal {
    /// Logins and keys.
    Login,
    /// What runs by itself, or says what other programs run.
    Start,
    /// A program that is found before others of the same name.
    Program,
}

/// Directories that hold logins.
const PERSONAL_LOGINS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gh",
    ".config/gcloud",
    ".password-store",
];
/// Files that hold logins.
const PERSONAL_LOGIN_FILES: &[&str] = &[".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials"];
/// Files that shells and sessions run by themselves: wherever they lie they are meant for a home.
const SHELL_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".bash_completion",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsession",
    ".xsessionrc",
    ".pam_environment",
];
/// Files that say what other programs run.
const START_FILES: &[&str] = &[".gitconfig", ".cargo/config", ".cargo/config.toml"];
/// Directories whose files are run by themselves, or say what other programs run.
const START_DIRS: &[&str] = &[
    ".config/systemd",
    ".config/autostart",
    ".config/fish",
    ".config/git",
    ".config/environment.d",
    ".local/share/systemd",
];
/// Directories with programs.
const PROGRAM_DIRS: &[&str] = &[".local/bin", ".cargo/bin", "bin"];

/// What a path is, counted from a user's home.
pub(crate) fn personal<N: Name>(rest: &[N]) -> Option<Personal> {
    let file = |list: &[&str]| list.iter().any(|path| is_path(rest, path));
    let below = |list: &[&str]| list.iter().any(|path| is_below(rest, path));
    if below(PERSONAL_LOGINS) || file(PERSONAL_LOGIN_FILES) {
        return Some(Personal::Login);
    }
    // Python runs these when it starts.
    let by_python = rest.first().is_some_and(|name| name.is(".local"))
        && rest.last().is_some_and(|name| name.is("usercustomize.py") || name.is("sitecustomize.py"));
    if file(SHELL_FILES) || file(START_FILES) || below(START_DIRS) || by_python {
        return Some(Personal::Start);
    }
    below(PROGRAM_DIRS).then_some(Personal::Program)
}

/// Whether a directory holds logins for programs, by its names alone.
pub(crate) fn is_login_dir<N: Name>(rest: &[N]) -> bool {
    PERSONAL_LOGINS.iter().any(|path| is_below(rest, path))
}

/// Whether a file of this name is run by shells.
pub(crate) fn is_shell_file(name: &str) -> bool {
    SHELL_FILES.contains(&name)
}

/// What git runs and obeys lies in its own directory; `git` itself changes it.
pub(crate) fn is_repository_record<N: Name>(names: &[N]) -> bool {
    names.windows(2).any(|pair| pair[0].is(".git") && (pair[1].is("hooks") || pair[1].is("config")))
}

fn is_path<N: Name>(names: &[N], path: &str) -> bool {
    names.len() == path.split('/').count() && is_below(names, path)
}

fn is_below<N: Name>(names: &[N], path: &str) -> bool {
    let wanted: Vec<&str> = path.split('/').collect();
    names.len() >= wanted.len() && names.iter().zip(wanted).all(|(name, wanted)| name.is(wanted))
}
