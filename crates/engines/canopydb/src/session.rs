//! Operations on the tree.

use crate::options::Options;
use crate::transaction::{Reading, Writing, reading, tree, writing};
use crate::{STORE, TABLE, failed};
use canopydb::{Bytes, Database, Error, Tree, WriteTransaction};
use stowplan_stores::{Access, Buffer, Found, Key, KeyForm, Result, Session, StoreError};

pub(crate) struct CanopySession<'c> {
    database: &'c Database,
    options: Options,
    form: KeyForm,
    open: Option<Open>,
}

/// The transaction that is open.
enum Open {
    Read(Reading),
    Write(Writing),
}

fn key_failed(action: &str, key: Key, error: &Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

impl<'c> CanopySession<'c> {
    pub(crate) fn new(database: &'c Database, options: Options, form: KeyForm) -> Self {
        Self {
            database,
            options,
            form,
            open: None,
        }
    }

    /// Waits for the transaction of another thread that writes.
    fn begin_write(&self) -> Result<WriteTransaction> {
        self.database
            .begin_write()
            .map_err(|e| failed("begin a transaction", &e))
    }

    /// Runs `work` on the tree, in the transaction that is open or in one of its own.
    fn look<T>(&self, work: impl FnOnce(&Tree<'_>) -> Result<T>) -> Result<T> {
        match &self.open {
            Some(Open::Read(reading)) => reading.with_dependent(|_, tree| work(tree)),
            Some(Open::Write(writing)) => writing.with_dependent(|_, tree| work(tree)),
            None => {
                let transaction = self.database.begin_read();
                let transaction = transaction.map_err(|e| failed("begin a transaction", &e))?;
                work(&tree(&transaction)?)
            }
        }
    }

    /// The value, in memory that it shares with the page.
    fn get(&self, key: Key) -> Result<Option<Bytes>> {
        let bytes = self.form.bytes(key);
        self.look(|tree| {
            tree.get(bytes.as_ref())
                .map_err(|e| key_failed("read", key, &e))
        })
    }

    /// Changes something in the transaction that is open, or in one of its own; says whether there
    /// was something to change. If not, the latter is not committed.
    fn change(&mut self, work: impl FnOnce(&mut Tree<'_>) -> Result<bool>) -> Result<bool> {
        match &mut self.open {
            Some(Open::Write(writing)) => writing.with_dependent_mut(|_, tree| work(tree)),
            Some(Open::Read(_)) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            None => {
                let transaction = self.begin_write()?;
                let changed = work(&mut tree(&transaction)?)?;
                if changed {
                    commit(transaction)?;
                }
                Ok(changed)
            }
        }
    }

    fn without_transaction(&self, what: &str) -> Result<()> {
        if self.open.is_none() {
            return Ok(());
        }
        Err(StoreError::unsupported(
            STORE,
            what,
            "a transaction is open; commit it first",
        ))
    }
}

/// As the database was told: with a sync, or without.
fn commit(transaction: WriteTransaction) -> Result<()> {
    transaction
        .commit()
        .map(drop)
        .map_err(|e| failed("commit", &e))
}

/// canopydb has no look-up that leaves the value unread: of a large one, its page is looked up too.
fn contains(tree: &Tree<'_>, form: KeyForm, action: &str, key: Key) -> Result<bool> {
    let value = tree.get(form.bytes(key).as_ref());
    let value = value.map_err(|e| key_failed(action, key, &e))?;
    Ok(value.is_some())
}

fn insert(tree: &mut Tree<'_>, form: KeyForm, key: Key, value: &[u8]) -> Result<()> {
    if contains(tree, form, "insert", key)? {
        return Err(StoreError::key_exists(STORE, key));
    }
    tree.insert(form.bytes(key).as_ref(), value)
        .map_err(|e| key_failed("insert", key, &e))
}

impl Session for CanopySession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.open = Some(match access {
            Access::Read => Open::Read(reading(self.database.begin_read())?),
            Access::Write => Open::Write(writing(self.database.begin_write())?),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write(writing)) => commit(writing.into_owner()),
            Some(Open::Read(_)) | None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write(writing)) => writing
                .into_owner()
                .rollback()
                .map_err(|e| failed("roll back", &e)),
            Some(Open::Read(_)) | None => Ok(()),
        }
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
        self.insert_many(&[(key, value)])
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let form = self.form;
        self.change(|tree| {
            rows.iter()
                .try_for_each(|(key, value)| insert(tree, form, *key, value))?;
            Ok(true)
        })
        .map(drop)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let form = self.form;
        let overwritten = self.change(|tree| {
            if !contains(tree, form, "overwrite", key)? {
                return Ok(false);
            }
            tree.insert(form.bytes(key).as_ref(), value)
                .map_err(|e| key_failed("overwrite", key, &e))?;
            Ok(true)
        })?;
        Ok(match overwritten {
            true => Found::Bytes(value.len()),
            false => Found::Missing,
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let bytes = self.form.bytes(key);
        self.change(|tree| {
            tree.delete(bytes.as_ref())
                .map_err(|e| key_failed("delete", key, &e))
        })
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let form = self.form;
        let start = form.bytes(from);
        self.look(|tree| {
            let failed = |e: &Error| key_failed("scan from", from, e);
            let items = tree.range(start.as_ref()..).map_err(|e| failed(&e))?;
            let mut visited = 0;
            for item in items.take(limit) {
                let (key, value) = item.map_err(|e| failed(&e))?;
                visit(form.key(STORE, &key)?, &value);
                visited += 1;
            }
            Ok(visited)
        })
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let transaction = self.begin_write()?;
        let tree = transaction.get_or_create_tree_with(TABLE, self.options.of_tree());
        drop(tree.map_err(|e| failed("create the tree", &e))?);
        commit(transaction)
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        let transaction = self.begin_write()?;
        let existed = transaction.delete_tree(TABLE);
        if !existed.map_err(|e| failed("drop the tree", &e))? {
            return Err(StoreError::no_table(STORE, "drop it"));
        }
        commit(transaction)
    }
}
