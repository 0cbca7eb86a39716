//! Places for data, behind one trait.
//!
//! What belongs here: the [`Store`] traits, one file or folder per store, the registry, and the
//! conformance suite that every store must pass. What does not: timing, choosing what to run,
//! or judging it.
//!
//! A store is added by writing one file and one line in the registry (docs/adding-a-store.md).

mod buffer;
mod composite;
#[cfg(any(test, feature = "conformance"))]
#[path = "../tests/conformance/mod.rs"]
pub mod conformance;
mod disk;
mod document;
mod error;
mod files;
mod fjall;
mod flat;
mod hexadecimal;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod key;
pub mod kv;
mod ladder;
mod lmdb;
mod names;
pub mod options;
mod probe;
#[cfg(test)]
mod properties;
mod redb;
pub mod registry;
pub mod remote;
mod sqlite;
mod sqlite_buffered;
mod store;
#[cfg(any(test, feature = "conformance"))]
#[path = "../tests/conformance/suite.rs"]
pub mod suite;
mod syncs;
#[cfg(test)]
mod testing;
mod turns;
mod watched;

pub use buffer::Buffer;
pub use disk::{
    expect_file, files_of_tree, footprint_of_paths, footprint_of_tree, refuse_existing,
};
pub use error::StoreError;
pub use files::directory;
pub use key::{KEY_FORM, KEY_TEXT_BYTES, Key, KeyBytes, KeyForm};

pub use sqlite::{
    COMMITS_COUNTED, DATABASE_FILE, FIND_TABLE, failed as sqlite_failed, largest_value, randomness,
};
pub use store::{Access, Counters, Found, Kind, PageFill, Session, Store, Visit, claim};
pub use syncs::{SYNC_CALLS_COUNTED, sync_calls};
pub use watched::watched;

/// What every function of a store returns.
pub type Result<T> = std::result::Result<T, StoreError>;
