//! What is done to a store.

use crate::words::{data, words};
use crate::{NeighbourKind, Neighbours};
use serde::{Deserialize, Serialize};
use std::fmt;

words! {
    /// What one operation does.
    pub enum Operation {
        /// Read one value whole.
        Read = "read",
        /// Replace one value by another of the same size.
        Overwrite = "overwrite",
        /// Add one value to a store that is empty before the block, and thrown away after it.
        Insert = "insert",
        /// Remove one value from a store that holds the whole dataset before the block, and is thrown
        /// away after it.
        Delete = "delete",
        /// Visit values by rising key, from one key on.
        Scan = "scan",
        /// Several of these, in the proportion that the workload says.
        Mix = "mix",
        /// Make an empty table (a store that names its collections otherwise: what it has instead) in
        /// a store that has none.
        CreateTable = "create-table",
        /// Remove the table with everything in it.
        DropTable = "drop-table",
    }
}

impl Operation {
    /// Those that a store declares: all but a mix, which is made of others.
    pub const SINGLE: [Self; 7] = [
        Self::Read,
        Self::Overwrite,
        Self::Insert,
        Self::Delete,
        Self::Scan,
        Self::CreateTable,
        Self::DropTable,
    ];

    /// Whether it changes the store. A mix does by definition: its proportions need not be asked.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Read | Self::Scan)
    }
}

words! {
    /// What one step of a mix does.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Action {
        /// Read one value whole.
        #[default]
        Read = "read",
        /// Replace one value by another of the same size.
        Overwrite = "overwrite",
        /// Read one value, then replace it, in the same transaction (YCSB's read-modify-write).
        Modify = "modify",
        /// Add one value under a new key, above all others.
        Insert = "insert",
        /// Remove one value.
        Delete = "delete",
        /// Visit values by rising key, from one key on.
        Scan = "scan",
    }
}

impl Action {
    /// Whether it writes a value.
    pub fn puts(self) -> bool {
        matches!(self, Self::Overwrite | Self::Modify | Self::Insert)
    }
}

data! {
    /// The proportions of a mix: of as many operations as the parts add up to, so many are of each
    /// kind. They lie at distances as equal as can be, so that blocks differ in nothing but their
    /// keys.
    #[derive(Copy, Default, Eq, Hash)]
    #[serde(default)]
    pub struct Mix {
        /// Parts of [`Action::Read`].
        pub read: u16 = default,
        /// Parts of [`Action::Overwrite`].
        pub overwrite: u16 = default,
        /// Parts of [`Action::Modify`].
        pub modify: u16 = default,
        /// Parts of [`Action::Insert`].
        pub insert: u16 = default,
        /// Parts of [`Action::Delete`].
        pub delete: u16 = default,
        /// Parts of [`Action::Scan`].
        pub scan: u16 = default,
    }

    /// What is done to a store, and in which state of the page cache.
    #[derive(Eq, Hash)]
    pub struct Workload {
        /// What one operation does.
        pub operation: Operation,
        /// In which order keys are visited.
        pub order: AccessOrder,
        /// How many operations share a transaction.
        pub per_transaction: PerTransaction,
        /// How a value reaches the caller (reads only).
        pub delivery: Delivery,
        /// The state of the page cache.
        pub cache: CacheState,
        /// Operations per block; none: as many as last about 25 ms (R4).
        pub operations: Option<u32>,
        /// The proportions of a mix.
        pub mix: Option<Mix> = default,
        /// Scans visit from 1 to so many values, each number equally often; 100 unless given.
        pub scan_rows: Option<u16> = default,
        /// Threads that share the operations of a block, each with its own connection; 1 unless given.
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub threads: u32,
        /// Of inserts, how many rows one statement adds; 1 unless given.
        pub rows_per_statement: Option<u32> = default,
        /// How many operations a block stands for of which it measures only [`Self::operations`]: what
        /// all would take is extrapolated, and said to be.
        pub sample_of: Option<u64> = default,
        /// Storage age: how often each value has been replaced before anything is measured, half of
        /// them by deleting and inserting (Sears, van Ingen and Gray 2006). 0: as built.
        pub age: u32 = default,
        /// What the connection has done to every value before, untimed.
        pub after: EarlierPhases = default,
        /// With `order = "uniform"`: so many of the last keys are never visited. 0: all are.
        pub omit_last: u32 = default,
        /// Whether warm reads pay for the first touch of each page of a mapping, as they do in a process
        /// that has just begun; else the page tables are filled before.
        pub first_touch: bool = default,
        /// What is busy beside the block.
        pub beside: Option<Neighbours> = default,
        /// Operations per second, of all threads together, that latency blocks begin: each at its time,
        /// whether or not those before it have ended, and its latency counts from then (open loop). None:
        /// each begins when the one before it has ended (closed loop).
        pub rate: Option<u32> = default,
    }

    /// A workload as a study file gives it: what is left out is taken from the comparison, or from
    /// the defaults.
    #[derive(Default, Eq)]
    pub struct WorkloadSpec {
        /// See [`Workload::operation`].
        pub operation: Option<Operation>,
        /// See [`Workload::order`].
        pub order: Option<AccessOrder>,
        /// See [`Workload::per_transaction`].
        pub per_transaction: Option<PerTransaction>,
        /// See [`Workload::delivery`].
        pub delivery: Option<Delivery>,
        /// See [`Workload::cache`].
        pub cache: Option<CacheState>,
        /// See [`Workload::operations`].
        pub operations: Option<u32>,
        /// See [`Workload::mix`].
        pub mix: Option<Mix> = default,
        /// See [`Workload::scan_rows`].
        pub scan_rows: Option<u16> = default,
        /// See [`Workload::threads`].
        pub threads: Option<u32> = default,
        /// See [`Workload::rows_per_statement`].
        pub rows_per_statement: Option<u32> = default,
        /// See [`Workload::sample_of`].
        pub sample_of: Option<u64> = default,
        /// See [`Workload::age`].
        pub age: Option<u32> = default,
        /// See [`Workload::after`].
        pub after: Option<EarlierPhases> = default,
        /// See [`Workload::omit_last`].
        pub omit_last: Option<u32> = default,
        /// See [`Workload::first_touch`].
        pub first_touch: Option<bool> = default,
        /// See [`Workload::beside`].
        pub beside: Option<Neighbours> = default,
        /// See [`Workload::rate`].
        pub rate: Option<u32> = default,
    }
}

impl Mix {
    /// The most parts of a mix.
    pub const MOST_PARTS: u32 = 1_000;

    /// How many parts there are of an action.
    pub fn parts(&self, action: Action) -> u16 {
        match action {
            Action::Read => self.read,
            Action::Overwrite => self.overwrite,
            Action::Modify => self.modify,
            Action::Insert => self.insert,
            Action::Delete => self.delete,
            Action::Scan => self.scan,
        }
    }

    /// All parts together.
    pub fn total(&self) -> u32 {
        let parts = Action::ALL.iter().map(|action| self.parts(*action));
        parts.map(u32::from).sum()
    }

    /// The actions it has.
    pub fn actions(&self) -> impl Iterator<Item = Action> + '_ {
        let has = |action: &Action| self.parts(*action) > 0;
        Action::ALL.into_iter().filter(has)
    }

    /// Its shortest sequence of actions, which repeats: at each step comes the action that is
    /// furthest behind its share (smooth weighted round robin).
    pub fn pattern(&self) -> Vec<Action> {
        let total = i64::from(self.total());
        let mut behind = [0_i64; Action::ALL.len()];
        let step = |_| {
            for (behind, action) in behind.iter_mut().zip(Action::ALL) {
                *behind += i64::from(self.parts(action));
            }
            // The last of equals: the first is reading, with which a block may begin at leisure.
            let next = (0..behind.len()).max_by_key(|n| behind[*n]).unwrap_or(0);
            behind[next] -= total;
            Action::ALL[next]
        };
        (0..total).map(step).collect()
    }
}

words! {
    /// In which order keys are visited.
    #[derive(Default)]
    pub enum AccessOrder {
        /// A random permutation of all keys.
        #[default]
        Random = "random",
        /// By rising key.
        Ascending = "ascending",
        /// By falling key.
        Descending = "descending",
        /// Random keys, drawn with replacement.
        Uniform = "uniform",
        /// Random keys, a few of them most of the time: rank n with a probability proportional to
        /// n^-0.99, the ranks scattered over the keys (YCSB's distribution, after Gray et al. 1994).
        Zipfian = "zipfian",
        /// As zipfian, but the newest keys are the popular ones.
        Latest = "latest",
        /// Each key lives within the block: it is inserted, then overwritten and read as often as the
        /// mix says, then deleted, before the next one comes.
        Lifecycle = "lifecycle",
    }
}

impl AccessOrder {
    /// Whether a key may come more than once.
    pub fn repeats(self) -> bool {
        matches!(
            self,
            Self::Uniform | Self::Zipfian | Self::Latest | Self::Lifecycle
        )
    }
}

words! {
    /// How a value reaches the caller.
    #[derive(Default)]
    pub enum Delivery {
        /// The bytes arrive in a page-aligned buffer of the caller.
        #[default]
        Copy = "copy",
        /// The store lends a slice; every cache line of it is touched.
        InPlace = "in-place",
    }
}

words! {
    /// The state of the page cache before a block.
    #[derive(Default)]
    pub enum CacheState {
        /// Everything the block reads is in the page cache; a block that read from storage is
        /// discarded and repeated.
        #[default]
        Warm = "warm",
        /// No page of the data the block reads is in the page cache, but names may be in memory:
        /// directory entries, inodes, and the blocks of the file system that hold them. Verified
        /// before the block.
        Cold = "cold",
        /// Only of earlier results: as cold, and inodes and directory entries were dropped, but the
        /// blocks of the file system that hold them stayed in the page cache of its device. Nothing was
        /// verified of it, and it is not measured any more: see all-cold.
        MetadataCold = "metadata-cold",
        /// Nothing is in memory, as after a reboot: neither data nor names. Verified by what the
        /// storage delivered beside data. Takes root: names can only be dropped for the whole machine.
        AllCold = "all-cold",
        /// Whatever it is: nothing is done about it, and nothing is checked.
        AsFound = "as-found",
    }
}

impl CacheState {
    /// Whether the data is not in the page cache; names may be in memory or not.
    pub fn is_cold(self) -> bool {
        matches!(self, Self::Cold | Self::MetadataCold | Self::AllCold)
    }
}

/// How many operations share a transaction: a number from 1 on, or "all" of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "PerTransactionText")
)]
#[serde(try_from = "PerTransactionText", into = "PerTransactionText")]
pub enum PerTransaction {
    /// The whole block is one transaction.
    #[default]
    All,
    /// This many operations; at least 1.
    Operations(u32),
}

#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
enum PerTransactionText {
    Number(u32),
    Word(String),
}

impl TryFrom<PerTransactionText> for PerTransaction {
    type Error = String;
    fn try_from(text: PerTransactionText) -> Result<Self, String> {
        match text {
            PerTransactionText::Word(word) if word == "all" => Ok(Self::All),
            PerTransactionText::Number(n) if n > 0 => Ok(Self::Operations(n)),
            PerTransactionText::Word(word) => Err(format!(
                "per_transaction is \"all\" or a number, not \"{word}\""
            )),
            PerTransactionText::Number(_) => Err("per_transaction must be at least 1".to_owned()),
        }
    }
}

impl From<PerTransaction> for PerTransactionText {
    fn from(value: PerTransaction) -> Self {
        match value {
            PerTransaction::All => Self::Word("all".to_owned()),
            PerTransaction::Operations(n) => Self::Number(n),
        }
    }
}

impl fmt::Display for PerTransaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.pad("one transaction"),
            Self::Operations(1) => f.pad("one transaction per operation"),
            Self::Operations(n) => f.pad(&format!("{n} operations per transaction")),
        }
    }
}

/// What the connection of a block has done before its operations, untimed, to every value and each kind in one
/// transaction: as in a program that goes through several phases on one connection. Written as a list,
/// such as `["overwrite", "read"]`; always done in the order create-table, insert, overwrite, read, delete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(with = "Vec<Operation>")
)]
#[serde(try_from = "Vec<Operation>", into = "Vec<Operation>")]
pub struct EarlierPhases([bool; Self::POSSIBLE.len()]);

impl EarlierPhases {
    /// What there can be: it has made the table in place of the one that was there, inserted every value
    /// into the table that it made, replaced every value by itself, read every value, removed every value.
    pub const POSSIBLE: [Operation; 5] = [
        Operation::CreateTable,
        Operation::Insert,
        Operation::Overwrite,
        Operation::Read,
        Operation::Delete,
    ];

    /// Whether there is none.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether it has done this.
    pub fn has(self, operation: Operation) -> bool {
        self.operations().any(|done| done == operation)
    }

    /// Those there are, in their order.
    pub fn operations(self) -> impl Iterator<Item = Operation> {
        let all = Self::POSSIBLE.into_iter().zip(self.0);
        all.filter_map(|(operation, there)| there.then_some(operation))
    }
}

impl TryFrom<Vec<Operation>> for EarlierPhases {
    type Error = String;

    fn try_from(operations: Vec<Operation>) -> Result<Self, String> {
        let mut phases = Self::default();
        for operation in operations {
            let Some(place) = Self::POSSIBLE.iter().position(|known| *known == operation) else {
                return Err(format!(
                    "after has \"create-table\", \"insert\", \"overwrite\", \"read\" and \"delete\", not \"{operation}\""
                ));
            };
            phases.0[place] = true;
        }
        Ok(phases)
    }
}

impl From<EarlierPhases> for Vec<Operation> {
    fn from(phases: EarlierPhases) -> Self {
        phases.operations().collect()
    }
}

impl fmt::Display for EarlierPhases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.operations().map(Operation::name).collect();
        f.pad(&match names[..] {
            [] => "nothing".to_owned(),
            _ => names.join(", "),
        })
    }
}

fn one() -> u32 {
    1
}

fn is_one(threads: &u32) -> bool {
    *threads == 1
}

/// A table of rules: when each is broken, and how that is said.
macro_rules! broken_if {
    ($($broken:expr => $said:literal;)+) => { vec![$(($broken, $said)),+] };
}

impl Default for Workload {
    fn default() -> Self {
        WorkloadSpec::default().complete()
    }
}

impl Workload {
    /// The most threads.
    pub const MOST_THREADS: u32 = 1_024;

    /// What is wrong with it, if anything is.
    ///
    /// # Errors
    /// Parts that do not go together; the message names them.
    pub fn check(&self) -> Result<(), String> {
        if let Some((_, broken)) = self.rules().into_iter().find(|(wrong, _)| *wrong) {
            let parts = self.mix.unwrap_or_default().total();
            return Err(broken
                .replace("{operation}", self.operation.name())
                .replace("{order}", self.order.name())
                .replace("{threads}", &self.threads.to_string())
                .replace("{parts}", &parts.to_string()));
        }
        self.beside.map_or(Ok(()), Neighbours::check)
    }

    /// Whether each rule is broken, and how that is said.
    fn rules(&self) -> Vec<(bool, &'static str)> {
        let Self {
            operation,
            order,
            operations,
            omit_last,
            after,
            ..
        } = *self;
        let (rows, is_mix, several) = (
            self.rows_per_statement,
            operation == Operation::Mix,
            self.threads > 1,
        );
        let mix = self.mix.unwrap_or_default();
        let once = matches!(operation, Operation::Insert | Operation::Delete);
        let lives = mix.insert == 1 && mix.delete == 1 && mix.scan == 0;
        let only = |made| after.operations().all(|operation| operation == made);
        let has = |operation| after.has(operation);
        let (some, empty) = (!after.is_none(), self.begins_empty());
        let inserts = operation == Operation::Insert;
        let beside = self.beside.map(|beside| beside.kind);
        let enough = |all| operations.is_none_or(|n| u64::from(n) >= all);
        broken_if! {
            // Which keys are visited, and how often.
            is_mix && self.mix.is_none() =>
                "a mix needs its proportions, such as mix = { read = 90, overwrite = 10 }";
            is_mix && !(1..=Mix::MOST_PARTS).contains(&mix.total()) =>
                "the parts of a mix must add up to at least 1 and at most 1000, not {parts}";
            !is_mix && self.mix.is_some() =>
                "mix is for operation = \"mix\", and this one is \"{operation}\"; where 'like' names a comparison of \
                 a mix, whose proportions come with it, write the workload out instead";
            omit_last > 0 && order != AccessOrder::Uniform =>
                "omit_last is for order = \"uniform\", and this one is \"{order}\"";
            omit_last > 0 && mix.delete > 0 =>
                "omit_last is not for a mix that deletes: any key may be deleted, the last ones too";
            order == AccessOrder::Lifecycle && !lives =>
                "order = \"lifecycle\" needs a mix with insert = 1, delete = 1 and no scan";
            once && order.repeats() =>
                "a value is added or removed once, so order = \"{order}\" is not for operation = \"{operation}\"";
            // What a block finds.
            self.first_touch && (operation.writes() || self.cache != CacheState::Warm) =>
                "first_touch is for warm reads: nowhere else are page tables filled before";
            some && empty && inserts && !only(Operation::CreateTable) =>
                "before operation = \"insert\" there are no values: after can be [\"create-table\"] only";
            some && empty && !inserts =>
                "after is about what is there, and before operation = \"{operation}\" there is nothing";
            some && !empty && has(Operation::CreateTable) != has(Operation::Insert) =>
                "before operation = \"{operation}\" there are values: after has \"create-table\" and \"insert\" together";
            some && !empty && several => "after is for one thread, whose connection it is";
            some && !empty && self.cache.is_cold() => "what is after something else is not cold";
            !empty && has(Operation::Delete) && operation != Operation::DropTable =>
                "after = [\"delete\"] leaves no value, which is for operation = \"drop-table\", and this one is \"{operation}\"";
            // How many operations there are, and what begins them.
            several && beside == Some(NeighbourKind::Threads) =>
                "beside several threads, neighbours that are threads of the same process could not be \
                 told from them: write as = \"processes\"";
            rows.is_some() && !inserts =>
                "rows_per_statement is for operation = \"insert\", and this one is \"{operation}\"";
            rows == Some(0) => "rows_per_statement must be at least 1";
            rows.is_some() && several => "rows_per_statement is for one thread";
            self.scan_rows.is_some() && !self.scans() => "scan_rows is for scans, and this workload has none";
            self.scan_rows == Some(0) => "scan_rows must be at least 1";
            !(1..=Self::MOST_THREADS).contains(&self.threads) => "threads must be from 1 to 1024, not {threads}";
            self.is_about_tables() && (several || operations.is_some()) =>
                "operation = \"{operation}\" is one operation of one thread; leave out threads and operations";
            self.changes_keys() && (self.age > 0 || self.cache.is_cold()) =>
                "what adds or removes values goes to a store of its own, which is neither old nor cold";
            self.sample_of.is_some_and(enough) => "sample_of needs operations, and fewer of them";
            operations == Some(0) => "operations must be at least 1";
            self.rate.is_some() && (self.group() > 0 || rows.is_some()) =>
                "rate is for operations that are transactions of their own: write per_transaction = 1";
            self.rate == Some(0) => "rate must be at least 1 operation per second";
        }
    }

    /// The actions of its steps, which repeat. What a table is made or dropped by is none.
    pub fn pattern(&self) -> Vec<Action> {
        match self.operation {
            Operation::Read | Operation::CreateTable | Operation::DropTable => vec![Action::Read],
            Operation::Overwrite => vec![Action::Overwrite],
            Operation::Insert => vec![Action::Insert],
            Operation::Delete => vec![Action::Delete],
            Operation::Scan => vec![Action::Scan],
            Operation::Mix => self.mix.unwrap_or_default().pattern(),
        }
    }

    /// Whether there are scans in it.
    pub fn scans(&self) -> bool {
        self.operation == Operation::Scan || self.mix.is_some_and(|mix| mix.scan > 0)
    }

    /// The most values that a scan of it visits.
    pub fn longest_scan(&self) -> u16 {
        self.scan_rows.unwrap_or(100)
    }

    /// Whether its blocks write to the store, by their operations or before them.
    pub fn writes(&self) -> bool {
        self.operation.writes() || self.after.operations().any(Operation::writes)
    }

    /// Whether it makes or drops a table.
    pub fn is_about_tables(&self) -> bool {
        matches!(
            self.operation,
            Operation::CreateTable | Operation::DropTable
        )
    }

    /// Whether other keys are in the store after a block than before. Each block then has a store
    /// of its own, which is thrown away after it.
    pub fn changes_keys(&self) -> bool {
        let mix = self.mix.unwrap_or_default();
        matches!(self.operation, Operation::Insert | Operation::Delete)
            || self.is_about_tables()
            || mix.insert > 0
            || mix.delete > 0
    }

    /// Operations of a transaction; 0: outside `begin` … `commit` each is a transaction of its own.
    pub fn group(&self) -> u64 {
        match self.per_transaction {
            _ if self.is_about_tables() => 0,
            PerTransaction::All => u64::MAX,
            PerTransaction::Operations(1) => 0,
            PerTransaction::Operations(n) => u64::from(n),
        }
    }

    /// Whether the store of a block is empty before it.
    pub fn begins_empty(&self) -> bool {
        matches!(self.operation, Operation::Insert | Operation::CreateTable)
            || self.order == AccessOrder::Lifecycle
    }
}

impl WorkloadSpec {
    /// What `self` says, and where it is silent, what `general` says.
    pub fn over(&self, general: &Self) -> Self {
        macro_rules! first_given {
            ($($key:ident)+) => { Self { $($key: self.$key.or(general.$key)),+ } };
        }
        first_given! {
            operation order per_transaction delivery cache operations mix scan_rows threads
            rows_per_statement sample_of age after omit_last first_touch beside rate
        }
    }

    /// The complete workload; silent fields get their defaults (a mix if it has
    /// proportions, else read; random, one transaction,
    /// copied, warm, a block of about 25 ms).
    pub fn complete(&self) -> Workload {
        Workload {
            operation: self.operation.unwrap_or(match self.mix {
                Some(_) => Operation::Mix,
                None => Operation::Read,
            }),
            order: self.order.unwrap_or_default(),
            per_transaction: self.per_transaction.unwrap_or_default(),
            delivery: self.delivery.unwrap_or_default(),
            cache: self.cache.unwrap_or_default(),
            operations: self.operations,
            mix: self.mix,
            scan_rows: self.scan_rows,
            threads: self.threads.unwrap_or(1),
            rows_per_statement: self.rows_per_statement,
            sample_of: self.sample_of,
            age: self.age.unwrap_or(0),
            after: self.after.unwrap_or_default(),
            omit_last: self.omit_last.unwrap_or(0),
            first_touch: self.first_touch.unwrap_or(false),
            beside: self.beside.filter(|beside| beside.compute_threads > 0),
            rate: self.rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of a workload, written as in a study.
    fn checked(written: &str) -> Result<(), String> {
        let workload: WorkloadSpec = toml::from_str(written).unwrap();
        workload.complete().check()
    }

    #[test]
    fn two_actions_of_a_mix_lie_at_equal_distances() {
        for overwrite in 1..=99 {
            let mix = Mix {
                read: 100 - overwrite,
                overwrite,
                ..Mix::default()
            };
            let twice = [mix.pattern(), mix.pattern()].concat();
            let rarer = match overwrite < 50 {
                true => Action::Overwrite,
                false => Action::Read,
            };
            let of: Vec<usize> = (0..twice.len()).filter(|n| twice[*n] == rarer).collect();
            assert_eq!(of.len(), 2 * usize::from(overwrite.min(100 - overwrite)));
            let gaps: Vec<usize> = of.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (gaps.iter().min(), gaps.iter().max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{overwrite}: {gaps:?}");
        }
    }

    #[test]
    fn a_pattern_has_each_action_as_often_as_its_parts_say() {
        let mix = Mix {
            read: 7,
            overwrite: 5,
            modify: 3,
            insert: 2,
            delete: 1,
            scan: 11,
        };
        let pattern = mix.pattern();
        assert_eq!(pattern.len(), 29);
        for action in Action::ALL {
            let times = pattern.iter().filter(|a| **a == action).count();
            assert_eq!(times, usize::from(mix.parts(action)), "{action}");
        }
    }

    #[test]
    fn a_life_begins_with_nothing_and_changes_keys() {
        let life = "operation = 'mix'\norder = 'lifecycle'\nmix = { insert = 1, delete = 1 }";
        let life: WorkloadSpec = toml::from_str(life).unwrap();
        let life = life.complete();
        assert!(life.check().is_ok() && life.begins_empty() && life.changes_keys());
    }

    #[test]
    fn a_cell_without_neighbours_may_stand_among_those_that_have_some() {
        let beside = |compute_threads| Neighbours {
            compute_threads,
            memory: false,
            kind: NeighbourKind::Threads,
        };
        let with = |threads| WorkloadSpec {
            beside: Some(beside(threads)),
            ..WorkloadSpec::default()
        };
        assert_eq!(with(0).over(&with(2)).complete(), Workload::default());
        let inherited = WorkloadSpec::default().over(&with(2)).complete();
        assert_eq!(inherited.beside, Some(beside(2)));
        assert_eq!(beside(2).to_string(), "2 threads that compute");
    }

    #[test]
    fn what_goes_only_with_another_operation_is_refused_by_name() {
        assert_eq!(checked(""), Ok(()));
        assert_eq!(
            checked("operation = 'mix'\nmix = { read = 70, overwrite = 30 }"),
            Ok(())
        );
        let table = r#"
            operation = 'mix' | a mix
            operation = 'mix'; mix = {} | a mix
            operation = 'mix'; mix = { read = 1000, scan = 1 } | a mix
            operation = 'read'; mix = { read = 90, overwrite = 10 } | "read"
            order = 'lifecycle'; mix = { insert = 2, overwrite = 11, delete = 1 } | lifecycle
            order = 'lifecycle'; mix = { insert = 1, overwrite = 11 } | lifecycle
            scan_rows = 5 | scan_rows
            threads = 0 | threads
            threads = 9_999 | threads
            rows_per_statement = 2 | rows_per_statement
            rate = 500 | rate is for
            operation = 'drop-table'; threads = 2 | drop-table
            operation = 'delete'; order = 'zipfian' | zipfian
            operation = 'delete'; age = 1 | neither old nor cold
            omit_last = 2 | omit_last
            order = 'uniform'; omit_last = 2; mix = { read = 1, delete = 1 } | a mix that deletes
            operation = 'overwrite'; first_touch = true | first_touch
            operation = 'insert'; after = ['read'] | after can be ["create-table"] only
            after = ['create-table'] | "create-table" and "insert" together
            operation = 'delete'; after = ['delete'] | leaves no value
            beside = { compute_threads = 65 } | compute_threads must be from 0 to 64, not 65
        "#;
        for line in table.trim().lines() {
            let (written, said) = line.split_once(" | ").unwrap();
            let message = checked(&written.replace("; ", "\n")).unwrap_err();
            assert!(message.contains(said), "{line}: {message}");
        }
    }
}
