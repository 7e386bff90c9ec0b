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
    /// The directory it counts in. Older records have none: they count everywhere, as they were agreed to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The rules that had asked.
    pub rules: Vec<String>,
    /// When, in seconds since 1970.
    pub granted_at: u64,
    /// Its copy in the list of config.yaml, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed_as: Option<String>,
}

impl Record {
    /// Whether it is about this command line in this directory.
    pub fn covers(&self, line: &str, directory: Option<&str>) -> bool {
        let here = self.directory.as_deref().is_none_or(|granted| Some(granted) == directory);
        self.command.trim() == line.trim() && here
    }

    /// Whether it counts, beside this list of config.yaml. What fits into no list stands in the records alone.
    pub fn stands_beside(&self, list: &[String]) -> bool {
        self.listed_as.as_ref().is_none_or(|copy| list.contains(copy))
    }
}

/// The patterns of the list that the user wrote: those that are no copies of agreements, which count only where they were
/// given.
pub fn by_hand(list: &[String], records: &[Record]) -> Vec<String> {
    let is_copy = |pattern: &String| records.iter().any(|record| record.listed_as.as_ref() == Some(pattern));
    list.iter().filter(|pattern| !is_copy(pattern)).cloned().collect()
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

    /// The records that count by now: those whose copy is still in the list.
    pub fn standing(&self) -> Result<Vec<Record>, LedgerError> {
        let mut records = self.records()?;
        if !records.is_empty() {
            let text = files::read_if_exists(&self.home.config_file())?.unwrap_or_default();
            let list = list_of(&String::from_utf8_lossy(&text));
            records.retain(|record| record.stands_beside(&list));
        }
        Ok(records)
    }

    /// Writes an agreement down: this command line, in this directory.
    pub fn add(
        &self,
        command: &str,
        directory: &str,
        rules: &[String],
        now: SystemTime,
    ) -> Result<Record, LedgerError> {
        let record = Record {
            id: id_of(&format!("{}\0{directory}", command.trim())),
            command: command.to_owned(),
            directory: Some(directory.to_owned()),
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
        let mut ids = std::collections::BTreeSet::new();
        let (gone, kept): (Vec<Record>, Vec<Record>) =
            self.records()?.into_iter().partition(|record| which(&record.id));
        // The same command may have been agreed to in another directory too.
        let needed = |entry: &String| kept.iter().any(|record| record.listed_as.as_ref() == Some(entry));
        let mut entries = Vec::new();
        for record in gone {
            ids.insert(record.id);
            entries.extend(record.listed_as.filter(|entry| !needed(entry)));
        }
        // The copy first: a record without one no longer counts.
        if self.home.config_file().exists() {
            self.edit_list(|list| {
                list.retain(|entry| {
                    let goes = entries.contains(entry) || !needed(entry) && which(&id_of(entry));
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
        let record = ledger.add("rm -r build*", "/a", &["delete-recursive".into()], at(7)).unwrap();
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
    fn each_directory_has_an_agreement_of_its_own() {
        let dir = tempfile::tempdir().unwrap();
        let ledger = ledger(dir.path());
        let first = ledger.add("rm -r x", "/a", &[], at(1)).unwrap();
        let second = ledger.add("rm -r x", "/b", &[], at(2)).unwrap();
        assert!(first.covers("rm -r x ", Some("/a")));
        assert!(!first.covers("rm -r x", Some("/b")) && !first.covers("rm -r x", None));
        assert_eq!(ledger.revoke(|id| id == first.id).unwrap(), 1);
        assert_eq!(ledger.standing().unwrap(), std::slice::from_ref(&second), "the other one still counts");
        let list = || list_of(&std::fs::read_to_string(dir.path().join("config.yaml")).unwrap());
        assert_eq!(by_hand(&list(), &ledger.records().unwrap()), Vec::<String>::new());
        std::fs::write(dir.path().join("config.yaml"), "command_allowlist: []\n").unwrap();
        assert_eq!(ledger.standing().unwrap(), [], "without its copy it does not count");
    }

    #[test]
    fn records_of_earlier_versions_count_everywhere() {
        let dir = tempfile::tempdir().unwrap();
        let old = r#"{"version":1,"grants":[{"id":"1","command":"rm -r x","rules":[],"granted_at":1}]}"#;
        std::fs::write(dir.path().join(FILE), old).unwrap();
        let records = ledger(dir.path()).standing().unwrap();
        assert!(records[0].covers("rm -r x", Some("/a")) && records[0].covers("rm -r x", None));
    }

    #[test]
    fn the_file_is_private() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        ledger(dir.path()).add("a\nb", "/a", &[], at(1)).unwrap();
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
                        ledger.add(&format!("rm -r {writer}-{place}"), "/a", &[], at(1)).unwrap();
                    }
                });
            }
        });
        assert_eq!(ledger(dir.path()).records().unwrap().len(), 40);
        assert_eq!(list_of(&std::fs::read_to_string(dir.path().join("config.yaml")).unwrap()).len(), 40);
    }
}
