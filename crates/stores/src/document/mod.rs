//! One document: a single file with every value, rewritten whole by each transaction that writes.
//!
//! What programs do that keep their state in a JSON file (or in a format of their own) instead of a
//! database: the file is read when it is opened, values are kept in memory, and whatever changes is
//! written by writing everything, to a temporary file that then takes the place of the old one. It is
//! the rival of a database where there are some hundreds of values, and no store for many.
//!
//! Reads are answered from memory, so they never wait for the disk and cannot be measured cold. Several
//! threads may read at a time, or one write.

mod engine;
mod form;

use crate::files::Fsync;
use crate::store::claim;
use crate::{Kind, choice, options};
use engine::Document;
use stowplan_model::{Durability, DurabilityClaim};

const STORE: &str = "document";

/// One document, rewritten whole. See the module.
pub(crate) const KIND: &Kind = &Kind::of_engine::<Document>();

choice! {
    /// How the values are written down.
    pub(crate) enum Format {
        Json = "json",
        Binary = "binary",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        format: Format = Format::setting(
            Format::Json,
            "json: an object of keys and strings (in hexadecimal what is no UTF-8); binary: keys and lengths in as few bytes as they need, and the bytes of the values",
        )
        .shapes_layout(),
        fsync: Fsync = Fsync::setting(
            Fsync::Off,
            "what is synced before a commit is done: nothing, the temporary file before it is renamed, or that and the directory afterwards; writes only",
        ),
    }
}

impl Options {
    /// METHOD "Durability classes": a rename replaces the document as a whole; the file's sync orders
    /// its bytes before the new name, the directory's makes the new name last.
    fn durability(self) -> DurabilityClaim {
        let class = match self.fsync {
            Fsync::Off => Durability::ProcessCrash,
            Fsync::File => Durability::Consistent,
            Fsync::Directory => Durability::Durable,
        };
        claim(class, true)
    }
}

#[cfg(test)]
mod tests;
