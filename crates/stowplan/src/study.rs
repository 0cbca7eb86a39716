//! `stowplan study`: the pipeline from a study to what is read.

use crate::error::{CliError, Exit};
use crate::loaded::load;
use crate::measuring::{MeasureOptions, RunOptions};
use crate::output::Output;
use crate::places::Drawn;
use crate::progress::{Progress, watched};
use crate::screen::{note_with_command, print, warn};
use crate::shown::show;
use crate::values::{CACHE_STATES, DURABILITIES, named_directory, one_of};
use crate::{drivers, listing, places, screen, studies};
use clap::Args;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use stowplan_analysis::calibration::is_calibration;
use stowplan_analysis::{LOOKS, StoppingRule};
use stowplan_harness::HarnessError;
use stowplan_harness::crossover::Refining;
use stowplan_harness::disk::WorkDirectory;
use stowplan_harness::drivers::Drivers;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::{self, PlanOptions, STANDARD_SCALE};
use stowplan_harness::runner::{self, AsPlanned, Extender, Resumption};
use stowplan_model::{CacheState, Durability, Plan, RunEnd, RunOutcome};
use stowplan_report::shell::quoted;

/// The name of the work directory where it lies beside the result.
const WORK: &str = "work";

/// Options of `study`.
#[derive(Debug, Args)]
pub(crate) struct StudyOptions {
    /// A built-in study, or a study file; none lists the built-in ones.
    #[arg(value_name = "NAME|FILE.toml")]
    pub(crate) study: Option<String>,
    /// How much: 'quick' for a first answer in a minute, 'full' for everything, at the published sizes, as long
    /// as it takes [default: standard, 3 minutes].
    ///
    /// A study may have more scales: 'stowplan list studies' lists them.
    #[arg(long, value_name = "SCALE")]
    pub(crate) scale: Option<String>,
    /// Only comparisons in this state of the page cache.
    ///
    /// Cold is proved by looking into the cache, and means cold in this guest: a host's own
    /// cache cannot be seen.
    #[arg(long, hide_short_help = true, value_parser = one_of(CACHE_STATES, CacheState::name), value_name = "STATE")]
    pub(crate) cache_state: Option<CacheState>,
    /// Only writes that promise at least this.
    ///
    /// What each store promises with which settings: 'stowplan list stores NAME'.
    #[arg(long, hide_short_help = true, value_parser = one_of(DURABILITIES, Durability::name), value_name = "CLASS")]
    pub(crate) durability: Option<Durability>,
    /// Only this comparison (read) or cell (read/sql); may be repeated.
    ///
    /// The baseline of a comparison always comes along; --dry-run --verbose lists them all.
    #[arg(long, value_name = "CELL")]
    pub(crate) only: Vec<String>,
    /// A directory on a file system that cells are on (on = "NAME" in the study), such as xfs=/mnt/xfs; may be
    /// repeated.
    ///
    /// The data of these cells lies below it. Without it a run makes ext4, xfs, btrfs and tmpfs for itself, as
    /// root, and leaves these cells out otherwise (docs/file-systems.md).
    #[arg(long, hide_short_help = true, value_name = "NAME=DIR", value_parser = named_directory)]
    pub(crate) on: Vec<(String, PathBuf)>,
    /// Take costs apart, step by step: adds the cells for that, in the same rounds.
    ///
    /// For reads and overwrites of single values by files and SQLite; --dry-run --verbose lists the cells,
    /// and docs/why.md says how to read what comes of them.
    #[arg(long)]
    pub(crate) why: bool,
    /// How to measure.
    #[command(flatten)]
    pub(crate) measure: MeasureOptions,
}

/// Options of `resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// The directory of the result; it says what is measured.
    #[arg(value_name = "DIR")]
    pub(crate) directory: PathBuf,
    /// How it goes on.
    #[command(flatten)]
    pub(crate) run: RunOptions,
}

/// Runs a study: plan, measure, analyse, show.
pub(crate) fn study(options: &StudyOptions) -> Result<Exit, CliError> {
    let Some(name) = &options.study else {
        if let Some(asked) = options.measure.run.print.asked() {
            return Err(CliError::Usage(format!(
                "{asked}: without a study nothing is measured, and there is no document; name one ('stowplan list studies' lists them)"
            )));
        }
        return listing::studies(options.measure.run.print.verbose);
    };
    for (on, directory) in &options.on {
        require_place(&format!("--on {on}"), directory)?;
    }
    let scale = options.scale.as_deref().unwrap_or(STANDARD_SCALE);
    let mut measure = options.measure.clone();
    measure.run.budget = measure.run.budget.or_else(|| plan::time_of(scale));
    let typed = &measure.run.driver;
    let mut study = studies::find(name, typed)?;
    let drivers = drivers::of_study(&mut study, typed)?;
    places::look(&mut study)?;
    let plan = plan::plan(study.clone(), &plan_options(options), &drivers)
        .map_err(|refusal| studies::located(refusal, name, &study, &drivers))?;
    carry_out(&plan, &Drawn::new(), &drivers, &measure, |_| AsPlanned)
}

/// Measures a plan and what follows it, analyses and shows the result; with `--dry-run` only says
/// what it would be. What was `drawn` of places is not drawn again. `extender` decides what follows; it gets
/// how the plan is run.
pub(crate) fn carry_out<S: Extender>(
    plan: &Plan,
    drawn: &Drawn,
    drivers: &Rc<Drivers>,
    options: &MeasureOptions,
    extender: impl FnOnce(&runner::RunOptions) -> S,
) -> Result<Exit, CliError> {
    if options.run.dry_run {
        describe(plan, &options.run, drivers);
        return Ok(Exit::done_if(!drivers.fail_in(plan)));
    }
    let Begun { output, end } = measure_into(plan, drawn, drivers, options, extender)?;
    shown(&output, &options.run, &end)
}

/// Says what would be measured, and what that needs.
fn describe(plan: &Plan, options: &RunOptions, drivers: &Drivers) {
    let most = (!options.print.verbose).then_some(screen::LINES);
    let text = plan::describe(plan, options.keep, screen::width(), most, drivers);
    print(&screen::drawable(&text));
}

/// A run that has ended, and where its result is.
pub(crate) struct Begun {
    pub(crate) output: Output,
    pub(crate) end: RunEnd,
}

/// Measures a plan and what follows it, and shows nothing.
pub(crate) fn measure_into<S: Extender>(
    plan: &Plan,
    drawn: &Drawn,
    drivers: &Rc<Drivers>,
    options: &MeasureOptions,
    extender: impl FnOnce(&runner::RunOptions) -> S,
) -> Result<Begun, CliError> {
    let named = options.run.work.as_deref();
    let place = named.or(options.output.as_deref());
    let place = place.unwrap_or(Path::new("."));
    require_space(plan, &options.run, place)?;
    named.map_or(Ok(()), |work| require_place("--work", work))?;
    // Before anything is made that would stay behind.
    let interrupt = watched(place)?;
    let output = Output::create(options.output.as_deref(), &plan.study.name)?;
    let work = match named {
        Some(place) => WorkDirectory::create_below(place)?,
        None => WorkDirectory::create(&output.directory().join(WORK))?,
    };
    let rule = StoppingRule {
        equivalence: options.equivalence,
        max_rounds: options.run.rounds.unwrap_or(LOOKS[LOOKS.len() - 1]),
        precision: options.precision,
    };
    let of_run = (options.seed, rule);
    let run = Run::new(output, work, &options.run, of_run, drivers, interrupt);
    run.measure(|how, progress| {
        places::fetch(plan, drawn, &how.work, progress)?;
        runner::run(plan, how, progress, &mut extender(how))
    })
}

/// Goes on with a run that was broken off, whatever it measures, and shows what it found.
pub(crate) fn resume(options: &ResumeOptions) -> Result<Exit, CliError> {
    let ResumeOptions {
        directory,
        run: options,
    } = options;
    if options.dry_run {
        describe_rest(directory, options)?;
        return Ok(Exit::Done);
    }
    let (output, resumption) = stopped(directory, options)?;
    if resumption.is_complete() {
        // It was killed after its end, when it had only to clear up. Its result is whole and shall be seen, whatever
        // stands in the way of that.
        if !options.keep
            && let Err(error) = remove_leftovers(&resumption, &output, options)
        {
            warn(&error.to_string());
        }
        let text = "this run is complete; there is nothing to go on with, and this is its result";
        options.print.note(text);
        show(&load(&output.result())?, &options.print)?;
        return Ok(Exit::Done);
    }
    let Begun { output, end } = go_on(output, resumption, options)?;
    shown(&output, options, &end)
}

/// Says what is left to measure of a run.
fn describe_rest(directory: &Path, options: &RunOptions) -> Result<(), CliError> {
    let (_, resumption) = stopped(directory, options)?;
    match resumption.is_complete() {
        true => print("This run is complete; there is nothing to go on with.\n"),
        false => describe(&resumption.remaining(), options, &drivers::looked_at()),
    }
    Ok(())
}

/// What a run left when it was broken off.
fn stopped(directory: &Path, options: &RunOptions) -> Result<(Output, Resumption), CliError> {
    let output = Output::named(directory);
    if output.has_no_result() {
        clear_unbegun(&output, options)?;
    }
    output.require_result(directory)?;
    let mut resumption = Resumption::open(&output.result())?;
    if is_calibration(&resumption.header.plan) {
        return Err(CliError::Usage(format!(
            "{}: it is a calibration, and part of that is measured beside processes of \
             its own; run 'stowplan calibrate' again",
            directory.display()
        )));
    }
    if let Some(rounds) = options.rounds {
        resumption.raise_rounds(rounds)?;
    }
    for problem in &resumption.problems {
        warn(&format!(
            "{}: {problem}; what it said is measured again, or missing",
            output.result().display()
        ));
    }
    Ok((output, resumption))
}

fn go_on(output: Output, resumption: Resumption, options: &RunOptions) -> Result<Begun, CliError> {
    let remaining = resumption.remaining();
    let place = place_to_go_on(&resumption, &output, options);
    let mut study = resumption.header.plan.study.clone();
    let drivers = drivers::of_study(&mut study, &options.driver)?;
    resumption.check_machine(&drivers, &place)?;
    require_place("--work", &place)?;
    let interrupt = watched(&place)?;
    remove_leftovers(&resumption, &output, options)?;
    require_space(&remaining, options, &place)?;
    let work = match place == output.directory() {
        true => WorkDirectory::create(&place.join(WORK))?,
        false => WorkDirectory::create_below(&place)?,
    };
    say_where_it_stands(&resumption, &remaining, options);
    let rule = (resumption.header.seed, resumption.rule());
    let run = Run::new(output, work, options, rule, &drivers, interrupt);
    run.measure(|how, progress| {
        places::fetch(&remaining, &Drawn::new(), &how.work, progress)?;
        match Refining::resumed(&resumption, &drivers, &how.result) {
            Some(mut refining) => runner::resume(resumption, how, progress, &mut refining),
            None => runner::resume(resumption, how, progress, &mut AsPlanned),
        }
    })
}

/// The directory below which the data lies from now on: the one that was named, or else the one
/// where it lay before.
fn place_to_go_on(resumption: &Resumption, output: &Output, options: &RunOptions) -> PathBuf {
    let before = resumption.work().and_then(Path::parent);
    let place = options.work.as_deref().or(before);
    place.unwrap_or(output.directory()).to_owned()
}

/// Removes what the run left behind where it was broken off.
fn remove_leftovers(
    resumption: &Resumption,
    output: &Output,
    options: &RunOptions,
) -> Result<(), CliError> {
    output.remove_half_written();
    let again = match resumption.is_complete() {
        true => "",
        false => "; its data is made again",
    };
    let told = &mut |work: &Path| {
        let work = work.display();
        let text = format!("removing {work}, where this run worked before{again}");
        options.print.note(&text);
    };
    Ok(resumption.remove_leftovers(&output.directory().join(WORK), told)?)
}

/// Removes what a run left behind that was killed before it had a result, for no record tells of it, and says
/// so: there is nothing to go on with. Does nothing where no run left anything, or it was asked to.
fn clear_unbegun(output: &Output, options: &RunOptions) -> Result<(), CliError> {
    let work = output.directory().join(WORK);
    if !WorkDirectory::is_marked(&work) {
        return Ok(());
    }
    let left = WorkDirectory::left_behind(&work)?;
    if left.is_kept() {
        return Ok(());
    }
    let what = if options.dry_run {
        "would be removed"
    } else {
        left.remove()?;
        output.remove_empty_result();
        "was removed"
    };
    Err(CliError::Usage(format!(
        "{}: a run was ended there before it had a result, and what it left in {} {what}; run the \
         study again",
        output.directory().display(),
        work.display()
    )))
}

fn say_where_it_stands(resumption: &Resumption, remaining: &Plan, options: &RunOptions) {
    let all = resumption.header.plan.comparisons.len();
    let decided = all - remaining.comparisons.len();
    options.print.note(&format!(
        "going on with {}: {decided} of {all} comparisons are decided",
        resumption.header.plan.study.name
    ));
}

/// Shows what a run found, and how to go on where something is left to measure.
fn shown(output: &Output, options: &RunOptions, end: &RunEnd) -> Result<Exit, CliError> {
    let loaded = load(&output.result())?;
    let has_page = show(&loaded, &options.print)?;
    if !options.print.quiet {
        let left = match end.outcome {
            RunOutcome::Complete => None,
            RunOutcome::Interrupted => Some("interrupted; to go on where it stands:"),
            RunOutcome::Budget => {
                Some("the time was over before everything was decided; to go on:")
            }
        };
        if let Some(left) = left {
            let needs = end.needs.map(Duration::from_secs_f64);
            note_with_command(left, &command_to_go_on(output.directory(), options, needs));
        }
    }
    Ok(match end.outcome {
        RunOutcome::Interrupted => Exit::Interrupted,
        _ if !loaded.analysis.failures.is_empty() => Exit::Failed,
        // A warning said why.
        _ if !has_page => Exit::Failed,
        _ => Exit::Done,
    })
}

/// What to type to go on with a run, as this program was called; with those options that the result
/// does not tell, and at least the time that it is known to need.
fn command_to_go_on(directory: &Path, options: &RunOptions, needs: Option<Duration>) -> String {
    let program = std::env::args().next();
    let program = program.unwrap_or_else(|| "stowplan".to_owned());
    let mut command = format!(
        "{} resume {}",
        quoted(&program),
        quoted(&directory.to_string_lossy())
    );
    if let Some(budget) = options.budget.max(needs) {
        command.push_str(&format!(" --budget {}s", budget.as_secs_f64().ceil()));
    }
    if options.keep {
        command.push_str(" --keep");
    }
    if options.ignore_space {
        command.push_str(" --ignore-space");
    }
    command
}

fn plan_options(options: &StudyOptions) -> PlanOptions {
    PlanOptions {
        scale: options.scale.clone(),
        only: options.only.clone(),
        cache_state: options.cache_state,
        durability: options.durability,
        rounds: options.measure.run.rounds,
        why: options.why,
        on: absolute(&options.on),
    }
}

/// Directories as a result names them.
fn absolute(named: &[(String, PathBuf)]) -> BTreeMap<String, PathBuf> {
    let absolute = |place: &PathBuf| std::path::absolute(place).unwrap_or_else(|_| place.clone());
    let named = named
        .iter()
        .map(|(on, place)| (on.clone(), absolute(place)));
    named.collect()
}

/// A run that is begun or goes on: where its result and its data lie, and how it is measured.
struct Run<'o> {
    output: Output,
    work: WorkDirectory,
    options: &'o RunOptions,
    how: runner::RunOptions,
}

impl<'o> Run<'o> {
    /// `seed` and `rule` are those of the run, whoever began it.
    fn new(
        output: Output,
        work: WorkDirectory,
        options: &'o RunOptions,
        (seed, rule): (u64, StoppingRule),
        drivers: &Rc<Drivers>,
        interrupt: Interrupt,
    ) -> Self {
        let how = runner::RunOptions {
            result: output.result(),
            work: work.path().to_owned(),
            seed,
            budget: options.budget,
            rule,
            drivers: Rc::clone(drivers),
            interrupt,
            keep: options.keep,
        };
        Self {
            output,
            work,
            options,
            how,
        }
    }

    /// Measures in the work directory, which is there no longer afterwards.
    fn measure(
        self,
        go: impl FnOnce(&runner::RunOptions, &mut Progress) -> Result<RunEnd, HarnessError>,
    ) -> Result<Begun, CliError> {
        let Self { output, work, .. } = self;
        let mut progress = Progress::new(&self.options.print);
        let ended = go(&self.how, &mut progress);
        progress.finish();
        // How the run ended matters more than what stays behind.
        if self.options.keep {
            if let Err(error) = work.keep() {
                warn(&error.to_string());
            }
        } else if let Err(error) = work.remove() {
            let work = work.path().display();
            warn(&format!("{error}; remove {work} by hand"));
        }
        match ended {
            Ok(end) => Ok(Begun { output, end }),
            // Nothing was measured, and there is nothing to go on with.
            Err(error) if !self.how.result.exists() => Err(error.into()),
            Err(error) => Err(CliError::Failed {
                text: format!(
                    "{error}; what was measured before stands in {}, and to go on once this is mended:",
                    self.how.result.display()
                ),
                go_on: Some(command_to_go_on(output.directory(), self.options, None)),
            }),
        }
    }
}

/// Refuses a plan that seems to need more room than there is, or only warns if that is asked.
fn require_space(plan: &Plan, options: &RunOptions, place: &Path) -> Result<(), CliError> {
    match plan::require_space(plan, options.keep, place) {
        Err(lack) if options.ignore_space => {
            warn(&lack.to_string());
            Ok(())
        }
        Err(lack) if !lack.is_refusal() => Err(CliError::Usage(format!(
            "{lack}; what it needs is an estimate, and --ignore-space begins all the same"
        ))),
        other => Ok(other?),
    }
}

/// The directory that an option names is the user's: it says which file system is measured, and a
/// mistyped one must not be made.
fn require_place(option: &str, place: &Path) -> Result<(), CliError> {
    if place.is_dir() {
        return Ok(());
    }
    let otherwise = match option {
        "--work" => "or leave --work out to work below the output directory",
        _ => "or name another",
    };
    Err(CliError::Usage(format!(
        "{option} {}: there is no such directory; create it, {otherwise}",
        place.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Arguments, Verb};
    use clap::Parser;

    #[test]
    fn a_command_can_be_pasted_into_a_shell() {
        let command = command_to_go_on(Path::new("a b"), &typed(&[]), None);
        assert!(command.ends_with(" resume 'a b'"), "{command}");
        let options = typed(&["--budget", "1.5m", "--keep", "--ignore-space"]);
        let command = command_to_go_on(Path::new("a"), &options, None);
        assert!(
            command.ends_with(" a --budget 90s --keep --ignore-space"),
            "{command}"
        );
        let needs = Some(Duration::from_millis(300_500));
        let command = command_to_go_on(Path::new("a"), &typed(&["--budget", "90s"]), needs);
        assert!(
            command.ends_with(" a --budget 301s"),
            "what it needs: {command}"
        );
    }

    /// What measuring is told by these arguments of `study`.
    fn typed(arguments: &[&str]) -> RunOptions {
        let arguments = [&["stowplan", "study", "--quiet"], arguments].concat();
        match Arguments::parse_from(arguments).verb {
            Verb::Study(options) => options.measure.run,
            verb => panic!("{verb:?}"),
        }
    }

    #[test]
    fn a_lack_of_room_refuses_a_plan_unless_it_is_to_be_ignored() {
        let mut study = studies::find("fasterthanfs", &[]).unwrap();
        for dataset in study.datasets.values_mut() {
            dataset.count = 1_000_000_000_000;
        }
        let drivers = drivers::looked_at();
        let plan = plan::plan(study, &PlanOptions::default(), &drivers).unwrap();
        let here = Path::new(".");
        let refused = require_space(&plan, &typed(&[]), here).unwrap_err();
        assert!(refused.to_string().contains("--ignore-space"), "{refused}");
        require_space(&plan, &typed(&["--ignore-space"]), here).unwrap();
    }

    #[test]
    fn a_work_directory_that_cannot_be_removed_hides_nothing_of_the_run() {
        let directory = tempfile::tempdir().unwrap();
        let options = typed(&[]);
        let rule = StoppingRule {
            equivalence: 0.05,
            max_rounds: 10,
            precision: None,
        };
        let drivers = Rc::new(drivers::looked_at());
        let measured = |ended: Result<RunEnd, HarnessError>| {
            let output = Output::named(directory.path());
            let work = WorkDirectory::create(&directory.path().join(WORK)).unwrap();
            let never = Interrupt::never();
            let run = Run::new(output, work, &options, (1, rule), &drivers, never);
            run.measure(|how, _| {
                std::fs::remove_dir_all(&how.work).unwrap();
                ended
            })
        };
        let end = RunEnd {
            outcome: RunOutcome::Interrupted,
            seconds: 1.0,
            phases: None,
            needs: None,
        };
        let begun = measured(Ok(end)).ok().unwrap();
        assert_eq!(begun.end.outcome, RunOutcome::Interrupted);
        let refused = || {
            measured(Err(HarnessError::invalid("the reason")))
                .err()
                .unwrap()
        };
        assert_eq!(refused().to_string(), "the reason");
        std::fs::write(Output::named(directory.path()).result(), "{}").unwrap();
        let said = refused().to_string();
        assert!(said.starts_with("the reason; what was measured"), "{said}");
    }
}
