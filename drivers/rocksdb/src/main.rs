//! RocksDB as a store: one column family of a database with optimistic transactions.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod engine;
mod error;
mod options;
#[cfg(test)]
mod tests;

use engine::OpenDatabase;
use rocksdb::{MultiThreaded, OptimisticTransactionDB};
use stowplan_stores::Kind;

const STORE: &str = "rocksdb";

/// Column families come and go by a shared reference.
type Database = OptimisticTransactionDB<MultiThreaded>;

static KIND: &Kind = &Kind::of_engine::<OpenDatabase>();

stowplan_driver::main!(KIND);
