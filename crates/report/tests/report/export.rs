//! JSON and CSV.

use crate::fixture;
use crate::holds::says;
use crate::support::{changed, html, json, markdown};
use serde_json::Value;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, Builds, Interval};
use stowplan_model::{Action, Statistic};
use stowplan_report::json::SCHEMA_VERSION;
use stowplan_report::{csv, github_action};

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
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

/// The rows of CSV, each with its fields by the names of their columns.
fn rows(analysis: &Analysis) -> Vec<BTreeMap<String, String>> {
    let text = csv::render(analysis);
    let mut lines = text.lines().map(fields);
    let names = lines.next().unwrap();
    let rows = lines.map(|row| {
        assert_eq!(row.len(), names.len(), "{row:?}");
        names.iter().cloned().zip(row).collect()
    });
    rows.collect()
}

/// The row of a cell.
pub(crate) fn row_of(analysis: &Analysis, cell: &str) -> BTreeMap<String, String> {
    let mut rows = rows(analysis).into_iter();
    rows.find(|row| format!("{}/{}", row["comparison"], row["cell"]) == cell)
        .unwrap()
}

fn for_the_github_action(analysis: &Analysis) -> Vec<Value> {
    serde_json::from_str(&github_action::render(analysis).unwrap()).unwrap()
}

/// Of what the GitHub action gets, the entry with this name.
fn entry<'a>(entries: &'a [Value], name: &str) -> Option<&'a Value> {
    entries.iter().find(|entry| entry["name"] == name)
}

#[test]
fn csv_has_a_row_per_cell() {
    let analysis = fixture::analysis();
    assert_eq!(rows(&analysis).len(), analysis.cells().count());
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
    for comparison in runs.iter_mut().flat_map(|run| &mut run.comparisons) {
        for contrast in &mut comparison.contrasts {
            contrast.builds = Some(Builds {
                count: 4,
                differ: true,
                deviation: Some(0.05),
            });
        }
        for cell in &mut comparison.cells {
            let latencies = cell.latency.iter().cycle().cloned();
            cell.latencies = Action::ALL.into_iter().zip(latencies).collect();
            cell.space_per_value_byte = Some(1.25);
            cell.index_fill = Some(0.7);
            cell.statistic_ns = cell.time_ns;
            if let Some(block) = &mut cell.block_time {
                block.before_commit_ns = Some(1.5);
            }
        }
    }
    let rows: Vec<BTreeMap<String, String>> = runs.iter().flat_map(rows).collect();
    let is_empty = |column: &&String| rows.iter().all(|row| row[*column].is_empty());
    let empty: Vec<&String> = rows[0].keys().filter(is_empty).collect();
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
    let entries = for_the_github_action(&analysis);
    for (name, ns) in [("reads/sql", 4_100.0), ("reads/sql/p99", 36_900.0)] {
        let entry = entry(&entries, &format!("fasterthanfs/{name}")).unwrap();
        assert_eq!(entry["value"].as_f64(), Some(ns), "{name}");
    }
}

#[test]
fn a_failed_cell_has_no_numbers_and_no_zeros() {
    let analysis = fixture::analysis();
    let failed = row_of(&analysis, "failing/redb");
    for name in ["time_ns", "wall_ns", "cpu_ns", "bytes_per_op", "p50_ns"] {
        assert_eq!(failed[name], "", "{name}");
    }
    let document = json(&analysis);
    let failed = &document["comparisons"][3]["cells"][3];
    assert_eq!(failed["cell"]["key"], "redb");
    assert!(failed["wall_ns"].is_null() && failed["faults"].is_null());
    for text in [markdown(&analysis), html(&analysis, "")] {
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

#[test]
fn the_github_action_gets_a_list_where_smaller_is_better() {
    let entries = for_the_github_action(&fixture::analysis());
    let sql = entry(&entries, "fasterthanfs/reads/sql").unwrap();
    let expected = serde_json::json!({
        "name": "fasterthanfs/reads/sql",
        "unit": "ns",
        "value": 4100.0,
        "range": "3977.0 to 4264.0",
        "extra": "SQLite, prepared SELECT, 20 rounds",
    });
    assert_eq!(*sql, expected);
    for (name, why) in [("reads/control", "a copy"), ("failing/redb", "no data")] {
        let name = format!("fasterthanfs/{name}");
        assert!(entry(&entries, &name).is_none(), "{name}: {why}");
    }
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
        ("overwrites/off", "total_verdict", "faster"),
        // Reads have none.
        ("reads/sql", "total_verdict", ""),
    ] {
        assert_eq!(row_of(&analysis, cell)[column], said, "{cell} {column}");
    }
    let ratio = &row_of(&analysis, "overwrites/off")["total_ratio_to_baseline"];
    let ratio: f64 = ratio.parse().unwrap();
    assert!((ratio - 61_100.0 / 192_400.0).abs() < 1e-9, "{ratio}");

    let document = json(&analysis);
    assert_eq!(document["comparisons"].as_array().unwrap().len(), 4);
    let advice = &document["comparisons"][1]["recommendation"];
    assert!(advice["over"]["ratio"]["high"].as_f64().unwrap() < 1.0);
    let answers = document["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 5, "four comparisons, and disk space");
    for (found, expected) in [
        (&document["tool"], "stowplan"),
        (
            &document["comparisons"][0]["contrasts"][1]["verdict"],
            "faster",
        ),
        (&advice["kind"], "prefer"),
        (&advice["choice"], "overwrites/off"),
        (&advice["over"]["cell"], "overwrites/dir"),
        (&advice["flush"]["verdict"], "faster"),
        (&advice["alternatives"][0]["when"], "more-must-survive"),
        (&answers[0]["of"], "comparison"),
        (&answers[4]["kind"], "smallest"),
    ] {
        assert_eq!(found, expected);
    }
    assert_eq!(document["schema"], SCHEMA_VERSION);
}

#[test]
fn csv_has_the_percentiles_of_each_operation_of_a_mix() {
    let row = row_of(&crate::every::of_mix(), "reads/sql");
    assert_eq!(row["read_p50_ns"], row["p50_ns"]);
    assert_eq!(row["read_max_ns"], row["max_ns"]);
    assert_eq!(row["read_count"], "200000");
    assert_eq!(row["insert_p50_ns"], "");
}

#[test]
fn the_builds_of_a_ratio_stand_in_its_sentence_its_row_and_the_line_about_noise() {
    let builds = |count, differ| {
        Some(Builds {
            count,
            differ,
            deviation: Some(0.05_f64.ln_1p()),
        })
    };
    let run = changed(|run| {
        let contrasts = &mut run.comparisons[0].contrasts;
        contrasts[0].builds = builds(8, true);
        contrasts[1].builds = builds(2, false);
    });
    let noise = "on 2 to 8 builds of each store, which differ by up to 5%";
    says(&markdown(&run), [noise, "8 ≠"]);
}
