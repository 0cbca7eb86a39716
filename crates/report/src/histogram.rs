//! How many values have which size, as a drawing.

use crate::document::{Axis, Block, ChartRow, Fill, RowGroup, Rows, Scale, Section, Unit, Value};
use crate::value::{count, float};
use stowplan_model::{SizeBin, Survey};

/// More rows of a histogram are shown by the doubling.
const ROWS_MAX: usize = 16;

/// The histogram, by the doubling where it has many rows.
fn rows(survey: &Survey) -> Vec<SizeBin> {
    if survey.histogram.len() <= ROWS_MAX {
        return survey.histogram.clone();
    }
    let octave = |size: u64| size.checked_ilog2();
    let octaves = survey
        .histogram
        .chunk_by(|a, b| octave(a.from) == octave(b.from));
    let rows = octaves.map(|bins| SizeBin {
        from: bins[0].from,
        to: bins[bins.len() - 1].to,
        values: bins.iter().map(|bin| bin.values).sum(),
    });
    rows.collect()
}

/// A bar per row of the histogram.
pub(crate) fn sizes_figure(survey: &Survey) -> Option<Block> {
    let rows = rows(survey);
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
