//! What verbs find is written in every form, to stdout or to a file, by the same rules.

use crate::bench::{Bench, Finished};
use serde_json::Value;

const MINE: &str = "Years of work.\n";

/// With a database of ten values in `x.db`.
fn bench() -> Bench {
    let bench = Bench::new();
    let init = "kvtest init x.db --count 10 --size 1k -q";
    bench.run(&init.split(' ').collect::<Vec<_>>()).exits(0);
    bench
}

fn run(bench: &Bench, line: &str) -> Finished {
    bench.run(&line.split(' ').collect::<Vec<_>>())
}

fn text(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.path(name)).unwrap()
}

/// Verbs that find one document, with something that each form of it says, and the name of the JSON.
const VERBS: [(&str, &str, &str); 3] = [
    ("doctor", "it for measuring", "checkup"),
    ("stat x.db", "Number of entries:        10", "stat"),
    (
        "kvtest run x.db --rounds 1",
        "Microseconds per BLOB read: ",
        "run",
    ),
];

#[test]
fn every_verb_that_finds_a_document_writes_it_in_every_form() {
    let bench = bench();
    for (verb, says, name) in VERBS {
        let page = run(&bench, &format!("{verb} --format html"));
        page.prints("<!DOCTYPE html>")
            .prints("<!-- stowplan report -->")
            .prints(says);
        let markdown = run(&bench, &format!("{verb} --format md"));
        markdown.prints("\n# ").prints(says);
        let first = markdown.stdout().lines().next().map(str::to_owned);
        assert_eq!(first.as_deref(), Some("<!-- stowplan report -->"), "{verb}");
        for json in ["--format json", "--json"] {
            let document = run(&bench, &format!("{verb} {json}")).stdout();
            let document: Value = serde_json::from_str(&document).unwrap();
            assert_eq!(document["tool"], "stowplan");
            assert_eq!(document["document"], name);
        }
        let told = run(&bench, &format!("{verb} --format csv"))
            .exits(2)
            .stderr();
        assert!(told.contains("one of html, md, json"), "{verb}: {told}");
    }
}

#[test]
fn the_name_of_a_file_says_the_form_and_only_our_own_are_replaced() {
    let bench = bench();
    for (verb, says, _) in VERBS {
        for name in ["a.html", "a.md", "a.json"] {
            for _ in 0..2 {
                let written = run(&bench, &format!("{verb} --to {name}"));
                assert_eq!(written.stdout(), "", "{verb} {name}: {}", written.stderr());
            }
            let said = text(&bench, name);
            assert!(said.contains(says) || name == "a.json", "{verb}: {said}");
            bench.write(name, MINE);
            let refused = run(&bench, &format!("{verb} --to {name}"));
            refused.refuses(&format!("{name} exists, and stowplan did not write it"));
            assert_eq!(text(&bench, name), MINE);
            std::fs::remove_file(bench.path(name)).unwrap();
        }
        run(&bench, &format!("{verb} --to a.csv"))
            .refuses("there is no csv of this; end it in .html, .md or .json");
        run(&bench, &format!("{verb} --to report")).refuses("its name does not say which format");
        run(&bench, &format!("{verb} --format md --to a.html"))
            .refuses("says html, but md is asked for");
        run(&bench, &format!("{verb} --to nowhere/a.md")).refuses("nowhere/a.md");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let bench = bench();
    bench.write("mine.md", MINE);
    let before = std::fs::read(bench.path("x.db")).unwrap();
    run(
        &bench,
        "kvtest run x.db --update --overwrite-my-data --rounds 1 --to mine.md",
    )
    .refuses("mine.md exists");
    assert!(std::fs::read(bench.path("x.db")).unwrap() == before);
}

#[test]
fn on_a_terminal_kvtests_lines_have_no_title_above_them_and_reads_no_promise() {
    let bench = bench();
    let stat = run(&bench, "stat x.db").stdout();
    assert!(stat.starts_with("Number of entries: "), "{stat}");
    let read = run(&bench, "kvtest run x.db --rounds 1").stdout();
    assert!(read.starts_with("SQLite version: "), "{read}");
    assert!(!read.contains("Promise"), "{read}");
    run(
        &bench,
        "kvtest run x.db --rounds 1 --update --overwrite-my-data",
    )
    .exits(0)
    .prints("Promise: ");
}

#[test]
fn a_study_prints_what_it_found_in_the_format_that_is_asked_for() {
    let bench = Bench::new();
    let study = "study small.toml --only read --rounds 2 --output out --format csv";
    let csv = run(&bench, study);
    let rows = csv.exits(0).stdout();
    assert!(rows.starts_with("study,scale,"), "{rows}");
    assert_eq!(
        rows.lines().count(),
        5,
        "a header, three cells and the control"
    );
    for name in ["report.html", "summary.md"] {
        assert!(bench.path("out").join(name).exists(), "{name}");
    }
    run(&bench, "resume out --format md")
        .exits(0)
        .prints("<!-- stowplan report -->");
    let page = run(&bench, "resume out --format html");
    assert_eq!(page.exits(0).stdout(), "The report: out/report.html\n");
    run(&bench, "study small.toml --format md --json").refuses("cannot be used with");
    run(&bench, "study small.toml --format md --dry-run").refuses("cannot be used with");
    run(&bench, "study --format md").refuses("--format md: without a study nothing is measured");
}
