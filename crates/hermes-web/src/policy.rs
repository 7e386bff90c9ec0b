//! What the user's settings allow to be opened.

use std::path::Path;
use std::sync::Arc;

use hermes_guard::Redactor;
use hermes_guard::url::{Blocklist, Private, UrlPolicy};
use hermes_home::settings::SettingError;
use hermes_home::settings::table::safety;
use hermes_home::{Home, Settings};

/// The policy of the settings. Files of the block list that cannot be read are passed over with a warning in the log:
/// one that is gone must not close the web.
pub fn from_settings(home: &Home, settings: &Settings) -> Result<UrlPolicy, SettingError> {
    let allowed = settings.get(&safety::ALLOW_PRIVATE_URLS)?;
    let private = if allowed { Private::Allowed } else { Private::Refused };
    // Knows the secrets even where the user switched masking off: showing a key and sending it away are two things.
    let secrets = Arc::new(Redactor::new(settings.secret_values()));
    Ok(UrlPolicy::new(private, blocklist(home, settings)?, secrets))
}

fn blocklist(home: &Home, settings: &Settings) -> Result<Blocklist, SettingError> {
    if !settings.get(&safety::WEBSITE_BLOCKLIST_ENABLED)? {
        return Ok(Blocklist::default());
    }
    let mut entries = settings.get(&safety::WEBSITE_BLOCKLIST_DOMAINS)?;
    for file in settings.get(&safety::WEBSITE_BLOCKLIST_FILES)? {
        let path = home.dir().join(Path::new(&file));
        match std::fs::read_to_string(&path) {
            Ok(text) => entries.extend(text.lines().map(str::to_owned)),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "a file of blocked sites cannot be read");
            }
        }
    }
    Ok(Blocklist::new(entries.iter().map(String::as_str)))
}
