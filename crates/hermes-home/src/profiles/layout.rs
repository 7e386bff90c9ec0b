//! What a profile directory holds: what a new one is made of, what a copy leaves behind, what never leaves the machine.

use std::ffi::OsStr;
use std::path::{Component, Path};

/// Directories of a new profile.
pub const DIRS: &[&str] =
    &["memories", "sessions", "skills", "skins", "logs", "plans", "workspace", "cron", "home"];

/// Who the agent is until the user says otherwise.
pub const SOUL: &str = "\
# Who you are

You are Hermes, an assistant that works on its owner's machine.

- Find out before you claim: look at the files, run the command, read the page.
- Do what was asked, and say plainly what you did, what you left out and what failed.
- Ask before anything that cannot be undone.
- Be brief. Use plain words.

This file is yours to change: it opens every conversation of this profile.
";

/// The start of a new `.env`.
pub const ENV: &str = "\
# Keys and tokens of this profile, one NAME=value per line. Keep this file private.
# Settings belong in config.yaml.
";

/// A profile with this file gets no bundled skills.
pub const NO_SKILLS: &str = ".no-bundled-skills";

/// What the marker says to someone who opens it.
pub const NO_SKILLS_TEXT: &str = "\
This profile was made with --no-skills: bundled skills are not copied into it.
Remove this file to get them.
";

/// Files that a clone of the settings takes along.
pub const CLONED_FILES: &[&str] =
    &["config.yaml", ".env", "SOUL.md", "memories/MEMORY.md", "memories/USER.md"];

/// Belongs to the running gateway of one profile: wrong in any copy.
const RUNTIME: &[&str] =
    &["gateway.pid", "gateway.lock", "gateway_state.json", "processes.json", "auth.lock", ".clean_shutdown"];

/// Made again when missing.
const CACHES: &[&str] = &[
    "cache",
    "image_cache",
    "audio_cache",
    "video_cache",
    "temp_video_files",
    "document_cache",
    "temp_vision_images",
    "browser_screenshots",
    "models_dev_cache.json",
    "provider_models_cache.json",
    "ollama_cloud_models_cache.json",
    "context_length_cache.yaml",
    ".skills_prompt_snapshot.json",
    ".update_check",
];

/// Snapshots that would bring the source's state back when restored in the copy.
const SNAPSHOTS: &[&str] = &["backups", "state-snapshots"];

/// Of the root alone: the installation, the other profiles and what all profiles share.
const ROOT_ONLY: &[&str] = &[
    "hermes-agent",
    ".worktrees",
    "profiles",
    "bin",
    "node",
    "node_modules",
    "active_profile",
    "kanban",
    "kanban.db",
];

/// What an export of the root takes. A list of what to leave out would miss whatever else lies in the directory.
const ROOT_EXPORT: &[&str] = &[
    "config.yaml",
    "profile.yaml",
    "distribution.yaml",
    "mcp.json",
    "SOUL.md",
    "MEMORY.md",
    "USER.md",
    "AGENTS.md",
    "CLAUDE.md",
    ".cursorrules",
    NO_SKILLS,
    "todo.json",
    "system_prompt.md",
    "skills",
    "skill-bundles",
    "skins",
    "cron",
    "scripts",
    "hooks",
    "plugins",
    "sessions",
    "memories",
    "knowledge",
    "preferences",
    "plans",
    "workspace",
];

/// Directories with logins, at any depth.
const CREDENTIAL_DIRS: &[&str] = &["mcp-tokens", "pairing", ".ssh", ".gnupg", ".aws"];

/// Files with logins, at any depth.
const CREDENTIAL_FILES: &[&str] = &[
    "auth.json",
    ".env",
    ".anthropic_oauth.json",
    ".credentials.json",
    "credentials.json",
    "google_oauth.json",
    "google_oauth_pending.json",
    "google_token.json",
    "google_chat_user_token.json",
    "google_chat_user_client_secret.json",
    "oauth_creds.json",
    "nous_auth.json",
    "node_token.json",
    "slack_tokens.json",
    ".netrc",
    ".pgpass",
    ".git-credentials",
];

/// Whether a profile is the root or one below it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The root home.
    Root,
    /// A home below `profiles`.
    Named,
}

/// Whether a full clone leaves this path (relative to the profile) behind.
pub fn skipped_by_clone(path: &Path, place: Place) -> bool {
    let at_root = |names: &[&str]| is_top_level(path, names);
    is_residue(path)
        || at_root(RUNTIME)
        || at_root(CACHES)
        || at_root(SNAPSHOTS)
        || (place == Place::Root && at_root(ROOT_ONLY))
}

/// Whether an export leaves this path (relative to the profile) behind.
pub fn skipped_by_export(path: &Path, place: Place) -> bool {
    let outside_list =
        place == Place::Root && path.components().count() == 1 && !is_top_level(path, ROOT_EXPORT);
    outside_list || is_residue(path) || is_top_level(path, RUNTIME) || holds_credentials(path)
}

/// Whether an import leaves this path (relative to the profile) out: it would describe processes of another machine.
pub fn skipped_by_import(path: &Path) -> bool {
    is_top_level(path, RUNTIME) || is_top_level(path, &["active_profile"])
}

/// Whether a path is, or lies in, something with keys or logins.
pub fn is_credential(path: &Path) -> bool {
    path.ancestors().any(holds_credentials)
}

/// Whether a file must be readable by the owner only.
pub fn is_secret(path: &Path) -> bool {
    path.file_name().and_then(OsStr::to_str).is_some_and(is_credential_file)
}

/// Whether `path` is `name` at the top of the profile, or a database's helper file beside it.
fn is_top_level(path: &Path, names: &[&str]) -> bool {
    let mut components = path.components();
    match (components.next(), components.next()) {
        (Some(Component::Normal(name)), None) => name.to_str().is_some_and(|n| names.contains(&n)),
        _ => false,
    }
}

/// Byte code, sockets and half-written files, wherever they lie.
fn is_residue(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
    path.file_name() == Some(OsStr::new("__pycache__")) || matches!(extension, "pyc" | "pyo" | "sock" | "tmp")
}

fn holds_credentials(path: &Path) -> bool {
    // Chat platforms keep signed-in sessions here.
    if path == Path::new("platforms") {
        return true;
    }
    path.file_name()
        .and_then(OsStr::to_str)
        .is_some_and(|name| CREDENTIAL_DIRS.contains(&name) || is_credential_file(name))
}

/// Also old copies (`auth.json.corrupt`, `.env.bak`), but not the templates people share on purpose.
fn is_credential_file(name: &str) -> bool {
    let template = |rest: &str| {
        matches!(rest.to_ascii_lowercase().as_str(), "example" | "sample" | "template" | "dist" | "defaults")
    };
    CREDENTIAL_FILES.contains(&name)
        || name.starts_with("auth.json.")
        || name.strip_prefix(".env.").is_some_and(|rest| !template(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_never_leave_in_an_export() {
        for path in [
            ".env",
            "auth.json",
            "auth.json.corrupt",
            ".env.bak",
            "workspace/app/.env",
            "mcp-tokens",
            "home/.ssh",
        ] {
            assert!(skipped_by_export(Path::new(path), Place::Named), "{path}");
            assert!(skipped_by_export(Path::new(path), Place::Root), "{path}");
        }
        for path in [".env.EXAMPLE", "config.yaml", "skills/env/SKILL.md", "memories/MEMORY.md"] {
            assert!(!skipped_by_export(Path::new(path), Place::Named), "{path}");
        }
    }

    #[test]
    fn an_export_of_the_root_takes_only_what_it_knows() {
        for path in ["state.db", "logs", "profiles", "image_cache", "my-photos", "hermes-agent", "kanban.db"]
        {
            assert!(skipped_by_export(Path::new(path), Place::Root), "{path}");
        }
        assert!(!skipped_by_export(Path::new("skills/anything"), Place::Root));
        assert!(!skipped_by_export(Path::new("state.db"), Place::Named));
    }

    #[test]
    fn a_full_clone_leaves_processes_caches_and_the_installation_behind() {
        for path in ["gateway.pid", "cache", "backups", "a/b/__pycache__", "x.pyc"] {
            assert!(skipped_by_clone(Path::new(path), Place::Named), "{path}");
        }
        assert!(skipped_by_clone(Path::new("profiles"), Place::Root));
        assert!(!skipped_by_clone(Path::new("bin"), Place::Named), "a named profile's own data");
        assert!(!skipped_by_clone(Path::new("workspace/cache"), Place::Named), "only at the top");
    }

    #[test]
    fn secrets_are_told_by_their_name() {
        assert!(is_secret(Path::new(".env")) && is_secret(Path::new("x/auth.json")));
        assert!(!is_secret(Path::new(".env.example")) && !is_secret(Path::new("config.yaml")));
    }
}
