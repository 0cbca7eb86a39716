//! Archives that somebody made to do harm.

use crate::bench::{Bench, names, noise};
use proptest::prelude::*;
use rusqlite::{Connection, params};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use stowplan_archive::{Archive, Refusals, TABLE, Unpacked, hostile};

const FILE: i64 = 0o100_644;
const LINK: i64 = 0o120_777;
const DIRECTORY: i64 = 0o040_755;

/// A row as somebody may write it.
type Row = (String, i64, i64, Vec<u8>);

fn write(path: &Path, rows: &[Row]) {
    let connection = Connection::open(path).unwrap();
    connection.execute_batch(TABLE).unwrap();
    insert(&connection, rows);
}

fn insert(connection: &Connection, rows: &[Row]) {
    for (name, mode, sz, data) in rows {
        let row = params![name, mode, 1_000, sz, data];
        connection
            .execute(
                "INSERT OR IGNORE INTO sqlar VALUES(?1, ?2, ?3, ?4, ?5)",
                row,
            )
            .unwrap();
    }
}

fn row(name: &str, mode: i64, sz: i64, data: &[u8]) -> Row {
    (name.to_owned(), mode, sz, data.to_vec())
}

fn unpacked(bench: &Bench, rows: &[Row]) -> Unpacked {
    write(&bench.at("x.sqlar"), rows);
    bench.unpack().unwrap()
}

fn why(unpacked: &Unpacked) -> Vec<(String, String)> {
    let named = unpacked.refused.named.iter();
    let mut why: Vec<_> = named.map(|r| (r.name.clone(), r.why.clone())).collect();
    why.sort();
    why
}

#[test]
fn names_that_lead_elsewhere_are_refused_and_the_others_are_unpacked() {
    let bench = Bench::new();
    let names = [
        "../x",
        "/tmp/stowplan-was-here",
        "a/../../x",
        "..",
        "",
        "a/b/../../../x",
        "x\0y",
    ];
    let mut rows: Vec<Row> = names.iter().map(|name| row(name, FILE, 1, b"x")).collect();
    rows.push(row("./good", FILE, 1, b"g"));
    rows.push(row("also//good", FILE, 1, b"g"));
    let unpacked = unpacked(&bench, &rows);
    assert_eq!(
        (unpacked.files, unpacked.refused.count),
        (2, names.len() as u64)
    );
    assert_eq!(bench.names(), ["back", "x.sqlar"]);
    assert!(!Path::new("/tmp/stowplan-was-here").exists());
    assert_eq!(crate::bench::names(&bench.at("back")), ["also", "good"]);
}

#[test]
fn nothing_is_written_through_a_link() {
    let bench = Bench::new();
    fs::create_dir(bench.at("outside")).unwrap();
    let outside = bench.at("outside").to_str().unwrap().to_owned();
    for rows in [
        [
            row("d", LINK, -1, outside.as_bytes()),
            row("d/x", FILE, 1, b"x"),
        ],
        [
            row("a", FILE, 1, b"x"),
            row("./a", LINK, -1, outside.as_bytes()),
        ],
        [
            row("d/x", FILE, 1, b"x"),
            row("d", LINK, -1, outside.as_bytes()),
        ],
        [row("d", LINK, -1, b".."), row("d/outside/x", FILE, 1, b"x")],
        [
            row("d", LINK, -1, b"../outside/x"),
            row("./d", FILE, 1, b"x"),
        ],
    ] {
        let unpacked = unpacked(&bench, &rows);
        assert_eq!(unpacked.refused.count, 1, "{rows:?}: {unpacked:?}");
        assert_eq!(
            names(&bench.at("outside")),
            Vec::<String>::new(),
            "{rows:?}"
        );
        fs::remove_dir_all(bench.at("back")).unwrap();
        fs::remove_file(bench.at("x.sqlar")).unwrap();
    }
}

#[test]
fn sizes_that_lie_and_streams_that_are_none_are_refused() {
    let bench = Bench::new();
    let mut deflated = Vec::new();
    let zeros = vec![0; 1_000_000];
    let mut encoder = flate2::read::ZlibEncoder::new(&zeros[..], flate2::Compression::new(9));
    std::io::Read::read_to_end(&mut encoder, &mut deflated).unwrap();
    let rows = [
        row("bomb", FILE, 500, &deflated),
        row("cut", FILE, 1_000_000, &deflated[..deflated.len() / 2]),
        row("garbage", FILE, 900, &[7; 100]),
        row("good", FILE, 1_000_000, &deflated),
        row("huge", FILE, i64::MAX, b"x"),
        row("large", FILE, 900_000_000, &deflated),
        row("less", FILE, 1_000_001, &deflated),
        row("link", LINK, -1, b""),
        row("long", LINK, -1, &[b'x'; 5_000]),
        row("minus", FILE, -5, b"x"),
        row("none", FILE, 0, b"x"),
        row("socket", 0o140_644, 1, b"x"),
    ];
    let unpacked = unpacked(&bench, &rows);
    assert_eq!((unpacked.files, unpacked.bytes), (1, 1_000_000));
    assert_eq!(names(&bench.at("back")), ["good"], "no half of one either");
    assert_eq!(unpacked.refused.count, 11, "{:?}", why(&unpacked));
    let verified = bench.verify();
    assert_eq!((verified.entries, verified.refused.count), (1, 11));
}

/// A file whose rows all lead to the pages of the first one's value: seven values, room for one.
fn write_shared_pages(path: &Path) {
    const PAGE: usize = 65_536;
    // As much as fills four pages beside what lies in the row itself.
    const LENGTH: usize = 8_199 + 4 * (PAGE - 4) + 100;
    let values = noise(7 * LENGTH);
    let values: Vec<&[u8]> = values.chunks(LENGTH).collect();
    let rows = values.iter().enumerate();
    let rows: Vec<Row> = rows
        .map(|(number, value)| row(&number.to_string(), FILE, LENGTH as i64, value))
        .collect();
    let connection = Connection::open(path).unwrap();
    connection
        .execute_batch(&format!("PRAGMA page_size = 65536; {TABLE}"))
        .unwrap();
    insert(&connection, &rows);
    drop(connection);
    let mut bytes = fs::read(path).unwrap();
    let find = |within: &[u8], what: &[u8]| {
        within
            .windows(what.len())
            .position(|at| at == what)
            .unwrap()
    };
    // The schema, the table and its index have a page each; the fourth begins with the page that follows it.
    let beyond = bytes[3 * PAGE + 4..][..16].to_vec();
    let local = find(values[0], &beyond);
    for value in &values[1..] {
        let end = PAGE + find(&bytes[PAGE..2 * PAGE], &value[local - 8..local]) + 8;
        bytes[end..end + 4].copy_from_slice(&4_u32.to_be_bytes());
    }
    bytes.truncate(7 * PAGE);
    bytes[28..32].copy_from_slice(&7_u32.to_be_bytes());
    fs::write(path, bytes).unwrap();
}

#[test]
fn rows_that_share_their_bytes_are_told_before_anything_is_written() {
    let bench = Bench::new();
    write_shared_pages(&bench.at("x.sqlar"));
    let told = bench.unpack().unwrap_err().to_string();
    assert!(
        told.contains("made to do harm") && !told.contains('\n'),
        "{told}"
    );
    assert_eq!(bench.names(), ["x.sqlar"]);
    let verified = bench.verify();
    assert!(!verified.database.is_empty(), "{verified:?}");
}

#[test]
fn what_unpack_refuses_verify_refuses_for_the_same_reason() {
    let bench = Bench::new();
    let rows = [
        row("l", LINK, -1, b"/outside"),
        row("l/evil", FILE, 1, b"x"),
        row("n", FILE, 1, b"1"),
        row("./n", FILE, 1, b"2"),
        row("z", LINK, -1, b"a\0b"),
        row(&"n".repeat(256), FILE, 1, b"x"),
        row("d", DIRECTORY, 0, b""),
        row("./d", DIRECTORY, 0, b""),
        row("f/g", FILE, 1, b"x"),
        row("f", FILE, 1, b"x"),
    ];
    let unpacked = unpacked(&bench, &rows);
    let verified = bench.verify();
    assert_eq!(unpacked.refused.count, 5, "{unpacked:?}");
    let mut told: Vec<_> = verified
        .refused
        .named
        .into_iter()
        .map(|r| (r.name, r.why))
        .collect();
    told.sort();
    assert_eq!(told, why(&unpacked));
}

#[test]
fn a_name_that_no_path_can_have_is_refused_without_being_kept() {
    let bench = Bench::new();
    let rows = [
        row(&"a/".repeat(40_000), FILE, 1, b"x"),
        row("good", FILE, 1, b"g"),
    ];
    let unpacked = unpacked(&bench, &rows);
    assert_eq!((unpacked.files, unpacked.refused.count), (1, 1));
    assert!(why(&unpacked)[0].0.len() < 10, "{unpacked:?}");
}

#[test]
fn what_is_no_archive_is_told_in_a_line() {
    let bench = Bench::new();
    let told = |name: &str| {
        let told = Archive::open(&bench.at(name)).unwrap_err().to_string();
        assert!(told.contains(name) && !told.contains('\n'), "{told}");
        told
    };
    bench.write(
        "text",
        "no database, but long enough to be looked at: ".repeat(99),
    );
    bench.write("empty", "");
    assert!(told("text").contains("not an SQLite database"));
    assert!(told("empty").contains("no table sqlar"));
    assert!(told("none").contains("no such file"));
    fs::create_dir(bench.at("directory")).unwrap();
    assert!(told("directory").contains("is a directory"));
    bench.pipe("fifo");
    assert!(told("fifo").contains("no regular file"));
    for (name, sql) in [
        (
            "view",
            "CREATE VIEW sqlar AS SELECT 'x' AS name, 33188 AS mode, 0 AS mtime, 1 AS sz, x'00' AS data",
        ),
        (
            "computed",
            "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data AS (zeroblob(sz)))",
        ),
        (
            "rowid",
            "CREATE TABLE sqlar(name TEXT, mode INT, mtime INT, sz INT, data BLOB, rowid TEXT)",
        ),
        (
            "without",
            "CREATE TABLE sqlar(name TEXT PRIMARY KEY, mode INT, mtime INT, sz INT, data BLOB) WITHOUT ROWID",
        ),
        ("other", "CREATE TABLE sqlar(name, size)"),
        (
            "virtual",
            "CREATE VIRTUAL TABLE sqlar USING fts5(name, mode, mtime, sz, data)",
        ),
    ] {
        Connection::open(bench.at(name))
            .unwrap()
            .execute_batch(sql)
            .unwrap();
        assert!(told(name).contains("sqlar"), "{name}");
    }
}

#[test]
fn files_beside_an_archive_are_reached_through_no_link_and_must_be_what_they_were() {
    let bench = Bench::new();
    for name in ["good", "changed", "shorter", "sub/linked", "gone", "pipe"] {
        bench.write(&format!("from/{name}"), name);
    }
    let pack = bench.limited(0);
    pack.run(&()).unwrap();
    bench.write("x.sqlar.d/changed", "CHANGED");
    bench.write("x.sqlar.d/shorter", "s");
    bench.write("x.sqlar.d/stranger", "s");
    bench.write("outside/linked", "sub/linked");
    for name in ["gone", "pipe"] {
        fs::remove_file(bench.at(&format!("x.sqlar.d/{name}"))).unwrap();
    }
    let pipe = bench.at("x.sqlar.d/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RUSR).unwrap();
    fs::remove_dir_all(bench.at("x.sqlar.d/sub")).unwrap();
    symlink("../outside", bench.at("x.sqlar.d/sub")).unwrap();
    let unpacked = bench.unpack().unwrap();
    assert_eq!(
        names(&bench.at("back")),
        ["good", "sub"],
        "{:?}",
        why(&unpacked)
    );
    assert_eq!((unpacked.files, unpacked.refused.count), (1, 5));
    let verified = bench.verify();
    // The stranger, the link and the pipe are told as such as well.
    assert!(verified.refused.count >= 6, "{verified:?}");
}

fn component() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec!["a", "b", "c", "link", "..", ".", "", "outside"]).prop_map(str::to_owned),
        1 => "\\PC{0,6}",
    ]
}

fn any_row() -> impl Strategy<Value = Row> {
    let name = prop::collection::vec(component(), 1..4).prop_map(|parts| parts.join("/"));
    let mode = prop::sample::select(vec![
        FILE, LINK, DIRECTORY, 0o644, 0o100_000, 0o104_755, 0o060_644, -1,
    ]);
    let target = prop::sample::select(vec!["..", "../outside", "/", "outside", ".", "a", "../.."]);
    let data = prop_oneof![
        target.prop_map(|target| target.as_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..40),
    ];
    let sz = prop_oneof![
        Just(None),
        (-2_i64..60).prop_map(Some),
        any::<i64>().prop_map(Some)
    ];
    (name, mode, sz, data).prop_map(|(name, mode, sz, data)| {
        let length = data.len() as i64;
        (name, mode, sz.unwrap_or(length), data)
    })
}

fn cases(number: u32) -> ProptestConfig {
    ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(number)
    }
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn whatever_rows_say_nothing_outside_the_target_is_touched(
        rows in prop::collection::vec(any_row(), 0..12),
        into_existing in any::<bool>(),
    ) {
        let bench = Bench::new();
        bench.write("outside/precious", "precious");
        if into_existing {
            fs::create_dir(bench.at("back")).unwrap();
        }
        write(&bench.at("x.sqlar"), &rows);
        let before = bench.looks("outside");
        let unpacked = bench.unpack().unwrap();
        prop_assert_eq!(bench.looks("outside"), before);
        prop_assert_eq!(bench.names(), ["back", "outside", "x.sqlar"]);
        let verified = bench.verify();
        prop_assert!(verified.database.is_empty());
        let known = verified.entries + verified.refused.count;
        prop_assert_eq!(known, Archive::open(&bench.at("x.sqlar")).unwrap().count().unwrap());
        prop_assert!(unpacked.files + unpacked.links <= known);
        let named = |refused: &Refusals| {
            let mut named = refused.named.clone();
            named.sort_by(|a, b| (&a.name, &a.why).cmp(&(&b.name, &b.why)));
            named
        };
        prop_assert_eq!(named(&unpacked.refused), named(&verified.refused));
    }

    #[test]
    fn whatever_becomes_of_the_bytes_nothing_panics_and_nothing_else_is_touched(
        damage in prop::collection::vec((any::<u32>(), any::<u8>()), 1..40),
        cut in any::<Option<u16>>(),
    ) {
        let bench = Bench::new();
        bench.tree();
        bench.pack();
        let mut bytes = bench.read("x.sqlar");
        for (place, byte) in damage {
            let place = place as usize % bytes.len();
            bytes[place] = byte;
        }
        bytes.truncate(cut.map_or(bytes.len(), |cut| usize::from(cut) * 3));
        fs::write(bench.at("x.sqlar"), bytes).unwrap();
        let before = bench.looks("from");
        let _ = bench.unpack();
        hostile::archive(bench.path());
        prop_assert_eq!(bench.looks("from"), before);
        let names = bench.names();
        // SQLite keeps its log beside what says that it has one.
        let known = |name: &String| name.starts_with("x.sqlar") || ["back", "from"].contains(&name.as_str());
        prop_assert!(names.iter().all(known), "{:?}", names);
    }
}
