//! One adapter for engines that keep keys with values in a table and change it in transactions.
//!
//! What belongs here: what all of them do alike: which transaction an operation runs in, what is
//! refused, who opens and closes the engine, and what a store is made of. What does not: anything of
//! one engine. An engine implements [`Engine`] and its two kinds of transactions; all is resolved when
//! the program is compiled, but for one call through a table of functions for each change.

use crate::options::StoreOptions;
use crate::{
    Access, Buffer, Connection, Found, Key, KeyForm, Lent, Result, Session, Shared, Store,
    StoreError, StoreKind, disk,
};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use stowplan_model::{
    Capabilities, Delivery, DurabilityClaim, Footprint, Operation, Setting, Settings,
};

/// Is shown each value of a scan.
pub type Visit<'v> = dyn FnMut(Key, &[u8]) + 'v;

/// An opened engine, which the connections of a store share.
pub trait Engine: Sized + Send + Sync + 'static {
    /// The name of the store, in specs and messages.
    const STORE: &'static str;

    /// What it is, in a sentence.
    const ABOUT: &'static str;

    /// Whether a value can be shown where it lies: not if the engine hands out copies only.
    const LENDS: bool = true;

    /// The settings, typed.
    type Options: StoreOptions;

    /// What a session keeps beside the engine, such as a handle of the table.
    type Handle<'e>;

    /// A transaction that reads.
    type Read<'e>: Reading;

    /// A transaction that writes; undone when it is dropped.
    type Write<'e>: Reading + Changing;

    /// The engine's own name, and its version.
    fn version() -> (&'static str, String);

    /// What it can do with these settings: [`capabilities`], and what is said of this one.
    fn capabilities(options: &Self::Options) -> Capabilities;

    /// Makes an engine with an empty table in `directory`, which has none.
    ///
    /// # Errors
    /// There is something already, or the engine or the file system refuses.
    fn create(directory: &Path, options: &Self::Options) -> Result<Self>;

    /// Opens what [`Self::create`] made.
    ///
    /// # Errors
    /// There is nothing, or the engine or the file system refuses.
    fn open(directory: &Path, options: &Self::Options) -> Result<Self>;

    /// That the keys that are there are in the form that the options name, where there are several.
    ///
    /// # Errors
    /// They are not, or the engine refuses.
    fn check_keys(&self, directory: &Path, options: &Self::Options) -> Result<()> {
        let _ = (directory, options);
        Ok(())
    }

    /// Closes it; errors that only show at closing come out here.
    ///
    /// # Errors
    /// The engine or the file system refuses.
    fn close(self, directory: &Path, options: &Self::Options) -> Result<()> {
        let _ = (directory, options);
        drop(self);
        Ok(())
    }

    /// What a new session keeps.
    ///
    /// # Errors
    /// The engine refuses.
    fn handle<'e>(&'e self, options: &'e Self::Options) -> Result<Self::Handle<'e>>;

    /// Begins a transaction that reads.
    ///
    /// # Errors
    /// There is no table, or the engine refuses.
    fn read<'e>(&'e self, handle: &mut Self::Handle<'e>) -> Result<Self::Read<'e>>;

    /// Shows a value as a transaction of its own. An engine that can do so without one says how.
    ///
    /// # Errors
    /// Those of [`Self::read`] and [`Reading::get`].
    fn get_once<'e>(
        &'e self,
        handle: &mut Self::Handle<'e>,
        key: Key,
        show: impl FnOnce(&[u8]) -> Result<()>,
    ) -> Result<Found> {
        let mut read = self.read(handle)?;
        let found = read.get(key, show);
        self.end_read(handle, read)?;
        found
    }

    /// Visits values as a transaction of its own; as [`Self::get_once`].
    ///
    /// # Errors
    /// Those of [`Self::read`] and [`Reading::scan`].
    fn scan_once<'e>(
        &'e self,
        handle: &mut Self::Handle<'e>,
        from: Key,
        limit: usize,
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        let mut read = self.read(handle)?;
        let visited = read.scan(from, limit, visit);
        self.end_read(handle, read)?;
        visited
    }

    /// Ends a transaction that reads; an engine that can use one again keeps it.
    ///
    /// # Errors
    /// The engine refuses.
    fn end_read<'e>(&'e self, handle: &mut Self::Handle<'e>, read: Self::Read<'e>) -> Result<()> {
        let _ = handle;
        drop(read);
        Ok(())
    }

    /// Begins a transaction that writes, waiting for that of another thread where there can be only
    /// one.
    ///
    /// # Errors
    /// There is no table, or the engine refuses.
    fn write<'e>(&'e self, handle: &mut Self::Handle<'e>) -> Result<Self::Write<'e>>;

    /// Changes something in a transaction of its own, and commits it if `change` says that there was
    /// something to change.
    ///
    /// # Errors
    /// Those of `change`, after which nothing has changed, and of [`Self::write`].
    fn change_once<'e>(
        &'e self,
        handle: &mut Self::Handle<'e>,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let mut write = self.write(handle)?;
        match change(&mut write) {
            Ok(true) => write.commit().map(|()| true),
            unchanged => write.rollback().and(unchanged),
        }
    }

    /// Changes several values in one transaction of its own; as [`Self::change_once`], by which an
    /// engine may change one value without a transaction.
    ///
    /// # Errors
    /// Those of [`Self::change_once`].
    fn change_several_once<'e>(
        &'e self,
        handle: &mut Self::Handle<'e>,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        self.change_once(handle, change)
    }

    /// Settings as the engine itself reports them, as far as it does.
    ///
    /// # Errors
    /// The engine refuses.
    fn effective_settings(&self, directory: &Path, options: &Self::Options) -> Result<Settings>;

    /// The files that hold the data.
    fn data_files(directory: &Path) -> Vec<PathBuf> {
        disk::files_of_tree(directory).unwrap_or_default()
    }

    /// Bytes by which its files are longer than their data while it is open.
    ///
    /// # Errors
    /// The file system refuses.
    fn hole(&self, directory: &Path) -> Result<u64> {
        let _ = directory;
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

    /// Makes the table where there is none, as a transaction of its own.
    ///
    /// # Errors
    /// The engine refuses, or has no such thing.
    fn create_table<'e>(&'e self, handle: &mut Self::Handle<'e>) -> Result<()> {
        let _ = handle;
        Err(no_tables::<Self>("create"))
    }

    /// Removes the table, as a transaction of its own.
    ///
    /// # Errors
    /// There is none, the engine refuses, or has no such thing.
    fn drop_table<'e>(engine: &'e Lent<'e, Self>, handle: &mut Self::Handle<'e>) -> Result<()> {
        let _ = (engine, handle);
        Err(no_tables::<Self>("drop"))
    }
}

#[cold]
fn no_tables<E: Engine>(action: &str) -> StoreError {
    StoreError::unsupported(
        E::STORE,
        format!("{action} a table"),
        "it has one, for good",
    )
}

/// What a transaction can be asked.
pub trait Reading {
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
}

/// A table that can be changed.
pub trait Table {
    /// Adds a value.
    ///
    /// # Errors
    /// The key exists ([`StoreError::key_exists`]), or the engine refuses.
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()>;

    /// Replaces a value; says whether it was there.
    ///
    /// # Errors
    /// The engine refuses.
    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool>;

    /// Removes a value; says whether it was there.
    ///
    /// # Errors
    /// The engine refuses.
    fn remove(&mut self, key: Key) -> Result<bool>;
}

/// A table that adds and replaces by the same call: what is there is looked up first.
pub trait LookThenPut {
    /// Whether there is a value.
    ///
    /// # Errors
    /// The engine refuses.
    fn has(&mut self, key: Key) -> Result<bool>;

    /// Puts a value under a key, whatever is there.
    ///
    /// # Errors
    /// The engine refuses.
    fn put(&mut self, key: Key, value: &[u8]) -> Result<()>;

    /// Removes a value that is there.
    ///
    /// # Errors
    /// The engine refuses.
    fn clear(&mut self, key: Key) -> Result<()>;
}

impl<T: LookThenPut> Table for T {
    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        match self.has(key)? {
            true => Err(StoreError::key_exists("", key)),
            false => self.put(key, value),
        }
    }

    fn replace(&mut self, key: Key, value: &[u8]) -> Result<bool> {
        let there = self.has(key)?;
        if there {
            self.put(key, value)?;
        }
        Ok(there)
    }

    fn remove(&mut self, key: Key) -> Result<bool> {
        let there = self.has(key)?;
        if there {
            self.clear(key)?;
        }
        Ok(there)
    }
}

/// How a transaction that writes ends.
pub trait Changing: Table {
    /// Commits; when it returns, the store's durability claim holds.
    ///
    /// # Errors
    /// The engine or the file system refuses, or another transaction was in the way.
    fn commit(self) -> Result<()>;

    /// Undoes it.
    ///
    /// # Errors
    /// The engine refuses.
    fn rollback(self) -> Result<()>
    where
        Self: Sized,
    {
        drop(self);
        Ok(())
    }
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
    if was_there {
        Found::Bytes(value.len())
    } else {
        Found::Missing
    }
}

/// What was attempted on a key, for the error of an engine: `read key 7`.
#[cold]
#[must_use]
pub fn on_key(action: &str, key: Key) -> String {
    format!("{action} key {key}")
}

/// For `map_err`: the store, and what was attempted, where the engine's own error lacks them.
fn at<E: Engine>(attempted: &'static str) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(E::STORE, || attempted.to_owned())
}

/// The same with the key.
fn at_key<E: Engine>(attempted: &'static str, key: Key) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(E::STORE, || on_key(attempted, key))
}

/// The same with the place.
fn in_place<E: Engine>(
    attempted: &'static str,
    place: &Path,
) -> impl FnOnce(StoreError) -> StoreError {
    move |error| error.during(E::STORE, || format!("{attempted} {}", place.display()))
}

/// What every engine of this kind can do; the rest is said of it.
#[must_use]
pub fn capabilities<E: Engine>(durability: DurabilityClaim, syncs_per_commit: u32) -> Capabilities {
    Capabilities {
        operations: Operation::SINGLE.to_vec(),
        deliveries: if E::LENDS {
            vec![Delivery::Copy, Delivery::InPlace]
        } else {
            vec![Delivery::Copy]
        },
        transactions: true,
        durability,
        threads: true,
        syncs_per_commit,
        ..Capabilities::default()
    }
}

/// The kind of store that an engine makes: what the registry lists. An engine whose type is another
/// for each form of keys is given twice, for numbers and for text.
pub struct KvKind<I, T = I>(PhantomData<fn() -> (I, T)>);

impl<I, T> KvKind<I, T> {
    /// The kind.
    #[must_use]
    #[expect(
        clippy::new_without_default,
        reason = "for statics, which need a const"
    )]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<I: Engine, T: Engine<Options = I::Options>> StoreKind for KvKind<I, T> {
    fn name(&self) -> &'static str {
        I::STORE
    }

    fn about(&self) -> &'static str {
        I::ABOUT
    }

    fn settings(&self) -> &'static [Setting] {
        I::Options::SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some(I::version())
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        I::Options::from_settings(settings).map(|options| I::capabilities(&options))
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let options = I::Options::from_settings(settings)?;
        match KeyForm::of(settings)? {
            KeyForm::Integer => KvStore::<I>::create(directory, options),
            KeyForm::Text => KvStore::<T>::create(directory, options),
        }
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let options = I::Options::from_settings(settings)?;
        match KeyForm::of(settings)? {
            KeyForm::Integer => KvStore::<I>::open(directory, options),
            KeyForm::Text => KvStore::<T>::open(directory, options),
        }
    }
}

/// A store by a key-value engine, which is open while there are connections.
struct KvStore<E: Engine> {
    directory: PathBuf,
    options: E::Options,
    engine: Shared<E>,
}

impl<E: Engine> KvStore<E> {
    fn new(directory: &Path, options: E::Options) -> Self {
        Self {
            directory: directory.to_owned(),
            options,
            engine: Shared::new(),
        }
    }

    fn create(directory: &Path, options: E::Options) -> Result<Box<dyn Store>> {
        let engine = E::create(directory, &options).map_err(in_place::<E>("create", directory))?;
        let closed = engine.close(directory, &options);
        closed.map_err(in_place::<E>("create", directory))?;
        Ok(Box::new(Self::new(directory, options)))
    }

    fn open(directory: &Path, options: E::Options) -> Result<Box<dyn Store>> {
        let opened = E::open(directory, &options).and_then(|engine| {
            let checked = engine.check_keys(directory, &options);
            engine.close(directory, &options).and(checked)
        });
        opened.map_err(in_place::<E>("open", directory))?;
        Ok(Box::new(Self::new(directory, options)))
    }

    fn get(&self) -> Result<Lent<'_, E>> {
        let open = || E::open(&self.directory, &self.options);
        let engine = self.engine.get(open);
        engine.map_err(in_place::<E>("open", &self.directory))
    }

    fn give_back(&self, engine: Lent<'_, E>) -> Result<()> {
        let close = |engine: E| engine.close(&self.directory, &self.options);
        let closed = self.engine.give_back(engine, close);
        closed.map_err(at::<E>("close"))
    }
}

impl<E: Engine> Store for KvStore<E> {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(KvConnection {
            engine: self.get()?,
            store: self,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        let mut footprint = disk::footprint_of_tree(&self.directory)?;
        if let Some(engine) = self.engine.opened() {
            let hole = engine.hole(&self.directory);
            self.give_back(engine)?;
            footprint.apparent_bytes -= hole?;
        }
        Ok(footprint)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        E::data_files(&self.directory)
    }

    fn checkpoint(&self) -> Result<()> {
        let opened = self.engine.opened();
        if !E::needs_checkpoint(&self.options, opened.is_some()) {
            return opened.map_or(Ok(()), |engine| self.give_back(engine));
        }
        let engine = opened.map_or_else(|| self.get(), Ok)?;
        let done = engine.checkpoint(&self.options);
        self.give_back(engine)?;
        done.map_err(at::<E>("checkpoint"))
    }
}

struct KvConnection<'s, E: Engine> {
    store: &'s KvStore<E>,
    engine: Lent<'s, E>,
}

impl<E: Engine> Connection for KvConnection<'_, E> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let handle = self.engine.handle(&self.store.options);
        Ok(Box::new(KvSession::<E> {
            handle: handle.map_err(at::<E>("open the table"))?,
            engine: &self.engine,
            open: Open::Nothing,
        }))
    }

    fn effective_settings(&self) -> Result<Settings> {
        let (directory, options) = (&self.store.directory, &self.store.options);
        let effective = self.engine.effective_settings(directory, options);
        effective.map_err(at::<E>("read its settings"))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.give_back(self.engine)
    }
}

struct KvSession<'c, E: Engine> {
    /// The transaction that is open.
    open: Open<'c, E>,
    handle: E::Handle<'c>,
    engine: &'c Lent<'c, E>,
}

enum Open<'c, E: Engine + 'c> {
    /// Each operation is a transaction of its own.
    Nothing,
    Read(E::Read<'c>),
    Write(E::Write<'c>),
}

impl<'c, E: Engine> KvSession<'c, E> {
    fn engine(&self) -> &'c E {
        self.engine
    }

    fn read(&mut self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let read = match &mut self.open {
            Open::Read(read) => read.get(key, show),
            Open::Write(write) => write.get(key, show),
            Open::Nothing => self.engine().get_once(&mut self.handle, key, show),
        };
        read.map_err(at_key::<E>("read", key))
    }

    fn change(
        &mut self,
        attempted: &'static str,
        key: Key,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        let changed = match &mut self.open {
            Open::Write(write) => change(write),
            Open::Read(_) => Err(reads_only::<E>()),
            Open::Nothing => self.engine().change_once(&mut self.handle, change),
        };
        changed.map_err(at_key::<E>(attempted, key))
    }

    fn change_several(
        &mut self,
        change: impl FnOnce(&mut dyn Table) -> Result<bool>,
    ) -> Result<bool> {
        match &mut self.open {
            Open::Write(write) => change(write),
            Open::Read(_) => Err(reads_only::<E>()),
            Open::Nothing => self.engine().change_several_once(&mut self.handle, change),
        }
    }

    fn without_transaction(&self, what: &str) -> Result<()> {
        match self.open {
            Open::Nothing => Ok(()),
            Open::Read(_) | Open::Write(_) => Err(StoreError::unsupported(
                E::STORE,
                what,
                "a transaction is open; commit it first",
            )),
        }
    }
}

impl<E: Engine> Drop for KvSession<'_, E> {
    /// Undoes what is open, instead of leaving that to an engine that may end the process where it
    /// cannot. Nobody is left to be told.
    fn drop(&mut self) {
        let _ = self.rollback();
    }
}

#[cold]
fn reads_only<E: Engine>() -> StoreError {
    let why = "the transaction was begun for reading only";
    StoreError::unsupported(E::STORE, "write", why)
}

impl<E: Engine> Session for KvSession<'_, E> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.without_transaction("begin a transaction")?;
        let engine = self.engine();
        let begun = match access {
            Access::Read => engine.read(&mut self.handle).map(Open::Read),
            Access::Write => engine.write(&mut self.handle).map(Open::Write),
        };
        self.open = begun.map_err(at::<E>("begin a transaction"))?;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Write(write) => write.commit(),
            Open::Read(read) => self.engine().end_read(&mut self.handle, read),
            Open::Nothing => Ok(()),
        }
        .map_err(at::<E>("commit"))
    }

    fn rollback(&mut self) -> Result<()> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Write(write) => write.rollback(),
            Open::Read(read) => self.engine().end_read(&mut self.handle, read),
            Open::Nothing => Ok(()),
        }
        .map_err(at::<E>("roll back"))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.read(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        if !E::LENDS {
            let why = "it copies each value; use delivery copy";
            return Err(StoreError::unsupported(E::STORE, "read in place", why));
        }
        self.read(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let insert = |table: &mut dyn Table| table.insert(key, value).map(|()| true);
        self.change("insert", key, insert).map(drop)
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let inserted = self.change_several(|table| {
            rows.iter().try_for_each(|(key, value)| {
                let inserted = table.insert(*key, value);
                inserted.map_err(at_key::<E>("insert", *key))
            })?;
            Ok(true)
        });
        inserted.map(drop).map_err(at::<E>("insert rows"))
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let was_there = self.change("overwrite", key, |table| table.replace(key, value))?;
        Ok(replaced(was_there, value))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.change("delete", key, |table| table.remove(key))
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        match &mut self.open {
            Open::Read(read) => read.scan(from, limit, visit),
            Open::Write(write) => write.scan(from, limit, visit),
            Open::Nothing => self
                .engine()
                .scan_once(&mut self.handle, from, limit, visit),
        }
        .map_err(at_key::<E>("scan from", from))
    }

    fn create_table(&mut self) -> Result<()> {
        self.without_transaction("create a table")?;
        let created = self.engine().create_table(&mut self.handle);
        created.map_err(at::<E>("create the table"))
    }

    fn drop_table(&mut self) -> Result<()> {
        self.without_transaction("drop a table")?;
        let dropped = E::drop_table(self.engine, &mut self.handle);
        dropped.map_err(at::<E>("drop the table"))
    }
}
