//! What is done to a store.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! word_display {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

/// What one operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Read one value whole.
    Read,
    /// Replace one value by another of the same size.
    Overwrite,
    /// Add one value to a store that is empty before the block, and thrown away after it.
    Insert,
    /// Read one value or overwrite it, in the proportion that the workload says.
    Mix,
}

impl Operation {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Overwrite => "overwrite",
            Self::Insert => "insert",
            Self::Mix => "mix",
        }
    }

    /// Whether it changes the store.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Overwrite | Self::Insert | Self::Mix => true,
        }
    }
}

/// In which order keys are visited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessOrder {
    /// A random permutation of all keys.
    #[default]
    Random,
    /// By rising key.
    Ascending,
    /// By falling key.
    Descending,
}

impl AccessOrder {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Ascending => "ascending",
            Self::Descending => "descending",
        }
    }
}

/// How a value reaches the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Delivery {
    /// The bytes arrive in a page-aligned buffer of the caller.
    #[default]
    Copy,
    /// The store lends a slice; every cache line of it is touched.
    InPlace,
}

impl Delivery {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::InPlace => "in-place",
        }
    }
}

/// The state of the page cache before a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheState {
    /// Everything the block reads is in the page cache; a block that read from storage is
    /// discarded and repeated.
    #[default]
    Warm,
    /// No page of the data the block reads is in the page cache (inodes and directory entries
    /// may be); verified before the block.
    Cold,
    /// Whatever it is: nothing is done about it, and nothing is checked.
    AsFound,
}

impl CacheState {
    /// Its name in files, flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
            Self::AsFound => "as-found",
        }
    }
}

word_display!(Operation);
word_display!(AccessOrder);
word_display!(Delivery);
word_display!(CacheState);

/// How many operations share a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(try_from = "PerTransactionText", into = "PerTransactionText")]
pub enum PerTransaction {
    /// The whole block is one transaction.
    #[default]
    All,
    /// This many operations; at least 1.
    Operations(u32),
}

#[derive(Serialize, Deserialize)]
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

/// What is done to a store, and in which state of the page cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
    /// Of a mix, how many of a hundred operations overwrite; 1 to 99. They lie at equal distances,
    /// so that blocks differ in nothing but their keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_percent: Option<u8>,
    /// Of inserts, how many rows one statement adds; 1 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_statement: Option<u32>,
    /// How many operations a block stands for of which it measures only [`Self::operations`]: what
    /// all would take is extrapolated, and said to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_of: Option<u64>,
    /// Storage age: how often each value has been replaced before anything is measured, half of
    /// them by deleting and inserting (Sears, van Ingen and Gray 2006). 0: as built.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub age: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(age: &u32) -> bool {
    *age == 0
}

impl Default for Workload {
    fn default() -> Self {
        WorkloadSpec::default().complete()
    }
}

impl Workload {
    /// What is wrong with it, if anything is.
    ///
    /// # Errors
    /// A mix without its proportion, a proportion of something else, or one that is none; no
    /// operations.
    pub fn check(&self) -> Result<(), String> {
        match (self.operation, self.write_percent) {
            (Operation::Mix, None) => Err(
                "a mix needs write_percent, how many of a hundred operations overwrite".to_owned(),
            ),
            (Operation::Mix, Some(percent)) if !(1..=99).contains(&percent) => {
                Err(format!("write_percent must be from 1 to 99, not {percent}"))
            }
            (Operation::Read | Operation::Overwrite | Operation::Insert, Some(_)) => Err(format!(
                "write_percent is for operation = \"mix\", and this one is \"{}\"",
                self.operation
            )),
            (operation, _)
                if operation != Operation::Insert && self.rows_per_statement.is_some() =>
            {
                Err(format!(
                    "rows_per_statement is for operation = \"insert\", and this one is \"{operation}\""
                ))
            }
            (Operation::Insert, _) if self.rows_per_statement == Some(0) => {
                Err("rows_per_statement must be at least 1".to_owned())
            }
            (Operation::Insert, _) if self.age > 0 || self.cache == CacheState::Cold => {
                Err("inserts go into an empty store, which is neither old nor cold".to_owned())
            }
            _ if self.sample_of.is_some_and(|all| {
                self.operations
                    .is_none_or(|measured| u64::from(measured) >= all)
            }) =>
            {
                Err("sample_of needs operations, and fewer of them".to_owned())
            }
            _ if self.operations == Some(0) => Err("operations must be at least 1".to_owned()),
            _ => Ok(()),
        }
    }

    /// Whether the step at this position of a sequence overwrites.
    #[must_use]
    pub fn writes_at(&self, position: u64) -> bool {
        match (self.operation, self.write_percent) {
            (Operation::Read, _) => false,
            (Operation::Overwrite | Operation::Insert, _) => true,
            (Operation::Mix, percent) => {
                let percent = u64::from(percent.unwrap_or(50));
                let position = position % 100;
                position * percent / 100 < (position + 1) * percent / 100
            }
        }
    }
}

/// A workload as a study file gives it: what is left out is taken from the comparison, or from
/// the defaults.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
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
    /// See [`Workload::write_percent`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_percent: Option<u8>,
    /// See [`Workload::rows_per_statement`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows_per_statement: Option<u32>,
    /// See [`Workload::sample_of`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_of: Option<u64>,
    /// See [`Workload::age`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age: Option<u32>,
}

impl WorkloadSpec {
    /// What `self` says, and where it is silent, what `general` says.
    #[must_use]
    pub fn over(&self, general: &Self) -> Self {
        Self {
            operation: self.operation.or(general.operation),
            order: self.order.or(general.order),
            per_transaction: self.per_transaction.or(general.per_transaction),
            delivery: self.delivery.or(general.delivery),
            cache: self.cache.or(general.cache),
            operations: self.operations.or(general.operations),
            write_percent: self.write_percent.or(general.write_percent),
            rows_per_statement: self.rows_per_statement.or(general.rows_per_statement),
            sample_of: self.sample_of.or(general.sample_of),
            age: self.age.or(general.age),
        }
    }

    /// The complete workload; silent fields get their defaults (read, random, one transaction,
    /// copied, warm, a block of about 25 ms).
    #[must_use]
    pub fn complete(&self) -> Workload {
        Workload {
            operation: self.operation.unwrap_or(Operation::Read),
            order: self.order.unwrap_or_default(),
            per_transaction: self.per_transaction.unwrap_or_default(),
            delivery: self.delivery.unwrap_or_default(),
            cache: self.cache.unwrap_or_default(),
            operations: self.operations,
            write_percent: self.write_percent,
            rows_per_statement: self.rows_per_statement,
            sample_of: self.sample_of,
            age: self.age.unwrap_or(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(write_percent: Option<u8>) -> Workload {
        Workload {
            operation: Operation::Mix,
            write_percent,
            ..Workload::default()
        }
    }

    #[test]
    fn a_mix_overwrites_its_share_of_every_hundred_at_equal_distances() {
        for percent in 1..=99 {
            let mix = mix(Some(percent));
            let writes: Vec<u64> = (300..400).filter(|n| mix.writes_at(*n)).collect();
            assert_eq!(writes.len(), usize::from(percent));
            let gaps: Vec<u64> = writes.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let (least, most) = (gaps.iter().min(), gaps.iter().max());
            if let (Some(least), Some(most)) = (least, most) {
                assert!(most - least <= 1, "{percent}: {gaps:?}");
            }
        }
    }

    #[test]
    fn proportions_belong_to_mixes_and_mixes_need_them() {
        assert!(mix(Some(30)).check().is_ok());
        assert!(Workload::default().check().is_ok());
        for wrong in [mix(None), mix(Some(0)), mix(Some(100))] {
            assert!(wrong.check().unwrap_err().contains("write_percent"));
        }
        let read = Workload {
            write_percent: Some(10),
            ..Workload::default()
        };
        assert!(read.check().unwrap_err().contains("\"read\""));
    }
}
