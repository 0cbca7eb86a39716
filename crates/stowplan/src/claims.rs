//! `stowplan claims`: what published studies state, what would decide it, and what machines say of it.

use crate::cli::{MeasureOptions, PrintOptions};
use crate::error::{CliError, Exit};
use crate::form::{FormOptions, Format};
use crate::report::{Loaded, load};
use crate::screen::{note, warn};
use crate::study::{self, Begun};
use crate::{drivers, places, screen, studies};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stowplan_analysis::{Analysis, analyse, ledger};
use stowplan_harness::drivers::Drivers;
use stowplan_harness::plan::{self, PlanOptions, SEED_SCALE};
use stowplan_harness::runner::AsPlanned;
use stowplan_model::{ClaimSpec, Plan, Record, RunOutcome, StoreSpec, Study};
use stowplan_report::claims::Claims;

pub(crate) const EXAMPLES: &str = "\
Examples:
  stowplan claims                     what the articles state, and where
  stowplan claims --measure           test all of it here, about 10 minutes
  stowplan claims --measure --of crud
                                      only what this one states
  stowplan claims --measure --dry-run
                                      what that would measure, and what it needs
  stowplan claims stowplan-results/*  what results say of it
  stowplan claims laptop/* server/* --output claims.html
                                      several machines, as a page
  stowplan claims --json > claims.json

How a claim is decided: docs/claims.md.";

/// The scale of a study that measures just what its claims need, if it has one.
const SCALE: &str = "claims";
/// The scale of those that have none.
const QUICK: &str = "quick";

/// Options of `claims`.
#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Directories of results, or their result.jsonl, of any studies and machines.
    #[arg(value_name = "RESULT")]
    results: Vec<PathBuf>,
    /// Measure what the claims need first, study by study, and go on where an earlier such run was
    /// broken off.
    #[arg(long)]
    measure: bool,
    /// Only the claims of this study, a built-in one or a file; may be repeated.
    #[arg(long = "of", value_name = "NAME|FILE.toml")]
    studies: Vec<String>,
    /// With --measure: the directory that holds a result for each study.
    #[arg(
        long = "in",
        value_name = "DIR",
        requires = "measure",
        default_value = "stowplan-results/claims"
    )]
    place: PathBuf,
    /// With --measure: where the data lies while it is measured, see 'stowplan study --help'.
    #[arg(long, value_name = "DIR", requires = "measure")]
    work: Option<PathBuf>,
    /// With --measure: the most rounds per comparison; fewer than 10 decide nothing.
    #[arg(long, value_name = "N", requires = "measure")]
    rounds: Option<u32>,
    /// With --measure: say what would be measured, and what that needs, and stop.
    #[arg(long, requires = "measure", conflicts_with_all = ["json", "format"])]
    dry_run: bool,
    /// In which form.
    #[command(flatten)]
    form: FormOptions<true>,
    /// How to print.
    #[command(flatten)]
    print: PrintOptions,
}

/// Lists claims, with what results say of them.
///
/// # Errors
/// A result that cannot be read, a study that does not exist, or a run that fails.
pub(crate) fn claims(options: &ClaimsOptions) -> Result<Exit, CliError> {
    let form = options.form.asked(Format::json(options.print.json))?;
    let studies = asked(&options.studies)?;
    if options.dry_run {
        return describe(&studies, options);
    }
    let mut results = options.results.clone();
    let mut exit = Exit::Done;
    if options.measure {
        for study in &studies {
            let directory = options.place.join(&study.name);
            exit = measure(study, &directory, options)?;
            results.push(directory);
            if !matches!(exit, Exit::Done) {
                break;
            }
        }
    }
    let mut loaded = Vec::new();
    for path in &results {
        loaded.push(with_claims(load(path)?, &studies)?);
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
        options.print.detail(),
        |format| match format {
            Format::Csv => Ok(claims.csv()),
            _ => claims.json(),
        },
    )?;
    Ok(exit)
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

/// What would be measured, study by study, as far as it is not begun.
fn describe(studies: &[Study], options: &ClaimsOptions) -> Result<Exit, CliError> {
    for study in studies {
        let plan = planned(study, options)?.0;
        let text = plan::describe(&plan, false, screen::width());
        screen::print(&screen::drawable(&format!("{text}\n")));
    }
    Ok(Exit::Done)
}

fn planned(study: &Study, options: &ClaimsOptions) -> Result<(Plan, Rc<Drivers>), CliError> {
    let needed = needed(study, options)?;
    let mut study = study.clone();
    let drivers = drivers::of_study(&mut study, &[])?;
    let plan = plan::plan(study, &needed, &drivers)?;
    Ok((plan, drivers))
}

/// Measures what the claims of a study need, or what is left of it.
fn measure(study: &Study, directory: &Path, options: &ClaimsOptions) -> Result<Exit, CliError> {
    let begun = directory.join("result.jsonl").exists();
    let measuring = measuring(directory, begun, options);
    let told = |what: &str| {
        if !options.print.quiet {
            note(&format!("{}: {what}", study.name));
        }
    };
    let end = match begun {
        true => {
            told("going on with what was measured");
            match study::resume_into(directory, &measuring)? {
                Some(Begun { end, .. }) => end.outcome,
                None => RunOutcome::Complete,
            }
        }
        false => {
            let (plan, drivers) = planned(study, options)?;
            told("measuring what its claims need");
            let begun =
                study::measure_into(&plan, &places::Drawn::new(), &drivers, &measuring, |_| {
                    AsPlanned
                })?;
            begun.end.outcome
        }
    };
    let failures = crate::report::write_pages(directory)?;
    Ok(match end {
        RunOutcome::Interrupted => Exit::Interrupted,
        _ => {
            if failures > 0 {
                warn(&format!("{}: {failures} cells failed", study.name));
            }
            Exit::Done
        }
    })
}

fn measuring(directory: &Path, begun: bool, options: &ClaimsOptions) -> MeasureOptions {
    MeasureOptions {
        output: (!begun).then(|| directory.to_owned()),
        resume: begun.then(|| directory.to_owned()),
        work: options.work.clone(),
        seed: 1,
        rounds: options.rounds.filter(|_| !begun),
        budget: None,
        precision: None,
        equivalence: 0.05,
        keep: false,
        ignore_space: false,
        profile: false,
        dry_run: false,
        format: None,
        driver: Vec::new(),
        print: PrintOptions {
            json: options.print.json,
            quiet: options.print.quiet,
            verbose: options.print.verbose,
        },
    }
}

/// The cells that the claims of a study name, at its scale for claims or else at the quick one. What that
/// scale leaves out is not measured.
fn needed(study: &Study, options: &ClaimsOptions) -> Result<PlanOptions, CliError> {
    let mut known = [SCALE, QUICK].into_iter();
    let scale = known.find(|scale| study.scales.contains_key(*scale));
    let scale = scale.unwrap_or(SEED_SCALE);
    let at_scale = plan::at_scale(study.clone(), scale)?;
    let there = |cell: &String| {
        let (comparison, key) = cell.split_once('/').unwrap_or((cell, ""));
        let mut comparisons = at_scale.comparisons.iter();
        comparisons.any(|spec| spec.id == comparison && spec.cells.contains_key(key))
    };
    let claims = study.claims.iter();
    let cells: BTreeSet<String> = claims
        .flat_map(|claim| claim.cells(study))
        .map(|cell| cell.0)
        .filter(there)
        .collect();
    if cells.is_empty() {
        return Err(CliError::Usage(format!(
            "{}: the scale '{scale}' leaves out every cell that a claim needs; leave fewer comparisons \
             out of it",
            study.name
        )));
    }
    Ok(PlanOptions {
        scale: Some(scale.to_owned()),
        only: cells.into_iter().collect(),
        rounds: options.rounds,
        ..PlanOptions::default()
    })
}

/// A result of a version that knew no claims of its study is asked those that are known now, as far as
/// their cells are the same.
fn with_claims(mut loaded: Loaded, studies: &[Study]) -> Result<Loaded, CliError> {
    let run = &loaded.analysis.run;
    let of_study = |study: &&Study| study.name == run.plan.study.name;
    let Some(study) = studies.iter().find(of_study) else {
        return Ok(loaded);
    };
    if !run.plan.study.claims.is_empty() {
        return Ok(loaded);
    }
    let expanded = study.clone().expanded();
    let spec_of = |cell: &str| -> Option<&StoreSpec> {
        let (comparison, key) = cell.split_once('/')?;
        let mut comparisons = expanded.comparisons.iter();
        let spec = comparisons.find(|spec| spec.id == comparison)?;
        Some(&spec.cells.get(key)?.store)
    };
    let same = |claim: &&ClaimSpec| {
        let cells = claim.cells(study);
        let mut measured = run.plan.cells().filter(|cell| cells.contains(&cell.id));
        measured.all(|cell| spec_of(&cell.id.0) == Some(&cell.store))
    };
    let known: Vec<ClaimSpec> = study.claims.iter().filter(same).cloned().collect();
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
