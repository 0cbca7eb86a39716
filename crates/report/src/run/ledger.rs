//! What the article says, and whether it holds here: every claim of the study with its verdict.

use crate::claims::{item, summary};
use crate::document::{Block, Fold, chapter, listed, paragraph};
use stowplan_analysis::{Analysis, ClaimVerdict};

/// How many claims hold, and below a fold each with what decides it; nothing where none could be
/// tested.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let claims = &analysis.claims;
    let verdicts: Vec<ClaimVerdict> = claims.iter().map(|claim| claim.verdict).collect();
    if verdicts
        .iter()
        .all(|verdict| *verdict == ClaimVerdict::NoData)
    {
        return None;
    }
    let all = listed(claims.iter().map(item).collect())?;
    let blocks = vec![
        paragraph(summary(&verdicts)),
        Fold::new("Each claim", vec![all]).into(),
    ];
    chapter("claims", "What the article says", blocks)
}
