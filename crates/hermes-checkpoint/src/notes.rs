//! What we know about one directory beside what git keeps: how its files looked when we last looked, what the newest
//! snapshot holds of them, and who changed what between two looks.
//!
//! A file of records that end in a zero byte. It can always be made anew, at the price of knowing less: that is why it
//! is written without waiting for the disk.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;

use crate::object::{Blob, Mode, ObjectId};
use crate::tree::Stat;

/// The files of a directory by path.
pub(crate) type Entries = BTreeMap<OsString, Entry>;

/// One file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    /// As it was when we last looked.
    pub(crate) stat: Stat,
    /// What it was then; none when it was not there.
    pub(crate) now: Option<Blob>,
    /// What the newest snapshot holds.
    pub(crate) tip: Option<Blob>,
}

/// One snapshot of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Record {
    pub(crate) id: ObjectId,
    /// Files that others than the agent changed before it and after the snapshot before; none when that is not known.
    pub(crate) yours: Option<BTreeSet<OsString>>,
    /// Permission bits that are not the usual ones.
    pub(crate) modes: BTreeMap<OsString, u32>,
    /// Files that were there and not taken in.
    pub(crate) left_out: BTreeSet<OsString>,
}

impl Record {
    /// A snapshot somebody else made.
    pub(crate) fn foreign(id: ObjectId) -> Self {
        Self { id, yours: None, modes: BTreeMap::new(), left_out: BTreeSet::new() }
    }
}

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// The newest snapshot these notes are about.
    pub(crate) tip: Option<ObjectId>,
    /// When we last looked, in nanoseconds since 1970.
    pub(crate) looked_ns: i64,
    /// The snapshots, oldest first.
    pub(crate) chain: Vec<Record>,
    /// Changes of others that are in no snapshot's record yet.
    pub(crate) pending: BTreeSet<OsString>,
    pub(crate) entries: Entries,
}

const HEAD: &[u8] = b"hermes checkpoint notes 1";
const END: &[u8] = b"end";

impl Notes {
    /// As bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.entries.len() * 160 + 4096);
        let mut record = |text: &str, path: &OsStr| {
            out.extend_from_slice(text.as_bytes());
            out.extend_from_slice(path.as_bytes());
            out.push(0);
        };
        let none = OsStr::new("");
        record(std::str::from_utf8(HEAD).unwrap_or_default(), none);
        let tip = self.tip.map_or_else(|| "-".to_owned(), |id| id.to_string());
        record(&format!("tip {tip} {}", self.looked_ns), none);
        for snapshot in &self.chain {
            let known = if snapshot.yours.is_some() { "known" } else { "unknown" };
            record(&format!("snapshot {} {known}", snapshot.id), none);
            snapshot.yours.iter().flatten().for_each(|path| record("yours ", path));
            snapshot.modes.iter().for_each(|(path, mode)| record(&format!("mode {mode:o} "), path));
            snapshot.left_out.iter().for_each(|path| record("left ", path));
        }
        self.pending.iter().for_each(|path| record("pending ", path));
        let mut line = String::new();
        for (path, entry) in &self.entries {
            let Stat { size, mtime_ns, ctime_ns, ino, mode } = entry.stat;
            line.clear();
            let _ = write!(line, "file {size} {mtime_ns} {ctime_ns} {ino} {mode:o} {} ", blob(entry.now));
            if entry.tip == entry.now {
                line.push_str("= ");
            } else {
                let _ = write!(line, "{} ", blob(entry.tip));
            }
            record(&line, path);
        }
        out.extend_from_slice(END);
        out.push(0);
        out
    }

    /// Reads them back; none when they are not whole.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let mut records = bytes.strip_suffix(b"end\0")?.split(|byte| *byte == 0);
        if records.next()? != HEAD {
            return None;
        }
        let mut notes = Self::default();
        for record in records.filter(|record| !record.is_empty()) {
            notes.take_in(record)?;
        }
        Some(notes)
    }

    fn take_in(&mut self, record: &[u8]) -> Option<()> {
        let (what, rest) = cut(record)?;
        match what {
            "tip" => {
                let (tip, looked) = cut(rest)?;
                self.tip = if tip == "-" { None } else { Some(ObjectId::parse(tip)?) };
                self.looked_ns = std::str::from_utf8(looked).ok()?.parse().ok()?;
            }
            "snapshot" => {
                let (id, known) = cut(rest)?;
                let mut record = Record::foreign(ObjectId::parse(id)?);
                record.yours = (known == b"known").then(BTreeSet::new);
                self.chain.push(record);
            }
            "yours" => drop(self.chain.last_mut()?.yours.as_mut()?.insert(path(rest))),
            "left" => drop(self.chain.last_mut()?.left_out.insert(path(rest))),
            "mode" => {
                let (mode, rest) = cut(rest)?;
                let mode = u32::from_str_radix(mode, 8).ok()?;
                self.chain.last_mut()?.modes.insert(path(rest), mode);
            }
            "pending" => drop(self.pending.insert(path(rest))),
            "file" => {
                let (entry, rest) = read_entry(rest)?;
                self.entries.insert(path(rest), entry);
            }
            _ => return None,
        }
        Some(())
    }
}

fn blob(blob: Option<Blob>) -> String {
    blob.map_or_else(|| "-".to_owned(), |blob| format!("{}:{}", blob.mode.octal(), blob.id))
}

/// None when it makes no sense.
fn read_blob(text: &str) -> Option<Blob> {
    let (mode, id) = text.split_once(':')?;
    Some(Blob { mode: Mode::parse(mode)?, id: ObjectId::parse(id)? })
}

fn read_entry(rest: &[u8]) -> Option<(Entry, &[u8])> {
    let (size, rest) = cut(rest)?;
    let (mtime_ns, rest) = cut(rest)?;
    let (ctime_ns, rest) = cut(rest)?;
    let (ino, rest) = cut(rest)?;
    let (mode, rest) = cut(rest)?;
    let (now, rest) = cut(rest)?;
    let (tip, rest) = cut(rest)?;
    let stat = Stat {
        size: size.parse().ok()?,
        mtime_ns: mtime_ns.parse().ok()?,
        ctime_ns: ctime_ns.parse().ok()?,
        ino: ino.parse().ok()?,
        mode: u32::from_str_radix(mode, 8).ok()?,
    };
    let now = if now == "-" { None } else { Some(read_blob(now)?) };
    let tip = match tip {
        "=" => now,
        "-" => None,
        tip => Some(read_blob(tip)?),
    };
    Some((Entry { stat, now, tip }, rest))
}

/// The word before the first blank, and the rest.
fn cut(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let place = bytes.iter().position(|byte| *byte == b' ')?;
    Some((std::str::from_utf8(&bytes[..place]).ok()?, &bytes[place + 1..]))
}

fn path(bytes: &[u8]) -> OsString {
    OsStr::from_bytes(bytes).to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::ffi::OsStringExt;

    use proptest::prelude::*;

    use super::*;

    fn name() -> impl Strategy<Value = OsString> {
        proptest::collection::vec(1_u8..=255, 1..12).prop_map(OsString::from_vec)
    }

    fn some_blob() -> impl Strategy<Value = Option<Blob>> {
        let mode = prop_oneof![Just(Mode::Plain), Just(Mode::Executable), Just(Mode::Link)];
        proptest::option::of(
            (mode, any::<[u8; 4]>()).prop_map(|(mode, bytes)| Blob { mode, id: ObjectId::of_blob(&bytes) }),
        )
    }

    fn notes() -> impl Strategy<Value = Notes> {
        let stat = (any::<u64>(), any::<i64>(), any::<i64>(), any::<u64>(), 0_u32..0o10000)
            .prop_map(|(size, mtime_ns, ctime_ns, ino, mode)| Stat { size, mtime_ns, ctime_ns, ino, mode });
        let entry = (stat, some_blob(), some_blob()).prop_map(|(stat, now, tip)| Entry { stat, now, tip });
        let names = || proptest::collection::btree_set(name(), 0..4);
        let record = (
            any::<[u8; 4]>(),
            proptest::option::of(names()),
            proptest::collection::btree_map(name(), 0_u32..0o10000, 0..3),
            names(),
        )
            .prop_map(|(id, yours, modes, left_out)| Record {
                id: ObjectId::of_blob(&id),
                yours,
                modes,
                left_out,
            });
        (
            proptest::option::of(any::<[u8; 4]>().prop_map(|bytes| ObjectId::of_blob(&bytes))),
            any::<i64>(),
            proptest::collection::vec(record, 0..4),
            names(),
            proptest::collection::btree_map(name(), entry, 0..6),
        )
            .prop_map(|(tip, looked_ns, chain, pending, entries)| Notes {
                tip,
                looked_ns,
                chain,
                pending,
                entries,
            })
    }

    proptest! {
        #[test]
        fn notes_are_read_back_as_they_were(notes in notes()) {
            prop_assert_eq!(Notes::read(&notes.write()), Some(notes));
        }

        #[test]
        fn half_a_file_is_no_notes(notes in notes(), part in 0.0..1.0_f64) {
            let bytes = notes.write();
            let length = (bytes.len() as f64 * part) as usize;
            prop_assume!(length < bytes.len());
            prop_assert_eq!(Notes::read(&bytes[..length]), None);
        }

        #[test]
        fn nonsense_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Notes::read(&bytes);
        }
    }
}
