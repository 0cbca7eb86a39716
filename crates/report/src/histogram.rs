//! How many values have which size, drawn.

use crate::document::{Axis, Block, ChartRow, Fill, RowGroup, Rows, Scale, Section, Unit, Value};
use crate::value::{count, float};
use stowplan_model::SizeBin;

/// A bar per row of the histogram.
pub(crate) fn sizes_figure(rows: &[SizeBin]) -> Option<Block> {
    let most = rows.iter().map(|row| row.values).max()?;
    let scale = Scale::linear(float(most));
    let ticks = scale.ticks().into_iter().filter(|tick| tick.fract() == 0.0);
    let axis = Axis::new("values", scale, ticks.collect(), |at| format!("{at:.0}"));
    let group = RowGroup::of("", rows.iter().map(bar).collect());
    let chart = Rows::new("How many values have which size", axis, vec![group]);
    let title = "Value sizes in bytes, and how many values have them";
    Some(Section::figure("sizes", title, vec![chart.into()]).into())
}

fn bar(row: &SizeBin) -> ChartRow {
    let label = match (row.from, row.to) {
        (from, to) if from == to => count(from),
        (from, to) => format!("{} to {}", count(from), count(to)),
    };
    let values = Value::new(float(row.values), Unit::Count);
    ChartRow::bar(label, Some(values), Fill::Ours)
}
