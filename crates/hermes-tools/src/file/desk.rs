//! What every file tool needs: the place, the rules about paths, and a thread to work on.

use std::ffi::OsStr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hermes_box::client::{CallError, Client, Files};
use hermes_box::proto::file::Resolved;
use hermes_guard::Policy;
use hermes_guard::path::{Access, Denied, HermesHome, Mount, OtherProfiles, PathPolicy, Trail, View};
use hermes_sandbox::config::{BackendKind, SandboxConfig, Switch};
use hermes_sandbox::context::Context;
use serde::Serialize;

use super::limits::FileLimits;
use super::state::FileState;
use crate::gate::{Action, Verdict};
use crate::thread::{self, Link};
use crate::tool::{Run, ToolOutput};
use crate::workplace::Workplace;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub(super) struct Desk {
    pub(super) place: Workplace,
    policy: Arc<PathPolicy>,
}

/// A place that was entered, for one call.
pub(super) struct Room {
    pub(super) session: String,
    /// What tells this place from those of other conversations.
    pub(super) place_key: String,
    pub(super) client: Client,
    pub(super) files: Files,
    /// What the model has to know about the place.
    pub(super) notes: Vec<String>,
}

impl Desk {
    pub(super) fn new(place: Workplace) -> Self {
        let policy = Arc::new(policy(place.config(), place.context(), place.limits()));
        Self { place, policy }
    }

    pub(super) fn limits(&self) -> &FileLimits {
        self.place.limits()
    }

    pub(super) fn state(&self) -> &FileState {
        self.place.files()
    }

    pub(super) fn policy(&self) -> &PathPolicy {
        &self.policy
    }

    /// Works in the place, on a thread of its own. What was cancelled or broke is an answer as well.
    pub(super) async fn work<T: Send + 'static>(
        &self,
        run: &Run<'_>,
        work: impl FnOnce(&Desk, Room, &Link) -> Result<T, ToolOutput> + Send + 'static,
    ) -> Result<T, ToolOutput> {
        let (desk, progress, session) = (self.clone(), run.progress.clone(), run.session.to_owned());
        let work = move |link: &Link| {
            let reached = desk.place.enter(&session, &progress).map_err(|error| {
                ToolOutput::error(format!(
                    "there is no place to work in: {error}. Nothing was done anywhere else."
                ))
            })?;
            let room = Room {
                place_key: desk.place.place_key(&session),
                files: reached.client.files().in_session(&session),
                client: reached.client,
                notes: reached.notes,
                session,
            };
            work(&desk, room, link)
        };
        match thread::run(run.cancel, work).await {
            thread::Outcome::Done(outcome) => outcome,
            thread::Outcome::Abandoned => Err(ToolOutput::error("interrupted by the user")),
            thread::Outcome::Broken => Err(ToolOutput::error("the tool itself failed: see the log")),
        }
    }

    /// Asks whether these files may be written.
    pub(super) async fn may_write(&self, run: &Run<'_>, paths: &[PathBuf]) -> Result<(), ToolOutput> {
        let action = Action::Write { paths, reach: self.place.reach() };
        let verdict = tokio::select! {
            verdict = run.gate.decide(&action) => verdict,
            () = run.cancel.cancelled() => {
                return Err(ToolOutput::error("interrupted by the user; nothing was written"));
            }
        };
        match verdict {
            Verdict::Allowed => Ok(()),
            Verdict::Refused { reason } => Err(ToolOutput::error(format!("nothing was written: {reason}"))),
        }
    }

    /// Whether a path may be touched, by where it leads.
    pub(super) fn check(
        &self,
        room: &Room,
        found: &Resolved,
        access: Access,
        others: OtherProfiles,
    ) -> Result<(), Denied> {
        self.check_names(found, access)?;
        let trail =
            Trail { path: &found.path, links: &found.links, real: &found.real, home: found.home.as_deref() };
        let roots = &self.limits().safe_roots;
        if access == Access::Read || roots.is_empty() {
            return self.policy.check(&trail, access, others);
        }
        // The bounds may be named through links themselves.
        let real =
            |root: &PathBuf| room.files.resolve(root).map_or_else(|_| root.clone(), |found| found.real);
        let bounded = PathPolicy { safe_roots: roots.iter().map(real).collect(), ..(*self.policy).clone() };
        bounded.check(&trail, access, others)
    }

    /// A file of this program under another name is that file all the same.
    fn check_names(&self, found: &Resolved, access: Access) -> Result<(), Denied> {
        let Some(stat) = found.stat.as_ref().filter(|stat| stat.nlink > 1) else { return Ok(()) };
        let here = match &self.policy.view {
            View::Host => true,
            View::Elsewhere(mounts) => !mounts.is_empty(),
        };
        let same = |path: &PathBuf| {
            std::fs::metadata(path)
                .is_ok_and(|other| (other.dev(), other.ino()) == (stat.version.dev, stat.version.ino))
        };
        match self.policy.hermes.guarded().find(|path| here && same(path)) {
            Some(_) if access == Access::Write => Err(Denied::Own(found.path.clone())),
            Some(path) if self.policy.readable(&path, None).is_err() => {
                Err(Denied::Secret(found.path.clone()))
            }
            _ => Ok(()),
        }
    }

    /// Whether what a file holds may be shown.
    pub(super) fn may_show(&self, path: &Path) -> bool {
        self.policy.readable(path, None).is_ok()
    }

    /// Text of files with their secrets masked, in a way that cannot be taken for values.
    pub(super) fn masked<'p>(&self, text: &str, paths: impl IntoIterator<Item = &'p str>) -> String {
        let is_variables = |path: &str| {
            let name = path.rsplit('/').next().unwrap_or_default();
            name.starts_with(".env")
        };
        let variables = paths.into_iter().any(is_variables);
        let policy = if variables { Policy::EnvFile } else { Policy::File };
        self.place.options().redactor.redact(text, policy).into_owned()
    }

    /// Refuses by name alone, before anybody looks there.
    pub(super) fn check_name(&self, path: &str) -> Result<(), Denied> {
        self.policy.readable(Path::new(path), None)
    }
}

/// The rules for a place.
fn policy(config: &SandboxConfig, context: &Context, limits: &FileLimits) -> PathPolicy {
    let hermes = HermesHome { root: context.root.clone(), profile: context.profile.clone() };
    let view = match config.backend {
        BackendKind::Local => View::Host,
        BackendKind::Ssh => View::Elsewhere(Vec::new()),
        BackendKind::Docker => View::Elsewhere(mounts(config, context)),
    };
    PathPolicy { hermes, view, safe_roots: limits.safe_roots.clone() }
}

/// What a container sees of the host, as far as the user asked for it.
fn mounts(config: &SandboxConfig, context: &Context) -> Vec<Mount> {
    let container = &config.container;
    let home = context.env.get(OsStr::new("HOME")).map(PathBuf::from).unwrap_or_default();
    let volume = |volume: &String| {
        let (host, rest) = volume.split_once(':')?;
        let inside = rest.split(':').next().filter(|inside| inside.starts_with('/'))?;
        let host = match host.strip_prefix("~/") {
            Some(rest) => home.join(rest),
            None if host.starts_with('/') => PathBuf::from(host),
            None => return None,
        };
        Some(Mount { host, inside: inside.into() })
    };
    let cwd = (container.mount_cwd == Switch::On)
        .then(|| Mount { host: context.host_cwd.clone(), inside: "/workspace".into() });
    container.volumes.iter().filter_map(volume).chain(cwd).collect()
}

/// A result as JSON, fields in the order of the type.
pub(super) fn give(value: &impl Serialize) -> ToolOutput {
    match serde_json::to_string(value) {
        Ok(text) => ToolOutput::text(text),
        Err(error) => ToolOutput::error(format!("the result cannot be written down: {error}")),
    }
}

/// A call that failed, as the model gets it.
pub(super) fn failed(error: &CallError) -> ToolOutput {
    ToolOutput::error(error.to_string())
}

/// A path that may not be touched, as the model gets it.
pub(super) fn denied(why: &Denied) -> ToolOutput {
    ToolOutput::error(why.to_string())
}
