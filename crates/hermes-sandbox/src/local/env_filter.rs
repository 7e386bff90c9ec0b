//! The environment of local commands: ours, without our secrets, with a search path and a home.

use std::ffi::OsString;
use std::path::Path;

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
    /// The home of the active profile.
    pub home: &'a Path,
    /// Which home directory commands get.
    pub home_mode: HomeMode,
}

/// Makes the environment of commands.
pub fn filter(env: &Environment, rules: &Rules<'_>) -> Environment {
    let mut kept: Environment = env
        .iter()
        .filter(|(name, _)| name.to_str().is_none_or(|name| may_pass(name, rules)))
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

fn may_pass(name: &str, rules: &Rules<'_>) -> bool {
    if name.starts_with(FORCE_PREFIX) || name.starts_with(SESSION_PREFIX) {
        return false;
    }
    match blocklist::judge(name, rules.private) {
        Verdict::Free => true,
        Verdict::Blocked => rules.passthrough.iter().any(|let_through| let_through == name),
        Verdict::Never => false,
    }
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
        let rules = Rules {
            passthrough: &passthrough,
            private: &private,
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
    fn what_is_not_ours_stays() {
        for name in ["EDITOR", "CLAUDE_CODE_OAUTH_TOKEN", "MY_API_KEY", "VIRTUAL_ENV", "HERMES_PROFILE"] {
            assert_eq!(filtered(&[(name, "x")], &[], &[]).text(name), Some("x"), "{name}");
        }
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
            let rules = Rules { passthrough: &[], private: &[], home: dir.path(), home_mode: mode };
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
