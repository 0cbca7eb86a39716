//! Whether cold was cold, and warm warm.

use super::{LimitStatus, Run};
use serde::Serialize;
use stowplan_model::{BlockKind, CellId, Measurement, Residency};

/// Blocks of one store that were to find nothing in the page cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColdFinding {
    /// The cell.
    pub cell: CellId,
    /// Its name for people.
    pub label: String,
    /// Blocks.
    pub blocks: usize,
    /// Pages of the files that they read, all blocks together.
    pub checked_pages: u64,
    /// Those that were in the page cache before the files were evicted.
    pub before_pages: Option<u64>,
    /// Those that were there once they had been.
    pub evicted_pages: u64,
    /// Those that were there after the block.
    pub after_pages: Option<u64>,
    /// Bytes that the blocks fetched from storage; nothing where the system does not tell.
    pub storage_bytes: Option<u64>,
    /// Bytes that they delivered.
    pub bytes: u64,
    /// Whether nothing was left, and the blocks brought something in.
    pub status: LimitStatus,
}

/// Blocks that were to find everything in the page cache.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WarmFinding {
    /// Blocks that count.
    pub blocks: usize,
    /// Those of them that read from storage.
    pub reading: usize,
    /// Blocks that were discarded because they did, or because the machine was taken away (R9).
    pub discarded: u64,
    /// Whether none that counts read from storage.
    pub status: LimitStatus,
}

pub(super) fn cold(run: &Run<'_>) -> Vec<ColdFinding> {
    let Some(outcome) = run.comparison("cold") else {
        return Vec::new();
    };
    let cells = outcome.cells.iter();
    cells
        .map(|cell| {
            let id = &cell.cell.id;
            let blocks: Vec<&Measurement> = run.blocks(id, BlockKind::Ratio).collect();
            finding(id.clone(), cell.cell.label.clone(), &blocks)
        })
        .collect()
}

fn finding(cell: CellId, label: String, blocks: &[&Measurement]) -> ColdFinding {
    let residencies: Vec<Residency> = blocks.iter().filter_map(|m| m.residency).collect();
    let sum = |of: fn(&Residency) -> u64| residencies.iter().map(of).sum::<u64>();
    let told = |of: fn(&Residency) -> Option<u64>| residencies.iter().map(of).sum::<Option<u64>>();
    let io = blocks.iter().map(|m| m.io.map(|io| io.storage_read_bytes));
    let mut finding = ColdFinding {
        cell,
        label,
        blocks: blocks.len(),
        checked_pages: sum(|r| r.checked_pages),
        before_pages: told(|r| r.before_eviction_pages),
        evicted_pages: sum(|r| r.resident_pages),
        after_pages: told(|r| r.after_block_pages),
        storage_bytes: io.sum(),
        bytes: blocks.iter().map(|m| m.bytes).sum(),
        status: LimitStatus::Unknown,
    };
    if !blocks.is_empty() && residencies.len() == blocks.len() {
        finding.status = judged(&finding);
    }
    finding
}

fn judged(finding: &ColdFinding) -> LimitStatus {
    let brought = finding.after_pages.unwrap_or(0).max(
        // What was fetched and not looked for has come in all the same.
        finding.storage_bytes.unwrap_or(0),
    );
    match finding.evicted_pages == 0 && brought > 0 {
        true => LimitStatus::Met,
        false => LimitStatus::Missed,
    }
}

pub(super) fn warm(run: &Run<'_>) -> WarmFinding {
    let cells = run.series("aa-").flat_map(|outcome| &outcome.cells);
    let blocks: Vec<&Measurement> = cells
        .flat_map(|cell| run.blocks(&cell.cell.id, BlockKind::Ratio))
        .collect();
    let reading = blocks.iter().filter(|m| m.in_blocks > 0).count();
    WarmFinding {
        blocks: blocks.len(),
        reading,
        discarded: blocks.iter().map(|m| u64::from(m.repeats)).sum(),
        status: match (blocks.len(), reading) {
            (0, _) => LimitStatus::Unknown,
            (_, 0) => LimitStatus::Met,
            _ => LimitStatus::Missed,
        },
    }
}
