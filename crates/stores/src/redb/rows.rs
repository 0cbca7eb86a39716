//! The table, whose type in redb is that of its keys.

use crate::kv::{Rows, Visit, shown};
use crate::{Found, Key, KeyForm, Result};
use ::redb::{
    AccessGuard, ReadOnlyTable, ReadTransaction, ReadableTable, Table, TableDefinition,
    TableHandle as _, WriteTransaction,
};
use self_cell::self_cell;

/// The name of the table, as in the other stores.
const NAME: &str = "kv";

/// How redb compares and stores keys that are text, and values. Numbers have eight bytes each, without a
/// length.
type Bytes = &'static [u8];

const INTEGER: TableDefinition<'static, u64, Bytes> = TableDefinition::new(NAME);
const TEXT: TableDefinition<'static, Bytes, Bytes> = TableDefinition::new(NAME);

/// A table with keys of either form.
pub(super) enum Form<I, T> {
    Integer(I),
    Text(T),
}

pub(super) type ReadTable = Form<ReadOnlyTable<u64, Bytes>, ReadOnlyTable<Bytes, Bytes>>;
pub(super) type WriteTable<'t> = Form<Table<'t, u64, Bytes>, Table<'t, Bytes, Bytes>>;

impl ReadTable {
    pub(super) fn open(transaction: &ReadTransaction, form: KeyForm) -> Result<Self> {
        Ok(match form {
            KeyForm::Integer => Self::Integer(transaction.open_table(INTEGER)?),
            KeyForm::Text => Self::Text(transaction.open_table(TEXT)?),
        })
    }
}

impl<'t> WriteTable<'t> {
    /// Opens the table, or makes it, as redb does in a transaction that writes.
    pub(super) fn open(transaction: &'t WriteTransaction, form: KeyForm) -> Result<Self> {
        Ok(match form {
            KeyForm::Integer => Self::Integer(transaction.open_table(INTEGER)?),
            KeyForm::Text => Self::Text(transaction.open_table(TEXT)?),
        })
    }
}

/// Removes the table.
pub(super) fn delete(transaction: &WriteTransaction) -> Result<()> {
    let mut tables = transaction.list_tables()?;
    if let Some(table) = tables.find(|table| table.name() == NAME) {
        transaction.delete_table(table)?;
    }
    Ok(())
}

self_cell!(
    /// A transaction that writes, kept together with its table, which borrows it: to open the table
    /// for each operation would take 0.5 to 1.5 µs, about as long as writing a small value, which no
    /// user pays who has both in local variables.
    pub(super) struct Writing {
        owner: WriteTransaction,
        #[not_covariant]
        dependent: WriteTable,
    }
);

pub(super) enum Transaction {
    Read(ReadTable),
    Write(Writing),
}

/// Does something with a table and a key, as the table has it.
macro_rules! with {
    ($form:expr, $key:expr, |$table:ident, $stored:ident| $work:expr) => {
        match $form {
            Form::Integer($table) => {
                let $stored = $key.0;
                $work
            }
            Form::Text($table) => {
                let bytes = KeyForm::Text.bytes($key);
                let $stored = bytes.as_ref();
                $work
            }
        }
    };
}

/// A key as a table has it.
trait Stored {
    fn key(self) -> Result<Key>;
}

impl Stored for u64 {
    fn key(self) -> Result<Key> {
        Ok(Key(self))
    }
}

impl Stored for &[u8] {
    fn key(self) -> Result<Key> {
        KeyForm::Text.key(self)
    }
}

fn get<I: ReadableTable<u64, Bytes>, T: ReadableTable<Bytes, Bytes>>(
    form: &Form<I, T>,
    key: Key,
    show: impl FnOnce(&[u8]) -> Result<()>,
) -> Result<Found> {
    with!(form, key, |table, stored| {
        shown(table.get(stored)?.as_ref().map(AccessGuard::value), show)
    })
}

fn scan<I: ReadableTable<u64, Bytes>, T: ReadableTable<Bytes, Bytes>>(
    form: &Form<I, T>,
    from: Key,
    limit: usize,
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let mut visited = 0;
    with!(form, from, |table, stored| {
        for entry in table.range(stored..)?.take(limit) {
            let (key, value) = entry?;
            visit(key.value().key()?, value.value());
            visited += 1;
        }
    });
    Ok(visited)
}

/// redb's own `insert` replaces a value and hands the old one out, which is then put back: one
/// descent for a new key, where a look beforehand would take two, and `entry` takes three.
fn put(form: &mut WriteTable<'_>, key: Key, value: &[u8], there: bool) -> Result<bool> {
    with!(form, key, |table, stored| {
        if there {
            let Some(mut place) = table.get_mut(stored)? else {
                return Ok(false);
            };
            place.insert(value)?;
            return Ok(true);
        }
        let replaced = table.insert(stored, value)?;
        let Some(old) = replaced.map(|old: AccessGuard<'_, &[u8]>| old.value().to_vec()) else {
            return Ok(true);
        };
        table.insert(stored, old.as_slice())?;
        Ok(false)
    })
}

fn remove(form: &mut WriteTable<'_>, key: Key) -> Result<bool> {
    with!(form, key, |table, stored| Ok(table
        .remove(stored)?
        .is_some()))
}

impl Transaction {
    /// Changes something, in a transaction that writes: the adapter asks no other.
    fn change(&mut self, change: impl FnOnce(&mut WriteTable<'_>) -> Result<bool>) -> Result<bool> {
        match self {
            Self::Read(_) => Ok(false),
            Self::Write(writing) => writing.with_dependent_mut(|_, table| change(table)),
        }
    }
}

impl Rows for Transaction {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        match self {
            Self::Read(table) => get(table, key, show),
            Self::Write(writing) => writing.with_dependent_mut(|_, table| get(table, key, show)),
        }
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        match self {
            Self::Read(table) => scan(table, from, limit, visit),
            Self::Write(writing) => {
                writing.with_dependent_mut(|_, table| scan(table, from, limit, visit))
            }
        }
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        self.change(|table| put(table, key, value, there))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.change(|table| remove(table, key))
    }
}
