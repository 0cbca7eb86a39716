//! libmdbx as a store: one named table of a database that is mapped into memory.
//!
//! What belongs here: the settings, what they promise, the operations, and a small safe layer over
//! the C interface (`environment`). The crate `libmdbx` has such a layer too, but hands every
//! transaction that writes to a thread of its own and copies what it reads, which would be
//! measured along.

mod engine;
mod environment;
mod error;
mod options;
#[cfg(test)]
mod tests;

use environment::Environment;
use stowplan_stores::Kind;

const STORE: &str = "mdbx";

/// The file of the database, so named by libmdbx.
const DATA_FILE: &str = "mdbx.dat";

static KIND: &Kind = &Kind::of_engine::<Environment>();

stowplan_driver::main!(KIND);
