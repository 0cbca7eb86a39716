//! Why cold reads rank as they do, in sentences.

use crate::{format, wording};
use stowplan_analysis::{ColdCell, ColdOutcome, ComparisonOutcome};
use stowplan_model::Role;

/// A sentence per cell, baseline first, and one about read-ahead.
pub(super) fn sentences(comparison: &ComparisonOutcome, cold: &ColdOutcome) -> Vec<String> {
    let baseline = cold.cells.iter().find(|cell| cell.role == Role::Baseline);
    let mut sentences: Vec<String> = cold
        .cells
        .iter()
        .map(|cell| sentence(comparison, cell, baseline))
        .collect();
    sentences.extend(cold.read_ahead_bytes.map(|bytes| {
        format!(
            "The kernel reads ahead up to {} KiB of this device where reads look sequential, and around \
             each page that a mapping lacks.",
            format::count(bytes / 1024)
        )
    }));
    sentences
}

fn sentence(
    comparison: &ComparisonOutcome,
    cell: &ColdCell,
    baseline: Option<&ColdCell>,
) -> String {
    let label = comparison.cell(&cell.cell).map_or("", |c| &c.cell.label);
    let mut text = format!(
        "{} fetches {} from storage{} per value of {}",
        wording::quoted(label),
        format::bytes(cell.storage_bytes),
        requests(cell),
        format::bytes(cell.value_bytes)
    );
    text.push_str(&placement(cell));
    if let Some(against) = baseline.filter(|baseline| baseline.cell != cell.cell) {
        text.push_str(&compared(cell, against));
    }
    if cell.ruled_by_read_ahead {
        text.push_str(
            "; that is read-ahead around each page that its mapping lacked, so its figure falls with \
             more operations",
        );
    }
    text.push('.');
    text
}

fn requests(cell: &ColdCell) -> String {
    let requests = cell.requests.map(|count| things(count, "request"));
    requests.map_or_else(String::new, |requests| format!(" in {requests}"))
}

/// Where a value lies: `, which lies in 2.03 pieces, with 2 overflow pages`.
fn placement(cell: &ColdCell) -> String {
    let Some(placement) = &cell.placement else {
        return String::new();
    };
    let mut text = format!(
        ", which lies in {} of its file",
        things(placement.pieces_per_value, "piece")
    );
    if let Some(pages) = placement.overflow_pages_per_value {
        let pages = things(pages, "overflow page");
        text.push_str(&format!(", with {pages}"));
    }
    if let Some(count) = placement.device_pieces_per_value {
        text.push_str(&format!(
            ", and in {} of the device",
            things(count, "piece")
        ));
    }
    text
}

/// `one piece`, `3 requests`, `2.03 pieces`
fn things(count: f64, name: &str) -> String {
    const ROUNDING: f64 = 0.005;
    match (count - count.round()).abs() < ROUNDING {
        true if (count - 1.0).abs() < ROUNDING => format!("one {name}"),
        true => format!("{count:.0} {name}s"),
        false => format!("{} {name}s", format::per_operation(count)),
    }
}

/// How bytes, requests and time compare with the baseline's.
fn compared(cell: &ColdCell, baseline: &ColdCell) -> String {
    let times = |ours: f64, theirs: f64| (theirs > 0.0).then(|| ours / theirs);
    let mut said = Vec::new();
    let bytes = times(cell.storage_bytes, baseline.storage_bytes);
    said.extend(bytes.map(|ratio| format!("{} times the bytes", format::ratio(ratio))));
    let requests = cell.requests.zip(baseline.requests);
    let requests = requests.and_then(|(ours, theirs)| times(ours, theirs));
    said.extend(requests.map(|ratio| format!("{} times the requests", format::ratio(ratio))));
    if said.is_empty() {
        return String::new();
    }
    let took = cell.ratio.map_or_else(String::new, |e| {
        format!(
            ", and it takes {} times as long {}",
            format::ratio(e.ratio),
            format::interval(e.low, e.high)
        )
    });
    format!(": {} of the baseline{took}", wording::list(&said))
}
