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
        let grid = Grid::of(study, spec, &mistakes, drivers);
        for (cell, error) in mistakes {
            let named = match &cell {
                Some(cell) => format!("comparison '{}', cell '{cell}'", spec.id),
                None => format!("comparison '{}'", spec.id),
            };
            let cell = cell.as_deref();
            let (keys, place) = match &grid {
                Some(grid) => grid.place_of(cell),
                None => {
                    let of_cell = cell.into_iter().flat_map(|cell| ["cells", cell]);
                    (keys("comparison", index, of_cell), named.clone())
                }
            };
            // What stands in the file once is told once, however many cells of a matrix it makes.
            if grid.is_none() || found.iter().all(|known| known.keys != keys) {
                found.push(fault(keys, place, &named, &error));
            }
        }
    }
    drivers.hang_up();
    found
}

/// The mistakes of one comparison.
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
    let mut mistakes = match extent {
        Extent::Whole => expand(study, spec, &PlanOptions::default(), drivers)
            .err()
            .unwrap_or_default(),
        Extent::Part => spec
            .cells
            .iter()
            .filter(present)
            .filter_map(asked)
            .collect(),
    };
    let others = mistakes
        .iter()
        .position(|(_, error)| !is_of_the_study(error));
    mistakes.truncate(others.unwrap_or(mistakes.len()));
    mistakes
}

/// Where an entry of a list of a study stands: keys from the top.
fn keys<'k>(list: &str, entry: usize, path: impl IntoIterator<Item = &'k str>) -> Vec<String> {
    let path = path.into_iter().map(str::to_owned);
    [list.to_owned(), entry.to_string()]
        .into_iter()
        .chain(path)
        .collect()
}

/// The matrix that a comparison is a column of.
struct Grid<'s> {
    index: usize,
    matrix: &'s MatrixSpec,
    /// Whether its internal store cannot be used whatever the rows are.
    internal: bool,
    /// Whether the cells of all rows are mistaken.
    every_row: bool,
}

impl<'s> Grid<'s> {
    fn of(
        study: &'s Study,
        spec: &ComparisonSpec,
        mistakes: &[Mistake],
        drivers: &Drivers,
    ) -> Option<Self> {
        let is_column = |matrix: &MatrixSpec| {
            let mut sizes = matrix.sizes.iter();
            sizes.any(|size| matrix.comparison_id(*size) == spec.id)
        };
        let mut matrices = study.matrices.iter().enumerate();
        let (index, matrix) = matrices.find(|(_, matrix)| is_column(matrix))?;
        let internal = resolve(drivers, &matrix.internal.store, study.memory_budget, 1);
        let rows = mistakes.iter();
        let rows = rows.filter(|(cell, _)| row_of(matrix, cell.as_deref()).is_some());
        Some(Self {
            index,
            matrix,
            internal: internal.is_err_and(|error| is_of_the_study(&error)),
            every_row: matrix.rows.len() > 1 && rows.count() == matrix.rows.len(),
        })
    }

    /// Where what makes a cell stands: keys from the top, and in words.
    fn place_of(&self, cell: Option<&str>) -> (Vec<String>, String) {
        let Self { index, matrix, .. } = *self;
        let row = row_of(matrix, cell).map(|row| row.to_string());
        let path = match (&row, cell) {
            (Some(_), _) if self.internal => vec!["internal"],
            (Some(_), _) if self.every_row => vec!["row_setting"],
            (Some(row), _) => vec!["rows", row],
            (None, Some(cell)) if matrix.beside.contains_key(cell) => vec!["beside", cell],
            (None, Some(_)) => vec!["external"],
            (None, None) => Vec::new(),
        };
        let part = path.first().map(|part| format!(", {part}"));
        let place = format!("matrix '{}'{}", matrix.id, part.unwrap_or_default());
        (keys("matrix", index, path), place)
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
