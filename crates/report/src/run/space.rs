//! What stores take on disk.

use super::comparison;
use crate::document::{
    Axis, Bar, Block, Cell, ChartRow, Detail, Fill, Fold, Mark, MarkKind, RowGroup, Rows, Scale,
    Section, Shape, Table, TableBuilder, number, paragraph, text_column,
};
use crate::{constituents, format};
use stowplan_analysis::{Analysis, SpaceRow};
use stowplan_model::format_bytes;

const CAPTION: &str =
    "Bytes allocated on disk per byte of the values; 1.0 would be the values alone.";

/// More stores than this have no room on a terminal, nor has any without the comparisons.
const FEW: usize = 6;

/// What the built stores take; of those that only matrices and sweeps use, where everything is asked
/// for. Nothing without any store.
pub(crate) fn section(analysis: &Analysis) -> Option<Block> {
    let (shown, of_parts) = constituents::space(analysis);
    let mut blocks = blocks(analysis, &shown);
    if !of_parts.is_empty() {
        let title = format!(
            "Disk space of the {} stores of matrices and sweeps",
            of_parts.len()
        );
        let fold = Fold::new(title, self::blocks(analysis, &of_parts));
        blocks.push(Block::from(fold).at(Detail::All));
    }
    let section = Section::new("Disk space", blocks);
    let section = section.named("space").in_contents("Disk space");
    let asked = &analysis.run.plan.study.space;
    // The answers tell what the study asks for.
    let is_asked = !asked.is_empty();
    let has_room = comparison::are_shown(analysis) && shown.len() <= FEW;
    let detail = match has_room && !is_asked {
        true => Detail::Normal,
        false => Detail::Full,
    };
    (!section.blocks.is_empty()).then(|| Block::from(section).at(detail))
}

fn blocks(analysis: &Analysis, rows: &[&SpaceRow]) -> Vec<Block> {
    if rows.is_empty() {
        return Vec::new();
    }
    let chart = vec![paragraph(CAPTION), chart(analysis, rows).into()];
    let figure = Section::figure("", "", chart);
    vec![
        Block::from(figure).at(Detail::All),
        Table::of("Disk space", columns(), rows).into(),
    ]
}

fn chart(analysis: &Analysis, rows: &[&SpaceRow]) -> Rows {
    let drawn = rows.iter().flat_map(|row| {
        let ours = overhead(row).map(|ratio| drawn(&row.label, ratio, Fill::Ours));
        let published = published_overhead(analysis, row);
        let published = published.map(|(what, ratio)| drawn(what, ratio, Fill::Published));
        ours.into_iter().chain(published)
    });
    let drawn: Vec<ChartRow> = drawn.collect();
    let ratios = drawn.iter().filter_map(|row| row.number);
    let ratios: Vec<f64> = ratios.chain([1.0]).collect();
    let scale = Scale::for_bars(&ratios, &[]);
    Rows {
        summary: "Disk space".to_owned(),
        axis: Axis::new("", scale, scale.ticks(), tick),
        groups: vec![RowGroup {
            rows: drawn,
            ..RowGroup::default()
        }],
        marks: vec![Mark {
            at: 1.0,
            kind: MarkKind::Reference,
            sign: String::new(),
        }],
        legend: Vec::new(),
    }
}

/// A mark of the axis, without digits that say nothing.
fn tick(at: f64) -> String {
    let text = format!("{at:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn drawn(label: &str, ratio: f64, fill: Fill) -> ChartRow {
    ChartRow {
        label: label.to_owned(),
        detail: match fill {
            Fill::Published => "published".to_owned(),
            _ => String::new(),
        },
        shape: Shape::Bar(Bar { value: ratio, fill }),
        interval: None,
        value: format!("{ratio:.3}"),
        spread: String::new(),
        number: Some(ratio),
        sign: None,
        tooltip: format!("{label}: {ratio:.3} bytes per byte of values"),
    }
}

/// Allocated bytes per byte of values.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn overhead(row: &SpaceRow) -> Option<f64> {
    (row.value_bytes > 0).then(|| row.footprint.allocated_bytes as f64 / row.value_bytes as f64)
}

/// The published bytes per byte of values, where they are of as many values: only then can they be
/// drawn beside ours.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn published_overhead<'a>(analysis: &Analysis, row: &'a SpaceRow) -> Option<(&'a str, f64)> {
    let (what, bytes, values) = row.published.as_ref()?;
    let stored = row.value_bytes;
    let mut datasets = analysis.run.plan.datasets.values();
    let dataset = datasets.find(|dataset| Some(dataset.count) == *values)?;
    let asked = dataset.size.mean().saturating_mul(dataset.count);
    let comparable = stored.abs_diff(asked) < stored / 50;
    (comparable && stored > 0).then(|| (what.as_str(), *bytes as f64 / stored as f64))
}

fn columns<'a>() -> Vec<TableBuilder<'a, &'a SpaceRow>> {
    vec![
        text_column("store", "", |row: &&SpaceRow| Cell::text(&row.label)),
        bytes("values", "bytes of the values in it", |row| row.value_bytes),
        bytes(
            "allocated",
            "bytes of allocated blocks, as du counts",
            |row| row.footprint.allocated_bytes,
        )
        .weighing(9),
        number(
            "relative",
            "allocated bytes beside those of the first store that the study names",
            |row: &&SpaceRow| Cell::maybe(row.ratio, relative),
        )
        .weighing(8),
        number(
            "published",
            "the figure of the published study, and how it relates to its first one",
            |row: &&SpaceRow| published(row),
        )
        .in_unit("B")
        .weighing(6),
        number(
            "per value byte",
            "allocated bytes per byte of the values",
            |row: &&SpaceRow| Cell::maybe(overhead(row), |ratio| format!("{ratio:.3}")),
        )
        .weighing(4),
        bytes("apparent", "sum of the file lengths", |row| {
            row.footprint.apparent_bytes
        }),
        count("files", |row| row.footprint.files),
        count("directories", |row| row.footprint.directories),
        text_column(
            "as published",
            "what was measured there, its bytes, and of how many values",
            |row: &&SpaceRow| Cell::text(published_in_full(row).unwrap_or_default()),
        )
        .weighing(0),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn bytes<'a>(
    title: &'static str,
    help: &'static str,
    get: fn(&SpaceRow) -> u64,
) -> TableBuilder<'a, &'a SpaceRow> {
    let cell = move |row: &&SpaceRow| Cell::number(get(row) as f64, format_bytes(get(row)));
    number(title, help, cell).in_unit("B").weighing(0)
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn count<'a>(title: &'static str, get: fn(&SpaceRow) -> u64) -> TableBuilder<'a, &'a SpaceRow> {
    let cell = move |row: &&SpaceRow| Cell::number(get(row) as f64, format::count(get(row)));
    number(title, "", cell).weighing(0)
}

/// `+13%`, or `reference` for the store that the others are related to.
fn relative(ratio: f64) -> String {
    if ratio.to_bits() == 1.0_f64.to_bits() {
        return "reference".to_owned();
    }
    format::difference(ratio)
}

/// `1.23 GB (+20%)`
#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn published(row: &SpaceRow) -> Cell {
    let Some((_, bytes, _)) = &row.published else {
        return Cell::default();
    };
    let text = format!("{}{}", format_bytes(*bytes), published_relative(row));
    Cell::number(*bytes as f64, text)
}

/// `directory, by du: 1,228,800,000 bytes, 100,000 values`
fn published_in_full(row: &SpaceRow) -> Option<String> {
    let (what, bytes, values) = row.published.as_ref()?;
    let what = if *what == row.label {
        String::new()
    } else {
        format!("{what}: ")
    };
    let values = values
        .map(|values| format!(", {} values", format::count(values)))
        .unwrap_or_default();
    Some(format!("{what}{} bytes{values}", format::count(*bytes)))
}

/// ` (+20%)`, how a published figure relates to that of the reference; nothing for itself.
fn published_relative(row: &SpaceRow) -> String {
    row.published_ratio
        .filter(|ratio| ratio.to_bits() != 1.0_f64.to_bits())
        .map(|ratio| format!(" ({})", format::difference(ratio)))
        .unwrap_or_default()
}
