//! Transactions that last longer than a call, and operations without one.

use crate::STORE;
use crate::engine::Database;
use crate::error::failed;
use crate::options::Options;
use crate::turns::Taking;
use sled::{Batch, IVec, Tree};
use std::collections::BTreeMap;
use std::ops::Bound::{Included, Unbounded};
use stowplan_stores::kv::{Changing, Reading, Table, Visit, on_key, shown};
use stowplan_stores::{Found, Key, KeyBytes, KeyForm, Result, StoreError};

/// Shows what an iterator has, up to `limit` values.
fn visited(
    form: KeyForm,
    from: Key,
    items: impl Iterator<Item = sled::Result<(IVec, IVec)>>,
    limit: usize,
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let mut visited = 0;
    for item in items.take(limit) {
        let (key, value) = item.map_err(|e| failed(on_key("scan from", from), &e))?;
        visit(form.key(STORE, &key)?, &value);
        visited += 1;
    }
    Ok(visited)
}

/// The tree without a transaction.
pub(crate) struct Alone<'t>(pub(crate) &'t Tree, pub(crate) KeyForm);

impl Reading for Alone<'_> {
    /// The value lies in memory that it shares with the tree.
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let Self(tree, form) = self;
        let value = tree.get(form.bytes(key));
        let value = value.map_err(|e| failed(on_key("read", key), &e))?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let Self(tree, form) = self;
        let items = tree.range(form.bytes(from).as_ref()..);
        visited(*form, from, items, limit, visit)
    }
}

impl Table for Alone<'_> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let Self(tree, form) = self;
        let swapped = tree.compare_and_swap(form.bytes(key), None::<&[u8]>, Some(value));
        match swapped.map_err(|e| failed(on_key("insert", key), &e))? {
            Ok(()) => Ok(()),
            Err(_) => Err(StoreError::key_exists(STORE, key)),
        }
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let Self(tree, form) = self;
        let replaced = replace(tree, form.bytes(key), value);
        replaced.map_err(|e| failed(on_key("overwrite", key), &e))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let Self(tree, form) = self;
        let removed = tree.remove(form.bytes(key));
        let removed = removed.map_err(|e| failed(on_key("delete", key), &e))?;
        Ok(removed.is_some())
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

/// A transaction that reads: nobody changes anything meanwhile.
pub(crate) struct ReadTransaction<'e> {
    tree: Tree,
    form: KeyForm,
    _turn: Taking<'e>,
}

impl<'e> ReadTransaction<'e> {
    pub(crate) fn new(tree: Tree, form: KeyForm, turn: Taking<'e>) -> Self {
        Self {
            tree,
            form,
            _turn: turn,
        }
    }
}

impl Reading for ReadTransaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        Alone(&self.tree, self.form).get(key, show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        Alone(&self.tree, self.form).scan(from, limit, visit)
    }
}

/// A transaction that writes: what it has changed, which the tree gets at the commit, at once.
pub(crate) struct WriteTransaction<'e> {
    database: &'e Database,
    tree: Tree,
    options: Options,
    changes: BTreeMap<IVec, Option<IVec>>,
    turn: Taking<'e>,
}

impl<'e> WriteTransaction<'e> {
    pub(crate) fn new(
        database: &'e Database,
        tree: Tree,
        options: Options,
        turn: Taking<'e>,
    ) -> Self {
        Self {
            database,
            tree,
            options,
            changes: BTreeMap::new(),
            turn,
        }
    }

    fn value(&self, key: KeyBytes) -> sled::Result<Option<IVec>> {
        match self.changes.get(key.as_ref()) {
            Some(changed) => Ok(changed.clone()),
            None => self.tree.get(key),
        }
    }

    /// Sets or removes a value if it is there, or if it is not; says whether that was so.
    fn set(&mut self, action: &str, key: Key, there: bool, value: Option<&[u8]>) -> Result<bool> {
        let bytes = self.options.key.bytes(key);
        let found = self.value(bytes);
        let found = found.map_err(|e| failed(on_key(action, key), &e))?;
        let right = found.is_some() == there;
        if right {
            let bytes = IVec::from(bytes.as_ref());
            self.changes.insert(bytes, value.map(IVec::from));
        }
        Ok(right)
    }

    /// The values from a key on, with the changes; of each key, the changed one.
    fn range(&self, from: &KeyBytes) -> impl Iterator<Item = sled::Result<(IVec, IVec)>> {
        let mut kept = self.tree.range(from.as_ref()..).peekable();
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

impl Reading for WriteTransaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let value = self.value(self.options.key.bytes(key));
        let value = value.map_err(|e| failed(on_key("read", key), &e))?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let form = self.options.key;
        visited(form, from, self.range(&form.bytes(from)), limit, visit)
    }
}

impl Table for WriteTransaction<'_> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        match self.set("insert", key, false, Some(value))? {
            true => Ok(()),
            false => Err(StoreError::key_exists(STORE, key)),
        }
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        self.set("overwrite", key, true, Some(value))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.set("delete", key, true, None)
    }
}

impl Changing for WriteTransaction<'_> {
    fn commit(self) -> Result<()> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let mut batch = Batch::default();
        for (key, value) in self.changes {
            match value {
                Some(value) => batch.insert(key, value),
                None => batch.remove(key),
            }
        }
        let applied = self.tree.apply_batch(batch);
        applied.map_err(|e| failed("commit", &e))?;
        drop(self.turn);
        self.database.committed(self.options)
    }

    fn rollback(self) -> Result<()> {
        Ok(())
    }
}
