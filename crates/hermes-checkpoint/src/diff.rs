//! What is different in a directory since a snapshot.

use crate::checkpoints::{Checkpoints, Place};
use crate::error::CheckpointError;
use crate::object::ObjectId;

/// What is different.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Difference {
    /// Files and numbers of lines; empty when nothing is different.
    pub stat: String,
    /// The lines.
    pub patch: String,
}

impl Checkpoints {
    /// What is different in the directory since a snapshot. Nothing is changed and no snapshot made.
    pub fn diff(&self, place: &Place, id: ObjectId) -> Result<Difference, CheckpointError> {
        let desk = self.desk(place)?;
        let mut seen = desk.observe()?;
        // The directory as it is, as a commit nobody sees.
        let scratch = format!("refs/hermes-now/{}", desk.hash);
        let forget = || drop(std::fs::remove_file(self.store.dir.join(&scratch)));
        forget();
        let now = desk.import(&mut seen, "now", &scratch);
        forget();
        let (id, now) = (id.to_string(), now?.to_string());
        let common = ["-c", "core.quotePath=false", "diff", "--no-color", "--no-ext-diff", "--no-textconv"];
        let run = |format: &str| {
            let args = common.into_iter().chain([format, &id, &now, "--"]);
            let printed = self.run(args, "compare");
            printed.map(|text| String::from_utf8_lossy(&text).trim_end().to_owned())
        };
        Ok(Difference { stat: run("--stat")?, patch: run("--patch")? })
    }
}
