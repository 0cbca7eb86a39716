//! sled, as the adapter for key-value engines wants it.

use crate::STORE;
use crate::error::failed;
use crate::options::{self, ENGINE_VERSION, Flush, Options};
use crate::transaction::{Alone, ReadTransaction, WriteTransaction};
use crate::turns::{Turn, Turns};
use sled::{Db, Tree};
use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Changing, Engine, Reading, Table, Visit, capabilities};
use stowplan_stores::{Found, Key, Lent, Result, StoreError};

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// The file of the log in the directory of the database, so named by sled.
const DATA_FILE: &str = "db";

/// The name of the tree.
const TABLE: &[u8] = b"kv";

/// How long closing may take: many times as long as it was seen to.
const CLOSING: Duration = Duration::from_secs(30);

const POLL: Duration = Duration::from_micros(200);

/// An open database, and whose turn it is to change it.
pub(crate) struct Database {
    sled: Db,
    turns: Turns,
}

/// What a session has of the tree.
pub(crate) struct Handle {
    /// Nothing after it was dropped.
    tree: Option<Tree>,
    options: Options,
}

impl Handle {
    fn tree(&self) -> Result<&Tree> {
        let none = || StoreError::no_table(STORE, "use the tree");
        self.tree.as_ref().ok_or_else(none)
    }
}

impl Database {
    fn open_or_make(directory: &Path, options: &Options) -> Result<Self> {
        let path = directory.join(DATABASE);
        let opened = options.of_database(&path).open();
        Ok(Self {
            sled: opened.map_err(|e| failed(format!("open {}", path.display()), &e))?,
            turns: Turns::default(),
        })
    }

    /// The tree, if there is one: sled would make it.
    fn open_tree(&self) -> Result<Option<Tree>> {
        if !self.sled.tree_names().iter().any(|name| name == TABLE) {
            return Ok(None);
        }
        let tree = self.sled.open_tree(TABLE);
        tree.map(Some).map_err(|e| failed("open the tree", &e))
    }

    /// Writes what is in memory to the log.
    fn flush(&self) -> Result<()> {
        let flushed = self.sled.flush();
        flushed.map(drop).map_err(|e| failed("flush", &e))
    }

    /// What follows each commit.
    pub(crate) fn committed(&self, options: Options) -> Result<()> {
        match options.flush {
            Flush::Background => Ok(()),
            Flush::Commit => self.flush(),
        }
    }
}

/// Threads of sled's keep the file for a little longer than the database, and with it the lock:
/// until then it could not be opened again, nor its pages leave the cache of the system.
fn wait_until_closed(directory: &Path) -> Result<()> {
    let path = directory.join(DATABASE).join(DATA_FILE);
    let file = File::open(&path).map_err(StoreError::io("open", &path))?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < CLOSING => sleep(POLL),
            Err(error) => return Err(StoreError::io("lock", &path)(error)),
        }
    }
}

impl Engine for Database {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a tree of a sled database: a lock-free B-link tree over a log, in Rust";
    type Options = Options;
    type Handle<'e> = Handle;
    type Read<'e> = ReadTransaction<'e>;
    type Write<'e> = WriteTransaction<'e>;

    fn version() -> (&'static str, String) {
        (STORE, ENGINE_VERSION.to_owned())
    }

    /// Changes on their own do not wait for each other; transactions do, so that there are no
    /// parallel writers.
    fn capabilities(options: &Options) -> Capabilities {
        capabilities::<Self>(options.durability(), options.syncs_per_commit())
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        // sled would open what is there.
        let path = directory.join(DATABASE);
        std::fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        let database = Self::open_or_make(directory, options)?;
        let tree = database.sled.open_tree(TABLE);
        drop(tree.map_err(|e| failed("create the tree", &e))?);
        Ok(database)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // sled would make what is not there.
        let path = directory.join(DATABASE);
        std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        Self::open_or_make(directory, options)
    }

    /// sled would take keys of either form.
    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        let Some(tree) = self.open_tree()? else {
            return Ok(());
        };
        let first = tree.first().map_err(|e| failed("read the first key", &e))?;
        let first = first.as_ref().map(|(key, _)| key.as_ref());
        let path = directory.join(DATABASE);
        options.key.check(STORE, &path, first)
    }

    fn close(self, directory: &Path, _: &Options) -> Result<()> {
        let flushed = self.flush();
        drop(self);
        wait_until_closed(directory)?;
        flushed
    }

    fn handle(&self, options: &Options) -> Result<Handle> {
        Ok(Handle {
            tree: self.open_tree()?,
            options: *options,
        })
    }

    fn read(&self, handle: &mut Handle) -> Result<ReadTransaction<'_>> {
        let tree = handle.tree()?.clone();
        let turn = self.turns.take(Turn::Read);
        Ok(ReadTransaction::new(tree, handle.options.key, turn))
    }

    /// Asks nobody.
    fn get_once(
        &self,
        handle: &mut Handle,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        Alone(handle.tree()?, handle.options.key).get(key, show)
    }

    fn scan_once(
        &self,
        handle: &mut Handle,
        from: Key,
        limit: usize,
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        Alone(handle.tree()?, handle.options.key).scan(from, limit, visit)
    }

    fn write(&self, handle: &mut Handle) -> Result<WriteTransaction<'_>> {
        let tree = handle.tree()?.clone();
        let turn = self.turns.take(Turn::Write);
        Ok(WriteTransaction::new(self, tree, handle.options, turn))
    }

    fn change_once(
        &self,
        handle: &mut Handle,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let changed = {
            let tree = handle.tree()?;
            let _turn = self.turns.take(Turn::Change);
            change(&mut Alone(tree, handle.options.key))?
        };
        if changed {
            self.committed(handle.options)?;
        }
        Ok(changed)
    }

    fn change_several_once(
        &self,
        handle: &mut Handle,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let mut write = self.write(handle)?;
        let changed = change(&mut write)?;
        write.commit().map(|()| changed)
    }

    fn effective_settings(&self, _: &Path, _: &Options) -> Result<Settings> {
        Ok(options::effective(&self.sled))
    }

    /// The log is where the data stays.
    fn checkpoint(&self, _: &Options) -> Result<()> {
        self.flush()
    }

    fn create_table(&self, handle: &mut Handle) -> Result<()> {
        let tree = self.sled.open_tree(TABLE);
        handle.tree = Some(tree.map_err(|e| failed("create the tree", &e))?);
        self.committed(handle.options)
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Handle) -> Result<()> {
        if handle.tree.take().is_none() {
            return Err(StoreError::no_table(STORE, "drop the tree"));
        }
        let dropped = engine.sled.drop_tree(TABLE);
        dropped.map_err(|e| failed("drop the tree", &e))?;
        engine.committed(handle.options)
    }
}
