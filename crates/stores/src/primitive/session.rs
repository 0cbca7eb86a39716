//! One step for each operation.

use super::memory::{Copies, Faults};
use super::{Call, FILES, PrimitiveStore, STORE, Step, ours};
use crate::files::name::{Layout, Name};
use crate::flat::{FlatSession, FlatStore, Span};
use crate::{Buffer, Found, Key, Result, Session, StoreError};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

pub(super) struct PrimitiveSession<'s> {
    store: &'s PrimitiveStore,
    step: Step,
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
        let copies = matches!(store.call, Call::Memcpy | Call::MemcpyCached)
            .then(|| Copies::of(flat.values(), flat.end(), &flat.path()));
        Ok(Self {
            store,
            step: store.call.step(),
            flat: FlatSession::of(flat)?,
            directory_length: whole_path.len(),
            whole_path,
            copies: copies.transpose()?,
            faults: Faults::new(),
            own: Buffer::with_capacity(0)?,
        })
    }

    #[cold]
    pub(super) fn error(&self, action: &'static str, name: &Name, errno: Errno) -> StoreError {
        let path = self.store.directory.join(FILES).join(name.as_path());
        StoreError::io(action, &path)(errno)
    }

    #[cold]
    fn refused(&self, what: &str) -> StoreError {
        let call = self.store.call.word();
        StoreError::unsupported(
            STORE,
            what,
            format!("call={call} is no part of that; see 'stowplan list stores primitive'"),
        )
    }

    /// The directory of the keys' files.
    pub(super) fn files(&self) -> &'s File {
        &self.store.files
    }

    pub(super) fn flat(&self) -> &'s FlatStore {
        &self.store.flat
    }

    /// The key's file by its whole path.
    pub(super) fn path(&mut self, name: &Name) -> &CStr {
        self.whole_path.truncate(self.directory_length);
        self.whole_path
            .extend_from_slice(name.as_c_str().to_bytes_with_nul());
        // No path has a NUL before its end: the directory was opened by it.
        CStr::from_bytes_with_nul(&self.whole_path).unwrap_or_default()
    }

    pub(super) fn pread(&mut self, key: Key, buffer: &mut Buffer) -> Result<()> {
        self.flat.read_into(key, buffer).map(drop).map_err(ours)
    }

    pub(super) fn copies(&self) -> Result<&Copies> {
        self.copies.as_ref().ok_or_else(|| self.refused("copy"))
    }

    /// Touches the next page.
    pub(super) fn touch(&mut self) -> Result<()> {
        let flat = &self.store.flat;
        self.faults.touch(flat.values(), || flat.path())
    }
}

/// How files are opened: links are never followed.
fn safely(access: OFlags) -> OFlags {
    access | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Of a value.
pub(super) fn bytes_of(span: Span) -> usize {
    usize::try_from(span.len).unwrap_or(usize::MAX)
}

impl Session for PrimitiveSession<'_> {
    /// Says how large the value is. Only some steps put something into the buffer.
    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(span) = self.store.flat.span(key) else {
            return Ok(Found::Missing);
        };
        match self.step {
            Step::Either(step) => step(self, key, safely(OFlags::RDONLY))?,
            Step::Read(step) => step(self, key, span, buffer)?,
            Step::Write => return Err(self.refused("read")),
        }
        Ok(Found::Bytes(bytes_of(span)))
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
        rustix::fs::openat(self.files(), name.as_c_str(), flags, mode)
            .map(drop)
            .map_err(|e| self.error("create", &name, e))
    }

    /// Only `pwrite` and `fdatasync` write the value.
    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let step = match self.step {
            Step::Either(step) => step,
            Step::Read(_) => return Err(self.refused("overwrite")),
            Step::Write => return self.flat.overwrite(key, value).map_err(ours),
        };
        let Some(span) = self.store.flat.span(key) else {
            return Ok(Found::Missing);
        };
        step(self, key, safely(OFlags::WRONLY))?;
        Ok(Found::Bytes(bytes_of(span)))
    }
}
