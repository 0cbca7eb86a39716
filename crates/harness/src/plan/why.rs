//! `--why`: a study with the cells that take its operations apart.
//!
//! Each store tells the steps of its own operations (`describe` of the driver protocol). Here
//! they become cells of the comparison that has the store, each once, whichever ladders it is in; and
//! the ladders.

use crate::Result;
use crate::drivers::{Drivers, Resolved};
use std::collections::{BTreeMap, BTreeSet};
use stowplan_model::{
    CellSpec, ComparisonSpec, EarlierPhases, LadderSpec, Operation, PerTransaction, Rung, RungSpec,
    SettingKind, StoreSpec, Study, Value, Workload, WorkloadSpec, format_size,
};

/// The longest name of a ladder.
const LONGEST_NAME: usize = 64;

/// A study with what takes the chosen cells apart (`only`: all if empty), and what is chosen now.
/// A process may have `most_open` files open; none: any number.
///
/// Comparisons that a matrix stands for stay as they are, and so do those of several threads.
pub(super) fn explained(
    mut study: Study,
    only: Vec<String>,
    most_open: Option<u64>,
    drivers: &Drivers,
) -> (Study, Vec<String>) {
    let mut chosen = only.clone();
    let mut comparisons = std::mem::take(&mut study.comparisons);
    for comparison in &mut comparisons {
        let id = comparison.id.clone();
        let whole = only.is_empty() || only.contains(&id);
        let named = |key: &String| only.contains(&format!("{id}/{key}"));
        let is_chosen = whole || comparison.cells.keys().any(named);
        if study.is_of_matrix(comparison) || !is_chosen {
            continue;
        }
        let count = study
            .datasets
            .get(&comparison.dataset)
            .map_or(0, |spec| spec.count);
        let keys = in_order(comparison)
            .filter(|key| whole || **key == comparison.baseline || named(key))
            .filter(|key| !is_explained(&study.ladders, &id, key));
        let keys: Vec<String> = keys.cloned().collect();
        let mut decomposition = Decomposition {
            drivers,
            budget: study.memory_budget,
            keeps_open: most_open.is_none_or(|most| count.saturating_add(SPARE) <= most),
            comparison,
            used: BTreeSet::new(),
        };
        for ladder in keys.iter().filter_map(|key| decomposition.ladder(key)) {
            let taken = study.ladders.iter().map(|ladder| ladder.id.as_str());
            let id = free_name(&ladder.id, &taken.collect());
            study.ladders.push(LadderSpec { id, ..ladder });
        }
        if !whole {
            chosen.extend(decomposition.used.iter().map(|key| format!("{id}/{key}")));
        }
    }
    study.comparisons = comparisons;
    (study, chosen)
}

/// Descriptors beyond those of a store's files: about what `open=kept` asks for.
const SPARE: u64 = 256;

/// The cells of which something is said: the baseline first.
fn in_order(comparison: &ComparisonSpec) -> impl Iterator<Item = &String> {
    let compared = |(_, cell): &(&String, &CellSpec)| {
        !cell.floor && !cell.part && comparison.scanned(cell).is_no()
    };
    let others = comparison.cells.iter().filter(compared).map(|(key, _)| key);
    let baseline = std::iter::once(&comparison.baseline);
    baseline.chain(others.filter(|key| **key != comparison.baseline))
}

/// Whether the study itself takes a cell apart.
fn is_explained(ladders: &[LadderSpec], comparison: &str, key: &str) -> bool {
    let mut of_it = ladders.iter().filter(|l| l.comparison == comparison);
    of_it.any(|ladder| ladder.rungs.last().is_some_and(|rung| rung.cell == key))
}

/// A name, or if it is taken or too long one with a number behind it.
fn free_name(name: &str, taken: &BTreeSet<&str>) -> String {
    if name.len() <= LONGEST_NAME && !taken.contains(name) {
        return name.to_owned();
    }
    // Names are ASCII; room for the number.
    let short: String = name.chars().take(LONGEST_NAME - 8).collect();
    let mut numbered = (2_u32..).map(|number| format!("{short}-{number}"));
    let free = numbered.find(|name| !taken.contains(name.as_str()));
    free.unwrap_or(short)
}

/// A comparison that is being taken apart.
struct Decomposition<'a> {
    drivers: &'a Drivers,
    /// As [`Study::memory_budget`].
    budget: u64,
    /// Whether a process may keep all files open.
    keeps_open: bool,
    comparison: &'a mut ComparisonSpec,
    /// The cells that the ladders need.
    used: BTreeSet<String>,
}

impl Decomposition<'_> {
    /// The ladder of a cell, whose rungs are cells of the comparison now; nothing where its store
    /// tells none for this workload, or no step of it can be measured here.
    fn ladder(&mut self, key: &str) -> Option<LadderSpec> {
        let whole = self.comparison.cells.get(key)?.clone();
        let mut specs = Vec::new();
        let mut rungs = self.steps(&whole)?.into_iter().peekable();
        while let Some(rung) = rungs.next() {
            specs.push(RungSpec {
                cell: match rungs.peek() {
                    Some(_) => self.cell(&rung, &whole),
                    None => key.to_owned(),
                },
                isolated: self.primitives(&rung.isolated, &whole),
                step: rung.step,
            });
        }
        let cells = specs.iter().map(|rung| rung.cell.clone());
        self.used.extend(cells);
        let label = whole.label.unwrap_or_else(|| whole.store.to_string());
        Some(LadderSpec {
            id: format!("why-{}-{key}", self.comparison.id),
            title: format!("{label}, step by step"),
            comparison: self.comparison.id.clone(),
            rungs: specs,
        })
    }

    /// The steps of a cell, from the bottom up to the one that leads to it; what cannot run goes with the next.
    fn steps(&self, whole: &CellSpec) -> Option<Vec<Rung>> {
        let workload = self.workload(&whole.workload);
        let single = workload.threads == 1 && workload.age == 0;
        if !single || !matches!(workload.operation, Operation::Read | Operation::Overwrite) {
            return None;
        }
        let settings = self.resolve(&whole.store).ok()?.settings;
        let ladder = self.drivers.ladder(&whole.store, &settings, &workload);
        if workload.cache.is_cold() {
            let reads = workload.operation == Operation::Read && !ladder.is_empty();
            return reads.then(|| cold_steps(whole));
        }
        let (mut steps, mut left_out): (Vec<Rung>, Option<Rung>) = (Vec::new(), None);
        let mut ladder = ladder.into_iter().peekable();
        while let Some(step) = ladder.next() {
            let step = match left_out.take() {
                Some(below) => both(below, step),
                None => step,
            };
            match ladder.peek().is_none() || self.can(&step, whole) {
                true => steps.push(step),
                false => left_out = Some(step),
            }
        }
        (steps.len() > 1).then_some(steps)
    }

    fn resolve(&self, store: &StoreSpec) -> Result<Resolved> {
        self.drivers.resolve(store, Some(self.budget))
    }

    fn workload(&self, spec: &WorkloadSpec) -> Workload {
        spec.over(&self.comparison.workload).complete()
    }

    /// Whether the cell of a step can run.
    fn can(&self, step: &Rung, whole: &CellSpec) -> bool {
        let Ok(resolved) = self.resolve(&step.store) else {
            return false;
        };
        let workload = self.workload(&step.workload.over(&whole.workload));
        let can = &resolved.capabilities;
        let delivers = can.deliveries.contains(&workload.delivery);
        can.missing(&workload).is_none()
            && (delivers || workload.operation.writes())
            && (self.keeps_open || !is_kept_open(&resolved))
    }

    /// The cell of a step: one that the comparison has, or else a new one.
    fn cell(&mut self, step: &Rung, whole: &CellSpec) -> String {
        let workload = step.workload.over(&whole.workload);
        self.find_or_add(step.store.clone(), workload, step.store.name(), None)
    }

    /// Under the names of their cells.
    fn primitives(
        &mut self,
        isolated: &[(String, f64)],
        whole: &CellSpec,
    ) -> BTreeMap<String, f64> {
        // What is measured of a primitive is the processor's time: in a cold state there is none.
        if self.workload(&whole.workload).cache.is_cold() {
            return BTreeMap::new();
        }
        let mut cells = BTreeMap::new();
        for (call, often) in isolated.iter().filter(|(_, often)| *often != 0.0) {
            let store = StoreSpec {
                kind: "primitive".to_owned(),
                settings: BTreeMap::from([("call".to_owned(), call.clone())]),
            };
            // It has no values to which anything could have been done before.
            let workload = WorkloadSpec {
                after: Some(EarlierPhases::default()),
                ..WorkloadSpec::default()
            };
            let label = Some(format!("alone: {call}"));
            let key = self.find_or_add(store, workload, call, label);
            self.used.insert(key.clone());
            *cells.entry(key).or_insert(0.0) += often;
        }
        cells
    }

    fn find_or_add(
        &mut self,
        store: StoreSpec,
        workload: WorkloadSpec,
        name: &str,
        label: Option<String>,
    ) -> String {
        let Ok(resolved) = self.resolve(&store) else {
            return name.to_owned();
        };
        let complete = self.workload(&workload);
        // Without transactions it does not matter to a read how many there would be.
        let indifferent =
            complete.operation == Operation::Read && !resolved.capabilities.transactions;
        let transactions = |mut workload: Workload| {
            if indifferent {
                workload.per_transaction = PerTransaction::All;
            }
            workload
        };
        let same = |cell: &CellSpec| {
            let other = self.resolve(&cell.store);
            let alike = other.is_ok_and(|other| {
                other.kind.name == resolved.kind.name
                    && self.drivers.host(&cell.store) == self.drivers.host(&store)
                    && other.settings == resolved.settings
            });
            alike
                && self.comparison.scanned(cell).is_no()
                && cell.on.is_none()
                && transactions(self.workload(&cell.workload)) == transactions(complete.clone())
        };
        let mut known = self.comparison.cells.iter();
        if let Some((key, _)) = known.find(|(_, cell)| same(cell)) {
            return key.clone();
        }
        let taken = self.comparison.cells.keys().map(String::as_str).collect();
        let key = free_name(&format!("why-{name}"), &taken);
        let each = complete.per_transaction != PerTransaction::All;
        let tx = if each && resolved.capabilities.transactions {
            ", tx each"
        } else {
            ""
        };
        let label = label.unwrap_or_else(|| format!("{}{tx}", label_of(&resolved, &store)));
        let spec = CellSpec {
            label: Some(label),
            part: true,
            workload,
            store,
            ..CellSpec::default()
        };
        self.comparison.cells.insert(key.clone(), spec);
        key
    }
}

fn is_kept_open(resolved: &Resolved) -> bool {
    resolved.settings.get("open") == Some(&Value::Word("kept".to_owned()))
}

/// From storage, what the processor does weighs little: what is read, and where it lies, says more.
fn cold_steps(whole: &CellSpec) -> Vec<Rung> {
    let flat = StoreSpec {
        kind: "flat".to_owned(),
        settings: BTreeMap::new(),
    };
    let besides = "what is read besides, in how many requests, and all other work";
    let steps = [
        (flat, "the value's own pages, read from storage"),
        (whole.store.clone(), besides),
    ];
    let rung = |(store, step): (StoreSpec, &str)| Rung {
        store,
        workload: WorkloadSpec::default(),
        step: step.to_owned(),
        isolated: Vec::new(),
    };
    steps.into_iter().map(rung).collect()
}

/// Two steps of a ladder with one cell for them, where that between them cannot run.
fn both(below: Rung, above: Rung) -> Rung {
    Rung {
        step: format!("{}; {}", below.step, above.step),
        isolated: [below.isolated, above.isolated].concat(),
        ..above
    }
}

/// A store spec, with sizes in the largest unit in which they are whole.
fn label_of(resolved: &Resolved, spec: &StoreSpec) -> String {
    let mut spec = spec.clone();
    let sizes = resolved.kind.settings.iter();
    for setting in sizes.filter(|setting| matches!(setting.kind, SettingKind::Bytes { .. })) {
        if let Some(value) = spec.settings.get_mut(setting.name)
            && let Ok(bytes) = value.parse()
        {
            *value = format_size(bytes).replace(' ', "");
        }
    }
    spec.to_string()
}

#[cfg(test)]
mod tests;
