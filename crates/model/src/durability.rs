//! What survives which failure (docs/method.md, "Durability classes").

use crate::words::{data, words};
use std::fmt;

words! {
    /// The promise a store keeps for an acknowledged write. Ordered: a later class promises more.
    #[derive(Default, PartialOrd, Ord)]
    pub enum Durability {
        /// D0: killing the process can damage committed data.
        #[default]
        None = "none",
        /// D1: acknowledged writes survive `kill -9`; power loss may corrupt.
        ProcessCrash = "process-crash",
        /// D2: power loss leaves a consistent state; recent acknowledgements may vanish.
        Consistent = "consistent",
        /// D3: acknowledged means it survives power loss.
        Durable = "durable",
    }
}

impl Durability {
    /// What two stores promise that hold a part of the data each: what the weaker one does. Where that
    /// takes back what it acknowledged, in an order of its own, both together are no state that ever was:
    /// nothing is promised of a power loss then (`stowplan crash`, model `strict`).
    #[must_use]
    pub fn of_parts(self, other: Self) -> Self {
        match self.min(other) {
            Self::Consistent => Self::ProcessCrash,
            class => class,
        }
    }

    /// The short code of the method document: D0 to D3.
    pub fn code(self) -> &'static str {
        match self {
            Self::None => "D0",
            Self::ProcessCrash => "D1",
            Self::Consistent => "D2",
            Self::Durable => "D3",
        }
    }
}

data! {
    /// A durability class, whether replacing one value is atomic in it, and whether it begins later.
    #[derive(Copy, Default, Eq, Hash)]
    pub struct DurabilityClaim {
        /// The class.
        pub class: Durability,
        /// Whether a crash leaves either the old value or the new one, never a mixture.
        pub atomic: bool,
        /// Whether the last acknowledged writes can vanish even when only the process is killed; what
        /// is left is in order, as the class says.
        pub delayed: bool = default,
    }
}

impl DurabilityClaim {
    /// Whether it keeps the promise of a class for every write that is acknowledged. A delayed one
    /// keeps none of them.
    pub fn keeps(&self, least: Durability) -> bool {
        self.class >= least && (!self.delayed || least == Durability::None)
    }

    /// Whether it promises at least what another one does, in every respect.
    pub fn covers(&self, other: &Self) -> bool {
        self.class >= other.class && self.atomic >= other.atomic && self.delayed <= other.delayed
    }
}

impl fmt::Display for DurabilityClaim {
    /// `consistent, atomic`, `consistent, atomic, delayed` or `none`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atomic = if self.atomic { ", atomic" } else { "" };
        let delayed = if self.delayed { ", delayed" } else { "" };
        f.pad(&format!("{}{atomic}{delayed}", self.class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delayed_claim_keeps_no_promise_for_the_last_writes_and_covers_only_its_like() {
        let claim = |class, delayed| DurabilityClaim {
            class,
            atomic: true,
            delayed,
        };
        let [at_once, later] = [false, true].map(|it| claim(Durability::Consistent, it));
        for least in Durability::ALL {
            assert_eq!(at_once.keeps(least), least <= Durability::Consistent);
            assert_eq!(later.keeps(least), least == Durability::None);
        }
        assert!(at_once.covers(&later) && !later.covers(&at_once));
        assert!(!later.covers(&claim(Durability::ProcessCrash, false)));
        assert_eq!(later.to_string(), "consistent, atomic, delayed");
    }
}
