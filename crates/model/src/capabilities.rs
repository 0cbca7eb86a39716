//! What a store can do with given settings, and what it takes on disk.

use crate::words::data;
use crate::{Action, Delivery, DurabilityClaim, Mix, Operation, Workload};

data! {
    /// What a store can do with the settings it was given; plans are checked against this before
    /// anything is built.
    #[derive(Eq)]
    #[serde(default)]
    pub struct Capabilities {
        /// Operations it can run as a workload.
        pub operations: Vec<Operation>,
        /// Ways in which it can hand out a value.
        pub deliveries: Vec<Delivery>,
        /// Whether several operations can share one transaction.
        pub transactions: bool,
        /// Whether an overwrite may change a value's size.
        pub resizes: bool,
        /// What an acknowledged overwrite survives.
        pub durability: DurabilityClaim,
        /// Whether several threads may use it at the same time, each with its own connection.
        pub threads: bool | default,
        /// Whether several of them may write at the same time without waiting for each other.
        pub parallel_writers: bool,
        /// Whether the data survives closing the store (a memory database does not).
        pub persistent: bool,
        /// Whether its files can be evicted from the page cache, so that a cold state exists.
        pub evictable: bool,
        /// Whether its reads go through a mapping of its files into memory, so that the kernel decides
        /// how much each of them fetches from storage.
        pub mapped: bool | default,
        /// The fewest sync calls (fsync, fdatasync, msync, …) that every committed overwrite makes
        /// with these settings, whatever it promises by them; 0 if a commit may do without. An
        /// overwrite by the very same bytes is none: a store may notice, and write nothing.
        pub syncs_per_commit: u32,
        /// The largest value it keeps, in bytes; nothing if only the disk limits it.
        pub largest_value: Option<u64> | default,
    }

    /// Bytes on disk.
    #[derive(Copy, Default, Eq)]
    pub struct Footprint {
        /// Sum of the file lengths, in bytes.
        pub apparent_bytes: u64,
        /// Bytes of the blocks allocated for files and directories, as `du` counts them.
        pub allocated_bytes: u64,
        /// Number of regular files.
        pub files: u64,
        /// Number of directories, the store's own included.
        pub directories: u64,
    }
}

impl Default for Capabilities {
    /// A store of which nothing is known: it promises nothing, and lies in files of its own.
    fn default() -> Self {
        Self {
            operations: Vec::new(),
            deliveries: vec![Delivery::Copy],
            transactions: false,
            resizes: true,
            durability: DurabilityClaim::default(),
            threads: false,
            parallel_writers: false,
            persistent: true,
            evictable: true,
            mapped: false,
            syncs_per_commit: 0,
            largest_value: None,
        }
    }
}

impl Capabilities {
    /// The first action of a workload that it cannot do, or could not have done before, if there is one.
    pub fn missing(&self, workload: &Workload) -> Option<Operation> {
        let needed = |action: Action| match action {
            Action::Read => vec![Operation::Read],
            Action::Overwrite => vec![Operation::Overwrite],
            Action::Modify => vec![Operation::Read, Operation::Overwrite],
            Action::Insert => vec![Operation::Insert],
            Action::Delete => vec![Operation::Delete],
            Action::Scan => vec![Operation::Scan],
        };
        let operations: Vec<Operation> = match workload.operation {
            Operation::Mix => workload
                .mix
                .iter()
                .flat_map(Mix::actions)
                .flat_map(needed)
                .collect(),
            operation => vec![operation],
        };
        // The table that is made takes the place of one that is dropped.
        let drops = workload
            .after
            .has(Operation::CreateTable)
            .then_some(Operation::DropTable);
        let earlier = workload.after.operations().chain(drops);
        let lacks = |operation: &Operation| !self.operations.contains(operation);
        operations.into_iter().chain(earlier).find(lacks)
    }
}
