//! What a program did to its files, in the order in which it came, and as bytes of a file.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;
use std::ops::Range;

/// A file, a directory or a link, whatever it is called; never used again for another.
pub(crate) type Node = u64;
/// The directory of the program.
pub(crate) const ROOT: Node = 1;

/// How a log begins.
pub(crate) const MAGIC: &[u8] = b"STOWCRASH4";

/// What something is when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum Kind {
    File,
    Directory,
    Link(OsString),
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) parent: Node,
    pub(crate) name: OsString,
}

/// Who may do what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) struct Attributes {
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Operation {
    Make {
        node: Node,
        at: Place,
        kind: Kind,
        attributes: Attributes,
    },
    Link {
        node: Node,
        at: Place,
    },
    /// Of a directory too.
    Unlink {
        node: Node,
        at: Place,
    },
    /// What had the new name before is gone from it.
    Rename {
        node: Node,
        from: Place,
        to: Place,
    },
    Attributes {
        node: Node,
        attributes: Attributes,
    },
    /// Shorter or longer.
    Resize {
        node: Node,
        len: u64,
    },
    Write {
        node: Node,
        offset: u64,
        /// Where in the log's file the bytes are.
        data: Range<usize>,
    },
    /// A hole, within the length of the file.
    Clear {
        node: Node,
        offset: u64,
        len: u64,
    },
    /// Of a file or a directory.
    Sync {
        node: Node,
        /// fdatasync: the data, and what is needed to read it; not a file's owner and mode.
        data_only: bool,
    },
    /// The program has told of a commit.
    Ack {
        number: u64,
    },
    /// The program has told that all before lay there long ago.
    Base,
}

/// An operation, and when it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Nanoseconds after the program was started.
    pub(crate) at_ns: u64,
    pub(crate) operation: Operation,
}

/// What a program did, from its start to its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Log {
    pub(crate) entries: Vec<Entry>,
    /// With which code the program ended; nothing if by a signal.
    pub(crate) exit: Option<i32>,
    /// The end of what it said besides acknowledgements.
    pub(crate) said: String,
    /// The first line of it that tells of a commit and of no number.
    pub(crate) malformed: Option<String>,
    /// Why the lab refused a write, the first one.
    pub(crate) refused: Option<String>,
    /// Its file: [`MAGIC`], and what was written, in order.
    #[serde(skip)]
    pub(crate) file: Vec<u8>,
}

impl Operation {
    /// The file, directory or link that it is about.
    pub(crate) fn node(&self) -> Option<Node> {
        match self {
            Self::Make { node, .. }
            | Self::Link { node, .. }
            | Self::Unlink { node, .. }
            | Self::Rename { node, .. }
            | Self::Attributes { node, .. }
            | Self::Resize { node, .. }
            | Self::Write { node, .. }
            | Self::Clear { node, .. }
            | Self::Sync { node, .. } => Some(*node),
            Self::Ack { .. } | Self::Base => None,
        }
    }

    /// Those that change names, sizes or attributes.
    pub(crate) fn is_metadata(&self) -> bool {
        !matches!(
            self,
            Self::Write { .. } | Self::Sync { .. } | Self::Ack { .. } | Self::Base
        )
    }

    /// Whether much depends on whether a cut comes before or after it.
    pub(crate) fn is_moment(&self) -> bool {
        !matches!(
            self,
            Self::Make { .. }
                | Self::Link { .. }
                | Self::Attributes { .. }
                | Self::Write { .. }
                | Self::Base
        )
    }
}

impl Log {
    /// How many operations are of a kind.
    pub(crate) fn count(&self, is_one: impl Fn(&Operation) -> bool) -> u64 {
        let entries = self.entries.iter();
        entries.filter(|entry| is_one(&entry.operation)).count() as u64
    }

    /// What a write wrote.
    pub(crate) fn written(&self, data: &Range<usize>) -> &[u8] {
        self.file.get(data.clone()).unwrap_or_default()
    }

    /// The end of its file behind what was written: the rest as JSON, and how long that is.
    pub(crate) fn end(&self) -> Vec<u8> {
        // It has no keys but texts, so that nothing can go wrong.
        let mut end = serde_json::to_vec(self).unwrap_or_default();
        end.extend((end.len() as u64).to_le_bytes());
        end
    }

    /// From its file; nothing if that is cut off or of another kind.
    pub fn decode(mut file: Vec<u8>) -> Option<Self> {
        let (rest, len) = file.split_last_chunk::<8>()?;
        let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
        let (written, json) = rest.split_at_checked(rest.len().checked_sub(len)?)?;
        let log: Self = serde_json::from_slice(json).ok()?;
        let mut ranges = log
            .entries
            .iter()
            .filter_map(|entry| match &entry.operation {
                Operation::Write { data, .. } => Some(data),
                _ => None,
            });
        let follow = |at, data: &Range<usize>| (data.start == at).then_some(data.end);
        let end = ranges.try_fold(MAGIC.len(), follow)?;
        let whole = written.starts_with(MAGIC) && written.len() == end;
        file.truncate(end);
        whole.then_some(Self { file, ..log })
    }
}

/// As the recording file system writes it.
#[cfg(test)]
impl Log {
    pub(crate) fn empty() -> Self {
        Self {
            file: MAGIC.to_vec(),
            ..Self::default()
        }
    }

    pub(crate) fn note(&mut self, operation: Operation) {
        let at_ns = self.entries.len() as u64;
        self.entries.push(Entry { at_ns, operation });
    }

    pub(crate) fn write(&mut self, node: Node, offset: u64, bytes: &[u8]) {
        let from = self.file.len();
        self.file.extend_from_slice(bytes);
        let data = from..self.file.len();
        self.note(Operation::Write { node, offset, data });
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        [&self.file[..], &self.end()].concat()
    }
}

impl fmt::Display for Operation {
    /// Without the names of files, which only [`crate::tree::Tree`] knows.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |name: &OsString| name.to_string_lossy().into_owned();
        match self {
            Self::Make { at, kind, .. } => match kind {
                Kind::File => write!(f, "create {}", shown(&at.name)),
                Kind::Directory => write!(f, "mkdir {}", shown(&at.name)),
                Kind::Link(target) => write!(f, "symlink {} to {}", shown(&at.name), shown(target)),
            },
            Self::Link { at, .. } => write!(f, "link as {}", shown(&at.name)),
            Self::Unlink { at, .. } => write!(f, "unlink {}", shown(&at.name)),
            Self::Rename { from, to, .. } => {
                write!(f, "rename {} to {}", shown(&from.name), shown(&to.name))
            }
            Self::Attributes { attributes, .. } => write!(f, "chmod {:o}", attributes.mode),
            Self::Clear { offset, len, .. } => write!(f, "hole of {len} bytes at {offset}"),
            Self::Resize { len, .. } => write!(f, "truncate to {len} bytes"),
            Self::Write { offset, data, .. } => {
                write!(f, "write of {} bytes at {offset}", data.len())
            }
            Self::Sync { data_only, .. } => {
                f.write_str(if *data_only { "fdatasync" } else { "fsync" })
            }
            Self::Ack { number } => write!(f, "acknowledgement of {number}"),
            Self::Base => f.write_str("base"),
        }
    }
}
