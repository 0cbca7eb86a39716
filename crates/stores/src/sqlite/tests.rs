use super::*;
use crate::testing::{created, fill, message, read, settings, with_session};
use crate::{Access, Buffer, Found, Key, Session, Store};
use std::fs;
use std::path::Path;

/// A store of these settings with the keys 1 to 3, in a directory that lives as long.
fn built(pairs: &[(&str, &str)]) -> (tempfile::TempDir, Box<dyn Store>) {
    let (directory, store) = created(KIND, pairs);
    let mut connection = store.connect().unwrap();
    fill(&mut *connection);
    connection.close().unwrap();
    (directory, store)
}

/// Runs `test` in a session that holds the keys 1 to 3.
fn with_filled(pairs: &[(&str, &str)], test: impl FnOnce(&Path, &mut dyn Session)) {
    let (directory, store) = built(pairs);
    let mut connection = store.connect().unwrap();
    test(directory.path(), &mut *connection);
}

fn open_error(directory: &Path, pairs: &[(&str, &str)]) -> String {
    message(KIND.open(directory, &settings(KIND, pairs)))
}

/// The database without the store.
fn database(directory: &Path) -> rusqlite::Connection {
    rusqlite::Connection::open(directory.join(DATABASE_FILE)).unwrap()
}

#[test]
fn a_file_that_is_no_database_is_named_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(DATABASE_FILE);
    fs::write(&path, [b'x'; 5000]).unwrap();
    let message = open_error(directory.path(), &[]);
    assert!(message.contains("kv.db"), "{message}");
    assert!(message.contains("not an SQLite database"), "{message}");
    assert_eq!(fs::read(&path).unwrap(), [b'x'; 5000]);
}

#[test]
fn a_database_without_the_table_and_a_missing_one_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let message = open_error(directory.path(), &[]);
    assert!(message.contains("kv.db"), "{message}");
    database(directory.path())
        .execute_batch("CREATE TABLE other(x)")
        .unwrap();
    let message = open_error(directory.path(), &[]);
    assert!(message.contains("no table kv"), "{message}");
}

#[test]
fn a_database_is_opened_by_the_path_of_its_file_too() {
    let (directory, _store) = built(&[]);
    let path = directory.path().join(DATABASE_FILE);
    let store = KIND.open(&path, &settings(KIND, &[])).unwrap();
    assert!(store.footprint().unwrap().apparent_bytes > 15_000);
}

#[test]
fn the_page_size_and_the_table_are_those_of_kvtest() {
    for journal in ["delete", "wal"] {
        let (directory, _store) = built(&[("page_size", "8192"), ("journal", journal)]);
        let connection = database(directory.path());
        let page_size: i64 = connection
            .pragma_query_value(None, "page_size", |row| row.get(0))
            .unwrap();
        assert_eq!(page_size, 8192);
        let kind: String = connection
            .query_row("SELECT typeof(v) FROM kv WHERE k=3", [], |row| row.get(0))
            .unwrap();
        assert_eq!(kind, "blob");
    }
}

#[test]
fn a_write_against_a_held_lock_fails_at_once_and_says_why() {
    let (_directory, store) = built(&[("busy_timeout", "0")]);
    let mut held = store.connect().unwrap();
    held.begin(Access::Write).unwrap();
    held.overwrite(Key(1), &[9; 5000]).unwrap();
    let mut session = store.connect().unwrap();
    for error in [
        session.begin(Access::Write).unwrap_err(),
        session.overwrite(Key(2), &[9; 5000]).unwrap_err(),
    ] {
        assert!(error.is_conflict(), "{error}");
        assert!(error.to_string().contains("holds the lock"), "{error}");
    }
    held.commit().unwrap();
    assert_eq!(
        session.overwrite(Key(2), &[9; 5000]).unwrap(),
        Found::Bytes(5000)
    );
}

#[test]
fn a_blob_handle_ends_with_its_transaction() {
    for journal in ["delete", "wal"] {
        for access in [None, Some(Access::Read), Some(Access::Write)] {
            let (_directory, store) = built(&[("api", "blob"), ("journal", journal)]);
            let mut reading = store.connect().unwrap();
            if let Some(access) = access {
                reading.begin(access).unwrap();
            }
            read(&mut *reading, 1).unwrap();
            if access.is_some() {
                reading.commit().unwrap();
            }
            // Any read that were still going on would keep this writer out, or hide its work.
            let mut writing = store.connect().unwrap();
            writing.overwrite(Key(1), &[8; 5000]).unwrap();
            let seen = read(&mut *reading, 1).unwrap().unwrap();
            assert_eq!(seen, [8; 5000], "{journal} {access:?}");
        }
    }
}

#[test]
fn a_blob_handle_is_usable_after_a_missing_key() {
    with_filled(&[("api", "blob")], |_, session| {
        session.begin(Access::Read).unwrap();
        for key in [1, 4, 4, 2, 3] {
            let expected = (key < 4).then(|| vec![key as u8; 5000]);
            assert_eq!(read(session, key).unwrap(), expected, "key {key}");
        }
        session.commit().unwrap();
    });
}

#[test]
fn opening_with_another_journal_converts_the_file() {
    let (directory, store) = built(&[("journal", "wal")]);
    drop(store);
    let store = KIND
        .open(
            directory.path(),
            &settings(KIND, &[("journal", "truncate")]),
        )
        .unwrap();
    let connection = store.connect().unwrap();
    let effective = connection.effective_settings().unwrap();
    assert_eq!(effective.word("journal"), "truncate");
    drop(connection);
    assert!(!directory.path().join("kv.db-wal").exists());
}

#[test]
fn a_journal_that_another_connection_prevents_is_an_error() {
    let (directory, store) = built(&[("journal", "wal")]);
    let _held = store.connect().unwrap();
    let pairs = [("journal", "delete"), ("busy_timeout", "0")];
    let error = open_error(directory.path(), &pairs);
    assert!(error.contains("journal"), "{error}");
}

#[test]
fn without_autocheckpoint_the_log_grows_until_the_checkpoint() {
    let (_directory, store) = built(&[("journal", "wal"), ("autocheckpoint", "0")]);
    let mut session = store.connect().unwrap();
    // SQLite writes nothing where old and new bytes are the same.
    for version in 0..1500_u32 {
        session.overwrite(Key(1), &[version as u8; 5000]).unwrap();
    }
    let before = store.footprint().unwrap().apparent_bytes;
    assert!(before > 1500 * 5000, "{before}");
    store.checkpoint().unwrap();
    let after = store.footprint().unwrap().apparent_bytes;
    assert!(after < 200_000, "{after}");
    session.close().unwrap();
}

#[test]
fn a_checkpoint_that_a_reader_prevents_is_a_conflict() {
    let (_directory, store) = built(&[("journal", "wal"), ("busy_timeout", "0")]);
    let mut reading = store.connect().unwrap();
    reading.begin(Access::Read).unwrap();
    read(&mut *reading, 1).unwrap();
    let mut writer = store.connect().unwrap();
    writer.overwrite(Key(1), &[9; 5000]).unwrap();
    let error = store.checkpoint().unwrap_err();
    assert!(error.is_conflict(), "{error}");
    assert!(error.to_string().contains("another connection"), "{error}");
}

#[test]
fn after_the_last_connection_a_checkpoint_succeeds_and_no_log_is_left() {
    let (directory, store) = built(&[("journal", "wal"), ("locking", "exclusive")]);
    let log = directory.path().join("kv.db-wal");
    let mut session = store.connect().unwrap();
    session.overwrite(Key(1), &[9; 5000]).unwrap();
    assert!(fs::metadata(&log).unwrap().len() > 5000);
    let error = store.checkpoint().unwrap_err();
    assert!(error.to_string().contains("closing it"), "{error}");
    session.close().unwrap();
    for _ in 0..2 {
        store.checkpoint().unwrap();
        assert!(!log.exists());
    }
    expect_first(&*store, &[9; 5000]);
}

/// As a process that was killed leaves it, or a connection whose own checkpoint failed.
#[test]
fn a_log_that_was_left_behind_is_checkpointed() {
    for locking in ["normal", "exclusive"] {
        let pairs = [("journal", "wal"), ("locking", locking)];
        let (directory, store) = built(&pairs);
        let mut session = store.connect().unwrap();
        session.overwrite(Key(1), &[9; 5000]).unwrap();
        let left = tempfile::tempdir().unwrap();
        for name in ["kv.db", "kv.db-wal"] {
            fs::copy(directory.path().join(name), left.path().join(name)).unwrap();
        }
        let log = left.path().join("kv.db-wal");
        // Opening checks the database, and closing after that would already checkpoint.
        let options = Options::from_settings(&settings(KIND, &pairs)).unwrap();
        let store = Base::of_store(left.path(), options);
        store.checkpoint().unwrap();
        assert!(!log.exists(), "{locking}");
        expect_first(&store, &[9; 5000]);
    }
}

#[test]
fn where_there_is_no_log_a_checkpoint_does_nothing() {
    for pairs in [
        [("location", "memory"), ("locking", "normal")],
        [("location", "temp"), ("locking", "exclusive")],
        [("journal", "delete"), ("locking", "exclusive")],
    ] {
        let (_directory, store) = built(&pairs);
        store.checkpoint().unwrap();
        let (_directory, store) = created(KIND, &pairs);
        let connection = store.connect().unwrap();
        store.checkpoint().unwrap();
        connection.close().unwrap();
        store.checkpoint().unwrap();
    }
}

fn expect_first(store: &dyn Store, expected: &[u8]) {
    let mut session = store.connect().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap().unwrap(), expected);
}

#[test]
fn a_setting_that_sqlite_caps_is_a_difference() {
    let pairs = [("mmap", "1TiB")];
    with_session(KIND, &pairs, |_, connection| {
        let asked = settings(KIND, &pairs);
        let differences = asked.differences(&connection.effective_settings().unwrap());
        assert_eq!(differences.len(), 1, "{differences:?}");
        assert_eq!(differences[0].0, "mmap");
    });
}

#[test]
fn a_database_in_memory_has_one_connection_and_no_second_life() {
    for location in ["memory", "named", "memdb"] {
        let pairs = [("location", location)];
        let (directory, store) = created(KIND, &pairs);
        let _first = store.connect().unwrap();
        assert!(store.connect().is_err());
        open_error(directory.path(), &pairs);
        // Another store has a database of its own.
        let (_elsewhere, other) = created(KIND, &pairs);
        let mut connection = other.connect().unwrap();
        connection.insert(Key(1), b"x").unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}

#[test]
fn rows_that_sqlite_numbers_get_the_keys_that_were_asked_for_in_any_order() {
    for statement in ["once", "each", "literal"] {
        let (_directory, store) = created(KIND, &[("ids", "assigned"), ("statement", statement)]);
        let mut session = store.connect().unwrap();
        let value = |key: u64| vec![key as u8; 10];
        // The first is given, the next two are assigned, and so on.
        for key in [7, 8, 9, 3, 10, 40, 41] {
            session.insert(Key(key), &value(key)).unwrap();
        }
        session.delete(Key(41)).unwrap();
        session.insert(Key(41), &value(41)).unwrap();
        assert!(session.insert(Key(41), &value(41)).is_err());
        session.begin(Access::Write).unwrap();
        session.insert(Key(42), &value(42)).unwrap();
        session.rollback().unwrap();
        session.insert(Key(42), &value(42)).unwrap();
        let last = i64::MAX as u64;
        session.insert(Key(last), &value(last)).unwrap();
        session.insert(Key(43), &value(43)).unwrap();
        let mut rows = Vec::new();
        let mut visit = |key: Key, bytes: &[u8]| rows.push((key.0, bytes.to_vec()));
        session.scan(Key(0), 99, &mut visit).unwrap();
        let keys = [3, 7, 8, 9, 10, 40, 41, 42, 43, last];
        assert_eq!(rows, keys.map(|key| (key, value(key))));
    }
}

#[test]
fn pages_of_an_index_whose_keys_come_in_no_order_are_emptier_than_those_of_its_table() {
    let fill = |key: &str| {
        let (_directory, store) = created(KIND, &[("key", key)]);
        let mut session = store.connect().unwrap();
        session.begin(Access::Write).unwrap();
        for key in 1..=5_000 {
            session.insert(Key(key), &[1; 20]).unwrap();
        }
        session.commit().unwrap();
        session.page_fill().unwrap()
    };
    let (number, text) = (fill("integer"), fill("text"));
    assert!(number.table.unwrap() > 0.95, "{number:?}");
    assert_eq!(number.index, None);
    assert!(text.table.unwrap() > 0.95, "{text:?}");
    // A page that is split shares what it has with its neighbours, so that half empty ones are seldom.
    assert!((0.5..0.95).contains(&text.index.unwrap()), "{text:?}");
}

#[test]
fn without_spilling_a_transaction_keeps_its_pages_until_it_ends() {
    let spilled = |spill: &str| {
        let pairs = [("cache_spill", spill), ("cache", "40960")];
        let (_directory, store) = created(KIND, &pairs);
        let mut connection = store.connect().unwrap();
        let effective = connection.effective_settings().unwrap();
        assert_eq!(settings(KIND, &pairs).differences(&effective), []);
        let session = &mut *connection;
        session.begin(Access::Write).unwrap();
        for key in 0..100 {
            session.insert(Key(key), &[1; 3_000]).unwrap();
        }
        session.counters().unwrap()["Page cache spills"]
    };
    assert!(spilled("on") > 0);
    assert_eq!(spilled("off"), 0);
}

#[test]
fn an_abandoned_transaction_is_undone_by_the_next_session() {
    let (_directory, store) = built(&[]);
    let mut session = store.connect().unwrap();
    session.begin(Access::Write).unwrap();
    session.overwrite(Key(1), &[9; 5000]).unwrap();
    drop(session);
    let mut session = store.connect().unwrap();
    assert_eq!(read(&mut *session, 1).unwrap().unwrap(), [1; 5000]);
}

#[test]
fn a_value_that_is_no_blob_is_damaged() {
    with_filled(&[], |directory, session| {
        let damaged = "UPDATE kv SET v=NULL WHERE k=1";
        database(directory).execute_batch(damaged).unwrap();
        let error = message(read(session, 1));
        assert!(error.contains("not a blob"), "{error}");
    });
}

#[test]
fn the_engine_tells_its_version_and_build_options() {
    let (name, version) = KIND.engine().unwrap();
    assert_eq!(name, "SQLite");
    assert!(version.starts_with("3."), "{version}");
    assert!(version.contains("THREADSAFE"), "{version}");
}

/// By how much `counter` grows while key 1 is read a second time, in a store of these settings.
fn growth_in_a_second_read(pairs: &[(&str, &str)], counter: &str) -> u64 {
    let mut growth = 0;
    with_filled(pairs, |_, session| {
        read(session, 1).unwrap();
        let before = session.counters().unwrap()[counter];
        read(session, 1).unwrap();
        growth = session.counters().unwrap()[counter] - before;
    });
    growth
}

#[test]
fn a_value_read_again_hits_the_cache_if_there_is_one_and_misses_it_if_not() {
    // At least the root page, and the value's overflow page.
    for (cache, hits) in [("1MiB", true), ("0", false)] {
        let growth = |counter| growth_in_a_second_read(&[("cache", cache)], counter);
        assert_eq!(growth("Page cache hits") >= 2, hits, "cache={cache}");
        assert_eq!(growth("Page cache misses") == 0, hits, "cache={cache}");
    }
}

#[test]
fn a_write_that_the_cache_cannot_hold_is_counted_as_written_and_spilt() {
    with_filled(&[("cache", "40KiB")], |_, session| {
        session.overwrite(Key(1), &[9; 1_000_000]).unwrap();
        let counters = session.counters().unwrap();
        assert!(counters["Page cache writes"] >= 1_000_000 / 4096);
        assert!(counters["Page cache spills"] > 0);
        assert!(counters["Pager Heap Usage"] > 0);
    });
}

#[test]
fn counters_go_by_the_labels_of_kvtest_and_know_the_memory_of_the_process() {
    let (_directory, store) = built(&[]);
    let mut connection = store.connect().unwrap();
    let counters = connection.counters().unwrap();
    for label in ["Pager Heap Usage", "Memory Used", "Largest Allocation"] {
        assert!(counters[label] > 0, "{label}: {counters:?}");
    }
    assert!(counters["Memory Used (max)"] >= counters["Memory Used"]);
    assert!(counters.contains_key("Lookaside Slots Used"));
}

#[test]
fn a_temporary_database_overflows_into_the_directory_of_the_store() {
    let (directory, store) = created(KIND, &[("location", "temp"), ("cache", "0")]);
    let mut session = store.connect().unwrap();
    for key in 0..100 {
        session.insert(Key(key), &[key as u8; 50_000]).unwrap();
    }
    let open_files = fs::read_dir("/proc/self/fd").unwrap();
    let below = open_files
        .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
        .filter(|target| target.starts_with(directory.path()));
    assert_eq!(below.count(), 1);
}

/// Every form of the table that is not kvtest's.
const FORMS: [&[(&str, &str)]; 6] = [
    &[("column_type", "text")],
    &[("columns", "3")],
    &[("columns", "32"), ("column_type", "text")],
    &[("key", "text")],
    &[("key", "text"), ("rowid", "off")],
    &[
        ("key", "text"),
        ("rowid", "off"),
        ("columns", "5"),
        ("column_type", "text"),
    ],
];

/// Text of so many bytes, in which a character ends at few of them.
fn text(bytes: usize) -> String {
    let wide = "ключ€𝄞".repeat(bytes / 15);
    let rest = "x".repeat(bytes - wide.len());
    wide + &rest
}

fn expect_text(session: &mut dyn Session, key: u64, expected: &str) {
    assert_eq!(read(session, key).unwrap().unwrap(), expected.as_bytes());
}

#[test]
fn a_value_comes_back_whole_from_any_form_of_the_table() {
    const SIZES: [usize; 9] = [0, 1, 2, 31, 32, 100, 4096, 5003, 100_000];
    for form in FORMS {
        let (directory, store) = created(KIND, form);
        let mut session = store.connect().unwrap();
        for (key, bytes) in (1..).zip(SIZES) {
            session.insert(Key(key), text(bytes).as_bytes()).unwrap();
            expect_text(&mut *session, key, &text(bytes));
            let next = text(bytes + 7);
            let found = session.overwrite(Key(key), next.as_bytes()).unwrap();
            assert_eq!(found, Found::Bytes(next.len()));
        }
        let rows: Vec<_> = (101..104).map(|key| (Key(key), text(300))).collect();
        let rows: Vec<_> = rows.iter().map(|(k, v)| (*k, v.as_bytes())).collect();
        session.insert_many(&rows).unwrap();
        assert!(session.delete(Key(1)).unwrap(), "{form:?}");
        assert!(!session.delete(Key(1)).unwrap(), "{form:?}");
        session.close().unwrap();
        let store = KIND.open(directory.path(), &settings(KIND, form)).unwrap();
        let mut session = store.connect().unwrap();
        let mut scanned = std::collections::BTreeMap::new();
        let visited = session.scan(Key(0), 0, &mut |_, _| ()).unwrap();
        assert_eq!(visited, 0);
        for from in (2..=9).chain(101..104) {
            let mut first = None;
            session
                .scan(Key(from), 1, &mut |key, value| {
                    first = Some((key.0, value.to_vec()));
                })
                .unwrap();
            scanned.extend(first);
        }
        for (key, bytes) in (2..).zip(&SIZES[1..]) {
            expect_text(&mut *session, key, &text(bytes + 7));
            assert_eq!(scanned[&key], text(bytes + 7).as_bytes(), "{form:?}");
        }
        assert_eq!(scanned.len(), 8 + 3, "{form:?}");
        let error = session.insert(Key(2), b"x").unwrap_err();
        assert!(matches!(error, StoreError::KeyExists { .. }), "{error}");
    }
}

#[test]
fn columns_of_text_hold_text_that_is_whole_and_nothing_else_is_kept() {
    let form = [("columns", "4"), ("column_type", "text")];
    let (directory, store) = created(KIND, &form);
    let mut session = store.connect().unwrap();
    session.insert(Key(1), text(50).as_bytes()).unwrap();
    for refused in [
        session.insert(Key(2), b"no text: \xff").unwrap_err(),
        session.overwrite(Key(1), b"\xe2\x82").unwrap_err(),
        session
            .insert_many(&[(Key(3), b"a"), (Key(4), b"\x80")])
            .unwrap_err(),
    ] {
        assert!(refused.to_string().contains("UTF-8"), "{refused}");
        assert!(!refused.is_conflict());
    }
    let database = database(directory.path());
    let columns: Vec<(String, String)> = (1..=4)
        .map(|n| {
            let sql = format!("SELECT typeof(v{n}), v{n} FROM kv");
            database
                .query_row(&sql, [], |row| Ok((row.get(0)?, row.get(1)?)))
                .unwrap()
        })
        .collect();
    assert!(columns.iter().all(|(kind, _)| kind == "text"));
    // As equal as the ends of characters let them be.
    let sizes: Vec<usize> = columns.iter().map(|(_, v)| v.len()).collect();
    assert!(
        sizes.iter().all(|size| (10..=16).contains(size)),
        "{sizes:?}"
    );
    let whole: String = columns.into_iter().map(|(_, v)| v).collect();
    assert_eq!(whole, text(50));
}

#[test]
fn a_database_with_another_form_of_the_table_is_told() {
    for (made, opened) in [
        (&[][..], FORMS[1]),
        (FORMS[1], &[][..]),
        (&[], FORMS[3]),
        (FORMS[3], &[]),
        (FORMS[3], FORMS[4]),
    ] {
        let (directory, _store) = created(KIND, made);
        let message = open_error(directory.path(), opened);
        assert!(message.contains("no table kv(k "), "{message}");
    }
}

#[test]
fn forms_that_exclude_each_other_are_refused_with_what_would_do() {
    for (pairs, named) in [
        (&[("rowid", "off")][..], "key=text"),
        (&[("api", "blob"), ("columns", "2")], "columns=1"),
        (&[("api", "blob"), ("key", "text")], "key=integer"),
        (
            &[("api", "blob"), ("column_type", "text")],
            "column_type=blob",
        ),
    ] {
        let error = message(KIND.capabilities(&settings(KIND, pairs)));
        assert!(error.contains(named), "{error}");
    }
    let can = KIND.capabilities(&settings(KIND, FORMS[1])).unwrap();
    assert_eq!(can.deliveries, [Delivery::Copy]);
}

#[test]
fn a_table_is_dropped_and_made_again_in_any_session() {
    let places: [&[(&str, &str)]; 5] = [
        &[],
        &[("statement", "each"), ("journal", "wal")],
        &[("api", "blob")],
        &[("location", "shared")],
        FORMS[5],
    ];
    for pairs in places {
        let (_directory, store) = created(KIND, pairs);
        let mut session = store.connect().unwrap();
        session.insert(Key(1), b"old").unwrap();
        // Leaves statements, and perhaps a handle, that have been used.
        expect_text(&mut *session, 1, "old");
        session.drop_table().unwrap();
        assert!(session.insert(Key(1), b"nowhere").is_err());
        assert!(session.drop_table().is_err());
        assert!(session.delete(Key(1)).is_err());
        session.create_table().unwrap();
        assert!(session.create_table().is_err());
        assert!(!session.delete(Key(1)).unwrap());
        session.insert(Key(1), b"new").unwrap();
        expect_text(&mut *session, 1, "new");
    }
}

#[test]
fn an_operation_waits_for_another_connection_as_long_as_busy_timeout_says() {
    let (_directory, store) = built(&[]);
    let mut held = store.connect().unwrap();
    held.begin(Access::Write).unwrap();
    let store = &*store;
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || {
            let mut session = store.connect().unwrap();
            session.overwrite(Key(2), &[9; 5000])
        });
        std::thread::sleep(std::time::Duration::from_millis(100));
        assert!(!waiting.is_finished());
        held.commit().unwrap();
        assert!(waiting.join().unwrap().is_ok());
    });
}

#[test]
fn a_write_after_a_read_that_is_no_longer_true_is_a_conflict_at_once() {
    let (_directory, store) = built(&[("journal", "wal")]);
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    first.begin(Access::Read).unwrap();
    read(&mut *first, 1).unwrap();
    second.overwrite(Key(1), &[9; 5000]).unwrap();
    // SQLITE_BUSY_SNAPSHOT: no waiting makes it go away.
    let error = first.overwrite(Key(1), &[8; 5000]).unwrap_err();
    assert!(error.is_conflict(), "{error}");
    first.rollback().unwrap();
    first.rollback().unwrap();
    first.overwrite(Key(1), &[8; 5000]).unwrap();
}

#[test]
fn with_a_shared_cache_another_connections_transaction_is_a_conflict_at_once() {
    let (_directory, store) = created(KIND, &[("location", "shared")]);
    let (mut first, mut second) = (store.connect().unwrap(), store.connect().unwrap());
    first.insert(Key(1), b"old").unwrap();
    first.begin(Access::Write).unwrap();
    first.overwrite(Key(1), b"new").unwrap();
    for error in [
        second.begin(Access::Write).unwrap_err(),
        second.overwrite(Key(1), b"x").unwrap_err(),
        read(&mut *second, 1).unwrap_err(),
    ] {
        assert!(error.is_conflict(), "{error}");
    }
    first.commit().unwrap();
    expect_text(&mut *second, 1, "new");
}

/// Misses of SQLite's own cache while every value is read once after the other, in a new session.
fn misses(pairs: &[(&str, &str)], bytes: usize) -> u64 {
    const KEYS: u64 = 300;
    const MISSES: &str = "Page cache misses";
    let (_directory, store) = created(KIND, pairs);
    let mut session = store.connect().unwrap();
    session.begin(Access::Write).unwrap();
    for key in 1..=KEYS {
        session.insert(Key(key), &vec![key as u8; bytes]).unwrap();
    }
    session.commit().unwrap();
    session.close().unwrap();
    let mut session = store.connect().unwrap();
    let mut buffer = Buffer::with_capacity(bytes).unwrap();
    let before = session.counters().unwrap()[MISSES];
    for key in 1..=KEYS {
        let found = session.read_into(Key(key), &mut buffer).unwrap();
        assert_eq!(found, Found::Bytes(bytes));
    }
    session.counters().unwrap()[MISSES] - before
}

#[test]
fn a_table_that_was_read_first_has_no_misses_but_those_of_a_cache_that_is_too_small() {
    for api in ["sql", "blob"] {
        let misses = |preload, cache, bytes| {
            let pairs = [("api", api), ("preload", preload), ("cache", cache)];
            misses(&pairs, bytes)
        };
        assert!(misses("off", "64MiB", 3000) >= 100, "{api}");
        assert_eq!(misses("on", "64MiB", 3000), 0, "{api}");
        assert!(misses("on", "40KiB", 3000) >= 100, "{api}");
        // Overflow pages are read past the cache, hit or miss.
        assert_eq!(misses("on", "64MiB", 10_000), 0, "{api}");
    }
}
