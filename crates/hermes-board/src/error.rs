//! What can go wrong with a board.

use std::io;
use std::path::PathBuf;

use crate::card::CardId;
use crate::slug::{BadSlug, Slug};
use crate::transition::Refusal;

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum BoardError {
    /// The database.
    #[error(transparent)]
    Store(#[from] hermes_store::Error),
    /// The file is damaged or something else; a copy was kept.
    #[error(
        "the board \"{board}\" is damaged ({detail}); nothing was changed, and a copy is in \"{}\": restore it from a backup, \
         or move \"{}\" away to start afresh", .copy.display(), .path.display()
    )]
    Damaged {
        /// The board.
        board: Slug,
        /// Its file.
        path: PathBuf,
        /// The copy.
        copy: PathBuf,
        /// What is wrong.
        detail: String,
    },
    /// There is no such board.
    #[error(
        "there is no board \"{0}\": `hermes kanban boards list` shows them, `hermes kanban boards create {0}` makes it"
    )]
    NoBoard(Slug),
    /// The environment names a board that is not there.
    #[error(
        "HERMES_KANBAN_BOARD is \"{0}\", and there is no such board: `hermes kanban boards list` shows them; unset the \
         variable to use the current one"
    )]
    NoBoardInEnv(String),
    /// There is such a board already.
    #[error("there is a board \"{0}\" already: choose another name")]
    BoardExists(Slug),
    /// The default board stays.
    #[error("the board \"default\" cannot be removed")]
    DefaultStays,
    /// Not a name.
    #[error(transparent)]
    Slug(#[from] BadSlug),
    /// There are no such cards.
    #[error("there is no card {}: `hermes kanban list` shows them", names(.0))]
    NoCard(Vec<CardId>),
    /// The card cannot do that now.
    #[error("{id} cannot: {refusal}")]
    Refused {
        /// The card.
        id: CardId,
        /// Why.
        refusal: Refusal,
    },
    /// The attempt is not the card's own any more.
    #[error("{0} belongs to another attempt now: what this one wanted to write was not written")]
    Superseded(CardId),
    /// What was asked for makes no sense.
    #[error("{0}")]
    Input(String),
    /// Cards that were said to be made are not there.
    #[error(
        "nothing was completed: the cards {} were said to be made and are not there; leave them out or make them first",
        names(.0)
    )]
    Phantom(Vec<CardId>),
    /// A file that was said to be the result cannot be kept.
    #[error("nothing was completed: \"{}\" cannot be kept: {why}; leave it out or put it right first", .path.display())]
    Artifact {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// Two cards would wait for each other.
    #[error(
        "{child} cannot wait for {parent}: {parent} waits for {child} already, directly or through others"
    )]
    Circle {
        /// The one that should wait.
        child: CardId,
        /// The one it should wait for.
        parent: CardId,
    },
    /// A file that was given as a board is none, or must not become one.
    #[error("nothing was imported from \"{}\": {why}", .path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// Why.
        why: String,
    },
    /// A file.
    #[error("cannot {doing} \"{}\": {source}", .path.display())]
    File {
        /// What was being done.
        doing: &'static str,
        /// To what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file of the home.
    #[error(transparent)]
    Home(#[from] hermes_home::files::FileError),
}

impl BoardError {
    /// A file that could not be dealt with.
    pub(crate) fn file(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::File { doing, path, source }
    }
}

fn names(ids: &[CardId]) -> String {
    ids.iter().map(|id| format!("\"{id}\"")).collect::<Vec<_>>().join(", ")
}
