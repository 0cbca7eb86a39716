//! Results against each other: what regressed, what did not, and what cannot be compared.

use crate::bench::{Bench, Finished, WHOLE};
use serde_json::{Value, json};
use std::sync::LazyLock;

/// A real result of `small.toml`, as text. Only its times are made up (see [`calm`]).
static MEASURED: LazyLock<String> = LazyLock::new(|| edited(&WHOLE, calm));

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

/// The result with each block changed that is meant, and maybe its time.
fn with_blocks(mut change: impl FnMut(&str, &mut Value)) -> String {
    edited(&MEASURED, |record| {
        if record["type"] == "measurement" {
            let cell = record["cell"].as_str().unwrap().to_owned();
            change(&cell, record);
        }
    })
}

fn multiply(record: &mut Value, percent: u64) {
    let wall = record["wall_ns"].as_u64().unwrap();
    set_time(record, wall * percent / 100);
}

/// The result with the times of one cell multiplied by a percentage.
fn slowed(of: &str, percent: u64) -> String {
    with_blocks(|cell, record| {
        if cell == of {
            multiply(record, percent);
        }
    })
}

/// The result with the times of cells whose name begins like this spread over a factor of ten.
fn scattered(of: &str) -> String {
    with_blocks(|cell, record| {
        if cell.starts_with(of) {
            let is_even = record["round"].as_u64().unwrap() % 2 == 0;
            multiply(record, if is_even { 30 } else { 300 });
        }
    })
}

/// The result with another header.
fn with_header(change: impl Fn(&mut Value)) -> String {
    edited(&MEASURED, |record| {
        if record["type"] == "run" {
            change(record);
        }
    })
}

/// A directory with `base.jsonl` and `new.jsonl`, which is of another run.
fn bench(new: &str) -> Bench {
    let bench = Bench::new();
    bench
        .write("base.jsonl", &MEASURED)
        .write("new.jsonl", &later(new));
    bench
}

/// The result as of another run, begun a century later.
fn later(result: &str) -> String {
    result.replacen("\"started\":\"20", "\"started\":\"21", 1)
}

fn compare(bench: &Bench, options: &str) -> Finished {
    bench.run(&format!("compare base.jsonl new.jsonl {options}"))
}

/// Compares a new result under options: how it ends, and what is said, of what is wrong or otherwise.
#[track_caller]
fn judged(new: &str, expected: &[(&str, i32, &[&str])]) {
    let bench = bench(new);
    for (options, code, said) in expected {
        let found = compare(&bench, options);
        for text in *said {
            match text.strip_prefix("error: ") {
                Some(text) => found.refuses(text),
                None => found.says(text),
            };
        }
        found.exits(*code);
    }
}

fn cell<'a>(document: &'a Value, name: &str) -> &'a Value {
    let cells = document["results"][0]["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["base"] == name).unwrap()
}

#[test]
fn another_run_with_the_same_times_shows_no_change() {
    let all = ["No regression in 4 cells; 4 unchanged.", "read/sql"];
    judged(&MEASURED, &[("", 0, &all)]);
    let bench = bench(&MEASURED);
    compare(&bench, "").fits();
    let document = compare(&bench, "--json").json();
    let time = &cell(&document, "read/sql")["time"];
    assert_eq!(time["ratio"], 1.0);
    assert!(time["low"].as_f64() < Some(1.0) && time["high"].as_f64() > Some(1.0));
}

#[test]
fn a_cell_that_takes_half_as_long_again_is_a_regression_in_every_form_and_one_that_takes_half_is_none()
 {
    let slower = slowed("write/wal", 150);
    let headline = "1 of 4 cells regressed; 3 unchanged.";
    judged(
        &slower,
        &[
            ("", 1, &[headline, "+50%"]),
            ("--quiet", 1, &["write/wal"]),
            ("--format md", 1, &[headline, "| write/wal |"]),
            ("--json --format md", 2, &[]),
        ],
    );
    judged(&slowed("read/sql", 50), &[("", 0, &["1 faster", "−50%"])]);
    let bench = bench(&slower);
    for options in ["", "--quiet", "--verbose --color always", "--by ratio"] {
        let document = compare(&bench, &format!("--json {options}")).json();
        assert_eq!(document["document"], "compare", "{options}");
        assert_eq!(document["regressions"], 1, "{options}");
        let change = cell(&document, "write/wal");
        assert_eq!(change["regression"], true, "{options}");
        let ratio = change["ratio"]["ratio"].as_f64().unwrap();
        assert!((ratio - 1.5).abs() < 0.01, "{options}: {ratio}");
    }
    for name in ["a.html", "a.md", "a.csv", "a.json"] {
        for _ in 0..2 {
            let written = compare(&bench, &format!("--to {name}"));
            assert_eq!(written.exits(1).stdout(), "");
        }
    }
    assert!(bench.text("a.html").contains(headline));
    let markdown = bench.text("a.md");
    assert!(markdown.starts_with("<!-- stowplan compare -->\n"));
    assert_eq!(bench.text("a.csv").lines().count(), 5);
    bench.write("a.csv", "mine");
    compare(&bench, "--to a.csv").refuses("stowplan did not write it");
}

#[test]
fn a_check_that_resolved_nothing_does_not_pass() {
    let inconclusive = "Inconclusive: of 4 cells, none clearly regressed";
    let error = "error: from base.jsonl to new.jsonl no cell is clearly slower";
    judged(
        &scattered(""),
        &[
            ("", 2, &[inconclusive, error]),
            ("--threshold 5%", 2, &[]),
            ("--threshold 900%", 0, &[]),
        ],
    );
}

#[test]
fn one_cell_that_stayed_open_passes_unless_all_are_to_be_resolved() {
    let headline = "No regression in 3 of 4 cells, open of 1; 1 unresolved, 3 unchanged.";
    let open = "error: of new.jsonl it is open whether write/wal regressed";
    let resolved = "--require-resolved";
    judged(
        &scattered("write/wal"),
        &[
            ("", 0, &[headline]),
            (resolved, 2, &[headline, open]),
            ("--require-resolved --threshold 900%", 0, &[]),
        ],
    );
    let both = edited(&scattered("write/wal"), |record| {
        if record["cell"] == "read/sql" && record["type"] == "measurement" {
            multiply(record, 200);
        }
    });
    judged(&both, &[(resolved, 1, &[])]);
    let failed = with_blocks(|cell, record| {
        if cell == "write/wal" {
            *record = json!({ "type": "forgotten" });
        }
    });
    judged(
        &failed,
        &[
            ("", 0, &["NEW: not measured"]),
            (resolved, 2, &["error: write/wal"]),
        ],
    );
}

#[test]
fn a_difference_that_may_be_more_than_the_threshold_is_open_in_headline_comment_and_exit_code() {
    let headline = "No regression by more than 8% in 3 of 4 cells, open of 1; 1 different, \
                    maybe by more than that";
    let open = "error: of new.jsonl it is open whether read/sql regressed";
    judged(
        &slowed("read/sql", 108),
        &[
            ("--threshold 8%", 0, &[headline, "differs"]),
            ("--threshold 8% --require-resolved", 2, &[headline, open]),
            ("--threshold 20% --require-resolved", 0, &[]),
        ],
    );
    let faster = slowed("read/sql", 92);
    judged(&faster, &[("--threshold 8% --require-resolved", 0, &[])]);
    let all = with_blocks(|cell, record| {
        if !cell.contains("floor") {
            multiply(record, 108);
        }
    });
    let none =
        "Inconclusive: of 4 cells, none clearly regressed by more than 8%, or clearly did not";
    let error = "error: inconclusive: from";
    judged(&all, &[("--threshold 8% --format md", 2, &[none, error])]);
}

#[test]
fn a_threshold_says_what_is_too_slow_and_one_that_may_be_100_times_too_wide_is_refused() {
    let ten = "error: '10' for '--threshold <PERCENT>': write 10% if that is meant";
    let less = "error: '-5%' for '--threshold <PERCENT>': it must be from 0.1% to 1000%";
    judged(
        &slowed("read/sql", 150),
        &[
            ("--threshold 40%", 1, &[]),
            ("--threshold 60%", 0, &["small diff."]),
            ("--threshold huge", 2, &["error: write for example 2%"]),
            ("--threshold 10", 2, &[ten]),
            ("--threshold -5%", 2, &[less]),
        ],
    );
}

#[test]
fn what_every_cell_suffered_shows_in_the_time_and_not_in_the_ratio_to_the_baseline() {
    let suffered = with_blocks(|cell, record| match cell {
        // The floor shows a part of it.
        "read/floor" => multiply(record, 105),
        _ if cell.starts_with("read/") => multiply(record, 130),
        _ => {}
    });
    let inconclusive = ["Inconclusive: of 2 cells", "error: inconclusive: from"];
    judged(
        &suffered,
        &[
            ("", 1, &["does not show that"]),
            ("--by ratio", 2, &inconclusive),
            ("--by ratio --threshold 30%", 0, &["baseline"]),
        ],
    );
}

#[test]
fn another_dataset_is_not_compared_and_the_check_does_not_pass() {
    let other = with_header(|header| {
        header["plan"]["datasets"]["blobs"]["count"] = json!(30_000);
    });
    let said = [
        "Not compared",
        "not the same: values 300 → 30,000",
        "error: no cell of new.jsonl can be compared with one of base.jsonl",
    ];
    judged(&other, &[("", 2, &said)]);
    let document = compare(&bench(&other), "--json").json();
    assert_eq!(document["results"][0]["cells"], json!([]));
}

#[test]
fn a_cell_that_promises_something_else_is_listed_and_the_rest_is_compared_with_its_settings() {
    let other = with_header(|header| {
        let comparisons = header["plan"]["comparisons"].as_array_mut().unwrap();
        for comparison in comparisons {
            for cell in comparison["cells"].as_array_mut().unwrap() {
                if cell["id"] == "write/wal" {
                    cell["capabilities"]["durability"]["class"] = json!("none");
                }
                if cell["id"] == "read/sql" {
                    cell["settings"]["page_size"] = json!(8192);
                }
            }
        }
    });
    let said = [
        "No regression in 3 cells",
        "not the same: durability promise",
        "page_size 4096 → 8192",
    ];
    judged(&other, &[("--verbose", 0, &said)]);
}

#[test]
fn on_another_machine_nothing_is_a_regression_unless_a_threshold_says_so() {
    let elsewhere = edited(&slowed("read/sql", 150), |record| {
        if record["type"] == "run" {
            record["environment"]["host"] = json!("elsewhere");
        }
    });
    let said = [
        "+50%",
        "→ elsewhere): of 4 cells, none is called a regression",
        "error: → elsewhere): nothing was judged; give --threshold or --by",
    ];
    let brief = [
        "→ elsewhere): of 4 cells",
        "error: new.jsonl: the machines differ (host ",
    ];
    judged(
        &elsewhere,
        &[
            ("", 2, &said),
            ("--quiet", 2, &brief),
            ("--threshold 5%", 1, &[]),
            ("--by ratio", 1, &[]),
            ("--by time", 1, &[]),
        ],
    );
}

#[test]
fn cells_of_other_names_are_compared_where_they_are_paired() {
    let paired = [
        "read/sql → read/dir",
        "read/dir, read/sql: paired otherwise by --cells",
    ];
    let unlike = [
        "not the same: ",
        "error: --cells read/sql=write/wal: the two cannot be compared in new.jsonl",
    ];
    judged(
        &MEASURED,
        &[
            ("--cells read/sql=read/dir", 1, &paired),
            (
                "--cells read/sqk=read/dir",
                2,
                &["error: did you mean 'read/sql'?"],
            ),
            ("--cells read/sql", 2, &["error: read/sql=read/blob"]),
            (
                "--cells read/sql=read/dir --cells read/sql=read/sql",
                2,
                &["error: 'read/sql' of BASE is paired twice"],
            ),
            ("--cells read/sql=write/wal", 2, &unlike),
        ],
    );
}

#[test]
fn several_results_are_each_compared_with_the_first_and_none_with_itself_except_cell_with_cell() {
    let bench = bench(&slowed("read/sql", 150));
    bench.write("again.jsonl", &later(&MEASURED));
    bench
        .run("compare base.jsonl again.jsonl new.jsonl")
        .exits(1)
        .prints("No regression in 4 cells")
        .prints("1 of 4 cells regressed");
    bench
        .run("compare base.jsonl new.jsonl base.jsonl")
        .refuses("base.jsonl and base.jsonl are of the same run; give it once");
    bench
        .run("compare base.jsonl base.jsonl --cells read/dir=read/sql")
        .exits(0)
        .prints("read/dir → read/sql");
}

#[test]
fn a_missing_or_damaged_result_is_one_clear_error_and_a_damaged_line_is_left_out() {
    let damaged = format!("{}rubbish\n", *MEASURED);
    let bench = bench(&damaged);
    compare(&bench, "")
        .exits(0)
        .prints("No regression in 4 cells")
        .warns("the line is left out");
    bench
        .run("compare base.jsonl gone")
        .refuses("cannot read result gone");
    let newer = with_header(|header| header["schema"] = json!(99));
    for (text, said) in [
        ("{\"type\":\"end\"}\nrubbish\n", "new.jsonl: "),
        ("", "new.jsonl"),
        (newer.as_str(), "use a newer stowplan"),
    ] {
        bench.write("new.jsonl", text);
        compare(&bench, "").refuses(said);
    }
    bench.run("compare base.jsonl").exits(2);
}

#[test]
fn a_run_that_was_cut_off_is_compared_as_far_as_it_came_and_said_to_be_cut_off() {
    let mut lines: Vec<&str> = MEASURED.lines().collect();
    lines.pop();
    let cut = lines.join("\n") + "\n";
    let new = ["NEW: The run was cut off"];
    judged(
        &cut,
        &[
            ("", 0, &["No regression in 4 cells", "The run was cut off"]),
            ("--quiet", 0, &new),
            ("--format md", 0, &new),
        ],
    );
    let document = compare(&bench(&cut), "--json").json();
    assert_eq!(document["base"]["end"]["outcome"], "complete");
    assert_eq!(document["results"][0]["new"]["end"], Value::Null);
}

/// The result as of a run that began in this hour of a later day, every time of it multiplied by a
/// percentage and those of one cell by another one.
fn in_hour(hour: u32, machine: u64, cell: &str, percent: u64) -> String {
    edited(&MEASURED, |record| {
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
    bench.run(&format!("{SIDES} {options}"))
}

#[test]
fn several_sessions_of_each_side_are_compared_by_what_they_differ_by() {
    let bench = sessions(true, "read/sql", 130);
    let found = of_sides(&bench, "");
    found
        .exits(1)
        .prints("1 of 4 cells regressed")
        .says("3 of BASE and 3 of NEW")
        .says("4 cells decide");
    assert!(!found.stdout().contains("ran before"), "{}", found.stdout());
    let document = of_sides(&bench, "--json").json();
    assert_eq!(document["base"]["more"][1]["name"], "base-2.jsonl");
    let result = &document["results"][0];
    let keys = ["unit", "turns", "base_sessions", "family"].map(|key| result[key].clone());
    assert_eq!(keys, [json!("session"), json!("taken"), json!(3), json!(4)]);
    of_sides(&bench, "--format csv").prints("base-0.jsonl base-1.jsonl base-2.jsonl,");
    // Nothing is told from what sessions of one side differ by.
    let bench = sessions(true, "", 100);
    of_sides(&bench, "")
        .refuses("inconclusive: from base-0.jsonl and 2 more to new-0.jsonl and 2 more no cell")
        .refuses("measure more sessions");
    of_sides(&bench, "--threshold 20%").exits(0);
}

#[test]
fn sessions_that_took_no_turns_are_warned_of_with_the_commands_that_do() {
    let bench = sessions(false, "read/sql", 150);
    for options in ["", "--quiet", "--format md"] {
        of_sides(&bench, options)
            .says("Sessions took no turns, those of BASE ran before those of NEW")
            .says("stowplan compare --base base-* --new new-*");
    }
    bench
        .run("compare --base base-0.jsonl --new new-0.jsonl")
        .prints("ran first");
}

#[test]
fn sides_are_given_in_one_way_and_no_run_twice() {
    let bench = sessions(true, "", 100);
    for (sides, said) in [
        ("base-0.jsonl new-0.jsonl --base base-1.jsonl", "--base"),
        ("--base base-0.jsonl", "--new"),
        (
            "--base base-0.jsonl --new new-0.jsonl new-1.jsonl",
            "BASE has 1 and NEW 2 of the results",
        ),
        (
            "--base base-0.jsonl base-0.jsonl --new new-0.jsonl new-1.jsonl",
            "base-0.jsonl and base-0.jsonl are of the same run",
        ),
        (
            "--base base-0.jsonl base-1.jsonl --new new-0.jsonl base-1.jsonl",
            "base-1.jsonl and base-1.jsonl are of the same run",
        ),
    ] {
        bench.run(&format!("compare {sides}")).refuses(said);
    }
}
