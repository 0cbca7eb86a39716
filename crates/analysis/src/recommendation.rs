//! What to choose of the cells of a comparison, and why: decided here, once, and worded by reports.
//!
//! Everything rests on verdicts and intervals; an estimate alone decides nothing. Of several cells
//! that are all shown to be faster than the baseline, the one with the smallest ratio is *named*;
//! that it beats the others is said only of [`crate::ComparisonOutcome::fastest`].

use crate::{RatioEstimate, Verdict, WorkDifference};
use serde::Serialize;
use stowplan_model::{CellId, DurabilityClaim};

/// What to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Default)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Use the choice: it beats each of the others that do the same work.
    Use,
    /// Stay with the choice, which is the baseline: it beats each of the others that do the same
    /// work.
    Stay,
    /// Prefer the choice to the baseline: it is faster than that, though it does not beat each of
    /// the others, or not all of them promise the same.
    Prefer,
    /// Nothing was shown to be faster than the choice, which is the baseline.
    Keep,
    /// Choose by something else: all are equivalent.
    Equivalent,
    /// Of disk space: the choice takes the least.
    Smallest,
    /// It depends on the size of the values.
    BySize,
    /// It depends on whether the final flush to disk counts: the choice answers sooner, another one
    /// is done sooner.
    Depends,
    /// Nothing can be said.
    #[default]
    Open,
}

/// What to choose of the cells of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Recommendation {
    /// What to do.
    pub kind: Kind,
    /// The cell to use, to stay with or to prefer; where it depends, the one that answers sooner.
    /// Nothing where all are equivalent and where nothing can be said.
    pub choice: Option<CellId>,
    /// What the choice is ahead of: the baseline, or where that is the choice itself, the next
    /// behind. Nothing where nothing is shown to be behind.
    pub over: Option<Over>,
    /// What the choice promises for what it writes; nothing for reads.
    pub promise: Option<DurabilityClaim>,
    /// What the final flush to disk makes of it, where that is something else.
    pub flush: Option<Flush>,
    /// What else to choose, for those who ask for more or for less.
    pub alternatives: Vec<Alternative>,
    /// What the baseline was not shown to beat, where it is kept, and where nothing was decided.
    pub unbeaten: Vec<Unbeaten>,
    /// Why nothing can be said.
    pub open: Option<Open>,
}

/// What a choice is ahead of, and by how much.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Over {
    /// The other cell.
    pub cell: CellId,
    /// Time of the choice over the time of that cell: below 1.
    pub ratio: RatioEstimate,
    /// The verdict on it.
    pub verdict: Verdict,
    /// How what the choice promises compares with what that cell promises; nothing where they
    /// promise the same.
    pub promise: Option<PromiseDifference>,
    /// In what the choice does other work, so that the ratio is not one of stores alone.
    pub work: Vec<WorkDifference>,
}

/// What the final flush to disk makes of a choice.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Flush {
    /// Time of the choice over the time of what it is ahead of, with the flush in both, where that
    /// says something else than without it.
    pub ratio: Option<RatioEstimate>,
    /// The verdict on it.
    pub verdict: Option<Verdict>,
    /// What is shown to be done sooner than the choice: the baseline, or a cell that does the same
    /// work with the same promise.
    pub sooner: Option<CellId>,
}

/// What else to choose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Alternative {
    /// When to.
    pub when: When,
    /// The cell.
    pub cell: CellId,
    /// Its time over that of the baseline.
    pub ratio: Option<RatioEstimate>,
    /// What it promises for what it writes.
    pub promise: Option<DurabilityClaim>,
    /// What work it does otherwise than the choice.
    pub work: Vec<WorkDifference>,
}

/// When to choose something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// More must survive a crash: it promises more than the choice.
    MoreMustSurvive,
    /// Less is enough: it is faster than the choice and promises less than the baseline.
    LessIsEnough,
    /// Other work will do, such as more operations per transaction: it is faster than the choice and
    /// promises the same.
    OtherWorkWillDo,
}

/// A cell that the baseline was not shown to beat.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Unbeaten {
    /// The cell.
    pub cell: CellId,
    /// The verdict on its time over that of the baseline.
    pub verdict: Verdict,
    /// Whether a gain that matters is not ruled out.
    pub may_be_faster: bool,
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "because", rename_all = "kebab-case")]
pub enum Open {
    /// The baseline is none of the cells that were measured.
    NoBaseline,
    /// There is nothing that it could be compared with.
    Alone,
    /// Its cells differ in what is busy beside them, stands before their files or lies below, which is no choice.
    NoChoice,
    /// Two identical cells differed by more than noise explains.
    Unreliable,
    /// The control has too few rounds to vouch for the others.
    ControlTooShort,
    /// There is no interval of so few rounds.
    TooFewRounds {
        /// The most rounds that anything to compare has.
        rounds: usize,
        /// The fewest for which there is one.
        needed: usize,
    },
    /// Rounds are enough, and yet there is no interval of any ratio.
    NoRatio,
    /// What was to be compared failed.
    Failed,
    /// No interval says anything.
    Undecided,
}

/// How what one cell promises for what it writes compares with what another promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct PromiseDifference {
    /// What the one promises.
    pub ours: DurabilityClaim,
    /// What the other promises.
    pub theirs: DurabilityClaim,
    /// How they compare.
    pub is: Promises,
}

/// How one promise compares with another one that is not the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Promises {
    /// It lacks something that the other has, and has nothing that the other lacks.
    Less,
    /// It has all that the other has, and more.
    More,
    /// Each has something that the other lacks.
    SomethingElse,
}

impl PromiseDifference {
    /// How two promises compare; nothing if they are the same.
    #[must_use]
    pub fn between(ours: DurabilityClaim, theirs: DurabilityClaim) -> Option<Self> {
        let is = match (ours.covers(&theirs), theirs.covers(&ours)) {
            _ if ours == theirs => return None,
            (true, _) => Promises::More,
            (_, true) => Promises::Less,
            (false, false) => Promises::SomethingElse,
        };
        Some(Self { ours, theirs, is })
    }

    /// Whether the one does not keep all that the other promises.
    #[must_use]
    pub fn lacks_something(&self) -> bool {
        self.is != Promises::More
    }
}

impl Recommendation {
    /// That nothing can be said.
    pub(crate) fn open(because: Open) -> Self {
        Self {
            open: Some(because),
            ..Self::default()
        }
    }

    /// What must be enough for who chooses it, if it does not keep all that the baseline promises.
    #[must_use]
    pub fn condition(&self) -> Option<PromiseDifference> {
        let over = self.over.as_ref().filter(|_| self.is_no_baseline())?;
        over.promise.filter(PromiseDifference::lacks_something)
    }

    fn is_no_baseline(&self) -> bool {
        // A choice that is the baseline is compared with what stands behind it.
        !matches!(self.kind, Kind::Stay | Kind::Keep) && self.choice.is_some()
    }

    /// Whether anything that is kept unbeaten may yet be faster by more than counts.
    #[must_use]
    pub fn may_change(&self) -> bool {
        self.unbeaten.iter().any(|cell| cell.may_be_faster)
    }
}
