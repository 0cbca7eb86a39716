//! The settings of the store.

use stowplan_model::{Durability, DurabilityClaim};
use stowplan_stores::options::{number, secret};
use stowplan_stores::remote::TIMEOUT;
use stowplan_stores::{choice, options};

choice! {
    /// What is compared when a value arrives.
    pub(crate) enum Checksum {
        Crc32c = "crc32c",
        Nothing = "none",
    }
}

choice! {
    /// What an object survives that the server has taken.
    pub(crate) enum Promise {
        Durable = "durable",
        ProcessCrash = "process-crash",
        Nothing = "none",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(crate) url: &'static str = secret(
            "$STOWPLAN_MINIO",
            "the bucket: $NAME of a variable that holds http://key:secret@host:port/bucket?region=…",
        )
        .shapes_layout(),
        pub(crate) checksum: Checksum = Checksum::setting(
            Checksum::Crc32c,
            "what the server compares when it takes a value, and this driver when it gets one whole",
        )
        .shapes_layout(),
        promise: Promise = Promise::setting(
            Promise::Durable,
            "what an object survives that the server has taken, by the server's word",
        ),
        pub(crate) range: u64 = number(
            0,
            5_000_000_000,
            "0",
            "reads a value by requests of so many bytes each; 0: whole",
        ),
        pub(crate) timeout: u64 = TIMEOUT,
    }
}

impl Options {
    /// An object is there whole or not at all: so says the protocol.
    pub(crate) fn durability(self) -> DurabilityClaim {
        DurabilityClaim {
            class: match self.promise {
                Promise::Durable => Durability::Durable,
                Promise::ProcessCrash => Durability::ProcessCrash,
                Promise::Nothing => Durability::None,
            },
            atomic: true,
            delayed: false,
        }
    }
}
