//! Who compacts a session. Two programs that summarise one conversation at once would both pay, and one would lose.

use std::time::Duration;

use jiff::Timestamp;

use super::SessionStore;
use super::error::SessionError;
use super::ids::{SessionId, seconds};

impl SessionStore {
    /// Takes the right to compact a session for a while. False if somebody else has it.
    pub fn lock_compaction(
        &mut self,
        session: &SessionId,
        holder: &str,
        now: Timestamp,
        hold: Duration,
    ) -> Result<bool, SessionError> {
        let until = seconds(now) + hold.as_secs_f64();
        let taken = self.db.write(|tx| {
            tx.execute(
                "INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT(session_id) DO UPDATE SET
                     holder = excluded.holder, acquired_at = excluded.acquired_at, expires_at = excluded.expires_at
                 WHERE compression_locks.holder = excluded.holder OR compression_locks.expires_at <= excluded.acquired_at",
                (session.as_str(), holder, seconds(now), until),
            )
        })?;
        Ok(taken > 0)
    }

    /// Gives it back. Nothing happens if somebody else has it by now.
    pub fn unlock_compaction(&mut self, session: &SessionId, holder: &str) -> Result<(), SessionError> {
        let sql = "DELETE FROM compression_locks WHERE session_id = ?1 AND holder = ?2";
        self.db.write(|tx| tx.execute(sql, (session.as_str(), holder)))?;
        Ok(())
    }
}
