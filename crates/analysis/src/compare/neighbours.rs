//! What the other cells of a comparison shifted by between two single sessions: what most of them did is
//! the machine's, or how the session laid its data, and cannot be told from a change of the program.

use super::judge::{baselines, level, ratios, times};
use super::matching::Pair;
use super::{Metric, Unit};
use crate::spread::Paired;
use stowplan_model::CellId;

/// How far every cell shifted, as natural logarithms.
#[derive(Debug, Default)]
pub(super) struct Neighbours<'a> {
    shifts: Vec<Shifted<'a>>,
}

#[derive(Debug)]
struct Shifted<'a> {
    comparisons: [&'a str; 2],
    cell: &'a CellId,
    time: Option<f64>,
    ratio: Option<f64>,
}

impl<'a> Neighbours<'a> {
    /// None of several sessions: what these differ by is measured.
    pub(super) fn of<'p>(pairs: impl Iterator<Item = &'p Pair<'a>>, unit: Unit) -> Self
    where
        'a: 'p,
    {
        match unit {
            Unit::Round => Self {
                shifts: pairs.map(Shifted::of).collect(),
            },
            Unit::Session => Self::default(),
        }
    }

    /// What most of the other cells of the same comparison shifted by in time; nothing where there is no
    /// other.
    pub(super) fn time(&self, pair: &Pair<'_>) -> Option<Most> {
        Most::of(self.others(pair).filter_map(|other| other.time).collect())
    }

    /// The same of their ratios to the baseline.
    pub(super) fn ratio(&self, pair: &Pair<'_>) -> Option<Most> {
        Most::of(self.others(pair).filter_map(|other| other.ratio).collect())
    }

    fn others(&self, pair: &Pair<'_>) -> impl Iterator<Item = &Shifted<'a>> {
        let (comparisons, cell) = (comparisons(pair), pair.base.first.id());
        let shifts = self.shifts.iter();
        shifts.filter(move |other| other.comparisons == comparisons && other.cell != cell)
    }
}

/// The shift that most of several cells have at least, and that most have at most: the middle one of an
/// odd number, both middle ones of an even number, so that of two cells neither tells by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Most {
    pub(super) at_least: f64,
    pub(super) at_most: f64,
}

impl Most {
    fn of(mut shifts: Vec<f64>) -> Option<Self> {
        shifts.sort_unstable_by(f64::total_cmp);
        let last = shifts.len().checked_sub(1)?;
        Some(Self {
            at_least: *shifts.get(last / 2)?,
            at_most: *shifts.get(shifts.len() / 2)?,
        })
    }
}

impl<'a> Shifted<'a> {
    fn of(pair: &Pair<'a>) -> Self {
        let (base, new) = (pair.base.first, pair.new.first);
        let baselines = baselines(pair, Unit::Round);
        let ratio = baselines.and_then(|found| {
            let (was, is) = (found.base.first, found.new.first);
            shift(&ratios(base, was), &ratios(new, is), new.comparison.metric)
        });
        Self {
            comparisons: comparisons(pair),
            cell: base.id(),
            time: shift(&times(base), &times(new), new.comparison.metric),
            ratio,
        }
    }
}

/// The comparison in BASE and in NEW.
fn comparisons<'a>(pair: &Pair<'a>) -> [&'a str; 2] {
    [pair.base.first, pair.new.first].map(|place| &*place.comparison.id)
}

fn shift(base: &[Paired], new: &[Paired], metric: Metric) -> Option<f64> {
    Some(level(new, metric)? - level(base, metric)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_most_cells_did_is_the_middle_one_and_of_two_what_both_did() {
        let most = |shifts: &[f64]| Most::of(shifts.to_vec()).map(|m| (m.at_least, m.at_most));
        assert_eq!(most(&[]), None);
        assert_eq!(most(&[0.4]), Some((0.4, 0.4)));
        assert_eq!(most(&[0.4, 0.0]), Some((0.0, 0.4)));
        assert_eq!(most(&[0.4, -0.1, 0.1]), Some((0.1, 0.1)));
        assert_eq!(most(&[0.4, 0.3, 0.1, 0.2]), Some((0.2, 0.3)));
    }
}
