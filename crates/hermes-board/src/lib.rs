//! The board: cards that agents and people work on together.
//!
//! - [`place`], [`slug`], [`boards`]: where boards are kept, and which there are.
//! - [`card`]: a card and its words; [`extras`]: what only this program knows about one.
//! - [`transition`]: every way a card can go, decided in one place.
//! - [`ending`]: how an attempt can end; [`workers`]: who works; [`state`]: whether cards are started at all.
//! - [`dispatch`]: the dispatcher; [`daemon`]: the one that stays; [`worker`]: the processes it starts, and whoever looks after them.
//! - [`triage`]: cards that are written out, split, or handed to several at once.
//! - [`attachments`]: files of cards; [`context`]: what a worker is told of its card.
//! - [`why`]: why a card is not started; [`diagnostics`], [`gc`], [`export`], [`notify`]: looking after a board.
//! - [`board`]: an open board. Its operations are in [`create`], [`edit`], [`act`], [`complete`], [`review`], [`claim`], [`links`], `waiting`, [`query`] and [`search`].
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a failed test should stop"))]

pub mod act;
mod artifacts;
pub mod attachments;
mod attempt;
pub mod board;
pub mod boards;
pub mod card;
pub mod claim;
pub mod complete;
pub mod context;
pub mod create;
pub mod daemon;
pub mod diagnostics;
pub mod dispatch;
pub mod edit;
pub mod ending;
pub mod error;
mod event;
pub mod export;
pub mod extras;
pub mod gc;
pub mod json;
pub mod links;
mod mentions;
pub mod notify;
pub mod place;
pub mod query;
pub mod review;
pub mod rows;
mod schema;
pub mod search;
pub mod slug;
pub mod state;
pub mod transition;
pub mod triage;
mod waiting;
pub mod why;
pub mod worker;
pub mod workers;

pub use board::Board;
pub use card::{Card, CardId, RunId, Seconds, Status};
pub use error::BoardError;
pub use place::{Overrides, Root};
pub use slug::Slug;
