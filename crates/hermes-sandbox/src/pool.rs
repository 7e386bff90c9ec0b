//! The sandboxes of a process: one handle for each place, made in one way for every tool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::Dispose;
use crate::config::{BackendKind, Reuse, SandboxConfig};
use crate::context::Context;
use crate::digest;
use crate::error::SandboxError;
use crate::sandbox::Sandbox;

/// The handles in use. Every tool gets its sandbox here, so that no two of them can mean different places.
#[derive(Default)]
pub struct Pool {
    entries: Mutex<HashMap<String, Entry>>,
}

struct Entry {
    sandbox: Arc<Sandbox>,
    used: Instant,
}

impl Pool {
    /// The sandbox for a caller; opened if it is not, and opened anew when the settings changed.
    pub fn get(
        &self,
        config: &SandboxConfig,
        context: &Context,
        now: Instant,
    ) -> Result<Arc<Sandbox>, SandboxError> {
        let key = key(config, context);
        let mut entries = self.entries();
        if let Some(entry) = entries.get_mut(&key)
            && entry.sandbox.config() == config
        {
            entry.used = now;
            return Ok(Arc::clone(&entry.sandbox));
        }
        let sandbox = Arc::new(Sandbox::open(config, context)?);
        entries.insert(key, Entry { sandbox: Arc::clone(&sandbox), used: now });
        Ok(sandbox)
    }

    /// Lets go of handles that nobody has used for their lifetime. Where a place outlives its process only
    /// the handle goes; a place of this process alone goes with it, but not while anything runs there.
    pub fn drop_idle(&self, now: Instant) -> usize {
        let idle: Vec<String> = self
            .entries()
            .iter()
            .filter(|(_, entry)| now.duration_since(entry.used) >= entry.sandbox.config().lifetime)
            .filter(|(_, entry)| Arc::strong_count(&entry.sandbox) == 1)
            .map(|(key, _)| key.clone())
            .collect();
        let mut dropped = 0;
        for key in idle {
            let Some(sandbox) = self.entries().get(&key).map(|entry| Arc::clone(&entry.sandbox)) else {
                continue;
            };
            if goes_with_us(sandbox.config()) && sandbox.is_busy() {
                continue;
            }
            let mut entries = self.entries();
            // Somebody may have come for it while we asked: the map holds one handle, we hold one.
            if Arc::strong_count(&sandbox) == 2 && entries.remove(&key).is_some() {
                drop(entries);
                let _ = sandbox.dispose(Dispose::Release);
                dropped += 1;
            }
        }
        dropped
    }

    /// Lets go of everything before the process ends. All removals run at once, under one time limit;
    /// `true` when all of them were through.
    pub fn close(&self, within: Duration) -> bool {
        let until = Instant::now() + within;
        let sandboxes: Vec<Arc<Sandbox>> = self.entries().drain().map(|(_, entry)| entry.sandbox).collect();
        for sandbox in &sandboxes {
            // What cannot be let go of now is found by the next sweep.
            let _ = sandbox.dispose(Dispose::Release);
        }
        let waited = |sandbox: &Arc<Sandbox>| {
            sandbox.wait_for_cleanup(until.saturating_duration_since(Instant::now()))
        };
        // Every one is waited for, so that a slow one does not hide another.
        sandboxes.iter().filter(|sandbox| !waited(sandbox)).count() == 0
    }

    /// How many handles there are.
    pub fn len(&self) -> usize {
        self.entries().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries().is_empty()
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn goes_with_us(config: &SandboxConfig) -> bool {
    config.backend == BackendKind::Docker && config.container.reuse == Reuse::Never
}

/// What makes two callers share a handle.
fn key(config: &SandboxConfig, context: &Context) -> String {
    let scope = config.scope.resolve(&context.caller);
    let (ssh, image) = (&config.ssh, context.caller.image.as_deref().unwrap_or_default());
    let place = match config.backend {
        BackendKind::Ssh => format!("{}@{}:{:?}", ssh.user, ssh.host, ssh.port),
        BackendKind::Local | BackendKind::Docker => image.to_owned(),
    };
    digest::hex(&digest::of_parts([
        config.backend.as_str().as_bytes(),
        place.as_bytes(),
        context.home.as_os_str().as_encoded_bytes(),
        context.profile.as_bytes(),
        scope.kind().as_bytes(),
        scope.id().as_bytes(),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context;
    use crate::scope::Scope;

    fn config() -> SandboxConfig {
        SandboxConfig::default()
    }

    #[test]
    fn the_same_caller_gets_the_same_handle() {
        let pool = Pool::default();
        let now = Instant::now();
        let one = pool.get(&config(), &context::sample(), now).unwrap();
        let two = pool.get(&config(), &context::sample(), now).unwrap();
        assert!(Arc::ptr_eq(&one, &two));
        let mut other = context::sample();
        other.profile = "work".into();
        assert!(!Arc::ptr_eq(&one, &pool.get(&config(), &other, now).unwrap()));
        assert_eq!(pool.len(), 2);
    }

    #[test]
    fn scopes_tell_callers_apart() {
        let pool = Pool::default();
        let by_session = SandboxConfig { scope: Scope::Session, ..config() };
        for session in ["a", "b", "a"] {
            let mut context = context::sample();
            context.caller.session = Some(session.into());
            pool.get(&by_session, &context, Instant::now()).unwrap();
        }
        assert_eq!(pool.len(), 2);
    }

    #[test]
    fn changed_settings_open_anew() {
        let pool = Pool::default();
        let one = pool.get(&config(), &context::sample(), Instant::now()).unwrap();
        let changed = SandboxConfig { timeout: Duration::from_secs(7), ..config() };
        let two = pool.get(&changed, &context::sample(), Instant::now()).unwrap();
        assert!(!Arc::ptr_eq(&one, &two));
        assert_eq!(pool.len(), 1);
    }

    #[test]
    fn idle_handles_go_and_held_ones_stay() {
        let pool = Pool::default();
        let begun = Instant::now();
        let held = pool.get(&config(), &context::sample(), begun).unwrap();
        let later = begun + config().lifetime;
        assert_eq!(pool.drop_idle(later), 0, "somebody has it in hand");
        drop(held);
        assert_eq!(pool.drop_idle(later.checked_sub(Duration::from_secs(1)).unwrap()), 0, "not long enough");
        assert_eq!(pool.drop_idle(later), 1);
        assert!(pool.is_empty());
    }

    #[test]
    fn closing_lets_go_of_everything() {
        let pool = Pool::default();
        pool.get(&config(), &context::sample(), Instant::now()).unwrap();
        assert!(pool.close(Duration::ZERO));
        assert!(pool.is_empty());
    }
}
