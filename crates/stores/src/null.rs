//! A store that does nothing, for measuring what the harness itself costs per operation; or nothing
//! but read the clock, for measuring what a reading of it costs.

use crate::options::{StoreOptions as _, bytes, number};
use crate::store::Plain;
use crate::{Buffer, Connection, Found, Key, Result, Session, Store, StoreKind, options};
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;
use stowplan_model::{Capabilities, Delivery, Operation, Setting, Settings};

/// See the module. Never listed: its figures say nothing about places for data.
pub(crate) struct Null;

options! {
    /// The settings, typed.
    struct Options {
        bytes: usize = bytes(0, 1 << 30, "1", "size that every value claims to have"),
        /// The calibration takes the difference between a read with many readings and one with none.
        clock: u64 =
            number(0, 1000, "0", "how often every read reads the monotonic clock"),
    }
}

impl StoreKind for Null {
    fn name(&self) -> &'static str {
        "null"
    }

    fn about(&self) -> &'static str {
        "does nothing; measures the harness itself"
    }

    fn settings(&self) -> &'static [Setting] {
        Options::SETTINGS
    }

    fn capabilities(&self, _: &Settings) -> Result<Capabilities> {
        Ok(Capabilities {
            operations: vec![Operation::Read, Operation::Overwrite, Operation::Insert],
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            threads: true,
            parallel_writers: true,
            evictable: false,
            ..Capabilities::default()
        })
    }

    fn create(&self, _: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        Ok(Box::new(NullStore {
            options: Options::from_settings(settings)?,
            settings: settings.clone(),
        }))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        self.create(directory, settings)
    }
}

struct NullStore {
    options: Options,
    settings: Settings,
}

impl Store for NullStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(Plain {
            store: self,
            settings: &self.settings,
            session: || {
                Ok(NullSession {
                    value: vec![0; self.options.bytes],
                    readings: self.options.clock,
                })
            },
        }))
    }
}

pub(crate) struct NullSession {
    value: Vec<u8>,
    readings: u64,
}

impl NullSession {
    /// Of values that all have no bytes.
    pub(crate) fn of_empty_values() -> Self {
        Self {
            value: Vec::new(),
            readings: 0,
        }
    }

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
        let store = Null.create(Path::new("/nowhere"), &settings).unwrap();
        let mut connection = store.connect().unwrap();
        let mut session = connection.session().unwrap();
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
