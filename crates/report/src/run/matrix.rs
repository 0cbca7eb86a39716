//! Matrices: whether values belong inside or outside the database, by their size and a setting.
//! Heat maps of this machine and of what was published, and rules of thumb in sentences.

use super::crossover::{self, Context};
use super::ratios::{self, Ratio};
use super::sign_words::Sides;
use crate::document::shade::shade;
use crate::document::{
    Align, Block, Cell, Column, Content, Key, LegendEntry, Row, Section, Sign, Table, Text, anchor,
    bullets, faint, notice, paragraph, plain, remark,
};
use crate::{constituents, noise, value, wording};
use std::iter::once;
use stowplan_analysis::{Analysis, ComparisonOutcome, MatrixCell, MatrixOutcome};
use stowplan_model::{CellId, Operation};

/// The sides of its ratios, which are times outside over times inside.
const INSIDE: &str = "inside";
const OUTSIDE: &str = "outside";

/// Every matrix that has data.
pub(crate) fn figures(analysis: &Analysis) -> Vec<Block> {
    let zone = wording::zone(analysis);
    let matrices = analysis.matrices.iter();
    matrices
        .map(|outcome| figure(analysis, outcome, &sides(&zone)))
        .collect()
}

fn sides(zone: &str) -> Sides<'_> {
    Sides {
        above: INSIDE,
        below: OUTSIDE,
        zone,
    }
}

fn figure(analysis: &Analysis, outcome: &MatrixOutcome, sides: &Sides<'_>) -> Block {
    let parts = constituents::of_matrix(analysis, outcome);
    let mut blocks = vec![paragraph(caption(analysis, outcome))];
    blocks.extend(notes(outcome, &parts).into_iter().map(notice));
    blocks.push(Section::columns(heat_maps(outcome, sides)).into());
    blocks.extend(legends(outcome, sides));
    let rules = bullets(rules(outcome, sides));
    let title = "Rules of thumb on this machine";
    let rules = Section::new(title, rules.into_iter().collect());
    blocks.push(rules.into());
    blocks.extend(outcome.note.as_ref().map(paragraph));
    blocks.extend(evidence(&parts));
    let ratios = ratios_of(outcome);
    let title = &outcome.title;
    blocks.push(ratios::folded(title, &ratios, sides, value::size));
    let id = anchor("matrix", &outcome.id);
    Section::figure(id, title, blocks).into()
}

/// The heat table of the first matrix, and its rules.
pub(super) fn picture(analysis: &Analysis, rows: usize) -> Option<Block> {
    let outcome = analysis
        .matrices
        .iter()
        .find(|matrix| matrix.claims_anything())?;
    let left = rows.checked_sub(outcome.rows.len())?;
    let zone = wording::zone(analysis);
    let sides = sides(&zone);
    let signs: Vec<Sign> = outcome.cells.iter().flatten().map(sign_of).collect();
    let map = heat_map(outcome, "This machine", &|cell| ours(cell, &sides));
    let rules = rules(outcome, &sides);
    // A rule takes about two lines.
    let shown = rules.len().min(left / 2);
    let more = rules.len() - shown;
    let mut blocks = vec![
        map.into(),
        Content::Legend(sides.legend(&signs, Key::Sign)).into(),
    ];
    blocks.extend(bullets(rules.into_iter().take(shown)));
    blocks.extend((more > 0).then(|| remark(format!("and {}", value::counted(more, "more rule")))));
    let title = format!("{}: time outside over inside", outcome.title);
    Some(Section::new(title, blocks).into())
}

/// `Inside the database (SQLite) or outside (files)? Each number is …`
fn caption(analysis: &Analysis, outcome: &MatrixOutcome) -> String {
    let doing = match outcome.operation {
        Operation::Read => "reading",
        Operation::Overwrite => "overwriting",
        Operation::Mix => "reading or overwriting",
        Operation::Insert => "inserting",
        Operation::Delete => "deleting",
        Operation::Scan => "scanning from",
        Operation::CreateTable => "making a table for",
        Operation::DropTable => "dropping a table with",
    };
    let mut specs = analysis.run.plan.study.matrices.iter();
    let spec = specs.find(|spec| spec.id == outcome.id);
    let spread = match spec.map_or(0, |spec| spec.spread_percent) {
        0 => String::new(),
        percent => format!(" Sizes lie up to {percent}% from that of their column."),
    };
    format!(
        "Inside the database ({}) or outside ({})? Each number is the time of {doing} a value \
         outside over that inside: above 1, inside is faster.{spread}",
        internal_label(outcome),
        outcome.external_label
    )
}

/// The internal store without the setting of the rows.
fn internal_label(outcome: &MatrixOutcome) -> &str {
    let first = outcome.row_labels.first().map_or("", String::as_str);
    let setting = outcome.rows.first().map_or_else(String::new, |row| {
        format!(", {} {row}", outcome.row_setting)
    });
    first.strip_suffix(&setting).unwrap_or(first)
}

/// The head of a row.
fn row_head(outcome: &MatrixOutcome, value: u64) -> String {
    let text = crossover::setting(&outcome.row_setting, &[&value.to_string()]);
    match text.strip_prefix("pages of ") {
        Some(size) => size.to_owned(),
        None => value.to_string(),
    }
}

/// This machine's ratios, and the published ones if there are any.
fn heat_maps(outcome: &MatrixOutcome, sides: &Sides<'_>) -> Vec<Section> {
    let map = |title: Text, cell: &dyn Fn(&MatrixCell) -> Cell| {
        let table = heat_map(outcome, &title.text(), cell);
        Section::new(title, vec![table.into()])
    };
    let title = plain("This machine");
    let ours = map(title, &|cell| ours(cell, sides));
    let published = outcome.published_label.as_ref().map(|label| {
        let title = plain("Published").then(faint(format!(": {label}")));
        map(title, &published)
    });
    once(ours).chain(published).collect()
}

fn heat_map(outcome: &MatrixOutcome, title: &str, cell: &dyn Fn(&MatrixCell) -> Cell) -> Table {
    let rows = outcome.rows.iter().zip(&outcome.cells);
    let rows = rows.map(|(value, cells)| {
        let head = Cell::text(row_head(outcome, *value));
        Row {
            cells: once(head).chain(cells.iter().map(cell)).collect(),
        }
    });
    let head = outcome.row_setting.replace(['-', '_'], " ");
    let sizes = outcome.columns.iter().map(|size| value::size(*size));
    let columns = once(head).chain(sizes).map(|title| Column {
        title,
        align: Align::Right,
        weight: Column::ESSENTIAL,
        ..Column::default()
    });
    Table {
        caption: format!("{}: {title}", outcome.title),
        columns: columns.collect(),
        rows: rows.collect(),
        is_heat_map: true,
    }
}

fn sign_of(cell: &MatrixCell) -> Sign {
    Sign::of(cell.verdict, cell.estimate.as_ref())
}

/// A ratio of this machine, coloured where a side or equivalence is claimed.
fn ours(cell: &MatrixCell, sides: &Sides<'_>) -> Cell {
    let sign = sign_of(cell);
    let is_claimed = sign.claims_a_side() || sign == Sign::Even;
    let basis = cell.estimate.map(|found| {
        let [low, high] = [found.low, found.high].map(value::ratio);
        format!("; interval {low} to {high}, {} rounds", found.rounds)
    });
    let published = cell.published;
    let published = published.map(|ratio| format!("; published {}", published_ratio(ratio)));
    let more: String = [basis, published].into_iter().flatten().collect();
    let number = cell.estimate.map(|found| Cell {
        shade: shade(found.ratio).filter(|_| is_claimed),
        ..Cell::number(found.ratio, value::ratio(found.ratio))
    });
    Cell {
        sign: Some(sign),
        help: format!("{}{more}", sides.words(sign)),
        ..number.unwrap_or_default()
    }
}

/// A published ratio, of which no interval is known and thus no sign.
fn published(cell: &MatrixCell) -> Cell {
    let Some(ratio) = cell.published else {
        return Cell {
            help: "not published".to_owned(),
            ..Cell::text(value::NOTHING)
        };
    };
    Cell {
        shade: shade(ratio),
        help: "as published".to_owned(),
        ..Cell::number(ratio, published_ratio(ratio))
    }
}

/// A published ratio, digit for digit.
fn published_ratio(ratio: f64) -> String {
    format!("{ratio:.3}")
}

/// What signs say, and on the page what shades say.
fn legends(outcome: &MatrixOutcome, sides: &Sides<'_>) -> [Block; 2] {
    let signs: Vec<Sign> = outcome.cells.iter().flatten().map(sign_of).collect();
    let shades = "below 1, outside is faster; above 1, inside is. Each shade begins at its number; \
                  no colour: nothing is claimed.";
    let shades = Content::Legend(vec![LegendEntry::new(Key::Shades, shades)]);
    [
        Content::Legend(sides.legend(&signs, Key::Sign)).into(),
        shades.into(),
    ]
}

/// What the numbers rest on.
fn evidence(parts: &[&ComparisonOutcome]) -> [Block; 2] {
    let comparisons = value::counted(parts.len(), "comparison");
    let below = format!("Each column is a comparison of its own: {comparisons} below.");
    [remark(noise::sentence(parts)), remark(below)]
}

fn ratios_of(outcome: &MatrixOutcome) -> Vec<Ratio> {
    let outside = outcome.space.last();
    let space = |line: Option<&Vec<Option<f64>>>, column: usize| *line?.get(column)?;
    let rows = outcome.rows.iter().zip(&outcome.cells).enumerate();
    rows.flat_map(|(row, (value, cells))| {
        let inside = outcome.space.get(row);
        let cells = outcome.columns.iter().zip(cells).enumerate();
        cells.map(move |(column, (size, cell))| Ratio {
            space: [space(inside, column), space(outside, column)],
            setting: row_head(outcome, *value),
            size: *size,
            estimate: cell.estimate,
            verdict: cell.verdict,
            published: cell.published,
        })
    })
    .collect()
}

/// The cells of values of this size.
fn in_column(outcome: &MatrixOutcome, size: u64) -> impl Iterator<Item = &MatrixCell> {
    let rows = outcome.cells.iter();
    let cells = rows.flat_map(|cells| outcome.columns.iter().zip(cells));
    cells.filter_map(move |(column, cell)| (*column == size).then_some(cell))
}

/// A sentence per row: where to keep values of which size.
fn rules(outcome: &MatrixOutcome, sides: &Sides<'_>) -> Vec<String> {
    let measured = outcome.measured.iter().copied();
    let figures =
        measured.filter(|size| in_column(outcome, *size).any(|cell| cell.estimate.is_some()));
    let context = Context {
        a: INSIDE,
        b: OUTSIDE,
        figures: figures.count(),
        unit: value::size,
        same_durability: outcome.same_durability,
        complete: outcome.measured.len() == outcome.columns.len(),
        zone: sides.zone,
    };
    crossover::rules(&outcome.row_setting, &outcome.rules, &context)
}

/// What must be said about it, such as that nothing is claimed of a column.
fn notes(outcome: &MatrixOutcome, parts: &[&ComparisonOutcome]) -> Vec<String> {
    let columns = || outcome.columns.iter().copied();
    let unreliable: Vec<u64> = columns()
        .filter(|size| in_column(outcome, *size).any(|cell| !cell.reliable))
        .collect();
    let missing: Vec<u64> = columns()
        .filter(|size| !outcome.measured.contains(size))
        .collect();
    let missing = crossover::spans(&missing, &outcome.columns, value::size);
    let missing = missing.map(|sizes| format!("Not measured: {sizes}."));
    let unreliable = crossover::unreliable(&unreliable, &outcome.measured, value::size);
    missing
        .into_iter()
        .chain(unreliable)
        .chain(different_promises(outcome, parts))
        .collect()
}

/// What inside and outside promise for what is written, if that differs.
fn different_promises(outcome: &MatrixOutcome, parts: &[&ComparisonOutcome]) -> Option<String> {
    let cells: Vec<&CellId> = outcome.cells.iter().flatten().map(|c| &c.cell).collect();
    parts.iter().find_map(|part| {
        let mut contrasts = part.contrasts.iter();
        let contrast = contrasts.find(|c| !c.same_durability && cells.contains(&&c.cell))?;
        Some(wording::different_promises(
            (INSIDE, part.cell(&contrast.cell)),
            (OUTSIDE, part.cell(&contrast.reference)),
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_analysis::{RatioEstimate, Verdict};

    #[test]
    fn a_cell_has_a_colour_only_where_something_is_claimed() {
        let sides = Sides {
            above: INSIDE,
            below: OUTSIDE,
            zone: "5%",
        };
        let shade = |verdict| {
            let estimate = RatioEstimate {
                ratio: 1.5,
                low: 1.4,
                high: 1.6,
                rounds: 20,
            };
            let cell = MatrixCell {
                cell: CellId("column/row".to_owned()),
                estimate: Some(estimate),
                verdict,
                published: None,
                reliable: true,
            };
            ours(&cell, &sides).shade
        };
        assert_eq!(shade(Verdict::Slower), Some(2));
        assert_eq!(shade(Verdict::Unresolved), None);
        assert_eq!(shade(Verdict::Unreliable), None);
    }
}
