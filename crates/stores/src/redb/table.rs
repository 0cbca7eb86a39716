//! The table, whose type in redb is that of its keys.

use super::STORE;
use crate::kv::{Reading, Table, Visit, shown};
use crate::{Found, Key, KeyBytes, KeyForm, Result, StoreError};
use ::redb::{
    AccessGuard, ReadTransaction, ReadableTable, TableDefinition, TableHandle as _, Value,
    WriteTransaction,
};

/// The name of the table, as in the other stores.
const NAME: &str = "kv";

/// A form of keys, as a type.
pub(super) trait Form {
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

/// A table in a transaction that reads.
pub(super) enum ReadTable {
    Integer(::redb::ReadOnlyTable<<Integer as Form>::Stored, &'static [u8]>),
    Text(::redb::ReadOnlyTable<<Text as Form>::Stored, &'static [u8]>),
}

/// A table in a transaction that writes.
pub(super) enum WriteTable<'t> {
    Integer(::redb::Table<'t, <Integer as Form>::Stored, &'static [u8]>),
    Text(::redb::Table<'t, <Text as Form>::Stored, &'static [u8]>),
}

/// Calls a function of a form with what a table of that form holds.
macro_rules! by_form {
    ($table:expr, $function:ident($($argument:expr),*)) => {
        match $table {
            Self::Integer(table) => $function::<Integer>(table, $($argument),*),
            Self::Text(table) => $function::<Text>(table, $($argument),*),
        }
    };
}

impl ReadTable {
    pub(super) fn open(transaction: &ReadTransaction, form: KeyForm) -> Result<Self> {
        Ok(match form {
            KeyForm::Integer => Self::Integer(transaction.open_table(Integer::TABLE)?),
            KeyForm::Text => Self::Text(transaction.open_table(Text::TABLE)?),
        })
    }
}

impl Reading for ReadTable {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        by_form!(self, get(key, show))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        by_form!(self, scan(from, limit, visit))
    }
}

impl<'t> WriteTable<'t> {
    /// Opens the table, or makes it, as redb does in a transaction that writes.
    pub(super) fn open(transaction: &'t WriteTransaction, form: KeyForm) -> Result<Self> {
        Ok(match form {
            KeyForm::Integer => Self::Integer(transaction.open_table(Integer::TABLE)?),
            KeyForm::Text => Self::Text(transaction.open_table(Text::TABLE)?),
        })
    }

    /// Removes the table; says whether there was one.
    pub(super) fn delete(transaction: &WriteTransaction) -> Result<bool> {
        let table = transaction
            .list_tables()?
            .find(|table| table.name() == NAME);
        Ok(match table {
            Some(table) => transaction.delete_table(table)?,
            None => false,
        })
    }
}

impl Reading for WriteTable<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        by_form!(self, get(key, show))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        by_form!(self, scan(from, limit, visit))
    }
}

impl Table for WriteTable<'_> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        by_form!(self, insert(key, value))
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        by_form!(self, replace(key, value))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        by_form!(self, remove(key))
    }
}

fn get<F: Form>(
    table: &impl ReadableTable<F::Stored, &'static [u8]>,
    key: Key,
    show: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    let held = F::held(key);
    let value = table.get(F::stored(&held))?;
    shown(value.as_ref().map(AccessGuard::value), show)
}

fn scan<F: Form>(
    table: &impl ReadableTable<F::Stored, &'static [u8]>,
    from: Key,
    limit: usize,
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let held = F::held(from);
    let mut visited = 0;
    for entry in table.range(F::stored(&held)..)?.take(limit) {
        let (key, value) = entry?;
        visit(F::key(&key.value())?, value.value());
        visited += 1;
    }
    Ok(visited)
}

type Opened<'t, F> = ::redb::Table<'t, <F as Form>::Stored, &'static [u8]>;

/// redb's own `insert` replaces a value and hands the old one out, which is then put back: one
/// descent for a new key, where a look beforehand would take two, and `entry` takes three.
fn insert<F: Form>(table: &mut Opened<'_, F>, key: Key, value: &[u8]) -> Result<()> {
    let held = F::held(key);
    let replaced = table.insert(F::stored(&held), value)?;
    let Some(old) = replaced.map(|old: AccessGuard<'_, &[u8]>| old.value().to_vec()) else {
        return Ok(());
    };
    table.insert(F::stored(&held), old.as_slice())?;
    Err(StoreError::key_exists(STORE, key))
}

fn replace<F: Form>(table: &mut Opened<'_, F>, key: Key, value: &[u8]) -> Result<bool> {
    let held = F::held(key);
    let Some(mut place) = table.get_mut(F::stored(&held))? else {
        return Ok(false);
    };
    place.insert(value)?;
    Ok(true)
}

fn remove<F: Form>(table: &mut Opened<'_, F>, key: Key) -> Result<bool> {
    let held = F::held(key);
    Ok(table.remove(F::stored(&held))?.is_some())
}
