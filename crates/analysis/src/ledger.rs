//! The ledger: what became of the claims of a published study. Each holds here, fails here, or is
//! undecided, by an interval and never by an estimate alone.
//!
//! A figure lies within its bounds where its whole interval does. Cells of one comparison are paired
//! round by round; of several, their locations are put together ([`figure`]).

mod figure;
mod held;

pub use figure::{FigureCell, FigureOutcome};
pub use held::{Held, hold};

use crate::{ComparisonOutcome, gathered::Gathered, judge::Judge, ladder::Measured};
use serde::Serialize;
use stowplan_model::{CellId, ClaimSpec, Study};

/// What became of a claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClaimOutcome {
    /// Its name in the study file.
    pub id: String,
    /// What is claimed, in the words of the source.
    pub quote: String,
    /// Where it stands in the source.
    pub place: Option<String>,
    /// The address of the source.
    pub source: Option<String>,
    /// How its words were turned into bounds and cells.
    pub note: Option<String>,
    /// The judgement.
    pub verdict: ClaimVerdict,
    /// The figures that decide it, each within its bounds or not.
    pub figures: Vec<FigureOutcome>,
    /// Cells that it needs and that were not measured.
    pub missing: Vec<MissingCell>,
}

/// A cell that a claim needs and that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingCell {
    /// The cell.
    pub cell: String,
    /// Why, in words.
    pub why: String,
}

/// The judgement on a claim, or on a figure of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimVerdict {
    /// The whole interval lies within the bounds.
    Holds,
    /// The whole interval lies outside them.
    Fails,
    /// It lies across a bound, or not all that the claim is about was measured.
    Undecided,
    /// The control failed: nothing is claimed.
    Unreliable,
    /// Too few rounds, or a cell is missing.
    NoData,
}

impl ClaimVerdict {
    /// What figures come to that must all be within their bounds. One that is not decides; and what was
    /// measured in part is undecided.
    #[must_use]
    pub fn all(figures: &[Self]) -> Self {
        let any = |wanted: Self| figures.contains(&wanted);
        match () {
            () if figures.is_empty() || figures.iter().all(|v| *v == Self::NoData) => Self::NoData,
            () if any(Self::Fails) => Self::Fails,
            () if any(Self::Unreliable) => Self::Unreliable,
            () if any(Self::NoData) || any(Self::Undecided) => Self::Undecided,
            () => Self::Holds,
        }
    }

    /// What it is called.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Holds => "holds",
            Self::Fails => "fails",
            Self::Undecided => "undecided",
            Self::Unreliable => "unreliable",
            Self::NoData => "no data",
        }
    }
}

/// The judged comparisons of a run; or nothing, where nothing was measured yet.
#[derive(Clone, Copy)]
pub(crate) struct Evidence<'a> {
    pub(crate) judged: &'a [(Judge<'a>, ComparisonOutcome)],
    pub(crate) gathered: Option<&'a Gathered<'a>>,
    pub(crate) study: &'a Study,
}

impl<'a> Evidence<'a> {
    fn comparison(&self, id: &str) -> Option<Measured<'a>> {
        let (judge, outcome) = self.judged.iter().find(|(_, outcome)| outcome.id == id)?;
        let failures = self.gathered.map_or(&[][..], |g| g.failures.as_slice());
        Some(Measured {
            judge,
            outcome,
            failures,
            study: self.study,
        })
    }

    /// What a cell is called, measured or not.
    fn label(&self, cell: &CellId) -> String {
        let mut judged = self.judged.iter();
        let summary = judged.find_map(|(_, outcome)| outcome.cell(cell));
        summary.map_or_else(
            || self.study.label_of(cell),
            |summary| summary.cell.label.clone(),
        )
    }
}

/// The claims of a study as they stand, with nothing measured: what would decide them.
#[must_use]
pub fn untested(study: &Study) -> Vec<ClaimOutcome> {
    claims(Evidence {
        judged: &[],
        gathered: None,
        study,
    })
}

/// Decides all claims of a study, in reading order.
pub(crate) fn claims(evidence: Evidence<'_>) -> Vec<ClaimOutcome> {
    let claims = evidence.study.claims.iter();
    claims.map(|spec| decide(spec, &evidence)).collect()
}

fn decide(spec: &ClaimSpec, evidence: &Evidence<'_>) -> ClaimOutcome {
    let study = evidence.study;
    let mut missing = Vec::new();
    let tests = spec.tests();
    let tests = tests.iter();
    let figures: Vec<FigureOutcome> = tests
        .map(|test| figure::either(test, evidence, &mut missing))
        .collect();
    let verdicts: Vec<ClaimVerdict> = figures.iter().map(|figure| figure.verdict).collect();
    missing.sort_by(|a, b| a.cell.cmp(&b.cell));
    missing.dedup();
    ClaimOutcome {
        id: spec.id.clone(),
        quote: spec.quote.clone(),
        place: spec.place.clone(),
        source: spec.source.clone().or_else(|| study.source.clone()),
        note: spec.note.clone(),
        verdict: ClaimVerdict::all(&verdicts),
        figures,
        missing,
    }
}
