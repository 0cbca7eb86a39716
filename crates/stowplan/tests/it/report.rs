//! A result is shown again, in every format and against any baseline; several results together; and
//! files of others are left alone.

use crate::bench::{Bench, Finished, entries};
use crate::compare::{calm, edited};
use serde_json::Value;

const MINE: &str = "# My notes\n\nYears of work.\n";

#[test]
fn a_file_that_stowplan_did_not_write_is_left_alone_and_named() {
    let bench = Bench::measured();
    let page = bench.text("out/report.html");
    bench.write("out/report.html", &format!("{page}and more"));
    bench.write("out/summary.md", MINE);
    let again = bench.run("report out");
    again.exits(0).prints("report.html");
    let stderr = again.stderr();
    let about: Vec<&str> = stderr.lines().collect();
    assert_eq!(about.len(), 1, "{stderr}");
    assert!(about[0].contains("out/summary.md is left as it is"));
    assert_eq!(bench.text("out/summary.md"), MINE);
    assert_eq!(bench.text("out/report.html"), page, "its own is replaced");
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );
}

#[test]
fn nothing_is_written_through_a_link() {
    let bench = Bench::measured();
    bench.write("mine", MINE);
    for name in ["summary.tmp", "report.tmp"] {
        std::os::unix::fs::symlink("../mine", bench.path("out").join(name)).unwrap();
    }
    // Even a link to a report of another run.
    std::fs::rename(bench.path("out/summary.md"), bench.path("other.md")).unwrap();
    std::os::unix::fs::symlink("../other.md", bench.path("out/summary.md")).unwrap();
    bench.write("other.md", &bench.text("other.md").replace("Reads", "R"));
    let other = bench.text("other.md");
    let again = bench.run("report out/result.jsonl");
    again.exits(0).warns("out/summary.md is left as it is");
    assert_eq!(bench.text("mine"), MINE);
    assert_eq!(bench.text("other.md"), other);
}

#[test]
fn where_nothing_can_be_written_the_analysis_is_still_printed() {
    let bench = Bench::measured();
    // Its directory refuses root too, unlike one without write permission.
    let result = std::fs::File::open(bench.path("out/result.jsonl")).unwrap();
    let mut command = bench.command("report /proc/self/fd/0");
    let shown = Finished::of(command.stdin(result));
    let (stdout, stderr) = (shown.stdout(), shown.stderr());
    shown.exits(0).prints("A small study");
    assert!(!stdout.contains("report.html"), "{stdout}");
    let warnings: Vec<&str> = stderr.lines().collect();
    assert_eq!(warnings.len(), 2, "{stderr}");
    assert!(!stderr.contains(".tmp"), "{stderr}");
    assert!(warnings[0].contains("summary.md") && warnings[1].contains("report.html"));
}

/// The same result as another machine would have made it.
fn as_if_from(bench: &Bench, host: &str) {
    let raw = bench.text("out/result.jsonl");
    let (header, rest) = raw.split_once('\n').unwrap();
    let mut header: Value = serde_json::from_str(header).unwrap();
    header["environment"]["host"] = host.into();
    std::fs::create_dir(bench.path(host)).unwrap();
    bench.write(
        &format!("{host}/result.jsonl"),
        &format!("{header}\n{rest}"),
    );
}

/// The document of a run that has nothing to warn of.
fn json(finished: &Finished) -> Value {
    assert_eq!(finished.exits(0).stderr(), "");
    finished.json()
}

/// Rows of fields; a quoted one may hold commas, quotes and line feeds.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut row, mut field) = (Vec::new(), Vec::new(), String::new());
    let mut quoted = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            other => field.push(other),
        }
    }
    assert!(!quoted && field.is_empty() && row.is_empty(), "cut short");
    rows
}

#[test]
fn every_format_parses_whatever_else_is_asked_for() {
    let bench = Bench::measured();
    std::fs::remove_file(bench.path("out/report.html")).unwrap();
    std::fs::remove_file(bench.path("out/summary.md")).unwrap();
    for option in ["--quiet", "--verbose --color=always", "--baseline=sql"] {
        let format = |name: &str| bench.run(&format!("report out --format {name} {option}"));
        let document = json(&format("json"));
        assert_eq!(
            (&document["tool"], &document["schema"]),
            (&"stowplan".into(), &1.into())
        );
        assert_eq!(
            json(&bench.run(&format!("report out --json {option}"))),
            document
        );
        let entries = json(&format("github-action-benchmark"));
        let entries = entries.as_array().unwrap();
        let mut names: Vec<_> = entries.iter().map(|e| e["name"].as_str()).collect();
        names.sort_unstable();
        assert_eq!(
            names,
            ["small/read/dir", "small/read/floor", "small/read/sql"].map(Some)
        );
        for entry in entries {
            assert_eq!(entry["unit"], "ns");
            assert!(entry["value"].as_f64().unwrap() > 1.0);
        }
        let table = format("csv");
        table.exits(0);
        let rows = csv(&table.stdout());
        assert_eq!(rows.len(), 5, "a header, three cells and the control");
        assert!(rows.iter().all(|row| row.len() == rows[0].len()));
        let markdown = format("md");
        markdown
            .exits(0)
            .prints("<!-- stowplan report -->")
            .prints("## Each comparison");
    }
    assert_eq!(
        entries(&bench.path("out")),
        ["result.jsonl"],
        "nothing but stdout"
    );
}

#[test]
fn a_file_gets_the_format_of_its_name_and_only_ours_is_replaced() {
    let bench = Bench::measured();
    for name in ["a.html", "a.md", "a.csv", "a.json"] {
        for _ in 0..2 {
            let written = bench.run(&format!("report out --to {name}"));
            written.exits(0);
            assert_eq!((written.stdout(), written.stderr()), Default::default());
        }
        assert!(bench.text(name).contains("SQLite"), "{name}");
        bench.write(name, MINE);
        let refused = bench.run(&format!("report out --to {name}"));
        refused.refuses(&format!("{name} exists, and stowplan did not write it"));
        assert_eq!(bench.text(name), MINE);
    }
    let for_action = "--format=github-action-benchmark";
    let write = || bench.run(&format!("report out --to b.json {for_action}"));
    write().exits(0);
    write().refuses("remove it first, or redirect stdout to it");
    let unclear = bench.run("report out --to report.txt");
    unclear.refuses("its name does not say a format");
    let directory = bench.run("report out --to out --format md");
    directory.refuses("--to out is a directory");
    let both = bench.run("report out --json --format csv");
    both.exits(2);
}

#[test]
fn any_cell_can_be_the_baseline_and_the_files_beside_the_result_keep_theirs() {
    let bench = Bench::measured();
    let before = bench.text("out/report.html");
    let planned = json(&bench.run("report out --json"));
    let other = json(&bench.run("report out --json --baseline sql"));
    let ratio = |document: &Value, cell: &str| {
        let contrasts = document["comparisons"][0]["contrasts"].as_array().unwrap();
        let mut contrasts = contrasts.iter();
        let contrast = contrasts.find(|contrast| contrast["cell"] == cell).unwrap();
        contrast["estimate"]["ratio"].as_f64().unwrap()
    };
    let (there, back) = (ratio(&planned, "read/sql"), ratio(&other, "read/dir"));
    assert!((there * back - 1.0).abs() < 1e-9, "{there} {back}");
    // Its interval is moderated by the other ratios, which are others now.
    let control = |document: &Value| {
        let control = &document["comparisons"][0]["control"];
        (
            control["estimate"]["ratio"].clone(),
            control["verdict"].clone(),
        )
    };
    assert_eq!(control(&planned), control(&other));
    let shown = bench.run("report out --baseline read/sql");
    shown
        .exits(0)
        .prints("The baseline was chosen after the run: read/sql instead of dir");
    shown.warns("keeps the planned baseline");
    assert_eq!(bench.text("out/report.html"), before);
    let page = bench.run("report out --baseline sql --to sql.html");
    page.exits(0);
    assert!(bench.text("sql.html").contains("instead of dir"));
    let slip = bench.run("report out --baseline sqll");
    slip.refuses("no cell is called 'sqll' (there are dir, floor, sql); did you mean 'sql'?");
    let floor = bench.run("report out --baseline floor");
    floor.refuses("'floor' is a floor");
}

#[test]
fn several_results_are_set_side_by_side_in_every_format() {
    let bench = Bench::measured();
    bench.write(
        "out/result.jsonl",
        &edited(&bench.text("out/result.jsonl"), calm),
    );
    as_if_from(&bench, "attic");
    as_if_from(&bench, "lab");
    let run = |more: &str| bench.run(&format!("report out attic lab/result.jsonl {more}"));
    let shown = run("");
    shown.exits(0).prints("3 machines, scale standard");
    run("--verbose")
        .exits(0)
        .prints("SQLite: faster on all 3 machines");
    shown
        .fits()
        .prints("The report: stowplan-results/machines-small.html");
    assert_eq!(shown.stderr(), "");
    let page = bench.text("stowplan-results/machines-small.html");
    assert_eq!(page.matches("-result.jsonl.gz\" href=\"data:").count(), 3);
    let document = json(&run("--json"));
    assert_eq!(document["document"], "machines");
    assert_eq!(document["machines"].as_array().unwrap().len(), 3);
    let rows = csv(&run("--format csv").stdout());
    assert_eq!(rows.len(), 1 + 3 * 4);
    assert_eq!(rows[0].last().unwrap(), "machine");
    assert_eq!(rows.last().unwrap().last().unwrap(), "lab");
    run("--format md").exits(0).prints("| machine |");
    run("--to all.html").exits(0);
    assert!(bench.text("all.html").contains("<!-- stowplan report -->"));
    let before = bench.text("stowplan-results/machines-small.html");
    let rebased = run("--verbose --baseline sql");
    rebased.exits(0).prints("files: slower on all 3 machines");
    rebased.prints("The baseline was chosen after the run: sql instead of dir");
    rebased.warns("keeps the planned baseline");
    run("--baseline sql --format html").refuses("keeps the planned baseline");
    assert_eq!(bench.text("stowplan-results/machines-small.html"), before);
    run("--baseline sql --to sql.html").exits(0);
    assert!(
        bench
            .text("sql.html")
            .contains("chosen after the run: sql instead of dir")
    );
    run("--format github-action-benchmark").refuses("call it once for each of the 3 results");
    assert_eq!(entries(&bench.path("attic")), ["result.jsonl"]);
}

#[test]
fn a_page_of_machines_that_cannot_be_written_is_a_warning_and_another_scale_has_its_own() {
    let bench = Bench::measured();
    as_if_from(&bench, "attic");
    let quick = |name: &str| {
        let raw = bench.text(&format!("{name}/result.jsonl"));
        let (header, rest) = raw.split_once('\n').unwrap();
        let mut header: Value = serde_json::from_str(header).unwrap();
        header["plan"]["scale"] = "quick".into();
        bench.write(
            &format!("{name}/result.jsonl"),
            &format!("{header}\n{rest}"),
        );
    };
    bench.write("stowplan-results", MINE);
    let shown = bench.run("report out attic");
    shown.exits(0).prints("2 machines, scale standard");
    shown
        .warns("create directory stowplan-results")
        .warns("the report is printed only");
    std::fs::remove_file(bench.path("stowplan-results")).unwrap();
    for name in ["out", "attic"] {
        quick(name);
    }
    let shown = bench.run("report out attic");
    shown
        .exits(0)
        .prints("The report: stowplan-results/machines-small-quick.html");
}

#[test]
fn results_that_do_not_belong_together_are_refused_by_name() {
    let bench = Bench::measured();
    bench
        .run("report out out")
        .refuses("are of the same run; give it once");
    let other = bench
        .text("out/result.jsonl")
        .replace("\"name\":\"small\"", "\"name\":\"other\"")
        .replacen("\"started\":\"20", "\"started\":\"21", 1);
    std::fs::create_dir(bench.path("there")).unwrap();
    bench.write("there/result.jsonl", &other);
    let refused = bench.run("report out there");
    refused.refuses(
        "not of one study at one scale: small at scale standard (out/result.jsonl); other at scale \
         standard (there/result.jsonl)",
    );
}

#[test]
fn a_result_that_cannot_be_read_says_why_and_others_are_shown_without_it() {
    let bench = Bench::measured();
    let raw = bench.text("out/result.jsonl");
    as_if_from(&bench, "attic");
    std::fs::create_dir_all(bench.path("bad")).unwrap();
    bench
        .run("report bad")
        .refuses("bad has no result.jsonl; give the directory of a run");
    bench
        .run("report .")
        .refuses("2 directories in it have one");
    bench
        .run("report nowhere")
        .refuses("cannot read result nowhere");
    let newer = raw.replacen("\"schema\":1", "\"schema\":99", 1);
    for (damaged, why) in [
        ("", "the run ended before it recorded anything"),
        (&raw[..200], "the run ended before it recorded anything"),
        (&raw[20..], "line 1: "),
        ("Dear diary,\nnothing.\n", "is it one of stowplan?"),
        (newer.as_str(), "use a newer stowplan"),
    ] {
        bench.write("bad/result.jsonl", damaged);
        bench.run("report bad").refuses(why);
        let together = bench.run("report out bad attic --quiet");
        together.exits(1).prints("2 machines");
        let said = together.stderr();
        assert!(
            said.contains(why) && said.contains("this result is left out"),
            "{said}"
        );
        let alone = bench.run("report out bad");
        alone.refuses("of 2 results only 1 can be read");
    }
}
