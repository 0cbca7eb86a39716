//! A run as it could have been: every verdict, a comparison with differing durability, an
//! unreliable one, a failed cell, hostile labels, and the published figures of
//! "35% Faster Than The Filesystem". The numbers are invented.

use std::collections::BTreeMap;
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, ContrastOutcome, ControlOutcome, Finding,
    FindingGroup, FindingRow, Interval, LatencySummary, Metric, PercentileInterval, Quantity,
    RatioEstimate, Recommendation, RunWarning, ServerCost, Shown, Source, SpaceRow, TotalOutcome,
    Verdict,
};
use stowplan_model::{
    CacheState, Capabilities, Cell, CellFailure, CellId, Delivery, Device, Durability,
    DurabilityClaim, Environment, FigureSpec, FileSystem, Footprint, HarnessCost, Operation,
    PerTransaction, Plan, PreparationRecord, Role, RunEnd, RunHeader, RunOutcome, SCHEMA_VERSION,
    Settings, StoreSpec, Study, Value, Verification, Warning, WarningKind, WorkloadSpec,
};

/// A label that would run if it were not escaped.
pub(crate) const HOSTILE_LABEL: &str = "<script>alert(1)</script> & \"files\" | 'x'";

const STUDY: &str = r#"
name = "fasterthanfs"
title = "35% Faster Than The Filesystem"
question = "Is a 10 kB blob read and written faster through SQLite than as a file of its own?"
source = "https://sqlite.org/fasterthanfs.html"
[datasets.blobs]
count = 100_000
size = { distribution = "uniform", min = 8_000, max = 12_000 }
[[comparison]]
id = "reads"
title = "Reading"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
sql = { store = "sqlite" }
sql-each = { store = "sqlite" }
blob = { store = "sqlite" }
mmap-blob = { store = "sqlite" }
tree = { store = "files" }
pread = { store = "flat" }
[[comparison]]
id = "overwrites"
title = "Overwriting"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
safe = { store = "files" }
wal = { store = "sqlite" }
off = { store = "sqlite" }
[[comparison]]
id = "cold-reads"
title = "Reading, cold"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
[[figure]]
id = "space"
title = "Disk space"
measure = "footprint"
published = [
  { cell = "reads/sql", label = "SQLite database" },
  { cell = "reads/dir", label = "directory, by du" },
]

[systems]
win7 = "c. 2009 Dell Inspiron, Pentium dual-core 2.30 GHz, 4 GiB, Windows 7, hard drive"
win10 = "2016 Lenovo YOGA 910, i7-7500 2.70 GHz, 16 GiB, Windows 10, SSD"
mac = "2015 MacBook Pro, 3.1 GHz i7, 16 GiB, macOS 10.12.5, SSD"
ubuntu = "i7-4770K 3.50 GHz, 32 GiB, Ubuntu 16.04.2, SSD"
android = "Galaxy S3, ARMv7, 2 GiB, SSD"

[[figure]]
id = "chart1"
title = "Chart 1: reads, prepared SELECT, random order"
comparisons = ["reads"]
to = "sql"
cells = ["dir", "tree", "sql-each", "pread"]
published_ratios = { ubuntu = 1.10, android = 1.28, mac = 1.45, win7 = 2.40, win10 = 5.0 }
published_precision = 0.05
[[figure]]
id = "chart2"
title = "Chart 2: reads, sqlite3_blob_read(), random order"
comparisons = ["reads"]
to = "blob"
cells = ["dir", "tree"]
published_ratios = { ubuntu = 1.22, android = 1.40, mac = 1.67, win7 = 3.67, win10 = 5.43 }
published_precision = 0.05
[[figure]]
id = "chart3"
title = "Chart 3: reads, sqlite3_blob_read() from a memory-mapped database, random order"
comparisons = ["reads"]
to = "mmap-blob"
cells = ["dir", "tree"]
published_ratios = { ubuntu = 1.6, mac = 2.1, android = 2.15, win7 = 11.1, win10 = 13.75 }
published_precision = 0.1
[[figure]]
id = "chart4"
title = "Chart 4: overwrites, WAL, synchronous=NORMAL, one transaction"
comparisons = ["overwrites"]
to = "wal"
cells = ["dir", "safe"]
published_ratios = { ubuntu = 1.07, win7 = 1.20, mac = 1.63, win10 = 3.10 }
published_precision = 0.05
[[figure]]
id = "chart5"
title = "Chart 5: overwrites, journal_mode=OFF, synchronous=OFF"
comparisons = ["overwrites"]
to = "off"
cells = ["dir"]
published_ratios = { mac = 1.32, ubuntu = 1.50, win7 = 3.92, win10 = 4.90 }
published_precision = 0.05
"#;

/// A cell in short.
pub(crate) struct Draft {
    pub(crate) comparison: &'static str,
    pub(crate) key: &'static str,
    pub(crate) label: &'static str,
    pub(crate) role: Role,
    pub(crate) store: &'static str,
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
                let mut fields = line.split('|').map(str::trim);
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

    fn summary(&self, floor: Option<f64>) -> CellSummary {
        let writes = self.workload.operation == Some(Operation::Overwrite);
        let files = self.store.starts_with("files");
        let ns = self.nanoseconds;
        let id = CellId(format!("{}/{}", self.comparison, self.key));
        let mut effective = Settings::default();
        if !files {
            effective.set("journal", Value::Word("wal".into()));
            effective.set("page_size", Value::Number(4096));
            effective.set("cache", Value::Number(4 << 20));
        }
        let mut settings = effective.clone();
        if self.key == "mmap-blob" {
            settings.set("mmap", Value::Flag(true));
            effective.set("mmap", Value::Flag(false));
        }
        let round = |factor: f64| (ns * factor) as u64;
        CellSummary {
            cell: Cell {
                id: id.clone(),
                key: self.key.to_owned(),
                label: self.label.to_owned(),
                role: self.role,
                driver: self.store.parse::<StoreSpec>().unwrap().driver().to_owned(),
                store: self.store.parse::<StoreSpec>().unwrap(),
                settings,
                published_seconds: None,
                capabilities: Capabilities {
                    operations: vec![Operation::Read, Operation::Overwrite],
                    deliveries: vec![Delivery::Copy, Delivery::InPlace],
                    transactions: !files,
                    durability: DurabilityClaim {
                        class: self.claim.0,
                        atomic: self.claim.1,
                        delayed: false,
                    },
                    ..Capabilities::default()
                },
                workload: self.workload.complete(),
                scanned: Default::default(),
                dataset: "blobs".to_owned(),
                on: String::new(),
                instance: self.key.to_owned(),
            },
            rounds: 20,
            time_rounds: 20,
            operations: 20 * 10_000,
            operations_per_commit: None,
            time_ns: Some(Interval {
                estimate: ns,
                low: ns * 0.97,
                high: ns * 1.04,
            }),
            statistic_ns: None,
            block_time: None,
            driver_cost: None,
            published_error_seconds: None,
            wall_ns: ns * 1.02,
            corrected_ns: Some(ns),
            cpu_ns: ns * 0.99,
            server: ServerCost::default(),
            kernel_share: if files { 0.93 } else { 0.74 },
            kernel_share_resolution: None,
            drain_ns: writes.then_some(if files { 18_400.0 } else { 30_100.0 }),
            total_ns: writes.then_some(ns + if files { 18_400.0 } else { 30_100.0 }),
            bytes: 10_001.3,
            read_calls: Some(if files { 1.0 } else { 3.04 }),
            write_calls: Some(if writes { 1.2 } else { 0.0 }),
            storage_read_bytes: 0.0,
            storage_write_bytes: Some(if writes { 12_288.0 } else { 0.0 }),
            write_amplification: writes.then_some(1.23),
            faults: 0.013,
            syncs_per_commit: if self.key == "safe" { 1.0 } else { 0.0 },
            peak_memory_bytes: Some(18_743_296),
            last_commit_ns: None,
            commits: 1.0,
            block_footprint: None,
            space_per_value_byte: None,
            page_fill: None,
            index_fill: None,
            conflicts: 0,
            counts: None,
            latencies: BTreeMap::new(),
            latency: Some(LatencySummary {
                count: 200_000,
                blocks: 8,
                mean_ns: ns * 1.05,
                p50_ns: Some(round(0.98)),
                p90_ns: Some(round(1.22)),
                p95_ns: Some(round(1.6)),
                p99_ns: Some(round(2.9)),
                p999_ns: Some(round(9.1)),
                intervals: vec![PercentileInterval {
                    percentile: 99.0,
                    low_ns: round(2.7),
                    high_ns: round(3.2),
                }],
                max_ns: round(412.0),
                curve: vec![
                    (50.0, round(0.98)),
                    (90.0, round(1.22)),
                    (95.0, round(1.6)),
                    (99.0, round(2.9)),
                    (99.9, round(9.1)),
                    (99.99, round(38.0)),
                ],
            }),
            effective: Some(effective),
            verification: Some(Verification {
                cell: id,
                values: 100_000,
                bytes: 1_000_130_000,
                overwritten: if writes { 63_211 } else { 0 },
            }),
            multiple_of_floor: floor
                .filter(|floor| *floor != ns)
                .map(|floor| estimate(ns / floor, 0.02)),
            series: (0..20).map(|round| (round, ns.ln())).collect(),
            builds: BTreeMap::new(),
        }
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
    let (low, high) = (1.0 / 1.05, 1.05);
    if estimate.high < low {
        Verdict::Faster
    } else if estimate.low > high {
        Verdict::Slower
    } else if estimate.low > low && estimate.high < high {
        Verdict::Equivalent
    } else if estimate.low > 1.0 || estimate.high < 1.0 {
        Verdict::SmallDifference
    } else {
        Verdict::Unresolved
    }
}

pub(crate) fn comparison(
    id: &str,
    title: &str,
    drafts: &[Draft],
    control_ratio: f64,
    extra: &[(&str, &str)],
) -> ComparisonOutcome {
    let floor = drafts.iter().find(|draft| draft.role == Role::Floor);
    let floor = floor.map(|draft| draft.nanoseconds);
    let cells: Vec<CellSummary> = drafts.iter().map(|draft| draft.summary(floor)).collect();
    let control = estimate(control_ratio, 0.004);
    let reliable = (control_ratio - 1.0).abs() < 0.02;
    let time = |key: &str| drafts.iter().find(|d| d.key == key).unwrap();
    let total = |key: &str| {
        let mut cells = cells.iter();
        cells.find(|cell| cell.cell.key == key).unwrap().total_ns
    };
    let contrast = |key: &str, reference: &str| {
        let (cell, other) = (time(key), time(reference));
        let half_width = if key == "sql-each" { 0.06 } else { 0.012 };
        let estimate = estimate(cell.nanoseconds / other.nanoseconds, half_width);
        ContrastOutcome {
            cell: CellId(format!("{id}/{key}")),
            reference: CellId(format!("{id}/{reference}")),
            estimate: Some(estimate),
            verdict: if reliable {
                judge(&estimate)
            } else {
                Verdict::Unreliable
            },
            corrected: None,
            total: total(key).zip(total(reference)).map(|(ours, theirs)| {
                let estimate = self::estimate(ours / theirs, half_width);
                let verdict = judge(&estimate);
                TotalOutcome { estimate, verdict }
            }),
            builds: None,
            same_durability: id != "overwrites" || cell.claim == other.claim,
        }
    };
    let baseline = drafts[0].key;
    let is_compared = |draft: &&Draft| !matches!(draft.role, Role::Control | Role::Part);
    let compared = drafts.iter().skip(1).filter(is_compared);
    let to_baseline = compared.map(|draft| (draft.key, baseline));
    // A plan has each pair once.
    let extra = extra.iter().copied().filter(|(cell, _)| *cell != baseline);
    let contrasts = to_baseline
        .chain(extra)
        .map(|(cell, reference)| contrast(cell, reference))
        .collect();
    ComparisonOutcome {
        id: id.to_owned(),
        title: title.to_owned(),
        measure: Default::default(),
        metric: Metric::Corrected,
        sleeps: false,
        control: Some(ControlOutcome {
            estimate: control,
            verdict: judge(&control),
        }),
        calibration: 1.01,
        noise_floor: 1.01f64.ln(),
        reliable,
        delay_share: Some(0.013),
        contrasts,
        cells,
        fastest: None,
        recommendation: Recommendation::default(),
        not_applicable: BTreeMap::new(),
    }
}

fn reads() -> ComparisonOutcome {
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
    for draft in &mut drafts {
        match draft.key {
            "sql-each" => {
                draft.workload.per_transaction = Some(PerTransaction::Operations(1));
            }
            "mmap" => draft.workload.delivery = Some(Delivery::InPlace),
            _ => {}
        }
    }
    let extra = [
        ("dir", "sql"),
        ("tree", "sql"),
        ("sql-each", "sql"),
        ("pread", "sql"),
        ("dir", "blob"),
        ("tree", "blob"),
        ("dir", "mmap-blob"),
        ("tree", "mmap-blob"),
    ];
    let title = "Reading 10 kB blobs, random order, warm";
    let mut comparison = comparison("reads", title, &drafts, 1.003, &extra);
    comparison.fastest = Some(CellId("reads/mmap-blob".into()));
    comparison.not_applicable.insert(
        "lmdb-blob".to_owned(),
        "lmdb has no api=blob; it has api=get".to_owned(),
    );
    comparison
}

fn overwrites() -> ComparisonOutcome {
    let mut drafts = Draft::reads(
        "
        dir     | separate files, truncated and written     | files:layout=dir,write=truncate       | 174000
        control | separate files, truncated and written     | files:layout=dir,write=truncate       | 174900
        safe    | separate files, temporary file and rename | files:layout=dir,write=rename         | 218000
        wal     | SQLite, WAL, synchronous=NORMAL           | sqlite:journal=wal,synchronous=normal | 61000
        off     | SQLite, no journal, synchronous=OFF       | sqlite:journal=off,synchronous=off    | 31000
        ",
    );
    for draft in &mut drafts {
        let claim = match draft.key {
            "safe" => (Durability::ProcessCrash, true),
            "wal" => (Durability::Consistent, true),
            _ => (Durability::None, false),
        };
        *draft = Draft::overwrite(
            draft.key,
            draft.label,
            draft.store,
            draft.nanoseconds,
            claim,
        );
    }
    let extra = [
        ("dir", "wal"),
        ("safe", "wal"),
        ("off", "wal"),
        ("off", "safe"),
        ("dir", "off"),
    ];
    let title = "Overwriting 10 kB blobs, random order";
    comparison("overwrites", title, &drafts, 0.996, &extra)
}

fn unreliable() -> ComparisonOutcome {
    let drafts = [
        ("dir", "separate files", "files:layout=dir", 72_000.0),
        ("control", "separate files", "files:layout=dir", 75_000.0),
        ("sql", "SQLite, prepared SELECT", "sqlite", 175_000.0),
    ];
    let drafts = drafts.map(|(key, label, store, ns)| Draft {
        comparison: "cold-reads",
        workload: WorkloadSpec {
            cache: Some(CacheState::Cold),
            ..WorkloadSpec::default()
        },
        ..Draft::read(key, label, store, ns)
    });
    let title = "Reading 10 kB blobs, random order, cold";
    comparison("cold-reads", title, &drafts, 1.042, &[])
}

fn failed() -> ComparisonOutcome {
    let drafts = [
        ("dir", HOSTILE_LABEL, "files:layout=dir", 8_620.0),
        ("control", HOSTILE_LABEL, "files:layout=dir", 8_640.0),
        ("same", "files again", "files", 8_700.0),
        ("redb", "redb", "redb", 5_000.0),
    ];
    let drafts = drafts.map(|(key, label, store, ns)| Draft {
        comparison: "failing",
        ..Draft::read(key, label, store, ns)
    });
    let mut outcome = comparison("failing", "A store that fails", &drafts, 1.001, &[]);
    let contrast = outcome.contrasts.last_mut().unwrap();
    contrast.estimate = None;
    contrast.verdict = Verdict::NoData;
    without_data(outcome.cells.last_mut().unwrap());
    outcome
}

/// As the analysis summarises a cell none of whose blocks count.
fn without_data(cell: &mut CellSummary) {
    (cell.rounds, cell.operations) = (0, 0);
    (cell.time_ns, cell.total_ns, cell.drain_ns) = (None, None, None);
    for mean in [
        &mut cell.wall_ns,
        &mut cell.cpu_ns,
        &mut cell.kernel_share,
        &mut cell.bytes,
        &mut cell.storage_read_bytes,
        &mut cell.faults,
        &mut cell.syncs_per_commit,
    ] {
        *mean = f64::NAN;
    }
    (cell.read_calls, cell.write_calls) = (None, None);
    (cell.storage_write_bytes, cell.peak_memory_bytes) = (None, None);
    (cell.latency, cell.effective, cell.verification) = (None, None, None);
    cell.series.clear();
}

fn figures(study: &Study, comparisons: &[ComparisonOutcome]) -> Vec<Finding> {
    let chart = |spec: &FigureSpec| {
        let to = spec.to.as_deref().unwrap();
        let outcome = comparisons.iter().find(|c| c.id == spec.comparisons[0]);
        let outcome = outcome.unwrap();
        let cell_id = |key: &str| CellId(format!("{}/{key}", spec.comparisons[0]));
        let row = |key: &str| {
            let cell = &outcome.cell(&cell_id(key)).unwrap().cell;
            let claim = cell.capabilities.durability;
            FindingRow {
                source: match cell.role {
                    Role::Floor => Source::Floor,
                    _ => Source::Here,
                },
                cell: Some(cell.id.clone()),
                durability: (spec.comparisons[0] == "overwrites").then_some(claim),
                ..FindingRow::published(&cell.label, None)
            }
        };
        let reference = FindingRow {
            source: Source::Reference,
            quantity: Some(Quantity::with_error(1.0, None)),
            ..row(to)
        };
        let label = reference.label.clone();
        let bar = |key: &String| {
            let contrasts = outcome.contrasts.iter();
            let mut both_ways = contrasts.flat_map(|c| [c.clone(), c.inverse()]);
            let found = both_ways.find(|contrast| {
                contrast.cell == cell_id(key) && contrast.reference == cell_id(to)
            });
            let contrast = found.unwrap();
            row(key).with_ratio(contrast.estimate, contrast.verdict)
        };
        let of_others = spec
            .published_ratios
            .iter()
            .map(|(system, ratio)| FindingRow {
                description: Some(study.systems[system].clone()),
                ..FindingRow::published(
                    system,
                    Some(Quantity::with_error(*ratio, spec.published_precision)),
                )
            });
        let value = |row: &FindingRow| row.quantity.unwrap().value;
        let mut of_others: Vec<FindingRow> = of_others.collect();
        of_others.sort_by(|a, b| value(a).total_cmp(&value(b)));
        let bars = spec.cells.iter().filter(|key| *key != to);
        let rows = [reference].into_iter().chain(bars.map(bar));
        Finding {
            id: spec.id.clone(),
            title: spec.title.clone(),
            shown: Shown::Ratios {
                to: cell_id(to),
                label,
            },
            x: None,
            axis: None,
            groups: vec![FindingGroup {
                title: "This machine".to_owned(),
                comparison: spec.comparisons[0].clone(),
                rows: rows.chain(of_others).collect(),
                published_label: Some(
                    "separate files over SQLite, as published in 2017".to_owned(),
                ),
                ..FindingGroup::default()
            }],
            unreliable: (!outcome.reliable)
                .then(|| outcome.title.clone())
                .into_iter()
                .collect(),
        }
    };
    let ratios = study.figures.iter().filter(|spec| spec.to.is_some());
    ratios.map(chart).collect()
}

/// The rows of figures whose ratio is known.
pub(crate) fn ratios(analysis: &mut Analysis) -> impl Iterator<Item = &mut FindingRow> {
    let groups = analysis.figures.iter_mut().flat_map(|f| &mut f.groups);
    let rows = groups.flat_map(|group| &mut group.rows);
    rows.filter(|row| row.rounds.is_some())
}

fn space() -> Vec<SpaceRow> {
    let row =
        |instance: &str, label: &str, apparent, allocated: u64, files, directories, published| {
            let published: Option<(&str, u64)> = published;
            SpaceRow {
                instance: instance.to_owned(),
                label: label.to_owned(),
                footprint: Footprint {
                    apparent_bytes: apparent,
                    allocated_bytes: allocated,
                    files,
                    directories,
                },
                value_bytes: 1_000_130_000,
                ratio: Some(allocated as f64 / 1_024_405_504.0),
                published: published.map(|(what, bytes)| (what.to_owned(), bytes, Some(100_000))),
                published_ratio: published.map(|(_, bytes)| bytes as f64 / 1_024_512_000.0),
            }
        };
    vec![
        row(
            "sqlite-4096",
            "SQLite database",
            1_024_401_408,
            1_024_405_504,
            1,
            1,
            Some(("SQLite database", 1_024_512_000)),
        ),
        row(
            "files-dir",
            "directory, by du",
            1_000_130_000,
            1_231_147_008,
            100_000,
            1,
            Some(("directory, by du", 1_228_800_000)),
        ),
        row(
            "files-tree",
            "files, layout=tree",
            1_000_130_000,
            1_231_564_800,
            100_000,
            101,
            None,
        ),
    ]
}

fn environment() -> Environment {
    let engines = [
        ("sqlite", "3.51.0, THREADSAFE=1"),
        ("std::fs", "Rust standard library"),
    ];
    Environment {
        host: "lab-3".into(),
        os: "Debian GNU/Linux 12".into(),
        kernel: "6.18.0".into(),
        architecture: "x86_64".into(),
        cpu: Some("AMD EPYC 9R14".into()),
        cpus: 2,
        last_level_cache_bytes: Some(32 << 20),
        governor: None,
        virtualisation: Some("kvm".into()),
        memory_bytes: 24 << 30,
        memory_available_bytes: 19 << 30,
        load_average: Some(2.31),
        on_battery: None,
        clock_source: Some("tsc".into()),
        run_queue_delay: true,
        residency_check: Some("cachestat".into()),
        file_system: FileSystem {
            kind: "ext4".into(),
            mount_point: "/data".into(),
            options: "rw,relatime".into(),
            block_bytes: 4096,
            free_bytes: 88_000_000_000,
        },
        device: Some(Device {
            name: "vda".into(),
            model: None,
            rotational: Some(false),
            scheduler: Some("none".into()),
            read_ahead_kib: Some(8192),
            write_cache: Some("write back".into()),
        }),
        file_systems: BTreeMap::new(),
        engines: engines.map(|(n, v)| (n.to_owned(), v.to_owned())).into(),
        tool_version: "0.1.0".into(),
        tool_commit: Some("0123abc".into()),
        compiler: Some("rustc 1.88.0".into()),
        optimised: true,
    }
}

pub(crate) fn header() -> RunHeader {
    let study = Study::parse(STUDY, "fixture.toml").unwrap();
    RunHeader {
        schema: SCHEMA_VERSION,
        started: "2026-11-21T07:10:00Z".into(),
        seed: 1,
        plan: Plan {
            datasets: study.datasets.clone(),
            study,
            scale: "seed".into(),
            comparisons: Vec::new(),
            on: BTreeMap::new(),
            sweeps: Vec::new(),
            sought: None,
        },
        environment: environment(),
        equivalence: 0.05,
        max_rounds: 40,
        precision: None,
    }
}

/// What qualifies the run.
pub(crate) fn warnings() -> Vec<Warning> {
    vec![
        Warning {
            kind: WarningKind::Load,
            message: "the load average is 2.31 on 2 CPUs".into(),
            advice: "Stop other work, or trust corrected times only.".into(),
        },
        Warning {
            kind: WarningKind::SettingNotTaken,
            message: "reads/mmap-blob: asked mmap=on, got off".into(),
            advice: "Read the results as those of mmap=off, or change the study.".into(),
        },
    ]
}

/// The whole run.
pub(crate) fn analysis() -> Analysis {
    let comparisons = vec![reads(), overwrites(), unreliable(), failed()];
    let run = header();
    decided(Analysis {
        answers: Vec::new(),
        advice: None,
        figures: figures(&run.plan.study, &comparisons),
        run,
        by_size: Vec::new(),
        comparisons,
        claims: Vec::new(),
        published: Vec::new(),
        ladders: Vec::new(),
        cold: Vec::new(),
        space: space(),
        sessions: 1,
        boots: Vec::new(),
        warnings: warnings().into_iter().map(RunWarning::from).collect(),
        harness_cost: Some(HarnessCost {
            ratio_ns: 6.2,
            latency_ns: 31.4,
            blocks: 20,
            operations: 100_000,
        }),
        driver_costs: Vec::new(),
        preparation: vec![PreparationRecord {
            what: "dataset blobs".into(),
            seconds: 1.31,
            bytes: 1_000_130_000,
            values: 100_000,
        }],
        failures: vec![CellFailure {
            cell: CellId("failing/redb".into()),
            message: "redb: the database is locked by another process; stop it and run again"
                .into(),
            stderr: "thread 'main' said </script> and left".into(),
        }],
        end: Some(RunEnd {
            outcome: RunOutcome::Complete,
            seconds: 187.4,
            phases: None,
            needs: None,
        }),
    })
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
    let header = serde_json::to_string(&stowplan_model::Record::Run(header())).unwrap();
    let mut text = header + "\n";
    for round in 0..20 {
        for cell in 0..21 {
            let wall = 41_000_000 + round * 7_919 + cell * 104_729;
            text.push_str(&format!(
                "{{\"type\":\"measurement\",\"cell\":\"reads/{cell}\",\"round\":{round},\
                 \"wall_ns\":{wall},\"note\":\"</script>\"}}\n"
            ));
        }
    }
    text
}
