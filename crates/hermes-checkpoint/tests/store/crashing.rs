//! Killed in the middle.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use hermes_checkpoint::{Checkpoints, Git, Limits, Mine, Taken};

use crate::support::{Bench, path_variable};

/// A git that is killed once it has read `lines` lines of a snapshot.
fn dying_git(bench: &Bench, lines: usize) -> Git {
    let bin = bench.base.with_file_name("bin");
    fs::create_dir_all(&bin).unwrap();
    let real = std::process::Command::new("sh").args(["-c", "command -v git"]).output().unwrap();
    let real = String::from_utf8(real.stdout).unwrap();
    let script = format!(
        "#!/bin/bash\nfor word; do if [ \"$word\" = fast-import ]; then\n\
         head -n {lines} | {real} \"$@\" & sleep 0; wait $!; kill -9 $$\nfi; done\nexec {real} \"$@\"\n",
        real = real.trim()
    );
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let mut path = bin.into_os_string();
    path.push(":");
    path.push(path_variable());
    Git::find(&path).unwrap()
}

#[test]
fn a_snapshot_that_was_cut_off_leaves_a_whole_store() {
    let bench = Bench::new();
    bench.write("a", "1");
    let id = bench.made();
    bench.write("a", "2");
    bench.write("b", "2");
    for lines in [1, 4, 7, 9] {
        let git = dying_git(&bench, lines);
        let dying = Checkpoints::new(bench.base.clone(), git, Limits::default(), None);
        assert!(dying.take(&bench.place, "cut off").is_err());
        bench.git(&["fsck", "--strict"]);
        assert_eq!(bench.checkpoints.list(&bench.place.key).unwrap().len(), 1, "after {lines} lines");
    }
    assert!(matches!(bench.take(), Taken::Made(_)));
    bench.restore(id, Mine::Overwrite);
    assert_eq!((bench.read("a").as_deref(), bench.read("b")), (Some("1"), None));
}

#[test]
fn notes_that_are_lost_or_broken_cost_only_knowledge() {
    let bench = Bench::new();
    bench.write("a", "1");
    let id = bench.made();
    bench.write("a", "2");
    bench.look();
    let notes = bench.base.join("store/notes").join(bench.place.key.hash());
    for broken in [None, Some(&b"half"[..])] {
        match broken {
            None => fs::remove_file(&notes).unwrap(),
            Some(bytes) => fs::write(&notes, bytes).unwrap(),
        }
        let restored = bench.restore(id, Mine::Keep);
        assert_eq!((restored.done.len(), restored.left.len()), (0, 1));
    }
    bench.restore(id, Mine::Overwrite);
    assert_eq!(bench.read("a").as_deref(), Some("1"));
}
