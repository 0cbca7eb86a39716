//! The table of all ratios of a matrix or of a sweep.

use super::sign_words::Sides;
use crate::columns::{listed, rows};
use crate::document::{self, Block, Cell, Sign, Table};
use crate::value::float;
use serde::Serialize;
use stowplan_analysis::{RatioEstimate, Verdict};

/// One ratio.
#[derive(Serialize)]
pub(crate) struct Ratio {
    /// The row of the matrix; empty for a sweep.
    pub(crate) setting: String,
    /// Bytes of a value.
    pub(crate) size: u64,
    pub(crate) estimate: Option<RatioEstimate>,
    pub(crate) verdict: Verdict,
    /// The published ratio.
    pub(crate) published: Option<f64>,
    /// Bytes on disk per byte of the values: of what stands `above`, and of the other.
    pub(crate) space: [Option<f64>; 2],
}

/// A fold with all ratios, each with what it claims.
pub(crate) fn folded(
    caption: &str,
    ratios: &[Ratio],
    sides: &Sides<'_>,
    size: fn(u64) -> String,
) -> Block {
    let special = |name: &str, ratio: &&Ratio| match name {
        "size" => Cell::number(float(ratio.size), size(ratio.size)),
        _ => Cell::text(sides.words(Sign::of(ratio.verdict, ratio.estimate.as_ref()))),
    };
    let columns = listed(include_str!("../tables/sizes.txt"), special).into_iter();
    let columns =
        columns.map(|column| column.naming("{a}", sides.above).naming("{b}", sides.below));
    let table = Table::of(caption, columns.collect(), &rows(ratios));
    let title = format!("All {} ratios with their intervals", ratios.len());
    document::folded(title, table)
}
