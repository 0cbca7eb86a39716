//! JSON and CSV.

use crate::fixture;
use crate::support::{html, json, markdown};
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, Builds, Interval};
use stowplan_model::{Action, Statistic};
use stowplan_report::json::SCHEMA_VERSION;
use stowplan_report::{csv, github_action};

#[test]
fn json_is_one_document_with_its_version() {
    let document = json(&fixture::analysis());
    assert_eq!(document["tool"], "stowplan");
    assert_eq!(document["schema"], SCHEMA_VERSION);
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 4);
    assert_eq!(
        document["comparisons"][0]["contrasts"][1]["verdict"],
        "faster"
    );
}

#[test]
fn csv_has_a_row_per_cell_and_a_field_per_column() {
    let analysis = fixture::analysis();
    let text = csv::render(&analysis);
    let cells: usize = analysis.comparisons.iter().map(|c| c.cells.len()).sum();
    let rows: Vec<Vec<String>> = text.lines().map(fields).collect();
    assert_eq!(rows.len(), cells + 1);
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{row:?}");
    }
    let sql = row_of(&analysis, "reads/sql");
    assert_eq!((&*sql["time_ns"], &*sql["verdict"]), ("4100", "faster"));
    let hostile = row_of(&analysis, "failing/dir");
    assert_eq!(hostile["label"], fixture::HOSTILE_LABEL);
}

#[test]
fn every_column_of_csv_finds_its_field_in_some_run() {
    let mut runs = [
        fixture::analysis(),
        crate::why_run::analysis(),
        crate::measured_run::analysis(),
        crate::inserts::analysis(),
        crate::drivers::with_python(232.0),
    ];
    let comparisons = runs.iter_mut().flat_map(|run| &mut run.comparisons);
    for contrast in comparisons.flat_map(|comparison| &mut comparison.contrasts) {
        contrast.builds = Some(Builds {
            count: 4,
            differ: true,
            deviation: Some(0.05),
        });
    }
    let cells = runs.iter_mut().flat_map(|run| &mut run.comparisons);
    for cell in cells.flat_map(|comparison| &mut comparison.cells) {
        let latencies = cell.latency.iter().cycle().cloned();
        cell.latencies = Action::ALL.into_iter().zip(latencies).collect();
        cell.space_per_value_byte = Some(1.25);
        cell.index_fill = Some(0.7);
        cell.statistic_ns = cell.time_ns;
        if let Some(block) = &mut cell.block_time {
            block.before_commit_ns = Some(1.5);
        }
    }
    let tables: Vec<String> = runs.iter().map(csv::render).collect();
    let titles = fields(tables[0].lines().next().unwrap());
    let rows = tables.iter().flat_map(|table| table.lines().skip(1));
    let rows: Vec<Vec<String>> = rows.map(fields).collect();
    let empty = titles.iter().enumerate();
    let empty = empty.filter(|(column, _)| rows.iter().all(|row| row[*column].is_empty()));
    let empty: Vec<&String> = empty.map(|(_, title)| title).collect();
    assert_eq!(empty, [""; 0]);
}

#[test]
fn what_a_comparison_by_a_percentile_measures_has_a_name_of_its_own() {
    let mut analysis = fixture::analysis();
    let comparison = &mut analysis.comparisons[0];
    comparison.measure = Statistic::P99;
    for cell in &mut comparison.cells {
        cell.statistic_ns = cell.time_ns.map(|time| Interval {
            estimate: 9.0 * time.estimate,
            low: 9.0 * time.low,
            high: 9.0 * time.high,
        });
    }
    let told = |cell: &str| {
        let row = row_of(&analysis, cell);
        ["measure", "time_ns", "statistic_ns"].map(|column| row[column].clone())
    };
    assert_eq!(told("reads/sql"), ["p99", "4100", "36900"]);
    assert_eq!(told("overwrites/dir"), ["time", "174000", ""]);

    let document: Value = serde_json::from_str(&github_action::render(&analysis).unwrap()).unwrap();
    let name = format!("{}/reads/sql", analysis.run.plan.study.name);
    let entry = |name: &str| {
        let mut entries = document.as_array().unwrap().iter();
        entries.find(|entry| entry["name"] == name).unwrap().clone()
    };
    let (time, p99) = (entry(&name), entry(&format!("{name}/p99")));
    assert_eq!(
        (time["value"].as_f64(), p99["value"].as_f64()),
        (Some(4_100.0), Some(36_900.0))
    );
}

#[test]
fn a_failed_cell_has_no_numbers_and_no_zeros() {
    let analysis = fixture::analysis();
    let failed = row_of(&analysis, "failing/redb");
    for name in ["time_ns", "wall_ns", "cpu_ns", "bytes_per_op", "p50_ns"] {
        assert_eq!(failed[name], "", "{name}");
    }
    let document = json(&analysis);
    let cells = document["comparisons"][3]["cells"].as_array().unwrap();
    let failed = cells.last().unwrap();
    assert!(failed["wall_ns"].is_null() && failed["faults"].is_null());
    let markdown = markdown(&analysis);
    let page = html(&analysis, "");
    for text in [markdown, page] {
        assert!(!text.contains("0.00 ns") && !text.contains("NaN"));
    }
}

#[test]
fn csv_runs_no_formula_from_a_label() {
    let mut analysis = fixture::analysis();
    analysis.comparisons[0].cells[0].cell.label = "=HYPERLINK(\"x\")".to_owned();
    let text = csv::render(&analysis);
    assert!(text.contains("\"'=HYPERLINK(\"\"x\"\")\""), "{text}");
}

/// The fields of a line of CSV.
pub(crate) fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        let last = fields.last_mut().unwrap();
        match character {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                last.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            other => last.push(other),
        }
    }
    fields
}

#[test]
fn the_github_action_gets_a_list_where_smaller_is_better() {
    let analysis = fixture::analysis();
    let text = github_action::render(&analysis).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let entries = document.as_array().unwrap();
    let entry = |name: &str| entries.iter().find(|entry| entry["name"] == name).unwrap();
    let sql = entry("fasterthanfs/reads/sql");
    assert_eq!(
        (&sql["unit"], &sql["value"]),
        (&"ns".into(), &4100.0.into())
    );
    assert_eq!(sql["range"], "3977.0 to 4264.0");
    assert_eq!(sql["extra"], "SQLite, prepared SELECT, 20 rounds");
    let none = |part: &str| {
        !entries
            .iter()
            .any(|e| e["name"].as_str().unwrap().ends_with(part))
    };
    assert!(none("/control"), "a copy");
    assert!(none("/failing/redb"), "it has no data");
    for entry in entries {
        let fields: Vec<&String> = entry.as_object().unwrap().keys().collect();
        assert_eq!(fields, ["extra", "name", "range", "unit", "value"]);
    }
}

/// The fields of a row by the names of their columns.
type Row = BTreeMap<String, String>;

/// The row of a cell.
pub(crate) fn row_of(analysis: &Analysis, cell: &str) -> Row {
    let text = csv::render(analysis);
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap();
    let mut rows = lines.map(|row| Row::from_iter(names.iter().cloned().zip(row)));
    let is_of = |row: &Row| format!("{}/{}", row["comparison"], row["cell"]) == cell;
    rows.find(is_of).unwrap()
}

#[test]
fn csv_says_what_to_choose_beside_the_cell_and_json_why() {
    let analysis = fixture::analysis();
    for (cell, column, said) in [
        ("reads/mmap-blob", "recommendation", "use"),
        ("reads/dir", "recommendation", ""),
        ("overwrites/off", "recommendation", "prefer"),
        ("overwrites/wal", "alternative", "more-must-survive"),
        ("cold-reads/dir", "recommendation", "open"),
        ("reads/sql-each", "other_work", "transactions"),
        // Reads have none.
        ("reads/sql", "total_verdict", ""),
    ] {
        assert_eq!(row_of(&analysis, cell)[column], said, "{cell} {column}");
    }
    let total = row_of(&analysis, "overwrites/off");
    let ratio: f64 = total["total_ratio_to_baseline"].parse().unwrap();
    assert!((ratio - 61_100.0 / 192_400.0).abs() < 1e-9, "{ratio}");
    assert_eq!(total["total_verdict"], "faster");

    let document = json(&analysis);
    let advice = &document["comparisons"][1]["recommendation"];
    assert_eq!(advice["kind"], "prefer");
    assert_eq!(advice["choice"], "overwrites/off");
    assert_eq!(advice["over"]["cell"], "overwrites/dir");
    assert!(advice["over"]["ratio"]["high"].as_f64().unwrap() < 1.0);
    assert_eq!(advice["flush"]["verdict"], "faster");
    assert_eq!(advice["alternatives"][0]["when"], "more-must-survive");
    let answers = document["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 5, "four comparisons, and disk space");
    assert_eq!(answers[0]["of"], "comparison");
    assert_eq!(answers[4]["kind"], "smallest");
}

#[test]
fn csv_has_the_percentiles_of_each_operation_of_a_mix() {
    let mut analysis = fixture::analysis();
    let cell = &mut analysis.comparisons[0].cells[3];
    let latency = cell.latency.clone().unwrap();
    cell.latencies
        .insert(stowplan_model::Action::Insert, latency);
    let row = row_of(&analysis, "reads/sql");
    assert_eq!(row["insert_p50_ns"], row["p50_ns"]);
    assert_eq!(row["insert_max_ns"], row["max_ns"]);
    assert_eq!(row["insert_count"], "200000");
    assert_eq!(row["read_p50_ns"], "");
}

#[test]
fn the_builds_of_a_ratio_stand_in_its_sentence_its_row_and_the_line_about_noise() {
    let mut run = fixture::analysis();
    let builds = |count, differ| Builds {
        count,
        differ,
        deviation: Some(0.05_f64.ln_1p()),
    };
    let contrasts = &mut run.comparisons[0].contrasts;
    contrasts[0].builds = Some(builds(8, true));
    contrasts[1].builds = Some(builds(2, false));
    let text = markdown(&run);
    for expected in [
        "on 2 to 8 builds of each store, which differ by up to 5%",
        "8 ≠",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
}
