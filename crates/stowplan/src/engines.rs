//! Stores on engines that come into the program by a feature (docs/engines.md).

use stowplan_stores::StoreKind;
use stowplan_stores::registry::{self, LeftOut};

/// Makes them known. To be called first of all, in the worker too.
pub(crate) fn register() {
    let built_in = built_in();
    let is_left_out = |engine: &LeftOut| built_in.iter().all(|kind| kind.name() != engine.name);
    let left_out = ALL.iter().copied().filter(is_left_out).collect();
    registry::register(built_in, left_out);
}

fn built_in() -> Vec<&'static dyn StoreKind> {
    vec![
        #[cfg(feature = "mdbx")]
        stowplan_mdbx::KIND,
        #[cfg(feature = "rocksdb")]
        stowplan_rocksdb::KIND,
        #[cfg(feature = "persy")]
        stowplan_persy::KIND,
        #[cfg(feature = "canopydb")]
        stowplan_canopydb::KIND,
        #[cfg(feature = "sled")]
        stowplan_sled::KIND,
    ]
}

/// Every store that a feature brings, as it describes itself once it is there.
const ALL: &[LeftOut] = &[
    LeftOut {
        name: "mdbx",
        about: "a table of a libmdbx database: a B+ tree in mapped memory, copied on write",
        engine: "libmdbx 0.14.4",
        feature: "mdbx",
    },
    LeftOut {
        name: "rocksdb",
        about: "a column family of a RocksDB database: a log-structured merge tree",
        engine: "RocksDB 11.8.1",
        feature: "rocksdb",
    },
    LeftOut {
        name: "persy",
        about: "a persy file in Rust: a B+ tree of keys, and records that are copied on write",
        engine: "persy 1.8.1",
        feature: "persy",
    },
    LeftOut {
        name: "canopydb",
        about: "a tree of a canopydb database: a copy-on-write B+ tree with a log, in Rust",
        engine: "canopydb 0.2.5",
        feature: "canopydb",
    },
    LeftOut {
        name: "sled",
        about: "a tree of a sled database: a lock-free B-link tree over a log, in Rust",
        engine: "sled 0.34.7",
        feature: "sled",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Says something only about the features that the tests are built with.
    #[test]
    fn what_is_said_of_a_store_that_is_left_out_is_what_it_says_of_itself() {
        for kind in built_in() {
            let mut described = ALL.iter().filter(|engine| engine.name == kind.name());
            let described = described.next().unwrap();
            let (name, version) = kind.engine().unwrap();
            let version = version.split_whitespace().next().unwrap();
            assert_eq!(described.engine, format!("{name} {version}"));
            assert_eq!(described.about, kind.about());
        }
    }
}
