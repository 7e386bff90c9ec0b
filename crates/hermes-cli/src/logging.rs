//! Starting the log files for a command that does something worth remembering.

use hermes_guard::Redactor;
use hermes_home::logging::{LogConfig, Logger, Surroundings};
use jiff::Zoned;

use crate::app::App;
use crate::ui;

/// From here on `tracing` events go to the logs of the active profile.
///
/// Settings that cannot be read are no reason not to log: what is wrong with them may be what the log is about.
pub fn start(app: &App) {
    let settings = app.settings().ok();
    let config = settings.as_ref().and_then(|s| LogConfig::from_settings(s).ok()).unwrap_or_default();
    let redactor = redactor(app);
    let surroundings = Surroundings {
        clock: Box::new(|| Zoned::now().datetime()),
        redactor: Box::new(move || redactor),
        on_trouble: Box::new(|error| ui::warn(&format!("cannot write to the log: {error}"))),
    };
    // A second start in the same process changes nothing.
    let _ = Logger::new(&app.home.logs_dir(), config, surroundings).install();
}

/// Knows the secrets of the home; of the environment alone when the settings cannot be read.
pub fn redactor(app: &App) -> Redactor {
    match app.settings() {
        Ok(settings) => Redactor::new(settings.secret_values()),
        Err(_) => {
            Redactor::from_variables(app.env.iter().filter_map(|(k, v)| Some((k.to_str()?, v.to_str()?))))
        }
    }
}
