//! What the article says, and whether it holds here: every claim of the study with its verdict.

use crate::claims::{by_article, is_published, item, summary};
use crate::document::{Block, chapter, paragraph};
use stowplan_analysis::{Analysis, ClaimVerdict};

/// The claims, by their articles.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let verdicts = verdicts(analysis);
    if verdicts.iter().all(|v| *v == ClaimVerdict::NoData) {
        return None;
    }
    let mut blocks = vec![paragraph(summary(&verdicts))];
    let claims = analysis.claims.iter();
    blocks.extend(by_article(
        claims,
        |claim| claim,
        |claim| claim.verdict,
        item,
    ));
    chapter("claims", "What the article says", blocks)
}

/// What became of each claim of the article.
pub(super) fn verdicts(analysis: &Analysis) -> Vec<ClaimVerdict> {
    let claims = analysis.claims.iter().filter(|claim| is_published(claim));
    claims.map(|claim| claim.verdict).collect()
}
