//! Clean-up by label: what a test makes carries the label of its scope and is removed with the scope.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Engine, EngineKind};
use crate::command::End;

/// The label that everything made by tests carries.
pub const LABEL: &str = "hermes-test";

/// A set of containers, volumes and networks that goes away at the end of a test.
#[derive(Debug)]
pub struct Scope {
    engine: Engine,
    filters: Vec<String>,
    value: String,
}

impl Scope {
    pub(super) fn new(engine: Engine) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let value = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        Self { engine, filters: vec![format!("label={LABEL}={value}")], value }
    }

    /// The argument that puts a container, volume or network into this scope.
    pub fn label_arg(&self) -> String {
        format!("--label={LABEL}={}", self.value)
    }

    /// A name that no other scope uses.
    pub fn unique(&self, name: &str) -> String {
        format!("{LABEL}-{name}-{}", self.value)
    }

    /// Also removes containers that match this filter of `docker ps`, such as `label=key=value`: for those that
    /// the program under test makes itself. The filter must not match anything of others.
    #[must_use]
    pub fn also(mut self, filter: impl Into<String>) -> Self {
        self.filters.push(filter.into());
        self
    }

    /// Ids of the containers of this scope, in any state.
    #[track_caller]
    pub fn containers(&self) -> Vec<String> {
        self.filters.iter().flat_map(|filter| self.ids(&["ps", "--all"], filter)).collect()
    }

    /// Removes everything of this scope now.
    pub fn clear(&self) {
        let containers = self.containers();
        // Podman waits ten seconds for each container unless told not to; docker does not know the option.
        let wait: &[&str] = if self.engine.kind() == EngineKind::Podman { &["--time=0"] } else { &[] };
        self.remove(&[&["rm", "--force", "--volumes"], wait].concat(), &containers);
        let own = &self.filters[0];
        self.remove(&["volume", "rm", "--force"], &self.ids(&["volume", "ls"], own));
        self.remove(&["network", "rm"], &self.ids(&["network", "ls"], own));
    }

    fn ids(&self, list: &[&str], filter: &str) -> Vec<String> {
        let args = list.iter().copied().chain(["--quiet", "--filter", filter]);
        let finished = self.engine.cli(args);
        // An engine that a test has stopped holds nothing we could list.
        if finished.end == End::Code(0) { finished.lines() } else { Vec::new() }
    }

    fn remove(&self, command: &[&str], ids: &[String]) {
        if !ids.is_empty() {
            let args = command.iter().copied().chain(ids.iter().map(String::as_str));
            // Something may have removed them meanwhile, which is what we want.
            let _finished = self.engine.cli(args);
        }
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        self.clear();
    }
}
