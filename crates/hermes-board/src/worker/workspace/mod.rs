//! Where a card is worked on: made before the worker starts, put away when the card is finished.

mod dir;
mod git;
mod scratch;
mod worktree;

use std::path::{Path, PathBuf};

use hermes_store::rusqlite::params;

use crate::board::Board;
use crate::card::{Card, CardId, RunId, Status, WorkspaceKind};
use crate::error::BoardError;
use crate::place::Root;
use crate::slug::Slug;
use crate::worker::attend::Mount;

/// A place to work in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Workspace {
    /// The directory.
    pub path: PathBuf,
    /// The branch that is checked out there.
    pub branch: Option<String>,
    /// What else a box must see for it to be of use there.
    pub mounts: Vec<Mount>,
}

/// Why there is no place to work in.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not start at the root.
    #[error("the workspace \"{0}\" is not an absolute path: set it to one that is")]
    NotAbsolute(String),
    /// The card names no directory.
    #[error(
        "the card is worked on in a directory and names none: make it anew with `--workspace dir:/the/path`"
    )]
    NoPath,
    /// There is no repository to make a worktree of.
    #[error(
        "there is no repository to make a worktree of: make the card anew with `--workspace worktree:/the/repository`, or run \
         `hermes kanban boards set-default-workdir {0} /the/repository`"
    )]
    NoRepository(Slug),
    /// A directory is in the way, or it is no repository.
    #[error("\"{}\" is no git repository and no worktree of one", .0.display())]
    NotARepository(PathBuf),
    /// git could not do it.
    #[error("git could not {doing} in \"{}\": {said}", .repository.display())]
    Git {
        /// What was being done.
        doing: &'static str,
        /// Where.
        repository: PathBuf,
        /// What it said.
        said: String,
    },
    /// A directory.
    #[error("cannot {doing} \"{}\": {source}", .path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl WorkspaceError {
    fn file(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { doing, path, source }
    }
}

/// Makes sure the place of a card is there. One that was made before is used again: a second attempt goes on with what the
/// first one left, and whoever looks at the work finds it there.
pub fn prepare(root: &Root, board: &Slug, card: &Card) -> Result<Workspace, WorkspaceError> {
    match card.workspace_kind {
        WorkspaceKind::Scratch => scratch::prepare(&root.workspaces(board), card),
        WorkspaceKind::Dir => dir::prepare(card),
        WorkspaceKind::Worktree => {
            let workdir = crate::boards::describe(root, board).default_workdir;
            worktree::prepare(board, workdir.as_deref().map(Path::new), card)
        }
    }
}

/// What became of a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PutAway {
    /// It is gone.
    Removed(PathBuf),
    /// It stays, and why.
    Kept(PathBuf, &'static str),
}

impl Board {
    /// Writes down where a card is worked on, if the attempt is still its own.
    pub fn set_workspace(
        &mut self,
        id: &CardId,
        run: RunId,
        workspace: &Workspace,
    ) -> Result<(), BoardError> {
        let path = workspace.path.display().to_string();
        self.write(|tx| {
            tx.execute(
                "UPDATE tasks SET workspace_path = ?3, branch_name = coalesce(?4, branch_name) \
                 WHERE id = ?1 AND current_run_id = ?2 AND (workspace_path IS NOT ?3 OR branch_name IS NOT ?4)",
                params![id, run, path, workspace.branch],
            )?;
            Ok(())
        })
    }

    /// Puts away the places nobody needs any more: that of a finished card, and those of cards it waited for. One whose card
    /// is not finished, or that another card may still need, stays.
    pub fn put_away(&mut self, id: &CardId) -> Result<Vec<PutAway>, BoardError> {
        let mut done = Vec::new();
        for card in self.finished_around(id)? {
            done.extend(put_away(&self.root, &self.slug, &card));
        }
        Ok(done)
    }

    /// A card and those it waited for, as far as they are finished and no card that waits for them is not.
    fn finished_around(&mut self, id: &CardId) -> Result<Vec<Card>, BoardError> {
        self.read(|tx| {
            let sql = format!(
                "SELECT {} FROM tasks WHERE (id = ?1 OR id IN (SELECT parent_id FROM task_links WHERE child_id = ?1)) \
                 AND status IN ('done', 'archived') AND workspace_path IS NOT NULL AND NOT EXISTS \
                 (SELECT 1 FROM task_links l JOIN tasks c ON c.id = l.child_id \
                  WHERE l.parent_id = tasks.id AND c.status NOT IN ('done', 'archived')) AND NOT EXISTS \
                 (SELECT 1 FROM tasks o WHERE o.id != tasks.id AND o.workspace_path = tasks.workspace_path \
                  AND o.status NOT IN ('done', 'archived'))",
                crate::rows::CARD
            );
            tx.prepare_cached(&sql)?.query_map([id], crate::rows::card)?.collect()
        })
    }
}

fn put_away(root: &Root, board: &Slug, card: &Card) -> Option<PutAway> {
    debug_assert!(
        matches!(card.status, Status::Done | Status::Archived),
        "only what is finished is put away"
    );
    let path = PathBuf::from(card.workspace_path.as_deref()?);
    match card.workspace_kind {
        WorkspaceKind::Scratch => scratch::put_away(&managed(root, board), &path),
        WorkspaceKind::Worktree => worktree::put_away(card, &path),
        WorkspaceKind::Dir => None,
    }
}

/// The directories in which scratch workspaces are made: those of all boards, and the one the environment names.
fn managed(root: &Root, board: &Slug) -> Vec<PathBuf> {
    let mut roots = vec![root.workspaces(board)];
    for other in crate::boards::list(root, crate::query::Archived::Shown) {
        roots.push(root.own_workspaces(&other.slug));
    }
    roots
}
