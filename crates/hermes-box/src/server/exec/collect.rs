//! Keeping the beginning and the end of an output, and its whole in a file.

use super::spill::{SpillFile, Spills, Trouble};
use crate::proto::exec::{Captured, Keep, Notice, Spill};

/// The most that is kept of a beginning or an end, so that both streams fit in an answer.
pub(crate) const MAX_KEEP: u64 = 4 * 1024 * 1024;
/// From how many bytes on streamed output also goes to a file, when it is to.
const STREAM_THRESHOLD: u64 = 64 * 1024;

/// One output.
#[derive(Debug)]
pub(crate) struct Collector {
    keep: Keep,
    head: Vec<u8>,
    tail: Tail,
    total: u64,
    file: FileState,
}

#[derive(Debug)]
enum FileState {
    Off,
    /// Everything is still in memory.
    NotYet(u64),
    Open(SpillFile),
    Failed(String),
}

impl Collector {
    /// Keeps head and tail for the answer.
    pub(crate) fn keeping(keep: Keep, spill: Spill) -> Self {
        let keep = Keep { head: keep.head.min(MAX_KEEP), tail: keep.tail.min(MAX_KEEP) };
        Self::new(keep, spill)
    }

    /// Keeps nothing but what is needed to begin a file.
    pub(crate) fn passing(spill: Spill) -> Self {
        let head = if spill == Spill::Off { 0 } else { STREAM_THRESHOLD };
        Self::new(Keep { head, tail: 0 }, spill)
    }

    fn new(keep: Keep, spill: Spill) -> Self {
        let file = match spill {
            Spill::Off => FileState::Off,
            Spill::UpTo(max) => FileState::NotYet(max),
        };
        Self { keep, head: Vec::new(), tail: Tail::new(keep.tail as usize), total: 0, file }
    }

    pub(crate) fn add(&mut self, bytes: &[u8], spills: &Spills) {
        if self.total + bytes.len() as u64 > self.keep.head + self.keep.tail {
            self.open_file(spills);
        }
        if let FileState::Open(file) = &mut self.file {
            file.write(bytes);
        }
        self.total += bytes.len() as u64;
        let space = self.keep.head as usize - self.head.len();
        let (first, rest) = bytes.split_at(space.min(bytes.len()));
        self.head.extend_from_slice(first);
        self.tail.add(rest);
    }

    /// Begins the file with what was printed before; nothing of it has been dropped yet.
    fn open_file(&mut self, spills: &Spills) {
        let FileState::NotYet(max) = self.file else { return };
        self.file = match SpillFile::create(spills, max) {
            Ok(mut file) => {
                file.write(&self.head);
                file.write(self.tail.bytes());
                FileState::Open(file)
            }
            Err(error) => FileState::Failed(error.to_string()),
        };
    }

    /// What was kept.
    pub(crate) fn captured(self) -> Captured {
        let tail = self.tail.bytes();
        Captured {
            omitted: self.total - self.head.len() as u64 - tail.len() as u64,
            tail: tail.to_vec(),
            head: self.head,
            total: self.total,
            spill: match &self.file {
                FileState::Open(file) => Some(file.path().to_path_buf()),
                FileState::Off | FileState::NotYet(_) | FileState::Failed(_) => None,
            },
        }
    }

    /// Only how much there was, and the file: the output itself has been sent already.
    pub(crate) fn summary(self) -> Captured {
        let captured = self.captured();
        Captured { head: Vec::new(), tail: Vec::new(), omitted: 0, ..captured }
    }

    /// What is to be said about the file.
    pub(crate) fn notice(&self) -> Option<Notice> {
        match &self.file {
            FileState::Failed(why) => Some(Notice::SpillFailed(why.clone())),
            FileState::Open(file) => match file.trouble.as_ref()? {
                Trouble::Full => Some(Notice::SpillFull),
                Trouble::Failed(why) => Some(Notice::SpillFailed(why.clone())),
            },
            FileState::Off | FileState::NotYet(_) => None,
        }
    }
}

/// The last bytes of something long.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    limit: usize,
}

impl Tail {
    pub(crate) fn new(limit: usize) -> Self {
        Self { bytes: Vec::new(), limit }
    }

    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if bytes.len() >= self.limit {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[bytes.len() - self.limit..]);
            return;
        }
        // Moving the rest down only when it has doubled keeps the cost per byte constant.
        if self.bytes.len() + bytes.len() > 2 * self.limit {
            let surplus = self.bytes.len() + bytes.len() - self.limit;
            self.bytes.drain(..surplus);
        }
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.bytes.len().saturating_sub(self.limit)..]
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn no_files() -> Spills {
        Spills::new(None, 0, Duration::ZERO, 0)
    }

    proptest! {
        #[test]
        fn head_and_tail_are_those_of_the_whole(
            pieces in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..20),
            head in 0u64..50, tail in 0u64..50, max in 0u64..200,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let spills = Spills::new(Some(directory.path().into()), u64::MAX, Duration::from_mins(1), 1);
            let mut collector = Collector::keeping(Keep { head, tail }, Spill::UpTo(max));
            for piece in &pieces {
                collector.add(piece, &spills);
            }
            let whole = pieces.concat();
            let notice = collector.notice();
            let captured = collector.captured();
            prop_assert_eq!(captured.total, whole.len() as u64);
            prop_assert_eq!(captured.total, captured.omitted + captured.bytes().len() as u64);
            prop_assert!(whole.starts_with(&captured.head) && whole.ends_with(&captured.tail));
            let fits = whole.len() as u64 <= head + tail;
            prop_assert_eq!(captured.is_truncated(), !fits);
            if fits {
                prop_assert_eq!(captured.bytes(), whole);
            } else {
                let file = std::fs::read(captured.spill.unwrap()).unwrap();
                prop_assert_eq!(&file, &whole[..whole.len().min(max as usize)]);
                prop_assert_eq!(notice == Some(Notice::SpillFull), whole.len() as u64 > max);
            }
        }
    }

    #[test]
    fn without_a_directory_the_output_still_arrives() {
        let mut collector = Collector::keeping(Keep { head: 2, tail: 2 }, Spill::UpTo(100));
        collector.add(b"abcdef", &no_files());
        assert!(matches!(collector.notice(), Some(Notice::SpillFailed(_))));
        assert_eq!(collector.captured().bytes(), b"abef");
    }
}
