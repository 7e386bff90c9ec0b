//! Several files changed as one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use hermes_box::client::{CallError, Files};
use hermes_box::proto::change::{FileStep, Piece};
use hermes_box::proto::fault::{Fault, FileErrorKind};
use hermes_box::proto::file::Expect;

use crate::world::World;

fn as_seen(files: &Files, path: &Path) -> Expect {
    Expect::Version(files.stat(path).unwrap().version)
}

fn new_file(path: &Path, length: u64) -> FileStep {
    FileStep::Write { place: path.into(), expect: Expect::Absent, pieces: vec![Piece::New(length)] }
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| !name.starts_with(".hermes"))
        .collect();
    names.sort();
    names
}

everywhere! {
    fn files_change_together(world: &World) {
        let (home, files) = (world.home().join("c"), world.client.files());
        fs::create_dir(&home).unwrap();
        for name in ["a", "gone", "old"] {
            fs::write(home.join(name), format!("one {name} three")).unwrap();
        }
        fs::set_permissions(home.join("old"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", home.join("link")).unwrap();
        let around = |middle: u64, rest: u64| vec![
            Piece::Old { from: 0, length: 4 },
            Piece::New(middle),
            Piece::Old { from: rest, length: 6 },
        ];
        let steps = vec![
            FileStep::Write {
                place: home.join("link").into(),
                expect: as_seen(&files, &home.join("a")),
                pieces: around(3, 5),
            },
            new_file(&home.join("x/y/new"), 5),
            FileStep::Remove { place: home.join("gone").into(), expect: as_seen(&files, &home.join("gone")) },
            FileStep::Move {
                from: home.join("old").into(),
                to: home.join("z/moved").into(),
                expect: as_seen(&files, &home.join("old")),
                pieces: Some(around(2, 7)),
            },
        ];
        let versions = files.change(steps, &mut &b"two12345II"[..]).unwrap();
        assert_eq!(text(&home.join("a")), "one two three");
        assert!(fs::symlink_metadata(home.join("link")).unwrap().is_symlink());
        assert_eq!(text(&home.join("x/y/new")), "12345");
        assert_eq!(text(&home.join("z/moved")), "one II three");
        assert_eq!(fs::metadata(home.join("z/moved")).unwrap().mode() & 0o7777, 0o640);
        assert_eq!(names(&home), ["a", "link", "x", "z"]);
        assert_eq!(versions[0], Some(files.stat(home.join("a")).unwrap().version));
        assert_eq!(versions[2], None);
        assert_eq!(versions[3], Some(files.stat(home.join("z/moved")).unwrap().version));
    }

    fn what_is_not_as_it_was_seen_changes_nothing(world: &World) {
        let (home, files) = (world.home().join("c"), world.client.files());
        fs::create_dir(&home).unwrap();
        fs::write(home.join("a"), "a").unwrap();
        fs::write(home.join("b"), "b").unwrap();
        let seen = as_seen(&files, &home.join("b"));
        fs::write(home.join("b"), "somebody else").unwrap();
        let write = |name: &str, expect: Expect| FileStep::Write {
            place: home.join(name).into(),
            expect,
            pieces: vec![Piece::New(1)],
        };
        let steps = vec![
            new_file(&home.join("new/dir/file"), 1),
            write("a", as_seen(&files, &home.join("a"))),
            write("b", seen),
        ];
        let error = files.change(steps, &mut &b"123"[..]).unwrap_err();
        assert_eq!(error.file_kind(), Some(FileErrorKind::Changed));
        assert_eq!((text(&home.join("a")), names(&home)), ("a".into(), vec!["a".into(), "b".into()]));
        // Less content than was announced.
        let steps = vec![write("a", as_seen(&files, &home.join("a"))), new_file(&home.join("n/f"), 10)];
        let error = files.change(steps, &mut &b"12"[..]).unwrap_err();
        assert!(matches!(&error, CallError::Fault(Fault::Invalid(_))), "{error}");
        assert_eq!((text(&home.join("a")), names(&home)), ("a".into(), vec!["a".into(), "b".into()]));
    }

    fn what_was_done_before_a_failure_is_taken_back(world: &World) {
        let (home, files) = (world.home().join("c"), world.client.files());
        fs::create_dir(&home).unwrap();
        for name in ["a", "linked", "gone", "moved"] {
            fs::write(home.join(name), name).unwrap();
        }
        fs::hard_link(home.join("linked"), home.join("other")).unwrap();
        fs::set_permissions(home.join("a"), fs::Permissions::from_mode(0o604)).unwrap();
        let seen = |name: &str| as_seen(&files, &home.join(name));
        let write = |name: &str| FileStep::Write {
            place: home.join(name).into(),
            expect: seen(name),
            pieces: vec![Piece::New(3)],
        };
        let moved = |to: &str| FileStep::Move {
            from: home.join("moved").into(),
            to: home.join(to).into(),
            expect: seen("moved"),
            pieces: None,
        };
        // The last step cannot be done, as the one before it took its file away.
        let steps = vec![
            write("a"),
            write("linked"),
            new_file(&home.join("d/new"), 3),
            FileStep::Remove { place: home.join("gone").into(), expect: seen("gone") },
            moved("once"),
            moved("twice"),
        ];
        let error = files.change(steps, &mut &b"AAALLLNNN"[..]).unwrap_err();
        assert_eq!(error.file_kind(), Some(FileErrorKind::NotFound), "{error}");
        assert_eq!(names(&home), ["a", "gone", "linked", "moved", "other"]);
        for name in ["a", "linked", "gone", "moved"] {
            assert_eq!(text(&home.join(name)), name);
        }
        assert_eq!(text(&home.join("other")), "linked");
        assert_eq!(fs::metadata(home.join("a")).unwrap().mode() & 0o7777, 0o604);
    }
}
