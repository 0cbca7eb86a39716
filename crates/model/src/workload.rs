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
}

impl Operation {
    /// Its name in files and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Overwrite => "overwrite",
        }
    }

    /// Whether it changes the store.
    #[must_use]
    pub fn writes(self) -> bool {
        match self {
            Self::Read => false,
            Self::Overwrite => true,
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
        }
    }
}
