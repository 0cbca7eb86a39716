//! On-access scanners, which stand between a store and its files as anti-virus software does.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What happens each time that a cell's process opens a file of its store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Scanned {
    /// Nothing.
    #[default]
    No,
    /// A scanner is asked, and permits it at once.
    Open,
    /// A scanner is asked, and reads the file before it permits it.
    Read,
}

impl Scanned {
    /// Whether nobody is asked.
    pub fn is_no(&self) -> bool {
        *self == Self::No
    }
}

impl fmt::Display for Scanned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::No => "no scanner",
            Self::Open => "a scanner that is asked",
            Self::Read => "a scanner that reads",
        })
    }
}

/// What the scanner of a block did, from before its store was opened until it was timed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScannerCounts {
    /// How often it was asked whether a file may be opened.
    pub opens: u64,
    /// Bytes of files that it read first.
    pub read_bytes: u64,
    /// The longest that it had somebody wait, from when it heard of it, in nanoseconds.
    pub longest_wait_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CellSpec, Study};

    const STUDY: &str = r#"
        name = "t"
        title = "T"
        question = "?"
        datasets.d = { count = 1, size = { distribution = "fixed", bytes = 1 } }
        [[comparison]]
        id = "c"
        title = "C"
        dataset = "d"
        baseline = "a"
        scanned = "open"
        [comparison.cells]
        a = { store = "files", scanned = "no" }
        b = { store = "files" }
        c = { store = "files", scanned = "read" }
    "#;

    #[test]
    fn a_cell_is_scanned_as_it_says_or_else_as_its_comparison_does() {
        let study = Study::parse(STUDY, "t.toml").unwrap();
        let comparison = &study.comparisons[0];
        let cells = comparison.cells.values();
        let scanned = cells.map(|cell| (comparison.scanned(cell), CellSpec::name(cell)));
        // Each has a name of its own, by which it is told why it is left out.
        let expected = [
            (Scanned::No, "files, no scanner".to_owned()),
            (Scanned::Open, "files".to_owned()),
            (Scanned::Read, "files, a scanner that reads".to_owned()),
        ];
        assert_eq!(scanned.collect::<Vec<_>>(), expected);
        let wrong = STUDY.replace("\"read\"", "\"raed\"");
        let refused = Study::parse(&wrong, "t.toml").unwrap_err().to_string();
        assert!(refused.contains("did you mean 'read'"), "{refused}");
    }
}
