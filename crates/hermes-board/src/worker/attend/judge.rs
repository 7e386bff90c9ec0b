//! Whether a worker must end, and why. Decided from what was seen, in one place.

use crate::card::Seconds;
use crate::ending::{Stop, Then};

use super::standing::Place;

/// How long a worker whose card is closed may take for its last words.
pub(super) const GOODBYE: Seconds = 60;

/// What is seen of a worker that goes on.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub now: Seconds,
    /// How long the attempt takes already.
    pub elapsed: Seconds,
    /// How long it may take.
    pub limit: Option<Seconds>,
    /// When something last came of it.
    pub progress_at: Seconds,
    /// How long nothing may come of it.
    pub stale: Option<Seconds>,
    /// Whose the card is, and since when it is known.
    pub place: Place,
    pub closed_at: Option<Seconds>,
    /// That somebody wants it to end, written on the board.
    pub stop: Option<Stop>,
    /// That somebody sent a signal.
    pub signalled: Signalled,
}

/// Whether somebody sent a signal that wants an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signalled {
    No,
    Yes,
}

/// Why a worker must end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Why {
    Stopped(Stop),
    TimeIsUp { elapsed: Seconds, limit: Seconds },
    Silent { silent: Seconds, limit: Seconds },
}

/// Whether a worker must end. Who wants it by name comes before everything else; a card that is not its own any more
/// before limits, which are no business of a worker that only says goodbye.
pub(super) fn judge(seen: &Seen) -> Option<Why> {
    if let Some(stop) = &seen.stop {
        return Some(Why::Stopped(stop.clone()));
    }
    let nothing = |reason: &str| {
        Some(Why::Stopped(Stop { then: Then::Nothing, by: "guard".into(), reason: Some(reason.into()) }))
    };
    match seen.place {
        Place::Lost => return nothing("another attempt took over"),
        Place::Closed if seen.closed_at.is_some_and(|at| seen.now - at >= GOODBYE) => {
            return nothing("the card is closed");
        }
        Place::Closed | Place::Ours => {}
    }
    if seen.signalled == Signalled::Yes {
        let stop =
            Stop { then: Then::GoOn, by: "signal".into(), reason: Some("somebody ended its process".into()) };
        return Some(Why::Stopped(stop));
    }
    if seen.place == Place::Closed {
        return None;
    }
    if let Some(limit) = seen.limit.filter(|limit| seen.elapsed >= *limit) {
        return Some(Why::TimeIsUp { elapsed: seen.elapsed, limit });
    }
    let silent = seen.now - seen.progress_at;
    let limit = seen.stale.filter(|limit| silent >= *limit)?;
    Some(Why::Silent { silent, limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> Seen {
        Seen {
            now: 1000,
            elapsed: 100,
            limit: None,
            progress_at: 990,
            stale: None,
            place: Place::Ours,
            closed_at: None,
            stop: None,
            signalled: Signalled::No,
        }
    }

    fn then(seen: &Seen) -> Option<Then> {
        match judge(seen) {
            Some(Why::Stopped(stop)) => Some(stop.then),
            _ => None,
        }
    }

    #[test]
    fn a_worker_that_is_well_goes_on() {
        assert_eq!(judge(&seen()), None);
        assert_eq!(judge(&Seen { limit: Some(101), stale: Some(11), ..seen() }), None);
    }

    #[test]
    fn limits_end_it() {
        let late = Seen { limit: Some(100), stale: Some(10), ..seen() };
        assert_eq!(judge(&late), Some(Why::TimeIsUp { elapsed: 100, limit: 100 }));
        let silent = Seen { stale: Some(10), ..seen() };
        assert_eq!(judge(&silent), Some(Why::Silent { silent: 10, limit: 10 }));
    }

    #[test]
    fn a_closed_card_leaves_time_for_last_words_and_limits_do_not_count() {
        let closed = Seen { place: Place::Closed, closed_at: Some(999), limit: Some(1), ..seen() };
        assert_eq!(judge(&closed), None);
        assert_eq!(then(&Seen { closed_at: Some(1000 - GOODBYE), ..closed }), Some(Then::Nothing));
    }

    #[test]
    fn who_was_overtaken_ends_at_once() {
        assert_eq!(then(&Seen { place: Place::Lost, ..seen() }), Some(Then::Nothing));
    }

    #[test]
    fn a_wish_with_a_name_comes_before_a_signal() {
        assert_eq!(then(&Seen { signalled: Signalled::Yes, ..seen() }), Some(Then::GoOn));
        let stop = Stop { then: Then::StayOut, by: "user".into(), reason: None };
        let both = Seen { signalled: Signalled::Yes, stop: Some(stop), ..seen() };
        assert_eq!(then(&both), Some(Then::StayOut));
    }
}
