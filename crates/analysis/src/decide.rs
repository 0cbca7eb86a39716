//! The decision itself.

use crate::recommendation::{
    Alternative, Flush, Kind, Open, Over, PromiseDifference, Promises, Recommendation, Unbeaten,
    When,
};
use crate::{
    CellSummary, ComparisonOutcome, ContrastOutcome, RatioEstimate, Verdict, estimate::MIN_ROUNDS,
    same_work, work_differences,
};
use stowplan_model::CellFailure;

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
    if comparison.rivals().count() == 1 {
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

/// A ratio to the baseline with its verdict.
type Judged = (RatioEstimate, Verdict);

/// By which time a ratio is.
type By = fn(&ContrastOutcome) -> Option<Judged>;

fn timed(contrast: &ContrastOutcome) -> Option<Judged> {
    Some((contrast.estimate?, contrast.verdict))
}

/// With the flush in both times.
fn at_rest(contrast: &ContrastOutcome) -> Option<Judged> {
    let total = contrast.total?;
    (total.verdict != Verdict::Unreliable).then_some((total.estimate, total.verdict))
}

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
        let weaker = faster.iter().find(|(other, theirs)| {
            keeps(cell) && !keeps(other) && theirs.high < ratio.low && other.promise().is_some()
        });
        let by_promise = [(When::MoreMustSurvive, safer), (When::LessIsEnough, weaker)];
        let by_promise = by_promise.into_iter();
        let by_promise =
            by_promise.filter_map(|(when, found)| Some(self.alternative(when, found?.0, cell)));
        choice.alternatives = by_promise.chain(choice.alternatives).collect();
        Some(self.or_depends(choice, cell))
    }

    /// Nothing is faster than the baseline.
    fn kept(&self, failures: &[CellFailure]) -> Recommendation {
        let rivals = || self.comparison.rivals();
        let contrasts: Vec<(&CellSummary, &ContrastOutcome)> = rivals()
            .filter_map(|cell| Some((cell, self.comparison.to_baseline(cell)?)))
            .collect();
        let all = |are: &[Verdict]| contrasts.iter().all(|(_, c)| are.contains(&c.verdict));
        if all(&[Verdict::NoData]) {
            return Recommendation::open(self.without_data(&contrasts, failures));
        }
        let unbeaten = contrasts.iter().map(|(_, contrast)| contrast);
        let unbeaten = unbeaten.filter(|contrast| contrast.verdict != Verdict::Slower);
        // So that advice on speed is not taken for advice on safety.
        let safer = rivals().filter(|cell| promises_more(cell, self.baseline));
        let safer = safer.map(|cell| self.alternative(When::MoreMustSurvive, cell, self.baseline));
        let mut found = Recommendation {
            unbeaten: unbeaten.map(|contrast| self.unbeaten(contrast)).collect(),
            alternatives: safer.collect(),
            ..Recommendation::default()
        };
        if all(&[Verdict::Unresolved, Verdict::NoData]) && found.may_change() {
            found.open = Some(Open::Undecided);
            return found;
        }
        if all(&[Verdict::Equivalent]) {
            found.kind = Kind::Equivalent;
            return found;
        }
        let choice = Recommendation {
            unbeaten: found.unbeaten,
            alternatives: found.alternatives,
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
    fn or_depends(&self, mut choice: Recommendation, cell: &CellSummary) -> Recommendation {
        let sooner = choice.flush.as_ref().and_then(|f| f.sooner.as_ref());
        let sooner = sooner.and_then(|sooner| self.comparison.cell(sooner));
        let total = self.to_baseline(cell, at_rest);
        let is_lost = total.is_some_and(|(total, _)| total.low > 1.0);
        let answers_sooner = sooner.is_some_and(|sooner| self.is_ahead(cell, sooner, timed));
        if answers_sooner && (self.is_baseline(cell) || is_lost) {
            choice.kind = Kind::Depends;
        }
        choice
    }

    fn is_baseline(&self, cell: &CellSummary) -> bool {
        cell.cell.id == self.baseline.cell.id
    }

    fn to_baseline(&self, cell: &CellSummary, by: By) -> Option<Judged> {
        by(self.comparison.to_baseline(cell)?)
    }

    /// Whether a cell is shown to take less time than another one.
    fn is_ahead(&self, cell: &CellSummary, than: &CellSummary, by: By) -> bool {
        let (ours, theirs) = (self.to_baseline(cell, by), self.to_baseline(than, by));
        if self.is_baseline(than) {
            return ours.is_some_and(|(_, verdict)| verdict == Verdict::Faster);
        }
        if self.is_baseline(cell) {
            return theirs.is_some_and(|(_, verdict)| verdict == Verdict::Slower);
        }
        // Both are known against the baseline only: their intervals must be apart.
        let both = ours.zip(theirs);
        both.is_some_and(|((ours, _), (theirs, _))| ours.high * self.zone < theirs.low)
    }

    fn over_baseline(&self, cell: &CellSummary) -> Option<Over> {
        let found = self.to_baseline(cell, timed)?;
        Some(over(cell, self.baseline, found))
    }

    /// By how much the baseline is ahead of the next that it is shown to beat.
    fn next_behind(&self) -> Option<Over> {
        let slower = self.comparison.with_verdict(Verdict::Slower);
        let (next, ratio) = slower.first()?;
        let found = (ratio.inverse(), Verdict::Faster);
        Some(over(self.baseline, next, found))
    }

    /// What the final flush makes of the choice of this cell; nothing where it makes nothing of it.
    fn flush(&self, cell: &CellSummary, over: Option<&Over>) -> Option<Flush> {
        let sooner = self.done_sooner(cell).map(|other| other.cell.id.clone());
        let total = over.and_then(|over| {
            let (total, verdict) = if self.is_baseline(cell) {
                let behind = self.comparison.cell(&over.cell)?;
                let (total, verdict) = self.to_baseline(behind, at_rest)?;
                (total.inverse(), verdict.inverse())
            } else {
                self.to_baseline(cell, at_rest)?
            };
            let is_apart = total.high < over.ratio.low || over.ratio.high < total.low;
            (verdict != over.verdict || is_apart).then_some((total, verdict))
        });
        (total.is_some() || sooner.is_some()).then(|| Flush {
            ratio: total.map(|(total, _)| total),
            verdict: total.map(|(_, verdict)| verdict),
            sooner,
        })
    }

    /// What is shown to be done sooner than this cell, flush included: the baseline, or a cell that
    /// does the same work with the same promise. Of several, the one with the smallest ratio.
    fn done_sooner(&self, cell: &CellSummary) -> Option<&'a CellSummary> {
        let others = self.comparison.rivals().filter(|other| {
            let is_rival = other.promise() == cell.promise() && same_work(other, cell);
            other.cell.id != cell.cell.id
                && (is_rival || self.is_baseline(other))
                && self.is_ahead(other, cell, at_rest)
        });
        let total = |other: &CellSummary| {
            let found = self.to_baseline(other, at_rest);
            found.map_or(1.0, |(total, _)| total.ratio)
        };
        others.min_by(|a, b| total(a).total_cmp(&total(b)))
    }

    /// What is faster still, promises the same as the choice, and does other work, so that it is no
    /// rival of it. It must not lose its lead by the flush.
    fn with_other_work(&self, chosen: &CellSummary) -> Option<Alternative> {
        // What is faster than the baseline beats it if that is the choice.
        let ours = self.comparison.to_baseline(chosen);
        let ours = ours.and_then(|contrast| contrast.estimate);
        let faster = self.comparison.with_verdict(Verdict::Faster);
        let mut found = faster.into_iter().filter(|(cell, ratio)| {
            cell.promise() == chosen.promise()
                && !same_work(cell, chosen)
                && ours.is_none_or(|ours| ratio.high < ours.low)
                && self.keeps_its_lead(cell, chosen)
        });
        let (found, _) = found.next()?;
        Some(self.alternative(When::OtherWorkWillDo, found, chosen))
    }

    /// Whether a cell that is faster than another one is so with the flush as well.
    fn keeps_its_lead(&self, cell: &CellSummary, than: &CellSummary) -> bool {
        let contrast = self.comparison.to_baseline(cell);
        let Some(theirs) = contrast.and_then(|contrast| contrast.total) else {
            return true;
        };
        let ours = self.to_baseline(than, at_rest);
        theirs.verdict == Verdict::Faster
            && ours.is_none_or(|(ours, _)| theirs.estimate.high < ours.low)
    }

    fn alternative(&self, when: When, cell: &CellSummary, chosen: &CellSummary) -> Alternative {
        let contrast = self.comparison.to_baseline(cell);
        Alternative {
            when,
            cell: cell.cell.id.clone(),
            ratio: contrast.and_then(|contrast| contrast.estimate),
            promise: cell.promise(),
            work: work_differences(cell, chosen),
        }
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
        let failed = |cell: &CellSummary| failures.iter().any(|f| f.cell == cell.cell.id);
        let pairs = contrasts.iter();
        let rounds = pairs.map(|(cell, _)| cell.rounds_in_common(self.baseline));
        match rounds.max() {
            None => Open::Alone,
            _ if failed(self.baseline) || contrasts.iter().all(|(cell, _)| failed(cell)) => {
                Open::Failed
            }
            Some(rounds) if rounds < MIN_ROUNDS => Open::TooFewRounds {
                rounds,
                needed: MIN_ROUNDS,
            },
            Some(_) => Open::NoRatio,
        }
    }
}

fn over(cell: &CellSummary, other: &CellSummary, (ratio, verdict): Judged) -> Over {
    Over {
        cell: other.cell.id.clone(),
        ratio,
        verdict,
        promise: PromiseDifference::of(cell, other),
        work: work_differences(cell, other),
    }
}

fn promises_more(cell: &CellSummary, than: &CellSummary) -> bool {
    let difference = PromiseDifference::of(cell, than);
    difference.is_some_and(|difference| difference.is == Promises::More)
}
