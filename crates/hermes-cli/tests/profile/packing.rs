//! Export and import, and archives that must be refused.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use hermes_testkit::TestHome;
use tar::EntryType;

use super::archive::Archive;
use super::making::{live_database, rows};
use super::{alias_path, command, dir, entries, home_with, listed, profile};

/// Names in an archive.
fn names(archive: &Path) -> BTreeSet<String> {
    let mut tar = tar::Archive::new(flate2::read::GzDecoder::new(File::open(archive).unwrap()));
    tar.entries()
        .unwrap()
        .map(|e| e.unwrap().path().unwrap().to_str().unwrap().trim_end_matches('/').to_owned())
        .collect()
}

#[test]
fn a_profile_survives_the_way_through_an_archive_without_its_keys() {
    let home = home_with(&["work"]);
    let long = format!("skills/{}/{}/SKILL.md", "a".repeat(90), "ü".repeat(60));
    for (path, text) in [
        ("config.yaml", "model: x\n"),
        (".env", "KEY=secret\n"),
        ("auth.json", "{}"),
        ("auth.json.corrupt", "{}"),
        ("workspace/app/.env", "KEY=secret\n"),
        ("mcp-tokens/a.json", "{}"),
        ("home/.ssh/id", "key"),
        ("memories/MEMORY.md", "remember"),
        ("gateway.pid", "1"),
        (&long, "skill"),
    ] {
        home.write(format!("profiles/work/{path}"), text);
    }
    let script = home.write("profiles/work/scripts/run.sh", "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let _live = live_database(&dir(&home, "work").join("state.db"));
    let exported = profile(&home, &["export", "work"]);
    exported.success().stdout_has("work.tar.gz").stdout_has("without keys").output_lacks("secret");
    let archive = home.work_dir().join("work.tar.gz");
    assert_eq!(fs::metadata(&archive).unwrap().permissions().mode() & 0o777, 0o600);
    let inside = names(&archive);
    assert!(inside.contains("work/config.yaml") && inside.contains(&format!("work/{long}")), "{inside:?}");
    for secret in [".env", "auth.json", "mcp-tokens", ".ssh", "gateway.pid", "-wal"] {
        assert!(!inside.iter().any(|name| name.contains(secret)), "{secret}: {inside:?}");
    }
    let imported = command(&home, &["import", "work.tar.gz", "--name", "back"]).run();
    imported.success().stdout_has("imported profile \"back\"").stderr_has("scripts");
    assert_eq!(home.read("profiles/back/config.yaml"), "model: x\n");
    assert_eq!(home.read(format!("profiles/back/{long}")), "skill");
    assert_eq!((home.mode("profiles/back"), home.mode("profiles/back/skills")), (0o700, 0o700));
    assert_eq!(
        (home.mode("profiles/back/scripts/run.sh"), home.mode("profiles/back/config.yaml")),
        (0o700, 0o600)
    );
    assert_eq!(home.mode("profiles/back/.env"), 0o600);
    assert_eq!(rows(&dir(&home, "back").join("state.db")), ["in the log"]);
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let seconds = |time: std::time::SystemTime| time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(seconds(modified(&script)), seconds(modified(&dir(&home, "back").join("scripts/run.sh"))));
    assert!(alias_path(&home, "back").exists());
}

#[test]
fn an_export_of_default_leaves_databases_caches_state_and_strangers_behind() {
    let home = home_with(&["work"]);
    home.config("model: x\n").env_file("KEY=secret\n");
    for path in [
        "state.db",
        "logs/agent.log",
        "image_cache/x",
        "gateway_state.json",
        "my-photos/x",
        "skills/a/SKILL.md",
    ] {
        home.write(path, "x");
    }
    profile(&home, &["export", "default", "-o", "d.tgz"]).success();
    let inside = names(&home.work_dir().join("d.tgz"));
    let expected =
        ["default", "default/config.yaml", "default/skills", "default/skills/a", "default/skills/a/SKILL.md"];
    assert_eq!(inside, expected.map(str::to_owned).into());
    profile(&home, &["import", "d.tgz"]).code(1).stderr_has("--name");
    profile(&home, &["import", "d.tgz", "--name", "default"]).code(2).stderr_has("reserved");
    profile(&home, &["import", "d.tgz", "--name", "fresh"]).success();
    assert_eq!(home.read("profiles/fresh/config.yaml"), "model: x\n");
}

#[test]
fn the_output_can_be_a_file_or_a_directory_and_is_replaced_whole() {
    let home = home_with(&["work"]);
    fs::create_dir(home.work_dir().join("out")).unwrap();
    profile(&home, &["export", "work", "-o", "out"]).success();
    assert!(home.work_dir().join("out/work.tar.gz").exists());
    fs::write(home.work_dir().join("old"), "something else").unwrap();
    profile(&home, &["export", "work", "-o", "old"]).success();
    assert!(names(&home.work_dir().join("old")).contains("work/SOUL.md"));
    profile(&home, &["export", "work", "-o", "missing/x.tar.gz"]).code(1).stderr_has("missing");
    profile(&home, &["export", "gone"]).code(1).stderr_has("there is no profile");
    assert_eq!(fs::read_dir(home.work_dir()).unwrap().count(), 2);
}

#[test]
fn an_archive_inside_the_profile_does_not_hold_itself() {
    let home = home_with(&["work"]);
    let inside = dir(&home, "work").join("workspace");
    for _ in 0..2 {
        command(&home, &["export", "work"]).cwd(&inside).run().success();
    }
    assert!(!names(&inside.join("work.tar.gz")).iter().any(|name| name.contains("tar.gz")));
}

#[test]
fn links_are_left_out_of_an_export_and_named() {
    let home = home_with(&["work"]);
    symlink("/etc/passwd", dir(&home, "work").join("skills/leak")).unwrap();
    profile(&home, &["export", "work"]).success().stderr_has("skills/leak");
    assert!(!names(&home.work_dir().join("work.tar.gz")).iter().any(|name| name.contains("leak")));
}

/// Imports an archive that must be refused for this reason, leaving nothing.
#[track_caller]
fn refused(archive: Archive, reason: &str) {
    let home = TestHome::new();
    let path = archive.write(&home.work_dir().join("evil.tar.gz"));
    refused_file(&home, &path, reason);
}

#[track_caller]
fn refused_file(home: &TestHome, path: &Path, reason: &str) {
    let outside = fs::read_dir(home.root()).unwrap().count();
    profile(home, &["import", path.to_str().unwrap()]).code(1).stderr_has(reason);
    assert!(entries(home).is_empty(), "left behind: {:?}", entries(home));
    assert_eq!(listed(home), ["default"]);
    assert_eq!(fs::read_dir(home.root()).unwrap().count(), outside);
    assert!(!home.user_home().join(".local").exists(), "no alias for what was not imported");
}

fn good() -> Archive {
    Archive::new().dir("evil/").file("evil/config.yaml", b"model: x\n")
}

#[test]
fn the_archive_all_the_tricks_start_from_is_taken() {
    let home = TestHome::new();
    let path = good().write(&home.work_dir().join("good.tar.gz"));
    profile(&home, &["import", path.to_str().unwrap()]).success();
    assert_eq!(home.read("profiles/evil/config.yaml"), "model: x\n");
}

#[test]
fn paths_that_lead_elsewhere_are_refused() {
    refused(good().file("/tmp/evil", b"x"), "absolute");
    refused(good().file("evil/../../../escaped", b"x"), "leads out of the profile");
    refused(good().file("evil\\..\\..\\escaped", b"x"), "leads out of the profile");
    refused(good().file("C:\\evil", b"x"), "absolute");
    refused(good().file("evil/a\x1b[2Jb", b"x"), "control characters");
}

#[test]
fn links_and_devices_are_refused() {
    refused(good().link(EntryType::Symlink, "evil/skills", "/etc"), "links are not allowed");
    refused(good().link(EntryType::Link, "evil/hard", "/etc/passwd"), "links are not allowed");
    for kind in
        [EntryType::Char, EntryType::Block, EntryType::Fifo, EntryType::GNUSparse, EntryType::new(b'Q')]
    {
        refused(good().entry(kind, "evil/device", 0o666, b""), "only files and directories");
    }
}

#[test]
fn a_link_made_first_cannot_be_written_through() {
    let archive = good().link(EntryType::Symlink, "evil/out", "/tmp").file("evil/out/escaped", b"x");
    refused(archive, "links are not allowed");
}

#[test]
fn more_than_one_top_directory_is_refused() {
    refused(good().file("other/x", b"x"), "one top directory");
    refused(good().file("beside", b"x"), "one top directory");
    refused(Archive::new().file("lonely", b"x"), "one top directory");
    refused(Archive::new(), "empty");
}

#[test]
fn entries_in_one_place_are_refused() {
    refused(good().file("evil/config.yaml", b"again"), "twice");
    refused(good().file("evil/Config.yaml", b"other"), "upper and lower case");
    refused(good().file("evil/config.yaml/below", b"x"), "twice");
}

#[test]
fn names_that_no_profile_can_have_are_refused() {
    for top in ["Evil", "a b", "..evil"] {
        refused(Archive::new().file(&format!("{top}/x"), b"x"), "--name");
    }
    for top in ["sudo", "hermes"] {
        refused(Archive::new().file(&format!("{top}/x"), b"x"), "reserved");
    }
    refused(Archive::new().file("default/config.yaml", b"x"), "--name");
}

#[test]
fn bombs_are_refused_before_they_fill_the_disk() {
    refused(good().claiming("evil/huge", 1 << 40), "larger than");
    refused(good().zeros("evil/zeros", 400 << 20), "times its size");
    // An extended header is read into memory whole, so it may not be large at all.
    refused(good().entry(EntryType::GNULongName, "././@LongLink", 0, &vec![b'a'; 100_000]), "header");
    refused(good().entry(EntryType::XHeader, "x", 0, &vec![b'a'; 100_000]), "header");
    refused(
        good().entry(EntryType::XHeader, "x", 0, b"21 size=99999999999999\n").file("evil/x", b"x"),
        "header",
    );
}

#[test]
fn broken_archives_are_refused() {
    let home = TestHome::new();
    let whole = fs::read(good().zeros("evil/zeros", 100_000).write(&home.work_dir().join("whole"))).unwrap();
    let write = |bytes: &[u8]| -> PathBuf {
        let path = home.work_dir().join("broken.tar.gz");
        fs::write(&path, bytes).unwrap();
        path
    };
    let mut flipped = whole.clone();
    let last = flipped.len() - 6;
    flipped[last] ^= 1;
    for bytes in [&b"plain text"[..], b"", &whole[..whole.len() / 2], &whole[..whole.len() - 4], &flipped] {
        refused_file(&home, &write(bytes), "not a complete .tar.gz");
    }
    refused_file(&home, &home.work_dir().join("gone"), "No such file");
    refused_file(&home, &home.work_dir(), "not a regular file");
}

#[test]
fn an_existing_profile_is_never_touched() {
    let home = home_with(&["evil"]);
    let path = good().write(&home.work_dir().join("a.tar.gz"));
    let before = home.snapshot();
    profile(&home, &["import", path.to_str().unwrap()]).code(1).stderr_has("already exists");
    profile(&home, &["import", path.to_str().unwrap(), "--name", "evil"])
        .code(1)
        .stderr_has("already exists");
    profile(&home, &["import", path.to_str().unwrap(), "--name", "../x"])
        .code(2)
        .stderr_has("not a profile name");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn keys_logins_and_processes_in_an_archive_are_left_out() {
    let home = TestHome::new();
    let archive = good()
        .entry(EntryType::Regular, "evil/.env", 0o4777, b"LD_PRELOAD=/x\n")
        .entry(EntryType::Regular, "evil/auth.json", 0o777, b"{}")
        .file("evil/workspace/mcp-tokens/x.json", b"{}")
        .file("evil/gateway.pid", b"1")
        .file("evil/active_profile", b"x");
    let path = archive.write(&home.work_dir().join("a.tar.gz"));
    let imported = profile(&home, &["import", path.to_str().unwrap()]);
    imported.success().stderr_has("left out").stderr_has(".env, auth.json, workspace/mcp-tokens/x.json");
    assert_eq!(home.mode("profiles/evil/.env"), 0o600);
    assert!(!home.read("profiles/evil/.env").contains("LD_PRELOAD"));
    for name in ["auth.json", "workspace/mcp-tokens", "gateway.pid", "active_profile"] {
        assert!(!dir(&home, "evil").join(name).exists(), "{name}");
    }
}

#[test]
fn an_export_of_a_home_that_is_not_there_says_so() {
    let home = TestHome::new();
    fs::remove_dir(home.path()).unwrap();
    profile(&home, &["export", "default"]).code(1).stderr_has("there is no home");
    assert!(!home.path().exists());
}

#[test]
fn nothing_of_the_archives_owner_is_in_it() {
    let home = home_with(&["work"]);
    profile(&home, &["export", "work"]).success();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(File::open(home.work_dir().join("work.tar.gz")).unwrap())
        .read_to_end(&mut bytes)
        .unwrap();
    let root = home.root().to_str().unwrap().as_bytes();
    assert!(!bytes.windows(root.len()).any(|window| window == root));
}
