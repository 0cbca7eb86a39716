//! All that is wrong with a study and shows only where its stores are asked, for whoever wrote it.

use super::{Mistake, PlanOptions, expand, is_of_the_study, left_out, resolve};
use crate::drivers::Drivers;
use stowplan_model::{CellSpec, ComparisonSpec, MatrixSpec, Study};

/// What cannot be measured as it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StudyFault {
    /// Where it stands in the file: keys from its top; a number picks an entry of a list.
    pub keys: Vec<String>,
    /// Where it stands, for people.
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

/// Every such fault, of comparisons and of matrices.
#[must_use]
pub fn faults(study: &Study, extent: Extent, drivers: &Drivers) -> Vec<StudyFault> {
    let whole = study.clone().expanded();
    let mut found: Vec<StudyFault> = Vec::new();
    for (index, spec) in whole.comparisons.iter().enumerate() {
        let mistakes = mistakes(&whole, spec, extent, drivers);
        let rows = mistakes
            .iter()
            .filter_map(|(cell, _)| row(cell.as_deref()))
            .count();
        for (cell, error) in mistakes {
            let cell = cell.as_deref();
            let of_cell = cell.map(|cell| format!(", cell '{cell}'"));
            let named = format!("comparison '{}'{}", spec.id, of_cell.unwrap_or_default());
            let column = column_of(study, spec, (cell, rows), drivers);
            let of_matrix = column.is_some();
            let (keys, place) = column.unwrap_or_else(|| {
                let path = cell.into_iter().flat_map(|cell| ["cells", cell]);
                (keys("comparison", index, path), named.clone())
            });
            let refusal = error.to_string();
            let message = refusal.strip_prefix(&format!("{named}: "));
            let message = message.unwrap_or(&refusal).to_owned();
            // What stands in the file once is told once, however many cells of a matrix it makes.
            if !of_matrix || found.iter().all(|known| known.keys != keys) {
                found.push(StudyFault {
                    keys,
                    place,
                    message,
                    refusal,
                });
            }
        }
    }
    drivers.hang_up();
    found
}

/// The mistakes of one comparison, up to the first that is none of the study.
fn mistakes(
    study: &Study,
    spec: &ComparisonSpec,
    extent: Extent,
    drivers: &Drivers,
) -> Vec<Mistake> {
    let asked = |(key, cell): (&String, &CellSpec)| {
        let resolved = resolve(drivers, &cell.store, study.memory_budget, 1);
        Some((Some(key.clone()), resolved.err()?))
    };
    let present = |(_, cell): &(&String, &CellSpec)| left_out(cell, drivers).is_none();
    let mistakes = match extent {
        Extent::Whole => expand(study, spec, &PlanOptions::default(), drivers)
            .err()
            .unwrap_or_default(),
        Extent::Part => {
            let cells = spec.cells.iter().filter(present);
            cells.filter_map(asked).collect()
        }
    };
    let mistakes = mistakes.into_iter();
    mistakes
        .take_while(|(_, error)| is_of_the_study(error))
        .collect()
}

/// Where an entry of a list of a study stands: keys from the top.
fn keys<'k>(list: &str, entry: usize, path: impl IntoIterator<Item = &'k str>) -> Vec<String> {
    let path = path.into_iter().map(str::to_owned);
    [list.to_owned(), entry.to_string()]
        .into_iter()
        .chain(path)
        .collect()
}

/// The row of a matrix that a cell is named by, if it is.
fn row(cell: Option<&str>) -> Option<u64> {
    cell?.parse().ok()
}

/// Where what makes a cell stands in the matrix that its comparison is a column of: keys from the top, and in words. Of so
/// many rows the cells are mistaken.
fn column_of(
    study: &Study,
    spec: &ComparisonSpec,
    (cell, mistaken): (Option<&str>, usize),
    drivers: &Drivers,
) -> Option<(Vec<String>, String)> {
    let is_column = |matrix: &MatrixSpec| {
        let mut sizes = matrix.sizes.iter();
        sizes.any(|size| matrix.comparison_id(*size) == spec.id)
    };
    let mut matrices = study.matrices.iter().enumerate();
    let (index, matrix) = matrices.find(|(_, matrix)| is_column(matrix))?;
    let row = row(cell).and_then(|row| matrix.rows.iter().position(|known| *known == row));
    let row = row.map(|row| row.to_string());
    // Where the internal store cannot be used whatever the rows are, they are not at fault.
    let internal = || resolve(drivers, &matrix.internal.store, study.memory_budget, 1);
    let path = match (&row, cell) {
        (Some(_), _) if internal().is_err_and(|error| is_of_the_study(&error)) => vec!["internal"],
        (Some(_), _) if mistaken > 1 && mistaken == matrix.rows.len() => vec!["row_setting"],
        (Some(row), _) => vec!["rows", row],
        (None, Some(cell)) if matrix.beside.contains_key(cell) => vec!["beside", cell],
        (None, Some(_)) => vec!["external"],
        (None, None) => Vec::new(),
    };
    let part = path.first().map(|part| format!(", {part}"));
    let place = format!("matrix '{}'{}", matrix.id, part.unwrap_or_default());
    Some((keys("matrix", index, path), place))
}
