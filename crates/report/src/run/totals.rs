//! What the operations of a block take altogether, where they can be compared with what others
//! published, or fill an empty store.

use super::bars::EXTRAPOLATED;
use crate::cells::label;
use crate::columns::{Columns, float};
use crate::document::{Block, Cell, Detail, Table, TableBuilder, paragraph, remark};
use crate::{format, wording};
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};
use stowplan_model::{Operation, Role};

/// The totals of a comparison all of whose cells insert, or of which others published seconds;
/// nothing for any other.
pub(crate) fn blocks(analysis: &Analysis, comparison: &ComparisonOutcome) -> Vec<Block> {
    let cells = &comparison.cells;
    let inserts = cells
        .iter()
        .all(|cell| cell.cell.workload.operation == Operation::Insert);
    let published = cells.iter().any(|c| c.cell.published_seconds.is_some());
    if !comparison.was_measured() || !inserts && !published {
        return Vec::new();
    }
    let totals: Vec<Total<'_>> = cells.iter().map(Total::of).collect();
    let first = totals.first().and_then(|total| total.rows);
    let same_rows = first.filter(|_| totals.iter().all(|total| total.rows == first));
    let is_shown = |role| !matches!(role, Role::Control | Role::Part);
    let detail = |total: &Total<'_>| Detail::normal_if(is_shown(total.cell.cell.role));
    let title = &comparison.title;
    let times = Table::of(format!("Totals: {title}"), times(same_rows), &totals);
    let space = Table::of(format!("Memory and space: {title}"), space(), &totals);
    let mut blocks = vec![paragraph(caption(inserts, same_rows))];
    blocks.push(times.with_details(&totals, detail).into());
    if published {
        blocks.extend(published_label(analysis, comparison));
    }
    blocks.extend(samples(cells));
    if space.columns.len() > 1 {
        blocks.push(Block::from(space).at(Detail::Full));
    }
    blocks
}

/// How many rows the totals of a cell are of: those of a block, or those it is a sample of.
pub(crate) fn rows_of(cell: &CellSummary) -> Option<u64> {
    let workload = &cell.cell.workload;
    workload
        .sample_of
        .or_else(|| workload.operations.map(u64::from))
}

fn caption(inserts: bool, same_rows: Option<u64>) -> String {
    let of = |what: &str| same_rows.map(|count| format::counted(count, what));
    match inserts {
        true => {
            let rows = of("row").unwrap_or_else(|| "all rows".to_owned());
            format!("Totals of {rows}, inserted into an empty store:")
        }
        false => {
            let operations = of("operation").unwrap_or_else(|| "all operations".to_owned());
            format!("Totals of {operations}:")
        }
    }
}

/// Where the published seconds come from.
fn published_label(analysis: &Analysis, comparison: &ComparisonOutcome) -> Option<Block> {
    let mut plans = analysis.run.plan.comparisons.iter();
    let plan = plans.find(|plan| plan.id == comparison.id)?;
    let label = plan.published_label.as_ref()?;
    Some(remark(format!(
        "Published: {}.",
        label.trim_end_matches('.')
    )))
}

/// Which totals are extrapolated, and from how many rows; those of the control are as those of the
/// baseline.
fn samples(cells: &[CellSummary]) -> Option<Block> {
    let cells = cells.iter().filter(|c| c.cell.role != Role::Control);
    let sample = |cell: &CellSummary| {
        cell.cell.workload.sample_of?;
        cell.cell.workload.operations.map(u64::from)
    };
    let samples: Vec<(&CellSummary, Option<u64>)> = cells.map(|c| (c, sample(c))).collect();
    let named = samples.iter().filter_map(|(cell, measured)| {
        let label = wording::quoted(&label(cell));
        Some(format!(
            "{label} from {}",
            format::counted((*measured)?, "row")
        ))
    });
    let named: Vec<String> = named.collect();
    let (_, first) = *samples.first()?;
    let from = match first {
        _ if named.is_empty() => return None,
        Some(measured) if samples.iter().all(|(_, other)| *other == first) => {
            format!(" of {} operations", format::count(measured))
        }
        _ => format!(": {}", wording::list(&named)),
    };
    Some(remark(format!(
        "{EXTRAPOLATED} extrapolated from a sample{from}; commits, memory, space and page fill are \
         those of the sample."
    )))
}

/// What one cell takes for all of its rows.
struct Total<'a> {
    cell: &'a CellSummary,
    rows: Option<u64>,
    /// Nanoseconds, every commit included.
    all: Option<f64>,
}

impl<'a> Total<'a> {
    fn of(cell: &'a CellSummary) -> Self {
        let rows = rows_of(cell);
        let per_row = Some(wording::headline_time(cell)).filter(|time| time.is_finite());
        let all = per_row.zip(rows).map(|(time, rows)| time * float(rows));
        Self { cell, rows, all }
    }

    /// Whether fewer rows were measured than these totals are of.
    fn is_extrapolated(&self) -> bool {
        self.cell.cell.workload.sample_of.is_some()
    }

    /// Seconds until the last row is in, before the commit that ends the block; nothing where there
    /// are several commits, which lie between the rows. The commit of a sample is not that of all
    /// rows.
    fn to_last_row(&self) -> Option<f64> {
        let commit = self.cell.last_commit_ns.filter(|_| !self.is_extrapolated());
        Some((self.all? - commit?).max(0.0) / 1e9)
    }

    /// The transactions of a block: a median, but of whole numbers that rarely differ.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    fn commits(&self) -> Cell {
        let was_measured = wording::headline_time(self.cell).is_finite();
        let commits = Some(self.cell.commits).filter(|c| was_measured && c.is_finite());
        Cell::maybe(commits, |commits| format::count(commits.round() as u64))
    }

    fn with_commit(&self) -> Cell {
        let sign = if self.is_extrapolated() {
            EXTRAPOLATED
        } else {
            ""
        };
        Cell::maybe(self.all.map(|time| time / 1e9), |seconds| {
            format!("{sign}{}", format::seconds(seconds))
        })
    }

    /// Mean over the rounds and its standard error, as others repeat a whole run.
    fn mean(&self) -> Cell {
        let seconds = |nanoseconds: f64| nanoseconds / 1e9;
        let time = self.cell.block_time;
        let mean = time.map(|time| seconds(time.mean_ns));
        let error = time.and_then(|time| time.standard_error_ns);
        with_error(mean, error.map(seconds))
    }

    fn published(&self) -> Cell {
        let seconds = self.cell.cell.published_seconds;
        with_error(seconds, self.cell.published_error_seconds)
    }
}

/// `22.5 s ± 218 ms`
fn with_error(seconds: Option<f64>, error: Option<f64>) -> Cell {
    let error = error.map_or_else(String::new, |error| {
        format!(" ± {}", format::seconds(error))
    });
    Cell::maybe(seconds, |seconds| {
        format!("{}{error}", format::seconds(seconds))
    })
}

type Column<'a> = TableBuilder<'a, Total<'a>>;

fn times<'a>(same_rows: Option<u64>) -> Vec<Column<'a>> {
    let make = Columns::<Total<'_>>::new();
    vec![
        make.name(|total| total.cell),
        make.count("rows", |total| total.rows)
            .help("operations of a block")
            .weighing(if same_rows.is_none() { 5 } else { 0 }),
        make.formatted(format::seconds, "to last row", Total::to_last_row)
            .help("time until the last row is in, before the one commit that ends the block")
            .in_unit("s")
            .weighing(8),
        make.number("with commit", Total::with_commit)
            .help("time per operation times their number, every commit included")
            .in_unit("s")
            .weighing(9),
        make.number("mean ± error", Total::mean)
            .help("mean over the rounds and its standard error, every commit included")
            .in_unit("s")
            .weighing(5),
        make.number("published", Total::published)
            .help("what others published for as many, with its standard error where they gave one")
            .in_unit("s")
            .weighing(7),
        make.number("commits", Total::commits)
            .help("transactions committed by a block, counted by the engine where it can")
            .weighing(6),
        make.formatted(format::percent, "page fill", |total| total.cell.page_fill)
            .help("share of the bytes of leaf pages that are in use")
            .weighing(4),
        make.formatted(format::percent, "index fill", |total| total.cell.index_fill)
            .help("the same of the indexes beside the table")
            .weighing(3),
    ]
}

fn space<'a>() -> Vec<Column<'a>> {
    let make = Columns::<Total<'_>>::new();
    let allocated = |total: &Total<'_>| {
        let footprint = total.cell.block_footprint?;
        Some(float(footprint.allocated_bytes))
    };
    vec![
        make.name(|total| total.cell),
        make.bytes("peak memory", |total| {
            total.cell.peak_memory_bytes.map(float)
        })
        .help("largest resident set of a worker")
        .weighing(9),
        make.bytes("allocated", allocated)
            .help("bytes allocated on disk by the store that a block filled")
            .weighing(8),
        make.durability(|total| total.cell).weighing(6),
    ]
}
