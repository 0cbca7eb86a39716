//! persy as a store: an index from keys to records, and the segment that holds them.
//!
//! What belongs here: the settings, what they promise, and the operations. What does not: anything
//! that another store could use too.

mod engine;
mod error;
mod form;
mod options;
#[cfg(test)]
mod tests;

use engine::Database;
use form::{Integer, Text};
use stowplan_stores::StoreKind;
use stowplan_stores::kv::KvKind;

const STORE: &str = "persy";

static KIND: &dyn StoreKind = &KvKind::<Database<Integer>, Database<Text>>::new();

stowplan_driver::main!(KIND);
