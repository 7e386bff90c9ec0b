//! Spans, as far as a log line needs them: which session the current work belongs to.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id};
use tracing_core::span::Current;

thread_local! {
    /// The spans this thread is in, innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// Unique over all loggers, because the threads' stacks are shared between them.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// The open spans of one logger.
#[derive(Debug, Default)]
pub struct Spans {
    open: Mutex<HashMap<u64, Span>>,
}

#[derive(Debug)]
struct Span {
    session: Option<Arc<str>>,
    metadata: &'static tracing::Metadata<'static>,
    handles: usize,
}

impl Spans {
    /// Opens a span. A span without a `session` field belongs to the session of the span around it.
    pub fn open(&self, attributes: &Attributes<'_>) -> Id {
        let mut own = SessionField(None);
        attributes.record(&mut own);
        let session = own.0.or_else(|| match attributes.parent() {
            Some(parent) => self.session_of(parent.into_u64()),
            None if attributes.is_contextual() => self.current_session(),
            None => None,
        });
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        self.lock().insert(id, Span { session, metadata: attributes.metadata(), handles: 1 });
        Id::from_u64(id)
    }

    /// Takes over a `session` that became known after the span was opened.
    pub fn record(&self, id: &Id, values: &tracing::span::Record<'_>) {
        let mut own = SessionField(None);
        values.record(&mut own);
        if let (Some(session), Some(span)) = (own.0, self.lock().get_mut(&id.into_u64())) {
            span.session = Some(session);
        }
    }

    pub fn clone_handle(&self, id: &Id) {
        if let Some(span) = self.lock().get_mut(&id.into_u64()) {
            span.handles += 1;
        }
    }

    /// True when this was the last handle.
    pub fn close(&self, id: &Id) -> bool {
        let mut open = self.lock();
        let Some(span) = open.get_mut(&id.into_u64()) else { return false };
        span.handles -= 1;
        if span.handles > 0 {
            return false;
        }
        open.remove(&id.into_u64());
        true
    }

    pub fn enter(id: &Id) {
        ENTERED.with_borrow_mut(|stack| stack.push(id.into_u64()));
    }

    /// Spans may be left in another order than they were entered.
    pub fn exit(id: &Id) {
        ENTERED.with_borrow_mut(|stack| {
            if let Some(at) = stack.iter().rposition(|entered| *entered == id.into_u64()) {
                stack.remove(at);
            }
        });
    }

    /// The session of an event: that of the span it names, or of the one this thread is in.
    pub fn session_for(&self, event: &tracing::Event<'_>) -> Option<Arc<str>> {
        match event.parent() {
            Some(parent) => self.session_of(parent.into_u64()),
            None => self.current_session(),
        }
    }

    pub fn current(&self) -> Current {
        let top = ENTERED.with_borrow(|stack| stack.last().copied());
        let metadata = top.and_then(|id| self.lock().get(&id).map(|span| (id, span.metadata)));
        metadata.map_or_else(Current::none, |(id, metadata)| Current::new(Id::from_u64(id), metadata))
    }

    fn current_session(&self) -> Option<Arc<str>> {
        let top = ENTERED.with_borrow(|stack| stack.last().copied())?;
        self.session_of(top)
    }

    fn session_of(&self, id: u64) -> Option<Arc<str>> {
        self.lock().get(&id).and_then(|span| span.session.clone())
    }

    /// A panic in another thread leaves the map whole: every change is one call.
    fn lock(&self) -> MutexGuard<'_, HashMap<u64, Span>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Picks the `session` field out of a span.
struct SessionField(Option<Arc<str>>);

impl Visit for SessionField {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "session" {
            self.0 = Some(value.into());
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if field.name() == "session" {
            self.0 = Some(format!("{value:?}").into());
        }
    }
}
