//! How the results of one message share the room there is for them. Pure.

use hermes_tools::limits::Limits;

/// No call gets less than this, however many there are: less tells nothing.
const LEAST: usize = 4_000;

/// The room of one message's results, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// Most that one may take.
    result: usize,
    /// What nobody has taken yet.
    left: usize,
    /// Calls without a result.
    waiting: usize,
    /// What each of them was promised.
    share: usize,
}

impl Room {
    /// For this many calls. Nothing is promised to anybody yet.
    pub(super) fn new(limits: Limits, calls: usize) -> Self {
        Self { result: limits.result, left: limits.batch, waiting: calls, share: 0 }
    }

    /// Calls are about to start: what each may take. What earlier ones left is shared among those still to come.
    pub(super) fn share_out(&mut self) -> usize {
        self.share = (self.left / self.waiting.max(1)).min(self.result).max(LEAST);
        self.share
    }

    /// What the result that ends now may take at the most: all that is not promised to others.
    pub(super) fn allowed(&self) -> usize {
        let promised = self.share.saturating_mul(self.waiting.saturating_sub(1));
        self.left.saturating_sub(promised).min(self.result).max(self.share)
    }

    /// A result has taken this much.
    pub(super) fn take(&mut self, chars: usize) {
        self.left = self.left.saturating_sub(chars);
        self.waiting = self.waiting.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { result: 25_600, batch: 51_200 };

    #[test]
    fn few_calls_have_all_they_may_take_and_many_share() {
        assert_eq!(Room::new(LIMITS, 1).share_out(), 25_600);
        assert_eq!(Room::new(LIMITS, 2).share_out(), 25_600);
        assert_eq!(Room::new(LIMITS, 8).share_out(), 6_400);
        assert_eq!(Room::new(LIMITS, 100).share_out(), LEAST);
    }

    #[test]
    fn who_takes_more_than_promised_takes_it_from_nobody() {
        let mut room = Room::new(LIMITS, 8);
        assert_eq!(room.share_out(), 6_400);
        assert_eq!(room.allowed(), 6_400);
        room.take(400);
        assert_eq!(room.allowed(), 12_400, "what the first one left");
        room.take(12_400);
        assert_eq!(room.allowed(), 6_400);
    }

    proptest! {
        #[test]
        fn everybody_gets_what_was_promised_and_all_fit(wishes in prop::collection::vec(0usize..60_000, 1..12)) {
            let mut room = Room::new(LIMITS, wishes.len());
            let (share, mut taken) = (room.share_out(), 0);
            for wish in wishes {
                prop_assert!(room.allowed() >= share);
                let given = wish.min(room.allowed());
                room.take(given);
                taken += given;
            }
            prop_assert!(taken <= LIMITS.batch);
        }
    }
}
