//! What the operations of a block take altogether, where they can be compared with what others
//! published, or fill an empty store.

use crate::cells::label;
use crate::document::{
    Block, Cell, Detail, Table, TableBuilder, number, paragraph, remark, text_column,
};
use crate::{format, wording};
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};
use stowplan_model::{Operation, Role};

/// Stands before a total that was not measured whole.
const EXTRAPOLATED: &str = "~";

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
    let detail = |total: &Total<'_>| match total.cell.cell.role {
        Role::Control | Role::Part => Detail::Full,
        _ => Detail::Normal,
    };
    let title = &comparison.title;
    let times = Table::of(format!("Totals: {title}"), times(same_rows), &totals);
    let space = Table::of(
        format!("Memory and space: {title}"),
        vec![name(), peak_memory(), allocated(), durability()],
        &totals,
    );
    let mut blocks = vec![paragraph(caption(inserts, same_rows))];
    blocks.push(times.with_details(&totals, detail).into());
    blocks.extend(
        published
            .then(|| published_label(analysis, comparison))
            .flatten(),
    );
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
    if inserts {
        let rows = same_rows.map_or_else(|| "all rows".to_owned(), count_of_rows);
        return format!("Totals of {rows}, inserted into an empty store:");
    }
    let s = if same_rows == Some(1) { "" } else { "s" };
    let how_many = same_rows.map_or_else(|| "all".to_owned(), format::count);
    format!("Totals of {how_many} operation{s}:")
}

fn count_of_rows(rows: u64) -> String {
    let s = if rows == 1 { "" } else { "s" };
    format!("{} row{s}", format::count(rows))
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
    let (_, first) = *samples.first()?;
    let of_all = first.filter(|_| samples.iter().all(|(_, measured)| *measured == first));
    let from = match of_all {
        Some(measured) => format!(" of {} operations", format::count(measured)),
        None => {
            let named = samples.iter().filter_map(|(cell, measured)| {
                let label = wording::quoted(&label(cell));
                Some(format!("{label} from {}", count_of_rows((*measured)?)))
            });
            let named: Vec<String> = named.collect();
            if named.is_empty() {
                return None;
            }
            format!(": {}", wording::list(&named))
        }
    };
    Some(remark(format!(
        "{EXTRAPOLATED} extrapolated from a sample{from}; commits, memory, space and page fill are \
         those of the sample."
    )))
}

/// What one cell takes for all of its rows. Times are seconds.
struct Total<'a> {
    cell: &'a CellSummary,
    rows: Option<u64>,
    /// Whether fewer rows were measured than these totals are of.
    extrapolated: bool,
    /// Until the last row is in, before the commit that ends the block; nothing where there are
    /// several commits, which lie between the rows.
    to_last_row: Option<f64>,
    with_commit: Option<f64>,
}

impl<'a> Total<'a> {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn of(cell: &'a CellSummary) -> Self {
        let rows = rows_of(cell);
        let extrapolated = cell.cell.workload.sample_of.is_some();
        let per_row = Some(wording::headline_time(cell)).filter(|time| time.is_finite());
        let all = per_row.zip(rows).map(|(time, rows)| time * rows as f64);
        // The commit of a sample is not that of all rows.
        let commit = cell.last_commit_ns.filter(|_| !extrapolated);
        let before_commit = all.zip(commit).map(|(all, commit)| all - commit);
        Self {
            cell,
            rows,
            extrapolated,
            to_last_row: before_commit.map(|time| time.max(0.0) / 1e9),
            with_commit: all.map(|time| time / 1e9),
        }
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
        let sign = if self.extrapolated { EXTRAPOLATED } else { "" };
        Cell::maybe(self.with_commit, |seconds| {
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
    vec![
        name(),
        rows().weighing(if same_rows.is_none() { 5 } else { 0 }),
        number(
            "to last row",
            "time until the last row is in, before the one commit that ends the block",
            |total: &Total<'_>| Cell::maybe(total.to_last_row, format::seconds),
        )
        .in_unit("s")
        .weighing(8),
        number(
            "with commit",
            "time per operation times their number, every commit included",
            Total::with_commit,
        )
        .in_unit("s")
        .weighing(9),
        number(
            "mean ± error",
            "mean over the rounds and its standard error, every commit included",
            Total::mean,
        )
        .in_unit("s")
        .weighing(5),
        number(
            "published",
            "what others published for as many, with its standard error where they gave one",
            Total::published,
        )
        .in_unit("s")
        .weighing(7),
        number(
            "commits",
            "transactions committed by a block, counted by the engine where it can",
            Total::commits,
        )
        .weighing(6),
        number(
            "page fill",
            "share of the bytes of leaf pages that are in use",
            |total: &Total<'_>| Cell::maybe(total.cell.page_fill, format::percent),
        )
        .weighing(4),
    ]
}

fn name<'a>() -> Column<'a> {
    text_column("cell", "what was timed", |total: &Total<'_>| {
        Cell::text(label(total.cell))
    })
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn rows<'a>() -> Column<'a> {
    number("rows", "operations of a block", |total: &Total<'_>| {
        total.rows.map_or_else(Cell::default, |rows| {
            Cell::number(rows as f64, format::count(rows))
        })
    })
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn bytes(bytes: Option<u64>) -> Cell {
    Cell::maybe(bytes.map(|bytes| bytes as f64), format::bytes)
}

fn peak_memory<'a>() -> Column<'a> {
    number(
        "peak memory",
        "largest resident set of a worker",
        |total: &Total<'_>| bytes(total.cell.peak_memory_bytes),
    )
    .in_unit("B")
    .weighing(9)
}

fn allocated<'a>() -> Column<'a> {
    number(
        "allocated",
        "bytes allocated on disk by the store that a block filled",
        |total: &Total<'_>| bytes(total.cell.block_footprint.map(|f| f.allocated_bytes)),
    )
    .in_unit("B")
    .weighing(8)
}

fn durability<'a>() -> Column<'a> {
    text_column(
        "durability",
        "what an acknowledged write survives",
        |total: &Total<'_>| {
            let claim = total.cell.promise();
            Cell::text(claim.map_or_else(String::new, |claim| claim.to_string()))
        },
    )
    .weighing(6)
}
