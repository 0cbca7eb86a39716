//! A result held against the study that is asked: whether it measured the same cells, and what it is judged
//! by.

use stowplan_model::{Cell, ClaimSpec, DatasetSpec, Plan, Study, Workload};

/// What became of the claims that were recorded, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// Those that the study decides otherwise now, or does not have.
    pub otherwise: Vec<String>,
    /// Those of the study that are not judged, because other cells of these names were measured.
    pub unlike: Vec<String>,
}

/// Makes the claims of a recorded plan what `study` claims of cells that were measured as it has them; nothing
/// where they are just that.
pub fn hold(plan: &mut Plan, study: &Study) -> Option<Held> {
    let (known, unlike) = judging(study, plan);
    let otherwise = stated_otherwise(&plan.study.claims, study);
    let is_another = plan.study.claims != known;
    plan.study.claims = known;
    is_another.then_some(Held { otherwise, unlike })
}

/// The claims of a study that a plan's cells can decide, and the names of those of which it has other cells.
fn judging(study: &Study, plan: &Plan) -> (Vec<ClaimSpec>, Vec<String>) {
    let expanded = study.clone().expanded();
    let is_alike = |claim: &ClaimSpec| {
        let needed = claim.cells();
        let mut measured = plan.cells().filter(|cell| needed.contains(&cell.id));
        measured.all(|cell| alike(plan, cell, &expanded).unwrap_or(false))
    };
    let (known, unlike): (Vec<ClaimSpec>, Vec<_>) =
        study.claims.iter().cloned().partition(is_alike);
    (known, unlike.into_iter().map(|claim| claim.id).collect())
}

/// The names of claims that were recorded and that a study decides otherwise, or does not have.
fn stated_otherwise(recorded: &[ClaimSpec], study: &Study) -> Vec<String> {
    // What a claim says in words decides nothing.
    let deciding = |claim: &ClaimSpec| ClaimSpec {
        quote: String::new(),
        place: None,
        source: None,
        note: None,
        ..claim.clone()
    };
    let known: Vec<ClaimSpec> = study.claims.iter().map(deciding).collect();
    let others = recorded
        .iter()
        .filter(|claim| !known.contains(&deciding(claim)));
    others.map(|claim| claim.id.clone()).collect()
}

/// Whether a cell of a plan is measured as a study has it, matrices as comparisons: store, memory, workload
/// and dataset, but for how many operations and values; nothing where the study has no such cell.
fn alike(plan: &Plan, cell: &Cell, study: &Study) -> Option<bool> {
    let (comparison, key) = cell.id.0.split_once('/')?;
    let mut specs = study.comparisons.iter();
    let spec = specs.find(|spec| spec.id == comparison)?;
    let asked = spec.cells.get(key)?;
    let workload = Workload {
        operations: cell.workload.operations,
        ..asked.workload.over(&spec.workload).complete()
    };
    let without_count = |dataset: &DatasetSpec| DatasetSpec {
        count: 0,
        ..dataset.clone()
    };
    let wanted = study.datasets.get(&spec.dataset).map(without_count);
    let measured = plan.datasets.get(&cell.dataset).map(without_count);
    Some(
        asked.store == cell.store
            && workload == cell.workload
            && spec.scanned(asked) == cell.scanned
            && wanted == measured
            && spec.measure == plan.statistic_of(&cell.id)
            && study.memory_budget == plan.study.memory_budget,
    )
}
