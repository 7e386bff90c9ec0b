//! What is written down about jobs, so that a later agent can tell what became of them.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::job::Job;
use super::log::Log;
use crate::proto::job::{JobInfo, JobState};
use crate::proto::wire::{Wire, wire_struct};
use crate::sys::proc;

wire_struct! {
    /// A job, and the agent it belongs to.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct Record {
        /// The version of this layout.
        pub version: u16,
        /// The agent's process.
        pub owner: i32,
        /// When that process started.
        pub owner_start: u64,
        /// What its processes carry.
        pub mark: u64,
        /// The job.
        pub info: JobInfo,
    }
}

const VERSION: u16 = 2;
const NAME: &str = "record";

/// A directory for a new job; none when it cannot be made.
pub(super) fn make_directory(parent: &Path, id: &str) -> Option<PathBuf> {
    let directory = parent.join(id);
    crate::server::private_directory(&directory).ok()?;
    Some(directory)
}

/// Writes down what is known about a job. When that fails, a later agent will not know it; this one does.
pub(super) fn save(job: &Job, info: JobInfo) {
    let Some(directory) = &job.directory else { return };
    let me = std::process::id() as i32;
    let owner_start = proc::look(me).map_or(0, |process| process.start);
    write(directory, &Record { version: VERSION, owner: me, owner_start, mark: job.mark, info });
}

fn write(directory: &Path, record: &Record) {
    let temporary = directory.join("record.new");
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(&temporary)
        .and_then(|mut file| file.write_all(&record.to_bytes()))
        .and_then(|()| fs::rename(&temporary, directory.join(NAME)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
}

/// Removes everything about a job.
pub(super) fn remove(job: &Job) {
    if let Some(directory) = &job.directory {
        let _ = fs::remove_dir_all(directory);
    }
}

/// The jobs that agents which are gone have left. Those of an agent that lives are its own.
pub(super) fn load(parent: &Path) -> Vec<Arc<Job>> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    entries.flatten().filter_map(|entry| load_one(&entry.path())).collect()
}

fn load_one(directory: &Path) -> Option<Arc<Job>> {
    let record = fs::read(directory.join(NAME)).ok().and_then(|bytes| Record::from_bytes(&bytes).ok());
    let Some(record) = record.filter(|record| record.version == VERSION) else {
        // Of an agent that ended before it could write anything down, or of a newer version: of no use once it is old.
        remove_if_old(directory);
        return None;
    };
    if proc::look(record.owner).is_some_and(|owner| owner.start == record.owner_start) {
        return None;
    }
    let mut record = record;
    if record.info.state == JobState::Running {
        record.info.state = JobState::Lost;
        // When it ended is not known. The time it was noticed is written down, so that the job is listed for as long as
        // one that ended then, however long ago it was started.
        record.info.ended_ms.get_or_insert(super::now_ms());
        write(directory, &record);
    }
    let mut info = record.info;
    info.stdin_open = false;
    let log = Log::reopen(directory).ok()?;
    Job::new(info, record.mark, log, Some(directory.to_path_buf())).ok()
}

fn remove_if_old(directory: &Path) {
    let age = fs::metadata(directory).and_then(|metadata| metadata.modified()).map(|time| time.elapsed());
    if matches!(age, Ok(Ok(age)) if age > std::time::Duration::from_hours(24)) {
        let _ = fs::remove_dir_all(directory);
    }
}
