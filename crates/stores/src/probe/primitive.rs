//! One step of what stores do, by itself: what it costs in isolation, beside what it costs as part of a
//! whole (docs/method.md, "Taking a cost apart").
//!
//! It lies in one flat file of all values and in one file for each key, which is empty: to open a
//! file, and to look at it, costs the same whatever is in it. Each operation does its step on the
//! file or the bytes of its own key, so that it finds the processor's caches as the store does that is
//! taken apart.
//!
//! It keeps no values in the sense of the other stores: nothing that is read arrives anywhere, and
//! of overwrites only `pwrite` and `fdatasync` write. So it can only be a part of a ladder.

use super::ProbeStore;
use super::memory::{Copies, Faults};
use crate::files::name::{Layout, Name, WholePath};
use crate::flat::{FlatSession, FlatStore, Span};
use crate::{Buffer, Found, Key, Result, Session, StoreError, choice, options};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, statat};
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::hint::black_box;
use std::os::fd::AsFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use stowplan_model::Operation;

/// The directory below a store's directory that holds the files of the keys.
pub(super) const FILES: &str = "files";

choice! {
    /// What an operation does.
    pub(super) enum Call {
        NullSyscall = "null-syscall",
        OpenClose = "open-close",
        OpenClosePath = "open-close-path",
        Fstat = "fstat",
        Stat = "stat",
        Pread = "pread",
        Memcpy = "memcpy",
        MemcpyCached = "memcpy-cached",
        PageFault = "page-fault",
        Pwrite = "pwrite",
        Fdatasync = "fdatasync",
    }
}

options! {
    /// The settings, typed.
    pub(super) struct Options {
        pub(super) call: Call = Call::setting(
            Call::NullSyscall,
            "the step: getppid; opening and closing the key's own file by its name in an open directory, or by its whole path; fstat of an open file; stat of the key's file by its whole path; pread of the value from one file; memcpy of so many bytes from all over memory, or from the same place; the first touch of a page of a mapped file, which maps those around it that are cached; pwrite of the value to one file; the same and fdatasync",
        ),
    }
}

/// What a call is a part of, and how it is made.
#[derive(Clone, Copy)]
enum Step {
    /// Of reads and of overwrites: on the file of the key.
    Either(fn(&mut PrimitiveSession<'_>, Key, OFlags) -> Result<()>),
    /// Of reads.
    Read(fn(&mut PrimitiveSession<'_>, Key, Span, &mut Buffer) -> Result<()>),
    /// Of overwrites: what the flat store does.
    Write,
}

impl Call {
    fn step(self) -> Step {
        match self {
            Self::NullSyscall => Step::Either(|_, _, _| {
                black_box(rustix::process::getppid());
                Ok(())
            }),
            Self::OpenClose => Step::Either(|session, key, access| {
                let name = Name::of(Layout::Dir, key);
                let opened = openat(&session.files, name.as_c_str(), access, Mode::empty());
                session.done("open", &name, opened.map(drop))
            }),
            Self::OpenClosePath => Step::Either(|session, key, access| {
                let name = Name::of(Layout::Dir, key);
                let opened = openat(CWD, session.path(&name), access, Mode::empty());
                session.done("open", &name, opened.map(drop))
            }),
            Self::Fstat => Step::Either(|session, _, _| {
                let flat = session.flat;
                let seen = black_box(fstat(flat.values().as_fd())).map(drop);
                seen.map_err(|e| StoreError::io("stat", &flat.path())(e))
            }),
            Self::Stat => Step::Either(|session, key, _| {
                let name = Name::of(Layout::Dir, key);
                let seen = statat(CWD, session.path(&name), AtFlags::SYMLINK_NOFOLLOW);
                session.done("stat", &name, black_box(seen).map(drop))
            }),
            Self::Pread => {
                Step::Read(|session, key, _, buffer| session.rows.read_into(key, buffer).map(drop))
            }
            Self::Memcpy => Step::Read(|session, key, span, buffer| {
                buffer.copy_from(session.copies()?.at(key, span.offset, bytes_of(span))?)
            }),
            Self::MemcpyCached => Step::Read(|session, key, span, buffer| {
                buffer.copy_from(session.copies()?.at(key, 0, bytes_of(span))?)
            }),
            Self::PageFault => Step::Read(|session, _, _, _| {
                let flat = session.flat;
                session.faults.touch(flat.values(), || flat.path())
            }),
            Self::Pwrite | Self::Fdatasync => Step::Write,
        }
    }

    /// What it can be a part of.
    pub(super) fn operations(self) -> &'static [Operation] {
        match self.step() {
            Step::Either(_) => &[Operation::Read, Operation::Overwrite, Operation::Insert],
            Step::Read(_) => &[Operation::Read, Operation::Insert],
            Step::Write => &[Operation::Overwrite, Operation::Insert],
        }
    }

    /// Whether each write is synced.
    pub(super) fn syncs(self) -> bool {
        self == Self::Fdatasync
    }
}

pub(super) struct PrimitiveSession<'s> {
    call: Call,
    step: Step,
    flat: &'s FlatStore,
    rows: FlatSession<'s>,
    /// The directory of the keys' files.
    files: File,
    path: WholePath,
    /// Of the calls that copy.
    copies: Option<Copies>,
    faults: Faults,
    /// Takes what is read where the caller wants nothing copied.
    own: Buffer,
}

impl<'s> PrimitiveSession<'s> {
    pub(super) fn new(store: &'s ProbeStore, call: Call) -> Result<Self> {
        let nothing = || StoreError::unsupported("do without values", "it is made of them");
        let flat = store.flat.as_ref().ok_or_else(nothing)?;
        let path = store.directory.join(FILES);
        let copies = matches!(call, Call::Memcpy | Call::MemcpyCached)
            .then(|| Copies::of(flat.values(), flat.end(), &flat.path()));
        Ok(Self {
            call,
            step: call.step(),
            flat,
            rows: FlatSession::of(flat)?,
            files: File::open(&path).map_err(StoreError::io("open", &path))?,
            path: WholePath::below(&path),
            copies: copies.transpose()?,
            faults: Faults::new(),
            own: Buffer::with_capacity(0)?,
        })
    }

    /// What the system did to a key's file, or an error that names it.
    #[inline]
    fn done(
        &mut self,
        action: &'static str,
        name: &Name,
        outcome: std::result::Result<(), Errno>,
    ) -> Result<()> {
        outcome.map_err(|errno| {
            let path = OsStr::from_bytes(self.path(name).to_bytes());
            StoreError::io(action, Path::new(path))(errno)
        })
    }

    #[cold]
    fn refused(&self, what: &str) -> StoreError {
        let call = self.call.word();
        StoreError::unsupported(
            what,
            format!("call={call} is no part of that; see 'stowplan list stores primitive'"),
        )
    }

    /// The key's file by its whole path.
    fn path(&mut self, name: &Name) -> &CStr {
        self.path.aim(name);
        self.path.as_c_str()
    }

    fn copies(&self) -> Result<&Copies> {
        self.copies.as_ref().ok_or_else(|| self.refused("copy"))
    }
}

/// How files are opened: links are never followed.
fn safely(access: OFlags) -> OFlags {
    access | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Of a value.
fn bytes_of(span: Span) -> usize {
    usize::try_from(span.len).unwrap_or(usize::MAX)
}

impl Session for PrimitiveSession<'_> {
    fn close(self: Box<Self>) -> Result<()> {
        self.flat.save()
    }

    /// Says how large the value is. Only some steps put something into the buffer.
    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let Some(span) = self.flat.span(key) else {
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
        self.rows.insert(key, value)?;
        let name = Name::of(Layout::Dir, key);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(0o644);
        let created = openat(&self.files, name.as_c_str(), flags, mode);
        self.done("create", &name, created.map(drop))
    }

    /// Only `pwrite` and `fdatasync` write the value.
    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let step = match self.step {
            Step::Either(step) => step,
            Step::Read(_) => return Err(self.refused("overwrite")),
            Step::Write => return self.rows.overwrite(key, value),
        };
        let Some(span) = self.flat.span(key) else {
            return Ok(Found::Missing);
        };
        step(self, key, safely(OFlags::WRONLY))?;
        Ok(Found::Bytes(bytes_of(span)))
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
