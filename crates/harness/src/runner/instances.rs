//! Datasets and built stores below the work directory: made once, shared by the cells that can
//! share them.

use super::blocks::{Blocks, Place};
use crate::dataset::{self, Dataset};
use crate::{HarnessError, page_cache};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_model::{
    Cell, Comparison, DatasetSpec, FootprintRecord, PreparationRecord, StoreSpec,
};
use stowplan_stores::registry;

pub(super) struct Instances {
    work: PathBuf,
    datasets: BTreeMap<String, Dataset>,
    built: BTreeSet<String>,
    versions: BTreeMap<String, u32>,
}

/// What building a store gave.
pub(super) struct Built {
    pub(super) preparation: PreparationRecord,
    /// Nothing where the store is not on disk.
    pub(super) footprint: Option<FootprintRecord>,
}

impl Instances {
    pub(super) fn new(work: &Path) -> Self {
        Self {
            work: work.to_owned(),
            datasets: BTreeMap::new(),
            built: BTreeSet::new(),
            versions: BTreeMap::new(),
        }
    }

    /// Writes a dataset unless it is there; returns how long it took.
    pub(super) fn dataset(
        &mut self,
        name: &str,
        spec: &DatasetSpec,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<PreparationRecord>, HarnessError> {
        if self.datasets.contains_key(name) {
            return Ok(None);
        }
        let began = Instant::now();
        let directory = self.dataset_directory(name);
        let dataset = materialise(spec, &directory, progress)?;
        let record = PreparationRecord {
            what: format!("dataset {name}"),
            seconds: began.elapsed().as_secs_f64(),
            bytes: dataset.total_bytes(),
            values: dataset.count(),
        };
        self.datasets.insert(name.to_owned(), dataset);
        Ok(Some(record))
    }

    /// A dataset that was written.
    pub(super) fn opened(&self, name: &str) -> Result<&Dataset, HarnessError> {
        self.datasets
            .get(name)
            .ok_or_else(|| HarnessError::invalid(format!("dataset '{name}' was not prepared")))
    }

    /// Builds a cell's store unless it is there.
    pub(super) fn build(
        &mut self,
        cell: &Cell,
        blocks: &Blocks<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Option<Built>, HarnessError> {
        if self.built.contains(&cell.instance) {
            return Ok(None);
        }
        let began = Instant::now();
        let place = self.place(cell);
        fs::create_dir(&place.instance)
            .map_err(HarnessError::io("create directory", &place.instance))?;
        if !cell.capabilities.persistent {
            self.built.insert(cell.instance.clone());
            return Ok(None);
        }
        let (values, bytes) = blocks.build(cell, layout_only(cell)?, &place, progress)?;
        self.built.insert(cell.instance.clone());
        Ok(Some(Built {
            preparation: PreparationRecord {
                what: cell.instance.clone(),
                seconds: began.elapsed().as_secs_f64(),
                bytes,
                values,
            },
            footprint: self.footprint(cell, false)?,
        }))
    }

    /// Removes a store that can no longer be trusted; returns whether there was one.
    pub(super) fn forget(&mut self, cell: &Cell) -> Result<bool, HarnessError> {
        let place = self.place(cell);
        if place.instance.exists() {
            fs::remove_dir_all(&place.instance)
                .map_err(HarnessError::io("remove", &place.instance))?;
        }
        Ok(self.built.remove(&cell.instance))
    }

    /// Where a cell's data lies.
    pub(super) fn place(&self, cell: &Cell) -> Place {
        Place {
            instance: self.work.join(format!("store-{}", cell.instance)),
            dataset: self.dataset_directory(&cell.dataset),
            versions: self.work.join(format!("versions-{}", cell.instance)),
        }
    }

    /// The version that a writing cell gives next: no two blocks write the same bytes.
    pub(super) fn next_version(&mut self, cell: &Cell) -> u32 {
        let version = self.versions.entry(cell.instance.clone()).or_insert(0);
        *version += u32::from(cell.workload.operation.writes());
        *version
    }

    /// What a cell's store takes on disk; nothing where it is not on disk.
    pub(super) fn footprint(
        &self,
        cell: &Cell,
        after_workloads: bool,
    ) -> Result<Option<FootprintRecord>, HarnessError> {
        if !cell.capabilities.persistent {
            return Ok(None);
        }
        let kind = registry::find(&cell.store.kind)?;
        let store = kind.open(&self.place(cell).instance, &cell.settings)?;
        Ok(Some(FootprintRecord {
            instance: cell.instance.clone(),
            footprint: store.footprint()?,
            value_bytes: self.opened(&cell.dataset)?.total_bytes(),
            after_workloads,
        }))
    }

    /// Reads everything that a comparison's cells use into the page cache.
    pub(super) fn warm(&self, comparison: &Comparison) -> Result<(), HarnessError> {
        let mut seen = BTreeSet::new();
        comparison
            .cells
            .iter()
            .filter(|cell| self.built.contains(&cell.instance) && seen.insert(&cell.instance))
            .try_for_each(|cell| self.warm_one(cell))
    }

    /// Reads a cell's store into the page cache.
    pub(super) fn warm_one(&self, cell: &Cell) -> Result<(), HarnessError> {
        page_cache::warm(&[self.place(cell).instance]).map(|_| ())
    }

    fn dataset_directory(&self, name: &str) -> PathBuf {
        self.work.join(format!("dataset-{name}"))
    }
}

fn materialise(
    spec: &DatasetSpec,
    directory: &Path,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Dataset, HarnessError> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let total = spec.count.saturating_mul(spec.size.mean());
    let bytes_done = AtomicU64::new(0);
    thread::scope(|scope| {
        let work = scope.spawn(|| {
            dataset::materialise(spec, directory, threads, &|done| {
                bytes_done.store(done, Ordering::Relaxed);
            })
        });
        while !work.is_finished() {
            progress(bytes_done.load(Ordering::Relaxed).min(total), total);
            thread::sleep(Duration::from_millis(20));
        }
        work.join()
            .unwrap_or_else(|_| Err(HarnessError::invalid("generating the dataset panicked")))
    })
}

/// The cell's store with the settings that shape its layout, and defaults for the others: what
/// cells share must not depend on which of them comes first.
fn layout_only(cell: &Cell) -> Result<StoreSpec, HarnessError> {
    let kind = registry::find(&cell.store.kind)?;
    Ok(StoreSpec::spelled_out(
        &cell.store.kind,
        &cell.settings.layout(kind.settings()),
    ))
}
