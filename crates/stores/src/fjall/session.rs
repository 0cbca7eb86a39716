//! Operations on the keyspace.

use super::database::{Committed, Database, Keyspace, Writing};
use super::options::Options;
use super::{STORE, failed};
use crate::{Access, Buffer, Found, Key, KeyForm, Result, Session, StoreError};
use fjall::{Readable, Snapshot, UserValue};

pub(super) struct FjallSession<'s> {
    database: &'s Database,
    options: &'s Options,
    /// The connection's. Nothing after it was dropped.
    keyspace: &'s mut Option<Keyspace>,
    form: KeyForm,
    transaction: Option<Transaction<'s>>,
}

enum Transaction<'s> {
    Read(Snapshot),
    Write(Writing<'s>),
}

/// The keyspace, if there is one. Apart from the session, so that its transaction can change
/// meanwhile.
fn table(keyspace: &Option<Keyspace>) -> Result<&Keyspace> {
    let none = || StoreError::no_table(STORE, "use the keyspace");
    keyspace.as_ref().ok_or_else(none)
}

fn key_failed(action: &str, key: Key, error: &fjall::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

impl<'s> FjallSession<'s> {
    pub(super) fn new(
        database: &'s Database,
        options: &'s Options,
        keyspace: &'s mut Option<Keyspace>,
        form: KeyForm,
    ) -> Self {
        Self {
            database,
            options,
            keyspace,
            form,
            transaction: None,
        }
    }

    /// The value, in memory that it shares with the block cache.
    fn get(&self, key: Key) -> Result<Option<UserValue>> {
        let keyspace = table(self.keyspace)?;
        let bytes = self.form.bytes(key);
        let bytes = bytes.as_ref();
        match &self.transaction {
            None => keyspace.inner().get(bytes),
            Some(Transaction::Read(snapshot)) => snapshot.get(keyspace.inner(), bytes),
            Some(Transaction::Write(writing)) => writing.get(keyspace, bytes),
        }
        .map_err(|e| key_failed("read", key, &e))
    }

    /// Runs `work` in the transaction that is open, or in one of its own.
    fn write<T>(
        &mut self,
        work: impl FnOnce(&Keyspace, &mut Writing<'s>) -> Result<T>,
    ) -> Result<T> {
        let keyspace = table(self.keyspace)?;
        match &mut self.transaction {
            Some(Transaction::Write(writing)) => work(keyspace, writing),
            Some(Transaction::Read(_)) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            None => {
                let mut writing = begin(self.database, self.options)?;
                let done = work(keyspace, &mut writing)?;
                commit(writing)?;
                Ok(done)
            }
        }
    }

    fn without_transaction(&self, what: &str) -> Result<()> {
        if self.transaction.is_none() {
            return Ok(());
        }
        Err(StoreError::unsupported(
            STORE,
            what,
            "a transaction is open; commit it first",
        ))
    }
}

fn begin<'s>(database: &'s Database, options: &Options) -> Result<Writing<'s>> {
    database
        .write(options.persist)
        .map_err(|e| failed("begin a transaction", &e))
}

fn commit(writing: Writing<'_>) -> Result<()> {
    match writing.commit().map_err(|e| failed("commit", &e))? {
        Committed::Yes => Ok(()),
        Committed::Conflict => Err(StoreError::Conflict {
            store: STORE,
            action: "commit".to_owned(),
            detail: "another transaction has changed what this one read".to_owned(),
        }),
    }
}

fn insert(
    form: KeyForm,
    keyspace: &Keyspace,
    writing: &mut Writing<'_>,
    key: Key,
    value: &[u8],
) -> Result<()> {
    let bytes = form.bytes(key);
    let taken = writing
        .contains(keyspace, bytes.as_ref())
        .map_err(|e| key_failed("insert", key, &e))?;
    if taken {
        return Err(StoreError::key_exists(STORE, key));
    }
    writing.put(keyspace, bytes.as_ref(), value);
    Ok(())
}

impl Session for FjallSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.transaction = Some(match access {
            Access::Read => Transaction::Read(self.database.snapshot()),
            Access::Write => Transaction::Write(begin(self.database, self.options)?),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.transaction.take() {
            Some(Transaction::Write(writing)) => commit(writing),
            Some(Transaction::Read(_)) | None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        self.transaction = None;
        Ok(())
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(value) = self.get(key)? else {
            return Ok(Found::Missing);
        };
        buffer.copy_from(&value)?;
        Ok(Found::Bytes(value.len()))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let Some(value) = self.get(key)? else {
            return Ok(Found::Missing);
        };
        visit(&value);
        Ok(Found::Bytes(value.len()))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let form = self.form;
        self.write(|keyspace, writing| insert(form, keyspace, writing, key, value))
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let form = self.form;
        self.write(|keyspace, writing| {
            rows.iter()
                .try_for_each(|(key, value)| insert(form, keyspace, writing, *key, value))
        })
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let bytes = self.form.bytes(key);
        self.write(|keyspace, writing| {
            let there = writing
                .contains(keyspace, bytes.as_ref())
                .map_err(|e| key_failed("overwrite", key, &e))?;
            if !there {
                return Ok(Found::Missing);
            }
            writing.put(keyspace, bytes.as_ref(), value);
            Ok(Found::Bytes(value.len()))
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let bytes = self.form.bytes(key);
        self.write(|keyspace, writing| {
            let there = writing
                .contains(keyspace, bytes.as_ref())
                .map_err(|e| key_failed("delete", key, &e))?;
            if there {
                writing.remove(keyspace, bytes.as_ref());
            }
            Ok(there)
        })
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let keyspace = table(self.keyspace)?;
        let start = self.form.bytes(from);
        let start = start.as_ref();
        let items = match &self.transaction {
            None => keyspace.inner().range(start..),
            Some(Transaction::Read(snapshot)) => snapshot.range(keyspace.inner(), start..),
            Some(Transaction::Write(writing)) => writing.range_from(keyspace, start),
        };
        let mut visited = 0;
        for item in items.take(limit) {
            let (key, value) = item
                .into_inner()
                .map_err(|e| key_failed("scan from", from, &e))?;
            visit(self.form.key(STORE, &key)?, &value);
            visited += 1;
        }
        Ok(visited)
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let keyspace = self
            .database
            .make_keyspace(self.options)
            .map_err(|e| failed("create the keyspace", &e))?;
        *self.keyspace = Some(keyspace);
        Ok(())
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        let Some(keyspace) = self.keyspace.take() else {
            return Err(StoreError::no_table(STORE, "drop the keyspace"));
        };
        self.database
            .drop_keyspace(keyspace)
            .map_err(|e| failed("drop the keyspace", &e))
    }
}
