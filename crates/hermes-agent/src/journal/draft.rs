//! The beginning of an answer that is still being written, on record in case its process is killed.
//!
//! It is kept in pieces: every new word writes only the piece it belongs to, however long the answer has become.

use hermes_store::sessions::{SessionError, SessionId, SessionStore};

/// Bytes after which a piece is full.
const PIECE: usize = 2048;

/// What is on record of an answer.
#[derive(Debug, Default)]
pub(super) struct Draft {
    /// Pieces on record.
    pieces: usize,
    /// Where the last of them begins in the text.
    start: usize,
    /// How much of the text is on record.
    length: usize,
}

impl Draft {
    /// What a killed process left of an answer.
    pub fn find(store: &mut SessionStore, id: &SessionId) -> Result<(Self, String), SessionError> {
        let (mut draft, mut text) = (Self::default(), String::new());
        while let Some(piece) = store.meta(&key(id, draft.pieces))? {
            draft.start = text.len();
            draft.pieces += 1;
            text.push_str(&piece);
        }
        draft.length = text.len();
        Ok((draft, text))
    }

    /// Puts the answer so far on record. A text that is shorter than before is another one.
    pub fn keep(&mut self, store: &mut SessionStore, id: &SessionId, text: &str) -> Result<(), SessionError> {
        if text.len() < self.length {
            self.clear(store, id)?;
        }
        if self.pieces == 0 || self.length - self.start >= PIECE {
            self.start = self.length;
            self.pieces += 1;
        }
        self.length = text.len();
        store.set_meta(&key(id, self.pieces - 1), Some(text.get(self.start..).unwrap_or_default()))
    }

    /// Takes it off the record, the end first: what a kill in between leaves is still a beginning.
    pub fn clear(&mut self, store: &mut SessionStore, id: &SessionId) -> Result<(), SessionError> {
        for piece in (0..self.pieces).rev() {
            store.set_meta(&key(id, piece), None)?;
        }
        *self = Self::default();
        Ok(())
    }
}

fn key(id: &SessionId, piece: usize) -> String {
    match piece {
        0 => format!("hermes_rs_draft:{id}"),
        piece => format!("hermes_rs_draft:{id}:{piece}"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;

    #[test]
    fn whatever_is_kept_is_found_and_nothing_stays_behind() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = SessionStore::open(&dir.path().join("state.db")).unwrap();
        let id = SessionId::from("20260101_000000_abcdef");
        let mut draft = Draft::default();
        let mut text = String::new();
        for number in 0..700 {
            text.push_str("wörd ");
            draft.keep(&mut store, &id, &text).unwrap();
            if number % 50 == 0 {
                assert_eq!(Draft::find(&mut store, &id).unwrap().1, text);
            }
        }
        assert!(draft.pieces > 1);
        draft.keep(&mut store, &id, "begun again").unwrap();
        let (mut found, kept) = Draft::find(&mut store, &id).unwrap();
        assert_eq!(kept, "begun again");
        found.clear(&mut store, &id).unwrap();
        assert_eq!(Draft::find(&mut store, &id).unwrap().1, "");
        assert_eq!(store.meta(&key(&id, 1)).unwrap(), None);
    }
}
