//! Changes for spreadsheets and scripts.

use super::{Compared, Side, sentences};
use crate::csv;
use serde_json::json;

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const CSV_START: &str = "base_result,new_result,base_cell,new_cell,";

/// Columns and where their fields stand in a row, see [`csv::columns_of`].
const COLUMNS: &str = include_str!("../tables/compare.txt");

/// The cells that were compared as CSV (RFC 4180, but with plain line feeds): a header, then a row
/// per cell of each NEW; results of several sessions are named one behind the other. Changes are NEW over BASE. Empty fields are unknown or do not apply.
#[must_use]
pub fn render(compared: &Compared<'_>) -> String {
    let rows = compared.news.iter().flat_map(|(new, changes)| {
        changes.cells.iter().map(|cell| {
            json!({
                "base_result": names(&compared.base),
                "new_result": names(new),
                "p_slower": cell.decisive(changes.decides).map(|(change, _)| change.p_slower),
                "decides": changes.decides,
                "same_machine": changes.same_machine,
                "threshold": changes.threshold,
                "differences": sentences::differences(&cell.differences),
                "cell": cell,
            })
        })
    });
    csv::table(&csv::columns_of(COLUMNS), rows)
}

/// `before-1 before-2`
fn names(side: &Side<'_>) -> String {
    let names: Vec<&str> = side.all().map(|source| source.name).collect();
    names.join(" ")
}
