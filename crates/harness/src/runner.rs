//! The runner: prepares datasets and stores, runs rounds until every comparison is decided, and
//! appends each measurement to the result as it happens.
//!
//! It times nothing itself; every block runs in a worker process of its own.

mod blocks;
mod builds;
mod checks;
mod counts;
mod event;
mod leftovers;
mod log;
mod machine;
mod phases;
mod pool;
mod repeat;
mod resumption;
mod servers;
mod spoiled;

pub use crate::block_size::filling;
pub use event::{Event, Observer};
pub use pool::dataset_directory;
pub use repeat::{Repeated, Repetition, WriteSequence, repeat};
pub use resumption::Resumption;

use crate::HarnessError;
pub(crate) use crate::block_size::BlockSize;
use crate::block_size::{equal_blocks, equal_transactions};
use crate::drivers::Drivers;
use crate::file_systems::FileSystems;
use crate::interrupt::Interrupt;
use crate::job::BlockTask;
use crate::plan::{ROOT_ONLY, Uses, has_builds, left_out_cells, left_to_root};
use crate::random::Random;
use crate::sequence;
use blocks::Blocks;
use builds::on_second;
use checks::Checks;
use log::ResultLog;
use phases::PhaseClock;
use pool::Pool;
use resumption::{Earlier, baseline_failed, pairs, without};
use spoiled::{ATTEMPTS, attempt};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use stowplan_analysis::{
    Interim, LOOKS, RatioEstimate, StoppingRule, contrast_of_control, interim,
};
use stowplan_dataset::sequence::Part;
use stowplan_model::{
    BlockKind, CacheState, Cell, CellFailure, CellId, Comparison, DriverCost, EffectiveSettings,
    Environment, Extension, FileSystemsRecord, Measurement, PROTOCOL_VERSION, PayloadSource,
    Phases, Plan, Record, Role, RunEnd, RunHeader, RunOutcome, SCHEMA_VERSION, Session, Settings,
    Warning, WarningKind,
};

/// From this time of an operation on, nanoseconds, ratio blocks take latencies themselves: reading the
/// clock for each operation costs some 40 ns, 0.2% of that.
const SLOW_NS: u64 = 20_000;

/// Whether the operations of a cell are slow by the last block that was measured of it.
fn is_slow(cell: &CellId, measured: &[Measurement]) -> bool {
    let last = measured.iter().rfind(|block| block.cell == *cell);
    last.is_some_and(|block| block.wall_ns >= block.operations.max(1).saturating_mul(SLOW_NS))
}

/// Whether latency blocks are taken besides in a round: in every second of the first ten, and in every
/// fourth that follows, so that percentiles are of the whole session.
fn takes_latencies(round: u32) -> bool {
    match round {
        0..10 => round.is_multiple_of(2),
        _ => round % 4 == 2,
    }
}

/// Rounds that a session may measure beyond those that are lacking, for those in which a cell got
/// no figure (R9): where the data does not stay in the page cache, no number of them is enough.
const SPARE_ROUNDS: u32 = 5;

/// How a plan is run.
#[derive(Debug)]
pub struct RunOptions {
    /// The file of the result; for a new run it must not exist.
    pub result: PathBuf,
    /// The work directory: a [`crate::disk::WorkDirectory`], on the file system under test. Nothing
    /// is in it yet.
    pub work: PathBuf,
    /// Seed of all orders and sequences.
    pub seed: u64,
    /// Time for the whole run, from its beginning to the removal of its data; none: as long as the stopping
    /// rule needs.
    pub budget: Option<Duration>,
    /// When a comparison is decided.
    pub rule: StoppingRule,
    /// What hosts the stores.
    pub drivers: Rc<Drivers>,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// Whether datasets and built stores stay when no later comparison uses them.
    pub keep: bool,
}

/// Decides what is measured once a plan is done.
pub trait Extender {
    /// What follows `plan`, of which everything was measured and recorded; nothing: the run is
    /// over.
    ///
    /// # Errors
    /// The result cannot be read, or what follows cannot be planned.
    fn extend(&mut self, plan: &Plan) -> Result<Option<Extension>, HarnessError>;

    /// How many comparisons may still follow: they get their share of a time budget.
    fn expected(&self) -> usize;
}

/// Nothing follows.
#[derive(Debug, Clone, Copy)]
pub struct AsPlanned;

impl Extender for AsPlanned {
    fn extend(&mut self, _: &Plan) -> Result<Option<Extension>, HarnessError> {
        Ok(None)
    }

    fn expected(&self) -> usize {
        0
    }
}

/// Runs a plan to its end, and what `extender` has follow it.
///
/// # Errors
/// Something other than a cell failed: the disk, the work directory, the result file. What was
/// measured before stands in the result file. An interruption is no error: the outcome says so.
pub fn run(
    plan: &Plan,
    options: &RunOptions,
    observer: &mut dyn Observer,
    extender: &mut dyn Extender,
) -> Result<RunEnd, HarnessError> {
    Runner::start(plan, options, observer)?.finished(extender)
}

/// Goes on with a run that was broken off. Seed and rule of `options` must be those of the run.
///
/// # Errors
/// As [`run`].
pub fn resume(
    resumption: Resumption,
    options: &RunOptions,
    observer: &mut dyn Observer,
    extender: &mut dyn Extender,
) -> Result<RunEnd, HarnessError> {
    Runner::go_on(resumption, options, observer)?.finished(extender)
}

struct Runner<'a> {
    plan: Plan,
    /// Comparisons that may follow those of the plan.
    expected: usize,
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    log: ResultLog,
    blocks: Blocks<'a>,
    pool: Pool,
    failed: BTreeSet<CellId>,
    effective_seen: BTreeSet<CellId>,
    /// The program `strace`, if there is one; nothing before it was looked for.
    strace: Option<Option<PathBuf>>,
    /// What earlier sessions of this run measured.
    earlier: Earlier,
    /// Whether there is room for two builds of each store at a time.
    two_builds: bool,
    /// Memory that was free when the session began.
    memory_bytes: u64,
    /// When this session began.
    started: Instant,
    /// Comparisons whose time was over before they were decided; whether each has an interval for every cell.
    open: BTreeMap<String, bool>,
    /// How long rounds take, over what was thought of them.
    rounds_pace: f64,
    /// Seconds of a round beyond what is typical, by what pilots took, of each comparison that had some.
    beyond: BTreeMap<String, f64>,
    /// Where its time goes.
    clock: PhaseClock,
}

/// Why a comparison ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ended {
    Decided,
    Budget,
}

impl<'a> Runner<'a> {
    fn start(
        plan: &Plan,
        options: &'a RunOptions,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, HarnessError> {
        let environment = machine::examine(plan, &options.drivers, &options.work);
        let header = Record::Run(RunHeader {
            schema: SCHEMA_VERSION,
            started: now(),
            seed: options.seed,
            plan: plan.clone(),
            environment: environment.clone(),
            equivalence: options.rule.equivalence,
            max_rounds: options.rule.max_rounds,
            precision: options.rule.precision,
        });
        let log = ResultLog::create(&options.result)?;
        let mut runner = Self::new(plan.clone(), options, observer, log, Earlier::default());
        let session = Record::Session(runner.session());
        runner.log.begin(&[&header, &session])?;
        runner.warn_of_machine(&environment)?;
        Ok(runner)
    }

    fn go_on(
        resumption: Resumption,
        options: &'a RunOptions,
        observer: &'a mut dyn Observer,
    ) -> Result<Self, HarnessError> {
        let plan = resumption.plan().clone();
        let environment = machine::examine(&plan, &options.drivers, &options.work);
        let Resumption {
            mut log,
            bytes,
            raised,
            earlier,
            ..
        } = resumption;
        let removed_bytes = log.repair(&bytes)?;
        drop(bytes);
        let mut runner = Self::new(plan, options, observer, log, earlier);
        let session = Session {
            max_rounds: raised,
            removed_bytes,
            environment: Some(Box::new(environment.clone())),
            ..runner.session()
        };
        runner.log.append(&Record::Session(session))?;
        runner.warn_of_machine(&environment)?;
        Ok(runner)
    }

    fn new(
        plan: Plan,
        options: &'a RunOptions,
        observer: &'a mut dyn Observer,
        log: ResultLog,
        mut earlier: Earlier,
    ) -> Self {
        Self {
            expected: 0,
            options,
            observer,
            log,
            blocks: Blocks::new(&options.drivers, &options.interrupt, &options.work),
            pool: Pool::new(
                &options.work,
                FileSystems::named(&plan),
                std::mem::take(&mut earlier.weighed),
                earlier.builds,
            ),
            plan,
            failed: earlier.failed.clone(),
            effective_seen: std::mem::take(&mut earlier.effective),
            strace: None,
            earlier,
            two_builds: false,
            memory_bytes: 0,
            started: Instant::now(),
            open: BTreeMap::new(),
            rounds_pace: 1.0,
            beyond: BTreeMap::new(),
            clock: PhaseClock::start(),
        }
    }

    /// A session that begins now.
    fn session(&self) -> Session {
        let options = self.options;
        let beside = options.result.with_file_name("work");
        let work = std::path::absolute(&options.work).ok();
        Session {
            started: now(),
            protocol: PROTOCOL_VERSION,
            work: work
                .filter(|_| options.work != beside)
                .and_then(|work| work.into_os_string().into_string().ok()),
            environment: None,
            max_rounds: None,
            boot_id: crate::platform::boot_id(),
            on: self.pool.file_systems.directories(),
            removed_bytes: 0,
        }
    }

    /// Does something as a part of a phase.
    fn during<T>(
        &mut self,
        phase: fn(&mut Phases) -> &mut f64,
        work: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let around = self.clock.enter(Some(phase));
        let done = work(self);
        self.clock.enter(around);
        done
    }

    /// Records what about the machine spoils a session that begins.
    fn warn_of_machine(&mut self, environment: &Environment) -> Result<(), HarnessError> {
        self.memory_bytes = environment.memory_available_bytes;
        machine::warnings(&self.plan, environment)
            .into_iter()
            .try_for_each(|warning| self.warn(warning))
    }

    /// Records which comparisons are not measured because they need root, and how many cells for want of what.
    fn warn_of_what_is_left_out(&mut self) -> Result<(), HarnessError> {
        let left = left_to_root(&self.plan);
        let left: Vec<String> = left.iter().map(|spec| spec.id.clone()).collect();
        left.iter().try_for_each(|id| {
            self.remark(
                format!("Comparison {id} is not measured: {ROOT_ONLY}."),
                "All others are.",
            )
        })?;
        let left = left_out_cells(&self.plan).into_iter();
        let left: Vec<String> = left
            .map(|(reason, count)| {
                let cells = if count == 1 { "cell is" } else { "cells are" };
                format!("{count} {cells} left out: {reason}.")
            })
            .collect();
        left.into_iter()
            .try_for_each(|told| self.remark(told, "All others are measured."))
    }

    fn finished(mut self, extender: &mut dyn Extender) -> Result<RunEnd, HarnessError> {
        let measured = self.measure_with_servers(extender);
        let left = self.pool.file_systems.end(self.options.keep);
        let outcome = match measured {
            Ok(outcome) => outcome,
            Err(HarnessError::Interrupted) => RunOutcome::Interrupted,
            Err(error) => return Err(error),
        };
        if let Err(error) = left {
            self.remark(
                format!("What the run mounted or made on a file system was not removed: {error}."),
                "Remove it by hand.",
            )?;
        }
        let end = RunEnd {
            outcome,
            seconds: self.started.elapsed().as_secs_f64(),
            phases: Some(self.clock.spent()),
        };
        self.log.append(&Record::End(end.clone()))?;
        self.log.settle()?;
        Ok(end)
    }

    fn measure_with_servers(
        &mut self,
        extender: &mut dyn Extender,
    ) -> Result<RunOutcome, HarnessError> {
        self.options.drivers.hang_up();
        self.during(|spent| &mut spent.stores, Self::make_file_systems)?;
        let servers = self.start_servers()?;
        let measured = self.measure_everything(extender);
        let cleared = self.clear_servers();
        drop(servers);
        // Why the run ended says more than what was left on a server.
        let outcome = measured?;
        cleared.map(|()| outcome)
    }

    /// Makes the file systems that cells are on. It takes long, and who kills the run meanwhile finds in the
    /// result what is to be removed.
    fn make_file_systems(&mut self) -> Result<(), HarnessError> {
        let progress = &mut preparing(self.observer, "making file systems".to_owned());
        let (options, made) = (self.options, &mut self.pool.file_systems);
        let on = made.make(
            &self.plan,
            &options.work,
            options.keep,
            &options.interrupt,
            progress,
        )?;
        match on.is_empty() {
            true => Ok(()),
            false => self
                .log
                .append(&Record::FileSystems(FileSystemsRecord { on })),
        }
    }

    fn measure_everything(
        &mut self,
        extender: &mut dyn Extender,
    ) -> Result<RunOutcome, HarnessError> {
        self.warn_of_what_is_left_out()?;
        self.measure_harness_cost()?;
        let mut index = 0;
        loop {
            self.expected = extender.expected();
            while let Some(comparison) = self.plan.comparisons.get(index).cloned() {
                if self.decided_earlier(&comparison) {
                    self.warn_of_missing_check(&comparison)?;
                } else {
                    self.measure_in_time(&comparison, index)?;
                }
                index += 1;
            }
            // Where nothing follows, nothing was cut short.
            if self.time_is_over() && extender.expected() > 0 {
                return Ok(RunOutcome::Budget);
            }
            let Some(more) = extender.extend(&self.plan)? else {
                return self.go_back_to_what_is_open();
            };
            self.plan.extend(&more);
            self.log.append(&Record::Extension(more))?;
        }
    }

    /// Measures a comparison if the time suffices for more than what has to be built for it.
    fn measure_in_time(
        &mut self,
        comparison: &Comparison,
        index: usize,
    ) -> Result<(), HarnessError> {
        let builds = self.building_seconds(std::slice::from_ref(comparison));
        let fits = self.time_left().is_none_or(|left| left > builds);
        let ended = match fits {
            true => self.measure_comparison(comparison, index)?,
            false => Ended::Budget,
        };
        self.open.remove(&comparison.id);
        if ended == Ended::Budget {
            let answered = self.is_answered(comparison);
            self.open.insert(comparison.id.clone(), answered);
        }
        Ok(())
    }

    /// Spends the time that is left on what is not decided, those first that have no interval; says what the
    /// time did not suffice for.
    fn go_back_to_what_is_open(&mut self) -> Result<RunOutcome, HarnessError> {
        let mut tried = BTreeSet::new();
        while let Some(index) = self.most_open(&tried) {
            tried.insert(index);
            let comparison = self.plan.comparisons[index].clone();
            self.measure_in_time(&comparison, index)?;
        }
        self.warn_of_unanswered()?;
        Ok(match self.open.is_empty() {
            true => RunOutcome::Complete,
            false => RunOutcome::Budget,
        })
    }

    /// Whether there are rounds enough for an interval of every cell.
    fn is_answered(&self, comparison: &Comparison) -> bool {
        let measured = self.earlier.measured(comparison);
        let least = LOOKS[0].min(self.cap(comparison));
        let contrasts = without(comparison, &self.failed).contrasts;
        contrasts
            .iter()
            .all(|contrast| pairs(&measured, contrast) >= least)
    }

    /// The comparison to go back to: undecided, not yet tried again, and likely to get as many rounds as it takes to
    /// be looked at once more.
    fn most_open(&self, tried: &BTreeSet<usize>) -> Option<usize> {
        let left = self.time_left()?;
        let comparisons = self.plan.comparisons.iter().enumerate();
        let fits = |comparison: &Comparison| {
            self.seconds_of(std::slice::from_ref(comparison), LOOKS[0]) < left
        };
        let open = comparisons.filter(|(index, _)| !tried.contains(index));
        let open = open.filter_map(|(index, comparison)| {
            let answered = self.open.get(&comparison.id)?;
            fits(comparison).then_some((*answered, index))
        });
        open.min().map(|(_, index)| index)
    }

    /// Names the comparisons that have no interval, with the time that they need.
    fn warn_of_unanswered(&mut self) -> Result<(), HarnessError> {
        let unanswered = self.plan.comparisons.iter();
        let unanswered: Vec<Comparison> = unanswered
            .filter(|comparison| self.open.get(&comparison.id) == Some(&false))
            .cloned()
            .collect();
        if unanswered.is_empty() {
            return Ok(());
        }
        let needed = unanswered.iter().map(|comparison| {
            let seconds = self.seconds_of(std::slice::from_ref(comparison), LOOKS[0]);
            format!("{} ({})", comparison.id, crate::plan::duration(seconds))
        });
        let needed = Vec::from_iter(needed).join(", ");
        let all = crate::plan::duration(self.seconds_of(&unanswered, LOOKS[0]) * 1.5);
        self.remark(
            format!("The time was over before these comparisons had an answer, for which they need about as long as is said: {needed}."),
            &format!("Go on with 'stowplan resume' and a --budget of about {all}."),
        )
    }

    /// Whether an earlier session left nothing of a comparison to measure.
    fn decided_earlier(&self, comparison: &Comparison) -> bool {
        self.earlier.decided(comparison, &self.options.rule)
    }

    /// What was built for a comparison is gone with the session that measured it.
    fn warn_of_missing_check(&mut self, comparison: &Comparison) -> Result<(), HarnessError> {
        if !self.earlier.lacks_check(comparison) {
            return Ok(());
        }
        self.remark(format!(
                "The run was broken off after the last round of comparison {}, before what it wrote was checked and weighed.",
                comparison.id
            ), "Its times stand; for the check run it again (--only).")
    }

    fn measure_comparison(
        &mut self,
        comparison: &Comparison,
        index: usize,
    ) -> Result<Ended, HarnessError> {
        self.look_for_room(index)?;
        let placed = &self.with_roles(comparison);
        self.prepare(placed)?;
        let total = self.plan.comparisons.len();
        self.observer.event(Event::Comparison {
            comparison,
            index,
            total,
        });
        let ended = self.compare(placed, index)?;
        self.during(
            |spent| &mut spent.removal,
            |runner| runner.release_unused(comparison, index),
        )?;
        Ok(ended)
    }

    /// The harness itself, through the whole worker path, with a store that does nothing; and what the
    /// loops of other drivers cost, each with such a store of its own: an interpreter's work is no
    /// store's.
    fn measure_harness_cost(&mut self) -> Result<(), HarnessError> {
        let drivers = &self.options.drivers;
        let hosts_null = |driver: &str| drivers.kinds(driver).is_ok_and(|k| k.contains_key("null"));
        let used = self.plan.cells().map(|cell| cell.driver.as_str());
        let others: BTreeSet<String> = used
            .filter(|driver| !driver.is_empty() && hosts_null(driver))
            .map(str::to_owned)
            .collect();
        let all = std::iter::once(String::new()).chain(others);
        let mut unknown = Vec::new();
        for driver in all
            .filter(|driver| !self.earlier.costs.contains(driver))
            .collect::<Vec<_>>()
        {
            match self.blocks.harness_cost(&driver, self.options.seed) {
                Ok(cost) if driver.is_empty() => {
                    self.observer.event(Event::HarnessCost(cost));
                    self.log.append(&Record::HarnessCost(cost))?;
                }
                Ok(cost) => self.log.append(&Record::DriverCost(DriverCost {
                    tool: self.options.drivers.tool(&driver)?,
                    driver,
                    cost,
                }))?,
                Err(error) if error.is_of_a_store() && !error.is_lack_of_room() => {
                    if self.options.interrupt.raised() {
                        return Err(HarnessError::Interrupted);
                    }
                    unknown.push(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        self.warn_of_missing_costs(&unknown)
    }

    /// A worker that failed here need not fail with a store.
    fn warn_of_missing_costs(&mut self, errors: &[String]) -> Result<(), HarnessError> {
        if errors.is_empty() {
            return Ok(());
        }
        self.remark(
            format!("What a loop costs per operation is not known: {}.", errors.join("; ")),
            "Times stand without it; 'stowplan drivers check NAME' says what a driver does wrong, and \
             'stowplan doctor' what the machine lacks.",
        )
    }

    /// Builds what a comparison needs and is not there yet, and reads it back.
    fn prepare(&mut self, comparison: &Comparison) -> Result<(), HarnessError> {
        self.during(
            |spent| &mut spent.removal,
            |runner| runner.forget_used(comparison),
        )?;
        loop {
            let mut checks = Checks::default();
            for cell in &comparison.cells {
                if self.skipped(cell) {
                    continue;
                }
                if let Err(error) = self.prepare_cell(cell, &mut checks) {
                    self.cell_failed(cell, error)?;
                }
            }
            let mut doubted = false;
            self.settle(checks, &mut |runner, cell, error| {
                // The build may be wrong, or this way of reading it: others are to see all of it.
                doubted |= runner.pool.of_mut(cell).doubt();
                doubted |= runner.pool.of_mut(&on_second(cell)).doubt();
                runner.cell_failed(cell, error)
            })?;
            if !doubted {
                return Ok(());
            }
        }
    }

    /// What no longer is what cells are to find is built anew.
    fn forget_used(&mut self, comparison: &Comparison) -> Result<(), HarnessError> {
        let cells = comparison.cells.iter();
        for cell in cells.flat_map(|cell| [cell.clone(), on_second(cell)]) {
            if self.pool.of(&cell).is_there && !self.pool.serves(&cell) {
                self.pool.forget(&cell)?;
            }
        }
        Ok(())
    }

    fn prepare_cell(&mut self, cell: &Cell, checks: &mut Checks) -> Result<(), HarnessError> {
        if let Some(error) = self.options.drivers.failure(&cell.store) {
            return Err(error);
        }
        self.pool.root(cell)?;
        self.during(
            |spent| &mut spent.datasets,
            |runner| runner.prepare_dataset(&cell.dataset),
        )?;
        self.prepare_instance(cell)?;
        self.check_build(cell, cell, checks)?;
        self.prepare_second(cell, checks)
    }

    fn prepare_dataset(&mut self, name: &str) -> Result<(), HarnessError> {
        let Some(spec) = self.plan.datasets.get(name) else {
            return Err(HarnessError::invalid(format!(
                "the plan has no dataset '{name}'"
            )));
        };
        let progress = &mut preparing(self.observer, format!("dataset {name}"));
        let record = self.pool.dataset(name, spec, progress)?;
        self.log.append_all(record.map(Record::Preparation))
    }

    fn prepare_instance(&mut self, cell: &Cell) -> Result<(), HarnessError> {
        let built = self.during(
            |spent| &mut spent.stores,
            |runner| {
                let what = format!("building {}", cell.instance);
                let progress = &mut preparing(runner.observer, what);
                runner.pool.build(cell, &runner.blocks, progress)
            },
        )?;
        let Some(built) = built else { return Ok(()) };
        self.log.append(&Record::Preparation(built.preparation))?;
        self.log.append_all(built.footprint.map(Record::Footprint))
    }

    /// Has values of a store read, untimed, and compared as `on` reads them: all of them once, and some for
    /// each further setting or delivery. A store that keeps no values has none to compare. What is wrong is
    /// a failure of `cell`.
    fn check(&mut self, cell: &Cell, on: &Cell, checks: &mut Checks) -> Result<(), HarnessError> {
        if self.options.drivers.kind(&on.store)?.keeps_nothing {
            return Ok(());
        }
        let Some(extent) = self.pool.take_check(on) else {
            return Ok(());
        };
        let check = self.blocks.check(on, &self.pool.paths(on), extent)?;
        checks.add(cell, on, self.count(&on.dataset), check);
        Ok(())
    }

    /// Does checks, and records what was compared. `failed` hears of cells that one of them fails.
    fn settle(
        &mut self,
        checks: Checks,
        failed: &mut dyn FnMut(&mut Self, &Cell, HarnessError) -> Result<(), HarnessError>,
    ) -> Result<(), HarnessError> {
        let checked = self.during(
            |spent| &mut spent.verification,
            |runner| {
                let what = "checking every value".to_owned();
                checks.done(&mut preparing(runner.observer, what))
            },
        );
        for (cell, found) in checked {
            match found {
                Ok(found) => {
                    let found = Record::Verification(found);
                    self.log.append(&found)?;
                    self.earlier.note(found);
                }
                // One failure of a cell is enough.
                Err(_) if self.skipped(&cell) => {}
                Err(error) => failed(self, &cell, error)?,
            }
        }
        Ok(())
    }

    /// Rounds until every contrast is decided, the cap is reached, or the time is over.
    fn compare(&mut self, comparison: &Comparison, index: usize) -> Result<Ended, HarnessError> {
        self.during(
            |spent| &mut spent.stores,
            |runner| runner.pool.warm(comparison),
        )?;
        let sizes = self.during(
            |spent| &mut spent.pilots,
            |runner| runner.block_sizes(comparison),
        )?;
        self.warn_of_short_blocks(comparison, &sizes)?;
        self.warn_of_long_rounds(comparison)?;
        let deadline = self.deadline(comparison, index);
        let mut measured = self.earlier.measured(comparison);
        let first = self.earlier.next_round(comparison);
        let lacking = self.lacking_rounds(comparison, &measured);
        let expected = Expected {
            round: self.rounds_seconds(std::slice::from_ref(comparison), 1),
            later: self.rounds_seconds(&self.later(index), LOOKS[0]),
        };
        let mut ended = Ended::Decided;
        let mut rounds = 0.0;
        let began = Instant::now();
        for done in 0..lacking.saturating_add(SPARE_ROUNDS) {
            let open = interim(
                &without(comparison, &self.failed),
                &measured,
                &self.options.rule,
            );
            if open.is_empty() || baseline_failed(comparison, &self.failed) {
                break;
            }
            let to_come = lacking.saturating_sub(done).max(1);
            let counted = self.cap(comparison).saturating_sub(to_come);
            // A round that would end too late is not begun, nor one of ten of which the last would.
            let one = began.elapsed() / done.max(1);
            let to_first_look = LOOKS[0].min(self.cap(comparison)).saturating_sub(counted);
            let needed = match done {
                0 | 1 => one,
                _ => one * to_first_look.max(1),
            };
            if deadline
                .as_ref()
                .is_some_and(|deadline| Instant::now() + needed >= deadline(counted))
            {
                ended = Ended::Budget;
                break;
            }
            let active = active(comparison, &open);
            if self.wants_builds(comparison, &measured, done) {
                self.rebuild(comparison, &active, done == 0)?;
            }
            let progress = RoundProgress {
                round: first + done,
                done,
                counted,
                until: next_look(counted, comparison.max_rounds),
                latencies: takes_latencies(first + done),
                open: &open,
                began,
                expected,
            };
            self.during(
                |spent| &mut spent.rounds,
                |runner| {
                    runner.round(comparison, &sizes, &active, &progress, &mut measured)?;
                    runner.log.settle()
                },
            )?;
            rounds += 1.0;
        }
        if rounds > 0.0 && expected.round > 0.0 {
            self.rounds_pace = began.elapsed().as_secs_f64() / (expected.round * rounds);
        }
        self.during(
            |spent| &mut spent.counting,
            |runner| runner.explain(comparison, &sizes),
        )?;
        self.during(
            |spent| &mut spent.verification,
            |runner| runner.finish(comparison),
        )?;
        self.note_evictions(comparison);
        Ok(ended)
    }

    /// The most rounds of a comparison.
    fn cap(&self, comparison: &Comparison) -> u32 {
        comparison.max_rounds.min(self.options.rule.max_rounds)
    }

    /// How many rounds the contrast with the fewest pairs lacks; that of the control counts as one,
    /// for nothing is claimed without it.
    fn lacking_rounds(&self, comparison: &Comparison, measured: &[Measurement]) -> u32 {
        let cap = self.cap(comparison);
        let going_on = without(comparison, &self.failed);
        let open = interim(&going_on, measured, &self.options.rule);
        let of_control = contrast_of_control(&going_on).filter(|_| !open.is_empty());
        let contrasts = open.iter().map(|open| &open.contrast).chain(&of_control);
        let lacking = contrasts.map(|contrast| cap.saturating_sub(pairs(measured, contrast)));
        lacking.max().unwrap_or(0)
    }

    /// Notes which stores were evicted: they are built anew once they are to be warm. How pages came
    /// into the page cache matters, for the kernel keeps them in units whose size depends on it: overwriting a tenth of a 1 GB
    /// database took 12 µs a value as built, 17 to 26 µs after cold reads and a warm-up, 65 µs
    /// after reading it in order with a read-ahead of 8 MiB. Where memory was emptied, every store was
    /// evicted.
    fn note_evictions(&mut self, comparison: &Comparison) {
        let all_cold = |cell: &Cell| cell.workload.cache == CacheState::AllCold;
        let is_cold = |cell: &&Cell| cell.workload.cache.is_cold();
        let evicted: Vec<&Cell> = match comparison.cells.iter().any(all_cold) {
            true => self.plan.cells().collect(),
            false => comparison.cells.iter().filter(is_cold).collect(),
        };
        for cell in evicted {
            self.pool.of_mut(cell).is_evicted = true;
            if !cell.workload.cache.is_cold() {
                self.pool.of_mut(&on_second(cell)).is_evicted = true;
            }
        }
    }

    /// Removes what this comparison used and no later one does, so that a study of many sizes
    /// needs no more room than its largest one.
    fn release_unused(
        &mut self,
        comparison: &Comparison,
        index: usize,
    ) -> Result<(), HarnessError> {
        if self.options.keep {
            return Ok(());
        }
        let later = self.later(index);
        let later = Uses::of(&later);
        let cells = comparison.cells.iter();
        let unused: Vec<Cell> = cells
            .filter(|cell| !later.instance(cell))
            .flat_map(|cell| [cell.clone(), on_second(cell)])
            .collect();
        self.pool.release(&unused)?;
        for cell in &comparison.cells {
            if !later.dataset(&cell.dataset) && !self.may_be_needed(&cell.dataset) {
                self.pool.release_dataset(&cell.dataset)?;
            }
        }
        Ok(())
    }

    /// Whether what follows may use a dataset that cannot be made again: values that somebody brought along.
    fn may_be_needed(&self, dataset: &str) -> bool {
        let spec = self.plan.datasets.get(dataset);
        // Time that is left goes to comparisons that were measured before.
        let gone_back_to = self.options.budget.is_some();
        (self.expected > 0 || gone_back_to) && spec.is_some_and(|spec| spec.from.is_some())
    }

    fn time_is_over(&self) -> bool {
        self.time_left().is_some_and(|left| left <= 0.0)
    }

    /// Seconds of the budget that are left for measuring: what is there takes time to be removed.
    fn time_left(&self) -> Option<f64> {
        /// Of the time of building: assumed, between databases, which go at once, and files one by one.
        const REMOVAL: f64 = 0.4;
        let budget = self.options.budget?.as_secs_f64();
        let removal = self.pool.there_bytes() * self.building_pace() * REMOVAL;
        Some(budget - self.started.elapsed().as_secs_f64() - removal)
    }

    /// Seconds for a byte of a store, by what building and checking took so far in this session.
    fn building_pace(&self) -> f64 {
        /// Where nothing is known yet.
        const TYPICAL: f64 = 1.0 / 250e6;
        let spent = self.clock.so_far();
        let bytes = self.pool.made_bytes;
        match bytes > 0.0 {
            true => (spent.datasets + spent.stores + spent.verification) / bytes,
            false => TYPICAL,
        }
    }

    /// Seconds for what would have to be built for comparisons.
    fn building_seconds(&self, comparisons: &[Comparison]) -> f64 {
        let mut seen = BTreeSet::new();
        let mut bytes = 0.0;
        for comparison in comparisons {
            let placed = self.with_roles(comparison);
            for cell in &placed.cells {
                let second = Some(on_second(cell)).filter(|_| self.two_builds && has_builds(cell));
                for on in std::iter::once(cell.clone()).chain(second) {
                    if !self.pool.serves(&on) && seen.insert(on.instance.clone()) {
                        bytes += self.dataset_bytes(cell);
                    }
                }
            }
        }
        bytes * self.building_pace()
    }

    /// Seconds for building a comparison's stores once more.
    fn again_seconds(&self, comparison: &Comparison) -> f64 {
        let cells = comparison.cells.iter();
        let stores: BTreeMap<_, _> = cells
            .flat_map(|cell| [cell.clone(), on_second(cell)])
            .filter(|cell| self.pool.of(cell).is_there)
            .map(|cell| (cell.instance.clone(), self.dataset_bytes(&cell)))
            .collect();
        stores.values().sum::<f64>() * self.building_pace()
    }

    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn dataset_bytes(&self, cell: &Cell) -> f64 {
        match cell.workload.changes_keys() {
            true => 0.0,
            false => self.plan.dataset_bytes(&cell.dataset) as f64,
        }
    }

    /// Seconds for so many rounds of comparisons, and for what has to be built for them, by what rounds took so far
    /// against what was thought of them.
    fn seconds_of(&self, comparisons: &[Comparison], rounds: u32) -> f64 {
        let rounds = self.rounds_seconds(comparisons, rounds);
        self.building_seconds(comparisons) + rounds * self.rounds_pace
    }

    /// Seconds that so many rounds of comparisons are thought to take: typical ones, and what pilots said beyond.
    fn rounds_seconds(&self, comparisons: &[Comparison], rounds: u32) -> f64 {
        let beyond = comparisons.iter().map(|comparison| {
            let each = self.beyond.get(&comparison.id).copied().unwrap_or(0.0);
            each * f64::from(rounds.min(self.cap(comparison)))
        });
        crate::plan::rounds_seconds(comparisons, rounds) + beyond.sum::<f64>()
    }

    /// The comparisons after one that are still to be measured.
    fn later(&self, index: usize) -> Vec<Comparison> {
        let later = self.plan.comparisons.iter().skip(index + 1);
        later
            .filter(|comparison| !self.decided_earlier(comparison))
            .cloned()
            .collect()
    }

    /// When a comparison must end: its share of the time that is left, by what its rounds are
    /// likely to take; in its first ten rounds, without which it has no interval, later.
    fn deadline(
        &self,
        comparison: &Comparison,
        index: usize,
    ) -> Option<impl Fn(u32) -> Instant + use<>> {
        let now = Instant::now();
        let left = Duration::from_secs_f64(self.time_left()?.max(0.0));
        let here = self.seconds_of(std::slice::from_ref(comparison), LOOKS[0]);
        #[expect(clippy::cast_precision_loss, reason = "few")]
        let followers = here * self.expected as f64;
        // Who goes back to one has all that is left.
        let later = match self.open.contains_key(&comparison.id) {
            true => Vec::new(),
            false => self.later(index),
        };
        let after = self.seconds_of(&later, LOOKS[0]) + followers;
        let (share, most) = share_of(left, here, after, self.again_seconds(comparison));
        Some(move |round: u32| now + if round < LOOKS[0] { most } else { share })
    }

    /// How many operations a block of each cell holds (R4).
    fn block_sizes(
        &mut self,
        comparison: &Comparison,
    ) -> Result<BTreeMap<CellId, BlockSize>, HarnessError> {
        let mut sizes: BTreeMap<CellId, BlockSize> = BTreeMap::new();
        // Nanoseconds of an operation, by a pilot.
        let mut each: BTreeMap<CellId, f64> = BTreeMap::new();
        let sequences = self.write_sequences(comparison, u32::MAX, &sizes)?;
        for cell in &comparison.cells {
            if self.skipped(cell) {
                continue;
            }
            // The control does exactly what the baseline does.
            let baseline = comparison.with_role(Role::Baseline);
            let baseline = baseline.filter(|_| cell.role == Role::Control);
            let same = baseline.and_then(|baseline| {
                let size = sizes.get(&baseline.id).copied()?;
                Some((size, each.get(&baseline.id).copied()))
            });
            let known = same.or_else(|| Some((self.earlier.size(cell)?, None)));
            match known.map_or_else(|| self.pilot(cell, &sequences), Ok) {
                Ok((size, took)) => {
                    sizes.insert(cell.id.clone(), size);
                    each.extend(took.map(|took| (cell.id.clone(), took)));
                }
                Err(error) => self.cell_failed(cell, error)?,
            }
        }
        let first = comparison.cells.first();
        let count = first.map_or(0, |cell| self.count(&cell.dataset));
        equal_transactions(&comparison.cells, &mut sizes, count);
        if !comparison.measure.is_time() {
            let least = comparison.measure.least_operations();
            equal_blocks(&comparison.cells, &mut sizes, least, count);
        }
        let blocks = each.iter();
        let beyond = blocks.filter_map(|(id, each)| Some(sizes.get(id)?.seconds_beyond(*each)));
        self.beyond.insert(comparison.id.clone(), beyond.sum());
        Ok(sizes)
    }

    /// Whoever goes by the first estimate is to know; a budget is kept all the same.
    fn warn_of_long_rounds(&mut self, comparison: &Comparison) -> Result<(), HarnessError> {
        let this = std::slice::from_ref(comparison);
        let cap = self.cap(comparison);
        let (thought, now) = (
            crate::plan::rounds_seconds(this, cap),
            self.rounds_seconds(this, cap),
        );
        if now <= 2.0 * thought || self.options.budget.is_some() {
            return Ok(());
        }
        let [thought, now] = [thought, now].map(crate::plan::duration);
        self.remark(
            format!(
                "Comparison {}: by its first blocks up to {cap} rounds take about {now}, not {thought} as was estimated.",
                comparison.id
            ),
            "Give its workload fewer operations, or the run a --budget.",
        )
    }

    /// A handful of operations says little, and the readings around them weigh more than they do.
    fn warn_of_short_blocks(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<(), HarnessError> {
        const FEW: u64 = 30;
        // A table is made or dropped once.
        let about_values = |cell: &&Cell| !cell.workload.is_about_tables();
        let cells = comparison.cells.iter().filter(about_values);
        let fewest = cells
            .filter_map(|cell| sizes.get(&cell.id))
            .map(|size| size.operations)
            .min();
        let Some(operations) = fewest.filter(|operations| *operations < FEW) else {
            return Ok(());
        };
        self.remark(format!(
                "Comparison {}: its blocks hold {operations} operations only, too few for what one of them costs.",
                comparison.id
            ), "Give the dataset more values, or the workload more operations.")
    }

    /// The size of a cell's blocks, and the nanoseconds of an operation where they were tried for it.
    fn pilot(
        &mut self,
        cell: &Cell,
        sequences: &Sequences,
    ) -> Result<(BlockSize, Option<f64>), HarnessError> {
        let count = self.count(&cell.dataset);
        if let Some(size) = BlockSize::given(cell, count) {
            return Ok((size, None));
        }
        let cache_bytes = self.plan.study.memory_budget;
        let trial = BlockSize::trial(cell, count, cache_bytes);
        // The faster of two: a disturbed trial would make all blocks of the cell short.
        let mut fastest: Option<Measurement> = None;
        for position in 0..2 {
            let first = u64::from(position) * (trial.lead_in + trial.operations);
            let task = BlockTask {
                position,
                ..self.task(cell, sequences, BlockKind::Pilot, trial, first)
            };
            let paths = self.pool.paths(cell);
            let (measured, _) = self.blocks.measure(cell, &paths, &task)?;
            if fastest
                .as_ref()
                .is_none_or(|fastest| measured.wall_ns < fastest.wall_ns)
            {
                fastest = Some(measured);
            }
        }
        Ok(fastest.map_or((trial, None), |fastest| {
            #[expect(clippy::cast_precision_loss, reason = "an estimate")]
            let each = fastest.wall_ns as f64 / fastest.operations.max(1) as f64;
            let size = BlockSize::from_trial(cell, &fastest, count, cache_bytes);
            (size, Some(each))
        }))
    }

    /// One round: every active cell once, in fresh random order; in the first rounds once more
    /// for latencies.
    fn round(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
        active: &[&Cell],
        progress: &RoundProgress<'_>,
        measured: &mut Vec<Measurement>,
    ) -> Result<(), HarnessError> {
        let sequences = self.write_sequences(comparison, progress.round, sizes)?;
        let mut order: Vec<&Cell> = active.to_vec();
        let seed = sequence::seed(
            self.options.seed,
            &format!("{}/order", comparison.id),
            progress.round,
        );
        let mut random = Random::new(seed);
        sequence::shuffle(&mut order, &mut random);
        // Ordered sequences are the same in each round; their keys should not be (R3).
        let count = comparison
            .cells
            .first()
            .map_or(0, |cell| self.count(&cell.dataset));
        let begin = random.below(count);
        let mut next: BTreeMap<PathBuf, u64> = BTreeMap::new();
        let kinds = [BlockKind::Ratio, BlockKind::Latency];
        for kind in kinds.into_iter().take(1 + usize::from(progress.latencies)) {
            for (position, cell) in order.iter().enumerate() {
                let closed = cell.workload.rate.is_none();
                let slow = !comparison.measure.is_time() || (closed && is_slow(&cell.id, measured));
                let Some(size) = sizes.get(&cell.id).filter(|_| !self.skipped(cell)) else {
                    continue;
                };
                // Its next ratio block takes them, where there is one.
                if slow && kind == BlockKind::Latency && self.cap(comparison) > 1 {
                    continue;
                }
                let size = if kind == BlockKind::Latency {
                    size.for_latency()
                } else {
                    *size
                };
                let met = self.on_build(comparison, cell, progress.round);
                let next = next.entry(sequences.of(cell)).or_insert(begin);
                let first = *next;
                *next += size.steps();
                let task = BlockTask {
                    round: progress.round,
                    position: u32::try_from(position).unwrap_or(u32::MAX),
                    latencies: slow || kind == BlockKind::Latency,
                    ..self.task(&met, &sequences, kind, size, first)
                };
                match self.block(&met, &task) {
                    Ok(Some(measurement)) => {
                        self.tell(cell, &measurement, progress);
                        if kind == BlockKind::Ratio {
                            measured.push(measurement);
                        }
                    }
                    Ok(None) => {}
                    Err(error) => self.cell_failed(cell, error)?,
                }
            }
        }
        Ok(())
    }

    /// A block of a cell, which begins at a step of its sequence.
    fn task(
        &mut self,
        cell: &Cell,
        sequences: &Sequences,
        block: BlockKind,
        size: BlockSize,
        first: u64,
    ) -> BlockTask {
        BlockTask {
            block,
            latencies: block == BlockKind::Latency,
            sequence: sequences.of(cell),
            first,
            lead_in: size.lead_in,
            operations: size.operations,
            version: self.pool.next_version(cell),
            payloads: PayloadSource::Prepared,
            round: 0,
            position: 0,
        }
    }

    /// Measures one block, again if a covariate says that it did not measure what it should (R9),
    /// and appends it to the result. Nothing if it read from storage each time.
    fn block(
        &mut self,
        cell: &Cell,
        task: &BlockTask,
    ) -> Result<Option<Measurement>, HarnessError> {
        let count = self.count(&cell.dataset);
        let attempted = attempt(
            cell,
            |repeats| {
                let task = BlockTask {
                    // Not the keys that the discarded block has just brought into the CPU's caches.
                    first: task.first + u64::from(repeats) * count * 2 / 5,
                    ..task.clone()
                };
                let paths = self.pool.paths(cell);
                self.blocks.measure(cell, &paths, &task)
            },
            || self.pool.warm_one(cell),
        )?;
        self.note_effective(cell, attempted.effective)?;
        if attempted.warmed {
            self.pool.of_mut(cell).is_read_in_again = true;
        }
        let mut measurement = attempted.measurement;
        // Where data is evicted before each block, how it came in before is the same for all.
        measurement.read_in_again =
            cell.workload.cache == CacheState::Warm && self.pool.of(cell).is_read_in_again;
        measurement.build = self.pool.of(cell).number;
        if !attempted.read_from_storage {
            self.log.append(&Record::Measurement(measurement.clone()))?;
            if self.plan.statistic_of(&cell.id).is_time() {
                measurement.without_latencies();
            }
            self.earlier.note(Record::Measurement(measurement.clone()));
            return Ok(Some(measurement));
        }
        self.warn(Warning {
            kind: WarningKind::Repeated,
            message: format!(
                "{} read from storage in {ATTEMPTS} warm blocks in a row (round {}); the round has no figure for it",
                cell.id, task.round
            ),
            advice: "Free some memory: the data does not stay in the page cache.".to_owned(),
        })?;
        Ok(None)
    }

    /// Keeps the settings that a cell's engine reports, once.
    fn note_effective(&mut self, cell: &Cell, settings: Settings) -> Result<(), HarnessError> {
        if !self.effective_seen.insert(cell.id.clone()) {
            return Ok(());
        }
        self.log.append(&Record::Effective(EffectiveSettings {
            cell: cell.id.clone(),
            settings,
        }))
    }

    /// After the rounds: every value of stores that were written to is checked, and their
    /// footprint taken again.
    fn finish(&mut self, comparison: &Comparison) -> Result<(), HarnessError> {
        let mut checks = Checks::default();
        for cell in writers(comparison) {
            if self.skipped(cell) {
                continue;
            }
            for on in self.builds_of(cell) {
                if let Err(error) = self.check(cell, &on, &mut checks) {
                    self.cell_failed(cell, error)?;
                }
            }
        }
        // Whose values are wrong cannot be said of a build to which several write.
        self.settle(checks, &mut |runner, cell, error| {
            let all: Vec<&Cell> = comparison.cells.iter().collect();
            runner.all_on_it_failed(&all, cell, error)
        })?;
        let mut weighed = BTreeSet::new();
        for cell in writers(comparison) {
            if self.skipped(cell) || !weighed.insert(&cell.instance) {
                continue;
            }
            match self.pool.footprint(cell, &self.blocks, true) {
                Ok(footprint) => self.log.append_all(footprint.map(Record::Footprint))?,
                Err(error) => self.cell_failed(cell, error)?,
            }
        }
        Ok(())
    }

    /// Writes the round's sequences: one for each order that cells visit keys in, and each part of the keys.
    /// `sizes` are those of the blocks, as far as they are known.
    fn write_sequences(
        &self,
        comparison: &Comparison,
        round: u32,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<Sequences, HarnessError> {
        let mut written = BTreeSet::new();
        let mut sequences = Sequences(BTreeMap::new());
        let seed = sequence::seed(self.options.seed, &comparison.id, round);
        for cell in &comparison.cells {
            let (workload, part) = (&cell.workload, part_of(comparison, cell));
            let name = format!("{}-{}-of-{}", workload.order, part.number, part.of);
            let path = self.options.work.join(format!("sequence-{name}.bin"));
            if written.insert(path.clone()) {
                let dataset = self.pool.opened(&cell.dataset)?;
                let steps = if workload.order.repeats() || workload.changes_keys() {
                    self.largest_block(comparison, cell, sizes)
                } else {
                    part.count(dataset.count(), workload.order)
                };
                sequence::write(&path, dataset, workload, steps, seed, part)?;
            }
            sequences.0.insert(cell.id.clone(), path);
        }
        Ok(sequences)
    }

    /// Steps of the largest block among the cells of a comparison that visit keys in the same order
    /// as `cell`.
    fn largest_block(
        &self,
        comparison: &Comparison,
        cell: &Cell,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> u64 {
        let alike = comparison
            .cells
            .iter()
            .filter(|other| other.workload.order == cell.workload.order);
        let steps = alike.map(|cell| match sizes.get(&cell.id) {
            Some(size) => size.steps(),
            None => BlockSize::most_steps(
                cell,
                self.count(&cell.dataset),
                self.plan.study.memory_budget,
            ),
        });
        steps.max().unwrap_or(1).max(1)
    }

    fn count(&self, dataset: &str) -> u64 {
        self.plan.datasets.get(dataset).map_or(0, |spec| spec.count)
    }

    fn skipped(&self, cell: &Cell) -> bool {
        self.failed.contains(&cell.id)
    }

    /// Notes a failed cell and goes on; what is no store's doing ends the run. (After the result
    /// could not be written to, a failure would be appended to half a line.)
    fn cell_failed(&mut self, cell: &Cell, error: HarnessError) -> Result<(), HarnessError> {
        if !error.is_of_a_store() {
            return Err(error);
        }
        // A worker that a signal to all took along is no failure of its cell.
        if self.options.interrupt.raised() {
            return Err(HarnessError::Interrupted);
        }
        // Whoever writes next meets it as well. Once there is room, the run can go on.
        if error.is_lack_of_room() {
            return Err(HarnessError::NoRoom {
                path: self
                    .pool
                    .root(cell)
                    .unwrap_or(&self.options.work)
                    .to_owned(),
                message: format!("{}: {error}", cell.id),
            });
        }
        let (message, stderr) = error.split();
        let failure = CellFailure {
            cell: cell.id.clone(),
            message,
            stderr,
        };
        self.observer.event(Event::Failure(&failure));
        let failure = Record::Failure(failure);
        self.log.append(&failure)?;
        self.earlier.note(failure);
        self.failed.insert(cell.id.clone());
        // Nobody knows what a failed writer left behind; others may share the built store.
        let second = on_second(cell);
        if cell.workload.writes() && self.pool.forget(cell)? {
            self.prepare_again(cell)?;
            if self.pool.forget(&second)? {
                self.prepare_again(&second)?;
            }
        }
        Ok(())
    }

    /// Builds a store again that a failure may have damaged. Where that fails too (its server may be
    /// gone), those that share it will fail by themselves.
    fn prepare_again(&mut self, cell: &Cell) -> Result<(), HarnessError> {
        match self.prepare_instance(cell) {
            Err(error) if error.is_of_a_store() && !error.is_lack_of_room() => Ok(()),
            prepared => prepared,
        }
    }

    fn warn(&mut self, warning: Warning) -> Result<(), HarnessError> {
        self.observer.event(Event::Warning(&warning));
        self.log.append(&Record::Warning(warning))
    }

    /// Warns of what has no kind of its own.
    fn remark(&mut self, message: String, advice: &str) -> Result<(), HarnessError> {
        self.warn(Warning {
            kind: WarningKind::Other,
            message,
            advice: advice.to_owned(),
        })
    }

    fn tell(&mut self, cell: &Cell, measurement: &Measurement, progress: &RoundProgress<'_>) {
        let time = measurement.corrected_ns().unwrap_or(measurement.wall_ns);
        #[expect(clippy::cast_precision_loss, reason = "shown with three digits")]
        let nanoseconds = time as f64 / measurement.operations.max(1) as f64;
        let eta_seconds = self.eta_seconds(progress);
        self.observer.event(Event::Block {
            cell,
            nanoseconds,
            ratio: progress.ratio_of(cell),
            round: progress.counted,
            until: progress.until,
            open_contrasts: progress.open.len(),
            widest: progress.widest(),
            eta_seconds,
        });
    }

    /// The rounds of this comparison up to the next look at the pace so far, and what the plan
    /// estimates for the comparisons to come.
    fn eta_seconds(&self, progress: &RoundProgress<'_>) -> f64 {
        let elapsed = progress.began.elapsed().as_secs_f64();
        let rounds = progress.until.saturating_sub(progress.counted + 1);
        let estimate = progress.expected.left(elapsed, progress.done, rounds);
        self.time_left()
            .map_or(estimate, |left| estimate.min(left.max(0.0)))
    }
}

/// What a comparison may take of the time that is left, and what its first ten rounds may, given
/// the seconds that its own ten rounds and those of all after it are likely to take, and those of building
/// its stores again, which is what coming back to it would cost: what others can spare of as much it has at
/// once. Its ten rounds leave the others what these need for theirs, or half of all: one that takes much
/// longer than was thought would otherwise leave them nothing.
fn share_of(left: Duration, here: f64, after: f64, again: f64) -> (Duration, Duration) {
    let all = here + after;
    let part = if all > 0.0 { here / all } else { 1.0 };
    let seconds = |seconds| Duration::try_from_secs_f64(seconds).unwrap_or(left);
    let spared = left.saturating_sub(seconds(after));
    let share = left.mul_f64(part);
    let share = share.max(spared.min(share.saturating_add(seconds(again))));
    // Where there is too little for all, what comes first is answered, and not everything begun.
    let first = seconds(here).min(left).max(left / 2);
    (share, share.max(spared).max(first))
}

/// Tells of what is being prepared.
fn preparing(observer: &mut dyn Observer, what: String) -> impl FnMut(u64, u64) {
    move |done, total| {
        observer.event(Event::Preparing {
            what: &what,
            done,
            total,
        });
    }
}

/// The time, as records have it.
fn now() -> String {
    jiff::Zoned::now()
        .strftime("%Y-%m-%dT%H:%M:%S%:z")
        .to_string()
}

/// The cells of a comparison whose stores are checked after its rounds, because they were written
/// to.
fn writers(comparison: &Comparison) -> impl Iterator<Item = &Cell> {
    comparison.cells.iter().filter(|cell| {
        cell.workload.operation.writes()
            && !cell.workload.changes_keys()
            && cell.role != Role::Control
            // These, and those with a store of their own, are checked by the worker that wrote.
            && cell.capabilities.persistent
    })
}

/// The keys that a cell visits: all, or its own ones, where others write to the same build.
fn part_of(comparison: &Comparison, cell: &Cell) -> Part {
    if !cell.shares_writes() {
        return Part::ALL;
    }
    let cells = comparison.cells.iter();
    let sharing = cells.filter(|other| other.instance == cell.instance);
    let sharing: Vec<&CellId> = sharing.map(|other| &other.id).collect();
    let number = sharing.iter().position(|id| **id == cell.id).unwrap_or(0);
    Part {
        number: number as u64,
        of: sharing.len().max(1) as u64,
    }
}

/// The sequence of each cell in a round.
struct Sequences(BTreeMap<CellId, PathBuf>);

impl Sequences {
    fn of(&self, cell: &Cell) -> PathBuf {
        self.0.get(&cell.id).cloned().unwrap_or_default()
    }
}

/// Where a comparison stands.
struct RoundProgress<'a> {
    /// The number of the round.
    round: u32,
    /// Rounds that this session has measured before it.
    done: u32,
    /// Rounds before it that count, those of earlier sessions included.
    counted: u32,
    until: u32,
    /// Whether each cell is measured once more, for latencies.
    latencies: bool,
    /// Contrasts that are not decided.
    open: &'a [Interim],
    began: Instant,
    expected: Expected,
}

/// What the plan estimates, in seconds.
#[derive(Debug, Clone, Copy)]
struct Expected {
    /// For a round of this comparison.
    round: f64,
    /// For the comparisons to come.
    later: f64,
}

impl Expected {
    /// Seconds that are left with so many rounds to come here, when `done` rounds and a part of one
    /// took `elapsed`. What is to come elsewhere is off as much as what was measured here: a machine
    /// whose syncs take ten times the plan's does so in each comparison. Nothing is known before a
    /// whole round.
    fn left(self, elapsed: f64, done: u32, rounds: u32) -> f64 {
        if done == 0 || self.round <= 0.0 {
            let here = elapsed.max(self.round) * f64::from(rounds);
            return here + self.later;
        }
        let pace = elapsed / f64::from(done + 1);
        pace * f64::from(rounds) + self.later * (pace / self.round)
    }
}

impl RoundProgress<'_> {
    fn ratio_of(&self, cell: &Cell) -> Option<RatioEstimate> {
        let mut open = self.open.iter();
        open.find(|open| open.contrast.cell == cell.id)?.estimate
    }

    /// The largest half-width of an interval; nothing while one is missing.
    fn widest(&self) -> Option<f64> {
        let widths: Option<Vec<f64>> = self.open.iter().map(Interim::half_width).collect();
        widths?.into_iter().max_by(f64::total_cmp)
    }
}

/// The cells that still take part: those of open contrasts, and the baseline with its control. All
/// of them where some are rungs of a ladder: they are subtracted from each other round by round.
fn active<'c>(comparison: &'c Comparison, open: &[Interim]) -> Vec<&'c Cell> {
    let ladder = comparison.with_role(Role::Part).is_some();
    let wanted = |cell: &&Cell| {
        ladder
            || matches!(cell.role, Role::Baseline | Role::Control)
            || open
                .iter()
                .map(|open| &open.contrast)
                .any(|c| c.cell == cell.id || c.reference == cell.id)
    };
    comparison.cells.iter().filter(wanted).collect()
}

/// The next round count at which contrasts are looked at.
fn next_look(round: u32, cap: u32) -> u32 {
    LOOKS
        .iter()
        .copied()
        .find(|look| *look > round)
        .unwrap_or(cap)
        .min(cap)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(share: (Duration, Duration)) -> (f64, f64) {
        (share.0.as_secs_f64(), share.1.as_secs_f64())
    }

    #[test]
    fn ten_rounds_may_take_what_the_others_do_not_need_for_theirs() {
        let left = Duration::from_secs(60);
        assert_eq!(seconds(share_of(left, 5.0, 25.0, 0.0)), (10.0, 35.0));
        assert_eq!(
            seconds(share_of(left, 5.0, 45.0, 0.0)),
            (6.0, 30.0),
            "half of all at least"
        );
        assert_eq!(
            seconds(share_of(left, 5.0, 25.0, 20.0)),
            (30.0, 35.0),
            "building again would cost more"
        );
        assert_eq!(
            seconds(share_of(left, 5.0, 25.0, 40.0)),
            (35.0, 35.0),
            "the others have their first look"
        );
        assert_eq!(
            seconds(share_of(left, 5.0, 0.0, 0.0)),
            (60.0, 60.0),
            "the last"
        );
        assert_eq!(
            seconds(share_of(left, 30.0, 90.0, 0.0)),
            (15.0, 30.0),
            "too little for all: the first one gets its ten rounds"
        );
        assert_eq!(seconds(share_of(left, 0.0, 0.0, 0.0)), (60.0, 60.0));
        assert_eq!(seconds(share_of(Duration::ZERO, 1.0, 1.0, 1.0)), (0.0, 0.0));
        let forever = share_of(left, 1.0, f64::INFINITY, 1.0);
        assert_eq!(seconds(forever), (0.0, 30.0));
    }

    #[test]
    fn a_cell_is_slow_by_the_last_of_its_own_blocks() {
        let block = |cell: &str, each_ns: u64| Measurement {
            cell: CellId(cell.to_owned()),
            operations: 100,
            wall_ns: 100 * each_ns,
            ..Measurement::default()
        };
        let slow = |measured: &[Measurement]| is_slow(&CellId("c/a".to_owned()), measured);
        assert!(!slow(&[]), "nothing is known of it");
        assert!(slow(&[
            block("c/a", 5),
            block("c/a", 20_000),
            block("c/b", 5)
        ]));
        assert!(!slow(&[block("c/a", 20_000), block("c/a", 19_999)]));
    }

    #[test]
    fn latencies_are_taken_in_rounds_of_the_whole_session() {
        let rounds: Vec<u32> = (0..40).filter(|round| takes_latencies(*round)).collect();
        assert_eq!(rounds, [0, 2, 4, 6, 8, 10, 14, 18, 22, 26, 30, 34, 38]);
    }

    #[test]
    fn looks_come_after_ten_twenty_and_forty_rounds_or_at_the_cap() {
        let looks: Vec<u32> = [0, 9, 10, 19, 20, 39].map(|r| next_look(r, 40)).to_vec();
        assert_eq!(looks, [10, 10, 20, 20, 40, 40]);
        assert_eq!((next_look(0, 5), next_look(12, 15)), (5, 15));
    }

    #[test]
    fn what_is_to_come_is_off_as_much_as_what_was_measured() {
        let expected = Expected {
            round: 2.0,
            later: 100.0,
        };
        let left = expected.left(40.0, 1, 3);
        assert!((left - (60.0 + 1_000.0)).abs() < 1e-9, "{left}");
        // A part of a round says nothing yet, unless it took longer than the whole should.
        assert!((expected.left(0.5, 0, 3) - 106.0).abs() < 1e-9);
        assert!((expected.left(10.0, 0, 3) - 130.0).abs() < 1e-9);
    }
}
