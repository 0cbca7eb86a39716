//! One cell in rounds, on data that someone brought along: blocks as in any run, and nothing that is
//! built, read back, compared or recorded.

use super::spoiled::{ATTEMPTS, attempt};
use crate::drivers::Drivers;
use crate::interrupt::Interrupt;
use crate::job::{BlockTask, CellPaths, Job};
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, Result, page_cache};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stowplan_model::{
    BlockKind, CacheState, Cell, Measurement, PayloadSource, Settings, Warning, WarningKind,
};

/// Rounds of one cell alone in which latency blocks are taken besides.
const LATENCY_ROUNDS: u32 = 3;

/// What is measured, and how often.
#[derive(Debug)]
pub struct Repetition<'a> {
    /// The cell.
    pub cell: &'a Cell,
    /// The file or the directory with its data.
    pub instance: &'a Path,
    /// Operations before those that are timed.
    pub lead_in: u64,
    /// Operations of a block.
    pub operations: u64,
    /// Where the bytes come from that are written.
    pub payloads: PayloadSource,
    /// Whether operations are also timed singly, in the first rounds.
    pub latency: bool,
    /// Rounds, at least 1.
    pub rounds: u32,
    /// No round begins after this.
    pub budget: Option<Duration>,
    /// A directory for what lies beside the data, which exists and is ours.
    pub work: &'a Path,
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct Repeated {
    /// The cell: its store with every setting, and what it can do.
    pub cell: Cell,
    /// The blocks.
    pub measurements: Vec<Measurement>,
    /// Settings as the engine reported them.
    pub effective: Settings,
    /// What spoils or qualifies the figures.
    pub warnings: Vec<Warning>,
    /// Whether Ctrl-C ended it; what was measured before counts.
    pub interrupted: bool,
}

/// Writes a sequence of so many operations of lead-in, and so many behind them, to a file; called
/// for each block that does not visit what the one before it visited.
pub type WriteSequence<'a> = dyn FnMut(&Path, u64, u64) -> Result<()> + 'a;

/// Measures the rounds. `progress` gets the rounds that are done and all.
///
/// # Errors
/// The store, its settings or the file system refuse. After the first round, Ctrl-C is no error.
pub fn repeat(
    what: &Repetition<'_>,
    write_sequence: &mut WriteSequence<'_>,
    workers: &WorkerCommand,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Repeated> {
    let drivers = Drivers::new(workers.clone(), interrupt.clone());
    drivers.kind(&what.cell.store)?;
    drivers.hang_up();
    let paths = CellPaths::brought_along(what.instance);
    let job = Job::of(what.cell, paths, &drivers, interrupt)?;
    let mut found = Repeated {
        cell: what.cell.clone(),
        measurements: Vec::new(),
        effective: Settings::default(),
        warnings: Vec::new(),
        interrupted: false,
    };
    let mut begun = 0;
    let mut block = |kind: BlockKind, round: u32| -> Result<()> {
        let sequence = what.work.join("sequence.bin");
        // Percentiles stand beside the time, so they are of the same visits; but as found, the page cache would
        // hold what the first of both read from storage.
        let visits_again =
            kind == BlockKind::Latency && what.cell.workload.cache != CacheState::AsFound;
        // Another attempt is of the same visits.
        let measure = |attempts| {
            if attempts == 0 && !visits_again {
                // There is room for one list, not for the last one beside the next.
                let _ = std::fs::remove_file(&sequence);
                write_sequence(&sequence, what.lead_in, what.operations)?;
            }
            begun += 1;
            job.measure(&BlockTask {
                version: version(begun),
                payloads: what.payloads,
                round,
                ..BlockTask::new(kind, &sequence, what.lead_in, what.operations)
            })
        };
        let attempted = attempt(what.cell, measure, || warm(what.instance))?;
        if attempted.read_from_storage {
            found.warnings.push(Warning {
                kind: WarningKind::Repeated,
                message: format!(
                    "Round {} read from storage {ATTEMPTS} times in a row, so it is not one of reads from the page cache.",
                    round + 1
                ),
                advice: "Free some memory, or measure with --cache-state as-found or cold.".to_owned(),
            });
        }
        found.effective = attempted.effective;
        found.measurements.push(attempted.measurement);
        Ok(())
    };
    if what.cell.workload.cache == CacheState::Warm {
        warm(what.instance)?;
    }
    let began = Instant::now();
    let is_late = || what.budget.is_some_and(|budget| began.elapsed() >= budget);
    for round in 0..what.rounds {
        if round > 0 && is_late() {
            break;
        }
        let latencies = what.latency && round < LATENCY_ROUNDS;
        let kinds = [BlockKind::Ratio, BlockKind::Latency].into_iter();
        let mut kinds = kinds.take(1 + usize::from(latencies));
        match kinds.try_for_each(|kind| block(kind, round)) {
            Ok(()) => progress(round + 1, what.rounds),
            Err(HarnessError::Interrupted) if round > 0 => {
                found.interrupted = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(found)
}

fn warm(instance: &Path) -> Result<()> {
    page_cache::warm(&[instance]).map(|_| ())
}

/// A version that no block before wrote: an overwrite by the same bytes would be none.
#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn version(block: u32) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = now.unwrap_or_default().as_millis() as u32;
    milliseconds.wrapping_add(block) | 1
}
