//! What a job that is over has left running: counted, signalled and ended for as long as anything of it lives.
//!
//! Usually its shim is still there and watches over it. A shim that was killed, or that belonged to an agent that is gone, does not; then
//! the mark its processes carry tells which they are.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::Agent;
use super::job::Job;
use crate::link::outbox::Wake;
use crate::proto::fault::Fault;
use crate::proto::job::{JobInfo, JobState};
use crate::server::call::CallContext;
use crate::sys::mark;
use crate::sys::proc::{self, Process};

/// How long what was killed may take to be gone, beyond the grace. A shim waits less long for processes that do not die.
const PATIENCE: Duration = Duration::from_secs(8);
/// How often to look at processes that nobody watches over.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

impl Agent {
    /// All jobs, oldest first, with what is left of them.
    pub(crate) fn list_jobs(&self) -> Vec<JobInfo> {
        let jobs = self.jobs.all();
        let processes =
            if jobs.iter().any(|job| may_have_left(&job.info())) { proc::all() } else { Vec::new() };
        jobs.iter().map(|job| self.info_among(job, &processes)).collect()
    }

    /// What is known about a job, with what is left of it.
    pub(crate) fn job_info(&self, job: &Job) -> JobInfo {
        let processes = if may_have_left(&job.info()) { proc::all() } else { Vec::new() };
        self.info_among(job, &processes)
    }

    fn info_among(&self, job: &Job, processes: &[Process]) -> JobInfo {
        let mut info = job.info();
        if may_have_left(&info) {
            info.left_running = self.remains(job, processes).len() as u32;
        }
        info
    }

    /// Sends a signal to everything a job has left.
    pub(super) fn signal_remains(&self, job: &Job, number: i32) -> Result<(), Fault> {
        let remains = self.remains(job, &proc::all());
        if remains.is_empty() {
            return Err(Fault::JobOver(job.id.clone()));
        }
        if let Some(signal) = Signal::from_named_raw(number) {
            signal_all(&remains, signal);
        }
        Ok(())
    }

    /// Ends everything a job has left.
    pub(super) fn end_remains(&self, context: &Arc<CallContext>, job: &Job, grace: Duration) {
        if !may_have_left(&job.info()) {
            return;
        }
        let watched = self.left.has_job(&job.id);
        if watched {
            let listener: Arc<dyn Wake> = Arc::clone(context) as Arc<dyn Wake>;
            self.left.end_job(&job.id, grace, &listener);
            let deadline = Instant::now() + grace + PATIENCE;
            context.wait_while(Some(deadline), || self.left.has_job(&job.id) && !context.is_abandoned());
        }
        // Whatever a shim did not end has been asked already.
        let mut asked = watched;
        let kill_from = Instant::now() + if watched { Duration::ZERO } else { grace };
        let deadline = kill_from + PATIENCE;
        while Instant::now() < deadline && !context.is_abandoned() {
            let seen = context.happenings();
            let remains = mark::all_carriers(job.mark);
            if remains.is_empty() {
                // Nobody has to look again.
                job.update(|info| info.left_running = 0);
                return;
            }
            if Instant::now() >= kill_from {
                signal_all(&remains, Signal::KILL);
            } else if !asked {
                asked = true;
                signal_all(&remains, Signal::TERM);
                signal_all(&remains, Signal::CONT);
            }
            context.wait_past(seen, Some(Instant::now() + LOOK_AGAIN));
        }
    }

    fn remains(&self, job: &Job, processes: &[Process]) -> Vec<Process> {
        let mut remains = self.left.of_job(&job.id, processes);
        let marked = mark::carriers(job.mark, processes);
        remains.extend(marked.into_iter().filter(|process| !remains.contains(process)).collect::<Vec<_>>());
        remains
    }
}

/// Whether anything may be left of it: one that ended with nothing left has nothing to look for.
fn may_have_left(info: &JobInfo) -> bool {
    match info.state {
        JobState::Running => false,
        JobState::Ended { .. } => info.left_running > 0,
        JobState::Lost => true,
    }
}

fn signal_all(processes: &[Process], signal: Signal) {
    for process in processes {
        // It may have ended meanwhile.
        let _ = proc::signal(process, signal);
    }
}
