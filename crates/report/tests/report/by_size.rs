//! Runs whose answers depend on the size of the values: the matrix of "Internal Versus External
//! BLOBs in SQLite" with its published ratios beside invented ones, and sweeps of every kind.

use crate::fixture::{self, Draft, comparison, estimate, judge};
use stowplan_analysis::{
    Analysis, ComparisonOutcome, ContrastOutcome, MatrixCell, MatrixOutcome, RatioEstimate,
    SettingSweep, SweepOutcome, SweepPoint, Verdict, crossover, rules_of_thumb,
};
use stowplan_model::{CellId, Durability, Operation, Role, Sweep, WorkloadSpec};

/// Columns: size, comparison, what files take.
const COLUMNS: [(u64, &str, f64); 7] = [
    (10_000, "intern-10k", 8_600.0),
    (20_000, "intern-20k", 10_900.0),
    (50_000, "intern-50k", 17_400.0),
    (100_000, "intern-100k", 27_900.0),
    (200_000, "intern-200k", 50_000.0),
    (500_000, "intern-500k", 121_000.0),
    (1_000_000, "intern-1m", 243_000.0),
];

/// Rows: page size, key, label, time per page, time per byte beyond that of files.
const ROWS: [(u64, &str, &str, f64, f64); 7] = [
    (1024, "1024", "SQLite, page-size 1024", 270.0, 0.22),
    (2048, "2048", "SQLite, page-size 2048", 240.0, 0.22),
    (4096, "4096", "SQLite, page-size 4096", 265.0, 0.22),
    (8192, "8192", "SQLite, page-size 8192", 420.0, 0.22),
    (16_384, "16384", "SQLite, page-size 16384", 760.0, 0.21),
    (32_768, "32768", "SQLite, page-size 32768", 1_700.0, 0.2),
    (65_536, "65536", "SQLite, page-size 65536", 4_200.0, 0.2),
];

/// The published matrix, rows and columns as above.
pub(crate) const PUBLISHED: [[f64; 7]; 7] = [
    [1.535, 1.020, 0.608, 0.456, 0.330, 0.247, 0.233],
    [2.004, 1.437, 0.870, 0.636, 0.483, 0.372, 0.340],
    [2.261, 1.886, 1.173, 0.890, 0.701, 0.526, 0.487],
    [2.240, 1.866, 1.334, 1.035, 0.830, 0.625, 0.720],
    [2.439, 1.757, 1.292, 1.023, 0.829, 0.820, 0.598],
    [1.878, 1.843, 1.296, 0.981, 0.976, 0.675, 0.613],
    [1.256, 1.255, 1.339, 0.983, 0.769, 0.687, 0.609],
];

/// One column: files as the baseline, and SQLite with each page size.
fn column((size, id, files): (u64, &'static str, f64)) -> ComparisonOutcome {
    let here = |draft: Draft| Draft {
        comparison: id,
        ..draft
    };
    let label = "files in a tree";
    let mut drafts = vec![
        here(Draft::read("external", label, "files:layout=tree", files)).role(Role::Baseline),
        here(Draft::read("control", label, "files", files * 1.002)).role(Role::Control),
    ];
    drafts.extend(ROWS.map(|(page, key, label, per_page, per_byte)| {
        let pages = size.div_ceil(page) as f64;
        let time = 1_900.0 + pages * per_page + size as f64 * per_byte;
        here(Draft::read(key, label, "sqlite", time))
    }));
    let title = format!("Reading: values of {size} bytes");
    let noise = if size == 200_000 { 1.041 } else { 1.002 };
    let mut outcome = comparison(id, &title, &drafts, noise, &[]);
    // One cell that noise leaves open, and one that failed.
    for contrast in &mut outcome.contrasts {
        if contrast.cell.0 == "intern-50k/65536" {
            let wide = estimate(1.04, 0.13);
            (contrast.estimate, contrast.verdict) = (Some(wide), judge(&wide));
        }
        if contrast.cell.0 == "intern-1m/1024" {
            (contrast.estimate, contrast.verdict) = (None, Verdict::NoData);
        }
    }
    outcome
}

/// External over internal, from the comparison of a column.
fn outside_over_inside(column: &ComparisonOutcome, key: &str) -> ContrastOutcome {
    let id = CellId(format!("{}/{key}", column.id));
    let mut contrasts = column.contrasts.iter();
    contrasts.find(|c| c.cell == id).unwrap().inverse()
}

fn matrix(columns: &[ComparisonOutcome]) -> MatrixOutcome {
    let cell = |row: usize, column: usize| {
        let contrast = outside_over_inside(&columns[column], ROWS[row].1);
        MatrixCell {
            cell: contrast.reference.clone(),
            estimate: contrast.estimate,
            verdict: contrast.verdict,
            published: Some(PUBLISHED[row][column]),
            reliable: columns[column].reliable,
        }
    };
    let cells: Vec<Vec<MatrixCell>> = (0..7)
        .map(|row| (0..7).map(|column| cell(row, column)).collect())
        .collect();
    let sweeps: Vec<SettingSweep> = cells
        .iter()
        .enumerate()
        .map(|(row, cells)| SettingSweep {
            setting: ROWS[row].1.to_owned(),
            points: cells
                .iter()
                .zip(COLUMNS)
                .map(|(cell, (size, ..))| SweepPoint {
                    size,
                    estimate: cell.estimate,
                    verdict: cell.verdict,
                })
                .collect(),
        })
        .collect();
    MatrixOutcome {
        id: "intern".into(),
        title: "Reading BLOBs inside or outside the database".into(),
        operation: Operation::Read,
        row_setting: "page-size".into(),
        rows: ROWS.map(|row| row.0).into(),
        columns: COLUMNS.map(|column| column.0).into(),
        measured: COLUMNS.map(|column| column.0).into(),
        same_durability: true,
        row_labels: ROWS.map(|row| row.2.to_owned()).into(),
        external_label: "files in a tree".into(),
        cells,
        space: space(),
        note: Some("The cache holds 2 MB of pages, whatever their size.".into()),
        published_label: Some("SQLite 3.7.8 on Ubuntu, Ext4 on a SATA disk, c. 2011".into()),
        rules: rules_of_thumb(&sweeps, 0.05),
    }
}

/// A run of nothing but the matrix.
pub(crate) fn with_matrix() -> Analysis {
    let columns: Vec<ComparisonOutcome> = COLUMNS.map(column).into();
    let mut analysis = empty("Internal Versus External BLOBs in SQLite");
    analysis.matrices = vec![matrix(&columns)];
    analysis.comparisons = columns;
    fixture::decided(analysis)
}

/// A run that has yet to be given what depends on the size.
fn empty(title: &str) -> Analysis {
    let mut analysis = fixture::empty(title);
    analysis.run.plan.study.question = "Up to which size does a value belong inside?".to_owned();
    analysis.run.plan.study.source = None;
    analysis
}

/// What a point of a sweep may be: its letter says how far, and on which side of 1, it lies.
/// `A` and `B` win, `a` and `b` lean, `=` is equivalent, `?` unresolved, `!` unreliable and `.`
/// tried without a figure.
pub(crate) fn sweep_point(size: u64, letter: char) -> SweepPoint {
    let figure = |ratio: f64, half_width: f64| {
        let estimate = estimate(ratio, half_width);
        (Some(estimate), judge(&estimate))
    };
    let (estimate, verdict) = match letter {
        'A' => figure(1.25, 0.02),
        'B' => figure(0.8, 0.02),
        'a' => figure(1.045, 0.02),
        'b' => figure(0.96, 0.02),
        '=' => figure(1.004, 0.01),
        '?' => figure(1.02, 0.09),
        '!' => (figure(1.25, 0.02).0, Verdict::Unreliable),
        _ => (None, Verdict::NoData),
    };
    SweepPoint {
        size,
        estimate,
        verdict,
    }
}

/// A sweep planned at 1 KiB, 2 KiB, 4 KiB …, one size per letter; at `-`, nothing was measured.
pub(crate) fn planned_sweep(letters: &str) -> SweepOutcome {
    let all = sweep_points(letters);
    let ran = all.iter().zip(letters.chars()).filter(|(_, l)| *l != '-');
    let ran = ran.map(|(point, _)| *point).collect();
    let mut outcome = sweep("s", None, ran);
    outcome.planned = all.iter().map(|point| point.size).collect();
    for size in &outcome.planned {
        let id = outcome.sweep.comparison(*size);
        if !outcome.comparisons.contains(&id) {
            outcome.unmeasured.push(id);
        }
    }
    outcome
}

/// Points at 1 KiB, 2 KiB, 4 KiB …, one per letter.
pub(crate) fn sweep_points(letters: &str) -> Vec<SweepPoint> {
    let sizes = (10..).map(|power| 1 << power);
    sizes
        .zip(letters.chars())
        .map(|(size, letter)| sweep_point(size, letter))
        .collect()
}

/// Points with these ratios.
fn measured(ratios: &[(u64, f64, f64)]) -> Vec<SweepPoint> {
    let point = |(size, ratio, half_width): &(u64, f64, f64)| {
        let estimate: RatioEstimate = estimate(*ratio, *half_width);
        SweepPoint {
            size: *size,
            estimate: Some(estimate),
            verdict: judge(&estimate),
        }
    };
    ratios.iter().map(point).collect()
}

/// A sweep of these points, without its comparisons.
pub(crate) fn sweep(id: &str, setting: Option<&str>, points: Vec<SweepPoint>) -> SweepOutcome {
    let sweep = Sweep {
        id: id.to_owned(),
        setting: setting.map(str::to_owned),
        a: "files in a tree".to_owned(),
        b: "SQLite, prepared SELECT".to_owned(),
    };
    let planned: Vec<u64> = points.iter().map(|point| point.size).collect();
    SweepOutcome {
        comparisons: planned.iter().map(|size| sweep.comparison(*size)).collect(),
        superseded: Vec::new(),
        unmeasured: Vec::new(),
        planned,
        sweep,
        workload: WorkloadSpec::default().complete(),
        same_durability: true,
        finding: crossover(&points),
        space: points.iter().map(|point| space_at(point.size)).collect(),
        points,
    }
}

/// Of values of one size, what files and a database take per byte.
fn space_at(size: u64) -> [Option<f64>; 2] {
    let pages = |page: u64| (size.div_ceil(page) * page) as f64 / size as f64;
    [Some(pages(4096)), Some(pages(64) * 1.01)]
}

/// Of the matrix: the rows, the larger the page the more, and files below them.
fn space() -> Vec<Vec<Option<f64>>> {
    let sizes = COLUMNS.map(|column| space_at(column.0));
    let row = |row: u32| {
        let of = |[_, inside]: [Option<f64>; 2]| Some(inside? * (1.0 + f64::from(row) / 100.0));
        sizes.map(of).to_vec()
    };
    let outside = sizes.map(|[outside, _]| outside).to_vec();
    (0..7).map(row).chain([outside]).collect()
}

/// The comparison of files and SQLite at one size of a sweep.
pub(crate) fn at_size(sweep: &SweepOutcome, point: &SweepPoint) -> ComparisonOutcome {
    let writes = sweep.workload.operation == Operation::Overwrite;
    let ratio = point.estimate.map_or(1.0, |estimate| estimate.ratio);
    let at = sweep.points.iter().position(|p| p.size == point.size);
    let id = at.map(|at| sweep.comparisons[at].clone());
    let id: &'static str = id.unwrap().leak();
    let draft = |key, label, store, ns, claim| {
        let draft = if writes {
            Draft::overwrite(key, label, store, ns, claim)
        } else {
            Draft::read(key, label, store, ns)
        };
        Draft {
            comparison: id,
            ..draft
        }
    };
    let (weak, strong) = ((Durability::None, false), (Durability::Durable, true));
    let drafts = [
        draft("a", "files in a tree", "files", 10_000.0, weak).role(Role::Baseline),
        draft("control", "files in a tree", "files", 10_030.0, weak).role(Role::Control),
        draft(
            "b",
            "SQLite, prepared SELECT",
            "sqlite",
            10_000.0 * ratio,
            strong,
        ),
    ];
    let title = format!("Values of {} bytes", point.size);
    let mut outcome = comparison(id, &title, &drafts, 1.003, &[]);
    outcome.contrasts[0].estimate = point.estimate;
    outcome.contrasts[0].verdict = point.verdict;
    outcome
}

/// A run of nothing but these sweeps.
pub(crate) fn with_sweeps(sweeps: Vec<SweepOutcome>) -> Analysis {
    let mut analysis = empty("Where the order changes with the size");
    analysis.comparisons = sweeps
        .iter()
        .flat_map(|sweep| sweep.points.iter().map(|point| at_size(sweep, point)))
        .collect();
    analysis.sweeps = sweeps;
    fixture::decided(analysis)
}

/// Two page sizes: one zone with the ups and downs of METHOD "Crossover", one without an order
/// at the large end.
pub(crate) fn with_page_sizes() -> Analysis {
    let small = measured(&[
        (1 << 10, 0.42, 0.02),
        (1 << 11, 0.43, 0.02),
        (1 << 12, 0.47, 0.02),
        (1 << 13, 0.6, 0.02),
        (1 << 14, 0.79, 0.02),
        (19_456, 0.97, 0.015),
        (23_552, 1.08, 0.02),
        (27_648, 0.98, 0.07),
        (1 << 15, 1.05, 0.03),
        (36_864, 1.13, 0.02),
        (1 << 16, 1.42, 0.02),
        (1 << 17, 1.7, 0.02),
        (1 << 18, 1.95, 0.03),
        (1 << 19, 2.1, 0.03),
        (1 << 20, 2.16, 0.03),
    ]);
    let large = measured(&[
        (1 << 10, 0.45, 0.02),
        (1 << 12, 0.49, 0.02),
        (1 << 14, 0.66, 0.02),
        (1 << 16, 0.93, 0.02),
        (1 << 18, 1.01, 0.02),
        (1 << 20, 1.02, 0.1),
    ]);
    with_sweeps(vec![
        sweep("read-4096", Some("page_size=4096"), small),
        sweep("read-32768", Some("page_size=32768"), large),
    ])
}
