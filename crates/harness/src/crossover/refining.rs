//! What is measured next of a crossover: sizes that gave no figure again, and more where the order changes.

use super::{Question, SweepSize};
use crate::drivers::Drivers;
use crate::runner::{Extender, Resumption};
use crate::{HarnessError, Result};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stowplan_analysis::{RefineLimits, SweepPoint, Verdict, analyse, refine};
use stowplan_model::{Extension, Plan, read_result};

/// How often sizes are added where the order changes.
const PASSES: u32 = 2;
/// Comparisons that a pass adds, about.
const ADDED: usize = 6;

/// Measures those sizes again that gave no figure, and adds sizes where the order changes.
#[derive(Debug)]
pub struct Refining {
    question: Question,
    result: PathBuf,
    /// How often sizes may still be added.
    passes: u32,
    /// Sizes that were measured again: once is enough.
    repeated: BTreeSet<u64>,
}

/// The sweep as far as it was measured.
#[derive(Debug, Default)]
struct Measured {
    points: Vec<SweepPoint>,
    /// Every size that is in the plan, measured or not.
    planned: BTreeSet<u64>,
}

impl Extender for Refining {
    fn extend(&mut self, plan: &Plan) -> Result<Option<Extension>> {
        let next = self.next(&self.measured(plan)?);
        if next.is_empty() {
            return Ok(None);
        }
        self.question.extension(&next).map(Some)
    }

    fn expected(&self) -> usize {
        self.passes as usize * ADDED
    }
}

impl Refining {
    /// What may follow in a crossover that begins, and whose result is written to this file.
    #[must_use]
    pub fn begun(question: Question, result: &Path) -> Self {
        Self {
            question,
            result: result.to_owned(),
            passes: PASSES,
            repeated: BTreeSet::new(),
        }
    }

    /// What may follow in a crossover that was broken off, by what its record says; nothing if it is
    /// another study.
    #[must_use]
    pub fn resumed(resumption: &Resumption, drivers: &Rc<Drivers>, result: &Path) -> Option<Self> {
        let plan = &resumption.header.plan;
        let again = |id: &str| id.ends_with("-again");
        let added = resumption.extensions.iter().filter(|more| {
            let mut comparisons = more.comparisons.iter();
            comparisons.any(|comparison| !again(&comparison.id))
        });
        let passes = u32::try_from(added.count()).unwrap_or(PASSES);
        let [sweep] = &plan.sweeps[..] else {
            return None;
        };
        let repeated = plan.comparisons.iter().filter(|c| again(&c.id));
        let repeated = repeated.filter_map(|comparison| sweep.size_of(&comparison.id));
        let repeated = repeated.collect();
        let mut sought = plan.sought.clone()?;
        // They may have been raised since.
        let first = plan.comparisons.first();
        sought.rounds = first.map(|first| first.max_rounds).or(sought.rounds);
        let question = Question {
            sought,
            drivers: Rc::clone(drivers),
        };
        Some(Self {
            passes: PASSES.saturating_sub(passes),
            repeated,
            ..Self::begun(question, result)
        })
    }

    fn measured(&self, plan: &Plan) -> Result<Measured> {
        let bytes =
            std::fs::read(&self.result).map_err(HarnessError::io("read result", &self.result))?;
        let (records, _) = read_result(&bytes);
        let analysis = analyse(&records, None).map_err(|error| {
            HarnessError::invalid(format!("{}: {error}", self.result.display()))
        })?;
        let sweep = plan.sweeps.first().zip(analysis.by_size.into_iter().next());
        Ok(sweep.map_or_else(Measured::default, |(sweep, outcome)| {
            let comparisons = plan.comparisons.iter();
            let points = outcome.points().filter(|point| point.comparison.is_some());
            Measured {
                points: points.map(|point| point.found).collect(),
                planned: comparisons.filter_map(|c| sweep.size_of(&c.id)).collect(),
            }
        }))
    }

    /// What is measured next. Repetitions go alone: what they find decides where sizes are added,
    /// and those that are added last are repeated as well.
    fn next(&mut self, measured: &Measured) -> Vec<SweepSize> {
        let again = self.repetitions(measured);
        if !again.is_empty() || self.passes == 0 {
            return again;
        }
        self.passes -= 1;
        additions(measured)
    }

    /// The sizes without a result that were measured only once.
    fn repetitions(&mut self, measured: &Measured) -> Vec<SweepSize> {
        let without =
            |point: &&SweepPoint| matches!(point.verdict, Verdict::Unreliable | Verdict::NoData);
        let sizes = measured.points.iter().filter(without).map(|p| p.size);
        sizes
            .filter(|size| self.repeated.insert(*size))
            .map(|size| SweepSize { size, again: true })
            .collect()
    }
}

/// Sizes that a sweep still needs, the most needed first. Beside a size that has no figure at all
/// there are none: what failed there, or took too long, would do so again.
fn additions(measured: &Measured) -> Vec<SweepSize> {
    let points = &measured.points;
    let mut sizes = refine(points, &RefineLimits::default());
    sizes.retain(|size| {
        let below = points.iter().rev().find(|point| point.size < *size);
        let above = points.iter().find(|point| point.size > *size);
        let figures = [below, above]
            .into_iter()
            .flatten()
            .all(|point| point.verdict != Verdict::NoData);
        figures && !measured.planned.contains(size)
    });
    let entry = |size| SweepSize { size, again: false };
    sizes.into_iter().map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_analysis::RatioEstimate;
    use stowplan_model::{Sought, WorkloadSpec};

    fn refining() -> Refining {
        let question = Question {
            drivers: Rc::new(Drivers::built_in()),
            sought: Sought {
                a: "sqlite".parse().unwrap(),
                b: "files".parse().unwrap(),
                workload: WorkloadSpec::default(),
                bytes: 1_000_000,
                memory_budget: 4 << 20,
                rounds: None,
            },
        };
        Refining::begun(question, Path::new(""))
    }

    /// A size at which B takes `ratio` times as long, for certain.
    fn decided(size: u64, ratio: f64) -> SweepPoint {
        let (low, high) = (ratio * 0.99, ratio * 1.01);
        SweepPoint {
            size,
            estimate: Some(RatioEstimate {
                ratio,
                low,
                high,
                rounds: 10,
            }),
            verdict: if ratio > 1.0 {
                Verdict::Slower
            } else {
                Verdict::Faster
            },
        }
    }

    fn failed(size: u64) -> SweepPoint {
        SweepPoint {
            size,
            estimate: None,
            verdict: Verdict::NoData,
        }
    }

    fn unreliable(size: u64, ratio: f64) -> SweepPoint {
        SweepPoint {
            verdict: Verdict::Unreliable,
            ..decided(size, ratio)
        }
    }

    fn measured(points: &[SweepPoint]) -> Measured {
        Measured {
            points: points.to_vec(),
            planned: points.iter().map(|point| point.size).collect(),
        }
    }

    /// Size and whether it is a repetition.
    fn shown(next: &[SweepSize]) -> Vec<(u64, bool)> {
        let shown = |it: &SweepSize| (it.size, it.again);
        next.iter().map(shown).collect()
    }

    #[test]
    fn a_size_without_a_result_is_measured_again_before_any_is_added() {
        let mut refining = refining();
        let before = [
            decided(1024, 2.0),
            unreliable(2048, 1.5),
            decided(4096, 0.5),
        ];
        let next = refining.next(&measured(&before));
        assert_eq!(shown(&next), [(2048, true)]);
        assert_eq!(refining.passes, PASSES, "a repetition is no refinement");
        let after = [decided(1024, 2.0), decided(2048, 1.5), decided(4096, 0.5)];
        let next = refining.next(&measured(&after));
        assert_eq!(next.len(), 3);
        let between = |it: &SweepSize| !it.again && (2048..4096).contains(&it.size);
        assert!(next.iter().all(between), "{next:?}");
    }

    #[test]
    fn a_size_is_measured_again_once_also_if_it_was_added_last() {
        let mut refining = refining();
        refining.passes = 0;
        let sweep = measured(&[decided(1024, 2.0), unreliable(2048, 0.5)]);
        assert_eq!(shown(&refining.next(&sweep)), [(2048, true)]);
        assert!(refining.next(&sweep).is_empty());
    }

    #[test]
    fn no_size_is_added_beside_one_that_failed_or_that_is_planned_already() {
        let mut refining = refining();
        let points = [decided(1024, 2.0), failed(4096), decided(16384, 0.5)];
        assert_eq!(shown(&refining.next(&measured(&points))), [(4096, true)]);
        assert!(refining.next(&measured(&points)).is_empty());
        let mut sweep = measured(&[decided(1024, 2.0), decided(2048, 0.5)]);
        let first = additions(&sweep)[0].size;
        sweep.planned.insert(first);
        let rest = additions(&sweep);
        assert_eq!(rest.len(), 2);
        assert!(rest.iter().all(|it| it.size != first));
    }

    #[test]
    fn refining_ends_whatever_is_found() {
        let answers: [fn(u64) -> SweepPoint; 4] = [
            |size| decided(size, if size < 20_000 { 1.3 } else { 0.7 }),
            |size| decided(size, if size % 3 == 0 { 1.02 } else { 0.97 }),
            |size| unreliable(size, 1.5),
            failed,
        ];
        for (number, answer) in answers.into_iter().enumerate() {
            let mut refining = refining();
            let mut points: Vec<SweepPoint> = (10..21).map(|i| answer(1 << i)).collect();
            let mut extensions = 0;
            loop {
                let next = refining.next(&measured(&points));
                if next.is_empty() {
                    break;
                }
                extensions += 1;
                assert!(extensions <= 2 * PASSES + 1, "answer {number} never ends");
                for it in next {
                    points.retain(|point| point.size != it.size);
                    points.push(answer(it.size));
                }
                points.sort_by_key(|point| point.size);
            }
            assert!(extensions > 0, "answer {number}");
        }
    }
}
