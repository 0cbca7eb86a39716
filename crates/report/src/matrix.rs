//! A matrix before it is drawn: finished texts, signs and shades. Terminal, Markdown and HTML
//! draw the same.

use crate::crossover::{self, Context};
use crate::document::shade::shade;
use crate::document::{self, Sign};
use crate::table::{Ratio, Table};
use crate::{format, parts, table, wording};
use stowplan_analysis::{Analysis, ComparisonOutcome, MatrixCell, MatrixOutcome, Side, SizeRange};
use stowplan_model::{CellId, Operation};

/// One matrix.
pub(crate) struct Matrix<'a> {
    /// Name in the study file.
    pub(crate) id: &'a str,
    /// Title for people.
    pub(crate) title: &'a str,
    /// What the ratios are.
    pub(crate) subtitle: String,
    /// What the rows are.
    pub(crate) row_title: String,
    /// The heads of the rows.
    pub(crate) rows: Vec<String>,
    /// The heads of the columns.
    pub(crate) columns: Vec<String>,
    /// This machine's ratios by row, then column.
    pub(crate) ours: Vec<Vec<Field>>,
    /// The published ones, likewise, with what they are of.
    pub(crate) published: Option<(String, Vec<Vec<Field>>)>,
    /// A sentence per row: where to keep values of which size.
    pub(crate) rules: Vec<String>,
    /// What the study says about it.
    pub(crate) remark: Option<&'a str>,
    /// What must be said about it, such as that nothing is claimed of a column.
    pub(crate) notes: Vec<String>,
    /// What the numbers rest on.
    pub(crate) evidence: String,
    /// The signs that occur, and what they say.
    pub(crate) legend: Vec<(Sign, String)>,
    /// Every ratio with its interval.
    pub(crate) table: Table,
    /// The comparisons that it puts together.
    pub(crate) parts: Vec<&'a ComparisonOutcome>,
}

/// One cell of a matrix.
pub(crate) struct Field {
    /// The ratio.
    pub(crate) text: String,
    /// Who is ahead; nothing for published ratios, of which no interval is known.
    pub(crate) sign: Option<Sign>,
    /// The colour; nothing where no side and no equivalence is claimed.
    pub(crate) shade: Option<i8>,
    /// What the ratio alone does not say.
    pub(crate) detail: String,
}

/// Every matrix that has data.
pub(crate) fn matrices(analysis: &Analysis) -> Vec<Matrix<'_>> {
    let matrices = analysis.matrices.iter();
    matrices.map(|outcome| matrix(analysis, outcome)).collect()
}

fn matrix<'a>(analysis: &'a Analysis, outcome: &'a MatrixOutcome) -> Matrix<'a> {
    let zone = wording::zone(analysis);
    let parts = parts::of_matrix(analysis, outcome);
    let cells = || outcome.cells.iter().flatten();
    let rounds: Vec<usize> = cells()
        .filter_map(|cell| Some(cell.estimate?.rounds))
        .collect();
    let signs: Vec<Sign> = cells().map(sign_of).collect();
    Matrix {
        id: &outcome.id,
        title: &outcome.title,
        subtitle: format!("{}{}", subtitle(outcome), spread(analysis, outcome)),
        row_title: outcome.row_setting.replace(['-', '_'], " "),
        rows: outcome.rows.iter().map(|r| row(outcome, *r)).collect(),
        columns: outcome.columns.iter().map(|s| format::size(*s)).collect(),
        ours: fields(outcome, |cell| ours(cell, &zone)),
        published: outcome
            .published_label
            .clone()
            .map(|label| (label, fields(outcome, published))),
        rules: rules(outcome, &zone),
        remark: outcome.note.as_deref(),
        notes: notes(outcome, &parts),
        evidence: parts::evidence(&parts, &rounds),
        legend: document::legend(&signs, "inside", "outside", &zone),
        table: table::ratios(&ratios(outcome, &zone)),
        parts,
    }
}

/// `Inside: SQLite; outside: files. Each number is …`
fn subtitle(outcome: &MatrixOutcome) -> String {
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
    format!(
        "Inside the database ({}) or outside ({})? Each number is the time of {doing} a value \
         outside over that inside: above 1, inside is faster.",
        internal_label(outcome),
        outcome.external_label
    )
}

/// How far sizes lie from those of their columns, if they do.
fn spread(analysis: &Analysis, outcome: &MatrixOutcome) -> String {
    let mut specs = analysis.run.plan.study.matrices.iter();
    let spec = specs.find(|spec| spec.id == outcome.id);
    match spec.map_or(0, |spec| spec.spread_percent) {
        0 => String::new(),
        percent => format!(" Sizes lie up to {percent}% from that of their column."),
    }
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
fn row(outcome: &MatrixOutcome, value: u64) -> String {
    let text = crossover::setting(&outcome.row_setting, &[&value.to_string()]);
    match text.strip_prefix("pages of ") {
        Some(size) => size.to_owned(),
        None => value.to_string(),
    }
}

fn fields(outcome: &MatrixOutcome, field: impl Fn(&MatrixCell) -> Field) -> Vec<Vec<Field>> {
    let rows = outcome.cells.iter();
    rows.map(|row| row.iter().map(&field).collect()).collect()
}

fn sign_of(cell: &MatrixCell) -> Sign {
    Sign::of(cell.verdict, cell.estimate.as_ref())
}

fn ours(cell: &MatrixCell, zone: &str) -> Field {
    let sign = sign_of(cell);
    let published = cell.published.map_or_else(String::new, |ratio| {
        format!("; published {}", published_ratio(ratio))
    });
    let words = sign.words("inside", "outside", zone);
    let Some(estimate) = cell.estimate else {
        return Field {
            text: String::new(),
            sign: Some(sign),
            shade: None,
            detail: format!("{words}{published}"),
        };
    };
    let colours = sign.claims_a_side() || sign == Sign::Even;
    Field {
        text: format::ratio(estimate.ratio),
        sign: Some(sign),
        shade: shade(estimate.ratio).filter(|_| colours),
        detail: format!(
            "{words}; interval {} to {}, {} rounds{published}",
            format::ratio(estimate.low),
            format::ratio(estimate.high),
            estimate.rounds
        ),
    }
}

fn published(cell: &MatrixCell) -> Field {
    Field {
        text: cell
            .published
            .map_or_else(|| format::NOTHING.to_owned(), published_ratio),
        sign: None,
        shade: cell.published.and_then(shade),
        detail: if cell.published.is_some() {
            "as published".to_owned()
        } else {
            "not published".to_owned()
        },
    }
}

/// A published ratio, digit for digit.
fn published_ratio(ratio: f64) -> String {
    format!("{ratio:.3}")
}

fn ratios(outcome: &MatrixOutcome, zone: &str) -> Vec<Ratio> {
    let rows = outcome.rows.iter().zip(&outcome.cells);
    rows.flat_map(|(value, cells)| {
        let cells = outcome.columns.iter().zip(cells);
        cells.map(|(size, cell)| Ratio {
            setting: row(outcome, *value),
            size: *size,
            estimate: cell.estimate,
            verdict: sign_of(cell).words("inside", "outside", zone),
            published: cell.published.map(published_ratio),
        })
    })
    .collect()
}

fn rules(outcome: &MatrixOutcome, zone: &str) -> Vec<String> {
    let has_figure = |size: &u64| {
        let column = outcome.columns.iter().position(|column| column == size);
        let mut rows = outcome.cells.iter();
        rows.any(|row| column.is_some_and(|column| row[column].estimate.is_some()))
    };
    let measured = outcome.measured.iter().copied();
    let figures: Vec<u64> = measured.filter(has_figure).collect();
    let context = Context {
        a: "inside",
        b: "outside",
        sizes: &outcome.measured,
        figures: &figures,
        unit: format::size,
        same_durability: outcome.same_durability,
        complete: outcome.measured.len() == outcome.columns.len(),
        zone,
    };
    crossover::rules(&outcome.row_setting, &outcome.rules, &context)
}

fn notes(outcome: &MatrixOutcome, parts: &[&ComparisonOutcome]) -> Vec<String> {
    let unreliable: Vec<u64> = outcome
        .columns
        .iter()
        .enumerate()
        .filter(|(column, _)| outcome.cells.iter().any(|row| !row[*column].reliable))
        .map(|(_, size)| *size)
        .collect();
    let mut notes = Vec::new();
    let columns = outcome.columns.iter().copied();
    let missing: Vec<u64> = columns
        .filter(|column| !outcome.measured.contains(column))
        .collect();
    if !missing.is_empty() {
        let ranges = crossover::runs(&missing, &outcome.columns).into_iter();
        let ranges: Vec<String> = ranges.map(|r| crossover::span(r, format::size)).collect();
        notes.push(format!("Not measured: {}.", wording::list(&ranges)));
    }
    notes.extend(wording::unreliable_sizes(
        &unreliable,
        &outcome.measured,
        format::size,
    ));
    notes.extend(different_promises(outcome, parts));
    notes
}

/// What inside and outside promise for what is written, if that differs.
fn different_promises(outcome: &MatrixOutcome, parts: &[&ComparisonOutcome]) -> Option<String> {
    let cells: Vec<&CellId> = outcome.cells.iter().flatten().map(|c| &c.cell).collect();
    parts.iter().find_map(|part| {
        let mut contrasts = part.contrasts.iter();
        let contrast = contrasts.find(|c| !c.same_durability && cells.contains(&&c.cell))?;
        Some(wording::different_promises(
            ("inside", part.cell(&contrast.cell)),
            ("outside", part.cell(&contrast.reference)),
        ))
    })
}

/// The sizes at which every row's rule claims the same side, as ranges: what holds whatever the
/// setting.
pub(crate) fn common(outcome: &MatrixOutcome, side: Side) -> Vec<SizeRange> {
    let claimed = |size: &u64| {
        let mut rules = outcome.rules.iter();
        rules.all(|rule| rule.crossover.winner_at(*size) == Some(side))
    };
    let sizes = outcome.columns.iter().copied();
    let sizes: Vec<u64> = sizes.filter(claimed).collect();
    crossover::runs(&sizes, &outcome.measured)
}

/// Whether a row claims a side at any size.
pub(crate) fn claims_anything(outcome: &MatrixOutcome) -> bool {
    let mut rules = outcome.rules.iter();
    rules.any(|rule| {
        let mut sizes = outcome.columns.iter();
        sizes.any(|size| rule.crossover.winner_at(*size).is_some())
    })
}
