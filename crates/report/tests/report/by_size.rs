//! Runs whose answers depend on the size of the values: the matrix of "Internal Versus External
//! BLOBs in SQLite" with its published ratios beside invented ones, and sweeps of every kind.

use crate::fixture::{self, Draft, comparison, estimate, judge};
use stowplan_analysis::{
    Analysis, BySize, ComparisonOutcome, RatioEstimate, SizePoint, SizeRow, SweepPoint, Verdict,
    leads,
};
use stowplan_model::{CellId, Durability, Operation, Role, WorkloadSpec};

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

/// Rows: page size, time per page, time per byte beyond that of files.
const ROWS: [(&str, f64, f64); 7] = [
    ("1024", 270.0, 0.22),
    ("2048", 240.0, 0.22),
    ("4096", 265.0, 0.22),
    ("8192", 420.0, 0.22),
    ("16384", 760.0, 0.21),
    ("32768", 1_700.0, 0.2),
    ("65536", 4_200.0, 0.2),
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

/// One column: files as the baseline, and SQLite with each page size. Noise leaves one cell open,
/// and one failed.
fn column((size, id, files): (u64, &'static str, f64)) -> ComparisonOutcome {
    let here = |key, label, store, time| Draft {
        comparison: id,
        ..Draft::read(key, label, store, time)
    };
    let label = "files in a tree";
    let mut drafts = vec![
        here("external", label, "files:layout=tree", files).role(Role::Baseline),
        here("control", label, "files", files * 1.002),
    ];
    drafts.extend(ROWS.map(|(page, per_page, per_byte)| {
        let pages = size.div_ceil(page.parse().unwrap()) as f64;
        let time = 1_900.0 + pages * per_page + size as f64 * per_byte;
        here(
            page,
            format!("SQLite, page-size {page}").leak(),
            "sqlite",
            time,
        )
    }));
    let title = format!("Reading: values of {size} bytes");
    let noise = if size == 200_000 { 1.041 } else { 1.002 };
    let mut outcome = comparison(id, &title, &drafts, noise, &[]);
    for contrast in &mut outcome.contrasts {
        let other = match contrast.cell.0.as_str() {
            "intern-50k/65536" => figure(1.04, 0.13),
            "intern-1m/1024" => (None, Verdict::NoData),
            _ => continue,
        };
        (contrast.estimate, contrast.verdict) = other;
    }
    outcome
}

fn figure(ratio: f64, half_width: f64) -> (Option<RatioEstimate>, Verdict) {
    let estimate = estimate(ratio, half_width);
    (Some(estimate), judge(&estimate))
}

/// What is put together of these rows, which are compared with each other.
fn whole(id: &str, mut rows: Vec<SizeRow>) -> BySize {
    let found = |row: &SizeRow| row.points.iter().map(|point| point.found).collect();
    let sweeps: Vec<Vec<SweepPoint>> = rows.iter().map(found).collect();
    for (row, leads) in rows.iter_mut().zip(leads(&sweeps, 0.05)) {
        row.leads = leads;
    }
    let points = rows[0].points.iter();
    BySize {
        id: id.into(),
        title: String::new(),
        workload: WorkloadSpec::default().complete(),
        a: "files in a tree".to_owned(),
        b: "SQLite, prepared SELECT".to_owned(),
        row_setting: None,
        same_durability: true,
        published_label: None,
        note: None,
        comparisons: points
            .filter_map(|point| point.comparison.clone())
            .collect(),
        superseded: Vec::new(),
        rows,
    }
}

/// A matrix of pages with these rows.
pub(crate) fn of_pages(rows: Vec<SizeRow>) -> BySize {
    BySize {
        title: "Reading BLOBs inside or outside the database".into(),
        row_setting: Some("page-size".into()),
        a: "SQLite".into(),
        b: "files in a tree".into(),
        note: Some("The cache holds 2 MB of pages, whatever their size.".into()),
        published_label: Some("SQLite 3.7.8 on Ubuntu, Ext4 on a SATA disk, c. 2011".into()),
        ..whole("intern", rows)
    }
}

/// A run of nothing but the matrix, whose ratios are external over internal.
pub(crate) fn with_matrix() -> Analysis {
    let columns = COLUMNS.map(column);
    let row = |row: usize| {
        let points = columns.iter().enumerate().map(|(at, column)| {
            let id = CellId(format!("{}/{}", column.id, ROWS[row].0));
            let mut contrasts = column.contrasts.iter();
            let contrast = contrasts.find(|c| c.cell == id).unwrap().inverse();
            let size = COLUMNS[at].0;
            let [outside, inside] = space_at(size);
            SizePoint {
                found: SweepPoint::of(size, Some(&contrast)),
                comparison: Some(column.id.clone()),
                published: Some(PUBLISHED[row][at]),
                space: [inside.map(|it| it * (1.0 + row as f64 / 100.0)), outside],
            }
        });
        SizeRow::of(ROWS[row].0, points.collect())
    };
    let mut analysis = empty("Internal Versus External BLOBs in SQLite");
    analysis.by_size = vec![of_pages((0..7).map(row).collect())];
    analysis.comparisons = columns.into();
    fixture::decided(analysis)
}

/// A run that has yet to be given what depends on the size.
fn empty(title: &str) -> Analysis {
    let mut analysis = fixture::empty(title);
    analysis.run.plan.study.question = "Up to which size does a value belong inside?".to_owned();
    analysis.run.plan.study.source = None;
    analysis
}

/// A row of points at 1 KiB, 2 KiB, 4 KiB …, one per letter, which says how far, and on which side
/// of 1, it lies: `A` and `B` win, `a` and `b` lean, `=` is equivalent, `?` unresolved, `!`
/// unreliable, `.` tried without a figure, and at `-` nothing was measured.
pub(crate) fn row_of(setting: &str, letters: &str) -> SizeRow {
    let points = letters.chars().zip(10..).map(|(letter, power)| {
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
        let mut point = point("s", 1 << power, (estimate, verdict));
        point.comparison = point.comparison.filter(|_| letter != '-');
        point
    });
    SizeRow::of(setting, points.collect())
}

/// A sweep of one such row, without its comparisons.
pub(crate) fn sweep(letters: &str) -> BySize {
    whole("s", vec![row_of("", letters)])
}

fn point(sweep: &str, size: u64, found: (Option<RatioEstimate>, Verdict)) -> SizePoint {
    SizePoint {
        comparison: Some(format!("{sweep}-{size}")),
        published: None,
        space: space_at(size),
        found: SweepPoint {
            size,
            estimate: found.0,
            verdict: found.1,
        },
    }
}

/// Of values of one size, what files and a database take per byte.
fn space_at(size: u64) -> [Option<f64>; 2] {
    let pages = |page: u64| (size.div_ceil(page) * page) as f64 / size as f64;
    [Some(pages(4096)), Some(pages(64) * 1.01)]
}

/// The comparison of files and SQLite at one size of a sweep.
pub(crate) fn at_size(sweep: &BySize, point: &SizePoint) -> ComparisonOutcome {
    let writes = sweep.workload.operation == Operation::Overwrite;
    let found = point.found;
    let ratio = found.estimate.map_or(1.0, |estimate| estimate.ratio);
    let id: &'static str = point.comparison.clone().unwrap().leak();
    let draft = |key, label, store, ns, claim| Draft {
        comparison: id,
        ..match writes {
            true => Draft::overwrite(key, label, store, ns, claim),
            false => Draft::read(key, label, store, ns),
        }
    };
    let (weak, strong) = ((Durability::None, false), (Durability::Durable, true));
    let (files, sqlite) = ("files in a tree", "SQLite, prepared SELECT");
    let drafts = [
        draft("a", files, "files", 10_000.0, weak).role(Role::Baseline),
        draft("control", files, "files", 10_030.0, weak),
        draft("b", sqlite, "sqlite", 10_000.0 * ratio, strong),
    ];
    let title = format!("Values of {} bytes", found.size);
    let mut outcome = comparison(id, &title, &drafts, 1.003, &[]);
    outcome.contrasts[0].estimate = found.estimate;
    outcome.contrasts[0].verdict = found.verdict;
    outcome
}

/// A run of nothing but these sweeps.
pub(crate) fn with_sweeps(sweeps: Vec<BySize>) -> Analysis {
    let mut analysis = empty("Where the order changes with the size");
    let tried = sweeps.iter().flat_map(|sweep| {
        let points = sweep.points();
        let points = points.filter(|point| point.comparison.is_some());
        points.map(move |point| at_size(sweep, point))
    });
    analysis.comparisons = tried.collect();
    analysis.by_size = sweeps;
    fixture::decided(analysis)
}

/// Two page sizes: one zone with the ups and downs of METHOD "Crossover", one without an order
/// at the large end.
pub(crate) fn with_page_sizes() -> Analysis {
    let small = measured(
        "read-4096",
        &[
            (1, 0.42, 0.02),
            (2, 0.43, 0.02),
            (4, 0.47, 0.02),
            (8, 0.6, 0.02),
            (16, 0.79, 0.02),
            (19, 0.97, 0.015),
            (23, 1.08, 0.02),
            (27, 0.98, 0.07),
            (32, 1.05, 0.03),
            (36, 1.13, 0.02),
            (64, 1.42, 0.02),
            (128, 1.7, 0.02),
            (256, 1.95, 0.03),
            (512, 2.1, 0.03),
            (1024, 2.16, 0.03),
        ],
    );
    let large = measured(
        "read-32768",
        &[
            (1, 0.45, 0.02),
            (4, 0.49, 0.02),
            (16, 0.66, 0.02),
            (64, 0.93, 0.02),
            (256, 1.01, 0.02),
            (1024, 1.02, 0.1),
        ],
    );
    with_sweeps(vec![small, large])
}

/// A sweep of these sizes in KiB, with their ratios and the half widths of the intervals.
fn measured(id: &str, ratios: &[(u64, f64, f64)]) -> BySize {
    let points = ratios.iter();
    let points = points.map(|(kib, ratio, half)| point(id, kib << 10, figure(*ratio, *half)));
    whole(id, vec![SizeRow::of("", points.collect())])
}
