//! The names of an archive as a tree in memory.

use crate::error::Refusals;
use crate::misplaced::Misplaced;
use crate::names::split;
use crate::sqlar::{Archive, Entry, Kind, Place};
use crate::{ArchiveError, list};
use std::collections::HashMap;

/// The root's number; that of the file system's is one more.
pub(super) const ROOT: u32 = 0;

/// A file, directory or link.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    pub(super) name: Box<str>,
    pub(super) kind: Kind,
    pub(super) permissions: u32,
    pub(super) mtime: i64,
    pub(super) size: u64,
    /// Nothing for a directory.
    pub(super) place: Option<Place>,
    /// Of a directory, by name.
    pub(super) children: Vec<u32>,
}

/// All of them, by number.
#[derive(Debug)]
pub(super) struct Tree(Vec<Node>);

impl Tree {
    /// What is in an archive, but for what `unpack` would refuse by its name.
    pub(super) fn read(archive: &Archive, refused: &mut Refusals) -> Result<Self, ArchiveError> {
        let mut growing = Growing {
            nodes: vec![Node::directory(ROOT, "", 0)],
            directories: HashMap::from([(String::new(), ROOT)]),
        };
        let misplaced = Misplaced::of(archive)?;
        list(archive, &mut |row| {
            match row.and_then(|entry| misplaced.admit(entry)) {
                Ok(entry) => growing.add(&entry),
                Err(refusal) => refused.add(refusal),
            }
            Ok(())
        })?;
        let mut nodes = growing.nodes;
        for index in 0..nodes.len() {
            let mut children = std::mem::take(&mut nodes[index].children);
            children.sort_by(|a, b| nodes[*a as usize].name.cmp(&nodes[*b as usize].name));
            nodes[index].children = children;
        }
        Ok(Self(nodes))
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
        let children = &self.node(directory)?.children;
        let found =
            children.binary_search_by(|child| self.0[*child as usize].name.as_ref().cmp(name));
        found.ok().map(|index| children[index])
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
}

impl Node {
    fn directory(parent: u32, name: &str, mtime: i64) -> Self {
        Self {
            parent,
            name: name.into(),
            kind: Kind::Directory,
            permissions: 0o755,
            mtime,
            size: 0,
            place: None,
            children: Vec::new(),
        }
    }
}

/// A tree to which nodes are added.
struct Growing {
    nodes: Vec<Node>,
    directories: HashMap<String, u32>,
}

impl Growing {
    fn add(&mut self, entry: &Entry) {
        if entry.kind == Kind::Directory {
            let number = self.directory(&entry.path);
            let node = &mut self.nodes[number as usize];
            node.permissions = entry.permissions;
            node.mtime = entry.mtime.unwrap_or(0);
            return;
        }
        let (directory, name) = split(&entry.path);
        let parent = self.directory(directory);
        self.push(Node {
            parent,
            name: name.into(),
            kind: entry.kind,
            permissions: entry.permissions,
            mtime: entry.mtime.unwrap_or(0),
            size: entry.size,
            place: Some(entry.place),
            children: Vec::new(),
        });
    }

    /// The directory of a path, made where the archive does not name it.
    fn directory(&mut self, path: &str) -> u32 {
        if let Some(number) = self.directories.get(path) {
            return *number;
        }
        let (above, name) = split(path);
        let parent = self.directory(above);
        let number = self.push(Node::directory(parent, name, 0));
        self.directories.insert(path.to_owned(), number);
        number
    }

    fn push(&mut self, node: Node) -> u32 {
        let number = self.nodes.len() as u32;
        self.nodes[node.parent as usize].children.push(number);
        self.nodes.push(node);
        number
    }
}
