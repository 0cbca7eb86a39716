//! What the operations of a block take altogether, where they can be compared with what others
//! published, or fill an empty store. Terminal, Markdown and HTML show the same numbers.

use crate::table::{Entry, Maker, Table, build, label, numeric, textual};
use crate::{format, wording};
use stowplan_analysis::{Analysis, CellSummary, ComparisonOutcome};
use stowplan_model::Operation;

/// Stands before a total that was not measured whole.
const EXTRAPOLATED: &str = "~";

/// The totals of a comparison.
pub(crate) struct Totals {
    /// What the numbers are of.
    pub(crate) caption: String,
    /// One row per cell, in the order of the comparison.
    pub(crate) rows: Vec<Total>,
    /// How many rows each cell inserts, if it is the same number.
    pub(crate) same_rows: Option<u64>,
    /// What must be known to read them, a sentence each.
    pub(crate) notes: Vec<String>,
}

/// What one cell takes for all of its rows. Times are seconds.
pub(crate) struct Total {
    pub(crate) label: String,
    pub(crate) rows: Option<u64>,
    /// Whether fewer rows were measured than these totals are of.
    pub(crate) extrapolated: bool,
    /// Until the last row is in, before the commit that ends the block; nothing where there are
    /// several commits, which lie between the rows.
    pub(crate) to_last_row: Option<f64>,
    pub(crate) with_commit: Option<f64>,
    /// Transactions committed in a block; of a sample, as measured.
    pub(crate) commits: Option<f64>,
    /// Mean over the rounds and its standard error, as others repeat a whole run.
    pub(crate) mean: Option<(f64, Option<f64>)>,
    /// The published seconds and their standard error.
    pub(crate) published: Option<(f64, Option<f64>)>,
    pub(crate) peak_memory: Option<u64>,
    pub(crate) allocated: Option<u64>,
    /// Share of the bytes of leaf pages.
    pub(crate) page_fill: Option<f64>,
    /// What it promises for what it wrote.
    pub(crate) durability: String,
}

/// The totals of a comparison all of whose cells insert, or of which others published seconds;
/// nothing for any other.
pub(crate) fn totals(analysis: &Analysis, comparison: &ComparisonOutcome) -> Option<Totals> {
    let cells = &comparison.cells;
    let inserts = |cell: &CellSummary| cell.cell.workload.operation == Operation::Insert;
    let inserts = !cells.is_empty() && cells.iter().all(inserts);
    if !comparison.was_measured() {
        return None;
    }
    if !inserts
        && cells
            .iter()
            .all(|cell| cell.cell.published_seconds.is_none())
    {
        return None;
    }
    let rows: Vec<Total> = cells.iter().map(total).collect();
    let first = rows.first().and_then(|total| total.rows);
    let same_rows = first.filter(|_| rows.iter().all(|total| total.rows == first));
    let caption = if inserts {
        let rows = same_rows.map_or_else(|| "all rows".to_owned(), count_of_rows);
        format!("Totals of {rows}, inserted into an empty store:")
    } else {
        let s = if same_rows == Some(1) { "" } else { "s" };
        let how_many = same_rows.map_or_else(|| "all".to_owned(), format::count);
        format!("Totals of {how_many} operation{s}:")
    };
    let mut notes = Vec::new();
    if rows.iter().any(|total| total.published.is_some()) {
        notes.extend(published_label(analysis, comparison));
    }
    notes.extend(samples(cells));
    Some(Totals {
        caption,
        rows,
        same_rows,
        notes,
    })
}

/// How many rows the totals of a cell are of: those of a block, or those it is a sample of.
pub(crate) fn rows_of(cell: &CellSummary) -> Option<u64> {
    let workload = &cell.cell.workload;
    workload
        .sample_of
        .or_else(|| workload.operations.map(u64::from))
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn total(cell: &CellSummary) -> Total {
    let rows = rows_of(cell);
    let extrapolated = cell.cell.workload.sample_of.is_some();
    let per_row = Some(wording::headline_time(cell)).filter(|time| time.is_finite());
    let nanoseconds = per_row.zip(rows).map(|(time, rows)| time * rows as f64);
    // The commit of a sample is not that of all rows.
    let commit = cell.last_commit_ns.filter(|_| !extrapolated);
    let before_commit = nanoseconds.zip(commit).map(|(all, commit)| all - commit);
    Total {
        label: label(cell),
        rows,
        extrapolated,
        to_last_row: before_commit.map(|time| time.max(0.0) / 1e9),
        with_commit: nanoseconds.map(|time| time / 1e9),
        commits: Some(cell.commits).filter(|commits| per_row.is_some() && commits.is_finite()),
        mean: cell.block_time.map(|time| {
            let error = time.standard_error_ns.map(|error| error / 1e9);
            (time.mean_ns / 1e9, error)
        }),
        published: cell
            .cell
            .published_seconds
            .map(|seconds| (seconds, cell.published_error_seconds)),
        peak_memory: cell.peak_memory_bytes,
        allocated: cell
            .block_footprint
            .map(|footprint| footprint.allocated_bytes),
        page_fill: cell.page_fill,
        durability: wording::claim(cell).map_or_else(String::new, |claim| claim.to_string()),
    }
}

/// Where the published seconds come from.
fn published_label(analysis: &Analysis, comparison: &ComparisonOutcome) -> Option<String> {
    let mut plans = analysis.run.plan.comparisons.iter();
    let plan = plans.find(|plan| plan.id == comparison.id)?;
    let label = plan.published_label.as_ref()?;
    Some(format!("Published: {}.", label.trim_end_matches('.')))
}

/// Which totals are extrapolated, and from how many rows.
fn samples(cells: &[CellSummary]) -> Option<String> {
    let samples = cells.iter().filter_map(|cell| {
        cell.cell.workload.sample_of?;
        let measured = u64::from(cell.cell.workload.operations?);
        let label = wording::quoted(&label(cell));
        Some(format!("{label} from {}", count_of_rows(measured)))
    });
    let samples: Vec<String> = samples.collect();
    (!samples.is_empty()).then(|| {
        let samples = wording::list(&samples);
        format!(
            "{EXTRAPOLATED} extrapolated from a sample: {samples}; commits, memory, space and page \
             fill are those of the sample."
        )
    })
}

fn count_of_rows(rows: u64) -> String {
    let s = if rows == 1 { "" } else { "s" };
    format!("{} row{s}", format::count(rows))
}

impl Total {
    /// The seconds of all rows with the commit, marked where they are extrapolated.
    pub(crate) fn with_commit_text(&self) -> String {
        let sign = if self.extrapolated { EXTRAPOLATED } else { "" };
        self.with_commit.map_or_else(String::new, |seconds| {
            format!("{sign}{}", format::seconds(seconds))
        })
    }

    /// The transactions of a block: a median, but of whole numbers that rarely differ.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    pub(crate) fn commits_text(&self) -> String {
        self.commits
            .map_or_else(String::new, |commits| format::count(commits.round() as u64))
    }

    /// Seconds until the last row is in.
    pub(crate) fn to_last_row_text(&self) -> String {
        self.to_last_row.map_or_else(String::new, format::seconds)
    }

    /// The mean and its standard error.
    pub(crate) fn mean_text(&self) -> String {
        with_error(self.mean)
    }

    /// The published seconds and their standard error.
    pub(crate) fn published_text(&self) -> String {
        with_error(self.published)
    }

    /// The share of leaf pages in use.
    pub(crate) fn page_fill_text(&self) -> String {
        self.page_fill.map_or_else(String::new, format::percent)
    }
}

/// `22.5 s ± 218 ms`
fn with_error(figure: Option<(f64, Option<f64>)>) -> String {
    let Some((seconds, error)) = figure else {
        return String::new();
    };
    let error = error.map_or_else(String::new, |error| {
        format!(" ± {}", format::seconds(error))
    });
    format!("{}{error}", format::seconds(seconds))
}

/// The totals as a table with every column.
pub(crate) fn table(totals: &Totals) -> Table {
    let mut makers = time_columns();
    makers.extend(space_columns());
    build(makers, &totals.rows)
}

fn with_sort(value: Option<f64>, text: String) -> Entry {
    value.map_or_else(Entry::default, |value| Entry::number(value, text))
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn time_columns<'a>() -> Vec<Maker<'a, Total>> {
    vec![
        textual("cell", "what was timed", |total: &Total| {
            Entry::text(&total.label)
        }),
        numeric("rows", "operations of a block", |total: &Total| {
            Entry::maybe(total.rows.map(|rows| rows as f64), |_| {
                total.rows.map_or_else(String::new, format::count)
            })
        }),
        numeric(
            "to last row",
            "time until the last row is in, before the one commit that ends the block",
            |total: &Total| with_sort(total.to_last_row, total.to_last_row_text()),
        )
        .in_unit("s"),
        numeric(
            "with commit",
            "time per operation times their number, every commit included",
            |total: &Total| with_sort(total.with_commit, total.with_commit_text()),
        )
        .in_unit("s"),
        numeric(
            "mean ± error",
            "mean over the rounds and its standard error, every commit included",
            |total: &Total| with_sort(total.mean.map(|mean| mean.0), total.mean_text()),
        )
        .in_unit("s"),
        numeric(
            "published",
            "what others published for as many, with its standard error where they gave one",
            |total: &Total| {
                with_sort(
                    total.published.map(|published| published.0),
                    total.published_text(),
                )
            },
        )
        .in_unit("s"),
        numeric(
            "commits",
            "transactions committed by a block, counted by the engine where it can",
            |total: &Total| with_sort(total.commits, total.commits_text()),
        ),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
fn space_columns<'a>() -> Vec<Maker<'a, Total>> {
    vec![
        numeric(
            "peak memory",
            "largest resident set of a worker",
            |total: &Total| Entry::maybe(total.peak_memory.map(|b| b as f64), format::bytes),
        )
        .in_unit("B"),
        numeric(
            "allocated",
            "bytes allocated on disk by the store that a block filled",
            |total: &Total| Entry::maybe(total.allocated.map(|b| b as f64), format::bytes),
        )
        .in_unit("B"),
        numeric(
            "page fill",
            "share of the bytes of leaf pages that are in use",
            |total: &Total| with_sort(total.page_fill, total.page_fill_text()),
        ),
        textual(
            "durability",
            "what an acknowledged write survives",
            |total: &Total| Entry::text(&total.durability),
        ),
    ]
}
