//! Files on their way into an archive: read once, looked at before and after, deflated where that pays.

use crate::ArchiveError;
use crate::codec::{Deflater, WHOLE_MAX, deflating, each_piece};
use crate::directories::{Directories, Missing, open_file, times};
use crate::error::{Doing, Fault};
use crate::names::split;
use crate::sqlar::{Kind, LINK_MAX, VALUE_MAX};
use crate::walk::Found;
use rustix::buffer::spare_capacity;
use rustix::fs::{
    AtFlags, Mode, OFlags, Stat, fchmod, flistxattr, fstat, futimens, openat, readlinkat, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use stowplan_model::format_bytes;

/// How often a file that changes while it is read is tried.
const ATTEMPTS: u32 = 3;
/// A large file is deflated if pieces of it at its beginning, middle and end get smaller by at least
/// a fiftieth.
const SAMPLE: usize = 256 << 10;
const PAYS_BELOW: f64 = 0.98;
/// Bytes of names of extended attributes that are looked at.
const XATTR_NAMES: usize = 256;

/// Something that is about to become a row.
#[derive(Debug)]
pub(crate) struct Item {
    pub(crate) path: String,
    /// With the type.
    pub(crate) mode: u32,
    pub(crate) mtime: i64,
    pub(crate) size: u64,
    /// CRC-32 of the bytes as they were read; of a [`Body::File`] not yet.
    pub(crate) crc32: u32,
    pub(crate) identity: Identity,
    pub(crate) body: Body,
    /// What of it will not be in the archive.
    pub(crate) lost: Vec<Loss>,
}

/// What an archive does not say of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// It has other names: each becomes a file of its own.
    HardLinks,
    /// It has holes, which become zeros.
    Holes,
    /// Its owner or group is not that of whoever packs it.
    Owner,
    /// It has extended attributes or access lists.
    Attributes,
}

/// The bytes of an item.
#[derive(Debug)]
pub(crate) enum Body {
    /// A directory has none.
    None,
    /// Where a link leads.
    Link(String),
    /// As they are stored.
    Bytes(Vec<u8>),
    /// As they are stored: so many in a temporary file.
    Spool(File, u64),
    /// They are still to be read.
    File(File),
    /// They were copied beside the archive.
    Outside,
}

/// What a file was when it was read: another one, or the same one changed, has another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Identity(u64);

impl Identity {
    pub(crate) fn of(found: &Stat) -> Self {
        let mut hasher = DefaultHasher::new();
        (found.st_dev, found.st_ino, found.st_mode, found.st_size).hash(&mut hasher);
        (found.st_mtime, found.st_mtime_nsec).hash(&mut hasher);
        // Of a directory it changes when what is in it is removed; that is asked for.
        (found.st_ctime, found.st_ctime_nsec).hash(&mut hasher);
        Self(hasher.finish())
    }
}

/// Where what goes beside the archive is copied to, and from which size on.
#[derive(Debug)]
pub(crate) struct Beside {
    pub(crate) above: u64,
    pub(crate) directory: PathBuf,
}

/// Reads a tree, one for each thread.
pub(crate) struct Source {
    directories: Directories,
    deflater: Option<Deflater>,
    /// Where spools lie.
    scratch: PathBuf,
    beside: Option<(u64, PathBuf, Directories)>,
}

impl Source {
    /// One of what lies below `root`. `scratch` is a directory of ours.
    pub(crate) fn of(
        root: &Path,
        scratch: &Path,
        store: bool,
        beside: Option<&Beside>,
    ) -> Result<Self, ArchiveError> {
        let directories = Directories::below(root, Missing::Refuse);
        let beside = beside.map(|beside| {
            let directories = Directories::below(&beside.directory, Missing::Make);
            let directories = directories.doing("open", &beside.directory)?;
            Ok::<_, ArchiveError>((beside.above, beside.directory.clone(), directories))
        });
        Ok(Self {
            directories: directories.doing("read", root)?,
            deflater: (!store).then(Deflater::new),
            scratch: scratch.to_owned(),
            beside: beside.transpose()?,
        })
    }

    /// Reads one entry.
    pub(crate) fn read(&mut self, found: &Found) -> Result<Item, Fault> {
        let (directory, name) = split(&found.path);
        let directory = self.directories.at(directory).map_err(unreadable)?;
        match found.kind {
            Kind::File => {
                let file = open_file(directory, name).map_err(unreadable)?;
                self.read_file(found, &file)
            }
            Kind::Directory => {
                let mut item = read_directory(directory, found, name)?;
                if self.directories.at(&found.path).is_ok_and(has_attributes) {
                    item.lost.push(Loss::Attributes);
                }
                Ok(item)
            }
            Kind::Link => read_link(directory, found, name),
        }
    }

    fn read_file(&mut self, found: &Found, file: &File) -> Result<Item, Fault> {
        for _ in 0..ATTEMPTS {
            let before = fstat(file).map_err(unreadable)?;
            let size = size_of(&before)?;
            let outside = self
                .beside
                .as_ref()
                .is_some_and(|(above, ..)| size > *above);
            if size > VALUE_MAX && !outside {
                return Err(too_large(size));
            }
            let mut item = item_of(found, &before, Body::None)?;
            if has_attributes(file) {
                item.lost.push(Loss::Attributes);
            }
            match outside {
                true => self
                    .copy_outside(&mut item, file, &before)
                    .inspect_err(|_| self.remove_outside(&found.path))?,
                false => self.take_in(&mut item, file)?,
            }
            let after = fstat(file).map_err(unreadable)?;
            let unread = matches!(item.body, Body::File(_));
            if (unread || item.size == size) && Identity::of(&after) == item.identity {
                item.size = size;
                return Ok(item);
            }
            if outside {
                self.remove_outside(&found.path);
            }
            (&*file).seek(SeekFrom::Start(0)).map_err(unreadable)?;
        }
        Err(Fault::entry("it was changed while it was read"))
    }

    /// Reads what goes into the archive; `item.size` is then what was read.
    fn take_in(&mut self, item: &mut Item, file: &File) -> Result<(), Fault> {
        if item.size > WHOLE_MAX {
            return self.take_in_large(item, file);
        }
        let value = read_whole(file, item.size)?;
        item.size = value.len() as u64;
        item.crc32 = crc32fast::hash(&value);
        let deflated = self
            .deflater
            .as_mut()
            .and_then(|deflater| deflater.smaller(&value));
        item.body = Body::Bytes(match deflated {
            Some(deflated) => deflated.to_vec(),
            None => value,
        });
        Ok(())
    }

    fn take_in_large(&mut self, item: &mut Item, file: &File) -> Result<(), Fault> {
        let pays = match &mut self.deflater {
            Some(deflater) => deflating_pays(deflater, file, item.size)?,
            None => false,
        };
        if !pays {
            item.body = Body::File(file.try_clone().map_err(unreadable)?);
            return Ok(());
        }
        let write = || Fault::writing(&self.scratch);
        let mut spool = tempfile::tempfile_in(&self.scratch).map_err(write())?;
        let mut summed = Summed::new(file.take(item.size));
        let mut deflated = deflating(&mut summed);
        let length = copy(&mut deflated, &mut spool, &self.scratch)?;
        spool.seek(SeekFrom::Start(0)).map_err(write())?;
        (item.size, item.crc32) = (summed.length, summed.sum.finalize());
        item.body = match length < item.size {
            true => Body::Spool(spool, length),
            false => Body::File(file.try_clone().map_err(unreadable)?),
        };
        Ok(())
    }

    /// Removes a copy that will have no row. What cannot be removed, `verify` tells.
    fn remove_outside(&mut self, path: &str) {
        let (directory, name) = split(path);
        if let Some((.., directories)) = &mut self.beside
            && let Ok(directory) = directories.at(directory)
        {
            let _ = unlinkat(directory, name, AtFlags::empty());
        }
    }

    fn copy_outside(&mut self, item: &mut Item, file: &File, found: &Stat) -> Result<(), Fault> {
        let Some((_, place, directories)) = &mut self.beside else {
            return Ok(());
        };
        let write = || Fault::writing(place);
        let (directory, name) = split(&item.path);
        let directory = directories.at(directory).map_err(write())?;
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let copied = openat(directory, name, flags, Mode::RUSR | Mode::WUSR).map_err(write())?;
        let mut copied = File::from(copied);
        let mut summed = Summed::new(file.take(item.size));
        copy(&mut summed, &mut copied, place)?;
        (item.size, item.crc32) = (summed.length, summed.sum.finalize());
        item.body = Body::Outside;
        fchmod(
            &copied,
            Mode::from_raw_mode(found.st_mode) & Mode::from_raw_mode(0o777),
        )
        .map_err(write())?;
        futimens(
            &copied,
            &times(found.st_mtime as _, found.st_mtime_nsec as _),
        )
        .map_err(write())?;
        Ok(())
    }
}

/// For `map_err` of what is read: it is about the entry, unless nothing more can be opened.
fn unreadable<E: Into<io::Error>>(error: E) -> Fault {
    let error = error.into();
    if is_out_of_descriptors(&error) {
        return Fault::Fatal(ArchiveError::invalid(format!(
            "{error}: a higher limit ('ulimit -n') helps"
        )));
    }
    match error.kind() {
        io::ErrorKind::NotFound => Fault::entry("it went away meanwhile"),
        io::ErrorKind::PermissionDenied => Fault::entry("permission denied"),
        io::ErrorKind::Other => Fault::entry(error.to_string()),
        _ => Fault::entry(format!("it cannot be read: {error}")),
    }
}

fn is_out_of_descriptors(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

fn too_large(size: u64) -> Fault {
    Fault::entry(format!(
        "its {} are beyond SQLite's limit of {} for a value; --inline-limit leaves large files outside",
        format_bytes(size),
        format_bytes(VALUE_MAX)
    ))
}

fn size_of(found: &Stat) -> Result<u64, Fault> {
    u64::try_from(found.st_size).map_err(|_| Fault::entry("its size is negative"))
}

fn item_of(found: &Found, stat: &Stat, body: Body) -> Result<Item, Fault> {
    Ok(Item {
        path: found.path.clone(),
        mode: stat.st_mode,
        mtime: stat.st_mtime,
        size: size_of(stat)?,
        crc32: 0,
        identity: Identity::of(stat),
        body,
        lost: losses(found.kind, stat),
    })
}

/// What of an entry will not be in the archive, as far as its inode says.
fn losses(kind: Kind, stat: &Stat) -> Vec<Loss> {
    let is_file = kind == Kind::File;
    let is_sparse = stat.st_size >= 4096 && stat.st_blocks.saturating_mul(512) < stat.st_size / 2;
    let own = (geteuid().as_raw(), getegid().as_raw());
    let losses = [
        (Loss::HardLinks, is_file && stat.st_nlink > 1),
        (Loss::Holes, is_file && is_sparse),
        (Loss::Owner, (stat.st_uid, stat.st_gid) != own),
    ];
    losses
        .into_iter()
        .filter_map(|(loss, is_so)| is_so.then_some(loss))
        .collect()
}

/// Whether it has any; names that do not fit are some in any case, and a label of SELinux, which the system gives
/// to every file, is none.
fn has_attributes(opened: impl AsFd) -> bool {
    let mut names = Vec::with_capacity(XATTR_NAMES);
    match flistxattr(opened, spare_capacity(&mut names)) {
        Ok(_) => {
            let mut names = names.split(|byte| *byte == 0);
            names.any(|name| !name.is_empty() && name != b"security.selinux")
        }
        Err(errno) => errno == Errno::RANGE,
    }
}

fn read_directory(directory: BorrowedFd<'_>, found: &Found, name: &str) -> Result<Item, Fault> {
    let stat = match name {
        "" => fstat(directory),
        name => statat(directory, name, AtFlags::SYMLINK_NOFOLLOW),
    };
    let stat = stat.map_err(unreadable)?;
    let item = item_of(found, &stat, Body::None)?;
    Ok(Item { size: 0, ..item })
}

fn read_link(directory: BorrowedFd<'_>, found: &Found, name: &str) -> Result<Item, Fault> {
    let stat = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).map_err(unreadable)?;
    let target = readlinkat(directory, name, Vec::new()).map_err(unreadable)?;
    let target = target
        .into_string()
        .map_err(|_| Fault::entry("the name that it leads to is not UTF-8"))?;
    if target.len() as u64 > LINK_MAX {
        return Err(Fault::entry("the name that it leads to is too long"));
    }
    let crc32 = crc32fast::hash(target.as_bytes());
    let size = target.len() as u64;
    let item = item_of(found, &stat, Body::Link(target))?;
    Ok(Item {
        size,
        crc32,
        ..item
    })
}

/// Reads up to `size` bytes. Whether there were more, the size afterwards says.
fn read_whole(file: &File, size: u64) -> Result<Vec<u8>, Fault> {
    let mut value = Vec::with_capacity(size as usize);
    while (value.len() as u64) < size {
        match rustix::io::read(file.as_fd(), spare_capacity(&mut value)) {
            Ok(0) => break,
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(unreadable(errno)),
        }
    }
    Ok(value)
}

/// Whether a large file seems to get smaller.
fn deflating_pays(deflater: &mut Deflater, file: &File, size: u64) -> Result<bool, Fault> {
    let mut piece = vec![0; SAMPLE];
    let (mut read, mut stored) = (0, 0);
    for offset in [0, size / 2, size.saturating_sub(SAMPLE as u64)] {
        let length = file.read_at(&mut piece, offset).map_err(unreadable)?;
        read += length;
        stored += deflater
            .smaller(&piece[..length])
            .map_or(length, <[u8]>::len);
    }
    Ok((stored as f64) < read as f64 * PAYS_BELOW)
}

/// Copies all there is, and tells reading from writing apart.
fn copy(from: &mut dyn Read, to: &mut File, place: &Path) -> Result<u64, Fault> {
    each_piece(from, unreadable, &mut |piece| {
        to.write_all(piece).map_err(Fault::writing(place))
    })
}

/// Sums up what is read.
pub(crate) struct Summed<R> {
    from: R,
    pub(crate) sum: crc32fast::Hasher,
    pub(crate) length: u64,
}

impl<R> Summed<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            from,
            sum: crc32fast::Hasher::new(),
            length: 0,
        }
    }
}

impl<R: Read> Read for Summed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.from.read(buffer)?;
        self.sum.update(&buffer[..length]);
        self.length += length as u64;
        Ok(length)
    }
}
