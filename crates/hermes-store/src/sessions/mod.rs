//! The sessions of a home: `state.db`, shared with another program that reads and writes the same tables.
//!
//! What the tables are called and what their columns mean is fixed by that program. What only we need is in tables whose
//! names start with `hermes_rs_`; they are made when first needed, and nobody misses them when they are gone.

mod compact;
mod create;
mod delete;
mod error;
mod export;
mod find;
mod ids;
mod indexing;
mod insights;
mod layout;
mod ledger;
mod list;
mod locks;
mod marks;
mod message;
mod messages;
mod meta;
mod own;
mod repair;
mod rewind;
mod row;
mod search;
mod state;
mod stats;
mod titles;
mod upgrade;
mod usage;

use std::path::Path;

pub use compact::{Compaction, Uncompaction};
pub use create::NewSession;
pub use delete::Pruned;
pub use error::SessionError;
pub use find::Resume;
pub use ids::{MessageId, SessionId};
pub use insights::{DayTotals, Insights, Totals};
pub use ledger::{Spend, SpendEntry, SpendSpan};
pub use list::{Archived, Children, ListFilter, Order};
pub use marks::Kind;
pub use message::{Body, NewMessage, Role, Standing, StoredMessage};
pub use messages::{Around, View};
pub use repair::{Health, Repaired};
pub use rewind::Rewound;
pub use row::SessionRow;
pub use search::{Anchored, Excerpt, Hit, Line, SearchQuery, Sort};
pub use stats::{SourceCount, Stats};
pub use titles::{Clash, MAX_TITLE, clean_title};
pub use usage::{ModelUsage, UsageDelta};

use crate::{Database, OpenMode, Warning};

/// How many prepared statements are kept: more than the store has for one turn of a conversation.
const STATEMENTS: usize = 64;

/// The sessions of one `state.db`, through one connection. For one thread at a time; open another for a second thread.
///
/// Opening reads the definitions of the tables and nothing else, so it takes as long with a hundred thousand messages
/// as with none.
#[derive(Debug)]
pub struct SessionStore {
    db: Database,
    /// Messages may wait to be indexed.
    unindexed: bool,
}

impl SessionStore {
    /// Opens `state.db`, making it if there is none and completing it if an older program made it.
    pub fn open(path: &Path) -> Result<Self, SessionError> {
        Self::with_mode(path, OpenMode::Create)
    }

    /// Opens a `state.db` that exists, to look only. Makes and changes no file.
    pub fn open_read_only(path: &Path) -> Result<Self, SessionError> {
        Self::with_mode(path, OpenMode::ReadOnly)
    }

    fn with_mode(path: &Path, mode: OpenMode) -> Result<Self, SessionError> {
        let db = Database::open(path, mode, &upgrade::StateSchema)?;
        db.connection.set_prepared_statement_cache_capacity(STATEMENTS);
        let connection = &db.connection;
        if db.is_writable() {
            indexing::take_over(connection)
                .map_err(|source| crate::Error::explain(db.path(), "open", source))?;
        }
        Ok(Self { db, unindexed: false })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        self.db.path()
    }

    /// What is not as it should be with the file, to be shown once.
    pub fn warning(&self) -> Option<&Warning> {
        self.db.warning()
    }

    /// Changes whenever another connection has written.
    pub fn data_version(&mut self) -> Result<i64, SessionError> {
        Ok(self.db.data_version()?)
    }
}

#[cfg(test)]
mod tests;
