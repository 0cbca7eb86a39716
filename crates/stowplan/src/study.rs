//! `stowplan study`: the pipeline from a study to what is read.

use crate::cli::{MeasureOptions, StudyOptions};
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::show;
use crate::screen::print;
use crate::{listing, screen, studies};
use std::io::{BufReader, stdin, stdout};
use std::path::{Path, PathBuf};
use stowplan_analysis::{LOOKS, StoppingRule};
use stowplan_harness::disk;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::{self, PlanOptions};
use stowplan_harness::runner::{self, AsPlanned, RunOptions, Steer};
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_model::{Plan, RunEnd, RunOutcome};

/// Runs a study: plan, measure, analyse, show.
pub(crate) fn study(options: &StudyOptions) -> Result<Exit, CliError> {
    let Some(name) = &options.study else {
        return listing::studies();
    };
    let plan = plan::plan(studies::find(name)?, &plan_options(options))?;
    carry_out(&plan, &options.measure, |_| AsPlanned)
}

/// Measures a plan and what follows it, analyses and shows the result; with `--dry-run` only says
/// what it would be. `steer` decides what follows; it gets the file of the result.
pub(crate) fn carry_out<S: Steer>(
    plan: &Plan,
    options: &MeasureOptions,
    steer: impl FnOnce(&Path) -> S,
) -> Result<Exit, CliError> {
    if options.dry_run {
        let width = screen::options(false).width;
        print(&screen::drawable(&plan::describe(
            plan,
            options.keep,
            width,
        )));
        return Ok(Exit::Done);
    }
    let place = options
        .work
        .as_deref()
        .or(options.output.as_deref())
        .unwrap_or(Path::new("."));
    plan::require_space(plan, options.keep, place)?;
    let work = options.work.as_deref().map(work_below).transpose()?;
    let output = Output::create(options.output.as_deref(), &plan.study.name)?;
    let work = work.unwrap_or_else(|| output.directory().join("work"));
    let end = measure(plan, options, work, &output, &mut steer(&output.result()))?;
    let analysis = show(&output.result(), &options.print)?;
    Ok(match end.outcome {
        RunOutcome::Interrupted => Exit::Interrupted,
        _ if !analysis.failures.is_empty() => Exit::Failed,
        _ => Exit::Done,
    })
}

/// Serves one job for a parent process.
pub(crate) fn worker() -> Result<Exit, CliError> {
    let mut input = BufReader::new(stdin());
    stowplan_harness::worker::worker(&mut input, &mut stdout().lock())?;
    Ok(Exit::Done)
}

fn plan_options(options: &StudyOptions) -> PlanOptions {
    PlanOptions {
        scale: options.scale.clone(),
        only: options.only.clone(),
        cache_state: options.cache_state.map(Into::into),
        durability: options.durability.map(Into::into),
        rounds: options.measure.rounds,
    }
}

fn measure(
    plan: &Plan,
    options: &MeasureOptions,
    work: PathBuf,
    output: &Output,
    steer: &mut dyn Steer,
) -> Result<RunEnd, CliError> {
    let interrupt = Interrupt::on_signals()
        .map_err(CliError::io("watch for Ctrl-C for", output.directory()))?;
    disk::create_work_directory(&work)?;
    let run = RunOptions {
        result: output.result(),
        work,
        seed: options.seed,
        budget: options.budget,
        rule: StoppingRule {
            equivalence: options.equivalence,
            max_rounds: options.rounds.unwrap_or(LOOKS[LOOKS.len() - 1]),
            precision: options.precision,
        },
        workers: WorkerCommand::this_executable()?,
        interrupt,
        keep: options.keep,
    };
    let mut progress = Progress::new(options.print.quiet);
    let ended = runner::run(plan, &run, &mut progress, steer);
    progress.finish();
    if !options.keep {
        disk::remove_work_directory(&run.work)?;
    }
    ended.map_err(|error| CliError::Run {
        error: Box::new(error),
        result: run.result,
    })
}

/// A directory of this run below the one that `--work` names. That one is the user's: it says which
/// file system is measured, and a mistyped one must not be made.
fn work_below(parent: &Path) -> Result<PathBuf, CliError> {
    if parent.is_dir() {
        return Ok(parent.join(format!("stowplan-work-{}", std::process::id())));
    }
    Err(CliError::Usage(format!(
        "--work {}: there is no such directory; create it, or leave --work out to work below the output directory",
        parent.display()
    )))
}
