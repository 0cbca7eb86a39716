//! A block: everything made ready, `go`, the operations, what they cost.

use crate::block::Window;
use crate::neighbours::Beside;
use crate::session::{Open, Session};
use crate::threads::Threads;
use crate::timing::{Operator, Steps, nanoseconds};
use crate::wire::Wire;
use crate::{DriverError, Result, phases, platform};
use std::time::Instant;
use stowplan_dataset::sequence::Sequence;
use stowplan_model::{CacheState, FromDriver, Measured, Operation, Run};
use stowplan_stores::Buffer;

pub(crate) fn run(
    session: &Session,
    run: &Run,
    open: &mut Open<'_>,
    wire: &mut Wire<'_>,
) -> Result<Measured> {
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
    let open_ns = nanoseconds(opening);
    let mut measured = match &mut steps[..] {
        [] => return Err(DriverError::invalid("the block has no thread")),
        [steps] => by_one(session, run, steps, &mut **open.session()?, wire)?,
        steps => by_several(session, run, steps, open, wire)?,
    };
    measured.outside.open_ns = open_ns;
    if session.resolved.kind.lies_elsewhere() {
        // Its server's, which nobody here sees.
        measured.syncs = None;
    }
    steps.iter().try_for_each(Steps::write_latencies)?;
    Ok(measured)
}

fn by_one(
    session: &Session,
    run: &Run,
    steps: &mut Steps<'_>,
    store: &mut (dyn stowplan_stores::Session + '_),
    wire: &mut Wire<'_>,
) -> Result<Measured> {
    let effective = store.effective_settings()?;
    let mut operator = Operator {
        session: store,
        workload: &run.workload,
        buffer: Buffer::with_capacity(capacity(run, steps))?,
    };
    if run.workload.operation == Operation::CreateTable {
        // The one that a new store has.
        operator.session.drop_table()?;
    }
    phases::before(&mut operator)?;
    if reads_warm(session, run) {
        operator.first_step(steps)?;
        platform::populate_mappings(&run.at.place);
    }
    let beside = Beside::of(run.workload.beside)?;
    wire.until_go(&FromDriver::Ready { effective })?;
    beside.begin();
    let lead_in_ns = operator.lead_in(steps)?;
    let mut next = || wire.until_go(&FromDriver::Part);
    let mut measured = operator.time(steps, run.counting, &mut next)?;
    drop(beside);
    measured.outside.lead_in_ns = lead_in_ns;
    Ok(measured)
}

fn by_several(
    session: &Session,
    run: &Run,
    steps: &mut [Steps<'_>],
    open: &mut Open<'_>,
    wire: &mut Wire<'_>,
) -> Result<Measured> {
    let effective = open.session()?.effective_settings()?;
    // What forgets on closing lives by it.
    if let Some(one) = open.session.take_if(|_| session.lasts()) {
        one.close()?;
    }
    if reads_warm(session, run) {
        platform::populate_mappings(&run.at.place);
    }
    let capacity = steps.iter().map(|steps| capacity(run, steps)).max();
    let threads = Threads {
        store: open.store,
        workload: &run.workload,
        windows: steps
            .iter()
            .map(|steps| steps.timed)
            .collect::<Vec<Window<'_>>>(),
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
/// just begun. A store that keeps
/// no values costs what it says; mapping its pages would spare it faults.
fn reads_warm(session: &Session, run: &Run) -> bool {
    let workload = &run.workload;
    let warm = workload.cache == CacheState::Warm && !workload.first_touch;
    let reads = warm && !workload.operation.writes();
    reads && !workload.changes_keys() && session.resolved.kind.keeps_values()
}
