//! A run that takes costs apart, with the figures of METHOD "Taking a cost apart" and "Warm and cold": files and SQLite above a flat
//! file, a claim of each verdict, a rung that failed, and cold reads.

use crate::fixture::{self, Draft, comparison, estimate};
use std::collections::BTreeMap;
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

/// A step: cell, words, cost, what it takes alone, calls that it adds.
type Row<'a> = (
    &'a str,
    &'a [&'a str],
    f64,
    Option<f64>,
    &'a [(&'a str, f64)],
);

fn ladder(name: &str, title: &str, whole: f64, rows: &[Row<'_>]) -> LadderOutcome {
    let mut below = None;
    let steps: Vec<Step> = rows
        .iter()
        .map(|(key, words, ns, alone, calls)| Step {
            cell: id(key),
            below: below.replace(id(key)),
            steps: words.iter().map(|word| (*word).to_owned()).collect(),
            cost: interval(*ns, 40.0),
            share: ns / whole,
            isolated: alone.map(|alone| interval(alone, 30.0)),
            calls: Some(calls.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect()),
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

fn claim(name: &str, verdict: ClaimVerdict, ratio: Option<Interval>) -> ClaimOutcome {
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
            estimate: ratio,
            beside: None,
            rounds: 20,
            across: false,
            verdict,
        }],
        missing: Vec::new(),
    }
}

fn counts(calls: &[(&str, f64)], requests: f64, bytes: f64, hits: Option<f64>) -> CountSummary {
    CountSummary {
        operations: 1_000,
        calls: Some(CallCounts {
            by: CallCounter::Strace,
            total: calls.iter().map(|(_, often)| often).sum::<f64>() + 0.004,
            frequent: calls.iter().map(|(n, c)| ((*n).to_owned(), *c)).collect(),
            rare: 0.004,
        }),
        device: Some(DevicePerOperation {
            name: "vda".to_owned(),
            reads: requests,
            read_bytes: bytes,
            writes: 0.0,
            written_bytes: 0.0,
            flushes: Some(0.0),
        }),
        storage_read_bytes: bytes,
        storage_write_bytes: Some(0.0),
        minor_faults: 0.01,
        major_faults: 0.0,
        voluntary_switches: requests,
        involuntary_switches: 0.0,
        syncs: 0.0,
        engine: hits
            .map(|hits| {
                let misses = ("Page cache misses".to_owned(), 3.04);
                BTreeMap::from([("Page cache hits".to_owned(), hits), misses])
            })
            .unwrap_or_default(),
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

/// A cell, its system calls per operation, and what it found in a cache of its own.
type Counted<'a> = (&'a str, &'a [(&'a str, f64)], Option<f64>);

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
    let calls: [Counted<'_>; 4] = [
        (
            "dir",
            &[
                ("close", 1.0),
                ("fstat", 1.0),
                ("openat", 1.0),
                ("read", 1.0),
            ],
            None,
        ),
        ("sql", &[("pread64", 3.04)], Some(1.2)),
        ("flat", &[("pread64", 1.0)], None),
        ("open-fd", &[("pread64", 1.0)], None),
    ];
    for (key, calls, hits) in calls {
        let cell = reads
            .cells
            .iter_mut()
            .find(|cell| cell.cell.key == key)
            .unwrap();
        cell.counts = Some(counts(calls, 0.0, 0.0, hits));
    }
    let mut analysis = fixture::empty("Why files take longer");
    analysis.comparisons = vec![reads];
    let opened: &[(&str, f64)] = &[("close", 1.0), ("openat", 1.0)];
    let files: &[Row<'_>] = &[
        (
            "flat",
            &["reading an open flat file"],
            2_097.0,
            Some(2_097.0),
            &[("pread64", 1.0)],
        ),
        ("open-fd", &["a file for each value"], 842.0, None, &[]),
        (
            "openat",
            &["open and close", "fstat"],
            2_690.0,
            Some(2_920.0),
            opened,
        ),
        ("dir", &["the absolute path"], 341.0, None, &[]),
    ];
    let mut of_files = ladder("files", "Files", 5_970.0, files);
    of_files.missing.push(MissingRung {
        cell: "no-stat".to_owned(),
        step: "open and close".to_owned(),
        why: "it failed: out of descriptors".to_owned(),
    });
    let sqlite: &[Row<'_>] = &[
        (
            "flat",
            &["reading an open flat file"],
            2_097.0,
            None,
            &[("pread64", 1.0)],
        ),
        (
            "sql",
            &["pages, b-tree and SQL"],
            2_150.0,
            None,
            &[("pread64", 2.04)],
        ),
        ("mapped", &["no copy"], -150.0, None, &[("pread64", -3.04)]),
    ];
    analysis.ladders = vec![of_files, ladder("sqlite", "SQLite", 4_397.0, sqlite)];
    let mut untested = claim("untested", ClaimVerdict::NoData, None);
    untested.missing.push(MissingCell {
        cell: "open-fd".to_owned(),
        why: "it was left out of this run".to_owned(),
    });
    analysis.claims = vec![
        claim("open", ClaimVerdict::Holds, Some(interval(1.51, 0.07))),
        claim("even", ClaimVerdict::Undecided, Some(interval(1.01, 0.07))),
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
