//! What a program did to its files, in the order in which it came, and as bytes of a file.

use std::ffi::OsString;
use std::fmt;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// A file, a directory or a link, whatever it is called; never used again for another.
pub(crate) type Node = u64;
/// The directory of the program.
pub(crate) const ROOT: Node = 1;

/// How a log begins.
const MAGIC: &[u8] = b"STOWCRASH1";

/// What something is when it is made.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    File,
    Directory,
    Link(OsString),
}

/// A name in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) parent: Node,
    pub(crate) name: OsString,
}

/// Who may do what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Attributes {
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        data: Vec<u8>,
    },
    /// Of a file or a directory.
    Sync {
        node: Node,
    },
    /// The program has told of a commit.
    Ack {
        number: u64,
    },
    /// The program has told that all before lay there long ago.
    Base,
}

/// An operation, and when it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Nanoseconds after the program was started.
    pub(crate) at_ns: u64,
    pub(crate) operation: Operation,
}

/// What a program did, from its start to its end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
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

    /// As bytes, for a file.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Out(MAGIC.to_vec());
        out.number(
            self.exit
                .map_or(u64::MAX, |code| u64::from(code.unsigned_abs())),
        );
        out.bytes(self.said.as_bytes());
        out.number(self.entries.len() as u64);
        for entry in &self.entries {
            out.number(entry.at_ns);
            out.operation(&entry.operation);
        }
        out.0
    }

    /// What [`Self::encode`] has written; nothing if it is cut off or of another kind.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = In(bytes.strip_prefix(MAGIC)?);
        let exit = i32::try_from(input.number()?).ok();
        let said = String::from_utf8_lossy(input.bytes()?).into_owned();
        let count = input.number()?;
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push(Entry {
                at_ns: input.number()?,
                operation: input.operation()?,
            });
        }
        Some(Self {
            entries,
            exit,
            said,
        })
    }
}

struct Out(Vec<u8>);

impl Out {
    fn number(&mut self, number: u64) {
        self.0.extend(number.to_le_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn place(&mut self, place: &Place) {
        self.number(place.parent);
        self.bytes(place.name.as_bytes());
    }

    fn attributes(&mut self, attributes: Attributes) {
        for number in [attributes.mode, attributes.uid, attributes.gid] {
            self.number(number.into());
        }
    }

    fn kind(&mut self, kind: &Kind) {
        match kind {
            Kind::File => self.number(0),
            Kind::Directory => self.number(1),
            Kind::Link(target) => {
                self.number(2);
                self.bytes(target.as_bytes());
            }
        }
    }

    fn operation(&mut self, operation: &Operation) {
        match operation {
            Operation::Make {
                node,
                at,
                kind,
                attributes,
            } => {
                self.tagged(0, *node);
                self.place(at);
                self.kind(kind);
                self.attributes(*attributes);
            }
            Operation::Link { node, at } => {
                self.tagged(1, *node);
                self.place(at);
            }
            Operation::Unlink { node, at } => {
                self.tagged(2, *node);
                self.place(at);
            }
            Operation::Rename {
                node,
                from,
                to,
                replaced,
            } => {
                self.tagged(3, *node);
                self.place(from);
                self.place(to);
                self.number(replaced.unwrap_or(0));
            }
            Operation::Attributes { node, attributes } => {
                self.tagged(4, *node);
                self.attributes(*attributes);
            }
            Operation::Resize { node, len } => {
                self.tagged(5, *node);
                self.number(*len);
            }
            Operation::Write { node, offset, data } => {
                self.tagged(6, *node);
                self.number(*offset);
                self.bytes(data);
            }
            Operation::Sync { node } => self.tagged(7, *node),
            Operation::Ack { number } => self.tagged(8, *number),
            Operation::Base => self.tagged(9, 0),
        }
    }

    fn tagged(&mut self, tag: u8, number: u64) {
        self.0.push(tag);
        self.number(number);
    }
}

struct In<'b>(&'b [u8]);

impl<'b> In<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let count = self.number()?;
        self.take(usize::try_from(count).ok()?)
    }

    fn name(&mut self) -> Option<OsString> {
        Some(OsString::from_vec(self.bytes()?.to_vec()))
    }

    fn place(&mut self) -> Option<Place> {
        Some(Place {
            parent: self.number()?,
            name: self.name()?,
        })
    }

    fn attributes(&mut self) -> Option<Attributes> {
        let mut next = || u32::try_from(self.number()?).ok();
        Some(Attributes {
            mode: next()?,
            uid: next()?,
            gid: next()?,
        })
    }

    fn kind(&mut self) -> Option<Kind> {
        match self.number()? {
            0 => Some(Kind::File),
            1 => Some(Kind::Directory),
            2 => Some(Kind::Link(self.name()?)),
            _ => None,
        }
    }

    fn operation(&mut self) -> Option<Operation> {
        let tag = *self.take(1)?.first()?;
        let node = self.number()?;
        Some(match tag {
            0 => Operation::Make {
                node,
                at: self.place()?,
                kind: self.kind()?,
                attributes: self.attributes()?,
            },
            1 => Operation::Link {
                node,
                at: self.place()?,
            },
            2 => Operation::Unlink {
                node,
                at: self.place()?,
            },
            3 => Operation::Rename {
                node,
                from: self.place()?,
                to: self.place()?,
                replaced: self.number().map(|node| (node != 0).then_some(node))?,
            },
            4 => Operation::Attributes {
                node,
                attributes: self.attributes()?,
            },
            5 => Operation::Resize {
                node,
                len: self.number()?,
            },
            6 => Operation::Write {
                node,
                offset: self.number()?,
                data: self.bytes()?.to_vec(),
            },
            7 => Operation::Sync { node },
            8 => Operation::Ack { number: node },
            9 => Operation::Base,
            _ => return None,
        })
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
            Self::Sync { .. } => f.write_str("sync"),
            Self::Ack { number } => write!(f, "acknowledgement of {number}"),
            Self::Base => f.write_str("base"),
        }
    }
}
