//! Operations on the flat file.

use super::index::{MOST_KEYS, Span};
use super::{FlatStore, ReadMode};
use crate::options::refuse;
use crate::{Access, Buffer, Found, Key, Result, Session, StoreError, Visit};
use rustix::io::retry_on_intr;

pub(crate) struct FlatSession<'s> {
    store: &'s FlatStore,
    /// Whether a transaction is open: a store without transactions has a use for that only here.
    open: bool,
    /// Whether it wrote.
    wrote: bool,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'s> FlatSession<'s> {
    pub(crate) fn of(store: &'s FlatStore) -> Result<Self> {
        Ok(Self {
            store,
            open: false,
            wrote: false,
            scanned: Buffer::with_capacity(0)?,
        })
    }

    fn reads_mapped(&self) -> bool {
        self.store.options.read == ReadMode::Mmap
    }

    /// The value where the mapping has it.
    fn mapped(&self, key: Key, span: Span) -> Result<&'s [u8]> {
        let map = self.store.map.as_deref().unwrap_or_default();
        let start = usize::try_from(span.offset).ok();
        let place = start.zip(usize::try_from(span.end()).ok());
        let value = place.and_then(|(start, end)| map.get(start..end));
        value.ok_or_else(|| short(key, span, 0))
    }

    fn pread(&self, key: Key, span: Span, buffer: &mut Buffer) -> Result<()> {
        let len = usize::try_from(span.len).map_err(|_| short(key, span, 0))?;
        let room = buffer.room(len)?;
        let mut read = 0;
        while read < len {
            let target = &mut room[read..];
            let offset = span.offset + read as u64;
            match retry_on_intr(|| rustix::io::pread(&self.store.values, &mut *target, offset)) {
                Ok(0) => return Err(short(key, span, read)),
                Ok(n) => read += n,
                Err(errno) => return Err(StoreError::io("read", &self.store.path())(errno)),
            }
        }
        Ok(())
    }

    /// What was written is committed, or will be with its transaction.
    fn written(&mut self) -> Result<()> {
        self.wrote = self.open;
        if self.open {
            return Ok(());
        }
        self.sync()
    }

    fn sync(&self) -> Result<()> {
        match self.store.options.syncs() {
            true => self.store.sync(),
            false => Ok(()),
        }
    }
}

fn short(key: Key, span: Span, present: usize) -> StoreError {
    let detail = format!("the file ends after {present} of its {} bytes", span.len);
    StoreError::damaged(key, detail)
}

fn found(span: Span) -> Found {
    Found::Bytes(span.len as usize)
}

impl Session for FlatSession<'_> {
    /// Writes down where values lie.
    fn close(self: Box<Self>) -> Result<()> {
        self.store.save()
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        self.open = access == Access::Write;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        self.open = false;
        match std::mem::take(&mut self.wrote) {
            true => self.sync(),
            false => Ok(()),
        }
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(span) = self.store.span(key) else {
            return Ok(Found::Missing);
        };
        match self.reads_mapped() {
            true => buffer.copy_from(self.mapped(key, span)?)?,
            false => self.pread(key, span, buffer)?,
        }
        Ok(found(span))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        refuse! {
            !self.reads_mapped() => "deliver in place",
                "pread copies; use read=mmap, or delivery \"copy\"";
        }
        let Some(span) = self.store.span(key) else {
            return Ok(Found::Missing);
        };
        visit(self.mapped(key, span)?);
        Ok(found(span))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        refuse! {
            key.0 >= MOST_KEYS => format!("insert key {key}"),
                "where its values lie is looked up by position, for keys below 2^28";
        }
        let span = self.store.append(value)?;
        if !self.store.index.write().add(key, span) {
            return Err(StoreError::key_exists(key));
        }
        self.written()
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let Some(span) = self.store.span(key) else {
            return Ok(Found::Missing);
        };
        refuse! {
            span.len != value.len() as u64 => format!("overwrite {} bytes by {}", span.len, value.len()),
                "a flat file has no room to grow into; overwrite with the same size";
        }
        self.store.write(value, span.offset)?;
        self.written()?;
        Ok(found(span))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        if self.store.span(key).is_none() {
            return Ok(false);
        }
        self.store.append(&key.0.to_le_bytes())?;
        let removed = self.store.index.write().remove(key);
        if removed {
            self.written()?;
        }
        Ok(removed)
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let places: Vec<_> = self.store.index.read().from(from).take(limit).collect();
        let mut buffer = std::mem::replace(&mut self.scanned, Buffer::with_capacity(0)?);
        for (key, span) in &places {
            if self.reads_mapped() {
                visit(*key, self.mapped(*key, *span)?);
            } else {
                self.pread(*key, *span, &mut buffer)?;
                visit(*key, buffer.bytes());
            }
        }
        self.scanned = buffer;
        Ok(places.len())
    }
}
