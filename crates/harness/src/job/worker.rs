//! A worker that serves one store: its tasks, one by one.

use super::outside::io;
use super::{Job, Values};
use crate::shared_file::SharedFile;
use crate::worker_process::{Limits, WorkerCommand, WorkerProcess};
use crate::{HarnessError, Progress, Result, disk};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stowplan_dataset::{Dataset, room};
use stowplan_model::{
    At, Delivery, Dump, FromDriver, Inspect, Inspected, Load, Rest, Settings, StoreSpec, ToDriver,
    Value, Want,
};

/// Bytes of values that are dumped at a time.
const DUMPED_BYTES: u64 = 8 << 20;
/// Values that are dumped at a time.
const DUMPED_VALUES: usize = 20_000;

/// Is shown values in their order, by position; nothing of one that is missing.
type Show<'s> = &'s mut dyn FnMut(usize, Option<&[u8]>);

/// A worker that does something for a job, at one place.
pub(super) struct Worker<'j> {
    pub(super) job: &'j Job,
    pub(super) values: &'j Values,
    pub(super) process: WorkerProcess,
    pub(super) at: At,
    /// The process by which the run has started its server, if it has.
    pub(super) server: Option<u32>,
    /// What was dumped last.
    dumped: Vec<u8>,
}

/// What it took to bring what was written to rest.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Drain {
    pub(super) ns: u64,
    /// Bytes sent to storage meanwhile; nothing where the system does not tell.
    pub(super) write_bytes: Option<u64>,
}

impl<'j> Worker<'j> {
    pub(super) fn start(
        job: &'j Job,
        values: &'j Values,
        place: &Path,
        command: &WorkerCommand,
    ) -> Result<Self> {
        let at = At {
            store: job.store.clone(),
            place: place.to_owned(),
        };
        Ok(Self {
            process: WorkerProcess::start(command, &job.interrupt)?,
            server: command.environment.process_of(&at.store),
            job,
            values,
            at,
            dumped: Vec::new(),
        })
    }

    /// Has it do what names nothing but the store.
    pub(super) fn does(&mut self, task: fn(At) -> ToDriver) -> Result<()> {
        let limits = self.process.patience.ready();
        let task = task(self.at.clone());
        self.process.done(&task, limits, &mut |_, _| ())
    }

    /// Has it make the store, and load all of a dataset.
    pub(super) fn load(&mut self, dataset: &Dataset, progress: Progress<'_>) -> Result<()> {
        self.does(ToDriver::Create)?;
        let task = ToDriver::Load(Load {
            at: self.at.clone(),
            dataset: dataset.directory().to_owned(),
            first: 1,
            count: dataset.count(),
        });
        let limits = self.process.patience.telling(dataset.count());
        self.process.done(&task, limits, progress)
    }

    /// Has it make a block ready; returns the settings that the engine reports.
    pub(super) fn ready(&mut self, run: &ToDriver) -> Result<Settings> {
        let limits = self.process.patience.ready();
        match self.process.ask(run, limits)? {
            FromDriver::Ready { effective } => Ok(without_secrets(effective, &self.at.store)),
            other => Err(self.process.unexpected(&other)),
        }
    }

    /// Has it do the block, or a part of it.
    pub(super) fn go(&mut self, limits: Limits) -> Result<FromDriver> {
        self.process.ask(&ToDriver::Go, limits)
    }

    /// Has it bring what was written to rest and close the store, and then the disk have all of it
    /// (R10). Nothing is read or checked before: what an engine writes meanwhile would be counted
    /// nowhere.
    pub(super) fn rest(&mut self, checkpoint: bool) -> Result<Drain> {
        let id = self.process.id();
        let before = io(id);
        let began = Instant::now();
        let limits = self.process.patience.telling(0);
        let task = ToDriver::Rest(Rest { checkpoint });
        // The drain ends with the last activity, not when it is clear that none follows.
        let watched_ns = match self.process.ask(&task, limits)? {
            FromDriver::Done => 0,
            FromDriver::AtRest { watched_ns } => watched_ns,
            other => return Err(self.process.unexpected(&other)),
        };
        let after = io(id);
        if self.at.place.is_dir() {
            room::sync_filesystem(&self.at.place)?;
        }
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let written = before.zip(after);
        Ok(Drain {
            ns: took.saturating_sub(watched_ns),
            write_bytes: written.map(|(before, after)| after.since(&before).storage_write_bytes),
        })
    }

    /// Asks it what lies where.
    pub(super) fn inspect(&mut self, keys: Option<&SharedFile>, want: Want) -> Result<Inspected> {
        let limits = self.process.patience.telling(0);
        let task = ToDriver::Inspect(Inspect {
            at: self.at.clone(),
            keys: keys.map(|keys| keys.path().to_owned()),
            want: vec![want],
        });
        match self.process.ask(&task, limits)? {
            FromDriver::Inspected(found) => Ok(found),
            other => Err(self.process.unexpected(&other)),
        }
    }

    /// The files that hold the data of keys: those that the driver names, or all below the place.
    pub(super) fn files(&mut self, keys: impl Iterator<Item = u64>) -> Result<Vec<PathBuf>> {
        let keys = SharedFile::of_numbers(keys)?;
        match self.inspect(Some(&keys), Want::Files)?.files {
            Some(files) => Ok(files),
            None => Ok(disk::below(&self.at.place)?.1),
        }
    }

    /// Shows the values of keys, in their order; nothing of those that are missing. `keys` come with
    /// the bytes that their values are thought to have.
    pub(super) fn show(
        &mut self,
        keys: &[(u64, u32)],
        delivery: Delivery,
        show: Show<'_>,
    ) -> Result<()> {
        let mut from = 0;
        while from < keys.len() {
            let mut bytes = 0;
            let fits = |(_, size): &&(u64, u32)| {
                bytes += u64::from(*size);
                bytes <= DUMPED_BYTES
            };
            let rest = keys[from..].iter().take(DUMPED_VALUES);
            let to = from + rest.take_while(fits).count().max(1);
            self.dump(&keys[from..to], delivery, &mut |index, value| {
                show(from + index, value);
            })?;
            from = to;
        }
        Ok(())
    }

    fn dump(&mut self, keys: &[(u64, u32)], delivery: Delivery, show: Show<'_>) -> Result<()> {
        let asked = SharedFile::of_numbers(keys.iter().map(|(key, _)| *key))?;
        let to = SharedFile::create()?;
        let task = ToDriver::Dump(Dump {
            at: self.at.clone(),
            keys: asked.path().to_owned(),
            to: to.path().to_owned(),
            delivery,
        });
        let limits = self.process.patience.telling(keys.len() as u64);
        self.process.done(&task, limits, &mut |_, _| ())?;
        // Not mapped: what the driver still has open it could cut.
        self.dumped.clear();
        let read = to.file().read_to_end(&mut self.dumped);
        read.map_err(HarnessError::io("read", to.path()))?;
        let mut rest = &self.dumped[..];
        for (index, (key, _)) in keys.iter().enumerate() {
            let Some(value) = next_value(&mut rest) else {
                let why = format!("what was dumped of key {key} is cut");
                return Err(self.process.failed(&why));
            };
            show(index, value);
        }
        Ok(())
    }

    /// A failure of the store, which is named in it.
    pub(super) fn wrong(&mut self, why: &str) -> HarnessError {
        self.process
            .failed(&format!("{}: {why}", self.at.store.kind))
    }
}

/// Takes the next value off a dump, nothing of one that is missing; nothing at all where the dump is cut.
fn next_value<'d>(dump: &mut &'d [u8]) -> Option<Option<&'d [u8]>> {
    let length = u64::from_le_bytes(dump.split_off(..8)?.try_into().ok()?);
    match length {
        u64::MAX => Some(None),
        length => Some(Some(dump.split_off(..usize::try_from(length).ok()?)?)),
    }
}

/// Settings as an engine reports them; what was given by the name of a variable of the environment
/// stays that name: its value stands in no result.
fn without_secrets(mut effective: Settings, store: &StoreSpec) -> Settings {
    for (name, value) in &store.settings {
        if value.starts_with('$') && effective.get(name).is_some() {
            effective.set(name, Value::Word(value.clone()));
        }
    }
    effective
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_a_driver_reports_stays_the_name_of_its_variable() {
        let store = "server:dsn=$DSN,cache=4096".parse().unwrap();
        let mut effective = Settings::default();
        effective.set("dsn", Value::Word("user:password@host".to_owned()));
        effective.set("cache", Value::Number(4096));
        let seen = without_secrets(effective, &store).to_string();
        assert_eq!(seen, "cache=4096,dsn=$DSN");
    }
}
