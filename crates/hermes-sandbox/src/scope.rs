//! Who shares one place to run commands: the scope setting, resolved to a key.

use serde::Serialize;

/// The setting: what gets a place of its own.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// One place for everything a profile does; sub-agents share it.
    #[default]
    Profile,
    /// One place for each conversation.
    Session,
    /// One place for each task.
    Task,
    /// One place under a name that several profiles may use.
    Shared(String),
}

/// What the scope resolved to for one caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ScopeKey {
    /// The profile's own place.
    Profile,
    /// The place of this session.
    Session(String),
    /// The place of this task.
    Task(String),
    /// The place shared under this name.
    Shared(String),
}

/// The key every caller gets that has nothing to tell it apart.
pub const DEFAULT_KEY: &str = "default";

impl Scope {
    /// Resolves the setting for a caller.
    ///
    /// A task that brings its own image always gets its own place: two images cannot share one container.
    pub fn resolve(&self, caller: &Caller) -> ScopeKey {
        if caller.image.is_some()
            && let Some(task) = &caller.task
        {
            return ScopeKey::Task(task.clone());
        }
        let or_default = |id: &Option<String>| id.clone().unwrap_or_else(|| DEFAULT_KEY.to_owned());
        match self {
            Self::Profile => ScopeKey::Profile,
            Self::Session => ScopeKey::Session(or_default(&caller.session)),
            Self::Task => ScopeKey::Task(or_default(&caller.task)),
            Self::Shared(name) => ScopeKey::Shared(name.clone()),
        }
    }
}

impl ScopeKey {
    /// The kind, as it is hashed and shown.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Profile => "profile",
            Self::Session(_) => "session",
            Self::Task(_) => "task",
            Self::Shared(_) => "shared",
        }
    }

    /// The id within the kind; also what the `hermes-task-id` label says.
    pub fn id(&self) -> &str {
        match self {
            Self::Profile => DEFAULT_KEY,
            Self::Session(id) | Self::Task(id) | Self::Shared(id) => id,
        }
    }
}

/// Who asks: the parts of a tool call that can select another place or image.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Caller {
    /// The conversation, if there is one.
    pub session: Option<String>,
    /// The task, if there is one.
    pub task: Option<String>,
    /// An image this task asked for instead of the configured one.
    pub image: Option<String>,
    /// A working directory this task asked for instead of the configured one.
    pub cwd: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller() -> Caller {
        Caller { session: Some("s1".into()), task: Some("t1".into()), ..Caller::default() }
    }

    #[test]
    fn the_default_scope_ignores_session_and_task() {
        assert_eq!(Scope::default().resolve(&caller()), ScopeKey::Profile);
        assert_eq!(ScopeKey::Profile.id(), "default");
    }

    #[test]
    fn each_scope_picks_its_own_id() {
        assert_eq!(Scope::Session.resolve(&caller()), ScopeKey::Session("s1".into()));
        assert_eq!(Scope::Task.resolve(&caller()), ScopeKey::Task("t1".into()));
        assert_eq!(Scope::Shared("crew".into()).resolve(&caller()), ScopeKey::Shared("crew".into()));
        assert_eq!(Scope::Session.resolve(&Caller::default()), ScopeKey::Session("default".into()));
    }

    #[test]
    fn only_an_image_override_isolates_a_task() {
        let with_image = Caller { image: Some("other:1".into()), ..caller() };
        let with_cwd = Caller { cwd: Some("/srv".into()), ..caller() };
        assert_eq!(Scope::Profile.resolve(&with_image), ScopeKey::Task("t1".into()));
        assert_eq!(Scope::Profile.resolve(&with_cwd), ScopeKey::Profile);
    }
}
