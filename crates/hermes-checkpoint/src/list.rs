//! The snapshots of a directory, as people see them.

use serde::Serialize;

use crate::checkpoints::Checkpoints;
use crate::error::CheckpointError;
use crate::key::Key;
use crate::object::ObjectId;

/// One snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot {
    /// Its name.
    pub hash: String,
    /// Enough of it.
    pub short_hash: String,
    /// When it was made (RFC 3339).
    pub timestamp: String,
    /// What it was made before.
    pub reason: String,
    /// Files that are different from the snapshot before; nothing for the oldest.
    pub files_changed: u64,
    /// Lines more than in the snapshot before.
    pub insertions: u64,
    /// Lines less.
    pub deletions: u64,
}

impl Checkpoints {
    /// The snapshots of a directory, newest first.
    pub fn list(&self, key: &Key) -> Result<Vec<Snapshot>, CheckpointError> {
        let Some(tip) = self.tip_of(key)? else { return Ok(Vec::new()) };
        let (tip, most) = (tip.to_string(), self.limits.snapshots.to_string());
        // The oldest is not shown as if all of its files were new.
        let args = [
            "-c",
            "log.showRoot=false",
            "log",
            "--first-parent",
            "--no-color",
            "--shortstat",
            "-n",
            &most,
            "--format=%x00%H%x00%h%x00%aI%x00%s%x00",
            &tip,
        ];
        let printed = self.run(args, "list snapshots")?;
        let printed = String::from_utf8_lossy(&printed);
        let fields: Vec<&str> = printed.split('\0').skip(1).collect();
        Ok(fields.chunks(5).filter_map(snapshot).collect())
    }

    /// The name of a snapshot of this directory: its place in the list from 1, or the beginning of its name.
    pub fn resolve(&self, key: &Key, wanted: &str) -> Result<ObjectId, CheckpointError> {
        let not_found = || CheckpointError::NotFound { wanted: wanted.to_owned() };
        let tip = self.tip_of(key)?.ok_or_else(not_found)?;
        let mut ids = self.chain(tip)?;
        ids.truncate(self.limits.snapshots);
        if let Ok(place) = wanted.parse::<usize>()
            && wanted.len() < 4
        {
            return place.checked_sub(1).and_then(|place| ids.get(place)).copied().ok_or_else(not_found);
        }
        let wanted_lower = wanted.to_ascii_lowercase();
        let mut fits =
            ids.into_iter().filter(|id| wanted.len() >= 4 && id.to_string().starts_with(&wanted_lower));
        match (fits.next(), fits.next()) {
            (Some(id), None) => Ok(id),
            (Some(_), Some(_)) => Err(CheckpointError::Ambiguous { wanted: wanted.to_owned() }),
            (None, _) => Err(not_found()),
        }
    }

    /// The newest snapshot of a directory.
    pub(crate) fn tip_of(&self, key: &Key) -> Result<Option<ObjectId>, CheckpointError> {
        if !self.store.exists() {
            return Ok(None);
        }
        Ok(self.store.tip(&key.ref_name())?)
    }

    /// What a snapshot was made before.
    pub(crate) fn reason_of(&self, id: ObjectId) -> Result<String, CheckpointError> {
        let id = id.to_string();
        let printed = self.run(["log", "-1", "--format=%s", &id], "read a snapshot")?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }
}

fn snapshot(fields: &[&str]) -> Option<Snapshot> {
    let [hash, short_hash, timestamp, reason, stat] = fields else { return None };
    let number = |word: &str| {
        let part = stat.split(',').find(|part| part.contains(word))?;
        part.split_whitespace().next()?.parse().ok()
    };
    Some(Snapshot {
        hash: (*hash).to_owned(),
        short_hash: (*short_hash).to_owned(),
        timestamp: (*timestamp).to_owned(),
        reason: (*reason).to_owned(),
        files_changed: number("file").unwrap_or(0),
        insertions: number("insertion").unwrap_or(0),
        deletions: number("deletion").unwrap_or(0),
    })
}
