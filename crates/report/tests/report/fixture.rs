//! A run as it could have been: every verdict, a comparison with differing durability, an
//! unreliable one, a failed cell, hostile labels, and the published figures of
//! "35% Faster Than The Filesystem". The numbers are invented.

use std::collections::BTreeMap;
use std::sync::LazyLock;
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, ContrastOutcome, ControlOutcome, FindingRow,
    Interval, LatencySummary, Metric, PercentileInterval, RatioEstimate, SpaceRow, TotalOutcome,
    Verdict, analyse, verdict,
};
use stowplan_model::{
    CacheState, Capabilities, Cell, CellId, Comparison, Contrast, Delivery, Durability,
    DurabilityClaim, Footprint, IoCounters, Measurement, Operation, PerTransaction, Record, Role,
    RunHeader, Settings, StoreSpec, SyncCalls, Value, Verification, WorkloadSpec, encode,
};

/// A label that would run if it were not escaped.
pub(crate) const HOSTILE_LABEL: &str = "<script>alert(1)</script> & \"files\" | 'x'";

/// What stands in its result but for the cells and their blocks.
const RESULT: &str = r#"[
  { "type": "run", "schema": 1, "started": "2026-11-21T07:10:00Z", "seed": 1, "equivalence": 0.05,
    "max_rounds": 40,
    "plan": {
      "scale": "seed", "comparisons": [],
      "datasets": { "blobs": {
        "count": 100000, "size": { "distribution": "uniform", "min": 8000, "max": 12000 } } },
      "study": {
        "name": "fasterthanfs", "title": "35% Faster Than The Filesystem",
        "question":
          "Is a 10 kB blob read and written faster through SQLite than as a file of its own?",
        "source": "https://sqlite.org/fasterthanfs.html",
        "datasets": { "blobs": {
          "count": 100000, "size": { "distribution": "uniform", "min": 8000, "max": 12000 } } },
        "systems": {
          "win7": "c. 2009 Dell Inspiron, Pentium dual-core 2.30 GHz, 4 GiB, Windows 7, hard drive",
          "win10": "2016 Lenovo YOGA 910, i7-7500 2.70 GHz, 16 GiB, Windows 10, SSD",
          "mac": "2015 MacBook Pro, 3.1 GHz i7, 16 GiB, macOS 10.12.5, SSD",
          "ubuntu": "i7-4770K 3.50 GHz, 32 GiB, Ubuntu 16.04.2, SSD",
          "android": "Galaxy S3, ARMv7, 2 GiB, SSD" },
        "figure": [
          { "id": "space", "title": "Disk space", "measure": "footprint",
            "published": [ { "cell": "reads/sql", "label": "SQLite database" },
                           { "cell": "reads/dir", "label": "directory, by du" } ] },
          { "id": "chart1", "title": "Chart 1: reads, prepared SELECT, random order",
            "comparisons": ["reads"], "to": "sql", "cells": ["dir", "tree", "sql-each", "pread"],
            "published_precision": 0.05, "published_ratios": {
              "ubuntu": 1.10, "android": 1.28, "mac": 1.45, "win7": 2.40, "win10": 5.0 } },
          { "id": "chart2", "title": "Chart 2: reads, sqlite3_blob_read(), random order",
            "comparisons": ["reads"], "to": "blob", "cells": ["dir", "tree"],
            "published_precision": 0.05, "published_ratios": {
              "ubuntu": 1.22, "android": 1.40, "mac": 1.67, "win7": 3.67, "win10": 5.43 } },
          { "id": "chart3", "title":
              "Chart 3: reads, sqlite3_blob_read() from a memory-mapped database, random order",
            "comparisons": ["reads"], "to": "mmap-blob", "cells": ["dir", "tree"],
            "published_precision": 0.1, "published_ratios": {
              "ubuntu": 1.6, "android": 2.15, "mac": 2.1, "win7": 11.1, "win10": 13.75 } },
          { "id": "chart4",
            "title": "Chart 4: overwrites, WAL, synchronous=NORMAL, one transaction",
            "comparisons": ["overwrites"], "to": "wal", "cells": ["dir", "safe"],
            "published_precision": 0.05, "published_ratios": {
              "ubuntu": 1.07, "mac": 1.63, "win7": 1.20, "win10": 3.10 } },
          { "id": "chart5", "title": "Chart 5: overwrites, journal_mode=OFF, synchronous=OFF",
            "comparisons": ["overwrites"], "to": "off", "cells": ["dir"],
            "published_precision": 0.05, "published_ratios": {
              "ubuntu": 1.50, "mac": 1.32, "win7": 3.92, "win10": 4.90 } }
        ] } },
    "environment": {
      "host": "lab-3", "os": "Debian GNU/Linux 12", "kernel": "6.18.0", "architecture": "x86_64",
      "cpu": "AMD EPYC 9R14", "cpus": 2, "last_level_cache_bytes": 33554432,
      "virtualisation": "kvm", "memory_bytes": 25769803776, "memory_available_bytes": 20401094656,
      "load_average": 2.31, "clock_source": "tsc", "run_queue_delay": true,
      "residency_check": "cachestat",
      "file_system": { "kind": "ext4", "mount_point": "/data", "options": "rw,relatime",
                       "block_bytes": 4096, "free_bytes": 88000000000 },
      "device": { "name": "vda", "rotational": false, "scheduler": "none",
                  "read_ahead_kib": 8192, "write_cache": "write back" },
      "engines": { "sqlite": "3.51.0, THREADSAFE=1", "std::fs": "Rust standard library" },
      "tool_version": "0.1.0", "tool_commit": "0123abc", "compiler": "rustc 1.88.0",
      "optimised": true } },
  { "type": "warning", "kind": "load", "message": "the load average is 2.31 on 2 CPUs",
    "advice": "Stop other work, or trust corrected times only." },
  { "type": "warning", "kind": "setting-not-taken",
    "message": "reads/mmap-blob: asked mmap=on, got off",
    "advice": "Read the results as those of mmap=off, or change the study." },
  { "type": "harness-cost", "ratio_ns": 6.2, "latency_ns": 31.4,
    "blocks": 20, "operations": 100000 },
  { "type": "preparation", "what": "dataset blobs", "seconds": 1.31,
    "bytes": 1000130000, "values": 100000 },
  { "type": "failure", "cell": "failing/redb", "stderr": "thread 'main' said </script> and left",
    "message": "redb: the database is locked by another process; stop it and run again" },
  { "type": "end", "outcome": "complete", "seconds": 187.4 }
]"#;

/// Stores on disk: bytes of their files and allocated, files, directories, and bytes as published.
const SPACE: &str = "
sqlite-4096 | SQLite database    | 1024401408 | 1024405504 |      1 |   1 | 1024512000
files-dir   | directory, by du   | 1000130000 | 1231147008 | 100000 |   1 | 1228800000
files-tree  | files, layout=tree | 1000130000 | 1231564800 | 100000 | 101 |";

/// A cell in short.
pub(crate) struct Draft {
    pub(crate) comparison: &'static str,
    pub(crate) key: &'static str,
    pub(crate) label: &'static str,
    pub(crate) role: Role,
    pub(crate) store: &'static str,
    /// Not a number where nothing was measured.
    pub(crate) nanoseconds: f64,
    pub(crate) claim: (Durability, bool),
    pub(crate) workload: WorkloadSpec,
}

impl Draft {
    pub(crate) fn read(
        key: &'static str,
        label: &'static str,
        store: &'static str,
        ns: f64,
    ) -> Self {
        Self {
            comparison: "reads",
            key,
            label,
            role: match key {
                "dir" => Role::Baseline,
                "control" => Role::Control,
                "pread" | "mmap" => Role::Floor,
                _ => Role::Candidate,
            },
            store,
            nanoseconds: ns,
            claim: (Durability::None, false),
            workload: WorkloadSpec::default(),
        }
    }

    /// A read per line: its key, its label, its store and its nanoseconds.
    pub(crate) fn reads(table: &'static str) -> Vec<Self> {
        let lines = table.trim().lines();
        lines
            .map(|line| {
                let mut fields = line.split(" | ").map(str::trim);
                let [key, label, store, time] = std::array::from_fn(|_| fields.next().unwrap());
                Self::read(key, label, store, time.parse().unwrap())
            })
            .collect()
    }

    pub(crate) fn overwrite(
        key: &'static str,
        label: &'static str,
        store: &'static str,
        nanoseconds: f64,
        claim: (Durability, bool),
    ) -> Self {
        Self {
            comparison: "overwrites",
            claim,
            workload: WorkloadSpec {
                operation: Some(Operation::Overwrite),
                operations: Some(10_000),
                ..WorkloadSpec::default()
            },
            ..Self::read(key, label, store, nanoseconds)
        }
    }

    pub(crate) fn role(self, role: Role) -> Self {
        Self { role, ..self }
    }

    fn is_of_files(&self) -> bool {
        self.store.starts_with("files")
    }

    fn writes(&self) -> bool {
        self.workload.operation == Some(Operation::Overwrite)
    }

    fn flush(&self) -> f64 {
        if self.is_of_files() {
            18_400.0
        } else {
            30_100.0
        }
    }

    /// The settings; a store that is to map its file may not.
    fn settings(&self, maps: bool) -> Settings {
        let mut settings = Settings::default();
        if self.key == "mmap-blob" {
            settings.set("mmap", Value::Flag(maps));
        }
        if !self.is_of_files() {
            settings.set("journal", Value::Word("wal".into()));
            settings.set("page_size", Value::Number(4096));
            settings.set("cache", Value::Number(4 << 20));
        }
        settings
    }

    fn cell(&self, comparison: &str) -> Cell {
        let (class, atomic) = self.claim;
        let mut cell = cell(comparison, self.key, self.role, self.store.parse().unwrap());
        cell.label = self.label.to_owned();
        cell.settings = self.settings(true);
        cell.capabilities.transactions = !self.is_of_files();
        cell.capabilities.durability = DurabilityClaim {
            class,
            atomic,
            delayed: false,
        };
        cell.workload = self.workload.complete();
        cell
    }

    /// The block of a round.
    fn block(&self, cell: CellId) -> Measurement {
        let (files, writes) = (self.is_of_files(), self.writes());
        let each = |per_operation: f64| (per_operation * 10_000.0).round() as u64;
        let time = |factor: f64| each(self.nanoseconds * factor);
        Measurement {
            cell,
            operations: 10_000,
            bytes: each(10_001.3),
            wall_ns: time(1.02),
            run_delay_ns: Some(time(0.02)),
            thread_cpu_ns: time(0.99),
            process_cpu_ns: time(0.99),
            user_ns: if files { 7 } else { 26 },
            system_ns: if files { 93 } else { 74 },
            io: Some(IoCounters {
                read_calls: each(if files { 1.0 } else { 3.04 }),
                write_calls: if writes { each(1.2) } else { 0 },
                storage_write_bytes: if writes { each(12_288.0) } else { 0 },
                ..IoCounters::default()
            }),
            drain_write_bytes: Some(0),
            minor_faults: each(0.013),
            commits: 1,
            syncs: Some(SyncCalls {
                fsync: u64::from(self.key == "safe"),
                ..SyncCalls::default()
            }),
            peak_memory_bytes: Some(18_743_296),
            ..Measurement::default()
        }
    }

    /// What was found of one round, as if it were of twenty, and of single operations.
    fn summary(&self, found: CellSummary, floor: Option<f64>) -> CellSummary {
        let ns = self.nanoseconds;
        if ns.is_nan() {
            return found;
        }
        let round = |factor: f64| (ns * factor) as u64;
        let curve = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99].into_iter();
        let curve = curve.zip([0.98, 1.22, 1.6, 2.9, 9.1, 38.0].map(round));
        let curve: Vec<(f64, u64)> = curve.collect();
        CellSummary {
            rounds: 20,
            time_rounds: 20,
            operations: 20 * 10_000,
            time_ns: Some(Interval {
                estimate: ns,
                low: ns * 0.97,
                high: ns * 1.04,
            }),
            block_time: None,
            corrected_ns: Some(ns),
            drain_ns: self.writes().then_some(self.flush()),
            total_ns: self.writes().then_some(ns + self.flush()),
            latency: Some(LatencySummary {
                count: 200_000,
                blocks: 8,
                mean_ns: ns * 1.05,
                p50_ns: Some(curve[0].1),
                p90_ns: Some(curve[1].1),
                p95_ns: Some(curve[2].1),
                p99_ns: Some(curve[3].1),
                p999_ns: Some(curve[4].1),
                intervals: vec![PercentileInterval {
                    percentile: 99.0,
                    low_ns: round(2.7),
                    high_ns: round(3.2),
                }],
                max_ns: round(412.0),
                curve,
            }),
            effective: Some(self.settings(false)),
            verification: Some(Verification {
                cell: found.cell.id.clone(),
                values: 100_000,
                bytes: 1_000_130_000,
                overwritten: if self.writes() { 63_211 } else { 0 },
            }),
            multiple_of_floor: floor
                .filter(|floor| *floor != ns)
                .map(|floor| estimate(ns / floor, 0.02)),
            series: (0..20).map(|round| (round, ns.ln())).collect(),
            ..found
        }
    }
}

/// A cell of a plan, with whatever most have.
pub(crate) fn cell(comparison: &str, key: &str, role: Role, store: StoreSpec) -> Cell {
    Cell {
        id: CellId(format!("{comparison}/{key}")),
        key: key.to_owned(),
        label: store.to_string(),
        role,
        driver: store.driver().to_owned(),
        store,
        settings: Settings::default(),
        published_seconds: None,
        capabilities: Capabilities::default(),
        workload: WorkloadSpec::default().complete(),
        scanned: Default::default(),
        dataset: "blobs".to_owned(),
        on: String::new(),
        instance: key.to_owned(),
    }
}

/// A comparison of a plan: each cell with the first, and further pairs of a cell and a reference.
pub(crate) fn planned(
    id: &str,
    title: &str,
    cells: Vec<Cell>,
    further: &[(&str, &str)],
) -> Comparison {
    let is_compared = |cell: &&Cell| !matches!(cell.role, Role::Control | Role::Part);
    let compared = cells.iter().skip(1).filter(is_compared);
    let compared = compared.map(|cell| (cell.key.as_str(), cells[0].key.as_str()));
    let contrasts = compared.chain(further.iter().copied());
    let contrasts = contrasts.map(|pair| Contrast {
        cell: CellId(format!("{id}/{}", pair.0)),
        reference: CellId(format!("{id}/{}", pair.1)),
    });
    Comparison {
        id: id.to_owned(),
        title: title.to_owned(),
        contrasts: contrasts.collect(),
        cells,
        not_applicable: BTreeMap::new(),
        measure: Default::default(),
        rebuild_every: None,
        published_label: None,
        max_rounds: 10,
        judged: Default::default(),
    }
}

pub(crate) fn estimate(ratio: f64, half_width: f64) -> RatioEstimate {
    RatioEstimate {
        ratio,
        low: ratio * (1.0 - half_width) / 1.01,
        high: ratio * (1.0 + half_width) * 1.01,
        rounds: 20,
    }
}

pub(crate) fn judge(estimate: &RatioEstimate) -> Verdict {
    verdict(estimate.low.ln(), estimate.high.ln(), 1.05_f64.ln())
}

/// What the analysis makes of one round of these cells, with ratios as twenty would have them.
fn compared(
    id: &str,
    title: &str,
    drafts: &[Draft],
    control_ratio: f64,
    further: &[(&str, &str)],
) -> Analysis {
    let of = |key: &str| CellId(format!("{id}/{key}"));
    let cells = drafts.iter().map(|draft| draft.cell(id)).collect();
    let mut run = header();
    run.plan.comparisons = vec![planned(id, title, cells, further)];
    let measured = drafts.iter().filter(|draft| draft.nanoseconds.is_finite());
    let blocks = measured.map(|draft| Record::Measurement(draft.block(of(draft.key))));
    let records: Vec<Record> = [Record::Run(run)].into_iter().chain(blocks).collect();
    let mut analysis = analyse(&records, None).unwrap();

    let floor = drafts.iter().find(|draft| draft.role == Role::Floor);
    let floor = floor.map(|draft| draft.nanoseconds);
    let control = estimate(control_ratio, 0.004);
    let outcome = &mut analysis.comparisons[0];
    (outcome.metric, outcome.sleeps) = (Metric::Corrected, false);
    outcome.control = Some(ControlOutcome {
        estimate: control,
        verdict: judge(&control),
    });
    (outcome.calibration, outcome.noise_floor) = (1.01, 1.01f64.ln());
    outcome.reliable = (control_ratio - 1.0).abs() < 0.02;
    outcome.delay_share = Some(0.013);
    for (cell, draft) in outcome.cells.iter_mut().zip(drafts) {
        *cell = draft.summary(cell.clone(), floor);
    }
    for contrast in &mut outcome.contrasts {
        let draft = |id: &CellId| drafts.iter().find(|draft| of(draft.key) == *id).unwrap();
        relate(contrast, draft(&contrast.cell), draft(&contrast.reference));
        if !outcome.reliable {
            contrast.verdict = Verdict::Unreliable;
        }
    }
    for figure in &mut analysis.figures {
        figure.unreliable.clear();
        let group = &mut figure.groups[0];
        group.published_label = Some("separate files over SQLite, as published in 2017".to_owned());
        let (to, others) = group.rows.split_first_mut().unwrap();
        for row in others.iter_mut().filter(|row| row.cell.is_some()) {
            let contrasts = outcome.contrasts.iter();
            let mut both_ways = contrasts.flat_map(|c| [c.clone(), c.inverse()]);
            let is_its = |c: &ContrastOutcome| Some(&c.cell) == row.cell.as_ref();
            let found = both_ways.find(|c| is_its(c) && Some(&c.reference) == to.cell.as_ref());
            if let Some(found) = found {
                *row = row.clone().with_ratio(found.estimate, found.verdict);
            }
        }
    }
    analysis
}

/// Gives a ratio what the times of two cells come to.
fn relate(contrast: &mut ContrastOutcome, cell: &Draft, reference: &Draft) {
    let half_width = if cell.key == "sql-each" { 0.06 } else { 0.012 };
    let ratio = cell.nanoseconds / reference.nanoseconds;
    if ratio.is_nan() {
        return;
    }
    let found = estimate(ratio, half_width);
    (contrast.estimate, contrast.verdict) = (Some(found), judge(&found));
    contrast.total = (cell.writes() && reference.writes()).then(|| {
        let [ours, theirs] = [cell, reference].map(|draft| draft.nanoseconds + draft.flush());
        let estimate = estimate(ours / theirs, half_width);
        let verdict = judge(&estimate);
        TotalOutcome { estimate, verdict }
    });
    contrast.same_durability = cell.comparison != "overwrites" || cell.claim == reference.claim;
}

pub(crate) fn comparison(
    id: &str,
    title: &str,
    drafts: &[Draft],
    control_ratio: f64,
    further: &[(&str, &str)],
) -> ComparisonOutcome {
    compared(id, title, drafts, control_ratio, further)
        .comparisons
        .remove(0)
}

fn reads() -> Analysis {
    let mut drafts = Draft::reads(
        "
        dir       | separate files                                  | files:layout=dir        | 8620
        control   | separate files                                  | files:layout=dir        | 8645
        tree      | separate files in a tree                        | files:layout=tree       | 8740
        sql       | SQLite, prepared SELECT                         | sqlite                  | 4100
        sql-each  | SQLite, prepared SELECT, a transaction per read | sqlite                  | 8320
        blob      | SQLite, sqlite3_blob_read()                     | sqlite:api=blob         | 3620
        mmap-blob | SQLite, sqlite3_blob_read(), memory-mapped      | sqlite:api=blob,mmap=on | 2095
        pread     | floor: one open file, pread                     | flat:api=pread          | 2097
        mmap      | floor: one file, mapped                         | flat:api=mmap           | 1105
        ",
    );
    drafts[4].workload.per_transaction = Some(PerTransaction::Operations(1));
    drafts[8].workload.delivery = Some(Delivery::InPlace);
    let of_charts = [
        ("tree", "sql"),
        ("sql-each", "sql"),
        ("pread", "sql"),
        ("tree", "blob"),
        ("tree", "mmap-blob"),
    ];
    let title = "Reading 10 kB blobs, random order, warm";
    let mut analysis = compared("reads", title, &drafts, 1.003, &of_charts);
    let reads = &mut analysis.comparisons[0];
    reads.fastest = Some(CellId("reads/mmap-blob".into()));
    reads.not_applicable.insert(
        "lmdb-blob".to_owned(),
        "lmdb has no api=blob; it has api=get".to_owned(),
    );
    analysis
}

fn overwrites() -> Analysis {
    let drafts = Draft::reads(
        "
        dir     | separate files, truncated and written     | files:layout=dir,write=truncate       | 174000
        control | separate files, truncated and written     | files:layout=dir,write=truncate       | 174900
        safe    | separate files, temporary file and rename | files:layout=dir,write=rename         | 218000
        wal     | SQLite, WAL, synchronous=NORMAL           | sqlite:journal=wal,synchronous=normal | 61000
        off     | SQLite, no journal, synchronous=OFF       | sqlite:journal=off,synchronous=off    | 31000
        ",
    );
    let drafts: Vec<Draft> = drafts
        .into_iter()
        .map(|read| {
            let claim = match read.key {
                "safe" => (Durability::ProcessCrash, true),
                "wal" => (Durability::Consistent, true),
                _ => (Durability::None, false),
            };
            Draft::overwrite(read.key, read.label, read.store, read.nanoseconds, claim)
        })
        .collect();
    let of_charts = [("safe", "wal"), ("off", "wal"), ("off", "safe")];
    let title = "Overwriting 10 kB blobs, random order";
    compared("overwrites", title, &drafts, 0.996, &of_charts)
}

fn unreliable() -> Analysis {
    let mut drafts = Draft::reads(
        "
        dir     | separate files          | files:layout=dir | 72000
        control | separate files          | files:layout=dir | 75000
        sql     | SQLite, prepared SELECT | sqlite           | 175000
        ",
    );
    for draft in &mut drafts {
        draft.workload.cache = Some(CacheState::Cold);
    }
    let title = "Reading 10 kB blobs, random order, cold";
    compared("cold-reads", title, &drafts, 1.042, &[])
}

fn failed() -> Analysis {
    let drafts = [
        ("dir", HOSTILE_LABEL, "files:layout=dir", 8_620.0),
        ("control", HOSTILE_LABEL, "files:layout=dir", 8_640.0),
        ("same", "files again", "files", 8_700.0),
        ("redb", "redb", "redb", f64::NAN),
    ];
    let drafts = drafts.map(|(key, label, store, ns)| Draft::read(key, label, store, ns));
    compared("failing", "A store that fails", &drafts, 1.001, &[])
}

/// The rows of figures whose ratio is known.
pub(crate) fn ratios(analysis: &mut Analysis) -> impl Iterator<Item = &mut FindingRow> {
    let groups = analysis.figures.iter_mut().flat_map(|f| &mut f.groups);
    let rows = groups.flat_map(|group| &mut group.rows);
    rows.filter(|row| row.rounds.is_some())
}

fn space() -> Vec<SpaceRow> {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |at: usize| fields[at].parse().ok();
        let label = fields[1].to_owned();
        let footprint = Footprint {
            apparent_bytes: number(2).unwrap(),
            allocated_bytes: number(3).unwrap(),
            files: number(4).unwrap(),
            directories: number(5).unwrap(),
        };
        SpaceRow {
            instance: fields[0].to_owned(),
            footprint,
            value_bytes: 1_000_130_000,
            ratio: Some(footprint.allocated_bytes as f64 / 1_024_405_504.0),
            published: number(6).map(|bytes| (label.clone(), bytes, Some(100_000))),
            published_ratio: number(6).map(|bytes| bytes as f64 / 1_024_512_000.0),
            label,
        }
    };
    SPACE.trim().lines().map(row).collect()
}

static RECORDS: LazyLock<Vec<Record>> = LazyLock::new(|| serde_json::from_str(RESULT).unwrap());

pub(crate) fn header() -> RunHeader {
    let run = |record: &Record| match record {
        Record::Run(header) => Some(header.clone()),
        _ => None,
    };
    RECORDS.iter().find_map(run).unwrap()
}

/// The whole run.
pub(crate) fn analysis() -> Analysis {
    let mut analysis = analyse(&RECORDS, None).unwrap();
    for measured in [reads(), overwrites(), unreliable(), failed()] {
        analysis.comparisons.extend(measured.comparisons);
        analysis.figures.extend(measured.figures);
    }
    analysis.space = space();
    decided(analysis)
}

/// The run with nothing measured, of a study with this title.
pub(crate) fn empty(title: &str) -> Analysis {
    let mut analysis = analysis();
    analysis.run.plan.study.title = title.to_owned();
    analysis.comparisons.clear();
    analysis.figures.clear();
    analysis.space.clear();
    analysis.failures.clear();
    analysis.warnings.clear();
    analysis
}

/// The analysis with what it recommends now that its findings are these.
pub(crate) fn decided(mut analysis: Analysis) -> Analysis {
    analysis.decide();
    analysis
}

/// A result file like that of the run: its header and as many lines as blocks were timed.
pub(crate) fn raw_result() -> String {
    let block =
        "{\"type\":\"measurement\",\"round\":7,\"wall_ns\":41007919,\"note\":\"</script>\"}\n";
    encode(&RECORDS[0]) + "\n" + &block.repeat(420)
}
