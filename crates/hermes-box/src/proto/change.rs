//! Several files changed as one: all of it or nothing.

use super::file::{Expect, Place};
use super::wire::{wire_enum, wire_struct};

wire_enum! {
    /// A piece of a file's new content. What is there already does not travel.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Piece {
        /// Bytes of the old content.
        1 = Old {
            /// The first.
            from: u64,
            /// How many.
            length: u64,
        },
        /// The next so many bytes of the call's data.
        2 = New(u64),
    }
}

wire_enum! {
    /// What happens to one file. No two steps of a request are about the same one.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum FileStep {
        /// It gets another content; missing directories are made.
        1 = Write {
            /// The file; a symbolic link is followed and stays a link.
            place: Place,
            /// What must be true beforehand.
            expect: Expect,
            /// The content.
            pieces: Vec<Piece>,
        },
        /// It goes; a link, not what it leads to.
        2 = Remove {
            /// The file.
            place: Place,
            /// What must be true beforehand.
            expect: Expect,
        },
        /// It gets another name, which nothing may have; missing directories are made.
        3 = Move {
            /// The file.
            from: Place,
            /// Its new name.
            to: Place,
            /// What must be true of it beforehand.
            expect: Expect,
            /// Its content under the new name, if that changes; old pieces are of the old name.
            pieces: Option<Vec<Piece>>,
        },
    }
}

wire_struct! {
    /// Files to change together. What is new of their content comes as data of the call, one after the other.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ChangeRequest {
        /// What to do, in this order.
        pub steps: Vec<FileStep>,
    }
}
