//! All that is wrong with a study and shows only where its stores are asked, for whoever wrote it.

use super::{Mistake, PlanOptions, expand, is_of_the_study, left_out, resolve};
use crate::HarnessError;
use crate::drivers::Drivers;
use stowplan_model::{CellSpec, ComparisonSpec, MatrixSpec, Study};

/// What cannot be measured as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyFault {
    /// Where it stands in the file: keys from its top; a number picks an entry of a list.
    pub keys: Vec<String>,
    /// The same for people.
    pub place: String,
    /// What is wrong.
    pub message: String,
    /// What [`super::plan`] says if it comes to this.
    pub refusal: String,
}

/// How much of a study there is to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// What could be read of it: of workloads and datasets something may be missing, and only stores
    /// are asked about.
    Part,
}

/// Every such fault, of comparisons and of matrices at each scale.
#[must_use]
pub fn faults(study: &Study, extent: Extent, drivers: &Drivers) -> Vec<StudyFault> {
    let judge = Judge {
        study,
        extent,
        drivers,
    };
    let comparisons = study.comparisons.iter().enumerate();
    let mut found: Vec<StudyFault> = comparisons
        .flat_map(|(index, spec)| judge.in_comparison(index, spec))
        .collect();
    for (index, matrix) in study.matrices.iter().enumerate() {
        for fault in judge.in_matrix(index, matrix) {
            // What stands in the file once is told once, however many cells it makes.
            if found.iter().all(|known| known.keys != fault.keys) {
                found.push(fault);
            }
        }
    }
    drivers.hang_up();
    found
}

struct Judge<'a> {
    study: &'a Study,
    extent: Extent,
    drivers: &'a Drivers,
}

impl Judge<'_> {
    fn in_comparison(&self, index: usize, spec: &ComparisonSpec) -> Vec<StudyFault> {
        let mistakes = self.mistakes(self.study, spec).into_iter();
        let faults = mistakes.map(|(cell, error)| {
            let mut keys = vec!["comparison".to_owned(), index.to_string()];
            let mut place = format!("comparison '{}'", spec.id);
            if let Some(cell) = cell {
                place = format!("{place}, cell '{cell}'");
                keys.extend(["cells".to_owned(), cell]);
            }
            fault(keys, place.clone(), &place, &error)
        });
        faults.collect()
    }

    /// The faults of a matrix as it stands in the file, and as each scale changes it.
    fn in_matrix(&self, index: usize, matrix: &MatrixSpec) -> Vec<StudyFault> {
        let own = vec!["matrix".to_owned(), index.to_string()];
        let mut found = self.in_grid(matrix, &own, &own);
        for (name, scale) in &self.study.scales {
            if let Some(change) = scale.matrix.get(&matrix.id) {
                let changed = matrix.clone().changed(change);
                let keys = ["scales", name, "matrix", &matrix.id].map(str::to_owned);
                let rows = if change.rows.is_some() {
                    &keys[..]
                } else {
                    &own
                };
                found.extend(self.in_grid(&changed, &own, rows));
            }
        }
        found
    }

    /// The faults of a matrix of these rows, which stand below the keys `rows`, and all else below `own`.
    fn in_grid(&self, matrix: &MatrixSpec, own: &[String], rows: &[String]) -> Vec<StudyFault> {
        let alone = Study {
            matrices: vec![matrix.clone()],
            comparisons: Vec::new(),
            ..self.study.clone()
        };
        let expanded = alone.expanded();
        let faults = expanded.comparisons.iter().flat_map(|spec| {
            let mistakes = self.mistakes(&expanded, spec);
            let of_row = |(cell, _): &Mistake| row_of(matrix, cell.as_deref()).is_some();
            let every_row = mistakes.iter().filter(|mistake| of_row(mistake)).count();
            let every_row = every_row == matrix.rows.len() && every_row > 1;
            let told = mistakes.into_iter().map(move |(cell, error)| {
                let (below, path) = match (row_of(matrix, cell.as_deref()), &cell) {
                    (Some(_), _) if self.is_at_fault(&matrix.internal) => {
                        (own, vec!["internal".to_owned()])
                    }
                    (Some(_), _) if every_row => (own, vec!["row_setting".to_owned()]),
                    (Some(row), _) => (rows, vec!["rows".to_owned(), row.to_string()]),
                    (None, Some(cell)) if matrix.beside.contains_key(cell) => {
                        (own, vec!["beside".to_owned(), cell.clone()])
                    }
                    (None, Some(_)) => (own, vec!["external".to_owned()]),
                    (None, None) => (own, Vec::new()),
                };
                let place = match path.first() {
                    Some(part) => format!("matrix '{}', {part}", matrix.id),
                    None => format!("matrix '{}'", matrix.id),
                };
                let named = match cell {
                    Some(cell) => format!("comparison '{}', cell '{cell}'", spec.id),
                    None => format!("comparison '{}'", spec.id),
                };
                fault([below, &path].concat(), place, &named, &error)
            });
            told.collect::<Vec<_>>()
        });
        faults.collect()
    }

    /// Whether a store cannot be used whatever the rows of its matrix are.
    fn is_at_fault(&self, cell: &CellSpec) -> bool {
        let budget = self.study.memory_budget;
        resolve(self.drivers, &cell.store, budget, 1).is_err_and(|error| is_of_the_study(&error))
    }

    /// The mistakes of one comparison.
    fn mistakes(&self, study: &Study, spec: &ComparisonSpec) -> Vec<Mistake> {
        let asked = |(key, cell): (&String, &CellSpec)| {
            let resolved = resolve(self.drivers, &cell.store, study.memory_budget, 1);
            Some((Some(key.clone()), resolved.err()?))
        };
        let present = |(_, cell): &(&String, &CellSpec)| left_out(cell, self.drivers).is_none();
        let mistakes = match self.extent {
            Extent::Whole => expand(study, spec, &PlanOptions::default(), self.drivers).err(),
            Extent::Part => Some(
                spec.cells
                    .iter()
                    .filter(present)
                    .filter_map(asked)
                    .collect(),
            ),
        };
        let mistakes = mistakes.unwrap_or_default().into_iter();
        mistakes
            .take_while(|(_, error)| is_of_the_study(error))
            .collect()
    }
}

/// The place in the list of rows of a cell of a matrix, if it is of a row.
fn row_of(matrix: &MatrixSpec, cell: Option<&str>) -> Option<usize> {
    let row: u64 = cell?.parse().ok()?;
    matrix.rows.iter().position(|known| *known == row)
}

fn fault(keys: Vec<String>, place: String, named: &str, error: &HarnessError) -> StudyFault {
    let refusal = error.to_string();
    let message = refusal.strip_prefix(&format!("{named}: "));
    StudyFault {
        keys,
        place,
        message: message.unwrap_or(&refusal).to_owned(),
        refusal,
    }
}
