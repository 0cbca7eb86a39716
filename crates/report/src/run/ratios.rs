//! The table of all ratios of a matrix or of a sweep.

use super::sign_words::{Sides, sign};
use crate::document::{Block, Cell, Detail, Fold, Table, number, text_column};
use crate::format;
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
}

/// `0.42, interval 0.40 to 0.44, 20 rounds` in its pieces.
pub(crate) struct Figure {
    /// The ratio.
    pub(crate) ratio: String,
    /// `interval 0.40 to 0.44, 20 rounds`
    pub(crate) basis: String,
}

impl Figure {
    /// The texts of an estimate.
    pub(crate) fn of(estimate: &RatioEstimate) -> Self {
        Self {
            ratio: format::ratio(estimate.ratio),
            basis: format!(
                "interval {} to {}, {} rounds",
                format::ratio(estimate.low),
                format::ratio(estimate.high),
                estimate.rounds
            ),
        }
    }
}

/// All ratios, folded. They are times against those of what stands `above` 1 as the faster one.
#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
pub(crate) fn folded(
    caption: &str,
    ratios: &[Ratio],
    sides: &Sides<'_>,
    size: fn(u64) -> String,
) -> Block {
    let estimated = |make: fn(&RatioEstimate) -> Cell| {
        move |ratio: &Ratio| ratio.estimate.as_ref().map_or_else(Cell::default, make)
    };
    let (above, below) = (sides.above, sides.below);
    let columns = vec![
        text_column("setting", "the row of the matrix", |ratio: &Ratio| {
            Cell::text(&ratio.setting)
        })
        .weighing(9),
        number("size", "size of a value", |ratio: &Ratio| {
            Cell::number(ratio.size as f64, size(ratio.size))
        })
        .in_unit("B")
        .weighing(9),
        number(
            format!("time vs {above}"),
            format!("the time of {below} over that of {above}: above 1, {above} is faster"),
            estimated(|e| Cell::number(e.ratio, format::ratio(e.ratio))),
        )
        .weighing(10),
        number(
            "interval",
            "interval of the ratio, widened by the noise floor",
            estimated(|e| Cell::number(e.low, format::interval(e.low, e.high))),
        )
        .weighing(6),
        number(
            "rounds",
            "rounds that the ratio rests on",
            estimated(|e| Cell::number(e.rounds as f64, e.rounds.to_string())),
        )
        .weighing(2),
        text_column("verdict", "", |ratio: &Ratio| {
            Cell::text(sides.words(sign(ratio.verdict, ratio.estimate.as_ref())))
        })
        .weighing(7),
        number("published", "the published ratio", |ratio: &Ratio| {
            Cell::text(ratio.published.clone().unwrap_or_default())
        })
        .weighing(4),
    ];
    let table = Table::of(caption, columns, ratios);
    let title = format!("All {} ratios with their intervals", ratios.len());
    Block::from(Fold::new(title, vec![table.into()])).at(Detail::Full)
}
