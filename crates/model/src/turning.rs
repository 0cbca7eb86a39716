//! What turns the order of two cells: what is asked, and what is tried for it.

use crate::{CellId, PublishedOrder};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What of a plan looks for factors that turn an order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Turning {
    /// The comparison, or `comparison/cell`, that was asked for; none: whatever differs from what was
    /// published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// The pairs of cells whose order is to be turned, once they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub turns: Vec<Turn>,
    /// What is tried for them, in running order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tries: Vec<Try>,
}

/// Two cells whose order is to be turned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Turn {
    /// Its name, by which tries belong to it.
    pub id: String,
    /// The comparison that has both cells.
    pub comparison: String,
    /// The cell whose time is the numerator.
    pub cell: String,
    /// The other one.
    pub reference: String,
    /// The order of their times that was published; none: the opposite of what is measured is looked
    /// for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<PublishedOrder>,
    /// The factors that change something of the pair.
    pub factors: Vec<String>,
    /// Factors that would, and cannot be switched here, with the reason; and, joined by ` + `, sets of
    /// them that cannot be switched together.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub left_out: BTreeMap<String, String>,
}

impl Turn {
    /// What joins the names of a set in [`Self::left_out`]; no name has it.
    pub const AND: &str = " + ";

    /// Whether a set of factors has one in it that cannot be switched.
    #[must_use]
    pub fn leaves_out(&self, set: &[String]) -> bool {
        let mut left_out = self.left_out.keys();
        left_out.any(|names| {
            let mut names = names.split(Self::AND);
            names.all(|name| set.iter().any(|factor| factor == name))
        })
    }
}

/// The two cells with some factors switched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Try {
    /// The name of the [`Turn`] that it is for.
    pub turn: String,
    /// The factors; none: both cells as they are.
    pub factors: Vec<String>,
    /// The cell with them.
    pub cell: CellId,
    /// The other one with them.
    pub reference: CellId,
}

impl Try {
    /// The comparison that measures it.
    #[must_use]
    pub fn comparison(&self) -> &str {
        self.cell.0.split('/').next().unwrap_or_default()
    }
}
