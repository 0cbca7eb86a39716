//! `run`: the blobs of a database or a directory, read or overwritten in rounds, each in a worker
//! process of its own.

use crate::visits::{Course, Keys, Visits, Writing};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::runner::{BlockSize, Blocks, Place, Spoiled, Spot, filling, spoiled};
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_harness::{HarnessError, page_cache};
use stowplan_model::{
    BlockKind, CacheState, Cell, CellId, Measurement, PayloadSource, Role, Settings, StoreSpec,
    Warning, WarningKind, Workload,
};
use stowplan_stores::{inspect, registry};

/// Rounds in which operations are timed singly as well.
const LATENCY_ROUNDS: u32 = 3;
/// Attempts at a warm block that did not measure what it should.
const ATTEMPTS: u32 = 4;

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Task {
    /// The database or the directory.
    pub place: PathBuf,
    /// How it is opened.
    pub store: StoreSpec,
    /// What is done.
    pub workload: Workload,
    /// Which keys are visited.
    pub visits: Visits,
    /// Rounds, at least 1.
    pub rounds: u32,
    /// No round begins after this.
    pub budget: Option<Duration>,
    /// Where the bytes come from that are written.
    pub payloads: PayloadSource,
    /// Whether operations are also timed singly.
    pub latency: bool,
    /// A directory for the operation sequences, which exists and is ours.
    pub work: PathBuf,
}

/// What was measured.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The blocks.
    pub measurements: Vec<Measurement>,
    /// Settings as the engine reported them.
    pub effective: Settings,
    /// The cell that was run: the store with every setting, and what it can do.
    pub cell: Cell,
    /// What spoils or qualifies the figures.
    pub warnings: Vec<Warning>,
    /// Whether Ctrl-C ended it; what was measured before counts.
    pub interrupted: bool,
}

/// Runs the rounds. `progress` gets the rounds that are done and all.
///
/// # Errors
/// The store, its settings or the file system refuse; nothing was measured then. After the first
/// round, Ctrl-C is no error.
pub fn run(
    task: &Task,
    keys: &Keys,
    workers: &WorkerCommand,
    interrupt: &Interrupt,
    progress: &mut dyn FnMut(u32, u32),
) -> Result<Outcome, HarnessError> {
    let mut rounds = Rounds {
        task,
        keys,
        blocks: Blocks::new(workers, interrupt, &task.work),
        place: Place {
            instance: task.place.clone(),
            dataset: None,
            versions: None,
        },
        size: task.block_size(keys),
        course: Course::default(),
        begun: 0,
        interrupt,
        outcome: Outcome {
            measurements: Vec::new(),
            effective: Settings::default(),
            cell: task.cell()?,
            warnings: Vec::new(),
            interrupted: false,
        },
    };
    let began = Instant::now();
    for round in 0..task.rounds {
        if round > 0 && task.budget.is_some_and(|budget| began.elapsed() >= budget) {
            break;
        }
        match rounds.round(round) {
            Ok(()) => progress(round + 1, task.rounds),
            Err(HarnessError::Interrupted) if round > 0 => {
                rounds.outcome.interrupted = true;
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(rounds.outcome)
}

/// Has SQLite undo what an interrupted write left in the journal of a database, as kvtest does
/// whenever it opens one: a connection that may write rolls it back when it reads.
///
/// # Errors
/// It is no database, or may not be written.
pub fn recover(database: &Path) -> Result<(), HarnessError> {
    // The mode that the file remembers; opening with another would change it.
    let mode = if inspect::is_write_ahead(database)? {
        "wal"
    } else {
        "delete"
    };
    let mut spec = StoreSpec {
        kind: "sqlite".to_owned(),
        settings: Default::default(),
    };
    spec.settings.insert("journal".to_owned(), mode.to_owned());
    let resolved = registry::resolve(&spec, 0)?;
    // Opening looks for the table.
    let store = resolved.kind.open(database, &resolved.settings)?;
    store.connect()?.close()?;
    Ok(())
}

impl Task {
    /// Refuses before anything is done what cannot be done for want of room.
    ///
    /// # Errors
    /// The list of visits does not fit into the work directory.
    pub fn check(&self, keys: &Keys) -> Result<(), HarnessError> {
        let lead_in = self.block_size(keys).lead_in;
        self.visits.require_room(&self.work, lead_in)
    }

    /// The one cell there is.
    fn cell(&self) -> Result<Cell, HarnessError> {
        let resolved = registry::resolve(&self.store, 0)?;
        Ok(Cell {
            id: CellId("run".to_owned()),
            key: "run".to_owned(),
            label: self.store.to_string(),
            role: Role::Baseline,
            store: self.store.clone(),
            settings: resolved.settings,
            capabilities: resolved.capabilities,
            workload: self.workload.clone(),
            dataset: String::new(),
            published_seconds: None,
            instance: String::new(),
        })
    }

    /// All operations in one block. Before reads from the page cache, a lead-in that fills the
    /// store's own cache; a lead-in of writes would change more blobs than were asked for.
    fn block_size(&self, keys: &Keys) -> BlockSize {
        let warm = self.workload.cache == CacheState::Warm && !self.workload.operation.writes();
        let cache = self.store.settings.get("cache");
        let cache_bytes = cache.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        let lead_in = if warm {
            filling(cache_bytes).min(keys.visited())
        } else {
            0
        };
        BlockSize::exactly(lead_in, self.visits.count)
    }
}

struct Rounds<'a> {
    task: &'a Task,
    keys: &'a Keys,
    blocks: Blocks<'a>,
    place: Place,
    size: BlockSize,
    /// Where the next block goes on (R3).
    course: Course,
    /// Blocks that were begun.
    begun: u64,
    interrupt: &'a Interrupt,
    outcome: Outcome,
}

impl Rounds<'_> {
    fn round(&mut self, round: u32) -> Result<(), HarnessError> {
        if round == 0 && self.task.workload.cache == CacheState::Warm {
            self.warm()?;
        }
        self.block(BlockKind::Ratio, round)?;
        if self.task.latency && round < LATENCY_ROUNDS {
            self.block(BlockKind::Latency, round)?;
        }
        Ok(())
    }

    /// One block; again if it should have been warm and was not, or the machine was taken away.
    fn block(&mut self, kind: BlockKind, round: u32) -> Result<(), HarnessError> {
        let mut size = self.size;
        if kind == BlockKind::Latency && self.task.workload.operation.writes() {
            size = size.for_latency();
        }
        for repeats in 0..ATTEMPTS {
            let sequence = self.write_visits(size)?;
            self.begun += 1;
            let spot = Spot {
                sequence: &sequence,
                first: 0,
                version: version(self.begun),
                payloads: self.task.payloads,
                round,
                position: 0,
            };
            let cell = &self.outcome.cell;
            let (mut measured, effective) =
                self.blocks.measure(cell, &self.place, size, kind, &spot)?;
            measured.repeats = repeats;
            let verdict = spoiled(cell, &measured);
            let last = repeats + 1 == ATTEMPTS;
            if verdict.is_none() || last {
                if let Some(Spoiled::ReadFromStorage) = verdict {
                    self.warn_of_storage(round);
                }
                self.outcome.effective = effective;
                self.outcome.measurements.push(measured);
                return Ok(());
            }
            if let Some(Spoiled::ReadFromStorage) = verdict {
                self.warm()?;
            }
        }
        Ok(())
    }

    /// The visits of the next block: fresh keys for each (R3).
    fn write_visits(&mut self, size: BlockSize) -> Result<PathBuf, HarnessError> {
        let path = self.task.work.join("sequence.bin");
        // There is room for one list, not for the last one beside the next.
        let _ = std::fs::remove_file(&path);
        let to = Writing {
            path: &path,
            keys: self.keys,
            action: self.task.workload.pattern()[0],
            interrupt: self.interrupt,
        };
        let visits = &self.task.visits;
        self.course = visits.write(&to, self.course, size.lead_in, size.operations)?;
        Ok(path)
    }

    fn warm(&self) -> Result<(), HarnessError> {
        page_cache::warm(&[&self.place.instance]).map(|_| ())
    }

    fn warn_of_storage(&mut self, round: u32) {
        self.outcome.warnings.push(Warning {
            kind: WarningKind::Repeated,
            message: format!(
                "Round {} read from storage {ATTEMPTS} times in a row, so it is not one of reads from the page cache.",
                round + 1
            ),
            advice: "Free some memory, or measure with --cache-state as-found or cold.".to_owned(),
        });
    }
}

/// A version that no block before wrote: an overwrite by the same bytes would be none.
#[expect(clippy::cast_possible_truncation, reason = "any number will do")]
fn version(block: u64) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let milliseconds = now.unwrap_or_default().as_millis() as u32;
    (milliseconds.wrapping_add(block as u32)) | 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    /// The version by which a database is read, and not that by which it is written, says whether
    /// there is a log (<https://sqlite.org/fileformat2.html>, section 1.3.3).
    #[test]
    fn undoing_what_was_interrupted_leaves_the_journal_mode_as_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.db");
        let database = rusqlite::Connection::open(&path).unwrap();
        database
            .execute_batch("CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB)")
            .unwrap();
        database.close().unwrap();
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.write_all_at(&[2], 18).unwrap();
        recover(&path).unwrap();
        assert!(!inspect::is_write_ahead(&path).unwrap());
        file.write_all_at(&[2], 19).unwrap();
        recover(&path).unwrap();
        assert!(inspect::is_write_ahead(&path).unwrap());
    }
}
