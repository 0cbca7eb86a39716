//! Changes for spreadsheets and scripts.

use super::{Compared, Side, sentences};
use crate::csv;
use serde_json::json;

/// How the header begins: by it a table of ours is told from a file that someone else wrote.
pub const CSV_START: &str = "base_result,new_result,base_cell,new_cell,";

/// Columns and where their fields stand in a row, see [`csv::table`].
const COLUMNS: [(&str, &str); 39] = [
    ("base_result", "/base_result"),
    ("new_result", "/new_result"),
    ("base_cell", "/cell/base"),
    ("new_cell", "/cell/new"),
    ("label", "/cell/label"),
    ("comparison", "/cell/title"),
    ("role", "/cell/role"),
    ("metric", "/cell/metric"),
    ("decides", "/decides"),
    ("regression", "/cell/regression"),
    ("base_time_ns", "/cell/base_time_ns/estimate"),
    ("base_time_low_ns", "/cell/base_time_ns/low"),
    ("base_time_high_ns", "/cell/base_time_ns/high"),
    ("new_time_ns", "/cell/new_time_ns/estimate"),
    ("new_time_low_ns", "/cell/new_time_ns/low"),
    ("new_time_high_ns", "/cell/new_time_ns/high"),
    ("base_rounds", "/cell/time/base_rounds"),
    ("new_rounds", "/cell/time/new_rounds"),
    ("time_change", "/cell/time/ratio"),
    ("time_change_low", "/cell/time/low"),
    ("time_change_high", "/cell/time/high"),
    ("time_verdict", "/cell/time_verdict"),
    ("ratio_change", "/cell/ratio/ratio"),
    ("ratio_change_low", "/cell/ratio/low"),
    ("ratio_change_high", "/cell/ratio/high"),
    ("ratio_verdict", "/cell/ratio_verdict"),
    ("same_machine", "/same_machine"),
    ("threshold", "/threshold"),
    ("differences", "/differences"),
    (
        "base_allocated_bytes",
        "/cell/resources/allocated_bytes/base",
    ),
    ("new_allocated_bytes", "/cell/resources/allocated_bytes/new"),
    (
        "base_write_amplification",
        "/cell/resources/write_amplification/base",
    ),
    (
        "new_write_amplification",
        "/cell/resources/write_amplification/new",
    ),
    (
        "base_peak_memory_bytes",
        "/cell/resources/peak_memory_bytes/base",
    ),
    (
        "new_peak_memory_bytes",
        "/cell/resources/peak_memory_bytes/new",
    ),
    ("base_sessions", "/cell/time/base_sessions"),
    ("new_sessions", "/cell/time/new_sessions"),
    ("p_slower", "/p_slower"),
    ("adjusted_p", "/cell/adjusted_p"),
];

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
    csv::table(&COLUMNS, rows)
}

/// `before-1 before-2`
fn names(side: &Side<'_>) -> String {
    let names: Vec<&str> = side.all().map(|source| source.name).collect();
    names.join(" ")
}
