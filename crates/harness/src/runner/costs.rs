//! What measuring costs: of the harness, and of the loops of other drivers.

use super::{Event, Runner};
use crate::block_size::LEAD_IN;
use crate::drivers::Drivers;
use crate::interrupt::Interrupt;
use crate::job::{BlockTask, CellPaths, Job};
use crate::{HarnessError, Result, sequence};
use std::collections::BTreeSet;
use std::path::Path;
use stowplan_model::{BlockKind, CellId, DriverCost, HarnessCost, Record, StoreSpec, Workload};

impl Runner<'_> {
    /// The harness itself, through the whole worker path, with a store that does nothing; and what the
    /// loops of other drivers cost, each with such a store of its own: an interpreter's work is no
    /// store's.
    pub(super) fn measure_harness_cost(&mut self) -> Result<()> {
        let options = self.options;
        let drivers = &options.drivers;
        let hosts_null = |driver: &str| drivers.kinds(driver).is_ok_and(|k| k.contains_key("null"));
        let used = self.plan.cells().map(|cell| cell.driver.as_str());
        let used = used.filter(|driver| !driver.is_empty() && hosts_null(driver));
        let all: BTreeSet<String> = used.chain([""]).map(str::to_owned).collect();
        let mut unknown = Vec::new();
        for driver in all {
            if self.recorded.costs.contains(&driver) {
                continue;
            }
            match cost_of(
                &driver,
                (&options.drivers, &options.interrupt),
                &options.work,
                options.seed,
            ) {
                Ok(cost) if driver.is_empty() => {
                    self.observer.event(Event::HarnessCost(cost));
                    self.record(Record::HarnessCost(cost))?;
                }
                Ok(cost) => self.record(Record::DriverCost(DriverCost {
                    tool: drivers.tool(&driver)?,
                    driver,
                    cost,
                }))?,
                Err(error) if error.is_of_a_store() && !error.is_lack_of_room() => {
                    if options.interrupt.raised() {
                        return Err(HarnessError::Interrupted);
                    }
                    unknown.push(error.to_string());
                }
                Err(error) => return Err(error),
            }
        }
        // A worker that failed here need not fail with a store.
        match &unknown[..] {
            [] => Ok(()),
            errors => self.remark(
                format!("What a loop costs per operation is not known: {}.", errors.join("; ")),
                "Times stand without it; 'stowplan drivers check NAME' says what a driver does wrong, and \
                 'stowplan doctor' what the machine lacks.",
            ),
        }
    }
}

/// The cost of the harness per operation: the whole worker path with a store of a driver that does
/// nothing.
#[expect(clippy::cast_precision_loss, reason = "a time per operation")]
fn cost_of(
    driver: &str,
    (drivers, interrupt): (&Drivers, &Interrupt),
    work: &Path,
    seed: u64,
) -> Result<HarnessCost> {
    const BLOCKS: u32 = 5;
    const OPERATIONS: u64 = 100_000;
    let (workload, count) = (Workload::default(), OPERATIONS);
    let sequence = work.join("sequence.bin");
    sequence::write_steps(&sequence, count, &workload, count, seed, |_| 1)?;
    let null = StoreSpec {
        kind: "null".to_owned(),
        settings: Default::default(),
    };
    // In its defaults, as its cells are.
    let resolved = drivers.resolve(&null.of_driver(driver), None)?;
    let cell = CellId("harness/null".to_owned());
    let paths = CellPaths::brought_along(work);
    let by = (drivers.command_of(driver)?, interrupt);
    let job = Job {
        keeps_nothing: true,
        parts: false,
        persistent: true,
        ..Job::new(cell, &resolved, workload, paths, by)
    };
    let block = |block, round| {
        let task = BlockTask {
            round,
            ..BlockTask::new(block, &sequence, LEAD_IN, OPERATIONS - LEAD_IN)
        };
        let (block, _) = job.measure(&task)?;
        let time = block.corrected_ns().unwrap_or(block.wall_ns);
        Ok(time as f64 / block.operations.max(1) as f64)
    };
    let cost = |kind| -> Result<f64> {
        let blocks = (0..BLOCKS).map(|round| block(kind, round));
        let mut blocks = blocks.collect::<Result<Vec<f64>>>()?;
        blocks.sort_by(f64::total_cmp);
        Ok(blocks[blocks.len() / 2])
    };
    Ok(HarnessCost {
        ratio_ns: cost(BlockKind::Ratio)?,
        latency_ns: cost(BlockKind::Latency)?,
        blocks: BLOCKS,
        operations: OPERATIONS,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker_process::WorkerCommand;

    /// Why there is no cost of a driver, or of the program itself.
    fn refused(built_in: &str, toy: WorkerCommand, driver: &str) -> String {
        let interrupt = Interrupt::never();
        let mut drivers = Drivers::new(WorkerCommand::new(built_in, &[]), interrupt.clone());
        drivers.add("toy", toy);
        let work = tempfile::tempdir().unwrap();
        let cost = cost_of(driver, (&drivers, &interrupt), work.path(), 1);
        cost.unwrap_err().to_string()
    }

    #[test]
    fn a_worker_that_cannot_be_started_is_an_error_that_names_it() {
        let program = "/nowhere/worker";
        let error = refused(program, WorkerCommand::new(program, &[]), "");
        let named = format!("cannot start worker {program}");
        assert!(error.starts_with(&named), "{error}");
    }

    #[test]
    fn what_a_driver_costs_is_asked_of_its_null_in_its_defaults() {
        let work = tempfile::tempdir().unwrap();
        let heard = work.path().join("heard");
        let script = r#"
echo '{"hello":{"protocol":"stowplan-driver","version":4,"tool":""}}'
while read -r line; do
  echo "$line" >> "$0"
  case $line in
    *describe*) echo '{"described":{"kinds":[{"name":"null","about":"","settings":[{"name":"warm_up","kind":{"integer":{"min":0,"max":9}},"default":"7","help":""}]}]}}' ;;
    *) echo '{"failed":{"message":"enough"}}' ;;
  esac
done"#;
        let toy = WorkerCommand::new("/bin/sh", &["-c", script, heard.to_str().unwrap()]);
        let error = refused("/nowhere", toy, "toy");
        assert!(error.contains("enough"), "{error}");
        let heard = std::fs::read_to_string(heard).unwrap();
        let run = heard.lines().find(|line| line.contains(r#"{"run""#));
        let run = run.unwrap();
        assert!(run.contains(r#""store":"null:warm_up=7""#), "{run}");
    }
}
