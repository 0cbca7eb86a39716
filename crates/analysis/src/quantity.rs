//! One quantity of a cell, as charts show it.

use crate::{CellSummary, SpaceRow};
use serde::Serialize;
use stowplan_model::{DurabilityClaim, Measure, built_alike};

/// A value with its interval, if it has one. Nanoseconds, operations per second, bytes, or bytes per
/// byte, as the measure says.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quantity {
    /// The value.
    pub value: f64,
    /// Ends of the interval.
    pub ends: Option<(f64, f64)>,
    /// Its standard error, or how precisely it could be read.
    pub error: Option<f64>,
}

impl Quantity {
    /// A value that was given with an error, if it was.
    #[must_use]
    pub fn with_error(value: f64, error: Option<f64>) -> Self {
        let ends = None;
        Self { value, ends, error }
    }

    pub(crate) fn between(value: f64, low: f64, high: f64) -> Self {
        Self {
            ends: Some((low, high)),
            ..Self::with_error(value, None)
        }
    }

    fn plain(value: f64) -> Option<Self> {
        value.is_finite().then(|| Self::with_error(value, None))
    }
}

/// The quantity of a cell; nothing where it is not known. `space` is what built stores take.
pub(crate) fn of(cell: &CellSummary, measure: Measure, space: &[SpaceRow]) -> Option<Quantity> {
    match measure {
        Measure::Time => cell
            .time_ns
            .map(|time| Quantity::between(time.estimate, time.low, time.high)),
        Measure::Throughput => cell
            .time_ns
            .map(|time| Quantity::between(1e9 / time.estimate, 1e9 / time.high, 1e9 / time.low)),
        Measure::BlockTime => cell
            .block_time
            .map(|time| Quantity::with_error(time.mean_ns, time.standard_error_ns)),
        Measure::Cpu => Quantity::plain(cell.cpu_ns),
        Measure::PeakMemory => Quantity::plain(cell.peak_memory_bytes? as f64),
        Measure::Footprint => Quantity::plain(allocated(cell, space)? as f64),
        Measure::WriteAmplification => Quantity::plain(cell.write_amplification?),
    }
}

/// Bytes allocated for the store of a cell: after a block that filled one, or right after building.
fn allocated(cell: &CellSummary, space: &[SpaceRow]) -> Option<u64> {
    let alike = built_alike(&cell.cell.instance);
    let built = || space.iter().find(|row| row.instance == alike);
    let footprint = cell.block_footprint.or_else(|| Some(built()?.footprint))?;
    Some(footprint.allocated_bytes)
}

/// Weakest promise first, what promises nothing last.
pub(crate) fn rank(claim: Option<DurabilityClaim>) -> impl Ord {
    let parts = claim.map(|claim| (claim.class, !claim.delayed, claim.atomic));
    (parts.is_none(), parts)
}
