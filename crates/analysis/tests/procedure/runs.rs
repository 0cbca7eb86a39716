//! Short words for what many tests do to a made-up run and look at in its findings.

use crate::support::{analysis, failure, outcome, records, ten};
use stowplan_analysis::{Analysis, CellSummary, SizeRange, analyse};
use stowplan_model::{CellFailure, CellId, Comparison, Measurement, Record};

/// The blocks after something was done to each.
pub(crate) fn changed(
    mut blocks: Vec<Measurement>,
    change: impl FnMut(&mut Measurement),
) -> Vec<Measurement> {
    blocks.iter_mut().for_each(change);
    blocks
}

/// What is said of `base` whose ten blocks, and those of its control, were changed.
pub(crate) fn base(comparison: &Comparison, change: impl FnMut(&mut Measurement)) -> CellSummary {
    let blocks = changed(ten(&[]), change);
    outcome(comparison, &blocks).cells.swap_remove(0)
}

/// Blocks as the records of a run.
pub(crate) fn recorded(blocks: Vec<Measurement>) -> impl Iterator<Item = Record> {
    blocks.into_iter().map(Record::Measurement)
}

/// The findings on a run that measured these blocks and recorded more.
pub(crate) fn analysis_with(
    comparison: &Comparison,
    blocks: &[Measurement],
    more: impl IntoIterator<Item = Record>,
) -> Analysis {
    let mut all = records(comparison, blocks);
    all.extend(more);
    analyse(&all, None).unwrap()
}

pub(crate) fn sizes(from: u64, to: u64) -> SizeRange {
    SizeRange { from, to }
}

/// That a cell failed, as it is recorded.
pub(crate) fn failed(cell: CellId, message: &str) -> Record {
    Record::Failure(CellFailure {
        cell,
        ..failure("", message)
    })
}

/// The warnings that contain this.
pub(crate) fn warned(comparison: &Comparison, blocks: &[Measurement], of: &str) -> Vec<String> {
    let warnings = analysis(comparison, blocks).warnings.into_iter();
    let messages = warnings.map(|warning| warning.message);
    messages.filter(|message| message.contains(of)).collect()
}
