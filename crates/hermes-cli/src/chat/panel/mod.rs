//! Panels that take the keys for a while: questions, lists to choose from, the search through history.

mod menu;
mod picker;
mod question;
mod search;

pub use menu::Menu;
pub use picker::{Picked, Picker};
pub use question::{Answered, QuestionPanel};
pub use search::{Found, Search};
