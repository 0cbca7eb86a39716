//! Times that others published, each beside ours.

use crate::columns;
use crate::document::{Block, Cell, Section, Table, chapter, paragraph, remark};
use crate::{claims, value};
use stowplan_analysis::{Analysis, PublishedOutcome, PublishedTime};

/// The section; nothing if none was measured here.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let tables = &analysis.published;
    let mut blocks: Vec<Block> = tables.iter().map(self::table).collect();
    if !blocks.is_empty() {
        let about = "Seconds of all operations, the last commit included. Machines and systems \
                     differ; a factor says by how much, and not why.";
        blocks.insert(0, remark(about));
    }
    chapter("published", "Published times beside ours", blocks)
}

fn table(outcome: &PublishedOutcome) -> Block {
    let place = outcome.place.as_deref().and_then(claims::place);
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    let columns = columns::listed(include_str!("../tables/published.txt"), special);
    let title = format!("{}{place}", outcome.title);
    let table = Table::of(&title, columns, &columns::rows(&outcome.rows));
    let scaled = outcome.rows.iter().any(|row| row.scaled_from.is_some());
    let note = "* Ours is of another number of operations, and scaled.";
    let note = scaled.then(|| paragraph(note));
    let blocks = std::iter::once(Block::from(table)).chain(note);
    Section::new(title, blocks.collect()).into()
}

/// Our time, its interval, and what the published one is to it.
fn special(name: &str, row: &&PublishedTime) -> Cell {
    let mark = match row.scaled_from {
        Some(_) => "*",
        None => "",
    };
    let time = |seconds: f64| value::time(seconds * 1e9);
    match (name, row.ours_seconds) {
        ("factor", _) => Cell::maybe(factor(row), value::ratio),
        ("ours", None) => Cell::text(value::NOTHING),
        ("ours", Some(ours)) => {
            let text = format!("{}{mark}", time(ours.estimate));
            Cell::number(ours.estimate * 1e9, text)
        }
        (_, Some(ours)) => Cell::text(value::between(&time(ours.low), &time(ours.high))),
        (_, None) => Cell::default(),
    }
}

/// A time that was published as 0 says only that it is below what was printed.
fn factor(row: &PublishedTime) -> Option<f64> {
    let (ours, seconds) = (row.ours_seconds?.estimate, row.published.seconds?);
    (seconds > 0.0 && ours > 0.0).then(|| seconds / ours)
}
