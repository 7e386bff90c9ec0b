//! Output of a running command, gathered by a thread so that a full pipe never blocks the command.

use std::io::Read;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

/// What a stream gave so far, and whether it has ended.
#[derive(Debug, Default)]
struct Gathered {
    bytes: Vec<u8>,
    ended: bool,
}

/// A stream that a thread reads to its end.
#[derive(Debug, Clone, Default)]
pub(super) struct Stream {
    shared: Arc<(Mutex<Gathered>, Condvar)>,
}

impl Stream {
    /// Starts reading. The thread ends with the stream, so at the latest with the last process that holds it.
    pub(super) fn read_from(mut source: impl Read + Send + 'static) -> Self {
        let stream = Self::default();
        let writer = stream.clone();
        thread::spawn(move || {
            let mut buffer = [0; 16 * 1024];
            loop {
                match source.read(&mut buffer) {
                    Ok(0) => break,
                    Ok(count) => writer.update(|gathered| gathered.bytes.extend_from_slice(&buffer[..count])),
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(_) => break,
                }
            }
            writer.update(|gathered| gathered.ended = true);
        });
        stream
    }

    /// A copy of all bytes so far.
    pub(super) fn bytes(&self) -> Vec<u8> {
        self.lock().bytes.clone()
    }

    /// Waits for the end of the stream. False when the deadline came first.
    pub(super) fn wait_end(&self, deadline: Instant) -> bool {
        self.wait(deadline, |gathered| gathered.ended.then_some(())).is_some()
    }

    /// The next line that starts at `*from`, without its line end; moves `*from` behind it.
    /// A last line without a line end counts once the stream has ended.
    pub(super) fn next_line(&self, from: &mut usize, deadline: Instant) -> Option<String> {
        let (line, next) = self.wait(deadline, |gathered| {
            let rest = &gathered.bytes[*from..];
            match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) => Some(Some((lossy(&rest[..end]), *from + end + 1))),
                None if gathered.ended && rest.is_empty() => Some(None),
                None if gathered.ended => Some(Some((lossy(rest), gathered.bytes.len()))),
                None => None,
            }
        })??;
        *from = next;
        Some(line)
    }

    /// Waits until the bytes so far hold `text`. False when the stream ended or the deadline came first.
    pub(super) fn wait_for(&self, text: &str, deadline: Instant) -> bool {
        let found = |gathered: &Gathered| {
            let found = contains(&gathered.bytes, text.as_bytes());
            (found || gathered.ended).then_some(found)
        };
        self.wait(deadline, found).unwrap_or(false)
    }

    fn wait<T>(&self, deadline: Instant, mut look: impl FnMut(&Gathered) -> Option<T>) -> Option<T> {
        let mut gathered = self.lock();
        loop {
            if let Some(value) = look(&gathered) {
                return Some(value);
            }
            let left = deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())?;
            gathered = self.shared.1.wait_timeout(gathered, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn update(&self, change: impl FnOnce(&mut Gathered)) {
        change(&mut self.lock());
        self.shared.1.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.shared.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    part.is_empty() || bytes.windows(part.len()).any(|window| window == part)
}
