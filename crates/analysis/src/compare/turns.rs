//! In which order the sessions of two sides ran.

use super::ResultSide;
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
        let Some(order) = Order::of(base, new) else {
            return Self::Unknown;
        };
        if order.alternates() && order.is_balanced() {
            return Self::Taken;
        }
        match order.first_on_average() {
            Ordering::Less => Self::BaseFirst,
            Ordering::Greater => Self::NewFirst,
            Ordering::Equal => Self::Unknown,
        }
    }
}

/// All sessions by their starts; those of BASE first where two began at the same time.
struct Order {
    sessions: Vec<(Timestamp, ResultSide)>,
}

impl Order {
    /// Nothing where a start cannot be read.
    fn of(base: &[&Analysis], new: &[&Analysis]) -> Option<Self> {
        let base = base.iter().map(|session| (session, ResultSide::Base));
        let new = new.iter().map(|session| (session, ResultSide::New));
        let starts = base
            .chain(new)
            .map(|(session, side)| Some((session.run.started.parse().ok()?, side)));
        let mut sessions: Vec<(Timestamp, ResultSide)> = starts.collect::<Option<_>>()?;
        sessions.sort();
        Some(Self { sessions })
    }

    fn starts(&self, side: ResultSide) -> impl Iterator<Item = Timestamp> {
        let sessions = self.sessions.iter();
        sessions
            .filter(move |session| session.1 == side)
            .map(|session| session.0)
    }

    fn count(&self, side: ResultSide) -> usize {
        self.starts(side).count()
    }

    /// The sums of the places of BASE and of NEW, each times the number of the other side, so that they
    /// are to each other as the means are. Places are counted in halves: those that began at the same
    /// time share theirs.
    fn places(&self) -> [usize; 2] {
        let place = |start: Timestamp| {
            let all = self.sessions.iter().map(|session| session.0.cmp(&start));
            let halves = all.map(|order| match order {
                Ordering::Less => 2,
                Ordering::Equal => 1,
                Ordering::Greater => 0,
            });
            halves.sum::<usize>()
        };
        [ResultSide::Base, ResultSide::New].map(|side| {
            let places = self.starts(side).map(place);
            places.sum::<usize>() * self.count(side.other())
        })
    }

    fn fewer(&self) -> usize {
        self.count(ResultSide::Base)
            .min(self.count(ResultSide::New))
    }

    /// Whether the side changes from session to session as often as it does where each session of the
    /// side that has fewer is followed by its share of the other one, back and forth (BNNB) included.
    /// One change is none: it is one side after the other.
    fn alternates(&self) -> bool {
        let pairs = self.sessions.windows(2);
        let changes = pairs.filter(|pair| pair[0].1 != pair[1].1).count();
        changes >= self.fewer().max(2)
    }

    /// Whether the mean places of both sides lie at most half a turn apart, as they do in strict turns.
    /// A turn is one session of the side that has fewer, and its share of the other one.
    fn is_balanced(&self) -> bool {
        let [base, new] = self.places();
        let pairs = self.count(ResultSide::Base) * self.count(ResultSide::New);
        self.fewer() * base.abs_diff(new) <= self.sessions.len() * pairs
    }

    /// Which side ran first by the mean of its places; where those agree, by its first start.
    fn first_on_average(&self) -> Ordering {
        let [base, new] = self.places();
        let first = |side| self.starts(side).next();
        base.cmp(&new)
            .then_with(|| first(ResultSide::Base).cmp(&first(ResultSide::New)))
    }
}
