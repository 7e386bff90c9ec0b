//! Files.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use hermes_box::client::CallError;
use hermes_box::proto::fault::FileErrorKind;
use hermes_box::proto::file::{
    Depth, Existing, Expect, FileKind, LinesRequest, ListRequest, Method, Parents, Texture, WriteRequest,
};

use crate::world::World;

fn kind<T: std::fmt::Debug>(result: Result<T, CallError>) -> FileErrorKind {
    match result {
        Err(error) => error.file_kind().unwrap_or_else(|| panic!("another error: {error}")),
        Ok(value) => panic!("no error: {value:?}"),
    }
}

fn request(path: impl Into<std::path::PathBuf>) -> WriteRequest {
    WriteRequest { place: path.into().into(), expect: Expect::Any, parents: Parents::MustExist, mode: None }
}

fn mode(path: &std::path::Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o7777
}

everywhere! {
    fn attributes_are_told(world: &World) {
        let files = world.client.files();
        let home = world.home();
        fs::write(home.join("f"), "12345").unwrap();
        fs::set_permissions(home.join("f"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("f", home.join("l")).unwrap();
        let stat = files.stat(home.join("f")).unwrap();
        let real = fs::metadata(home.join("f")).unwrap();
        assert_eq!((stat.kind, stat.mode, stat.version.size, stat.version.ino), (FileKind::File, 0o640, 5, real.ino()));
        assert_eq!(stat.version.mtime_ns, real.mtime() * 1_000_000_000 + real.mtime_nsec());
        assert_eq!(files.stat(home.join("l")).unwrap().version, stat.version);
        let link = files.stat_link(home.join("l")).unwrap();
        assert_eq!((link.kind, link.target), (FileKind::Symlink, Some("f".into())));
        assert_eq!(files.stat(&home).unwrap().kind, FileKind::Directory);
        assert_eq!(kind(files.stat(home.join("none"))), FileErrorKind::NotFound);
        assert_eq!(kind(files.stat(home.join("f/x"))), FileErrorKind::NotDirectory);
    }

    fn every_link_on_the_way_is_told(world: &World) {
        let (home, files) = (world.home().canonicalize().unwrap(), world.client.files());
        fs::create_dir_all(home.join("a/real")).unwrap();
        fs::write(home.join("a/real/f"), "12").unwrap();
        symlink("real", home.join("a/dir")).unwrap();
        symlink("a/dir/f", home.join("one")).unwrap();
        symlink(home.join("one"), home.join("two")).unwrap();
        symlink("two", home.join("loop")).unwrap();
        let found = files.resolve(home.join("two")).unwrap();
        assert_eq!(found.real, home.join("a/real/f"));
        assert_eq!(found.links, ["two", "one", "a/dir"].map(|name| home.join(name)));
        assert_eq!(found.stat.unwrap().version.size, 2);
        // What a link points to counts before a `..` does, and what is missing keeps its name.
        let found = files.resolve(home.join("a/dir/../x/./y")).unwrap();
        assert_eq!((found.real, found.stat), (home.join("a/x/y"), None));
        fs::remove_file(home.join("two")).unwrap();
        symlink("loop", home.join("two")).unwrap();
        assert_eq!(kind(files.resolve(home.join("loop"))), FileErrorKind::Loop);
        world.run("mkdir -p h; export HOME=$PWD/h");
        let found = files.in_session("s").resolve("~/x").unwrap();
        assert_eq!((found.home.unwrap(), found.path), (world.home().join("h"), world.home().join("h/x")));
    }

    fn paths_follow_the_session(world: &World) {
        world.run("mkdir -p d; cd d; echo x > here");
        let files = world.client.files().in_session("s");
        assert_eq!(files.stat("here").unwrap().path, world.home().join("d/here"));
        assert_eq!(files.stat("~/d/here").unwrap().path, world.home().join("d/here"));
        assert_eq!(kind(world.client.files().stat("here")), FileErrorKind::NotFound);
        assert_eq!(world.client.files().stat("d/here").unwrap().path, world.home().join("d/here"));
    }

    fn directories_are_listed_in_parts(world: &World) {
        let files = world.client.files();
        for name in ["b", "a", "c", ".hidden"] {
            fs::write(world.home().join(name), name).unwrap();
        }
        fs::create_dir(world.home().join("dir")).unwrap();
        let listing = files.list(world.home(), 100).unwrap();
        let names: Vec<_> = listing.entries.iter().map(|entry| entry.name.to_str().unwrap()).collect();
        assert_eq!(names, [".hidden", "a", "b", "c", "dir"]);
        assert_eq!(listing.entries[4].kind, FileKind::Directory);
        let part = files.list_with(ListRequest { place: world.home().into(), offset: 1, limit: 2 }).unwrap();
        let names: Vec<_> = part.entries.iter().map(|entry| entry.name.to_str().unwrap()).collect();
        assert_eq!((names, part.total), (vec!["a", "b"], 5));
        assert_eq!(kind(files.list(world.home().join("a"), 1)), FileErrorKind::NotDirectory);
    }

    fn lines_are_read_and_counted(world: &World) {
        let path = world.home().join("text");
        let text: String = (1..=1000).map(|n| format!("line {n}\n")).collect();
        fs::write(&path, text.clone() + "last without end").unwrap();
        let files = world.client.files();
        let mut request = LinesRequest::new(path.clone());
        (request.first, request.limit) = (998, 10);
        let lines = files.read_lines(request).unwrap();
        let shown: Vec<_> = lines.lines.iter().map(|line| String::from_utf8(line.bytes.clone()).unwrap()).collect();
        assert_eq!(shown, ["line 998", "line 999", "line 1000", "last without end"]);
        assert_eq!((lines.total, lines.final_newline, lines.texture), (1001, false, Texture::Text));
        fs::write(&path, "").unwrap();
        let empty = files.read_lines(LinesRequest::new(path.clone())).unwrap();
        assert_eq!((empty.total, empty.lines.len()), (0, 0));
        fs::write(&path, b"a\x00b").unwrap();
        assert_eq!(files.read_lines(LinesRequest::new(path.clone())).unwrap().texture, Texture::Binary);
        fs::write(&path, b"\xff\xfe broken \n").unwrap();
        assert_eq!(files.read_lines(LinesRequest::new(path)).unwrap().lines[0].bytes, b"\xff\xfe broken ");
    }

    fn one_endless_line_is_bounded(world: &World) {
        let path = world.home().join("long");
        fs::write(&path, "x".repeat(5_000_000)).unwrap();
        let lines = world.client.files().read_lines(LinesRequest::new(path)).unwrap();
        assert_eq!((lines.lines[0].bytes.len(), lines.lines[0].length, lines.total), (2000, 5_000_000, 1));
    }

    fn bytes_are_read_whole_in_parts_and_as_a_stream(world: &World) {
        let path = world.home().join("bytes");
        let content: Vec<u8> = (0..3_000_000u32).map(|n| (n % 253) as u8).collect();
        fs::write(&path, &content).unwrap();
        let files = world.client.files();
        let (bytes, read) = files.read(&path, 10_000_000).unwrap();
        assert!(bytes == content);
        assert_eq!(read.version.size, 3_000_000);
        assert_eq!(files.read_range(&path, 2_999_990, 100).unwrap().0, &content[2_999_990..]);
        assert_eq!(files.read_range(&path, 10, 5).unwrap().0, &content[10..15]);
        assert!(files.read_range(&path, 9_000_000, 5).unwrap().0.is_empty());
        let mut streamed = Vec::new();
        files.open(&path, 0, u64::MAX).unwrap().read_to_end(&mut streamed).unwrap();
        assert!(streamed == content);
        // Dropped in the middle, it leaves the connection in order.
        let mut reader = files.open(&path, 0, u64::MAX).unwrap();
        reader.read_exact(&mut [0; 10]).unwrap();
        drop(reader);
        assert_eq!(files.read_range(&path, 0, 3).unwrap().0, &content[..3]);
    }

    fn what_is_no_ordinary_file_is_not_read(world: &World) {
        let files = world.client.files();
        world.run("mkfifo pipe");
        assert_eq!(kind(files.read(world.home().join("pipe"), 10)), FileErrorKind::NotRegular);
        assert_eq!(kind(files.read("/dev/zero", 10)), FileErrorKind::NotRegular);
        assert_eq!(kind(files.read(world.home(), 10)), FileErrorKind::IsDirectory);
        assert_eq!(kind(files.write(world.home().join("pipe"), b"x")), FileErrorKind::NotRegular);
        assert_eq!(kind(files.write(world.home(), b"x")), FileErrorKind::IsDirectory);
    }

    fn a_new_file_has_ordinary_rights(world: &World) {
        let files = world.client.files();
        let path = world.home().join("deep/er/new");
        let written = files.write(&path, b"hello").unwrap();
        assert!(written.created);
        assert_eq!((written.parents_created, written.bytes, written.method), (2, 5, Method::Replaced));
        assert_eq!(fs::read(&path).unwrap(), b"hello");
        // As the same umask gives it to any other program.
        let reference = world.home().join("reference");
        fs::write(&reference, "").unwrap();
        assert_eq!(mode(&path), mode(&reference));
        let executable = WriteRequest { mode: Some(0o755), ..request(world.home().join("x")) };
        files.write_with(executable, b"#!/bin/sh\n").unwrap();
        assert_eq!(mode(&world.home().join("x")), 0o755);
        assert_eq!(kind(files.write_with(request(world.home().join("no/such/dir")), b"")), FileErrorKind::NotFound);
    }

    fn an_existing_file_keeps_its_rights_and_links(world: &World) {
        let files = world.client.files();
        let (real, link) = (world.home().join("real"), world.home().join("link"));
        fs::write(&real, "old").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o4751)).unwrap();
        symlink("real", &link).unwrap();
        let written = files.write(&link, b"new").unwrap();
        assert!(!written.created);
        assert_eq!(written.path, real);
        assert_eq!(fs::read(&real).unwrap(), b"new");
        assert_eq!(mode(&real), 0o4751);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        // A link to nothing makes what it leads to.
        symlink("later", world.home().join("dangling")).unwrap();
        files.write(world.home().join("dangling"), b"made").unwrap();
        assert_eq!(fs::read(world.home().join("later")).unwrap(), b"made");
        symlink("loop", world.home().join("loop")).unwrap();
        assert_eq!(kind(files.write(world.home().join("loop"), b"")), FileErrorKind::Loop);
        assert!(leftovers(world).is_empty(), "{:?}", leftovers(world));
    }

    fn other_names_of_a_file_see_the_change(world: &World) {
        let (one, two) = (world.home().join("one"), world.home().join("two"));
        fs::write(&one, "a rather long old content").unwrap();
        fs::hard_link(&one, &two).unwrap();
        let written = world.client.files().write(&one, b"short").unwrap();
        assert_eq!(written.method, Method::InPlace);
        assert_eq!(fs::read(&two).unwrap(), b"short");
        assert_eq!(fs::metadata(&two).unwrap().nlink(), 2);
    }

    fn a_stale_write_is_refused(world: &World) {
        let files = world.client.files();
        let path = world.home().join("f");
        fs::write(&path, "one").unwrap();
        let version = files.stat(&path).unwrap().version;
        let hash = files.hash(&path).unwrap();
        let on = |expect| WriteRequest { expect, ..request(&path) };
        fs::write(&path, "two").unwrap();
        assert_eq!(kind(files.write_with(on(Expect::Version(version)), b"x")), FileErrorKind::Changed);
        assert_eq!(kind(files.write_with(on(Expect::Hash(hash)), b"x")), FileErrorKind::Changed);
        assert_eq!(kind(files.write_with(on(Expect::Absent), b"x")), FileErrorKind::Exists);
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let hash = files.hash(&path).unwrap();
        let written = files.write_with(on(Expect::Hash(hash)), b"three").unwrap();
        files.write_with(on(Expect::Version(written.version)), b"four").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"four");
        fs::remove_file(&path).unwrap();
        assert_eq!(kind(files.write_with(on(Expect::Version(version)), b"x")), FileErrorKind::Changed);
        files.write_with(on(Expect::Absent), b"five").unwrap();
        assert!(leftovers(world).is_empty());
    }

    fn a_long_file_is_written_as_a_stream_or_not_at_all(world: &World) {
        let files = world.client.files();
        let path = world.home().join("big");
        let content: Vec<u8> = (0..5_000_000u32).map(|n| (n % 249) as u8).collect();
        files.write(&path, &content).unwrap();
        assert!(fs::read(&path).unwrap() == content);
        struct Breaks(usize);
        impl Read for Breaks {
            fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
                self.0 += 1;
                if self.0 > 20 { Err(std::io::Error::other("broken")) } else { Ok(buffer.len()) }
            }
        }
        assert!(files.write_from(request(&path), &mut Breaks(0)).is_err());
        assert!(crate::world::eventually(|| leftovers(world).is_empty()));
        assert!(fs::read(&path).unwrap() == content, "the old content is untouched");
    }

    fn directories_are_made(world: &World) {
        let files = world.client.files();
        assert_eq!(files.mkdir(world.home().join("a/b/c"), Parents::Create).unwrap(), 3);
        assert_eq!(files.mkdir(world.home().join("a/b/c"), Parents::Create).unwrap(), 0);
        assert_eq!(kind(files.mkdir(world.home().join("a/b"), Parents::MustExist)), FileErrorKind::Exists);
        assert_eq!(kind(files.mkdir(world.home().join("x/y"), Parents::MustExist)), FileErrorKind::NotFound);
        fs::write(world.home().join("file"), "").unwrap();
        assert_eq!(kind(files.mkdir(world.home().join("file/x"), Parents::Create)), FileErrorKind::NotDirectory);
    }

    fn things_are_removed(world: &World) {
        let files = world.client.files();
        let home = world.home();
        fs::create_dir_all(home.join("d/e")).unwrap();
        fs::write(home.join("d/f"), "").unwrap();
        fs::write(home.join("precious"), "").unwrap();
        symlink("../precious", home.join("d/link")).unwrap();
        assert_eq!(kind(files.remove(home.join("d"), Depth::Single)), FileErrorKind::NotEmpty);
        files.remove(home.join("d"), Depth::Recursive).unwrap();
        assert!(!home.join("d").exists() && home.join("precious").exists());
        files.remove(home.join("precious"), Depth::Single).unwrap();
        assert_eq!(kind(files.remove(home.join("precious"), Depth::Recursive)), FileErrorKind::NotFound);
        assert_eq!(kind(files.remove("/", Depth::Recursive)), FileErrorKind::BadName);
        assert_eq!(kind(files.remove(home.join(".."), Depth::Recursive)), FileErrorKind::BadName);
    }

    fn things_are_moved_and_copied(world: &World) {
        let files = world.client.files();
        let home = world.home();
        fs::write(home.join("a"), "a").unwrap();
        fs::set_permissions(home.join("a"), fs::Permissions::from_mode(0o750)).unwrap();
        files.copy(home.join("a"), home.join("b"), Existing::Refuse).unwrap();
        assert_eq!((fs::read(home.join("b")).unwrap(), mode(&home.join("b"))), (b"a".to_vec(), 0o750));
        assert_eq!(kind(files.copy(home.join("a"), home.join("b"), Existing::Refuse)), FileErrorKind::Exists);
        assert_eq!(kind(files.rename(home.join("a"), home.join("b"), Existing::Refuse)), FileErrorKind::Exists);
        files.rename(home.join("a"), home.join("b"), Existing::Replace).unwrap();
        assert!(!home.join("a").exists());
        assert_eq!(kind(files.rename(home.join("a"), home.join("c"), Existing::Replace)), FileErrorKind::NotFound);
        fs::create_dir(home.join("dir")).unwrap();
        files.rename(home.join("dir"), home.join("moved"), Existing::Refuse).unwrap();
        assert!(home.join("moved").is_dir());
    }
}

/// Drafts that were left behind.
fn leftovers(world: &World) -> Vec<std::ffi::OsString> {
    let names = fs::read_dir(world.home()).unwrap().map(|entry| entry.unwrap().file_name());
    names.filter(|name| name.to_string_lossy().contains("hermes")).collect()
}
