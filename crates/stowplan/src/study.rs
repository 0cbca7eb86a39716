//! `stowplan study`: the pipeline from a study to what is read.

use crate::cli::{MeasureOptions, StudyOptions};
use crate::crossover::Refining;
use crate::error::{CliError, Exit};
use crate::output::Output;
use crate::progress::Progress;
use crate::report::show;
use crate::screen::{note, print, warn};
use crate::{listing, screen, studies};
use std::io::{BufReader, stdin, stdout};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stowplan_analysis::{LOOKS, StoppingRule};
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::{self, PlanOptions};
use stowplan_harness::runner::{self, AsPlanned, Resumption, RunOptions, Steer};
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_harness::{HarnessError, disk};
use stowplan_model::{Plan, RunEnd, RunOutcome};

/// The name of the work directory where it lies beside the result.
const WORK: &str = "work";
/// How long workers of a run that was killed may take to notice.
const ORPHANS_END: Duration = Duration::from_secs(20);

/// Runs a study: plan, measure, analyse, show.
pub(crate) fn study(options: &StudyOptions) -> Result<Exit, CliError> {
    if let Some(directory) = &options.measure.resume {
        return resume(directory, &options.measure);
    }
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
    let work = work.unwrap_or_else(|| output.directory().join(WORK));
    let mut steer = steer(&output.result());
    let rule = StoppingRule {
        equivalence: options.equivalence,
        max_rounds: options.rounds.unwrap_or(LOOKS[LOOKS.len() - 1]),
        precision: options.precision,
    };
    let run = run_options(&output, work, options, (options.seed, rule))?;
    let end = measure(options, &run, |progress| {
        runner::run(plan, &run, progress, &mut steer)
    })?;
    shown(&output, options, &end)
}

/// Goes on with a run that was broken off, whatever it measures.
pub(crate) fn resume(directory: &Path, options: &MeasureOptions) -> Result<Exit, CliError> {
    let output = Output::existing(directory)?;
    let resumption = Resumption::open(&output.result())?;
    for problem in resumption.problems() {
        warn(&format!(
            "{}: {problem}; what it said is measured again, or missing",
            output.result().display()
        ));
    }
    if resumption.is_complete() {
        if !options.print.quiet {
            note("this run is complete; there is nothing to go on with, and this is its result");
        }
        show(&output.result(), &options.print)?;
        return Ok(Exit::Done);
    }
    let remaining = resumption.remaining();
    if options.dry_run {
        let width = screen::options(false).width;
        print(&screen::drawable(&plan::describe(
        if options.dry_run {
            print("This run is complete; there is nothing to go on with.\n");
            return Ok(Exit::Done);
        }
            &remaining,
            options.keep,
            width,
        )));
        return Ok(Exit::Done);
    }
    let place = place_to_go_on(&resumption, &output, options);
    resumption.check_machine(&place)?;
    remove_leftovers(&resumption, &output)?;
    plan::require_space(&remaining, options.keep, &place)?;
    let work = match place == output.directory() {
        true => place.join(WORK),
        false => work_below(&place)?,
    };
    say_where_it_stands(&resumption, &remaining, options);
    let mut steer: Box<dyn Steer> = match Refining::resumed(&resumption, &output.result()) {
        Some(refining) => Box::new(refining),
        None => Box::new(AsPlanned),
    };
    let rule = (resumption.seed(), resumption.rule());
    let run = run_options(&output, work, options, rule)?;
    let end = measure(options, &run, |progress| {
        runner::resume(resumption, &run, progress, &mut *steer)
    })?;
    shown(&output, options, &end)
}

/// The directory below which the data lies from now on: the one that was named, or else the one
/// where it lay before.
fn place_to_go_on(resumption: &Resumption, output: &Output, options: &MeasureOptions) -> PathBuf {
    let before = resumption.work().and_then(Path::parent);
    let place = options.work.as_deref().or(before);
    place.unwrap_or(output.directory()).to_owned()
}

/// Removes what the run left behind where it was broken off, as far as a run made it.
fn remove_leftovers(resumption: &Resumption, output: &Output) -> Result<(), CliError> {
    output.remove_half_written()?;
    let beside = output.directory().join(WORK);
    for work in resumption.work().into_iter().chain([beside.as_path()]) {
        let until = Instant::now() + ORPHANS_END;
        while work.symlink_metadata().is_ok() {
            match disk::remove_work_directory(work) {
                Ok(()) => break,
                // A worker that outlived the run has just made something in it.
                Err(HarnessError::Io { .. }) if Instant::now() < until => {
                    std::thread::sleep(Duration::from_millis(100));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok(())
}

fn say_where_it_stands(resumption: &Resumption, remaining: &Plan, options: &MeasureOptions) {
    let all = resumption.plan().comparisons.len();
    let decided = all - remaining.comparisons.len();
    if !options.print.quiet {
        note(&format!(
            "going on with {}: {decided} of {all} comparisons are decided",
            resumption.plan().study.name
        ));
    }
}

/// Shows what a run found, and how to go on where something is left to measure.
fn shown(output: &Output, options: &MeasureOptions, end: &RunEnd) -> Result<Exit, CliError> {
    let analysis = show(&output.result(), &options.print)?;
    if !options.print.quiet {
        let go_on = || command_to_go_on(output.directory());
        match end.outcome {
            RunOutcome::Complete => {}
            RunOutcome::Interrupted => {
                note(&format!(
                    "interrupted; to go on where it stands: {}",
                    go_on()
                ));
            }
            RunOutcome::Budget => note(&format!(
                "the time was over before everything was decided; to go on: {}",
                go_on()
            )),
        }
    }
    Ok(match end.outcome {
        RunOutcome::Interrupted => Exit::Interrupted,
        _ if !analysis.failures.is_empty() => Exit::Failed,
        _ => Exit::Done,
    })
}

/// What to type to go on with a run, as this program was called.
pub(crate) fn command_to_go_on(directory: &Path) -> String {
    let program = std::env::args().next();
    let program = program.unwrap_or_else(|| "stowplan".to_owned());
    format!(
        "{} study --resume {}",
        quoted(&program),
        quoted(&directory.to_string_lossy())
    )
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:=@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
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

/// How a run goes on: `seed` and `rule` are those of the run, whoever began it.
fn run_options(
    output: &Output,
    work: PathBuf,
    options: &MeasureOptions,
    (seed, rule): (u64, StoppingRule),
) -> Result<RunOptions, CliError> {
    Ok(RunOptions {
        result: output.result(),
        work,
        seed,
        budget: options.budget,
        rule,
        workers: WorkerCommand::this_executable()?,
        interrupt: Interrupt::on_signals()
            .map_err(CliError::io("watch for Ctrl-C for", output.directory()))?,
        keep: options.keep,
    })
}

/// Runs `run` with a work directory, which is there no longer afterwards.
fn measure(
    options: &MeasureOptions,
    run: &RunOptions,
    go: impl FnOnce(&mut Progress) -> Result<RunEnd, HarnessError>,
) -> Result<RunEnd, CliError> {
    disk::create_work_directory(&run.work)?;
    let mut progress = Progress::new(&options.print);
    let ended = go(&mut progress);
    progress.finish();
    if !options.keep {
        disk::remove_work_directory(&run.work)?;
    }
    ended.map_err(|error| CliError::Run {
        error: Box::new(error),
        result: run.result.clone(),
        go_on: run
            .result
            .parent()
            .map(command_to_go_on)
            .unwrap_or_default(),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        assert_eq!(
            quoted("stowplan-results/2026-01-02"),
            "stowplan-results/2026-01-02"
        );
        assert_eq!(quoted("my results"), "'my results'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
        let command = command_to_go_on(Path::new("a b"));
        assert!(command.ends_with(" study --resume 'a b'"), "{command}");
    }
}
