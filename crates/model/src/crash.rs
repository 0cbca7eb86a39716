//! What the power-loss lab finds: which states a power cut could have left, and what was lost in them.

use crate::{Durability, DurabilityClaim};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Which states a power cut may leave: what of the operations since the last sync is on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashModel {
    /// Names, sizes and truncations as a journal keeps them: a prefix. Of unsynced data any subset, in
    /// pieces of 4 KiB.
    Ordered,
    /// The least that POSIX promises: a file's sync keeps its data and size, a directory's its names;
    /// of all else any subset.
    Strict,
    /// As `ordered`, but writes are kept or lost whole, except one, of which any subset of its sectors
    /// of 512 bytes is on the disk.
    Torn,
    /// Everything up to some operation, and nothing after it.
    Prefix,
}

impl CrashModel {
    /// Every model, in the order of reports.
    pub const ALL: [Self; 4] = [Self::Ordered, Self::Strict, Self::Torn, Self::Prefix];

    /// The name used in options and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ordered => "ordered",
            Self::Strict => "strict",
            Self::Torn => "torn",
            Self::Prefix => "prefix",
        }
    }

    /// What it takes for possible, in a sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Ordered => {
                "names, sizes and truncations as a journal keeps them: a prefix; of unsynced data any \
                 subset, in pieces of 4 KiB"
            }
            Self::Strict => {
                "the least that POSIX promises: a file's sync keeps its data and size, a directory's \
                 its names; of all else any subset"
            }
            Self::Torn => {
                "as ordered, but writes are kept or lost whole, except one, of which any subset of its \
                 sectors of 512 bytes is on the disk"
            }
            Self::Prefix => "everything up to some operation, and nothing after it",
        }
    }
}

impl fmt::Display for CrashModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a crash state holds of what was acknowledged. Ordered: a later one is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Everything that was acknowledged, whole and in order.
    Kept,
    /// An earlier state: the last acknowledged commits are gone.
    Lost,
    /// A later commit is there and an earlier one is not.
    Reordered,
    /// A value or a transaction is there in part.
    Torn,
    /// A value is none that was ever written, or the engine's own check fails.
    Corrupt,
    /// It does not open.
    Unopenable,
}

impl Fate {
    /// All of them, the best first.
    pub const ALL: [Self; 6] = [
        Self::Kept,
        Self::Lost,
        Self::Reordered,
        Self::Torn,
        Self::Corrupt,
        Self::Unopenable,
    ];

    /// In reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Lost => "lost",
            Self::Reordered => "reordered",
            Self::Torn => "torn",
            Self::Corrupt => "corrupt",
            Self::Unopenable => "does not open",
        }
    }

    /// Whether a store that claims this had promised otherwise. Below `consistent` nothing is promised
    /// about power cuts. The order of commits is promised where there are transactions.
    #[must_use]
    pub fn breaks(self, claim: DurabilityClaim, transactions: bool) -> bool {
        if claim.class < Durability::Consistent {
            return false;
        }
        match self {
            Self::Kept => false,
            Self::Lost => claim.class == Durability::Durable && !claim.delayed,
            Self::Reordered => {
                transactions || (claim.class == Durability::Durable && !claim.delayed)
            }
            Self::Torn => claim.atomic,
            Self::Corrupt | Self::Unopenable => true,
        }
    }
}

/// What a judge found in one state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// What became of what was acknowledged.
    pub fate: Fate,
    /// Acknowledged commits that are not there.
    #[serde(default)]
    pub lost: u64,
    /// The first of them.
    #[serde(default)]
    pub first_lost: Option<u64>,
    /// What was found, in a line.
    #[serde(default)]
    pub note: String,
}

/// A state to judge, as one line of JSON to a judge.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToJudge {
    /// The directory, which the judge may change.
    pub directory: std::path::PathBuf,
    /// The last commit that was acknowledged.
    pub acked: u64,
}

/// A message as a line, without its end.
#[must_use]
pub fn to_line(judged: &Judged) -> String {
    serde_json::to_string(judged).unwrap_or_default()
}

/// A state to judge, from a line.
///
/// # Errors
/// It is none.
pub fn from_line(line: &str) -> Result<ToJudge, String> {
    serde_json::from_str(line).map_err(|error| format!("no state to judge: {error}"))
}

/// A run, from the document that was written of it.
///
/// # Errors
/// It is none.
pub fn crash_run(text: &str) -> Result<CrashRun, String> {
    serde_json::from_str(text).map_err(|error| format!("no result of 'stowplan crash': {error}"))
}

/// What was found in the states of one model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// States that were drawn.
    pub drawn: u64,
    /// Those that differ from each other, or in what had been acknowledged: each was judged once.
    pub states: u64,
    /// How many of them met each fate, in the order of [`Fate::ALL`].
    pub fates: [u64; 6],
    /// Those whose fate breaks the promise.
    pub broken: u64,
    /// The most acknowledged commits lost in one state.
    pub most_lost: u64,
    /// How many operations before the cut the oldest lost one had been acknowledged.
    pub oldest_operations: u64,
    /// The same in nanoseconds.
    pub oldest_ns: u64,
}

impl Tally {
    /// How many met this fate.
    #[must_use]
    pub fn of(&self, fate: Fate) -> u64 {
        let found = Fate::ALL.iter().zip(self.fates);
        found
            .filter(|(each, _)| **each == fate)
            .map(|(_, count)| count)
            .sum()
    }

    /// Those that did not keep everything.
    #[must_use]
    pub fn not_kept(&self) -> u64 {
        self.states.saturating_sub(self.of(Fate::Kept))
    }

    /// The worst fate that was met.
    #[must_use]
    pub fn worst(&self) -> Option<Fate> {
        Fate::ALL.into_iter().rev().find(|fate| self.of(*fate) > 0)
    }
}

/// A crash state in which something was lost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrashFinding {
    /// What `--replay` takes.
    pub seed: u64,
    /// What was found in it.
    pub judged: Judged,
    /// Whether that breaks the promise.
    pub broken: bool,
    /// Operations before the cut.
    pub cut: u64,
    /// The last of them, in words.
    pub after: String,
    /// The fewest losses that were found to do the same.
    pub shrunk: Shrunk,
}

/// The fewest losses that still have the same fate.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Shrunk {
    /// Operations before the cut.
    pub cut: u64,
    /// What is not on the disk: an operation and the piece of it.
    pub lost: Vec<(u64, u64)>,
    /// The same in words, the first ones.
    pub words: Vec<String>,
    /// States that were judged to find it.
    pub tried: u64,
}

/// What was found of one setting under one model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelFound {
    /// The model.
    pub model: CrashModel,
    /// Counts.
    pub tally: Tally,
    /// The first finding of each fate, the worst first.
    pub findings: Vec<CrashFinding>,
}

/// What shows that a run can find anything, and finds nothing where there is nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Controls {
    /// The same operations with every sync struck out: must fail somewhere.
    pub no_syncs: Tally,
    /// The same with everything synced at once: must never fail.
    pub all_synced: Tally,
}

impl Controls {
    /// Whether the run may claim anything.
    #[must_use]
    pub fn hold(&self) -> bool {
        self.no_syncs.not_kept() > 0
            && self.all_synced.not_kept() == 0
            && self.all_synced.states > 0
    }
}

/// One setting: a store with its settings, or a program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrashSetting {
    /// In reports: `sqlite:journal=wal,synchronous=full`.
    pub name: String,
    /// What it promises; a program promises what was asked with `--promise`.
    pub claim: DurabilityClaim,
    /// Whether it has transactions of several operations.
    pub transactions: bool,
    /// Operations recorded: writes, truncations, names, syncs.
    pub operations: u64,
    /// Of them syncs.
    pub syncs: u64,
    /// Commits acknowledged.
    pub acks: u64,
    /// How long it ran, nanoseconds.
    pub ran_ns: u64,
    /// By model.
    pub found: Vec<ModelFound>,
    /// What the claims rest on.
    pub controls: Controls,
    /// Why it could not be tested.
    #[serde(default)]
    pub failed: Option<String>,
}

impl CrashSetting {
    /// Whether a promise was broken.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.found.iter().any(|found| found.tally.broken > 0)
    }

    /// Whether it was tested, and its controls allow a claim.
    #[must_use]
    pub fn is_tested(&self) -> bool {
        self.failed.is_none() && self.controls.hold()
    }
}

/// A run of the lab.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CrashRun {
    /// The program's version.
    pub version: String,
    /// The seed of the workload and of all draws.
    pub seed: u64,
    /// States asked for, of each setting under each model.
    pub states: u64,
    /// The models.
    pub models: Vec<CrashModel>,
    /// The settings, in the order of the report.
    pub settings: Vec<CrashSetting>,
    /// States judged, those of controls and of shrinking included.
    pub judged: u64,
    /// How long judging took, nanoseconds.
    pub judging_ns: u64,
    /// Whether the run ended before it had done what was asked.
    pub interrupted: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_breaks_a_promise_follows_from_its_class() {
        let claim = |class, atomic| DurabilityClaim {
            class,
            atomic,
            delayed: false,
        };
        let breaking = |claim| -> Vec<Fate> {
            let all = Fate::ALL.into_iter();
            all.filter(|fate| fate.breaks(claim, true)).collect()
        };
        assert!(breaking(claim(Durability::ProcessCrash, true)).is_empty());
        assert_eq!(
            breaking(claim(Durability::Consistent, true)),
            Fate::ALL[2..]
        );
        assert_eq!(breaking(claim(Durability::Durable, true)), Fate::ALL[1..]);
        assert!(!Fate::Torn.breaks(claim(Durability::Consistent, false), true));
        assert!(!Fate::Reordered.breaks(claim(Durability::Consistent, true), false));
    }

    #[test]
    fn controls_claim_nothing_unless_the_bad_one_fails_and_the_good_one_does_not() {
        let tally = |kept, lost| Tally {
            states: kept + lost,
            fates: [kept, lost, 0, 0, 0, 0],
            ..Tally::default()
        };
        let controls = |no_syncs, all_synced| Controls {
            no_syncs,
            all_synced,
        };
        assert!(controls(tally(1, 1), tally(5, 0)).hold());
        assert!(!controls(tally(2, 0), tally(5, 0)).hold());
        assert!(!controls(tally(1, 1), tally(4, 1)).hold());
        assert!(!controls(tally(1, 1), tally(0, 0)).hold());
    }
}
