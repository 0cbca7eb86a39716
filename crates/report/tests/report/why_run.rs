//! A run that takes costs apart, with the figures of METHOD "Taking a cost apart" and "Warm and
//! cold": files and SQLite above a flat file, a claim of each verdict, a rung that failed, and cold
//! reads.

use crate::fixture::{self, Draft, comparison, estimate};
use stowplan_analysis::{
    Analysis, CallCounts, ClaimOutcome, ClaimVerdict, ColdCell, ColdOutcome, CountSummary,
    DevicePerOperation, FigureCell, FigureOutcome, Interval, LadderOutcome, Metric, MissingCell,
    MissingRung, Step,
};
use stowplan_model::{CallCounter, CellId, ClaimMeasure, Role};

fn id(key: &str) -> CellId {
    CellId(format!("reads/{key}"))
}

fn interval(estimate: f64, half: f64) -> Interval {
    Interval {
        estimate,
        low: estimate - half,
        high: estimate + half,
    }
}

/// How often each is called per operation: `close 1, openat 1`.
fn calls<C: FromIterator<(String, f64)>>(text: &str) -> C {
    let calls = text.split(", ").filter_map(|call| call.split_once(' '));
    calls
        .map(|(name, often)| (name.to_owned(), often.parse().unwrap()))
        .collect()
}

/// A step per line: cell, words, cost, what it takes alone, calls that it adds.
fn ladder(name: &str, title: &str, whole: f64, table: &str) -> LadderOutcome {
    let mut below = None;
    let lines = table.trim().lines();
    let steps: Vec<Step> = lines
        .map(|line| {
            let mut fields = line.split('|').map(str::trim);
            let [key, words, cost, alone, added] = std::array::from_fn(|_| fields.next().unwrap());
            let cost: f64 = cost.parse().unwrap();
            Step {
                cell: id(key),
                below: below.replace(id(key)),
                steps: words.split(" + ").map(str::to_owned).collect(),
                cost: interval(cost, 40.0),
                share: cost / whole,
                isolated: alone.parse().ok().map(|alone| interval(alone, 30.0)),
                calls: Some(calls(added)),
            }
        })
        .collect();
    let sum: f64 = steps.iter().map(|step| step.cost.estimate).sum();
    LadderOutcome {
        id: name.to_owned(),
        title: title.to_owned(),
        comparison: "reads".to_owned(),
        metric: Metric::Corrected,
        reliable: true,
        steps,
        whole: Some(interval(whole, 60.0)),
        sum: Some(sum),
        remainder: Some(interval(whole - sum, 120.0)),
        missing: Vec::new(),
    }
}

fn claim(name: &str, verdict: ClaimVerdict, ratio: Option<f64>) -> ClaimOutcome {
    let cell = |key: &str, label: &str| FigureCell {
        cell: id(key),
        label: label.to_owned(),
    };
    ClaimOutcome {
        id: name.to_owned(),
        quote: "Opening and closing a file costs more than the work of SQLite.".to_owned(),
        place: Some("line 3".to_owned()),
        source: None,
        note: None,
        verdict,
        figures: vec![FigureOutcome {
            of: vec![cell("open", "open and close")],
            to: vec![cell("sql", "SQLite, prepared SELECT")],
            or_to: Vec::new(),
            measure: ClaimMeasure::Time,
            at_least: Some(1.0),
            at_most: None,
            estimate: ratio.map(|ratio| interval(ratio, 0.07)),
            beside: None,
            rounds: 20,
            across: false,
            verdict,
        }],
        missing: Vec::new(),
    }
}

fn counts(called: &str, cache: &[(&str, f64)]) -> CountSummary {
    let frequent: Vec<(String, f64)> = calls(called);
    let cache = cache.iter();
    CountSummary {
        operations: 1_000,
        calls: Some(CallCounts {
            by: CallCounter::Strace,
            total: frequent.iter().map(|(_, often)| often).sum::<f64>() + 0.004,
            frequent,
            rare: 0.004,
        }),
        device: Some(DevicePerOperation {
            name: "vda".to_owned(),
            reads: 0.0,
            read_bytes: 0.0,
            writes: 0.0,
            written_bytes: 0.0,
            flushes: Some(0.0),
        }),
        storage_read_bytes: 0.0,
        storage_write_bytes: Some(0.0),
        minor_faults: 0.01,
        major_faults: 0.0,
        voluntary_switches: 0.0,
        involuntary_switches: 0.0,
        syncs: 0.0,
        engine: cache
            .map(|(what, often)| (format!("Page cache {what}"), *often))
            .collect(),
    }
}

fn cold_cell(key: &str, role: Role, bytes: f64, requests: f64) -> ColdCell {
    ColdCell {
        cell: id(key),
        role,
        value_bytes: 10_000.0,
        storage_bytes: bytes,
        metadata_bytes: None,
        metadata_proved: false,
        requests: (requests > 0.0).then_some(requests),
        mapped: key == "mapped",
        ruled_by_read_ahead: key == "mapped",
        ratio: (role == Role::Candidate).then(|| estimate(2.46, 0.1)),
        verdict: None,
    }
}

/// The run.
pub(crate) fn analysis() -> Analysis {
    let mut drafts = Draft::reads(
        "
        dir        | files, by path               | files  | 5970
        control    | files, by path               | files  | 5980
        sql        | SQLite                       | sqlite | 4097
        mapped     | SQLite, mapped               | sqlite | 2095
        flat       | flat file                    | flat   | 2097
        open-fd    | files, kept open             | files  | 2939
        openat     | files, by openat             | files  | 5629
        open-close | open and close, nothing else | flat   | 2520
        ",
    );
    drafts[4].role = Role::Floor;
    drafts[5..]
        .iter_mut()
        .for_each(|draft| draft.role = Role::Part);
    let mut reads = comparison("reads", "Reading 10 kB", &drafts, 1.003, &[]);
    for cell in &mut reads.cells {
        cell.counts = match cell.cell.key.as_str() {
            "dir" => Some(counts("close 1, fstat 1, openat 1, read 1", &[])),
            "sql" => Some(counts("pread64 3.04", &[("hits", 1.2), ("misses", 3.04)])),
            "flat" | "open-fd" => Some(counts("pread64 1", &[])),
            _ => None,
        };
    }
    let mut analysis = fixture::empty("Why files take longer");
    analysis.comparisons = vec![reads];
    let files = "
        flat    | reading an open flat file | 2097 | 2097 | pread64 1
        open-fd | a file for each value     |  842 |      |
        openat  | open and close + fstat    | 2690 | 2920 | close 1, openat 1
        dir     | the absolute path         |  341 |      |
        ";
    let mut files = ladder("files", "Files", 5_970.0, files);
    files.missing.push(MissingRung {
        cell: "no-stat".to_owned(),
        step: "open and close".to_owned(),
        why: "it failed: out of descriptors".to_owned(),
    });
    let sqlite = "
        flat    | reading an open flat file | 2097 |      | pread64 1
        sql     | pages, b-tree and SQL     | 2150 |      | pread64 2.04
        mapped  | no copy                   | -150 |      | pread64 -3.04
        ";
    analysis.ladders = vec![files, ladder("sqlite", "SQLite", 4_397.0, sqlite)];
    let mut untested = claim("untested", ClaimVerdict::NoData, None);
    untested.missing.push(MissingCell {
        cell: "open-fd".to_owned(),
        why: "it was left out of this run".to_owned(),
    });
    analysis.claims = vec![
        claim("open", ClaimVerdict::Holds, Some(1.51)),
        claim("even", ClaimVerdict::Undecided, Some(1.01)),
        untested,
    ];
    analysis.cold = vec![ColdOutcome {
        comparison: "reads".to_owned(),
        read_ahead_bytes: Some(8192 * 1024),
        cells: vec![
            cold_cell("dir", Role::Baseline, 11_800.0, 1.0),
            cold_cell("sql", Role::Candidate, 35_700.0, 3.0),
            cold_cell("mapped", Role::Candidate, 697_000.0, 0.0),
        ],
    }];
    analysis
}
