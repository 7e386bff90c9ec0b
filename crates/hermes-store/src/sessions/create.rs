//! Sessions come, change and end.

use jiff::Timestamp;
use rusqlite::{ToSql, Transaction, named_params};
use serde_json::Value;

use super::SessionStore;
use super::error::SessionError;
use super::ids::{SessionId, seconds};
use super::marks::{self, Kind, Mark};

/// A session that begins.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Through which door it came: `cli`, `telegram`, `cron` …
    pub source: String,
    /// What it is for.
    pub kind: Kind,
    /// The model, if one is chosen.
    pub model: Option<String>,
    /// Settings of the model, an object.
    pub model_config: Option<Value>,
    /// The system prompt, if it is put together already.
    pub system_prompt: Option<String>,
    /// The session it belongs under.
    pub parent: Option<SessionId>,
    /// The directory it works in.
    pub cwd: Option<String>,
    /// The branch checked out there.
    pub git_branch: Option<String>,
    /// The top of the repository.
    pub git_root: Option<String>,
    /// Who talks, where there are several.
    pub user_id: Option<String>,
    /// The profile it runs under.
    pub profile: Option<String>,
    /// When it begins.
    pub started_at: Timestamp,
}

impl NewSession {
    /// A session with nothing known but its name, its door and its time.
    pub fn new(id: SessionId, source: impl Into<String>, started_at: Timestamp) -> Self {
        Self {
            id,
            source: source.into(),
            kind: Kind::Conversation,
            model: None,
            model_config: None,
            system_prompt: None,
            parent: None,
            cwd: None,
            git_branch: None,
            git_root: None,
            user_id: None,
            profile: None,
            started_at,
        }
    }
}

impl SessionStore {
    /// Begins a session. One that is there already keeps what it has and gets what it lacks.
    pub fn create(&mut self, new: &NewSession) -> Result<(), SessionError> {
        let config = marks::marked(new.model_config.as_ref(), new.kind, new.parent.as_ref());
        Ok(self.db.write(|tx| insert(tx, new, config.as_deref()))?)
    }

    /// Keeps the system prompt, byte for byte as it is sent.
    pub fn set_system_prompt(&mut self, id: &SessionId, prompt: &str) -> Result<(), SessionError> {
        self.update(id, "UPDATE sessions SET system_prompt = ?2 WHERE id = ?1", &[&prompt])
    }

    /// The system prompt, if one was kept.
    pub fn system_prompt(&mut self, id: &SessionId) -> Result<Option<String>, SessionError> {
        let found = self.db.read(|tx| {
            let mut statement = tx.prepare_cached("SELECT system_prompt FROM sessions WHERE id = ?1")?;
            let mut rows = statement.query([id.as_str()])?;
            rows.next()?.map(|row| row.get::<_, Option<String>>(0)).transpose()
        })?;
        found.ok_or_else(|| SessionError::no_session(id))
    }

    /// Notes that the session goes on with another model.
    pub fn set_model(&mut self, id: &SessionId, model: &str) -> Result<(), SessionError> {
        self.update(id, "UPDATE sessions SET model = ?2 WHERE id = ?1", &[&model])
    }

    /// Notes where the session works now.
    pub fn set_workspace(
        &mut self,
        id: &SessionId,
        cwd: &str,
        git_branch: Option<&str>,
        git_root: Option<&str>,
    ) -> Result<(), SessionError> {
        let sql = "UPDATE sessions SET cwd = ?2, git_branch = ?3, git_repo_root = ?4 WHERE id = ?1";
        self.update(id, sql, &[&cwd, &git_branch, &git_root])
    }

    /// Ends the session. One that ended already keeps its first reason.
    pub fn end(&mut self, id: &SessionId, reason: &str, at: Timestamp) -> Result<(), SessionError> {
        let sql = "UPDATE sessions SET end_reason = iif(ended_at IS NULL, ?2, end_reason),
                       ended_at = ifnull(ended_at, ?3) WHERE id = ?1";
        self.update(id, sql, &[&reason, &seconds(at)])
    }

    /// Takes the end back, because the session goes on.
    pub fn reopen(&mut self, id: &SessionId) -> Result<(), SessionError> {
        self.update(id, "UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?1", &[])
    }

    /// Makes a conversation of what was a single question, because somebody goes on with it.
    pub fn mark_conversation(&mut self, id: &SessionId) -> Result<(), SessionError> {
        let key = Mark::OneShot.key();
        let config = marks::config_of("sessions");
        let sql = format!(
            "UPDATE sessions SET model_config = iif({mark} IS NULL, model_config, json_remove({config}, '$.{key}'))
             WHERE id = ?1",
            mark = Mark::OneShot.of("sessions"),
        );
        self.update(id, &sql, &[])
    }

    /// Changes one session; an error if there is none. `?1` is the session, the values follow.
    pub(super) fn update(
        &mut self,
        id: &SessionId,
        sql: &str,
        values: &[&dyn ToSql],
    ) -> Result<(), SessionError> {
        let changed = self.db.write(|tx| {
            let mut statement = tx.prepare_cached(sql)?;
            statement.raw_bind_parameter(1, id.as_str())?;
            for (index, value) in values.iter().enumerate() {
                statement.raw_bind_parameter(index + 2, value)?;
            }
            statement.raw_execute()
        })?;
        if changed == 0 { Err(SessionError::no_session(id)) } else { Ok(()) }
    }
}

fn insert(tx: &Transaction<'_>, new: &NewSession, config: Option<&str>) -> rusqlite::Result<()> {
    // The same parameters as for a session that is there already: a door may have opened it before its model was known.
    let mut statement = tx.prepare_cached(
        "INSERT INTO sessions (id, source, user_id, model, model_config, system_prompt, parent_session_id, cwd,
             git_branch, git_repo_root, profile_name, started_at)
         VALUES (:id, :source, :user, :model, :config, :prompt, :parent, :cwd, :branch, :root, :profile, :started)
         ON CONFLICT(id) DO UPDATE SET
             user_id = ifnull(user_id, excluded.user_id), model = ifnull(model, excluded.model),
             model_config = ifnull(model_config, excluded.model_config),
             system_prompt = ifnull(system_prompt, excluded.system_prompt),
             parent_session_id = ifnull(parent_session_id, excluded.parent_session_id),
             cwd = ifnull(cwd, excluded.cwd), git_branch = ifnull(git_branch, excluded.git_branch),
             git_repo_root = ifnull(git_repo_root, excluded.git_repo_root),
             profile_name = ifnull(profile_name, excluded.profile_name)",
    )?;
    statement.execute(named_params! {
        ":id": new.id.as_str(), ":source": new.source, ":user": new.user_id, ":model": new.model,
        ":config": config, ":prompt": new.system_prompt, ":parent": new.parent.as_ref().map(SessionId::as_str),
        ":cwd": new.cwd, ":branch": new.git_branch, ":root": new.git_root, ":profile": new.profile,
        ":started": seconds(new.started_at),
    })?;
    Ok(())
}
