//! Matrices of made-up runs.

use crate::runs::{recorded, sizes};
use crate::support::{block, cell, comparison, elsewhere, id, named, near, planned};
use stowplan_analysis::{BySize, Side, SizePoint, Verdict};
use stowplan_model::{Comparison, Measurement, Operation, Plan, Role, Study};

const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[[matrix]]
id = "read"
title = "Reads"
sizes = [10_000, 100_000, 1_000_000]
bytes = 10_000_000
internal = { store = "sqlite", label = "SQLite" }
row_setting = "page_size"
rows = [1_024, 8_192]
external = { store = "files-indexed", label = "files" }
[matrix.published]
label = "2011"
sizes = [10_000, 1_000_000]
ratios = { 8192 = [2.24, 0.72] }
"#;

/// A column of the plan, as the harness plans it.
fn column(name: &str) -> Comparison {
    let mut column = comparison(&["1024", "8192"]);
    column.cells[0] = cell("external", Role::Baseline);
    column.cells[1] = cell("external#2", Role::Control);
    for contrast in &mut column.contrasts {
        contrast.reference = id("external");
    }
    named(name, column)
}

/// Ten rounds of a column, microseconds a block: external, each row. The control takes `control` times
/// as long as the baseline.
fn measured(name: &str, times: [f64; 3], control: f64) -> Vec<Measurement> {
    let keys = ["external", "1024", "8192", "external#2"];
    let times = [times[0], times[1], times[2], times[0] * control];
    let cells = keys.into_iter().zip(times);
    let all = cells.flat_map(|cell| (0..10).map(move |round| (cell, round)));
    all.map(|((key, micros), round)| {
        let jitter = 1.0 + f64::from((round * 7 + key.len() as u32) % 5) / 1_000.0;
        Measurement {
            cell: elsewhere(&id(key), name),
            ..block(key, round, (micros * 1_000.0 * jitter) as u64)
        }
    })
    .collect()
}

fn matrix(columns: &[&str], blocks: Vec<Measurement>) -> Option<BySize> {
    let change = |plan: &mut Plan| {
        plan.study = Study::parse(STUDY, "t.toml").unwrap().expanded();
        plan.datasets.clone_from(&plan.study.datasets);
        plan.comparisons = columns.iter().map(|name| column(name)).collect();
    };
    let mut found = planned(&comparison(&[]), change, recorded(blocks)).by_size;
    assert!(found.len() <= 1);
    found.pop()
}

/// 1024: as fast as files at 10k and slower above. 8192: twice as fast at 10k, half at 1m.
fn blocks(control: f64) -> Vec<Measurement> {
    [
        measured("read-10k", [10.0, 10.0, 5.0], 1.0),
        measured("read-100k", [20.0, 40.0, 20.0], control),
        measured("read-1m", [100.0, 400.0, 200.0], 1.0),
    ]
    .concat()
}

/// Something of each point, by row.
fn points<T>(matrix: &BySize, of: impl Fn(&SizePoint) -> T) -> Vec<Vec<T>> {
    let rows = matrix.rows.iter().map(|row| row.points.iter());
    rows.map(|points| points.map(&of).collect()).collect()
}

const ALL: [&str; 3] = ["read-10k", "read-100k", "read-1m"];

#[test]
fn a_matrix_shows_external_over_internal_by_row_and_column_beside_what_was_published() {
    use Verdict::{Equivalent, Faster, Slower};
    let matrix = matrix(&ALL, blocks(1.0)).unwrap();
    assert_eq!((&*matrix.id, &*matrix.title), ("read", "Reads"));
    assert_eq!(matrix.workload.operation, Operation::Read);
    assert_eq!(matrix.row_setting.as_deref(), Some("page_size"));
    assert_eq!(matrix.sizes(|_| true), [10_000, 100_000, 1_000_000]);
    assert_eq!((&*matrix.a, &*matrix.b), ("SQLite", "files"));
    let settings: Vec<&str> = matrix.rows.iter().map(|row| &*row.setting).collect();
    assert_eq!(settings, ["1024", "8192"]);
    let expected = [1.0, 0.5, 0.25, 2.0, 1.0, 0.5];
    for (point, expected) in matrix.points().zip(expected) {
        let found = point.found.estimate.unwrap();
        near(found.ratio / expected, 1.0, 0.01);
        assert!(found.low < found.ratio && found.ratio < found.high);
    }
    let verdicts = points(&matrix, |point| point.found.verdict);
    let expected = [[Equivalent, Faster, Faster], [Slower, Equivalent, Faster]];
    assert_eq!(verdicts, expected);
    let comparisons = points(&matrix, |point| point.comparison.clone());
    assert_eq!(comparisons[1], ALL.map(|name| Some(name.to_owned())));
    let published = points(&matrix, |point| point.published);
    assert_eq!(published, [[None; 3], [Some(2.24), None, Some(0.72)]]);
    assert_eq!(matrix.published_label.as_deref(), Some("2011"));
}

#[test]
fn each_row_has_a_rule_whose_side_a_is_the_internal_store() {
    let matrix = matrix(&ALL, blocks(1.0)).unwrap();
    let [never, zone] = [0, 1].map(|row: usize| &matrix.rows[row].finding);
    assert_eq!(zone.winner_at(10_000), Some(Side::A));
    assert_eq!(zone.open(), Some(sizes(10_000, 1_000_000)));
    assert!(never.is_never_slower(Side::B), "{never:?}");
}

#[test]
fn a_column_that_failed_its_gate_claims_nothing_and_spoils_no_other() {
    let matrix = matrix(&ALL, blocks(1.5)).unwrap();
    let unreliable = points(&matrix, |point| point.found.verdict == Verdict::Unreliable);
    assert_eq!(unreliable, [[false, true, false]; 2]);
}

#[test]
fn a_column_that_was_not_planned_or_never_ran_is_a_gap_of_which_the_rules_say_nothing() {
    let blocks = measured("read-10k", [10.0, 10.0, 5.0], 1.0);
    let [planned, alone] = [&ALL[..], &ALL[..1]].map(|all| matrix(all, blocks.clone()).unwrap());
    let gap = alone.rows[1].points[1].found;
    assert_eq!((gap.estimate, gap.verdict), (None, Verdict::NoData));
    let claims: Vec<_> = alone.rows[1].finding.claims().collect();
    assert_eq!(claims, [(Side::A, sizes(10_000, 10_000))]);
    assert_eq!(planned.rows, alone.rows);
    assert_eq!(planned.sizes(|point| point.comparison.is_some()), [10_000]);
}

#[test]
fn a_matrix_without_a_single_measurement_is_not_shown() {
    assert_eq!(matrix(&ALL, Vec::new()), None);
    assert_eq!(matrix(&[], Vec::new()), None);
}
