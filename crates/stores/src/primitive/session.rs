//! One step for each operation.

use super::memory::{Copies, Faults};
use super::{Call, FILES, PrimitiveStore, STORE, ours};
use crate::files::name::{Layout, Name};
use crate::flat::{FlatSession, Span};
use crate::{Access, Buffer, Found, Key, Result, Session, StoreError};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::hint::black_box;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;

pub(super) struct PrimitiveSession<'s> {
    store: &'s PrimitiveStore,
    flat: FlatSession<'s>,
    /// The directory of the keys' files and a slash, behind which a name is put.
    whole_path: Vec<u8>,
    directory_length: usize,
    /// Of the calls that copy.
    copies: Option<Copies>,
    faults: Faults,
    /// Takes what is read where the caller wants nothing copied.
    own: Buffer,
}

impl<'s> PrimitiveSession<'s> {
    pub(super) fn new(store: &'s PrimitiveStore) -> Result<Self> {
        let mut whole_path = store.directory.as_os_str().as_bytes().to_vec();
        whole_path.extend_from_slice(format!("/{FILES}/").as_bytes());
        let flat = &store.flat;
        let copies = match store.call {
            Call::Memcpy | Call::MemcpyCached => {
                Some(Copies::of(flat.values(), flat.end(), &flat.path())?)
            }
            _ => None,
        };
        Ok(Self {
            store,
            flat: FlatSession::of(flat)?,
            directory_length: whole_path.len(),
            whole_path,
            copies,
            faults: Faults::new(),
            own: Buffer::with_capacity(0)?,
        })
    }

    fn error(&self, action: &'static str, name: &Name, errno: Errno) -> StoreError {
        let path = self.store.directory.join(FILES).join(name.as_path());
        StoreError::io(action, &path)(errno)
    }

    /// The key's file by its whole path.
    fn path(&mut self, name: &Name) -> &CStr {
        self.whole_path.truncate(self.directory_length);
        self.whole_path
            .extend_from_slice(name.as_c_str().to_bytes_with_nul());
        // No path has a NUL before its end: the directory was opened by it.
        CStr::from_bytes_with_nul(&self.whole_path).unwrap_or_default()
    }

    /// The steps that need no memory.
    fn system_call(&mut self, key: Key, access: OFlags) -> Result<()> {
        let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let name = || Name::of(Layout::Dir, key);
        match self.store.call {
            Call::NullSyscall => {
                black_box(rustix::process::getppid());
                Ok(())
            }
            Call::OpenClose => {
                let name = name();
                rustix::fs::openat(&self.store.files, name.as_c_str(), flags, Mode::empty())
                    .map(drop)
                    .map_err(|e| self.error("open", &name, e))
            }
            Call::OpenClosePath => {
                let name = name();
                rustix::fs::openat(CWD, self.path(&name), flags, Mode::empty())
                    .map(drop)
                    .map_err(|e| self.error("open", &name, e))
            }
            Call::Fstat => rustix::fs::fstat(self.store.flat.values().as_fd())
                .map(|stat| {
                    black_box(stat);
                })
                .map_err(|e| StoreError::io("stat", &self.store.flat.path())(e)),
            Call::Stat => {
                let name = name();
                rustix::fs::statat(CWD, self.path(&name), AtFlags::SYMLINK_NOFOLLOW)
                    .map(|stat| {
                        black_box(stat);
                    })
                    .map_err(|e| self.error("stat", &name, e))
            }
            _ => Err(self.refused("do this")),
        }
    }

    #[cold]
    fn refused(&self, what: &str) -> StoreError {
        let call = self.store.call.word();
        StoreError::unsupported(
            STORE,
            what,
            format!("call={call} is no part of that; see 'stowplan stores primitive'"),
        )
    }

    fn read(&mut self, key: Key, span: Span, buffer: &mut Buffer) -> Result<()> {
        let len = usize::try_from(span.len).unwrap_or(usize::MAX);
        match (self.store.call, &self.copies) {
            (Call::Pread, _) => self.flat.read_into(key, buffer).map(drop).map_err(ours),
            (Call::Memcpy, Some(copies)) => buffer.copy_from(copies.at(key, span.offset, len)?),
            (Call::MemcpyCached, Some(copies)) => buffer.copy_from(copies.at(key, 0, len)?),
            (Call::PageFault, _) => {
                let flat = &self.store.flat;
                self.faults.touch(flat.values(), || flat.path())
            }
            (Call::Pwrite | Call::Fdatasync, _) => Err(self.refused("read")),
            _ => self.system_call(key, OFlags::RDONLY),
        }
    }
}

fn found(span: Span) -> Found {
    Found::Bytes(usize::try_from(span.len).unwrap_or(usize::MAX))
}

impl Session for PrimitiveSession<'_> {
    /// Nothing is shared among operations: each does its step, and `fdatasync` syncs.
    fn begin(&mut self, _: Access) -> Result<()> {
        Ok(())
    }

    fn commit(&mut self) -> Result<()> {
        Ok(())
    }

    fn rollback(&mut self) -> Result<()> {
        Err(self.refused("roll back"))
    }

    /// Says how large the value is. Only some steps put something into the buffer.
    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(span) = self.store.flat.span(key) else {
            return Ok(Found::Missing);
        };
        self.read(key, span, buffer)?;
        Ok(found(span))
    }

    /// Lends nothing.
    fn read_in_place(&mut self, key: Key, _: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let mut own = std::mem::replace(&mut self.own, Buffer::with_capacity(0)?);
        let read = self.read_into(key, &mut own);
        self.own = own;
        read
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        self.flat.insert(key, value).map_err(ours)?;
        let name = Name::of(Layout::Dir, key);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        rustix::fs::openat(&self.store.files, name.as_c_str(), flags, mode)
            .map(drop)
            .map_err(|e| self.error("create", &name, e))
    }

    /// Only `pwrite` and `fdatasync` write the value.
    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match self.store.call {
            Call::Pwrite | Call::Fdatasync => return self.flat.overwrite(key, value).map_err(ours),
            Call::Pread | Call::Memcpy | Call::MemcpyCached | Call::PageFault => {
                return Err(self.refused("overwrite"));
            }
            _ => {}
        }
        let Some(span) = self.store.flat.span(key) else {
            return Ok(Found::Missing);
        };
        self.system_call(key, OFlags::WRONLY)?;
        Ok(found(span))
    }

    fn delete(&mut self, _: Key) -> Result<bool> {
        Err(self.refused("delete"))
    }

    fn scan(&mut self, _: Key, _: usize, _: &mut dyn FnMut(Key, &[u8])) -> Result<usize> {
        Err(self.refused("scan"))
    }
}
