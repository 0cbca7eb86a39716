//! The names of an archive as a tree in memory.

use crate::error::Refusals;
use crate::misplaced::Misplaced;
use crate::names::split;
use crate::sqlar::{Archive, Entry, Kind, Location};
use crate::{ArchiveError, list};
use fuser::INodeNo;
use std::collections::BTreeMap;

/// The root's number, as file systems have it.
const ROOT: INodeNo = INodeNo::ROOT;

/// A file, directory or link.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: INodeNo,
    /// As the archive has it; of a directory that it does not name, as others are.
    pub(super) entry: Entry,
    /// Of a directory, by name.
    pub(super) children: BTreeMap<Box<str>, INodeNo>,
}

/// All of them, by number from 1.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    /// What is in an archive, but for what `unpack` would refuse by its name.
    pub(super) fn read(archive: &Archive, refused: &mut Refusals) -> Result<Self, ArchiveError> {
        let misplaced = Misplaced::of(archive)?;
        let mut tree = Self(vec![Node::of(ROOT, directory(""))]);
        list(archive, &mut |row| {
            match row.and_then(|entry| misplaced.admit(entry)) {
                Ok(entry) => tree.add(entry),
                Err(refusal) => refused.add(refusal),
            }
            Ok(())
        })?;
        Ok(tree)
    }

    /// How many there are, without the root.
    pub(super) fn len(&self) -> u64 {
        self.0.len() as u64 - 1
    }

    pub(super) fn node(&self, number: INodeNo) -> Option<&Node> {
        self.0.get(place(number))
    }

    /// The one of a name in a directory.
    pub(super) fn child(&self, directory: INodeNo, name: &str) -> Option<INodeNo> {
        self.node(directory)?.children.get(name).copied()
    }

    /// What can be read: a file or a link.
    pub(super) fn readable(&self, number: INodeNo) -> Option<&Entry> {
        let entry = &self.node(number)?.entry;
        (entry.kind != Kind::Directory).then_some(entry)
    }

    fn add(&mut self, entry: Entry) {
        if entry.kind == Kind::Directory {
            let number = self.directory(&entry.path);
            self.0[place(number)].entry = entry;
        } else {
            self.push(entry);
        }
    }

    /// The directory of a path, made where the archive does not name it.
    fn directory(&mut self, path: &str) -> INodeNo {
        if path.is_empty() {
            return ROOT;
        }
        let (above, name) = split(path);
        let parent = self.directory(above);
        let known = self.child(parent, name);
        known.unwrap_or_else(|| self.push(directory(path)))
    }

    fn push(&mut self, entry: Entry) -> INodeNo {
        let (above, name) = split(&entry.path);
        let (parent, name) = (self.directory(above), name.into());
        let number = INodeNo(self.0.len() as u64 + 1);
        self.0[place(parent)].children.insert(name, number);
        self.0.push(Node::of(parent, entry));
        number
    }
}

/// Where a number stands among all; none has 0.
fn place(number: INodeNo) -> usize {
    usize::try_from(number.0.wrapping_sub(1)).unwrap_or(usize::MAX)
}

impl Node {
    fn of(parent: INodeNo, entry: Entry) -> Self {
        Self {
            parent,
            entry,
            children: BTreeMap::new(),
        }
    }
}

/// A directory that an archive does not name.
fn directory(path: &str) -> Entry {
    Entry {
        name: path.to_owned(),
        path: path.to_owned(),
        kind: Kind::Directory,
        permissions: 0o755,
        mtime: None,
        size: 0,
        place: Location::default(),
    }
}
