//! A block: everything made ready, `go`, the operations, what they cost.

use crate::accounting::Accounting;
use crate::neighbours::Beside;
use crate::threads::Threads;
use crate::timing::{Around, Operator, Readings, Steps, together};
use crate::wire::Wire;
use crate::{DriverError, Result, phases, platform};
use std::time::Instant;
use stowplan_dataset::sequence::Sequence;
use stowplan_model::{CacheState, FromDriver, Measured, NeighbourKind, Operation, Run};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Buffer, Session, Store};

/// The store of a session, which is open.
pub(crate) struct Open<'s> {
    pub(crate) store: &'s dyn Store,
    pub(crate) resolved: &'s Resolved,
    pub(crate) session: Option<Box<dyn Session + 's>>,
}

impl<'s> Open<'s> {
    /// One of this thread, opened when it is first needed.
    pub(crate) fn session(&mut self) -> Result<&mut Box<dyn Session + 's>> {
        let session = &mut self.session;
        Ok(match session {
            Some(session) => session,
            None => session.insert(self.store.connect()?),
        })
    }

    /// Whether the data is there once the store is closed.
    pub(crate) fn lasts(&self) -> bool {
        self.resolved.capabilities.persistent
    }
}

pub(crate) fn run(run: &Run, open: &mut Open<'_>, wire: &mut Wire<'_>) -> Result<Measured> {
    let sequences = run
        .threads
        .iter()
        .map(|share| Sequence::open(&share.sequence));
    let sequences = sequences.collect::<Result<Vec<_>, _>>()?;
    let shares = sequences.iter().enumerate();
    let mut steps = shares
        .map(|(number, sequence)| Steps::of(run, number, sequence))
        .collect::<Result<Vec<_>, _>>()?;
    let opening = Instant::now();
    open.session()?;
    let open_ns = platform::elapsed_ns(opening);
    let mut measured = match &mut steps[..] {
        [] => return Err(DriverError::invalid("the block has no thread")),
        [steps] => by_one(open.resolved, run, steps, &mut **open.session()?, wire)?,
        steps => by_several(run, steps, open, wire)?,
    };
    measured.outside.open_ns = open_ns;
    if open.resolved.kind.lies_elsewhere() {
        // Its server's, which nobody here sees.
        measured.syncs = None;
    }
    steps.iter().try_for_each(Steps::write_latencies)?;
    Ok(measured)
}

fn by_one(
    resolved: &Resolved,
    run: &Run,
    steps: &mut Steps<'_>,
    session: &mut (dyn Session + '_),
    wire: &mut Wire<'_>,
) -> Result<Measured> {
    let effective = session.effective_settings()?;
    let mut operator = Operator {
        session,
        workload: &run.workload,
        buffer: Buffer::with_capacity(capacity(run, steps))?,
    };
    if run.workload.operation == Operation::CreateTable {
        // The one that a new store has.
        operator.session.drop_table()?;
    }
    phases::before(&mut operator)?;
    if reads_warm(resolved, run) {
        operator.first_step(steps)?;
        platform::populate_mappings(&run.at.place);
    }
    let neighbours = run.workload.beside;
    let beside = Beside::of(neighbours)?;
    wire.until_go(&FromDriver::Ready { effective })?;
    beside.begin();
    let lead_in_ns = operator.lead_in(steps)?;
    let accounting = match neighbours.map(|neighbours| neighbours.kind) {
        Some(NeighbourKind::Threads) => Accounting::of_this_thread_alone(),
        Some(NeighbourKind::Processes) | None => Accounting::of_this_thread(),
    };
    let readings = Readings::of(accounting, run.counting);
    let mut alone = Alone { readings, wire };
    let timed = operator.time(steps, steps.parts.len(), None, &mut alone)?;
    let mut measured = together(run, &[steps.timed], alone.readings.total(), &[timed])?;
    drop(beside);
    measured.outside.lead_in_ns = lead_in_ns;
    Ok(measured)
}

/// The only thread of a block: it reads what belongs to the process, and asks for the values of further parts.
struct Alone<'w, 'i> {
    readings: Readings,
    wire: &'w mut Wire<'i>,
}

impl Around for Alone<'_, '_> {
    fn begin(&mut self, part: usize) -> Result<()> {
        if part > 0 {
            self.wire.until_go(&FromDriver::Part)?;
        }
        self.readings.begin();
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        self.readings.end();
        Ok(())
    }
}

fn by_several(
    run: &Run,
    steps: &mut [Steps<'_>],
    open: &mut Open<'_>,
    wire: &mut Wire<'_>,
) -> Result<Measured> {
    let effective = open.session()?.effective_settings()?;
    // What forgets on closing lives by it.
    let lasts = open.lasts();
    if let Some(one) = open.session.take_if(|_| lasts) {
        one.close()?;
    }
    if reads_warm(open.resolved, run) {
        platform::populate_mappings(&run.at.place);
    }
    let capacity = steps.iter().map(|steps| capacity(run, steps)).max();
    let threads = Threads {
        store: open.store,
        run,
        capacity: capacity.unwrap_or(0),
    };
    threads.run(steps, &mut |first| match first {
        true => wire.until_go(&FromDriver::Ready {
            effective: effective.clone(),
        }),
        false => wire.until_go(&FromDriver::Part),
    })
}

/// Bytes of the largest value that may arrive: scans also visit others than the steps say.
fn capacity(run: &Run, steps: &Steps<'_>) -> usize {
    let largest = usize::try_from(run.largest).unwrap_or(usize::MAX);
    steps.largest().max(largest)
}

/// Whether page tables shall be in the state of a process that has run for a while, unless the study asks for one that has
/// just begun. A store that keeps no values costs what it says; mapping its pages would spare it faults.
fn reads_warm(resolved: &Resolved, run: &Run) -> bool {
    let workload = &run.workload;
    let warm = workload.cache == CacheState::Warm && !workload.first_touch;
    let reads = warm && !workload.operation.writes();
    reads && !workload.changes_keys() && resolved.kind.keeps_values()
}
