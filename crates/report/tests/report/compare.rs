//! What `stowplan compare` prints of two invented runs.

use crate::fixture;
use crate::holds::{says, says_in_order};
use crate::support::{PLAIN, VERBOSE, in_brief};
use stowplan_analysis::compare::{Decides, Question, compare, compare_sessions};
use stowplan_analysis::{Analysis, CellSummary};
use stowplan_model::{CacheState, Value};
use stowplan_report::compare::{CSV_START, Compared, Side, Source, csv, document, json};
use stowplan_report::document::Document;
use stowplan_report::render::{markdown, terminal};

/// The fixture with a little noise from round to round.
fn base() -> Analysis {
    let mut analysis = fixture::analysis();
    for (round, log) in cells(&mut analysis).flat_map(|cell| &mut cell.series) {
        *log += f64::from(*round * 7 % 20) / 2_000.0 - 0.005;
    }
    analysis
}

fn cells(analysis: &mut Analysis) -> impl Iterator<Item = &mut CellSummary> {
    let comparisons = analysis.comparisons.iter_mut();
    comparisons.flat_map(|comparison| &mut comparison.cells)
}

fn cell<'a>(analysis: &'a mut Analysis, id: &str) -> &'a mut CellSummary {
    cells(analysis).find(|cell| cell.cell.id.0 == id).unwrap()
}

/// BASE with these cells so many times as slow.
fn with_slower(factors: &[(&str, f64)]) -> Analysis {
    let mut analysis = base();
    for (id, factor) in factors {
        let cell = cell(&mut analysis, id);
        cell.series
            .iter_mut()
            .for_each(|(_, log)| *log += factor.ln());
        let time = cell.time_ns.as_mut().unwrap();
        for end in [&mut time.estimate, &mut time.low, &mut time.high] {
            *end *= factor;
        }
    }
    analysis
}

/// A later version: some cells slower, one of them with other settings, one faster, one that does
/// something else, on a machine with another governor.
fn new() -> Analysis {
    let mut new = with_slower(&[
        ("reads/sql", 1.21),
        ("reads/blob", 2.5),
        ("reads/tree", 0.8),
        ("reads/pread", 1.004),
        ("overwrites/safe", 1.05),
        ("overwrites/wal", 1.4),
    ]);
    let settings = &mut cell(&mut new, "reads/blob").cell.settings;
    settings.set("page_size", Value::Number(65_536));
    cell(&mut new, "reads/sql-each").cell.workload.cache = CacheState::Cold;
    cell(&mut new, "overwrites/wal").write_amplification = Some(2.5);
    new.run.started = "2026-02-03T04:05:06Z".to_owned();
    let machine = &mut new.run.environment;
    machine.tool_version = "0.2.0".to_owned();
    machine.governor = Some("powersave".to_owned());
    new
}

/// These, as typed, against BASE.
fn compared<'a>(
    base: &'a Analysis,
    news: &[(&'a str, &'a Analysis)],
    question: &Question,
) -> Compared<'a> {
    let source = |name, analysis| Side::from(Source { name, analysis });
    let against = |new| compare(base, new, question).unwrap();
    let news = news.iter();
    let news = news.map(|(name, new)| (source(name, new), against(new)));
    Compared {
        base: source("results/before", base),
        news: news.collect(),
    }
}

/// What is made of NEW against BASE.
fn of<T>(new: &Analysis, question: &Question, made: impl Fn(&Compared<'_>) -> T) -> T {
    made(&compared(&base(), &[("results/after", new)], question))
}

/// What a terminal shows where nothing special is asked.
fn text(new: &Analysis) -> String {
    terminal::render(&of(new, &Question::default(), document), &PLAIN)
}

/// A result against another.
pub(crate) fn one() -> Document {
    of(&new(), &Question::default(), document)
}

/// Two results against another.
pub(crate) fn several() -> Document {
    let (one, other) = (new(), new());
    let news = [("one", &one), ("other", &other)];
    document(&compared(&base(), &news, &Question::default()))
}

#[test]
fn shows_verdicts_first_and_the_unchanged_last_in_80_columns() {
    let all = text(&new());
    let verbose = terminal::render(&one(), &VERBOSE);
    assert_eq!(verbose, all, "nothing is held back");
    let (verdicts, _) = all.split_once("\nNot compared").unwrap();
    assert_eq!(in_brief(&one(), &PLAIN), verdicts);
    insta::assert_snapshot!(all);
}

#[test]
fn by_ratio_the_table_is_of_ratios_and_the_baseline_is_named() {
    let question = Question {
        threshold: Some(0.1),
        by: Some(Decides::Ratio),
        cells: Vec::new(),
    };
    insta::assert_snapshot!(terminal::render(&of(&new(), &question, document), &PLAIN));
}

#[test]
fn of_another_machine_it_is_said_that_nothing_is_called_a_regression() {
    let mut new = new();
    new.run.environment.host = "elsewhere".to_owned();
    new.run.environment.cpu = None;
    insta::assert_snapshot!(text(&new));
}

#[test]
fn markdown_is_ready_for_a_pull_request() {
    insta::assert_snapshot!(markdown::render(&one()));
}

#[test]
fn json_has_units_in_its_names_and_the_figures_that_are_compared() {
    let text = of(&new(), &Question::default(), |c| json(c).unwrap());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["schema"], stowplan_report::json::SCHEMA_VERSION);
    let cells = &document["results"][0]["cells"];
    let (first, amplified) = (&cells[0], &cells[1]);
    let time = |side: &str| first[side]["estimate"].as_f64().unwrap();
    let of_times = time("new_time_ns") / time("base_time_ns");
    let ratio = first["time"]["ratio"].as_f64().unwrap();
    assert!((of_times / ratio - 1.0).abs() < 1e-9, "{first}");
    assert_eq!(
        [&first["base"], &first["time_verdict"]],
        ["reads/blob", "slower"]
    );
    assert_eq!(first["differences"][0]["what"], "page_size");
    let resources = &amplified["resources"];
    assert_eq!(resources["write_amplification"]["new"], 2.5);
    assert!(resources["peak_memory_bytes"]["base"].is_number());
}

#[test]
fn what_qualifies_the_verdict_stands_under_it_in_short_and_in_markdown() {
    let mut new = new();
    new.end = None;
    let document = of(&new, &Question::default(), document);
    for text in [in_brief(&document, &PLAIN), markdown::render(&document)] {
        let order = [
            "regressed",
            "NEW: The run was cut off",
            "were not compared",
            "reads/blob",
        ];
        says_in_order(&text, &order);
    }
}

#[test]
fn csv_has_a_row_per_cell_that_was_compared() {
    let text = of(&new(), &Question::default(), csv);
    assert!(text.starts_with(CSV_START), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 11);
    let first =
        "results/before,results/after,reads/blob,reads/blob,\"SQLite, sqlite3_blob_read()\",";
    assert!(lines[1].starts_with(first), "{text}");
    says(lines[1], [",time,true,3619.09", ",slower,"]);
}

#[test]
fn small_changes_to_opposite_sides_are_not_called_alike() {
    // Of a baseline 1.05 and 1.12 times as slow, the ratio is 1.05 and 1.05 / 1.12.
    for (of_baseline, ratio) in [(1.0, " +5%"), (1.12, " −6.2%")] {
        let new = with_slower(&[("reads/sql", 1.05), ("reads/dir", of_baseline)]);
        let question = Question {
            threshold: Some(0.5),
            ..Question::default()
        };
        let text = terminal::render(&of(&new, &question, document), &PLAIN);
        let row = text.lines().find(|line| line.starts_with("reads/sql "));
        assert!(row.unwrap().ends_with(ratio), "{text}");
    }
}

#[test]
fn several_sessions_are_counted_named_and_said_to_be_the_unit() {
    // In turns, on a machine that differs a little from session to session.
    let sessions = [
        (0, 1.0, 1.0),
        (1, 1.0, 2.5),
        (2, 1.001, 1.0),
        (3, 1.001, 2.5),
    ];
    let sessions = sessions.map(|(hour, machine, slower)| {
        let mut session = with_slower(&[("reads/sql", slower)]);
        for (_, log) in cells(&mut session).flat_map(|cell| &mut cell.series) {
            *log += f64::ln(machine);
        }
        session.run.started = format!("2026-03-03T{hour:02}:00:00Z");
        session
    });
    let [old_1, new_1, old_2, new_2] = sessions.each_ref();
    let changes = compare_sessions(&[old_1, old_2], &[new_1, new_2], &Question::default());
    let side = |[first, second]: [(&'static str, _); 2]| {
        let source = |(name, analysis)| Source { name, analysis };
        Side {
            first: source(first),
            more: vec![source(second)],
        }
    };
    let document = document(&Compared {
        base: side([("old-1", old_1), ("old-2", old_2)]),
        news: vec![(side([("new-1", new_1), ("new-2", new_2)]), changes.unwrap())],
    });
    assert_eq!(document.title, "new-1 and 1 more against old-1 and 1 more");
    insta::assert_snapshot!(terminal::render(&document, &PLAIN));
}

#[test]
fn a_cell_that_is_slower_by_itself_and_not_among_all_is_no_regression() {
    let (base, new) = (base(), new());
    let mut compared = compared(&base, &[("b", &new)], &Question::default());
    let mut changes = compared.news[0].1.cells.iter_mut();
    let cell = changes.find(|cell| cell.base.0 == "reads/sql").unwrap();
    (cell.regression, cell.adjusted_p) = (false, Some(0.12));
    let text = in_brief(&document(&compared), &PLAIN);
    says(
        &text,
        [
            "3 of 11 cells regressed; 1 slower",
            "[+18%, +24%] slower +21%",
        ],
    );
}
