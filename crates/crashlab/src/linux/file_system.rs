//! A file system in memory that keeps every change in the order in which it came.
//!
//! The kernel hands over what programs do, and pages of mapped files when it writes them. It keeps
//! locks itself, and caches nothing that was written. One thread serves it, so the log is the order of
//! things. Beside the program's directory lies the file that is the program's stdout: so a commit that
//! is told there stands in the log exactly where it was told.

use crate::content::Content;
use crate::log::{Attributes, Entry, Kind, Log, MAGIC, Node, Operation, Place, ROOT};
use crate::tree::{Held, State, Tree};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    KernelConfig, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The name of the program's directory below the mount.
pub(super) const DIRECTORY: &str = "data";
/// The name of the file that is the program's stdout.
pub(super) const STDOUT: &str = "stdout";
/// Of the mount itself; those of nodes are one higher than the nodes.
const MOUNT: u64 = 1;
const STDOUT_NUMBER: u64 = 1 << 62;
/// Nobody changes anything behind the kernel's back.
const FOR_LONG: Duration = Duration::from_secs(3600);
/// The end of what a program says, which is kept for a message.
const SAID: usize = 4_000;
/// Bytes of the longest name, as on most file systems.
const LONGEST_NAME: usize = 255;
const BLOCKS: u64 = 16 << 20;

/// The file system, shared by whoever serves it and whoever takes the log at the end.
#[derive(Clone)]
pub(super) struct Recording(Arc<Mutex<Inner>>);

struct Inner {
    /// A node stays without a name, too: whoever has it open reads it, and what is written is bounded.
    tree: Tree,
    log: Log,
    /// The file of the log, to which goes what is written as it comes.
    file: BufWriter<File>,
    started: Instant,
    owner: Attributes,
    next: Node,
    /// Bytes that the log's file may have, and has.
    most: usize,
    written: usize,
    /// When each node was looked at, and when it was changed.
    times: HashMap<Node, (SystemTime, SystemTime)>,
    /// What a directory held when it was opened, by handle.
    listings: HashMap<u64, Vec<(INodeNo, FileType, OsString)>>,
    last_listing: u64,
    /// The line that the program has begun to say, and how much it said.
    line: Vec<u8>,
    told_bytes: u64,
}

impl Recording {
    /// That of a user, who may write so many bytes, each counted every time; they go to `file`.
    pub(super) fn new(uid: u32, gid: u32, file: File, most: u64) -> io::Result<Self> {
        let mut file = BufWriter::with_capacity(1 << 20, file);
        file.write_all(MAGIC)?;
        let mode = 0o755;
        let owner = Attributes { mode, uid, gid };
        Ok(Self(Arc::new(Mutex::new(Inner {
            tree: Tree::new(owner),
            log: Log::default(),
            file,
            started: Instant::now(),
            owner,
            next: ROOT + 1,
            most: usize::try_from(most)
                .unwrap_or(usize::MAX)
                .saturating_add(MAGIC.len()),
            written: MAGIC.len(),
            times: HashMap::new(),
            listings: HashMap::new(),
            last_listing: 0,
            line: Vec::new(),
            told_bytes: 0,
        }))))
    }

    /// Ends the file of the log.
    pub(super) fn finish(&self, exit: i32) -> io::Result<()> {
        let mut inner = self.0.lock();
        inner.log.exit = Some(exit);
        let end = inner.log.end();
        inner.file.write_all(&end)?;
        inner.file.flush()
    }
}

fn node_of(number: INodeNo) -> Node {
    number.0.wrapping_sub(1)
}

fn number_of(node: Node) -> INodeNo {
    INodeNo(node + 1)
}

fn place(parent: INodeNo, name: &OsStr) -> Result<Place, Errno> {
    match parent.0 {
        // Nothing is made beside the program's directory.
        MOUNT => Err(Errno::EACCES),
        _ if name.len() > LONGEST_NAME => Err(Errno::ENAMETOOLONG),
        _ => Ok(Place {
            parent: node_of(parent),
            name: name.to_owned(),
        }),
    }
}

impl Inner {
    /// Does an operation, and notes it.
    fn apply(&mut self, operation: Operation) {
        self.tree.apply(&operation, &self.log);
        self.note(operation);
    }

    fn note(&mut self, operation: Operation) {
        let at_ns = u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.log.entries.push(Entry { at_ns, operation });
    }

    fn touch(&mut self, node: Node) {
        let now = SystemTime::now();
        self.times.insert(node, (now, now));
    }

    fn attributes(&self, ino: INodeNo) -> Result<FileAttr, Errno> {
        let (kind, size, nlink, attributes) = match ino.0 {
            MOUNT => (FileType::Directory, 0, 3, self.owner),
            STDOUT_NUMBER => {
                let mode = 0o666;
                let attributes = Attributes { mode, ..self.owner };
                (FileType::RegularFile, self.told_bytes, 1, attributes)
            }
            _ => {
                let state = self.tree.get(node_of(ino)).ok_or(Errno::ENOENT)?;
                let (size, names) = match &state.held {
                    Held::File(content) => (content.len(), state.names),
                    Held::Directory(held) => (4096, 2 + self.directories(held)),
                    Held::Link(target) => (target.len() as u64, state.names),
                };
                (kind_of(state), size, names, state.attributes)
            }
        };
        let never = (SystemTime::UNIX_EPOCH, SystemTime::UNIX_EPOCH);
        let (atime, mtime) = *self.times.get(&node_of(ino)).unwrap_or(&never);
        Ok(FileAttr {
            ino,
            size,
            blocks: size.div_ceil(512),
            atime,
            mtime,
            ctime: mtime,
            crtime: mtime,
            kind,
            perm: u16::try_from(attributes.mode & 0o7777).unwrap_or(0o700),
            nlink,
            uid: attributes.uid,
            gid: attributes.gid,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// How many of the names in a directory are those of directories: each names its parent once more.
    fn directories(&self, held: &BTreeMap<OsString, Node>) -> u32 {
        let is_directory = |node: &&Node| self.tree.entries(**node).is_some();
        u32::try_from(held.values().filter(is_directory).count()).unwrap_or(u32::MAX - 2)
    }

    fn find(&self, parent: INodeNo, name: &OsStr) -> Result<INodeNo, Errno> {
        let found = match parent.0 {
            MOUNT if name == DIRECTORY => Some(number_of(ROOT)),
            MOUNT if name == STDOUT => Some(INodeNo(STDOUT_NUMBER)),
            MOUNT => None,
            _ => self.tree.find(&place(parent, name)?).map(number_of),
        };
        found.ok_or(Errno::ENOENT)
    }

    /// A name that nothing has yet, in a directory that is there.
    fn free(&mut self, parent: INodeNo, name: &OsStr) -> Result<Place, Errno> {
        let at = place(parent, name)?;
        let held = self.tree.entries(at.parent).ok_or(Errno::ENOENT)?;
        if held.contains_key(name) {
            return Err(Errno::EEXIST);
        }
        self.touch(at.parent);
        Ok(at)
    }

    fn make(
        &mut self,
        (parent, name): (INodeNo, &OsStr),
        kind: Kind,
        attributes: Attributes,
    ) -> Result<FileAttr, Errno> {
        let (at, node) = (self.free(parent, name)?, self.next);
        self.next += 1;
        self.touch(node);
        self.apply(Operation::Make {
            node,
            at,
            kind,
            attributes,
        });
        self.attributes(number_of(node))
    }

    fn link(&mut self, ino: INodeNo, parent: INodeNo, name: &OsStr) -> Result<FileAttr, Errno> {
        let (at, node) = (self.free(parent, name)?, node_of(ino));
        self.apply(Operation::Link { node, at });
        self.attributes(ino)
    }

    fn write(&mut self, number: INodeNo, offset: u64, data: &[u8]) -> Result<(), Errno> {
        if number.0 == STDOUT_NUMBER {
            self.told_bytes = self.told_bytes.max(offset + data.len() as u64);
            self.hear(data);
            return Ok(());
        }
        let node = node_of(number);
        let content = self.tree.content_mut(node).ok_or(Errno::EIO)?;
        let end = self.written.saturating_add(data.len());
        let kept = match end <= self.most {
            true => self
                .file
                .write_all(data)
                .map_err(|error| format!("what it wrote cannot be kept: {error}")),
            false => Err("it wrote more bytes than --most-written allows".to_owned()),
        };
        if let Err(why) = kept {
            self.log.refused.get_or_insert(why);
            return Err(Errno::ENOSPC);
        }
        content.write(offset, data);
        self.touch(node);
        let data = std::mem::replace(&mut self.written, end)..end;
        self.note(Operation::Write { node, offset, data });
        Ok(())
    }

    /// Takes what the program says: acknowledgements are noted, the end of the rest is kept.
    fn hear(&mut self, data: &[u8]) {
        for byte in data {
            if *byte != b'\n' {
                self.line.push(*byte);
                continue;
            }
            let line = String::from_utf8_lossy(&std::mem::take(&mut self.line)).into_owned();
            if let Some(operation) = told(&line) {
                self.note(operation);
                continue;
            }
            if line.split_whitespace().next() == Some("ack") {
                self.log.malformed.get_or_insert_with(|| line.clone());
            }
            let said = &mut self.log.said;
            said.push_str(&line);
            said.push('\n');
            let too_much = said.len().saturating_sub(SAID);
            let from = (too_much..=said.len()).find(|at| said.is_char_boundary(*at));
            said.drain(..from.unwrap_or(0));
        }
    }

    fn require_empty(&self, node: Node) -> Result<(), Errno> {
        match self.tree.entries(node) {
            Some(held) if !held.is_empty() => Err(Errno::ENOTEMPTY),
            _ => Ok(()),
        }
    }

    fn unlink(&mut self, parent: INodeNo, name: &OsStr) -> Result<(), Errno> {
        let at = place(parent, name)?;
        let node = self.tree.find(&at).ok_or(Errno::ENOENT)?;
        self.require_empty(node)?;
        self.touch(at.parent);
        self.apply(Operation::Unlink { node, at });
        Ok(())
    }

    fn rename(&mut self, from: Place, to: Place, flags: RenameFlags) -> Result<(), Errno> {
        let node = self.tree.find(&from).ok_or(Errno::ENOENT)?;
        let replaced = self.tree.find(&to);
        if flags.contains(RenameFlags::RENAME_NOREPLACE) && replaced.is_some() {
            return Err(Errno::EEXIST);
        }
        if flags.difference(RenameFlags::RENAME_NOREPLACE) != RenameFlags::empty() {
            return Err(Errno::EINVAL);
        }
        replaced.map_or(Ok(()), |replaced| self.require_empty(replaced))?;
        self.touch(from.parent);
        self.touch(to.parent);
        self.apply(Operation::Rename { node, from, to });
        Ok(())
    }

    fn sync(&mut self, number: INodeNo, data_only: bool) {
        if number.0 != MOUNT && number.0 != STDOUT_NUMBER {
            let node = node_of(number);
            self.note(Operation::Sync { node, data_only });
        }
    }

    fn allocate(&mut self, number: INodeNo, offset: u64, len: u64, mode: i32) -> Result<(), Errno> {
        use libc::{FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, FALLOC_FL_ZERO_RANGE};
        let node = node_of(number);
        let now = self.tree.content(node).ok_or(Errno::EBADF)?.len();
        let end = offset.checked_add(len).ok_or(Errno::EFBIG)?;
        let zeroes = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
        if mode & !(zeroes | FALLOC_FL_KEEP_SIZE) != 0 {
            return Err(Errno::EOPNOTSUPP);
        }
        if mode & zeroes != 0 && offset < now {
            let len = end.min(now) - offset;
            self.apply(Operation::Clear { node, offset, len });
        }
        if mode & FALLOC_FL_KEEP_SIZE == 0 && end > now {
            self.apply(Operation::Resize { node, len: end });
        }
        Ok(())
    }

    fn list(&mut self, number: INodeNo) -> Option<u64> {
        let directory = |number, name: &str| (number, FileType::Directory, OsString::from(name));
        let mut all = vec![directory(number, "."), directory(INodeNo(MOUNT), "..")];
        if number.0 == MOUNT {
            let stdout = (INodeNo(STDOUT_NUMBER), FileType::RegularFile, STDOUT.into());
            all.extend([directory(number_of(ROOT), DIRECTORY), stdout]);
        } else {
            let held = self.tree.entries(node_of(number))?.iter();
            all.extend(held.filter_map(|(name, node)| {
                let kind = self.tree.get(*node).map(kind_of)?;
                Some((number_of(*node), kind, name.clone()))
            }));
        }
        self.last_listing += 1;
        self.listings.insert(self.last_listing, all);
        Some(self.last_listing)
    }
}

fn kind_of(state: &State) -> FileType {
    match state.held {
        Held::File(_) => FileType::RegularFile,
        Held::Directory(_) => FileType::Directory,
        Held::Link(_) => FileType::Symlink,
    }
}

/// What a line of the program tells: `ack 7`, or `base`.
fn told(line: &str) -> Option<Operation> {
    if line.trim_end() == "base" {
        return Some(Operation::Base);
    }
    let number = line.strip_prefix("ack ")?.trim().parse().ok()?;
    Some(Operation::Ack { number })
}

fn done(reply: ReplyEmpty, result: Result<(), Errno>) {
    match result {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

fn entry(reply: ReplyEntry, result: Result<FileAttr, Errno>) {
    match result {
        Ok(attributes) => reply.entry(&FOR_LONG, &attributes, Generation(0)),
        Err(error) => reply.error(error),
    }
}

fn shown(reply: ReplyAttr, attributes: Result<FileAttr, Errno>) {
    match attributes {
        Ok(attributes) => reply.attr(&FOR_LONG, &attributes),
        Err(error) => reply.error(error),
    }
}

fn seconds(time: TimeOrNow) -> SystemTime {
    match time {
        TimeOrNow::SpecificTime(time) => time,
        TimeOrNow::Now => SystemTime::now(),
    }
}

impl Filesystem for Recording {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // Otherwise a write comes in pieces of a page.
        let _ = config.set_max_write(1 << 20);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let inner = self.0.lock();
        let found = inner.find(parent, name);
        entry(reply, found.and_then(|number| inner.attributes(number)));
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        shown(reply, self.0.lock().attributes(ino));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        accessed: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut inner = self.0.lock();
        let node = node_of(ino);
        if let Some(state) = inner.tree.get(node) {
            let now = state.attributes;
            let attributes = Attributes {
                mode: mode.map_or(now.mode, |mode| mode & 0o7777),
                uid: uid.unwrap_or(now.uid),
                gid: gid.unwrap_or(now.gid),
            };
            if attributes != now {
                inner.apply(Operation::Attributes { node, attributes });
            }
            let now = inner.tree.content(node).map(Content::len);
            if let (Some(len), Some(now)) = (size, now)
                && len != now
            {
                inner.touch(node);
                inner.apply(Operation::Resize { node, len });
            }
            let now = SystemTime::now();
            let times = inner.times.entry(node).or_insert((now, now));
            times.0 = accessed.map_or(times.0, seconds);
            times.1 = modified.map_or(times.1, seconds);
        }
        shown(reply, inner.attributes(ino));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let inner = self.0.lock();
        match inner.tree.get(node_of(ino)).map(|state| &state.held) {
            Some(Held::Link(target)) => reply.data(target.as_encoded_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let attributes = of(request, mode, umask);
        let made = self
            .0
            .lock()
            .make((parent, name), Kind::Directory, attributes);
        entry(reply, made);
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let kind = Kind::Link(target.as_os_str().to_owned());
        let attributes = of(request, 0o777, 0);
        entry(reply, self.0.lock().make((parent, name), kind, attributes));
    }

    fn link(&self, _: &Request, ino: INodeNo, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        entry(reply, self.0.lock().link(ino, parent, name));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(reply, self.0.lock().unlink(parent, name));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        done(reply, self.0.lock().unlink(parent, name));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let places = place(parent, name).and_then(|from| Ok((from, place(new_parent, new_name)?)));
        let renamed = places.and_then(|(from, to)| self.0.lock().rename(from, to, flags));
        done(reply, renamed);
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE);
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let keep = FopenFlags::FOPEN_KEEP_CACHE;
        let attributes = of(request, mode, umask);
        match self.0.lock().make((parent, name), Kind::File, attributes) {
            Ok(made) => reply.created(&FOR_LONG, &made, Generation(0), FileHandle(0), keep),
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        match self.0.lock().tree.content(node_of(ino)) {
            Some(content) => reply.data(&content.read(offset, size as usize)),
            None if ino.0 == STDOUT_NUMBER => reply.data(&[]),
            None => reply.error(Errno::EIO),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        match self.0.lock().write(ino, offset, data) {
            Ok(()) => reply.written(u32::try_from(data.len()).unwrap_or(u32::MAX)),
            Err(error) => reply.error(error),
        }
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, data_only: bool, reply: ReplyEmpty) {
        self.0.lock().sync(ino, data_only);
        reply.ok();
    }

    fn fsyncdir(
        &self,
        by: &Request,
        ino: INodeNo,
        handle: FileHandle,
        data_only: bool,
        reply: ReplyEmpty,
    ) {
        self.fsync(by, ino, handle, data_only, reply);
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.0.lock().list(ino) {
            Some(handle) => reply.opened(FileHandle(handle), FopenFlags::empty()),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let inner = self.0.lock();
        let listing = inner.listings.get(&handle.0).into_iter().flatten();
        let from = usize::try_from(offset).unwrap_or(usize::MAX);
        for (index, (number, kind, name)) in (1..).zip(listing).skip(from) {
            if reply.add(*number, index, *kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn releasedir(
        &self,
        _: &Request,
        _: INodeNo,
        handle: FileHandle,
        _: OpenFlags,
        reply: ReplyEmpty,
    ) {
        self.0.lock().listings.remove(&handle.0);
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, 4096, 255, 4096);
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        done(reply, self.0.lock().allocate(ino, offset, length, mode));
    }
}

/// Who made something, and what others may do with it.
fn of(request: &Request, mode: u32, umask: u32) -> Attributes {
    Attributes {
        mode: mode & 0o7777 & !umask,
        uid: request.uid(),
        gid: request.gid(),
    }
}
