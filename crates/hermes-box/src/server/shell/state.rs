//! What a session carries from one command to the next, and how a command changes it.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::dump::Dump;
use crate::proto::wire::{Input, Malformed, Wire};

/// Functions, aliases and the like beyond this are not carried; sourcing them would slow down every command.
pub(crate) const MAX_CODE: usize = 1024 * 1024;

/// Variables by name.
pub(crate) type Variables = BTreeMap<OsString, OsString>;
/// Changes for one call; `None` takes a variable away.
pub(crate) type Overlay = [(OsString, Option<OsString>)];

/// See the module. Variables are kept as differences from the environment the agent was given, so that a later agent with a newer one
/// (another login, another agent socket) shows through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ShellState {
    pub(crate) cwd: PathBuf,
    pub(crate) set: Variables,
    pub(crate) removed: BTreeSet<OsString>,
    /// Definitions of functions.
    pub(crate) functions: Vec<u8>,
    /// Definitions of aliases.
    pub(crate) aliases: Vec<u8>,
    /// Declarations of variables that are more than text.
    pub(crate) special: Vec<u8>,
    /// Options that are on and are not so by default, as `set -o` and `shopt -s` name them.
    pub(crate) options: Vec<String>,
    pub(crate) umask: Option<u32>,
}

impl ShellState {
    /// A session that has not run anything yet.
    pub(crate) fn new(cwd: &Path) -> Self {
        Self { cwd: cwd.to_path_buf(), ..Self::default() }
    }

    /// The variables a command sees.
    pub(crate) fn environment(&self, base: &Variables, overlay: &Overlay) -> Variables {
        let mut env = base.clone();
        for name in &self.removed {
            env.remove(name);
        }
        env.extend(self.set.iter().map(|(name, value)| (name.clone(), value.clone())));
        for (name, value) in overlay {
            match value {
                Some(value) => env.insert(name.clone(), value.clone()),
                None => env.remove(name),
            };
        }
        env
    }

    /// What a session carries after a command that left `dump` behind. Variables of the overlay that the command did not
    /// change stay as they were before the call.
    pub(crate) fn after(&self, base: &Variables, overlay: &Overlay, dump: &Dump) -> Result<Self, TooLarge> {
        if dump.functions.len() + dump.aliases.len() + dump.special.len() > MAX_CODE {
            return Err(TooLarge);
        }
        let mut state = Self {
            cwd: dump.cwd.clone().unwrap_or_else(|| self.cwd.clone()),
            set: Variables::new(),
            removed: BTreeSet::new(),
            functions: dump.functions.clone(),
            aliases: dump.aliases.clone(),
            special: dump.special.clone(),
            options: dump.options.clone(),
            umask: dump.umask,
        };
        let names: BTreeSet<&OsString> = base.keys().chain(dump.variables.keys()).collect();
        for name in names.into_iter().filter(|name| is_carried(name)) {
            let now = dump.variables.get(name);
            let given =
                overlay.iter().rev().find(|(given, _)| given == name).map(|(_, value)| value.as_ref());
            let value = match given {
                Some(given) if given == now => self.value_before(base, name),
                _ => now,
            };
            state.note(base, name, value);
        }
        Ok(state)
    }

    fn value_before<'a>(&'a self, base: &'a Variables, name: &OsStr) -> Option<&'a OsString> {
        if self.removed.contains(name) {
            return None;
        }
        self.set.get(name).or_else(|| base.get(name))
    }

    fn note(&mut self, base: &Variables, name: &OsString, value: Option<&OsString>) {
        match value {
            Some(value) if base.get(name) != Some(value) => {
                self.set.insert(name.clone(), value.clone());
            }
            None if base.contains_key(name) => {
                self.removed.insert(name.clone());
            }
            _ => {}
        }
    }
}

/// More than is carried.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Whether a variable is the session's: some are set anew for every command, names with other letters pass through the shell untouched,
/// and some are ours.
fn is_carried(name: &OsStr) -> bool {
    let bytes = name.as_bytes();
    !matches!(bytes, b"PWD" | b"SHLVL" | b"_")
        && !bytes.starts_with(b"__hermes_")
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
}

/// First bytes of a state file; the last one is its version.
const HEADER: &[u8; 8] = b"hbstate\x01";

impl Wire for ShellState {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(HEADER);
        self.cwd.put(out);
        let set: Vec<_> = self.set.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        set.put(out);
        self.removed.iter().cloned().collect::<Vec<_>>().put(out);
        self.functions.put(out);
        self.aliases.put(out);
        self.special.put(out);
        self.options.put(out);
        self.umask.put(out);
    }

    fn take(input: &mut Input<'_>) -> Result<Self, Malformed> {
        if input.bytes(HEADER.len())? != HEADER {
            return Err(Malformed::Tag { of: "state file", tag: 0 });
        }
        Ok(Self {
            cwd: PathBuf::take(input)?,
            set: Vec::<(OsString, OsString)>::take(input)?.into_iter().collect(),
            removed: Vec::<OsString>::take(input)?.into_iter().collect(),
            functions: Vec::take(input)?,
            aliases: Vec::take(input)?,
            special: Vec::take(input)?,
            options: Vec::take(input)?,
            umask: <Option<u32> as Wire>::take(input)?,
        })
    }
}

/// The nearest directory above (or at) `path` that can be entered.
pub(crate) fn nearest_directory(path: &Path, can_enter: impl Fn(&Path) -> bool) -> PathBuf {
    path.ancestors()
        .find(|ancestor| ancestor.is_absolute() && can_enter(ancestor))
        .map_or_else(|| PathBuf::from("/"), Path::to_path_buf)
}

/// A path as the client names it: `~` and `~/x` from `home`, relative ones from `cwd`.
pub(crate) fn resolve(path: &Path, cwd: &Path, home: Option<&OsStr>) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    match (bytes, home) {
        (b"~", Some(home)) => PathBuf::from(home),
        ([b'~', b'/', rest @ ..], Some(home)) => {
            let rest = rest.iter().position(|byte| *byte != b'/').map_or(&[][..], |first| &rest[first..]);
            Path::new(home).join(OsString::from_vec(rest.to_vec()))
        }
        _ => cwd.join(path),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect()
    }

    fn dump(pairs: &[(&str, &str)]) -> Dump {
        Dump { cwd: Some("/x".into()), variables: variables(pairs), ..Dump::default() }
    }

    #[test]
    fn changes_are_kept_as_differences() {
        let base = variables(&[("A", "1"), ("B", "2"), ("C", "3")]);
        let state = ShellState::new(Path::new("/"));
        let state = state.after(&base, &[], &dump(&[("A", "1"), ("B", "changed"), ("D", "new")])).unwrap();
        assert_eq!(state.set, variables(&[("B", "changed"), ("D", "new")]));
        assert_eq!(state.removed, BTreeSet::from(["C".into()]));
        // A newer base shows through where the session changed nothing.
        let newer = variables(&[("A", "later"), ("B", "2"), ("C", "3")]);
        assert_eq!(
            state.environment(&newer, &[]),
            variables(&[("A", "later"), ("B", "changed"), ("D", "new")])
        );
    }

    #[test]
    fn variables_of_one_call_do_not_stay() {
        let base = variables(&[("A", "1"), ("B", "2")]);
        let state =
            ShellState::new(Path::new("/")).after(&base, &[], &dump(&[("A", "own"), ("B", "2")])).unwrap();
        let overlay = [("A".into(), Some("call".into())), ("T".into(), Some("t".into())), ("B".into(), None)];
        assert_eq!(state.environment(&base, &overlay), variables(&[("A", "call"), ("T", "t")]));
        let after = state.after(&base, &overlay, &dump(&[("A", "call"), ("T", "t")])).unwrap();
        assert_eq!(after.environment(&base, &[]), variables(&[("A", "own"), ("B", "2")]));
        // Unless the command itself changed them.
        let after = state.after(&base, &overlay, &dump(&[("A", "set"), ("T", "t2"), ("B", "b")])).unwrap();
        assert_eq!(after.environment(&base, &[]), variables(&[("A", "set"), ("T", "t2"), ("B", "b")]));
    }

    #[test]
    fn a_state_file_comes_back_and_another_file_does_not() {
        let mut state = ShellState::new(Path::new("/w"));
        state.set = variables(&[("A", "1")]);
        state.options = vec!["pipefail".into()];
        assert_eq!(ShellState::from_bytes(&state.to_bytes()), Ok(state.clone()));
        assert!(ShellState::from_bytes(b"#!/bin/sh\nsomething else").is_err());
        assert!(ShellState::from_bytes(&state.to_bytes()[..20]).is_err());
    }

    #[test]
    fn paths_are_resolved_as_a_shell_would() {
        let resolve = |path: &str| resolve(Path::new(path), Path::new("/base"), Some(OsStr::new("/home/me")));
        assert_eq!(resolve("~"), Path::new("/home/me"));
        assert_eq!(resolve("~/a b"), Path::new("/home/me/a b"));
        assert_eq!(resolve("~//etc"), Path::new("/home/me/etc"));
        assert_eq!(resolve("~x"), Path::new("/base/~x"));
        assert_eq!(resolve("src"), Path::new("/base/src"));
        assert_eq!(resolve("/etc"), Path::new("/etc"));
    }

    #[test]
    fn a_lost_directory_leads_to_what_is_left_of_it() {
        let nearest = |alive: &str| nearest_directory(Path::new("/a/b/c"), |path| path == Path::new(alive));
        assert_eq!(nearest("/a/b/c"), Path::new("/a/b/c"));
        assert_eq!(nearest("/a"), Path::new("/a"));
        assert_eq!(nearest("nowhere"), Path::new("/"));
    }
}
