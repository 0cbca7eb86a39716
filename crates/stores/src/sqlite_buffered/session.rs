//! Operations: what is in memory first, then the disk.

use super::buffer::{Change, Layer, Shared};
use crate::kv::{replaced, shown};
use crate::options::refuse;
use crate::sqlite::table::row_id;
use crate::sqlite::{COMMITS_COUNTED, SqliteSession};
use crate::turns::Turn;
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError, Visit};

pub(super) struct BufferedSession<'c> {
    shared: &'c Shared,
    disk: SqliteSession<'c>,
    open: Option<Open<'c>>,
}

/// The transaction between `begin` and its end.
enum Open<'c> {
    Reading,
    /// With what it has changed, above what is committed.
    Writing(Turn<'c>, Layer),
}

impl<'c> BufferedSession<'c> {
    pub(super) fn new(shared: &'c Shared, disk: SqliteSession<'c>) -> Self {
        Self {
            shared,
            disk,
            open: None,
        }
    }

    /// The changes of the open transaction.
    fn own(&self) -> Option<&Layer> {
        match &self.open {
            Some(Open::Writing(_, own)) => Some(own),
            Some(Open::Reading) | None => None,
        }
    }

    /// What is in memory of a key: nothing where the disk decides, which has no key beyond its own. To be
    /// asked before the disk, which shows what has left memory by then.
    fn buffered(&self, key: Key) -> Option<Change> {
        let Some(key) = row_id(key) else {
            return Some(None);
        };
        let own = self.own().and_then(|own| own.rows.get(&key).cloned());
        own.or_else(|| self.shared.change(key))
    }

    /// Sets the value of a key, or deletes it, if the key is there or not as `wanted`; returns
    /// whether it was as wanted. Nobody else writes between the look and the change.
    fn change(&mut self, key: Key, value: Option<&[u8]>, wanted: bool) -> Result<bool> {
        let Some(k) = row_id(key) else {
            return Ok(false);
        };
        let _turn = match self.open {
            Some(Open::Writing(..)) => None,
            Some(Open::Reading) => return Err(misused("write in a transaction that only reads")),
            None => Some(self.shared.take_turn()?),
        };
        let there = match self.buffered(key) {
            Some(change) => change.is_some(),
            None => self.disk.has(key)?,
        };
        if there != wanted {
            return Ok(false);
        }
        if let Some(Open::Writing(_, own)) = &mut self.open {
            own.put(k, value);
        } else {
            let mut alone = Layer::default();
            alone.put(k, value);
            self.shared.commit(alone)?;
        }
        Ok(true)
    }

    /// Ends the transaction that is open.
    fn end(&mut self, action: &str) -> Result<Open<'c>> {
        let open = self.open.take();
        open.ok_or_else(|| misused(&format!("{action} without a transaction")))
    }
}

fn misused(what: &str) -> StoreError {
    StoreError::engine(what, "transactions come in pairs of begin and end")
}

impl Session for BufferedSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        if self.open.is_some() {
            return Err(misused("begin a transaction within another"));
        }
        self.open = Some(match access {
            Access::Read => Open::Reading,
            Access::Write => Open::Writing(self.shared.take_turn()?, Layer::default()),
        });
        Ok(())
    }

    /// After an error the transaction is undone.
    fn commit(&mut self) -> Result<()> {
        match self.end("commit")? {
            Open::Writing(_turn, own) => self.shared.commit(own),
            Open::Reading => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        self.end("roll back").map(drop)
    }

    /// Of what is on disk.
    fn check_integrity(&mut self) -> Result<()> {
        self.disk.check_integrity()
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        match self.buffered(key) {
            Some(change) => shown(change.as_deref(), |value| buffer.copy_from(value)),
            None => self.disk.read_into(key, buffer),
        }
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        match self.buffered(key) {
            Some(change) => shown(change.as_deref(), |value| {
                visit(value);
                Ok(())
            }),
            None => self.disk.read_in_place(key, visit),
        }
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        refuse! {
            row_id(key).is_none() => format!("insert key {key}"), "its keys are signed 64-bit numbers";
        }
        match self.change(key, Some(value), false)? {
            true => Ok(()),
            false => Err(StoreError::key_exists(key)),
        }
    }

    /// One transaction, where there is none around it.
    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let alone = self.open.is_none();
        if alone {
            self.begin(Access::Write)?;
        }
        let inserted = rows
            .iter()
            .try_for_each(|(key, value)| self.insert(*key, value));
        match inserted {
            Ok(()) if alone => self.commit(),
            Err(error) if alone => self.rollback().and(Err(error)),
            inserted => inserted,
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let was_there = self.change(key, Some(value), true)?;
        Ok(replaced(was_there, value))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.change(key, None, true)
    }

    /// The rows of the disk, unless they were changed, among those that were set.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let Some(first) = row_id(from) else {
            return Ok(0);
        };
        let changes = self.shared.changes(self.own(), first, limit);
        let deleted = changes
            .iter()
            .filter(|(_, change)| change.is_none())
            .count();
        let mut changes = changes
            .into_iter()
            .map(|(k, change)| (Key(k.unsigned_abs()), change))
            .peekable();
        let mut left = limit;
        let mut show = |key, value: Option<&[u8]>| {
            if let Some(value) = value.filter(|_| left > 0) {
                visit(key, value);
                left -= 1;
            }
        };
        // That many hide no more than the limit.
        let most = limit.saturating_add(deleted);
        self.disk.scan(from, most, &mut |key, value| {
            while let Some((changed, set)) = changes.next_if(|(changed, _)| *changed < key) {
                show(changed, set.as_deref());
            }
            match changes.next_if(|(changed, _)| *changed == key) {
                Some((_, set)) => show(key, set.as_deref()),
                None => show(key, Some(value)),
            }
        })?;
        for (changed, set) in changes {
            show(changed, set.as_deref());
        }
        Ok(limit - left)
    }

    fn counters(&mut self) -> Result<Counters> {
        let mut counters = self.disk.counters()?;
        // Those of the carrier's connection are meant to be the disk's, not this one's.
        counters.remove(COMMITS_COUNTED);
        let ours = [
            ("Carry-overs", self.shared.carry_overs()),
            ("Changes in memory only", self.shared.buffered()),
        ];
        counters.extend(ours.map(|(name, count)| (name.to_owned(), count)));
        Ok(counters)
    }
}
