//! In what two cells do not do the same work: decided here, once, for everyone who asks.
//!
//! A ratio between cells that do other work is no difference between stores alone. So only cells that
//! do the same work are rivals for the title of the fastest (docs/method.md, "Work equivalence"),
//! labels and reports say what differs, and two results are compared only where nothing does.

use crate::estimate::median;
use serde::Serialize;
use stowplan_model::{
    AccessOrder, CacheState, Cell, Delivery, EarlierPhases, Measurement, Mix, Neighbours,
    Operation, PerTransaction, Scanned, Workload,
};

/// One thing of both of two cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Both<T> {
    /// Of the cell that is spoken of.
    pub ours: T,
    /// Of the one that it stands beside.
    pub theirs: T,
}

/// One way in which two workloads differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum WorkDifference {
    /// What is done.
    Operation(Both<Operation>),
    /// The proportions of a mix.
    Mix(Both<Option<Mix>>),
    /// The order of the keys.
    Order(Both<AccessOrder>),
    /// How many operations share a transaction.
    PerTransaction(Both<PerTransaction>),
    /// How a value reaches the caller.
    Delivery(Both<Delivery>),
    /// The state of the page cache.
    Cache(Both<CacheState>),
    /// How many threads work.
    Threads(Both<u32>),
    /// How many operations a block has. How long one is timed is no difference in what is done,
    /// unless all of them share one commit: see [`WorkDifference::counts`].
    OperationsPerBlock(Both<Option<u32>>),
    /// How many writes shared a transaction when they were measured. (Results of earlier versions
    /// have as many as fitted in each cell's block.)
    OperationsPerCommit(Both<u64>),
    /// How many rows a scan visits.
    RowsPerScan(Both<Option<u16>>),
    /// How many rows a statement has.
    RowsPerStatement(Both<u32>),
    /// Of how many operations those measured are a sample.
    Sample(Both<Option<u64>>),
    /// How often every value was replaced before.
    StorageAge(Both<u32>),
    /// What the connection had done to every value before.
    After(Both<EarlierPhases>),
    /// How many of the last keys are left out.
    OmittedKeys(Both<u32>),
    /// Whether the first touch of a mapping's pages is timed.
    FirstTouch(Both<bool>),
    /// What is busy beside a block.
    Neighbours(Both<Option<Neighbours>>),
    /// What stands between the store and its files.
    Scanned(Both<Scanned>),
    /// How many operations per second begin where latencies are taken.
    Rate(Both<Option<u32>>),
}

impl WorkDifference {
    /// What it is called, and how it reads of either.
    #[must_use]
    pub fn in_words(&self) -> (&'static str, String, String) {
        match *self {
            Self::Operation(both) => of("operation", both, |o| o.to_string()),
            Self::Mix(both) => of("mix", both, mix_in_words),
            Self::Order(both) => of("order", both, |o| o.to_string()),
            Self::PerTransaction(both) => of("transactions", both, |per| per.to_string()),
            Self::Delivery(both) => of("delivery", both, |delivery| delivery.to_string()),
            Self::Cache(both) => of("page cache", both, |cache| cache.to_string()),
            Self::Threads(both) => of("threads", both, |threads| threads.to_string()),
            Self::OperationsPerBlock(both) => of("operations per block", both, asked),
            Self::OperationsPerCommit(both) => of("operations per commit", both, |n| n.to_string()),
            Self::RowsPerScan(both) => of("rows per scan", both, asked),
            Self::RowsPerStatement(both) => of("rows per statement", both, |r| r.to_string()),
            Self::Sample(both) => of("sample of", both, asked),
            Self::StorageAge(both) => of("storage age", both, |age| age.to_string()),
            Self::After(both) => of("on the same connection before", both, |p| p.to_string()),
            Self::OmittedKeys(both) => of("last keys left out", both, |n| n.to_string()),
            Self::FirstTouch(both) => of("first touch of mapped pages", both, |timed| {
                if timed { "timed" } else { "before" }.to_owned()
            }),
            Self::Neighbours(both) => of("beside", both, |beside| {
                beside.map_or_else(|| "nobody".to_owned(), |beside| beside.to_string())
            }),
            Self::Scanned(both) => of("between store and files", both, |s| s.to_string()),
            Self::Rate(both) => of("operations begun per second", both, |rate| {
                rate.map_or_else(|| "as many as end".to_owned(), |rate| rate.to_string())
            }),
        }
    }

    /// Whether it makes the work of two cells another one, where `ours` is the workload of one of
    /// them. A block that lasts longer does not, but a commit that more operations share does.
    #[must_use]
    pub fn counts(&self, ours: &Workload) -> bool {
        match self {
            Self::OperationsPerBlock(_) => {
                let shared = ours.per_transaction == PerTransaction::All;
                shared && ours.operation.writes() && ours.sample_of.is_none()
            }
            _ => true,
        }
    }
}

/// What it is called, and how it reads of either.
fn of<T>(
    what: &'static str,
    both: Both<T>,
    text: impl Fn(T) -> String,
) -> (&'static str, String, String) {
    (what, text(both.ours), text(both.theirs))
}

/// A number that a study may leave to the program.
fn asked(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "as many as fit".to_owned(), |number| number.to_string())
}

fn mix_in_words(mix: Option<Mix>) -> String {
    let Some(mix) = mix else {
        return "none".to_owned();
    };
    let parts = mix
        .actions()
        .map(|action| format!("{action} {}", mix.parts(action)));
    parts.collect::<Vec<_>>().join(", ")
}

/// Every way in which two workloads differ. A new field of [`Workload`] does not compile until it is
/// said here how it differs.
#[must_use]
pub fn workload_differences(ours: &Workload, theirs: &Workload) -> Vec<WorkDifference> {
    let Workload {
        operation,
        order,
        per_transaction,
        delivery,
        cache,
        operations,
        mix,
        scan_rows,
        threads,
        rows_per_statement,
        sample_of,
        age,
        after,
        omit_last,
        first_touch,
        beside,
        rate,
    } = ours;
    let rows = |rows: Option<u32>| rows.unwrap_or(1);
    let found = [
        both(*operation, theirs.operation).map(WorkDifference::Operation),
        both(*mix, theirs.mix).map(WorkDifference::Mix),
        both(*order, theirs.order).map(WorkDifference::Order),
        both(*per_transaction, theirs.per_transaction).map(WorkDifference::PerTransaction),
        both(*delivery, theirs.delivery).map(WorkDifference::Delivery),
        both(*cache, theirs.cache).map(WorkDifference::Cache),
        both(*threads, theirs.threads).map(WorkDifference::Threads),
        both(*operations, theirs.operations).map(WorkDifference::OperationsPerBlock),
        both(*scan_rows, theirs.scan_rows).map(WorkDifference::RowsPerScan),
        both(rows(*rows_per_statement), rows(theirs.rows_per_statement))
            .map(WorkDifference::RowsPerStatement),
        both(*sample_of, theirs.sample_of).map(WorkDifference::Sample),
        both(*age, theirs.age).map(WorkDifference::StorageAge),
        both(*after, theirs.after).map(WorkDifference::After),
        both(*omit_last, theirs.omit_last).map(WorkDifference::OmittedKeys),
        both(*first_touch, theirs.first_touch).map(WorkDifference::FirstTouch),
        both(*beside, theirs.beside).map(WorkDifference::Neighbours),
        both(*rate, theirs.rate).map(WorkDifference::Rate),
    ];
    found.into_iter().flatten().collect()
}

/// Every way in which what is asked of two cells differs, but for their stores.
#[must_use]
pub fn cell_differences(ours: &Cell, theirs: &Cell) -> Vec<WorkDifference> {
    let scanned = both(ours.scanned, theirs.scanned).map(WorkDifference::Scanned);
    let mut found = workload_differences(&ours.workload, &theirs.workload);
    found.extend(scanned);
    found
}

/// Both, where they are not the same.
fn both<T: PartialEq>(ours: T, theirs: T) -> Option<Both<T>> {
    (ours != theirs).then_some(Both { ours, theirs })
}

/// In what the work of a cell is another one than that of a cell beside it.
pub(crate) fn work_differences_of(ours: &Cell, theirs: &Cell) -> Vec<WorkDifference> {
    let all = cell_differences(ours, theirs).into_iter();
    all.filter(|difference| difference.counts(&ours.workload))
        .collect()
}

/// Differences of what was asked for, and what was measured besides: writes that shared transactions
/// of other sizes, given for both cells, although nothing else was asked for.
pub(crate) fn measured_too(
    mut asked: Vec<WorkDifference>,
    [ours, theirs]: [Option<u64>; 2],
) -> Vec<WorkDifference> {
    let explained = |difference: &WorkDifference| {
        matches!(
            difference,
            WorkDifference::PerTransaction(_)
                | WorkDifference::OperationsPerBlock(_)
                | WorkDifference::Threads(_)
                | WorkDifference::Sample(_)
        )
    };
    if !asked.iter().any(explained)
        && let Some((ours, theirs)) = ours.zip(theirs)
    {
        asked.extend(both(ours, theirs).map(WorkDifference::OperationsPerCommit));
    }
    asked
}

/// How many writes shared a transaction in the median block of a cell; nothing where each is one of
/// its own, the block is a sample, or nothing is written.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count"
)]
pub(crate) fn operations_per_commit<'a>(
    cell: &Cell,
    blocks: impl Iterator<Item = &'a Measurement>,
) -> Option<u64> {
    let workload = &cell.workload;
    let most = match workload.per_transaction {
        PerTransaction::Operations(1) => return None,
        PerTransaction::Operations(number) => u64::from(number),
        PerTransaction::All => u64::MAX,
    };
    if !workload.operation.writes() || workload.sample_of.is_some() {
        return None;
    }
    let operations = median(blocks.map(|m| m.operations as f64).collect())?;
    Some((operations as u64).min(most))
}
