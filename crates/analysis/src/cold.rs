//! Why cold reads rank as they do: what each value takes from storage, in how many requests, and
//! where it lies.

use crate::gathered::Gathered;
use crate::{CellSummary, ComparisonOutcome, RatioEstimate, Verdict};
use serde::Serialize;
use stowplan_model::{BlockKind, Cell, CellId, Measurement, Operation, Role, Warning, WarningKind};

/// From this multiple of its value on, what a mapped read fetches is read-ahead.
const READ_AHEAD_RULES: f64 = 8.0;
/// The device may have read this much more than the cell before its requests are others' as well.
const OTHERS_READ: f64 = 1.25;

/// A comparison of reads that are not in the page cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColdOutcome {
    /// The comparison.
    pub comparison: String,
    /// How far the kernel reads ahead on the device, in bytes, where it tells.
    pub read_ahead_bytes: Option<u64>,
    /// Its cells but the control, baseline first.
    pub cells: Vec<ColdCell>,
}

/// What one read of a cell takes. Figures are per operation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColdCell {
    /// The cell.
    pub cell: CellId,
    /// What part it plays.
    pub role: Role,
    /// Bytes of the value.
    pub value_bytes: f64,
    /// Bytes fetched from storage, of the timed blocks.
    pub storage_bytes: f64,
    /// Those of them that are no data: names, inodes and the file system's own blocks. Nothing where
    /// names were in memory, or might have been.
    pub metadata_bytes: Option<f64>,
    /// Whether they prove that no name was in memory: of few files, names take too little to tell.
    pub metadata_proved: bool,
    /// Read requests that the device completed, of the counting block; nothing where they were not
    /// counted, or where others read from the device as well.
    pub requests: Option<f64>,
    /// Whether it reads by mapping its file into memory.
    pub mapped: bool,
    /// Whether what it fetches is mostly read-ahead, which the next reads may find in memory: the
    /// figure then depends on how many reads a block has.
    pub ruled_by_read_ahead: bool,
    /// Its time over that of the baseline.
    pub ratio: Option<RatioEstimate>,
    /// The verdict on it; nothing for the baseline and for parts.
    pub verdict: Option<Verdict>,
}

/// What explains a comparison of cold reads; nothing if it is none, or was not measured.
pub(crate) fn cold(outcome: &ComparisonOutcome, gathered: &Gathered<'_>) -> Option<ColdOutcome> {
    let cells: Vec<ColdCell> = outcome
        .cells
        .iter()
        .filter(|cell| cell.cell.role != Role::Control && cell.rounds > 0)
        .filter(|cell| is_cold_read(&cell.cell))
        .map(|cell| explained(cell, outcome, gathered))
        .collect();
    let device = gathered.run.environment.device.as_ref();
    (!cells.is_empty()).then(|| ColdOutcome {
        comparison: outcome.id.clone(),
        read_ahead_bytes: device.and_then(|device| Some(device.read_ahead_kib? * 1024)),
        cells,
    })
}

fn is_cold_read(cell: &Cell) -> bool {
    cell.workload.cache.is_cold() && cell.workload.operation == Operation::Read
}

fn explained(cell: &CellSummary, outcome: &ComparisonOutcome, gathered: &Gathered<'_>) -> ColdCell {
    let contrast = outcome.contrasts.iter().find(|c| {
        let baseline = outcome.cell(&c.reference);
        c.cell == cell.cell.id && baseline.is_some_and(|b| b.cell.role == Role::Baseline)
    });
    let mapped = cell.cell.capabilities.mapped;
    ColdCell {
        cell: cell.cell.id.clone(),
        role: cell.cell.role,
        value_bytes: cell.bytes,
        storage_bytes: cell.storage_read_bytes,
        metadata_bytes: metadata_bytes(gathered.measurements(&cell.cell.id)),
        metadata_proved: metadata_proved(gathered.measurements(&cell.cell.id)),
        requests: requests(cell),
        mapped,
        ruled_by_read_ahead: mapped && cell.storage_read_bytes >= READ_AHEAD_RULES * cell.bytes,
        ratio: contrast.and_then(|contrast| contrast.estimate),
        verdict: contrast.map(|contrast| contrast.verdict),
    }
}

/// Of the blocks that ratios come from, per operation.
fn metadata_bytes(blocks: &[&Measurement]) -> Option<f64> {
    let blocks = blocks.iter().filter(|m| m.block == BlockKind::Ratio);
    let (mut bytes, mut operations) = (0, 0);
    for block in blocks {
        bytes += block.metadata_reads?.bytes;
        operations += block.operations;
    }
    (operations > 0).then(|| bytes as f64 / operations as f64)
}

/// Whether something was demanded of each block that ratios come from.
fn metadata_proved(blocks: &[&Measurement]) -> bool {
    let mut blocks = blocks.iter().filter(|m| m.block == BlockKind::Ratio);
    blocks.all(|block| {
        let reads = block.metadata_reads;
        reads.is_some_and(|reads| reads.least_bytes > 0 && reads.are_enough())
    })
}

/// A device counts what anyone asks of it: its requests are the cell's where it read no more than
/// the cell did.
fn requests(cell: &CellSummary) -> Option<f64> {
    let counts = cell.counts.as_ref()?;
    let device = counts.device.as_ref()?;
    let own = device.read_bytes <= OTHERS_READ * counts.storage_read_bytes;
    (own && device.reads > 0.0).then_some(device.reads)
}

/// Figures that are those of read-ahead.
pub(crate) fn warnings(outcomes: &[ColdOutcome]) -> Vec<Warning> {
    let cells = outcomes
        .iter()
        .flat_map(|outcome| outcome.cells.iter().map(move |cell| (outcome, cell)));
    cells
        .filter(|(_, cell)| cell.ruled_by_read_ahead)
        .map(|(outcome, cell)| warning(outcome.read_ahead_bytes, cell))
        .collect()
}

fn warning(read_ahead: Option<u64>, cell: &ColdCell) -> Warning {
    let kib = |bytes: u64| format!("{} KiB", bytes / 1024);
    let read_ahead = read_ahead.map_or_else(String::new, |b| format!(" ({})", kib(b)));
    Warning {
        kind: WarningKind::Other,
        message: format!(
            "{}: each cold read of {} fetched {} from storage through a mapping, so its figure is \
             that of the device's read-ahead{read_ahead}",
            cell.cell,
            stowplan_model::format_bytes(cell.value_bytes.round() as u64),
            stowplan_model::format_bytes(cell.storage_bytes.round() as u64),
        ),
        advice:
            "The more reads a block has, the smaller its ratio gets: compare it only with runs of \
                 as many operations and the same read-ahead."
                .to_owned(),
    }
}
