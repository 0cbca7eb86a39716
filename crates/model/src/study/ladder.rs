//! Costs taken apart: cells that do one step more than the one below.

use super::{Fault, Study, is_plain};
use crate::suggestion;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What one operation costs, from the bottom up: each rung is a cell that does one step more than
/// the one below it, in the same rounds (an ablation ladder).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RungSpec {
    /// The cell.
    pub cell: String,
    /// What it does that the rung below does not, in a few words; of the lowest, what all of it
    /// rests on.
    pub step: String,
    /// What the step should be made of: cells that measure a primitive by itself, and how often an
    /// operation needs each (less than 0: what it saves).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub isolated: BTreeMap<String, f64>,
}

/// A cost as the difference of two cells.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DifferenceSpec {
    /// What it is, in words that begin a sentence: `open and close`.
    pub label: String,
    /// The cell that has it.
    pub cell: String,
    /// The cell that has everything but this.
    pub without: String,
}

impl DifferenceSpec {
    pub(super) fn cells(&self) -> [&String; 2] {
        [&self.cell, &self.without]
    }
}

impl Study {
    /// Ladders name cells of one comparison.
    pub(super) fn check_ladders(&self) -> Vec<Fault> {
        let mut seen = BTreeSet::new();
        let ladders = self.ladders.iter().enumerate();
        let ladders = ladders.map(|(index, ladder)| {
            let place = Place::of("ladder", index, &ladder.id);
            place.check_id(&mut seen)?;
            self.check_ladder(&place, ladder)
        });
        ladders.filter_map(Result::err).collect()
    }

    fn check_ladder(&self, place: &Place<'_>, ladder: &LadderSpec) -> Result<(), Fault> {
        if ladder.rungs.len() < 2 {
            return Err(place.fault("rungs", "give at least two, from the bottom up"));
        }
        let rungs = ladder.rungs.iter();
        let cells = rungs.flat_map(|rung| rung.isolated.keys().chain([&rung.cell]));
        self.check_cells(place, &ladder.comparison, cells)?;
        let infinite = |rung: &RungSpec| rung.isolated.values().any(|often| !often.is_finite());
        if ladder.rungs.iter().any(infinite) {
            return Err(place.fault("rungs", "how often a primitive is needed is a number"));
        }
        Ok(())
    }

    pub(super) fn check_cells<'a>(
        &self,
        place: &Place<'_>,
        comparison: &str,
        cells: impl Iterator<Item = &'a String>,
    ) -> Result<(), Fault> {
        let Some(known) = self.comparisons.iter().find(|c| c.id == comparison) else {
            let ids = self.comparisons.iter().map(|c| c.id.as_str());
            let near = suggestion(comparison, ids);
            return Err(place.fault(
                "comparison",
                &format!("unknown comparison '{comparison}'{near}"),
            ));
        };
        for cell in cells {
            if !known.cells.contains_key(cell) {
                let near = suggestion(cell, known.cells.keys().map(String::as_str));
                return Err(place.fault("id", &format!("unknown cell '{cell}'{near}")));
            }
        }
        Ok(())
    }
}

/// An entry of a list in its file.
pub(super) struct Place<'a> {
    list: &'static str,
    index: usize,
    id: &'a str,
}

impl<'a> Place<'a> {
    pub(super) fn of(list: &'static str, index: usize, id: &'a str) -> Self {
        Self { list, index, id }
    }

    pub(super) fn check_id(&self, seen: &mut BTreeSet<&'a str>) -> Result<(), Fault> {
        match self.id {
            id if !is_plain(id) => {
                Err(self.fault("id", "a name must consist of letters, digits, '-' and '_'"))
            }
            id if !seen.insert(id) => Err(self.fault("id", "this id is used twice")),
            _ => Ok(()),
        }
    }

    pub(super) fn fault(&self, key: &str, message: &str) -> Fault {
        Fault {
            path: vec![self.list.to_owned(), self.index.to_string(), key.to_owned()],
            place: format!("{} '{}'", self.list, self.id.escape_debug()),
            message: message.to_owned(),
        }
    }
}
