//! Single values that belong to the whole file.

use rusqlite::OptionalExtension;

use super::SessionStore;
use super::error::SessionError;

impl SessionStore {
    /// A value, if there is one.
    pub fn meta(&mut self, key: &str) -> Result<Option<String>, SessionError> {
        let found = self.db.read(|tx| {
            tx.prepare_cached("SELECT value FROM state_meta WHERE key = ?1")?
                .query_row([key], |row| row.get::<_, Option<String>>(0))
                .optional()
        })?;
        Ok(found.flatten())
    }

    /// Sets a value; nothing takes it away.
    pub fn set_meta(&mut self, key: &str, value: Option<&str>) -> Result<(), SessionError> {
        self.db.write(|tx| match value {
            None => tx.prepare_cached("DELETE FROM state_meta WHERE key = ?1")?.execute([key]),
            Some(value) => tx
                .prepare_cached(
                    "INSERT INTO state_meta (key, value) VALUES (?1, ?2)
                     ON CONFLICT(key) DO UPDATE SET value = excluded.value",
                )?
                .execute([key, value]),
        })?;
        Ok(())
    }
}
