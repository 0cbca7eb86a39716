//! libmdbx as a store: one named table of a database that is mapped into memory.
//!
//! What belongs here: the settings, what they promise, the operations, and a small safe layer over
//! the C interface (`engine`). The crate `libmdbx` has such a layer too, but hands every
//! transaction that writes to a thread of its own and copies what it reads, which would be
//! measured along.

mod engine;
mod key;
mod options;
mod session;

use engine::{Code, Engine, Order, Table};
use options::{Options, SETTINGS};
use session::MdbxSession;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};
use stowplan_stores::{
    Connection, Key, KeyForm, Lent, Result, Session, Shared, Store, StoreError, StoreKind,
    footprint_of_tree,
};

const STORE: &str = "mdbx";

/// The name of the table.
const TABLE: &str = "kv";

/// The file of the database, so named by libmdbx.
const DATA_FILE: &str = "mdbx.dat";

/// libmdbx, for the registry.
pub static KIND: &dyn StoreKind = &Mdbx;

struct Mdbx;

/// What libmdbx said about an action, in one line.
fn failed(action: impl Into<String>, code: Code) -> StoreError {
    let action = action.into();
    let detail = match code {
        Code::MAP_FULL => {
            "the database has reached its largest size; raise the setting max_size".to_owned()
        }
        Code::UNDONE => "the transaction was undone because of an earlier error".to_owned(),
        code => code.to_string(),
    };
    if code == Code::BUSY {
        return StoreError::Conflict {
            store: STORE,
            action,
            detail,
        };
    }
    StoreError::Engine {
        store: STORE,
        action,
        detail,
    }
}

impl StoreKind for Mdbx {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "a table of a libmdbx database: a B+ tree in mapped memory, copied on write"
    }

    fn settings(&self) -> &'static [Setting] {
        SETTINGS
    }

    fn engine(&self) -> Option<(&'static str, String)> {
        Some(("libmdbx", engine::version()))
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let options = Options::from_settings(settings)?;
        Ok(Capabilities {
            operations: vec![
                Operation::Read,
                Operation::Overwrite,
                Operation::Insert,
                Operation::Delete,
                Operation::Scan,
                Operation::CreateTable,
                Operation::DropTable,
            ],
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            transactions: true,
            resizes: true,
            durability: options.durability(),
            threads: true,
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: true,
            syncs_per_commit: options.syncs_per_commit(),
            largest_value: engine::largest_value(options.page_size),
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let store = MdbxStore::new(directory, settings)?;
        // libmdbx would open what is there.
        let path = directory.join(DATA_FILE);
        if std::fs::symlink_metadata(&path).is_ok() {
            let exists = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
            return Err(StoreError::io("create", &path)(exists));
        }
        store.with_engine(|engine| {
            create_table(engine, store.form).map_err(|e| failed("create the table", e))?;
            Ok(())
        })?;
        Ok(Box::new(store))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        // libmdbx would make what is not there.
        let path = directory.join(DATA_FILE);
        std::fs::metadata(&path).map_err(StoreError::io("open", &path))?;
        let store = MdbxStore::new(directory, settings)?;
        store.with_engine(|engine| store.check_keys(engine))?;
        Ok(Box::new(store))
    }
}

/// The table, where there is none: made and committed.
fn create_table(engine: &Engine, form: KeyForm) -> std::result::Result<Table, Code> {
    let writing = engine.write()?;
    let table = writing.create_table(TABLE, order(form))?;
    writing.commit()?;
    Ok(table)
}

/// The table, if there is one.
fn open_table(engine: &Engine, form: KeyForm) -> std::result::Result<Option<Table>, Code> {
    let reading = engine.read()?;
    let table = reading.open_table(TABLE, order(form))?;
    reading.end()?;
    Ok(table)
}

fn order(form: KeyForm) -> Order {
    match form {
        KeyForm::Integer => Order::Numbers,
        KeyForm::Text => Order::Bytes,
    }
}

struct MdbxStore {
    directory: PathBuf,
    engine: Shared<Engine>,
    options: Options,
    form: KeyForm,
}

impl MdbxStore {
    fn new(directory: &Path, settings: &Settings) -> Result<Self> {
        Ok(Self {
            directory: directory.to_owned(),
            engine: Shared::new(),
            options: Options::from_settings(settings)?,
            form: KeyForm::of(settings),
        })
    }

    /// libmdbx keeps with a table in which order its keys are, and there are two.
    fn check_keys(&self, engine: &Engine) -> Result<()> {
        match open_table(engine, self.form) {
            Ok(_) => Ok(()),
            Err(Code::INCOMPATIBLE) => {
                let other = match self.form {
                    KeyForm::Integer => KeyForm::Text,
                    KeyForm::Text => KeyForm::Integer,
                };
                let path = self.directory.join(DATA_FILE);
                let key = other.bytes(Key(1));
                self.form.check(STORE, &path, Some(key.as_ref()))
            }
            Err(code) => Err(failed("open the table", code)),
        }
    }

    fn get_engine(&self) -> Result<Lent<'_, Engine>> {
        self.engine.get(|| {
            Engine::open(&self.directory, &self.options)
                .map_err(|e| failed(format!("open {}", self.directory.display()), e))
        })
    }

    fn give_back(&self, engine: Lent<'_, Engine>) -> Result<()> {
        self.engine.give_back(engine, |engine| {
            engine.close().map_err(|e| failed("close", e))
        })
    }

    fn with_engine<T>(&self, work: impl FnOnce(&Engine) -> Result<T>) -> Result<T> {
        let engine = self.get_engine()?;
        let done = work(&engine);
        self.give_back(engine)?;
        done
    }
}

impl Store for MdbxStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let engine = self.get_engine()?;
        let table = open_table(&engine, self.form);
        Ok(Box::new(MdbxConnection {
            store: self,
            table: table.map_err(|e| failed("open the table", e))?,
            engine,
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        footprint_of_tree(&self.directory)
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        vec![self.directory.join(DATA_FILE)]
    }

    /// Nothing: a commit writes where the data stays.
    fn checkpoint(&self) -> Result<()> {
        Ok(())
    }
}

struct MdbxConnection<'s> {
    store: &'s MdbxStore,
    /// Nothing after it was dropped.
    table: Option<Table>,
    engine: Lent<'s, Engine>,
}

impl Connection for MdbxConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let session = MdbxSession::new(&self.engine, &mut self.table, self.store.form);
        Ok(Box::new(session))
    }

    fn effective_settings(&self) -> Result<Settings> {
        let info = self.engine.info().map_err(|e| failed("read settings", e))?;
        Ok(options::effective(&info))
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.store.give_back(self.engine)
    }
}
