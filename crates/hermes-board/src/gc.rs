//! Throwing away what nobody needs: workspaces of cards put away, old events and logs, files of cards that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use hermes_store::rusqlite::params;

use crate::board::Board;
use crate::card::{Seconds, Status, WorkspaceKind};
use crate::error::BoardError;

/// How long things are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    /// Events of finished cards.
    pub events: Seconds,
    /// Logs that nobody writes to.
    pub logs: Seconds,
}

/// Whether it is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// It is only said what would go.
    Dry,
    /// It goes.
    Real,
}

/// What went, or would.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Swept {
    /// Scratch directories.
    pub workspaces: Vec<PathBuf>,
    /// Events.
    pub events: usize,
    /// Logs.
    pub logs: Vec<PathBuf>,
    /// Directories with files of cards that are gone.
    pub attachments: Vec<PathBuf>,
    /// Rows that belong to no card.
    pub rows: usize,
    /// What could not be removed, and why.
    pub stay: Vec<(PathBuf, String)>,
}

/// Tables whose rows belong to a card. The other program leaves some behind.
const BELONGING: &[&str] =
    &["task_attachments", "kanban_notify_subs", "hx_cards", "hx_workers", "task_comments", "task_runs"];

impl Board {
    /// Throws away what nobody needs.
    pub fn sweep(&mut self, keep: Keep, how: How, now: Seconds) -> Result<Swept, BoardError> {
        // Directories are read before cards: one made meanwhile has a card by then.
        let workspaces = named(&self.root.workspaces(&self.slug));
        let attachments = named(&self.root.attachments(&self.slug));
        let logs = files(&self.root.logs(&self.slug));
        let cards = self.cards_for_sweep()?;
        let mut swept = Swept::default();
        let overrides = self.root.overrides();
        // A directory for all boards holds other boards' cards too, and another file's cards have no names here.
        let ours = |shared: &Option<PathBuf>| shared.is_none() && overrides.database.is_none();
        let gone = |id: &str| !cards.contains_key(id);
        for (id, dir) in workspaces {
            let put_away = cards
                .get(&id)
                .is_some_and(|card| card.0 == Status::Archived && card.1 == WorkspaceKind::Scratch);
            if put_away || (gone(&id) && ours(&overrides.workspaces)) {
                swept.workspaces.push(dir);
            }
        }
        if ours(&overrides.attachments) {
            swept.attachments.extend(attachments.into_iter().filter(|(id, _)| gone(id)).map(|(_, dir)| dir));
        }
        let running: BTreeSet<&String> =
            cards.iter().filter(|(_, card)| card.0 == Status::Running).map(|(id, _)| id).collect();
        for (path, modified) in logs {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
            let id = name.split('.').next().unwrap_or_default().to_owned();
            if is_card(&id) && now - modified > keep.logs && !running.contains(&id) {
                swept.logs.push(path);
            }
        }
        if how == How::Real {
            swept.remove_files();
        }
        self.sweep_rows(keep, how, now, &mut swept)?;
        Ok(swept)
    }

    fn cards_for_sweep(&mut self) -> Result<BTreeMap<String, (Status, WorkspaceKind)>, BoardError> {
        self.read(|tx| {
            let mut statement = tx.prepare_cached("SELECT id, status, workspace_kind FROM tasks")?;
            statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?))))?.collect()
        })
    }

    fn sweep_rows(
        &mut self,
        keep: Keep,
        how: How,
        now: Seconds,
        swept: &mut Swept,
    ) -> Result<(), BoardError> {
        const OLD: &str = "FROM task_events WHERE created_at < ?1 AND task_id IN \
                           (SELECT id FROM tasks WHERE status IN ('done', 'archived'))";
        const LOST: &str = "WHERE task_id NOT IN (SELECT id FROM tasks)";
        let before = now - keep.events;
        let (events, rows) = self.write(|tx| {
            if how == How::Dry {
                let count: i64 =
                    tx.query_row(&format!("SELECT count(*) {OLD}"), params![before], |row| row.get(0))?;
                let mut rows = 0;
                for table in BELONGING {
                    let sql = format!("SELECT count(*) FROM {table} {LOST}");
                    rows += tx.query_row(&sql, [], |row| row.get::<_, i64>(0))?;
                }
                return Ok((usize::try_from(count).unwrap_or(0), usize::try_from(rows).unwrap_or(0)));
            }
            let events = tx.execute(&format!("DELETE {OLD}"), params![before])?;
            let mut rows = 0;
            for table in BELONGING {
                rows += tx.execute(&format!("DELETE FROM {table} {LOST}"), [])?;
            }
            Ok((events, rows))
        })?;
        swept.events = events;
        swept.rows = rows;
        Ok(())
    }
}

impl Swept {
    fn remove_files(&mut self) {
        let mut stay = Vec::new();
        let mut remove = |path: &PathBuf, done: std::io::Result<()>| match done {
            Ok(()) => true,
            Err(error) => {
                stay.push((path.clone(), error.to_string()));
                false
            }
        };
        self.workspaces.retain(|dir| remove(dir, std::fs::remove_dir_all(dir)));
        self.attachments.retain(|dir| remove(dir, std::fs::remove_dir_all(dir)));
        self.logs.retain(|file| remove(file, std::fs::remove_file(file)));
        self.stay = stay;
    }
}

/// Real directories that are called like cards. A link is not one, wherever it leads.
fn named(root: &Path) -> Vec<(String, PathBuf)> {
    let mut found: Vec<(String, PathBuf)> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(name, _)| is_card(name))
        .collect();
    found.sort();
    found
}

/// Files with the time of their last change.
fn files(root: &Path) -> Vec<(PathBuf, Seconds)> {
    let mut found: Vec<(PathBuf, Seconds)> = std::fs::read_dir(root)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let meta = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let modified = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
            Some((entry.path(), Seconds::try_from(modified.as_secs()).ok()?))
        })
        .collect();
    found.sort();
    found
}

/// Whether a name is one that cards have.
fn is_card(name: &str) -> bool {
    name.strip_prefix("t_")
        .is_some_and(|digits| digits.len() >= 8 && digits.chars().all(|c| c.is_ascii_hexdigit()))
}
