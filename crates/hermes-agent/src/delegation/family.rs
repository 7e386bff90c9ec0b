//! What an agent and its helpers have in common: whose budget is spent, which models are asked, what was read, and who
//! still works in the background.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hermes_model::{Caller, Effort};
use hermes_tools::Sharing;
use hermes_tools::tool::Access;

use super::background::Batch;
use crate::report::Spending;

/// Files that are remembered as read; a conversation that reads more has other worries.
const MOST_READ: usize = 4096;

/// On whose account model calls go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// The session whose budget is spent.
    pub session: String,
    /// The turn whose budget is spent.
    pub turn: String,
}

/// What helpers take over from the agent that starts them.
#[derive(Debug)]
pub(super) struct Heritage {
    /// On whose account they spend.
    pub account: Account,
    /// The models they ask.
    pub caller: Caller,
    /// How much they think.
    pub effort: Option<Effort>,
}

/// Shared by an agent and the tool that starts its helpers. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Family(Arc<Inner>);

#[derive(Default)]
struct Inner {
    /// Fixed for a helper: what it spends is what its agent spends.
    account: Option<Account>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    heritage: Option<Heritage>,
    read: BTreeSet<PathBuf>,
    /// What helpers took that no turn has counted yet.
    spent: Spending,
    batches: Vec<Batch>,
    started: u32,
}

impl Family {
    /// The family of a helper: everything is spent on this account.
    pub fn of_helper(account: Account) -> Self {
        Self(Arc::new(Inner { account: Some(account), state: Mutex::default() }))
    }

    /// On whose account a call of this session and turn goes.
    pub fn account(&self, session: &str, turn: &str) -> Account {
        let own = || Account { session: session.to_owned(), turn: turn.to_owned() };
        self.0.account.clone().unwrap_or_else(own)
    }

    /// A turn begins: helpers it starts ask these models, on its account.
    pub(crate) fn begin_turn(&self, session: &str, turn: &str, caller: &Caller, effort: Option<Effort>) {
        let account = self.account(session, turn);
        self.lock().heritage = Some(Heritage { account, caller: caller.sibling(), effort });
    }

    /// What a helper that is started now takes over.
    pub(super) fn heritage(&self) -> Option<Heritage> {
        let state = self.lock();
        let known = state.heritage.as_ref()?;
        let (account, caller) = (known.account.clone(), known.caller.sibling());
        Some(Heritage { account, caller, effort: known.effort })
    }

    /// Remembers what a call has read.
    pub(crate) fn saw(&self, sharing: &Sharing) {
        if let Sharing::Files { paths, access: Access::Read } = sharing {
            let mut state = self.lock();
            if state.read.len() < MOST_READ {
                state.read.extend(paths.iter().cloned());
            }
        }
    }

    /// Whether the agent has read this file, as far as this process knows.
    pub(super) fn has_read(&self, path: &Path) -> bool {
        self.lock().read.contains(path)
    }

    /// A helper took this.
    pub(super) fn spend(&self, spending: Spending) {
        let mut state = self.lock();
        state.spent = state.spent + spending;
    }

    /// What helpers took since the last time.
    pub(crate) fn take_spent(&self) -> Option<Spending> {
        let spent = std::mem::take(&mut self.lock().spent);
        (spent != Spending::default()).then_some(spent)
    }

    /// Helpers that work in the background now.
    pub fn running(&self) -> usize {
        self.lock().batches.iter().filter(|batch| !batch.is_over()).map(Batch::helpers).sum()
    }

    /// Who works in the background, a line each for people.
    pub fn list(&self) -> Vec<String> {
        self.lock().batches.iter().filter(|batch| !batch.is_over()).flat_map(Batch::lines).collect()
    }

    /// Tells all helpers in the background to end; how many there were.
    pub fn cancel(&self) -> usize {
        let running = self.running();
        for batch in &self.lock().batches {
            batch.cancel();
        }
        running
    }

    /// Ends all helpers in the background and waits until what they did is on record.
    pub(crate) async fn close(&self) {
        if self.cancel() == 0 {
            return;
        }
        let batches = self.lock().batches.clone();
        for batch in batches {
            batch.ended().await;
        }
    }

    pub(super) fn batches(&self) -> Vec<Batch> {
        self.lock().batches.clone()
    }

    /// Keeps track of a batch, and gives the name it has.
    pub(super) fn add(&self, make: impl FnOnce(String) -> Batch) -> Batch {
        /// Ended ones that are still listed.
        const KEPT: usize = 32;
        let mut state = self.lock();
        state.started += 1;
        let batch = make(format!("deleg_{}", state.started));
        if state.batches.len() >= KEPT
            && let Some(oldest) = state.batches.iter().position(Batch::is_over)
        {
            state.batches.remove(oldest);
        }
        state.batches.push(batch.clone());
        batch
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Family {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Family").field("account", &self.0.account).finish_non_exhaustive()
    }
}
