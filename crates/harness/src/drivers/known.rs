//! The drivers that come with the program's sources and are installed only by whoever wants them.

use Installer::{Cargo, Script};

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownDriver {
    /// Its name, and that of its directory in `drivers/`.
    pub name: &'static str,
    /// The kinds of store that it hosts, but for `null`.
    pub kinds: &'static [&'static str],
    /// What brings it.
    installer: Installer,
    /// What that takes, as far as it was measured: CPU time, about, and what must be there.
    takes: &'static str,
}

/// What brings a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Installer {
    /// Cargo, which puts it on `PATH`.
    Cargo,
    /// The script `install` in its directory, which puts it where drivers are found.
    Script,
}

const fn known(
    name: &'static str,
    kinds: &'static [&'static str],
    installer: Installer,
    takes: &'static str,
) -> KnownDriver {
    KnownDriver {
        name,
        kinds,
        installer,
        takes,
    }
}

/// All of them, by name.
pub const KNOWN: &[KnownDriver] = &[
    known("bdb", &["bdb"], Script, ""),
    known("csharp", &["ado", "sqlite"], Script, ""),
    known(
        "go",
        &["badger", "bbolt", "modernc", "pebble", "sqlite"],
        Script,
        "",
    ),
    known("java", &["mapdb", "mvstore", "sqlite"], Script, ""),
    known("mdbx", &["mdbx"], Cargo, "4 min, libclang"),
    known("node", &["sqlite"], Script, ""),
    known("postgres", &["postgres"], Cargo, ""),
    known(
        "python",
        &["apsw", "berkeleydb", "lmdb", "sqlite"],
        Script,
        "",
    ),
    known("redis", &["redis"], Cargo, ""),
    known("rocksdb", &["rocksdb"], Cargo, "24 min, libclang"),
    known("s3", &["s3"], Cargo, ""),
    known("sqlite", &["sqlite"], Script, ""),
];

impl KnownDriver {
    /// The one of this name.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        KNOWN.iter().find(|driver| driver.name == name)
    }

    /// Those that host a kind of store.
    pub(crate) fn hosting(kind: &str) -> impl Iterator<Item = &'static Self> {
        KNOWN
            .iter()
            .filter(move |driver| driver.kinds.contains(&kind))
    }

    /// The command that brings it, in a checkout of the program, and what that takes where it is known.
    #[must_use]
    pub fn how_to_get(&self) -> String {
        let Self { name, takes, .. } = self;
        let command = match self.installer {
            Cargo => format!("cargo install --locked --path drivers/{name}"),
            Script => format!("drivers/{name}/install"),
        };
        match takes.is_empty() {
            true => command,
            false => format!("{command} ({takes})"),
        }
    }
}
