//! From a call to whoever answers it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::call::CallContext;
use super::{Agent, files, search};
use crate::proto::call::Call;
use crate::proto::exec::Control;
use crate::proto::fault::Fault;
use crate::proto::file::{Existing, MoveRequest, Parents};
use crate::proto::wire::Wire;

/// Performs a call; its answer, encoded.
pub(crate) fn perform(agent: &Arc<Agent>, context: &Arc<CallContext>, call: Call) -> Result<Vec<u8>, Fault> {
    match call {
        Call::Info => encode(Ok(agent.info())),
        Call::Shutdown => {
            agent.shut_down();
            encode(Ok(()))
        }
        Call::Session(name) => encode(agent.session_info(&name)),
        Call::SessionForget(name) => encode(agent.sessions.forget(&name)),
        Call::EndLeftRunning(id) => {
            agent.left.end(Some(id), agent.options.grace);
            encode(Ok(()))
        }
        call @ (Call::Exec(_) | Call::JobStart(_)) => {
            let _busy = agent.activity.begin();
            agent.enlist(context)?;
            agent.activity.commands.fetch_add(1, Ordering::SeqCst);
            match call {
                Call::Exec(request) => encode(agent.exec(context, &request)),
                Call::JobStart(request) => encode(agent.start_job(context, request)),
                _ => Err(Fault::Internal("a command that is none".into())),
            }
        }
        // Looking at jobs is no use of the agent; whoever decides whether it is idle does so.
        Call::JobList => encode(Ok(agent.list_jobs())),
        Call::JobGet(id) => encode(agent.jobs.get(&id).map(|job| agent.job_info(&job))),
        call => {
            let _busy = agent.activity.begin();
            about_jobs(agent, context, call)
        }
    }
}

fn about_jobs(agent: &Arc<Agent>, context: &Arc<CallContext>, call: Call) -> Result<Vec<u8>, Fault> {
    match call {
        Call::JobRead(read) => encode(agent.read_job(&read.id, read.offset, read.max)),
        Call::JobFollow(follow) => encode(agent.follow_job(context, &follow.id, follow.offset)),
        Call::JobWait(wait) => {
            encode(agent.jobs.get(&wait.id).and_then(|job| Agent::wait_job(context, &job, wait.timeout)))
        }
        Call::JobWrite(write) => encode(agent.jobs.get(&write.id).and_then(|job| job.write(write.bytes))),
        Call::JobCloseStdin(id) => encode(agent.jobs.get(&id).and_then(|job| job.close_stdin())),
        Call::JobSignal(signal) => {
            let control = Control::Signal { number: signal.number, target: signal.target };
            encode(agent.steer_job(&signal.id, control))
        }
        Call::JobKill(kill) => encode(agent.kill_job(context, &kill.id, kill.grace)),
        Call::JobResize(resize) => encode(agent.steer_job(&resize.id, Control::Resize(resize.size))),
        Call::JobForget(id) => encode(agent.jobs.forget(&id)),
        call => {
            agent.activity.file_operations.fetch_add(1, Ordering::SeqCst);
            about_files(agent, context, call)
        }
    }
}

fn about_files(agent: &Arc<Agent>, context: &Arc<CallContext>, call: Call) -> Result<Vec<u8>, Fault> {
    match call {
        Call::Stat(request) => encode(files::stat(&agent.locate(&request.place)?, request.follow)),
        Call::List(request) => {
            let path = agent.locate(&request.place)?;
            encode(files::list(context, &path, request.offset, request.limit))
        }
        Call::ReadLines(request) => {
            encode(files::read_lines(context, &agent.locate(&request.place)?, &request))
        }
        Call::ReadBytes(request) => {
            encode(files::read_bytes(context, &agent.locate(&request.place)?, &request))
        }
        Call::Resolve(place) => encode(agent.resolve(&place)),
        Call::Hash(place) => encode(files::hash(context, &agent.locate(&place)?)),
        Call::Write(request) => encode(files::write(context, &agent.locate(&request.place)?, &request)),
        Call::Change(request) => encode(files::change(agent, context, &request)),
        Call::Mkdir(request) => encode(files::mkdir(&agent.locate(&request.place)?, request.parents)),
        Call::Remove(request) => encode(files::remove(&agent.locate(&request.place)?, request.depth)),
        Call::Move(request) => encode(from_to(agent, &request, files::move_file)),
        Call::Copy(request) => encode(from_to(agent, &request, files::copy)),
        Call::Glob(request) => encode(search::find(context, &agent.locate(&request.root)?, &request)),
        Call::Search(request) => encode(search::search(context, &agent.locate(&request.root)?, &request)),
        _ => Err(Fault::Internal("a call without anybody to answer it".into())),
    }
}

fn from_to(
    agent: &Agent,
    request: &MoveRequest,
    act: impl FnOnce(&Path, &Path, Existing) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (from, to) = (agent.locate(&request.from)?, agent.locate(&request.to)?);
    if let (Parents::Create, Some(parent)) = (request.parents, to.parent()) {
        files::mkdir(parent, Parents::Create)?;
    }
    act(&from, &to, request.existing)
}

fn encode<A: Wire>(answer: Result<A, Fault>) -> Result<Vec<u8>, Fault> {
    answer.map(|answer| answer.to_bytes())
}
