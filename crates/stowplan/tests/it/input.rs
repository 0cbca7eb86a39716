//! Bad input is refused before anything is built: one clear line, exit code 2, nothing lost.

use crate::bench::{Bench, SMALL, entries};
use crate::kvtest_run::{database, directory};

/// What `study` says of the small study with these replacements, and that there was something to replace.
fn told(replaced: &[(&str, &str)]) -> (String, String) {
    let mut study = SMALL.to_owned();
    for (right, wrong) in replaced {
        assert!(study.contains(right), "{right}");
        study = study.replacen(right, wrong, 1);
    }
    let bench = Bench::new();
    bench.write("wrong.toml", &study);
    let told = bench.run("study wrong.toml --output out").exits(2).stderr();
    assert_eq!(entries(&bench.path("")), ["small.toml", "wrong.toml"]);
    (study, told)
}

#[test]
fn what_is_wrong_in_a_study_file_is_one_line_with_its_place_and_what_was_meant() {
    let of_cell = "wrong.toml:16:7: comparison 'read', cell 'sql': ";
    for (right, wrong, expected) in [
        ("sqlite:api=sql", "sqlit:api=sql", "did you mean 'sqlite'?"),
        (
            "sqlite:api=sql",
            "sqlite:pagesize=4096",
            "did you mean 'page_size'?",
        ),
        ("sqlite:api=sql", "sqlite:api=sqll", "did you mean 'sql'?"),
        ("sqlite:api=sql", "sqlite:api=sqll", of_cell),
        ("sqlite:api=sql", "sqlite:page_size=5000", "power of two"),
        ("sqlite:api=sql", "sqlite:cache=10kk", "unknown suffix 'kk'"),
        ("sqlite:api=sql", "sqlite:api", "name=value"),
        ("baseline = ", "basline = ", "wrong.toml:13:1"),
        ("baseline = ", "basline = ", "did you mean 'baseline'?"),
        (SMALL, "name = ", "wrong.toml:1:"),
        (
            "sql = {",
            "sql = { workload = { cache = \"cold\" },",
            &format!("{of_cell}it does a cold"),
        ),
        (
            "\"read\",",
            "\"read\", delivery = \"in-place\",",
            "in-place",
        ),
        ("count = 300", "count = 3_000_000_000_000", "free"),
    ] {
        let (_, told) = told(&[(right, wrong)]);
        assert_eq!(told.matches("error: ").count(), 1, "{told}");
        assert!(told.contains(expected), "no '{expected}' in {told}");
    }
}

#[test]
fn all_mistakes_of_a_study_file_are_told_at_once_each_with_its_line_and_column() {
    let stores = [("api=sql", "api=sqll"), ("journal=wal", "journal=wall")];
    let (study, both) = told(&stores);
    assert_eq!(both.lines().count(), 2, "{both}");
    for store in [
        "{ store = \"sqlite:api=sqll",
        "{ store = \"sqlite:journal=wall",
    ] {
        let before = &study[..study.find(store).unwrap()];
        let (line, column) = (
            before.lines().count(),
            before.lines().last().unwrap().len() + 1,
        );
        let place = format!("error: wrong.toml:{line}:{column}: comparison '");
        assert!(both.contains(&place), "{place} is not in {both}");
    }
    let (_, all) = told(&[
        ("baseline = ", "basline = "),
        ("title = \"A small study\"", "title = 5"),
        ("datasets.", "dataset."),
    ]);
    assert_eq!(all.lines().count(), 3, "{all}");
    for line in all.lines() {
        let place = line.strip_prefix("error: wrong.toml:");
        let line = place.and_then(|place| place.split_once(':')).unwrap().0;
        assert!(line.parse::<usize>().is_ok(), "{all}");
    }
}

#[test]
fn stores_that_are_wrong_are_told_beside_what_could_not_be_read() {
    let floor = "floor = { store = \"flat\", floor = true, label = \"floor\" }\n";
    let of_a_driver = format!("{floor}mine = {{ store = \"mine/kv\" }}\n");
    let (_, told) = told(&[
        ("operations = 100", "operatoins = 100"),
        ("api=sql", "api=sqll"),
        (floor, &of_a_driver),
        (
            "[datasets.blobs]",
            "[drivers.mine]\ncommand = 5\n[datasets.blobs]",
        ),
    ]);
    for mistake in [
        "wrong.toml:14:34: unknown field `operatoins`",
        "wrong.toml:18:7: comparison 'read', cell 'sql': store spec 'sqlite:api=sqll'",
        "invalid type",
    ] {
        assert!(told.contains(mistake), "{mistake}: {told}");
    }
    // Nobody can say that there is no driver whose command could not be read.
    assert_eq!(told.lines().count(), 3, "{told}");
}

/// What is typed, and what is said of it.
const REFUSALS: &str = include_str!("refusals.txt");

#[test]
fn a_command_that_cannot_be_carried_out_is_one_line_and_nothing_is_made_or_replaced() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("mine")).unwrap();
    bench.write("mine/thesis.txt", "years of work");
    bench.write("result.jsonl", "");
    database(&bench, "x.db");
    bench.write("text", "This is no database at all.");
    std::fs::create_dir(bench.path("empty")).unwrap();
    directory(&bench, "high", 2_001..=2_003);
    directory(&bench, "d", (1..=3).chain([1_500]));
    let before = entries(&bench.path(""));
    let lines = REFUSALS.lines().filter(|line| !line.starts_with('#'));
    for (typed, said) in lines.map(|line| line.split_once(" => ").unwrap()) {
        let run = bench.run(typed);
        run.refuses(said);
        let lines = run.stderr().lines().count();
        assert_eq!((lines, run.stdout().as_str()), (1, ""), "{typed}");
        assert_eq!(entries(&bench.path("")), before, "{typed}");
    }
    assert_eq!(entries(&bench.path("mine")), ["thesis.txt"]);
    assert_eq!(bench.text("small.toml"), SMALL);
}
