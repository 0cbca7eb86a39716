//! canopydb as a store: one tree of a database in an environment of its own.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod engine;
mod error;
mod options;
#[cfg(test)]
mod tests;

use engine::OpenDatabase;
use stowplan_stores::StoreKind;
use stowplan_stores::kv::KvKind;

const STORE: &str = "canopydb";

static KIND: &dyn StoreKind = &KvKind::<OpenDatabase>::new();

stowplan_driver::main!(KIND);
