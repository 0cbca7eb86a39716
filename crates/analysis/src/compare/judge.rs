//! Changes with their intervals and verdicts.

use super::{
    ALPHA, CellChange, Change, ChangeVerdict, Decides, FloorShift, ResourceChange, Resources,
    mann_whitney::{MAX_SAMPLE, shift},
    matching::{Place, obstacles, shown_differences},
};
use crate::{estimate::MIN_ROUNDS, quantity};
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
            .map(|shift| Self {
                slower: shift.ratio.ln().max(0.0),
                faster: (-shift.ratio.ln()).max(0.0),
            })
            .reduce(|a, b| Self {
                slower: a.slower.max(b.slower),
                faster: a.faster.max(b.faster),
            })
    }

    fn unseen() -> Self {
        Self {
            slower: UNSEEN_DRIFT.ln(),
            faster: UNSEEN_DRIFT.ln(),
        }
    }
}

/// What every cell of two results is judged by.
#[derive(Debug)]
pub(super) struct Criteria<'a> {
    pub(super) decides: Decides,
    pub(super) threshold: Option<f64>,
    pub(super) zone: f64,
    pub(super) floors: &'a [FloorShift],
}

impl Criteria<'_> {
    /// The change of one cell; nothing if it has no figures.
    pub(super) fn cell(&self, (base, new): (Place<'_>, Place<'_>)) -> Option<CellChange> {
        let noise = noise(base, new);
        let drift = self.drift((base, new), |floor| Some(floor.time));
        let time = change((&times(base), &times(new)), noise, drift)?;
        let drift = self.drift((base, new), |floor| floor.ratio);
        let ratio = ratio_change((base, new), noise, drift);
        let time_verdict = self.verdict(&time);
        let ratio_verdict = ratio.map(|ratio| self.verdict(&ratio));
        let decisive = match self.decides {
            Decides::Time => Some(time_verdict),
            Decides::Ratio => ratio_verdict,
            Decides::Nothing => None,
        };
        Some(CellChange {
            base: base.id().clone(),
            new: new.id().clone(),
            label: new.cell.cell.label.clone(),
            title: new.comparison.title.clone(),
            role: new.cell.cell.role,
            metric: new.comparison.metric,
            base_time_ns: base.cell.time_ns,
            new_time_ns: new.cell.time_ns,
            time,
            time_verdict,
            ratio,
            ratio_verdict,
            regression: decisive == Some(ChangeVerdict::Slower),
            differences: shown_differences(base, new),
            resources: self.resources(base, new),
        })
    }

    /// What may have shifted between the sessions: what the floors of the same comparison show, or,
    /// where it has none, all floors. Another machine is a shift like any other: what it does to
    /// trivial code says nothing of a cell.
    fn drift(
        &self,
        (base, new): (Place<'_>, Place<'_>),
        of: impl Fn(&FloorShift) -> Option<Change>,
    ) -> Drift {
        let ids = (&base.comparison.id, &new.comparison.id);
        let own = |floor: &&FloorShift| (&floor.base_comparison, &floor.new_comparison) == ids;
        let own = Drift::seen(self.floors.iter().filter(own).filter_map(&of));
        own.or_else(|| Drift::seen(self.floors.iter().filter_map(&of)))
            .unwrap_or_else(Drift::unseen)
    }

    fn verdict(&self, change: &Change) -> ChangeVerdict {
        let (low, high) = (change.low.ln(), change.high.ln());
        let threshold = self.threshold.map_or(0.0, f64::ln_1p);
        verdict(low, high, threshold, self.zone.ln_1p())
    }

    fn resources(&self, base: Place<'_>, new: Place<'_>) -> Resources {
        let figure = |measure: Measure| {
            let of = |place: Place<'_>| {
                let found = quantity::of(place.cell, measure, &place.analysis.space);
                found.map(|quantity| quantity.value)
            };
            let (base, new) = (of(base)?, of(new)?);
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

    /// Regressions first, then by verdict, then the largest change first.
    pub(super) fn order(&self, a: &CellChange, b: &CellChange) -> Ordering {
        let key = |cell: &CellChange| {
            let (change, verdict) = cell
                .decisive(self.decides)
                .map_or((cell.time, None), |(change, verdict)| {
                    (change, Some(verdict))
                });
            (!cell.regression, place(verdict), -change.ratio.ln().abs())
        };
        let (a, b) = (key(a), key(b));
        (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2))
    }
}

/// Where a verdict stands in the list; what has none comes last.
fn place(verdict: Option<ChangeVerdict>) -> u8 {
    match verdict {
        Some(ChangeVerdict::Slower) => 0,
        Some(ChangeVerdict::Faster) => 1,
        Some(ChangeVerdict::Small) => 2,
        Some(ChangeVerdict::Unresolved) => 3,
        Some(ChangeVerdict::WithinThreshold) => 4,
        Some(ChangeVerdict::NoChange) => 5,
        None => 6,
    }
}

/// The verdict on a widened interval of logarithms.
fn verdict(low: f64, high: f64, threshold: f64, zone: f64) -> ChangeVerdict {
    if low > threshold {
        ChangeVerdict::Slower
    } else if high < -threshold {
        ChangeVerdict::Faster
    } else if low > 0.0 || high < 0.0 {
        ChangeVerdict::Small
    } else if low >= -zone && high <= zone {
        ChangeVerdict::NoChange
    } else if low >= -threshold && high <= threshold {
        ChangeVerdict::WithinThreshold
    } else {
        ChangeVerdict::Unresolved
    }
}

/// How a floor shifted, widened for the noise within the sessions only.
pub(super) fn floor_shift((base, new): (Place<'_>, Place<'_>)) -> Option<FloorShift> {
    let noise = noise(base, new);
    Some(FloorShift {
        cell: base.id().clone(),
        base_comparison: base.comparison.id.clone(),
        new_comparison: new.comparison.id.clone(),
        time: change((&times(base), &times(new)), noise, Drift::NONE)?,
        ratio: ratio_change((base, new), noise, Drift::NONE),
    })
}

/// The change of the ratio to the baseline, where that is the same in both.
fn ratio_change((base, new): (Place<'_>, Place<'_>), noise: f64, drift: Drift) -> Option<Change> {
    let (ours, theirs) = baselines(base, new)?;
    change((&ratios(base, ours), &ratios(new, theirs)), noise, drift)
}

/// The baselines that two cells are related to, if they are one and the same cell, and not these.
fn baselines<'a>(base: Place<'a>, new: Place<'a>) -> Option<(Place<'a>, Place<'a>)> {
    let (ours, theirs) = (
        base.with_role(Role::Baseline)?,
        new.with_role(Role::Baseline)?,
    );
    let others = ours.id() != base.id() && theirs.id() != new.id();
    let same = || obstacles(ours, theirs).is_empty() && shown_differences(ours, theirs).is_empty();
    (others && same()).then_some((ours, theirs))
}

/// What the sessions say of the noise within them, as a natural logarithm. Each floor bounds an
/// error of its own session, and the errors may add up.
fn noise(base: Place<'_>, new: Place<'_>) -> f64 {
    base.comparison.noise_floor + new.comparison.noise_floor
}

/// Per round, the logarithm of the time per operation. Only the cell's own: the control is a second
/// copy of the baseline, but both share what the machine did in a round, so that taking them
/// together would count each round twice; and it is what the noise floor rests on.
fn times(place: Place<'_>) -> Vec<f64> {
    let series = place.cell.series.iter().take(MAX_SAMPLE);
    series.map(|(_, log)| *log).collect()
}

/// Per round that both have, the logarithm of the ratio to the baseline.
fn ratios(place: Place<'_>, baseline: Place<'_>) -> Vec<f64> {
    let of_baseline: BTreeMap<u32, f64> = baseline.cell.series.iter().copied().collect();
    let series = place.cell.series.iter().take(MAX_SAMPLE);
    series
        .filter_map(|(round, log)| Some(log - of_baseline.get(round)?))
        .collect()
}

/// The change from logarithms of BASE to those of NEW.
fn change((base, new): (&[f64], &[f64]), noise_floor: f64, drift: Drift) -> Option<Change> {
    if base.len().min(new.len()) < MIN_ROUNDS {
        return None;
    }
    let found = shift(base, new, ALPHA)?;
    Some(Change {
        ratio: found.estimate.exp(),
        raw_low: found.low.exp(),
        raw_high: found.high.exp(),
        low: (found.low - noise_floor - drift.slower).exp(),
        high: (found.high + noise_floor + drift.faster).exp(),
        noise_floor,
        drift_slower: drift.slower,
        drift_faster: drift.faster,
        base_rounds: base.len(),
        new_rounds: new.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_by_both_ends_of_the_interval_and_an_end_at_a_limit_is_not_beyond_it() {
        use ChangeVerdict::{Faster, NoChange, Slower, Small, Unresolved, WithinThreshold};
        // Threshold 0.1, zone 0.05.
        let table = [
            ((0.11, 0.2), Slower),
            ((0.1, 0.2), Small),
            ((0.01, 0.2), Small),
            ((0.01, 0.02), Small),
            ((-0.2, -0.11), Faster),
            ((-0.2, -0.1), Small),
            ((-0.2, -0.01), Small),
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
}
