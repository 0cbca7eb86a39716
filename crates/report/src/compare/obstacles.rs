//! Why cells were not compared.

use super::sentences::differences;
use crate::cells::grouped;
use crate::document::{Block, Detail, Fold, bullets, paragraph};
use crate::noise::beyond_noise;
use stowplan_analysis::Metric;
use stowplan_analysis::compare::{Changes, NotCompared, Obstacle};

/// So many cells of a reason are named before the rest is only counted.
const FEW: usize = 8;

/// A fold of the reasons, each with its cells; nothing where all were compared. Those beyond a few
/// are named to those who ask.
pub(super) fn fold(changes: &Changes) -> Option<Block> {
    let cells = changes.not_compared.iter();
    let groups =
        grouped(cells.map(|NotCompared { cell, reasons }| (reasons_of(reasons), cell.to_string())));
    let lines = groups.iter().map(|(reason, cells)| {
        let (shown, more) = cells.split_at(cells.len().min(FEW));
        let more = match more.len() {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        format!("{}{more}: {reason}", shown.join(", "))
    });
    let mut blocks = vec![bullets(lines)?];
    let more = groups.iter().filter_map(|(reason, cells)| {
        let more = cells.get(FEW..).filter(|more| !more.is_empty())?;
        let text = format!(
            "The others that were not compared ({reason}): {}.",
            more.join(", ")
        );
        Some(paragraph(text).at(Detail::Full))
    });
    blocks.extend(more);
    Some(Fold::new("Not compared", blocks).into())
}

/// All reasons of one cell; what holds in both results is said once.
fn reasons_of(all: &[Obstacle]) -> String {
    match all {
        [Obstacle::Unreliable { .. }, Obstacle::Unreliable { .. }] => {
            format!("both are unreliable here: {}", beyond_noise())
        }
        [
            Obstacle::Failed { message, .. },
            Obstacle::Failed { message: other, .. },
        ] if message == other => format!("failed in both: {message}"),
        _ => {
            let reasons: Vec<String> = all.iter().map(reason).collect();
            reasons.join("; ")
        }
    }
}

fn reason(obstacle: &Obstacle) -> String {
    match obstacle {
        Obstacle::OnlyIn { side } => format!("not in {}", side.other().name()),
        Obstacle::PairedOtherwise => "paired otherwise by --cells".to_owned(),
        Obstacle::NotApplicable { side, why } => {
            format!("not applicable in {}: {why}", side.name())
        }
        Obstacle::Dataset { differences: all } => {
            format!("another dataset: {}", differences(all))
        }
        Obstacle::Workload { differences: all } => {
            format!("another workload: {}", differences(all))
        }
        Obstacle::CacheState { base, new } => format!("another cache state: {base} → {new}"),
        Obstacle::Durability { base, new } => {
            format!("another durability promise: “{base}” → “{new}”")
        }
        Obstacle::Failed { side, message } => format!("failed in {}: {message}", side.name()),
        Obstacle::TooFewRounds { base, new, needed } => too_few(*base, *new, *needed),
        Obstacle::Clock { base, new } => {
            format!("another clock: {} → {}", clock(*base), clock(*new))
        }
        Obstacle::Unreliable { side } => {
            format!("{} is unreliable here: {}", side.name(), beyond_noise())
        }
        Obstacle::NotAlike {
            side,
            differences: all,
        } => format!(
            "the sessions of {} did not do the same: {}",
            side.name(),
            differences(all)
        ),
        Obstacle::TooFewSessions { base, new, needed } => format!(
            "too few sessions in which it was measured reliably: BASE {base}, NEW {new}, of at least \
             {needed} each"
        ),
    }
}

fn clock(metric: Metric) -> &'static str {
    match metric {
        Metric::Corrected => "corrected time",
        Metric::Wall => "wall time",
    }
}

fn too_few(base: usize, new: usize, needed: usize) -> String {
    match (base, new) {
        (0, 0) => "measured in neither".to_owned(),
        (0, _) => "not measured in BASE".to_owned(),
        (_, 0) => "not measured in NEW".to_owned(),
        _ => format!("fewer than {needed} rounds: BASE {base}, NEW {new}"),
    }
}
