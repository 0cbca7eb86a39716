//! One database in an LMDB environment: a copy-on-write B-tree that is read where the system maps
//! its file into memory. It has no cache of its own: the system's page cache is its cache.

mod engine;
mod options;

use crate::{Kind, StoreError};
use ::heed::MdbError;
use engine::Environment;

const STORE: &str = "lmdb";

/// The file that LMDB makes in the directory of an environment, beside one for locks.
const DATA: &str = "data.mdb";

/// One database in an LMDB environment. See the module.
pub(crate) const KIND: &Kind = &Kind::of_engine::<Environment>();

impl From<::heed::Error> for StoreError {
    /// What LMDB says, with the next step where there is one.
    fn from(error: ::heed::Error) -> Self {
        let next_step = match error {
            ::heed::Error::Mdb(MdbError::MapFull) => " (open it with a larger map_size)",
            ::heed::Error::Mdb(MdbError::Invalid) => " (the file is not an LMDB database)",
            ::heed::Error::Mdb(MdbError::BadRslot) => " (this thread has another open transaction)",
            _ => "",
        };
        Self::said(format!("{error}{next_step}"))
    }
}

#[cfg(test)]
mod tests;
