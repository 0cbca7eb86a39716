//! `stowplan claims`: what published studies state, what would decide it, and what machines say of it.

use crate::error::{CliError, Exit};
use crate::form::{DocumentOptions, Format, WITH_TABLE};
use crate::loaded::{Loaded, load, results_in};
use crate::output::RESULT;
use crate::screen::{few, warn};
use crate::{places, studies};
use clap::Args;
use std::path::{Path, PathBuf};
use stowplan_analysis::{Analysis, Held, hold, ledger};
use stowplan_model::{Record, Study};
use stowplan_report::claims::Claims;

/// Options of `claims`.
#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Directories of results, or their result.jsonl, of any studies and machines; or a directory that
    /// has some in it.
    #[arg(value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// Only the claims of this study, a built-in one or a file; may be repeated.
    #[arg(long = "of", value_name = "NAME|FILE.toml")]
    studies: Vec<String>,
    /// In which form.
    #[command(flatten)]
    form: DocumentOptions,
}

/// Lists claims, with what results say of them.
///
/// # Errors
/// A result that cannot be read, or a study that does not exist.
pub(crate) fn claims(options: &ClaimsOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(WITH_TABLE)?;
    let studies = asked(&options.studies)?;
    let results = results(&options.results);
    let mut loaded = Vec::new();
    for path in &results {
        loaded.push(held(load(path)?, &studies)?);
    }
    let analyses: Vec<&Analysis> = loaded.iter().map(|loaded| &loaded.analysis).collect();
    let wanted = |analysis: &&Analysis| {
        let name = &analysis.run.plan.study.name;
        options.studies.is_empty() || studies.iter().any(|study| study.name == *name)
    };
    let analyses: Vec<&Analysis> = analyses.into_iter().filter(wanted).collect();
    let expanded: Vec<Study> = studies.into_iter().map(Study::expanded).collect();
    let claims = Claims::of(ledger(&analyses, &expanded));
    form.write(
        &claims.document(),
        options.form.print.detail(),
        |format| match format {
            Format::Csv => Ok(claims.csv()),
            _ => claims.json(),
        },
    )?;
    Ok(Exit::Done)
}

/// A result, judged by what the study of its name among `studies` claims now, if there is one.
fn held(mut result: Loaded, studies: &[Study]) -> Result<Loaded, CliError> {
    let name = &result.analysis.run.plan.study.name;
    let Some(study) = studies.iter().find(|study| study.name == *name) else {
        return Ok(result);
    };
    let plans = result.records.iter_mut().filter_map(|record| match record {
        Record::Run(run) => Some(&mut run.plan),
        _ => None,
    });
    let held: Vec<Held> = plans.filter_map(|plan| hold(plan, study)).collect();
    for held in &held {
        warn_of(&result.path, &study.name, held);
    }
    if !held.is_empty() {
        result.analyse_again()?;
    }
    Ok(result)
}

/// Says what of a result is judged otherwise than when it was measured, or not.
fn warn_of(path: &Path, study: &str, held: &Held) {
    for (about, ids) in [
        (
            "judged by what the study that is asked (--of) claims, and not by what it claimed when this was measured",
            &held.otherwise,
        ),
        (
            "not judged, because other cells of these names were measured",
            &held.unlike,
        ),
    ] {
        if !ids.is_empty() {
            let (path, named) = (path.display(), few(ids));
            warn(&format!("{path}: {about} ({named}): study '{study}'"));
        }
    }
}

/// The results that are meant: of a directory that is none and has some in it, those.
fn results(named: &[PathBuf]) -> Vec<PathBuf> {
    let meant = named.iter().flat_map(|path| match results_in(path) {
        below if below.is_empty() || path.join(RESULT).is_file() => vec![path.clone()],
        below => below,
    });
    meant.collect()
}

/// The studies that are asked for, or all built-in ones with claims.
fn asked(names: &[String]) -> Result<Vec<Study>, CliError> {
    if names.is_empty() {
        let mut studies = studies::built_in()?;
        studies.retain(|study| !study.claims.is_empty());
        return Ok(studies);
    }
    let found = names.iter().map(|name| {
        let mut study = studies::find(name, &[])?;
        places::look(&mut study)?;
        match study.claims.is_empty() {
            true => Err(CliError::Usage(format!(
                "--of {name}: the study states no claim; docs/study-format.md says how it would"
            ))),
            false => Ok(study),
        }
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers;
    use stowplan_harness::plan::{self, PlanOptions};
    use stowplan_model::Plan;

    fn planned(study: &Study) -> Plan {
        let scale = study.scales.contains_key("quick");
        let options = PlanOptions {
            scale: scale.then(|| "quick".to_owned()),
            ..PlanOptions::default()
        };
        plan::plan(study.clone(), &options, &drivers::looked_at()).unwrap()
    }

    #[test]
    fn what_a_built_in_study_measures_is_what_its_claims_are_about() {
        for study in studies::built_in().unwrap() {
            let mut plan = planned(&study);
            assert_eq!(hold(&mut plan, &study), None, "{}", study.name);
            plan.study.claims.clear();
            let unlike = hold(&mut plan, &study).map_or(Vec::new(), |held| held.unlike);
            assert_eq!(unlike, [""; 0], "{}", study.name);
            assert_eq!(plan.study.claims, study.claims);
        }
    }

    #[test]
    fn a_cell_with_other_work_another_dataset_or_store_is_another_cell() {
        let study = studies::find("fasterthanfs", &[]).unwrap();
        let plan = planned(&study);
        let is_alike = |change: &dyn Fn(&mut Study, usize)| {
            let mut other = study.clone().expanded();
            let mut specs = other.comparisons.iter();
            let read = specs.position(|spec| spec.id == "read").unwrap();
            change(&mut other, read);
            let held = hold(&mut plan.clone(), &other);
            held.is_none_or(|held| held.unlike.is_empty())
        };
        assert!(is_alike(&|_, _| {}));
        let scaled = is_alike(&|study, read| {
            study.comparisons[read].workload.operations = Some(7);
            for dataset in study.datasets.values_mut() {
                dataset.count += 1;
            }
        });
        assert!(scaled, "how many is a matter of scale");
        assert!(!is_alike(&|study, read| {
            study.comparisons[read].workload.threads = Some(2);
        }));
        assert!(!is_alike(&|study, _| study
            .datasets
            .values_mut()
            .for_each(|d| d.seed += 1)));
        assert!(!is_alike(&|study, read| {
            let cells = &mut study.comparisons[read].cells;
            cells.get_mut("sql").unwrap().store = "sqlite:page_size=512".parse().unwrap();
        }));
        assert!(!is_alike(&|study, _| study.memory_budget += 1));
    }

    #[test]
    fn claims_with_other_bounds_are_named_and_those_with_other_words_are_not() {
        let study = studies::find("crud", &[]).unwrap();
        let mut plan = planned(&study);
        let recorded = &mut plan.study.claims;
        recorded[0].quote = "in other words".to_owned();
        let otherwise = |plan: &Plan| hold(&mut plan.clone(), &study).unwrap().otherwise;
        let changed = recorded.iter().position(|claim| !claim.test.is_empty());
        let changed = changed.unwrap();
        assert_eq!(otherwise(&plan), [""; 0]);
        let claim = &mut plan.study.claims[changed];
        claim.test[0].at_least = Some(1e9);
        claim.test[0].at_most = None;
        let id = claim.id.clone();
        assert_eq!(otherwise(&plan), [id]);
    }
}
