//! Bad input is refused before anything is built: one clear line, exit code 2, nothing lost.

use crate::bench::{Bench, SMALL, entries};

#[test]
fn an_unknown_study_is_answered_with_the_nearest_one() {
    Bench::new()
        .run(&["study", "fasterthenfs"])
        .refuses("did you mean 'fasterthanfs'?");
}

#[test]
fn a_mistyped_flag_is_answered_with_the_nearest_one() {
    Bench::new()
        .run(&["study", "small.toml", "--sacle", "quick"])
        .refuses("--scale");
}

#[test]
fn an_unknown_scale_is_answered_with_the_scales_there_are() {
    let bench = Bench::new();
    bench
        .run(&["study", "fasterthanfs", "--scale", "quik"])
        .refuses("did you mean 'quick'?");
}

#[test]
fn an_unknown_store_setting_or_value_is_named_with_its_cell() {
    let bench = Bench::new();
    for (wrong, expected) in [
        ("sqlit:api=sql", "did you mean 'sqlite'?"),
        ("sqlite:pagesize=4096", "did you mean 'page_size'?"),
        ("sqlite:api=sqll", "did you mean 'sql'?"),
        ("sqlite:page_size=5000", "power of two"),
        ("sqlite:cache=10kk", "unknown suffix 'kk'"),
        ("sqlite:api", "name=value"),
    ] {
        bench.write("wrong.toml", &SMALL.replace("sqlite:api=sql", wrong));
        bench.run(&["study", "wrong.toml"]).refuses(expected);
    }
    let cell = bench.write("wrong.toml", &SMALL.replace("api=sql", "api=sqll"));
    cell.run(&["study", "wrong.toml"])
        .refuses("comparison 'read', cell 'sql'");
    let two = SMALL
        .replace("api=sql", "api=sqll")
        .replace("sqlite:journal=wal", "sqlite:journal=wall");
    bench.write("wrong.toml", &two);
    let run = bench.run(&["study", "wrong.toml"]);
    let told = run.exits(2).stderr();
    assert_eq!(told.lines().count(), 2, "{told}");
    for store in [
        "{ store = \"sqlite:api=sqll",
        "{ store = \"sqlite:journal=wall",
    ] {
        let before = &two[..two.find(store).unwrap()];
        let line = before.lines().count();
        let column = before.lines().last().unwrap().len() + 1;
        let place = format!("error: wrong.toml:{line}:{column}: comparison '");
        assert!(told.contains(&place), "{place} is not in {told}");
    }
}

#[test]
fn a_mistake_in_a_study_file_has_a_line_and_a_column() {
    let bench = Bench::new();
    bench.write(
        "wrong.toml",
        &SMALL.replacen("baseline = ", "basline = ", 1),
    );
    bench
        .run(&["study", "wrong.toml"])
        .refuses("wrong.toml:13:1")
        .refuses("did you mean 'baseline'?");
    bench.write("wrong.toml", "name = ");
    bench.run(&["study", "wrong.toml"]).refuses("wrong.toml:1:");
}

#[test]
fn all_mistakes_of_a_study_file_are_told_at_once() {
    let bench = Bench::new();
    let wrong = SMALL
        .replace("baseline = ", "basline = ")
        .replace("title = \"A small study\"", "title = 5")
        .replace("datasets.", "dataset.");
    bench.write("wrong.toml", &wrong);
    let run = bench.run(&["study", "wrong.toml"]);
    let told = run.exits(2).stderr();
    let mistakes: Vec<&str> = told.lines().collect();
    assert_eq!(mistakes.len(), 4, "{told}");
    for mistake in &mistakes {
        let place = mistake.strip_prefix("error: wrong.toml:");
        let line = place.and_then(|place| place.split_once(':')).unwrap().0;
        assert!(line.parse::<usize>().is_ok(), "{told}");
    }
}

#[test]
fn stores_that_are_wrong_are_told_beside_what_could_not_be_read() {
    let bench = Bench::new();
    let floor = "floor = { store = \"flat\", floor = true, label = \"floor\" }\n";
    let of_a_driver = format!("{floor}mine = {{ store = \"mine/kv\" }}\n");
    let wrong = SMALL
        .replacen("baseline = ", "basline = ", 1)
        .replacen("api=sql", "api=sqll", 1)
        .replace(floor, &of_a_driver);
    bench.write(
        "wrong.toml",
        &format!("{wrong}[drivers.mine]\ncommand = 5\n"),
    );
    let run = bench.run(&["study", "wrong.toml"]);
    let told = run.exits(2).stderr();
    for mistake in [
        "wrong.toml:13:1: unknown field `basline`",
        "wrong.toml:16:7: comparison 'read', cell 'sql': store spec 'sqlite:api=sqll'",
        "invalid type",
    ] {
        assert!(told.contains(mistake), "{mistake}: {told}");
    }
    // Nobody can say that there is no driver whose command could not be read.
    assert_eq!(told.lines().count(), 3, "{told}");
}

#[test]
fn a_cell_that_does_other_work_than_the_baseline_is_told_with_its_line() {
    let bench = Bench::new();
    let cold = SMALL.replace(
        "{ store = \"sqlite:api=sql\"",
        "{ workload = { cache = \"cold\" }, store = \"sqlite:api=sql\"",
    );
    assert_ne!(cold, SMALL);
    bench.write("wrong.toml", &cold);
    bench
        .run(&["study", "wrong.toml"])
        .refuses("wrong.toml:16:7: comparison 'read', cell 'sql': it does a cold");
}

#[test]
fn a_study_file_that_is_not_there_is_named() {
    Bench::new()
        .run(&["study", "nowhere.toml"])
        .refuses("nowhere.toml");
}

#[test]
fn an_impossible_combination_as_baseline_is_refused_with_the_reason() {
    let bench = Bench::new();
    let wrong = SMALL.replace(
        "operation = \"read\"",
        "operation = \"read\", delivery = \"in-place\"",
    );
    bench.write("wrong.toml", &wrong);
    bench.run(&["study", "wrong.toml"]).refuses("in-place");
}

#[test]
fn a_cell_filter_that_matches_nothing_is_answered_with_the_nearest_cell() {
    let bench = Bench::new();
    bench
        .run(&["study", "small.toml", "--only", "read/sq"])
        .refuses("did you mean 'read/sql'?");
    bench
        .run(&["study", "small.toml", "--cache-state", "cold"])
        .refuses("nothing is left");
    bench
        .run(&["study", "small.toml", "--rounds", "500"])
        .refuses("1 to 40");
}

#[test]
fn an_output_directory_with_something_in_it_is_left_alone() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("mine")).unwrap();
    bench.write("mine/thesis.txt", "years of work");
    bench
        .run(&["study", "small.toml", "--output", "mine"])
        .refuses("not empty");
    assert_eq!(entries(&bench.path("mine")), ["thesis.txt"]);
    bench
        .run(&["study", "small.toml", "--output", "small.toml"])
        .refuses("small.toml");
}

#[test]
fn a_place_where_nothing_can_be_written_is_named() {
    // Also refuses root, unlike a directory without write permission.
    Bench::new()
        .run(&["study", "small.toml", "--output", "/proc/stowplan"])
        .refuses("/proc/stowplan");
}

#[test]
fn a_dataset_that_does_not_fit_the_disk_is_refused_before_it_is_written() {
    let bench = Bench::new();
    bench.write(
        "big.toml",
        &SMALL.replace("count = 300", "count = 3_000_000_000_000"),
    );
    bench
        .run(&["study", "big.toml", "--output", "out"])
        .refuses("free");
    assert!(!bench.path("out").exists(), "nothing stays behind");
}

#[test]
fn a_result_that_is_none_is_named() {
    let bench = Bench::new();
    bench.run(&["report", "nowhere"]).refuses("nowhere");
    bench.write("result.jsonl", "");
    bench
        .run(&["report", "result.jsonl"])
        .refuses("result.jsonl");
}
