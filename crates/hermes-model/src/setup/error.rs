//! Why no model can be asked, and what to do about it.

use hermes_home::files::FileError;
use hermes_home::settings::SettingError;

use crate::budget::LimitsError;
use crate::client::CallError;
use crate::provider::ResolveError;

/// Why no model can be asked.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// A setting makes no sense.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// The choice leads nowhere.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// A provider, but no model.
    #[error("'{0}' is set up, but no model is chosen: run `hermes model`, or set 'model.default'")]
    NoModel(String),
    /// A server of the user's own has several models, and none is chosen.
    #[error("the server at {address} offers {}: choose one with `hermes model NAME`", .models.join(", "))]
    SeveralModels {
        /// The server.
        address: String,
        /// What it offers, the first few.
        models: Vec<String>,
    },
    /// The server of the user's own could not be asked for its models.
    #[error("no model is chosen, and the server at {address} does not say what it offers: {source}")]
    NotOffered {
        /// The server.
        address: String,
        /// Why not.
        source: CallError,
    },
    /// The limits make no sense.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// A file of the home cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl SetupError {
    /// Whether it is simply that nobody chose a model yet; [`suggest_setup`] then says what to do.
    pub fn is_nothing_set_up(&self) -> bool {
        matches!(self, Self::NoModel(_) | Self::Resolve(ResolveError::NothingChosen))
    }

    /// The message for a person: what is wrong, and for a home without a model everything that can be done about it.
    pub fn explained(&self) -> String {
        if self.is_nothing_set_up() { format!("{self}\n\n{}", suggest_setup()) } else { self.to_string() }
    }
}

/// What to do when no model is set up: the same words at every front door.
pub fn suggest_setup() -> &'static str {
    "\
To choose a model:
  hermes setup                 asks a few questions, tests your key, saves the answers
  hermes model                 only the model: pick a provider and a model from its list

Without questions:
  hermes model NAME --provider openrouter --key-stdin < key.txt
  hermes model NAME --base-url http://127.0.0.1:11434/v1     a server of your own (Ollama, vLLM, llama.cpp, LM Studio)
  OPENROUTER_API_KEY=… in the environment and a model with -m    nothing is saved

`hermes model list --provider NAME` shows what a provider offers."
}
