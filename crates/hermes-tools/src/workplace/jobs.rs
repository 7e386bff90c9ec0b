//! The agent that keeps background jobs, connected once.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

use hermes_box::client::Client;
use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::job::{JobInfo, JobState};
use hermes_sandbox::config::BackendKind;
use hermes_sandbox::error::SandboxError;

use super::{Reached, Workplace, lock, tell_notices};
use crate::tool::{Progress, Report};
use crate::watch::{self, Want};

/// What a background command starts with when its agent does not know the conversation's shell.
pub(crate) struct Carried {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(OsString, Option<OsString>)>,
}

impl Workplace {
    /// The place of a conversation through the agent that keeps its jobs.
    pub(crate) fn enter_jobs(&self, session: &str, progress: &Progress) -> Result<Reached, SandboxError> {
        let sandbox = self.sandbox(session)?;
        let to = progress.clone();
        sandbox.on_progress(move |text| to.tell(Report::Note(text.to_owned())));
        let client = match sandbox.backend() {
            // A daemon of its own: connecting takes a while, so the connection is kept.
            BackendKind::Local => {
                let mut known = lock(&self.0.jobs);
                let key = self.place_key(session);
                if known.get(&key).is_none_or(|client| client.lost().is_some()) {
                    known.insert(key.clone(), sandbox.jobs()?);
                }
                known[&key].clone()
            }
            BackendKind::Docker | BackendKind::Ssh => sandbox.jobs()?,
        };
        let notes = tell_notices(&sandbox, progress);
        if lock(&self.0.watched).insert(session.to_owned()) {
            self.watch_again(session, &client);
        }
        Ok(Reached { sandbox, client, notes })
    }

    /// Ends the background commands of a conversation, and says how many there were. Opens nothing: where no tool has
    /// worked yet there is nothing to end.
    pub fn end_background(&self, session: &str) -> Result<usize, SandboxError> {
        let running = self.background(session)?;
        if running.is_empty() {
            return Ok(0);
        }
        let jobs = self.enter_jobs(session, &Progress::silent())?.client.jobs();
        Ok(running.iter().filter(|job| jobs.kill(&job.id, None).is_ok()).count())
    }

    /// The background commands of a conversation that run. Nothing is started to find out.
    pub fn background(&self, session: &str) -> Result<Vec<JobInfo>, SandboxError> {
        if !lock(&self.0.watched).contains(session) {
            return Ok(Vec::new());
        }
        let mut jobs =
            self.enter_jobs(session, &Progress::silent())?.client.jobs().list().unwrap_or_default();
        jobs.retain(|job| {
            job.state == JobState::Running
                && job.labels.iter().any(|(label, of)| label == watch::CONVERSATION && of == session)
        });
        Ok(jobs)
    }

    /// Goes on watching what earlier programs were to tell this conversation about.
    fn watch_again(&self, session: &str, client: &Client) {
        let has = |job: &JobInfo, name: &str, value: &str| {
            job.labels.iter().any(|(label, content)| label == name && content == value)
        };
        let wanted = |job: &&JobInfo| {
            job.state == JobState::Running
                && has(job, watch::CONVERSATION, session)
                && has(job, watch::NOTIFY, watch::ENDING)
        };
        for job in client.jobs().list().unwrap_or_default().iter().filter(wanted) {
            if let Err(error) = watch::start(self, session, client, job, Want::Ending) {
                tracing::warn!(%error, job = job.id, "a background command cannot be watched");
            }
        }
    }

    /// Directory and variables of the conversation's shell, where jobs belong to another agent than commands do.
    /// Elsewhere the job sees the shell itself.
    pub(crate) fn carried(
        &self,
        session: &str,
        progress: &Progress,
    ) -> Result<Option<Carried>, SandboxError> {
        if self.0.config.backend != BackendKind::Local {
            return Ok(None);
        }
        let client = self.enter(session, progress)?.client;
        // A conversation that has not run anything yet has nothing to carry.
        let started = client.session(session).ok().filter(|info| info.started);
        let Some(info) = started else { return Ok(Some(Carried { cwd: None, env: Vec::new() })) };
        let mut request = ExecRequest::argv(["env", "-0"]);
        request.session = Some(session.to_owned());
        let env = client.run(request).ok().filter(|exit| exit.code() == 0 && !exit.stdout.is_truncated());
        let env = env.map(|exit| variables(&exit.stdout.bytes())).unwrap_or_default();
        Ok(Some(Carried { cwd: Some(info.cwd), env }))
    }
}

/// What `env -0` printed, as variables; what a shell keeps for itself is left to the new one.
fn variables(listing: &[u8]) -> Vec<(OsString, Option<OsString>)> {
    const SHELLS_OWN: [&[u8]; 5] = [b"_", b"SHLVL", b"PWD", b"OLDPWD", b"BASHOPTS"];
    let pair = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'=').filter(|at| *at > 0)?;
        let (name, value) = (&line[..at], &line[at + 1..]);
        (!SHELLS_OWN.contains(&name))
            .then(|| (OsString::from_vec(name.to_vec()), Some(OsString::from_vec(value.to_vec()))))
    };
    listing.split(|byte| *byte == 0).filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_may_hold_anything_but_a_zero() {
        let found = variables(b"A=1\0B=x=y\nz\0SHLVL=2\0=odd\0C=\0");
        let expected = [("A", "1"), ("B", "x=y\nz"), ("C", "")];
        assert_eq!(found, expected.map(|(n, v)| (n.into(), Some(v.into()))));
    }
}
