//! What can be wrong with a matrix, at its own size and at each scale's.

use super::{EXTERNAL, MatrixSpec, PublishedMatrix};
use crate::study::{Fault, ScaleSpec, Study, is_plain};
use crate::suggestion;
use std::collections::BTreeSet;

/// What is wrong, and the key of the matrix that says it.
type Wrong = (&'static str, String);

impl Study {
    /// Checks every matrix as it stands in the file and as each scale changes it.
    pub(in crate::study) fn check_matrices(&self) -> Vec<Fault> {
        let matrices = self.matrices.iter().enumerate();
        let wrong = matrices.filter_map(|(index, matrix)| {
            let (key, message) = matrix.check().err()?;
            Some(Fault {
                path: vec!["matrix".to_owned(), index.to_string(), key.to_owned()],
                place: format!("matrix '{}', {key}", matrix.id.escape_debug()),
                message,
            })
        });
        let mut found: Vec<Fault> = wrong.collect();
        // What a scale changes of them can only be judged where they are right.
        if !found.is_empty() {
            return found;
        }
        found.extend(
            self.check_expansion(&ScaleSpec::default(), "the matrices")
                .err(),
        );
        for (name, scale) in &self.scales {
            found.extend(self.check_scale(name, scale).err());
            found.extend(
                self.check_expansion(scale, &format!("scale '{name}'"))
                    .err(),
            );
        }
        found
    }

    fn check_scale(&self, name: &str, scale: &ScaleSpec) -> Result<(), Fault> {
        for matrix in &self.matrices {
            let Some(change) = scale.matrix.get(&matrix.id) else {
                continue;
            };
            let changed = matrix.clone().changed(change);
            changed.check_grid().map_err(|(key, message)| Fault {
                path: ["scales", name, "matrix", &matrix.id, key]
                    .map(str::to_owned)
                    .to_vec(),
                place: format!("scales.{name}.matrix.{}, {key}", matrix.id),
                message,
            })?;
        }
        Ok(())
    }

    /// The names that the matrices stand for must not be taken.
    fn check_expansion(&self, scale: &ScaleSpec, place: &str) -> Result<(), Fault> {
        let fault = |id: &str, message: String| Fault {
            path: match self.matrices.iter().position(|matrix| matrix.id == id) {
                Some(index) => vec!["matrix".to_owned(), index.to_string()],
                None => Vec::new(),
            },
            place: place.to_owned(),
            message,
        };
        let mut taken: BTreeSet<String> = self.comparisons.iter().map(|c| c.id.clone()).collect();
        for matrix in &self.matrices {
            let own = [matrix.id.clone()];
            let matrix = match scale.matrix.get(&matrix.id) {
                Some(change) => matrix.clone().changed(change),
                None => matrix.clone(),
            };
            let columns = matrix.sizes.iter().map(|size| matrix.comparison_id(*size));
            for id in columns.chain(own) {
                if !taken.insert(id.clone()) {
                    return Err(fault(
                        &matrix.id,
                        format!("two comparisons or matrices would be called '{id}'"),
                    ));
                }
            }
            let mut datasets = matrix.sizes.iter().map(|size| matrix.dataset_name(*size));
            if let Some(name) = datasets.find(|name| self.datasets.contains_key(name)) {
                return Err(fault(
                    &matrix.id,
                    format!("the matrix would make a dataset '{name}', which there is already"),
                ));
            }
        }
        Ok(())
    }
}

impl MatrixSpec {
    fn check(&self) -> Result<(), Wrong> {
        if !is_plain(&self.id) {
            return Err((
                "id",
                "a name must consist of letters, digits, '-' and '_'".into(),
            ));
        }
        self.check_grid()?;
        self.check_stores()?;
        self.check_beside()?;
        match &self.published {
            Some(published) => published.check(self),
            None => Ok(()),
        }
    }

    /// What a scale can change.
    fn check_grid(&self) -> Result<(), Wrong> {
        if self.spread_percent > 90 {
            return Err((
                "spread_percent",
                format!("must be from 0 to 90, not {}", self.spread_percent),
            ));
        }
        rising("sizes", &self.sizes)?;
        rising("rows", &self.rows)?;
        if self.sizes.first() == Some(&0) {
            return Err(("sizes", "a value must have at least 1 byte".into()));
        }
        let largest = self.sizes.last().copied().unwrap_or_default();
        if self.bytes < largest {
            return Err((
                "bytes",
                format!("{} bytes hold no value of {largest}", self.bytes),
            ));
        }
        let Some(block) = self.block_bytes else {
            return Ok(());
        };
        if !(largest..=self.bytes).contains(&block) {
            return Err((
                "block_bytes",
                format!(
                    "{block} bytes make no block: give from {largest}, the largest value, to {}, \
                     all values of a column",
                    self.bytes
                ),
            ));
        }
        match self.workload.operations {
            Some(operations) => Err((
                "block_bytes",
                format!("the workload fixes the block already, at {operations} operations"),
            )),
            None => Ok(()),
        }
    }

    fn check_stores(&self) -> Result<(), Wrong> {
        if let Some(given) = self.internal.store.settings.get(&self.setting()) {
            return Err((
                "row_setting",
                format!(
                    "the rows vary '{}', which the internal store fixes at {given}",
                    self.row_setting
                ),
            ));
        }
        for (key, cell) in [("internal", &self.internal), ("external", &self.external)] {
            if cell.floor {
                return Err((
                    key,
                    "a side of a matrix cannot be the floor; put the floor beside it".into(),
                ));
            }
        }
        Ok(())
    }

    fn check_beside(&self) -> Result<(), Wrong> {
        let taken =
            |name: &&String| name.as_str() == EXTERNAL || name.chars().all(|c| c.is_ascii_digit());
        if let Some(name) = self.beside.keys().find(|name| !is_plain(name)) {
            let name = name.escape_debug();
            return Err((
                "beside",
                format!("'{name}': a name must consist of letters, digits, '-' and '_'"),
            ));
        }
        match self.beside.keys().find(taken) {
            Some(name) => Err((
                "beside",
                format!("'{name}' is the name of a cell of the matrix itself; choose another"),
            )),
            None => Ok(()),
        }
    }
}

impl PublishedMatrix {
    fn check(&self, matrix: &MatrixSpec) -> Result<(), Wrong> {
        rising("published", &self.sizes)?;
        let rows: Vec<String> = matrix.rows.iter().map(u64::to_string).collect();
        for (row, ratios) in &self.ratios {
            if !rows.contains(row) {
                let hint = suggestion(row, rows.iter().map(String::as_str));
                return Err(("published", format!("there is no row '{row}'{hint}")));
            }
            if ratios.len() != self.sizes.len() {
                return Err((
                    "published",
                    format!(
                        "row {row} has {} ratios for {} sizes",
                        ratios.len(),
                        self.sizes.len()
                    ),
                ));
            }
            let possible = |ratio: &f64| ratio.is_finite() && *ratio > 0.0;
            if let Some(ratio) = ratios.iter().find(|ratio| !possible(ratio)) {
                return Err(("published", format!("row {row}: {ratio} is no ratio")));
            }
        }
        Ok(())
    }
}

/// At least one number, each larger than the one before.
fn rising(key: &'static str, numbers: &[u64]) -> Result<(), Wrong> {
    if numbers.is_empty() {
        return Err((key, "give at least one".into()));
    }
    match numbers.windows(2).find(|pair| pair[0] >= pair[1]) {
        Some(pair) => Err((
            key,
            format!(
                "give each once, by rising number: {} stands before {}",
                pair[0], pair[1]
            ),
        )),
        None => Ok(()),
    }
}
