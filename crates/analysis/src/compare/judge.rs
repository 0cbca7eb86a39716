//! Changes with their intervals and verdicts.

use super::{
    ALPHA, CellChange, Change, ChangeVerdict, Changes, Decides, FloorShift, RESOURCES,
    ResourceChange, Turns, Unit,
    matching::{Pair, Place, comparable, shown_differences},
};
use crate::{
    Interval, Metric,
    blocks::{location, logs},
    estimate::{MIN_ROUNDS, median},
    quantity,
    spread::{Paired, Spread},
    student::Located,
};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use stowplan_model::Measure;

/// What is assumed to have shifted, either way, where no floor tells (docs/compare.md).
const UNSEEN_DRIFT: f64 = 1.03;

/// By how much the machine may have changed between the sessions, as natural logarithms of at
/// least 0.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Drift {
    slower: f64,
    faster: f64,
}

impl Drift {
    /// What shifts like this explain: a cell may have been slowed by as much as a floor, or not at all, but
    /// not sped up by what slowed the floors.
    ///
    /// By their estimates, as the noise floor is by that of the control. With the ends of their
    /// intervals, which are often wider than those of the cells, false alarms fell from 2.3 to 1.4%
    /// of cells on a busy machine and intervals grew by a quarter (docs/compare.md).
    fn seen(shifts: impl Iterator<Item = f64>) -> Option<Self> {
        let moved = shifts.map(|by| Self {
            slower: by.max(0.0),
            faster: (-by).max(0.0),
        });
        moved.reduce(Self::most)
    }

    /// What most of several cells did: slower by what most took longer at least, the middle one of an odd
    /// number. Of two neither tells by itself.
    fn of_most(mut shifts: Vec<f64>) -> Self {
        shifts.sort_unstable_by(f64::total_cmp);
        let Some(last) = shifts.len().checked_sub(1) else {
            return Self::default();
        };
        Self {
            slower: shifts[last / 2].max(0.0),
            faster: (-shifts[shifts.len() / 2]).max(0.0),
        }
    }

    /// Of two the one that moved most, to either side.
    fn most(self, other: Self) -> Self {
        Self {
            slower: self.slower.max(other.slower),
            faster: self.faster.max(other.faster),
        }
    }
}

/// How far NEW lies above BASE, by the logarithms of the rounds of each session.
#[derive(Debug, Clone, Copy)]
struct Shift {
    found: Located,
    rounds: [usize; 2],
    sessions: [usize; 2],
}

impl Shift {
    /// Nothing where a session has too few rounds.
    fn of([base, new]: &[Vec<Vec<Paired>>; 2], metric: Metric) -> Option<Self> {
        let located = |side| located(side, metric);
        Some(Self {
            found: located(new)?.less(located(base)?),
            rounds: [base, new].map(|side| side.iter().map(Vec::len).sum()),
            sessions: [base, new].map(Vec::len),
        })
    }

    /// The change with its interval widened by what is allowed for, and the p value that it lies above
    /// `limit`, a natural logarithm.
    fn change(self, noise: f64, drift: Drift, limit: f64) -> Change {
        let found = self.found.interval(ALPHA);
        let [base_rounds, new_rounds] = self.rounds;
        let [base_sessions, new_sessions] = self.sessions;
        Change {
            ratio: found.estimate.exp(),
            raw_low: found.low.exp(),
            raw_high: found.high.exp(),
            low: (found.low - noise - drift.slower).exp(),
            high: (found.high + noise + drift.faster).exp(),
            noise_floor: noise,
            drift_slower: drift.slower,
            drift_faster: drift.faster,
            // That the widened interval lies above a limit is that the interval itself lies above the limit
            // and what it is widened by.
            p_slower: self.found.p_above(limit + noise + drift.slower),
            base_rounds,
            new_rounds,
            base_sessions,
            new_sessions,
        }
    }
}

/// Where the sessions of a side lie: one by its rounds and the builds that they met, several by what they
/// differ by.
fn located(sessions: &[Vec<Paired>], metric: Metric) -> Option<Located> {
    if let [rounds] = sessions {
        return Some(Spread::alone(rounds).located(rounds)?.0);
    }
    let logs = sessions.iter().map(|rounds| {
        let logs = rounds.iter().map(|round| round.difference);
        logs.collect::<Vec<f64>>()
    });
    of_sessions(logs, metric)
}

/// The mean of where sessions lie; nothing where one has too few rounds.
fn of_sessions(sessions: impl Iterator<Item = Vec<f64>>, metric: Metric) -> Option<Located> {
    let levels = sessions.map(|logs| {
        let found = location(&logs, metric).filter(|_| logs.len() >= MIN_ROUNDS);
        found.map(|found| found.estimate.ln())
    });
    Located::mean(&levels.collect::<Option<Vec<f64>>>()?)
}

/// A pair of cells with how far they lie apart.
#[derive(Debug)]
pub(super) struct Shifted<'a> {
    pair: Pair<'a>,
    time: Shift,
    /// Of the ratios to the baseline, where that is the same in all sessions.
    ratio: Option<Shift>,
}

/// Which of its shifts.
type Of = fn(&Shifted<'_>) -> Option<Shift>;

impl<'a> Shifted<'a> {
    /// Nothing where it has too few rounds.
    pub(super) fn of(pair: Pair<'a>, unit: Unit) -> Option<Self> {
        let metric = pair.new[0].comparison.metric;
        let of_times = |side: &[Place<'a>]| side.iter().copied().map(times).collect();
        let of_ratios = |side: &[Place<'a>], baselines: &[Place<'a>]| {
            let places = side.iter().zip(baselines);
            places
                .map(|(cell, baseline)| ratios(*cell, *baseline))
                .collect()
        };
        let ratio = baselines(&pair, unit).and_then(|baselines| {
            let base = of_ratios(&pair.base, &baselines.base);
            Shift::of(&[base, of_ratios(&pair.new, &baselines.new)], metric)
        });
        Some(Self {
            time: Shift::of(&[of_times(&pair.base), of_times(&pair.new)], metric)?,
            ratio,
            pair,
        })
    }

    /// What the sessions say of the noise within them, as a natural logarithm. Each floor bounds an
    /// error of its own session, and the errors may add up. What several sessions differ by holds it
    /// already.
    fn noise(&self, unit: Unit) -> f64 {
        let (base, new) = self.pair.firsts();
        match unit {
            Unit::Round => base.comparison.noise_floor + new.comparison.noise_floor,
            Unit::Session => 0.0,
        }
    }

    fn is_beside(&self, other: &Self) -> bool {
        let comparisons = |one: &Self| {
            let (base, new) = one.pair.firsts();
            [base, new].map(|place| place.comparison.id.clone())
        };
        comparisons(self) == comparisons(other)
    }

    /// As a floor, widened for the noise within the sessions only.
    pub(super) fn floor(&self, unit: Unit) -> FloorShift {
        let change = |shift: Shift| shift.change(self.noise(unit), Drift::default(), 0.0);
        FloorShift {
            cell: self.pair.base[0].id().clone(),
            time: change(self.time),
            ratio: self.ratio.map(change),
        }
    }

    /// The change of this cell, one of `cells`.
    pub(super) fn change(&self, by: &Changes, floors: &[Self], cells: &[Self]) -> CellChange {
        let (base, new) = self.pair.firsts();
        let change = |shift: Shift, of: Of| {
            let drift = self.drift(by, of, (floors, cells));
            shift.change(self.noise(by.unit), drift, limit(by))
        };
        let time = change(self.time, |cell| Some(cell.time));
        let ratio = self.ratio.map(|ratio| change(ratio, |cell| cell.ratio));
        let verdict =
            |found: &Change| verdict(found.low.ln(), found.high.ln(), limit(by), by.zone.ln_1p());
        CellChange {
            base: base.id().clone(),
            new: new.id().clone(),
            label: new.cell.cell.label.clone(),
            title: new.comparison.title.clone(),
            role: new.cell.cell.role,
            metric: new.comparison.metric,
            base_time_ns: time_ns(&self.pair.base, by.unit),
            new_time_ns: time_ns(&self.pair.new, by.unit),
            time_verdict: verdict(&time),
            ratio_verdict: ratio.as_ref().map(verdict),
            time,
            ratio,
            adjusted_p: None,
            regression: false,
            differences: shown_differences(base, new),
            resources: resources(&self.pair, by.threshold),
        }
    }

    /// What may have shifted between the sides: what the floors of the same comparison show, or,
    /// where it has none, all floors; without any what is assumed, and between single sessions what most
    /// of the other cells do, if that is more: what most did is the machine's, or how the session laid its data,
    /// and cannot be told from a change of the program. Another machine is a shift like any other: what it does
    /// to trivial code says nothing of a cell. Nothing where the sessions took turns.
    fn drift(&self, by: &Changes, of: Of, (floors, cells): (&[Self], &[Self])) -> Drift {
        if drift_is_measured(by.unit, by.turns) {
            return Drift::default();
        }
        let shift = |other: &Self| Some(of(other)?.found.estimate);
        let own = floors.iter().filter(|floor| self.is_beside(floor));
        let seen = Drift::seen(own.filter_map(shift));
        let seen = seen.or_else(|| Drift::seen(floors.iter().filter_map(shift)));
        seen.unwrap_or_else(|| {
            let others = cells.iter().filter(|other| {
                let is_other = other.pair.base[0].id() != self.pair.base[0].id();
                by.unit == Unit::Round && is_other && self.is_beside(other)
            });
            let assumed = Drift {
                slower: UNSEEN_DRIFT.ln(),
                faster: UNSEEN_DRIFT.ln(),
            };
            assumed.most(Drift::of_most(others.filter_map(shift).collect()))
        })
    }
}

/// Whether what the machine did lies in the spread of the sessions, because both sides had their
/// turns while it did.
pub(super) fn drift_is_measured(unit: Unit, turns: Turns) -> bool {
    unit == Unit::Session && turns == Turns::Taken
}

/// The threshold as a natural logarithm.
fn limit(changes: &Changes) -> f64 {
    changes.threshold.map_or(0.0, f64::ln_1p)
}

/// The time on one side: of all rounds, as the change is; of several sessions by what they differ by.
fn time_ns(side: &[Place<'_>], unit: Unit) -> Option<Interval> {
    let metric = side[0].comparison.metric;
    let mut sessions = side.iter().map(|place| logs(&place.cell.series));
    match unit {
        Unit::Round => location(&sessions.next()?, metric),
        Unit::Session => Some(of_sessions(sessions, metric)?.interval(ALPHA).by(f64::exp)),
    }
}

fn resources(pair: &Pair<'_>, threshold: Option<f64>) -> BTreeMap<&'static str, ResourceChange> {
    let of = |side: &[Place<'_>], measure: Measure| {
        let figures = side.iter();
        let figures =
            figures.filter_map(|place| quantity::of(place.cell, measure, &place.analysis.space));
        median(figures.map(|quantity| quantity.value).collect())
    };
    let changes = RESOURCES.into_iter().filter_map(|(name, measure)| {
        let (base, new) = (of(&pair.base, measure)?, of(&pair.new, measure)?);
        let ratio = new / base;
        let beyond = |threshold: f64| ratio.ln().abs() > threshold.ln_1p();
        let change = ResourceChange {
            base,
            new,
            ratio,
            beyond_threshold: threshold.is_some_and(beyond),
        };
        ratio.is_finite().then_some((name, change))
    });
    changes.collect()
}

/// Regressions first, then by verdict, and last what has none; then the largest change first.
pub(super) fn order(decides: Decides, a: &CellChange, b: &CellChange) -> Ordering {
    let key = |cell: &CellChange| {
        let verdict = cell.decisive(decides).map(|(_, verdict)| verdict);
        (!cell.regression, verdict.is_none(), verdict)
    };
    let size = |cell: &CellChange| {
        let change = cell.decisive(decides);
        let change = change.map_or(cell.time, |(change, _)| change);
        -change.ratio.ln().abs()
    };
    key(a).cmp(&key(b)).then(size(a).total_cmp(&size(b)))
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
    verdict == ChangeVerdict::Unresolved || verdict == ChangeVerdict::Differs && high > threshold
}

/// The baselines that a cell is related to in each session, if they are one and the same cell, and
/// not this one.
fn baselines<'a>(pair: &Pair<'a>, unit: Unit) -> Option<Pair<'a>> {
    let of = |side: &[Place<'a>]| -> Option<Vec<Place<'a>>> {
        let baselines = side.iter().map(|place| {
            let cell = place.comparison.baseline()?;
            Some(Place { cell, ..*place })
        });
        baselines.collect()
    };
    let baselines = Pair {
        base: of(&pair.base)?,
        new: of(&pair.new)?,
    };
    let (base, new) = baselines.firsts();
    let others = base.id() != pair.base[0].id() && new.id() != pair.new[0].id();
    let same = shown_differences(base, new).is_empty();
    let found = comparable(baselines, unit).ok()?;
    let all = found.base.len() == pair.base.len() && found.new.len() == pair.new.len();
    (others && same && all).then_some(found)
}

/// Per round, the logarithm of the time per operation, and the build that it met. Only the cell's own:
/// the control is a second copy of the baseline, but both share what the machine did in a round, so that
/// taking them together would count each round twice; and it is what the noise floor rests on.
fn times(place: Place<'_>) -> Vec<Paired> {
    let series = place.cell.series.iter();
    let rounds = series.map(|(round, log)| Paired {
        round: *round,
        difference: *log,
        builds: [place.build(*round), None],
    });
    rounds.collect()
}

/// Per round that both have, the logarithm of the ratio to the baseline, and the builds of both.
fn ratios(place: Place<'_>, baseline: Place<'_>) -> Vec<Paired> {
    let of_baseline: BTreeMap<u32, f64> = baseline.cell.series.iter().copied().collect();
    let rounds = times(place).into_iter().filter_map(|paired| {
        Some(Paired {
            difference: paired.difference - of_baseline.get(&paired.round)?,
            builds: [paired.builds[0], baseline.build(paired.round)],
            ..paired
        })
    });
    rounds.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_are_by_both_ends_of_the_interval_and_an_end_at_a_limit_is_not_beyond_it() {
        use ChangeVerdict::*;
        // With a threshold and a zone of 0.05: each verdict, and whether it leaves open that the cell
        // became slower by more than the threshold.
        for (threshold, low, high, expected, open) in [
            (0.1, 0.11, 0.2, Slower, false),
            (0.1, 0.1, 0.2, Differs, true),
            (0.1, 0.01, 0.2, Differs, true),
            (0.1, 0.01, 0.1, Small, false),
            (0.1, 0.01, 0.02, Small, false),
            (0.1, -0.2, -0.11, Faster, false),
            (0.1, -0.2, -0.1, Differs, false),
            (0.1, -0.2, -0.01, Differs, false),
            (0.1, -0.1, -0.01, Small, false),
            (0.1, 0.0, 0.02, NoChange, false),
            (0.1, -0.02, 0.0, NoChange, false),
            (0.1, -0.05, 0.05, NoChange, false),
            (0.1, -0.06, 0.02, WithinThreshold, false),
            (0.1, -0.02, 0.06, WithinThreshold, false),
            (0.1, -0.1, 0.1, WithinThreshold, false),
            (0.1, -0.11, 0.02, Unresolved, true),
            (0.1, -0.02, 0.11, Unresolved, true),
            (0.0, 0.01, 0.02, Slower, false),
            (0.0, -0.02, -0.01, Faster, false),
            (0.0, 0.0, 0.02, NoChange, false),
            (0.0, -0.02, 0.0, NoChange, false),
            (0.0, -0.1, 0.02, Unresolved, true),
        ] {
            let found = verdict(low, high, threshold, 0.05);
            assert_eq!(found, expected, "[{low}, {high}], {threshold}");
            assert_eq!(leaves_open(found, high, threshold), open, "[{low}, {high}]");
        }
    }

    #[test]
    fn what_most_cells_did_is_the_middle_one_and_of_two_what_both_did() {
        for (shifts, slower, faster) in [
            (&[][..], 0.0, 0.0),
            (&[0.4], 0.4, 0.0),
            (&[0.4, 0.0], 0.0, 0.0),
            (&[0.4, 0.1], 0.1, 0.0),
            (&[-0.4, -0.1, 0.1], 0.0, 0.1),
            (&[0.4, 0.3, 0.1, 0.2], 0.2, 0.0),
        ] {
            let drift = Drift::of_most(shifts.to_vec());
            assert_eq!((drift.slower, drift.faster), (slower, faster), "{shifts:?}");
        }
    }
}
