//! Going through a home: what goes into a backup, what does not, and why.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::rules::{self, Linked, Verdict};

/// What was found, in a fixed order.
#[derive(Debug, Default)]
pub struct Scan {
    /// What to back up.
    pub items: Vec<Item>,
    /// Directories and files that are left out by rule.
    pub left_out: Vec<String>,
    /// What cannot be part of a backup by its nature.
    pub skipped: Vec<Skipped>,
    /// What should have been part of it.
    pub problems: Vec<Problem>,
}

/// Something to back up.
#[derive(Debug)]
pub struct Item {
    /// Its path below the home, with `/` between the parts.
    pub name: String,
    /// Where its bytes are: elsewhere, when its place in the home is a link.
    pub path: PathBuf,
    pub kind: Kind,
    pub meta: Metadata,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    File,
    /// A file only `SQLite` may read.
    Database,
    /// Nothing in it, but it may be all there is of a profile.
    EmptyDir,
}

/// Something passed over, with the reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    pub path: String,
    pub reason: &'static str,
}

/// Something that went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    pub path: String,
    #[serde(rename = "problem")]
    pub what: String,
    pub saved: Saved,
}

/// Whether something that has a problem is in the backup all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Saved {
    /// Byte for byte, as it is.
    AsItIs,
    No,
}

impl Problem {
    pub fn new(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { path: path.into(), what: problem.into(), saved: Saved::No }
    }

    /// A database that was saved without `SQLite`'s help.
    pub fn damaged(path: &str, why: &str) -> Self {
        let what = format!("the database is damaged, it was saved as it is: {why}");
        Self { path: path.to_owned(), what, saved: Saved::AsItIs }
    }
}

/// Goes through the home at `root`, leaving out `output`, the archive that is being written.
pub fn scan(root: &Path, output: &Path) -> Scan {
    let mut scan = Scan::default();
    scan.directory(root, Path::new(""), output);
    scan
}

/// Looks only at these files and directories of the home at `root`.
pub fn scan_only(root: &Path, names: &[&str]) -> Scan {
    let mut scan = Scan::default();
    for name in names {
        scan.entry(&root.join(name), Path::new(name), Path::new(""));
    }
    scan
}

impl Scan {
    fn directory(&mut self, dir: &Path, relative: &Path, output: &Path) {
        let names = match sorted_names(dir) {
            Ok(names) => names,
            Err(e) => return self.problems.push(Problem::new(shown(relative), cannot("list it", &e))),
        };
        let mut empty = true;
        for name in names {
            let (path, relative) = (dir.join(&name), relative.join(&name));
            empty = false;
            if path != output {
                self.entry(&path, &relative, output);
            }
        }
        if empty && !relative.as_os_str().is_empty() {
            self.take(dir, relative, Kind::EmptyDir);
        }
    }

    fn entry(&mut self, path: &Path, relative: &Path, output: &Path) {
        let kind = match fs::symlink_metadata(path) {
            Ok(meta) => meta.file_type(),
            // A home in use loses temporary files all the time.
            Err(e) if e.kind() == io::ErrorKind::NotFound => return,
            Err(e) => return self.problems.push(Problem::new(shown(relative), cannot("look at it", &e))),
        };
        if kind.is_symlink() && self.follow(path, relative) {
            return;
        }
        let reason = match () {
            () if kind.is_symlink() => "symbolic link",
            () if kind.is_socket() => "socket",
            () if kind.is_fifo() => "pipe",
            () if kind.is_block_device() || kind.is_char_device() => "device",
            () if kind.is_dir() => return self.judge_directory(path, relative, output),
            () => return self.judge_file(path, relative),
        };
        self.skipped.push(Skipped { path: shown(relative), reason });
    }

    /// Takes the content behind a link where a home cannot do without it. False when there is none, or no need.
    fn follow(&mut self, path: &Path, relative: &Path) -> bool {
        let Ok(real) = fs::canonicalize(path) else { return false };
        match rules::link(relative) {
            Linked::File if real.is_file() => self.judge_file(&real, relative),
            // Only the files themselves: a link may lead to a directory that holds half the disk.
            Linked::Directory if real.is_dir() => {
                for name in sorted_names(&real).unwrap_or_default() {
                    let (file, relative) = (real.join(&name), relative.join(&name));
                    if fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()) {
                        self.judge_file(&file, &relative);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn judge_directory(&mut self, path: &Path, relative: &Path, output: &Path) {
        match rules::directory(relative) {
            Verdict::Take => self.directory(path, relative, output),
            Verdict::LeaveOut => self.left_out.push(shown(relative) + "/"),
            Verdict::Ignore => {}
        }
    }

    fn judge_file(&mut self, path: &Path, relative: &Path) {
        let kind = if rules::is_database(relative) { Kind::Database } else { Kind::File };
        match rules::file(relative) {
            Verdict::Take => self.take(path, relative, kind),
            Verdict::LeaveOut => self.left_out.push(shown(relative)),
            Verdict::Ignore => {}
        }
    }

    fn take(&mut self, path: &Path, relative: &Path, kind: Kind) {
        let Some(name) = relative.to_str().map(str::to_owned) else {
            return self.problems.push(Problem::new(shown(relative), "its name is not UTF-8 text"));
        };
        match fs::symlink_metadata(path) {
            Ok(meta) => self.items.push(Item { name, path: path.to_path_buf(), kind, meta }),
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => self.problems.push(Problem::new(name, cannot("look at it", &e))),
        }
    }
}

fn sorted_names(dir: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names =
        fs::read_dir(dir)?.map(|entry| entry.map(|e| e.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn shown(relative: &Path) -> String {
    PathBuf::from(relative).display().to_string()
}

fn cannot(doing: &str, error: &io::Error) -> String {
    format!("cannot {doing}: {error}")
}
