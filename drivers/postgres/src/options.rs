//! The settings of the store, and what they mean to the server.

use stowplan_model::{Durability, DurabilityClaim};
use stowplan_stores::options::secret;
use stowplan_stores::remote::TIMEOUT;
use stowplan_stores::{choice, options};

choice! {
    /// Where values lie.
    pub(crate) enum Form {
        Bytea = "bytea",
        LargeObject = "large-object",
    }
}

choice! {
    /// What becomes of values that are too large for a row's page (TOAST).
    pub(crate) enum Storage {
        Extended = "extended",
        External = "external",
    }
}

choice! {
    /// What a commit waits for.
    pub(crate) enum Commit {
        On = "on",
        Off = "off",
        Local = "local",
        RemoteWrite = "remote_write",
        RemoteApply = "remote_apply",
    }
}

choice! {
    /// When a statement is parsed and planned.
    pub(crate) enum Prepare {
        Once = "prepared",
        Each = "each",
    }
}

choice! {
    /// How the dataset is loaded.
    pub(crate) enum Loading {
        Copy = "copy",
        Insert = "insert",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options {
        pub(crate) url: &'static str = secret(
            "$STOWPLAN_POSTGRES",
            "the server: $NAME of a variable that holds postgresql://user:password@host/database",
        )
        .shapes_layout(),
        pub(crate) form: Form = Form::setting(
            Form::Bytea,
            "where values lie: in rows (bytea), or as large objects that rows name",
        )
        .shapes_layout(),
        pub(crate) storage: Storage = Storage::setting(
            Storage::Extended,
            "values of about 2 kB and more: compressed where that helps, or as they are (external)",
        )
        .shapes_layout(),
        pub(crate) synchronous_commit: Commit = Commit::setting(
            Commit::On,
            "what a commit waits for; with off it does not wait for its log to be on the disk",
        ),
        pub(crate) statement: Prepare = Prepare::setting(
            Prepare::Once,
            "whether statements are prepared once for a connection or for each operation",
        ),
        pub(crate) load: Loading = Loading::setting(
            Loading::Copy,
            "how rows are loaded, and several inserted at once: by COPY or row by row",
        ),
        pub(crate) timeout: u64 = TIMEOUT,
    }
}

impl Options {
    /// Of the server's documentation: synchronous_commit (20.5.1) and asynchronous commit (30.4), where
    /// with off the last transactions may be lost but never consistency.
    pub(crate) fn durability(self) -> DurabilityClaim {
        let off = self.synchronous_commit == Commit::Off;
        DurabilityClaim {
            class: if off {
                Durability::Consistent
            } else {
                Durability::Durable
            },
            atomic: true,
            delayed: off,
        }
    }
}
