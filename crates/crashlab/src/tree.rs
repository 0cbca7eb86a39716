//! Files, directories and links as they are at some moment: what operations make of them.

use crate::content::Content;
use crate::log::{Attributes, Kind, Log, Node, Operation, Place, ROOT};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs::{self, OpenOptions, Permissions};
use std::hash::{Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt, PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

/// What a node holds.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    File(Content),
    Directory(BTreeMap<OsString, Node>),
    Link(OsString),
}

/// A node as it is.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub(crate) held: Held,
    pub(crate) attributes: Attributes,
    /// How many names it has.
    pub(crate) names: u32,
}

/// All that there is, with or without a name.
#[derive(Debug, Clone)]
pub(crate) struct Tree {
    nodes: BTreeMap<Node, State>,
}

impl Tree {
    /// An empty directory.
    pub(crate) fn new(attributes: Attributes) -> Self {
        let root = State {
            held: Held::Directory(BTreeMap::new()),
            attributes,
            names: 1,
        };
        Self {
            nodes: BTreeMap::from([(ROOT, root)]),
        }
    }

    pub(crate) fn get(&self, node: Node) -> Option<&State> {
        self.nodes.get(&node)
    }

    /// What is in a directory.
    pub(crate) fn entries(&self, node: Node) -> Option<&BTreeMap<OsString, Node>> {
        match &self.get(node)?.held {
            Held::Directory(entries) => Some(entries),
            _ => None,
        }
    }

    /// What has a name.
    pub(crate) fn find(&self, at: &Place) -> Option<Node> {
        self.entries(at.parent)?.get(&at.name).copied()
    }

    pub(crate) fn content(&self, node: Node) -> Option<&Content> {
        match &self.get(node)?.held {
            Held::File(content) => Some(content),
            _ => None,
        }
    }

    pub(crate) fn content_mut(&mut self, node: Node) -> Option<&mut Content> {
        match &mut self.nodes.get_mut(&node)?.held {
            Held::File(content) => Some(content),
            _ => None,
        }
    }

    fn entries_mut(&mut self, node: Node) -> Option<&mut BTreeMap<OsString, Node>> {
        match &mut self.nodes.get_mut(&node)?.held {
            Held::Directory(entries) => Some(entries),
            _ => None,
        }
    }

    fn give_name(&mut self, at: &Place, node: Node) {
        let before = self
            .entries_mut(at.parent)
            .and_then(|entries| entries.insert(at.name.clone(), node));
        self.count_names(before, -1);
        self.count_names(Some(node), 1);
    }

    /// Takes a name away, if it is still that node's.
    fn take_name(&mut self, at: &Place, node: Node) {
        if self.find(at) == Some(node) {
            let before = self
                .entries_mut(at.parent)
                .and_then(|entries| entries.remove(&at.name));
            self.count_names(before, -1);
        }
    }

    fn count_names(&mut self, node: Option<Node>, more: i32) {
        if let Some(state) = node.and_then(|node| self.nodes.get_mut(&node)) {
            state.names = state.names.saturating_add_signed(more);
        }
    }

    /// What is made exists, whether or not its name is lost: what is written to it has to go somewhere.
    pub(crate) fn make_nameless(&mut self, node: Node, kind: &Kind, attributes: Attributes) {
        let held = match kind {
            Kind::File => Held::File(Content::default()),
            Kind::Directory => Held::Directory(BTreeMap::new()),
            Kind::Link(target) => Held::Link(target.clone()),
        };
        let state = State {
            held,
            attributes,
            names: 0,
        };
        self.nodes.insert(node, state);
    }

    /// Does an operation of a log as a whole. One on a name that is no longer there does nothing.
    pub(crate) fn apply(&mut self, operation: &Operation, log: &Log) {
        match operation {
            Operation::Make {
                node,
                at,
                kind,
                attributes,
            } => {
                self.make_nameless(*node, kind, *attributes);
                self.give_name(at, *node);
            }
            Operation::Link { node, at } => self.give_name(at, *node),
            Operation::Unlink { node, at } => self.take_name(at, *node),
            Operation::Rename { node, from, to, .. } => {
                self.take_name(from, *node);
                self.give_name(to, *node);
            }
            Operation::Attributes { node, attributes } => {
                if let Some(state) = self.nodes.get_mut(node) {
                    state.attributes = *attributes;
                }
            }
            Operation::Resize { node, len } => self.change(*node, |held| held.resize(*len)),
            Operation::Clear { node, offset, len } => {
                self.change(*node, |held| held.clear(*offset, *len));
            }
            Operation::Write { node, offset, data } => {
                self.change(*node, |held| held.write(*offset, log.written(data)));
            }
            Operation::Sync { .. } | Operation::Ack { .. } | Operation::Base => {}
        }
    }

    fn change(&mut self, file: Node, change: impl FnOnce(&mut Content)) {
        if let Some(content) = self.content_mut(file) {
            change(content);
        }
    }

    /// Every name below the program's directory with what has it, directories before what is in them.
    pub(crate) fn walk(&self) -> Vec<(PathBuf, Node)> {
        let mut found = Vec::new();
        let mut open = vec![(PathBuf::new(), ROOT)];
        while let Some((path, directory)) = open.pop() {
            for (name, node) in self.entries(directory).into_iter().flatten() {
                let path = path.join(name);
                if self.entries(*node).is_some() {
                    open.push((path.clone(), *node));
                }
                found.push((path, *node));
            }
        }
        found
    }

    /// A number that is the same for states which look the same.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut names = self.walk();
        names.sort();
        for (path, node) in names {
            path.hash(&mut hasher);
            if let Some(state) = self.get(node) {
                state.attributes.hash(&mut hasher);
                match &state.held {
                    Held::File(content) => content.hash(&mut hasher),
                    Held::Directory(_) => hasher.write_u8(1),
                    Held::Link(target) => target.hash(&mut hasher),
                }
            }
        }
        hasher.finish()
    }

    /// What a node is called; of several names, one.
    pub(crate) fn name_of(&self, node: Node) -> Option<String> {
        let names = self.walk().into_iter();
        let mut found = names.filter(|(_, each)| *each == node);
        found.next().map(|(path, _)| path.display().to_string())
    }

    /// Writes everything below a directory that exists and is empty.
    pub(crate) fn write_to(&self, directory: &Path) -> io::Result<()> {
        let mut first: BTreeMap<Node, PathBuf> = BTreeMap::new();
        let walk = self.walk();
        for (name, node) in &walk {
            let path = directory.join(name);
            let Some(state) = self.get(*node) else {
                continue;
            };
            match (&state.held, first.get(node)) {
                (Held::Directory(_), _) => fs::DirBuilder::new().mode(0o700).create(&path)?,
                (_, Some(other)) => fs::hard_link(other, &path)?,
                (Held::Link(target), None) => {
                    symlink(target, &path)?;
                    first.insert(*node, path);
                }
                (Held::File(content), None) => {
                    write_file(&path, content)?;
                    give(&path, state.attributes)?;
                    first.insert(*node, path);
                }
            }
        }
        // Last: into a directory that may not be written to nothing can be put.
        for (name, node) in walk.iter().rev() {
            if let Some(state) = self.get(*node)
                && let Held::Directory(_) = state.held
            {
                give(&directory.join(name), state.attributes)?;
            }
        }
        Ok(())
    }
}

/// Gives it its owner and then its mode, of which a new owner would take bits. Root can make what is another user's,
/// and nobody else has to.
fn give(path: &Path, attributes: Attributes) -> io::Result<()> {
    if attributes.uid != 0 && rustix::process::getuid().is_root() {
        chown(path, Some(attributes.uid), Some(attributes.gid))?;
    }
    fs::set_permissions(path, Permissions::from_mode(attributes.mode & 0o7777))
}

fn write_file(path: &Path, content: &Content) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.set_len(content.len())?;
    let mut run: (u64, Vec<u8>) = (0, Vec::new());
    for (begin, bytes) in content.pages() {
        if run.0 + run.1.len() as u64 != begin {
            file.write_all_at(&run.1, run.0)?;
            run = (begin, Vec::new());
        }
        run.1.extend_from_slice(bytes);
    }
    file.write_all_at(&run.1, run.0)
}
