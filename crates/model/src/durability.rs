//! What survives which failure (docs/method.md, "Durability classes").

use serde::{Deserialize, Serialize};
use std::fmt;

/// The promise a store keeps for an acknowledged write. Ordered: a later class promises more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Durability {
    /// D0: killing the process can damage committed data.
    None,
    /// D1: acknowledged writes survive `kill -9`; power loss may corrupt.
    ProcessCrash,
    /// D2: power loss leaves a consistent state; recent acknowledgements may vanish.
    Consistent,
    /// D3: acknowledged means it survives power loss.
    Durable,
}

impl Durability {
    /// Every class, weakest first.
    pub const ALL: [Self; 4] = [
        Self::None,
        Self::ProcessCrash,
        Self::Consistent,
        Self::Durable,
    ];

    /// The name used in files, flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::ProcessCrash => "process-crash",
            Self::Consistent => "consistent",
            Self::Durable => "durable",
        }
    }

    /// The short code of the method document: D0 to D3.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::None => "D0",
            Self::ProcessCrash => "D1",
            Self::Consistent => "D2",
            Self::Durable => "D3",
        }
    }
}

impl fmt::Display for Durability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A durability class, and whether replacing one value is atomic in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DurabilityClaim {
    /// The class.
    pub class: Durability,
    /// Whether a crash leaves either the old value or the new one, never a mixture.
    pub atomic: bool,
}

impl fmt::Display for DurabilityClaim {
    /// `consistent, atomic` or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atomic = if self.atomic { ", atomic" } else { "" };
        f.pad(&format!("{}{atomic}", self.class))
    }
}
