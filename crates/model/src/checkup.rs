//! What was found about a machine before anything is measured on it.

use crate::Environment;
use crate::words::words;
use serde::{Deserialize, Serialize};

/// What about a machine would spoil a measurement in a directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Checkup {
    /// Version of this program.
    pub tool_version: String,
    /// The directory in which would be measured.
    pub directory: String,
    /// What memory and disk are judged for: `study fasterthanfs`.
    pub asked: String,
    /// The machine, as a result records it.
    pub environment: Environment,
    /// What was looked at, group by group.
    pub checks: Vec<Check>,
}

impl Checkup {
    /// What was found to be in this state.
    pub fn in_state(&self, state: CheckState) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(move |check| check.state == state)
    }

    /// Whether nothing speaks against measuring here; warnings do not.
    pub fn is_fit(&self) -> bool {
        self.in_state(CheckState::Problem).next().is_none()
    }
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// What it is called; each name occurs once.
    pub name: String,
    /// What it belongs to.
    pub group: CheckGroup,
    /// What that means for a measurement.
    pub state: CheckState,
    /// What was found.
    pub found: String,
    /// How to mend it, where there is something to mend.
    pub mend: Option<String>,
    /// Why it matters, with the effect where one was measured.
    pub why: String,
}

/// What a finding means for a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckState {
    /// It does not spoil one; of a feature: there is one.
    Ok,
    /// It qualifies what can be said.
    Warning,
    /// What would be measured is something else.
    Problem,
    /// The system does not tell, or has no such thing.
    Unavailable,
}

words! {
    /// What checks are about.
    pub enum CheckGroup {
        /// CPUs, clocks, power.
        Processor = "processor",
        /// What else runs.
        OtherWork = "other-work",
        /// Memory and the page cache.
        Memory = "memory",
        /// The file system and the device below it.
        Disk = "disk",
        /// What can be used here, by this user.
        Features = "features",
    }
}
