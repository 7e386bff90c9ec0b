//! Titles: clean, short, and no two sessions with the same.

use rusqlite::{OptionalExtension, Transaction};

use super::SessionStore;
use super::error::SessionError;
use super::ids::SessionId;
use super::messages::failed;

/// How many characters a title may have.
pub const MAX_TITLE: usize = 100;

/// What to do when another session has the title.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clash {
    /// Refuse, because a person chose it.
    Refuse,
    /// Add a number, because a program chose it.
    Number,
}

impl SessionStore {
    /// The title of a session, if it has one.
    pub fn title(&mut self, id: &SessionId) -> Result<Option<String>, SessionError> {
        let found = self.db.read(|tx| {
            tx.prepare_cached("SELECT title FROM sessions WHERE id = ?1")?
                .query_row([id.as_str()], |row| row.get::<_, Option<String>>(0))
                .optional()
        })?;
        found.ok_or_else(|| SessionError::no_session(id))
    }

    /// Gives a session a title. Which one it got: cleaned, and perhaps with a number.
    pub fn set_title(&mut self, id: &SessionId, title: &str, clash: Clash) -> Result<String, SessionError> {
        let wanted = clean_title(title)?;
        self.db.transact(|tx| {
            let title = settle(tx, id, wanted, clash)?;
            let changed = tx
                .prepare_cached("UPDATE sessions SET title = ?2 WHERE id = ?1")
                .and_then(|mut statement| statement.execute((id.as_str(), &title)))
                .map_err(|source| failed(tx, source))?;
            if changed == 0 { Err(SessionError::no_session(id)) } else { Ok(title) }
        })
    }

    /// Gives a session a title unless it has one, as a program does that must not overwrite what a person chose.
    pub fn suggest_title(&mut self, id: &SessionId, title: &str) -> Result<Option<String>, SessionError> {
        let wanted = clean_title(title)?;
        self.db.transact(|tx| {
            let title = settle(tx, id, wanted, Clash::Number)?;
            let changed = tx
                .prepare_cached("UPDATE sessions SET title = ?2 WHERE id = ?1 AND title IS NULL")
                .and_then(|mut statement| statement.execute((id.as_str(), &title)))
                .map_err(|source| failed(tx, source))?;
            Ok((changed > 0).then_some(title))
        })
    }

    /// Takes a session's title away.
    pub fn clear_title(&mut self, id: &SessionId) -> Result<(), SessionError> {
        self.update(id, "UPDATE sessions SET title = NULL WHERE id = ?1", &[])
    }

    /// The session of this title: the latest of those numbered `title #2`, `title #3` …, else the one that has exactly
    /// this.
    pub fn by_title(&mut self, title: &str) -> Result<Option<SessionId>, SessionError> {
        Ok(self.db.read(|tx| by_title(tx, title))?)
    }
}

/// A title as it may be kept: on one line, without what cannot be seen.
pub fn clean_title(title: &str) -> Result<String, SessionError> {
    let seen: String = title.chars().filter(|c| c.is_whitespace() || !is_unseen(*c)).collect();
    let clean = seen.split_whitespace().collect::<Vec<_>>().join(" ");
    match clean.chars().count() {
        0 => Err(SessionError::TitleEmpty),
        length if length > MAX_TITLE => Err(SessionError::TitleTooLong { length }),
        _ => Ok(clean),
    }
}

/// Control characters, and those that change how the text around them looks.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}')
        || matches!(c, '\u{feff}' | '\u{fff9}'..='\u{fffc}')
}

/// The title a session can have.
fn settle(tx: &Transaction<'_>, id: &SessionId, title: String, clash: Clash) -> Result<String, SessionError> {
    let explain = |source| failed(tx, source);
    let Some(owner) = owner(tx, &title, id).map_err(explain)? else { return Ok(title) };
    if continues(tx, id, &owner).map_err(explain)? {
        // The owner went on as this session and cannot be seen any more, so nobody could free the title.
        tx.execute("UPDATE sessions SET title = NULL WHERE id = ?1", [owner.as_str()]).map_err(explain)?;
        return Ok(title);
    }
    match clash {
        Clash::Refuse => Err(SessionError::TitleTaken { title, owner }),
        Clash::Number => numbered(tx, &title).map_err(|source| failed(tx, source).into()),
    }
}

fn owner(tx: &Transaction<'_>, title: &str, id: &SessionId) -> rusqlite::Result<Option<SessionId>> {
    let mut statement = tx.prepare_cached("SELECT id FROM sessions WHERE title = ?1 AND id <> ?2")?;
    statement
        .query_row([title, id.as_str()], |row| row.get::<_, String>(0))
        .optional()
        .map(|id| id.map(SessionId::from))
}

/// Whether a session goes on where another one was cut off by a compression.
fn continues(tx: &Transaction<'_>, id: &SessionId, before: &SessionId) -> rusqlite::Result<bool> {
    let mut statement = tx.prepare_cached(
        "WITH RECURSIVE earlier(id) AS (
             VALUES (?1) UNION
             SELECT p.id FROM earlier e JOIN sessions s ON s.id = e.id JOIN sessions p ON p.id = s.parent_session_id
             WHERE p.end_reason = 'compression')
         SELECT 1 FROM earlier WHERE id = ?2",
    )?;
    statement.query_row([id.as_str(), before.as_str()], |_| Ok(())).optional().map(|found| found.is_some())
}

/// The title with the number after the highest that is in use, cut so that both fit.
fn numbered(tx: &Transaction<'_>, title: &str) -> rusqlite::Result<String> {
    let base = split_number(title).map_or(title, |(base, _)| base);
    let mut statement = tx.prepare_cached(LIKE_NUMBERED)?;
    let titles = statement.query_map([numbered_pattern(base)], |row| row.get::<_, String>(1))?;
    let mut highest = 1;
    for title in titles {
        if let Some((_, number)) = split_number(&title?) {
            highest = highest.max(number);
        }
    }
    let suffix = format!(" #{}", highest.saturating_add(1));
    let room = MAX_TITLE - suffix.chars().count();
    Ok(base.chars().take(room).collect::<String>() + &suffix)
}

/// Sessions with a title of a pattern, newest first.
const LIKE_NUMBERED: &str = "SELECT id, title FROM sessions
    WHERE title IS NOT NULL AND title LIKE ?1 ESCAPE '\\' ORDER BY started_at DESC";

fn numbered_pattern(base: &str) -> String {
    format!("{} #%", escape_like(base))
}

/// Text that LIKE takes as it is, with `\` as the escape.
pub(super) fn escape_like(text: &str) -> String {
    text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")
}

/// A title and the number behind it.
fn split_number(title: &str) -> Option<(&str, u64)> {
    let (base, number) = title.rsplit_once(" #")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if digits { Some((base, number.parse().ok()?)) } else { None }
}

pub(super) fn by_title(tx: &Transaction<'_>, title: &str) -> rusqlite::Result<Option<SessionId>> {
    let mut statement = tx.prepare_cached(LIKE_NUMBERED)?;
    let rows = statement.query_map([numbered_pattern(title)], |row| {
        Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
    })?;
    for row in rows {
        let (id, full) = row?;
        if split_number(&full).is_some_and(|(base, _)| base.eq_ignore_ascii_case(title)) {
            return Ok(Some(SessionId::from(id)));
        }
    }
    let mut exact = tx.prepare_cached("SELECT id FROM sessions WHERE title = ?1")?;
    exact.query_row([title], |row| row.get::<_, String>(0)).optional().map(|id| id.map(SessionId::from))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::*;

    #[test]
    fn titles_are_one_line_of_visible_text() {
        assert_eq!(clean_title("  a\u{200b}b \n\t c\u{7}  ").unwrap(), "ab c");
        assert!(matches!(clean_title(" \u{feff} "), Err(SessionError::TitleEmpty)));
        assert!(clean_title(&"ü".repeat(MAX_TITLE)).is_ok());
        assert!(matches!(clean_title(&"ü".repeat(101)), Err(SessionError::TitleTooLong { length: 101 })));
    }

    #[test]
    fn numbers_are_split_off() {
        assert_eq!(split_number("a #b #12"), Some(("a #b", 12)));
        assert_eq!(split_number("a #"), None);
        assert_eq!(split_number("a #1x"), None);
    }
}
