//! What the article says, and whether it holds here: every claim of the study with its verdict.

use crate::claims::{articles, is_published, summary};
use crate::document::{Block, chapter, paragraph};
use stowplan_analysis::{Analysis, ClaimAcross, ClaimVerdict};

/// The claims, by their articles.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let verdicts = verdicts(analysis);
    if verdicts.iter().all(|v| *v == ClaimVerdict::NoData) {
        return None;
    }
    let run = &analysis.run;
    let claims = analysis.claims.iter().map(|claim| ClaimAcross {
        study: run.plan.study.name.clone(),
        stated: claim.clone(),
        on: vec![Some(claim.clone())],
    });
    let claims: Vec<ClaimAcross> = claims.collect();
    let mut blocks = vec![paragraph(summary(&verdicts))];
    blocks.extend(articles(claims.iter(), &[&run.environment.host]));
    chapter("claims", "What the article says", blocks)
}

/// What became of each claim of the article.
pub(super) fn verdicts(analysis: &Analysis) -> Vec<ClaimVerdict> {
    let claims = analysis.claims.iter().filter(|claim| is_published(claim));
    claims.map(|claim| claim.verdict).collect()
}
