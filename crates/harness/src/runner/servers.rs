//! Servers of a run: started before the first store is built, and rid of what the run made on others.

use super::Runner;
use crate::Result;
use crate::interrupt::Interrupt;
use crate::job::{CellPaths, Job};
use crate::worker_process::{self, Servers};
use std::collections::BTreeMap;
use stowplan_model::{Cell, StoreSpec};

impl Runner<'_> {
    /// Starts the servers that cells ask for and nobody has named. One that does not come up fails the
    /// cells that ask for it.
    pub(super) fn start_servers(&mut self) -> Result<Servers> {
        let options = self.options;
        let mut servers = Servers::of(options.drivers.environment());
        let given = &self.plan.study.servers;
        for variable in worker_process::asked(self.plan.cells().map(|cell| &cell.settings)) {
            match servers.start(&variable, given, &options.work, &options.interrupt) {
                Err(error) if error.is_of_a_store() => {
                    let asks = |cell: &&Cell| {
                        worker_process::asked([&cell.settings].into_iter()).contains(&variable)
                    };
                    let why = error.split();
                    for cell in self.plan.cells().filter(asks) {
                        options.drivers.fails(&cell.store, why.clone());
                    }
                }
                started => started?,
            }
        }
        Ok(servers)
    }

    /// Has drivers remove what stores of this run have on servers that go on running.
    pub(super) fn clear_servers(&mut self) -> Result<()> {
        if self.options.keep {
            return Ok(());
        }
        let drivers = &self.options.drivers;
        let elsewhere = |cell: &&Cell| {
            let answers = drivers.failure(&cell.store).is_none();
            answers && drivers.kind(&cell.store).is_ok_and(|kind| kind.elsewhere)
        };
        let goes_on = |cell: &&Cell| {
            let store = StoreSpec::spelled_out(cell.store.name(), &cell.settings);
            drivers.environment().process_of(&store).is_none()
        };
        let cells = self.plan.cells().filter(elsewhere);
        let cells = cells.map(|cell| ((cell.driver.as_str(), cell.settings.word("url")), cell));
        let cells: BTreeMap<(&str, &str), &Cell> = cells.collect();
        let mut left = Vec::new();
        for cell in cells.into_values().filter(goes_on) {
            let paths = CellPaths::brought_along(&self.options.work);
            let job = Job::of(cell, paths, drivers, &Interrupt::never())?;
            if let Err(error) = job.remove_below() {
                left.push(format!(
                    "What {} made on its server may be there still: {error}.",
                    job.store.kind
                ));
            }
        }
        left.into_iter().try_for_each(|what| {
            self.remark(what, "docs/servers.md says how to find and remove it.")
        })
    }
}
