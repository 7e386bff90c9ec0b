//! Finding files by name and lines by content.

mod content;
mod glob;
mod harvest;
mod names;
mod walk;

pub(crate) use content::search;
pub(crate) use names::find;
