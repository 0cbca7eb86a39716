//! Why cells were not compared.

use super::sentences::differences;
use crate::cells::grouped;
use crate::document::{Block, Detail, Fold, bullets, paragraph};
use crate::noise::beyond_noise;
use stowplan_analysis::MIN_ROUNDS;
use stowplan_analysis::compare::{
    Changes, MIN_SESSIONS, NotCompared, Obstacle, ObstacleKind, ResultSide,
};

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
    let what = all
        .first()
        .map(|obstacle| (obstacle.kind, &obstacle.message));
    let alike = all.len() == 2
        && all
            .iter()
            .all(|other| Some((other.kind, &other.message)) == what);
    match what {
        Some((ObstacleKind::Unreliable, _)) if alike => {
            format!("both are unreliable here: {}", beyond_noise())
        }
        Some((ObstacleKind::Failed, Some(message))) if alike => {
            format!("failed in both: {message}")
        }
        _ => {
            let reasons: Vec<String> = all.iter().map(reason).collect();
            reasons.join("; ")
        }
    }
}

fn reason(obstacle: &Obstacle) -> String {
    let side = obstacle.side.map_or("", ResultSide::name);
    let other = obstacle.side.map_or("", |side| side.other().name());
    let message = obstacle.message.as_deref().unwrap_or_default();
    let differences = differences(&obstacle.differences);
    let mut both = obstacle.differences.iter();
    let both = both.find_map(|both| both.base.as_deref().zip(both.new.as_deref()));
    let (base, new) = both.unwrap_or_default();
    match obstacle.kind {
        ObstacleKind::OnlyIn => format!("not in {other}"),
        ObstacleKind::PairedOtherwise => "paired otherwise by --cells".to_owned(),
        ObstacleKind::NotApplicable => format!("not applicable in {side}: {message}"),
        ObstacleKind::Dataset => format!("another dataset: {differences}"),
        ObstacleKind::Workload => format!("another workload: {differences}"),
        ObstacleKind::CacheState => format!("another cache state: {base} → {new}"),
        ObstacleKind::Durability => format!("another durability promise: “{base}” → “{new}”"),
        ObstacleKind::Failed => format!("failed in {side}: {message}"),
        ObstacleKind::TooFewRounds => too_few(base, new),
        ObstacleKind::Clock => format!("another clock: {base} → {new}"),
        ObstacleKind::Unreliable => format!("{side} is unreliable here: {}", beyond_noise()),
        ObstacleKind::NotAlike => {
            format!("the sessions of {side} did not do the same: {differences}")
        }
        ObstacleKind::TooFewSessions => format!(
            "too few sessions in which it was measured reliably: BASE {base}, NEW {new}, of at least \
             {MIN_SESSIONS} each"
        ),
    }
}

fn too_few(base: &str, new: &str) -> String {
    match (base, new) {
        ("0", "0") => "measured in neither".to_owned(),
        ("0", _) => "not measured in BASE".to_owned(),
        (_, "0") => "not measured in NEW".to_owned(),
        _ => format!("fewer than {MIN_ROUNDS} rounds: BASE {base}, NEW {new}"),
    }
}
