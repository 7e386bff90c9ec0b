//! The terminal: bytes to keys, raw mode that is always put back, and what the terminal can show.

pub mod keys;
pub mod raw;
mod sequences;

pub use keys::{Decoder, Input, Key, KeyCode, Mods};
pub use raw::RawMode;
