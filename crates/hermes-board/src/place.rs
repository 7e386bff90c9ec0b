//! Where boards and what belongs to them are kept, as the other program keeps them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::slug::Slug;

/// What the environment says about boards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `HERMES_KANBAN_HOME`
    pub home: Option<PathBuf>,
    /// `HERMES_KANBAN_DB`: the one file, whatever board is asked for.
    pub database: Option<PathBuf>,
    /// `HERMES_KANBAN_BOARD`
    pub board: Option<String>,
    /// `HERMES_KANBAN_WORKSPACES_ROOT`
    pub workspaces: Option<PathBuf>,
    /// `HERMES_KANBAN_ATTACHMENTS_ROOT`
    pub attachments: Option<PathBuf>,
}

impl Overrides {
    /// Reads them from an environment.
    pub fn from_env(get: impl Fn(&str) -> Option<OsString>, user_home: &Path) -> Self {
        let text = |name: &str| get(name).filter(|value| !value.is_empty());
        let path = |name: &str| text(name).map(|value| expand(&PathBuf::from(value), user_home));
        Self {
            home: path("HERMES_KANBAN_HOME"),
            database: path("HERMES_KANBAN_DB"),
            board: text("HERMES_KANBAN_BOARD").and_then(|value| value.into_string().ok()),
            workspaces: path("HERMES_KANBAN_WORKSPACES_ROOT"),
            attachments: path("HERMES_KANBAN_ATTACHMENTS_ROOT"),
        }
    }
}

/// `~` at the beginning stands for the user's home.
fn expand(path: &Path, user_home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_| path.to_owned(), |rest| user_home.join(rest))
}

/// The place all boards are kept in. One for all profiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Root {
    dir: PathBuf,
    overrides: Overrides,
}

impl Root {
    /// The place for a home whose root is `home_root`.
    pub fn new(home_root: &Path, overrides: Overrides) -> Self {
        Self { dir: overrides.home.clone().unwrap_or_else(|| home_root.to_owned()), overrides }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What the environment says.
    pub fn overrides(&self) -> &Overrides {
        &self.overrides
    }

    /// The directory of a board other than the default one, and of the default one's description.
    pub fn board_dir(&self, board: &Slug) -> PathBuf {
        self.boards_dir().join(board.as_str())
    }

    /// All boards but the default one.
    pub fn boards_dir(&self) -> PathBuf {
        self.dir.join("kanban/boards")
    }

    /// Where boards go that were put away.
    pub fn archive_dir(&self) -> PathBuf {
        self.boards_dir().join("_archived")
    }

    /// The file that names the board in use.
    pub fn current_file(&self) -> PathBuf {
        self.dir.join("kanban/current")
    }

    /// Held by the one dispatcher of this machine.
    pub fn dispatcher_lock(&self) -> PathBuf {
        self.dir.join("kanban/.dispatcher.lock")
    }

    /// What describes a board.
    pub fn description(&self, board: &Slug) -> PathBuf {
        self.board_dir(board).join("board.json")
    }

    /// The database of a board. A file named in the environment is meant for whatever board.
    pub fn database(&self, board: &Slug) -> PathBuf {
        if let Some(file) = &self.overrides.database {
            return file.clone();
        }
        self.own_database(board)
    }

    /// The database of a board, whatever the environment says.
    pub fn own_database(&self, board: &Slug) -> PathBuf {
        if board.is_default() { self.dir.join("kanban.db") } else { self.board_dir(board).join("kanban.db") }
    }

    /// Where a board's scratch workspaces are made.
    pub fn workspaces(&self, board: &Slug) -> PathBuf {
        self.overrides.workspaces.clone().unwrap_or_else(|| self.part(board, "workspaces"))
    }

    /// The same, whatever the environment says.
    pub(crate) fn own_workspaces(&self, board: &Slug) -> PathBuf {
        self.part(board, "workspaces")
    }

    /// Where a board's attachments are.
    pub fn attachments(&self, board: &Slug) -> PathBuf {
        self.overrides.attachments.clone().unwrap_or_else(|| self.part(board, "attachments"))
    }

    /// Where a board's workers write what they say.
    pub fn logs(&self, board: &Slug) -> PathBuf {
        self.part(board, "logs")
    }

    fn part(&self, board: &Slug, name: &str) -> PathBuf {
        if board.is_default() { self.dir.join("kanban").join(name) } else { self.board_dir(board).join(name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(overrides: Overrides) -> Root {
        Root::new(Path::new("/h"), overrides)
    }

    #[test]
    fn the_default_board_lives_beside_the_others() {
        let (one, other) = (Slug::default_board(), Slug::parse("web").unwrap());
        let root = root(Overrides::default());
        assert_eq!(root.database(&one), Path::new("/h/kanban.db"));
        assert_eq!(root.database(&other), Path::new("/h/kanban/boards/web/kanban.db"));
        assert_eq!(root.description(&one), Path::new("/h/kanban/boards/default/board.json"));
        assert_eq!(root.workspaces(&one), Path::new("/h/kanban/workspaces"));
        assert_eq!(root.logs(&other), Path::new("/h/kanban/boards/web/logs"));
        assert_eq!(root.attachments(&other), Path::new("/h/kanban/boards/web/attachments"));
    }

    #[test]
    fn the_environment_has_the_last_word() {
        let env = |name: &str| match name {
            "HERMES_KANBAN_HOME" => Some(OsString::from("~/k")),
            "HERMES_KANBAN_DB" => Some("/x/one.db".into()),
            "HERMES_KANBAN_BOARD" => Some(String::new().into()),
            _ => None,
        };
        let overrides = Overrides::from_env(env, Path::new("/me"));
        assert_eq!(overrides.board, None, "an empty value says nothing");
        let root = root(overrides);
        assert_eq!(root.dir(), Path::new("/me/k"));
        assert_eq!(root.database(&Slug::parse("web").unwrap()), Path::new("/x/one.db"));
    }
}
