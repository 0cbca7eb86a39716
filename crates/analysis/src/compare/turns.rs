//! In which order the sessions of two sides ran.

use crate::Analysis;
use jiff::Timestamp;
use serde::Serialize;
use std::cmp::Ordering;

/// In which order the sessions of both sides began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Turns {
    /// BASE before NEW, all of it or on average: what the machine did in between cannot be told from
    /// what NEW changed.
    BaseFirst,
    /// NEW before BASE: the same.
    NewFirst,
    /// In turns, so that what drifts is in the spread of both sides.
    Taken,
    /// Not known: a start cannot be read, or sessions of both sides began at the same time.
    Unknown,
}

impl Turns {
    /// Turns are taken where the side changes as often as it does where each session of the side that has
    /// fewer is followed by its share of the other one, back and forth (BNNB) included, and the mean places
    /// of both sides lie at most half a turn apart. One change is none: it is one side after the other.
    pub(super) fn of(base: &[&Analysis], new: &[&Analysis]) -> Self {
        let starts = |side: &[&Analysis], is_new: bool| -> Option<Vec<(Timestamp, bool)>> {
            let starts = side.iter().map(|session| session.run.started.parse().ok());
            starts.map(|start| Some((start?, is_new))).collect()
        };
        let Some((ours, theirs)) = starts(base, false).zip(starts(new, true)) else {
            return Self::Unknown;
        };
        let mut all = [ours, theirs].concat();
        all.sort_unstable();
        let changes = || all.windows(2).filter(|pair| pair[0].1 != pair[1].1);
        if changes().any(|pair| pair[0].0 == pair[1].0) {
            return Self::Unknown;
        }
        // The mean place of a side times the sessions of both, so that it is whole.
        let place = |side: bool, others: usize| {
            let places = all
                .iter()
                .enumerate()
                .filter(|(_, (_, is_new))| *is_new == side);
            places.map(|(place, _)| place * others).sum::<usize>()
        };
        let (ours, theirs) = (place(false, new.len()), place(true, base.len()));
        let fewer = base.len().min(new.len());
        let half_a_turn = all.len() * base.len() * new.len();
        let is_balanced = 2 * fewer * ours.abs_diff(theirs) <= half_a_turn;
        if changes().count() >= fewer.max(2) && is_balanced {
            return Self::Taken;
        }
        // Which ran first by the mean of its places; where those agree, by its first start.
        let new_is_first = all.first().is_some_and(|(_, is_new)| *is_new);
        match ours.cmp(&theirs) {
            Ordering::Equal if new_is_first => Self::NewFirst,
            Ordering::Less | Ordering::Equal => Self::BaseFirst,
            Ordering::Greater => Self::NewFirst,
        }
    }
}
