//! Helpers that work at the same time, and their results in the order of their tasks.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use hermes_tools::{Progress, Report};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::child::{Child, Kit, progress_line};
use super::family::Family;
use super::outcome::{Ended, Who, describe, seconds};
use super::record::Record;

/// Those who started them.
pub(super) struct Team {
    pub kit: Arc<Kit>,
    pub family: Family,
}

/// What is known of a helper while it works.
struct Known {
    who: Who,
    label: String,
    record: Arc<Mutex<Record>>,
}

impl Team {
    /// Lets helpers work and gives what came of it. Whatever happens to one of them is a result.
    pub async fn work(&self, children: Vec<Child>, progress: &Progress) -> Value {
        let started = Instant::now();
        let mut results = vec![Value::Null; children.len()];
        let (mut tasks, mut known) = (JoinSet::new(), HashMap::new());
        for child in children {
            let (who, label, record) = (child.who.clone(), child.label.clone(), Arc::clone(&child.record));
            let task = tasks.spawn(child.work(progress.clone()));
            known.insert(task.id(), Known { who, label, record });
        }
        while let Some(joined) = tasks.join_next_with_id().await {
            let (id, (report, stop)) = match joined {
                Ok(ended) => ended,
                Err(broken) => {
                    tracing::error!(%broken, "a helper broke");
                    (broken.id(), (None, None))
                }
            };
            let Some(helper) = known.remove(&id) else { continue };
            let ended = Ended { report, stop, elapsed: started.elapsed(), left_running: 0 };
            let place = helper.who.place;
            results[place] = self.finish(&helper, ended, progress).await;
        }
        json!({"results": results, "total_duration_seconds": seconds(started.elapsed())})
    }

    async fn finish(&self, helper: &Known, mut ended: Ended, progress: &Progress) -> Value {
        self.kit.tidy_up(&helper.who.session, &mut ended).await;
        let record = helper.record.lock().unwrap_or_else(PoisonError::into_inner);
        self.family.spend(record.spending());
        let (status, _) = ended.status();
        let line =
            format!("{status}: {} model calls, {} tool calls", record.spending().calls, record.tool_calls());
        progress.tell(Report::Output(progress_line(&helper.label, ended.elapsed, &line)));
        describe(&helper.who, &ended, &record, &self.kit.limits, &self.family)
    }
}
