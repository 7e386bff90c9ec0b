//! What the user allows for good. Each agreement is a record in `approvals.json`; a copy in `command_allowlist` of
//! config.yaml lets other programs that share the home know of it too. A record counts only while its copy is there:
//! taking the line out of config.yaml takes the agreement back.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use hermes_guard::command::{glob, is_plain};
use hermes_home::files::{self, Access, FileError, Lock};
use hermes_home::settings::{self, StoreError};
use hermes_home::{Home, yaml};
use serde::{Deserialize, Serialize};
use serde_json::Value;

const FILE: &str = "approvals.json";
const LIST: &str = "command_allowlist";

/// One agreement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// What it is called.
    pub id: String,
    /// The very command line.
    pub command: String,
    /// The rules that had asked.
    pub rules: Vec<String>,
    /// When, in seconds since 1970.
    pub granted_at: u64,
    /// Its copy in the list of config.yaml, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed_as: Option<String>,
}

/// A file that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The records.
    #[error(transparent)]
    File(#[from] FileError),
    /// The settings.
    #[error(transparent)]
    Settings(#[from] StoreError),
    /// Somebody else wrote it.
    #[error("{} does not hold what this program writes there ({why}): move it away and agree again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
}

/// See the module.
#[derive(Debug, Clone)]
pub struct Ledger {
    home: Home,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Book {
    version: u32,
    grants: Vec<Record>,
}

impl Ledger {
    /// The one of a home. Nothing is read or written yet.
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    /// All records, oldest first.
    pub fn records(&self) -> Result<Vec<Record>, LedgerError> {
        Ok(self.read()?.grants)
    }

    /// Writes an agreement down.
    pub fn add(&self, command: &str, rules: &[String], now: SystemTime) -> Result<Record, LedgerError> {
        let record = Record {
            id: id_of(command),
            command: command.to_owned(),
            rules: rules.to_vec(),
            granted_at: now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            listed_as: listed(command),
        };
        // The record first: without its copy it does not count yet.
        self.change(|grants| {
            grants.retain(|other| other.id != record.id);
            grants.push(record.clone());
        })?;
        if let Some(entry) = &record.listed_as {
            self.edit_list(|list| {
                if !list.contains(entry) {
                    list.push(entry.clone());
                }
            })?;
        }
        Ok(record)
    }

    /// Takes agreements back: those the function names, by id. Gives how many were there.
    pub fn revoke(&self, which: impl Fn(&str) -> bool) -> Result<usize, LedgerError> {
        let mut entries = Vec::new();
        let mut ids = std::collections::BTreeSet::new();
        for record in self.records()?.into_iter().filter(|record| which(&record.id)) {
            ids.insert(record.id);
            entries.extend(record.listed_as);
        }
        // The copy first: a record without one no longer counts.
        if self.home.config_file().exists() {
            self.edit_list(|list| {
                list.retain(|entry| {
                    let goes = entries.contains(entry) || which(&id_of(entry));
                    if goes && !entries.contains(entry) {
                        ids.insert(id_of(entry));
                    }
                    !goes
                });
            })?;
        }
        self.change(|grants| grants.retain(|record| !which(&record.id)))?;
        Ok(ids.len())
    }

    fn path(&self) -> PathBuf {
        self.home.path(FILE)
    }

    fn read(&self) -> Result<Book, LedgerError> {
        let Some(bytes) = files::read_if_exists(&self.path())? else { return Ok(Book::default()) };
        serde_json::from_slice(&bytes)
            .map_err(|error| LedgerError::Damaged { path: self.path(), why: error.to_string() })
    }

    fn change(&self, change: impl FnOnce(&mut Vec<Record>)) -> Result<(), LedgerError> {
        files::create_private_dir(self.home.dir())?;
        let lock = Lock::acquire(&self.home.path(".approvals.lock"))?;
        let mut book = self.read()?;
        let before = book.grants.clone();
        change(&mut book.grants);
        if book.grants == before {
            return Ok(());
        }
        book.version = 1;
        let mut bytes = serde_json::to_vec_pretty(&book)
            .map_err(|error| LedgerError::Damaged { path: self.path(), why: error.to_string() })?;
        bytes.push(b'\n');
        files::write_locked(&self.path(), &bytes, Access::Private, &lock)?;
        Ok(())
    }

    /// Changes the list in config.yaml; the rest of the file stays as it is.
    fn edit_list(&self, change: impl FnOnce(&mut Vec<String>)) -> Result<(), LedgerError> {
        settings::edit_config(&self.home, |text| {
            let mut list = list_of(text);
            let before = list.clone();
            change(&mut list);
            if list == before { Ok(text.to_owned()) } else { yaml::set(text, &[LIST], &Value::from(list)) }
        })?;
        Ok(())
    }
}

/// The list as it stands in config.yaml.
fn list_of(text: &str) -> Vec<String> {
    let Ok(document) = yaml::parse(text) else { return Vec::new() };
    let list = document.get(&[LIST]).map(|node| yaml::to_json(&document, node));
    let Some(Value::Array(list)) = list else { return Vec::new() };
    list.into_iter().filter_map(|entry| entry.as_str().map(str::to_owned)).collect()
}

/// A command as an entry of the list, which holds patterns; none for one that does not fit into a line of it.
fn listed(command: &str) -> Option<String> {
    let command = command.trim();
    (!command.contains('\n'))
        .then(|| if is_plain(command) { glob::escape(command) } else { command.to_owned() })
}

/// The name of an agreement: always the same for the same text.
pub fn id_of(text: &str) -> String {
    let hash = text.trim().bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!("{:08x}", (hash >> 32) ^ (hash & 0xffff_ffff))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use hermes_home::Profile;

    fn ledger(dir: &std::path::Path) -> Ledger {
        Ledger::new(Home::at(dir, Profile::Default))
    }

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + std::time::Duration::from_secs(seconds)
    }

    #[test]
    fn an_agreement_is_kept_in_both_files_and_taken_back_from_both() {
        let dir = tempfile::tempdir().unwrap();
        let config = dir.path().join("config.yaml");
        std::fs::write(&config, "# mine\nmodel: x # keep\ncommand_allowlist:\n  - git *\n").unwrap();
        let ledger = ledger(dir.path());
        let record = ledger.add("rm -r build*", &["delete-recursive".into()], at(7)).unwrap();
        assert_eq!(record.listed_as.as_deref(), Some("rm -r build[*]"));
        let text = std::fs::read_to_string(&config).unwrap();
        assert!(text.contains("# mine") && text.contains("# keep"), "{text}");
        assert_eq!(list_of(&text), ["git *", "rm -r build[*]"]);
        assert_eq!(ledger.records().unwrap(), std::slice::from_ref(&record));
        assert_eq!(ledger.revoke(|id| id == record.id).unwrap(), 1);
        assert_eq!(list_of(&std::fs::read_to_string(&config).unwrap()), ["git *"]);
        assert_eq!(ledger.records().unwrap(), []);
        assert_eq!(ledger.revoke(|id| id == id_of("git *")).unwrap(), 1);
        assert_eq!(ledger.revoke(|_| true).unwrap(), 0);
    }

    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        ledger(dir.path()).add("a\nb", &[], at(1)).unwrap();
        let mode = std::fs::metadata(dir.path().join(FILE)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(
            !dir.path().join("config.yaml").exists(),
            "a text of several lines does not fit into the list"
        );
    }

    #[test]
    fn writers_that_meet_lose_nothing() {
        let dir = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let ledger = ledger(dir.path());
                scope.spawn(move || {
                    for place in 0..5 {
                        ledger.add(&format!("rm -r {writer}-{place}"), &[], at(1)).unwrap();
                    }
                });
            }
        });
        assert_eq!(ledger(dir.path()).records().unwrap().len(), 40);
        assert_eq!(list_of(&std::fs::read_to_string(dir.path().join("config.yaml")).unwrap()).len(), 40);
    }
}
