//! Stores that exist for the harness itself, never listed: they are no places for data.
//!
//! `null` does nothing, which shows what the harness costs; `spin` lasts as long as it is told, to calibrate
//! the harness and to test searches; `primitive` does one step of what stores do. The last two rest on the
//! flat store.

mod memory;
mod primitive;
mod spin;

use crate::flat::{self, FlatStore};
use crate::options::{StoreOptions, bytes, number};
use crate::store::Kind;
use crate::{Buffer, Found, Key, Result, Session, Store, StoreError, disk, options};
use primitive::{FILES, PrimitiveSession};
use spin::SpinSession;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Settings};

/// Does nothing; or nothing but read the clock, for measuring what a reading of it costs.
pub(crate) const NULL: &Kind = &Kind::new(
    (
        "null",
        "does nothing; measures the harness itself",
        NullOptions::SETTINGS,
    ),
    &|_| {
        Ok(Capabilities {
            operations: vec![Operation::Read, Operation::Overwrite, Operation::Insert],
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            threads: true,
            parallel_writers: true,
            evictable: false,
            ..Capabilities::default()
        })
    },
    &|directory, settings, _| {
        let options = NullOptions::from_settings(settings)?;
        Ok(ProbeStore::boxed(directory, None, Probe::Null(options)))
    },
);

pub(crate) const SPIN: &Kind = &Kind::new(
    (
        "spin",
        "the flat store, made to last a known time; calibrates the harness and tests searches",
        spin::Options::SETTINGS,
    ),
    &|settings| match spin::Options::from_settings(settings)?.is_flat() {
        true => flat::capabilities(&Settings::default()),
        false => NULL.capabilities(settings),
    },
    &|directory, settings, new| {
        let options = spin::Options::from_settings(settings)?;
        let to_read = flat::Options::to_read(false);
        let flat = || FlatStore::open(directory, to_read, new);
        let flat = options.is_flat().then(flat).transpose()?;
        Ok(ProbeStore::boxed(directory, flat, Probe::Spin(options)))
    },
);

pub(crate) const PRIMITIVE: &Kind = &Kind {
    keeps_values: false,
    ..Kind::new(
        (
            "primitive",
            "one step of what stores do, by itself: a part of a ladder",
            primitive::Options::SETTINGS,
        ),
        &|settings| {
            let call = primitive::Options::from_settings(settings)?.call;
            Ok(Capabilities {
                operations: call.operations().to_vec(),
                deliveries: vec![Delivery::Copy, Delivery::InPlace],
                resizes: false,
                threads: true,
                parallel_writers: true,
                // What opening a file or touching a page costs where it is not cached is no step of the
                // processor's.
                evictable: false,
                syncs_per_commit: u32::from(call.syncs()),
                ..Capabilities::default()
            })
        },
        &|directory, settings, new| {
            let call = primitive::Options::from_settings(settings)?.call;
            let files = directory.join(FILES);
            if new {
                fs::create_dir(&files).map_err(StoreError::io("make directory", &files))?;
            }
            let options = flat::Options::to_read(call.syncs());
            let flat = FlatStore::open(directory, options, new)?;
            let probe = Probe::Primitive(call);
            Ok(ProbeStore::boxed(directory, Some(flat), probe))
        },
    )
};

/// What a store does.
enum Probe {
    Null(NullOptions),
    Spin(spin::Options),
    Primitive(primitive::Call),
}

struct ProbeStore {
    directory: PathBuf,
    /// None where nothing is kept.
    flat: Option<FlatStore>,
    probe: Probe,
}

impl ProbeStore {
    fn boxed(directory: &Path, flat: Option<FlatStore>, probe: Probe) -> Box<dyn Store> {
        Box::new(Self {
            directory: directory.to_owned(),
            flat,
            probe,
        })
    }
}

impl Store for ProbeStore {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(match self.probe {
            Probe::Null(NullOptions { bytes, clock }) => Box::new(NullSession {
                value: vec![0; bytes],
                readings: clock,
            }),
            Probe::Spin(options) => Box::new(SpinSession::new(self, options)?),
            Probe::Primitive(call) => Box::new(PrimitiveSession::new(self, call)?),
        })
    }

    fn footprint(&self) -> Result<Footprint> {
        match self.flat {
            Some(_) => disk::footprint_of_tree(&self.directory),
            None => Ok(Footprint::default()),
        }
    }

    fn data_files(&self, _: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        self.flat.iter().map(FlatStore::path).collect()
    }

    fn checkpoint(&self) -> Result<()> {
        self.flat.as_ref().map_or(Ok(()), Store::checkpoint)
    }
}

options! {
    /// The settings of `null`, typed.
    struct NullOptions {
        bytes: usize = bytes(0, 1 << 30, "1", "size that every value claims to have"),
        /// The calibration takes the difference between a read with many readings and one with none.
        clock: u64 =
            number(0, 1000, "0", "how often every read reads the monotonic clock"),
    }
}

struct NullSession {
    value: Vec<u8>,
    readings: u64,
}

impl NullSession {
    #[inline]
    fn read_clock(&self) {
        for _ in 0..self.readings {
            black_box(Instant::now());
        }
    }
}

impl Session for NullSession {
    fn read_into(&mut self, _: Key, _: &mut Buffer) -> Result<Found> {
        self.read_clock();
        Ok(Found::Bytes(self.value.len()))
    }

    fn read_in_place(&mut self, _: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.read_clock();
        visit(&self.value);
        Ok(Found::Bytes(self.value.len()))
    }

    fn insert(&mut self, _: Key, _: &[u8]) -> Result<()> {
        Ok(())
    }

    fn overwrite(&mut self, _: Key, value: &[u8]) -> Result<Found> {
        Ok(Found::Bytes(value.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_value_of_the_claimed_size_and_nothing_is_kept() {
        let mut settings = Settings::default();
        settings.set("bytes", stowplan_model::Value::Number(7));
        let store = NULL.create(Path::new("/nowhere"), &settings).unwrap();
        let mut session = store.connect().unwrap();
        let mut buffer = Buffer::with_capacity(16).unwrap();
        assert_eq!(session.overwrite(Key(3), &[1; 9]).unwrap(), Found::Bytes(9));
        let found = session.read_into(Key(3), &mut buffer).unwrap();
        assert_eq!(found, Found::Bytes(7));
        let mut lent = 0;
        session
            .read_in_place(Key(9), &mut |value| lent = value.len())
            .unwrap();
        assert_eq!(lent, 7);
    }
}
