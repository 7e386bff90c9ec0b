//! What an action may change: which directories, and how that is said in a list. Pure.

use std::path::PathBuf;

use hermes_tools::gate::Action;

use super::harmless;

/// Characters of a command in a list.
const LONGEST: usize = 60;
/// Paths in a command that are looked at.
const MOST_PATHS: usize = 8;

/// What an action may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Aim {
    /// For the list of snapshots.
    pub(super) why: String,
    /// Which files.
    pub(super) at: At,
}

/// Which files an action may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum At {
    /// These, by their whole paths.
    Files(Vec<PathBuf>),
    /// What is in a directory (none is the conversation's own), and in the projects of paths a command names.
    Directory { dir: Option<String>, named: Named },
}

/// Whole paths in a command: `cd /srv/app && …` works in another project than the conversation's own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Named {
    /// All of them.
    pub(super) paths: Vec<PathBuf>,
    /// Those it goes to.
    pub(super) entered: Vec<PathBuf>,
}

impl Aim {
    /// None when an action changes nothing.
    pub(super) fn of(action: &Action<'_>) -> Option<Self> {
        let here = |dir: Option<&str>, named| At::Directory { dir: dir.map(str::to_owned), named };
        Some(match action {
            Action::Command { line, .. } if harmless::is_harmless(line) => return None,
            Action::Command { line, workdir, .. } => {
                Self { why: format!("before terminal: {}", brief(line)), at: here(*workdir, Named::of(line)) }
            }
            Action::Write { paths, .. } => {
                let first = paths.first()?;
                let others = if paths.len() > 1 { " and others" } else { "" };
                let name = first.file_name().unwrap_or_default().to_string_lossy();
                Self { why: format!("before writing {name}{others}"), at: At::Files(paths.to_vec()) }
            }
            Action::Script { code, .. } => {
                Self { why: "before a script".to_owned(), at: here(None, Named::of(code)) }
            }
            Action::Input { command, .. } => {
                Self { why: format!("before input to: {}", brief(command)), at: here(None, Named::default()) }
            }
        })
    }
}

fn brief(line: &str) -> String {
    line.trim().chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST).collect()
}

impl Named {
    fn of(line: &str) -> Self {
        let parts = line.split(|c: char| c.is_whitespace() || "'\"`;|&()<>=,".contains(c));
        let mut named = Self::default();
        let mut before = "";
        for part in parts.filter(|part| !part.is_empty()) {
            let path = PathBuf::from(part);
            if part.starts_with('/')
                && part.len() > 1
                && named.paths.len() < MOST_PATHS
                && !named.paths.contains(&path)
            {
                if ["cd", "pushd"].contains(&before) {
                    named.entered.push(path.clone());
                }
                named.paths.push(path);
            }
            before = part;
        }
        named
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use hermes_tools::gate::Reach;

    use super::*;

    fn command(line: &str) -> Option<Aim> {
        Aim::of(&Action::Command { line, workdir: None, reach: Reach::Host })
    }

    #[test]
    fn commands_name_their_own_directory_and_others() {
        let aim = command("cd /srv/app && sed -i 's,a,b,' \"/srv/app/x y\" /srv/app").unwrap();
        assert!(aim.why.starts_with("before terminal: cd /srv/app && sed -i"));
        let At::Directory { dir: None, named } = aim.at else { panic!("{aim:?}") };
        assert_eq!(named.paths, [PathBuf::from("/srv/app"), "/srv/app/x".into()]);
        assert_eq!(named.entered, [PathBuf::from("/srv/app")]);
        assert_eq!(command("ls -la /srv"), None);
    }

    #[test]
    fn long_commands_are_cut_and_stay_on_a_line() {
        let aim = command(&format!("rm a\n{}", "é".repeat(200))).unwrap();
        assert_eq!(aim.why.chars().count(), "before terminal: ".len() + LONGEST);
        assert!(!aim.why.contains('\n'));
    }

    #[test]
    fn writes_name_their_files() {
        let paths = [PathBuf::from("/p/a.rs"), PathBuf::from("/p/b.rs")];
        let aim = Aim::of(&Action::Write { paths: &paths, reach: Reach::Host }).unwrap();
        assert_eq!(aim.why, "before writing a.rs and others");
        assert_eq!(aim.at, At::Files(paths.to_vec()));
        assert_eq!(Aim::of(&Action::Write { paths: &[], reach: Reach::Host }), None);
    }
}
