//! canopydb, as the adapter for key-value engines wants it.

use crate::STORE;
use crate::error::failed;
use crate::options::{self, ENGINE_VERSION, Options};
use canopydb::{
    Database, Environment, Error, ReadTransaction, Transaction, Tree, WriteTransaction,
};
use self_cell::self_cell;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Settings};
use stowplan_stores::kv::{Changing, Engine, Reading, Table, Visit, capabilities, on_key, shown};
use stowplan_stores::{Found, Key, KeyForm, Lent, Result, StoreError};

/// The directory of the environment below a store's.
const ENVIRONMENT: &str = "db";

/// The name of the database. Its directory is called by it, and by a number.
const DATABASE: &str = "kv";

/// The file of options in the directory of the database, so named by canopydb.
const OPTIONS_FILE: &str = "OPTIONS";

/// The name of the tree.
const TABLE: &[u8] = b"kv";

/// The open database, which keeps its environment open.
pub(crate) struct OpenDatabase(Database);

fn no_database(path: &Path) -> StoreError {
    let action = format!("open {}", path.display());
    StoreError::engine(STORE, action, "there is no database in it")
}

/// `kv_` and a number.
fn database_directory(directory: &Path) -> Result<PathBuf> {
    let path = directory.join(ENVIRONMENT);
    let entries = std::fs::read_dir(&path).map_err(StoreError::io("open", &path))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.join(OPTIONS_FILE).is_file())
        .ok_or_else(|| no_database(&path))
}

fn open_environment(path: &Path, options: &Options) -> Result<Environment> {
    let environment = Environment::with_options(options.of_environment(path));
    environment.map_err(|e| failed(format!("open {}", path.display()), &e))
}

impl OpenDatabase {
    fn begin_read(&self) -> Result<ReadTransaction> {
        let transaction = self.0.begin_read();
        transaction.map_err(|e| failed("begin a transaction", &e))
    }

    /// Waits for the transaction of another thread that writes.
    fn begin_write(&self) -> Result<WriteTransaction> {
        let transaction = self.0.begin_write();
        transaction.map_err(|e| failed("begin a transaction", &e))
    }
}

impl Engine for OpenDatabase {
    const STORE: &'static str = STORE;
    const ABOUT: &'static str =
        "a tree of a canopydb database: a copy-on-write B+ tree with a log, in Rust";
    type Options = Options;
    type Handle<'e> = Options;
    type Read<'e> = ReadTree;
    type Write<'e> = WriteTree;

    fn version() -> (&'static str, String) {
        (STORE, ENGINE_VERSION.to_owned())
    }

    fn capabilities(options: &Options) -> Capabilities {
        Capabilities {
            // "Limits" in canopydb's documentation of `Database`.
            largest_value: Some(3 << 30),
            ..capabilities::<Self>(options.durability(), options.syncs_per_commit())
        }
    }

    fn create(directory: &Path, options: &Options) -> Result<Self> {
        // canopydb would open what is there.
        let path = directory.join(ENVIRONMENT);
        std::fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        let database = open_environment(&path, options)?
            .get_or_create_database_with(DATABASE, options.of_database())
            .map_err(|e| failed(format!("create {}", path.display()), &e))?;
        let engine = Self(database);
        engine.create_table(&mut options.clone())?;
        Ok(engine)
    }

    fn open(directory: &Path, options: &Options) -> Result<Self> {
        // canopydb would make what is not there.
        database_directory(directory)?;
        let path = directory.join(ENVIRONMENT);
        open_environment(&path, options)?
            .get_database_with(DATABASE, options.of_database())
            .map_err(|e| failed(format!("open {}", path.display()), &e))?
            .map(Self)
            .ok_or_else(|| no_database(&path))
    }

    fn check_keys(&self, directory: &Path, options: &Options) -> Result<()> {
        let transaction = self.begin_read()?;
        let tree = transaction.get_tree(TABLE);
        let Some(tree) = tree.map_err(|e| failed("open the tree", &e))? else {
            return Ok(());
        };
        let first = tree.first().map_err(|e| failed("read the first key", &e))?;
        let first = first.as_ref().map(|(key, _)| &**key);
        let path = directory.join(ENVIRONMENT);
        options.key.check(STORE, &path, first)
    }

    /// What has no log is written to the file.
    fn close(self, _: &Path, options: &Options) -> Result<()> {
        if options.wal {
            return Ok(());
        }
        self.checkpoint(options)
    }

    fn handle<'e>(&'e self, options: &'e Options) -> Result<Options> {
        Ok(*options)
    }

    fn read(&self, options: &mut Options) -> Result<ReadTree> {
        let form = options.key;
        ReadTree::try_new(self.begin_read()?, |transaction| {
            OpenTree::open(transaction, form)
        })
    }

    /// Without the box that keeps a transaction together with its tree.
    fn get_once(
        &self,
        options: &mut Options,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let transaction = self.begin_read()?;
        OpenTree::open(&transaction, options.key)?.get(key, show)
    }

    fn scan_once(
        &self,
        options: &mut Options,
        from: Key,
        limit: usize,
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        let transaction = self.begin_read()?;
        OpenTree::open(&transaction, options.key)?.scan(from, limit, visit)
    }

    fn write(&self, options: &mut Options) -> Result<WriteTree> {
        let form = options.key;
        WriteTree::try_new(self.begin_write()?, |transaction| {
            OpenTree::open(transaction, form)
        })
    }

    fn change_once(
        &self,
        options: &mut Options,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let transaction = self.begin_write()?;
        let changed = change(&mut OpenTree::open(&transaction, options.key)?)?;
        if changed {
            commit(transaction)?;
        }
        Ok(changed)
    }

    fn effective_settings(&self, directory: &Path, _: &Options) -> Result<Settings> {
        let directory = database_directory(directory)?;
        options::effective(&directory.join(OPTIONS_FILE))
    }

    /// Writes changed pages to the file. What the log no longer needs is removed later, by a thread
    /// of canopydb's, or when the last connection is closed.
    fn checkpoint(&self, _: &Options) -> Result<()> {
        self.0.checkpoint().map_err(|e| failed("checkpoint", &e))
    }

    fn create_table(&self, options: &mut Options) -> Result<()> {
        let transaction = self.begin_write()?;
        let tree = transaction.get_or_create_tree_with(TABLE, options.of_tree());
        drop(tree.map_err(|e| failed("create the tree", &e))?);
        commit(transaction)
    }

    fn drop_table<'e>(engine: &'e Lent<'e, Self>, _: &mut Options) -> Result<()> {
        let transaction = engine.begin_write()?;
        let existed = transaction.delete_tree(TABLE);
        if !existed.map_err(|e| failed("drop the tree", &e))? {
            return Err(StoreError::no_table(STORE, "drop it"));
        }
        commit(transaction)
    }
}

/// As the database was told: with a sync, or without.
fn commit(transaction: WriteTransaction) -> Result<()> {
    let committed = transaction.commit();
    committed.map(drop).map_err(|e| failed("commit", &e))
}

/// The tree, in a transaction.
pub(crate) struct OpenTree<'t> {
    tree: Tree<'t>,
    form: KeyForm,
}

self_cell!(
    /// A transaction that reads, kept together with its tree, which borrows it: a user who has both
    /// in local variables does not look the tree up for each operation either.
    pub(crate) struct ReadTree {
        owner: ReadTransaction,
        #[not_covariant]
        dependent: OpenTree,
    }
);

self_cell!(
    /// A transaction that writes; as [`ReadTree`].
    pub(crate) struct WriteTree {
        owner: WriteTransaction,
        #[not_covariant]
        dependent: OpenTree,
    }
);

impl<'t> OpenTree<'t> {
    fn open(transaction: &'t Transaction, form: KeyForm) -> Result<Self> {
        let tree = transaction.get_tree(TABLE);
        let tree = tree.map_err(|e| failed("open the tree", &e))?;
        let none = || StoreError::no_table(STORE, "open the tree");
        Ok(Self {
            tree: tree.ok_or_else(none)?,
            form,
        })
    }

    /// canopydb has no look-up that leaves the value unread: of a large one, its page is looked up
    /// too.
    fn contains(&self, action: &str, key: Key) -> Result<bool> {
        let value = self.tree.get(self.form.bytes(key).as_ref());
        let value = value.map_err(|e| failed(on_key(action, key), &e))?;
        Ok(value.is_some())
    }

    fn put(&mut self, action: &str, key: Key, value: &[u8]) -> Result<()> {
        let put = self.tree.insert(self.form.bytes(key).as_ref(), value);
        put.map_err(|e| failed(on_key(action, key), &e))
    }
}

impl Reading for OpenTree<'_> {
    /// The value lies in memory that it shares with the page.
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let value = self.tree.get(self.form.bytes(key).as_ref());
        let value = value.map_err(|e| failed(on_key("read", key), &e))?;
        shown(value.as_deref(), show)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let failed = |e: &Error| failed(on_key("scan from", from), e);
        let start = self.form.bytes(from);
        let items = self.tree.range(start.as_ref()..).map_err(|e| failed(&e))?;
        let mut visited = 0;
        for item in items.take(limit) {
            let (key, value) = item.map_err(|e| failed(&e))?;
            visit(self.form.key(STORE, &key)?, &value);
            visited += 1;
        }
        Ok(visited)
    }
}

impl Table for OpenTree<'_> {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        if self.contains("insert", key)? {
            return Err(StoreError::key_exists(STORE, key));
        }
        self.put("insert", key, value)
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let there = self.contains("overwrite", key)?;
        if there {
            self.put("overwrite", key, value)?;
        }
        Ok(there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let removed = self.tree.delete(self.form.bytes(key).as_ref());
        removed.map_err(|e| failed(on_key("delete", key), &e))
    }
}

impl Reading for ReadTree {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        self.with_dependent_mut(|_, tree| tree.get(key, show))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        self.with_dependent_mut(|_, tree| tree.scan(from, limit, visit))
    }
}

impl Reading for WriteTree {
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        self.with_dependent_mut(|_, tree| tree.get(key, show))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        self.with_dependent_mut(|_, tree| tree.scan(from, limit, visit))
    }
}

impl Table for WriteTree {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.with_dependent_mut(|_, tree| tree.insert(key, value))
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        self.with_dependent_mut(|_, tree| tree.replace(key, value))
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        self.with_dependent_mut(|_, tree| tree.remove(key))
    }
}

impl Changing for WriteTree {
    fn commit(self) -> Result<()> {
        commit(self.into_owner())
    }

    fn rollback(self) -> Result<()> {
        let undone = self.into_owner().rollback();
        undone.map_err(|e| failed("roll back", &e))
    }
}
