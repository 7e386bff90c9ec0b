//! Finding lines by content.
//!
//! One thread walks the tree in the order of paths, several look into the files, and the results are taken in that order again: the
//! answer does not depend on which thread was faster. When enough has been found the rest is only counted, as far as that takes
//! little work: a total that is right where that is cheap.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use grep_matcher::LineTerminator;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};

use super::glob::Pattern;
use super::harvest::{Harvest, Looked, given};
use super::walk::{self, Limits};
use crate::link::lock;
use crate::proto::fault::Fault;
use crate::proto::search::{
    Case, Completeness, FileMatches, FoundLine, LineRole, SearchMode, SearchRequest, SearchResult, Syntax,
};
use crate::server::call::CallContext;
use crate::server::files::file_error;

/// Lines of context around a match.
const MAX_CONTEXT: u32 = 1000;
/// Bytes of lines that are held at once.
const MAX_HELD: usize = 16 * 1024 * 1024;
/// The longest line that can be searched.
const MAX_LINE: usize = 64 * 1024 * 1024;
/// Files that are handed from thread to thread at once; waking each other for every file costs more than looking into it.
const BATCH: usize = 64;
/// Batches on their way to be looked into.
const QUEUE: usize = 8;
/// Bytes of files whose matches are only counted. Work and not time, so that the same search gives the same total.
const COUNTED: usize = 4 * 1024 * 1024;
/// Looking into a file takes as long as reading so many bytes.
const LEAST: usize = 8 * 1024;
/// Files up to this length are read at once.
const SMALL: usize = 256 * 1024;

/// Searches below `root`.
pub(crate) fn search(
    context: &CallContext,
    root: &Path,
    request: &SearchRequest,
) -> Result<SearchResult, Fault> {
    fs::metadata(root).map_err(|error| file_error("search", root, &error))?;
    let matcher = matcher(request)?;
    let globs = request.globs.iter().map(|glob| Pattern::new(glob)).collect::<Result<Vec<_>, _>>()?;
    let deadline = Instant::now().checked_add(Duration::from_millis(request.time_limit_ms));
    let hunt = Hunt {
        request,
        root,
        matcher,
        globs,
        limits: Limits { context, deadline },
        full: AtomicBool::new(false),
        counted: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        held: AtomicUsize::new(0),
    };
    let result = hunt.run();
    if context.is_abandoned() { Err(Fault::Cancelled) } else { Ok(result) }
}

fn matcher(request: &SearchRequest) -> Result<RegexMatcher, Fault> {
    let mut builder = RegexMatcherBuilder::new();
    builder.line_terminator(Some(b'\n')).multi_line(true).fixed_strings(request.syntax == Syntax::Literal);
    match request.case {
        Case::Sensitive => {}
        Case::Insensitive => {
            builder.case_insensitive(true);
        }
        Case::Smart => {
            builder.case_smart(true);
        }
    }
    let invalid = |error: grep_regex::Error| Fault::Invalid(format!("the pattern cannot be used: {error}"));
    builder.build(&request.pattern).map_err(invalid)
}

struct Hunt<'a> {
    request: &'a SearchRequest,
    root: &'a Path,
    matcher: RegexMatcher,
    globs: Vec<Pattern>,
    limits: Limits<'a>,
    /// Everything that is given back was found: from then on matches are counted and not kept.
    full: AtomicBool,
    /// Bytes that were looked at since then.
    counted: AtomicUsize,
    /// Not everything was counted.
    stopped: AtomicBool,
    /// Bytes of lines found and not yet given away.
    held: AtomicUsize,
}

/// A number that says in which order batches are taken, and a batch.
type Numbered<T> = (usize, Vec<T>);

impl Hunt<'_> {
    fn run(&self) -> SearchResult {
        let (to_searchers, files) = mpsc::sync_channel::<Numbered<PathBuf>>(QUEUE);
        let (to_collector, results) = mpsc::channel::<Numbered<Looked>>();
        let files = Mutex::new(files);
        let mut harvest = Harvest::new(self.request);
        std::thread::scope(|scope| {
            // The sender goes with the walk, so that the searchers see its end.
            let walked = scope.spawn(move || {
                let to_searchers = to_searchers;
                self.walk(&to_searchers)
            });
            for _ in 0..walk::threads() {
                let to_collector = to_collector.clone();
                let files = &files;
                scope.spawn(move || self.look_into_files(files, &to_collector));
            }
            drop(to_collector);
            self.collect(&results, &mut harvest);
            // Whoever still waits to hand something over must see that nobody takes it.
            drop(results);
            harvest.unreadable += walked.join().unwrap_or(0);
        });
        let completeness = if self.held.load(Ordering::Relaxed) > MAX_HELD {
            Completeness::LimitReached
        } else if self.limits.timed_out() {
            Completeness::TimedOut
        } else if self.stopped.load(Ordering::Relaxed) {
            Completeness::LimitReached
        } else {
            Completeness::Complete
        };
        harvest.finish(self.root, completeness)
    }

    /// Lists the files in order; how many directories could not be read.
    fn walk(&self, to_searchers: &mpsc::SyncSender<Numbered<PathBuf>>) -> u64 {
        let mut unreadable = 0;
        let walk = walk::builder(self.root, self.request.skip).sort_by_file_name(OsStr::cmp).build();
        let (mut number, mut batch) = (0, Vec::new());
        for entry in walk {
            if self.is_over() {
                break;
            }
            match entry {
                Err(_) => unreadable += 1,
                Ok(entry) if walk::is_file(&entry) && self.wanted(entry.path()) => {
                    batch.push(entry.into_path());
                }
                Ok(_) => {}
            }
            // The first batches are small, so that the others begin at once.
            if batch.len() > number.min(BATCH) {
                if to_searchers.send((number, std::mem::take(&mut batch))).is_err() {
                    return unreadable;
                }
                number += 1;
            }
        }
        // Nobody takes it when nobody is left.
        let _ = to_searchers.send((number, batch));
        unreadable
    }

    fn wanted(&self, path: &Path) -> bool {
        self.globs.is_empty() || path == self.root || self.globs.iter().any(|glob| glob.fits(path, self.root))
    }

    fn look_into_files(
        &self,
        files: &Mutex<mpsc::Receiver<Numbered<PathBuf>>>,
        to_collector: &mpsc::Sender<Numbered<Looked>>,
    ) {
        let mut searcher = self.searcher();
        let mut buffer = vec![0; SMALL];
        loop {
            let next = lock(files).recv();
            let Ok((number, paths)) = next else { return };
            // The rest of the queue is emptied, so that the walk does not wait for ever.
            let paths = paths.into_iter().take_while(|_| !self.is_over());
            let looked = paths.map(|path| self.look_into(&mut searcher, &mut buffer, path)).collect();
            if to_collector.send((number, looked)).is_err() {
                return;
            }
        }
    }

    fn searcher(&self) -> Searcher {
        let lines = self.request.mode == SearchMode::Lines;
        let context = |wanted: u32| if lines { wanted.min(MAX_CONTEXT) as usize } else { 0 };
        SearcherBuilder::new()
            .line_terminator(LineTerminator::byte(b'\n'))
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(MAX_LINE))
            .line_number(lines)
            .before_context(context(self.request.before))
            .after_context(context(self.request.after))
            .build()
    }

    fn look_into(&self, searcher: &mut Searcher, buffer: &mut [u8], path: PathBuf) -> Looked {
        let mut sink = FileSink {
            hunt: self,
            kept: u64::from(self.request.offset) + given(self.request),
            count: 0,
            lines: Vec::new(),
            binary: false,
        };
        match self.read_and_search(searcher, buffer, &path, &mut sink) {
            Err(_) => Looked::Unreadable,
            Ok(()) if sink.binary => Looked::Binary,
            Ok(()) => Looked::Text(FileMatches { path, count: sink.count, lines: sink.lines }),
        }
    }

    fn read_and_search(
        &self,
        searcher: &mut Searcher,
        buffer: &mut [u8],
        path: &Path,
        sink: &mut FileSink<'_>,
    ) -> io::Result<()> {
        // Some files of the kernel's make a reader wait for ever.
        let flags = libc::O_NONBLOCK | libc::O_NOCTTY;
        let mut file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let mut length = 0;
        while length < buffer.len() {
            match file.read(&mut buffer[length..]) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.look_at(length.max(LEAST));
        if length < buffer.len() {
            return searcher.search_slice(&self.matcher, &buffer[..length], sink);
        }
        file.rewind()?;
        searcher.search_reader(&self.matcher, WhileItLasts { hunt: self, file }, sink)
    }

    /// Takes results in the order of their files.
    fn collect(&self, results: &mpsc::Receiver<Numbered<Looked>>, harvest: &mut Harvest<'_>) {
        let mut waiting: BTreeMap<usize, Vec<Looked>> = BTreeMap::new();
        let mut next = 0;
        while let Ok((number, batch)) = results.recv() {
            waiting.insert(number, batch);
            while let Some(batch) = waiting.remove(&next) {
                next += 1;
                for looked in batch {
                    harvest.add(looked);
                    if harvest.is_full() {
                        self.full.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    }

    fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// So many bytes are looked at.
    fn look_at(&self, bytes: usize) {
        if self.is_full() {
            self.counted.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    fn is_over(&self) -> bool {
        let counted_enough = self.counted.load(Ordering::Relaxed) > COUNTED;
        let over = counted_enough || self.held.load(Ordering::Relaxed) > MAX_HELD || self.limits.is_over();
        if over {
            self.stopped.store(true, Ordering::Relaxed);
        }
        over
    }
}

/// A large file that ends early when the search is over.
struct WhileItLasts<'a> {
    hunt: &'a Hunt<'a>,
    file: fs::File,
}

impl Read for WhileItLasts<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.hunt.is_over() {
            return Ok(0);
        }
        let read = self.file.read(buffer)?;
        self.hunt.look_at(read);
        Ok(read)
    }
}

/// Takes in the lines of one file.
struct FileSink<'a> {
    hunt: &'a Hunt<'a>,
    /// Matches whose lines may be asked for; those behind them are counted.
    kept: u64,
    count: u64,
    lines: Vec<FoundLine>,
    binary: bool,
}

impl FileSink<'_> {
    /// Whether this match, or the one this context follows, may be given back.
    fn keeps(&self) -> bool {
        self.count <= self.kept && !self.hunt.is_full()
    }

    fn keep(&mut self, number: Option<u64>, role: LineRole, bytes: &[u8]) {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = line.len().min(self.hunt.request.max_line as usize);
        self.hunt.held.fetch_add(cut + size_of::<FoundLine>(), Ordering::Relaxed);
        let bytes = line[..cut].to_vec();
        self.lines.push(FoundLine { number: number.unwrap_or(0), role, bytes, length: line.len() as u64 });
    }
}

impl Sink for FileSink<'_> {
    type Error = std::io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, Self::Error> {
        self.count += 1;
        match self.hunt.request.mode {
            SearchMode::Lines if self.keeps() => {
                self.keep(found.line_number(), LineRole::Match, found.bytes());
            }
            SearchMode::Lines | SearchMode::Counts => {}
            SearchMode::Files => return Ok(false),
        }
        Ok(!self.hunt.is_over())
    }

    fn context(&mut self, _: &Searcher, found: &SinkContext<'_>) -> Result<bool, Self::Error> {
        if self.keeps() {
            self.keep(found.line_number(), LineRole::Context, found.bytes());
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> Result<bool, Self::Error> {
        self.binary = true;
        Ok(false)
    }
}
