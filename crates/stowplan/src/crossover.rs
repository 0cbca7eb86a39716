//! `stowplan crossover`: at which size of values the order of two stores changes.

use crate::cli::{CacheStateArgument, DurabilityArgument, MeasureOptions};
use crate::error::{CliError, Exit};
use crate::study::carry_out;
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use stowplan_analysis::{RefineLimits, SweepOutcome, Verdict, analyse, refine, sweep};
use stowplan_harness::HarnessError;
use stowplan_harness::crossover::{Question, Spot};
use stowplan_harness::plan::PlanOptions;
use stowplan_harness::runner::Steer;
use stowplan_model::{
    AccessOrder, Extension, Operation, PerTransaction, Plan, Role, StoreSpec, WorkloadSpec,
    parse_size, read_records,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  stowplan crossover                    SQLite or a file each, read, values of 1 KiB to 1 MiB
  stowplan crossover sqlite files --page-size 4096 --page-size 16384
                                        the same, with two page sizes of the database
  stowplan crossover sqlite:api=blob,mmap=1GiB files:layout=tree --to 8MiB
                                        any two stores, any range
  stowplan crossover sqlite:journal=off,synchronous=off files:write=in-place \\
      --operation overwrite --budget 5m
                                        overwrites, with equal promises

What is found is a zone, not a number: docs/method.md, \"Crossover\".";

/// Memory that each store may use for caching, as in studies.
const MEMORY_BUDGET: u64 = 4 << 20;
/// How often sizes are added where the order changes.
const PASSES: u32 = 2;
/// Comparisons that a pass adds to a sweep, about.
const ADDED: usize = 6;

/// Options of `crossover`.
#[derive(Debug, Args)]
pub(crate) struct CrossoverOptions {
    /// Store A, the baseline: see 'stowplan stores'.
    #[arg(value_name = "A", default_value = "sqlite")]
    a: String,
    /// Store B.
    #[arg(value_name = "B", default_value = "files")]
    b: String,
    /// The smallest size.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1KiB")]
    from: u64,
    /// The largest size.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "1MiB")]
    to: u64,
    /// Page size of the databases among the stores; may be repeated, and each is a sweep of its own.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    page_size: Vec<u64>,
    /// What is done.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "read")]
    operation: OperationArgument,
    /// In which order keys are visited.
    #[arg(long, value_enum, value_name = "ORDER", default_value = "random")]
    order: OrderArgument,
    /// Operations that share a transaction: a number, or 'all' of a block.
    #[arg(long, value_name = "N|all", value_parser = per_transaction, default_value = "all")]
    per_transaction: PerTransaction,
    /// The state of the page cache.
    #[arg(long, value_enum, value_name = "STATE", default_value = "warm")]
    cache_state: CacheStateArgument,
    /// Refuse stores whose writes promise less than this.
    #[arg(long, value_enum, value_name = "CLASS")]
    durability: Option<DurabilityArgument>,
    /// Compare writes although the stores do not promise the same.
    #[arg(long)]
    unlike_promises: bool,
    /// Bytes of values at each size.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "100MB")]
    bytes: u64,
    /// How to measure.
    #[command(flatten)]
    measure: MeasureOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OperationArgument {
    /// Read one value whole.
    Read,
    /// Replace one value by another of its size.
    Overwrite,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OrderArgument {
    /// A random permutation of all keys.
    Random,
    /// By rising key.
    Ascending,
    /// By falling key.
    Descending,
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| error.to_string())
}

fn per_transaction(text: &str) -> Result<PerTransaction, String> {
    match text {
        "all" => Ok(PerTransaction::All),
        number => match number.parse() {
            Ok(0) | Err(_) => Err("it is a number from 1 on, or 'all'".to_owned()),
            Ok(n) => Ok(PerTransaction::Operations(n)),
        },
    }
}

/// Finds where the order of two stores changes.
pub(crate) fn crossover(options: &CrossoverOptions) -> Result<Exit, CliError> {
    let sizes = sweep(options.from, options.to)
        .map_err(|error| CliError::Usage(format!("--from and --to: {error}")))?;
    let question = question(options)?;
    let plan = question.plan(&sizes)?;
    check_memory(options)?;
    check_pairs(&plan, options)?;
    carry_out(&plan, &options.measure, |result| Refining {
        question: &question,
        result: result.to_owned(),
        passes: PASSES,
        repeated: BTreeSet::new(),
    })
}

fn question(options: &CrossoverOptions) -> Result<Question, CliError> {
    let spec = |text: &str| {
        text.parse::<StoreSpec>()
            .map_err(|error| CliError::Usage(error.to_string()))
    };
    let pages: BTreeSet<u64> = options.page_size.iter().copied().collect();
    Ok(Question {
        a: spec(&options.a)?,
        b: spec(&options.b)?,
        page_sizes: pages.into_iter().collect(),
        workload: workload(options),
        bytes: options.bytes,
        memory_budget: MEMORY_BUDGET,
        options: PlanOptions {
            durability: options.durability.map(Into::into),
            rounds: options.measure.rounds,
            ..PlanOptions::default()
        },
    })
}

fn workload(options: &CrossoverOptions) -> WorkloadSpec {
    WorkloadSpec {
        operation: Some(match options.operation {
            OperationArgument::Read => Operation::Read,
            OperationArgument::Overwrite => Operation::Overwrite,
        }),
        order: Some(match options.order {
            OrderArgument::Random => AccessOrder::Random,
            OrderArgument::Ascending => AccessOrder::Ascending,
            OrderArgument::Descending => AccessOrder::Descending,
        }),
        per_transaction: Some(options.per_transaction),
        cache: Some(options.cache_state.into()),
        ..WorkloadSpec::default()
    }
}

/// A value passes through memory whole, in the worker and in the engine.
fn check_memory(options: &CrossoverOptions) -> Result<(), CliError> {
    let machine = stowplan_harness::environment::examine(Path::new("."));
    let available = machine.memory_available_bytes;
    if options.to > available / 4 {
        return Err(CliError::Usage(format!(
            "--to {}: values of that size do not fit several times into the memory that is free ({available} bytes); choose a smaller range",
            options.to
        )));
    }
    Ok(())
}

/// Both stores can do it at each size, and promise the same.
fn check_pairs(plan: &Plan, options: &CrossoverOptions) -> Result<(), CliError> {
    for comparison in &plan.comparisons {
        if let Some(reason) = comparison.not_applicable.values().next() {
            return Err(CliError::Usage(reason.clone()));
        }
        let promise = |role| {
            let cell = comparison.with_role(role);
            cell.map(|cell| cell.capabilities.durability)
        };
        let (a, b) = (promise(Role::Baseline), promise(Role::Candidate));
        let writes = matches!(options.operation, OperationArgument::Overwrite);
        if let (Some(a), Some(b)) = (a, b)
            && writes
            && a != b
            && !options.unlike_promises
        {
            return Err(CliError::Usage(format!(
                "{} promises '{a}' for what it wrote and {} '{b}', so their times say little about either; choose settings that promise the same ('stowplan stores NAME'), or give --unlike-promises",
                options.a, options.b
            )));
        }
    }
    Ok(())
}

/// Adds sizes where the order changes, and measures those again that gave no figure.
struct Refining<'a> {
    question: &'a Question,
    result: PathBuf,
    passes: u32,
    /// Sweep and size of what was measured again: once is enough.
    repeated: BTreeSet<(String, u64)>,
}

impl Steer for Refining<'_> {
    fn follow(&mut self, plan: &Plan) -> Result<Option<Extension>, HarnessError> {
        if self.passes == 0 {
            return Ok(None);
        }
        self.passes -= 1;
        let sweeps = self.measured_sweeps()?;
        let mut spots = Vec::new();
        for outcome in &sweeps {
            let Some(position) = plan.sweeps.iter().position(|s| s.id == outcome.sweep.id) else {
                continue;
            };
            spots.extend(self.spots(position, outcome));
        }
        if spots.is_empty() {
            return Ok(None);
        }
        self.question.extension(&spots).map(Some)
    }

    fn expected(&self) -> usize {
        self.passes as usize * ADDED * self.question.page_sizes.len().max(1)
    }
}

impl Refining<'_> {
    fn measured_sweeps(&self) -> Result<Vec<SweepOutcome>, HarnessError> {
        let bytes =
            std::fs::read(&self.result).map_err(HarnessError::io("read result", &self.result))?;
        let (records, _) = read_records(&String::from_utf8_lossy(&bytes));
        let analysis = analyse(&records, None).map_err(|error| {
            HarnessError::invalid(format!("{}: {error}", self.result.display()))
        })?;
        Ok(analysis.sweeps)
    }

    fn spots(&mut self, sweep: usize, outcome: &SweepOutcome) -> Vec<Spot> {
        let without = |verdict| matches!(verdict, Verdict::Unreliable | Verdict::NoData);
        let points = outcome.points.iter();
        let mut spots = Vec::new();
        for point in points.filter(|point| without(point.verdict)) {
            if self.repeated.insert((outcome.sweep.id.clone(), point.size)) {
                spots.push(Spot {
                    sweep,
                    size: point.size,
                    again: true,
                });
            }
        }
        let added = refine(&outcome.points, &RefineLimits::default());
        spots.extend(added.into_iter().map(|size| Spot {
            sweep,
            size,
            again: false,
        }));
        spots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_per_transaction_are_a_number_or_all() {
        assert_eq!(per_transaction("all"), Ok(PerTransaction::All));
        assert_eq!(per_transaction("10"), Ok(PerTransaction::Operations(10)));
        assert!(per_transaction("0").is_err());
        assert!(per_transaction("some").is_err());
    }
}
