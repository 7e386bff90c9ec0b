//! Messages that must stay together: an answer with tool calls and the results of those calls.

use std::ops::Range;

use hermes_model::Message;

use crate::history::Entry;

/// The groups of a conversation, in order and without gaps.
pub(super) fn groups(entries: &[Entry]) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if matches!(entry.message, Message::Tool(_)) => group.end = place + 1,
            _ => groups.push(place..place + 1),
        }
    }
    groups
}
