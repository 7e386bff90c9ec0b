//! Files by way of a shell: read, write, look at, list. Enough to work with, without the care the agent takes.

use std::ffi::OsString;
use std::time::Duration;

use super::process::{Output, Waited};
use super::{Plain, PlainError, PlainStreams};

/// How long a file operation may take.
const LIMIT: Duration = Duration::from_mins(2);

/// What is known about a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlainStat {
    /// What it is.
    pub kind: PlainKind,
    /// Bytes, of a file.
    pub size: u64,
}

/// What a path is, links followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// Anything else.
    Other,
}

impl Plain {
    /// The content of a file, up to a few megabytes.
    pub fn read(&self, path: &str) -> Result<Vec<u8>, PlainError> {
        Ok(self.file("read", path, "cat -- \"$1\"", None)?.stdout)
    }

    /// Replaces the content of a file in place, so that its mode, owner and links are kept. Not atomic.
    pub fn write(&self, path: &str, content: &[u8]) -> Result<(), PlainError> {
        self.file("write", path, "cat > \"$1\"", Some(content.to_vec())).map(drop)
    }

    /// What a path is; nothing when it is not there.
    pub fn stat(&self, path: &str) -> Result<Option<PlainStat>, PlainError> {
        let script = "if [ -d \"$1\" ]; then echo d 0; elif [ -f \"$1\" ]; then echo f $(wc -c < \"$1\"); \
                      elif [ -e \"$1\" ]; then echo o 0; fi";
        let output = self.file("look at", path, script, None)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut words = text.split_whitespace();
        let kind = match words.next() {
            Some("f") => PlainKind::File,
            Some("d") => PlainKind::Directory,
            Some(_) => PlainKind::Other,
            None => return Ok(None),
        };
        Ok(Some(PlainStat { kind, size: words.next().and_then(|size| size.parse().ok()).unwrap_or(0) }))
    }

    /// The names in a directory, in order.
    pub fn list(&self, path: &str) -> Result<Vec<String>, PlainError> {
        let script = "cd -- \"$1\" || exit 1; for f in * .[!.]* ..?*; do \
                      if [ -e \"$f\" ] || [ -L \"$f\" ]; then printf '%s\\0' \"$f\"; fi; done";
        let output = self.file("list", path, script, None)?;
        let names = output.stdout.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let mut names: Vec<String> = names.map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        names.sort();
        Ok(names)
    }

    fn file(
        &self,
        doing: &'static str,
        path: &str,
        script: &str,
        input: Option<Vec<u8>>,
    ) -> Result<Output, PlainError> {
        let failed = |detail: String| PlainError::File { doing, path: path.to_owned(), detail };
        let streams = input.map_or(PlainStreams::Kept, PlainStreams::Fed);
        let process = self.exec(script, &[OsString::from(path)], &[], streams)?;
        match process.wait(Some(LIMIT)) {
            Waited::Ended(output) if output.code == 0 => Ok(output),
            Waited::Ended(output) => Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned())),
            Waited::TimedOut(process) | Waited::Cancelled(process) => {
                process.abandon();
                Err(failed("it took too long".to_owned()))
            }
        }
    }
}
