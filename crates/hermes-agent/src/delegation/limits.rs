//! How many helpers there may be, how deep, and how much each may take.

use std::time::Duration;

use hermes_home::Settings;
use hermes_home::settings::SettingError;
use hermes_home::settings::table::delegation;

/// A helper that is given less cannot do anything.
const SHORTEST: Duration = Duration::from_secs(30);
/// Helpers of helpers of helpers are enough.
const DEEPEST: u8 = 3;

/// What helpers may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Helpers of one agent that work at once.
    pub at_once: usize,
    /// How many generations of helpers there may be.
    pub depth: u8,
    /// Whether a helper may have helpers.
    pub orchestrators: Orchestrators,
    /// Most model calls of a helper.
    pub calls: u32,
    /// Most tokens of a helper.
    pub tokens: Option<u64>,
    /// How long a helper may take.
    pub time: Option<Duration>,
    /// Characters of a helper's report that are passed on.
    pub report: usize,
    /// Whether tools of servers come along.
    pub servers: ServerTools,
}

/// Whether a helper may have helpers of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orchestrators {
    /// If it is to be one and is not too deep.
    Allowed,
    /// Never.
    Never,
}

/// Whether tools of servers and plugins come along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerTools {
    /// They do, whatever toolsets are named.
    Inherited,
    /// They do not.
    Left,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            at_once: 3,
            depth: 1,
            orchestrators: Orchestrators::Allowed,
            calls: 50,
            tokens: None,
            time: None,
            report: 24_000,
            servers: ServerTools::Inherited,
        }
    }
}

impl Limits {
    /// As the settings say.
    pub fn from_settings(settings: &Settings) -> Result<Self, SettingError> {
        let number =
            |def| -> Result<u64, SettingError> { Ok(u64::try_from(settings.get(def)?).unwrap_or(0)) };
        let small = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let some = |number: u64| (number > 0).then_some(number);
        let depth = number(&delegation::MAX_SPAWN_DEPTH)?;
        Ok(Self {
            at_once: small(number(&delegation::MAX_CONCURRENT_CHILDREN)?).max(1),
            depth: u8::try_from(depth).unwrap_or(DEEPEST).clamp(1, DEEPEST),
            orchestrators: if settings.get(&delegation::ORCHESTRATOR_ENABLED)? {
                Orchestrators::Allowed
            } else {
                Orchestrators::Never
            },
            calls: u32::try_from(number(&delegation::MAX_ITERATIONS)?).unwrap_or(u32::MAX).max(1),
            tokens: some(number(&delegation::MAX_TOKENS)?),
            time: some(number(&delegation::CHILD_TIMEOUT_SECONDS)?)
                .map(|seconds| Duration::from_secs(seconds).max(SHORTEST)),
            report: small(number(&delegation::MAX_SUMMARY_CHARS)?),
            servers: if settings.get(&delegation::INHERIT_MCP_TOOLSETS)? {
                ServerTools::Inherited
            } else {
                ServerTools::Left
            },
        })
    }

    /// Whether an agent of this generation may start helpers that start helpers; the user's own agent is generation 0.
    pub(super) fn may_orchestrate(&self, generation: u8) -> bool {
        self.orchestrators == Orchestrators::Allowed && generation + 1 < self.depth
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use hermes_home::{Home, Profile};
    use hermes_testkit::TestHome;
    use std::collections::BTreeMap;

    fn limits(config: &str, variables: &[(&str, &str)]) -> Limits {
        let test = TestHome::new();
        test.config(config);
        let home = Home::at(test.path(), Profile::Default);
        let env = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        Limits::from_settings(&Settings::load(&home, &env.collect::<BTreeMap<_, _>>()).unwrap()).unwrap()
    }

    #[test]
    fn the_settings_and_their_variables_count() {
        assert_eq!(limits("", &[]), Limits::default());
        let set = limits(
            "delegation:\n  max_spawn_depth: 9\n  child_timeout_seconds: 5\n  max_tokens: 1000\n  orchestrator_enabled: false\n",
            &[("DELEGATION_MAX_CONCURRENT_CHILDREN", "7")],
        );
        assert_eq!((set.depth, set.at_once, set.tokens), (3, 7, Some(1000)));
        assert_eq!(set.time, Some(SHORTEST), "less would be of no use");
        assert!(!set.may_orchestrate(0));
        assert_eq!(limits("delegation:\n  max_spawn_depth: 0\n", &[]).depth, 1);
    }

    #[test]
    fn only_so_many_generations() {
        let limits = Limits { depth: 2, ..Limits::default() };
        assert!(limits.may_orchestrate(0) && !limits.may_orchestrate(1));
        assert!(!Limits::default().may_orchestrate(0), "one generation is the preset");
    }
}
