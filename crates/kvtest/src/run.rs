//! `run`: the blobs of a database or a directory, read or overwritten in rounds, each in a worker
//! process of its own.

use crate::KvtestError;
use crate::inspect;
use crate::visits::{Cursor, Keys, VisitWriter, Visits};
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::runner::{Repeated, Repetition, filling, repeat};
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_model::{CacheState, Cell, CellId, PayloadSource, Role, Scanned, StoreSpec, Workload};
use stowplan_stores::registry;

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
) -> Result<Repeated, KvtestError> {
    let cell = task.cell()?;
    // Where the next block goes on (R3).
    let mut cursor = Cursor::default();
    let mut write_sequence = |path: &Path, lead_in, operations| {
        let to = VisitWriter {
            path,
            keys,
            action: task.workload.pattern()[0],
            interrupt,
        };
        cursor = task.visits.write(&to, cursor, lead_in, operations)?;
        Ok(())
    };
    let repetition = Repetition {
        cell: &cell,
        instance: &task.place,
        lead_in: task.lead_in(keys),
        operations: task.visits.count,
        payloads: task.payloads,
        latency: task.latency,
        rounds: task.rounds,
        budget: task.budget,
        work: &task.work,
    };
    Ok(repeat(
        &repetition,
        &mut write_sequence,
        workers,
        interrupt,
        progress,
    )?)
}

/// Has SQLite undo what an interrupted write left in the journal of a database, as kvtest does
/// whenever it opens one: a connection that may write rolls it back when it reads.
///
/// # Errors
/// It is no database, or may not be written.
pub fn recover(database: &Path) -> Result<(), KvtestError> {
    // The mode that the file remembers; opening with another would change it.
    let mode = if inspect::writes_ahead(database)? {
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
    pub fn check(&self, keys: &Keys) -> Result<(), KvtestError> {
        self.visits.require_room(&self.work, self.lead_in(keys))
    }

    /// The one cell there is.
    fn cell(&self) -> Result<Cell, KvtestError> {
        let resolved = registry::resolve(&self.store, 0)?;
        Ok(Cell {
            id: CellId("run".to_owned()),
            key: "run".to_owned(),
            label: self.store.to_string(),
            role: Role::Baseline,
            store: self.store.clone(),
            driver: String::new(),
            settings: resolved.settings,
            capabilities: resolved.capabilities,
            workload: self.workload.clone(),
            scanned: Scanned::No,
            dataset: String::new(),
            on: String::new(),
            published_seconds: None,
            instance: String::new(),
        })
    }

    /// Operations before those of a block: before reads from the page cache, as many as fill the
    /// store's own cache; a lead-in of writes would change more blobs than were asked for.
    fn lead_in(&self, keys: &Keys) -> u64 {
        if self.workload.cache != CacheState::Warm || self.workload.operation.writes() {
            return 0;
        }
        let cache = self.store.settings.get("cache");
        let cache_bytes = cache.and_then(|bytes| bytes.parse().ok()).unwrap_or(0);
        filling(cache_bytes).min(keys.visited())
    }
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
        assert!(!inspect::writes_ahead(&path).unwrap());
        file.write_all_at(&[2], 19).unwrap();
        recover(&path).unwrap();
        assert!(inspect::writes_ahead(&path).unwrap());
    }
}
