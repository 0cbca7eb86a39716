//! What the system asks of a mounted archive, and the answers.

use super::tree::Tree;
use crate::codec::WHOLE_MAX;
use crate::error::Fault;
use crate::read::Reader;
use crate::sqlar::{Entry, Kind};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, LockOwner,
    OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyStatfs, Request,
};
use parking_lot::Mutex;
use rustix::process::{getegid, geteuid};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// The archive does not change while it is mounted: what the system knows of it stays true.
const FOR_EVER: Duration = Duration::from_secs(24 * 60 * 60);

/// A mounted archive.
pub(super) struct Files {
    tree: Tree,
    /// Those that nobody uses now: one for each thread that answers.
    readers: Mutex<Vec<Reader>>,
    open: Mutex<Open>,
    owner: (u32, u32),
}

/// Files that somebody has open.
#[derive(Default)]
struct Open {
    last: u64,
    contents: HashMap<u64, Arc<Contents>>,
}

/// The bytes of an open file.
enum Contents {
    Memory(Vec<u8>),
    /// Larger ones: a temporary file without a name, or the one beside the archive.
    File(File),
}

impl Files {
    pub(super) fn new(tree: Tree, readers: Vec<Reader>) -> Self {
        Self {
            tree,
            readers: Mutex::new(readers),
            open: Mutex::default(),
            owner: (geteuid().as_raw(), getegid().as_raw()),
        }
    }

    fn contents(&self, entry: &Entry) -> Result<Contents, Fault> {
        let reader = self.readers.lock().pop();
        let mut reader = reader.ok_or_else(|| Fault::entry("no reader"))?;
        let contents = match entry.place.outside {
            true => reader.open_outside(entry).map(Contents::File),
            false => read_inside(&mut reader, entry),
        };
        self.readers.lock().push(reader);
        contents
    }

    fn attributes(&self, ino: INodeNo) -> Option<FileAttr> {
        let entry = &self.tree.node(ino)?.entry;
        let mtime = entry.mtime.unwrap_or(0);
        let age = Duration::from_secs(mtime.unsigned_abs());
        let time = match mtime {
            0.. => SystemTime::UNIX_EPOCH.checked_add(age),
            _ => SystemTime::UNIX_EPOCH.checked_sub(age),
        };
        let time = time.unwrap_or(SystemTime::UNIX_EPOCH);
        Some(FileAttr {
            ino,
            size: entry.size,
            blocks: entry.size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind: kind(entry.kind),
            perm: entry.permissions as u16,
            nlink: 1,
            uid: self.owner.0,
            gid: self.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }
}

fn read_inside(reader: &mut Reader, entry: &Entry) -> Result<Contents, Fault> {
    if entry.size <= WHOLE_MAX {
        return Ok(Contents::Memory(reader.whole(entry)?));
    }
    let mut file = tempfile::tempfile()?;
    reader.copy(entry, &mut |piece| Ok(file.write_all(piece)?))?;
    Ok(Contents::File(file))
}

impl Contents {
    fn read(&self, offset: u64, size: u32) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Memory(bytes) => {
                let from = bytes
                    .len()
                    .min(usize::try_from(offset).unwrap_or(usize::MAX));
                let to = bytes.len().min(from.saturating_add(size as usize));
                Ok(bytes[from..to].to_vec())
            }
            Self::File(file) => {
                let mut bytes = vec![0; size as usize];
                let mut read = 0;
                while read < bytes.len() {
                    match file.read_at(&mut bytes[read..], offset + read as u64)? {
                        0 => break,
                        length => read += length,
                    }
                }
                bytes.truncate(read);
                Ok(bytes)
            }
        }
    }
}

fn kind(kind: Kind) -> FileType {
    match kind {
        Kind::File => FileType::RegularFile,
        Kind::Directory => FileType::Directory,
        Kind::Link => FileType::Symlink,
    }
}

impl Filesystem for Files {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let name = name.to_str();
        let child = name.and_then(|name| self.tree.child(parent, name));
        match child.and_then(|child| self.attributes(child)) {
            Some(attributes) => reply.entry(&FOR_EVER, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(ino) {
            Some(attributes) => reply.attr(&FOR_EVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let entry = self.tree.readable(ino);
        let link = entry.filter(|entry| entry.kind == Kind::Link);
        match link.map(|link| self.contents(link)) {
            Some(Ok(Contents::Memory(target))) => reply.data(&target),
            _ => reply.error(Errno::EIO),
        }
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let Some(entry) = self.tree.readable(ino) else {
            reply.error(Errno::EISDIR);
            return;
        };
        match self.contents(entry) {
            Ok(contents) => {
                let mut open = self.open.lock();
                open.last += 1;
                let handle = open.last;
                open.contents.insert(handle, Arc::new(contents));
                // What the system keeps of it stays true.
                reply.opened(FileHandle(handle), FopenFlags::FOPEN_KEEP_CACHE);
            }
            Err(_) => reply.error(Errno::EIO),
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let contents = self.open.lock().contents.get(&fh.0).cloned();
        match contents.map(|contents| contents.read(offset, size)) {
            Some(Ok(bytes)) => reply.data(&bytes),
            _ => reply.error(Errno::EIO),
        }
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        fh: FileHandle,
        _: OpenFlags,
        _: Option<LockOwner>,
        _: bool,
        reply: ReplyEmpty,
    ) {
        self.open.lock().contents.remove(&fh.0);
        reply.ok();
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let Some(node) = self.tree.node(ino) else {
            reply.error(Errno::ENOENT);
            return;
        };
        let own = [
            (ino, ".", Kind::Directory),
            (node.parent, "..", Kind::Directory),
        ];
        let children = node.children.iter().filter_map(|(name, child)| {
            Some((*child, name.as_ref(), self.tree.node(*child)?.entry.kind))
        });
        let entries = own.into_iter().chain(children).enumerate();
        for (index, (child, name, what)) in entries.skip(usize::try_from(offset).unwrap_or(0)) {
            if reply.add(child, index as u64 + 1, kind(what), name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(0, 0, 0, self.tree.len(), 0, 4096, 255, 4096);
    }
}
