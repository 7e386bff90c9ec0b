//! The `tracing` subscriber that writes the log files.

use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

use hermes_guard::{Policy, Redactor};
use jiff::civil::DateTime;
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, Subscriber};
use tracing::{Event, Metadata};

use super::line::{EventText, Parts, format};
use super::record::Level;
use super::rotate::RotatingFile;
use super::spans::Spans;
use super::{LogConfig, LogFile};
use crate::files::FileError;

/// What the logger takes from the process around it.
pub struct Surroundings {
    /// The local time.
    pub clock: Box<dyn Fn() -> DateTime + Send + Sync>,
    /// Makes the redactor; called at the first record, so that a command that logs nothing does not pay for it.
    pub redactor: Box<dyn FnOnce() -> Redactor + Send>,
    /// Told once when a log cannot be written. Logging never fails a command.
    pub on_trouble: Box<dyn Fn(&FileError) + Send + Sync>,
}

impl fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Surroundings").finish_non_exhaustive()
    }
}

/// Appends every event to `agent.log`, and from warnings on also to `errors.log`.
///
/// The session in a line is the `session` field of the innermost span that has one. Files are opened at the first
/// record. Events of other people's crates are kept from warnings on: at finer levels they talk about themselves.
pub struct Logger {
    sinks: [Sink; 2],
    clock: Box<dyn Fn() -> DateTime + Send + Sync>,
    redactor: LazyLock<Redactor, Box<dyn FnOnce() -> Redactor + Send>>,
    on_trouble: Box<dyn Fn(&FileError) + Send + Sync>,
    in_trouble: AtomicBool,
    spans: Spans,
}

struct Sink {
    least: Level,
    file: Mutex<RotatingFile>,
}

/// A subscriber is already in place; there is one per process.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("logging is already set up in this process")]
pub struct AlreadyInstalled;

impl Logger {
    /// A logger for the directory `dir`; nothing is opened or created yet.
    pub fn new(dir: &Path, config: LogConfig, surroundings: Surroundings) -> Self {
        let sink = |name, least, limit| Sink {
            least,
            file: Mutex::new(RotatingFile::new(LogFile::new(dir, name), limit)),
        };
        Self {
            sinks: [
                sink("agent", config.level, config.agent),
                sink("errors", config.level.max(Level::Warning), config.errors),
            ],
            clock: surroundings.clock,
            redactor: LazyLock::new(surroundings.redactor),
            on_trouble: surroundings.on_trouble,
            in_trouble: AtomicBool::new(false),
            spans: Spans::default(),
        }
    }

    /// Makes this the logger of the whole process.
    pub fn install(self) -> Result<(), AlreadyInstalled> {
        tracing::subscriber::set_global_default(self).map_err(|_| AlreadyInstalled)
    }

    fn wants(&self, metadata: &Metadata<'_>) -> bool {
        let level = level_of(metadata);
        let least = self.sinks.iter().map(|sink| sink.least).min().unwrap_or(Level::Info);
        level >= least && (level >= Level::Warning || is_ours(metadata))
    }

    fn write(&self, level: Level, line: &str) {
        for sink in self.sinks.iter().filter(|sink| level >= sink.least) {
            let mut file = sink.file.lock().unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = file.append(line)
                && !self.in_trouble.swap(true, Ordering::Relaxed)
            {
                (self.on_trouble)(&error);
            }
        }
    }
}

/// The files know nothing finer than debug.
fn level_of(metadata: &Metadata<'_>) -> Level {
    match *metadata.level() {
        tracing::Level::ERROR => Level::Error,
        tracing::Level::WARN => Level::Warning,
        tracing::Level::INFO => Level::Info,
        _ => Level::Debug,
    }
}

fn is_ours(metadata: &Metadata<'_>) -> bool {
    let ours = |name: &str| name.starts_with("hermes");
    ours(metadata.target()) || metadata.module_path().is_some_and(ours)
}

impl Subscriber for Logger {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    /// Spans are always of interest: a session opened in one must not get lost because the span is a fine one.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        if metadata.is_span() { is_ours(metadata) } else { self.wants(metadata) }
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        None
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.spans.open(attributes)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.spans.record(span, values);
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let metadata = event.metadata();
        let mut text = EventText::default();
        event.record(&mut text);
        let text = text.finish();
        let session = self.spans.session_for(event);
        let level = level_of(metadata);
        let line = format(&Parts {
            time: (self.clock)(),
            level,
            session: session.as_deref(),
            target: metadata.target(),
            message: &self.redactor.redact(&text, Policy::Log),
        });
        self.write(level, &line);
    }

    fn enter(&self, span: &Id) {
        Spans::enter(span);
    }

    fn exit(&self, span: &Id) {
        Spans::exit(span);
    }

    fn clone_span(&self, id: &Id) -> Id {
        self.spans.clone_handle(id);
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        self.spans.close(&id)
    }

    fn current_span(&self) -> tracing_core::span::Current {
        self.spans.current()
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Logger").finish_non_exhaustive()
    }
}
