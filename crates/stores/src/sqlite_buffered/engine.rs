//! The store as an engine: what is in memory first, then the disk.

use super::buffer::{Change, Layer, Shared};
use super::{ABOUT, Options, STORE};
use crate::kv::{Engine, Rows, Visit, shown};
use crate::options::StoreOptions as _;
use crate::sqlite::base::Base;
use crate::sqlite::table::row_id;
use crate::sqlite::{self, SqliteSession};
use crate::turns::Turn;
use crate::{Access, Found, Key, Result, Session as _, Store as _, StoreError};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use stowplan_model::{Capabilities, Delivery, Settings};

/// What is in memory, and the thread that carries it over.
pub(crate) struct Buffered {
    shared: Arc<Shared>,
    /// Carries over what is left, when the store goes.
    carrier: Option<JoinHandle<()>>,
}

/// A session's connection to the database on disk, which its transactions read by.
type Disk<'e> = Rc<RefCell<SqliteSession<'e>>>;

/// A transaction. Writing, it has the turn, and what it has changed above what is committed.
pub(crate) struct Transaction<'e> {
    shared: &'e Shared,
    disk: Disk<'e>,
    writing: Option<(Turn<'e>, Layer)>,
}

impl Drop for Buffered {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(carrier) = self.carrier.take() {
            // It returns nothing, and a panic of its has been printed.
            let _ = carrier.join();
        }
        // A last attempt, which nobody is left to hear of.
        let _ = self.shared.drain("close");
    }
}

impl Engine for Buffered {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str = ABOUT;
    type Options = Options;
    type Table<'e> = Disk<'e>;
    type Txn<'e> = Transaction<'e>;

    fn version() -> (&'static str, String) {
        sqlite::engine()
    }

    /// Its `parallel_writers` is false: any number of sessions may write, but they take turns.
    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            operations: crate::store::OPERATIONS.to_vec(),
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            transactions: true,
            durability: options.durability(),
            threads: true,
            largest_value: Some(sqlite::largest_value()),
            ..Capabilities::default()
        }
    }

    fn open(directory: &Path, options: &Options, new: bool) -> Result<Self> {
        let base = Base::of_store(directory, options.database.clone());
        base.open(new)?;
        let shared = Arc::new(Shared::new(base, options.window));
        let carrying = Arc::clone(&shared);
        let carrier = thread::Builder::new()
            .name("carrier".to_owned())
            .spawn(move || carrying.carry())
            .map_err(StoreError::said)?;
        Ok(Self {
            shared,
            carrier: Some(carrier),
        })
    }

    /// Carries everything over.
    fn close(self) -> Result<()> {
        self.shared.drain("close")
    }

    fn table<'e>(&'e self, _: &'e Options) -> Result<Option<Disk<'e>>> {
        let disk = self.shared.base.session()?;
        Ok(Some(Rc::new(RefCell::new(disk))))
    }

    fn begin<'e>(&'e self, disk: &mut Disk<'e>, access: Access) -> Result<Transaction<'e>> {
        let shared = &*self.shared;
        let turn = match access {
            Access::Read => None,
            Access::Write => Some(shared.take_turn()?),
        };
        Ok(Transaction {
            shared,
            disk: Rc::clone(disk),
            writing: turn.map(|turn| (turn, Layer::default())),
        })
    }

    /// After an error the transaction is undone.
    fn commit(transaction: Transaction<'_>) -> Result<()> {
        match transaction.writing {
            Some((_turn, own)) => transaction.shared.commit(own),
            None => Ok(()),
        }
    }

    /// Of the database on disk.
    fn effective_settings(&self, _: &Options) -> Result<Settings> {
        let disk = self.shared.base.session()?;
        disk.effective_settings_of(Options::SETTINGS)
    }

    fn data_files(directory: &Path) -> Vec<PathBuf> {
        Base::files_below(directory)
    }

    /// Carries everything over first.
    fn checkpoint(&self, _: &Options) -> Result<()> {
        self.shared.drain("checkpoint")?;
        let _alone = self.shared.carrying.lock();
        self.shared.base.checkpoint()
    }

    /// Of what is on disk.
    fn check_integrity<'e>(&'e self, disk: &mut Disk<'e>) -> Result<()> {
        disk.borrow_mut().check_integrity()
    }
}

impl Transaction<'_> {
    /// What is in memory of a key: nothing where the disk decides. To be asked before the disk, which shows
    /// what has left memory by then.
    fn buffered(&self, key: i64) -> Option<Change> {
        let own = self.writing.as_ref();
        let own = own.and_then(|(_, own)| own.rows.get(&key).cloned());
        own.or_else(|| self.shared.change(key))
    }

    /// Sets the value of a key, or deletes it, if the key is there or not as `wanted`; returns
    /// whether it was as wanted. Nobody else writes between the look and the change.
    fn change(&mut self, key: Key, value: Option<&[u8]>, wanted: bool) -> Result<bool> {
        // Without reading the value.
        let there = match row_id(key).map(|number| self.buffered(number)) {
            None => false,
            Some(Some(change)) => change.is_some(),
            Some(None) => self.disk.borrow_mut().has(key)?,
        };
        let (Some(key), Some((_, own))) = (row_id(key), &mut self.writing) else {
            let why = "its keys are signed 64-bit numbers";
            return if wanted {
                Ok(false)
            } else {
                Err(StoreError::unsupported(format!("insert key {key}"), why))
            };
        };
        if there == wanted {
            own.put(key, value);
        }
        Ok(there == wanted)
    }
}

impl Rows for Transaction<'_> {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let Some(number) = row_id(key) else {
            return Ok(Found::Missing);
        };
        if let Some(change) = self.buffered(number) {
            return shown(change.as_deref(), show);
        }
        let (mut show, mut done) = (Some(show), Ok(()));
        let found = self.disk.borrow_mut().read_in_place(key, &mut |value| {
            done = show.take().map_or(Ok(()), |show| show(value));
        });
        done.and(found)
    }

    /// The rows of the disk, unless they were changed, among those that were set.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let Some(first) = row_id(from) else {
            return Ok(0);
        };
        let own = self.writing.as_ref().map(|(_, own)| own);
        let changes = self.shared.changes(own, first, limit);
        let deleted = changes.iter().filter(|(_, change)| change.is_none());
        // That many hide no more than the limit.
        let most = limit.saturating_add(deleted.count());
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
        self.disk.borrow_mut().scan(from, most, &mut |key, value| {
            while let Some((changed, set)) = changes.next_if(|(changed, _)| *changed < key) {
                show(changed, set.as_deref());
            }
            match changes.next_if(|(changed, _)| *changed == key) {
                Some((_, set)) => show(key, set.as_deref()),
                None => show(key, Some(value)),
            }
        })?;
        changes.for_each(|(changed, set)| show(changed, set.as_deref()));
        Ok(limit - left)
    }

    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool> {
        self.change(key, Some(value), there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.change(key, None, true)
    }
}
