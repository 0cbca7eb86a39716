//! Which datasets and built stores comparisons use: what no later one does can be removed.

use std::collections::BTreeMap;
use stowplan_model::{Cell, Comparison};

/// The names of datasets and of built stores that some comparisons use.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Uses<'p> {
    datasets: BTreeMap<&'p str, Span>,
    instances: BTreeMap<&'p str, Span>,
}

/// From the first comparison that uses something to the last, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    first: usize,
    last: usize,
}

impl Span {
    fn holds(self, index: usize) -> bool {
        (self.first..=self.last).contains(&index)
    }
}

impl<'p> Uses<'p> {
    /// What these comparisons use.
    pub(crate) fn of(comparisons: &'p [Comparison]) -> Self {
        let mut uses = Self::default();
        for (index, comparison) in comparisons.iter().enumerate() {
            for cell in &comparison.cells {
                note(&mut uses.datasets, &cell.dataset, index);
                note(&mut uses.instances, &cell.instance, index);
            }
        }
        uses
    }

    /// Whether one of them uses a cell's built store.
    pub(crate) fn instance(&self, cell: &Cell) -> bool {
        self.instances.contains_key(cell.instance.as_str())
    }

    /// Whether one of them uses a dataset.
    pub(crate) fn dataset(&self, name: &str) -> bool {
        self.datasets.contains_key(name)
    }

    /// Whether a cell's built store exists while the comparison at `index` runs: from its first
    /// use to its last.
    pub(super) fn instance_exists(&self, cell: &Cell, index: usize) -> bool {
        let span = self.instances.get(cell.instance.as_str());
        span.is_some_and(|span| span.holds(index))
    }

    /// The same of a dataset.
    pub(super) fn dataset_exists(&self, name: &str, index: usize) -> bool {
        self.datasets
            .get(name)
            .is_some_and(|span| span.holds(index))
    }
}

fn note<'p>(spans: &mut BTreeMap<&'p str, Span>, name: &'p str, index: usize) {
    let first = Span {
        first: index,
        last: index,
    };
    spans.entry(name).or_insert(first).last = index;
}
