//! Helpers that work while the conversation goes on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::outcome::seconds;
use super::record::Record;

/// How long whoever ends helpers waits for what they have to say.
const PATIENCE: Duration = Duration::from_secs(14);

/// Helpers that were started together. Cheap to clone; all clones are one.
#[derive(Clone)]
pub(super) struct Batch(Arc<Inner>);

struct Inner {
    id: String,
    goals: Vec<String>,
    records: Vec<Arc<Mutex<Record>>>,
    cancel: CancellationToken,
    result: watch::Sender<Option<Value>>,
    started: Instant,
}

impl Batch {
    pub fn new(
        id: String,
        goals: Vec<String>,
        records: Vec<Arc<Mutex<Record>>>,
        cancel: CancellationToken,
        started: Instant,
    ) -> Self {
        let result = watch::Sender::new(None);
        Self(Arc::new(Inner { id, goals, records, cancel, result, started }))
    }

    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// What it is about, in a line.
    pub fn brief(&self) -> String {
        self.0.goals.join("; ")
    }

    pub fn helpers(&self) -> usize {
        self.0.goals.len()
    }

    pub fn is_over(&self) -> bool {
        self.0.result.borrow().is_some()
    }

    pub fn cancel(&self) {
        self.0.cancel.cancel();
    }

    /// It is over; this came of it.
    pub fn finish(&self, result: Value) {
        self.0.result.send_replace(Some(result));
    }

    /// Waits for its end, but not for ever once it was told to end.
    pub async fn ended(&self) -> Option<Value> {
        let mut result = self.0.result.subscribe();
        let late = async {
            self.0.cancel.cancelled().await;
            tokio::time::sleep(PATIENCE).await;
        };
        tokio::select! {
            biased;
            result = result.wait_for(Option::is_some) => result.ok().and_then(|result| result.clone()),
            () = late => None,
        }
    }

    /// A line for each helper.
    pub fn lines(&self) -> Vec<String> {
        let elapsed = self.0.started.elapsed().as_secs();
        let line = |(goal, record): (&String, &Arc<Mutex<Record>>)| {
            let doing = record.lock().unwrap_or_else(PoisonError::into_inner).doing();
            format!("{elapsed} s: helper {} \"{goal}\": {doing}", self.0.id)
        };
        self.0.goals.iter().zip(&self.0.records).map(line).collect()
    }

    /// How it goes.
    pub fn status(&self) -> Value {
        if let Some(result) = self.0.result.borrow().as_ref() {
            return json!({"id": self.0.id, "state": "over", "result": result});
        }
        let helper = |(goal, record): (&String, &Arc<Mutex<Record>>)| {
            let record = record.lock().unwrap_or_else(PoisonError::into_inner);
            let spending = record.spending();
            json!({
                "goal": goal,
                "doing": record.doing(),
                "api_calls": spending.calls,
                "tool_calls": record.tool_calls(),
                "tokens": spending.tokens(),
            })
        };
        json!({
            "id": self.0.id,
            "state": "running",
            "elapsed_seconds": seconds(self.0.started.elapsed()),
            "helpers": self.0.goals.iter().zip(&self.0.records).map(helper).collect::<Vec<_>>(),
        })
    }
}
