//! Which living processes use the shared engine: one file per process, so that the last one can be told.

use std::fs;
use std::path::{Path, PathBuf};

use super::EngineError;

/// The files of the holders of one engine.
#[derive(Debug)]
pub(super) struct Holders {
    dir: PathBuf,
}

impl Holders {
    pub(super) fn of(engine_dir: &Path) -> Self {
        Self { dir: engine_dir.join("holders") }
    }

    /// Notes a process. Its start time tells it from a later process with the same number.
    pub(super) fn add(&self, pid: u32) -> Result<(), EngineError> {
        fs::create_dir_all(&self.dir).map_err(EngineError::file("make", &self.dir))?;
        let file = self.dir.join(pid.to_string());
        let start = start_time(pid).unwrap_or_default();
        fs::write(&file, start).map_err(EngineError::file("write", &file))
    }

    /// Forgets a process.
    pub(super) fn remove(&self, pid: u32) {
        let _not_noted = fs::remove_file(self.dir.join(pid.to_string()));
    }

    /// The living holders; dead ones are forgotten.
    pub(super) fn living(&self) -> Vec<u32> {
        let listing = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let pids = listing.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let (living, dead): (Vec<_>, Vec<_>) = pids.partition(|pid| {
            let noted = fs::read_to_string(self.dir.join(pid.to_string())).ok();
            noted.is_some() && noted == start_time(*pid)
        });
        for pid in dead {
            self.remove(pid);
        }
        living
    }
}

/// When a process started, in ticks since boot; None when it is gone.
fn start_time(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Field 22; counted from the state, which is field 3 and follows the name in parentheses.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?;
    if matches!(state, "Z" | "X") { None } else { fields.nth(18).map(str::to_owned) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_living_processes_hold() {
        let dir = tempfile::tempdir().expect("a directory");
        let holders = Holders::of(dir.path());
        assert!(holders.living().is_empty());
        let mut gone = std::process::Command::new("true").spawn().expect("a process");
        holders.add(gone.id()).expect("noted");
        holders.add(std::process::id()).expect("noted");
        gone.wait().expect("its end");
        assert_eq!(holders.living(), [std::process::id()]);
        holders.remove(std::process::id());
        assert!(holders.living().is_empty());
    }

    #[test]
    fn another_process_with_the_same_number_does_not_hold() {
        let dir = tempfile::tempdir().expect("a directory");
        let holders = Holders::of(dir.path());
        holders.add(std::process::id()).expect("noted");
        fs::write(dir.path().join("holders").join(std::process::id().to_string()), "1").expect("written");
        assert!(holders.living().is_empty());
    }
}
