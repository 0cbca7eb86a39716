//! `stowplan claims`: what published studies state, what would decide it, and what machines say of it.

mod held;

use crate::cli::{MeasureOptions, PrintOptions};
use crate::error::{CliError, Exit};
use crate::form::{FormOptions, Format};
use crate::report::load;
use crate::screen::{note, warn};
use crate::study::{self, Begun};
use crate::{drivers, places, screen, studies};
use clap::Args;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stowplan_analysis::{Analysis, ledger};
use stowplan_harness::drivers::Drivers;
use stowplan_harness::plan::{self, PlanOptions, SEED_SCALE};
use stowplan_harness::runner::AsPlanned;
use stowplan_model::{Plan, RunHeader, RunOutcome, Study};
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

/// The file that a run leaves in its directory.
const RESULT: &str = "result.jsonl";
/// The scale of a study that measures just what its claims need, if it has one.
const SCALE: &str = "claims";
/// The scale of those that have none.
const QUICK: &str = "quick";

/// Options of `claims`.
#[derive(Debug, Args)]
pub(crate) struct ClaimsOptions {
    /// Directories of results, or their result.jsonl, of any studies and machines; or a directory that
    /// has some in it.
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
    /// With --measure: the most rounds per comparison; fewer than 10 decide nothing. More than a run had
    /// before measure further what is undecided in it.
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
    let mut results = results(&options.results);
    let measured = match options.measure {
        true => measure_all(&studies, options, &mut results),
        false => Ok(Exit::Done),
    };
    if results.is_empty() && measured.is_err() {
        return measured;
    }
    let mut loaded = Vec::new();
    for path in &results {
        loaded.push(held::with_claims(load(path)?, &studies)?);
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
    measured
}

/// The results that are meant: of a directory that is none and has some in it, as `--measure` leaves it,
/// those.
fn results(named: &[PathBuf]) -> Vec<PathBuf> {
    let is_result = |path: &Path| path.join(RESULT).is_file();
    let meant = named.iter().flat_map(|path| {
        let entries = path.read_dir().ok().filter(|_| !is_result(path));
        let below = entries.into_iter().flatten().flatten();
        let mut below: Vec<PathBuf> = below.map(|entry| entry.path()).collect();
        below.retain(|path| is_result(path));
        below.sort();
        match below.is_empty() {
            true => vec![path.clone()],
            false => below,
        }
    });
    meant.collect()
}

/// Measures study by study until one is interrupted or cannot be measured. What there is of each is among the
/// `results` then.
fn measure_all(
    studies: &[Study],
    options: &ClaimsOptions,
    results: &mut Vec<PathBuf>,
) -> Result<Exit, CliError> {
    let mut worst = Exit::Done;
    for study in studies {
        let directory = options.place.join(&study.name);
        let earlier = earlier(study, &directory)?;
        let measured = measure(study, &directory, earlier.as_ref(), options);
        if directory.join(RESULT).exists() {
            results.push(directory);
        }
        match measured? {
            Exit::Done => {}
            Exit::Interrupted => return Ok(Exit::Interrupted),
            other => worst = other,
        }
    }
    Ok(worst)
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

/// What would be measured, study by study; of one that is begun what is left of it.
fn describe(studies: &[Study], options: &ClaimsOptions) -> Result<Exit, CliError> {
    for study in studies {
        let directory = options.place.join(&study.name);
        let earlier = earlier(study, &directory)?;
        if let Some(earlier) = earlier {
            screen::print(&format!("{}, in {}:\n", study.name, directory.display()));
            study::describe_rest(&directory, &measuring(&directory, Some(&earlier), options))?;
            screen::print("\n");
            continue;
        }
        let plan = planned(study, options)?.0;
        let text = plan::describe(&plan, false, screen::width());
        screen::print(&screen::drawable(&format!("{text}\n")));
    }
    Ok(Exit::Done)
}

/// The run that was begun for a study, if there is one.
///
/// # Errors
/// It cannot be read, or is of another study.
fn earlier(study: &Study, directory: &Path) -> Result<Option<RunHeader>, CliError> {
    if !directory.join(RESULT).exists() {
        return Ok(None);
    }
    let run = load(directory)?.analysis.run;
    held::require_same(study, &run.plan, directory)?;
    Ok(Some(run))
}

fn planned(study: &Study, options: &ClaimsOptions) -> Result<(Plan, Rc<Drivers>), CliError> {
    let needed = needed(study, options)?;
    let mut study = study.clone();
    let drivers = drivers::of_study(&mut study, &[])?;
    let plan = plan::plan(study, &needed, &drivers)?;
    Ok((plan, drivers))
}

/// Measures what the claims of a study need, or what is left of it.
fn measure(
    study: &Study,
    directory: &Path,
    earlier: Option<&RunHeader>,
    options: &ClaimsOptions,
) -> Result<Exit, CliError> {
    let measuring = measuring(directory, earlier, options);
    let told = |what: &str| {
        if !options.print.quiet {
            note(&format!("{}: {what}", study.name));
        }
    };
    let (plan, drivers) = planned(study, options)?;
    let end = match earlier {
        Some(earlier) => {
            let missing = held::missing(&plan, &earlier.plan);
            if !missing.is_empty() {
                warn(&format!(
                    "{}: claims need more than was to be measured there: {}; to measure it as well, name \
                     another place with --in DIR",
                    directory.display(),
                    held::few(&missing)
                ));
            }
            told("going on with what was measured");
            match study::resume_into(directory, &measuring)? {
                Some(Begun { end, .. }) => end.outcome,
                None => RunOutcome::Complete,
            }
        }
        None => {
            told("measuring what its claims need");
            let begun =
                study::measure_into(&plan, &places::Drawn::new(), &drivers, &measuring, |_| {
                    AsPlanned
                })?;
            begun.end.outcome
        }
    };
    let failures = crate::report::write_pages(directory)?;
    if failures > 0 {
        warn(&format!("{}: {failures} cells failed", study.name));
    }
    Ok(match end {
        RunOutcome::Interrupted => Exit::Interrupted,
        _ if failures > 0 => Exit::Failed,
        _ => Exit::Done,
    })
}

/// How it is measured; a run that was begun gets more rounds where more are asked for than it was to have.
fn measuring(
    directory: &Path,
    earlier: Option<&RunHeader>,
    options: &ClaimsOptions,
) -> MeasureOptions {
    let begun = earlier.is_some();
    let before = earlier.map_or(0, RunHeader::rounds_of_all);
    MeasureOptions {
        output: (!begun).then(|| directory.to_owned()),
        resume: begun.then(|| directory.to_owned()),
        work: options.work.clone(),
        seed: 1,
        rounds: options.rounds.filter(|rounds| *rounds > before),
        budget: None,
        precision: None,
        equivalence: 0.05,
        keep: false,
        ignore_space: false,
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
