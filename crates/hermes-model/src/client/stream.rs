//! The events of one answer as they come, under deadlines.

use std::collections::VecDeque;
use std::time::Duration;

use hermes_guard::Secret;
use reqwest::Response;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::{Call, CallError, Deadlines, redacted, transport};
use crate::event::{Event, StreamError};
use crate::failure::{CallSize, Observed, Transport};
use crate::request::Delivery;
use crate::wire::{Decoder, Progress, Wire};

/// An answer that came in one piece may not be larger.
const LARGEST_BODY: usize = 64 * 1024 * 1024;

/// The events of one answer. Dropping it closes the connection.
#[derive(Debug)]
pub struct EventStream {
    /// None when the connection is not needed any more.
    response: Option<Response>,
    reader: Reader,
    wire: Wire,
    ready: VecDeque<Event>,
    deadlines: Deadlines,
    started: Instant,
    last_bytes: Instant,
    last_event: Instant,
    cancel: CancellationToken,
    key: Option<Secret>,
    size: CallSize,
}

#[derive(Debug)]
enum Reader {
    Stream(Box<Decoder>),
    Whole(Vec<u8>),
}

/// What the connection brought.
enum Arrived {
    Bytes(Vec<u8>),
    End,
}

impl EventStream {
    pub(super) fn new(
        response: Response,
        call: &Call<'_>,
        delivery: Delivery,
        started: Instant,
        cancel: CancellationToken,
    ) -> Self {
        let wire = call.endpoint.wire;
        let now = Instant::now();
        Self {
            response: Some(response),
            reader: match delivery {
                Delivery::Stream => Reader::Stream(Box::new(wire.decoder())),
                Delivery::Whole => Reader::Whole(Vec::new()),
            },
            wire,
            ready: VecDeque::new(),
            deadlines: call.deadlines,
            started,
            last_bytes: now,
            last_event: now,
            cancel,
            key: call.key.cloned(),
            size: call.size(),
        }
    }

    /// The next event; none after the last, and only then the connection can be used again. Errors of the provider come as [`CallError`], and nothing follows them.
    /// May be dropped while it waits and called again.
    pub async fn next(&mut self) -> Option<Result<Event, CallError>> {
        loop {
            match self.ready.pop_front() {
                Some(Event::ProviderError(error)) => {
                    self.response = None;
                    return Some(Err(self.failed(Observed::in_stream(&error))));
                }
                Some(event) => return Some(Ok(event)),
                None => {}
            }
            if matches!(&self.reader, Reader::Stream(decoder) if decoder.progress() == Progress::Done) {
                self.let_go().await;
            }
            self.response.as_ref()?;
            match self.arrival().await {
                Ok(arrived) => self.take(arrived),
                Err(CallError::Failed(_)) if self.is_ending() => self.take(Arrived::End),
                Err(error) => {
                    self.response = None;
                    return Some(Err(error));
                }
            }
        }
    }

    /// The answer is complete and only counts may be missing: a broken connection is no loss then.
    fn is_ending(&self) -> bool {
        matches!(&self.reader, Reader::Stream(decoder) if decoder.progress() == Progress::Ending)
    }

    async fn arrival(&mut self) -> Result<Arrived, CallError> {
        let (deadline, waited, what) = self.next_deadline();
        let Some(response) = self.response.as_mut() else { return Ok(Arrived::End) };
        let chunk = tokio::select! {
            biased;
            () = self.cancel.cancelled() => return Err(CallError::Cancelled),
            chunk = response.chunk() => chunk,
            () = sleep_until(deadline) => {
                let message = format!("{what} for {} s", waited.as_secs_f32());
                let transport = if waited == self.deadlines.total { Transport::TooLong } else { Transport::Silent };
                return Err(self.failed(Observed::broken(transport, message)));
            }
        };
        match chunk {
            Ok(Some(bytes)) => Ok(Arrived::Bytes(bytes.to_vec())),
            Ok(None) => Ok(Arrived::End),
            Err(error) => Err(self.failed(transport::observed(&error, Transport::CutOff))),
        }
    }

    /// The first deadline to pass, its length, and what it means.
    fn next_deadline(&self) -> (Instant, Duration, &'static str) {
        let limits = self.deadlines;
        let total = (self.started + limits.total, limits.total, "the answer did not end");
        let mut all = vec![total];
        if let Reader::Stream(_) = self.reader {
            all.push((self.last_bytes + limits.silence, limits.silence, "nothing came"));
            all.push((self.last_event + limits.stale, limits.stale, "nothing of the answer came"));
        }
        if self.is_ending() {
            all.push((self.last_event + limits.ending, limits.ending, "the connection stayed open"));
        }
        all.into_iter().min_by_key(|(deadline, ..)| *deadline).unwrap_or(total)
    }

    fn take(&mut self, arrived: Arrived) {
        let now = Instant::now();
        self.last_bytes = now;
        let events = match (&mut self.reader, arrived) {
            (Reader::Stream(decoder), Arrived::Bytes(bytes)) => {
                let before = decoder.seen();
                let events = decoder.push(&bytes);
                if decoder.seen() > before {
                    self.last_event = now;
                }
                events
            }
            (Reader::Stream(decoder), Arrived::End) => {
                self.response = None;
                decoder.finish()
            }
            (Reader::Whole(body), Arrived::Bytes(bytes)) if body.len() + bytes.len() <= LARGEST_BODY => {
                body.extend_from_slice(&bytes);
                Vec::new()
            }
            (Reader::Whole(_), Arrived::Bytes(_)) => vec![Event::ProviderError(StreamError::TooLarge)],
            (Reader::Whole(body), Arrived::End) => {
                self.response = None;
                self.wire.decode_whole(body)
            }
        };
        self.ready.extend(events);
    }

    /// The answer is over. The connection can serve the next call if the server has closed the body, too; the closing
    /// bytes usually came with the last event.
    async fn let_go(&mut self) {
        const PATIENCE: Duration = Duration::from_millis(100);
        if let Some(mut response) = self.response.take() {
            let rest = async { while let Ok(Some(_)) = response.chunk().await {} };
            let _in_time = tokio::time::timeout(PATIENCE, rest).await;
        }
    }

    fn failed(&self, observed: Observed) -> CallError {
        CallError::failed(redacted(observed, self.key.as_ref()), &self.size)
    }
}
