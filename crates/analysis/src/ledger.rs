//! The ledger: what became of the claims of a published study. Each holds here, fails here, or is
//! undecided, by an interval and never by an estimate alone.
//!
//! A figure lies within its bounds where its whole interval does. Cells of one comparison are paired
//! round by round; of several, their locations are put together ([`figure`]).

mod figure;
mod held;
mod larger;

pub use figure::{FigureCell, FigureOutcome};
pub use held::{Held, hold};
pub use larger::{CostsOutcome, DifferenceOutcome};

use crate::{ComparisonOutcome, gathered::Gathered, judge::Judge, ladder::Measured};
use serde::Serialize;
use stowplan_model::{BestSpec, CellId, ClaimSpec, Deciding, Study, TestSpec};

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
    /// The costs that decide it, where it says which of two is larger.
    pub costs: Option<CostsOutcome>,
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
    let mut costs = None;
    let mut figures = Vec::new();
    let verdict = match spec.deciding() {
        Some(Deciding::Tests(tests)) => {
            figures = of_tests(tests, evidence, &mut missing);
            together(&figures)
        }
        Some(Deciding::Order(cells)) => {
            figures = of_tests(&neighbours(cells), evidence, &mut missing);
            together(&figures)
        }
        Some(Deciding::Best(best)) => {
            figures = of_best(best, evidence, &mut missing);
            together(&figures)
        }
        Some(Deciding::Larger(comparison, larger, smaller)) => {
            match evidence.comparison(comparison) {
                Some(measured) => {
                    let of = spec.of.as_ref();
                    let sides = (larger, smaller);
                    let (found, verdict) = larger::compare(sides, of, &measured, &mut missing);
                    costs = Some(found);
                    verdict
                }
                None => {
                    missing.extend(spec.cells(study).iter().map(left_out));
                    costs = Some(CostsOutcome::unmeasured(larger, smaller));
                    ClaimVerdict::NoData
                }
            }
        }
        None => ClaimVerdict::NoData,
    };
    missing.sort_by(|a, b| a.cell.cmp(&b.cell));
    missing.dedup();
    ClaimOutcome {
        id: spec.id.clone(),
        quote: spec.quote.clone(),
        place: spec.place.clone(),
        source: spec.source.clone().or_else(|| study.source.clone()),
        note: spec.note.clone(),
        verdict,
        figures,
        costs,
        missing,
    }
}

fn left_out(cell: &CellId) -> MissingCell {
    MissingCell {
        cell: cell.0.clone(),
        why: figure::LEFT_OUT.to_owned(),
    }
}

fn together(figures: &[FigureOutcome]) -> ClaimVerdict {
    let verdicts: Vec<ClaimVerdict> = figures.iter().map(|figure| figure.verdict).collect();
    ClaimVerdict::all(&verdicts)
}

fn of_tests(
    tests: &[TestSpec],
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> Vec<FigureOutcome> {
    let tests = tests.iter();
    tests
        .map(|test| figure::figure(test, evidence, missing))
        .collect()
}

/// Each cell beside the one before it, which is said to take no longer.
fn neighbours(cells: &[CellId]) -> Vec<TestSpec> {
    cells
        .windows(2)
        .map(|pair| no_faster(&pair[1], &pair[0]))
        .collect()
}

/// That a cell takes at least the time of another.
fn no_faster(cell: &CellId, than: &CellId) -> TestSpec {
    TestSpec {
        of: vec![cell.clone()],
        to: vec![than.clone()],
        at_least: Some(1.0),
        ..TestSpec::default()
    }
}

/// One figure for each size: of the rows that should not be the best the one that comes nearest to it,
/// beside the best of those that should. A row is beaten if one of those is faster by verdict; it is
/// the better one only if it is faster than each of them.
fn of_best(
    best: &BestSpec,
    evidence: &Evidence<'_>,
    missing: &mut Vec<MissingCell>,
) -> Vec<FigureOutcome> {
    let Some(matrix) = evidence.study.matrices.iter().find(|m| m.id == best.matrix) else {
        return Vec::new();
    };
    let others: Vec<u64> = best
        .among
        .iter()
        .filter(|row| !best.rows.contains(row))
        .copied()
        .collect();
    let mut found = Vec::new();
    for size in &best.sizes {
        let beaten: Vec<FigureOutcome> = others
            .iter()
            .filter_map(|row| {
                let figures: Vec<FigureOutcome> = best
                    .rows
                    .iter()
                    .map(|wanted| {
                        let cells = [matrix.cell_id(*row, *size), matrix.cell_id(*wanted, *size)];
                        figure::figure(&no_faster(&cells[0], &cells[1]), evidence, missing)
                    })
                    .collect();
                nearest_rival(figures)
            })
            .collect();
        found.extend(nearest_to_best(beaten));
    }
    found
}

/// A row beside the best of those that should beat it, with what all of them say of it.
fn nearest_rival(figures: Vec<FigureOutcome>) -> Option<FigureOutcome> {
    let any = |wanted| figures.iter().any(|figure| figure.verdict == wanted);
    let all = |wanted| figures.iter().all(|figure| figure.verdict == wanted);
    let verdict = match () {
        () if any(ClaimVerdict::Unreliable) => ClaimVerdict::Unreliable,
        () if all(ClaimVerdict::NoData) => ClaimVerdict::NoData,
        () if any(ClaimVerdict::Holds) => ClaimVerdict::Holds,
        () if all(ClaimVerdict::Fails) => ClaimVerdict::Fails,
        () => ClaimVerdict::Undecided,
    };
    let ratio = |figure: &FigureOutcome| figure.estimate.map_or(f64::NEG_INFINITY, |e| e.estimate);
    let figure = figures
        .into_iter()
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    Some(FigureOutcome { verdict, ..figure })
}

/// Of the rows that decide the one that comes nearest to being the best, with what all of them come to.
fn nearest_to_best(rows: Vec<FigureOutcome>) -> Option<FigureOutcome> {
    let verdict = together(&rows);
    let decide = rows.iter().any(|row| row.verdict == verdict);
    let ratio = |figure: &FigureOutcome| figure.estimate.map_or(f64::INFINITY, |e| e.estimate);
    let figure = rows
        .into_iter()
        .filter(|row| !decide || row.verdict == verdict)
        .min_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    Some(FigureOutcome { verdict, ..figure })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Interval;
    use stowplan_model::ClaimMeasure;

    fn row(verdict: ClaimVerdict, [estimate, low, high]: [f64; 3]) -> FigureOutcome {
        FigureOutcome {
            of: Vec::new(),
            to: Vec::new(),
            measure: ClaimMeasure::Time,
            at_least: Some(1.0),
            at_most: None,
            estimate: Some(Interval {
                estimate,
                low,
                high,
            }),
            beside: None,
            rounds: 10,
            across: false,
            verdict,
        }
    }

    #[test]
    fn the_row_that_is_shown_is_one_that_decides() {
        let noisy = row(ClaimVerdict::Undecided, [0.79, 0.66, 1.2]);
        let faster = row(ClaimVerdict::Fails, [0.85, 0.8, 0.9]);
        let slower = row(ClaimVerdict::Holds, [1.5, 1.4, 1.6]);
        let of = |rows: &[&FigureOutcome]| {
            let rows = rows.iter().map(|row| (*row).clone()).collect();
            let shown = nearest_to_best(rows).unwrap();
            (shown.verdict, shown.estimate.unwrap().estimate)
        };
        assert_eq!(of(&[&noisy, &faster, &slower]), (ClaimVerdict::Fails, 0.85));
        assert_eq!(of(&[&slower, &noisy]), (ClaimVerdict::Undecided, 0.79));
        assert_eq!(of(&[&slower, &slower]), (ClaimVerdict::Holds, 1.5));
    }
}
