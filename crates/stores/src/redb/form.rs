//! Keys as redb keeps them.

use super::STORE;
use crate::{Key, KeyBytes, KeyForm, Result};
use ::redb::{Table, TableDefinition, Value};

/// A form of keys, as a type: redb's tables have the types of their keys and values.
pub(super) trait Form: 'static {
    /// How redb compares and stores it.
    type Stored: ::redb::Key + 'static;
    /// What a key becomes before it is handed to redb.
    type Held;

    const TABLE: TableDefinition<'static, Self::Stored, &'static [u8]>;

    fn held(key: Key) -> Self::Held;

    fn stored(held: &Self::Held) -> <Self::Stored as Value>::SelfType<'_>;

    /// # Errors
    /// It is no key in this form.
    fn key(stored: &<Self::Stored as Value>::SelfType<'_>) -> Result<Key>;
}

/// A table in a transaction that writes.
pub(super) type WriteTable<'t, F> = Table<'t, <F as Form>::Stored, &'static [u8]>;

/// A table in a transaction that reads.
pub(super) type ReadTable<F> = ::redb::ReadOnlyTable<<F as Form>::Stored, &'static [u8]>;

/// The name of the table, as in the other stores.
const NAME: &str = "kv";

/// Eight bytes each, without a length.
pub(super) struct Integer;

impl Form for Integer {
    type Stored = u64;
    type Held = u64;

    const TABLE: TableDefinition<'static, u64, &'static [u8]> = TableDefinition::new(NAME);

    fn held(key: Key) -> u64 {
        key.0
    }

    fn stored(held: &u64) -> u64 {
        *held
    }

    fn key(stored: &u64) -> Result<Key> {
        Ok(Key(*stored))
    }
}

pub(super) struct Text;

impl Form for Text {
    type Stored = &'static [u8];
    type Held = KeyBytes;

    const TABLE: TableDefinition<'static, &'static [u8], &'static [u8]> =
        TableDefinition::new(NAME);

    fn held(key: Key) -> KeyBytes {
        KeyForm::Text.bytes(key)
    }

    fn stored(held: &KeyBytes) -> &[u8] {
        held.as_ref()
    }

    fn key(stored: &&[u8]) -> Result<Key> {
        KeyForm::Text.key(STORE, stored)
    }
}
