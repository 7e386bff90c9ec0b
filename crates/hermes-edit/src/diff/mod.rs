//! The unified difference of two texts.

mod ends;
mod matching;
mod unified;

pub use ends::common_ends;
pub(crate) use matching::matching;
pub use unified::unified;

/// A run of equal elements: where it begins on both sides, and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Run {
    pub(crate) old: usize,
    pub(crate) new: usize,
    pub(crate) len: usize,
}
