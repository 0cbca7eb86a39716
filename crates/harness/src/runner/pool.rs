//! Datasets and built stores below the work directory: made once, shared by the cells that can
//! share them.

use super::prices::Prices;
use crate::dataset::{self, Dataset};
use crate::drivers::Drivers;
use crate::file_systems::FileSystems;
use crate::interrupt::Interrupt;
use crate::job::{CellPaths, Extent, Job};
use crate::{HarnessError, Progress, Result, disk, page_cache, place};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stowplan_dataset::names::beside;
use stowplan_model::{
    CacheState, Cell, Comparison, DatasetSpec, FootprintRecord, PreparationRecord, Settings,
    StoreSpec, Want,
};

/// The datasets and stores that a run has on the disk.
pub(super) struct Pool<'a> {
    drivers: &'a Drivers,
    interrupt: &'a Interrupt,
    work: &'a Path,
    /// Where the stores of cells lie that are not below the work directory.
    pub(super) file_systems: FileSystems,
    datasets: BTreeMap<String, Dataset>,
    builds: BTreeMap<String, Build>,
    /// Stands for a build that never was.
    none: Build,
    /// The number of the next build.
    next: u32,
    /// What the stores of this session took to be built.
    pub(super) prices: Prices,
}

/// A copy of a store.
#[derive(Debug, Default)]
pub(super) struct Build {
    pub(super) is_there: bool,
    /// Its number within the run; nothing where the store is not built beforehand.
    pub(super) number: Option<u32>,
    /// How long building it took the last time.
    pub(super) took: Duration,
    /// The version that was written to it last.
    version: Option<u32>,
    /// How it was read and compared since it was built, or written to.
    checked: BTreeSet<String>,
    /// Whether it was written to since it was built.
    pub(super) is_written: bool,
    /// Whether it was evicted from memory since it was built.
    pub(super) is_evicted: bool,
    /// Whether its data was read in again since it was built, in order (R9): its pages no longer lie in memory
    /// as building left them.
    pub(super) is_read_in_again: bool,
}

impl Build {
    /// Forgets how it was compared, for it was found wrong; returns whether it was.
    pub(super) fn doubt(&mut self) -> bool {
        !std::mem::take(&mut self.checked).is_empty()
    }
}

impl<'a> Pool<'a> {
    /// None yet; builds are numbered from `next` on.
    pub(super) fn new(
        (drivers, interrupt, work): (&'a Drivers, &'a Interrupt, &'a Path),
        file_systems: FileSystems,
        next: u32,
    ) -> Self {
        Self {
            drivers,
            interrupt,
            work,
            file_systems,
            datasets: BTreeMap::new(),
            builds: BTreeMap::new(),
            none: Build::default(),
            next,
            prices: Prices::default(),
        }
    }

    /// The build that a cell is on.
    pub(super) fn of(&self, cell: &Cell) -> &Build {
        self.builds.get(&cell.instance).unwrap_or(&self.none)
    }

    pub(super) fn of_mut(&mut self, cell: &Cell) -> &mut Build {
        self.builds.entry(cell.instance.clone()).or_default()
    }

    /// The directory in which the store of a cell lies.
    ///
    /// # Errors
    /// Its file system could not be made.
    pub(super) fn root(&self, cell: &Cell) -> Result<&Path> {
        self.root_on(&cell.on)
    }

    /// The directory in which stores lie on a file system, by its name; `""` is that of the work directory.
    pub(super) fn root_on(&self, on: &str) -> Result<&Path> {
        match on {
            "" => Ok(self.work),
            on => self.file_systems.root(on),
        }
    }

    /// Writes a dataset unless it is there; returns how long it took.
    pub(super) fn dataset(
        &mut self,
        name: &str,
        spec: &DatasetSpec,
        progress: Progress<'_>,
    ) -> Result<Option<PreparationRecord>> {
        if self.datasets.contains_key(name) {
            return Ok(None);
        }
        let began = Instant::now();
        let directory = self.dataset_directory(name);
        let dataset = match spec.from {
            None => {
                let total = spec.count.saturating_mul(spec.size.mean());
                let told = &mut |done: u64| progress(done.min(total), total);
                dataset::materialise(spec, &directory, told)?
            }
            Some(_) => fetched(spec, &directory)?,
        };
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
    pub(super) fn opened(&self, name: &str) -> Result<&Dataset> {
        self.datasets
            .get(name)
            .ok_or_else(|| HarnessError::invalid(format!("dataset '{name}' was not prepared")))
    }

    /// Builds a cell's store unless it is there; what that took.
    pub(super) fn build(
        &mut self,
        cell: &Cell,
        progress: Progress<'_>,
    ) -> Result<Option<PreparationRecord>> {
        if self.of(cell).is_there {
            return Ok(None);
        }
        let began = Instant::now();
        let paths = self.paths(cell);
        place::make_directory(self.root(cell)?, &paths.instance)?;
        // Where keys come and go, each block makes a store of its own within the directory.
        if !cell.capabilities.persistent || cell.workload.changes_keys() {
            self.of_mut(cell).is_there = true;
            return Ok(None);
        }
        self.give_names(cell, &paths.instance)?;
        let built = self.built_as(cell);
        let built = built
            .and_then(|built| Job::of(&built, paths, self.drivers, self.interrupt))
            .and_then(|job| job.build(progress));
        let (values, bytes) = match built {
            Ok(built) => built,
            Err(error) => {
                // Others share the place; what is half built there would be their fault, too.
                self.forget(cell)?;
                return Err(error);
            }
        };
        let took = began.elapsed();
        self.prices.note(values, bytes, took);
        let number = Some(self.next);
        self.next = self.next.saturating_add(1);
        let build = self.of_mut(cell);
        *build = Build {
            is_there: true,
            number,
            took,
            version: build.version,
            ..Build::default()
        };
        let (what, seconds) = (cell.instance.clone(), took.as_secs_f64());
        Ok(Some(PreparationRecord {
            what,
            seconds,
            bytes,
            values,
        }))
    }

    /// Puts the names of values beside a store that is to keep them under these, where the values have some.
    fn give_names(&self, cell: &Cell, store: &Path) -> Result<()> {
        if !cell.settings.flag("names") {
            return Ok(());
        }
        let Some(names) = self.opened(&cell.dataset)?.names_file() else {
            return Ok(());
        };
        let beside = beside(store);
        fs::hard_link(&names, &beside)
            .or_else(|_| fs::copy(&names, &beside).map(drop))
            .map_err(HarnessError::io("copy names to", &beside))
    }

    /// How many values of a cell's store are still to be read and compared as the cell reads them, if any:
    /// from now on none are, until something changes. The first time it is all of a build; whether
    /// another way of reading is right is seen by some, and of a second build by the first one's.
    pub(super) fn take_check(&mut self, cell: &Cell) -> Option<Extent> {
        let how = match cell.is_on_second() {
            true => String::new(),
            false => format!("{}{}", cell.settings, cell.workload.delivery),
        };
        let checked = &mut self.of_mut(cell).checked;
        let extent = match checked.is_empty() {
            true => Extent::All,
            false => Extent::Sample,
        };
        checked.insert(how).then_some(extent)
    }

    /// Whether a cell's store is there as the cell is to find it: what is to be warm was never evicted, for
    /// how pages came into memory matters, and what is to be read there was never written to.
    pub(super) fn serves(&self, cell: &Cell) -> bool {
        let build = self.of(cell);
        let used = build.is_evicted || !cell.workload.writes() && build.is_written;
        build.is_there && !(cell.workload.cache == CacheState::Warm && used)
    }

    /// How long building the stores took that are there.
    pub(super) fn took(&self) -> Duration {
        let there = self.builds.values().filter(|build| build.is_there);
        there.map(|build| build.took).sum()
    }

    /// Removes the store of a cell and the list of its versions; returns whether there was one. (While others are
    /// built it takes no less time: 7.5 s of removing became 3.2 s, and 9.4 s of building 17.4 s.)
    pub(super) fn forget(&mut self, cell: &Cell) -> Result<bool> {
        let paths = self.paths(cell);
        place::remove(&paths.instance)?;
        for file in paths.versions.into_iter().chain([beside(&paths.instance)]) {
            match fs::remove_file(&file) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(HarnessError::io("remove", &file)(error));
                }
                _ => {}
            }
        }
        let build = self.of_mut(cell);
        let gone = Build {
            took: build.took,
            version: build.version,
            ..Build::default()
        };
        Ok(std::mem::replace(build, gone).is_there)
    }

    /// Removes a dataset, if it is there: no store is built from it or checked against it any
    /// more.
    pub(super) fn release_dataset(&mut self, name: &str) -> Result<()> {
        match self.datasets.remove(name) {
            Some(dataset) => disk::remove_directory(dataset.directory()),
            None => Ok(()),
        }
    }

    /// Where a cell's data lies.
    pub(super) fn paths(&self, cell: &Cell) -> CellPaths {
        CellPaths {
            // Nothing is built where there is no such file system.
            instance: self
                .root(cell)
                .unwrap_or(self.work)
                .join(format!("store-{}", cell.instance)),
            dataset: Some(self.dataset_directory(&cell.dataset)),
            versions: Some(self.work.join(format!("versions-{}", cell.instance))),
        }
    }

    /// The version that a writing cell gives next: no two blocks write the same bytes.
    pub(super) fn next_version(&mut self, cell: &Cell) -> u32 {
        let build = self.of_mut(cell);
        let version = build.version.get_or_insert(cell.workload.age);
        if cell.workload.operation.writes() {
            *version += 1;
        }
        if cell.workload.writes() {
            build.is_written = true;
            build.checked.clear();
        }
        *version
    }

    /// Weighs what a cell's store takes on disk; nothing where it is not on disk.
    pub(super) fn footprint(
        &self,
        cell: &Cell,
        after_workloads: bool,
    ) -> Result<Option<FootprintRecord>> {
        if !cell.capabilities.persistent {
            return Ok(None);
        }
        let job = self.job(cell)?;
        let footprint = match job.inspect(&[], Want::Footprint)?.footprint {
            Some(footprint) => footprint,
            None => disk::below(&job.paths.instance)?.0,
        };
        Ok(Some(FootprintRecord {
            instance: cell.store_name().to_owned(),
            footprint,
            value_bytes: self.opened(&cell.dataset)?.total_bytes(),
            after_workloads,
        }))
    }

    /// Reads what a comparison's cells use into the page cache, as far as it is not there. Before a block
    /// for which memory is emptied there is nothing to fill.
    pub(super) fn warm(&self, comparison: &Comparison) -> Result<()> {
        let mut seen = BTreeSet::new();
        let cells = comparison.cells.iter();
        let cells = cells.filter(|cell| cell.workload.cache != CacheState::AllCold);
        let stores = cells.filter(|cell| self.of(cell).is_there && seen.insert(&cell.instance));
        let builds = stores
            .flat_map(Cell::on_both)
            .filter(|cell| self.of(cell).is_there);
        Vec::from_iter(builds)
            .iter()
            .try_for_each(|cell| self.warm_one(cell))
    }

    /// Reads a cell's store into the page cache.
    pub(super) fn warm_one(&self, cell: &Cell) -> Result<()> {
        page_cache::warm(&[self.paths(cell).instance]).map(|_| ())
    }

    /// The cell with the settings with which its store is built: those that shape its layout, and defaults for the
    /// others, for what cells share must not depend on which of them comes first. One that is to grow old
    /// does so by its own way of writing.
    fn built_as(&self, cell: &Cell) -> Result<Cell> {
        let mut built = cell.clone();
        if cell.workload.age == 0 {
            let kind = self.drivers.kind(&cell.store)?;
            let layout = cell.settings.layout(&kind.settings);
            let given = StoreSpec::spelled_out(cell.store.name(), &layout).settings;
            built.settings = Settings::resolve(&kind.settings, &given)
                .map_err(|error| HarnessError::invalid(error.to_string()))?;
        }
        Ok(built)
    }

    /// A cell on its store, as its workers are told of it.
    pub(super) fn job(&self, cell: &Cell) -> Result<Job> {
        Job::of(cell, self.paths(cell), self.drivers, self.interrupt)
    }

    fn dataset_directory(&self, name: &str) -> PathBuf {
        dataset_directory(self.work, name)
    }
}

/// Where a dataset lies in a work directory. One of values that somebody brought along is there before a
/// run begins: whoever begins it knows how to get them.
#[must_use]
pub fn dataset_directory(work: &Path, name: &str) -> PathBuf {
    work.join(format!("dataset-{name}"))
}

/// A dataset of values that somebody brought along.
fn fetched(spec: &DatasetSpec, directory: &Path) -> Result<Dataset> {
    let dataset = Dataset::open(directory)?;
    if dataset.spec() == spec {
        return Ok(dataset);
    }
    Err(HarnessError::invalid(format!(
        "{} holds other values than the plan says; remove it and run again",
        directory.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::block_size::tests::{cell, writing};
    use crate::drivers::Drivers;
    use crate::interrupt::Interrupt;
    use crate::worker_process::WorkerCommand;
    use stowplan_model::{Content, PerTransaction, SizeDistribution};

    fn spec() -> DatasetSpec {
        DatasetSpec {
            count: 20,
            size: SizeDistribution::Fixed { bytes: 1_000 },
            content: Content::Random,
            seed: 1,
            from: None,
        }
    }

    /// One of a process in which no worker can be started.
    fn pool(work: &Path) -> Pool<'static> {
        let command = WorkerCommand::new("/nowhere/worker", &[]);
        let interrupt = Box::leak(Box::new(Interrupt::never()));
        let drivers = Box::leak(Box::new(Drivers::new(command, interrupt.clone())));
        let work = Box::leak(Box::from(work));
        Pool::new((drivers, interrupt, work), FileSystems::default(), 0)
    }

    fn build(pool: &mut Pool<'_>, cell: &Cell) -> Result<Option<PreparationRecord>> {
        pool.build(cell, &mut |_, _| ())
    }

    #[test]
    fn a_dataset_is_written_once() {
        let work = tempfile::tempdir().unwrap();
        let mut pool = pool(work.path());
        let message = pool.opened("blobs").unwrap_err().to_string();
        assert_eq!(message, "dataset 'blobs' was not prepared");
        let mut last = (0, 0);
        let mut progress = |done, total| last = (done, total);
        let record = pool
            .dataset("blobs", &spec(), &mut progress)
            .unwrap()
            .unwrap();
        assert_eq!(record.what, "dataset blobs");
        assert_eq!((record.values, record.bytes), (20, 20_000));
        assert!(last.0 <= last.1 && last.1 == 20_000, "{last:?}");
        let directory = pool.opened("blobs").unwrap().directory().to_owned();
        assert_eq!(Some(directory), pool.paths(&cell("files")).dataset);
        let again = pool.dataset("blobs", &spec(), &mut |_, _| ());
        assert_eq!(again.unwrap(), None);
    }

    #[test]
    fn cells_of_one_instance_have_one_place_and_others_another() {
        let pool = pool(Path::new("/work"));
        let at = |spec| pool.paths(&cell(spec));
        let (dir, stdio, tree) = (at("files"), at("files:read=stdio"), at("files:layout=tree"));
        assert_eq!(
            (&dir.instance, &dir.versions),
            (&stdio.instance, &stdio.versions)
        );
        assert_ne!(dir.instance, tree.instance);
        assert_ne!(dir.versions, tree.versions);
        assert_eq!(dir.dataset, tree.dataset);
        let paths = [
            Some(&dir.instance),
            dir.versions.as_ref(),
            dir.dataset.as_ref(),
        ];
        for path in paths {
            assert_eq!(path.unwrap().parent(), Some(Path::new("/work")));
        }
    }

    #[test]
    fn each_writing_block_of_an_instance_gives_a_version_of_its_own() {
        let mut pool = pool(Path::new("/work"));
        let write = |spec| writing(spec, PerTransaction::All);
        let read = cell("files");
        assert_eq!(pool.next_version(&read), 0);
        assert_eq!(pool.next_version(&write("files")), 1);
        assert_eq!(pool.next_version(&write("files:write=rename")), 2, "shared");
        assert_eq!(pool.next_version(&read), 2);
        assert_eq!(pool.next_version(&write("flat")), 1);
        assert_eq!(pool.next_version(&write("files")), 3);
    }

    #[test]
    fn a_store_in_memory_needs_no_worker_to_be_built_and_has_no_footprint() {
        let work = tempfile::tempdir().unwrap();
        let mut pool = pool(work.path());
        let cell = cell("sqlite:location=memory,journal=memory");
        assert!(build(&mut pool, &cell).unwrap().is_none());
        assert!(pool.paths(&cell).instance.is_dir());
        assert!(build(&mut pool, &cell).unwrap().is_none());
        assert!(pool.forget(&cell).unwrap());
        assert!(!pool.paths(&cell).instance.exists());
        assert!(!pool.forget(&cell).unwrap(), "it was forgotten before");
    }

    #[test]
    fn a_store_whose_building_failed_is_gone_and_can_be_tried_again() {
        let work = tempfile::tempdir().unwrap();
        let mut pool = pool(work.path());
        let cell = cell("files");
        for _ in 0..2 {
            let message = build(&mut pool, &cell).unwrap_err().to_string();
            assert!(message.contains("/nowhere/worker"), "{message}");
            assert!(!pool.paths(&cell).instance.exists());
            assert!(!pool.forget(&cell).unwrap());
        }
    }

    #[test]
    fn what_nothing_uses_any_more_is_removed_and_can_be_made_again() {
        let work = tempfile::tempdir().unwrap();
        let mut pool = pool(work.path());
        let cell = writing("files", PerTransaction::All);
        pool.dataset("blobs", &spec(), &mut |_, _| ()).unwrap();
        let paths = pool.paths(&cell);
        fs::create_dir(&paths.instance).unwrap();
        fs::write(paths.versions.as_ref().unwrap(), "").unwrap();
        pool.of_mut(&cell).is_there = true;
        assert_eq!(pool.next_version(&cell), 1);

        pool.forget(&cell).unwrap();
        pool.release_dataset("blobs").unwrap();
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 0);
        assert!(pool.opened("blobs").is_err());
        assert!(!pool.of(&cell).is_there);
        assert_eq!(pool.next_version(&cell), 2, "no bytes come again");

        pool.forget(&cell).unwrap();
        pool.release_dataset("blobs").unwrap();
        let again = pool.dataset("blobs", &spec(), &mut |_, _| ()).unwrap();
        assert!(again.is_some());
    }

    #[test]
    fn a_store_that_was_read_in_again_is_known_until_it_is_built_anew() {
        let work = tempfile::tempdir().unwrap();
        let mut pool = pool(work.path());
        let cells = [cell("files"), cell("files:read=stdio"), cell("flat")];
        pool.of_mut(&cells[0]).is_read_in_again = true;
        let known = |pool: &Pool<'_>| cells.each_ref().map(|c| pool.of(c).is_read_in_again);
        assert_eq!(known(&pool), [true, true, false], "those that share it");
        pool.forget(&cells[1]).unwrap();
        assert_eq!(known(&pool), [false; 3]);
    }

    #[test]
    fn only_stores_that_were_built_and_are_not_evicted_next_are_read_into_the_page_cache() {
        let work = tempfile::tempdir().unwrap();
        let mut pool = pool(work.path());
        let (built, missing) = (cell("files"), cell("flat"));
        assert!(pool.warm_one(&missing).is_err(), "there is nothing to read");
        let mut evicted = cell("sqlite");
        evicted.workload.cache = CacheState::AllCold;
        pool.of_mut(&evicted).is_there = true;
        let comparison = Comparison {
            id: "c".to_owned(),
            title: "C".to_owned(),
            cells: vec![built.clone(), missing, evicted],
            contrasts: Vec::new(),
            not_applicable: BTreeMap::new(),
            measure: Default::default(),
            rebuild_every: None,
            published_label: None,
            max_rounds: 10,
            judged: Default::default(),
        };
        pool.warm(&comparison).unwrap();
        pool.of_mut(&built).is_there = true;
        assert!(
            pool.warm(&comparison).is_err(),
            "it counts as built and is not there"
        );
        fs::create_dir(pool.paths(&built).instance).unwrap();
        pool.warm(&comparison).unwrap();
    }
}
