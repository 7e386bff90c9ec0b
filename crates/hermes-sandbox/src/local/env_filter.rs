//! The environment of local commands: ours, without secrets, with a search path and a home.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use hermes_guard::{Policy, Redactor, Secret};

use super::blocklist::{self, Verdict};
use crate::config::HomeMode;
use crate::context::Environment;

/// Puts a value in under the rest of the name, past the lists. For our own use between our processes.
const FORCE_PREFIX: &str = "_HERMES_FORCE_";
/// Belongs to one conversation and is given call by call; an inherited one is another conversation's.
const SESSION_PREFIX: &str = "HERMES_SESSION_";
/// Where programs are when the search path we were given lacks even `/usr/bin`.
const USUAL_PATH: &str =
    "/opt/homebrew/bin:/opt/homebrew/sbin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What decides about the environment besides the environment itself.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// Names let through although they are blocked.
    pub passthrough: &'a [String],
    /// Names that are credentials, known elsewhere.
    pub private: &'a [String],
    /// What `.env` holds: its secrets are kept back under any name.
    pub dotenv: &'a BTreeMap<String, Secret>,
    /// The home of the active profile.
    pub home: &'a Path,
    /// Which home directory commands get.
    pub home_mode: HomeMode,
}

/// Makes the environment of commands.
pub fn filter(env: &Environment, rules: &Rules<'_>) -> Environment {
    let secrets = Redactor::new(
        rules
            .dotenv
            .iter()
            .filter(|(name, _)| blocklist::judge(name, rules.private) != Verdict::Free)
            .map(|(_, value)| value.expose().to_owned()),
    );
    let mut kept: Environment = env
        .iter()
        .filter(|(name, value)| name.to_str().is_none_or(|name| may_pass(name, value, &secrets, rules)))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    for (name, value) in env.iter() {
        if let Some(forced) = name.to_str().and_then(|name| name.strip_prefix(FORCE_PREFIX))
            && !forced.is_empty()
        {
            kept.set(forced, value);
        }
    }
    kept.set("PATH", search_path(&kept));
    kept.set("HERMES_HOME", rules.home);
    if let Some(home) = profile_home(rules) {
        kept.set("HOME", home);
    }
    kept
}

fn may_pass(name: &str, value: &OsStr, secrets: &Redactor, rules: &Rules<'_>) -> bool {
    if name.starts_with(FORCE_PREFIX) || name.starts_with(SESSION_PREFIX) {
        return false;
    }
    let named = || rules.passthrough.iter().any(|let_through| let_through == name);
    match blocklist::judge(name, rules.private) {
        Verdict::Free => !is_secret_value(value, secrets) || named(),
        Verdict::Blocked => named(),
        Verdict::Never => false,
    }
}

/// A key under a name that does not say so. Addresses with a password in them are left: proxies and databases have them.
fn is_secret_value(value: &OsStr, secrets: &Redactor) -> bool {
    let text = value.to_string_lossy();
    !text.contains("://") && secrets.redact(&text, Policy::Code) != text
}

fn search_path(env: &Environment) -> OsString {
    let mut path = env.get("PATH").map(OsString::from).unwrap_or_default();
    let has_usr_bin = std::env::split_paths(&path).any(|dir| dir == Path::new("/usr/bin"));
    if !has_usr_bin {
        if !path.is_empty() {
            path.push(":");
        }
        path.push(USUAL_PATH);
    }
    path
}

fn profile_home(rules: &Rules<'_>) -> Option<std::path::PathBuf> {
    let dir = rules.home.join("home");
    match rules.home_mode {
        HomeMode::Real => None,
        HomeMode::Profile => Some(dir),
        HomeMode::Auto => dir.is_dir().then_some(dir),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filtered(env: &[(&str, &str)], passthrough: &[&str], private: &[&str]) -> Environment {
        let passthrough: Vec<String> = passthrough.iter().map(|name| (*name).to_owned()).collect();
        let private: Vec<String> = private.iter().map(|name| (*name).to_owned()).collect();
        let dotenv = [("MAIN_API_KEY", "out-of-the-file-0123"), ("TERMINAL_CWD", "somewhere-else-entirely")];
        let dotenv = dotenv.map(|(name, value)| (name.to_owned(), Secret::new(value))).into();
        let rules = Rules {
            passthrough: &passthrough,
            private: &private,
            dotenv: &dotenv,
            home: Path::new("/nowhere/.hermes"),
            home_mode: HomeMode::Auto,
        };
        filter(&env.iter().copied().collect(), &rules)
    }

    #[test]
    fn every_listed_secret_is_removed() {
        for name in blocklist::PROVIDER.iter().chain(blocklist::OTHER) {
            assert_eq!(filtered(&[(name, "x")], &[], &[]).get(name), None, "{name}");
        }
        for name in ["AUXILIARY_VISION_API_KEY", "AUXILIARY_X_BASE_URL", "GATEWAY_RELAY_ABC_TOKEN"] {
            assert_eq!(filtered(&[(name, "x")], &[], &[]).get(name), None, "{name}");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for name in ["EDITOR", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "HERMES_PROFILE"] {
            assert_eq!(filtered(&[(name, "x")], &[], &[]).text(name), Some("x"), "{name}");
        }
        for (name, value) in [
            ("https_proxy", "http://ada:made-up-pass@proxy:3128"),
            ("A", "somewhere-else-entirely"),
            ("B", "3b1f0c2ad9b34d6a8f5f6d7c8b9a0e1f2d3c4b5a"),
        ] {
            assert_eq!(filtered(&[(name, value)], &[], &[]).text(name), Some(value), "{name}");
        }
    }

    #[test]
    fn what_looks_like_a_secret_needs_to_be_named() {
        let key = format!("ghp_{}", "aB3dE5fG7h".repeat(4).split_at(36).0);
        let env = [("MY_API_KEY", "a"), ("PLAIN", &key), ("COPY", "out-of-the-file-0123")];
        assert_eq!(filtered(&env, &[], &[]).iter().count(), filtered(&[], &[], &[]).iter().count());
        let kept = filtered(&env, &["MY_API_KEY", "PLAIN", "COPY"], &[]);
        assert_eq!((kept.text("MY_API_KEY"), kept.text("PLAIN")), (Some("a"), Some(key.as_str())));
        assert_eq!(kept.text("COPY"), Some("out-of-the-file-0123"));
    }

    #[test]
    fn some_can_be_let_through_but_never_a_providers() {
        let env = [("GH_TOKEN", "a"), ("OPENAI_API_KEY", "b"), ("ACME_KEY", "c")];
        let named = ["GH_TOKEN", "OPENAI_API_KEY", "ACME_KEY"];
        let kept = filtered(&env, &named, &["ACME_KEY", "GH_TOKEN"]);
        assert_eq!(kept.text("GH_TOKEN"), Some("a"));
        assert_eq!((kept.get("OPENAI_API_KEY"), kept.get("ACME_KEY")), (None, None));
    }

    #[test]
    fn forced_values_arrive_under_their_own_name() {
        let kept = filtered(&[("_HERMES_FORCE_GH_TOKEN", "a"), ("GH_TOKEN", "b")], &[], &[]);
        assert_eq!(kept.text("GH_TOKEN"), Some("a"));
        assert_eq!(kept.get("_HERMES_FORCE_GH_TOKEN"), None);
    }

    #[test]
    fn another_conversations_variables_are_not_inherited() {
        assert_eq!(filtered(&[("HERMES_SESSION_ID", "x")], &[], &[]).get("HERMES_SESSION_ID"), None);
    }

    #[test]
    fn a_search_path_without_the_usual_places_gets_them() {
        assert_eq!(filtered(&[("PATH", "/usr/bin:/x")], &[], &[]).text("PATH"), Some("/usr/bin:/x"));
        let poor = filtered(&[("PATH", "/x")], &[], &[]);
        assert!(poor.text("PATH").unwrap().starts_with("/x:/opt/homebrew/bin:"));
        assert_eq!(filtered(&[], &[], &[]).text("PATH"), Some(USUAL_PATH));
    }

    #[test]
    fn the_home_directory_follows_the_mode() {
        let dir = tempfile::tempdir().unwrap();
        let home_of = |mode| {
            let rules = Rules {
                passthrough: &[],
                private: &[],
                dotenv: &BTreeMap::new(),
                home: dir.path(),
                home_mode: mode,
            };
            filter(&[("HOME", "/home/u")].into_iter().collect(), &rules).get("HOME").unwrap().to_owned()
        };
        let profile = dir.path().join("home");
        assert_eq!(home_of(HomeMode::Auto), "/home/u");
        assert_eq!(home_of(HomeMode::Profile), profile.as_os_str());
        std::fs::create_dir(&profile).unwrap();
        assert_eq!(home_of(HomeMode::Auto), profile.as_os_str());
        assert_eq!(home_of(HomeMode::Real), "/home/u");
    }
}
