//! Results against each other: what regressed, what did not, and what cannot be compared.

use crate::bench::{Bench, Finished};
use serde_json::{Value, json};
use std::sync::OnceLock;

/// A real result of `small.toml`, as text. Only its times are made up (see [`calm`]).
fn measured() -> &'static str {
    static RESULT: OnceLock<String> = OnceLock::new();
    RESULT.get_or_init(|| {
        let bench = Bench::new();
        let arguments = "study small.toml --output out --rounds 10 --quiet";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        bench.run(&arguments).exits(0);
        let text = std::fs::read_to_string(bench.path("out/result.jsonl")).unwrap();
        edited(&text, calm)
    })
}

/// The result with each line changed.
pub(crate) fn edited(text: &str, mut edit: impl FnMut(&mut Value)) -> String {
    let lines = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        edit(&mut record);
        format!("{record}\n")
    });
    lines.collect()
}

/// Sets the time of a block, as if all of it were CPU time of its one thread.
fn set_time(record: &mut Value, nanoseconds: u64) {
    for field in ["wall_ns", "thread_cpu_ns", "process_cpu_ns", "user_ns"] {
        record[field] = json!(nanoseconds);
    }
    record["run_delay_ns"] = json!(0);
    record["system_ns"] = json!(0);
}

/// A quiet machine: each operation takes a time that depends on the store, within 1%, so that no
/// test depends on what else runs here.
pub(crate) fn calm(record: &mut Value) {
    if record["type"] != "measurement" {
        return;
    }
    let cell = record["cell"].as_str().unwrap();
    let each = match cell.split(['/', '#']).nth(1).unwrap() {
        "dir" => 8_000,
        "floor" => 2_000,
        _ => 4_000,
    };
    let turn = record["round"].as_u64().unwrap() * 7 + cell.len() as u64 * 3;
    let each = each * (1_000 + turn % 11) / 1_000;
    let operations = record["operations"].as_u64().unwrap();
    set_time(record, operations * each);
}

/// The result with the times of one cell multiplied by a percentage.
fn slowed(cell: &str, percent: u64) -> String {
    edited(measured(), |record| {
        if record["cell"] == cell && record["type"] == "measurement" {
            let wall = record["wall_ns"].as_u64().unwrap();
            set_time(record, wall * percent / 100);
        }
    })
}

/// A directory with `base.jsonl` and `new.jsonl`, which is of another run.
fn bench(new: &str) -> Bench {
    let bench = Bench::new();
    bench
        .write("base.jsonl", measured())
        .write("new.jsonl", &later(new));
    bench
}

/// The result as of another run, begun a century later.
fn later(result: &str) -> String {
    result.replacen("\"started\":\"20", "\"started\":\"21", 1)
}

fn compare(bench: &Bench, options: &str) -> Finished {
    let arguments = format!("compare base.jsonl new.jsonl {options}");
    bench.run(&arguments.split_whitespace().collect::<Vec<_>>())
}

/// Whether the output has this text, however its lines are broken.
#[track_caller]
fn says(found: &Finished, text: &str) {
    let words: Vec<String> = found
        .stdout()
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    assert!(
        words.join(" ").contains(text),
        "no '{text}' in\n{}",
        found.stdout()
    );
}

fn json(bench: &Bench, options: &str) -> Value {
    let finished = compare(bench, &format!("--json {options}"));
    serde_json::from_str(&finished.stdout()).unwrap()
}

fn cell<'a>(document: &'a Value, name: &str) -> &'a Value {
    let cells = document["results"][0]["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["base"] == name).unwrap()
}

#[test]
fn another_run_with_the_same_times_shows_no_change() {
    let bench = bench(measured());
    let found = compare(&bench, "");
    found
        .exits(0)
        .prints("No regression in 4 cells; 4 unchanged.")
        .prints("read/sql");
    assert!(
        !found.stdout().contains("Not compared"),
        "{}",
        found.stdout()
    );
    let lines: Vec<String> = found.stdout().lines().map(str::to_owned).collect();
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{lines:#?}"
    );
    let document = json(&bench, "");
    let time = &cell(&document, "read/sql")["time"];
    assert_eq!(time["ratio"], 1.0);
    assert!(time["low"].as_f64() < Some(1.0) && time["high"].as_f64() > Some(1.0));
}

#[test]
fn changes_are_written_in_every_form_and_only_our_own_files_are_replaced() {
    let bench = bench(&slowed("write/wal", 150));
    let says = "1 of 4 cells regressed; 3 unchanged.";
    for name in ["a.html", "a.md"] {
        for _ in 0..2 {
            let written = compare(&bench, &format!("--to {name}"));
            assert_eq!(written.exits(1).stdout(), "");
        }
        let text = std::fs::read_to_string(bench.path(name)).unwrap();
        assert!(text.contains(says), "{text}");
    }
    let markdown = compare(&bench, "--format md");
    assert!(markdown.stdout().starts_with("<!-- stowplan compare -->\n"));
    let rows = compare(&bench, "--format csv").stdout();
    assert_eq!(rows.lines().count(), 5, "{rows}");
    for name in ["a.csv", "a.json"] {
        for _ in 0..2 {
            compare(&bench, &format!("--to {name}")).exits(1);
        }
    }
    bench.write("a.csv", "mine");
    compare(&bench, "--to a.csv").refuses("stowplan did not write it");
}

#[test]
fn a_cell_that_takes_half_as_long_again_is_a_regression_and_comes_first() {
    let bench = bench(&slowed("write/wal", 150));
    let found = compare(&bench, "");
    found
        .exits(1)
        .prints("1 of 4 cells regressed; 3 unchanged.")
        .prints("+50%");
    let table: Vec<String> = found
        .stdout()
        .lines()
        .filter(|line| line.contains('/') && line.contains('['))
        .map(str::to_owned)
        .collect();
    assert!(table[0].starts_with("write/wal"), "{table:#?}");
    assert!(table[0].contains("regression"), "{table:#?}");
    let document = json(&bench, "");
    assert_eq!(document["regressions"], 1);
    let change = cell(&document, "write/wal");
    assert_eq!(change["regression"], true);
    for what in ["time", "ratio"] {
        let ratio = change[what]["ratio"].as_f64().unwrap();
        assert!((ratio - 1.5).abs() < 0.01, "{what}: {ratio}");
    }
    let quiet = compare(&bench, "--quiet");
    quiet.exits(1).prints("write/wal");
    assert!(!quiet.stdout().contains("read/sql"), "{}", quiet.stdout());
}

#[test]
fn a_cell_that_takes_half_as_long_is_none() {
    let bench = bench(&slowed("read/sql", 50));
    let found = compare(&bench, "");
    found.exits(0).prints("1 faster").prints("−50%");
}

/// The result with the times of cells whose name begins like this spread over a factor of ten.
fn scattered(cells: &str) -> String {
    edited(measured(), |record| {
        let is_meant = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with(cells));
        if is_meant && record["type"] == "measurement" {
            let percent = if record["round"].as_u64().unwrap() % 2 == 0 {
                30
            } else {
                300
            };
            let wall = record["wall_ns"].as_u64().unwrap();
            set_time(record, wall * percent / 100);
        }
    })
}

#[test]
fn a_check_that_resolved_nothing_does_not_pass() {
    let bench = bench(&scattered(""));
    let found = compare(&bench, "");
    found
        .prints("Inconclusive: of 4 cells, none clearly regressed")
        .refuses("from base.jsonl to new.jsonl no cell is clearly slower");
    compare(&bench, "--threshold 5%").exits(2);
    compare(&bench, "--threshold 900%").exits(0);
}

#[test]
fn one_cell_that_stayed_open_passes_unless_all_are_to_be_resolved() {
    let bench = bench(&scattered("write/wal"));
    let headline = "No regression in 3 of 4 cells, open of 1; 1 unresolved, 3 unchanged.";
    compare(&bench, "").exits(0).prints(headline);
    compare(&bench, "--require-resolved")
        .prints(headline)
        .refuses("of new.jsonl it is open whether write/wal regressed");
    compare(&bench, "--require-resolved --threshold 900%").exits(0);
    let both = edited(&scattered("write/wal"), |record| {
        if record["cell"] == "read/sql" && record["type"] == "measurement" {
            let wall = record["wall_ns"].as_u64().unwrap();
            set_time(record, wall * 2);
        }
    });
    bench.write("new.jsonl", &later(&both));
    compare(&bench, "--require-resolved").exits(1);
}

#[test]
fn a_difference_that_may_be_more_than_the_threshold_is_open_in_headline_comment_and_exit_code() {
    let bench = bench(&slowed("read/sql", 108));
    let found = compare(&bench, "--threshold 8%");
    let headline = "No regression by more than 8% in 3 of 4 cells, open of 1; 1 different, \
                    maybe by more than that";
    says(found.exits(0).prints("differs"), headline);
    compare(&bench, "--threshold 8% --require-resolved --format md")
        .prints(headline)
        .refuses("of new.jsonl it is open whether read/sql regressed");
    compare(&bench, "--threshold 20% --require-resolved").exits(0);
    bench.write("new.jsonl", &later(&slowed("read/sql", 92)));
    compare(&bench, "--threshold 8% --require-resolved").exits(0);
    let all = edited(measured(), |record| {
        let is_floor = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.contains("floor"));
        if record["type"] == "measurement" && !is_floor {
            let wall = record["wall_ns"].as_u64().unwrap();
            set_time(record, wall * 108 / 100);
        }
    });
    bench.write("new.jsonl", &later(&all));
    compare(&bench, "--threshold 8% --format md")
        .prints(
            "Inconclusive: of 4 cells, none clearly regressed by more than 8%, or clearly did not",
        )
        .refuses("inconclusive: from");
}

#[test]
fn a_cell_that_failed_in_one_result_is_open_too() {
    let failed = edited(measured(), |record| {
        if record["cell"] == "write/wal" && record["type"] == "measurement" {
            *record = json!({ "type": "forgotten" });
        }
    });
    let bench = bench(&failed);
    compare(&bench, "").exits(0);
    compare(&bench, "--require-resolved").refuses("write/wal");
}

#[test]
fn a_threshold_says_what_is_too_slow() {
    let bench = bench(&slowed("read/sql", 150));
    compare(&bench, "--threshold 40%").exits(1);
    let found = compare(&bench, "--threshold 60%");
    found.exits(0).prints("small diff.");
    compare(&bench, "--threshold huge").refuses("write for example 2%");
}

#[test]
fn a_threshold_that_may_be_100_times_too_wide_is_refused() {
    let bench = bench(&slowed("read/sql", 250));
    compare(&bench, "--threshold 10%").exits(1);
    compare(&bench, "--threshold 10")
        .refuses("'10' for '--threshold <PERCENT>': write 10% if that is meant");
    compare(&bench, "--threshold -5%")
        .refuses("'-5%' for '--threshold <PERCENT>': it must be from 0.1% to 1000%");
}

#[test]
fn what_every_cell_suffered_shows_in_the_time_and_not_in_the_ratio_to_the_baseline() {
    let new = edited(measured(), |record| {
        let of_read = record["cell"]
            .as_str()
            .is_some_and(|cell| cell.starts_with("read/"));
        if of_read && record["type"] == "measurement" {
            let wall = record["wall_ns"].as_u64().unwrap();
            let floor = record["cell"] == "read/floor";
            // The floor shows a part of it.
            set_time(record, wall * if floor { 105 } else { 130 } / 100);
        }
    });
    let bench = bench(&new);
    let found = compare(&bench, "");
    found.exits(1);
    says(&found, "does not show that");
    let document = json(&bench, "");
    assert_eq!(cell(&document, "read/sql")["time_verdict"], "slower");
    let ratio = &cell(&document, "read/sql")["ratio"]["ratio"];
    assert!((ratio.as_f64().unwrap() - 1.0).abs() < 0.01, "{ratio}");
    compare(&bench, "--by ratio")
        .prints("Inconclusive: of 2 cells")
        .refuses("inconclusive: from");
    compare(&bench, "--by ratio --threshold 30%")
        .exits(0)
        .prints("baseline");
}

#[test]
fn another_dataset_is_not_compared_and_the_check_does_not_pass() {
    let new = edited(measured(), |record| {
        if record["type"] == "run" {
            record["plan"]["datasets"]["blobs"]["count"] = json!(30_000);
        }
    });
    let bench = bench(&new);
    let found = compare(&bench, "");
    found
        .prints("Not compared")
        .refuses("no cell of new.jsonl can be compared with one of base.jsonl");
    says(&found, "not the same: values 300 → 30,000");
    assert_eq!(json(&bench, "")["results"][0]["cells"], json!([]));
}

#[test]
fn a_cell_that_promises_something_else_or_is_missing_is_listed_and_the_rest_is_compared() {
    let new = edited(measured(), |record| {
        if record["type"] != "run" {
            return;
        }
        let comparisons = record["plan"]["comparisons"].as_array_mut().unwrap();
        for cell in comparisons
            .iter_mut()
            .flat_map(|c| c["cells"].as_array_mut().unwrap())
        {
            if cell["id"] == "write/wal" {
                cell["capabilities"]["durability"]["class"] = json!("none");
            }
            if cell["id"] == "read/sql" {
                cell["settings"]["page_size"] = json!(8192);
            }
        }
    });
    let found = compare(&bench(&new), "");
    found
        .exits(0)
        .prints("No regression in 3 cells")
        .prints("not the same: durability promise");
    let missing = edited(measured(), |record| {
        if record["cell"] == "write/wal" && record["type"] == "measurement" {
            *record = json!({ "type": "forgotten" });
        }
    });
    compare(&bench(&missing), "")
        .exits(0)
        .prints("NEW: not measured");
}

#[test]
fn other_settings_are_compared_and_shown() {
    let new = edited(&slowed("read/sql", 150), |record| {
        if record["type"] != "run" {
            return;
        }
        let comparisons = record["plan"]["comparisons"].as_array_mut().unwrap();
        for cell in comparisons
            .iter_mut()
            .flat_map(|c| c["cells"].as_array_mut().unwrap())
        {
            if cell["id"] == "read/sql" {
                cell["settings"]["page_size"] = json!(8192);
            }
        }
    });
    let bench = bench(&new);
    compare(&bench, "").exits(1).prints("page_size 4096 → 8192");
}

#[test]
fn on_another_machine_nothing_is_a_regression_unless_a_threshold_says_so() {
    let new = edited(&slowed("read/sql", 150), |record| {
        if record["type"] == "run" {
            record["environment"]["host"] = json!("elsewhere");
        }
    });
    let bench = bench(&new);
    let found = compare(&bench, "");
    found
        .prints("+50%")
        .prints("→ elsewhere")
        .refuses("→ elsewhere): nothing was judged; give --threshold or --by");
    says(
        &found,
        "→ elsewhere): of 4 cells, none is called a regression",
    );
    let quiet = compare(&bench, "--quiet");
    quiet.refuses("new.jsonl: the machines differ (host ");
    says(&quiet, "→ elsewhere): of 4 cells");
    compare(&bench, "--threshold 5%").exits(1);
    compare(&bench, "--by ratio").exits(1);
    compare(&bench, "--by time").exits(1);
}

#[test]
fn cells_of_other_names_are_compared_where_they_are_paired() {
    let bench = bench(measured());
    let found = compare(&bench, "--cells read/sql=read/dir");
    found
        .exits(1)
        .prints("read/sql → read/dir")
        .prints("read/dir, read/sql: paired otherwise by --cells");
    compare(&bench, "--cells read/sqk=read/dir").refuses("did you mean 'read/sql'?");
    compare(&bench, "--cells read/sql").refuses("read/sql=read/blob");
    compare(
        &bench,
        "--cells read/sql=read/dir --cells read/sql=read/sql",
    )
    .refuses("'read/sql' of BASE is paired twice");
    let unlike = compare(&bench, "--cells read/sql=write/wal");
    unlike
        .prints("not the same: ")
        .refuses("--cells read/sql=write/wal: the two cannot be compared in new.jsonl");
}

#[test]
fn a_result_is_not_compared_with_itself_except_cell_with_cell() {
    let bench = bench(measured());
    let arguments = ["compare", "base.jsonl", "new.jsonl", "base.jsonl"];
    bench
        .run(&arguments)
        .refuses("base.jsonl and base.jsonl are of the same run; give it once");
    let arguments = [
        "compare",
        "base.jsonl",
        "base.jsonl",
        "--cells",
        "read/dir=read/sql",
    ];
    let found = bench.run(&arguments);
    found.exits(0).prints("read/dir → read/sql");
}

#[test]
fn several_results_are_each_compared_with_the_first() {
    let bench = bench(&slowed("read/sql", 150));
    bench.write("again.jsonl", &later(measured()));
    let arguments = ["compare", "base.jsonl", "again.jsonl", "new.jsonl"];
    let found = bench.run(&arguments);
    found
        .exits(1)
        .prints("No regression in 4 cells")
        .prints("1 of 4 cells regressed");
}

#[test]
fn every_form_keeps_to_itself_on_stdout() {
    let bench = bench(&slowed("read/sql", 150));
    for options in [
        "",
        "--quiet",
        "--verbose",
        "--threshold 5%",
        "--by ratio",
        "--color always",
    ] {
        let document = json(&bench, options);
        assert_eq!(document["document"], "compare", "{options}");
        assert_eq!(document["schema"], 1, "{options}");
    }
    let comment = compare(&bench, "--format md");
    comment
        .exits(1)
        .prints("| read/sql | ")
        .prints("- regression: read/sql");
    assert!(comment.stdout().starts_with("<!-- stowplan compare -->\n"));
    compare(&bench, "--json --format md").exits(2);
}

#[test]
fn a_missing_or_damaged_result_is_one_clear_error() {
    let bench = bench(measured());
    bench
        .run(&["compare", "base.jsonl", "gone"])
        .refuses("cannot read result gone");
    bench.write("new.jsonl", "{\"type\":\"end\"}\nrubbish\n");
    compare(&bench, "").refuses("new.jsonl: ");
    bench.write("new.jsonl", "");
    compare(&bench, "").refuses("new.jsonl");
    let later = edited(measured(), |record| {
        if record["type"] == "run" {
            record["schema"] = json!(99);
        }
    });
    bench.write("new.jsonl", &later);
    compare(&bench, "").refuses("use a newer stowplan");
    bench.run(&["compare", "base.jsonl"]).exits(2);
}

#[test]
fn a_damaged_line_is_named_and_the_rest_is_compared() {
    let text = format!("{}rubbish\n", measured());
    let found = compare(&bench(&text), "");
    found.exits(0).prints("No regression in 4 cells");
    assert!(
        found.stderr().contains("the line is left out"),
        "{}",
        found.stderr()
    );
}

#[test]
fn a_run_that_was_cut_off_is_compared_as_far_as_it_came_and_said_to_be_cut_off() {
    let mut lines: Vec<&str> = measured().lines().collect();
    lines.pop();
    let text = format!("{}\n", lines.join("\n"));
    let bench = bench(&text);
    let found = compare(&bench, "");
    found.exits(0).prints("No regression in 4 cells");
    says(&found, "The run was cut off");
    for options in ["--quiet", "--format md"] {
        let found = compare(&bench, options);
        says(&found, "NEW: The run was cut off");
        assert!(
            !found.stdout().contains("BASE: The run"),
            "{}",
            found.stdout()
        );
    }
    let document = json(&bench, "");
    assert_eq!(document["base"]["end"]["outcome"], "complete");
    assert_eq!(document["results"][0]["new"]["end"], Value::Null);
}

/// The result as of a run that began in this hour of a later day, every time of it multiplied by a
/// percentage and those of one cell by another one.
fn in_hour(hour: u32, machine: u64, cell: &str, percent: u64) -> String {
    edited(measured(), |record| {
        if record["type"] == "run" {
            record["started"] = json!(format!("2126-01-01T{hour:02}:00:00+00:00"));
        }
        if record["type"] == "measurement" {
            let own = if record["cell"] == cell { percent } else { 100 };
            let wall = record["wall_ns"].as_u64().unwrap();
            set_time(record, wall * machine / 100 * own / 100);
        }
    })
}

/// Three sessions of each side, in turns or one side after the other; in those of NEW one cell takes
/// a percentage of its time.
fn sessions(in_turns: bool, cell: &str, percent: u64) -> Bench {
    let bench = Bench::new();
    for (session, machine) in (0..3).zip([100, 110, 105]) {
        let (base, new) = if in_turns {
            (2 * session, 2 * session + 1)
        } else {
            (session, session + 3)
        };
        bench.write(
            &format!("base-{session}.jsonl"),
            &in_hour(base, machine, "", 100),
        );
        let machine = 210 - machine;
        bench.write(
            &format!("new-{session}.jsonl"),
            &in_hour(new, machine, cell, percent),
        );
    }
    bench
}

const SIDES: &str = "compare --base base-0.jsonl base-1.jsonl base-2.jsonl --new new-0.jsonl \
                     new-1.jsonl --new new-2.jsonl";

fn of_sides(bench: &Bench, options: &str) -> Finished {
    let arguments = format!("{SIDES} {options}");
    bench.run(&arguments.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn several_sessions_of_each_side_are_compared_by_what_they_differ_by() {
    let bench = sessions(true, "read/sql", 130);
    let found = of_sides(&bench, "");
    found.exits(1).prints("1 of 4 cells regressed");
    says(&found, "3 of BASE and 3 of NEW");
    says(&found, "4 cells decide");
    assert!(!found.stdout().contains("ran before"), "{}", found.stdout());
    let document: Value = serde_json::from_str(&of_sides(&bench, "--json").stdout()).unwrap();
    assert_eq!(document["base"]["more"][1]["name"], "base-2.jsonl");
    let result = &document["results"][0];
    let keys = ["unit", "turns", "base_sessions", "family"].map(|key| result[key].clone());
    assert_eq!(keys, [json!("session"), json!("taken"), json!(3), json!(4)]);
    let csv = of_sides(&bench, "--format csv").stdout();
    assert!(
        csv.contains("base-0.jsonl base-1.jsonl base-2.jsonl,"),
        "{csv}"
    );
    // Nothing is told from what sessions of one side differ by.
    let bench = sessions(true, "", 100);
    of_sides(&bench, "")
        .refuses("inconclusive: from base-0.jsonl and 2 more to new-0.jsonl and 2 more no cell");
    of_sides(&bench, "").refuses("measure more sessions");
    of_sides(&bench, "--threshold 20%").exits(0);
}

#[test]
fn sessions_that_took_no_turns_are_warned_of_with_the_commands_that_do() {
    let bench = sessions(false, "read/sql", 150);
    for options in ["", "--quiet", "--format md"] {
        let found = of_sides(&bench, options);
        says(
            &found,
            "Sessions took no turns, those of BASE ran before those of NEW",
        );
        says(&found, "stowplan compare --base base-* --new new-*");
    }
}

#[test]
fn sides_are_given_in_one_way_and_no_run_twice() {
    let bench = sessions(true, "", 100);
    let refuses = |arguments: &str, what: &str| {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        bench.run(&arguments).refuses(what);
    };
    refuses(
        "compare base-0.jsonl new-0.jsonl --base base-1.jsonl",
        "--base",
    );
    refuses("compare --base base-0.jsonl", "--new");
    refuses(
        "compare --base base-0.jsonl --new new-0.jsonl new-1.jsonl",
        "BASE has 1 and NEW 2 of the results",
    );
    refuses(
        "compare --base base-0.jsonl base-0.jsonl --new new-0.jsonl new-1.jsonl",
        "base-0.jsonl and base-0.jsonl are of the same run",
    );
    refuses(
        "compare --base base-0.jsonl base-1.jsonl --new new-0.jsonl base-1.jsonl",
        "base-1.jsonl and base-1.jsonl are of the same run",
    );
    let one = "compare --base base-0.jsonl --new new-0.jsonl";
    let one: Vec<&str> = one.split_whitespace().collect();
    assert!(bench.run(&one).stdout().contains("ran first"));
}
