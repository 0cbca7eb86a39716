//! The decision itself.

use crate::recommendation::{
    Alternative, Flush, Kind, Open, Over, PromiseDifference, Promises, Recommendation, Unbeaten,
    When,
};
use crate::{
    CellSummary, ComparisonOutcome, ContrastOutcome, RatioEstimate, TotalOutcome, Verdict,
    estimate::MIN_ROUNDS, same_work, work_differences,
};
use stowplan_model::{CellFailure, CellId};

/// What to choose. `equivalence` is the half-width of the zone in which no difference matters, as a
/// ratio minus one.
pub(crate) fn recommend(
    comparison: &ComparisonOutcome,
    equivalence: f64,
    failures: &[CellFailure],
) -> Recommendation {
    let Some(baseline) = comparison.baseline() else {
        return Recommendation::open(Open::NoBaseline);
    };
    if comparison.stores().count() == 1 {
        return Recommendation::open(Open::Alone);
    }
    if !comparison.reliable {
        return Recommendation::open(match comparison.control {
            Some(_) => Open::Unreliable,
            None => Open::ControlTooShort,
        });
    }
    if comparison.rivals().count() == 1 && comparison.stores().count() > 1 {
        return Recommendation::open(Open::NoChoice);
    }
    let choosing = Choosing {
        comparison,
        baseline,
        zone: 1.0 + equivalence,
    };
    if let Some(winner) = comparison.fastest() {
        return choosing.won(winner);
    }
    let faster = comparison.with_verdict(Verdict::Faster);
    let preferred = choosing.preferred(&faster);
    preferred.unwrap_or_else(|| choosing.kept(failures))
}

/// A comparison whose session is reliable.
struct Choosing<'a> {
    comparison: &'a ComparisonOutcome,
    baseline: &'a CellSummary,
    /// By which factor times must differ for a difference that matters.
    zone: f64,
}

/// A cell and its ratio to the baseline.
type Rated<'a> = (&'a CellSummary, RatioEstimate);

impl<'a> Choosing<'a> {
    /// A cell beats each of the others.
    fn won(&self, winner: &'a CellSummary) -> Recommendation {
        let (kind, over) = if self.is_baseline(winner) {
            (Kind::Stay, self.next_behind())
        } else {
            (Kind::Use, self.over_baseline(winner))
        };
        let choice = self.choice(kind, winner, over);
        self.or_depends(choice, winner)
    }

    /// What to prefer to the baseline, if anything is faster: the fastest that keeps at least the
    /// promises of the baseline and does the same work; else the fastest that keeps the promises;
    /// else the fastest of all.
    fn preferred(&self, faster: &[Rated<'a>]) -> Option<Recommendation> {
        let keeps = |cell: &CellSummary| {
            let difference = PromiseDifference::of(cell, self.baseline);
            difference.is_none_or(|difference| !difference.lacks_something())
        };
        let same = |(cell, _): &&Rated<'_>| keeps(cell) && same_work(cell, self.baseline);
        let keeping = || faster.iter().find(|(cell, _)| keeps(cell));
        let found = faster.iter().find(same).or_else(keeping);
        let (cell, ratio) = *found.or_else(|| faster.first())?;
        let mut choice = self.choice(Kind::Prefer, cell, self.over_baseline(cell));
        let safer = faster.iter().find(|(other, _)| promises_more(other, cell));
        let is_weaker = |(other, theirs): &&Rated<'_>| {
            keeps(cell) && !keeps(other) && theirs.high < ratio.low && other.promise().is_some()
        };
        let weaker = faster.iter().find(is_weaker);
        let by_promise = [
            safer.map(|safer| alternative(When::MoreMustSurvive, safer, cell)),
            weaker.map(|weaker| alternative(When::LessIsEnough, weaker, cell)),
        ];
        let by_promise = by_promise.into_iter().flatten();
        choice.alternatives = by_promise.chain(choice.alternatives).collect();
        Some(self.or_depends(choice, cell))
    }

    /// Nothing is faster than the baseline.
    fn kept(&self, failures: &[CellFailure]) -> Recommendation {
        let rivals = self.comparison.rivals();
        let contrasts: Vec<(&CellSummary, &ContrastOutcome)> = rivals
            .filter_map(|cell| Some((cell, self.comparison.to_baseline(cell)?)))
            .collect();
        let all = |are: &[Verdict]| contrasts.iter().all(|(_, c)| are.contains(&c.verdict));
        if all(&[Verdict::NoData]) {
            return Recommendation::open(self.without_data(&contrasts, failures));
        }
        let unbeaten = contrasts
            .iter()
            .filter(|(_, c)| c.verdict != Verdict::Slower);
        let unbeaten: Vec<Unbeaten> = unbeaten.map(|(_, c)| self.unbeaten(c)).collect();
        let may_change = unbeaten.iter().any(|cell| cell.may_be_faster);
        if all(&[Verdict::Unresolved, Verdict::NoData]) && may_change {
            return Recommendation {
                unbeaten,
                alternatives: self.promising_more(),
                ..Recommendation::open(Open::Undecided)
            };
        }
        let alternatives = self.promising_more();
        if all(&[Verdict::Equivalent]) {
            return Recommendation {
                kind: Kind::Equivalent,
                unbeaten,
                alternatives,
                ..Recommendation::default()
            };
        }
        let choice = Recommendation {
            unbeaten,
            alternatives,
            ..self.choice(Kind::Keep, self.baseline, self.next_behind())
        };
        self.or_depends(choice, self.baseline)
    }

    fn choice(&self, kind: Kind, cell: &CellSummary, over: Option<Over>) -> Recommendation {
        Recommendation {
            kind,
            choice: Some(cell.cell.id.clone()),
            flush: self.flush(cell, over.as_ref()),
            over,
            promise: cell.promise(),
            alternatives: self.with_other_work(cell).into_iter().collect(),
            ..Recommendation::default()
        }
    }

    /// The choice, or that it depends: it is shown to answer sooner than what is shown to be done
    /// sooner, and, unless it is the baseline itself, its lead over that is shown to be lost with the
    /// flush.
    fn or_depends(&self, choice: Recommendation, cell: &CellSummary) -> Recommendation {
        let sooner = choice.flush.as_ref().and_then(|f| f.sooner.as_ref());
        let sooner = sooner.and_then(|sooner| self.comparison.cell(sooner));
        let total = self.total_of(cell);
        let is_lost = total.is_some_and(|total| total.estimate.low > 1.0);
        let depends = (self.is_baseline(cell) || is_lost)
            && sooner.is_some_and(|sooner| self.answers_sooner(cell, sooner));
        match depends {
            true => Recommendation {
                kind: Kind::Depends,
                ..choice
            },
            false => choice,
        }
    }

    /// Whether a cell is shown to take less time than another one, without the flush.
    fn answers_sooner(&self, cell: &CellSummary, than: &CellSummary) -> bool {
        let verdict = |of: &CellSummary| self.comparison.to_baseline(of).map(|c| c.verdict);
        if self.is_baseline(than) {
            return verdict(cell) == Some(Verdict::Faster);
        }
        if self.is_baseline(cell) {
            return verdict(than) == Some(Verdict::Slower);
        }
        // Both are known against the baseline only: their intervals must be apart.
        let ratio = |of: &CellSummary| self.comparison.to_baseline(of)?.estimate;
        let both = ratio(cell).zip(ratio(than));
        both.is_some_and(|(ours, theirs)| ours.high * self.zone < theirs.low)
    }

    fn is_baseline(&self, cell: &CellSummary) -> bool {
        cell.cell.id == self.baseline.cell.id
    }

    fn over_baseline(&self, cell: &CellSummary) -> Option<Over> {
        let contrast = self.comparison.to_baseline(cell)?;
        Some(Over {
            cell: self.baseline.cell.id.clone(),
            ratio: contrast.estimate?,
            verdict: contrast.verdict,
            promise: PromiseDifference::of(cell, self.baseline),
            work: work_differences(cell, self.baseline),
        })
    }

    /// By how much the baseline is ahead of the next that it is shown to beat.
    fn next_behind(&self) -> Option<Over> {
        let slower = self.comparison.with_verdict(Verdict::Slower);
        let (next, ratio) = slower.first()?;
        Some(Over {
            cell: next.cell.id.clone(),
            ratio: ratio.inverse(),
            verdict: Verdict::Faster,
            promise: PromiseDifference::of(self.baseline, next),
            work: work_differences(self.baseline, next),
        })
    }

    /// With the flush: the cell over the baseline.
    fn total_of(&self, cell: &CellSummary) -> Option<TotalOutcome> {
        let total = self.comparison.to_baseline(cell)?.total?;
        (total.verdict != Verdict::Unreliable).then_some(total)
    }

    /// What the final flush makes of the choice of this cell; nothing where it makes nothing of it.
    fn flush(&self, cell: &CellSummary, over: Option<&Over>) -> Option<Flush> {
        let sooner = self.done_sooner(cell).map(|other| other.cell.id.clone());
        let total = over.and_then(|over| {
            let total = if self.is_baseline(cell) {
                self.total_of(self.comparison.cell(&over.cell)?)?.inverse()
            } else {
                self.total_of(cell)?
            };
            let says_otherwise = total.verdict != over.verdict || apart(total.estimate, over.ratio);
            says_otherwise.then_some(total)
        });
        (total.is_some() || sooner.is_some()).then(|| Flush {
            ratio: total.map(|total| total.estimate),
            verdict: total.map(|total| total.verdict),
            sooner,
        })
    }

    /// What is shown to be done sooner than this cell, flush included: the baseline, or a cell that
    /// does the same work with the same promise. Of several, the one with the smallest ratio.
    fn done_sooner(&self, cell: &CellSummary) -> Option<&'a CellSummary> {
        let mut found: Vec<(f64, &CellSummary)> = Vec::new();
        for other in self.comparison.rivals() {
            let is_rival = other.promise() == cell.promise() && same_work(other, cell);
            if other.cell.id != cell.cell.id && (is_rival || self.is_baseline(other)) {
                let ratio = self.done_sooner_than(cell, other);
                found.extend(ratio.map(|ratio| (ratio, other)));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.first().map(|(_, other)| *other)
    }

    /// The total of `other` over that of the baseline, if it is shown to be done sooner than `cell`.
    fn done_sooner_than(&self, cell: &CellSummary, other: &CellSummary) -> Option<f64> {
        if self.is_baseline(other) {
            let ours = self.total_of(cell)?;
            return (ours.verdict == Verdict::Slower).then_some(1.0);
        }
        let theirs = self.total_of(other)?;
        let sooner = if self.is_baseline(cell) {
            theirs.verdict == Verdict::Faster
        } else {
            // Both are known against the baseline only: their intervals must be apart.
            theirs.estimate.high * self.zone < self.total_of(cell)?.estimate.low
        };
        sooner.then_some(theirs.estimate.ratio)
    }

    /// What is faster still, promises the same as the choice, and does other work, so that it is no
    /// rival of it. It must not lose its lead by the flush.
    fn with_other_work(&self, chosen: &CellSummary) -> Option<Alternative> {
        // What is faster than the baseline beats it if that is the choice.
        let ours = self.comparison.to_baseline(chosen);
        let ours = ours.and_then(|contrast| contrast.estimate);
        let faster = self.comparison.with_verdict(Verdict::Faster);
        let mut found = faster.iter().filter(|(cell, ratio)| {
            cell.promise() == chosen.promise()
                && !same_work(cell, chosen)
                && ours.is_none_or(|ours| ratio.high < ours.low)
                && self.keeps_its_lead(cell, chosen)
        });
        let found = found.next()?;
        Some(alternative(When::OtherWorkWillDo, found, chosen))
    }

    /// Whether a cell that is faster than another one is so with the flush as well.
    fn keeps_its_lead(&self, cell: &CellSummary, than: &CellSummary) -> bool {
        let contrast = self.comparison.to_baseline(cell);
        let Some(theirs) = contrast.and_then(|contrast| contrast.total) else {
            return true;
        };
        let ours = self.total_of(than);
        theirs.verdict == Verdict::Faster
            && ours.is_none_or(|ours| theirs.estimate.high < ours.estimate.low)
    }

    /// The cells that keep what the baseline does and more, so that advice on speed is not taken for
    /// advice on safety.
    fn promising_more(&self) -> Vec<Alternative> {
        let rivals = self.comparison.rivals();
        let more = rivals.filter(|cell| promises_more(cell, self.baseline));
        more.map(|cell| Alternative {
            when: When::MoreMustSurvive,
            cell: cell.cell.id.clone(),
            ratio: self.comparison.to_baseline(cell).and_then(|c| c.estimate),
            promise: cell.promise(),
            work: work_differences(cell, self.baseline),
        })
        .collect()
    }

    fn unbeaten(&self, contrast: &ContrastOutcome) -> Unbeaten {
        let low = contrast.estimate.map(|estimate| estimate.low);
        let is_open = matches!(
            contrast.verdict,
            Verdict::Unresolved | Verdict::NoData | Verdict::SmallDifference
        );
        Unbeaten {
            cell: contrast.cell.clone(),
            verdict: contrast.verdict,
            may_be_faster: is_open && low.is_none_or(|low| low * self.zone < 1.0),
        }
    }

    /// Why no ratio has data.
    fn without_data(
        &self,
        contrasts: &[(&CellSummary, &ContrastOutcome)],
        failures: &[CellFailure],
    ) -> Open {
        let failed = |cell: &CellSummary| failures.iter().any(|f| is_of(f, &cell.cell.id));
        let pairs = contrasts.iter();
        let rounds = pairs.map(|(cell, _)| cell.rounds_in_common(self.baseline));
        let Some(rounds) = rounds.max() else {
            return Open::Alone;
        };
        if failed(self.baseline) || contrasts.iter().all(|(cell, _)| failed(cell)) {
            Open::Failed
        } else if rounds < MIN_ROUNDS {
            Open::TooFewRounds {
                rounds,
                needed: MIN_ROUNDS,
            }
        } else {
            Open::NoRatio
        }
    }
}

fn is_of(failure: &CellFailure, cell: &CellId) -> bool {
    failure.cell == *cell
}

fn alternative(when: When, (cell, ratio): &Rated<'_>, chosen: &CellSummary) -> Alternative {
    Alternative {
        when,
        cell: cell.cell.id.clone(),
        ratio: Some(*ratio),
        promise: cell.promise(),
        work: work_differences(cell, chosen),
    }
}

/// Whether two intervals have nothing in common.
fn apart(a: RatioEstimate, b: RatioEstimate) -> bool {
    a.high < b.low || b.high < a.low
}

fn promises_more(cell: &CellSummary, than: &CellSummary) -> bool {
    let difference = PromiseDifference::of(cell, than);
    difference.is_some_and(|difference| difference.is == Promises::More)
}
