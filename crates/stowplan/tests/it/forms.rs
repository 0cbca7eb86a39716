//! What verbs find is written in every form, to stdout or to a file, by the same rules.

use crate::bench::Bench;

const MINE: &str = "Years of work.\n";

/// With a database of ten values in `x.db`.
fn bench() -> Bench {
    let bench = Bench::new();
    bench
        .run("kvtest init x.db --count 10 --size 1k -q")
        .exits(0);
    bench
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
        bench
            .run(&format!("{verb} --format html"))
            .prints("<!DOCTYPE html>")
            .prints("<!-- stowplan report -->")
            .prints(says);
        let markdown = bench.run(&format!("{verb} --format md"));
        markdown.prints("\n# ").prints(says);
        let text = markdown.stdout();
        assert!(text.starts_with("<!-- stowplan report -->\n"), "{text}");
        let document = bench.run(&format!("{verb} --json")).json();
        assert_eq!(document["tool"], "stowplan");
        assert_eq!(document["document"], name);
        let told = bench.run(&format!("{verb} --format csv"));
        told.exits(2).warns("one of html, md, json");
    }
    assert_eq!(
        bench.run("stat x.db --format json").json()["document"],
        "stat"
    );
}

#[test]
fn the_name_of_a_file_says_the_form_and_only_our_own_are_replaced() {
    let bench = bench();
    for (verb, says, _) in VERBS {
        for name in ["a.html", "a.md", "a.json"] {
            let line = format!("{verb} --to {name}");
            for _ in 0..2 {
                let written = bench.run(&line);
                assert_eq!(written.stdout(), "", "{line}: {}", written.stderr());
            }
            let said = bench.text(name);
            assert!(said.contains(says) || name == "a.json", "{line}: {said}");
            bench.write(name, MINE);
            let refused = format!("{name} exists, and stowplan did not write it");
            bench.run(&line).refuses(&refused);
            assert_eq!(bench.text(name), MINE);
            std::fs::remove_file(bench.path(name)).unwrap();
        }
        for (form, said) in [
            ("--to a.csv", "end it in one of html, md, json"),
            ("--to report", "its name does not say a format"),
            ("--to nowhere/a.md", "nowhere/a.md"),
        ] {
            bench.run(&format!("{verb} {form}")).refuses(said);
        }
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let bench = bench();
    bench.write("mine.md", MINE);
    let before = std::fs::read(bench.path("x.db")).unwrap();
    bench
        .run("kvtest run x.db --update --overwrite-my-data --rounds 1 --to mine.md")
        .refuses("mine.md exists");
    assert!(std::fs::read(bench.path("x.db")).unwrap() == before);
}

#[test]
fn on_a_terminal_kvtests_lines_have_no_title_above_them_and_reads_no_promise() {
    let bench = bench();
    let stat = bench.run("stat x.db").stdout();
    assert!(stat.starts_with("Number of entries: "), "{stat}");
    let read = bench.run("kvtest run x.db --rounds 1").stdout();
    assert!(read.starts_with("SQLite version: "), "{read}");
    assert!(!read.contains("Promise"), "{read}");
    bench
        .run("kvtest run x.db --rounds 1 --update --overwrite-my-data")
        .exits(0)
        .prints("Promise: ");
}

#[test]
fn a_study_prints_what_it_found_in_the_format_that_is_asked_for() {
    let bench = Bench::new();
    let csv = bench.run("study small.toml --only read --rounds 2 --output out --format csv");
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
    bench
        .run("resume out --format md")
        .exits(0)
        .prints("<!-- stowplan report -->");
    let page = bench.run("resume out --format html");
    assert_eq!(page.exits(0).stdout(), "The report: out/report.html\n");
}
