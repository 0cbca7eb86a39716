//! One result against others: what `stowplan compare` prints.
//!
//! Verdicts come from [`stowplan_analysis::compare`]; here they are worded and set in tables.

mod csv;
mod json;
mod method;
mod obstacles;
mod resources;
mod sentences;
mod tables;
mod turns;

pub use csv::{CSV_START, render as csv};
pub use json::render as json;
pub use sentences::other_machine;

use crate::document::{
    Block, Detail, Document, Item, Section, bullets, folded, listed, notice, paragraph, strong,
};
use stowplan_analysis::{
    Analysis,
    compare::{CellChange, Changes},
};

/// Stands at the top of the Markdown form, so that whoever posts it can find the comment again and
/// replace it.
pub const MARK: &str = "<!-- stowplan compare -->";

/// Changes that are told in a sentence before the rest is only named.
const FEW: usize = 8;

/// A result, and what the user calls it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its directory or file, as typed.
    pub name: &'a str,
    /// What was found in it.
    pub analysis: &'a Analysis,
}

/// The results of one side: sessions of the same program, as typed.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The first of them.
    pub first: Source<'a>,
    /// The others; mostly none.
    pub more: Vec<Source<'a>>,
}

impl<'a> From<Source<'a>> for Side<'a> {
    fn from(first: Source<'a>) -> Self {
        let more = Vec::new();
        Self { first, more }
    }
}

impl<'a> Side<'a> {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Source<'a>> {
        [&self.first].into_iter().chain(&self.more)
    }

    /// What to call it: `before`, `before-1 and 3 more`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.more.len() {
            0 => self.first.name.to_owned(),
            more => format!("{} and {more} more", self.first.name),
        }
    }
}

/// BASE, and what each NEW changed against it.
#[derive(Debug)]
pub struct Compared<'a> {
    /// What the others are compared with.
    pub base: Side<'a>,
    /// The others, as typed; at least one.
    pub news: Vec<(Side<'a>, Changes)>,
}

/// The report: for each NEW the verdict, what changed, the cells in a table, and the rest folded.
#[must_use]
pub fn document(compared: &Compared<'_>) -> Document {
    let base = &compared.base;
    let (title, blocks) = match compared.news.as_slice() {
        [(new, changes)] => (against(base, new), about(base, new, changes)),
        several => {
            let sections = several.iter().map(|(new, changes)| {
                let section = Section::new(against(base, new), about(base, new, changes));
                Block::from(section.in_contents(new.name())).at(Detail::Answer)
            });
            let title = format!("{} results against {}", several.len(), base.name());
            (title, sections.collect())
        }
    };
    Document {
        kind: "Stowplan compare".to_owned(),
        title,
        blocks,
        ..Document::default()
    }
}

fn against(base: &Side<'_>, new: &Side<'_>) -> String {
    format!("{} against {}", new.name(), base.name())
}

/// Everything about one NEW.
fn about(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Vec<Block> {
    let verdict = strong(sentences::headline(changes));
    let mut blocks = vec![paragraph(verdict).at(Detail::Answer)];
    let reservations = sentences::reservations(base, new, changes).into_iter();
    blocks.extend(reservations.map(|text| notice(text).at(Detail::Answer)));
    blocks.extend(turns::warning(changes));
    blocks.extend(changed(changes));
    blocks.extend(tables::decisive(changes));
    blocks.extend(obstacles::fold(changes));
    blocks.extend(other_settings(changes));
    blocks.extend(resources::fold(changes));
    blocks.extend(method::surroundings(changes));
    blocks.extend(method::fold(base, new, changes));
    blocks
}

/// A sentence for each cell that changed, and beyond a few how many more; nothing if none did.
fn changed(changes: &Changes) -> Vec<Block> {
    let decides = changes.decides;
    let cells = changes.cells.iter();
    let changed: Vec<&CellChange> = cells
        .filter(|cell| sentences::has_changed(cell, decides))
        .collect();
    let (few, more) = changed.split_at(changed.len().min(FEW));
    let items = few.iter().map(|cell| {
        let (verdict, tone) = sentences::verdict(cell, decides);
        Item::of(sentences::statement(cell, decides)).with_badge(verdict, tone)
    });
    let list = listed(items.collect());
    let text = format!("{} more changed: see the table.", more.len());
    let rest = (!more.is_empty()).then(|| paragraph(text));
    let blocks = list.into_iter().chain(rest);
    blocks.map(|block| block.at(Detail::Answer)).collect()
}

fn other_settings(changes: &Changes) -> Option<Block> {
    let list = bullets(sentences::other_settings(changes))?;
    Some(folded("Other settings", list))
}
