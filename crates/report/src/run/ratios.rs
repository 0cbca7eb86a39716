//! The table of all ratios of a matrix or of a sweep.

use super::sign_words::Sides;
use crate::columns::Columns;
use crate::document::{self, Block, Cell, Sign, Table};
use crate::value;
use crate::value::float;
use stowplan_analysis::{RatioEstimate, Verdict};

/// One ratio.
pub(crate) struct Ratio {
    /// The row of the matrix; empty for a sweep.
    pub(crate) setting: String,
    /// Bytes of a value.
    pub(crate) size: u64,
    pub(crate) estimate: Option<RatioEstimate>,
    pub(crate) verdict: Verdict,
    /// The published ratio, as it was published.
    pub(crate) published: Option<String>,
    /// Bytes on disk per byte of the values: of what stands `above`, and of the other.
    pub(crate) space: [Option<f64>; 2],
}

/// What figures of space are.
pub(crate) const PER_VALUE_BYTE: &str =
    "bytes allocated on disk per byte of the values, once built";

/// `1.02`
pub(crate) fn per_value_byte(space: f64) -> String {
    format!("{space:.2}")
}

/// All ratios, folded. They are times against those of what stands `above` 1 as the faster one.
pub(crate) fn folded(
    caption: &str,
    ratios: &[Ratio],
    sides: &Sides<'_>,
    size: fn(u64) -> String,
) -> Block {
    let (above, below) = (sides.above, sides.below);
    let make = Columns::<Ratio>::new();
    let interval = |ratio: &Ratio| {
        let interval = |e: RatioEstimate| Cell::number(e.low, value::interval(e.low, e.high));
        ratio.estimate.map_or_else(Cell::default, interval)
    };
    let published = |ratio: &Ratio| Cell::text(ratio.published.clone().unwrap_or_default());
    let verdict = |ratio: &Ratio| sides.words(Sign::of(ratio.verdict, ratio.estimate.as_ref()));
    let columns = vec![
        make.text("setting", |ratio| ratio.setting.clone())
            .help("the row of the matrix")
            .weighing(9),
        make.number("size", |ratio| {
            Cell::number(float(ratio.size), size(ratio.size))
        })
        .help("size of a value")
        .in_unit("B")
        .weighing(9),
        make.formatted(value::ratio, format!("time vs {above}"), |ratio| {
            Some(ratio.estimate?.ratio)
        })
        .help(format!(
            "the time of {below} over that of {above}: above 1, {above} is faster"
        ))
        .weighing(10),
        make.number("interval", interval)
            .help("interval of the ratio")
            .weighing(6),
        make.count("rounds", |ratio| Some(ratio.estimate?.rounds as u64))
            .help("rounds that the ratio rests on")
            .weighing(2),
        make.text("verdict", verdict).weighing(7),
        make.number("published", published)
            .help("the published ratio")
            .weighing(4),
        make.formatted(per_value_byte, format!("space, {above}"), |ratio| {
            ratio.space[0]
        })
        .help(PER_VALUE_BYTE)
        .weighing(3),
        make.formatted(per_value_byte, format!("space, {below}"), |ratio| {
            ratio.space[1]
        })
        .help(PER_VALUE_BYTE)
        .weighing(3),
    ];
    let table = Table::of(caption, columns, ratios);
    let title = format!("All {} ratios with their intervals", ratios.len());
    document::folded(title, table)
}
