//! The three databases and the carrier as one store.

use super::carrier::Carrier;
use super::coordinator::Coordinator;
use super::session::BufferedSession;
use super::{DATABASE_FILE, Options, ours};
use crate::sqlite::base::{Base, Link};
use crate::{Connection, Key, Result, Session, Store, disk};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stowplan_model::{Footprint, Settings};

pub(super) struct BufferedStore {
    directory: PathBuf,
    settings: Settings,
    coordinator: Arc<Coordinator>,
    /// Carries over what is left, when the store goes.
    _carrier: Carrier,
}

impl BufferedStore {
    pub(super) fn create(directory: &Path, settings: &Settings) -> Result<Self> {
        let options = Options::from_settings(settings)?;
        let base = base(directory, &options);
        base.create().map_err(ours)?;
        Self::start(directory, settings, base, &options)
    }

    pub(super) fn open(directory: &Path, settings: &Settings) -> Result<Self> {
        let options = Options::from_settings(settings)?;
        let base = base(directory, &options);
        base.check().map_err(ours)?;
        Self::start(directory, settings, base, &options)
    }

    fn start(directory: &Path, settings: &Settings, base: Base, options: &Options) -> Result<Self> {
        let coordinator = Arc::new(Coordinator::new(base, options)?);
        Ok(Self {
            directory: directory.to_owned(),
            settings: settings.clone(),
            _carrier: Carrier::start(&coordinator)?,
            coordinator,
        })
    }
}

fn base(directory: &Path, options: &Options) -> Base {
    Base::new(directory.join(DATABASE_FILE), options.database.clone())
}

impl Store for BufferedStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        let _undisturbed = self.coordinator.reading_disk();
        Ok(Box::new(BufferedConnection {
            store: self,
            number: self.coordinator.number_connection(),
            link: self.coordinator.base.connect().map_err(ours)?,
        }))
    }

    /// What is on disk by now: changes in memory take no space there.
    fn footprint(&self) -> Result<Footprint> {
        // A carry-over may make and remove a journal.
        self.coordinator
            .beside_carrier(|| disk::footprint_of_tree(&self.directory))
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        self.coordinator.base.data_files().collect()
    }

    /// Carries everything over first.
    fn checkpoint(&self) -> Result<()> {
        self.coordinator.drain("checkpoint")?;
        self.coordinator
            .beside_carrier(|| self.coordinator.base.checkpoint().map_err(ours))
    }
}

struct BufferedConnection<'s> {
    store: &'s BufferedStore,
    number: u64,
    link: Link<'s>,
}

impl Connection for BufferedConnection<'_> {
    fn session(&mut self) -> Result<Box<dyn Session + '_>> {
        let _undisturbed = self.store.coordinator.reading_disk();
        let (connection, _) = self.link.begin_session().map_err(ours)?;
        let session = BufferedSession::new(&self.store.coordinator, self.number, connection)?;
        Ok(Box::new(session))
    }

    /// What SQLite reports of the database on disk; the window is this program's own doing, so
    /// it is as asked.
    fn effective_settings(&self) -> Result<Settings> {
        let _undisturbed = self.store.coordinator.reading_disk();
        self.link
            .effective_settings_of(&self.store.settings)
            .map_err(ours)
    }

    /// Carries everything over, also what other connections have committed.
    fn close(self: Box<Self>) -> Result<()> {
        let drained = self.store.coordinator.drain("close");
        let _undisturbed = self.store.coordinator.reading_disk();
        drained.and(self.link.close().map_err(ours))
    }
}
