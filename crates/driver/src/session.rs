//! One store in one place: what a parent asks of it, task by task.

use crate::load::{PROGRESS_EVERY, load, load_in_parallel, threads};
use crate::run::{self, Open};
use crate::wire::Wire;
use crate::{DriverError, Result};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use stowplan_dataset::Dataset;
use stowplan_model::{
    At, Delivery, Dump, FromDriver, Inspect, Inspected, Load, Rest, ToDriver, Want,
};
use stowplan_stores::registry::{Kinds, Resolved};
use stowplan_stores::{self as stores, Access, Buffer, Found, Key, Store, StoreError};

/// The store that a task names.
pub(crate) struct Session {
    at: At,
    resolved: Resolved,
}

/// Why the tasks of a session ended.
enum Ended {
    /// The store is to be brought to rest.
    Rest(Rest),
    /// The parent is gone, or said `bye`.
    Bye,
}

impl Session {
    pub(crate) fn of(task: &ToDriver, kinds: Kinds<'_>) -> Result<Self> {
        let at = match task {
            ToDriver::Create(at) | ToDriver::Remove(at) => at,
            ToDriver::Load(load) => &load.at,
            ToDriver::Run(run) => &run.at,
            ToDriver::Dump(dump) => &dump.at,
            ToDriver::Inspect(inspect) => &inspect.at,
            ToDriver::Describe(_) | ToDriver::Go | ToDriver::Rest(_) | ToDriver::Bye => {
                return Err(DriverError::invalid("no store is named"));
            }
        };
        Ok(Self {
            at: at.clone(),
            // The budget only fills a `cache` that a spec leaves open, and a task spells out all.
            resolved: kinds.resolve(&at.store, 0)?,
        })
    }

    /// Does a task and those that follow it, until the store is at rest or the parent is gone; whether
    /// the parent is still there.
    pub(crate) fn serve(&self, first: ToDriver, wire: &mut Wire<'_>) -> Result<bool> {
        let served = self.served(first, wire);
        served.map_err(|error| error.of(self.resolved.kind.name()))
    }

    fn served(&self, first: ToDriver, wire: &mut Wire<'_>) -> Result<bool> {
        let Self { at, resolved } = self;
        if let ToDriver::Remove(_) = first {
            resolved.kind.remove_below(&at.place, &resolved.settings)?;
            return wire.say(&FromDriver::Done).map(|()| true);
        }
        // What forgets on closing is there only once it is made.
        let new = matches!(first, ToDriver::Create(_)) || !self.resolved.capabilities.persistent;
        let store = if new {
            resolved.kind.create(&at.place, &resolved.settings)?
        } else {
            resolved.kind.open(&at.place, &resolved.settings)?
        };
        let rest = match self.tasks(&*store, first, wire)? {
            Ended::Rest(rest) => rest,
            Ended::Bye => return Ok(false),
        };
        let watched = stowplan_stores::watched();
        if rest.checkpoint {
            store.checkpoint()?;
        }
        // Many an engine writes once more when it ends.
        store.close()?;
        let watched = stowplan_stores::watched().saturating_sub(watched);
        wire.say(&match u64::try_from(watched.as_nanos()) {
            Ok(watched_ns @ 1..) => FromDriver::AtRest { watched_ns },
            _ => FromDriver::Done,
        })?;
        Ok(true)
    }

    fn tasks(&self, store: &dyn Store, first: ToDriver, wire: &mut Wire<'_>) -> Result<Ended> {
        let open = &mut Open {
            store,
            resolved: &self.resolved,
            session: None,
        };
        let mut next = Some(first);
        let ended = loop {
            let answer = match next {
                Some(ToDriver::Create(_)) => FromDriver::Done,
                Some(ToDriver::Load(asked)) => {
                    self.load(&asked, open, wire)?;
                    FromDriver::Done
                }
                Some(ToDriver::Run(asked)) => FromDriver::Measured(run::run(&asked, open, wire)?),
                Some(ToDriver::Dump(asked)) => {
                    dump(&asked, &mut **open.session()?, wire)?;
                    FromDriver::Done
                }
                Some(ToDriver::Inspect(asked)) => FromDriver::Inspected(inspect(&asked, open)?),
                Some(ToDriver::Rest(rest)) => break Ended::Rest(rest),
                Some(ToDriver::Bye) | None => break Ended::Bye,
                Some(ToDriver::Go | ToDriver::Describe(_) | ToDriver::Remove(_)) => {
                    return Err(DriverError::invalid(
                        "neither 'go', 'describe' nor 'remove' is expected while a store is open",
                    ));
                }
            };
            wire.say(&answer)?;
            next = wire.hear()?;
        };
        if let Some(session) = open.session.take() {
            session.close()?;
        }
        Ok(ended)
    }

    fn load(&self, asked: &Load, open: &mut Open<'_>, wire: &mut Wire<'_>) -> Result<()> {
        let dataset = Dataset::open(&asked.dataset)?;
        let last = asked.first.saturating_add(asked.count).saturating_sub(1);
        if asked.first == 0 || last > dataset.count() {
            return Err(DriverError::invalid(format!(
                "the dataset has no values {} to {last}",
                asked.first
            )));
        }
        let keys = asked.first..=last;
        if open.lasts() {
            let resolved = &self.resolved;
            let parallel = resolved.capabilities.parallel_writers;
            let threads = threads(parallel, resolved.kind.lies_elsewhere());
            return load_in_parallel(open.store, &dataset, &keys, threads, wire);
        }
        // Nothing of it is left without a connection.
        let mut done = 0;
        load(&mut **open.session()?, &dataset, keys, &mut |more| {
            done += more;
            wire.say(&FromDriver::Progress {
                done,
                total: asked.count,
            })
        })
    }
}

/// Writes the values of keys to a file.
fn dump(asked: &Dump, store: &mut dyn stores::Session, wire: &mut Wire<'_>) -> Result<()> {
    let keys = keys_in(&asked.keys)?;
    let failed = || DriverError::io("write", &asked.to);
    let file = File::create(&asked.to).map_err(failed())?;
    let mut out = BufWriter::with_capacity(1 << 18, file);
    let mut buffer = Buffer::with_capacity(0)?;
    let mut session = match store.begin(Access::Read) {
        Ok(()) => Some(store),
        Err(error) if error.is_no_table() => None,
        Err(error) => return Err(error.into()),
    };
    for (done, key) in (1..).zip(&keys) {
        let mut written = Ok(());
        let mut put = |value: &[u8]| {
            let length = (value.len() as u64).to_le_bytes();
            written = out.write_all(&length).and_then(|()| out.write_all(value));
        };
        let found = match (&mut session, asked.delivery) {
            (None, _) => Ok(Found::Missing),
            (Some(session), Delivery::InPlace) => session.read_in_place(Key(*key), &mut put),
            (Some(session), Delivery::Copy) => {
                let found = session.read_into(Key(*key), &mut buffer);
                if let Ok(Found::Bytes(_)) = found {
                    put(buffer.bytes());
                }
                found
            }
        };
        written.map_err(failed())?;
        if missing(found)? {
            out.write_all(&u64::MAX.to_le_bytes()).map_err(failed())?;
        }
        if done % PROGRESS_EVERY == 0 {
            let total = keys.len() as u64;
            wire.say(&FromDriver::Progress { done, total })?;
        }
    }
    if let Some(session) = &mut session {
        session.commit()?;
    }
    out.flush().map_err(failed())
}

/// Whether there is no such value; where the table was dropped there is none.
fn missing(found: Result<Found, StoreError>) -> Result<bool> {
    match found {
        Ok(found) => Ok(found == Found::Missing),
        Err(error) if error.is_no_table() => Ok(true),
        Err(error) => Err(error.into()),
    }
}

fn inspect(asked: &Inspect, open: &mut Open<'_>) -> Result<Inspected> {
    let keys = match &asked.keys {
        Some(path) => keys_in(path)?,
        None => Vec::new(),
    };
    let keys = || keys.iter().copied().map(Key);
    let mut found = Inspected::default();
    for want in &asked.want {
        match want {
            Want::Footprint => found.footprint = Some(open.store.footprint()?),
            Want::Files => found.files = Some(open.store.data_files(&mut keys())),
            Want::PageFill => {
                let fill = open.session()?.page_fill()?;
                (found.page_fill, found.index_fill) = (fill.table, fill.index);
            }
        }
    }
    Ok(found)
}

/// The keys in a file.
fn keys_in(path: &Path) -> Result<Vec<u64>> {
    let bytes = fs::read(path).map_err(DriverError::io("read", path))?;
    let (keys, _) = bytes.as_chunks();
    Ok(keys.iter().map(|key| u64::from_le_bytes(*key)).collect())
}
