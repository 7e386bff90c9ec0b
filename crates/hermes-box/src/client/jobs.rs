//! Jobs, seen from the client.

use std::time::{Duration, Instant};

use super::Client;
use super::error::CallError;
use super::pending::Pending;
use super::slot::{Arrival, Next};
use super::{OUTPUT_WINDOW, Steering};
use crate::proto::call::{self, Call, JobFollow, JobKill, JobRead, JobResize, JobWait, JobWrite};
use crate::proto::exec::{Target, WinSize};
use crate::proto::job::{JobInfo, JobOutput, JobRequest, JobSignal};

/// What an agent is assumed to grant a killed job between TERM and KILL when it is not told.
const USUAL_GRACE: Duration = Duration::from_secs(2);

/// The jobs of an agent.
#[derive(Debug, Clone)]
pub struct Jobs {
    client: Client,
}

impl Jobs {
    pub(super) fn new(client: Client) -> Self {
        Self { client }
    }

    /// Starts a job. It belongs to the agent: it goes on when this client is gone.
    pub fn start(&self, request: JobRequest) -> Result<JobInfo, CallError> {
        self.client.call(request)
    }

    /// All jobs the agent knows, running and over, oldest first.
    pub fn list(&self) -> Result<Vec<JobInfo>, CallError> {
        self.client.call(call::job_list())
    }

    /// One job.
    pub fn get(&self, id: &str) -> Result<JobInfo, CallError> {
        self.client.call(call::job_get(id))
    }

    /// A piece of the output, from `offset` on. An offset that is no longer kept moves on to what is; one past the end
    /// gives nothing.
    pub fn read(&self, id: &str, offset: u64, max: u32) -> Result<JobOutput, CallError> {
        self.client.call(JobRead { id: id.into(), offset, max })
    }

    /// The last `max` bytes printed so far.
    pub fn tail(&self, id: &str, max: u32) -> Result<JobOutput, CallError> {
        let end = self.get(id)?.output_end;
        self.read(id, end.saturating_sub(u64::from(max)), max)
    }

    /// The output from `offset` on as it comes, until the job ends.
    pub fn follow(&self, id: &str, offset: u64) -> Result<Following, CallError> {
        let call = Call::JobFollow(JobFollow { id: id.into(), offset });
        Ok(Following { pending: Pending::start(&self.client, call, OUTPUT_WINDOW)?, over: false })
    }

    /// Waits for the end of a job, at most this long (`None`: for ever); its state then.
    pub fn wait(&self, id: &str, timeout: Option<Duration>) -> Result<JobInfo, CallError> {
        let pending = self.client.begin(JobWait { id: id.into(), timeout })?;
        match timeout {
            Some(timeout) => pending.wait_due(timeout),
            None => pending.wait_forever(),
        }
    }

    /// Writes to the job's input; returns when the bytes are on their way to it.
    pub fn write_stdin(&self, id: &str, bytes: &[u8]) -> Result<(), CallError> {
        for bytes in bytes.chunks(64 * 1024) {
            self.client.call(JobWrite { id: id.into(), bytes: bytes.to_vec() })?;
        }
        Ok(())
    }

    /// Closes the job's input.
    pub fn close_stdin(&self, id: &str) -> Result<(), CallError> {
        self.client.call(call::job_close_stdin(id))
    }

    /// Sends a signal.
    pub fn signal(&self, id: &str, number: i32, target: Target) -> Result<(), CallError> {
        self.client.call(JobSignal { id: id.into(), number, target })
    }

    /// Ends a job and everything it started: TERM, grace, KILL.
    pub fn kill(&self, id: &str, grace: Option<Duration>) -> Result<JobInfo, CallError> {
        let pending = self.client.begin(JobKill { id: id.into(), grace })?;
        pending.wait_due(grace.unwrap_or(USUAL_GRACE))
    }

    /// Tells the job's terminal its new size.
    pub fn resize(&self, id: &str, size: WinSize) -> Result<(), CallError> {
        self.client.call(JobResize { id: id.into(), size })
    }

    /// Forgets a job that is over, and removes its output.
    pub fn forget(&self, id: &str) -> Result<(), CallError> {
        self.client.call(call::job_forget(id))
    }
}

/// The output of a job as it comes.
#[derive(Debug)]
pub struct Following {
    pending: Pending<JobInfo>,
    over: bool,
}

/// What following a job brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobEvent {
    /// It printed something (parts that are no longer kept are left out).
    Output(Vec<u8>),
    /// It is over.
    Ended(Box<JobInfo>),
    /// Nothing happened within the time given.
    Quiet,
}

impl Following {
    /// Waits for what comes next, at most this long (`None`: for ever).
    pub fn next_event(&mut self, limit: Option<Duration>) -> Result<JobEvent, CallError> {
        if self.over {
            return Err(CallError::Lost("the job's end was seen before".into()));
        }
        match self.pending.line.next(limit.map(|limit| Instant::now() + limit)) {
            Next::Arrival(Arrival::Output(_, bytes)) => Ok(JobEvent::Output(bytes)),
            Next::Arrival(Arrival::Started(_)) | Next::TimedOut => Ok(JobEvent::Quiet),
            Next::Over(result) => {
                self.over = true;
                self.pending.line.decode(&result?).map(Box::new).map(JobEvent::Ended)
            }
        }
    }

    /// A handle to stop following from another thread.
    pub fn steering(&self) -> Steering {
        self.pending.steering()
    }
}
