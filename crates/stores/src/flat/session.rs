//! Operations on the flat file.

use super::index::Span;
use super::{FlatStore, ReadMode, STORE};
use crate::{Access, Buffer, Found, Key, Result, Session, StoreError};
use memmap2::Mmap;
use rustix::io::retry_on_intr;
use std::os::unix::fs::FileExt;

pub(crate) struct FlatSession<'s> {
    store: &'s FlatStore,
    mode: ReadMode,
    /// Whether each transaction that wrote is synced.
    syncs: bool,
    /// Whether a transaction is open: a store without transactions has a use for that only here.
    open: bool,
    /// The file as it was when it was last mapped; values behind its end make it map again.
    map: Option<Mmap>,
    /// Holds the value that a scan shows.
    scanned: Buffer,
}

impl<'s> FlatSession<'s> {
    /// As the store's settings say.
    pub(crate) fn of(store: &'s FlatStore) -> Result<Self> {
        let mode = store.options.read;
        let mut session = Self {
            store,
            mode,
            syncs: store.options.syncs(),
            open: false,
            map: None,
            scanned: Buffer::with_capacity(0)?,
        };
        if mode == ReadMode::Mmap && store.index().end() > 0 {
            session.remap()?;
        }
        Ok(session)
    }

    #[expect(
        unsafe_code,
        reason = "memory maps are the interface under measurement"
    )]
    fn remap(&mut self) -> Result<()> {
        // SAFETY: the file belongs to this store, which never shortens it; a foreign process that
        // did would end this one by SIGBUS, as with every mapping. A session overwrites values only
        // between the calls that lend them. Another thread may do so meanwhile, through the file:
        // whoever is lent a value then sees bytes change, each of which is valid as any other.
        let map = unsafe { Mmap::map(&self.store.values) };
        self.map = Some(map.map_err(StoreError::io("map", &self.store.path()))?);
        Ok(())
    }

    /// The value where the mapping has it.
    fn mapped(&mut self, key: Key, span: Span) -> Result<&[u8]> {
        let mapped = self.map.as_ref().map_or(0, |map| map.len() as u64);
        if span.end() > mapped && span.len > 0 {
            self.remap()?;
        }
        let map = self.map.as_deref().unwrap_or_default();
        match (usize::try_from(span.offset), usize::try_from(span.end())) {
            _ if span.len == 0 => Some(&[][..]),
            (Ok(start), Ok(end)) => map.get(start..end),
            _ => None,
        }
        .ok_or_else(|| short(key, span, map.len().saturating_sub(span.offset as usize)))
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

    fn write(&self, span: Span, value: &[u8]) -> Result<()> {
        self.store
            .values
            .write_all_at(value, span.offset)
            .map_err(|e| StoreError::io("write", &self.store.path())(e))?;
        if self.open {
            return Ok(());
        }
        self.sync()
    }

    fn sync(&self) -> Result<()> {
        if !self.syncs {
            return Ok(());
        }
        self.store
            .values
            .sync_data()
            .map_err(StoreError::io("sync", &self.store.path()))
    }

    fn span(&self, key: Key) -> Option<Span> {
        self.store.index().get(key)
    }
}

fn short(key: Key, span: Span, present: usize) -> StoreError {
    let detail = format!("the file ends after {present} of its {} bytes", span.len);
    StoreError::damaged(STORE, key, detail)
}

fn found(span: Span) -> Found {
    Found::Bytes(span.len as usize)
}

impl Session for FlatSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        self.open = access == Access::Write;
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        if std::mem::take(&mut self.open) {
            self.sync()?;
        }
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        Err(StoreError::unsupported(
            STORE,
            "roll back",
            "a flat file has no transactions",
        ))
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(span) = self.span(key) else {
            return Ok(Found::Missing);
        };
        match self.mode {
            ReadMode::Pread => self.pread(key, span, buffer)?,
            ReadMode::Mmap => buffer.copy_from(self.mapped(key, span)?)?,
        }
        Ok(found(span))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        if self.mode == ReadMode::Pread {
            return Err(StoreError::unsupported(
                STORE,
                "deliver in place",
                "pread copies; use read=mmap, or delivery \"copy\"",
            ));
        }
        let Some(span) = self.span(key) else {
            return Ok(Found::Missing);
        };
        visit(self.mapped(key, span)?);
        Ok(found(span))
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let mut index = self.store.index_mut();
        if index.get(key).is_some() {
            return Err(StoreError::key_exists(STORE, key));
        }
        let span = Span {
            offset: index.end(),
            len: value.len() as u64,
        };
        self.write(span, value)?;
        index.insert(key, span);
        Ok(())
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let Some(span) = self.span(key) else {
            return Ok(Found::Missing);
        };
        if span.len != value.len() as u64 {
            return Err(StoreError::unsupported(
                STORE,
                format!("overwrite {} bytes by {}", span.len, value.len()),
                "a flat file has no room to grow into; overwrite with the same size",
            ));
        }
        self.write(span, value)?;
        Ok(found(span))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let mut index = self.store.index_mut();
        let there = index.get(key).is_some();
        if there {
            index.remove(key);
        }
        Ok(there)
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let spans: Vec<(Key, Span)> = self.store.index().from(from).take(limit).collect();
        let mut buffer = std::mem::replace(&mut self.scanned, Buffer::with_capacity(0)?);
        for (key, span) in &spans {
            match self.mode {
                ReadMode::Pread => {
                    self.pread(*key, *span, &mut buffer)?;
                    visit(*key, buffer.bytes());
                }
                ReadMode::Mmap => visit(*key, self.mapped(*key, *span)?),
            }
        }
        self.scanned = buffer;
        Ok(spans.len())
    }
}
