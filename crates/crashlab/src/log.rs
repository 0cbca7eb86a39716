//! What a program did to its files, in the order in which it came, and as bytes of a file.

use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::fmt;

/// A file, a directory or a link, whatever it is called; never used again for another.
pub(crate) type Node = u64;
/// The directory of the program.
pub(crate) const ROOT: Node = 1;

/// How a log begins.
const MAGIC: &[u8] = b"STOWCRASH2";

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
        replaced: Option<Node>,
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
        /// Lies outside of the JSON.
        #[serde(skip)]
        data: Vec<u8>,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Entry {
    /// Nanoseconds after the program was started.
    pub(crate) at_ns: u64,
    pub(crate) operation: Operation,
}

/// What a program did, from its start to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Log {
    pub(crate) entries: Vec<Entry>,
    /// With which code the program ended; nothing if by a signal.
    pub(crate) exit: Option<i32>,
    /// The end of what it said besides acknowledgements.
    pub(crate) said: String,
}

impl Operation {
    /// Those that change names, sizes or attributes.
    pub(crate) fn is_metadata(&self) -> bool {
        match self {
            Self::Make { .. }
            | Self::Link { .. }
            | Self::Unlink { .. }
            | Self::Rename { .. }
            | Self::Attributes { .. }
            | Self::Resize { .. } => true,
            Self::Write { .. } | Self::Sync { .. } | Self::Ack { .. } | Self::Base => false,
        }
    }

    /// Whether much depends on whether a cut comes before or after it.
    pub(crate) fn is_moment(&self) -> bool {
        match self {
            Self::Sync { .. }
            | Self::Rename { .. }
            | Self::Unlink { .. }
            | Self::Resize { .. }
            | Self::Ack { .. } => true,
            Self::Make { .. }
            | Self::Link { .. }
            | Self::Attributes { .. }
            | Self::Write { .. }
            | Self::Base => false,
        }
    }
}

impl Log {
    /// Operations of the program: what it told is none.
    pub(crate) fn operations(&self) -> u64 {
        let told =
            |entry: &&Entry| !matches!(entry.operation, Operation::Ack { .. } | Operation::Base);
        self.entries.iter().filter(told).count() as u64
    }

    /// Of them syncs.
    pub(crate) fn syncs(&self) -> u64 {
        let sync = |entry: &&Entry| matches!(entry.operation, Operation::Sync { .. });
        self.entries.iter().filter(sync).count() as u64
    }

    /// Commits that were acknowledged.
    pub(crate) fn acks(&self) -> u64 {
        let ack = |entry: &&Entry| matches!(entry.operation, Operation::Ack { .. });
        self.entries.iter().filter(ack).count() as u64
    }

    /// As bytes, for a file: what was done as JSON, and after that the data of each write.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let mut put = |bytes: &[u8]| {
            out.extend((bytes.len() as u64).to_le_bytes());
            out.extend(bytes);
        };
        // It has no keys but texts, so that nothing can go wrong.
        put(&serde_json::to_vec(self).unwrap_or_default());
        for entry in &self.entries {
            if let Operation::Write { data, .. } = &entry.operation {
                put(data);
            }
        }
        out
    }

    /// What [`Self::encode`] has written; nothing if it is cut off or of another kind.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes.strip_prefix(MAGIC)?;
        let mut take = || {
            let (len, after) = rest.split_at_checked(8)?;
            let len = usize::try_from(u64::from_le_bytes(len.try_into().ok()?)).ok()?;
            let (taken, after) = after.split_at_checked(len)?;
            rest = after;
            Some(taken)
        };
        let mut log: Self = serde_json::from_slice(take()?).ok()?;
        for entry in &mut log.entries {
            if let Operation::Write { data, .. } = &mut entry.operation {
                *data = take()?.to_vec();
            }
        }
        Some(log)
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
