//! What SQLite tells about itself: what it counts, under the labels of kvtest's `--stats` where that has one,
//! how full its pages are, and what is damaged.

use super::failed;
use crate::{Counters, PageFill, Result, StoreError};
use rusqlite::{Connection, ffi};
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of one connection, since it was opened: code and label.
const OF_CONNECTION: &[(c_int, &str)] = &[
    (ffi::SQLITE_DBSTATUS_CACHE_HIT, "Page cache hits"),
    (ffi::SQLITE_DBSTATUS_CACHE_MISS, "Page cache misses"),
    (ffi::SQLITE_DBSTATUS_CACHE_WRITE, "Page cache writes"),
    (ffi::SQLITE_DBSTATUS_CACHE_SPILL, "Page cache spills"),
    (ffi::SQLITE_DBSTATUS_CACHE_USED, "Pager Heap Usage"),
    (ffi::SQLITE_DBSTATUS_LOOKASIDE_USED, "Lookaside Slots Used"),
];

/// Of the whole process, now and at most: code and label.
const OF_PROCESS: &[(c_int, &str)] = &[
    (ffi::SQLITE_STATUS_MEMORY_USED, "Memory Used"),
    (
        ffi::SQLITE_STATUS_MALLOC_COUNT,
        "Number of Outstanding Allocations",
    ),
    (
        ffi::SQLITE_STATUS_PAGECACHE_USED,
        "Number of Pcache Pages Used",
    ),
    (
        ffi::SQLITE_STATUS_PAGECACHE_OVERFLOW,
        "Number of Pcache Overflow Bytes",
    ),
];

/// The largest allocations of the process, of which SQLite keeps no present value.
const LARGEST: &[(c_int, &str)] = &[
    (ffi::SQLITE_STATUS_MALLOC_SIZE, "Largest Allocation"),
    (
        ffi::SQLITE_STATUS_PAGECACHE_SIZE,
        "Largest Pcache Allocation",
    ),
];

/// Has SQLite's commit hook count the transactions that change something.
pub(crate) fn count_commits(connection: &mut Connection) -> Result<Arc<AtomicU64>> {
    let commits = Arc::new(AtomicU64::new(0));
    let counter = Arc::clone(&commits);
    connection
        .commit_hook(Some(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            // The commit goes on.
            false
        }))
        .map_err(|e| failed("set the commit hook", &e))?;
    Ok(commits)
}

/// Shares of the bytes of leaf pages that are in use; reads them all.
pub(crate) fn page_fill(connection: &Connection) -> Result<PageFill> {
    Ok(PageFill {
        table: fill_of(connection, "table")?,
        index: fill_of(connection, "index")?,
    })
}

/// How full the leaf pages of one type in the schema are (0 to 1); nothing where there are none.
fn fill_of(connection: &Connection, kind: &str) -> Result<Option<f64>> {
    const LEAVES: &str = "SELECT sum(pgsize), sum(pgsize - unused) FROM dbstat \
                          WHERE name IN (SELECT name FROM sqlite_schema \
                                         WHERE tbl_name = 'kv' AND type = ?1) \
                          AND pagetype = 'leaf'";
    let (bytes, used): (Option<f64>, Option<f64>) = connection
        .query_row(LEAVES, [kind], |row| Ok((row.get(0)?, row.get(1)?)))
        .map_err(|e| failed("look at the pages", &e))?;
    Ok(bytes.zip(used).map(|(bytes, used)| used / bytes))
}

/// Everything that SQLite counts for `connection` or for the process. Resets nothing.
pub(crate) fn of(connection: &Connection) -> Result<Counters> {
    let mut counters = Counters::new();
    let mut note = |label: &str, value: i64| {
        // Nothing that is counted here is ever negative.
        counters.insert(label.to_owned(), u64::try_from(value).unwrap_or(0));
    };
    for (code, label) in OF_CONNECTION {
        note(label, connection_status(connection, *code)?);
    }
    for (code, label) in OF_PROCESS {
        let (present, most) = process_status(*code)?;
        note(label, present);
        note(&format!("{label} (max)"), most);
    }
    for (code, label) in LARGEST {
        note(label, process_status(*code)?.1);
    }
    Ok(counters)
}

/// The present value of a counter of a connection.
#[expect(unsafe_code, reason = "rusqlite does not wrap sqlite3_db_status")]
fn connection_status(connection: &Connection, code: c_int) -> Result<i64> {
    let (mut current, mut highest) = (0, 0);
    let (now, most) = (&raw mut current, &raw mut highest);
    // SAFETY: the handle is open for as long as `connection` is borrowed, this thread alone uses
    // it, and both numbers outlive the call.
    let answer = unsafe { ffi::sqlite3_db_status64(connection.handle(), code, now, most, 0) };
    checked(answer).map(|()| current)
}

/// The present and the highest value of a counter of the process.
#[expect(unsafe_code, reason = "rusqlite does not wrap sqlite3_status")]
fn process_status(code: c_int) -> Result<(i64, i64)> {
    let (mut current, mut highest) = (0, 0);
    // SAFETY: both numbers outlive the call, which any thread may make.
    let answer = unsafe { ffi::sqlite3_status64(code, &raw mut current, &raw mut highest, 0) };
    checked(answer).map(|()| (current, highest))
}

fn checked(answer: c_int) -> Result<()> {
    if answer == ffi::SQLITE_OK {
        return Ok(());
    }
    let error = rusqlite::Error::SqliteFailure(ffi::Error::new(answer), None);
    Err(failed("read its counters", &error))
}

/// Reads every page, and compares indexes with their tables.
///
/// # Errors
/// Something is damaged: the first thing that SQLite says of it.
pub(super) fn check_integrity(connection: &Connection) -> Result<()> {
    let said = connection.query_row("PRAGMA integrity_check(1)", [], |row| {
        row.get::<_, String>(0)
    });
    match said.map_err(|e| failed("check the database", &e))?.as_str() {
        "ok" => Ok(()),
        damage => Err(StoreError::engine(
            "check the database",
            damage.lines().collect::<Vec<_>>().join("; "),
        )),
    }
}
