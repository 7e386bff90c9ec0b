//! Counts what an attempt took, also one that broke off: providers charge for what they wrote.

use super::{Answered, CallEvent, OnEvent, Route};
use crate::answer::{Answer, Collector};
use crate::budget::{Counted, Permit};
use crate::money::Cost;
use crate::request::Request;
use crate::retry::History;
use crate::usage::Usage;

/// An answer came.
pub(super) fn answered(
    route: &Route,
    permit: Option<Permit<'_>>,
    collector: Collector,
    request: &Request,
    history: History,
    on: &mut OnEvent<'_>,
) -> Answered {
    let (usage, counted) = usage_of(&collector, request);
    let cost = record(route, permit, usage, counted, on);
    let (provider, model) = route.names();
    let answer = Answer { usage, ..collector.finish() };
    Answered { answer, provider, model, cost, failed: history.attempts }
}

/// An attempt ended early; what came of it is returned.
pub(super) fn cut_off(
    route: &Route,
    permit: Option<Permit<'_>>,
    collector: Collector,
    request: &Request,
    on: &mut OnEvent<'_>,
) -> Answer {
    let (usage, counted) = usage_of(&collector, request);
    if collector.is_empty() && collector.usage().is_empty() {
        return collector.finish();
    }
    record(route, permit, usage, counted, on);
    Answer { usage, ..collector.finish() }
}

/// The provider's counts, or a guess where they are missing.
fn usage_of(collector: &Collector, request: &Request) -> (Usage, Counted) {
    let reported = collector.usage();
    if reported.prompt() > 0 && reported.output > 0 && collector.has_ended() {
        return (reported, Counted::Reported);
    }
    let written = collector.size().div_ceil(4) as u64;
    let mut guessed = reported;
    if reported.prompt() == 0 {
        guessed.input = request.estimated_tokens();
    }
    guessed.output = reported.output.max(written);
    (guessed, Counted::Guessed)
}

/// An answer that is there is not thrown away because the record of it cannot be written: that is told, and the next
/// call is refused if the record cannot be read either.
fn record(
    route: &Route,
    permit: Option<Permit<'_>>,
    usage: Usage,
    counted: Counted,
    on: &mut OnEvent<'_>,
) -> Cost {
    let cost = Cost::of(&usage, route.price.as_ref());
    if let Some(permit) = permit {
        let (provider, model) = route.names();
        if let Err(error) = permit.settle(&provider, &model, usage, counted) {
            on(CallEvent::NotRecorded { reason: error.to_string() });
        }
    }
    cost
}
