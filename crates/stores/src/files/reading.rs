//! Reading the file of a value, step by step as the settings say.

use super::name::Name;
use super::named::NamedFiles;
use super::stdio::Stream;
use super::{Memory, Opening, ReadMode, Sizing};
use crate::{Buffer, Found, Key, Result, StoreError};
use rustix::fs::{FileType, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use std::fs::File;
use std::os::fd::AsFd;

impl NamedFiles<'_> {
    /// Reads the file in the way that the settings say.
    pub(crate) fn read(&mut self, key: Key, name: &Name, buffer: &mut Buffer) -> Result<Found> {
        let mut announced = None;
        if self.store.options.stat == Sizing::Stat {
            self.aim(name);
            announced = self.look_up(self.place(name), name)?;
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
        let read = |room: &mut [u8], before| rustix::io::pread(file, room, before as u64);
        self.deliver(key, name, self.announced(None, file, name)?, buffer, read)
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
        let announced = self.announced(announced, &file, name)?;
        let read = |room: &mut [u8], _| rustix::io::read(&file, room);
        self.deliver(key, name, announced, buffer, read)
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
        let opened = if self.store.options.open == Opening::Path {
            self.aim(name);
            Stream::open(self.place(name).1)
        } else {
            let file = self.open_value(name, OFlags::RDONLY)?;
            file.map(Stream::of).transpose()
        };
        let Some(mut stream) = self.done("open", name, opened)? else {
            return Ok(Found::Missing);
        };
        let announced = self.announced(announced, stream.descriptor(), name)?;
        let bytes = announced.unwrap_or_default();
        let read = match self.store.options.buffer {
            Memory::Reused => stream.read(buffer.room(bytes)?),
            Memory::Fresh => stream.read_new(buffer.new_memory(bytes)?),
        };
        let found = whole(key, self.done("read", name, read)?, bytes)?;
        self.done("read", name, stream.close())?;
        Ok(found)
    }

    /// Reads the whole file by calls of `read`, which are given what is left of the room and how
    /// much was read before.
    fn deliver(
        &self,
        key: Key,
        name: &Name,
        announced: Option<usize>,
        buffer: &mut Buffer,
        read: impl Fn(&mut [u8], usize) -> std::result::Result<usize, Errno>,
    ) -> Result<Found> {
        let read =
            |room: &mut [u8], before| self.done("read", name, retry_on_intr(|| read(room, before)));
        let mut done = 0;
        if let Some(announced) = announced {
            // One byte more than was announced is asked for, so that a file that grew meanwhile is
            // noticed by the same call.
            let room = buffer.room(announced + 1)?;
            loop {
                let more = read(&mut room[done..], done)?;
                done += more;
                if more == 0 || done >= announced {
                    break;
                }
            }
            buffer.truncate(announced);
            return whole(key, done, announced);
        }
        // Until less comes than there is room for. A buffer that a value has just filled is larger from
        // then on, so that the next such value takes one call.
        let mut room = buffer.whole_room();
        loop {
            done += read(&mut room[done..], done)?;
            if done < room.len() {
                break;
            }
            room = buffer.grow()?;
        }
        buffer.truncate(done);
        Ok(Found::Bytes(done))
    }

    /// The size of an open file, unless the settings do without or it was looked up before.
    fn announced(
        &self,
        before: Option<usize>,
        file: impl AsFd,
        name: &Name,
    ) -> Result<Option<usize>> {
        match self.store.options.stat {
            Sizing::Fstat => self.size_of(file, name).map(Some),
            Sizing::Stat | Sizing::None => Ok(before),
        }
    }

    /// The size of an open file, in bytes.
    pub(super) fn size_of(&self, file: impl AsFd, name: &Name) -> Result<usize> {
        let stat = self.done("stat", name, rustix::fs::fstat(file))?;
        self.size_in(&stat, name)
    }

    pub(super) fn size_in(&self, stat: &Stat, name: &Name) -> Result<usize> {
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Err(self.error("use as a regular file", name, Errno::INVAL));
        }
        usize::try_from(stat.st_size).map_err(|_| self.error("stat", name, Errno::OVERFLOW))
    }
}

/// A value that has the size that its file announced.
fn whole(key: Key, read: usize, announced: usize) -> Result<Found> {
    if read == announced {
        return Ok(Found::Bytes(announced));
    }
    let detail = format!("its file changed size while it was read, {announced} bytes before");
    Err(StoreError::damaged(key, detail))
}

#[cfg(test)]
mod tests {
    use super::super::Options;
    use super::super::store::FileStore;
    use super::*;
    use crate::files::{self, name::Layout};
    use crate::options::StoreOptions as _;
    use crate::testing::settings;

    #[test]
    fn a_file_that_changed_size_since_it_announced_it_is_damaged() {
        for (read, memory) in [("plain", "reused"), ("stdio", "reused"), ("stdio", "fresh")] {
            let given = [("read", read), ("buffer", memory), ("stat", "stat")];
            let settings = settings(files::KIND, &given);
            let options = Options::from_settings(&settings).unwrap();
            let directory = tempfile::tempdir().unwrap();
            let store = FileStore::open(directory.path(), options).unwrap();
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
