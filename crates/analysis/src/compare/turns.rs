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
    /// Not known: a start cannot be read, or both sides began at the same time.
    Unknown,
}

impl Turns {
    pub(super) fn of(base: &[&Analysis], new: &[&Analysis]) -> Self {
        let starts = |side: &[&Analysis]| -> Option<Vec<Timestamp>> {
            let starts = side.iter().map(|session| session.run.started.parse().ok());
            starts.collect()
        };
        let Some((base, new)) = starts(base).zip(starts(new)) else {
            return Self::Unknown;
        };
        let places = places(&base, &new);
        if alternate(&base, &new) && are_balanced(&base, &new, places) {
            return Self::Taken;
        }
        // Which ran first by the mean of its places; where those agree, by its first start.
        let first = || base.iter().min().cmp(&new.iter().min());
        match places[0].cmp(&places[1]).then_with(first) {
            Ordering::Less => Self::BaseFirst,
            Ordering::Greater => Self::NewFirst,
            Ordering::Equal => Self::Unknown,
        }
    }
}

/// Whether the side changes from session to session as often as it does where each session of the
/// side that has fewer is followed by its share of the other one, back and forth (BNNB) included.
/// One change is none: it is one side after the other. Of two that began at the same time that of BASE is
/// first.
fn alternate(base: &[Timestamp], new: &[Timestamp]) -> bool {
    let base_starts = base.iter().map(|start| (start, false));
    let mut all: Vec<(&Timestamp, bool)> = base_starts
        .chain(new.iter().map(|start| (start, true)))
        .collect();
    all.sort_unstable();
    let pairs = all.windows(2);
    let changes = pairs.filter(|pair| pair[0].1 != pair[1].1).count();
    changes >= base.len().min(new.len()).max(2)
}

/// Whether the mean places of both sides lie at most half a turn apart, as they do in strict turns.
/// A turn is one session of the side that has fewer, and its share of the other one.
fn are_balanced(base: &[Timestamp], new: &[Timestamp], [ours, theirs]: [usize; 2]) -> bool {
    let fewer = base.len().min(new.len());
    fewer * ours.abs_diff(theirs) <= (base.len() + new.len()) * base.len() * new.len()
}

/// The sums of the places of BASE and of NEW among all, each times the number of the other side, so that they
/// are to each other as the means are. Places are counted in halves: those that began at the same time share
/// theirs.
fn places(base: &[Timestamp], new: &[Timestamp]) -> [usize; 2] {
    let place = |start: &Timestamp| -> usize {
        let all = base.iter().chain(new).map(|other| other.cmp(start));
        let halves = all.map(|order| match order {
            Ordering::Less => 2,
            Ordering::Equal => 1,
            Ordering::Greater => 0,
        });
        halves.sum()
    };
    [(base, new), (new, base)].map(|(side, other)| {
        let sum: usize = side.iter().map(place).sum();
        sum * other.len()
    })
}
