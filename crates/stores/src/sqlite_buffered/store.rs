//! Memory, the database on disk and the carrier as one store.

use super::Options;
use super::buffer::Shared;
use super::session::BufferedSession;
use crate::sqlite::base::{Base, Link};
use crate::{Connection, Key, Result, Session, Store, StoreError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use stowplan_model::{Footprint, Settings};

pub(super) struct BufferedStore {
    settings: Settings,
    shared: Arc<Shared>,
    /// Carries over what is left, when the store goes.
    carrier: Option<JoinHandle<()>>,
}

impl BufferedStore {
    /// Opens the store, or makes it first.
    pub(super) fn start(directory: &Path, settings: &Settings, new: bool) -> Result<Self> {
        let options = Options::of(settings)?;
        let database = options.database.clone();
        let base = Base::of_store(directory, database);
        base.open(new)?;
        let shared = Arc::new(Shared::new(base, options));
        let carrying = Arc::clone(&shared);
        let carrier = thread::Builder::new()
            .name("carrier".to_owned())
            .spawn(move || carrying.carry())
            .map_err(|error| {
                StoreError::engine("start the thread that carries over", error.to_string())
            })?;
        Ok(Self {
            settings: settings.clone(),
            shared,
            carrier: Some(carrier),
        })
    }
}

impl Drop for BufferedStore {
    fn drop(&mut self) {
        self.shared.stop();
        if let Some(carrier) = self.carrier.take() {
            // It returns nothing, and a panic of its has been printed.
            let _ = carrier.join();
        }
        // A last attempt, which nobody is left to hear of.
        let _ = self.shared.drain("close");
    }
}

impl Store for BufferedStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let link = self.shared.base.link()?;
        Ok(Box::new(BufferedConnection { store: self, link }))
    }

    /// What is on disk by now: changes in memory take no space there.
    fn footprint(&self) -> Result<Footprint> {
        let _alone = self.shared.carrying.lock();
        self.shared.base.footprint()
    }

    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        self.shared.base.data_files(keys)
    }

    /// Carries everything over first.
    fn checkpoint(&self) -> Result<()> {
        self.shared.drain("checkpoint")?;
        let _alone = self.shared.carrying.lock();
        self.shared.base.checkpoint()
    }
}

struct BufferedConnection<'s> {
    store: &'s BufferedStore,
    link: Link<'s>,
}

impl Connection for BufferedConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let shared = &*self.store.shared;
        let disk = self.link.rows()?;
        Ok(Box::new(BufferedSession::new(shared, disk)))
    }

    /// What SQLite reports of the database on disk; the window is this program's own doing, so
    /// it is as asked.
    fn effective_settings(&self) -> Result<Settings> {
        self.link.effective_settings_of(&self.store.settings)
    }

    /// Carries everything over, also what other connections have committed.
    fn close(self: Box<Self>) -> Result<()> {
        let drained = self.store.shared.drain("close");
        drained.and(self.link.close())
    }
}
