//! `stowplan study --turn`, on a store of known cost beside files.

use crate::bench::{Bench, Finished};
use serde_json::{Value, json};

/// The store of known cost is faster than files, and published is the opposite.
const STUDY: &str = r#"
name = "turn"
title = "Turn"
question = "What turns it?"
[datasets.blobs]
count = 1_000
size = { distribution = "fixed", bytes = 100 }
[systems]
then = "a machine"
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 300 }
baseline = "files"
max_rounds = 10
[comparison.cells]
files = { store = "files", label = "files" }
known = { store = "spin", label = "known" }
unpublished = { store = "spin:base=1", label = "unpublished" }
[[chart]]
id = "c"
title = "Reads"
comparison = "read"
reference = "files"
bars = ["known"]
published = { then = 2.0 }
published_label = "known / files"
"#;

const WEAK: &str = r#"
[[factor]]
id = "weak"
title = "costs 10 ns more"
stores = ["spin"]
settings = { per_kib = "100" }
"#;

const STRONG: &str = r#"
[[factor]]
id = "strong"
title = "costs 200 µs"
stores = ["spin"]
settings = { base = "200000" }
[[factor]]
id = "none"
title = "is so already"
stores = ["files"]
settings = { layout = "dir" }
workload = { order = "random" }
[[factor]]
id = "impossible"
title = "is no setting"
stores = ["spin"]
settings = { colour = "red" }
"#;

fn ran(bench: &Bench, factors: &str, more: &[&str]) -> Finished {
    bench.write("turn.toml", &format!("{STUDY}{factors}"));
    bench.run(&[&["study", "turn.toml", "--output", "out"], more].concat())
}

fn turns(bench: &Bench, run: &Finished) -> Value {
    run.exits(0);
    let document = bench.run(&["report", "out", "--json"]).exits(0).stdout();
    let document: Value = serde_json::from_str(&document).unwrap();
    document["turns"].clone()
}

#[test]
fn the_factor_that_turns_an_order_is_named_with_its_figures() {
    let bench = Bench::new();
    let run = ran(&bench, &format!("{WEAK}{STRONG}"), &["--turn"]);
    let text = run.exits(0).stdout();
    let found = turns(&bench, &run);
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    let turn = &found[0];
    assert_eq!(
        turn["answer"],
        json!({ "kind": "turned", "sets": [["strong"]], "undecided": 0 })
    );
    assert_eq!(turn["turn"]["factors"], json!(["weak", "strong"]));
    let left_out = turn["turn"]["left_out"].as_object().unwrap();
    assert!(left_out.len() == 1 && left_out["impossible"].as_str().unwrap().contains("colour"));
    let tries = turn["tries"].as_array().unwrap();
    let verdict = |n: usize| tries[n]["contrast"]["verdict"].as_str().unwrap();
    assert_eq!(
        [verdict(0), verdict(1), verdict(2)],
        ["faster", "faster", "slower"]
    );
    for told in [
        "What turns the order here",
        "what turns the order is strong",
        "costs 200 µs",
        "turns it",
        "impossible",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    let long = |line: &&str| line.chars().count() > 80 && !line.starts_with("The report");
    assert_eq!(text.lines().find(long), None);
}

#[test]
fn where_no_factor_turns_it_every_set_is_tried_and_a_run_that_was_cut_goes_on() {
    let bench = Bench::new();
    let more = WEAK
        .replace("weak", "also-weak")
        .replace("per_kib = \"100\"", "base = \"1\"");
    let run = ran(&bench, &format!("{WEAK}{more}"), &["--turn", "read/known"]);
    let found = turns(&bench, &run);
    assert_eq!(
        found[0]["answer"],
        json!({ "kind": "not-turned", "tried": 3, "undecided": 0, "largest": 2 }),
        "{found}"
    );
    // As if it had ended before the second level.
    let path = bench.path("out/result.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let second = whole
        .lines()
        .filter(|line| line.contains("\"type\":\"extension\""))
        .nth(1)
        .unwrap();
    let at = whole.find(second).unwrap();
    std::fs::write(&path, &whole[..at]).unwrap();
    let resumed = bench.run(&["study", "--resume", "out", "--quiet"]);
    assert_eq!(turns(&bench, &resumed)[0]["answer"], found[0]["answer"]);
}

#[test]
fn what_is_not_published_is_turned_on_request_and_what_agrees_is_left_alone() {
    let bench = Bench::new();
    let agrees = STUDY.replace("then = 2.0", "then = 0.5");
    bench.write("turn.toml", &format!("{agrees}{STRONG}"));
    let run = bench.run(&["study", "turn.toml", "--turn", "--output", "out"]);
    let text = run.exits(0).stdout();
    assert!(text.contains("so there is nothing"), "{text}");
    assert_eq!(turns(&bench, &run), Value::Null);

    // Nothing was published of it: what turns it into the opposite of what it is.
    let bench = Bench::new();
    let run = ran(&bench, STRONG, &["--turn", "read/unpublished"]);
    let turn = &turns(&bench, &run)[0];
    assert_eq!(turn["turn"]["published"], Value::Null, "{turn}");
    assert_eq!(turn["turn"]["reference"], "files");
    assert_eq!(
        turn["answer"],
        json!({ "kind": "turned", "sets": [["strong"]], "undecided": 0 }),
        "{turn}"
    );
    let text = run.stdout();
    assert!(!text.contains("Published:"), "{text}");
}

#[test]
fn a_dry_run_says_what_may_be_switched_and_how_long_all_of_it_takes() {
    let bench = Bench::new();
    let run = ran(&bench, &format!("{WEAK}{STRONG}"), &["--turn", "--dry-run"]);
    let text = run.exits(0).stdout();
    for told in [
        "read/known against files: weak, strong: 3 sets, ",
        "up to 20 rounds",
        "not switched: impossible:",
        "All of it takes ",
    ] {
        assert!(text.contains(told), "{told}: {text}");
    }
    assert_eq!(text.lines().find(|line| line.chars().count() > 80), None);
    assert!(!bench.path("out").exists());
}

#[test]
fn what_cannot_be_turned_is_refused_before_anything_is_measured() {
    let bench = Bench::new();
    for (factors, asked, told) in [
        ("", &["--turn"][..], "names no factors"),
        (WEAK, &["--turn", "raed"], "did you mean 'read'?"),
        (
            WEAK,
            &["--turn", "read/knwon"],
            "did you mean 'read/known'?",
        ),
        (WEAK, &["--turn", "read/files"], "against its"),
        (WEAK, &["--turn", "--why"], "exclude each other"),
        (
            &WEAK.replace("spin", "sipn"),
            &["--turn"],
            "no cell of its comparisons has a store 'sipn'; did you mean 'spin'?",
        ),
    ] {
        ran(&bench, factors, asked).refuses(told);
    }
    let without = STUDY.replace("published = { then = 2.0 }", "");
    bench.write("turn.toml", &format!("{without}{WEAK}"));
    let run = bench.run(&["study", "turn.toml", "--turn"]);
    run.refuses("no order of study 'turn' was published");
    let run = bench.run(&["study", "--turn", "fasterthanfs"]);
    run.refuses("stowplan study fasterthanfs --turn;");
}
