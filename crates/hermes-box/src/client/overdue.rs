//! What to think of an agent whose answer should have come by now.
//!
//! Its own clock ends a command in time, so one that is overdue means a slow agent or one that does not run at all (a paused container,
//! a stopped process, a machine that is gone). A question that any living agent answers at once tells the two apart.

use std::time::{Duration, Instant};

use super::Client;
use super::error::CallError;
use super::pending::Pending;
use crate::proto::call;
use crate::proto::info::Info;

/// How long a command may be overdue before the agent is asked.
const OVERDUE: Duration = Duration::from_secs(1);
/// How long an agent may take to answer. Even on a very busy machine this takes a fraction of it.
const ANSWER: Duration = Duration::from_secs(3);
/// How long an answer may be overdue in all, though the agent is well: searching a large tree and ending many processes take their time.
const PATIENCE: Duration = Duration::from_mins(3);

/// Watches over a call whose answer is expected by some time.
pub(super) struct Overdue {
    began: Instant,
    /// When the agent was first asked.
    asked: Option<Instant>,
    step: Step,
}

enum Step {
    /// Nothing is wrong until then.
    Waiting(Instant),
    /// The agent was asked and must answer until then.
    Asked(Pending<Info>, Instant),
}

impl Overdue {
    /// The answer should come within `limit` from now.
    pub(super) fn new(limit: Duration) -> Self {
        let began = Instant::now();
        Self { began, asked: None, step: Step::Waiting(began + limit + OVERDUE) }
    }

    /// When to look at it.
    pub(super) fn next_look(&self) -> Instant {
        match &self.step {
            Step::Waiting(until) | Step::Asked(_, until) => *until,
        }
    }

    /// Looks at it, when it is time to. An error means that the agent is not to be waited for any longer.
    pub(super) fn look(&mut self, client: &Client) -> Result<(), Duration> {
        let now = Instant::now();
        if now < self.next_look() {
            return Ok(());
        }
        let since = now - self.began;
        if now >= *self.asked.get_or_insert(now) + PATIENCE {
            return Err(since);
        }
        self.step = match &self.step {
            Step::Waiting(_) => {
                let asked: Result<_, CallError> = client.begin(call::info());
                // A connection that is lost shows in the command's own call.
                asked.map_or(Step::Waiting(now + ANSWER), |pending| Step::Asked(pending, now + ANSWER))
            }
            Step::Asked(pending, _) if pending.is_answered() => Step::Waiting(now + ANSWER),
            Step::Asked(..) => return Err(since),
        };
        Ok(())
    }
}
