//! The agent: serves clients over byte streams.

mod activity;
mod call;
pub(crate) mod conn;
mod directory;
mod dispatch;
mod exec;
mod files;
mod jobs;
mod left;
mod options;
mod search;
mod shell;

use std::ffi::OsStr;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant, SystemTime};

pub(crate) use directory::private as private_directory;
pub use options::{AgentOptions, Limits, Reaping, ShimProgram};

use crate::link::lock;
use crate::link::transport::Transport;
use crate::link::workers::Workers;
use crate::proto::exec::Control;
use crate::proto::fault::Fault;
use crate::proto::info::Info;
use crate::proto::{hello, info::SessionInfo};
use crate::sys::{mark, proc};
use activity::Activity;
use call::CallContext;
use conn::Visitor;
use directory::Directory;
use exec::drive::Outcome;
use exec::shims::Shims;
use exec::spill::Spills;
use jobs::Jobs;
use left::Left;
use shell::find::{self, Shell};
use shell::store::Sessions;

/// How long commands may take to end beyond their grace when the agent leaves.
const LAST_PATIENCE: Duration = Duration::from_secs(5);

/// How long to go on killing what a lost command has left behind.
const ORPHAN_PATIENCE: Duration = Duration::from_secs(2);

/// An agent: sessions, jobs and files, for any number of clients.
pub struct Agent {
    pub(crate) options: AgentOptions,
    pub(crate) instance: u64,
    pub(crate) shell: Option<Shell>,
    pub(crate) sessions: Sessions,
    pub(crate) spills: Spills,
    pub(crate) workers: Workers,
    pub(crate) shims: Shims,
    pub(crate) left: Left,
    pub(crate) jobs: Jobs,
    pub(crate) activity: Activity,
    directory: Directory,
    problems: Vec<String>,
    umask: Option<u32>,
    callers: Mutex<Vec<Weak<CallContext>>>,
    departure: Mutex<Departure>,
}

/// How far an agent is on its way out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Departure {
    No,
    Leaving,
    Gone,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("instance", &self.instance).finish_non_exhaustive()
    }
}

impl Agent {
    /// Makes an agent ready. What does not work here is told by [`Info::problems`], not as an error: a box without a writable
    /// directory or without a shell is still of use.
    pub fn new(mut options: AgentOptions) -> Arc<Self> {
        let (directory, problem) = Directory::prepare(options.directory.as_deref());
        options.env.remove(OsStr::new("PWD"));
        let variable = |name: &str| options.env.get(OsStr::new(name)).map(std::ffi::OsString::as_os_str);
        let found = || find::find(variable("PATH"), variable("SHELL"));
        let shell = options.shell.as_deref().map(find::given).or_else(found);
        let instance = random_number();
        let limits = &options.limits;
        Arc::new(Self {
            instance,
            shell,
            sessions: Sessions::new(directory.sessions(), SystemTime::now()),
            spills: Spills::new(directory.output(), limits.spill_bytes, limits.spill_age, instance),
            workers: Workers::default(),
            shims: Shims::new(options.shim.clone(), options.reaping),
            left: Left::default(),
            jobs: Jobs::new(directory.jobs(), limits.clone()),
            activity: Activity::new(Instant::now()),
            directory,
            problems: problem.into_iter().collect(),
            umask: umask(),
            callers: Mutex::default(),
            departure: Mutex::new(Departure::No),
            options,
        })
    }

    /// Serves one client over a stream, on this thread, until the stream ends.
    pub fn serve(self: &Arc<Self>, transport: Transport) {
        conn::serve(self, transport, Visitor::trusted());
    }

    /// What there is to know about it.
    pub(crate) fn info(&self) -> Info {
        let now = Instant::now();
        let (running, ended) = self.jobs.count();
        Info {
            version: hello::VERSION.into(),
            build: hello::BUILD.into(),
            pid: std::process::id(),
            instance: self.instance,
            uptime_ms: millis(self.activity.uptime(now)),
            clients: self.activity.clients.load(Ordering::SeqCst),
            calls: self.activity.calls(),
            jobs_running: running as u32,
            jobs_ended: ended as u32,
            idle_ms: millis(self.activity.idle(now)),
            commands: self.activity.commands.load(Ordering::SeqCst),
            file_operations: self.activity.file_operations.load(Ordering::SeqCst),
            left_running: self.left.list(),
            shell: Shell::kind(self.shell.as_ref()),
            directory: self.directory.root().map(Into::into),
            problems: self.problems.clone(),
        }
    }

    pub(crate) fn session_info(&self, name: &str) -> Result<SessionInfo, Fault> {
        let state = self.sessions.get(name)?.state();
        let cwd = state.as_ref().map_or_else(|| self.options.cwd.clone(), |state| state.cwd.clone());
        let started = state.is_some();
        let env =
            state.map_or_else(|| self.options.env.clone(), |state| state.environment(&self.options.env, &[]));
        let variables = env.keys().map(|name| name.to_string_lossy().into_owned()).collect();
        Ok(SessionInfo { cwd, variables, started })
    }

    pub(crate) fn is_leaving(&self) -> bool {
        *lock(&self.departure) != Departure::No
    }

    /// Ends every command and every job, and takes no more. Returns when they are gone, or do not go.
    pub(crate) fn shut_down(&self) {
        {
            let mut departure = lock(&self.departure);
            if *departure != Departure::No {
                drop(departure);
                return self.wait_shut_down();
            }
            *departure = Departure::Leaving;
        }
        self.activity.changes.note();
        for caller in lock(&self.callers).drain(..).filter_map(|caller| caller.upgrade()) {
            caller.control(Control::Cancel);
        }
        self.jobs.kill_all(self.options.grace);
        self.left.end(None, self.options.grace);
        let deadline = Instant::now() + self.options.grace + LAST_PATIENCE;
        self.activity.calls_ended.wait_until(Some(deadline), || self.activity.calls() == 0);
        self.shims.dismiss();
        *lock(&self.departure) = Departure::Gone;
        self.activity.changes.note();
    }

    /// Waits for somebody else's [`Self::shut_down`].
    pub(crate) fn wait_shut_down(&self) {
        self.activity.changes.wait_until(None, || *lock(&self.departure) == Departure::Gone);
    }

    /// Commands of this call are to be ended when the agent leaves.
    pub(crate) fn enlist(&self, context: &Arc<CallContext>) -> Result<(), Fault> {
        let mut callers = lock(&self.callers);
        if self.is_leaving() {
            return Err(Fault::Leaving);
        }
        callers.retain(|caller| caller.strong_count() > 0);
        callers.push(Arc::downgrade(context));
        Ok(())
    }

    pub(crate) fn running_jobs(&self) -> usize {
        self.jobs.count().0
    }

    /// Ends what is left of a command whose shim was killed or does not answer: what is below its shim or its shell, its session, what carries
    /// its mark, everything that has come to a reaper of ours since, and the shim itself.
    pub(crate) fn end_orphans(&self, outcome: &Outcome, mark: u64) {
        let roots: Vec<i32> = outcome.guard.into_iter().chain(outcome.pid).map(|pid| pid as i32).collect();
        let deadline = Instant::now() + ORPHAN_PATIENCE;
        while Instant::now() < deadline {
            let processes = proc::all();
            let mut doomed: Vec<proc::Process> =
                roots.iter().flat_map(|root| proc::below(*root, &processes)).collect();
            if let Some(shell) = outcome.pid {
                let shell = shell as i32;
                doomed.extend(processes.iter().filter(|each| each.pid == shell || each.session == shell));
            }
            doomed.extend(self.shims.nursery().iter().flat_map(|reaper| strays(*reaper, &processes)));
            doomed.extend(mark::carriers(mark, &processes));
            let guard =
                |process: &&proc::Process| Some(process.pid as u32) == outcome.guard && is_shim(process.pid);
            doomed.extend(processes.iter().filter(guard));
            if self.options.reaping == Reaping::Elsewhere {
                doomed.extend(strays(std::process::id() as i32, &processes));
            }
            doomed.retain(|process| !process.is_zombie());
            if doomed.is_empty() {
                return;
            }
            for process in &doomed {
                let _ = proc::signal(process, rustix::process::Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

/// Children of a reaper that are neither shims nor the process shims come from, and everything below them: they were orphaned.
fn strays(reaper: i32, processes: &[proc::Process]) -> Vec<proc::Process> {
    let mut strays = Vec::new();
    for child in processes.iter().filter(|process| process.parent == reaper && !is_shim(process.pid)) {
        strays.push(*child);
        strays.extend(proc::below(child.pid, processes));
    }
    strays
}

fn is_shim(pid: i32) -> bool {
    let name = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    name.split(|byte| *byte == 0).next() == Some(crate::shim::ARGV0.as_bytes())
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis() as u64
}

pub(crate) fn random_number() -> u64 {
    let mut bytes = [0; 8];
    // A kernel without randomness at this point still has a clock and process numbers.
    if rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK).is_err() {
        let clock = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        return clock.as_nanos() as u64 ^ u64::from(std::process::id());
    }
    u64::from_ne_bytes(bytes)
}

/// The umask every process here starts with. Asking the system changes it for a moment, /proc does not.
fn umask() -> Option<u32> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}
