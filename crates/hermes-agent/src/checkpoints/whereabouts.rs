//! Which directories an action is about: on this machine, or in the conversation's box.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hermes_box::client::{CallError, Client};
use hermes_box::proto::file::FileKind;
use hermes_checkpoint::{BoxTree, Checkpoints, Key, Place, project_root};
use hermes_sandbox::error::SandboxError;
use hermes_tools::workplace::{FilesAt, Workplace};

use super::aim::{Aim, At};

/// Entries of a directory that are looked through for what marks a project.
const ENTRIES: u32 = 5_000;

/// Why nobody can say where something is.
#[derive(Debug, thiserror::Error)]
pub(super) enum WhereError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Call(#[from] CallError),
}

/// Finds the directories of one conversation.
pub(super) struct Whereabouts {
    workplace: Workplace,
    session: String,
    start: PathBuf,
    user_home: Option<PathBuf>,
    /// Tops of projects in a box by directory: finding one takes several calls.
    roots: Mutex<HashMap<PathBuf, PathBuf>>,
}

impl Whereabouts {
    pub(super) fn new(workplace: Workplace, session: &str, start: &Path, user_home: Option<PathBuf>) -> Self {
        let (session, start) = (session.to_owned(), start.to_path_buf());
        Self { workplace, session, start, user_home, roots: Mutex::default() }
    }

    /// The directory the conversation is about.
    pub(super) fn own(&self, checkpoints: &Checkpoints) -> Result<Place, WhereError> {
        match self.workplace.files_at(&self.session)? {
            FilesAt::Host => Ok(Place::host(&checkpoints.project(&self.start))),
            FilesAt::Container { mounted: Some((_, here)), .. } => Ok(Place::host(&here)),
            at => {
                let client = self.workplace.connect(&self.session)?;
                let dir = self.directory(&client, None)?;
                self.in_box(&at, &client, &dir)
            }
        }
    }

    /// The directories an action may change.
    pub(super) fn places(&self, aim: &Aim, checkpoints: &Checkpoints) -> Result<Vec<Place>, WhereError> {
        let at = self.workplace.files_at(&self.session)?;
        let client = self.workplace.connect(&self.session)?;
        let mut places: Vec<Place> = Vec::new();
        let mut add = |place: Place| {
            if !places.iter().any(|known| known.key == place.key) {
                places.push(place);
            }
        };
        match &aim.at {
            At::Files(files) => {
                for file in files {
                    add(self.around(&at, &client, file.parent().unwrap_or(file), checkpoints)?);
                }
            }
            At::Directory { dir, named } => {
                let dir = match self.directory(&client, dir.as_deref()) {
                    // The command will say so itself.
                    Err(error) if error.file().is_some() => return Ok(places),
                    dir => dir?,
                };
                add(self.around(&at, &client, &dir, checkpoints)?);
                // Only projects: a path that is merely named is not worth a snapshot of all that is around it.
                if at == FilesAt::Host {
                    let projects = named.paths.iter().filter_map(|path| self.project_of(path, checkpoints));
                    projects.for_each(|root| add(Place::host(&root)));
                } else {
                    // Every look takes a while there, so only at what the command goes to.
                    for path in named.entered.iter().filter(|path| is_project_in_box(&client, path)) {
                        add(self.around(&at, &client, path, checkpoints)?);
                    }
                }
            }
        }
        Ok(places)
    }

    /// The project a path of this machine is in, if it is in one.
    fn project_of(&self, path: &Path, checkpoints: &Checkpoints) -> Option<PathBuf> {
        let dir = path.ancestors().find(|dir| dir.is_dir())?;
        let root = checkpoints.project(dir);
        let is_home = Some(root.as_path()) == self.user_home.as_deref();
        let is_project = project_root(&root.join("-"), None, Path::exists) == root;
        (is_project && !is_home && root.parent().is_some()).then_some(root)
    }

    /// A directory as the conversation's commands see it.
    fn directory(&self, client: &Client, dir: Option<&str>) -> Result<PathBuf, CallError> {
        Ok(client.files().in_session(&self.session).stat(dir.unwrap_or("."))?.path)
    }

    /// The place around a directory; one that does not exist yet is not looked for on this machine.
    fn around(
        &self,
        at: &FilesAt,
        client: &Client,
        dir: &Path,
        checkpoints: &Checkpoints,
    ) -> Result<Place, WhereError> {
        match at {
            FilesAt::Host => {
                let there = dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(dir);
                Ok(Place::host(&checkpoints.project(there)))
            }
            FilesAt::Container { mounted: Some((there, here)), .. } if dir.starts_with(there) => {
                Ok(Place::host(here))
            }
            at => self.in_box(at, client, dir),
        }
    }

    fn in_box(&self, at: &FilesAt, client: &Client, dir: &Path) -> Result<Place, WhereError> {
        let (name, home) = match at {
            FilesAt::Host => (String::new(), None),
            // A container's home is a workspace like any other.
            FilesAt::Container { name, .. } => (name.clone(), None),
            FilesAt::Remote { name } => (format!("ssh:{name}"), Some(client.files().stat("~")?.path)),
        };
        let known = self.roots.lock().unwrap_or_else(PoisonError::into_inner).get(dir).cloned();
        let root = known.unwrap_or_else(|| root_in_box(client, dir, home.as_deref()));
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        roots.insert(dir.to_path_buf(), root.clone());
        let tree = Arc::new(BoxTree::new(client.clone(), root.clone()));
        Ok(Place { key: Key::Box { place: name, dir: root }, tree })
    }
}

/// The top of a project in a box.
fn root_in_box(client: &Client, dir: &Path, home: Option<&Path>) -> PathBuf {
    let files = client.files();
    let is_dir = |dir: &&Path| files.stat(*dir).is_ok_and(|stat| stat.kind == FileKind::Directory);
    let dir = dir.ancestors().find(is_dir).unwrap_or(dir);
    project_root(dir, home, names_above(client, dir))
}

/// Whether a directory of a box is in a project, and not merely somewhere.
fn is_project_in_box(client: &Client, dir: &Path) -> bool {
    let has = names_above(client, dir);
    let root = project_root(dir, None, &has);
    root.parent().is_some() && project_root(&root.join("-"), None, &has) == root
}

/// Tells which names there are in a directory of a box and those above it, with one call for each.
fn names_above(client: &Client, dir: &Path) -> impl Fn(&Path) -> bool {
    let files = client.files();
    let listings: HashMap<PathBuf, Vec<PathBuf>> = dir
        .ancestors()
        .filter_map(|dir| {
            let listing = files.list(dir, ENTRIES).ok()?;
            Some((dir.to_path_buf(), listing.entries.into_iter().map(|entry| entry.name).collect()))
        })
        .collect();
    move |path: &Path| {
        let names = path.parent().and_then(|dir| listings.get(dir));
        names
            .is_some_and(|names| path.file_name().is_some_and(|name| names.iter().any(|known| known == name)))
    }
}
