//! What the analysis itself finds to spoil or qualify a run.

use crate::{
    ComparisonOutcome, gathered::Gathered, judge::Judge, stationarity, summary::Described,
};
use stowplan_model::{
    Action, Cell, Operation, PerTransaction, Role, Settings, Value, Warning, WarningKind, Workload,
};

/// A cache size that differs by less than this share was rounded to whole pages.
const CACHE_TOLERANCE: f64 = 0.05;
/// By how much a block of a mix may have fewer writing transactions than its proportions say.
const PATTERN_TOLERANCE: f64 = 0.02;
/// The page size assumed where settings name none, in bytes.
const USUAL_PAGE: u64 = 4096;

/// Everything that qualifies one comparison.
pub(crate) fn of_comparison(
    judge: &Judge<'_>,
    outcome: &ComparisonOutcome,
    gathered: &Gathered<'_>,
) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = unreliable(outcome).into_iter().collect();
    warnings.extend(stationarity::warning(judge, outcome));
    warnings.extend(read_in_again(judge, gathered));
    // The control is a copy of the baseline: it would say everything twice.
    let cells = judge.comparison.cells.iter();
    for cell in cells.filter(|cell| cell.role != Role::Control) {
        warnings.extend(settings_not_taken(cell, gathered));
        warnings.extend(too_few_syncs(cell, judge, gathered));
    }
    warnings
}

/// What a control showed that is not as its baseline, as the beginning of a sentence: one phrase for
/// it in everything that is said of a run.
pub const TWICE_DIFFERED: &str = "measuring the same thing twice differed";

fn unreliable(outcome: &ComparisonOutcome) -> Option<Warning> {
    if outcome.reliable {
        return None;
    }
    let (what, advice) = match outcome.control.map(|control| control.estimate) {
        None => (
            "its control has too few rounds".to_owned(),
            "Go on with the run (stowplan resume), or run it again.",
        ),
        Some(e) => (
            format!(
                "{TWICE_DIFFERED} by a factor of {:.3} [{:.3}, {:.3}], more than noise explains",
                e.ratio, e.low, e.high
            ),
            "Stop other work on this machine, then run it again.",
        ),
    };
    let id = &outcome.id;
    let message = format!("comparison {id}: {what}, so nothing is claimed of it");
    Some(Warning::other(message, advice))
}

/// Blocks that found their data as a repair left it (R9), not as building did.
fn read_in_again(judge: &Judge<'_>, gathered: &Gathered<'_>) -> Option<Warning> {
    let mut known = gathered.warnings.iter().map(|(_, warning)| warning);
    let evicts = known.find(|warning| warning.kind == WarningKind::PageOut);
    let advice = evicts.map_or("Free some memory, or stop what takes it.", |found| {
        &*found.advice
    });
    let cells = judge.comparison.cells.iter().filter_map(|cell| {
        let all = judge.blocks.of_cell(&cell.id).count();
        let blocks = judge.blocks.of_cell(&cell.id);
        let again = blocks.filter(|block| block.read_in_again).count();
        (again > 0).then(|| format!("{again} of {all} blocks of '{}'", cell.label))
    });
    let cells: Vec<String> = cells.collect();
    (!cells.is_empty()).then(|| Warning {
        kind: WarningKind::Repeated,
        message: format!(
            "comparison {}: the page cache had lost data, which was read in again, in order: how its \
             pages lie there changes times, by up to five times for overwrites; so measured were {}",
            judge.comparison.id,
            cells.join(", ")
        ),
        advice: format!("{advice} Then run it again."),
    })
}

fn settings_not_taken(cell: &Cell, gathered: &Gathered<'_>) -> Vec<Warning> {
    let Some(effective) = gathered.effective.get(&cell.id) else {
        return Vec::new();
    };
    cell.settings
        .differences(effective)
        .into_iter()
        .filter(|(name, asked, got)| {
            name != "cache" || !is_rounding(asked, got, page_bytes(effective, &cell.settings))
        })
        .map(|(name, asked, got)| Warning {
            kind: WarningKind::SettingNotTaken,
            message: format!(
                "{}: {name}={asked} was asked for, the engine reports {name}={got}",
                cell.id
            ),
            advice: format!("Read the results as those of {name}={got}, or change the study."),
        })
        .collect()
}

fn page_bytes(effective: &Settings, asked: &Settings) -> u64 {
    [effective, asked]
        .map(|settings| settings.number("page_size"))
        .into_iter()
        .find(|bytes| *bytes > 0)
        .unwrap_or(USUAL_PAGE)
}

/// Whether two sizes differ by no more than rounding to whole pages explains.
fn is_rounding(asked: &Value, got: &Value, page: u64) -> bool {
    let (Value::Number(asked), Value::Number(got)) = (asked, got) else {
        return false;
    };
    let difference = asked.abs_diff(*got);
    difference <= page || difference as f64 <= CACHE_TOLERANCE * *asked as f64
}

/// Share of the transactions of a workload that write, 0 to 1: the others have nothing to sync.
fn writing_share(workload: &Workload) -> f64 {
    let pattern = workload.pattern();
    let writes = |action: &Action| action.puts() || *action == Action::Delete;
    let PerTransaction::Operations(size) = workload.per_transaction else {
        return 1.0;
    };
    if workload.operation != Operation::Mix || pattern.is_empty() {
        return 1.0;
    }
    let size = size as usize;
    // The pattern repeats, so after as many transactions as it is long, all have been seen.
    let has_write = |n: &usize| {
        (0..size.min(pattern.len())).any(|i| writes(&pattern[(n * size + i) % pattern.len()]))
    };
    let writing = (0..pattern.len()).filter(has_write).count();
    // A block may begin anywhere in the pattern.
    writing as f64 / pattern.len() as f64 * (1.0 - PATTERN_TOLERANCE)
}

fn too_few_syncs(cell: &Cell, judge: &Judge<'_>, gathered: &Gathered<'_>) -> Option<Warning> {
    let needed = cell.capabilities.syncs_per_commit;
    if !cell.workload.operation.writes() {
        return None;
    }
    let seen = Described::of(cell, judge, gathered).syncs_per_commit()?;
    // Each thread waits for its own commit, so at most as many commits as threads share a sync; and
    // only where the engine lets several write at the same time can any.
    let shared = match cell.capabilities.parallel_writers {
        true => f64::from(cell.workload.threads.max(1)),
        false => 1.0,
    };
    let expected = f64::from(needed) * writing_share(&cell.workload);
    (seen * shared < expected).then(|| Warning {
        kind: WarningKind::TooFewSyncs,
        message: format!(
            "{}: {seen:.2} sync calls per commit, but its settings make at least {needed}",
            cell.id
        ),
        advice: "Do not rely on its durability, nor compare its time with stores that sync."
            .to_owned(),
    })
}
