//! What the article says, and whether it holds here: every claim of the study with its verdict.

use crate::claims::{item, summary};
use crate::document::{Block, Detail, Item, Medium, chapter, listed, paragraph, remark};
use stowplan_analysis::{Analysis, ClaimOutcome, ClaimVerdict};

/// So many claims have room on a terminal.
const FEW: usize = 6;

/// The section; nothing if no claim of the study was tested.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let claims = &analysis.claims;
    let is_tested = |claim: &&ClaimOutcome| claim.verdict != ClaimVerdict::NoData;
    let tested: Vec<&ClaimOutcome> = claims.iter().filter(is_tested).collect();
    if tested.is_empty() {
        return None;
    }
    let verdicts: Vec<ClaimVerdict> = claims.iter().map(|claim| claim.verdict).collect();
    let mut blocks = vec![paragraph(summary(&verdicts)).at(Detail::Brief)];
    let all = listed(claims.iter().map(item).collect());
    blocks.extend(all.map(|list| list.only(Medium::Page)));
    blocks.extend(in_text(claims));
    let section = chapter("claims", "What the article says", blocks)?;
    Some(section.at(Detail::Brief))
}

/// On a terminal those that hold stand back, unless all have room: what differs from the article is news.
fn in_text(claims: &[ClaimOutcome]) -> Vec<Block> {
    let with = |wanted: &[ClaimVerdict]| -> Vec<Item> {
        let claims = claims.iter();
        let claims = claims.filter(|claim| wanted.contains(&claim.verdict));
        claims.map(item).collect()
    };
    let differs = [
        ClaimVerdict::Fails,
        ClaimVerdict::Undecided,
        ClaimVerdict::Unreliable,
    ];
    let (differs, holds) = (with(&differs), with(&[ClaimVerdict::Holds]));
    let has_room = differs.len() + holds.len() <= FEW;
    let hidden = !has_room && !holds.is_empty();
    let hint = remark("Those that hold are listed with --verbose.").only(Medium::Hint);
    let text = |items: Vec<Item>| listed(items).map(|list| list.only(Medium::Text));
    text(differs)
        .into_iter()
        .chain(text(holds).map(|list| list.at(Detail::normal_if(has_room))))
        .chain(hidden.then_some(hint))
        .chain(text(with(&[ClaimVerdict::NoData])).map(|list| list.at(Detail::Full)))
        .collect()
}
