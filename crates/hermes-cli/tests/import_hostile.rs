//! Archives that were made to do harm, or were damaged on the way: nothing of them reaches the home.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::{self, File};
use std::io::{Cursor, Write};
use std::path::PathBuf;

use hermes_testkit::{Hermes, TestHome};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// A zip file in memory.
struct Zip(ZipWriter<Cursor<Vec<u8>>>);

impl Zip {
    /// One that passes for a backup.
    fn new() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new()))).file("config.yaml", "from: archive\n")
    }

    fn empty() -> Self {
        Self(ZipWriter::new(Cursor::new(Vec::new())))
    }

    fn file(self, name: &str, content: &str) -> Self {
        self.with(name, content, stored())
    }

    fn with(mut self, name: &str, content: &str, options: SimpleFileOptions) -> Self {
        self.0.start_file(name, options).unwrap();
        self.0.write_all(content.as_bytes()).unwrap();
        self
    }

    fn link(mut self, name: &str, target: &str) -> Self {
        self.0.add_symlink(name, target, stored()).unwrap();
        self
    }

    fn bytes(self) -> Vec<u8> {
        self.0.finish().unwrap().into_inner()
    }
}

fn stored() -> SimpleFileOptions {
    SimpleFileOptions::default().compression_method(CompressionMethod::Stored)
}

/// Imports these bytes with force: it must fail, say `reason`, and change nothing.
fn refused(bytes: &[u8], reason: &str) {
    let home = TestHome::new();
    home.config("mine: 1\n");
    let before = home.snapshot();
    let archive = write(&home, bytes);
    for flag in ["--force", "--dry-run"] {
        let done =
            Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["import", flag]).arg(&archive).run();
        done.code(1).stderr_has(reason);
        let mut after = home.snapshot();
        after.retain(|path, _| path != "state-snapshots" && path != "state-snapshots/.import.lock");
        assert_eq!(after, before, "{reason}");
    }
    for outside in ["evil", "user/evil", "work/evil"] {
        assert!(!home.root().join(outside).exists());
    }
}

fn write(home: &TestHome, bytes: &[u8]) -> PathBuf {
    let path = home.temp_dir().join("hostile.zip");
    File::create(&path).unwrap().write_all(bytes).unwrap();
    path
}

/// Replaces every occurrence; both have the same length, so the offsets in the archive stay right.
fn patch(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!places.is_empty(), "nothing to patch");
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

/// Where the entry with this number starts in the directory of the archive.
fn directory_entry(bytes: &[u8], number: usize) -> usize {
    let mut entries = (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02"));
    entries.nth(number).unwrap()
}

#[test]
fn paths_that_lead_out_of_the_home() {
    for name in
        ["../evil", "skills/../../evil", "/tmp/evil", "..", "a/..", "..\\evil", "skills/x\nhermes: done"]
    {
        let reason = if name.starts_with('/') { "absolute" } else { "its path" };
        refused(&Zip::new().file(name, "x").bytes(), reason);
    }
}

#[test]
fn links_and_what_hides_behind_them() {
    refused(&Zip::new().link("skills", "/tmp").file("skills/evil", "x").bytes(), "which is a link");
    refused(&Zip::new().link("auth.json", "/etc/passwd").bytes(), "which is a link");
    let mut device = Zip::new().file("dev", "").bytes();
    let entry = directory_entry(&device, 1);
    // The upper half of the external attributes is the Unix mode: a character device.
    device[entry + 38..entry + 42].copy_from_slice(&(0o020_600_u32 << 16).to_le_bytes());
    refused(&device, "neither a file nor a directory");
}

#[test]
fn names_that_contradict_each_other() {
    let twice = Zip::new().file("skills/a1", "x").file("skills/a2", "y").bytes();
    refused(&patch(&twice, b"skills/a2", b"skills/a1"), "two files of the same name");
    let twice = Zip::new().file("skills//a", "x").file("skills/./a", "y").bytes();
    refused(&twice, "it is in the archive twice");
    refused(&Zip::new().file("skills", "x").file("skills/a", "y").bytes(), "needs it to be a directory");
}

#[test]
fn profiles_as_a_file() {
    refused(&Zip::new().file("profiles", "x").bytes(), "must be a directory");
}

#[test]
fn sizes_that_lie() {
    let honest = Zip::new().with("big", &"x".repeat(5000), SimpleFileOptions::default()).bytes();
    let entry = directory_entry(&honest, 1);
    let with_size = |size: u32| {
        let mut bytes = honest.clone();
        bytes[entry + 24..entry + 28].copy_from_slice(&size.to_le_bytes());
        bytes
    };
    refused(&with_size(0xE000_0000), "times its size");
    refused(&with_size(100), "damaged in the archive");
    refused(&with_size(6000), "damaged in the archive");
}

#[test]
fn entries_that_share_their_bytes() {
    let mut bytes = Zip::new().file("skills/a", &"x".repeat(100)).file("skills/b", &"x".repeat(100)).bytes();
    let (first, second) = (directory_entry(&bytes, 1), directory_entry(&bytes, 2));
    let offset: [u8; 4] = bytes[first + 42..first + 46].try_into().unwrap();
    bytes[second + 42..second + 46].copy_from_slice(&offset);
    refused(&bytes, "share the same bytes");
}

#[test]
fn damage_on_the_way() {
    let good = Zip::new().file("skills/a", "precious content").bytes();
    refused(&patch(&good, b"precious", b"prexious"), "\"skills/a\" is damaged in the archive");
    refused(&good[..good.len() - 30], "is not a zip file, or is cut off");
    refused(b"", "is not a zip file");
    refused(b"this is no archive at all", "is not a zip file");
    let mut encrypted = good.clone();
    let entry = directory_entry(&encrypted, 1);
    encrypted[entry + 8] |= 1;
    refused(&encrypted, "which is encrypted");
    let mut odd_method = good;
    let entry = directory_entry(&odd_method, 1);
    odd_method[entry + 10] = 93;
    refused(&odd_method, "skills/a");
}

#[test]
fn archives_of_something_else() {
    let reason = "is not a backup of a home";
    refused(&Zip::empty().file("readme.txt", "x").file("src/config.yaml", "x").bytes(), reason);
    refused(&Zip::empty().bytes(), reason);
    refused(&Zip::empty().file(".hermes/skills/a", "x").bytes(), reason);
}

#[test]
fn our_own_bookkeeping_and_stray_logs_are_never_restored() {
    let home = TestHome::new();
    let bytes = Zip::new()
        .file("state-snapshots/.importing/plan.json", "{}")
        .file("state-snapshots/20260101-000000/config.yaml", "old")
        .file("state.db-wal", "a log without its database")
        .file("profiles/p/gateway.pid", "1")
        .bytes();
    let archive = write(&home, &bytes);
    let done =
        Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).args(["import", "--json"]).arg(&archive).run();
    assert_eq!(
        (&done.success().json()["restored"], &done.json()["kept"].as_array().unwrap().len()),
        (&2.into(), &3)
    );
    assert!(!home.path().join("state.db-wal").exists() && !home.path().join("profiles").exists());
    assert!(!home.path().join("state-snapshots/.importing").exists());
    assert_eq!(home.read("state-snapshots/20260101-000000/config.yaml"), "old");
}

#[test]
fn the_packed_directory_itself_is_stripped() {
    let home = TestHome::new();
    let bytes = Zip::empty().file(".hermes/config.yaml", "a: 1\n").file(".hermes/skills/x", "y").bytes();
    let archive = write(&home, &bytes);
    Hermes::new(env!("CARGO_BIN_EXE_hermes"), &home).arg("import").arg(&archive).run().success();
    assert_eq!((home.read("config.yaml"), home.read("skills/x")), ("a: 1\n".into(), "y".into()));
    assert!(fs::metadata(home.path().join(".hermes")).is_err());
}
