//! One table in a redb database: a copy-on-write B-tree in a single file, written in Rust.

mod engine;
mod options;
mod table;

use crate::kv::KvKind;
use crate::{StoreError, StoreKind};
use engine::OpenDatabase;

const STORE: &str = "redb";

/// The name of the database below a store's directory.
const DATABASE: &str = "kv.redb";

/// The version that is built: redb does not tell it. A test compares it with Cargo.lock.
const ENGINE_VERSION: &str = "4.5.0";

/// One table in a redb database. See the module.
pub(crate) const KIND: &dyn StoreKind = &KvKind::<OpenDatabase>::new();

/// What redb says.
macro_rules! said {
    ($($error:ident),+) => {$(
        impl From<::redb::$error> for StoreError {
            fn from(error: ::redb::$error) -> Self {
                Self::said(error)
            }
        }
    )+};
}

said!(
    CommitError,
    DatabaseError,
    SetDurabilityError,
    StorageError,
    TransactionError
);

impl From<::redb::TableError> for StoreError {
    fn from(error: ::redb::TableError) -> Self {
        match error {
            ::redb::TableError::TableDoesNotExist(_) => Self::no_table(STORE, "use it"),
            error => Self::said(error),
        }
    }
}

#[cfg(test)]
mod tests;
