//! One adapter for engines that keep keys with values in a table and change it in transactions.
//!
//! What belongs here: what all of them do alike: which transaction an operation runs in, what is refused,
//! who opens and closes the engine, the form of the keys, which
//! action and key an error names, and what a store is made of. What does not: anything of one engine. An
//! engine implements [`Engine`], and [`Rows`] for its transactions; all is resolved when the program is
//! compiled.

use crate::error::{at, at_key};
use crate::options::{OptionValue as _, StoreOptions, refuse};
use crate::store::Kind;
use crate::{Access, Buffer, Found, Key, KeyForm, Result, Session, Store, StoreError, disk};
use parking_lot::Mutex;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use stowplan_model::{Capabilities, Delivery, DurabilityClaim, Footprint, Operation, Settings};

pub use crate::error::on_key;
pub use crate::store::Visit;

/// An opened engine, which the sessions of a store share.
pub trait Engine: Sized + Send + Sync + 'static {
    /// The name of the store, in specs and messages.
    const STORE: &'static str;

    /// What it is, in a sentence.
    const ABOUT: &'static str;

    /// The file below the store's directory that holds all data, if it is one: it has to be there before the
    /// engine is opened, and must not before it is made.
    const FILE: Option<&'static str> = None;

    /// Whether a value can be shown where it lies: not if the engine hands out copies only.
    const LENDS: bool = true;

    /// The settings, typed.
    type Options: StoreOptions;

    /// A session's handle of the table, and what else it keeps between transactions.
    type Table<'e>;

    /// A transaction that reads, or that writes; undone when it is dropped.
    type Txn<'e>: Rows;

    /// The engine's own name, and its version.
    fn version() -> (&'static str, String);

    /// What it can do with these settings: [`capabilities`], and what is said of this one.
    fn capabilities(options: &Self::Options) -> Capabilities;

    /// Opens the engine in `directory`: a new one with an empty table where there is none, or what was so
    /// made.
    ///
    /// # Errors
    /// There is something or nothing, against what was said, or the engine or the file system refuses.
    fn open(directory: &Path, options: &Self::Options, new: bool) -> Result<Self>;

    /// Closes it; errors that only show at closing come out here.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn close(self) -> Result<()> {
        drop(self);
        Ok(())
    }

    /// The table, if there is one.
    ///
    /// # Errors
    /// The engine refuses.
    fn table<'e>(&'e self, options: &'e Self::Options) -> Result<Option<Self::Table<'e>>>;

    /// Begins a transaction; one that writes waits for that of another thread where there can be only one.
    ///
    /// # Errors
    /// There is no table, or the engine refuses.
    fn begin<'e>(&'e self, table: &mut Self::Table<'e>, access: Access) -> Result<Self::Txn<'e>>;

    /// Begins the transaction of a single change.
    ///
    /// # Errors
    /// As [`Self::begin`].
    fn begin_single<'e>(&'e self, table: &mut Self::Table<'e>) -> Result<Self::Txn<'e>> {
        self.begin(table, Access::Write)
    }

    /// Shows a value as a transaction of its own. An engine that can do so without one says how.
    ///
    /// # Errors
    /// Those of [`Self::begin`] and [`Rows::get`].
    fn get_once<'e>(
        &'e self,
        table: &mut Self::Table<'e>,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let mut txn = self.begin(table, Access::Read)?;
        let found = txn.get(key, show);
        self.end(table, txn)?;
        found
    }

    /// Adds several values as a transaction of their own, where the engine has another way for that.
    fn insert_several<'e>(
        &'e self,
        table: &mut Self::Table<'e>,
        rows: &[(Key, &[u8])],
    ) -> Option<Result<()>> {
        let _ = (table, rows);
        None
    }

    /// Commits what a transaction wrote; when it returns, the store's durability claim holds.
    ///
    /// # Errors
    /// The engine or the file system refuses, or another transaction was in the way.
    fn commit(txn: Self::Txn<'_>) -> Result<()>;

    /// Ends a transaction that read, or is to be undone.
    ///
    /// # Errors
    /// The engine refuses.
    fn end<'e>(&'e self, table: &mut Self::Table<'e>, txn: Self::Txn<'e>) -> Result<()> {
        let _ = table;
        drop(txn);
        Ok(())
    }

    /// Settings as the engine itself reports them, as far as it does.
    ///
    /// # Errors
    /// The engine refuses.
    fn effective_settings(&self, options: &Self::Options) -> Result<Settings> {
        let _ = options;
        Ok(Settings::default())
    }

    /// The files that hold the data.
    fn data_files(directory: &Path) -> Vec<PathBuf> {
        match Self::FILE {
            Some(file) => vec![directory.join(file)],
            None => disk::files_of_tree(directory).unwrap_or_default(),
        }
    }

    /// Bytes by which its files are longer than their data while it is open.
    ///
    /// # Errors
    /// The file system refuses.
    fn hole(&self) -> Result<u64> {
        Ok(0)
    }

    /// Whether written data may not be where it stays: if not, there is nothing to check in.
    fn needs_checkpoint(options: &Self::Options, is_open: bool) -> bool {
        let _ = (options, is_open);
        true
    }

    /// Brings written data to where it stays, unless it is there already.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn checkpoint(&self, options: &Self::Options) -> Result<()> {
        let _ = options;
        Ok(())
    }

    /// Checks everything that it holds; nothing where it cannot.
    ///
    /// # Errors
    /// Something is damaged: what the engine says of it.
    fn check_integrity<'e>(&'e self, table: &mut Self::Table<'e>) -> Result<()> {
        let _ = table;
        Ok(())
    }

    /// Makes the table where there is none, as a transaction of its own.
    ///
    /// # Errors
    /// The engine refuses, or has no such thing.
    fn create_table(&self, options: &Self::Options) -> Result<()> {
        let _ = options;
        Err(no_tables("create"))
    }

    /// Removes the table, as a transaction of its own, and its handle. `alone` is whether no other session has
    /// one, nor can get one meanwhile.
    ///
    /// # Errors
    /// The engine refuses, or has no such thing.
    fn drop_table<'e>(&'e self, table: &mut Option<Self::Table<'e>>, alone: bool) -> Result<()> {
        let _ = (table, alone);
        Err(no_tables("drop"))
    }
}

#[cold]
fn no_tables(action: &str) -> StoreError {
    let what = format!("{action} a table");
    StoreError::unsupported(what, "it has one, for good")
}

/// What a transaction can be asked.
pub trait Rows {
    /// Shows a value where it lies, or a copy where the engine makes one.
    ///
    /// # Errors
    /// The engine refuses, or `show` does.
    fn get(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found>;

    /// Visits up to `limit` values with keys from `from` on, by rising key, and returns how many
    /// there were.
    ///
    /// # Errors
    /// The engine refuses.
    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize>;

    /// Puts a value under a key that is there, or is not, as is said; says whether it was so. An engine
    /// that does not tell looks first.
    ///
    /// # Errors
    /// The engine refuses.
    fn put(&mut self, key: Key, value: &[u8], there: bool) -> Result<bool>;

    /// Removes a value; says whether it was there.
    ///
    /// # Errors
    /// The engine refuses.
    fn remove(&mut self, key: Key) -> Result<bool>;
}

/// Shows a value, if there is one.
///
/// # Errors
/// Those of `show`.
#[inline]
pub fn shown(value: Option<&[u8]>, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
    let Some(value) = value else {
        return Ok(Found::Missing);
    };
    show(value)?;
    Ok(Found::Bytes(value.len()))
}

/// What is said of a value that has replaced one, if that was there.
pub(crate) fn replaced(was_there: bool, value: &[u8]) -> Found {
    match was_there {
        true => Found::Bytes(value.len()),
        false => Found::Missing,
    }
}

/// What every engine of this kind can do; the rest is said of it.
#[must_use]
pub fn capabilities<E: Engine>(durability: DurabilityClaim, syncs_per_commit: u32) -> Capabilities {
    let mut deliveries = vec![Delivery::Copy];
    deliveries.extend(E::LENDS.then_some(Delivery::InPlace));
    Capabilities {
        operations: Operation::SINGLE.to_vec(),
        deliveries,
        transactions: true,
        durability,
        threads: true,
        syncs_per_commit,
        ..Capabilities::default()
    }
}

impl Kind {
    /// Makes the kind of store of an engine: what the registry lists.
    #[must_use]
    pub const fn of_engine<E: Engine>() -> Self {
        Self {
            engine: Some(E::version),
            ..Self::new(
                (E::STORE, E::ABOUT, E::Options::SETTINGS),
                &|settings| E::Options::from_settings(settings).map(|o| E::capabilities(&o)),
                &|directory, settings, new| {
                    Ok(Box::new(KvStore::<E>::new(directory, settings, new)?))
                },
            )
        }
    }
}

/// The empty file beside the engine's own that says that keys are kept as text: engines would take either
/// form.
const TEXT_MARKER: &str = "key=text";

/// A store by a key-value engine, which is opened for its first session and open as long as the store is.
struct KvStore<E: Engine> {
    directory: PathBuf,
    options: E::Options,
    form: KeyForm,
    engine: OnceLock<E>,
    /// How many there are. Locked while the engine is opened, and while a table goes.
    sessions: Mutex<usize>,
}

impl<E: Engine> KvStore<E> {
    /// Makes the store, or sees whether there is one that can be opened with these settings.
    fn new(directory: &Path, settings: &Settings, new: bool) -> Result<Self> {
        let store = Self {
            directory: directory.to_owned(),
            options: E::Options::from_settings(settings)?,
            form: KeyForm::of(settings)?,
            engine: OnceLock::new(),
            sessions: Mutex::new(0),
        };
        E::close(store.opened(new)?).map_err(at("close"))?;
        if new && store.form == KeyForm::Text {
            let marker = directory.join(TEXT_MARKER);
            File::create_new(&marker).map_err(StoreError::io("create", &marker))?;
            let synced = File::open(directory).and_then(|directory| directory.sync_all());
            synced.map_err(StoreError::io("sync", directory))?;
        }
        match store.kept_form() {
            kept if kept == store.form => Ok(store),
            kept => Err(StoreError::engine(
                format!("open {}", directory.display()),
                format!("its keys are of the form key={}", kept.word()),
            )),
        }
    }

    fn opened(&self, new: bool) -> Result<E> {
        let file = E::FILE.map(|file| self.directory.join(file));
        match &file {
            Some(file) if new => disk::refuse_existing(file)?,
            Some(file) => disk::expect_file(file)?,
            None => {}
        }
        let action = if new { "create" } else { "open" };
        let place = file.as_ref().unwrap_or(&self.directory);
        let opened = E::open(&self.directory, &self.options, new);
        opened.map_err(|error| error.during(|| format!("{action} {}", place.display())))
    }

    /// The form of the keys on disk.
    fn kept_form(&self) -> KeyForm {
        match fs::symlink_metadata(self.directory.join(TEXT_MARKER)) {
            Ok(_) => KeyForm::Text,
            Err(_) => KeyForm::Integer,
        }
    }

    /// The engine, which is opened if it is not open yet; who asks holds `sessions`.
    fn engine(&self) -> Result<&E> {
        if self.engine.get().is_none() {
            let _ = self.engine.set(self.opened(false)?);
        }
        let lacking = || StoreError::said("it was closed meanwhile");
        self.engine.get().ok_or_else(lacking)
    }
}

impl<E: Engine> Store for KvStore<E> {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        let mut sessions = self.sessions.lock();
        let engine = self.engine()?;
        let table = engine.table(&self.options).map_err(at("open the table"))?;
        *sessions += 1;
        Ok(Box::new(KvSession {
            open: None,
            table,
            engine,
            store: self,
        }))
    }

    fn close(self: Box<Self>) -> Result<()> {
        let closed = self.engine.into_inner().map_or(Ok(()), E::close);
        closed.map_err(at("close"))
    }

    fn footprint(&self) -> Result<Footprint> {
        let mut footprint = disk::footprint_of_tree(&self.directory)?;
        footprint.apparent_bytes -= self.engine.get().map_or(Ok(0), E::hole)?;
        Ok(footprint)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        E::data_files(&self.directory)
    }

    fn checkpoint(&self) -> Result<()> {
        if !E::needs_checkpoint(&self.options, self.engine.get().is_some()) {
            return Ok(());
        }
        let opening = self.sessions.lock();
        let engine = self.engine()?;
        drop(opening);
        let done = engine.checkpoint(&self.options);
        done.map_err(at("checkpoint"))
    }
}

struct KvSession<'c, E: Engine> {
    /// The transaction that is open; without one, each operation is a transaction of its own.
    open: Option<(Access, E::Txn<'c>)>,
    /// Nothing where it was dropped.
    table: Option<E::Table<'c>>,
    engine: &'c E,
    store: &'c KvStore<E>,
}

impl<'c, E: Engine> KvSession<'c, E> {
    fn table(&mut self) -> Result<&mut E::Table<'c>> {
        let none = || StoreError::no_table("use its table");
        self.table.as_mut().ok_or_else(none)
    }

    fn read(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let engine = self.engine;
        let read = match &mut self.open {
            Some((_, txn)) => txn.get(key, show),
            None => engine.get_once(self.table()?, key, show),
        };
        read.map_err(at_key("read", key))
    }

    /// Changes something in the open transaction, or in one of its own, which is committed if there was
    /// something to change.
    fn change(&mut self, change: impl FnOnce(&mut E::Txn<'c>) -> Result<bool>) -> Result<bool> {
        let engine = self.engine;
        match &mut self.open {
            Some((Access::Write, txn)) => return change(txn),
            Some((Access::Read, _)) => {
                let why = "the transaction was begun for reading only";
                return Err(StoreError::unsupported("write", why));
            }
            None => {}
        }
        let table = self.table()?;
        let mut txn = engine.begin_single(table)?;
        match change(&mut txn) {
            Ok(true) => E::commit(txn).map(|()| true),
            unchanged => engine.end(table, txn).and(unchanged),
        }
    }

    fn without_transaction(&self, what: &str) -> Result<()> {
        refuse! {
            self.open.is_some() => what, "a transaction is open; commit it first";
        }
        Ok(())
    }

    /// Ends the open transaction, if there is one.
    fn end(&mut self, kept: bool) -> Result<()> {
        let engine = self.engine;
        match (self.open.take(), &mut self.table) {
            (Some((Access::Write, txn)), _) if kept => E::commit(txn),
            (Some((_, txn)), Some(table)) => engine.end(table, txn),
            _ => Ok(()),
        }
    }
}

impl<E: Engine> Drop for KvSession<'_, E> {
    /// Undoes what is open, instead of leaving that to an engine that may end the process where it
    /// cannot. Nobody is left to be told.
    fn drop(&mut self) {
        let _ = self.end(false);
        *self.store.sessions.lock() -= 1;
    }
}

impl<E: Engine> Session for KvSession<'_, E> {
    fn effective_settings(&self) -> Result<Settings> {
        let effective = self.engine.effective_settings(&self.store.options);
        let mut effective = effective.map_err(at("read its settings"))?;
        if E::Options::SETTINGS.iter().any(|s| s.name == "key") {
            effective.set("key", self.store.kept_form().value());
        }
        Ok(effective)
    }

    fn check_integrity(&mut self) -> Result<()> {
        let engine = self.engine;
        engine.check_integrity(self.table()?)
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        let engine = self.engine;
        let begun = engine.begin(self.table()?, access);
        self.open = Some((access, begun.map_err(at("begin a transaction"))?));
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.end(true).map_err(at("commit"))
    }

    fn rollback(&mut self) -> Result<()> {
        self.end(false).map_err(at("roll back"))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.read(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        refuse! {
            !E::LENDS => "read in place", "it copies each value; use delivery copy";
        }
        self.read(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let inserted = self.change(|txn| txn.put(key, value, false));
        match inserted.map_err(at_key("insert", key))? {
            true => Ok(()),
            false => Err(StoreError::key_exists(key)),
        }
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let engine = self.engine;
        if self.open.is_none()
            && let Some(inserted) = engine.insert_several(self.table()?, rows)
        {
            return inserted.map_err(at("insert rows"));
        }
        let inserted = self.change(|txn| {
            for (key, value) in rows {
                let inserted = txn.put(*key, value, false);
                if !inserted.map_err(at_key("insert", *key))? {
                    return Err(StoreError::key_exists(*key));
                }
            }
            Ok(true)
        });
        inserted.map(drop).map_err(at("insert rows"))
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let was_there = self.change(|txn| txn.put(key, value, true));
        Ok(replaced(
            was_there.map_err(at_key("overwrite", key))?,
            value,
        ))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let deleted = self.change(|txn| txn.remove(key));
        deleted.map_err(at_key("delete", key))
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let alone = self.open.is_none();
        if alone {
            self.begin(Access::Read)?;
        }
        let scanned = match &mut self.open {
            Some((_, txn)) => txn.scan(from, limit, visit),
            None => Ok(0),
        };
        let ended = if alone { self.end(false) } else { Ok(()) };
        ended.and(scanned).map_err(at_key("scan from", from))
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let options = &self.store.options;
        let created = self.engine.create_table(options);
        created.map_err(at("create the table"))?;
        let table = self.engine.table(options);
        self.table = table.map_err(at("open the table"))?;
        Ok(())
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        self.table()?;
        let sessions = self.store.sessions.lock();
        let dropped = self.engine.drop_table(&mut self.table, *sessions == 1);
        dropped.map_err(at("drop the table"))
    }
}
