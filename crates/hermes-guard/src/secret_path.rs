//! Paths whose names say that logins or keys are kept there.

use std::path::{Component, Path};

/// Directories that hold logins, wherever they lie.
const DIRS: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    "gcloud",
    "mcp-tokens",
    "pairing",
    ".password-store",
];

/// Files that hold logins, wherever they lie.
const FILES: &[&str] = &[
    "auth.json",
    ".netrc",
    "_netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".credentials.json",
    "credentials.json",
    ".anthropic_oauth.json",
    "oauth_creds.json",
    "slack_tokens.json",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
];

/// Endings of key files.
const ENDINGS: &[&str] = &[".pem", ".key", ".p12", ".pfx", ".keystore", ".jks", ".kdbx"];

/// Endings that make an `.env` file a pattern to copy.
const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];

/// Whether a path is, or lies in, something with logins or keys.
pub fn is_secret_path(path: &Path) -> bool {
    let names: Vec<String> = path
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_string_lossy().to_lowercase()),
            _ => None,
        })
        .collect();
    let Some((file, dirs)) = names.split_last() else { return false };
    let in_dir = dirs.iter().chain([file]).any(|name| DIRS.contains(&name.as_str()));
    in_dir || is_secret_lower(file)
}

/// Whether a file of this name, wherever it lies, holds logins or keys.
pub fn is_secret_file_name(name: &str) -> bool {
    is_secret_lower(&name.to_lowercase())
}

fn is_secret_lower(file: &str) -> bool {
    FILES.contains(&file)
        || is_env_file(file)
        || ENDINGS.iter().any(|ending| file.ends_with(ending) && !file.ends_with(".pub.pem"))
}

/// `.env` and its variants, but not `.env.example`.
fn is_env_file(name: &str) -> bool {
    let is_example = |rest: &str| rest.rsplit('.').next().is_some_and(|last| EXAMPLES.contains(&last));
    let variant = |rest: &str| rest.starts_with('.') && !is_example(rest);
    name == ".envrc" || name.strip_prefix(".env").is_some_and(|rest| rest.is_empty() || variant(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logins_are_told_by_their_names() {
        for path in [
            ".env",
            "a/.env.production",
            "/home/u/.ssh/config",
            ".ssh",
            "x/id_rsa",
            "certs/server.KEY",
            "auth.json",
            "/h/.aws/credentials",
        ] {
            assert!(is_secret_path(Path::new(path)), "{path}");
        }
        for path in [
            ".env.example",
            ".env.test.example",
            "src/env.rs",
            "docs/ssh.md",
            "id_rsa.pub",
            "keys.rs",
            "monkey",
            "",
            "environment",
        ] {
            assert!(!is_secret_path(Path::new(path)), "{path}");
        }
    }
}
