//! Whether a container still is what the settings ask for, field by field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::DriftPolicy;
use crate::digest;

/// Counts up when our own defaults change in a way that existing containers should follow.
pub const DEFAULTS_EPOCH: u32 = 1;

/// The create request as named fields. Values that may be secret are already hashed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fields(BTreeMap<String, String>);

impl Fields {
    /// Sets a field.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// Sets a field whose value must not be readable; `salt` keeps equal values of two boxes apart.
    pub fn set_hashed(&mut self, name: impl Into<String>, value: &str, salt: &str) {
        self.set(name, hashed(value, salt));
    }

    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// What follows a prefix in the names that begin with it.
    pub fn names_after<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.keys().filter_map(move |name| name.strip_prefix(prefix))
    }

    /// One hash over all of them.
    pub fn fingerprint(&self) -> String {
        let parts = self.0.iter().flat_map(|(name, value)| [name.as_bytes(), value.as_bytes()]);
        digest::hex(&digest::of_parts(parts))[..32].to_owned()
    }

    /// As label text.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// From label text; a label that was tampered with is no fields at all.
    pub fn from_json(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok().map(Self)
    }
}

const HASH_MARK: &str = "hash:";

fn hashed(value: &str, salt: &str) -> String {
    let hash = digest::of_parts([salt.as_bytes(), value.as_bytes()]);
    format!("{HASH_MARK}{}", &digest::hex(&hash)[..16])
}

/// One field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Its name.
    pub field: String,
    /// What the container has; nothing if the field is new.
    pub has: Option<String>,
    /// What the settings ask for; nothing if it is no longer asked for.
    pub wants: Option<String>,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let secret = |value: &Option<String>| value.as_deref().is_some_and(|v| v.starts_with(HASH_MARK));
        match (&self.has, &self.wants) {
            _ if secret(&self.has) && secret(&self.wants) => write!(f, "{} changed", self.field),
            (None, wants) if secret(wants) => write!(f, "{} added", self.field),
            (has, None) if secret(has) => write!(f, "{} removed", self.field),
            (Some(has), Some(wants)) => write!(f, "{} is \"{has}\", wanted \"{wants}\"", self.field),
            (None, Some(wants)) => write!(f, "{} \"{wants}\" added", self.field),
            (Some(has), None) => write!(f, "{} \"{has}\" removed", self.field),
            (None, None) => f.write_str(&self.field),
        }
    }
}

/// Every field in which the two differ, in order of name.
///
/// `image-id` counts only when both sides know it: an attach that asks no engine does not.
pub fn differences(has: &Fields, wants: &Fields) -> Vec<Difference> {
    let names: std::collections::BTreeSet<&String> = has.0.keys().chain(wants.0.keys()).collect();
    names
        .into_iter()
        .filter(|name| has.get(name) != wants.get(name))
        .filter(|name| *name != IMAGE_ID || (has.get(name).is_some() && wants.get(name).is_some()))
        .map(|name| Difference {
            field: name.clone(),
            has: has.get(name).map(str::to_owned),
            wants: wants.get(name).map(str::to_owned),
        })
        .collect()
}

/// The field with the image's id.
pub const IMAGE_ID: &str = "image-id";
/// The field that says whether there is a network.
pub const NETWORK: &str = "network";

/// Whether anyone uses a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Usage {
    /// Nobody, and nothing runs in it.
    Idle,
    /// Other clients or jobs.
    Busy {
        /// Clients besides the one that asked.
        clients: usize,
        /// Running jobs and commands.
        running: usize,
    },
    /// Its agent does not answer, so nothing can be using it through us.
    NoAgent,
    /// Its agent is alive and cannot be asked, so somebody may be.
    Unknown,
}

/// What to do about a difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing differs, or nobody wants to know.
    Keep,
    /// Keep it and say so.
    KeepAndTell {
        /// Why it is kept.
        because: String,
    },
    /// Make it anew.
    Recreate,
    /// It must not be used, and must not be taken from those who use it.
    Refuse {
        /// Why.
        because: String,
    },
}

/// Decides. A box that still reaches a network it should not reach is never used, whatever the policy.
pub fn decide(differences: &[Difference], policy: DriftPolicy, usage: Usage) -> Verdict {
    if differences.is_empty() {
        return Verdict::Keep;
    }
    let must = differences.iter().any(|d| d.field == NETWORK && d.wants.as_deref() == Some("none"));
    let busy = match usage {
        Usage::Idle | Usage::NoAgent => None,
        Usage::Unknown => Some("it is not known whether it is in use".to_owned()),
        Usage::Busy { clients, running } => {
            Some(format!("it is in use ({clients} clients, {running} running)"))
        }
    };
    match (must, policy, busy) {
        (true, _, None) | (false, DriftPolicy::Recreate, None) => Verdict::Recreate,
        (true, _, Some(because)) => Verdict::Refuse { because },
        (false, DriftPolicy::Recreate, Some(because)) => Verdict::KeepAndTell { because },
        (false, DriftPolicy::Warn, _) => {
            Verdict::KeepAndTell { because: "docker_on_drift is \"warn\"".to_owned() }
        }
        (false, DriftPolicy::Ignore, _) => Verdict::Keep,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&str, &str)]) -> Fields {
        let mut fields = Fields::default();
        for (name, value) in pairs {
            fields.set(*name, *value);
        }
        fields
    }

    #[test]
    fn equal_fields_have_equal_fingerprints_whatever_their_order() {
        let one = fields(&[("a", "1"), ("b", "2")]);
        let two = fields(&[("b", "2"), ("a", "1")]);
        assert_eq!(one.fingerprint(), two.fingerprint());
        assert_ne!(one.fingerprint(), fields(&[("a", "12"), ("b", "")]).fingerprint());
        assert_eq!(Fields::from_json(&one.to_json()), Some(one));
        assert_eq!(Fields::from_json("{nonsense"), None);
    }

    #[test]
    fn every_differing_field_is_named() {
        let has = fields(&[("image", "a:1"), ("memory", "512"), ("mount:/data", "/srv")]);
        let wants = fields(&[("image", "a:2"), ("memory", "512"), ("cpus", "2")]);
        let shown: Vec<String> = differences(&has, &wants).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            ["cpus \"2\" added", "image is \"a:1\", wanted \"a:2\"", "mount:/data \"/srv\" removed"]
        );
    }

    #[test]
    fn secret_values_are_compared_but_never_shown() {
        let (mut has, mut wants) = (Fields::default(), Fields::default());
        has.set_hashed("env:TOKEN", "hunter2", "salt");
        wants.set_hashed("env:TOKEN", "hunter3", "salt");
        let found = differences(&has, &wants);
        assert_eq!(found[0].to_string(), "env:TOKEN changed");
        assert!(!has.to_json().contains("hunter2"));
        let mut other = Fields::default();
        other.set_hashed("env:TOKEN", "hunter2", "pepper");
        assert_ne!(has, other, "equal values in two boxes must not look equal");
    }

    #[test]
    fn an_unknown_image_id_is_no_difference() {
        let has = fields(&[("image", "a"), (IMAGE_ID, "abc")]);
        assert!(differences(&has, &fields(&[("image", "a")])).is_empty());
        assert_eq!(differences(&has, &fields(&[("image", "a"), (IMAGE_ID, "def")])).len(), 1);
    }

    #[test]
    fn the_verdict_table() {
        let busy = Usage::Busy { clients: 1, running: 2 };
        let drift = differences(&fields(&[("cpus", "1")]), &fields(&[("cpus", "2")]));
        assert_eq!(decide(&[], DriftPolicy::Recreate, Usage::Idle), Verdict::Keep);
        assert_eq!(decide(&drift, DriftPolicy::Recreate, Usage::Idle), Verdict::Recreate);
        assert_eq!(decide(&drift, DriftPolicy::Recreate, Usage::NoAgent), Verdict::Recreate);
        for kept in [busy, Usage::Unknown] {
            assert!(matches!(decide(&drift, DriftPolicy::Recreate, kept), Verdict::KeepAndTell { .. }));
        }
        assert!(matches!(decide(&drift, DriftPolicy::Warn, Usage::Idle), Verdict::KeepAndTell { .. }));
        assert_eq!(decide(&drift, DriftPolicy::Ignore, Usage::Idle), Verdict::Keep);
    }

    #[test]
    fn a_network_that_should_be_off_is_never_tolerated() {
        let drift = differences(&fields(&[(NETWORK, "default")]), &fields(&[(NETWORK, "none")]));
        let busy = Usage::Busy { clients: 1, running: 0 };
        for policy in [DriftPolicy::Recreate, DriftPolicy::Warn, DriftPolicy::Ignore] {
            assert_eq!(decide(&drift, policy, Usage::Idle), Verdict::Recreate);
            assert!(matches!(decide(&drift, policy, busy), Verdict::Refuse { .. }));
        }
        let reverse = differences(&fields(&[(NETWORK, "none")]), &fields(&[(NETWORK, "default")]));
        assert_eq!(decide(&reverse, DriftPolicy::Ignore, Usage::Idle), Verdict::Keep);
    }
}
