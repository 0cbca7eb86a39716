//! From a state that fails to the fewest losses that still fail: what is left of them is the cause.

use crate::states::{Cut, Piece, States};
use std::collections::BTreeSet;
use stowplan_harness::HarnessError;

/// The most states that are tried for one finding.
pub(crate) const MOST_TRIES: u64 = 120;
/// Cuts after the last loss that are tried, the earliest first.
const CUTS: usize = 8;

/// What is left of a finding.
pub(crate) struct Smallest {
    pub(crate) cut: Cut,
    pub(crate) tried: u64,
}

/// Gives back what need not be lost (delta debugging: Zeller and Hildebrandt, "Simplifying and
/// isolating failure-inducing input", 2002), then cuts as early as possible. `fails` says whether a
/// state still has the same fate.
pub(crate) fn shrink(
    states: &States<'_>,
    found: &Cut,
    fails: &mut dyn FnMut(&Cut) -> Result<bool, HarnessError>,
) -> Result<Smallest, HarnessError> {
    let mut smallest = Smallest {
        cut: found.clone(),
        tried: 0,
    };
    let mut parts = 1;
    while smallest.tried < MOST_TRIES && !smallest.cut.lost.is_empty() {
        let lost: Vec<Piece> = smallest.cut.lost.iter().copied().collect();
        let size = lost.len().div_ceil(parts);
        let mut less = false;
        for given_back in lost.chunks(size) {
            let given_back: BTreeSet<Piece> = given_back.iter().copied().collect();
            let candidate = states.allowed(&Cut {
                at: smallest.cut.at,
                lost: smallest.cut.lost.difference(&given_back).copied().collect(),
            });
            let is_less = candidate.lost.len() < smallest.cut.lost.len();
            less = smallest.attempt(candidate, is_less, fails)?;
            if less || smallest.tried >= MOST_TRIES {
                break;
            }
        }
        match less {
            true => parts = parts.saturating_sub(1).max(1),
            false if size == 1 => break,
            false => parts = (parts * 2).min(lost.len()),
        }
    }
    let last = smallest.cut.lost.last().map_or(0, |piece| piece.0);
    for at in (last + 1..smallest.cut.at).take(CUTS) {
        let lost = smallest.cut.lost.clone();
        let candidate = Cut { at, lost };
        let is_allowed = states.allowed(&candidate) == candidate;
        if smallest.attempt(candidate, is_allowed, fails)? {
            break;
        }
    }
    Ok(smallest)
}

impl Smallest {
    /// Puts a cut in the place of the smallest one if it can be one and still fails.
    fn attempt(
        &mut self,
        candidate: Cut,
        can_be: bool,
        fails: &mut dyn FnMut(&Cut) -> Result<bool, HarnessError>,
    ) -> Result<bool, HarnessError> {
        self.tried += 1;
        let taken = can_be && fails(&candidate)?;
        if taken {
            self.cut = candidate;
        }
        Ok(taken)
    }
}
