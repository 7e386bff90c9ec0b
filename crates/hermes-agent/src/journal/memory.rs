//! A conversation that lives as long as the program.

use hermes_model::Message;
use jiff::Timestamp;

use super::{Journal, JournalError, Said, Used};
use crate::history::{Entry, History, RowId};

/// A conversation that lives as long as the program.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    id: String,
    next: i64,
    history: History,
    before_compaction: Vec<History>,
    /// What was taken back, newest last.
    rewound: Vec<Vec<Entry>>,
}

impl MemoryJournal {
    /// A conversation of this name.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    fn entry(&mut self, message: &Message, finish: Option<&hermes_model::Finish>, at: Timestamp) -> Entry {
        self.next += 1;
        Entry { row: RowId(self.next), message: message.clone(), finish: finish.cloned(), at }
    }
}

impl Journal for MemoryJournal {
    fn session_id(&self) -> &str {
        &self.id
    }

    fn append(&mut self, said: &Said<'_>) -> Result<RowId, JournalError> {
        let entry = self.entry(said.message, said.finish, said.at);
        let row = entry.row;
        self.history.entries.push(entry);
        Ok(row)
    }

    fn add_usage(&mut self, _: &Used<'_>) -> Result<(), JournalError> {
        Ok(())
    }

    fn keep_prompt(&mut self, _: &str) -> Result<(), JournalError> {
        Ok(())
    }

    fn keep_draft(&mut self, _: Option<&str>) -> Result<(), JournalError> {
        Ok(())
    }

    fn rewind(&mut self, to: RowId) -> Result<usize, JournalError> {
        let place = self.history.entries.iter().position(|entry| entry.row == to);
        let kept = place.unwrap_or(self.history.entries.len());
        let taken: Vec<Entry> = self.history.entries.drain(kept..).collect();
        let count = taken.len();
        self.rewound.push(taken);
        Ok(count)
    }

    fn unrewind(&mut self) -> Result<Option<History>, JournalError> {
        let newest = self.history.entries.last().map(|entry| entry.row);
        let went_on = |taken: &Vec<Entry>| newest >= taken.last().map(|entry| entry.row);
        let Some(taken) = self.rewound.pop_if(|taken| !went_on(taken)) else { return Ok(None) };
        self.history.entries.extend(taken);
        Ok(Some(self.history.clone()))
    }

    fn compact(&mut self, hidden: &[RowId], inserted: &[Message]) -> Result<History, JournalError> {
        let before = self.history.clone();
        let first = before.entries.iter().position(|entry| hidden.contains(&entry.row));
        let place = first.unwrap_or(before.entries.len());
        let mut entries: Vec<Entry> = before.entries[..place].to_vec();
        for message in inserted {
            let entry = self.entry(message, None, Timestamp::now());
            entries.push(entry);
        }
        entries.extend(before.entries[place..].iter().filter(|entry| !hidden.contains(&entry.row)).cloned());
        self.before_compaction.push(before);
        self.history = History { entries };
        Ok(self.history.clone())
    }

    fn uncompact(&mut self) -> Result<Option<History>, JournalError> {
        let Some(before) = self.before_compaction.pop() else { return Ok(None) };
        self.history = before;
        Ok(Some(self.history.clone()))
    }
}
