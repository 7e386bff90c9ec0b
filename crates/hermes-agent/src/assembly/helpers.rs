//! What helpers of an agent are made from: the agent's own parts, and what the settings say about helpers.

use std::sync::Arc;

use hermes_guard::Redactor;
use hermes_home::settings::table::delegation;
use hermes_model::{Caller, Effort};
use hermes_store::sessions::NewSession;
use hermes_tools::gate::ask::{AskGate, Mode, Yolo};
use hermes_tools::{Gate, Workplace};
use jiff::Zoned;

use super::{OpenError, Opening, Told, prompt_parts, side};
use crate::agent::{Clock, Rules};
use crate::checkpoints::{CheckpointGate, Keeper};
use crate::delegation::{Kit, Limits};
use crate::journal::SharedStore;
use crate::prompt;

/// What an agent has that its helpers get too.
pub(super) struct Own<'a> {
    pub told: &'a Told<'a>,
    pub store: &'a SharedStore,
    pub workplace: &'a Workplace,
    pub caller: &'a Caller,
    pub redactor: &'a Arc<Redactor>,
    pub clock: &'a Clock,
    pub rules: &'a Rules,
    pub session: NewSession,
}

/// The kit for helpers.
pub(super) fn kit(own: Own<'_>, now: &Zoned, notices: &mut Vec<String>) -> Result<Kit, OpenError> {
    let opening = own.told.opening;
    let settings = &opening.settings;
    // One meter, so that calls that run at the same time see each other.
    let metered = |theirs: Caller| match own.caller.meter() {
        Some(meter) => theirs.with_meter(Arc::clone(meter)),
        None => theirs,
    };
    let caller = side::for_helpers(&opening.home, settings, own.store, notices)?.map(metered);
    // Neither the project nor the notes have a say: a helper knows its task.
    let parts = prompt_parts(own.told, prompt::Rules::Ignore, now)?.parts;
    Ok(Kit {
        store: own.store.clone(),
        workplace: Some(own.workplace.clone()),
        news: own.workplace.notifications().clone(),
        shelf: Some(Arc::new(own.workplace.clone())),
        redactor: Arc::clone(own.redactor),
        clock: Arc::clone(own.clock),
        prompt: parts,
        rules: own.rules.clone(),
        limits: Limits::from_settings(settings)?,
        caller,
        effort: Effort::parse(&settings.get(&delegation::REASONING_EFFORT)?),
        session: own.session,
    })
}

/// Who decides about the commands of helpers: the agent's own gate, unless the user lets them run without asking. What is
/// forbidden stays so, and snapshots are taken all the same.
pub(super) fn gate(
    opening: &Opening,
    own: &Arc<dyn Gate>,
    checkpoints: Option<&Arc<Keeper>>,
) -> Result<Arc<dyn Gate>, OpenError> {
    if !opening.settings.get(&delegation::SUBAGENT_AUTO_APPROVE)? {
        return Ok(Arc::clone(own));
    }
    let mode = Mode::from_settings(&opening.settings, Yolo::On)?;
    let free: Arc<dyn Gate> = Arc::new(AskGate::new(mode, None));
    Ok(match checkpoints {
        Some(keeper) => Arc::new(CheckpointGate::new(free, Arc::clone(keeper))),
        None => free,
    })
}
