//! Operations on the tree.

use crate::options::Options;
use crate::turns::{Taking, Turn, Turns};
use crate::{STORE, TABLE, failed};
use sled::{Batch, Db, IVec, Tree};
use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use stowplan_stores::{Access, Buffer, Found, Key, KeyBytes, KeyForm, Result, Session, StoreError};

pub(crate) struct SledSession<'c> {
    database: &'c Db,
    /// Nothing after it was dropped.
    tree: Option<Tree>,
    options: Options,
    form: KeyForm,
    turns: &'c Turns,
    open: Option<Open<'c>>,
}

/// The transaction that is open.
enum Open<'c> {
    Read { _turn: Taking<'c> },
    Write(Writing<'c>),
}

/// A transaction that writes: what it has changed, which the tree gets at the commit, at once.
struct Writing<'c> {
    changes: BTreeMap<IVec, Option<IVec>>,
    turn: Taking<'c>,
}

fn key_failed(action: &str, key: Key, error: &sled::Error) -> StoreError {
    failed(format!("{action} key {key}"), error)
}

/// The tree, if there is one. Apart from the session, so that its transaction can change meanwhile.
fn table(tree: &Option<Tree>) -> Result<&Tree> {
    let none = || StoreError::no_table(STORE, "use the tree");
    tree.as_ref().ok_or_else(none)
}

impl<'c> SledSession<'c> {
    pub(crate) fn new(
        database: &'c Db,
        tree: Option<Tree>,
        options: Options,
        form: KeyForm,
        turns: &'c Turns,
    ) -> Self {
        Self {
            database,
            tree,
            options,
            form,
            turns,
            open: None,
        }
    }

    /// The value, in memory that it shares with the tree.
    fn get(&self, key: Key) -> Result<Option<IVec>> {
        let tree = table(&self.tree)?;
        let bytes = self.form.bytes(key);
        match &self.open {
            Some(Open::Write(writing)) => writing.get(tree, bytes),
            Some(Open::Read { .. }) | None => tree.get(bytes),
        }
        .map_err(|e| key_failed("read", key, &e))
    }

    /// Changes something in the transaction that is open, or else on its own; says whether there was
    /// something to change. What changed on its own is flushed if that is asked for.
    fn change(
        &mut self,
        action: &str,
        key: Key,
        within: impl FnOnce(&mut Writing<'_>, &Tree, KeyBytes) -> sled::Result<bool>,
        alone: impl FnOnce(&Tree, KeyBytes) -> sled::Result<bool>,
    ) -> Result<bool> {
        let tree = table(&self.tree)?;
        let bytes = self.form.bytes(key);
        let failed = |e: sled::Error| key_failed(action, key, &e);
        match &mut self.open {
            Some(Open::Write(writing)) => within(writing, tree, bytes).map_err(failed),
            Some(Open::Read { .. }) => Err(StoreError::unsupported(
                STORE,
                "write",
                "the transaction was begun for reading only",
            )),
            None => {
                let changed = {
                    let _turn = self.turns.take(Turn::Change);
                    alone(tree, bytes).map_err(failed)?
                };
                if changed {
                    self.flush()?;
                }
                Ok(changed)
            }
        }
    }

    /// Waits until what was changed is in the file, if each commit is to be.
    fn flush(&self) -> Result<()> {
        if !self.options.flush {
            return Ok(());
        }
        self.database
            .flush()
            .map(drop)
            .map_err(|e| failed("flush", &e))
    }

    fn begin_write(&self) -> Writing<'c> {
        Writing {
            changes: BTreeMap::new(),
            turn: self.turns.take(Turn::Write),
        }
    }

    fn apply(&self, writing: Writing<'_>) -> Result<()> {
        let Writing { changes, turn } = writing;
        if changes.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::default();
        for (key, value) in changes {
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        table(&self.tree)?
            .apply_batch(batch)
            .map_err(|e| failed("commit", &e))?;
        drop(turn);
        self.flush()
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

impl Writing<'_> {
    fn get(&self, tree: &Tree, key: KeyBytes) -> sled::Result<Option<IVec>> {
        match self.changes.get(key.as_ref()) {
            Some(changed) => Ok(changed.clone()),
            None => tree.get(key),
        }
    }

    /// Sets or removes a value if it is there, or if it is not; says whether that was so.
    fn set(
        &mut self,
        tree: &Tree,
        key: KeyBytes,
        there: bool,
        value: Option<&[u8]>,
    ) -> sled::Result<bool> {
        let right = self.get(tree, key)?.is_some() == there;
        if right {
            let key = IVec::from(key.as_ref());
            self.changes.insert(key, value.map(IVec::from));
        }
        Ok(right)
    }

    /// The values from a key on, with the changes; of each key, the changed one.
    fn range<'w>(
        &'w self,
        tree: &Tree,
        from: &KeyBytes,
    ) -> impl Iterator<Item = sled::Result<(IVec, IVec)>> + 'w {
        let mut kept = tree.range(from.as_ref()..).peekable();
        let mut changes = self
            .changes
            .range::<[u8], _>((Included(from.as_ref()), Unbounded))
            .peekable();
        std::iter::from_fn(move || {
            loop {
                let changed_first = match (kept.peek(), changes.peek()) {
                    (Some(Ok((kept, _))), Some((changed, _))) => *changed <= kept,
                    (None, Some(_)) => true,
                    _ => false,
                };
                if !changed_first {
                    return kept.next();
                }
                let (key, value) = changes.next()?;
                kept.next_if(|kept| kept.as_ref().is_ok_and(|(kept, _)| kept == key));
                if let Some(value) = value {
                    return Some(Ok((key.clone(), value.clone())));
                }
            }
        })
    }
}

/// Replaces a value that is there by another, whoever else changes it at the same time.
fn replace(tree: &Tree, key: KeyBytes, value: &[u8]) -> sled::Result<bool> {
    let value = IVec::from(value);
    let mut old = tree.get(key)?;
    while let Some(expected) = old {
        match tree.compare_and_swap(key, Some(expected), Some(value.clone()))? {
            Ok(()) => return Ok(true),
            Err(refused) => old = refused.current,
        }
    }
    Ok(false)
}

impl Session for SledSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        self.open = Some(match access {
            Access::Read => Open::Read {
                _turn: self.turns.take(Turn::Read),
            },
            Access::Write => Open::Write(self.begin_write()),
        });
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match self.open.take() {
            Some(Open::Write(writing)) => self.apply(writing),
            Some(Open::Read { .. }) | None => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        self.open = None;
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
        let inserted = self.change(
            "insert",
            key,
            |writing, tree, bytes| writing.set(tree, bytes, false, Some(value)),
            |tree, bytes| {
                let swapped = tree.compare_and_swap(bytes, None::<&[u8]>, Some(value))?;
                Ok(swapped.is_ok())
            },
        )?;
        if inserted {
            return Ok(());
        }
        Err(StoreError::key_exists(STORE, key))
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let alone = self.open.is_none();
        if alone {
            self.begin(Access::Write)?;
        }
        let inserted = rows
            .iter()
            .try_for_each(|(key, value)| self.insert(*key, value));
        match (alone, &inserted) {
            (false, _) => inserted,
            (true, Ok(())) => self.commit(),
            (true, Err(_)) => {
                self.rollback()?;
                inserted
            }
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let overwritten = self.change(
            "overwrite",
            key,
            |writing, tree, bytes| writing.set(tree, bytes, true, Some(value)),
            |tree, bytes| replace(tree, bytes, value),
        )?;
        Ok(match overwritten {
            true => Found::Bytes(value.len()),
            false => Found::Missing,
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.change(
            "delete",
            key,
            |writing, tree, bytes| writing.set(tree, bytes, true, None),
            |tree, bytes| Ok(tree.remove(bytes)?.is_some()),
        )
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let tree = table(&self.tree)?;
        let form = self.form;
        let start = form.bytes(from);
        let mut visited = 0;
        let mut show = |item: sled::Result<(IVec, IVec)>| {
            let (key, value) = item.map_err(|e| key_failed("scan from", from, &e))?;
            visit(form.key(STORE, &key)?, &value);
            visited += 1;
            Ok(())
        };
        match &self.open {
            Some(Open::Write(writing)) => {
                writing.range(tree, &start).take(limit).try_for_each(show)?;
            }
            Some(Open::Read { .. }) | None => {
                let mut items = tree.range(start.as_ref()..).take(limit);
                items.try_for_each(&mut show)?;
            }
        }
        Ok(visited)
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let tree = self.database.open_tree(TABLE);
        self.tree = Some(tree.map_err(|e| failed("create the tree", &e))?);
        self.flush()
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        if self.tree.take().is_none() {
            return Err(StoreError::no_table(STORE, "drop the tree"));
        }
        self.database
            .drop_tree(TABLE)
            .map_err(|e| failed("drop the tree", &e))?;
        self.flush()
    }
}
