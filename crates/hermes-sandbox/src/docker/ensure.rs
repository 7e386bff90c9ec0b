//! From whatever is there to a container that runs: observe, decide, do one step, and look again.

use std::thread;
use std::time::Duration;

use super::adopt;
use super::cleanup::{self, Removal};
use super::cli::{Request, deadline};
use super::create;
use super::decide::{self, Before, Ownership, Step};
use super::drift::{self, Difference, Fields, Usage, Verdict};
use super::errors::EngineError;
use super::image;
use super::inspect::{self, Observed};
use super::labels;
use super::maker::{Maker, Place};
use super::mend;
use super::site::Site;
use super::spec::{self, PROGRAM};
use super::wanted;
use crate::backend::{Ensured, Happened};
use crate::config::Reuse;
use crate::error::SandboxError;
use crate::notice::{Lost, Notice};
use crate::registry::Reach;

/// More steps than any sound history needs; an engine that changes its mind for ever must not hold us.
const MOST_STEPS: usize = 40;
/// How long to wait before looking again at something that is on its way.
const PAUSE: Duration = Duration::from_millis(250);

/// Makes sure the container runs.
pub fn ensure(maker: &Maker<'_>, progress: &mut dyn FnMut(&str)) -> Result<(Place, Ensured), SandboxError> {
    let mut way = Way { existed: maker.existed, ..Way::default() };
    for _ in 0..MOST_STEPS {
        let seen = observe(maker)?;
        let step = decide::decide(maker.identity, maker.own, &seen, &way.given_up);
        if let Some(place) = way.take(maker, &seen, step, progress)? {
            return Ok((place, way.ensured));
        }
    }
    Err(SandboxError::NotStable {
        name: maker.identity.container_name(),
        detail: format!("after {MOST_STEPS} steps it still was not running"),
    })
}

/// What is there that could be ours. A process that shares nothing looks at nothing but its own.
fn observe(maker: &Maker<'_>) -> Result<Vec<Observed>, SandboxError> {
    if maker.config.container.reuse == Reuse::Never {
        let own = maker.own.map(|id| inspect::look_at(maker.engine, id)).transpose()?;
        return Ok(own.flatten().into_iter().collect());
    }
    let ids = inspect::list(maker.engine, &labels::probe_filters(maker.identity), deadline::LOOK)?;
    Ok(inspect::look(maker.engine, &ids)?)
}

/// What happened on the way.
#[derive(Default)]
struct Way {
    ensured: Ensured,
    given_up: Vec<String>,
    /// There was one before, so a new one means that something is lost.
    existed: bool,
    name_conflicts: usize,
}

impl Way {
    /// Does one step; a place means that we are there.
    fn take(
        &mut self,
        maker: &Maker<'_>,
        seen: &[Observed],
        step: Step,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Place>, SandboxError> {
        match step {
            Step::Attach { id } => self.attach(maker, pick(seen, &id)?, progress),
            Step::Unpause { id } => {
                change(maker, "unpause", "resuming the container", &id)?;
                self.ensured.notices.push(Notice::Unpaused);
                Ok(None)
            }
            Step::Start { id, before } => {
                self.start(maker, pick(seen, &id)?, before, progress).map(|()| None)
            }
            Step::Wait { .. } => {
                thread::sleep(PAUSE);
                Ok(None)
            }
            Step::Remove { id, .. } => {
                self.existed = true;
                discard(maker, &id);
                Ok(None)
            }
            Step::Create => self.create(maker, progress),
        }
    }

    /// It runs: use it, unless the settings have changed and it can be replaced.
    fn attach(
        &mut self,
        maker: &Maker<'_>,
        seen: &Observed,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Place>, SandboxError> {
        let differences = compare(maker, seen)?;
        if self.passed_over(seen, &differences) {
            return Ok(None);
        }
        let usage = if differences.is_empty() { Usage::Idle } else { (maker.usage)(seen) };
        match drift::decide(&differences, maker.config.container.on_drift, usage) {
            Verdict::Keep => {}
            Verdict::KeepAndTell { because } => {
                self.ensured.notices.push(Notice::Drifted { differences, kept: because });
            }
            Verdict::Refuse { because } => {
                return Err(SandboxError::Unusable { name: seen.name.clone(), differences, because });
            }
            Verdict::Recreate => {
                create::rehearse(maker, progress)?;
                // Stopped first and removed without force: should anyone have started it again in between,
                // the engine refuses, and the next look finds it in use.
                let _ = cleanup::stop(maker.engine, &seen.id);
                self.replace(maker, seen, differences);
                return Ok(None);
            }
        }
        if let Some(reason) = seen.plain() {
            self.ensured.notices.push(Notice::PlainExec { reason: reason.to_owned() });
        }
        if seen.is_boxed() || seen.plain().is_some() {
            return Ok(Some(place_of(seen)));
        }
        self.ensured.notices.push(Notice::Adopted { name: seen.name.clone() });
        let place = adopt::prepare(maker.engine, maker.program, seen)?;
        self.ensured.notices.extend(place.plain.clone().map(|reason| Notice::PlainExec { reason }));
        Ok(Some(place))
    }

    /// It is stopped: start it, unless the settings have changed, in which case nothing speaks for it.
    fn start(
        &mut self,
        maker: &Maker<'_>,
        seen: &Observed,
        before: Before,
        progress: &mut dyn FnMut(&str),
    ) -> Result<(), SandboxError> {
        let differences = compare(maker, seen)?;
        if self.passed_over(seen, &differences) {
            return Ok(());
        }
        if drift::decide(&differences, maker.config.container.on_drift, Usage::Idle) == Verdict::Recreate {
            create::rehearse(maker, progress)?;
            self.replace(maker, seen, differences);
            return Ok(());
        }
        mend::before_start(maker, seen);
        match change(maker, "start", "starting the container", &seen.id) {
            Ok(()) => self.revived(started_reason(before), Lost::Processes, before),
            // Someone removed it meanwhile; the next look shows what is there instead.
            Err(EngineError::NoSuchContainer { .. }) => {}
            Err(error @ (EngineError::NotRunning { .. } | EngineError::Permission { .. })) => {
                return Err(error.into());
            }
            Err(_) => {
                self.existed = true;
                self.given_up.push(seen.id.clone());
                discard(maker, &seen.id);
            }
        }
        Ok(())
    }

    fn create(
        &mut self,
        maker: &Maker<'_>,
        progress: &mut dyn FnMut(&str),
    ) -> Result<Option<Place>, SandboxError> {
        match create::create(maker, progress) {
            Ok((place, notices)) => {
                self.ensured.notices.extend(notices);
                self.made_anew();
                Ok(Some(place))
            }
            Err(SandboxError::Engine(EngineError::NameTaken { name })) => {
                self.name_conflicts += 1;
                self.who_has(maker, &name)
            }
            Err(error) => Err(error),
        }
    }

    /// Somebody else was faster: usually another process of ours, whose container the next look finds.
    fn who_has(&self, maker: &Maker<'_>, name: &str) -> Result<Option<Place>, SandboxError> {
        if let Some(holder) = inspect::look_at(maker.engine, name)?
            && let Ownership::Foreign { reason } = decide::ownership(maker.identity, &holder)
        {
            return Err(SandboxError::NameOccupied { name: name.to_owned(), reason });
        }
        if self.name_conflicts > 1 {
            thread::sleep(PAUSE);
        }
        Ok(None)
    }

    /// One that another program made and that must not be used as it is: we make our own beside it.
    fn passed_over(&mut self, seen: &Observed, differences: &[Difference]) -> bool {
        let pass = seen.label(labels::KEY).is_none() && !differences.is_empty();
        if pass {
            self.given_up.push(seen.id.clone());
        }
        pass
    }

    /// What is lost with it is told by the notice; that a new one is made needs no second word.
    fn replace(&mut self, maker: &Maker<'_>, seen: &Observed, differences: Vec<Difference>) {
        discard(maker, &seen.id);
        self.ensured.notices.push(Notice::Recreated { differences });
    }

    fn made_anew(&mut self) {
        let replaced = self.ensured.notices.iter().any(|notice| matches!(notice, Notice::Recreated { .. }));
        self.ensured.happened = if replaced {
            Happened::Revived { reason: "the settings had changed".to_owned(), lost: None }
        } else if self.existed {
            let reason = "the container was gone or could not be used, and a new one was made".to_owned();
            Happened::Revived { reason, lost: Some(Lost::EverythingOffMounts) }
        } else {
            Happened::Created
        };
    }

    fn revived(&mut self, reason: String, lost: Lost, before: Before) {
        self.ensured.happened = match before {
            Before::NeverRan => Happened::Created,
            _ => Happened::Revived { reason, lost: Some(lost) },
        };
    }
}

/// Removes one that does not run. Should that fail, the next look decides again.
fn discard(maker: &Maker<'_>, id: &str) {
    let _ = cleanup::remove(maker.engine, id, Removal::OnlyStopped);
}

fn started_reason(before: Before) -> String {
    match before {
        Before::NeverRan => "the container was started for the first time".to_owned(),
        Before::Ended { code } => {
            format!("the container had stopped (exit code {code}) and was started again")
        }
        Before::OutOfMemory => "the container ran out of memory and was started again".to_owned(),
    }
}

fn pick<'a>(seen: &'a [Observed], id: &str) -> Result<&'a Observed, SandboxError> {
    let found = seen.iter().find(|one| one.id == id);
    found.ok_or_else(|| EngineError::NoSuchContainer { id: id.to_owned() }.into())
}

fn change(maker: &Maker<'_>, verb: &str, doing: &str, id: &str) -> Result<(), EngineError> {
    maker.engine.demand(&Request::new(doing, id, deadline::CHANGE, [verb, id])).map(drop)
}

/// In what a container differs from the settings. Of one that others made only the network is looked at:
/// it has no fields to compare, and a network that should be off must not be there.
pub(super) fn compare(maker: &Maker<'_>, seen: &Observed) -> Result<Vec<Difference>, SandboxError> {
    let wanted = wanted_fields(maker, seen)?;
    match seen.label(labels::FIELDS).and_then(Fields::from_json) {
        Some(has) => Ok(drift::differences(&has, &wanted)),
        None if wanted.get(drift::NETWORK) == Some("none") && seen.network != "none" => {
            Ok(vec![Difference {
                field: drift::NETWORK.to_owned(),
                has: Some(seen.network.clone()),
                wants: Some("none".to_owned()),
            }])
        }
        None => Ok(Vec::new()),
    }
}

/// What the settings ask for, with the image's id if it is on the engine's machine.
fn wanted_fields(maker: &Maker<'_>, seen: &Observed) -> Result<Fields, SandboxError> {
    let name = spec::image_name(maker.config, maker.context);
    // An image that was removed or cannot be looked at is no reason to give up a container that runs.
    let image = image::look(maker.engine, &name).unwrap_or(None);
    let site = match reach_of(seen) {
        Reach::Socket => Site::Here,
        Reach::Exec => Site::Elsewhere { endpoint: String::new() },
    };
    Ok(wanted::fields(maker.config, maker.context, maker.identity, image.as_ref(), site)?)
}

/// Whether a directory is shared with it, by its label.
fn reach_of(seen: &Observed) -> Reach {
    if seen.label(labels::TRANSPORT) == Some("exec") { Reach::Exec } else { Reach::Socket }
}

/// A running container of ours, as its labels describe it.
pub(super) fn place_of(seen: &Observed) -> Place {
    Place {
        id: seen.id.clone(),
        name: seen.name.clone(),
        fields: seen.label(labels::FIELDS).and_then(Fields::from_json),
        program: PROGRAM.to_owned(),
        plain: seen.plain().map(str::to_owned),
        reach: reach_of(seen),
    }
}
