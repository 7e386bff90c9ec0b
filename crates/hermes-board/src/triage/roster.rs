//! Who can be given work, and who gets what nobody fits.

use std::collections::BTreeMap;

use crate::card::assignee;

/// The profiles of a home, and whom work goes to that names none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Roster {
    /// Profiles, with what they are good at.
    pub profiles: BTreeMap<String, String>,
    /// Who gets a part that names nobody, or nobody who is there.
    pub fallback: String,
    /// Who puts the parts together in the end.
    pub orchestrator: String,
}

/// A name from the settings that means nobody.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{setting}' names \"{name}\", and there is no such profile: \"{instead}\" is taken")]
pub struct Unknown {
    /// The setting.
    pub setting: &'static str,
    /// What it says.
    pub name: String,
    /// Who is taken instead.
    pub instead: String,
}

impl Roster {
    /// A roster from what the settings say; the profile in use stands in for names that mean nobody.
    pub fn new(
        profiles: BTreeMap<String, String>,
        default_assignee: &str,
        orchestrator: &str,
        active: &str,
    ) -> (Self, Vec<Unknown>) {
        let mut unknown = Vec::new();
        let mut pick = |setting: &'static str, name: &str| {
            let Some(name) = assignee(name) else { return active.to_owned() };
            if profiles.contains_key(&name) {
                return name;
            }
            unknown.push(Unknown { setting, name, instead: active.to_owned() });
            active.to_owned()
        };
        let fallback = pick("kanban.default_assignee", default_assignee);
        let orchestrator = pick("kanban.orchestrator_profile", orchestrator);
        (Self { profiles, fallback, orchestrator }, unknown)
    }

    /// Who gets work that names this profile, or none.
    pub fn resolve(&self, wanted: Option<&str>) -> String {
        let wanted = wanted.and_then(assignee).filter(|name| self.profiles.contains_key(name));
        wanted.unwrap_or_else(|| self.fallback.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profiles() -> BTreeMap<String, String> {
        ["default", "alpha", "beta"].into_iter().map(|name| (name.to_owned(), String::new())).collect()
    }

    #[test]
    fn names_lead_to_profiles() {
        let (roster, unknown) = Roster::new(profiles(), " Alpha ", "", "default");
        assert_eq!(unknown, []);
        assert_eq!(roster.orchestrator, "default");
        for (wanted, got) in
            [(Some("Beta"), "beta"), (Some("nobody"), "alpha"), (Some(" "), "alpha"), (None, "alpha")]
        {
            assert_eq!(roster.resolve(wanted), got, "{wanted:?}");
        }
    }

    #[test]
    fn settings_that_name_nobody_are_said() {
        let (roster, unknown) = Roster::new(profiles(), "gone", "lost", "beta");
        assert_eq!((roster.fallback.as_str(), roster.orchestrator.as_str()), ("beta", "beta"));
        assert_eq!(unknown.len(), 2);
        assert_eq!(
            unknown[0].to_string(),
            "'kanban.default_assignee' names \"gone\", and there is no such profile: \"beta\" is taken"
        );
    }
}
