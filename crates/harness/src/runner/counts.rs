//! Counting what an operation does, of cells that a ladder is about, or that read from storage.

use super::rounds::Sequences;
use super::{Event, Runner};
use crate::block_size::BlockSize;
use crate::counting::{self, calls_in};
use crate::job::{BlockTask, Job};
use crate::worker_process::WorkerCommand;
use crate::{HarnessError, Result, sequence};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stowplan_model::{
    BlockKind, Cell, CellId, Comparison, Measurement, Record, Role, STRACE_VARIABLE, Study,
};

/// A round that is none: its keys are no other round's.
const ROUND: u32 = u32::MAX - 1;

impl Runner<'_> {
    /// Counts what an operation of each cell does, where the study takes its cost apart or reads from storage.
    pub(super) fn explain(
        &mut self,
        comparison: &Comparison,
        sizes: &BTreeMap<CellId, BlockSize>,
    ) -> Result<()> {
        if !is_explained(&self.plan.study, comparison) {
            return Ok(());
        }
        let seed = sequence::seed(self.options.seed, &format!("{}/count", comparison.id), 0);
        let sequences = self.write_sequences(comparison, ROUND, sizes)?;
        let mut first = seed % self.count(&comparison.cells[0].dataset).max(1);
        let is_counted = |cell: &&Cell| {
            let is_one = cell.role != Role::Control && cell.workload.threads == 1;
            is_one && !self.skipped(cell) && !self.recorded.counted(cell) && !self.time_is_over()
        };
        let counted: Vec<&Cell> = comparison.cells.iter().filter(is_counted).collect();
        for (done, cell) in (0..).zip(&counted) {
            let Some(size) = sizes.get(&cell.id).copied() else {
                continue;
            };
            self.observer.event(Event::Preparing {
                what: &format!("counting system calls: {}", cell.label),
                done,
                total: counted.len() as u64,
            });
            let size = match cell.workload.changes_keys() {
                true => size,
                false => size.at_most(self.most_counted(cell)),
            };
            let block = self.counted(cell, &sequences, size, first);
            first += size.steps();
            self.note(cell, block)?;
        }
        Ok(())
    }

    /// Records what was counted. What cannot be is a warning: what was measured of the cell stands. A disk
    /// without room ends the run, which can go on later.
    fn note(&mut self, cell: &Cell, counted: Result<Measurement>) -> Result<()> {
        match counted {
            Ok(block) => self.record(Record::Measurement(block)),
            Err(_) if self.options.interrupt.raised() => Err(HarnessError::Interrupted),
            Err(error) if error.is_lack_of_room() => Err(error),
            Err(error) => self.remark(
                format!("What {} does could not be counted: {error}", cell.id),
                "Its times stand.",
            ),
        }
    }

    /// A block whose system calls are counted, as far as they can be.
    fn counted(
        &mut self,
        cell: &Cell,
        sequences: &Sequences,
        size: BlockSize,
        first: u64,
    ) -> Result<Measurement> {
        let task = self.task(cell, sequences, BlockKind::Counting, size, first);
        let job = self.pool.job(cell)?;
        let Some(strace) = self.strace()? else {
            return Ok(job.measure(&task)?.0);
        };
        let (counted, lost) = traced(&strace, &self.options.work, job, &task)?;
        if let Some(why) = lost {
            let message = format!("System calls of {} are not counted: {why}.", cell.id);
            self.remark(message, "Its times stand.")?;
        }
        Ok(counted)
    }

    /// What counts system calls; says once where there is no such thing.
    fn strace(&mut self) -> Result<Option<PathBuf>> {
        if let Some(known) = &self.strace {
            return Ok(known.clone());
        }
        let found = counting::find_strace();
        if let Err(why) = &found {
            self.remark(
                format!("System calls are not counted ({why})."),
                "Install strace; times and ladders do not need it.",
            )?;
        }
        Ok(self.strace.insert(found.ok()).clone())
    }

    fn most_counted(&self, cell: &Cell) -> u64 {
        let spec = self.plan.datasets.get(&cell.dataset);
        counting::most_operations(spec.map_or(0, |spec| spec.size.mean()))
    }
}

/// Has `strace` count the system calls of one block, whose times mean nothing; where they are not
/// there, why.
fn traced(
    strace: &Path,
    work: &Path,
    mut job: Job,
    task: &BlockTask,
) -> Result<(Measurement, Option<String>)> {
    let written = work.join("strace.txt");
    job.command = under_strace(strace, &written, &job.command);
    let (mut counted, _) = job.measure(task)?;
    let text = std::fs::read(&written).map_err(HarnessError::io("read", &written))?;
    std::fs::remove_file(&written).map_err(HarnessError::io("remove", &written))?;
    let calls = calls_in(&String::from_utf8_lossy(&text));
    let lost = calls.as_ref().err().map(ToString::to_string);
    counted.system_calls = calls.ok();
    Ok((counted, lost))
}

/// Puts `strace` around a worker, which writes what it sees to a file.
fn under_strace(strace: &Path, written: &Path, command: &WorkerCommand) -> WorkerCommand {
    let path = |path: &Path| path.display().to_string();
    let mark = format!("{STRACE_VARIABLE}=1");
    let (written, program) = (path(written), path(&command.program));
    let of_strace = [
        "-f", "-qq", "-s", "0", "-E", &mark, "-o", &written, "--", &program,
    ];
    let arguments = of_strace.into_iter().map(str::to_owned);
    WorkerCommand {
        program: strace.to_owned(),
        arguments: arguments.chain(command.arguments.iter().cloned()).collect(),
        ..command.clone()
    }
}

/// Whether a ladder of the study is about this comparison, or it reads from
/// storage.
fn is_explained(study: &Study, comparison: &Comparison) -> bool {
    let mut ladders = study.ladders.iter().map(|ladder| &ladder.comparison);
    let cold = |cell: &Cell| cell.workload.cache.is_cold();
    ladders.any(|id| *id == comparison.id) || comparison.cells.iter().any(cold)
}
