//! A git worktree of the card's own, on a branch of its own.

use std::path::{Path, PathBuf};

use super::git::{CHECKOUT, QUESTION, git};
use super::{PutAway, Workspace, WorkspaceError};
use crate::card::Card;
use crate::slug::Slug;
use crate::worker::attend::{Access, Mount};

/// Where the worktrees of a repository are, inside it.
const PLACE: &str = ".worktrees";

pub(super) fn prepare(
    board: &Slug,
    workdir: Option<&Path>,
    card: &Card,
) -> Result<Workspace, WorkspaceError> {
    let named = card.workspace_path.as_deref().map(Path::new);
    if let Some(path) = named.into_iter().chain(workdir).find(|path| !path.is_absolute()) {
        return Err(WorkspaceError::NotAbsolute(path.display().to_string()));
    }
    let (repository, path) = match named {
        Some(path) if path.is_dir() && !is_empty(path) => {
            let top = top_of(path)?;
            if is_linked(&top) && same(&top, path) {
                return reuse(&top, card);
            }
            let inside = top.join(PLACE).join(card.id.as_str());
            (top, inside)
        }
        Some(path) => {
            let found = repository_around(path).or_else(|| top_of(workdir?).ok());
            (found.ok_or_else(|| WorkspaceError::NoRepository(board.clone()))?, path.to_owned())
        }
        None => {
            let top = top_of(workdir.ok_or_else(|| WorkspaceError::NoRepository(board.clone()))?)?;
            let inside = top.join(PLACE).join(card.id.as_str());
            (top, inside)
        }
    };
    if path.is_dir() && !is_empty(&path) {
        let top = top_of(&path)?;
        if !same(&top, &path) {
            return Err(WorkspaceError::NotARepository(path));
        }
        return reuse(&top, card);
    }
    make(&repository, path, card)
}

/// One that is there already, with whatever branch it has.
fn reuse(path: &Path, card: &Card) -> Result<Workspace, WorkspaceError> {
    let branch = git(path, "name the branch", QUESTION, &["branch", "--show-current"])?;
    let branch = Some(branch).filter(|name| !name.is_empty()).or_else(|| card.branch_name.clone());
    Ok(Workspace { path: path.to_owned(), branch, mounts: mounts(path)? })
}

fn make(repository: &Path, path: PathBuf, card: &Card) -> Result<Workspace, WorkspaceError> {
    let branch = card.branch_name.clone().unwrap_or_else(|| format!("wt/{}", card.id));
    // Another program may have written anything there; git would take some of it for an option.
    crate::create::check_branch(&branch).map_err(|error| WorkspaceError::Git {
        doing: "use the branch",
        repository: repository.to_owned(),
        said: error.to_string(),
    })?;
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(WorkspaceError::file("make", dir))?;
    }
    leave_out(repository, &path)?;
    // One that somebody removed by hand is still in the books, and in the way.
    git(repository, "clear old worktrees", QUESTION, &["worktree", "prune"])?;
    let place = path.display().to_string();
    let name = format!("refs/heads/{branch}");
    let exists =
        git(repository, "look for the branch", QUESTION, &["rev-parse", "-q", "--verify", &name]).is_ok();
    let arguments: &[&str] = if exists {
        &["worktree", "add", "-q", "--", &place, &branch]
    } else {
        &["worktree", "add", "-q", "-b", &branch, "--", &place, "HEAD"]
    };
    git(repository, "make a worktree", CHECKOUT, arguments)?;
    Ok(Workspace { mounts: mounts(&path)?, path, branch: Some(branch) })
}

/// Keeps our directory out of what git shows as new, without touching a file of the project.
fn leave_out(repository: &Path, path: &Path) -> Result<(), WorkspaceError> {
    if !path.starts_with(repository.join(PLACE)) {
        return Ok(());
    }
    let file = common_dir(repository)?.join("info/exclude");
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let line = format!("/{PLACE}/");
    if text.lines().any(|known| known.trim() == line) {
        return Ok(());
    }
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir).map_err(WorkspaceError::file("make", dir))?;
    }
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    std::fs::write(&file, format!("{text}{gap}{line}\n")).map_err(WorkspaceError::file("write", &file))
}

/// What a box must see so that commits made in it are commits here: the repository itself. Its hooks and its settings run
/// programs on this machine, so they can only be read from there.
fn mounts(path: &Path) -> Result<Vec<Mount>, WorkspaceError> {
    let common = common_dir(path)?;
    let closed = ["hooks", "config"].map(|name| common.join(name));
    let closed = closed.into_iter().filter(|path| path.exists());
    let closed = closed.map(|path| Mount { path, access: Access::Read });
    Ok([Mount { path: common.clone(), access: Access::Write }].into_iter().chain(closed).collect())
}

/// Removes a worktree of ours that holds nothing which is not on its branch.
pub(super) fn put_away(card: &Card, path: &Path) -> Option<PutAway> {
    let repository = path.parent().filter(|dir| dir.ends_with(PLACE))?.parent()?;
    if path.file_name()? != card.id.as_str() {
        return None;
    }
    let leaving = path.with_file_name(format!(".{}.leaving", card.id.as_str()));
    if leaving.is_dir() {
        return Some(see_off(repository, path, &leaving));
    }
    if !path.is_dir() {
        return None;
    }
    let kept = |why| Some(PutAway::Kept(path.to_owned(), why));
    let Ok(books) = books_of(repository, path) else { return kept("git does not know it") };
    let (books, place) = (books.display().to_string(), path.display().to_string());
    // Asked through the repository's own books: what stands in the worktree was written by whoever worked there.
    let ask = |arguments: &[&str]| {
        let all = [&["--git-dir", &books, "--work-tree", &place], arguments].concat();
        git(path, "look at the worktree", QUESTION, &all)
    };
    match ask(&["symbolic-ref", "-q", "HEAD"]) {
        Ok(head) if head.starts_with("refs/heads/") => {}
        _ => return kept("its commits are on no branch"),
    }
    match ask(&["status", "--porcelain", "--untracked-files=normal", "--ignore-submodules=none"]) {
        Ok(changes) if changes.is_empty() => {}
        Ok(_) => return kept("it holds changes that are not committed"),
        Err(_) => return kept("git could not look at it"),
    }
    // Whoever is killed in the middle must not leave something that looks like work that was not committed.
    match std::fs::rename(path, &leaving) {
        Ok(()) => Some(see_off(repository, path, &leaving)),
        Err(_) => kept("it could not be moved"),
    }
}

/// Lets git forget a worktree that was found to hold nothing and has another name already; then it goes. Whoever is killed in
/// between leaves that name, so that somebody does this again.
fn see_off(repository: &Path, path: &Path, leaving: &Path) -> PutAway {
    let place = path.display().to_string();
    let forgot = git(repository, "remove the worktree", CHECKOUT, &["worktree", "remove", "--", &place]);
    if forgot.is_err() && books_of(repository, path).is_ok() {
        return PutAway::Kept(leaving.to_owned(), "git could not forget it");
    }
    match std::fs::remove_dir_all(leaving) {
        Ok(()) => PutAway::Removed(path.to_owned()),
        Err(_) => PutAway::Kept(leaving.to_owned(), "it could not be removed"),
    }
}

/// Where a repository keeps the books of one of its worktrees.
fn books_of(repository: &Path, path: &Path) -> Result<PathBuf, WorkspaceError> {
    let all = common_dir(repository)?.join("worktrees");
    let entries = std::fs::read_dir(&all).map_err(WorkspaceError::file("list", &all))?;
    let found = entries.flatten().map(|entry| entry.path()).find(|books| {
        let points = std::fs::read_to_string(books.join("gitdir")).unwrap_or_default();
        Path::new(points.trim()).parent().is_some_and(|place| same(place, path))
    });
    found.ok_or_else(|| WorkspaceError::NotARepository(path.to_owned()))
}

/// The top of the working tree around a directory.
fn top_of(path: &Path) -> Result<PathBuf, WorkspaceError> {
    let top = git(path, "find the repository", QUESTION, &["rev-parse", "--show-toplevel"]);
    match top {
        Ok(top) if !top.is_empty() => Ok(PathBuf::from(top)),
        Ok(_) => Err(WorkspaceError::NotARepository(path.to_owned())),
        Err(WorkspaceError::Git { said, .. }) if said.contains("not a git repository") => {
            Err(WorkspaceError::NotARepository(path.to_owned()))
        }
        Err(error) => Err(error),
    }
}

/// The directory all worktrees of a repository share.
fn common_dir(path: &Path) -> Result<PathBuf, WorkspaceError> {
    let dir = git(path, "find the repository", QUESTION, &["rev-parse", "--git-common-dir"])?;
    let dir = path.join(dir);
    std::fs::canonicalize(&dir).map_err(WorkspaceError::file("find", &dir))
}

/// The repository around a path that is not there yet.
fn repository_around(path: &Path) -> Option<PathBuf> {
    path.ancestors().find(|dir| dir.is_dir()).and_then(|dir| top_of(dir).ok())
}

/// A worktree has a file where a repository has a directory.
fn is_linked(top: &Path) -> bool {
    top.join(".git").is_file()
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).is_ok_and(|mut entries| entries.next().is_none())
}

fn same(one: &Path, other: &Path) -> bool {
    match (std::fs::canonicalize(one), std::fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}
