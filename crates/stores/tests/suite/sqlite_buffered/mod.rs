//! The store that writes in memory first: against a model, against a disk that refuses, against
//! itself on several threads, and killed.

mod behaviour;
mod crash;
mod faults;
mod model;
mod threads;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};
use stowplan_stores::{Buffer, Found, Key, Session, Store, registry};

/// What lies in a database or should: values by key.
type Content = BTreeMap<u64, Vec<u8>>;

/// A window that neither rows nor time end during a test.
const ENDLESS: &str = "window_rows=1000000000,window_ms=86400000";

/// Makes a store with these settings, or opens the one that is there.
fn store(directory: &Path, settings: &str) -> Box<dyn Store> {
    let spec = format!("sqlite-buffered:{settings}").parse().unwrap();
    let resolved = registry::resolve(&spec, 1 << 20).unwrap();
    let kind = resolved.kind;
    if directory.join("kv.db").exists() {
        kind.open(directory, &resolved.settings).unwrap()
    } else {
        kind.create(directory, &resolved.settings).unwrap()
    }
}

/// Runs `test` with a session of a new store, and closes nothing.
fn with_session(settings: &str, test: impl FnOnce(&Path, &dyn Store, &mut dyn Session)) {
    let directory = crate::place::in_memory();
    let store = store(directory.path(), settings);
    let mut session = store.connect().unwrap();
    test(directory.path(), &*store, &mut *session);
}

fn read(session: &mut dyn Session, key: u64) -> Option<Vec<u8>> {
    let mut buffer = Buffer::with_capacity(0).unwrap();
    match session.read_into(Key(key), &mut buffer).unwrap() {
        Found::Bytes(bytes) => {
            assert_eq!(bytes, buffer.bytes().len());
            Some(buffer.bytes().to_vec())
        }
        Found::Missing => None,
    }
}

fn scan(session: &mut dyn Session, from: u64, limit: usize) -> Vec<(u64, Vec<u8>)> {
    let mut rows = Vec::new();
    let visited = session
        .scan(Key(from), limit, &mut |key, value| {
            rows.push((key.0, value.to_vec()));
        })
        .unwrap();
    assert_eq!(visited, rows.len());
    rows
}

/// A connection to the database on disk that knows nothing of the store.
fn disk(directory: &Path) -> rusqlite::Connection {
    let connection = rusqlite::Connection::open(directory.join("kv.db")).unwrap();
    connection.busy_timeout(Duration::from_secs(20)).unwrap();
    connection
}

/// What the database on disk holds, whatever is in memory.
fn on_disk(directory: &Path) -> Content {
    let connection = disk(directory);
    let mut statement = connection.prepare("SELECT k,v FROM kv").unwrap();
    let rows = statement.query_map([], |row| {
        Ok((row.get::<_, i64>(0)?.unsigned_abs(), row.get(1)?))
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// Waits until `done`, for much longer than it could take.
#[track_caller]
fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(20), "never {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Has the database refuse every change, as a disk does that is full.
fn refuse_changes(directory: &Path, condition: &str) {
    disk(directory)
        .execute_batch(&format!(
            "CREATE TRIGGER refuse_set BEFORE INSERT ON kv WHEN {condition} \
             BEGIN SELECT RAISE(ABORT, 'no room left'); END;
             CREATE TRIGGER refuse_delete BEFORE DELETE ON kv \
             BEGIN SELECT RAISE(ABORT, 'no room left'); END;"
        ))
        .unwrap();
}

fn allow_changes(directory: &Path) {
    disk(directory)
        .execute_batch("DROP TRIGGER refuse_set; DROP TRIGGER refuse_delete;")
        .unwrap();
}

/// Random numbers from a seed (xorshift64*).
struct Random(u64);

impl Random {
    /// One below `end`.
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) % end
    }
}

/// A seed that differs from run to run, unless `STOWPLAN_SEED` gives it.
fn seed() -> u64 {
    let given = std::env::var("STOWPLAN_SEED").ok();
    given.map_or_else(
        || {
            let now = std::time::UNIX_EPOCH.elapsed().unwrap();
            u64::from(now.subsec_nanos()) | 1
        },
        |seed| seed.parse().unwrap(),
    )
}
