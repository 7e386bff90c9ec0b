//! All containers at a glance.

use jiff::Timestamp;
use serde::Serialize;

use super::Manager;
use crate::docker::decide::{Ownership, ownership};
use crate::docker::inspect::{Observed, State};
use crate::docker::reclaim::Activity;
use crate::docker::{belongs, labels};
use crate::error::SandboxError;

/// Which containers are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Those of this profile and home.
    Ours,
    /// All that carry the family's label.
    All,
}

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub name: String,
    /// Its id, short.
    pub id: String,
    /// What it is doing.
    pub state: State,
    /// The image.
    pub image: String,
    /// The profile it belongs to.
    pub profile: String,
    /// `kind:id` of its scope; nothing for one that another program made.
    pub scope: Option<String>,
    /// The home it belongs to, where that is known.
    pub home: Option<String>,
    /// Whether it is the one this profile would use now.
    pub current: bool,
    /// Who made it.
    pub made_by: MadeBy,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// Clients connected, other than this look at it.
    pub clients: Option<usize>,
    /// Commands and jobs running.
    pub running: Option<usize>,
    /// Seconds since it was last used.
    pub idle_seconds: Option<u64>,
}

/// Who made a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MadeBy {
    /// This program.
    Us,
    /// Another one that keeps the same labels.
    Other,
}

impl Manager {
    /// Lists containers, those that run with what their agents say.
    pub fn list(&self, which: Which) -> Result<Vec<Summary>, SandboxError> {
        let all = self.all()?;
        let wanted = all
            .iter()
            .filter(|one| which == Which::All || belongs::to_this_profile(self.identity(), one).is_ok());
        let mut list: Vec<Summary> = wanted.map(|one| self.summary(one)).collect();
        list.sort_by(|a, b| b.current.cmp(&a.current).then_with(|| a.name.cmp(&b.name)));
        Ok(list)
    }

    pub(super) fn summary(&self, one: &Observed) -> Summary {
        let activity =
            if one.state == State::Running { self.attach().activity(one) } else { Activity::Unknown };
        let (clients, running, idle) = match activity {
            Activity::Known { clients, running, idle } => {
                (Some(clients), Some(running), Some(idle.as_secs()))
            }
            Activity::Unknown => (None, None, None),
        };
        let label = |name: &str| one.label(name).map(str::to_owned);
        Summary {
            name: one.name.clone(),
            id: one.id.chars().take(12).collect(),
            state: one.state,
            image: one.image.clone(),
            profile: label(labels::PROFILE).unwrap_or_default(),
            scope: label(labels::SCOPE),
            home: label(labels::HOME),
            current: ownership(self.identity(), one) == Ownership::Ours,
            made_by: if label(labels::KEY).is_some() { MadeBy::Us } else { MadeBy::Other },
            created: one.created,
            clients,
            running,
            idle_seconds: idle,
        }
    }
}
