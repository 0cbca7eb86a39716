//! An invented run whose study has bars and lines, through the whole analysis.

use crate::fixture;
use std::collections::BTreeMap;
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{
    Capabilities, Cell, CellId, CellSpec, Comparison, ComparisonSpec, Contrast, Durability,
    DurabilityClaim, Footprint, IoCounters, Measurement, Operation, Plan, Record, Role, RunEnd,
    RunHeader, RunOutcome, Settings, Study, SyncCalls, Value,
};

const STUDY: &str = r#"
name = "engines"
title = "Embedded engines"
question = "What does each phase cost in each engine?"
[datasets.rows]
count = 1000
size = { distribution = "fixed", bytes = 36 }

[[comparison]]
id = "insert"
title = "200 inserts, a transaction each"
dataset = "rows"
workload = { operation = "insert", operations = 200, per_transaction = 1 }
baseline = "sqlite"
published_label = "Windows 7, 2011: mean and standard error of 8 runs"
[comparison.cells]
fjall = { store = "fjall" }
sqlite = { store = "sqlite", label = "SQLite in its defaults", published_seconds = 22.5498, published_error_seconds = 0.2185 }
redb = { store = "redb" }
lmdb = { store = "lmdb" }
floor = { store = "flat:sync=commit", label = "append and fdatasync", floor = true }

[[comparison]]
id = "read"
title = "200 reads, a transaction each"
dataset = "rows"
workload = { operation = "read", operations = 200, per_transaction = 1 }
baseline = "sqlite"
[comparison.cells]
fjall = { store = "fjall" }
sqlite = { store = "sqlite", label = "SQLite in its defaults", published_seconds = 0.0206, published_error_seconds = 0.000245 }
redb = { store = "redb" }
lmdb = { store = "lmdb" }

[[comparison]]
id = "threads"
title = "YCSB A: a read to an overwrite, zipfian"
dataset = "rows"
workload = { mix = { read = 50, overwrite = 50 }, order = "zipfian", per_transaction = 1 }
baseline = "sqlite-1"
[comparison.cells]
sqlite-1 = { store = "sqlite:journal=wal", label = "SQLite WAL, 1 thread" }
sqlite-2 = { store = "sqlite:journal=wal", label = "SQLite WAL, 2 threads", workload = { threads = 2 } }
sqlite-4 = { store = "sqlite:journal=wal", label = "SQLite WAL, 4 threads", workload = { threads = 4 } }
redb-1 = { store = "redb", label = "redb, 1 thread" }
redb-2 = { store = "redb", label = "redb, 2 threads", workload = { threads = 2 } }
redb-4 = { store = "redb", label = "redb, 4 threads", workload = { threads = 4 } }
lmdb-1 = { store = "lmdb", label = "LMDB, 1 thread" }
lmdb-2 = { store = "lmdb", label = "LMDB, 2 threads", workload = { threads = 2 } }
lmdb-4 = { store = "lmdb", label = "LMDB, 4 threads", workload = { threads = 4 } }
fjall-1 = { store = "fjall", label = "fjall, 1 thread" }
fjall-2 = { store = "fjall", label = "fjall, 2 threads", workload = { threads = 2 } }
fjall-4 = { store = "fjall", label = "fjall, 4 threads", workload = { threads = 4 } }

[[comparison]]
id = "window"
title = "Rows a transaction each, carried over later"
dataset = "rows"
workload = { operation = "insert", operations = 1000, per_transaction = 1 }
baseline = "memory"
[comparison.cells]
memory = { store = "sqlite:location=memory", label = "memory alone" }
wal = { store = "sqlite:journal=wal", label = "disk, WAL" }
w100 = { store = "sqlite-buffered:window_rows=100", label = "carried over by 100 rows" }
w1000 = { store = "sqlite-buffered:window_rows=1000", label = "carried over by 1,000 rows" }
w10000 = { store = "sqlite-buffered:window_rows=10000", label = "carried over by 10,000 rows" }

[[figure]]
id = "phases"
title = "200 operations in defaults"
comparisons = ["insert", "read"]
measure = "block-time"
axis = "logarithmic"
published_label = "Windows 7, 2011: mean and standard error of 8 runs"
published = [
  { comparison = "insert", label = "SQL CE 4.0", seconds = 0.0258, error_seconds = 0.000583 },
  { comparison = "read", label = "SQL CE 4.0", seconds = 0.0284, error_seconds = 0.000678 },
]

[[figure]]
id = "amplification"
title = "Write amplification of inserts"
comparisons = ["insert"]
cells = ["sqlite", "redb", "lmdb", "fjall"]
measure = "write-amplification"
axis = "linear"

[[figure]]
id = "memory"
title = "Peak memory"
comparisons = ["insert", "read"]
measure = "peak-memory"

[[figure]]
id = "scaling"
title = "YCSB A: throughput against threads"
comparisons = ["threads"]
x = "threads"
measure = "throughput"

[[figure]]
id = "window"
title = "Throughput against the window that may be lost"
comparisons = ["window"]
x = "window_rows"
measure = "throughput"
"#;

/// Nanoseconds per operation of one thread.
fn nanoseconds(kind: &str, operation: Operation, memory: bool) -> f64 {
    let read = matches!(operation, Operation::Read);
    match kind {
        "sqlite" if memory => 4_100.0,
        "sqlite" if read => 6_300.0,
        "sqlite" => 3_400_000.0,
        "redb" if read => 2_100.0,
        "redb" => 1_900_000.0,
        "lmdb" if read => 900.0,
        "lmdb" => 900_000.0,
        "fjall" if read => 1_700.0,
        "fjall" => 5_200.0,
        "sqlite-buffered" => 9_000.0,
        _ => 240_000.0,
    }
}

fn claim(kind: &str) -> DurabilityClaim {
    let class = match kind {
        "fjall" => Durability::ProcessCrash,
        "sqlite" | "sqlite-buffered" => Durability::Consistent,
        _ => Durability::Durable,
    };
    DurabilityClaim {
        class,
        atomic: kind != "flat",
        delayed: kind == "sqlite-buffered",
    }
}

fn cell(comparison: &ComparisonSpec, key: &str, spec: &CellSpec) -> Cell {
    let mut settings = Settings::default();
    for (name, value) in &spec.store.settings {
        let number = value.parse().map(Value::Number);
        settings.set(name, number.unwrap_or_else(|_| Value::Word(value.clone())));
    }
    let kind = spec.store.kind.as_str();
    Cell {
        id: CellId(format!("{}/{key}", comparison.id)),
        key: key.to_owned(),
        label: spec.label.clone().unwrap_or_else(|| spec.store.to_string()),
        role: match spec.floor {
            _ if key == comparison.baseline => Role::Baseline,
            true => Role::Floor,
            false => Role::Candidate,
        },
        driver: spec.store.driver().to_owned(),
        store: spec.store.clone(),
        settings,
        capabilities: Capabilities {
            deliveries: Vec::new(),
            transactions: true,
            durability: claim(kind),
            threads: true,
            parallel_writers: true,
            syncs_per_commit: u32::from(
                claim(kind).class >= Durability::Consistent && kind != "sqlite-buffered",
            ),
            ..Capabilities::default()
        },
        workload: spec.workload.over(&comparison.workload).complete(),
        scanned: comparison.scanned(spec),
        dataset: comparison.dataset.clone(),
        on: String::new(),
        published_seconds: spec.published_seconds,
        instance: format!("store-of-{key}"),
    }
}

fn planned(spec: &ComparisonSpec) -> Comparison {
    let mut cells: Vec<Cell> = spec
        .cells
        .iter()
        .map(|(key, c)| cell(spec, key, c))
        .collect();
    cells.sort_by_key(|cell| cell.role != Role::Baseline);
    let control = Cell {
        id: CellId(format!("{}/{}-control", spec.id, spec.baseline)),
        role: Role::Control,
        ..cells[0].clone()
    };
    cells.insert(1, control);
    let baseline = cells[0].id.clone();
    let contrasts = cells.iter().skip(2).map(|cell| Contrast {
        cell: cell.id.clone(),
        reference: baseline.clone(),
    });
    Comparison {
        id: spec.id.clone(),
        title: spec.title.clone(),
        contrasts: contrasts.collect(),
        cells,
        not_applicable: BTreeMap::new(),
        measure: Default::default(),
        rebuild_every: None,
        published_label: spec.published_label.clone(),
        max_rounds: 10,
        judged: Default::default(),
    }
}

/// A block whose time wanders by a few percent from round to round.
fn block(cell: &Cell, round: u32) -> Measurement {
    let kind = cell.store.kind.as_str();
    let operations = u64::from(cell.workload.operations.unwrap_or(1_000));
    let threads = u64::from(cell.workload.threads);
    let memory = cell.store.settings.contains_key("location");
    let window = cell.settings.number("window_rows").max(1);
    let per = nanoseconds(kind, cell.workload.operation, memory) * (1.0 + 40.0 / window as f64);
    // Engines scale by two thirds of their threads.
    let sped_up = per / (1.0 + (threads - 1) as f64 * 0.66);
    let wander = 1.0 + 0.02 * (f64::from(round * 7 % 10) - 4.5) / 4.5;
    let wall_ns = (sped_up * wander * operations as f64) as u64;
    let writes = cell.workload.operation.writes();
    Measurement {
        cell: cell.id.clone(),
        round,
        operations,
        bytes: operations * 36,
        wall_ns,
        run_delay_ns: (threads == 1).then_some(0),
        thread_cpu_ns: wall_ns / 3,
        process_cpu_ns: wall_ns / 3,
        user_ns: wall_ns / 9,
        system_ns: wall_ns / 5,
        io: writes.then(|| IoCounters {
            storage_write_bytes: operations * 36 * (2 + kind.len() as u64),
            ..IoCounters::default()
        }),
        drain_write_bytes: writes.then_some(4096),
        commits: operations,
        conflicts: threads - 1,
        syncs: Some(SyncCalls {
            fdatasync: if writes { operations } else { 0 },
            ..SyncCalls::default()
        }),
        peak_memory_bytes: Some(6_000_000 + 2_000_000 * kind.len() as u64),
        footprint: writes.then_some(Footprint {
            allocated_bytes: 4096 * kind.len() as u64,
            ..Footprint::default()
        }),
        ..Measurement::default()
    }
}

/// The records of the run.
pub(crate) fn records() -> Vec<Record> {
    let study = Study::parse(STUDY, "engines.toml").unwrap();
    let plan = Plan {
        scale: "seed".to_owned(),
        datasets: study.datasets.clone(),
        comparisons: study.comparisons.iter().map(planned).collect(),
        on: BTreeMap::new(),
        sweeps: Vec::new(),
        sought: None,
        study,
    };
    let cells: Vec<Cell> = plan.cells().cloned().collect();
    let run = RunHeader {
        plan,
        ..fixture::analysis().run
    };
    let mut records = vec![Record::Run(run)];
    let blocks = (0..10).flat_map(|round| cells.iter().map(move |cell| block(cell, round)));
    records.extend(blocks.map(Record::Measurement));
    records.push(Record::End(RunEnd {
        outcome: RunOutcome::Complete,
        seconds: 42.0,
        phases: None,
        needs: None,
    }));
    records
}

/// The analysis of the run.
pub(crate) fn analysis() -> Analysis {
    analyse(&records(), None).unwrap()
}
