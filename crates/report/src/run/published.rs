//! Times that others published, each beside ours.

use crate::columns::Columns;
use crate::document::{Block, Cell, Section, Table, TableBuilder, chapter, paragraph, remark};
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
    let rows: Vec<&PublishedTime> = outcome.rows.iter().collect();
    let title = format!("{}{place}", outcome.title);
    let table = Table::of(&title, columns(), &rows);
    let scaled = rows.iter().any(|row| row.scaled_from.is_some());
    let note = "* Ours is of another number of operations, and scaled.";
    let note = scaled.then(|| paragraph(note));
    let blocks = std::iter::once(Block::from(table)).chain(note);
    Section::new(title, blocks.collect()).into()
}

fn columns<'a>() -> Vec<TableBuilder<'a, &'a PublishedTime>> {
    const NS: f64 = 1e9;
    let make = Columns::<&PublishedTime>::new();
    vec![
        make.text("what", |row| row.what.clone()),
        make.count("operations", |row| Some(row.operations))
            .weighing(9),
        make.time("published", |row| Some(row.seconds * NS))
            .help("seconds of all operations, as published")
            .weighing(9),
        make.number("±", |row| {
            Cell::maybe(row.error_seconds, |s| value::time(s * NS))
        })
        .help("its standard error")
        .weighing(2),
        make.number("ours", |row| ours(row))
            .help("our time of as many operations")
            .weighing(9),
        make.number("interval", |row| {
            let ends = row.ours_seconds.map(|time| (time.low, time.high));
            let text = |(low, high): (f64, f64)| {
                value::between(&value::time(low * NS), &value::time(high * NS))
            };
            Cell::text(ends.map(text).unwrap_or_default())
        })
        .weighing(3),
        make.number("factor", |row| Cell::maybe(factor(row), value::ratio))
            .help("the published time over ours")
            .weighing(6),
        make.time("before commit", |row| {
            row.before_commit_seconds.map(|s| s * NS)
        })
        .help("the published time without the last commit")
        .weighing(5),
        make.time("ours before it", |row| {
            row.ours_before_commit_seconds.map(|s| s * NS)
        })
        .help("our time without the last commit, where a block is one transaction")
        .weighing(5),
    ]
}

fn ours(row: &PublishedTime) -> Cell {
    let mark = match row.scaled_from {
        Some(_) => "*",
        None => "",
    };
    match row.ours_seconds {
        Some(time) => Cell::number(
            time.estimate,
            format!("{}{mark}", value::time(time.estimate * 1e9)),
        ),
        None => Cell::text(value::NOTHING),
    }
}

/// A time that was published as 0 says only that it is below what was printed.
fn factor(row: &PublishedTime) -> Option<f64> {
    let ours = row.ours_seconds?.estimate;
    (row.seconds > 0.0 && ours > 0.0).then(|| row.seconds / ours)
}
