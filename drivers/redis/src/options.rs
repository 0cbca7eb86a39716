//! The settings of the store, and what they mean to the server.

use stowplan_model::{Durability, DurabilityClaim};
use stowplan_stores::options::secret;
use stowplan_stores::remote::TIMEOUT;
use stowplan_stores::{choice, options};

choice! {
    /// When the server syncs its append-only file.
    pub(crate) enum Fsync {
        Always = "always",
        EverySecond = "everysec",
        No = "no",
        Nothing = "none",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(crate) url: &'static str = secret(
            "$STOWPLAN_REDIS",
            "the server: $NAME of a variable that holds redis://user:password@host:port/database",
        )
        .shapes_layout(),
        pub(crate) appendfsync: Fsync = Fsync::setting(
            Fsync::Always,
            "when the server syncs its append-only file, as it must be set up; none: it has no such file",
        )
        .shapes_layout(),
        pub(crate) timeout: u64 = TIMEOUT,
    }
}

impl Options {
    /// Of the server's documentation (redis.io, "Redis persistence"): with `always` a command is answered
    /// once its log is synced; with `everysec` a second of data can be lost; with `no` the system
    /// decides, and in which order its pages reach the disk. The log's end may be cut: a command is there or not.
    pub(crate) fn durability(self) -> DurabilityClaim {
        let (class, delayed) = match self.appendfsync {
            Fsync::Always => (Durability::Durable, false),
            Fsync::EverySecond => (Durability::Consistent, true),
            Fsync::No => (Durability::ProcessCrash, false),
            Fsync::Nothing => (Durability::None, true),
        };
        DurabilityClaim {
            class,
            atomic: true,
            delayed,
        }
    }
}
