//! What a place to run commands must be able to do: exist, be reached, and go away.

use hermes_box::client::Client;

use crate::error::SandboxError;
use crate::notice::{Lost, Notice};
use crate::seen::LostJob;

/// A kind of place. Everything else is the agent's business.
pub trait Backend: Send + Sync {
    /// Makes sure the place exists and runs.
    fn ensure(&self, trust: Trust, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError>;

    /// Opens a stream to the agent in it and says hello.
    fn connect(&self) -> Result<Client, SandboxError>;

    /// Lets go of the place.
    fn dispose(&self, how: Dispose) -> Result<(), SandboxError>;
}

/// How much of what we know is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// What is written down: nobody is asked if the agent answers.
    Records,
    /// What the engine or the other machine says now.
    Engine,
    /// Nothing: it is said to run, and its agent does not answer.
    Nothing,
}

/// The place as it was found or made.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ensured {
    /// What had to be done for it.
    pub happened: Happened,
    /// What a caller must be told.
    pub notices: Vec<Notice>,
}

/// What had to be done.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Happened {
    /// Nothing: it was there and ran.
    #[default]
    Nothing,
    /// It was made; earlier there was none.
    Created,
    /// It was there and had to be brought back or replaced.
    Revived {
        /// Why, in words.
        reason: String,
        /// What earlier commands left and is gone.
        lost: Option<Lost>,
    },
}

impl Happened {
    /// The notice a caller gets about lost state, with the jobs that are known to be among it.
    pub fn notice(&self, jobs: Vec<LostJob>) -> Option<Notice> {
        match self {
            Self::Revived { reason, lost: Some(lost) } => {
                Some(Notice::StateLost { reason: reason.clone(), lost: *lost, jobs })
            }
            _ => None,
        }
    }
}

/// How to let go of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dispose {
    /// As the settings say: a place that outlives processes is left alone.
    Release,
    /// For good, whatever the settings say.
    Remove,
}
