//! Costs taken apart: cells that do one step more than the one below.

use crate::words::data;

use std::collections::BTreeMap;

data! {
    /// What one operation costs, from the bottom up: each rung is a cell that does one step more than
    /// the one below it, in the same rounds (an ablation ladder).
    pub struct LadderSpec {
        /// Name, unique among the ladders of the study.
        pub id: String,
        /// Title for people.
        pub title: String,
        /// The comparison whose cells it takes apart.
        pub comparison: String,
        /// The rungs, from the bottom up; at least two. The last is the whole that is taken apart.
        pub rungs: Vec<RungSpec>,
    }

    /// One rung of a ladder.
    pub struct RungSpec {
        /// The cell.
        pub cell: String,
        /// What it does that the rung below does not, in a few words; of the lowest, what all of it
        /// rests on.
        pub step: String,
        /// What the step should be made of: cells that measure a primitive by itself, and how often an
        /// operation needs each (less than 0: what it saves).
        pub isolated: BTreeMap<String, f64> = default,
    }
}
