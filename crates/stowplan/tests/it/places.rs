//! The user's own data: `stat` of any place, and studies on it.

use crate::bench::Bench;
use stowplan_model::{Record, SizeDistribution};

const STUDY: &str = r#"
name = "mine"
title = "Mine"
question = "?"
[datasets.mine]
from = "place"
count = 40
[datasets.alike]
count = 30
size = { like = "place" }
[[comparison]]
id = "read"
title = "Read"
dataset = "mine"
baseline = "files"
max_rounds = 1
cells = { files = { store = "files" }, sql = { store = "sqlite" } }
[[comparison]]
id = "overwrite"
title = "Overwrite"
dataset = "mine"
baseline = "files"
max_rounds = 1
workload = { operation = "overwrite" }
cells = { files = { store = "files" }, sql = { store = "sqlite" } }
[[comparison]]
id = "alike"
title = "Alike"
dataset = "alike"
baseline = "sql"
max_rounds = 1
cells = { sql = { store = "sqlite" } }
"#;

/// 100 files of 1,000 bytes and more in two directories.
fn with_place() -> Bench {
    let bench = Bench::new();
    for directory in ["place/a", "place/secret"] {
        std::fs::create_dir_all(bench.path(directory)).unwrap();
    }
    for index in 0..100 {
        let directory = if index % 2 == 0 { "a" } else { "secret" };
        let text = format!("bytes of mine {index} ").repeat(60 + index);
        bench.write(&format!("place/{directory}/name-{index}"), &text);
    }
    bench
}

#[test]
fn any_directory_and_any_column_is_surveyed() {
    let bench = with_place();
    std::os::unix::fs::symlink("/etc", bench.path("place/out")).unwrap();
    bench
        .run("stat place --verbose")
        .prints("100 files in 3 directories, 1 symbolic link")
        .prints("1 links out of the tree")
        .prints("size = { like = \"place\" }");
    let document = bench.run("stat place --json").json();
    assert_eq!(document["document"], "survey");
    assert_eq!(document["values"], 100);
    let database = rusqlite::Connection::open(bench.path("x.db")).unwrap();
    database
        .execute_batch(
            "CREATE TABLE t(n TEXT, a BLOB, b BLOB); INSERT INTO t VALUES('x',x'01','bb')",
        )
        .unwrap();
    bench.run("stat x.db").refuses("--table t --column a");
    bench.run("stat x.db --column b").prints("1 in t.b");
    bench.run("stat place --key n").refuses("leave them out");
}

#[test]
fn a_study_measures_the_users_values_and_its_result_holds_none_of_them() {
    let bench = with_place();
    bench.write("mine.toml", STUDY);
    bench.run("study mine.toml --output out --quiet").exits(0);
    let records = bench.records("out");
    let Record::Run(header) = &records[0] else {
        panic!("a result begins with its run");
    };
    let datasets = &header.plan.datasets;
    assert_eq!(datasets["mine"].count, 40);
    assert!(datasets["mine"].size.largest() > 2_000);
    let alike = &datasets["alike"].size;
    assert!(
        matches!(alike, SizeDistribution::Histogram { .. }),
        "{alike:?}"
    );
    let failed = records
        .iter()
        .any(|record| matches!(record, Record::Failure(_)));
    assert!(!failed, "every value was read back and compared");
    for name in ["result.jsonl", "report.html", "summary.md"] {
        let text = std::fs::read_to_string(bench.path("out").join(name)).unwrap();
        for part in ["bytes of mine", "name-1", "secret"] {
            assert!(!text.contains(part), "{name} has {part}");
        }
    }
    let left = std::fs::read_dir(bench.path("place/a")).unwrap().count();
    assert_eq!(left, 50, "the place is only read");
    bench.write("gone.toml", &STUDY.replace("\"place\"", "\"no place\""));
    bench
        .run("study gone.toml --output gone")
        .refuses("no place");
}

#[test]
fn who_goes_back_to_values_that_were_brought_along_still_has_them() {
    let bench = with_place();
    // The first has little time, for the second is thought to take minutes; it takes none, and what is left goes to
    // the first one, whose dataset no later comparison uses.
    bench.write(
        "back.toml",
        r#"
name = "back"
title = "Back"
question = "?"
[datasets.mine]
from = "place"
[datasets.few]
count = 10
size = { distribution = "fixed", bytes = 100 }
[[comparison]]
id = "slow"
title = "Slow"
dataset = "mine"
baseline = "spin"
max_rounds = 10
workload = { operations = 50 }
cells = { spin = { store = "spin:base=10000000" }, files = { store = "files" } }
[[comparison]]
id = "old"
title = "Old"
dataset = "few"
baseline = "sql"
max_rounds = 1
rebuild_every = 1
workload = { age = 300 }
cells = { sql = { store = "sqlite:journal=off,synchronous=off" } }
"#,
    );
    // Were its dataset gone, a run that goes back would end with an error. A slow machine may find no time to, and gets
    // more; a fast one that had as much would be done with the first comparison before the second.
    let goes_back = |seconds: &u32| {
        let run = format!("study back.toml --output out-{seconds} --quiet --budget {seconds}s");
        bench.run(&run).exits(0);
        let records = bench.records(&format!("out-{seconds}")).into_iter();
        let cells = records.filter_map(|record| match record {
            Record::Measurement(block) => Some(block.cell.0),
            _ => None,
        });
        let mut behind = cells.skip_while(|cell| !cell.starts_with("old/"));
        behind.any(|cell| cell.starts_with("slow/"))
    };
    assert!([8, 16, 32, 64].iter().any(goes_back), "none went back");
}
