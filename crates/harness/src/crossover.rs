//! Two stores compared at many sizes of values: what is planned for each size.
//!
//! Which sizes are measured is decided by the analysis (docs/method.md, "Crossover"); here a size
//! becomes a dataset and a comparison.

mod refining;

pub use refining::Refining;

use crate::drivers::Drivers;
use crate::plan::{self, PlanOptions};
use crate::{HarnessError, Result};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use stowplan_model::{
    CellSpec, ComparisonSpec, Content, DatasetSpec, Extension, Operation, PerTransaction, Plan,
    SizeDistribution, Sought, StoreSpec, Study, Sweep, WorkloadSpec, format_size,
};

/// Fewest values of a size: a block needs some, and its lead-in others.
const FEWEST_VALUES: u64 = 60;
/// Most values of a size: making more small files, and removing them, takes longer than measuring
/// them.
const MOST_VALUES: u64 = 20_000;
/// Bytes that a block of overwrites replaces, where it is one transaction: 30 values of 1 MiB.
const OVERWRITTEN_BYTES: u64 = 32_000_000;
/// Most overwrites of a block that waits for the disk at each of them.
const MOST_SYNCED: u64 = 1_000;
/// Operations that a block has at least, however slow they are: transactions of no more are the
/// same for both stores.
const FEWEST_OPERATIONS: u64 = 200;

/// What is to be found out, and what hosts the stores.
#[derive(Debug, Clone)]
pub struct Question {
    /// What a result records of it.
    pub sought: Sought,
    /// What hosts the stores.
    pub drivers: Rc<Drivers>,
}

/// A size of the sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweepSize {
    /// The size in bytes.
    pub size: u64,
    /// Whether it was measured before, without a result.
    pub again: bool,
}

impl Question {
    fn sweep(&self) -> Sweep {
        Sweep {
            id: "size".to_owned(),
            a: self.sought.a.to_string(),
            b: self.sought.b.to_string(),
        }
    }

    /// The plan of the first sizes, which rise, in such an order that a budget which ends early leaves points all
    /// over the range.
    ///
    /// # Errors
    /// Stores, settings or a combination that do not exist; values too large to be kept.
    pub fn plan(&self, sizes: &[u64]) -> Result<Plan> {
        let again = false;
        let sizes = ends_first(sizes).into_iter();
        let points: Vec<SweepSize> = sizes.map(|size| SweepSize { size, again }).collect();
        let mut plan = self.plan_of(&points)?;
        plan.sweeps = vec![self.sweep()];
        plan.sought = Some(self.sought.clone());
        Ok(plan)
    }

    /// What measuring these adds to a plan, in their order: a budget may end before the last.
    ///
    /// # Errors
    /// As [`Self::plan`].
    pub fn extension(&self, points: &[SweepSize]) -> Result<Extension> {
        let plan = self.plan_of(points)?;
        Ok(Extension {
            datasets: plan.datasets,
            comparisons: plan.comparisons,
        })
    }

    /// How many values of a size are measured.
    #[must_use]
    pub fn values(&self, size: u64) -> u64 {
        (self.sought.bytes / size.max(1)).clamp(FEWEST_VALUES, MOST_VALUES)
    }

    fn plan_of(&self, points: &[SweepSize]) -> Result<Plan> {
        // The largest alone: an error should name the size that was typed.
        if let Some(size) = points.iter().map(|point| point.size).max() {
            self.check_size(size)?;
        }
        let options = PlanOptions {
            rounds: self.sought.rounds,
            ..PlanOptions::default()
        };
        plan::plan(self.study(points), &options, &self.drivers)
    }

    /// Refuses values that a store cannot keep, before anything is built.
    fn check_size(&self, size: u64) -> Result<()> {
        for spec in [&self.sought.a, &self.sought.b] {
            let resolved = self
                .drivers
                .resolve(spec, Some(self.sought.memory_budget))?;
            let largest = resolved.capabilities.largest_value;
            if let Some(largest) = largest.filter(|largest| size > *largest) {
                return Err(HarnessError::invalid(format!(
                    "{} keeps values of up to {largest} bytes, and {} were asked for; choose a smaller range (--to)",
                    spec.kind,
                    format_size(size)
                )));
            }
        }
        Ok(())
    }

    fn study(&self, points: &[SweepSize]) -> Study {
        let comparisons = points.iter().map(|point| self.comparison(*point)).collect();
        let datasets = points.iter();
        let datasets = datasets.map(|point| (dataset_name(point.size), self.dataset(point.size)));
        Study {
            name: "crossover".to_owned(),
            title: format!("{} or {}?", self.sought.a, self.sought.b),
            question: "At which size of values does the order of these two stores change?"
                .to_owned(),
            memory_budget: self.sought.memory_budget,
            datasets: datasets.collect(),
            comparisons,
            ..Study::default()
        }
    }

    fn comparison(&self, point: SweepSize) -> ComparisonSpec {
        let sweep = self.sweep();
        let cell = |spec: &StoreSpec| CellSpec {
            store: spec.clone(),
            label: Some(spec.to_string()),
            ..CellSpec::default()
        };
        let id = match point.again {
            true => sweep.comparison_again(point.size),
            false => sweep.comparison(point.size),
        };
        ComparisonSpec {
            id,
            title: format!("Values of {}", format_size(point.size)),
            dataset: dataset_name(point.size),
            workload: self.workload_of(point.size),
            baseline: "a".to_owned(),
            cells: BTreeMap::from([
                ("a".to_owned(), cell(&self.sought.a)),
                ("b".to_owned(), cell(&self.sought.b)),
            ]),
            ..ComparisonSpec::default()
        }
    }

    /// What is done to values of a size. A block lasts about 25 ms in each store, and so holds more
    /// operations of the faster one; where it is one transaction of overwrites, that store would
    /// commit more. So both then replace the same number of values.
    fn workload_of(&self, size: u64) -> WorkloadSpec {
        let workload = self.sought.workload.clone();
        let overwrites = workload.operation == Some(Operation::Overwrite);
        let shared = match workload.per_transaction.unwrap_or_default() {
            PerTransaction::All => None,
            PerTransaction::Operations(number) => Some(u64::from(number)),
        };
        if !overwrites || shared.is_some_and(|number| number <= FEWEST_OPERATIONS) {
            return workload;
        }
        let waits = [&self.sought.a, &self.sought.b];
        let waits = waits.into_iter().any(|spec| self.waits_for_disk(spec));
        let most = OVERWRITTEN_BYTES / size.max(1);
        let most = most.min(if waits { MOST_SYNCED } else { u64::MAX });
        let operations = most.max(shared.unwrap_or(1)).min(self.values(size));
        WorkloadSpec {
            operations: u32::try_from(operations).ok(),
            ..workload
        }
    }

    /// Whether a store waits for the disk at each overwrite, though they share a transaction.
    fn waits_for_disk(&self, spec: &StoreSpec) -> bool {
        let resolved = self.drivers.resolve(spec, Some(self.sought.memory_budget));
        resolved.is_ok_and(|resolved| {
            let can = resolved.capabilities;
            can.syncs_per_commit > 0 && !can.transactions
        })
    }

    fn dataset(&self, size: u64) -> DatasetSpec {
        DatasetSpec {
            count: self.values(size),
            size: SizeDistribution::Fixed { bytes: size },
            content: Content::Random,
            seed: 1,
            from: None,
        }
    }
}

/// The largest, the middle and the smallest size, then the middles of the halves, and so on, the
/// larger first: small values are many, so they take longest to build, and a budget that is too
/// short for them should leave points elsewhere.
fn ends_first(sizes: &[u64]) -> Vec<u64> {
    let Some(last) = sizes.len().checked_sub(1) else {
        return Vec::new();
    };
    let mut order = vec![last];
    let mut gaps = VecDeque::from([(0_usize, last)]);
    while let Some((low, high)) = gaps.pop_front() {
        let middle = low.midpoint(high);
        if middle > low {
            order.push(middle);
            gaps.extend([(middle, high), (low, middle)]);
        }
    }
    if last > 0 {
        order.insert(order.len().min(2), 0);
    }
    order.into_iter().map(|index| sizes[index]).collect()
}

fn dataset_name(size: u64) -> String {
    format!("values-{size}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(a: &str, b: &str) -> Question {
        Question {
            drivers: Rc::new(Drivers::built_in()),
            sought: Sought {
                a: a.parse().unwrap(),
                b: b.parse().unwrap(),
                workload: WorkloadSpec::default(),
                bytes: 100_000_000,
                memory_budget: 4 << 20,
                rounds: None,
            },
        }
    }

    fn doublings(from: u64, number: u32) -> Vec<u64> {
        (0..number).map(|i| from << i).collect()
    }

    #[test]
    fn the_ends_of_the_range_come_first_then_its_middle_and_then_each_other_size_once() {
        let sizes = doublings(1, 11);
        let order = ends_first(&sizes);
        assert_eq!(order[..5], [1024, 32, 1, 128, 4]);
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, sizes);
        assert_eq!(ends_first(&[1, 2]), [2, 1]);
        assert_eq!(ends_first(&[7]), [7]);
        assert!(ends_first(&[]).is_empty());
    }

    #[test]
    fn a_plan_runs_in_that_order() {
        let plan = question("sqlite", "files")
            .plan(&doublings(1024, 4))
            .unwrap();
        let ids: Vec<&str> = plan.comparisons.iter().map(|c| c.id.as_str()).collect();
        assert_eq!(ids, ["size-8192", "size-2048", "size-1024", "size-4096"]);
    }

    /// Operations of a block of overwrites at a size, the same for all cells.
    fn overwritten(a: &str, b: &str, shared: PerTransaction, size: u64) -> Option<u32> {
        let mut question = question(a, b);
        question.sought.workload = WorkloadSpec {
            operation: Some(Operation::Overwrite),
            per_transaction: Some(shared),
            ..WorkloadSpec::default()
        };
        let plan = question.plan(&[size]).unwrap();
        let cells = &plan.comparisons[0].cells;
        assert!(cells.len() >= 3);
        let operations = cells[0].workload.operations;
        let same = |cell: &stowplan_model::Cell| cell.workload.operations == operations;
        assert!(cells.iter().all(same));
        operations
    }

    #[test]
    fn blocks_of_overwrites_in_one_transaction_replace_as_many_values_in_both_stores() {
        let (sqlite, files) = ("sqlite:journal=off,synchronous=off", "files:write=in-place");
        let all = |size| overwritten(sqlite, files, PerTransaction::All, size);
        assert_eq!(all(1 << 20), Some(30));
        assert_eq!(all(10_000), Some(3_200));
        assert_eq!(all(100), Some(20_000), "no more than there are");
        let shared = |n| overwritten(sqlite, files, PerTransaction::Operations(n), 10_000);
        assert_eq!(
            shared(200),
            None,
            "about 25 ms: transactions are the same anyway"
        );
        assert_eq!(shared(5_000), Some(5_000));
    }

    #[test]
    fn where_each_overwrite_waits_for_the_disk_a_block_has_fewer() {
        let durable = "files:write=rename,fsync=file";
        assert_eq!(
            overwritten("sqlite", durable, PerTransaction::All, 1_000),
            Some(1_000)
        );
    }

    #[test]
    fn a_comparison_is_called_by_its_size() {
        let plan = question("sqlite", "files").plan(&[1024]).unwrap();
        assert_eq!(plan.comparisons[0].title, "Values of 1 KiB");
    }

    #[test]
    fn a_size_that_is_too_large_is_named_as_it_was_typed() {
        let sizes = doublings(1 << 10, 22);
        let error = question("sqlite", "files").plan(&sizes).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("and 2 GiB were asked for"), "{message}");
    }

    #[test]
    fn small_values_are_not_so_many_that_building_takes_all_the_time() {
        let question = question("sqlite", "files");
        assert_eq!(question.values(1 << 10), 20_000);
        assert_eq!(question.values(10_000), 10_000);
        assert_eq!(question.values(1 << 20), 95);
        assert_eq!(question.values(1 << 30), 60);
    }
}
