//! Made-up runs: cells, measurements, and the runner's loop without the measuring.

use base64::{Engine, engine::general_purpose::STANDARD};
use flate2::read::GzDecoder;
use hdrhistogram::{
    Histogram,
    serialization::{Serializer, V2Serializer},
};
use std::collections::BTreeMap;
use std::io::Read;
use stowplan_analysis::{Analysis, ComparisonOutcome, StoppingRule, analyse, undecided};
use stowplan_model::{
    BlockKind, Capabilities, Cell, CellFailure, CellId, Comparison, Contrast, Durability,
    DurabilityClaim, Environment, Footprint, FootprintRecord, Measurement, Operation, Plan, Record,
    Role, RunHeader, SCHEMA_VERSION, Settings, Study, SyncCalls, Value, WorkloadSpec,
};

/// The rule of a run that asks for nothing special.
pub(crate) const RULE: StoppingRule = StoppingRule {
    equivalence: 0.05,
    max_rounds: 40,
    precision: None,
};

/// A small seeded generator (splitmix64; Steele, Lea & Flood 2014).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform on (0, 1).
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    /// Standard normal (Box & Muller 1958).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
}

/// A number is another one, give or take so much.
#[track_caller]
pub(crate) fn near(found: f64, expected: f64, by: f64) {
    assert!((found - expected).abs() <= by, "{found}, not {expected}");
}

pub(crate) fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// What was packed by gzip.
pub(crate) fn inflated(bytes: &[u8]) -> String {
    let mut text = String::new();
    GzDecoder::new(bytes).read_to_string(&mut text).unwrap();
    text
}

/// The fields of the lines of a packed table, without its heads.
pub(crate) fn rows(bytes: &[u8]) -> Vec<Vec<String>> {
    let text = inflated(bytes);
    let fields = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().skip(1).map(fields).collect()
}

/// Cells by their names, each with its time.
pub(crate) fn each<'a>(keys: &'a str, times: &[f64]) -> Vec<(&'a str, f64)> {
    keys.split(' ').zip(times.iter().copied()).collect()
}

pub(crate) fn id(key: &str) -> CellId {
    CellId(format!("c/{key}"))
}

pub(crate) fn cell(key: &str, role: Role) -> Cell {
    Cell {
        id: id(key),
        key: key.to_owned(),
        label: format!("the {key}"),
        role,
        driver: String::new(),
        store: "files".parse().unwrap(),
        settings: Settings::default(),
        on: String::new(),
        published_seconds: None,
        capabilities: Capabilities {
            operations: vec![Operation::Read, Operation::Overwrite],
            deliveries: Vec::new(),
            transactions: true,
            durability: DurabilityClaim {
                class: Durability::Durable,
                atomic: true,
                delayed: false,
            },
            syncs_per_commit: 2,
            ..Capabilities::default()
        },
        workload: WorkloadSpec::default().complete(),
        scanned: Default::default(),
        dataset: "blobs".to_owned(),
        instance: format!("store-of-{key}"),
    }
}

/// `base`, its control, and candidates; each candidate contrasted with `base`.
pub(crate) fn comparison(candidates: &[&str]) -> Comparison {
    let mut cells = vec![cell("base", Role::Baseline), cell("again", Role::Control)];
    cells.extend(candidates.iter().map(|key| cell(key, Role::Candidate)));
    Comparison {
        id: "c".to_owned(),
        title: "a comparison".to_owned(),
        contrasts: candidates.iter().map(|key| contrast(key, "base")).collect(),
        cells,
        not_applicable: BTreeMap::new(),
        measure: Default::default(),
        rebuild_every: None,
        published_label: None,
        max_rounds: 40,
        judged: Default::default(),
    }
}

/// `base`, its control, `other`, and a floor.
pub(crate) fn with_floor() -> Comparison {
    let mut comparison = comparison(&["other"]);
    comparison.cells.push(cell("floor", Role::Floor));
    comparison
}

/// The cell of this key; where the control has the key of its baseline, that.
pub(crate) fn cell_mut<'a>(comparison: &'a mut Comparison, key: &str) -> &'a mut Cell {
    let mut cells = comparison.cells.iter_mut();
    cells.find(|cell| cell.key == key).unwrap()
}

/// Sets a setting of a cell to a word.
pub(crate) fn set(cell: &mut Cell, name: &str, word: &str) {
    cell.settings.set(name, Value::Word(word.to_owned()));
}

/// A comparison whose cells all do this.
pub(crate) fn doing(operation: Operation, mut comparison: Comparison) -> Comparison {
    for cell in &mut comparison.cells {
        cell.workload.operation = operation;
    }
    comparison
}

/// A cell of the comparison `c`, in another one.
pub(crate) fn elsewhere(cell: &CellId, comparison: &str) -> CellId {
    CellId(cell.0.replacen("c/", &format!("{comparison}/"), 1))
}

/// The comparison `c` by another name.
pub(crate) fn named(name: &str, mut comparison: Comparison) -> Comparison {
    name.clone_into(&mut comparison.id);
    for cell in &mut comparison.cells {
        cell.id = elsewhere(&cell.id, name);
    }
    for contrast in &mut comparison.contrasts {
        contrast.cell = elsewhere(&contrast.cell, name);
        contrast.reference = elsewhere(&contrast.reference, name);
    }
    comparison
}

pub(crate) fn contrast(cell: &str, reference: &str) -> Contrast {
    Contrast {
        cell: id(cell),
        reference: id(reference),
    }
}

/// A block of 1000 operations, all of whose wall time was CPU time of the measuring thread.
pub(crate) fn block(key: &str, round: u32, wall_ns: u64) -> Measurement {
    Measurement {
        cell: id(key),
        round,
        block: BlockKind::Ratio,
        operations: 1000,
        bytes: 10_000_000,
        lead_in_operations: 500,
        wall_ns,
        run_delay_ns: Some(0),
        thread_cpu_ns: wall_ns,
        process_cpu_ns: wall_ns,
        user_ns: wall_ns / 4,
        system_ns: wall_ns - wall_ns / 4,
        syncs: Some(SyncCalls::default()),
        commits: 1,
        ..Measurement::default()
    }
}

/// A block whose corrected time is `ln_ns` per operation, as a logarithm.
pub(crate) fn block_of_log(key: &str, round: u32, ln_ns: f64) -> Measurement {
    block(key, round, (ln_ns.exp() * 1000.0).round() as u64)
}

/// Rounds in which each cell takes its time (microseconds per block) with a repeatable jitter of
/// up to 1% either way, other for each cell and round.
pub(crate) fn rounds(cells: &[(&str, f64)], rounds: std::ops::Range<u32>) -> Vec<Measurement> {
    rounds
        .flat_map(|round| {
            cells.iter().map(move |(key, micros)| {
                let name: u64 = key.bytes().map(u64::from).sum();
                let mut random = Random(name << 32 | u64::from(round));
                let jitter = 1.0 + (random.uniform() - 0.5) / 50.0;
                block(key, round, (micros * 1000.0 * jitter) as u64)
            })
        })
        .collect()
}

/// Ten rounds of the baseline, its control and further cells, in microseconds per block.
pub(crate) fn ten(cells: &[(&str, f64)]) -> Vec<Measurement> {
    let equal = [("base", 10_000.0), ("again", 10_000.0)];
    rounds(&[&equal, cells].concat(), 0..10)
}

/// Rounds in which each cell takes about its time (nanoseconds per operation), with normal noise of
/// this part of it from round to round.
pub(crate) fn noisy(seed: u64, part: f64, times: &[(&str, f64)], rounds: u32) -> Vec<Measurement> {
    let mut random = Random(seed);
    let mut blocks = Vec::new();
    for round in 0..rounds {
        for (key, nanoseconds) in times {
            let log = nanoseconds.ln() + random.normal() / part;
            blocks.push(block_of_log(key, round, log));
        }
    }
    blocks
}

/// Latencies as the harness stores them.
pub(crate) fn histogram(values: impl Iterator<Item = u64>) -> String {
    let mut histogram = Histogram::<u64>::new(3).unwrap();
    values.for_each(|value| histogram.record(value).unwrap());
    let mut bytes = Vec::new();
    V2Serializer::new()
        .serialize(&histogram, &mut bytes)
        .unwrap();
    STANDARD.encode(bytes)
}

/// How large the store of a cell is, after its workloads or right after it was built.
pub(crate) fn footprint(instance: &str, bytes: u64, after_workloads: bool) -> Record {
    Record::Footprint(FootprintRecord {
        instance: instance.to_owned(),
        footprint: Footprint {
            apparent_bytes: bytes,
            allocated_bytes: bytes,
            ..Footprint::default()
        },
        value_bytes: 10_000,
        after_workloads,
    })
}

pub(crate) const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 1000
size = { distribution = "fixed", bytes = 10000 }
[[comparison]]
id = "c"
title = "a comparison"
dataset = "blobs"
baseline = "base"
[comparison.cells]
base = { store = "files" }
slow = { store = "files" }
gone = { store = "files", label = "cannot do it" }
[[figure]]
id = "chart"
title = "a chart"
comparisons = ["c"]
to = "slow"
cells = ["base", "slow", "gone"]
published_ratios = { b = 0.9, a = 0.4 }
published_label = "what they compare"
[systems]
a = "machine A"
b = "machine B"
[[figure]]
id = "space"
title = "Disk space"
measure = "footprint"
published = [
  { cell = "c/base", label = "du", bytes = 12345, count = 1000 },
]
"#;

pub(crate) fn header(comparison: &Comparison) -> Record {
    let study = Study::parse(STUDY, "t.toml").unwrap();
    Record::Run(RunHeader {
        schema: SCHEMA_VERSION,
        started: "2026-01-01T00:00:00Z".to_owned(),
        seed: 1,
        plan: Plan {
            datasets: study.datasets.clone(),
            study,
            scale: "seed".to_owned(),
            comparisons: vec![comparison.clone()],
            on: BTreeMap::new(),
            sweeps: Vec::new(),
            sought: None,
        },
        environment: Environment::default(),
        equivalence: RULE.equivalence,
        max_rounds: RULE.max_rounds,
        precision: RULE.precision,
    })
}

/// The record of a run that measured these blocks.
pub(crate) fn records(comparison: &Comparison, measurements: &[Measurement]) -> Vec<Record> {
    let measured = measurements.iter().cloned().map(Record::Measurement);
    [header(comparison)].into_iter().chain(measured).collect()
}

/// The findings on records of a run whose plan is changed.
pub(crate) fn planned(
    comparison: &Comparison,
    change: impl FnOnce(&mut Plan),
    records: impl IntoIterator<Item = Record>,
) -> Analysis {
    let mut all = vec![header(comparison)];
    if let Record::Run(run) = &mut all[0] {
        change(&mut run.plan);
    }
    all.extend(records);
    analyse(&all, None).unwrap()
}

/// The findings on a run that measured these blocks.
pub(crate) fn analysis(comparison: &Comparison, measurements: &[Measurement]) -> Analysis {
    analyse(&records(comparison, measurements), None).unwrap()
}

pub(crate) fn outcome(comparison: &Comparison, blocks: &[Measurement]) -> ComparisonOutcome {
    analysis(comparison, blocks).comparisons.remove(0)
}

/// What the runner does, with the measuring already done: rounds up to a look, cells of decided
/// contrasts left out of later ones, until nothing is undecided; then the analysis.
pub(crate) fn run(comparison: &Comparison, available: &[Measurement]) -> ComparisonOutcome {
    let mut measured: Vec<Measurement> = Vec::new();
    let mut needed: Vec<CellId> = comparison.cells.iter().map(|c| c.id.clone()).collect();
    // Nothing can be decided between looks, so asking there would only take time.
    for (from, to) in [(0, 10), (10, 20), (20, 40)] {
        let round = |m: &&Measurement| (from..to).contains(&m.round) && needed.contains(&m.cell);
        measured.extend(available.iter().filter(round).cloned());
        let open = undecided(comparison, &measured, &RULE);
        if open.is_empty() {
            break;
        }
        let control = comparison.with_role(Role::Control).map(|c| c.id.clone());
        needed = open
            .into_iter()
            .flat_map(|contrast| [contrast.cell, contrast.reference])
            .chain(control)
            .chain([id("base")])
            .collect();
    }
    outcome(comparison, &measured)
}

pub(crate) fn failure(key: &str, message: &str) -> CellFailure {
    CellFailure {
        cell: id(key),
        message: message.to_owned(),
        stderr: String::new(),
    }
}

/// So many calls of fdatasync.
pub(crate) fn syncs(fdatasync: u64) -> Option<SyncCalls> {
    Some(SyncCalls {
        fdatasync,
        ..SyncCalls::default()
    })
}
