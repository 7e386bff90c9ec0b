//! Texts that are too long for the model, kept in files where its own commands can read them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hermes_box::client::{CallError, Client};
use hermes_box::proto::exec::ExecRequest;
use hermes_box::proto::file::{Expect, Parents, Place, WriteRequest};
use hermes_sandbox::error::SandboxError;

use super::{Workplace, lock};
use crate::tool::Progress;

/// Why a text could not be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// There is no place to keep it in.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The place could not do it.
    #[error("the file could not be written: {0}")]
    Call(#[from] CallError),
    /// No directory there that is ours alone.
    #[error("there is no private temporary directory in the sandbox: {0}")]
    Directory(String),
}

/// Makes the directory, makes sure that it is ours, throws out what is old, and prints where it is.
const PREPARE: &str = r#"umask 077
d="${TMPDIR:-/tmp}/hermes-results-$(id -u)"
mkdir -p "$d" && [ -O "$d" ] && [ ! -L "$d" ] && chmod 700 "$d" && cd "$d" || exit 1
find . -type f -mtime +7 -exec rm -f {} + 2>/dev/null
pwd -P"#;

impl Workplace {
    /// Writes a text to a private file in the place, named after a call; where it is. Blocks.
    pub fn keep(&self, session: &str, call_id: &str, text: &str) -> Result<PathBuf, KeepError> {
        let client = self.enter(session, &Progress::silent())?.client;
        self.keep_with(&client, call_id, text)
    }

    pub(crate) fn keep_with(&self, client: &Client, call_id: &str, text: &str) -> Result<PathBuf, KeepError> {
        let path = self.results_dir(client)?.join(file_name(call_id));
        let request = WriteRequest {
            place: Place::from(path.as_path()),
            expect: Expect::Any,
            parents: Parents::MustExist,
            mode: Some(0o600),
        };
        client.files().write_with(request, text.as_bytes())?;
        Ok(path)
    }

    fn results_dir(&self, client: &Client) -> Result<PathBuf, KeepError> {
        let instance = client.agent().instance;
        if let Some(known) = lock(&self.0.results).get(&instance) {
            return Ok(known.clone());
        }
        let mut request = ExecRequest::shell("", PREPARE).timeout(Duration::from_secs(30));
        request.session = None;
        let exit = client.run(request)?;
        let printed = exit.stdout.bytes();
        let text = String::from_utf8_lossy(&printed);
        let path = Path::new(text.trim_end_matches('\n'));
        if exit.code() != 0 || !path.is_absolute() {
            return Err(KeepError::Directory(text.trim().to_owned()));
        }
        lock(&self.0.results).insert(instance, path.to_path_buf());
        Ok(path.to_path_buf())
    }
}

/// A call's id as a file name: models write what they like there.
fn file_name(call_id: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '_' };
    let name: String = call_id.chars().take(100).map(plain).collect();
    if name.is_empty() { "result.txt".to_owned() } else { format!("{name}.txt") }
}

#[cfg(test)]
mod tests {
    use super::file_name;

    #[test]
    fn ids_cannot_leave_the_directory() {
        assert_eq!(file_name("call_1-a"), "call_1-a.txt");
        assert_eq!(file_name("../../etc/passwd"), "______etc_passwd.txt");
        assert_eq!(file_name(""), "result.txt");
        assert!(file_name(&"x".repeat(1000)).len() < 120);
    }
}
