//! Opening a database with its pragmas, and asking what became of them.

use super::failed;
use super::options::{Location, Options};
use crate::hexadecimal::hexadecimal;
use crate::{Result, StoreError, disk};
use rusqlite::{Connection, OpenFlags, ffi};
use std::path::{Path, PathBuf};
use stowplan_model::{Settings, Value};

/// The table as kvtest makes it; what else it may have does not matter. Its key is the rowid: the
/// only column of the primary key, which has no index then, as `INTEGER PRIMARY KEY DESC` has
/// (<https://sqlite.org/lang_createtable.html#rowid>).
pub const FIND_TABLE: &str = "SELECT 1 FROM pragma_table_list('kv') \
    WHERE schema='main' AND type='table' AND wr=0 \
    AND EXISTS(SELECT 1 FROM pragma_table_info('kv') \
               WHERE name='k' COLLATE NOCASE AND upper(type)='INTEGER' AND pk=1) \
    AND (SELECT count(*) FROM pragma_table_info('kv') WHERE pk>0)=1 \
    AND NOT EXISTS(SELECT 1 FROM pragma_index_list('kv') WHERE origin='pk') \
    AND EXISTS(SELECT 1 FROM pragma_table_info('kv') WHERE name='v' COLLATE NOCASE)";

/// Opens a database where the settings say that it lies; what is no file is made.
fn connect(path: &Path, options: &Options, more: OpenFlags) -> rusqlite::Result<Connection> {
    let new = OpenFlags::SQLITE_OPEN_CREATE;
    let in_memory = |how: &str| {
        // A name that no other place has.
        let name = hexadecimal(path.as_os_str().as_encoded_bytes());
        let uri = PathBuf::from(format!("file:{name}?{how}"));
        (uri, new | OpenFlags::SQLITE_OPEN_URI)
    };
    let (name, more) = match options.pragmas.location {
        Location::Disk => (path.to_owned(), more),
        Location::Memory => (":memory:".into(), new),
        Location::Named => in_memory("mode=memory"),
        // A name that begins with a slash would be shared.
        Location::Memdb => in_memory("vfs=memdb"),
        // It ends with the last connection of this process.
        Location::Shared => in_memory("mode=memory&cache=shared"),
        // An empty name is a temporary database, which SQLite unlinks as soon as it is open.
        Location::Temp => (PathBuf::new(), new),
    };
    // One thread uses a connection at a time, so its mutex would only cost.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(name, flags | more)
}

/// Makes a database that does not exist yet, with its table.
pub(super) fn create(path: &Path, options: &Options) -> Result<Connection> {
    if options.on_disk() {
        disk::refuse_existing(path)?;
    }
    let connection = connect(path, options, OpenFlags::SQLITE_OPEN_CREATE)
        .map_err(|e| failed(format!("create {}", path.display()), &e))?;
    // Before anything is written, and before WAL fixes it.
    let page_size = options.pragmas.page_size;
    run(&connection, &format!("PRAGMA page_size={page_size}"))?;
    if options.pragmas.location == Location::Temp {
        keep_temporary_files_below(&connection, path.parent().unwrap_or(path))?;
    }
    configure(&connection, options)?;
    create_table(&connection, options)?;
    Ok(connection)
}

pub(super) fn create_table(connection: &Connection, options: &Options) -> Result<()> {
    run(connection, &format!("CREATE TABLE {}", options.definition))
}

pub(super) fn drop_table(connection: &Connection) -> Result<()> {
    run(connection, "DROP TABLE kv")
}

/// Whether the table is there. One that kvtest could have made is known by what it has, any other
/// by its definition.
fn has_table(connection: &Connection, options: &Options) -> rusqlite::Result<bool> {
    const FIND_DEFINED: &str = "SELECT 1 FROM sqlite_schema WHERE type='table' AND sql=?1";
    if options.definition == "kv(k INTEGER PRIMARY KEY, v BLOB)" {
        return connection.prepare(FIND_TABLE)?.exists([]);
    }
    let defined = format!("CREATE TABLE {}", options.definition);
    connection.prepare(FIND_DEFINED)?.exists([defined])
}

/// Opens a further connection to a database in memory that is shared.
pub(super) fn join_shared(path: &Path, options: &Options) -> Result<Connection> {
    let joined = connect(path, options, OpenFlags::empty());
    let connection = joined.map_err(|e| failed("open the shared database in memory", &e))?;
    configure(&connection, options)?;
    Ok(connection)
}

/// A run writes nowhere but below its own directories, and measures the file system it was told
/// to. The pragma is for the whole process; SQLite makes the file only when its cache overflows.
fn keep_temporary_files_below(connection: &Connection, directory: &Path) -> Result<()> {
    connection
        .pragma_update(None, "temp_store_directory", directory.to_string_lossy())
        .map_err(|e| {
            failed(
                format!("use {} for temporary files", directory.display()),
                &e,
            )
        })
}

/// An existing database on disk.
pub(super) fn open(path: &Path, options: &Options) -> Result<Connection> {
    disk::expect_file(path)?;
    let action = || format!("open {}", path.display());
    let connection =
        connect(path, options, OpenFlags::empty()).map_err(|error| failed(action(), &error))?;
    // A file that is no database, or none of ours, is told before a pragma changes it.
    wait_for_locks(&connection, options)?;
    if !has_table(&connection, options).map_err(|error| failed(action(), &error))? {
        return Err(StoreError::engine(
            action(),
            format!("it has no table {}", options.definition),
        ));
    }
    configure(&connection, options)?;
    Ok(connection)
}

fn wait_for_locks(connection: &Connection, options: &Options) -> Result<()> {
    connection
        .busy_timeout(options.busy_timeout())
        .map_err(|e| failed("set the busy timeout", &e))
}

/// Sets every pragma, in the order that SQLite needs, and checks that the journal mode was
/// taken: WAL persists in the file, and leaving it needs every other connection gone.
fn configure(connection: &Connection, options: &Options) -> Result<()> {
    wait_for_locks(connection, options)?;
    let pragmas = &options.pragmas;
    let page_size = number(connection, "page_size")?.max(1);
    let cache_pages = pragmas.cache / page_size;
    // Locking comes before the journal: exclusive WAL then does without shared memory.
    for pragma in [
        format!("locking_mode={}", pragmas.locking.word()),
        format!("mmap_size={}", pragmas.mmap),
        format!("cache_size={cache_pages}"),
        format!("cache_spill={}", i32::from(pragmas.cache_spill)),
        format!("journal_mode={}", pragmas.journal.word()),
        format!("synchronous={}", pragmas.synchronous.word()),
        format!("wal_autocheckpoint={}", pragmas.autocheckpoint),
    ] {
        run(connection, &format!("PRAGMA {pragma}"))?;
    }
    let journal = word(connection, "journal_mode")?;
    if options.on_disk() && journal != options.journal().word() {
        return Err(StoreError::engine(
            format!("set journal={}", options.journal().word()),
            format!("it stays {journal} (another connection may be using the database)"),
        ));
    }
    Ok(())
}

/// The settings as SQLite reports them. Those that a database in memory or a temporary one does
/// not have are left out.
pub(super) fn effective_settings(connection: &Connection, options: &Options) -> Result<Settings> {
    let number = |pragma| number(connection, pragma);
    let page_size = number("page_size")?;
    let cache = effective_cache(connection, options, page_size)?;
    let mut told = vec![
        ("page_size", Value::Number(page_size)),
        ("cache", Value::Number(cache)),
        ("cache_spill", Value::Flag(number("cache_spill")? > 0)),
        ("busy_timeout", Value::Number(number("busy_timeout")?)),
    ];
    if options.on_disk() {
        let level = usize::try_from(number("synchronous")?).unwrap_or(3);
        let synchronous = ["off", "normal", "full", "extra"][level.min(3)];
        let word = |pragma| word(connection, pragma).map(Value::Word);
        told.extend([
            ("synchronous", Value::Word(synchronous.to_owned())),
            ("journal", word("journal_mode")?),
            ("locking", word("locking_mode")?),
            ("mmap", Value::Number(number("mmap_size")?)),
            (
                "autocheckpoint",
                Value::Number(number("wal_autocheckpoint")?),
            ),
        ]);
    }
    let mut effective = Settings::default();
    for (name, value) in told {
        effective.set(name, value);
    }
    Ok(effective)
}

/// The cache in bytes; as asked where that is the same number of pages, since SQLite knows only
/// whole pages.
fn effective_cache(connection: &Connection, options: &Options, page_size: u64) -> Result<u64> {
    let size: i64 = pragma(connection, "cache_size")?;
    // Negative sizes are in KiB (PRAGMA cache_size).
    let bytes = if size < 0 {
        size.unsigned_abs() * 1024
    } else {
        size.unsigned_abs() * page_size
    };
    let asked = options.pragmas.cache;
    let same_pages = bytes / page_size.max(1) == asked / page_size.max(1);
    Ok(if same_pages { asked } else { bytes })
}

/// Moves the write-ahead log into the database and empties it.
pub(super) fn checkpoint(connection: &Connection) -> Result<()> {
    let busy: i64 = connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
        .map_err(|e| failed("checkpoint", &e))?;
    if busy == 0 {
        return Ok(());
    }
    Err(StoreError::conflict(
        "checkpoint",
        "another connection still uses the write-ahead log",
    ))
}

/// The largest value that the table holds, in bytes: what SQLite was built to allow in a row
/// (<https://sqlite.org/limits.html>, "Maximum length of a string or BLOB"), less its header.
#[must_use]
pub fn largest_value() -> u64 {
    // SQLite's own default.
    const MAX_LENGTH: u64 = 1_000_000_000;
    // The header's length, the type of the key, and the type and length of the value.
    const HEADER: u64 = 7;
    compile_options()
        .unwrap_or_default()
        .iter()
        .find_map(|option| option.strip_prefix("MAX_LENGTH=")?.parse().ok())
        .unwrap_or(MAX_LENGTH)
        - HEADER
}

/// The options SQLite was built with.
pub(super) fn compile_options() -> rusqlite::Result<Vec<String>> {
    let connection = Connection::open_in_memory()?;
    let mut statement = connection.prepare("PRAGMA compile_options")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn run(connection: &Connection, sql: &str) -> Result<()> {
    connection
        .execute_batch(sql)
        .map_err(|e| failed(format!("run {sql}"), &e))
}

fn pragma<T: rusqlite::types::FromSql>(connection: &Connection, name: &str) -> Result<T> {
    connection
        .pragma_query_value(None, name, |row| row.get(0))
        .map_err(|e| failed(format!("read PRAGMA {name}"), &e))
}

fn word(connection: &Connection, name: &str) -> Result<String> {
    Ok(pragma::<String>(connection, name)?.to_lowercase())
}

fn number(connection: &Connection, name: &str) -> Result<u64> {
    Ok(pragma::<i64>(connection, name)?.unsigned_abs())
}

/// Fills a slice by SQLite's own generator, as `randomblob()` and kvtest do: about 0.4 GB/s.
pub fn randomness(bytes: &mut [u8]) {
    // SQLite counts in `int`.
    for piece in bytes.chunks_mut(1 << 30) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_possible_wrap,
            reason = "at most 2^30"
        )]
        let length = piece.len() as i32;
        #[expect(unsafe_code, reason = "a function of the C library")]
        // SAFETY: SQLite writes exactly `length` bytes, all of them within the slice.
        unsafe {
            ffi::sqlite3_randomness(length, piece.as_mut_ptr().cast());
        }
    }
}
