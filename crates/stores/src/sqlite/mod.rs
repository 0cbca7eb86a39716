//! One table in an SQLite database, as SQLite's kvtest has it: `kv(k INTEGER PRIMARY KEY, v BLOB)`.
//! Settings give it another form: keys as text, values as text, values cut into columns.
//!
//! Several threads have a connection each. SQLite lets one of them write at a time; another waits
//! up to `busy_timeout`, and is then refused with a conflict. With `location=shared` the connections
//! share one cache, whose locks are on the whole table, and nobody waits: a conflict comes at once
//! (SQLite is built without `SQLITE_ENABLE_UNLOCK_NOTIFY`, as usual).

mod assigned;
pub(crate) mod base;
mod blob;
pub(crate) mod counters;
mod database;
mod ladder;
pub(crate) mod options;
mod session;
pub(crate) mod statement;
pub(crate) mod table;

use crate::kv::on_key;
use crate::names::Names;
use crate::options::StoreOptions as _;
use crate::store::Kind;
use crate::{Key, Result, StoreError};
use base::Base;
pub use database::{FIND_TABLE, largest_value, randomness};
use options::{Api, Location, Options, Pragmas, Statements};
pub use session::COMMITS_COUNTED;
pub(crate) use session::SqliteSession;
use stowplan_model::{Capabilities, Delivery, Operation, Settings};

const STORE: &str = "sqlite";

/// The name of the database below a store's directory.
pub const DATABASE_FILE: &str = "kv.db";

/// Its name, and its version with the options it was built with.
pub(crate) fn engine() -> (&'static str, String) {
    let options = database::compile_options().unwrap_or_default();
    let version = rusqlite::version();
    ("SQLite", format!("{version} ({})", options.join(", ")))
}

impl From<rusqlite::Error> for StoreError {
    #[cold]
    fn from(error: rusqlite::Error) -> Self {
        said(&error)
    }
}

/// What SQLite said, in one line. A lock of another connection is a conflict.
fn said(error: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, NotADatabase};
    match error.sqlite_error_code() {
        Some(DatabaseBusy | DatabaseLocked) => {
            let detail = format!("{error} (another connection holds the lock)");
            StoreError::conflict("", detail)
        }
        Some(NotADatabase) => StoreError::said("the file is not an SQLite database"),
        // SQLite calls it an I/O error that there is no room for the index of its log.
        _ if error.sqlite_extended_error_code() == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE) => {
            let detail = format!("{error}: no space left on device for the index of the log");
            StoreError::said(detail)
        }
        // Its text has the whole statement, with the values that are written into it.
        _ => match error {
            rusqlite::Error::SqlInputError { msg, .. } => StoreError::said(msg),
            error => StoreError::said(error),
        },
    }
}

/// What SQLite said about an action.
#[must_use]
pub fn failed(action: impl Into<String>, error: &rusqlite::Error) -> StoreError {
    said(error).during(|| action.into())
}

/// What SQLite said about an action on a key.
pub(crate) fn key_failed(action: &str, key: Key, error: &rusqlite::Error) -> StoreError {
    failed(on_key(action, key), error)
}

/// Whether SQLite refused a row because its key is taken.
pub(crate) fn is_key_taken(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

/// One table in an SQLite database.
///
/// Where a directory is expected, the path of a database file will do as well, so that databases
/// made by kvtest can be opened where they lie.
pub(crate) const KIND: &Kind = &Kind {
    ladder: ladder::of,
    ..of_sqlite(Kind::new(
        (
            STORE,
            "one table in an SQLite database, readable by kvtest",
            Pragmas::SETTINGS,
        ),
        &capabilities,
        &|directory, settings, new| {
            let options = Options::from_settings(settings)?;
            let names = Names::of(directory, options.pragmas.names)?;
            let store = Base::of_store(directory, options.with_names(names));
            store.open(new)?;
            Ok(Box::new(store))
        },
    ))
};

/// A kind of store that is made of SQLite.
pub(crate) const fn of_sqlite(kind: Kind) -> Kind {
    Kind {
        engine: Some(engine),
        cache_per_connection: true,
        ..kind
    }
}

fn capabilities(settings: &Settings) -> Result<Capabilities> {
    let options = Options::from_settings(settings)?;
    let on_disk = options.on_disk();
    Ok(Capabilities {
        operations: Operation::SINGLE.to_vec(),
        deliveries: match options.pragmas.api {
            Api::Sql if options.pragmas.columns == 1 => vec![Delivery::Copy, Delivery::InPlace],
            Api::Sql | Api::Blob => vec![Delivery::Copy],
        },
        transactions: true,
        resizes: options.pragmas.api == Api::Sql,
        durability: options.durability(),
        // What SQLite assigns next is known to a connection that is alone.
        threads: options.undoes()
            && !options.assigns_ids()
            && match options.pragmas.location {
                Location::Disk => !options.locks_exclusively(),
                Location::Shared => true,
                Location::Memory | Location::Named | Location::Memdb | Location::Temp => false,
            },
        persistent: on_disk,
        evictable: on_disk,
        mapped: on_disk && settings.number("mmap") > 0,
        syncs_per_commit: options.syncs_per_commit(),
        largest_value: Some(match options.pragmas.statement {
            // In hexadecimal, within a text that may be as long.
            Statements::Literal => largest_value() / 2 - 500 - 20 * options.pragmas.columns as u64,
            Statements::Once | Statements::Each => largest_value(),
        }),
        ..Capabilities::default()
    })
}

#[cfg(test)]
mod tests;
