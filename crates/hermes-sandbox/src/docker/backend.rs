//! Containers as a place to run commands.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hermes_box::client::Client;
use jiff::Timestamp;

use super::attach::{Attach, Expect};
use super::cleanup::{Pending, tear_down};
use super::cli::{Cli, Engine};
use super::decide::{Ownership, ownership};
use super::drift::{self, Difference};
use super::ensure;
use super::housekeeping::{self, Housekeeping, Occasion};
use super::identity::{Identity, canonical_home};
use super::inspect::{self, Observed};
use super::maker::{Maker, Place};
use super::revive;
use super::site::Site;
use super::wanted;
use crate::backend::{Backend, Dispose, Ensured, Happened, Trust};
use crate::config::{Network, Reuse, RunAs, SandboxConfig};
use crate::context::Context;
use crate::error::SandboxError;
use crate::program::Program;
use crate::registry::{Reach, Record, Registry, install_id};
use crate::scope::ScopeKey;

/// How long a record is believed before the engine is asked about the container again.
const BELIEVE_RECORD: Duration = Duration::from_hours(1);
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
    /// It was started a moment ago, so its socket may still be to come.
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

    /// The container of the record, if it can be believed without asking the engine.
    fn recorded(&self) -> Option<Place> {
        if self.config.container.reuse == Reuse::Never {
            return self.place();
        }
        let name = self.identity.container_name();
        let record = self.attach.registry.read(&name).filter(|record| record.key == self.identity.key())?;
        let age = Timestamp::now().duration_since(record.verified);
        let fresh = Duration::try_from(age).is_ok_and(|age| age < BELIEVE_RECORD);
        (fresh && self.still_wanted(&record)).then(|| place_of(name, record))
    }

    /// Whether the settings still ask for what was made. The image's id is left to the engine.
    fn still_wanted(&self, record: &Record) -> bool {
        let Some(has) = &record.fields else { return self.config.container.network == Network::On };
        let site = match record.reach {
            Reach::Socket => Site::Here,
            Reach::Exec => Site::Elsewhere { endpoint: String::new() },
        };
        wanted::fields(&self.config, &self.context, &self.identity, None, site)
            .is_ok_and(|wanted| drift::differences(has, &wanted).is_empty())
    }

    fn with_maker<T>(&self, work: impl FnOnce(&Maker<'_>) -> T) -> T {
        work(&Maker {
            engine: &*self.attach.engine,
            config: &self.config,
            context: &self.context,
            identity: &self.identity,
            registry: &self.attach.registry,
            program: Program::embedded(),
            usage: &|seen| self.attach.usage(seen),
        })
    }

    fn remember(&self, place: &Place, happened: &Happened) {
        let record = Record {
            id: place.id.clone(),
            key: self.identity.key(),
            fields: place.fields.clone(),
            program: place.program.clone(),
            reach: place.reach,
            verified: Timestamp::now(),
        };
        if self.config.container.reuse == Reuse::AcrossProcesses {
            // Without a record the next process asks the engine, that is all.
            let _ = self.attach.registry.write(&self.identity.container_name(), &record);
        }
        let mut state = self.state();
        state.fresh = *happened != Happened::Nothing;
        state.place = Some(place.clone());
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In what a container differs from today's settings.
    pub fn differences(&self, seen: &Observed) -> Result<Vec<Difference>, SandboxError> {
        self.with_maker(|maker| ensure::compare(maker, seen))
    }

    fn ensure_with_engine(&self, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        let (place, ensured) = self.with_maker(|maker| ensure::ensure(maker, progress))?;
        self.remember(&place, &ensured.happened);
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
}

impl Backend for DockerBackend {
    fn ensure(&self, trust: Trust, progress: &mut dyn FnMut(&str)) -> Result<Ensured, SandboxError> {
        let ensured = match trust {
            Trust::Records => match self.recorded() {
                Some(place) => {
                    self.state().place = Some(place);
                    self.keep_house(Occasion::QuickAttach);
                    return Ok(Ensured::default());
                }
                None => self.ensure_with_engine(progress),
            },
            Trust::Engine => self.ensure_with_engine(progress),
            Trust::Nothing => self.put_right(progress),
        }?;
        self.keep_house(Occasion::EngineAsked);
        Ok(ensured)
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
        let keep = how == Dispose::Release && self.config.container.reuse == Reuse::AcrossProcesses;
        let Some(place) = place else {
            return if how == Dispose::Remove { self.remove_unseen() } else { Ok(()) };
        };
        if !keep {
            self.attach.registry.forget(&self.identity.container_name());
            self.pending.start(Arc::clone(&self.attach.engine), place.id);
        }
        Ok(())
    }
}

fn place_of(name: String, record: Record) -> Place {
    Place { id: record.id, name, fields: record.fields, program: record.program, reach: record.reach }
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
