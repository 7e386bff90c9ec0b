//! Jobs: commands that belong to the agent.

mod job;
mod log;
mod records;
mod remains;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use super::Agent;
use super::call::CallContext;
use super::exec::drive::Timing;
use super::exec::prepare::{Attendance, Order, Prepared, Unprepared};
use super::exec::{cannot_start, describe, ending};
use super::options::Limits;
use super::shell::script::Saving;
use crate::link::lock;
use crate::link::outbox::Wake;
use crate::proto::exec::{Control, Ending, Notice, Status, Stdin, StreamId, Streams, Target};
use crate::proto::fault::Fault;
use crate::proto::job::{JobInfo, JobRequest, JobState};
use crate::proto::message::Channel;
use job::{Job, Owner};
use log::Log;

/// The most bytes of output in one answer.
const MAX_READ: usize = 1024 * 1024;
/// What one step of following sends.
const FOLLOW_STEP: usize = 64 * 1024;
/// Labels and their length.
const MAX_LABELS: usize = 32;
const MAX_LABEL: usize = 1024;

/// The jobs of an agent, oldest first.
pub(crate) struct Jobs {
    directory: Option<PathBuf>,
    limits: Limits,
    table: Mutex<BTreeMap<(i64, String), Arc<Job>>>,
}

impl Jobs {
    /// Takes up what earlier agents left in `directory`.
    pub(crate) fn new(directory: Option<PathBuf>, limits: Limits) -> Self {
        let found = directory.iter().flat_map(|directory| records::load(directory));
        let table = found.map(|job| ((job.info().started_ms, job.id.clone()), job)).collect();
        let jobs = Self { directory, limits, table: Mutex::new(table) };
        jobs.prune(now_ms());
        jobs
    }

    pub(crate) fn get(&self, id: &str) -> Result<Arc<Job>, Fault> {
        let table = lock(&self.table);
        let found = table.values().find(|job| job.id == id);
        found.cloned().ok_or_else(|| Fault::NoSuchJob(id.into()))
    }

    /// All of them, after those that are too old or too many are forgotten.
    fn all(&self) -> Vec<Arc<Job>> {
        self.prune(now_ms());
        lock(&self.table).values().cloned().collect()
    }

    /// How many run and how many are over.
    pub(crate) fn count(&self) -> (usize, usize) {
        let table = lock(&self.table);
        let running = table.values().filter(|job| job.is_running()).count();
        (running, table.len() - running)
    }

    /// Forgets a job that is over.
    pub(crate) fn forget(&self, id: &str) -> Result<(), Fault> {
        let job = self.get(id)?;
        if job.is_running() {
            return Err(Fault::JobRunning(id.into()));
        }
        lock(&self.table).retain(|_, known| known.id != id);
        records::remove(&job);
        Ok(())
    }

    pub(crate) fn kill_all(&self, grace: Duration) {
        for job in lock(&self.table).values() {
            job.kill(grace);
        }
    }

    fn add(&self, job: &Arc<Job>) -> Result<(), Fault> {
        let running = self.count().0;
        if running >= self.limits.running_jobs {
            return Err(Fault::Exhausted(format!("{running} jobs run already")));
        }
        lock(&self.table).insert((job.info().started_ms, job.id.clone()), Arc::clone(job));
        Ok(())
    }

    /// Forgets ended jobs that are too old or too many.
    fn prune(&self, now: i64) {
        let mut table = lock(&self.table);
        let ended: Vec<_> =
            table.iter().filter_map(|(key, job)| Some((job.info().ended_ms?, key.clone()))).collect();
        for key in superfluous(ended, now, &self.limits) {
            if let Some(job) = table.remove(&key) {
                records::remove(&job);
            }
        }
    }
}

/// Which of the ended jobs have to go.
fn superfluous<K>(mut ended: Vec<(i64, K)>, now: i64, limits: &Limits) -> Vec<K> {
    ended.sort_by_key(|(ended, _)| std::cmp::Reverse(*ended));
    let oldest = now.saturating_sub(limits.job_age.as_millis() as i64);
    let kept = ended.iter().take(limits.ended_jobs).take_while(|(ended, _)| *ended >= oldest).count();
    ended.into_iter().skip(kept).map(|(_, key)| key).collect()
}

impl Agent {
    /// Starts a job; returns when its process runs or cannot be started.
    pub(crate) fn start_job(
        self: &Arc<Self>,
        context: &Arc<CallContext>,
        request: JobRequest,
    ) -> Result<JobInfo, Fault> {
        check(&request)?;
        let order = Order {
            session: request.session.as_deref(),
            program: &request.program,
            cwd: request.cwd.as_deref(),
            env: &request.env,
            init: &request.init,
            stdin: request.stdin.clone(),
            streams: Streams::Merged,
            pty: request.pty,
            saving: Saving::Off,
            announce: true,
        };
        let attendance = Attendance { context, deadline: None };
        let prepared = self.prepare(&order, &attendance).map_err(|why| match why {
            Unprepared::Fault(fault) => fault,
            Unprepared::Over(_) => Fault::Cancelled,
        })?;
        let id = format!("proc_{:012x}", super::random_number() & 0xffff_ffff_ffff);
        let directory = self.jobs.directory.as_ref().and_then(|parent| records::make_directory(parent, &id));
        let info = JobInfo {
            id,
            command: describe(&request.program),
            labels: request.labels.clone(),
            session: request.session.clone(),
            cwd: prepared.launch.start.cwd.clone(),
            pid: 0,
            started_ms: now_ms(),
            ended_ms: None,
            state: JobState::Running,
            pty: request.pty.is_some(),
            stdin_open: request.stdin == Stdin::Stream || request.pty.is_some(),
            output_end: 0,
            output_dropped: 0,
            left_running: 0,
            notices: prepared.notices.clone(),
        };
        let log = Log::create(directory.as_deref(), request.log);
        let mark = prepared.launch.start.mark;
        let job = Job::new(info, mark, log, directory).map_err(|error| cannot_start(&error))?;
        self.jobs.add(&job).inspect_err(|_| records::remove(&job))?;
        records::save(&job, job.info());
        let listener: Arc<dyn Wake> = Arc::clone(context) as Arc<dyn Wake>;
        job.listen(Arc::clone(&listener));
        self.spawn_job(&job, prepared, request);
        context.wait_while(None, || !job.is_settled());
        job.stop_listening(&listener);
        Ok(job.info())
    }

    fn spawn_job(self: &Arc<Self>, job: &Arc<Job>, prepared: Prepared, request: JobRequest) {
        let (agent, ours) = (Arc::clone(self), Arc::clone(job));
        let work = move || {
            {
                let _busy = agent.activity.begin();
                agent.run_job(&ours, &prepared, &request);
            }
            agent.activity.changes.note();
        };
        let spawned = std::thread::Builder::new().name("box-job".into()).stack_size(256 * 1024).spawn(work);
        if let Err(error) = spawned {
            self.job_failed(job, &error);
        }
    }

    fn run_job(&self, job: &Job, prepared: &Prepared, request: &JobRequest) {
        let cwd = prepared.launch.start.cwd.clone();
        let timing =
            Timing { timeout: request.timeout, grace: self.options.grace, linger: self.options.linger };
        let (process, outcome) = match self.run_process(&prepared.launch, timing, &mut Owner(job)) {
            Ok(over) => over,
            Err(error) => return self.job_failed(job, &error),
        };
        // Before anybody knows that it is over: whoever does may want to end what it left.
        let words = describe(&request.program);
        self.settle(process, &outcome, request.session.as_deref(), &words, Some(&job.id));
        let ending = ending(&outcome, &cwd, &request.program);
        // Nobody asked for this job's end: it went down with its agent.
        let lost = ending == Ending::Cancelled && self.is_leaving();
        finish(job, |info| {
            info.state = if lost {
                JobState::Lost
            } else {
                JobState::Ended { ending: ending.clone(), status: outcome.status }
            };
            info.left_running = outcome.left;
            if outcome.unkillable > 0 {
                info.notices.push(Notice::Unkillable(outcome.unkillable));
            }
        });
    }

    fn job_failed(&self, job: &Job, error: &std::io::Error) {
        let ending = Ending::NotStarted {
            program: "the command".into(),
            errno: error.raw_os_error().unwrap_or(libc::EIO),
            reason: error.to_string(),
        };
        finish(job, |info| {
            info.state = JobState::Ended { ending: ending.clone(), status: Status::Unknown };
        });
        self.activity.changes.note();
    }

    /// Sends a job's output as it comes, until its end.
    pub(crate) fn follow_job(
        &self,
        context: &Arc<CallContext>,
        id: &str,
        mut offset: u64,
    ) -> Result<JobInfo, Fault> {
        let job = self.jobs.get(id)?;
        let listener: Arc<dyn Wake> = Arc::clone(context) as Arc<dyn Wake>;
        job.listen(Arc::clone(&listener));
        let result = loop {
            if context.is_abandoned() {
                break Err(Fault::Cancelled);
            }
            let seen = context.happenings();
            let piece = job.read(offset, FOLLOW_STEP);
            offset = piece.next;
            if !piece.bytes.is_empty() {
                if context.send_all(Channel::Output(StreamId::Stdout), &piece.bytes).is_err() {
                    break Err(Fault::Cancelled);
                }
            } else if piece.running {
                context.wait_past(seen, None);
            } else {
                break Ok(job.info());
            }
        };
        job.stop_listening(&listener);
        result
    }

    /// Waits for a job's end.
    pub(crate) fn wait_job(
        context: &Arc<CallContext>,
        job: &Job,
        timeout: Option<Duration>,
    ) -> Result<JobInfo, Fault> {
        let deadline = timeout.map(|timeout| Instant::now() + timeout);
        let listener: Arc<dyn Wake> = Arc::clone(context) as Arc<dyn Wake>;
        job.listen(Arc::clone(&listener));
        context.wait_while(deadline, || job.is_running() && !context.is_abandoned());
        job.stop_listening(&listener);
        if context.is_abandoned() { Err(Fault::Cancelled) } else { Ok(job.info()) }
    }

    /// Ends a job and everything it started, and waits for that to be over. One that is over already may have left something running.
    pub(crate) fn kill_job(
        &self,
        context: &Arc<CallContext>,
        id: &str,
        grace: Option<Duration>,
    ) -> Result<JobInfo, Fault> {
        let job = self.jobs.get(id)?;
        let grace = grace.unwrap_or(self.options.grace);
        job.kill(grace);
        Self::wait_job(context, &job, None)?;
        self.end_remains(context, &job, grace);
        Ok(self.job_info(&job))
    }

    /// A piece of a job's output.
    pub(crate) fn read_job(
        &self,
        id: &str,
        offset: u64,
        max: u32,
    ) -> Result<crate::proto::job::JobOutput, Fault> {
        Ok(self.jobs.get(id)?.read(offset, (max as usize).min(MAX_READ)))
    }

    /// A signal, or a new size of the terminal.
    pub(crate) fn steer_job(&self, id: &str, control: Control) -> Result<(), Fault> {
        let job = self.jobs.get(id)?;
        match (job.control(control), control) {
            (Err(Fault::JobOver(_)), Control::Signal { number, target: Target::Tree }) => {
                self.signal_remains(&job, number)
            }
            (result, _) => result,
        }
    }
}

/// Writes down how a job ended before anybody can know it: whoever does may forget the job at once.
fn finish(job: &Job, change: impl Fn(&mut JobInfo)) {
    let ended = now_ms();
    let change = |info: &mut JobInfo| {
        info.ended_ms = Some(ended);
        change(info);
    };
    let mut info = job.info();
    change(&mut info);
    records::save(job, info);
    job.update(change);
}

fn check(request: &JobRequest) -> Result<(), Fault> {
    let long = |(name, value): &(String, String)| name.len() + value.len() > MAX_LABEL;
    if request.labels.len() > MAX_LABELS || request.labels.iter().any(long) {
        return Err(Fault::Invalid(format!("a job has at most {MAX_LABELS} labels of {MAX_LABEL} bytes")));
    }
    Ok(())
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_jobs_are_kept_within_number_and_age() {
        let limits = Limits { ended_jobs: 3, job_age: Duration::from_millis(100), ..Limits::default() };
        let ended = vec![(950, 'a'), (1000, 'b'), (990, 'c'), (980, 'd'), (850, 'e')];
        assert_eq!(superfluous(ended, 1000, &limits), ['a', 'e']);
        assert_eq!(superfluous(vec![(850, 'x'), (950, 'y')], 1000, &limits), ['x']);
    }
}
