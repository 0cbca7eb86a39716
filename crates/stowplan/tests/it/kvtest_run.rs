//! `stowplan kvtest run`, on databases as kvtest makes them and on directories as it exports them.

use crate::bench::{Bench, Finished, until};
use crate::ending::signal;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::process::Stdio;
use std::time::Duration;

/// As `kvtest init x.db --count 300 --size 1000` makes it.
pub(crate) fn database(bench: &Bench, name: &str) {
    let connection = Connection::open(bench.path(name)).unwrap();
    connection
        .execute_batch(
            "CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);
             WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x+1 FROM c WHERE x<300)
             INSERT INTO kv(k,v) SELECT x, randomblob(1000) FROM c;",
        )
        .unwrap();
}

/// As `kvtest export` makes it.
pub(crate) fn directory(bench: &Bench, name: &str, keys: impl Iterator<Item = u64>) {
    fs::create_dir(bench.path(name)).unwrap();
    for key in keys {
        fs::write(bench.path(name).join(format!("{key:06}")), [7; 1000]).unwrap();
    }
}

fn pragma(bench: &Bench, name: &str, pragma: &str) -> String {
    let connection = Connection::open(bench.path(name)).unwrap();
    connection
        .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
        .unwrap()
}

fn contents(bench: &Bench, name: &str) -> Vec<Vec<u8>> {
    let connection = Connection::open(bench.path(name)).unwrap();
    let mut statement = connection.prepare("SELECT v FROM kv ORDER BY k").unwrap();
    let rows = statement.query_map([], |row| row.get(0)).unwrap();
    rows.map(Result::unwrap).collect()
}

/// The lines that kvtest would print.
fn headline(finished: &Finished) -> Vec<String> {
    let stdout = finished.stdout();
    let lines = stdout.lines().take_while(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

#[test]
fn a_database_is_read_and_kvtests_lines_come_first() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let run = bench.run("kvtest run x.db -count 0x64 --blob-api --rounds 10");
    run.exits(0)
        .prints("95% interval, 10 rounds")
        .prints("p90 ");
    assert!(!run.stdout().contains("p99"), "of 300 operations");
    let lines = headline(&run);
    assert!(lines[0].starts_with("SQLite version: 3."), "{lines:?}");
    assert_eq!(
        lines[1..5],
        [
            "--count 100 --max-id 300 --asc",
            "--cache-size 1000 --jmode delete",
            "--mmap 0 --blob-api",
            "Database page size: 4096"
        ]
    );
    for (line, name) in lines[5..].iter().zip([
        "Total elapsed time: ",
        "Microseconds per BLOB read: ",
        "Content read rate: ",
    ]) {
        let number = line.strip_prefix(name).unwrap_or_else(|| panic!("{line}"));
        let number: f64 = number.trim_end_matches(" MB/s").parse().unwrap();
        assert!(number.is_finite() && number >= 0.0);
    }
    assert_eq!(lines.len(), 8);
}

#[test]
fn the_last_of_several_orders_counts_and_small_data_is_read_again() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let run = bench.run("kvtest run x.db --asc --random --desc --count 1k --rounds 1 --start 7");
    run.exits(0)
        .prints("--count 1000 --max-id 300 --desc --start 7")
        .prints("some of them again");
}

#[test]
fn a_directory_is_read_over_all_its_keys_and_options_of_databases_are_ignored() {
    let bench = Bench::new();
    directory(&bench, "d", 1..=1_200);
    let run = bench.run("kvtest run d --blob-api --jmode wal --rounds 1");
    run.exits(0).prints("--count 1000 --max-id 1200 --asc");
    assert!(!run.stdout().contains("SQLite"), "{}", run.stdout());
    run.prints("means nothing for files: --blob-api, --jmode.");
    bench
        .run("kvtest run d --as-kvtest --rounds 1")
        .exits(0)
        .prints("--max-id 1000 --asc --as-kvtest")
        .prints("wall time");
}

const UPDATE: &str = "--update --overwrite-my-data --rounds 1";

#[test]
fn an_update_replaces_values_by_others_of_the_same_size() {
    let bench = Bench::new();
    database(&bench, "x.db");
    for api in ["", "--blob-api"] {
        for more in ["", "--as-kvtest", "--multitrans --nosync"] {
            let before = contents(&bench, "x.db");
            let line = format!("kvtest run x.db {UPDATE} --count 300 {api} {more}");
            let run = bench.run(&line);
            run.exits(0).prints("Microseconds per BLOB write");
            let after = contents(&bench, "x.db");
            for (before, after) in before.iter().zip(&after) {
                assert_eq!(after.len(), 1_000);
                assert_ne!(before, after, "{line}");
            }
        }
    }
}

#[test]
fn an_update_of_files_names_what_turns_their_order_against_a_database() {
    let bench = Bench::new();
    directory(&bench, "d", 1..=30);
    database(&bench, "x.db");
    let told = |words: &str| {
        let run = bench.run(&format!("kvtest run {words} {UPDATE}"));
        run.exits(0);
        run
    };
    let named = "truncation is known to turn the order of files and a database";
    told("d")
        .says("Files were written over where they lie")
        .says(named)
        .says("--only overwrite");
    told("d --as-kvtest")
        .says("Each file was emptied")
        .says(named);
    assert!(!told("x.db").flat().contains(named));
}

#[test]
fn an_update_replaces_nothing_unless_it_is_said_that_the_data_may_be_lost() {
    let bench = Bench::new();
    database(&bench, "x.db");
    directory(&bench, "d", 1..=3);
    let before = contents(&bench, "x.db");
    for place in ["x.db", "d"] {
        let run = bench.run(&format!("kvtest run {place} --update --rounds 1"));
        run.refuses("--overwrite-my-data");
    }
    assert!(contents(&bench, "x.db") == before);
    assert_eq!(fs::read(bench.path("d/000001")).unwrap(), [7; 1000]);
}

#[test]
fn percentiles_are_of_the_values_whose_time_stands_beside_them() {
    let bench = Bench::new();
    directory(&bench, "d", 1..=20);
    fs::write(bench.path("d/000001"), vec![7; 2_000_000]).unwrap();
    let document = bench.run("kvtest run d --count 1 --rounds 1 --json").json();
    let blocks = document["measurements"].as_array().unwrap();
    assert_eq!(blocks.len(), 2);
    for block in blocks {
        assert_eq!(block["bytes"], 2_000_000, "{block}");
    }
}

#[test]
fn each_operation_is_a_transaction_with_multitrans_whatever_the_interface() {
    let bench = Bench::new();
    database(&bench, "x.db");
    for api in ["", "--blob-api"] {
        let syncs = |more: &str| {
            let line = format!("kvtest run x.db {UPDATE} --count 20 --json {api} {more}");
            let block = bench.run(&line).json()["measurements"][0].clone();
            let number = |value: &Value| value.as_u64().unwrap();
            let syncs = number(&block["syncs"]["fsync"]) + number(&block["syncs"]["fdatasync"]);
            (number(&block["commits"]), syncs)
        };
        let (commits, together) = syncs("");
        assert_eq!(commits, 1);
        let (commits, each) = syncs("--multitrans");
        assert_eq!(commits, 20);
        assert!(each >= 20 && each > 3 * together, "{each} {together}");
        assert_eq!(syncs("--multitrans --nosync").1, 0);
    }
}

#[test]
fn each_file_is_synced_after_it_was_written_if_that_is_asked() {
    let bench = Bench::new();
    directory(&bench, "d", 1..=50);
    let run = bench.run(&format!("kvtest run d {UPDATE} --count 50 --fsync --json"));
    assert_eq!(run.json()["measurements"][0]["syncs"]["fsync"], 50);
    let written = fs::read(bench.path("d").join("000050")).unwrap();
    assert!(written.len() == 1_000 && written != [7; 1_000]);
}

#[test]
fn the_journal_mode_is_that_of_the_run_only() {
    let bench = Bench::new();
    database(&bench, "x.db");
    for (options, said, mode) in [
        (
            "--jmode WAL --update --overwrite-my-data --count 50",
            "--jmode wal",
            "delete",
        ),
        (
            "--jmode WAL --update --overwrite-my-data --count 50 --as-kvtest",
            "--jmode wal",
            "wal",
        ),
        ("--jmode delete", "Microseconds per BLOB read", "wal"),
        ("", "--jmode wal", "wal"),
    ] {
        let run = bench.run(&format!("kvtest run x.db --rounds 2 {options}"));
        run.exits(0).prints(said);
        assert_eq!(pragma(&bench, "x.db", "journal_mode"), mode, "{options}");
    }
}

#[test]
fn what_is_missing_or_empty_is_told_and_not_counted_as_fast() {
    let bench = Bench::new();
    directory(&bench, "d", (1..=100).filter(|key| key % 10 != 3));
    fs::write(bench.path("d").join("000003"), "").unwrap();
    let document = bench
        .run("kvtest run d --count 1k --rounds 1 --json")
        .json();
    let survey = &document["survey"];
    assert_eq!(survey["visited"], 90);
    assert_eq!(
        (&survey["missing"], &survey["first_missing"]),
        (&9.into(), &13.into())
    );
    assert_eq!(
        (&survey["empty"], &survey["first_empty"]),
        (&1.into(), &3.into())
    );
    assert_eq!(document["measurements"][0]["bytes"], 1_000_000);
    assert_eq!(document["notes"].as_array().unwrap().len(), 2);
}

#[test]
fn sizes_beyond_32_bits_are_accepted_whole() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let run = bench.run("kvtest run x.db --mmap 4GiB --rounds 1");
    run.exits(0)
        .prints("--mmap 4294967296")
        .prints("SQLite maps 2147418112 bytes instead of");
}

#[test]
fn a_damaged_database_ends_with_one_line() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let path = bench.path("x.db");
    let mut bytes = fs::read(&path).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0x5a);
    fs::write(&path, bytes).unwrap();
    let run = bench.run("kvtest run x.db --rounds 1");
    run.refuses("malformed");
}

#[test]
fn integrity_and_counters_are_shown_when_asked() {
    let bench = Bench::new();
    database(&bench, "x.db");
    bench
        .run("kvtest run x.db --integrity-check --stats --rounds 1")
        .exits(0)
        .prints("integrity-check: ok")
        .prints("Page cache hits: ")
        .prints("Read() system calls: ");
    let brief = bench.run("kvtest run x.db --stats -q --rounds 1");
    brief.exits(0).prints("Page cache hits: ");
    assert!(!brief.stdout().contains("Around it"), "kvtest's lines only");
    directory(&bench, "d", 1..=9);
    bench
        .run("kvtest run d --stats --rounds 1")
        .exits(0)
        .prints("Read() system calls: ");
}

#[test]
fn a_link_to_a_database_is_run_as_the_database() {
    let bench = Bench::new();
    database(&bench, "x.db");
    fs::create_dir(bench.path("links")).unwrap();
    std::os::unix::fs::symlink("../x.db", bench.path("links/y.db")).unwrap();
    bench
        .run("kvtest run links/y.db --update --overwrite-my-data --rounds 1")
        .exits(0);
}

#[test]
fn a_reader_of_the_log_does_not_fail_a_run_that_writes() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let reader = Connection::open(bench.path("x.db")).unwrap();
    let sql = "PRAGMA journal_mode=wal; BEGIN; SELECT count(*) FROM kv";
    for sql in sql.split(';') {
        let _ = reader.prepare(sql).unwrap().query([]).unwrap().next();
    }
    for more in ["", "--nocheckpoint"] {
        bench
            .run(&format!("kvtest run x.db {UPDATE} {more}"))
            .exits(0);
    }
}

#[test]
fn what_an_update_leaves_out_or_only_clocks_is_said_in_the_row() {
    let bench = Bench::on_disk();
    database(&bench, "x.db");
    let told = |more: &str| bench.run(&format!("kvtest run x.db {UPDATE} --count 50 {more}"));
    // Where it syncs, or waits for the disk as it may at any time, all of it is wall time.
    let together = told("--nosync");
    together.exits(0).says("(without the commit and closing)");
    let together = together.flat();
    let is_corrected = together.contains("less waiting for a CPU");
    let says_closing = together.contains("CPU (closing: plain wall time)");
    assert_eq!(is_corrected, says_closing, "{together}");
    let each = told("--multitrans --nocheckpoint");
    each.exits(0).says("(without closing)");
    let plain = each.flat().contains("plain wall time");
    assert!(!plain, "closing is out: {}", each.flat());
}

#[test]
fn without_a_journal_on_the_disk_an_update_warns_before_it_starts() {
    let bench = Bench::new();
    database(&bench, "x.db");
    for mode in ["off", "memory", "delete"] {
        let run = bench.run(&format!("kvtest run x.db {UPDATE} -q --jmode {mode}"));
        run.exits(0);
        let warned = run.stderr().contains("nothing can undo");
        assert_eq!(warned, mode != "delete", "{}", run.stderr());
    }
    let reads = bench.run("kvtest run x.db --rounds 1 --jmode off");
    assert!(!reads.stderr().contains("undo"), "{}", reads.stderr());
}

#[test]
fn what_an_interrupted_write_left_is_undone_before_an_update() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let before = contents(&bench, "x.db");
    let writer = Connection::open(bench.path("x.db")).unwrap();
    writer
        .execute_batch("PRAGMA cache_size=5; BEGIN; UPDATE kv SET v=randomblob(1000)")
        .unwrap();
    // As a process that was killed leaves it.
    for suffix in ["", "-journal"] {
        let from = bench.path(&format!("x.db{suffix}"));
        fs::copy(from, bench.path(&format!("y.db{suffix}"))).unwrap();
    }
    drop(writer);
    bench.run("stat y.db").refuses("interrupted");
    let update = |place| bench.run(&format!("kvtest run {place} {UPDATE} --count 1"));
    update("y.db").exits(0);
    assert!(!bench.path("y.db-journal").exists());
    let after = contents(&bench, "y.db");
    assert!(
        after[10..] == before[10..],
        "nothing of the torn write stays"
    );
    // A file of that name beside a directory is nobody's journal.
    directory(&bench, "d", 1..=3);
    bench.write("d-journal", "Dear diary");
    update("d").exits(0);
}

/// Starts a run, ends it by Ctrl-C as soon as `begun` says so, and returns its exit code and what
/// it said on stderr.
fn interrupted(bench: &Bench, line: &str, begun: impl Fn() -> bool) -> (i32, String) {
    let mut command = bench.command(line);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until(|| begun().then_some(()));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), stderr)
}

#[test]
fn ctrl_c_in_an_update_leaves_a_database_that_anyone_can_read() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let journal = bench.path("x.db-journal");
    // So small a cache that pages are written, and with them the journal, before the commit.
    let update =
        "kvtest run x.db --update --overwrite-my-data --count 300k --cache-size 10 --rounds 1";
    let before = contents(&bench, "x.db");
    let spilled = || journal.metadata().is_ok_and(|data| data.len() > 100_000);
    let (code, stderr) = interrupted(&bench, update, spilled);
    assert_eq!(code, 130, "{stderr}");
    assert!(
        stderr.contains("interrupted before a round was complete"),
        "{stderr}"
    );
    assert!(!stderr.contains("saved"), "nothing is saved: {stderr}");
    assert!(!journal.exists(), "it is rolled back");
    bench.run("stat x.db").exits(0);
    assert!(contents(&bench, "x.db") == before);
}

#[test]
fn ctrl_c_and_errors_put_the_journal_mode_back_too() {
    let bench = Bench::new();
    database(&bench, "x.db");
    let log = bench.path("x.db-wal");
    let update = "kvtest run x.db --update --overwrite-my-data --count 300k --rounds 1 --jmode wal --cache-size 10";
    let begun = || log.metadata().is_ok_and(|data| data.len() > 100_000);
    let (code, stderr) = interrupted(&bench, update, begun);
    assert_eq!(code, 130, "{stderr}");
    assert_eq!(pragma(&bench, "x.db", "journal_mode"), "delete");
    assert_eq!(pragma(&bench, "x.db", "integrity_check"), "ok");
    // A trigger that refuses fails the round after the mode was changed.
    Connection::open(bench.path("x.db"))
        .unwrap()
        .execute_batch(
            "CREATE TRIGGER t BEFORE UPDATE ON kv BEGIN SELECT raise(ABORT,'never'); END",
        )
        .unwrap();
    let run = bench.run("kvtest run x.db --update --overwrite-my-data --jmode wal --rounds 1");
    run.exits(1);
    run.warns("never");
    assert_eq!(pragma(&bench, "x.db", "journal_mode"), "delete");
}

/// Ends a run of many rounds by Ctrl-C some time after it has begun; returns what it printed and what it
/// said.
fn interrupted_after(bench: &Bench, pause: Duration) -> (String, String) {
    let temporary = bench.path("tmp");
    let mut command = bench.command("kvtest run x.db --count 50k --rounds 200");
    command.env("TMPDIR", &temporary);
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until(|| fs::read_dir(&temporary).unwrap().next().map(drop));
    std::thread::sleep(pause);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(130), "{stdout}{stderr}");
    assert_eq!(fs::read_dir(&temporary).unwrap().count(), 0);
    (stdout, stderr)
}

#[test]
fn ctrl_c_keeps_the_rounds_before_it_and_leaves_nothing() {
    let bench = Bench::new();
    database(&bench, "x.db");
    fs::create_dir(bench.path("tmp")).unwrap();
    // How long a round takes depends on the machine: a run that had none says so, and is tried again.
    let tries = [300, 1_500, 6_000, 24_000].map(Duration::from_millis);
    let run = tries.into_iter().find_map(|pause| {
        let (stdout, stderr) = interrupted_after(&bench, pause);
        let none = stderr.contains("interrupted before a round was complete");
        (!none).then_some((stdout, stderr))
    });
    let (stdout, stderr) = run.unwrap();
    assert!(
        stdout.contains("Microseconds per BLOB read"),
        "{stdout}{stderr}"
    );
    assert!(stdout.contains("It was interrupted"), "{stdout}{stderr}");
}
