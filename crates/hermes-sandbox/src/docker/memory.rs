//! What one process writes down about its container, so that the next one need not ask the engine.

use std::time::Duration;

use jiff::Timestamp;

use super::drift;
use super::identity::Identity;
use super::maker::Place;
use super::site::Site;
use super::wanted;
use crate::config::{Network, Reuse, SandboxConfig};
use crate::context::Context;
use crate::registry::{Reach, Record, Registry};

/// How long a record is believed before the engine is asked about the container again. The engine alone
/// knows that a tag has moved to another image.
const BELIEVE: Duration = Duration::from_hours(1);

/// The records of one container.
pub struct Memory<'a> {
    /// The settings.
    pub config: &'a SandboxConfig,
    /// Where we run.
    pub context: &'a Context,
    /// Which container.
    pub identity: &'a Identity,
    /// Where records are.
    pub registry: &'a Registry,
}

/// How old a record may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Age {
    /// Young enough to be believed.
    Recent,
    /// Any, because there is nobody else to ask.
    Any,
}

impl Memory<'_> {
    /// The container of the record, if it is still what the settings ask for.
    pub fn recall(&self, age: Age) -> Option<Place> {
        if self.config.container.reuse == Reuse::Never {
            return None;
        }
        let record = self.registry.read(&self.identity.container_name())?;
        let since = Timestamp::now().duration_since(record.verified);
        let recent = Duration::try_from(since).is_ok_and(|since| since < BELIEVE);
        // Without an agent there is only the engine to say whether it runs.
        let answers = record.plain.is_none();
        let believed = answers && (recent || age == Age::Any) && record.key == self.identity.key();
        (believed && self.is_wanted(&record)).then(|| place(record))
    }

    /// Whether there was a container before.
    pub fn knows_one(&self) -> bool {
        self.registry.read(&self.identity.container_name()).is_some()
    }

    /// Writes down what the next process needs. Without it that one asks the engine, that is all.
    pub fn remember(&self, place: &Place) {
        if self.config.container.reuse == Reuse::Never {
            return;
        }
        let record = Record {
            id: place.id.clone(),
            name: place.name.clone(),
            key: self.identity.key(),
            fields: place.fields.clone(),
            program: place.program.clone(),
            plain: place.plain.clone(),
            reach: place.reach,
            verified: Timestamp::now(),
        };
        let _ = self.registry.write(&self.identity.container_name(), &record);
    }

    /// The image's id is left to the engine. One that another program made cannot be compared, so it is not
    /// believed where its network matters.
    fn is_wanted(&self, record: &Record) -> bool {
        let Some(has) = &record.fields else { return self.config.container.network == Network::On };
        let site = match record.reach {
            Reach::Socket => Site::Here,
            Reach::Exec => Site::Elsewhere { endpoint: String::new() },
        };
        wanted::fields(self.config, self.context, self.identity, None, site)
            .is_ok_and(|wanted| drift::differences(has, &wanted).is_empty())
    }
}

fn place(record: Record) -> Place {
    Place {
        id: record.id,
        name: record.name,
        fields: record.fields,
        program: record.program,
        plain: record.plain,
        reach: record.reach,
    }
}
