//! The runner: prepares datasets and stores, runs rounds until every comparison is decided, and
//! appends each measurement to the result as it happens.
//!
//! It times nothing itself; every block runs in a worker process of its own.

mod builds;
mod checks;
mod clock;
mod costs;
mod counts;
mod event;
mod log;
mod machine;
mod pool;
mod prepare;
mod prices;
mod recorded;
mod repeat;
mod resumption;
mod rounds;
mod servers;
mod spoiled;

pub use crate::block_size::filling;
pub use event::{Event, Observer};
pub use pool::dataset_directory;
pub use repeat::{Repeated, Repetition, WriteSequence, repeat};
pub use resumption::Resumption;

pub(crate) use crate::block_size::BlockSize;
use crate::drivers::Drivers;
use crate::file_systems::FileSystems;
use crate::interrupt::Interrupt;
use crate::plan::{ROOT_ONLY, bytes_on, file_systems_of, left_out_cells, left_to_root, needs};
use crate::{HarnessError, Result};
use clock::{PhaseClock, REMOVAL, STORES};
use log::ResultLog;
use pool::Pool;
use recorded::Recorded;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};
use stowplan_analysis::{LOOKS, StoppingRule};
use stowplan_dataset::room;
use stowplan_model::{
    Cell, CellFailure, CellId, Comparison, Environment, Extension, FileSystemsRecord,
    PROTOCOL_VERSION, Plan, Record, Role, RunEnd, RunHeader, RunOutcome, SCHEMA_VERSION, Session,
    Warning, WarningKind,
};

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
    /// The drivers, which host the stores.
    pub drivers: Rc<Drivers>,
    /// Ctrl-C.
    pub interrupt: Interrupt,
    /// Whether datasets and built stores stay when no later comparison uses them.
    pub keep: bool,
}

/// Decides what is measured once a plan is done.
pub trait Extender {
    /// Decides what follows `plan`, of which everything was measured and recorded; nothing: the run is
    /// over.
    ///
    /// # Errors
    /// The result cannot be read, or what follows cannot be planned.
    fn extend(&mut self, plan: &Plan) -> Result<Option<Extension>>;

    /// How many comparisons may still follow: they get their share of a time budget.
    fn expected(&self) -> usize;
}

/// Nothing follows.
#[derive(Debug, Clone, Copy)]
pub struct AsPlanned;

impl Extender for AsPlanned {
    fn extend(&mut self, _: &Plan) -> Result<Option<Extension>> {
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
) -> Result<RunEnd> {
    Runner::start(plan, options, observer)?.finished(extender)
}

/// Goes on with a run that was broken off. Seed and rule of `options` must be those of the run.
///
/// # Errors
/// Those of [`run`].
pub fn resume(
    resumption: Resumption,
    options: &RunOptions,
    observer: &mut dyn Observer,
    extender: &mut dyn Extender,
) -> Result<RunEnd> {
    Runner::go_on(resumption, options, observer)?.finished(extender)
}

struct Runner<'a> {
    plan: Plan,
    /// Comparisons that may follow those of the plan.
    expected: usize,
    options: &'a RunOptions,
    observer: &'a mut dyn Observer,
    log: ResultLog,
    pool: Pool<'a>,
    /// The program `strace`, if there is one; nothing before it was looked for.
    strace: Option<Option<PathBuf>>,
    /// The records so far, those of earlier sessions of this run too.
    recorded: Recorded,
    /// Whether there is room for two builds of each store at a time.
    two_builds: bool,
    /// Memory that was free when the session began.
    memory_bytes: u64,
    /// When this session began.
    started: Instant,
    /// Comparisons whose time was over before they were decided.
    open: BTreeSet<String>,
    /// How long rounds take, over what was thought of them.
    rounds_pace: f64,
    /// How long the last ratio block of each cell took in this session, with all that is around it.
    took: BTreeMap<CellId, Duration>,
    /// Seconds that comparisons without an interval need, once the time is over.
    needs: Option<f64>,
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
    fn start(plan: &Plan, options: &'a RunOptions, observer: &'a mut dyn Observer) -> Result<Self> {
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
        let mut runner = Self::new(plan.clone(), options, observer, log, Recorded::default());
        let session = Record::Session(runner.session());
        runner.log.begin(&[&header, &session])?;
        runner.warn_of_machine(&environment)?;
        Ok(runner)
    }

    fn go_on(
        resumption: Resumption,
        options: &'a RunOptions,
        observer: &'a mut dyn Observer,
    ) -> Result<Self> {
        let plan = resumption.header.plan.clone();
        let environment = machine::examine(&plan, &options.drivers, &options.work);
        let Resumption {
            mut log,
            bytes,
            raised,
            recorded,
            ..
        } = resumption;
        let removed_bytes = log.repair(&bytes)?;
        drop(bytes);
        let mut runner = Self::new(plan, options, observer, log, recorded);
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
        recorded: Recorded,
    ) -> Self {
        let named = file_systems_of(&plan).into_iter();
        let named: Vec<_> = named
            .filter_map(|on| Some((on, plan.on.get(on)?)))
            .collect();
        Self {
            expected: 0,
            options,
            observer,
            log,
            pool: Pool::new(
                (&options.drivers, &options.interrupt, &options.work),
                FileSystems::named(named.into_iter()),
                recorded.builds,
            ),
            plan,
            strace: None,
            recorded,
            two_builds: false,
            memory_bytes: 0,
            started: Instant::now(),
            open: BTreeSet::new(),
            rounds_pace: 1.0,
            took: BTreeMap::new(),
            needs: None,
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

    /// Records what about the machine spoils a session that begins.
    fn warn_of_machine(&mut self, environment: &Environment) -> Result<()> {
        self.memory_bytes = environment.memory_available_bytes;
        machine::warnings(&self.plan, environment)
            .into_iter()
            .try_for_each(|warning| self.warn(warning))
    }

    /// Records which comparisons are not measured because they need root, and how many cells for want of what.
    fn warn_of_what_is_left_out(&mut self) -> Result<()> {
        let whole = left_to_root(&self.plan).into_iter().map(|spec| {
            let left = format!("Comparison {} is not measured: {ROOT_ONLY}.", spec.id);
            (left, "All others are.")
        });
        let cells = left_out_cells(&self.plan).into_iter();
        let cells = cells.map(|(reason, count)| {
            let cells = if count == 1 { "cell is" } else { "cells are" };
            let left = format!("{count} {cells} left out: {reason}.");
            (left, "All others are measured.")
        });
        let mut left = Vec::from_iter(whole.chain(cells)).into_iter();
        left.try_for_each(|(left, advice)| self.remark(left, advice))
    }

    fn finished(mut self, extender: &mut dyn Extender) -> Result<RunEnd> {
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
            needs: self.needs,
        };
        self.log.append(&Record::End(end.clone()))?;
        self.log.settle()?;
        Ok(end)
    }

    fn measure_with_servers(&mut self, extender: &mut dyn Extender) -> Result<RunOutcome> {
        self.options.drivers.hang_up();
        self.during(STORES, Self::make_file_systems)?;
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
    fn make_file_systems(&mut self) -> Result<()> {
        let (work, keep) = (&self.options.work, self.options.keep);
        let free = room::free_bytes(work).unwrap_or(0);
        let builds = 1 + u64::from(needs(&self.plan, keep).disk_bytes <= free);
        let wanted = file_systems_of(&self.plan).into_iter();
        let wanted = wanted.map(|on| (on, bytes_on(&self.plan, keep, builds, on)));
        let told = preparing(self.observer, "making file systems".to_owned());
        let made = &mut self.pool.file_systems;
        let interrupt = &self.options.interrupt;
        let on = made.make(&Vec::from_iter(wanted), work, interrupt, &mut { told })?;
        match on.is_empty() {
            true => Ok(()),
            false => self.record(Record::FileSystems(FileSystemsRecord { on })),
        }
    }

    fn measure_everything(&mut self, extender: &mut dyn Extender) -> Result<RunOutcome> {
        self.warn_of_what_is_left_out()?;
        self.measure_harness_cost()?;
        let mut index = 0;
        loop {
            self.expected = extender.expected();
            while let Some(comparison) = self.plan.comparisons.get(index).cloned() {
                match self.standing(&comparison).is_over() {
                    true => self.warn_of_missing_check(&comparison)?,
                    false => self.measure_in_time(&comparison, index)?,
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
            self.record(Record::Extension(more))?;
        }
    }

    /// Measures a comparison if the time suffices for more than what has to be built for it.
    fn measure_in_time(&mut self, comparison: &Comparison, index: usize) -> Result<()> {
        let builds = self.building_seconds(std::slice::from_ref(comparison));
        let fits = self.time_left().is_none_or(|left| left > builds);
        let ended = match fits {
            true => self.measure_comparison(comparison, index)?,
            false => Ended::Budget,
        };
        match ended {
            Ended::Decided => self.open.remove(&comparison.id),
            Ended::Budget => self.open.insert(comparison.id.clone()),
        };
        Ok(())
    }

    /// Spends the time that is left on what is not decided, those first that have no interval; says what the
    /// time did not suffice for.
    fn go_back_to_what_is_open(&mut self) -> Result<RunOutcome> {
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

    /// The comparison to go back to: undecided, not yet tried again, and likely to get as many rounds as it takes to
    /// be looked at once more.
    fn most_open(&self, tried: &BTreeSet<usize>) -> Option<usize> {
        let left = self.time_left()?;
        let comparisons = self.plan.comparisons.iter().enumerate();
        let fits = |comparison: &Comparison| {
            let round = self.known_round(&comparison.cells).as_secs_f64();
            round.max(self.seconds_of(std::slice::from_ref(comparison), LOOKS[0])) < left
        };
        let open = comparisons.filter(|(index, comparison)| {
            !tried.contains(index) && self.open.contains(&comparison.id) && fits(comparison)
        });
        let first = open.min_by_key(|(_, comparison)| self.standing(comparison).is_answered);
        first.map(|(index, _)| index)
    }

    /// Names the comparisons that have no interval, with the time that they need.
    fn warn_of_unanswered(&mut self) -> Result<()> {
        /// By how much estimates are short.
        const SLACK: f64 = 1.5;
        let unanswered = self.plan.comparisons.iter().filter(|comparison| {
            self.open.contains(&comparison.id) && !self.standing(comparison).is_answered
        });
        let unanswered = Vec::from_iter(unanswered.cloned());
        if unanswered.is_empty() {
            return Ok(());
        }
        let seconds = |some: &[Comparison]| self.seconds_of(some, LOOKS[0]);
        let needed = unanswered.iter().map(|comparison| {
            let seconds = seconds(std::slice::from_ref(comparison));
            format!("{} ({})", comparison.id, crate::plan::duration(seconds))
        });
        let needed = Vec::from_iter(needed).join(", ");
        let all = seconds(&unanswered) * SLACK;
        self.needs = Some(all);
        let all = crate::plan::duration(all);
        self.remark(
            format!("The time was over before these comparisons had an answer, for which they need about as long as is said: {needed}."),
            &format!("Go on with 'stowplan resume' and a --budget of about {all}."),
        )
    }

    /// Says that a check is lacking: what was built for a comparison is gone with the session that measured it.
    fn warn_of_missing_check(&mut self, comparison: &Comparison) -> Result<()> {
        let id = &comparison.id;
        let message = format!(
            "The run was broken off after the last round of comparison {id}, before what it wrote was checked and weighed."
        );
        match self.recorded.lacks_check(comparison) {
            true => self.remark(
                message,
                "Its times stand; for the check run it again (--only).",
            ),
            false => Ok(()),
        }
    }

    fn measure_comparison(&mut self, comparison: &Comparison, index: usize) -> Result<Ended> {
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
        self.during(REMOVAL, |runner| runner.release_unused(comparison, index))?;
        Ok(ended)
    }

    fn count(&self, dataset: &str) -> u64 {
        self.plan.datasets.get(dataset).map_or(0, |spec| spec.count)
    }

    fn skipped(&self, cell: &Cell) -> bool {
        self.recorded.failed.contains(&cell.id)
    }

    /// Notes a failed cell and goes on; what is no store's doing ends the run. (After the result
    /// could not be written to, a failure would be appended to half a line.)
    fn cell_failed(&mut self, cell: &Cell, error: HarnessError) -> Result<()> {
        if !error.is_of_a_store() {
            return Err(error);
        }
        // A worker that a signal to all took along is no failure of its cell.
        if self.options.interrupt.raised() {
            return Err(HarnessError::Interrupted);
        }
        // Whoever writes next meets it as well. Once there is room, the run can go on.
        if error.is_lack_of_room() {
            let root = self.pool.root(cell).unwrap_or(&self.options.work);
            return Err(HarnessError::NoRoom {
                path: root.to_owned(),
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
        self.record(Record::Failure(failure))?;
        // Nobody knows what a failed writer left behind; others may share the built store.
        let both = cell.on_both().into_iter();
        for on in both.filter(|on| on.workload.writes()) {
            if self.pool.forget(&on)? {
                self.prepare_again(&on)?;
            }
        }
        Ok(())
    }

    fn warn(&mut self, warning: Warning) -> Result<()> {
        self.observer.event(Event::Warning(&warning));
        self.record(Record::Warning(warning))
    }

    /// Writes a record to the result, and takes note of it as a session does that goes on.
    fn record(&mut self, record: Record) -> Result<()> {
        self.log.append(&record)?;
        self.recorded.note(record, &self.plan);
        Ok(())
    }

    fn record_all(&mut self, records: impl IntoIterator<Item = Record>) -> Result<()> {
        let mut records = records.into_iter();
        records.try_for_each(|record| self.record(record))
    }

    /// Warns of what has no kind of its own.
    fn remark(&mut self, message: String, advice: &str) -> Result<()> {
        self.warn(Warning {
            kind: WarningKind::Other,
            message,
            advice: advice.to_owned(),
        })
    }
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
