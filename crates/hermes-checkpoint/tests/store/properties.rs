//! Any sequence of edits: going back gives exactly the directory of the snapshot, but for what the user changed.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use hermes_checkpoint::{Mine, ObjectId, Taken};
use proptest::prelude::*;

use crate::support::{Bench, Files};

#[derive(Debug, Clone)]
enum Edit {
    Write(String, u8),
    Remove(String),
    Link(String, u8),
    Execute(String, bool),
}

fn path() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a"),
        Just("b"),
        Just("d/a"),
        Just("d/b"),
        Just("d/e/a"),
        Just("d"),
        Just("f/x y"),
        Just("f"),
        Just("g\"q")
    ]
    .prop_map(str::to_owned)
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (path(), 0_u8..4).prop_map(|(path, text)| Edit::Write(path, text)),
        2 => path().prop_map(Edit::Remove),
        1 => (path(), 0_u8..3).prop_map(|(path, to)| Edit::Link(path, to)),
        1 => (path(), any::<bool>()).prop_map(|(path, on)| Edit::Execute(path, on)),
    ]
}

/// Does an edit; what stands in its way goes.
fn perform(root: &Path, edit: &Edit) {
    let clear = |path: &str| {
        let path = root.join(path);
        for above in path.ancestors().skip(1).take_while(|above| *above != root) {
            if fs::symlink_metadata(above).is_ok_and(|meta| !meta.is_dir()) {
                fs::remove_file(above).unwrap();
            }
        }
        match fs::symlink_metadata(&path) {
            Ok(meta) if meta.is_dir() => fs::remove_dir_all(&path).unwrap(),
            Ok(_) => fs::remove_file(&path).unwrap(),
            Err(_) => {}
        }
        path
    };
    match edit {
        Edit::Write(path, text) => {
            let path = clear(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.to_string()).unwrap();
        }
        Edit::Remove(path) => drop(clear(path)),
        Edit::Link(path, to) => {
            let path = clear(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            symlink(format!("to-{to}"), path).unwrap();
        }
        Edit::Execute(path, on) => {
            let path = root.join(path);
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file()) {
                let mode = if *on { 0o755 } else { 0o644 };
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
        }
    }
}

fn touched(before: &Files, after: &Files) -> BTreeSet<PathBuf> {
    let paths = before.keys().chain(after.keys());
    paths.filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn going_back_gives_the_snapshot(
        turns in proptest::collection::vec(proptest::collection::vec(edit(), 0..5), 1..5),
        back in any::<prop::sample::Index>(),
    ) {
        let bench = Bench::new();
        let mut states: Vec<(ObjectId, Files)> = Vec::new();
        for edits in &turns {
            match bench.take() {
                Taken::Made(id) => states.push((id, bench.tree())),
                Taken::Unchanged => {}
                Taken::Skipped(skip) => panic!("{skip}"),
            }
            for edit in edits {
                perform(&bench.work, edit);
            }
            bench.look();
        }
        let (id, expected) = &states[back.index(states.len())];
        let restored = bench.restore(*id, Mine::Keep);
        prop_assert!(restored.failed.is_empty() && restored.left.is_empty(), "{:?}", restored);
        prop_assert_eq!(&bench.tree(), expected);
        bench.git(&["fsck", "--strict"]);
    }

    #[test]
    fn what_the_user_changed_is_never_touched(
        turns in proptest::collection::vec(
            (proptest::collection::vec(edit(), 0..4), proptest::collection::vec(edit(), 0..3)), 1..4),
        back in any::<prop::sample::Index>(),
    ) {
        let bench = Bench::new();
        let mut states: Vec<(ObjectId, Files, BTreeSet<PathBuf>)> = Vec::new();
        for (agent, user) in &turns {
            if let Taken::Made(id) = bench.take() {
                states.push((id, bench.tree(), BTreeSet::new()));
            }
            for edit in agent {
                perform(&bench.work, edit);
            }
            bench.look();
            let left = bench.tree();
            for edit in user {
                perform(&bench.work, edit);
            }
            let changed = touched(&left, &bench.tree());
            for (_, _, yours) in &mut states {
                yours.extend(changed.iter().cloned());
            }
        }
        let before = bench.tree();
        let (id, expected, yours) = &states[back.index(states.len())];
        let restored = bench.restore(*id, Mine::Keep);
        let after = bench.tree();
        for path in yours {
            prop_assert_eq!(after.get(path), before.get(path), "{:?} is the user's", path);
        }
        let blocked: BTreeSet<&Path> = restored.failed.iter().filter_map(|e| e.path.strip_prefix(&bench.work).ok()).collect();
        // What the user's files stand in the way of cannot come back; everything else has.
        for path in expected.keys().filter(|path| !yours.contains(*path)) {
            let in_the_way = yours.iter().any(|mine| mine.starts_with(path) || path.starts_with(mine));
            prop_assert!(in_the_way || after.get(path) == expected.get(path), "{:?} {:?}", path, blocked);
        }
        for path in after.keys().filter(|path| !yours.contains(*path)) {
            prop_assert!(expected.contains_key(path), "{:?} should be gone", path);
        }
        // And with everything asked for, it is exactly the snapshot.
        let restored = bench.restore(*id, Mine::Overwrite);
        prop_assert!(restored.failed.is_empty(), "{:?}", restored.failed);
        prop_assert_eq!(&bench.tree(), expected);
    }
}
