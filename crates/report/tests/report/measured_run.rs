//! An invented run whose study has bars and lines, through the whole analysis.

use crate::fixture;
use stowplan_analysis::{Analysis, analyse};
use stowplan_model::{
    Capabilities, Cell, CellId, CellSpec, Comparison, ComparisonSpec, Durability, DurabilityClaim,
    IoCounters, Measurement, Operation, Plan, Record, Role, RunHeader, Study, Value,
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

/// Engines: nanoseconds of a read and of a write of one thread, and what they promise.
const ENGINES: [(&str, f64, f64, Durability); 6] = [
    ("fjall", 1_700.0, 5_200.0, Durability::ProcessCrash),
    ("sqlite", 6_300.0, 3_400_000.0, Durability::Consistent),
    ("sqlite-buffered", 9_000.0, 9_000.0, Durability::Consistent),
    ("redb", 2_100.0, 1_900_000.0, Durability::Durable),
    ("lmdb", 900.0, 900_000.0, Durability::Durable),
    ("flat", 240_000.0, 240_000.0, Durability::Durable),
];

fn engine(cell: &Cell) -> (f64, f64, Durability) {
    let mut engines = ENGINES.into_iter();
    let found = engines.find(|(kind, ..)| *kind == cell.store.kind);
    let (_, read, write, class) = found.unwrap();
    (read, write, class)
}

fn cell(comparison: &ComparisonSpec, key: &str, spec: &CellSpec) -> Cell {
    let role = match spec.floor {
        _ if key == comparison.baseline => Role::Baseline,
        true => Role::Floor,
        false => Role::Candidate,
    };
    let mut cell = fixture::cell(&comparison.id, key, role, spec.store.clone());
    for (name, value) in &spec.store.settings {
        let number = value.parse().map(Value::Number);
        let value = number.unwrap_or_else(|_| Value::Word(value.clone()));
        cell.settings.set(name, value);
    }
    let (_, _, class) = engine(&cell);
    let delayed = cell.store.kind == "sqlite-buffered";
    Cell {
        label: spec.label.clone().unwrap_or(cell.label),
        capabilities: Capabilities {
            transactions: true,
            durability: DurabilityClaim {
                class,
                atomic: cell.store.kind != "flat",
                delayed,
            },
            ..Capabilities::default()
        },
        workload: spec.workload.over(&comparison.workload).complete(),
        dataset: comparison.dataset.clone(),
        published_seconds: spec.published_seconds,
        ..cell
    }
}

fn planned(spec: &ComparisonSpec) -> Comparison {
    let cells = spec.cells.iter();
    let mut cells: Vec<Cell> = cells.map(|(key, c)| cell(spec, key, c)).collect();
    cells.sort_by_key(|cell| cell.role != Role::Baseline);
    let control = Cell {
        id: CellId(format!("{}-control", cells[0].id)),
        role: Role::Control,
        ..cells[0].clone()
    };
    cells.insert(1, control);
    Comparison {
        published_label: spec.published_label.clone(),
        ..fixture::planned(&spec.id, &spec.title, cells, &[])
    }
}

/// A block whose time wanders by a few percent from round to round.
fn block(cell: &Cell, round: u32) -> Measurement {
    let operations = u64::from(cell.workload.operations.unwrap_or(1_000));
    let threads = u64::from(cell.workload.threads);
    let per = match engine(cell) {
        _ if cell.store.settings.contains_key("location") => 4_100.0,
        (read, ..) if cell.workload.operation == Operation::Read => read,
        (_, write, _) => write,
    };
    let window = cell.settings.number("window_rows").max(1) as f64;
    // Engines scale by two thirds of their threads.
    let per = per * (1.0 + 40.0 / window) / (1.0 + (threads - 1) as f64 * 0.66);
    let wander = 1.0 + 0.02 * (f64::from(round * 7 % 10) - 4.5) / 4.5;
    let wall_ns = (per * wander * operations as f64) as u64;
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
        io: writes.then(|| IoCounters {
            storage_write_bytes: operations * 36 * (2 + cell.store.kind.len() as u64),
            ..IoCounters::default()
        }),
        drain_write_bytes: writes.then_some(4096),
        commits: operations,
        conflicts: threads - 1,
        ..Measurement::default()
    }
}

/// The records of the run.
pub(crate) fn records() -> Vec<Record> {
    let study = Study::parse(STUDY, "engines.toml").unwrap();
    let header = fixture::header();
    let plan = Plan {
        datasets: study.datasets.clone(),
        comparisons: study.comparisons.iter().map(planned).collect(),
        study,
        ..header.plan.clone()
    };
    let cells: Vec<Cell> = plan.cells().cloned().collect();
    let blocks = (0..10).flat_map(|round| cells.iter().map(move |cell| block(cell, round)));
    let run = RunHeader { plan, ..header };
    let mut records = vec![Record::Run(run)];
    records.extend(blocks.map(Record::Measurement));
    let end = r#"{ "type": "end", "outcome": "complete", "seconds": 42 }"#;
    records.push(serde_json::from_str(end).unwrap());
    records
}

/// The analysis of the run.
pub(crate) fn analysis() -> Analysis {
    analyse(&records(), None).unwrap()
}
