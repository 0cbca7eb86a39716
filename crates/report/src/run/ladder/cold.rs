//! Why cold reads rank as they do, in sentences.

use crate::{value, wording};
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
            value::count(bytes / 1024)
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
    let requests = cell.requests.map(|count| things(count, "request"));
    let requests = requests.map(|requests| format!(" in {requests}"));
    let unproved = match cell.metadata_proved {
        true => "",
        false => "; too little to prove that none was in memory",
    };
    let names = cell
        .metadata_bytes
        .map(|bytes| format!(" ({} of names and inodes{unproved})", value::bytes(bytes)));
    let against = baseline.filter(|baseline| baseline.cell != cell.cell);
    let read_ahead = match cell.ruled_by_read_ahead {
        true => {
            "; that is read-ahead around each page that its mapping lacked, so its figure falls with \
             more operations"
        }
        false => "",
    };
    format!(
        "{} fetches {} from storage{}{} per value of {}{}{read_ahead}.",
        wording::quoted(label),
        value::bytes(cell.storage_bytes),
        names.unwrap_or_default(),
        requests.unwrap_or_default(),
        value::bytes(cell.value_bytes),
        against
            .and_then(|of| compared(cell, of))
            .unwrap_or_default()
    )
}

/// `one request`, `3 requests`, `2.03 requests`
fn things(count: f64, name: &str) -> String {
    const ROUNDING: f64 = 0.005;
    match (count - count.round()).abs() < ROUNDING {
        true if (count - 1.0).abs() < ROUNDING => format!("one {name}"),
        true => format!("{count:.0} {name}s"),
        false => format!("{} {name}s", value::per_operation(count)),
    }
}

/// How bytes, requests and time compare with the baseline's; nothing if neither is known.
fn compared(cell: &ColdCell, baseline: &ColdCell) -> Option<String> {
    let bytes = Some((cell.storage_bytes, baseline.storage_bytes));
    let requests = cell.requests.zip(baseline.requests);
    let said = [(bytes, "bytes"), (requests, "requests")];
    let said = said.into_iter().filter_map(|(both, what)| {
        let (ours, theirs) = both.filter(|(_, theirs)| *theirs > 0.0)?;
        Some(format!("{} times the {what}", value::ratio(ours / theirs)))
    });
    let said: Vec<String> = said.collect();
    let took = cell.ratio.map_or_else(String::new, |e| {
        let (ratio, interval) = (value::ratio(e.ratio), value::interval(e.low, e.high));
        format!(", and it takes {ratio} times as long {interval}")
    });
    (!said.is_empty()).then(|| format!(": {} of the baseline{took}", wording::list(&said)))
}
