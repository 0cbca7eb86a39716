//! sled as a store: one tree of a database.
//!
//! What belongs here: the settings, what they promise, the operations, and transactions that last
//! longer than a call, which sled has not. What does not: anything that another store could use too.

mod engine;
mod error;
mod options;
#[cfg(test)]
mod tests;
mod transaction;
mod turns;

use engine::Database;
use stowplan_stores::StoreKind;
use stowplan_stores::kv::KvKind;

const STORE: &str = "sled";

static KIND: &dyn StoreKind = &KvKind::<Database>::new();

stowplan_driver::main!(KIND);
