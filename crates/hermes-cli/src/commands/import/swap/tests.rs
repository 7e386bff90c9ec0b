//! Crashes at every step of putting files in place, of finishing that and of undoing it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;

use super::*;

type Files = BTreeMap<String, String>;

/// A home before, and an archive that replaces a file, a link and two databases, adds a file, and has the log of one
/// of the databases.
struct Fixture {
    home: tempfile::TempDir,
    before: Files,
    after: Files,
}

const NEW: &[&str] = &["config.yaml", "deep/er/new.txt", "link", "logs.db", "logs.db-wal", "state.db"];

impl Fixture {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        for name in
            ["config.yaml", "state.db", "state.db-wal", "state.db-shm", "logs.db", "logs.db-wal", "other"]
        {
            fs::write(home.path().join(name), format!("old {name}")).unwrap();
        }
        std::os::unix::fs::symlink("/nowhere", home.path().join("link")).unwrap();
        for name in NEW {
            let path = unpacked(home.path()).join(name);
            create_private_dir(path.parent().unwrap()).unwrap();
            fs::write(path, format!("new {name}")).unwrap();
        }
        let before = files(home.path());
        let mut after: Files = NEW.iter().map(|name| ((*name).to_owned(), format!("new {name}"))).collect();
        after.insert("other".to_owned(), "old other".to_owned());
        Self { home, before, after }
    }

    fn begin(&self) -> Swap {
        let journal = Journal {
            archive: "a.zip".to_owned(),
            kept_in: "pre-import-20261115-205743".to_owned(),
            place: NEW.iter().map(|name| (*name).to_owned()).collect(),
            directories: Vec::new(),
        };
        Swap::begin(self.home.path(), journal).unwrap()
    }

    fn now(&self) -> Files {
        files(self.home.path())
    }
}

/// Everything in the home except the snapshots; a link shows where it leads.
fn files(home: &Path) -> Files {
    fn add(dir: &Path, prefix: &str, files: &mut Files) {
        for entry in dir.read_dir().unwrap().map(Result::unwrap) {
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            let kind = entry.file_type().unwrap();
            match () {
                () if name == SNAPSHOTS => {}
                () if kind.is_dir() => add(&entry.path(), &format!("{name}/"), files),
                () if kind.is_symlink() => {
                    let target = fs::read_link(entry.path()).unwrap();
                    files.insert(name, format!("-> {}", target.display()));
                }
                () => drop(files.insert(name, fs::read_to_string(entry.path()).unwrap())),
            }
        }
    }
    let mut found = Files::new();
    add(home, "", &mut found);
    found
}

/// Lets this many steps pass and then stops.
fn crash_after(steps: usize) -> impl FnMut() -> io::Result<()> {
    let mut left = steps;
    move || {
        left = left.checked_sub(1).ok_or_else(|| io::Error::other("crash"))?;
        Ok(())
    }
}

/// How many steps finishing takes without a crash.
fn steps() -> usize {
    let fixture = Fixture::new();
    let mut count = 0;
    let counting = &mut || {
        count += 1;
        Ok(())
    };
    fixture.begin().finish(counting).unwrap();
    count
}

#[test]
fn an_import_replaces_keeps_and_leaves_nothing_behind() {
    let fixture = Fixture::new();
    let kept = fixture.begin().finish(&mut || Ok(())).unwrap().dir.unwrap();
    assert_eq!(fixture.now(), fixture.after);
    let mut replaced = files(&kept);
    let manifest: serde_json::Value =
        serde_json::from_str(&replaced.remove("manifest.json").unwrap()).unwrap();
    let mut old = fixture.before.clone();
    old.remove("other");
    assert_eq!(replaced, old);
    assert_eq!(manifest["files"]["state.db-wal"], "old state.db-wal".len());
    assert!(!staging(fixture.home.path()).exists());
}

#[test]
fn undoing_a_whole_import_gives_the_home_before() {
    let fixture = Fixture::new();
    let swap = fixture.begin();
    for name in NEW {
        swap.place(name, &mut || Ok(())).unwrap();
    }
    assert_eq!(fixture.now(), fixture.after);
    swap.undo(&mut || Ok(())).unwrap();
    assert_eq!(fixture.now(), fixture.before);
    assert_eq!(fs::read_dir(fixture.home.path().join(SNAPSHOTS)).unwrap().count(), 0);
}

#[test]
fn a_crash_at_any_step_can_be_finished_or_undone() {
    let steps = steps();
    assert!(steps > 10, "{steps}");
    for first in 0..steps {
        for second in 0..=steps {
            for undo in [false, true] {
                let fixture = Fixture::new();
                assert!(fixture.begin().finish(&mut crash_after(first)).is_err());
                assert!(is_pending(fixture.home.path()));
                let again = |between: Between<'_>| {
                    let swap = Swap::resume(fixture.home.path()).unwrap();
                    if undo { swap.undo(between) } else { swap.finish(between).map(drop) }
                };
                if again(&mut crash_after(second)).is_err() {
                    again(&mut || Ok(())).unwrap();
                }
                let expected = if undo { &fixture.before } else { &fixture.after };
                assert_eq!(&fixture.now(), expected, "crash at {first}, then at {second}, undo: {undo}");
                assert!(!is_pending(fixture.home.path()));
            }
        }
    }
}

#[test]
fn finishing_can_be_given_up_for_undoing_and_the_other_way_round() {
    for step in 0..steps() {
        let fixture = Fixture::new();
        assert!(fixture.begin().finish(&mut crash_after(step)).is_err());
        let resume = || Swap::resume(fixture.home.path()).unwrap();
        let _ = resume().undo(&mut crash_after(step / 2));
        if is_pending(fixture.home.path()) {
            resume().finish(&mut || Ok(())).unwrap();
            assert_eq!(fixture.now(), fixture.after, "{step}");
        } else {
            assert_eq!(fixture.now(), fixture.before, "{step}");
        }
    }
}

#[test]
fn a_journal_that_leads_out_of_the_home_is_refused() {
    let fixture = Fixture::new();
    let mut journal = fixture.begin().journal;
    journal.place.push("../evil".to_owned());
    Swap::begin(fixture.home.path(), journal).unwrap();
    assert!(Swap::resume(fixture.home.path()).is_err());
}
