//! Lines of a file from its end, without reading more than is asked for.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const BLOCK: u64 = 64 * 1024;
/// A longer line is cut: nobody wants it on a terminal, and it must not fill the memory.
const MAX_LINE: u64 = 256 * 1024;

/// Goes through the lines of `file` from `end` to the start.
#[derive(Debug)]
pub struct ReverseLines<'a> {
    file: &'a File,
    end: u64,
    block: Vec<u8>,
    block_start: u64,
}

impl<'a> ReverseLines<'a> {
    /// Starts at `end`, which is the end of the file or right after a line end.
    pub fn new(file: &'a File, end: u64) -> Self {
        Self { file, end, block: Vec::new(), block_start: 0 }
    }

    /// Where the line given last starts.
    pub fn position(&self) -> u64 {
        self.end
    }

    /// Whether what comes before the position is whole lines.
    pub fn ends_a_line(&mut self) -> io::Result<bool> {
        Ok(self.end == 0 || self.byte_before(self.end)? == b'\n')
    }

    /// The line before the last one given; `None` at the start of the file, and when somebody empties it meanwhile.
    pub fn next_line(&mut self) -> io::Result<Option<String>> {
        match self.line_before() {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
            result => result,
        }
    }

    fn line_before(&mut self) -> io::Result<Option<String>> {
        if self.end == 0 {
            return Ok(None);
        }
        let content_end = if self.byte_before(self.end)? == b'\n' { self.end - 1 } else { self.end };
        let start = self.line_start(content_end)?;
        self.end = start;
        let length = (content_end - start).min(MAX_LINE);
        let inside =
            start >= self.block_start && start + length <= self.block_start + self.block.len() as u64;
        let bytes = if inside {
            let from = (start - self.block_start) as usize;
            self.block[from..from + length as usize].to_vec()
        } else {
            let mut bytes = vec![0; length as usize];
            self.file.read_exact_at(&mut bytes, start)?;
            bytes
        };
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// Where the line that ends at `end` starts.
    fn line_start(&mut self, mut end: u64) -> io::Result<u64> {
        while end > 0 {
            self.load_before(end)?;
            let inside = &self.block[..(end - self.block_start) as usize];
            if let Some(at) = inside.iter().rposition(|b| *b == b'\n') {
                return Ok(self.block_start + at as u64 + 1);
            }
            end = self.block_start;
        }
        Ok(0)
    }

    fn byte_before(&mut self, at: u64) -> io::Result<u8> {
        self.load_before(at)?;
        Ok(self.block[(at - 1 - self.block_start) as usize])
    }

    /// Makes the block hold the byte before `at`.
    fn load_before(&mut self, at: u64) -> io::Result<()> {
        if at > self.block_start && at <= self.block_start + self.block.len() as u64 {
            return Ok(());
        }
        let start = at.saturating_sub(BLOCK);
        let mut block = vec![0; (at - start) as usize];
        self.file.read_exact_at(&mut block, start)?;
        (self.block, self.block_start) = (block, start);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
    use super::*;
    use proptest::prelude::*;
    use std::io::Write;

    fn backwards(content: &[u8]) -> Vec<String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        let mut lines = ReverseLines::new(&file, content.len() as u64);
        std::iter::from_fn(|| lines.next_line().unwrap()).collect()
    }

    #[test]
    fn ends_and_empty_lines() {
        assert_eq!(backwards(b""), Vec::<String>::new());
        assert_eq!(backwards(b"\n"), [""]);
        assert_eq!(backwards(b"a\n\nb"), ["b", "", "a"]);
        assert_eq!(backwards(b"a\nb\n"), ["b", "a"]);
    }

    #[test]
    fn lines_longer_than_a_block_and_than_the_bound() {
        let long = "x".repeat(200_000);
        assert_eq!(backwards(format!("a\n{long}\nb\n").as_bytes()), ["b", long.as_str(), "a"]);
        let huge = "y".repeat(300_000);
        assert_eq!(backwards(format!("{huge}\nb").as_bytes())[1].len() as u64, MAX_LINE);
    }

    proptest! {
        #[test]
        fn the_same_lines_as_reading_forwards(lengths in proptest::collection::vec(0..9000_usize, 0..40)) {
            let lines: Vec<String> = lengths.into_iter().map(|n| "ä".repeat(n)).collect();
            let content = lines.join("\n") + if lines.is_empty() { "" } else { "\n" };
            let mut expected = lines;
            expected.reverse();
            prop_assert_eq!(backwards(content.as_bytes()), expected);
        }
    }
}
