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

mod memory;
mod session;

use crate::files::name::{Layout, Name};
use crate::flat::{self, Flat, FlatStore, Span};
use crate::options::{OptionValue as _, StoreOptions as _};
use crate::store::Plain;
use crate::{Buffer, Connection, Key, Result, Store, StoreError, StoreKind, choice, disk, options};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat, statat};
use session::{PrimitiveSession, bytes_of};
use std::fs::{self, File};
use std::hint::black_box;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use stowplan_model::{Capabilities, Delivery, Footprint, Operation, Setting, Settings};

const STORE: &str = "primitive";

/// The directory below a store's directory that holds the files of the keys.
const FILES: &str = "files";

/// See the module. Never listed: it is no place for data.
pub(crate) struct Primitive;

choice! {
    /// What an operation does.
    enum Call {
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
    struct Options {
        call: Call = Call::setting(
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
                let opened = openat(session.files(), name.as_c_str(), access, Mode::empty());
                opened
                    .map(drop)
                    .map_err(|e| session.error("open", &name, e))
            }),
            Self::OpenClosePath => Step::Either(|session, key, access| {
                let name = Name::of(Layout::Dir, key);
                let opened = openat(CWD, session.path(&name), access, Mode::empty());
                opened
                    .map(drop)
                    .map_err(|e| session.error("open", &name, e))
            }),
            Self::Fstat => Step::Either(|session, _, _| {
                let flat = session.flat();
                black_box(fstat(flat.values().as_fd()))
                    .map(drop)
                    .map_err(|e| StoreError::io("stat", &flat.path())(e))
            }),
            Self::Stat => Step::Either(|session, key, _| {
                let name = Name::of(Layout::Dir, key);
                black_box(statat(CWD, session.path(&name), AtFlags::SYMLINK_NOFOLLOW))
                    .map(drop)
                    .map_err(|e| session.error("stat", &name, e))
            }),
            Self::Pread => Step::Read(|session, key, _, buffer| session.pread(key, buffer)),
            Self::Memcpy => Step::Read(|session, key, span, buffer| {
                buffer.copy_from(session.copies()?.at(key, span.offset, bytes_of(span))?)
            }),
            Self::MemcpyCached => Step::Read(|session, key, span, buffer| {
                buffer.copy_from(session.copies()?.at(key, 0, bytes_of(span))?)
            }),
            Self::PageFault => Step::Read(|session, _, _, _| session.touch()),
            Self::Pwrite | Self::Fdatasync => Step::Write,
        }
    }

    /// What it can be a part of.
    fn operations(self) -> &'static [Operation] {
        match self.step() {
            Step::Either(_) => &[Operation::Read, Operation::Overwrite, Operation::Insert],
            Step::Read(_) => &[Operation::Read, Operation::Insert],
            Step::Write => &[Operation::Overwrite, Operation::Insert],
        }
    }
}

impl StoreKind for Primitive {
    fn name(&self) -> &'static str {
        STORE
    }

    fn about(&self) -> &'static str {
        "one step of what stores do, by itself: a part of a ladder"
    }

    fn settings(&self) -> &'static [Setting] {
        Options::SETTINGS
    }

    fn keeps_values(&self) -> bool {
        false
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let Options { call } = Options::from_settings(settings)?;
        Ok(Capabilities {
            operations: call.operations().to_vec(),
            deliveries: vec![Delivery::Copy, Delivery::InPlace],
            resizes: false,
            threads: true,
            parallel_writers: true,
            // What opening a file or touching a page costs where it is not cached is no step of the
            // processor's.
            evictable: false,
            syncs_per_commit: u32::from(call == Call::Fdatasync),
            ..Capabilities::default()
        })
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let Options { call } = Options::from_settings(settings)?;
        let files = directory.join(FILES);
        fs::create_dir(&files).map_err(StoreError::io("make directory", &files))?;
        let flat = Flat::make(directory, &flat_settings(call)).map_err(ours)?;
        PrimitiveStore::boxed(directory, settings, call, flat)
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let Options { call } = Options::from_settings(settings)?;
        let flat = Flat::reopen(directory, &flat_settings(call)).map_err(ours)?;
        PrimitiveStore::boxed(directory, settings, call, flat)
    }
}

/// An error of the flat store below, under this store's name.
fn ours(error: StoreError) -> StoreError {
    error.of(STORE)
}

/// The settings of the flat store below.
fn flat_settings(call: Call) -> Settings {
    let mut settings = Settings::default();
    let sync = if call == Call::Fdatasync {
        flat::Sync::Commit
    } else {
        flat::Sync::Off
    };
    settings.set("sync", sync.value());
    settings
}

struct PrimitiveStore {
    directory: PathBuf,
    settings: Settings,
    call: Call,
    flat: FlatStore,
    /// The directory of the keys' files.
    files: File,
}

impl PrimitiveStore {
    fn boxed(
        directory: &Path,
        settings: &Settings,
        call: Call,
        flat: FlatStore,
    ) -> Result<Box<dyn Store>> {
        let path = directory.join(FILES);
        Ok(Box::new(Self {
            directory: directory.to_owned(),
            settings: settings.clone(),
            call,
            flat,
            files: File::open(&path).map_err(StoreError::io("open", &path))?,
        }))
    }
}

impl Store for PrimitiveStore {
    fn connect(&self) -> Result<Box<dyn Connection + '_>> {
        Ok(Box::new(Plain {
            store: self,
            settings: &self.settings,
            session: || PrimitiveSession::new(self),
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        disk::footprint_of_tree(&self.directory)
    }

    fn checkpoint(&self) -> Result<()> {
        self.flat.checkpoint().map_err(ours)
    }
}

#[cfg(test)]
mod tests;
