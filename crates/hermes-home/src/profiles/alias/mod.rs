//! Aliases: `~/.local/bin/<name>` runs hermes with one profile.

mod wrapper;

use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

pub(super) use wrapper::Wrapper;
use wrapper::{WrapperRoot, program_word};

use super::{ProfileError, Profiles};
use crate::files::failed;
use crate::profile::{NameError, Profile, ProfileName};

/// Why there is no such alias.
#[derive(Debug, thiserror::Error)]
pub enum AliasError {
    /// The name is malformed or reserved.
    #[error(transparent)]
    Name(#[from] NameError),
    /// `hermes NAME` already means something.
    #[error("\"{0}\" is a hermes command: choose another alias with --name")]
    Command(String),
    /// A shell would never look for a program of that name.
    #[error(
        "\"{0}\" is a word of the shell itself, so the alias would never run: choose another with --name"
    )]
    ShellWord(String),
    /// Another program has the name.
    #[error("\"{name}\" is already a program, {}: choose another alias with --name", .path.display())]
    Program {
        /// The alias.
        name: String,
        /// The program.
        path: PathBuf,
    },
    /// The alias is another profile's.
    #[error("\"{name}\" is already the alias of profile \"{profile}\": choose another with --name")]
    Taken {
        /// The alias.
        name: String,
        /// Whose it is.
        profile: String,
    },
    /// The profile has no alias of that name.
    #[error("profile \"{profile}\" has no alias{}", .name.as_ref().map(|n| format!(" \"{n}\"")).unwrap_or_default())]
    None {
        /// The profile.
        profile: String,
        /// The alias that was asked for.
        name: Option<String>,
    },
    /// Aliases live below the user's home directory.
    #[error("HOME is not set, so there is no place for aliases")]
    NoUserHome,
    /// A script is text, and so must be what it names.
    #[error("{} is not UTF-8 text, so an alias cannot name it", .0.display())]
    NotText(PathBuf),
    /// The file is not an alias we know.
    #[error("{} is not an alias made by hermes: it was left alone", .0.display())]
    Foreign(PathBuf),
}

/// What an alias must fit in with.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The directories of `PATH`.
    pub search_path: Vec<PathBuf>,
    /// Names of hermes commands.
    pub commands: Vec<String>,
    /// The running program.
    pub exe: PathBuf,
}

/// Words that a shell takes before it looks for a program.
const SHELL_WORDS: &[&str] = &[
    "alias", "bg", "break", "builtin", "case", "cd", "command", "continue", "declare", "do", "done", "elif",
    "else", "esac", "eval", "exec", "exit", "export", "fc", "fg", "fi", "for", "function", "getopts", "hash",
    "history", "if", "in", "jobs", "let", "local", "logout", "pushd", "popd", "read", "readonly", "return",
    "select", "set", "shift", "source", "suspend", "then", "time", "times", "trap", "type", "typeset",
    "ulimit", "umask", "unalias", "unset", "until", "wait", "while",
];

/// Real aliases are a few hundred bytes; programs in the same directory are not read whole.
const MAX_BYTES: u64 = 8192;

impl Profiles {
    /// Where aliases live.
    pub fn alias_dir(&self) -> PathBuf {
        self.user_home.join(".local/bin")
    }

    /// The names of a profile's aliases, sorted.
    pub fn aliases(&self, profile: &Profile) -> Vec<String> {
        self.aliases_among(&self.all_aliases(), profile)
    }

    /// The same for whoever asks about many profiles: the directory is read once.
    pub(super) fn aliases_among(&self, all: &[(String, Wrapper)], profile: &Profile) -> Vec<String> {
        all.iter()
            .filter(|(_, wrapper)| self.leads_to(wrapper, profile))
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Makes an alias, or makes it anew.
    pub fn add_alias(
        &self,
        profile: &Profile,
        alias: &ProfileName,
        around: &Surroundings,
    ) -> Result<PathBuf, ProfileError> {
        let _lock = self.lock()?;
        self.dir(profile)?;
        self.refuse_collision(profile, alias, around)?;
        let root = if same_dir(&self.root, &self.standard_root()) {
            WrapperRoot::Standard
        } else {
            refuse_non_text(&self.root)?;
            WrapperRoot::At(self.root.clone())
        };
        refuse_non_text(&around.exe)?;
        let program = program_word(&around.exe, &around.search_path);
        self.write_alias(alias.as_str(), &Wrapper { program, profile: profile.to_string(), root })
    }

    /// Removes one alias of a profile, or all of them.
    pub fn remove_alias(
        &self,
        profile: &Profile,
        name: Option<&ProfileName>,
    ) -> Result<Vec<PathBuf>, ProfileError> {
        let _lock = self.lock()?;
        let Some(name) = name else {
            let aliases = self.aliases_of(profile);
            if aliases.is_empty() {
                return Err(AliasError::None { profile: profile.to_string(), name: None }.into());
            }
            let (removed, problem) = self.remove_aliases(&aliases);
            return problem.map_or(Ok(removed), Err);
        };
        let path = self.alias_dir().join(name.as_str());
        match read_alias(&path) {
            Some(wrapper) if self.leads_to(&wrapper, profile) => {}
            Some(wrapper) => {
                return Err(AliasError::Taken { name: name.to_string(), profile: wrapper.profile }.into());
            }
            None if fs::symlink_metadata(&path).is_ok() => return Err(AliasError::Foreign(path).into()),
            None => {
                return Err(
                    AliasError::None { profile: profile.to_string(), name: Some(name.to_string()) }.into()
                );
            }
        }
        fs::remove_file(&path).map_err(failed("remove", &path))?;
        Ok(vec![path])
    }

    /// A profile's aliases with what they say.
    pub(super) fn aliases_of(&self, profile: &Profile) -> Vec<(String, Wrapper)> {
        self.all_aliases().into_iter().filter(|(_, wrapper)| self.leads_to(wrapper, profile)).collect()
    }

    /// Removes aliases; those that are gone, and why the first of the others is not.
    pub(super) fn remove_aliases(
        &self,
        aliases: &[(String, Wrapper)],
    ) -> (Vec<PathBuf>, Option<ProfileError>) {
        let (mut gone, mut problem) = (Vec::new(), None);
        for path in aliases.iter().map(|(name, _)| self.alias_dir().join(name)) {
            match fs::remove_file(&path) {
                Ok(()) => gone.push(path),
                Err(e) => problem = problem.or(Some(failed("remove", &path)(e).into())),
            }
        }
        (gone, problem)
    }

    /// Refuses a name that means something else already.
    pub(super) fn refuse_collision(
        &self,
        profile: &Profile,
        alias: &ProfileName,
        around: &Surroundings,
    ) -> Result<(), AliasError> {
        if self.user_home.as_os_str().is_empty() {
            return Err(AliasError::NoUserHome);
        }
        let name = ProfileName::parse_new(alias.as_str())?.to_string();
        if around.commands.contains(&name) {
            return Err(AliasError::Command(name));
        }
        if SHELL_WORDS.contains(&name.as_str()) {
            return Err(AliasError::ShellWord(name));
        }
        if let Some(path) = self.program_called(&name, &around.search_path) {
            return Err(AliasError::Program { name, path });
        }
        let path = self.alias_dir().join(&name);
        match read_alias(&path) {
            None if fs::symlink_metadata(&path).is_ok() => Err(AliasError::Program { name, path }),
            Some(wrapper) if !self.leads_to(&wrapper, profile) && self.target(&wrapper).is_dir() => {
                Err(AliasError::Taken { name, profile: wrapper.profile })
            }
            _ => Ok(()),
        }
    }

    /// Another program of that name on the search path.
    fn program_called(&self, name: &str, search_path: &[PathBuf]) -> Option<PathBuf> {
        let alias_dir = self.alias_dir();
        let is_program = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
        };
        search_path.iter().filter(|dir| !same_dir(dir, &alias_dir)).map(|dir| dir.join(name)).find(is_program)
    }

    /// Prepares to give every alias of `from` to `to`; the one called like the profile moves or goes, as `named`
    /// says. Everything that needs room on the disk is done here, and nothing that anyone sees.
    pub(super) fn prepare_move(
        &self,
        from: &Profile,
        to: &Profile,
        named: NamedAlias,
    ) -> Result<AliasMove, ProfileError> {
        let mut prepared = AliasMove { written: Vec::new(), gone: Vec::new() };
        for (alias, mut wrapper) in self.aliases_of(from) {
            to.as_str().clone_into(&mut wrapper.profile);
            match (alias == from.as_str(), named) {
                (false, _) => prepared.written.push(self.prepare_alias(&alias, &wrapper)?),
                (true, NamedAlias::Moves) => {
                    prepared.written.push(self.prepare_alias(to.as_str(), &wrapper)?);
                    prepared.gone.push(self.alias_dir().join(&alias));
                }
                (true, NamedAlias::Goes) => prepared.gone.push(self.alias_dir().join(&alias)),
            }
        }
        Ok(prepared)
    }

    /// Every alias of every root, sorted by name.
    pub(super) fn all_aliases(&self) -> Vec<(String, Wrapper)> {
        if self.user_home.as_os_str().is_empty() {
            return Vec::new();
        }
        let Ok(entries) = fs::read_dir(self.alias_dir()) else { return Vec::new() };
        let mut found: Vec<_> = entries
            .flatten()
            .filter_map(|e| e.file_name().into_string().ok())
            .filter(|name| ProfileName::parse(name).is_ok())
            .filter_map(|name| read_alias(&self.alias_dir().join(&name)).map(|wrapper| (name, wrapper)))
            .collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        found
    }

    fn write_alias(&self, name: &str, wrapper: &Wrapper) -> Result<PathBuf, ProfileError> {
        self.prepare_alias(name, wrapper)?.put_in_place()
    }

    fn prepare_alias(&self, name: &str, wrapper: &Wrapper) -> Result<PreparedAlias, ProfileError> {
        let dir = self.alias_dir();
        fs::create_dir_all(&dir).map_err(failed("create directory", &dir))?;
        // A fixed name, so that one left behind by a killed writer is overwritten by the next.
        let temp = dir.join(format!(".{name}.hermes-alias"));
        let prepared = PreparedAlias { temp, path: dir.join(name) };
        let write = || -> io::Result<()> {
            let _ = fs::remove_file(&prepared.temp);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o700).open(&prepared.temp)?;
            file.write_all(wrapper.render().as_bytes())?;
            file.set_permissions(fs::Permissions::from_mode(0o755))
        };
        write().map_err(failed("write the alias", &prepared.path))?;
        Ok(prepared)
    }

    fn leads_to(&self, wrapper: &Wrapper, profile: &Profile) -> bool {
        wrapper.profile == profile.as_str() && same_dir(&self.root_of(wrapper), &self.root)
    }

    /// The directory an alias leads to.
    fn target(&self, wrapper: &Wrapper) -> PathBuf {
        let root = self.root_of(wrapper);
        Profile::parse(&wrapper.profile)
            .map_or_else(|_| root.join("profiles").join(&wrapper.profile), |p| p.dir(&root))
    }

    /// An alias that names no root means the standard one if that has the profile, and ours otherwise.
    fn root_of(&self, wrapper: &Wrapper) -> PathBuf {
        let standard = self.standard_root();
        match &wrapper.root {
            WrapperRoot::At(root) => root.clone(),
            WrapperRoot::Standard => standard,
            WrapperRoot::Unsaid if standard.join("profiles").join(&wrapper.profile).is_dir() => standard,
            WrapperRoot::Unsaid => self.root.clone(),
        }
    }

    fn standard_root(&self) -> PathBuf {
        self.user_home.join(".hermes")
    }
}

/// What happens to the alias that is called like its profile when the profile gets another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedAlias {
    /// It gets the new name too.
    Moves,
    /// It goes, because the new name is taken.
    Goes,
}

/// An alias that is written, but not under its name yet. Dropped, it is gone.
#[derive(Debug)]
struct PreparedAlias {
    temp: PathBuf,
    path: PathBuf,
}

impl PreparedAlias {
    fn put_in_place(self) -> Result<PathBuf, ProfileError> {
        fs::rename(&self.temp, &self.path).map_err(failed("write the alias", &self.path))?;
        Ok(self.path.clone())
    }
}

impl Drop for PreparedAlias {
    fn drop(&mut self) {
        // Not there any more once it is in place.
        let _ = fs::remove_file(&self.temp);
    }
}

/// Aliases that are about to lead to another profile.
#[derive(Debug)]
pub(super) struct AliasMove {
    written: Vec<PreparedAlias>,
    gone: Vec<PathBuf>,
}

impl AliasMove {
    /// Does it: first the new ones, so that there is always one that works.
    pub(super) fn carry_out(self) -> Result<(), ProfileError> {
        for alias in self.written {
            alias.put_in_place()?;
        }
        for old in self.gone {
            fs::remove_file(&old).map_err(failed("remove", &old))?;
        }
        Ok(())
    }
}

fn same_dir(a: &Path, b: &Path) -> bool {
    let real = |p: &Path| fs::canonicalize(p).unwrap_or_else(|_| p.to_path_buf());
    real(a) == real(b)
}

/// What is not text would be written as something else, and lead elsewhere.
fn refuse_non_text(path: &Path) -> Result<(), AliasError> {
    path.to_str().map(drop).ok_or_else(|| AliasError::NotText(path.to_path_buf()))
}

/// Reads an alias; links and unreadable files are not ours.
fn read_alias(path: &Path) -> Option<Wrapper> {
    let meta = fs::symlink_metadata(path).ok().filter(|m| m.is_file() && m.len() <= MAX_BYTES)?;
    let mut text = String::new();
    super::walk::open(path).ok()?.take(meta.len()).read_to_string(&mut text).ok()?;
    Wrapper::parse(&text)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn a_root_that_is_not_text_has_no_aliases() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join(std::ffi::OsStr::from_bytes(b"r\xffoot"));
        fs::create_dir_all(root.join("profiles/work")).unwrap();
        let profiles = Profiles::new(&root, &dir.path().join("user"));
        let around =
            Surroundings { search_path: Vec::new(), commands: Vec::new(), exe: "/bin/hermes".into() };
        let name = ProfileName::parse("work").unwrap();
        let refused = profiles.add_alias(&Profile::Named(name.clone()), &name, &around).unwrap_err();
        assert!(matches!(refused, ProfileError::Alias(AliasError::NotText(path)) if path == root));
        assert!(!profiles.alias_dir().exists());
    }
}
