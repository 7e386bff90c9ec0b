//! Why an agent cannot be put together.

use hermes_home::files::FileError;
use hermes_home::settings::SettingError;
use hermes_model::budget::LimitsError;
use hermes_model::setup::SetupError;
use hermes_store::sessions::{Resume, SessionError};
use hermes_tools::toolsets::SelectionError;

use crate::journal::JournalError;

/// Why an agent cannot be put together.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No model can be asked.
    #[error("{}", .0.explained())]
    Model(#[from] SetupError),
    /// No model is chosen.
    #[error("no model is set up\n\n{}", hermes_model::setup::suggest_setup())]
    NoModel,
    /// A setting makes no sense.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// A limit makes no sense.
    #[error(transparent)]
    Limits(#[from] LimitsError),
    /// The settings of the sandbox make no sense.
    #[error(transparent)]
    Sandbox(#[from] hermes_sandbox::from_settings::SettingsError),
    /// No tools to choose from.
    #[error(transparent)]
    Tools(#[from] SelectionError),
    /// The sessions cannot be opened.
    #[error(transparent)]
    Store(#[from] SessionError),
    /// The conversation cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The session to go on with is not there.
    #[error("{}", no_session(.0))]
    NoSession(Resume),
    /// A file of the home cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The system refused something.
    #[error("the system cannot give what is needed: {0}")]
    System(#[from] std::io::Error),
}

fn no_session(which: &Resume) -> String {
    let list = "`hermes sessions list` shows what there is";
    match which {
        Resume::Latest { source } => format!("there is no session of '{source}' to go on with; {list}"),
        Resume::Id(id) => format!("there is no session '{id}'; {list}"),
        Resume::Title(name) | Resume::Named(name) => format!("there is no session '{name}'; {list}"),
    }
}
