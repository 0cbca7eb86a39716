//! The names of an archive as a tree in memory.

use crate::error::Refusals;
use crate::misplaced::Misplaced;
use crate::names::split;
use crate::sqlar::{Archive, Entry, Kind, Location};
use crate::{ArchiveError, list};
use std::collections::BTreeMap;

/// The root's number; that of the file system's is one more.
pub(super) const ROOT: u32 = 0;

/// A file, directory or link.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    name: Box<str>,
    pub(super) kind: Kind,
    pub(super) permissions: u32,
    pub(super) mtime: i64,
    pub(super) size: u64,
    /// Nothing for a directory.
    place: Option<Location>,
    /// Of a directory, by name.
    pub(super) children: BTreeMap<Box<str>, u32>,
}

/// All of them, by number.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    /// What is in an archive, but for what `unpack` would refuse by its name.
    pub(super) fn read(archive: &Archive, refused: &mut Refusals) -> Result<Self, ArchiveError> {
        let misplaced = Misplaced::of(archive)?;
        let mut tree = Self(vec![Node::directory(ROOT, "")]);
        list(archive, &mut |row| {
            match row.and_then(|entry| misplaced.admit(entry)) {
                Ok(entry) => tree.add(&entry),
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

    pub(super) fn node(&self, number: u32) -> Option<&Node> {
        self.0.get(number as usize)
    }

    /// The one of a name in a directory.
    pub(super) fn child(&self, directory: u32, name: &str) -> Option<u32> {
        self.node(directory)?.children.get(name).copied()
    }

    /// What is needed to read it.
    pub(super) fn entry(&self, number: u32) -> Option<Entry> {
        let node = self.node(number)?;
        let mut path = node.name.to_string();
        let mut above = node.parent;
        while above != ROOT {
            let parent = self.node(above)?;
            path = format!("{}/{path}", parent.name);
            above = parent.parent;
        }
        Some(Entry {
            name: path.clone(),
            path,
            kind: node.kind,
            permissions: node.permissions,
            mtime: Some(node.mtime),
            size: node.size,
            place: node.place?,
        })
    }

    fn add(&mut self, entry: &Entry) {
        let number = match entry.kind {
            Kind::Directory => self.directory(&entry.path),
            kind => {
                let (directory, name) = split(&entry.path);
                let parent = self.directory(directory);
                self.push(Node {
                    kind,
                    size: entry.size,
                    place: Some(entry.place),
                    ..Node::directory(parent, name)
                })
            }
        };
        let node = &mut self.0[number as usize];
        node.permissions = entry.permissions;
        node.mtime = entry.mtime.unwrap_or(0);
    }

    /// The directory of a path, made where the archive does not name it.
    fn directory(&mut self, path: &str) -> u32 {
        let names = path.split('/').filter(|name| !name.is_empty());
        names.fold(ROOT, |parent, name| match self.child(parent, name) {
            Some(child) => child,
            None => self.push(Node::directory(parent, name)),
        })
    }

    fn push(&mut self, node: Node) -> u32 {
        let number = self.0.len() as u32;
        let siblings = &mut self.0[node.parent as usize].children;
        siblings.insert(node.name.clone(), number);
        self.0.push(node);
        number
    }
}

impl Node {
    fn directory(parent: u32, name: &str) -> Self {
        Self {
            parent,
            name: name.into(),
            kind: Kind::Directory,
            permissions: 0o755,
            mtime: 0,
            size: 0,
            place: None,
            children: BTreeMap::new(),
        }
    }
}
