//! An open board.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_store::rusqlite::{self, Transaction};
use hermes_store::{Database, Error as StoreError, OpenMode, Options, Synchronous};

use crate::error::BoardError;
use crate::place::Root;
use crate::schema::BoardSchema;
use crate::slug::Slug;

/// A board: its database and where its files are. For one thread at a time.
#[derive(Debug)]
pub struct Board {
    pub(crate) db: Database,
    pub(crate) root: Root,
    pub(crate) slug: Slug,
}

/// How long SQLite waits for a lock: another program may hold it for long.
const BUSY: Duration = Duration::from_secs(30);
/// The same for somebody who has more to do than to wait for this board.
const HASTY: Duration = Duration::from_millis(300);

impl Board {
    /// Opens a board for reading and writing; a database that is not there yet is made, one that is damaged is copied once
    /// and refused.
    pub fn open(root: &Root, slug: &Slug) -> Result<Self, BoardError> {
        let path = root.database(slug);
        if let Some(dir) = path.parent() {
            std::fs::create_dir_all(dir).map_err(BoardError::file("make", dir))?;
        }
        Self::open_as(root, slug, OpenMode::Create, BUSY)
    }

    /// Opens a board that is there for reading and writing, and does not wait long for others.
    pub fn open_hasty(root: &Root, slug: &Slug) -> Result<Self, BoardError> {
        Self::open_as(root, slug, OpenMode::ReadWrite, HASTY)
    }

    /// Opens a board to look at it. Nothing is made or changed; `None` when it has no database yet.
    pub fn look(root: &Root, slug: &Slug) -> Result<Option<Self>, BoardError> {
        match Self::open_as(root, slug, OpenMode::ReadOnly, BUSY) {
            Err(BoardError::Store(StoreError::Missing { .. } | StoreError::Empty { .. })) => Ok(None),
            // One that the other program made lacks tables of ours.
            Err(BoardError::Store(StoreError::Outdated { .. })) => {
                Self::open_as(root, slug, OpenMode::ReadWrite, BUSY).map(Some)
            }
            board => board.map(Some),
        }
    }

    fn open_as(root: &Root, slug: &Slug, mode: OpenMode, busy: Duration) -> Result<Self, BoardError> {
        let path = root.database(slug);
        let options = Options { synchronous: Synchronous::Full, busy, ..Options::default() };
        match Database::open_with(&path, mode, &BoardSchema, options) {
            Ok(db) => Ok(Self { db, root: root.clone(), slug: slug.clone() }),
            Err(error) => Err(explain(error, slug, &path)),
        }
    }

    /// Which board it is.
    pub fn slug(&self) -> &Slug {
        &self.slug
    }

    /// Where boards are kept.
    pub fn root(&self) -> &Root {
        &self.root
    }

    /// Changes whenever somebody else has written.
    pub fn version(&mut self) -> Result<i64, BoardError> {
        Ok(self.db.data_version()?)
    }

    /// Looks at all of it for damage.
    pub fn check(&mut self) -> Result<(), BoardError> {
        let path = self.db.path().to_owned();
        self.db.quick_check().map_err(|error| explain(error, &self.slug, &path))
    }

    /// Reads from one snapshot.
    pub(crate) fn read<T>(
        &mut self,
        body: impl FnMut(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, BoardError> {
        let path = self.db.path().to_owned();
        self.db.read(body).map_err(|error| explain(error, &self.slug, &path))
    }

    /// Writes in one transaction: all of it, or nothing.
    pub(crate) fn write<T>(
        &mut self,
        body: impl FnOnce(&Transaction<'_>) -> Result<T, Trouble>,
    ) -> Result<T, BoardError> {
        let path = self.db.path().to_owned();
        let done = self.db.transact(body);
        done.map_err(|trouble| match trouble {
            Trouble::Board(error) => error,
            Trouble::Store(error) => explain(error, &self.slug, &path),
            Trouble::Sql(error) => explain(StoreError::explain(&path, "write to", error), &self.slug, &path),
        })
    }
}

/// What takes a change back.
pub(crate) enum Trouble {
    Board(BoardError),
    Store(StoreError),
    Sql(rusqlite::Error),
}

impl From<StoreError> for Trouble {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<rusqlite::Error> for Trouble {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<BoardError> for Trouble {
    fn from(error: BoardError) -> Self {
        Self::Board(error)
    }
}

/// Damage is told with the copy that was kept of it.
fn explain(error: StoreError, slug: &Slug, path: &Path) -> BoardError {
    let detail = match &error {
        StoreError::Damaged { detail, .. } => detail.clone(),
        StoreError::NotADatabase { .. } => "it is not a database".to_owned(),
        _ => return error.into(),
    };
    match keep_copy(path) {
        Ok(copy) => BoardError::Damaged { board: slug.clone(), path: path.to_owned(), copy, detail },
        Err(error) => error,
    }
}

/// Copies a damaged file beside itself, under a name made of its content: however often it is opened, there is one copy.
fn keep_copy(path: &Path) -> Result<PathBuf, BoardError> {
    use sha2::Digest;
    let bytes = std::fs::read(path).map_err(BoardError::file("read", path))?;
    let digest = sha2::Sha256::digest(&bytes);
    let first = digest.iter().take(8).fold(0_u64, |number, byte| (number << 8) | u64::from(*byte));
    let name = format!("{first:016x}");
    let beside = |suffix: &str| {
        let mut file = path.as_os_str().to_owned();
        file.push(suffix);
        PathBuf::from(file)
    };
    let copy = beside(&format!(".corrupt.{name}.bak"));
    if !copy.exists() {
        hermes_home::files::write_atomic(&copy, &bytes, hermes_home::files::Access::Private)?;
        for sidecar in ["-wal", "-shm"] {
            let file = beside(sidecar);
            if file.exists() {
                let to = beside(&format!(".corrupt.{name}.bak{sidecar}"));
                std::fs::copy(&file, &to).map_err(BoardError::file("copy", &file))?;
            }
        }
    }
    Ok(copy)
}
