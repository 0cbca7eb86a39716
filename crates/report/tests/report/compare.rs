//! What `stowplan compare` prints of two invented runs.

use crate::fixture;
use crate::said::{in_text, on_page};
use crate::support::{PLAIN, VERBOSE, in_brief, words};
use stowplan_analysis::compare::{Decides, Question, compare, compare_sessions};
use stowplan_analysis::{Analysis, CellSummary};
use stowplan_model::{CacheState, Value};
use stowplan_report::compare::{CSV_START, Compared, Side, Source, csv, document, json};
use stowplan_report::document::{Detail, Document};
use stowplan_report::render::terminal::{self, TerminalOptions};

/// The fixture with a little noise from round to round.
fn base() -> Analysis {
    let mut analysis = fixture::analysis();
    for cell in cells(&mut analysis) {
        for (round, log) in &mut cell.series {
            *log += f64::from(*round * 7 % 20) / 2_000.0 - 0.005;
        }
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

fn slow(analysis: &mut Analysis, id: &str, factor: f64) {
    let cell = cell(analysis, id);
    for (_, log) in &mut cell.series {
        *log += factor.ln();
    }
    let time = cell.time_ns.as_mut().unwrap();
    for end in [&mut time.estimate, &mut time.low, &mut time.high] {
        *end *= factor;
    }
}

/// A later version: two cells slower, one of them with other settings, one faster, one that does
/// something else, and another engine on a newer kernel's options.
fn new() -> Analysis {
    let mut new = base();
    slow(&mut new, "reads/sql", 1.21);
    slow(&mut new, "reads/blob", 2.5);
    slow(&mut new, "reads/tree", 0.8);
    slow(&mut new, "reads/pread", 1.004);
    slow(&mut new, "overwrites/safe", 1.05);
    slow(&mut new, "overwrites/wal", 1.4);
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

/// What is printed of NEW against BASE, by a function of this crate.
fn printed(new: &Analysis, question: &Question, print: impl Fn(&Compared<'_>) -> String) -> String {
    let base = base();
    let changes = compare(&base, new, question).unwrap();
    let source = |name, analysis| Source { name, analysis };
    print(&Compared {
        base: source("results/before", &base).into(),
        news: vec![(source("results/after", new).into(), changes)],
    })
}

fn text(new: &Analysis, question: &Question, options: &TerminalOptions) -> String {
    printed(new, question, |compared| {
        terminal::render(&document(compared), options)
    })
}

/// A result against another.
pub(crate) fn one() -> Document {
    let (base, new) = (base(), new());
    let changes = compare(&base, &new, &Question::default()).unwrap();
    let source = |name, analysis| Source { name, analysis };
    document(&Compared {
        base: source("results/before", &base).into(),
        news: vec![(source("results/after", &new).into(), changes)],
    })
}

/// Two results against another.
pub(crate) fn several() -> Document {
    let (base, one, other) = (base(), new(), new());
    let source = |name, analysis| Source { name, analysis };
    let against = |new| compare(&base, new, &Question::default()).unwrap();
    document(&Compared {
        base: source("before", &base).into(),
        news: vec![
            (source("one", &one).into(), against(&one)),
            (source("other", &other).into(), against(&other)),
        ],
    })
}

fn brief(compared: &Compared<'_>) -> String {
    in_brief(&document(compared), &PLAIN)
}

fn markdown(compared: &Compared<'_>) -> String {
    stowplan_report::render::markdown::render(&document(compared))
}

#[test]
fn shows_verdicts_first_and_the_unchanged_last_in_80_columns() {
    insta::assert_snapshot!(text(&new(), &Question::default(), &PLAIN));
}

#[test]
fn shows_everything_when_verbose() {
    insta::assert_snapshot!(text(&new(), &Question::default(), &VERBOSE));
}

#[test]
fn in_brief_only_verdicts() {
    let question = Question::default();
    insta::assert_snapshot!(printed(&new(), &question, brief));
}

#[test]
fn by_ratio_the_table_is_of_ratios_and_the_baseline_is_named() {
    let question = Question {
        threshold: Some(0.1),
        by: Some(Decides::Ratio),
        cells: Vec::new(),
    };
    insta::assert_snapshot!(text(&new(), &question, &PLAIN));
}

#[test]
fn of_another_machine_it_is_said_that_nothing_is_called_a_regression() {
    let mut new = new();
    new.run.environment.host = "elsewhere".to_owned();
    new.run.environment.cpu = None;
    insta::assert_snapshot!(text(&new, &Question::default(), &PLAIN));
}

#[test]
fn markdown_is_ready_for_a_pull_request() {
    insta::assert_snapshot!(printed(&new(), &Question::default(), markdown));
}

#[test]
fn json_is_one_document_with_its_version_and_units_in_its_names() {
    let text = printed(&new(), &Question::default(), |c| json(c).unwrap());
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["document"], "compare");
    assert_eq!(document["schema"], stowplan_report::json::SCHEMA_VERSION);
    assert_eq!(document["base"]["name"], "results/before");
    let result = &document["results"][0];
    assert_eq!(document["regressions"], result["regressions"]);
    let first = &result["cells"][0];
    assert_eq!(first["base"], "reads/blob");
    let time = |side: &str| first[side]["estimate"].as_f64().unwrap();
    let of_times = time("new_time_ns") / time("base_time_ns");
    let ratio = first["time"]["ratio"].as_f64().unwrap();
    assert!((of_times / ratio - 1.0).abs() < 1e-9, "{first}");
    assert_eq!(first["time_verdict"], "slower");
    assert_eq!(first["differences"][0]["what"], "page_size");
    let amplified = result["cells"].as_array().unwrap().iter();
    let mut amplified = amplified.filter(|cell| cell["base"] == "overwrites/wal");
    let resources = &amplified.next().unwrap()["resources"];
    assert_eq!(resources["write_amplification"]["new"], 2.5);
    assert!(resources["peak_memory_bytes"]["base"].is_number());
}

#[test]
fn small_changes_to_opposite_sides_are_not_called_alike() {
    let of_sql = |of_baseline: f64| {
        let mut new = base();
        slow(&mut new, "reads/sql", 1.05);
        slow(&mut new, "reads/dir", of_baseline);
        let question = Question {
            threshold: Some(0.5),
            ..Question::default()
        };
        let text = text(&new, &question, &PLAIN);
        let row = text.lines().find(|line| line.starts_with("reads/sql "));
        row.unwrap().to_owned()
    };
    // Of the baseline 1.05 and 1.12 times as slow, the ratio is 1.05 and 1.05 / 1.12.
    assert!(of_sql(1.0).ends_with(" +5%"), "{}", of_sql(1.0));
    assert!(of_sql(1.12).ends_with(" −6.2%"), "{}", of_sql(1.12));
}

#[test]
fn what_qualifies_the_verdict_stands_under_it_in_short_and_in_markdown() {
    let mut new = new();
    new.run.started = "2026-03-03T03:03:03Z".to_owned();
    new.end = None;
    for text in [
        printed(&new, &Question::default(), brief),
        printed(&new, &Question::default(), markdown),
    ] {
        let text = words(&text);
        let place = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        let (cut, left_out) = (
            place("NEW: The run was cut off"),
            place("were not compared"),
        );
        assert!(place("regressed") < cut && cut < left_out, "{text}");
        assert!(left_out < place("reads/blob"), "{text}");
    }
}

#[test]
fn other_settings_are_told_of_cells_that_did_not_change_too() {
    let mut new = base();
    new.run.started = "2026-03-03T03:03:03Z".to_owned();
    let settings = &mut cell(&mut new, "reads/sql").cell.settings;
    settings.set("page_size", Value::Number(65_536));
    let question = Question::default();
    for text in [
        text(&new, &question, &PLAIN),
        printed(&new, &question, markdown),
    ] {
        let (_, listed) = text.split_once("Other settings").unwrap_or_default();
        assert!(
            listed.contains("reads/sql: page") && listed.contains("size 4096 → 65,536"),
            "{text}"
        );
    }
}

/// What the document says up to a level of detail.
fn said(new: &Analysis, question: &Question, detail: Detail) -> String {
    printed(new, question, |compared| {
        in_text(&document(compared), detail)
    })
}

#[test]
fn factors_have_one_direction() {
    let text = said(&new(), &Question::default(), Detail::Answer);
    let faster = "reads/tree | 8.74 µs | 6.99 µs | −20% | [−22%, −18%] | faster | −20%";
    assert!(text.contains(faster), "{text}");
    let slower = "reads/blob | 3.62 µs | 9.05 µs | +150% | [+144%, +156%] | regression | +150%";
    assert!(text.contains(slower), "{text}");
}

#[test]
fn several_results_have_a_section_each() {
    let document = several();
    assert_eq!(document.title, "2 results against before");
    let page = on_page(&document);
    assert!(
        page.contains("one against before\n4 of 11 cells regressed"),
        "{page}"
    );
    assert!(
        page.contains("other against before\n4 of 11 cells regressed"),
        "{page}"
    );
}

#[test]
fn csv_has_a_row_per_cell_that_was_compared() {
    let text = printed(&new(), &Question::default(), csv);
    assert!(text.starts_with(CSV_START), "{text}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 1 + 11);
    let first =
        "results/before,results/after,reads/blob,reads/blob,\"SQLite, sqlite3_blob_read()\",";
    assert!(lines[1].starts_with(first), "{text}");
    assert!(lines[1].contains(",time,true,3619.09"), "{text}");
    assert!(lines[1].contains(",slower,"), "{text}");
}

/// Two sessions of each side, those of BASE in these hours and those of NEW in the others.
fn of_sessions(base_hours: [u32; 2], new_hours: [u32; 2], slower: f64) -> Document {
    let session = |hour: u32, machine: f64, slower: f64| {
        let mut session = base();
        for cell in cells(&mut session) {
            for (_, log) in &mut cell.series {
                *log += machine.ln();
            }
        }
        slow(&mut session, "reads/sql", slower);
        session.run.started = format!("2026-03-03T{hour:02}:00:00Z");
        session
    };
    let machines = [1.0, 1.001];
    let of = |hours: [u32; 2], slower: f64| {
        let sessions = hours.into_iter().zip(machines);
        sessions
            .map(|(hour, machine)| session(hour, machine, slower))
            .collect::<Vec<_>>()
    };
    let (olds, news) = (of(base_hours, 1.0), of(new_hours, slower));
    let [base, new] = [&olds, &news].map(|side| side.iter().collect::<Vec<_>>());
    let changes = compare_sessions(&base, &new, &Question::default()).unwrap();
    let source = |name, analysis| Source { name, analysis };
    document(&Compared {
        base: Side {
            first: source("old-1", &olds[0]),
            more: vec![source("old-2", &olds[1])],
        },
        news: vec![(
            Side {
                first: source("new-1", &news[0]),
                more: vec![source("new-2", &news[1])],
            },
            changes,
        )],
    })
}

#[test]
fn several_sessions_are_counted_named_and_said_to_be_the_unit() {
    let document = of_sessions([0, 2], [1, 3], 2.5);
    assert_eq!(document.title, "new-1 and 1 more against old-1 and 1 more");
    insta::assert_snapshot!(terminal::render(&document, &PLAIN));
}

#[test]
fn where_one_side_ran_first_the_commands_that_take_turns_stand_under_the_verdict() {
    let text = words(&in_brief(&of_sessions([0, 1], [2, 3], 1.0), &PLAIN));
    assert!(
        text.contains("those of BASE ran before those of NEW"),
        "{text}"
    );
    assert!(
        text.contains("for i in 1 2; do OLD study STUDY --output base-$i"),
        "{text}"
    );
    let text = words(&in_brief(&of_sessions([2, 3], [0, 1], 1.0), &PLAIN));
    assert!(
        text.contains("those of NEW ran before those of BASE"),
        "{text}"
    );
}

#[test]
fn a_cell_that_is_slower_by_itself_and_not_among_all_is_no_regression() {
    let base = base();
    let mut changes = compare(&base, &new(), &Question::default()).unwrap();
    let cell = changes
        .cells
        .iter_mut()
        .find(|cell| cell.base.0 == "reads/sql");
    let cell = cell.unwrap();
    (cell.regression, cell.adjusted_p) = (false, Some(0.12));
    let new = new();
    let text = words(&in_brief(
        &document(&Compared {
            base: Source {
                name: "a",
                analysis: &base,
            }
            .into(),
            news: vec![(
                Source {
                    name: "b",
                    analysis: &new,
                }
                .into(),
                changes,
            )],
        }),
        &PLAIN,
    ));
    assert!(text.contains("3 of 11 cells regressed; 1 slower"), "{text}");
    assert!(text.contains("[+18%, +24%] slower +21%"), "{text}");
}
