//! In what two cells do not do the same work: decided here, once, for everyone who asks.
//!
//! A ratio between cells that do other work is no difference between stores alone. So only cells that
//! do the same work are rivals for the title of the fastest (docs/method.md, "Work equivalence"),
//! labels and reports say what differs, and two results are compared only where nothing does.

use crate::estimate::median;
use serde::Serialize;
use stowplan_model::{Cell, Delivery, Measurement, Mix, PerTransaction, Workload, format_count};

/// One way in which the work of two cells differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorkDifference {
    /// In what.
    pub what: &'static str,
    /// How it reads of the cell that is spoken of.
    pub ours: String,
    /// How it reads of the one that it stands beside.
    pub theirs: String,
    /// Whether that says by itself what it is of, as `4 threads` does.
    #[serde(skip)]
    pub clear: bool,
}

impl WorkDifference {
    /// That one measures a sample of its operations, or one of another size.
    pub const SAMPLE: &str = "sample";
    const PER_BLOCK: &str = "operations per block";
    const PER_TRANSACTION: &str = "transactions";
    const THREADS: &str = "threads";

    /// What few workloads have.
    pub const RARE: [&str; 6] = [
        "storage age",
        "on the same connection before",
        "last keys left out",
        "first touch of mapped pages",
        "beside",
        "operations begun per second",
    ];

    /// `one thread against 4 threads`
    #[must_use]
    pub fn in_words(&self) -> String {
        let against = format!("{} against {}", self.ours, self.theirs);
        match self.clear {
            true => against,
            false => format!("{}: {against}", self.what),
        }
    }

    /// Whether it makes the work of two cells another one, where `ours` is the workload of one of
    /// them. A block that lasts longer does not, but a commit that more operations share does.
    #[must_use]
    pub fn counts(&self, ours: &Workload) -> bool {
        let shared = ours.per_transaction == PerTransaction::All;
        self.what != Self::PER_BLOCK
            || shared && ours.operation.writes() && ours.sample_of.is_none()
    }
}

/// What is asked of a cell in one respect: what it is called, words that differ where it does, and whether these
/// say what they are of.
type Fact = (&'static str, String, bool);

/// Where facts about the same do not read the same.
fn differences(ours: Vec<Fact>, theirs: Vec<Fact>) -> impl Iterator<Item = WorkDifference> {
    let both = ours.into_iter().zip(theirs);
    let other = both.filter(|((_, ours, _), (_, theirs, _))| ours != theirs);
    other.map(|((what, ours, clear), (_, theirs, _))| WorkDifference {
        what,
        ours,
        theirs,
        clear,
    })
}

/// A number that a study may leave to the program.
fn asked(number: Option<impl ToString>) -> String {
    number.map_or_else(|| "as many as fit".to_owned(), |number| number.to_string())
}

fn mix_in_words(mix: Option<Mix>) -> String {
    let Some(mix) = mix else {
        return "none".to_owned();
    };
    let parts = mix.actions();
    let parts = parts.map(|action| format!("{action} {}", mix.parts(action)));
    parts.collect::<Vec<_>>().join(", ")
}

/// `one row`, `1,000 rows`
fn some(number: u32, what: &str) -> String {
    match number {
        1 => format!("one {what}"),
        number => format!("{} {what}s", format_count(number.into())),
    }
}

/// All that is asked of a workload. A new field of [`Workload`] does not compile until it is said here
/// how it reads.
fn facts(workload: &Workload) -> Vec<Fact> {
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
    } = *workload;
    let rows = some(rows_per_statement.unwrap_or(1), "row");
    let delivery = match delivery {
        Delivery::Copy => "copied",
        Delivery::InPlace => "lent in place",
    };
    let sample = sample_of.map_or_else(
        || "all operations".to_owned(),
        |all| format!("a sample out of {} operations", format_count(all)),
    );
    let first_touch = if first_touch { "timed" } else { "before" };
    let beside = beside.map_or_else(|| "nobody".to_owned(), |beside| beside.to_string());
    let rate = rate.map_or_else(|| "as many as end".to_owned(), |rate| rate.to_string());
    let [aged, done_before, omitted, touched, neighbours, begun] = WorkDifference::RARE;
    vec![
        ("operation", operation.to_string(), false),
        ("mix", mix_in_words(mix), false),
        ("order", format!("{order} order"), true),
        (
            WorkDifference::PER_TRANSACTION,
            per_transaction.to_string(),
            true,
        ),
        ("delivery", delivery.to_owned(), true),
        ("page cache", cache.to_string(), false),
        (WorkDifference::THREADS, some(threads, "thread"), true),
        (WorkDifference::PER_BLOCK, asked(operations), false),
        ("rows per scan", asked(scan_rows), false),
        (
            "rows per statement",
            format!("{rows} by each statement"),
            true,
        ),
        (WorkDifference::SAMPLE, sample, true),
        (aged, age.to_string(), false),
        (done_before, after.to_string(), false),
        (omitted, omit_last.to_string(), false),
        (touched, first_touch.to_owned(), false),
        (neighbours, beside, false),
        (begun, rate, false),
    ]
}

/// Every way in which two workloads differ.
#[must_use]
pub fn workload_differences(ours: &Workload, theirs: &Workload) -> Vec<WorkDifference> {
    differences(facts(ours), facts(theirs)).collect()
}

/// Every way in which what is asked of two cells differs, but for their stores.
#[must_use]
pub fn cell_differences(ours: &Cell, theirs: &Cell) -> Vec<WorkDifference> {
    let [ours, theirs] = [ours, theirs].map(|cell| {
        let mut facts = facts(&cell.workload);
        facts.push(("between store and files", cell.scanned.to_string(), false));
        facts
    });
    differences(ours, theirs).collect()
}

/// In what the work of a cell is another one than that of a cell beside it.
pub(crate) fn work_differences_of(ours: &Cell, theirs: &Cell) -> Vec<WorkDifference> {
    let mut all = cell_differences(ours, theirs);
    all.retain(|difference| difference.counts(&ours.workload));
    all
}

/// Differences of what was asked for, and what was measured besides: writes that shared transactions
/// of other sizes, given for both cells, although nothing else was asked for.
pub(crate) fn measured_too(
    mut asked: Vec<WorkDifference>,
    [ours, theirs]: [Option<u64>; 2],
) -> Vec<WorkDifference> {
    const EXPLAIN: [&str; 4] = [
        WorkDifference::PER_TRANSACTION,
        WorkDifference::PER_BLOCK,
        WorkDifference::THREADS,
        WorkDifference::SAMPLE,
    ];
    let explained = asked.iter().any(|found| EXPLAIN.contains(&found.what));
    if let Some((ours, theirs)) = ours.zip(theirs).filter(|_| !explained) {
        let fact = |number: u64| vec![("operations per commit", number.to_string(), false)];
        asked.extend(differences(fact(ours), fact(theirs)));
    }
    asked
}

/// How many writes shared a transaction in the median block of a cell; nothing where each is one of
/// its own, the block is a sample, or nothing is written.
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
