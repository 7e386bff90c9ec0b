//! A container that is said to run and whose agent does not answer: what was seen of it, and bringing it back.

use super::cleanup::{self, Removal};
use super::cli::{Request, deadline};
use super::errors::EngineError;
use super::inspect::{self, State};
use super::maker::{Maker, Place};
use crate::backend::Happened;
use crate::error::SandboxError;
use crate::notice::Lost;

/// What reviving did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revived {
    /// For the caller.
    pub happened: Happened,
    /// The container that was restarted, so that it is not restarted again and again.
    pub restarted: Option<String>,
}

/// Restarts it, which keeps its files; replaces it if that was done before and did not help. One that does
/// not run at all is left to the ordinary steps.
pub fn revive(
    maker: &Maker<'_>,
    place: &Place,
    restarted_before: Option<&str>,
) -> Result<Revived, SandboxError> {
    let nothing = Revived { happened: Happened::Nothing, restarted: None };
    let Some(seen) = inspect::look_at(maker.engine, &place.id)? else { return Ok(nothing) };
    if seen.state != State::Running || !seen.is_boxed() {
        return Ok(nothing);
    }
    if restarted_before != Some(seen.id.as_str()) && restart(maker, &seen.id)? {
        let reason = "the container did not answer and was restarted".to_owned();
        let happened = Happened::Revived { reason, lost: Some(Lost::Processes) };
        return Ok(Revived { happened, restarted: Some(seen.id) });
    }
    cleanup::remove(maker.engine, &seen.id, Removal::Forced)?;
    let reason = "the container did not answer even after a restart and was replaced".to_owned();
    let happened = Happened::Revived { reason, lost: Some(Lost::EverythingOffMounts) };
    Ok(Revived { happened, restarted: None })
}

/// Whether restarting worked. An engine that cannot be reached is an error; a container that cannot be
/// restarted is not.
fn restart(maker: &Maker<'_>, id: &str) -> Result<bool, SandboxError> {
    let args = ["restart", "-t", "2", id];
    match maker.engine.demand(&Request::new("restarting the container", id, deadline::CHANGE, args)) {
        Ok(_) => Ok(true),
        Err(error @ (EngineError::NotRunning { .. } | EngineError::Permission { .. })) => Err(error.into()),
        Err(_) => Ok(false),
    }
}
