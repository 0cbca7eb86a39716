//! The forms of a document. A renderer knows blocks and no findings.

pub mod html;
pub mod markdown;
pub mod terminal;

use crate::document::{Block, Content, Look, Section};

/// Whether they are about files, which only a page can carry.
fn carries_files(blocks: &[Block]) -> bool {
    let mut blocks = blocks.iter();
    blocks.any(|block| matches!(block.content, Content::Files(_)))
}

/// Whether a section is a fold that only repeats the figures of the drawing before it, each row of which text shows
/// with its figure.
fn is_told(before: &Content, section: &Section) -> bool {
    let is_table = |block: &Block| matches!(block.content, Content::Table(_));
    let is_drawn = matches!(before, Content::Rows(_));
    is_drawn && section.look == Look::Fold && section.blocks.iter().all(is_table)
}
