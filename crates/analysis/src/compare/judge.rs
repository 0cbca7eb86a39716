//! Changes with their intervals and verdicts.

use super::{
    ALPHA, CellChange, Change, ChangeVerdict, Decides, FloorShift, ResourceChange, Resources,
    Turns, Unit,
    mann_whitney::MAX_SAMPLE,
    matching::{Pair, Place, Sessions, comparable, shown_differences},
    neighbours::{Most, Neighbours},
    rounds::ByRounds,
};
use crate::{
    Interval, Metric,
    blocks::{location, logs},
    estimate::MIN_ROUNDS,
    estimate::median,
    quantity,
    spread::Paired,
    student::{self, Welch},
};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use stowplan_model::{Measure, Role};

/// What is assumed to have shifted, either way, where no floor tells: with it 1.3 to 1.8% of pairs of
/// windows of the recorded rounds are told apart, without it 10 to 13% (docs/compare.md).
const UNSEEN_DRIFT: f64 = 1.03;

/// By how much the machine may have changed between the sessions, as natural logarithms of at
/// least 0.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Drift {
    slower: f64,
    faster: f64,
}

impl Drift {
    const NONE: Self = Self {
        slower: 0.0,
        faster: 0.0,
    };

    /// What floors explain that shifted like this: a cell may have been slowed by as much as a
    /// floor, or not at all, but not sped up by what slowed the floors.
    ///
    /// By their estimates, as the noise floor is by that of the control. With the ends of their
    /// intervals, which are often wider than those of the cells, false alarms fell from 2.3 to 1.4%
    /// of cells on a busy machine and intervals grew by a quarter (docs/compare.md).
    fn seen(shifts: impl Iterator<Item = Change>) -> Option<Self> {
        shifts
            .map(|shift| Self::moved(shift.ratio.ln()))
            .reduce(Self::most)
    }

    /// What moved so far, as a natural logarithm.
    fn moved(by: f64) -> Self {
        Self {
            slower: by.max(0.0),
            faster: (-by).max(0.0),
        }
    }

    /// What most of the other cells did: slower by what most took longer at least.
    fn of_most(others: Most) -> Self {
        Self {
            slower: others.at_least.max(0.0),
            faster: (-others.at_most).max(0.0),
        }
    }

    /// Of two the one that moved most, to either side.
    fn most(self, other: Self) -> Self {
        Self {
            slower: self.slower.max(other.slower),
            faster: self.faster.max(other.faster),
        }
    }

    fn unseen() -> Self {
        Self {
            slower: UNSEEN_DRIFT.ln(),
            faster: UNSEEN_DRIFT.ln(),
        }
    }
}

/// What the time of a cell may hold besides what NEW changed in it, as natural logarithms of at
/// least 0: intervals are widened by it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Allowance {
    /// For the noise within the sessions, to both sides.
    noise: f64,
    drift: Drift,
}

/// What every cell of two sides is judged by.
#[derive(Debug)]
pub(super) struct Criteria<'a> {
    pub(super) decides: Decides,
    pub(super) threshold: Option<f64>,
    pub(super) zone: f64,
    pub(super) floors: &'a [FloorShift],
    pub(super) neighbours: &'a Neighbours<'a>,
    pub(super) unit: Unit,
    pub(super) turns: Turns,
}

impl Criteria<'_> {
    /// The change of one cell; nothing if it has no figures.
    pub(super) fn cell(&self, pair: &Pair<'_>) -> Option<CellChange> {
        let allowed = |drift| Allowance {
            noise: noise(pair, self.unit),
            drift,
        };
        let limit = self.threshold.map_or(0.0, f64::ln_1p);
        let (base, new) = (pair.base.first, pair.new.first);
        let drift = self.drift(pair, |floor| Some(floor.time), self.neighbours.time(pair));
        let time = Samples::times(pair).change(self.unit, allowed(drift), limit)?;
        let drift = self.drift(pair, |floor| floor.ratio, self.neighbours.ratio(pair));
        let ratio = Samples::ratios(pair, self.unit)
            .and_then(|samples| samples.change(self.unit, allowed(drift), limit));
        Some(CellChange {
            base: base.id().clone(),
            new: new.id().clone(),
            label: new.cell.cell.label.clone(),
            title: new.comparison.title.clone(),
            role: new.cell.cell.role,
            metric: new.comparison.metric,
            base_time_ns: self.time_ns(&pair.base),
            new_time_ns: self.time_ns(&pair.new),
            time,
            time_verdict: self.verdict(&time),
            ratio,
            ratio_verdict: ratio.map(|ratio| self.verdict(&ratio)),
            adjusted_p: None,
            regression: false,
            differences: shown_differences(base, new),
            resources: self.resources(pair),
        })
    }

    /// The time on one side; of several sessions by what they differ by.
    fn time_ns(&self, side: &Sessions<'_>) -> Option<Interval> {
        match self.unit {
            // Of all rounds, as the change is.
            Unit::Round => location(&logs(&side.first.cell.series), side.first.comparison.metric),
            Unit::Session => {
                let metric = side.first.comparison.metric;
                let times = side.all().map(|place| level(&times(place), metric));
                let times: Vec<f64> = times.collect::<Option<_>>()?;
                Some(student::mean(&times, ALPHA)?.by(f64::exp))
            }
        }
    }

    /// Whether what the machine did lies in the spread of the sessions, because both sides had their
    /// turns while it did.
    fn drift_is_measured(&self) -> bool {
        self.unit == Unit::Session && self.turns == Turns::Taken
    }

    /// Whether something is assumed to have shifted, because nothing tells.
    pub(super) fn assumes_drift(&self) -> bool {
        self.floors.is_empty() && !self.drift_is_measured()
    }

    /// What may have shifted between the sides: what the floors of the same comparison show, or,
    /// where it has none, all floors; without any what is assumed, and between single sessions what most
    /// of the other cells do, if that is more. Another machine is a shift like any other: what it does to trivial code says
    /// nothing of a cell. Nothing where the sessions took turns.
    fn drift(
        &self,
        pair: &Pair<'_>,
        of: impl Fn(&FloorShift) -> Option<Change>,
        others: Option<Most>,
    ) -> Drift {
        if self.drift_is_measured() {
            return Drift::NONE;
        }
        let comparison = |side: &Sessions<'_>| side.first.comparison.id.clone();
        let ids = (&comparison(&pair.base), &comparison(&pair.new));
        let own = |floor: &&FloorShift| (&floor.base_comparison, &floor.new_comparison) == ids;
        let own = Drift::seen(self.floors.iter().filter(own).filter_map(&of));
        let of_floors = own.or_else(|| Drift::seen(self.floors.iter().filter_map(&of)));
        let of_others = others.map_or(Drift::NONE, Drift::of_most);
        of_floors.unwrap_or_else(|| Drift::unseen().most(of_others))
    }

    fn verdict(&self, change: &Change) -> ChangeVerdict {
        let (low, high) = (change.low.ln(), change.high.ln());
        let threshold = self.threshold.map_or(0.0, f64::ln_1p);
        verdict(low, high, threshold, self.zone.ln_1p())
    }

    fn resources(&self, pair: &Pair<'_>) -> Resources {
        let figure = |measure: Measure| {
            let of = |side: &Sessions<'_>| {
                let figures = side.all().filter_map(|place| {
                    let found = quantity::of(place.cell, measure, &place.analysis.space);
                    found.map(|quantity| quantity.value)
                });
                median(figures.collect())
            };
            let (base, new) = (of(&pair.base)?, of(&pair.new)?);
            let ratio = new / base;
            let beyond = |threshold: f64| ratio.ln().abs() > threshold.ln_1p();
            ratio.is_finite().then(|| ResourceChange {
                base,
                new,
                ratio,
                beyond_threshold: self.threshold.is_some_and(beyond),
            })
        };
        Resources {
            allocated_bytes: figure(Measure::Footprint),
            write_amplification: figure(Measure::WriteAmplification),
            peak_memory_bytes: figure(Measure::PeakMemory),
        }
    }
}

/// Regressions first, then by verdict, then the largest change first.
pub(super) fn order(decides: Decides, a: &CellChange, b: &CellChange) -> Ordering {
    let key = |cell: &CellChange| {
        let (change, verdict) = cell
            .decisive(decides)
            .map_or((cell.time, None), |(change, verdict)| {
                (change, Some(verdict))
            });
        (!cell.regression, place(verdict), -change.ratio.ln().abs())
    };
    let (a, b) = (key(a), key(b));
    (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
}

/// Where a verdict stands in the list; what has none comes last.
fn place(verdict: Option<ChangeVerdict>) -> u8 {
    match verdict {
        Some(ChangeVerdict::Slower) => 0,
        Some(ChangeVerdict::Faster) => 1,
        Some(ChangeVerdict::Differs) => 2,
        Some(ChangeVerdict::Small) => 3,
        Some(ChangeVerdict::Unresolved) => 4,
        Some(ChangeVerdict::WithinThreshold) => 5,
        Some(ChangeVerdict::NoChange) => 6,
        None => 7,
    }
}

/// The verdict on a widened interval of logarithms.
fn verdict(low: f64, high: f64, threshold: f64, zone: f64) -> ChangeVerdict {
    if low > threshold {
        ChangeVerdict::Slower
    } else if high < -threshold {
        ChangeVerdict::Faster
    } else if low > 0.0 || high < 0.0 {
        match high > threshold || low < -threshold {
            true => ChangeVerdict::Differs,
            false => ChangeVerdict::Small,
        }
    } else if low >= -zone && high <= zone {
        ChangeVerdict::NoChange
    } else if low >= -threshold && high <= threshold {
        ChangeVerdict::WithinThreshold
    } else {
        ChangeVerdict::Unresolved
    }
}

/// Whether a verdict on an interval of logarithms that ends at `high` leaves open that the cell became
/// slower by more than the threshold.
pub(super) fn leaves_open(verdict: ChangeVerdict, high: f64, threshold: f64) -> bool {
    match verdict {
        ChangeVerdict::Unresolved => true,
        ChangeVerdict::Differs => high > threshold,
        ChangeVerdict::Slower
        | ChangeVerdict::Small
        | ChangeVerdict::Faster
        | ChangeVerdict::WithinThreshold
        | ChangeVerdict::NoChange => false,
    }
}

/// How a floor shifted, widened for the noise within the sessions only.
pub(super) fn floor_shift(pair: &Pair<'_>, unit: Unit) -> Option<FloorShift> {
    let allowed = Allowance {
        noise: noise(pair, unit),
        drift: Drift::NONE,
    };
    let (base, new) = (pair.base.first, pair.new.first);
    let ratios = Samples::ratios(pair, unit);
    Some(FloorShift {
        cell: base.id().clone(),
        base_comparison: base.comparison.id.clone(),
        new_comparison: new.comparison.id.clone(),
        time: Samples::times(pair).change(unit, allowed, 0.0)?,
        ratio: ratios.and_then(|samples| samples.change(unit, allowed, 0.0)),
    })
}

/// The baselines that a cell is related to in each session, if they are one and the same cell, and
/// not this one.
pub(super) fn baselines<'a>(pair: &Pair<'a>, unit: Unit) -> Option<Pair<'a>> {
    let of = |side: &Sessions<'a>| {
        Sessions::each(side.all().map(|place| place.with_role(Role::Baseline)))
    };
    let (base, new) = (of(&pair.base)?, of(&pair.new)?);
    let others = base.first.id() != pair.base.first.id() && new.first.id() != pair.new.first.id();
    let same = shown_differences(base.first, new.first).is_empty();
    let lengths = (base.len(), new.len());
    let found = comparable(Pair { base, new }, unit).ok()?;
    let all = (found.base.len(), found.new.len()) == lengths;
    (others && same && all).then_some(found)
}

/// What the sessions say of the noise within them, as a natural logarithm. Each floor bounds an
/// error of its own session, and the errors may add up. What several sessions differ by holds it
/// already.
fn noise(pair: &Pair<'_>, unit: Unit) -> f64 {
    match unit {
        Unit::Round => {
            pair.base.first.comparison.noise_floor + pair.new.first.comparison.noise_floor
        }
        Unit::Session => 0.0,
    }
}

/// Per round, the logarithm of the time per operation, and the build that it met. Only the cell's own:
/// the control is a second copy of the baseline, but both share what the machine did in a round, so that
/// taking them together would count each round twice; and it is what the noise floor rests on.
pub(super) fn times(place: Place<'_>) -> Vec<Paired> {
    let series = place.cell.series.iter().take(MAX_SAMPLE);
    let rounds = series.map(|(round, log)| Paired {
        round: *round,
        difference: *log,
        builds: [place.build(*round), None],
    });
    rounds.collect()
}

/// Per round that both have, the logarithm of the ratio to the baseline, and the builds of both.
pub(super) fn ratios(place: Place<'_>, baseline: Place<'_>) -> Vec<Paired> {
    let of_baseline: BTreeMap<u32, f64> = baseline.cell.series.iter().copied().collect();
    let rounds = times(place).into_iter().filter_map(|paired| {
        let [build, _] = paired.builds;
        Some(Paired {
            difference: paired.difference - of_baseline.get(&paired.round)?,
            builds: [build, baseline.build(paired.round)],
            ..paired
        })
    });
    rounds.collect()
}

/// Where the logarithms of one session lie.
pub(super) fn level(rounds: &[Paired], metric: Metric) -> Option<f64> {
    let logs: Vec<f64> = rounds.iter().map(|round| round.difference).collect();
    location(&logs, metric).map(|found| found.estimate.ln())
}

/// Logarithms of both sides: for each session one per round.
struct Samples {
    base: Vec<Vec<Paired>>,
    new: Vec<Vec<Paired>>,
    metric: Metric,
}

impl Samples {
    fn times(pair: &Pair<'_>) -> Self {
        Self {
            base: pair.base.all().map(times).collect(),
            new: pair.new.all().map(times).collect(),
            metric: pair.new.first.comparison.metric,
        }
    }

    /// Of the ratios to the baseline, where that is the same in all sessions.
    fn ratios(pair: &Pair<'_>, unit: Unit) -> Option<Self> {
        let baselines = baselines(pair, unit)?;
        let of = |side: &Sessions<'_>, baselines: &Sessions<'_>| {
            let places = side.all().zip(baselines.all());
            places
                .map(|(place, baseline)| ratios(place, baseline))
                .collect()
        };
        Some(Self {
            base: of(&pair.base, &baselines.base),
            new: of(&pair.new, &baselines.new),
            metric: pair.new.first.comparison.metric,
        })
    }

    /// The change from BASE to NEW, its interval widened by what is allowed for, and the p value that
    /// it lies above `limit`, a natural logarithm. Nothing where a session has too few rounds.
    fn change(&self, unit: Unit, allowed: Allowance, limit: f64) -> Option<Change> {
        let (base, new) = (&self.base, &self.new);
        if base
            .iter()
            .chain(new)
            .any(|rounds| rounds.len() < MIN_ROUNDS)
        {
            return None;
        }
        let Allowance { noise, drift } = allowed;
        let (found, p_slower) = self.test(unit, limit + noise + drift.slower)?;
        Some(Change {
            ratio: found.estimate.exp(),
            raw_low: found.low.exp(),
            raw_high: found.high.exp(),
            low: (found.low - noise - drift.slower).exp(),
            high: (found.high + noise + drift.faster).exp(),
            noise_floor: noise,
            drift_slower: drift.slower,
            drift_faster: drift.faster,
            p_slower,
            base_rounds: base.iter().map(Vec::len).sum(),
            new_rounds: new.iter().map(Vec::len).sum(),
            base_sessions: base.len(),
            new_sessions: new.len(),
        })
    }

    /// The shift with its interval, and the p value that it is more than `limit`. That the widened
    /// interval lies above a threshold is that the interval itself lies above the threshold and what
    /// it is widened by, so that the p value of the widened one is that of this sum.
    fn test(&self, unit: Unit, limit: f64) -> Option<(Interval, f64)> {
        match unit {
            Unit::Round => {
                let found = ByRounds::of(self.base.first()?, self.new.first()?)?;
                Some((found.shift(ALPHA)?, found.p_above(limit)))
            }
            Unit::Session => {
                let levels = |sessions: &[Vec<Paired>]| -> Option<Vec<f64>> {
                    let levels = sessions.iter().map(|rounds| level(rounds, self.metric));
                    levels.collect()
                };
                let welch = Welch::of(&levels(&self.base)?, &levels(&self.new)?)?;
                Some((welch.shift(ALPHA), welch.p_above(limit)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_by_both_ends_of_the_interval_and_an_end_at_a_limit_is_not_beyond_it() {
        use ChangeVerdict::{
            Differs, Faster, NoChange, Slower, Small, Unresolved, WithinThreshold,
        };
        // Threshold 0.1, zone 0.05.
        let table = [
            ((0.11, 0.2), Slower),
            ((0.1, 0.2), Differs),
            ((0.01, 0.2), Differs),
            ((0.01, 0.1), Small),
            ((0.01, 0.02), Small),
            ((-0.2, -0.11), Faster),
            ((-0.2, -0.1), Differs),
            ((-0.2, -0.01), Differs),
            ((-0.1, -0.01), Small),
            ((0.0, 0.02), NoChange),
            ((-0.02, 0.0), NoChange),
            ((-0.05, 0.05), NoChange),
            ((-0.06, 0.02), WithinThreshold),
            ((-0.02, 0.06), WithinThreshold),
            ((-0.1, 0.1), WithinThreshold),
            ((-0.11, 0.02), Unresolved),
            ((-0.02, 0.11), Unresolved),
        ];
        for ((low, high), expected) in table {
            assert_eq!(verdict(low, high, 0.1, 0.05), expected, "[{low}, {high}]");
        }
        let without_threshold = [
            ((0.01, 0.02), Slower),
            ((-0.02, -0.01), Faster),
            ((0.0, 0.02), NoChange),
            ((-0.02, 0.0), NoChange),
            ((-0.1, 0.02), Unresolved),
        ];
        for ((low, high), expected) in without_threshold {
            assert_eq!(verdict(low, high, 0.0, 0.05), expected, "[{low}, {high}]");
        }
    }

    #[test]
    fn a_difference_that_may_be_more_than_the_threshold_leaves_open_whether_it_is() {
        let open = |low, high| leaves_open(verdict(low, high, 0.1, 0.05), high, 0.1);
        for (low, high) in [(0.01, 0.2), (0.1, 0.2), (-0.02, 0.11), (-0.11, 0.02)] {
            assert!(open(low, high), "[{low}, {high}]");
        }
        for (low, high) in [
            (0.11, 0.2),
            (0.01, 0.1),
            (-0.2, -0.01),
            (-0.2, -0.11),
            (-0.06, 0.02),
        ] {
            assert!(!open(low, high), "[{low}, {high}]");
        }
    }
}
