//! In what two cells do not do the same work: decided here, once, for everyone who asks.
//!
//! A ratio between cells that do other work is no difference between stores alone. So only cells that
//! do the same work are rivals for the title of the fastest (docs/method.md, "Work equivalence"),
//! labels and reports say what differs, and two results are compared only where nothing does.

use crate::estimate::median;
use serde::Serialize;
use std::fmt::Display;
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
    /// Whether the cell that is spoken of does more at a time.
    #[serde(skip)]
    pub more: bool,
}

impl WorkDifference {
    /// That one measures a sample of its operations, or one of another size.
    pub const SAMPLE: &str = "sample";
    const PER_BLOCK: &str = "operations per block";
    const PER_TRANSACTION: &str = "transactions";
    const THREADS: &str = "threads";
    const AGE: &str = "storage age";
    const AFTER: &str = "on the same connection before";
    const OMITTED: &str = "last keys left out";
    const FIRST_TOUCH: &str = "first touch of mapped pages";
    const BESIDE: &str = "beside";
    const RATE: &str = "operations begun per second";
    /// What few workloads have.
    pub const RARE: [&str; 6] = [
        Self::AGE,
        Self::AFTER,
        Self::OMITTED,
        Self::FIRST_TOUCH,
        Self::BESIDE,
        Self::RATE,
    ];

    /// `one thread against 4 threads`
    #[must_use]
    pub fn in_words(&self) -> String {
        let Self {
            what, ours, theirs, ..
        } = self;
        match self.clear {
            true => format!("{ours} against {theirs}"),
            false => format!("{what}: {ours} against {theirs}"),
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

/// What is asked of a cell in one respect, in words that differ where it does.
struct Fact {
    what: &'static str,
    words: String,
    clear: bool,
    at_a_time: u64,
}

impl Fact {
    /// One whose words need its name.
    fn of(what: &'static str, words: impl Display) -> Self {
        Self {
            what,
            words: words.to_string(),
            clear: false,
            at_a_time: 0,
        }
    }

    /// One whose words say what they are of.
    fn clear(what: &'static str, words: impl Display) -> Self {
        Self {
            clear: true,
            ..Self::of(what, words)
        }
    }

    /// The difference to another fact of the same kind, if there is one.
    fn against(self, theirs: Self) -> Option<WorkDifference> {
        (self.words != theirs.words).then_some(WorkDifference {
            what: self.what,
            clear: self.clear,
            more: self.at_a_time > theirs.at_a_time,
            ours: self.words,
            theirs: theirs.words,
        })
    }
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

fn threads(number: u32) -> Fact {
    let words = match number {
        1 => "one thread".to_owned(),
        number => format!("{} threads", format_count(number.into())),
    };
    Fact {
        at_a_time: number.into(),
        ..Fact::clear(WorkDifference::THREADS, words)
    }
}

fn transactions(per: PerTransaction) -> Fact {
    Fact {
        at_a_time: match per {
            PerTransaction::Operations(number) => number.into(),
            PerTransaction::All => u64::MAX,
        },
        ..Fact::clear(WorkDifference::PER_TRANSACTION, per)
    }
}

fn sample(of: Option<u64>) -> Fact {
    let words = of.map_or_else(
        || "all operations".to_owned(),
        |all| format!("a sample out of {} operations", format_count(all)),
    );
    Fact::clear(WorkDifference::SAMPLE, words)
}

/// All that is asked of a workload. A new field of [`Workload`] does not compile until it is said here
/// how it reads.
fn facts(workload: &Workload) -> [Fact; 17] {
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
    let rows = match rows_per_statement {
        None | Some(1) => "one row by each statement".to_owned(),
        Some(rows) => format!("{} rows by each statement", format_count(rows.into())),
    };
    let delivery = match delivery {
        Delivery::Copy => "copied",
        Delivery::InPlace => "lent in place",
    };
    let first_touch = if first_touch { "timed" } else { "before" };
    let beside = beside.map_or_else(|| "nobody".to_owned(), |beside| beside.to_string());
    let rate = rate.map_or_else(|| "as many as end".to_owned(), |rate| rate.to_string());
    [
        Fact::of("operation", operation),
        Fact::of("mix", mix_in_words(mix)),
        Fact::clear("order", format!("{order} order")),
        transactions(per_transaction),
        Fact::clear("delivery", delivery),
        Fact::of("page cache", cache),
        self::threads(threads),
        Fact::of(WorkDifference::PER_BLOCK, asked(operations)),
        Fact::of("rows per scan", asked(scan_rows)),
        Fact::clear("rows per statement", rows),
        sample(sample_of),
        Fact::of(WorkDifference::AGE, age),
        Fact::of(WorkDifference::AFTER, after),
        Fact::of(WorkDifference::OMITTED, omit_last),
        Fact::of(WorkDifference::FIRST_TOUCH, first_touch),
        Fact::of(WorkDifference::BESIDE, beside),
        Fact::of(WorkDifference::RATE, rate),
    ]
}

/// Every way in which two workloads differ.
#[must_use]
pub fn workload_differences(ours: &Workload, theirs: &Workload) -> Vec<WorkDifference> {
    let both = facts(ours).into_iter().zip(facts(theirs));
    both.filter_map(|(ours, theirs)| ours.against(theirs))
        .collect()
}

/// Every way in which what is asked of two cells differs, but for their stores.
#[must_use]
pub fn cell_differences(ours: &Cell, theirs: &Cell) -> Vec<WorkDifference> {
    let scanned = |cell: &Cell| Fact::of("between store and files", cell.scanned);
    let mut found = workload_differences(&ours.workload, &theirs.workload);
    found.extend(scanned(ours).against(scanned(theirs)));
    found
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
    const EXPLAIN: [&str; 4] = [
        WorkDifference::PER_TRANSACTION,
        WorkDifference::PER_BLOCK,
        WorkDifference::THREADS,
        WorkDifference::SAMPLE,
    ];
    let explained = asked.iter().any(|found| EXPLAIN.contains(&found.what));
    if let Some((ours, theirs)) = ours.zip(theirs).filter(|_| !explained) {
        let fact = |number: u64| Fact::of("operations per commit", number);
        asked.extend(fact(ours).against(fact(theirs)));
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
