//! How many values have which size: rows for sizes, and their drawing.

use crate::document::{Axis, Block, ChartRow, Fill, RowGroup, Rows, Scale, Section, Unit, Value};
use crate::value::{count, float};
pub use stowplan_model::SizeBin as Bin;

/// The most rows of a histogram with steps of one size.
const STEPS_MAX: u64 = 12;

/// Sizes that differ by more than this factor are shown on a logarithmic scale.
const LINEAR_MAX: u64 = 16;

/// Empty rows for sizes from `smallest` to `largest`: of one round width where these are near each
/// other, of doubling width otherwise.
#[must_use]
pub fn bins(smallest: u64, largest: u64) -> Vec<Bin> {
    let row = |from, to| Bin {
        from,
        to,
        values: 0,
    };
    if smallest >= largest {
        return vec![row(smallest, smallest)];
    }
    let linear = largest / smallest.max(1) < LINEAR_MAX || largest < STEPS_MAX;
    let step = round_step((largest - smallest) / (STEPS_MAX - 2));
    let (first, next): (u64, &dyn Fn(u64) -> u64) = match linear {
        true => (smallest - smallest % step, &|from| {
            from.saturating_add(step)
        }),
        false => (power_below(smallest), &|from| from.saturating_mul(2).max(1)),
    };
    let follows = |from: &u64| Some(next(*from)).filter(|next| *next <= largest.min(u64::MAX - 1));
    let starts = std::iter::successors(Some(first), follows);
    let last = |from| match next(from) {
        u64::MAX => u64::MAX,
        next => next - 1,
    };
    starts.map(|from| row(from, last(from))).collect()
}

/// Counts a value of so many bytes in the row that it belongs to.
pub fn count_in(rows: &mut [Bin], bytes: u64) {
    let place = rows.partition_point(|row| row.to < bytes);
    if let Some(row) = rows.get_mut(place) {
        row.values += 1;
    }
}

/// The smallest of 1, 2, 5, 10, 20, 50, … that is not below `step`.
fn round_step(step: u64) -> u64 {
    let mut power = 1u64;
    loop {
        for factor in [1, 2, 5] {
            let round = power.saturating_mul(factor);
            if round >= step {
                return round;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// The largest power of two that is not above a size; 0 for 0.
fn power_below(size: u64) -> u64 {
    size.checked_ilog2().map_or(0, |power| 1 << power)
}

/// A bar per row of the histogram.
pub(crate) fn sizes_figure(rows: &[Bin]) -> Option<Block> {
    let most = rows.iter().map(|row| row.values).max()?;
    let scale = Scale::linear(float(most));
    let ticks = scale.ticks().into_iter().filter(|tick| tick.fract() == 0.0);
    let axis = Axis::new("values", scale, ticks.collect(), |at| format!("{at:.0}"));
    let group = RowGroup::of("", rows.iter().map(bar).collect());
    let chart = Rows::new("How many values have which size", axis, vec![group]);
    let title = "Value sizes in bytes, and how many values have them";
    Some(Section::figure("sizes", title, vec![chart.into()]).into())
}

fn bar(row: &Bin) -> ChartRow {
    let label = match (row.from, row.to) {
        (from, to) if from == to => count(from),
        (from, to) => format!("{} to {}", count(from), count(to)),
    };
    let values = Value::new(float(row.values), Unit::Count);
    ChartRow::bar(label, Some(values), Fill::Ours)
}
