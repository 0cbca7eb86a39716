//! The operations, as requests.

use crate::STORE;
use crate::bucket::Server;
use stowplan_stores::{Access, Buffer, Found, Key, Result, Session, StoreError};

pub(crate) struct S3Session<'c>(pub(crate) &'c Server);

impl S3Session<'_> {
    fn show(&self, key: Key, show: impl FnOnce(&[u8]) -> Result<()>) -> Result<Found> {
        let Self(server) = self;
        let Some(value) = server.get(&server.object(key))? else {
            return Ok(Found::Missing);
        };
        show(&value)?;
        Ok(Found::Bytes(value.len()))
    }
}

impl Session for S3Session<'_> {
    fn begin(&mut self, _: Access) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        let why = "it has no transactions that could be undone";
        Err(StoreError::unsupported(STORE, "roll back", why))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.show(key, |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.show(key, |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let Self(server) = self;
        match server.put(&server.object(key), value, true)? {
            true => Ok(()),
            false => Err(StoreError::key_exists(STORE, key)),
        }
    }

    /// The protocol has no replacing of what must be there: one that is not is made.
    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let Self(server) = self;
        server.put(&server.object(key), value, false)?;
        Ok(Found::Bytes(value.len()))
    }

    /// The protocol does not tell whether it was there.
    fn delete(&mut self, key: Key) -> Result<bool> {
        let Self(server) = self;
        server.delete(&server.object(key)).map(|()| true)
    }

    /// A list of names, and a request for each value.
    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let Self(server) = self;
        let before = server.object(Key(from.0.saturating_sub(1)));
        let first = server.object(Key(0));
        let prefix = first.trim_end_matches('0');
        let names = server.list(prefix, &before, limit)?;
        for (name, _) in &names {
            let number = u64::from_str_radix(name.rsplit('/').next().unwrap_or_default(), 16);
            let (Ok(number), Some(value)) = (number, server.get(name)?) else {
                return Err(StoreError::engine(
                    STORE,
                    "scan",
                    format!("{name} is no value"),
                ));
            };
            visit(Key(number), &value);
        }
        Ok(names.len())
    }
}
