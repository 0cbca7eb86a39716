//! A result held against the study that is asked: whether it measured the same cells, and what it is judged
//! by.

use crate::error::CliError;
use crate::report::Loaded;
use crate::screen::warn;
use stowplan_analysis::analyse;
use stowplan_model::{Cell, ClaimSpec, DatasetSpec, Plan, Record, Study, Workload};

/// So many names are told of a list.
const MOST_NAMED: usize = 5;

/// The same result, judged by what the study of its name among `studies` claims of cells that were measured
/// as it has them; as it is where there is none.
pub(super) fn with_claims(mut loaded: Loaded, studies: &[Study]) -> Result<Loaded, CliError> {
    let plan = &loaded.analysis.run.plan;
    let of_study = |study: &&Study| study.name == plan.study.name;
    let Some(study) = studies.iter().find(of_study) else {
        return Ok(loaded);
    };
    let (known, unlike) = judging(study, plan);
    let recorded = &plan.study.claims;
    if *recorded == known {
        return Ok(loaded);
    }
    let others = stated_otherwise(recorded, study);
    let said = |about: &str, ids: &[&str]| {
        let (path, name) = (loaded.path.display(), &study.name);
        if !ids.is_empty() {
            warn(&format!("{path}: {about} ({}): study '{name}'", few(ids)));
        }
    };
    said(
        "judged by what the study that is asked (--of) claims, and not by what it claimed when this was measured",
        &others,
    );
    said(
        "not judged, because other cells of these names were measured",
        &unlike,
    );
    for record in &mut loaded.records {
        if let Record::Run(run) = record {
            run.plan.study.claims.clone_from(&known);
        }
    }
    loaded.analysis = analyse(&loaded.records, None).map_err(|error| CliError::Analysis {
        path: loaded.path.clone(),
        error,
    })?;
    Ok(loaded)
}

/// The claims of a study that a plan's cells can decide, and the names of those of which it has other cells.
fn judging<'s>(study: &'s Study, plan: &Plan) -> (Vec<ClaimSpec>, Vec<&'s str>) {
    let expanded = study.clone().expanded();
    let is_alike = |claim: &&ClaimSpec| {
        let needed = claim.cells(study);
        let mut measured = plan.cells().filter(|cell| needed.contains(&cell.id));
        measured.all(|cell| alike(plan, cell, &expanded).unwrap_or(false))
    };
    let (known, unlike): (Vec<&ClaimSpec>, Vec<_>) = study.claims.iter().partition(is_alike);
    (
        known.into_iter().cloned().collect(),
        unlike.into_iter().map(|claim| claim.id.as_str()).collect(),
    )
}

/// The names of claims that were recorded and that a study decides otherwise, or does not have.
fn stated_otherwise<'r>(recorded: &'r [ClaimSpec], study: &Study) -> Vec<&'r str> {
    // What a claim says in words decides nothing.
    let deciding = |claim: &ClaimSpec| ClaimSpec {
        quote: String::new(),
        place: None,
        source: None,
        note: None,
        ..claim.clone()
    };
    let differs = |claim: &&ClaimSpec| {
        let mut claims = study.claims.iter();
        claims.all(|known| deciding(known) != deciding(claim))
    };
    let others = recorded.iter().filter(differs);
    others.map(|claim| claim.id.as_str()).collect()
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
    let datasets = [
        study.datasets.get(&spec.dataset).map(without_count),
        plan.datasets.get(&cell.dataset).map(without_count),
    ];
    Some(
        asked.store == cell.store
            && workload == cell.workload
            && spec.scanned(asked) == cell.scanned
            && datasets[0] == datasets[1]
            && spec.measure == plan.statistic_of(&cell.id)
            && study.memory_budget == plan.study.memory_budget,
    )
}

/// The first of some names, and how many more there are.
fn few(names: &[&str]) -> String {
    let told = names.iter().take(MOST_NAMED).copied();
    let told = told.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMED) {
        0 => told,
        more => format!("{told} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{drivers, studies};
    use stowplan_harness::plan::{self, PlanOptions};

    fn planned(study: &Study) -> Plan {
        let options = PlanOptions {
            scale: study
                .scales
                .contains_key("quick")
                .then(|| "quick".to_owned()),
            ..PlanOptions::default()
        };
        plan::plan(study.clone(), &options, &drivers::looked_at()).unwrap()
    }

    #[test]
    fn what_a_built_in_study_measures_is_what_its_claims_are_about() {
        for study in studies::built_in().unwrap() {
            let plan = planned(&study);
            let (known, unlike) = judging(&study, &plan);
            assert_eq!(unlike, [""; 0], "{}", study.name);
            assert_eq!(known, study.claims);
        }
    }

    #[test]
    fn a_cell_with_other_work_another_dataset_or_store_is_another_cell() {
        let study = studies::find("fasterthanfs", &[]).unwrap();
        let plan = planned(&study);
        let cell = plan.cells().find(|cell| cell.id.0 == "read/sql").unwrap();
        let is_alike = |change: &dyn Fn(&mut Study)| {
            let mut other = study.clone().expanded();
            change(&mut other);
            alike(&plan, cell, &other)
        };
        assert_eq!(is_alike(&|_| {}), Some(true));
        let read = |study: &mut Study| {
            let mut specs = study.comparisons.iter();
            specs.position(|spec| spec.id == "read").unwrap()
        };
        assert_eq!(
            is_alike(&|study| {
                let read = read(study);
                study.comparisons[read].workload.operations = Some(7);
                for dataset in study.datasets.values_mut() {
                    dataset.count += 1;
                }
            }),
            Some(true),
            "how many is a matter of scale"
        );
        assert_eq!(
            is_alike(&|study| {
                let read = read(study);
                study.comparisons[read].workload.threads = Some(2);
            }),
            Some(false)
        );
        assert_eq!(
            is_alike(&|study| study.datasets.values_mut().for_each(|d| d.seed += 1)),
            Some(false)
        );
        assert_eq!(
            is_alike(&|study| {
                let read = read(study);
                let cells = &mut study.comparisons[read].cells;
                cells.get_mut("sql").unwrap().store = "sqlite:page_size=512".parse().unwrap();
            }),
            Some(false)
        );
        assert_eq!(is_alike(&|study| study.memory_budget += 1), Some(false));
        assert_eq!(is_alike(&|study| study.comparisons.clear()), None);
    }

    #[test]
    fn claims_with_other_bounds_are_named_and_those_with_other_words_are_not() {
        let study = studies::find("crud", &[]).unwrap();
        let mut recorded = study.claims.clone();
        recorded[0].quote = "in other words".to_owned();
        assert_eq!(stated_otherwise(&recorded, &study), [""; 0]);
        let changed = recorded.iter().position(|claim| !claim.test.is_empty());
        let changed = changed.unwrap();
        recorded[changed].test[0].at_least = Some(1e9);
        recorded[changed].test[0].at_most = None;
        let id = recorded[changed].id.clone();
        assert_eq!(stated_otherwise(&recorded, &study), [id]);
    }
}
