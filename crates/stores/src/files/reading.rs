//! Reading the file of a value, step by step as the settings say.

use super::name::Name;
use super::named::NamedFiles;
use super::stdio::Stream;
use super::{Memory, Opening, ReadMode, STORE, Sizing};
use crate::{Buffer, Found, Key, Result, StoreError};
use rustix::buffer::spare_capacity;
use rustix::fs::{AtFlags, FileType, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::os::fd::AsFd;

impl NamedFiles<'_> {
    /// Reads the file in the way that the settings say.
    pub(crate) fn read(&mut self, key: Key, name: &Name, buffer: &mut Buffer) -> Result<Found> {
        let mut announced = None;
        if self.store.options.stat == Sizing::Stat {
            self.aim(name);
            announced = self.look_up(name)?;
            if announced.is_none() {
                return Ok(Found::Missing);
            }
        }
        match self.store.options.read {
            ReadMode::Plain => self.read_by_calls(key, name, announced, buffer),
            ReadMode::Stdio => self.read_by_stream(key, name, announced, buffer),
        }
    }

    /// Reads a file that stays open.
    pub(super) fn read_kept(
        &self,
        key: Key,
        name: &Name,
        file: &File,
        buffer: &mut Buffer,
    ) -> Result<Found> {
        let announced = self.size_if_asked(file, name)?;
        let at = |target: Target<'_>, offset: usize| match target {
            Target::Room(room) => {
                retry_on_intr(|| rustix::io::pread(file, &mut *room, offset as u64))
            }
            Target::New(new) => {
                retry_on_intr(|| rustix::io::pread(file, spare_capacity(new), offset as u64))
            }
        };
        self.deliver(key, name, announced, buffer, at)
    }

    /// By default exactly open, fstat, read and close.
    fn read_by_calls(
        &mut self,
        key: Key,
        name: &Name,
        announced: Option<usize>,
        buffer: &mut Buffer,
    ) -> Result<Found> {
        let Some(file) = self.open_value(name, OFlags::RDONLY)? else {
            return Ok(Found::Missing);
        };
        let announced = match announced {
            None => self.size_if_asked(&file, name)?,
            announced => announced,
        };
        let at = |target: Target<'_>, _| match target {
            Target::Room(room) => retry_on_intr(|| rustix::io::read(&file, &mut *room)),
            Target::New(new) => retry_on_intr(|| rustix::io::read(&file, spare_capacity(new))),
        };
        self.deliver(key, name, announced, buffer, at)
    }

    /// By the C library's functions, which are called as they are, so that what they cost (a second
    /// `fstat`, two reads instead of one, a buffer of theirs) is what they cost here.
    fn read_by_stream(
        &mut self,
        key: Key,
        name: &Name,
        announced: Option<usize>,
        buffer: &mut Buffer,
    ) -> Result<Found> {
        let Some(mut stream) = self.open_stream(name)? else {
            return Ok(Found::Missing);
        };
        let announced = match announced {
            None => self.size_if_asked(stream.descriptor(), name)?,
            announced => announced,
        };
        let failed = |error| self.error("read", name, error);
        let found = match (announced, self.store.options.buffer) {
            (Some(bytes), memory) => {
                let read = match memory {
                    Memory::Reused => stream.read(buffer.room(bytes)?),
                    Memory::Fresh => stream.read_new(buffer.new_memory(bytes)?),
                };
                whole(key, read.map_err(failed)?, bytes)?
            }
            (None, _) => self.until_the_end(name, buffer, |room, _| {
                stream.read(room).map_err(|_| Errno::IO)
            })?,
        };
        stream.close().map_err(failed)?;
        Ok(found)
    }

    fn open_stream(&mut self, name: &Name) -> Result<Option<Stream>> {
        let opened = if self.store.options.open == Opening::Path {
            self.aim(name);
            Stream::open(self.place(name)?.1)
        } else {
            match self.open_value(name, OFlags::RDONLY)? {
                Some(file) => Stream::of(file).map(Some),
                None => Ok(None),
            }
        };
        opened.map_err(|e| self.error("open", name, e))
    }

    /// Reads the whole file by calls of `read`, which are given what is left of the room and how
    /// much was read before.
    fn deliver(
        &self,
        key: Key,
        name: &Name,
        announced: Option<usize>,
        buffer: &mut Buffer,
        mut read: impl FnMut(Target<'_>, usize) -> std::result::Result<usize, Errno>,
    ) -> Result<Found> {
        let Some(announced) = announced else {
            return self.until_the_end(name, buffer, |room, before| {
                read(Target::Room(room), before)
            });
        };
        // One byte more than was announced is asked for, so that a file that grew meanwhile is
        // noticed by the same call.
        let mut done = 0;
        match self.store.options.buffer {
            Memory::Reused => {
                let room = buffer.room(announced + 1)?;
                self.fill(name, announced, &mut done, |before| {
                    read(Target::Room(&mut room[before..]), before)
                })?;
                buffer.truncate(announced);
            }
            Memory::Fresh => {
                let new = buffer.new_memory(announced + 1)?;
                self.fill(name, announced, &mut done, |before| {
                    read(Target::New(new), before)
                })?;
            }
        }
        whole(key, done, announced)
    }

    /// Reads until as much has come as was announced, or the file ends.
    fn fill(
        &self,
        name: &Name,
        announced: usize,
        done: &mut usize,
        mut read: impl FnMut(usize) -> std::result::Result<usize, Errno>,
    ) -> Result<()> {
        loop {
            match read(*done) {
                Ok(0) => return Ok(()),
                Ok(n) => *done += n,
                Err(errno) => return Err(self.error("read", name, errno)),
            }
            if *done >= announced {
                return Ok(());
            }
        }
    }

    /// Reads until less comes than there is room for. A buffer that a value has just filled is
    /// larger from then on, so that the next such value takes one call.
    fn until_the_end(
        &self,
        name: &Name,
        buffer: &mut Buffer,
        mut read: impl FnMut(&mut [u8], usize) -> std::result::Result<usize, Errno>,
    ) -> Result<Found> {
        let mut room = buffer.whole_room();
        let mut done = 0;
        loop {
            let left = room.len() - done;
            match read(&mut room[done..], done) {
                Ok(n) if n < left => {
                    done += n;
                    break;
                }
                Ok(n) => done += n,
                Err(errno) => return Err(self.error("read", name, errno)),
            }
            room = buffer.grow()?;
        }
        buffer.truncate(done);
        Ok(Found::Bytes(done))
    }

    /// The size of an open file, unless the settings do without or have looked it up before.
    fn size_if_asked(&self, file: impl AsFd, name: &Name) -> Result<Option<usize>> {
        match self.store.options.stat {
            Sizing::Fstat => self.size_of(file, name).map(Some),
            Sizing::Stat | Sizing::None => Ok(None),
        }
    }

    /// The size of an open file, in bytes.
    pub(super) fn size_of(&self, file: impl AsFd, name: &Name) -> Result<usize> {
        let stat = rustix::fs::fstat(file).map_err(|e| self.error("stat", name, e))?;
        self.size_in(&stat, name)
    }

    /// The size of the file that [`Self::aim`] was last given; none if there is no such file.
    fn look_up(&self, name: &Name) -> Result<Option<usize>> {
        let (directory, path) = self.place(name)?;
        match rustix::fs::statat(directory, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => self.size_in(&stat, name).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error("stat", name, errno)),
        }
    }

    fn size_in(&self, stat: &Stat, name: &Name) -> Result<usize> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.error("use as a regular file", name, Errno::INVAL));
        }
        usize::try_from(stat.st_size).map_err(|_| self.error("stat", name, Errno::OVERFLOW))
    }
}

/// Where a call reads to.
enum Target<'b> {
    /// What is left of a buffer.
    Room(&'b mut [u8]),
    /// The end of newly allocated memory.
    New(&'b mut Vec<u8>),
}

/// A value that has the size that its file announced.
fn whole(key: Key, read: usize, announced: usize) -> Result<Found> {
    if read == announced {
        return Ok(Found::Bytes(announced));
    }
    let detail = format!("its file changed size while it was read, {announced} bytes before");
    Err(StoreError::damaged(STORE, key, detail))
}

#[cfg(test)]
mod tests {
    use super::super::store::FileStore;
    use super::super::{Files, Options};
    use super::*;
    use crate::StoreKind;
    use crate::files::name::Layout;
    use crate::options::StoreOptions as _;
    use stowplan_model::Settings;

    #[test]
    fn a_file_that_changed_size_since_it_announced_it_is_damaged() {
        for (read, memory) in [
            ("plain", "reused"),
            ("plain", "fresh"),
            ("stdio", "reused"),
            ("stdio", "fresh"),
        ] {
            let given = [("read", read), ("buffer", memory)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()));
            let settings = Settings::resolve(Files.settings(), &given.into()).unwrap();
            let options = Options::from_settings(&settings).unwrap();
            let directory = tempfile::tempdir().unwrap();
            let store = FileStore::open(directory.path(), options, settings).unwrap();
            let mut files = NamedFiles::new(&store).unwrap();
            let name = Name::of(Layout::Dir, Key(1));
            files.insert(Key(1), &name, &[1; 5000]).unwrap();
            let mut buffer = Buffer::with_capacity(0).unwrap();
            // A stream is not asked for more than was announced, as kvtest does not.
            let grew = read == "stdio";
            for (announced, whole) in [(0, grew), (4999, grew), (5000, true), (5001, false)] {
                let announced = Some(announced);
                let delivered = match read {
                    "plain" => files.read_by_calls(Key(1), &name, announced, &mut buffer),
                    _ => files.read_by_stream(Key(1), &name, announced, &mut buffer),
                };
                assert_eq!(delivered.is_ok(), whole, "{read} {memory} {announced:?}");
            }
        }
    }
}
