//! `advise`, and how programs in three languages read what it advises.

use crate::bench::Bench;
use std::path::Path;
use std::process::Command;

include!("../../../report/snippets/read_value.rs");

const VALUE: &[u8] = b"\x00\xffone value\n";

/// 120 files of 500 bytes and more.
fn with_place() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("place")).unwrap();
    for index in 0..120 {
        let text = "0123456789".repeat(50 + index);
        bench.write(&format!("place/name-{index}"), &text);
    }
    bench
}

#[test]
fn advice_is_a_study_that_can_be_saved_and_run_again() {
    let bench = with_place();
    let advise = "advise place --rounds 1 --output out --keep --save-study mine.toml";
    bench
        .run(advise)
        .prints("120 files, ")
        .prints("Nothing can be advised yet");
    let document = bench.run("report out --json").json();
    assert_eq!(document["advice"]["choice"]["kind"], "open");
    assert_eq!(document["advice"]["measured_values"], 120);
    assert_eq!(
        document["failures"].as_array().unwrap().len(),
        0,
        "{document}"
    );
    let whole = &document["advice"]["whole"];
    assert_eq!(whole["values"], 120, "{whole}");
    assert!(whole["vacuum"]["least"].as_f64() > Some(0.0), "{whole}");
    stores_use_the_names_of_the_place(&bench.path("out/work"));
    let saved = bench.run("study mine.toml --rounds 1 --dry-run");
    saved.exits(0).prints("read").prints("replace");
    let again = bench.run("advise place --rounds 1 --dry-run");
    assert_eq!(saved.stdout(), again.stdout());
    bench.run(advise).refuses("mine.toml");
    bench.run("advise nowhere").refuses("nowhere");
    std::fs::create_dir(bench.path("bare")).unwrap();
    bench.run("advise bare").refuses("holds no values");
}

#[test]
fn of_deflated_values_nothing_is_advised_for_their_streams_are_not_what_is_read() {
    let bench = with_place();
    bench.run("pack place x.sqlar").exits(0);
    let refused = bench.run("advise x.sqlar --dry-run");
    refused.refuses("deflated").refuses("unpack");
    bench.run("pack place y.sqlar --no-deflate").exits(0);
    bench.run("advise y.sqlar --rounds 1 --dry-run").exits(0);
}

/// In what is left of a run over [`with_place`], values lie under the names that they have there, as files
/// and as rows.
fn stores_use_the_names_of_the_place(work: &Path) {
    // Some were replaced, by as many bytes.
    let expected = 570;
    let (mut files, mut databases) = (0, 0);
    for store in std::fs::read_dir(work).unwrap() {
        let store = store.unwrap().path();
        if let Ok(value) = std::fs::read(store.join("name-7")) {
            assert_eq!(value.len(), expected);
            files += 1;
        }
        let database = store.join("kv.db");
        if database.is_file() {
            let database = rusqlite::Connection::open(database).unwrap();
            let find = "SELECT v FROM kv WHERE k='name-7'";
            let value: Vec<u8> = database.query_row(find, [], |row| row.get(0)).unwrap();
            assert_eq!(value.len(), expected);
            databases += 1;
        }
    }
    assert!(files > 0 && databases > 0, "{files} {databases}");
}

/// An archive with one value that is stored as it is.
fn archive(path: &Path) {
    let archive = rusqlite::Connection::open(path).unwrap();
    archive
        .execute_batch(
            "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB)",
        )
        .unwrap();
    let row = ("a/b c", 0o100_644, 0, VALUE.len() as i64, VALUE);
    archive
        .execute("INSERT INTO sqlar VALUES(?1,?2,?3,?4,?5)", row)
        .unwrap();
}

#[test]
fn the_examples_read_a_value_in_each_language_that_this_machine_has() {
    let bench = Bench::on_disk();
    let (path, program) = (bench.path("x.sqlar"), bench.path("read"));
    archive(&path);
    let text = path.to_str().unwrap();
    assert_eq!(read_value(text, "a/b c").unwrap(), VALUE);
    assert!(read_value(text, "none").is_err());
    let snippets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/snippets");
    let python = Command::new("python3")
        .arg(snippets.join("read_value.py"))
        .args([text, "a/b c"])
        .output();
    match python {
        Ok(read) => assert_eq!(read.stdout, VALUE, "{read:?}"),
        Err(error) => eprintln!("python3 cannot be run here: {error}"),
    }
    let compiled = Command::new("cc")
        .arg(snippets.join("read_value.c"))
        .arg("-o")
        .arg(&program)
        .arg("-lsqlite3")
        .output();
    match compiled {
        Ok(done) if done.status.success() => {
            let read = Command::new(&program)
                .args([text, "a/b c"])
                .output()
                .unwrap();
            assert_eq!(read.stdout, VALUE, "{read:?}");
        }
        other => eprintln!("no C compiler with SQLite here: {other:?}"),
    }
}
