//! Containers as a place to run commands.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_box::client::Client;

use super::attach::{Attach, Expect};
use super::cleanup::{Pending, tear_down};
use super::cli::{Cli, Engine};
use super::decide::{Ownership, ownership};
use super::drift::Difference;
use super::ensure;
use super::errors::EngineError;
use super::housekeeping::{self, Housekeeping, Occasion};
use super::identity::{Identity, canonical_home};
use super::inspect::{self, Observed};
use super::maker::{Maker, Place};
use super::memory::{Age, Memory};
use super::revive;
use crate::backend::{Backend, Dispose, Ensured, Happened, Trust};
use crate::config::{Reuse, RunAs, SandboxConfig};
use crate::context::Context;
use crate::error::SandboxError;
use crate::notice::Lost;
use crate::program::Program;
use crate::registry::{Registry, install_id};
use crate::scope::ScopeKey;

/// How long the agent of a container that was just started may take to serve.
const AGENT_APPEARS: Duration = Duration::from_secs(5);

/// See the module.
pub struct DockerBackend {
    config: SandboxConfig,
    context: Context,
    identity: Identity,
    attach: Attach,
    state: Mutex<State>,
    pending: Pending,
}

#[derive(Default)]
struct State {
    place: Option<Place>,
    /// It was started a moment ago, so its agent may still be to come.
    fresh: bool,
    /// What was restarted because its agent did not answer; a second time it is replaced.
    restarted: Option<String>,
}

impl DockerBackend {
    /// Finds the engine's command and works out which container is meant. The engine is not asked.
    pub fn new(config: &SandboxConfig, context: &Context) -> Result<Self, SandboxError> {
        let engine = Cli::find(config.container.binary.as_deref(), &context.env)?;
        Self::with_engine(config, context, Arc::new(engine))
    }

    /// The same with an engine of the caller's.
    pub fn with_engine(
        config: &SandboxConfig,
        context: &Context,
        engine: Arc<dyn Engine>,
    ) -> Result<Self, SandboxError> {
        Ok(Self {
            identity: identity(config, context)?,
            attach: Attach { engine, registry: Registry::new(&context.sandbox_dir) },
            config: config.clone(),
            context: context.clone(),
            state: Mutex::default(),
            pending: Pending::default(),
        })
    }

    /// Which container is meant.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How containers of this home are reached.
    pub fn attach(&self) -> &Attach {
        &self.attach
    }

    /// The container in use, if one is.
    pub fn place(&self) -> Option<Place> {
        self.state().place.clone()
    }

    /// Waits for removals on their way; `true` when there are none left.
    pub fn wait_for_cleanup(&self, within: Duration) -> bool {
        self.pending.wait(within)
    }

    /// In what a container differs from today's settings.
    pub fn differences(&self, seen: &Observed) -> Result<Vec<Difference>, SandboxError> {
        self.with_maker(|maker| ensure::compare(maker, seen))
    }

    fn memory(&self) -> Memory<'_> {
        Memory {
            config: &self.config,
            context: &self.context,
            identity: &self.identity,
            registry: &self.attach.registry,
        }
    }

    fn with_maker<T>(&self, work: impl FnOnce(&Maker<'_>) -> T) -> T {
        let own = match self.config.container.reuse {
            Reuse::AcrossProcesses => None,
            Reuse::Never => self.place().map(|place| place.id),
        };
        work(&Maker {
            engine: &*self.attach.engine,
            config: &self.config,
            context: &self.context,
            identity: &self.identity,
            registry: &self.attach.registry,
            program: Program::embedded(),
            existed: own.is_some() || self.memory().knows_one(),
            own: own.as_deref(),
            usage: &|seen| self.attach.usage(seen),
        })
    }

    /// What is written down, without asking anybody.
    fn ensure_from_memory(&self, age: Age) -> Option<Ensured> {
        let known = match self.config.container.reuse {
            Reuse::AcrossProcesses => self.memory().recall(age),
            Reuse::Never => self.place(),
        };
        known.map(|place| {
            self.state().place = Some(place);
            self.keep_house(Occasion::QuickAttach);
            Ensured::default()
        })
    }

    fn ensure_with_engine(&self, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        let (place, mut ensured) = self.with_maker(|maker| ensure::ensure(maker, progress))?;
        self.memory().remember(&place);
        let mut state = self.state();
        let replaced = state.place.as_ref().is_some_and(|known| known.id != place.id);
        // The record may be gone with the container; this process still knows that there was one.
        let reason = match ensured.happened {
            Happened::Nothing => Some("the container was replaced by another process"),
            Happened::Created => Some("the container was taken away, and a new one was made"),
            Happened::Revived { .. } => None,
        };
        if let Some(reason) = reason.filter(|_| replaced) {
            let lost = Some(Lost::EverythingOffMounts);
            ensured.happened = Happened::Revived { reason: reason.to_owned(), lost };
        }
        // An agent that was brought into another program's container is just starting too.
        state.fresh = ensured.happened != Happened::Nothing || place.fields.is_none();
        state.place = Some(place);
        drop(state);
        self.keep_house(Occasion::EngineAsked);
        Ok(ensured)
    }

    /// It is said to run and its agent does not answer: bring it back, the gentler way first.
    fn put_right(&self, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        let (place, restarted) = {
            let state = self.state();
            (state.place.clone(), state.restarted.clone())
        };
        let Some(place) = place else { return self.ensure_with_engine(progress) };
        let revived = self.with_maker(|maker| revive::revive(maker, &place, restarted.as_deref()))?;
        let mut after = self.ensure_with_engine(progress)?;
        let mut state = self.state();
        state.restarted = revived.restarted;
        if revived.happened != Happened::Nothing {
            state.fresh = true;
            after.happened = revived.happened;
        }
        Ok(after)
    }

    fn keep_house(&self, occasion: Occasion) {
        housekeeping::start(Housekeeping {
            attach: self.attach.clone(),
            identity: self.identity.clone(),
            config: self.config.clone(),
            sandbox_dir: self.context.sandbox_dir.clone(),
            occasion,
        });
    }

    /// Removes a container we have not used ourselves, if there is one.
    fn remove_unseen(&self) -> Result<(), SandboxError> {
        let name = self.identity.container_name();
        self.attach.registry.forget(&name);
        match inspect::look_at(&*self.attach.engine, &name)? {
            Some(seen) if ownership(&self.identity, &seen) == Ownership::Ours => {
                Ok(tear_down(&*self.attach.engine, &seen.id)?)
            }
            _ => Ok(()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Backend for DockerBackend {
    fn ensure(&self, trust: Trust, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        match trust {
            Trust::Records => match self.ensure_from_memory(Age::Recent) {
                Some(ensured) => Ok(ensured),
                None => self.ensure_with_engine(progress).or_else(|error| {
                    // An engine that is down or stuck does not end a container that still runs.
                    let unreachable = matches!(
                        error,
                        SandboxError::Engine(EngineError::TimedOut { .. } | EngineError::NotRunning { .. })
                    );
                    let known = if unreachable { self.ensure_from_memory(Age::Any) } else { None };
                    known.ok_or(error)
                }),
            },
            Trust::Engine => self.ensure_with_engine(progress),
            Trust::Nothing => self.put_right(progress),
        }
    }

    fn connect(&self) -> Result<Client, SandboxError> {
        let (place, fresh) = {
            let state = self.state();
            (state.place.clone(), state.fresh)
        };
        let place = place.ok_or_else(|| SandboxError::NoSuchSandbox(self.identity.container_name()))?;
        let owner = (self.config.container.run_as == RunAs::HostUser).then_some(self.context.user.uid);
        let expect = Expect { owner, within: if fresh { AGENT_APPEARS } else { Duration::ZERO } };
        let client = self.attach.connect(&place, expect)?;
        self.state().fresh = false;
        Ok(client)
    }

    fn dispose(&self, how: Dispose) -> Result<(), SandboxError> {
        // The handle is dropped in every case: the next use looks at what is there.
        let place = std::mem::take(&mut *self.state()).place;
        let Some(place) = place else {
            return if how == Dispose::Remove { self.remove_unseen() } else { Ok(()) };
        };
        let reuse = self.config.container.reuse;
        if how == Dispose::Release && reuse == Reuse::AcrossProcesses {
            return Ok(());
        }
        self.attach.registry.forget(&self.identity.container_name());
        let registry = self.attach.registry.clone();
        self.pending.start(Arc::clone(&self.attach.engine), place.id, move || {
            // A name that only this process had is not needed again; a shared one may be in use by now.
            if reuse == Reuse::Never {
                let _ = registry.remove(&place.name);
            }
        });
        Ok(())
    }
}

/// Which container a caller with these settings means.
pub fn identity(config: &SandboxConfig, context: &Context) -> Result<Identity, SandboxError> {
    let scope = config.scope.resolve(&context.caller);
    let home = if matches!(scope, ScopeKey::Shared(_)) { &context.root } else { &context.home };
    let install =
        install_id(&context.root).map_err(SandboxError::file("make an installation id in", &context.root))?;
    Ok(Identity {
        install,
        machine: context.machine.clone(),
        home: canonical_home(home),
        profile: context.profile.clone(),
        scope,
    })
}
