//! A job, as it is wanted and as it is.

use serde_json::{Value, json};

/// What a job is to be. In a new job nothing means the usual; in a change it means as it was.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFields {
    /// What it is called.
    pub name: Option<String>,
    /// What the model is told.
    pub prompt: Option<String>,
    /// When it runs.
    pub schedule: Option<String>,
    /// How often; 0 for ever.
    pub repeat: Option<u32>,
    /// Where its answer goes.
    pub deliver: Option<String>,
    /// Skills it starts with.
    pub skills: Option<Vec<String>>,
    /// The model it asks.
    pub model: Option<ModelChoice>,
    /// A program that runs before, or instead.
    pub script: Option<String>,
    /// Whether only the program runs.
    pub no_agent: Option<bool>,
    /// Jobs whose last output it gets.
    pub context_from: Option<Vec<String>>,
    /// The toolsets it has.
    pub enabled_toolsets: Option<Vec<String>>,
    /// Where it works.
    pub workdir: Option<String>,
    /// As whom it runs.
    pub profile: Option<String>,
}

/// A model, and who serves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// The model.
    pub model: String,
    /// Who serves it; nothing is whoever does now.
    pub provider: Option<String>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Job {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// What the model is told.
    pub prompt: String,
    /// Skills it starts with.
    pub skills: Vec<String>,
    /// The model, if it has one of its own.
    pub model: Option<String>,
    /// Who serves it.
    pub provider: Option<String>,
    /// When it runs, in words.
    pub schedule: String,
    /// How often it runs in all, and how often it has; nothing is for ever.
    pub repeat: Option<(u32, u32)>,
    /// Where its answer goes.
    pub deliver: String,
    /// When it runs next.
    pub next_run_at: Option<String>,
    /// When it ran last.
    pub last_run_at: Option<String>,
    /// How that went: `ok` or `error`.
    pub last_status: Option<String>,
    /// Why it failed.
    pub last_error: Option<String>,
    /// Why its answer did not arrive.
    pub last_delivery_error: Option<String>,
    /// Whether it runs at its time.
    pub enabled: bool,
    /// `scheduled`, `paused`, `error` or `completed`.
    pub state: String,
    /// Since when it is paused.
    pub paused_at: Option<String>,
    /// Why.
    pub paused_reason: Option<String>,
}

/// How much of a prompt is shown.
const PREVIEW: usize = 100;

impl Job {
    /// How often it runs, in words.
    pub(super) fn repeat_shown(&self) -> String {
        match self.repeat {
            None => "forever".to_owned(),
            Some((1, 0)) => "once".to_owned(),
            Some((times, completed)) => format!("{completed}/{times}"),
        }
    }

    /// As the model gets it.
    pub(super) fn shown(&self) -> Value {
        let prompt = match self.prompt.char_indices().nth(PREVIEW) {
            None => self.prompt.clone(),
            Some((end, _)) => format!("{}...", &self.prompt[..end]),
        };
        json!({
            "job_id": self.id,
            "name": self.name,
            "skill": self.skills.first(),
            "skills": self.skills,
            "prompt_preview": prompt,
            "model": self.model,
            "provider": self.provider,
            "schedule": self.schedule,
            "repeat": self.repeat_shown(),
            "deliver": self.deliver,
            "next_run_at": self.next_run_at,
            "last_run_at": self.last_run_at,
            "last_status": self.last_status,
            "last_error": self.last_error,
            "last_delivery_error": self.last_delivery_error,
            "enabled": self.enabled,
            "state": self.state,
            "paused_at": self.paused_at,
            "paused_reason": self.paused_reason,
        })
    }
}
