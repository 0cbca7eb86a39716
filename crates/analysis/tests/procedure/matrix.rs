//! Matrices of made-up runs.

use crate::support::{block, cell, comparison, elsewhere, id, named, planned};
use stowplan_analysis::{Analysis, BySize, Side, SizePoint, SizeRange, Verdict};
use stowplan_model::{Comparison, Measurement, Operation, Plan, Record, Role, Study};

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

/// The time of each cell, in microseconds a block: external, then each row.
type Column = [f64; 3];

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

/// Ten rounds of a column; the control takes `control` times as long as the baseline.
fn measured(name: &str, times: Column, control: f64) -> Vec<Measurement> {
    let [external, row_1024, row_8192] = times;
    let cells = [
        ("external", external),
        ("external#2", external * control),
        ("1024", row_1024),
        ("8192", row_8192),
    ];
    (0..10)
        .flat_map(|round| {
            cells.map(|(key, micros)| {
                let jitter = 1.0 + f64::from((round * 7 + key.len() as u32) % 5) / 1_000.0;
                Measurement {
                    cell: elsewhere(&id(key), name),
                    ..block(key, round, (micros * 1_000.0 * jitter) as u64)
                }
            })
        })
        .collect()
}

fn analysed(columns: &[&str], blocks: Vec<Measurement>) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.study = Study::parse(STUDY, "t.toml").unwrap().expanded();
        plan.datasets.clone_from(&plan.study.datasets);
        plan.comparisons = columns.iter().map(|name| column(name)).collect();
    };
    let blocks = blocks.into_iter().map(Record::Measurement);
    planned(&comparison(&[]), change, blocks)
}

/// 1024: as fast as files at 10k and slower above. 8192: twice as fast at 10k, half at 1m.
fn blocks() -> Vec<Measurement> {
    [
        measured("read-10k", [10.0, 10.0, 5.0], 1.0),
        measured("read-100k", [20.0, 40.0, 20.0], 1.0),
        measured("read-1m", [100.0, 400.0, 200.0], 1.0),
    ]
    .concat()
}

fn matrix(columns: &[&str], blocks: Vec<Measurement>) -> BySize {
    let mut matrices = analysed(columns, blocks).by_size;
    assert_eq!(matrices.len(), 1);
    matrices.remove(0)
}

/// Something of each point, by row.
fn points<T>(matrix: &BySize, of: impl Fn(&SizePoint) -> T) -> Vec<Vec<T>> {
    let rows = matrix.rows.iter();
    rows.map(|row| row.points.iter().map(&of).collect())
        .collect()
}

const ALL: [&str; 3] = ["read-10k", "read-100k", "read-1m"];

#[test]
fn a_matrix_shows_external_over_internal_by_row_and_column() {
    let matrix = matrix(&ALL, blocks());
    assert_eq!(
        (matrix.id.as_str(), matrix.title.as_str()),
        ("read", "Reads")
    );
    assert_eq!(matrix.workload.operation, Operation::Read);
    assert_eq!(matrix.row_setting.as_deref(), Some("page_size"));
    assert_eq!(matrix.sizes(|_| true), [10_000, 100_000, 1_000_000]);
    assert_eq!((&*matrix.a, &*matrix.b), ("SQLite", "files"));
    let ratios = points(&matrix, |point| point.found.estimate.unwrap().ratio);
    for (row, expected) in ratios.iter().zip([[1.0, 0.5, 0.25], [2.0, 1.0, 0.5]]) {
        for (ratio, expected) in row.iter().zip(expected) {
            assert!((ratio / expected - 1.0).abs() < 0.01, "{ratios:?}");
        }
    }
}

#[test]
fn the_verdict_and_the_interval_are_those_of_the_external_store() {
    let matrix = matrix(&ALL, blocks());
    let verdicts = points(&matrix, |point| point.found.verdict);
    use Verdict::{Equivalent, Faster, Slower};
    assert_eq!(
        verdicts,
        [[Equivalent, Faster, Faster], [Slower, Equivalent, Faster]]
    );
    for point in matrix.points() {
        let estimate = point.found.estimate.unwrap();
        assert!(
            estimate.low < estimate.ratio && estimate.ratio < estimate.high,
            "{estimate:?}"
        );
    }
    let comparison = matrix.rows[1].points[2].comparison.as_deref();
    assert_eq!(comparison, Some("read-1m"));
}

#[test]
fn published_ratios_stand_in_their_cells_and_nowhere_else() {
    let matrix = matrix(&ALL, blocks());
    let published = points(&matrix, |point| point.published);
    assert_eq!(
        published,
        [vec![None; 3], vec![Some(2.24), None, Some(0.72)]]
    );
    assert_eq!(matrix.published_label.as_deref(), Some("2011"));
}

#[test]
fn each_row_has_a_rule_whose_side_a_is_the_internal_store() {
    let matrix = matrix(&ALL, blocks());
    let settings: Vec<&str> = matrix.rows.iter().map(|r| r.setting.as_str()).collect();
    assert_eq!(settings, ["1024", "8192"]);
    let [never, zone] = [0, 1].map(|row: usize| &matrix.rows[row].finding);
    assert_eq!(zone.winner_at(10_000), Some(Side::A));
    let (from, to) = (10_000, 1_000_000);
    assert_eq!(zone.open(), Some(SizeRange { from, to }));
    assert!(never.is_never_slower(Side::B), "{never:?}");
}

#[test]
fn a_column_that_failed_its_gate_claims_nothing_and_spoils_no_other() {
    let blocks = [
        measured("read-10k", [10.0, 10.0, 5.0], 1.0),
        measured("read-100k", [20.0, 40.0, 20.0], 1.5),
        measured("read-1m", [100.0, 400.0, 200.0], 1.0),
    ];
    let matrix = matrix(&ALL, blocks.concat());
    for row in &matrix.rows {
        let verdict = |at: usize| row.points[at].found.verdict;
        assert_eq!(verdict(1), Verdict::Unreliable);
        assert!(
            [0, 2]
                .map(verdict)
                .iter()
                .all(|v| *v != Verdict::Unreliable)
        );
    }
}

#[test]
fn a_column_that_was_not_planned_is_a_gap_of_which_the_rules_say_nothing() {
    let blocks = measured("read-10k", [10.0, 10.0, 5.0], 1.0);
    let matrix = matrix(&["read-10k"], blocks);
    let gap = matrix.rows[1].points[1].found;
    assert_eq!((gap.estimate, gap.verdict), (None, Verdict::NoData));
    let claims: Vec<_> = matrix.rows[1].finding.claims().collect();
    let (from, to) = (10_000, 10_000);
    assert_eq!(claims, [(Side::A, SizeRange { from, to })]);
}

#[test]
fn a_column_that_was_planned_and_never_ran_changes_no_rule() {
    let blocks = measured("read-10k", [10.0, 10.0, 5.0], 1.0);
    let (planned, alone) = (matrix(&ALL, blocks.clone()), matrix(&["read-10k"], blocks));
    assert_eq!(planned.rows, alone.rows);
    assert_eq!(planned.sizes(|point| point.comparison.is_some()), [10_000]);
    assert_eq!(planned.rows[1].points[1].found.estimate, None);
}

#[test]
fn a_matrix_without_a_single_measurement_is_not_shown() {
    assert!(analysed(&ALL, Vec::new()).by_size.is_empty());
    assert!(analysed(&[], Vec::new()).by_size.is_empty());
}
