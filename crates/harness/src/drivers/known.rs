//! The drivers that come with the program's sources and are built only by whoever wants them.

/// One of them. It hosts the kind of store of its own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownDriver {
    /// Its name, and that of its directory in `drivers/`.
    pub name: &'static str,
    /// What building it takes: CPU time, about, and what must be there.
    pub takes: &'static str,
}

/// All of them, by name.
pub const KNOWN: &[KnownDriver] = &[
    KnownDriver {
        name: "canopydb",
        takes: "3 min",
    },
    KnownDriver {
        name: "mdbx",
        takes: "4 min, libclang",
    },
    KnownDriver {
        name: "persy",
        takes: "3 min",
    },
    KnownDriver {
        name: "rocksdb",
        takes: "24 min, libclang",
    },
    KnownDriver {
        name: "sled",
        takes: "3 min",
    },
];

impl KnownDriver {
    /// The one of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|driver| driver.name == name)
    }

    /// The command that brings it, in a checkout of the program, and what that takes.
    #[must_use]
    pub fn how_to_get(&self) -> String {
        let Self { name, takes } = self;
        format!("cargo install --locked --path drivers/{name} ({takes})")
    }
}
