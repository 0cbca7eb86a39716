//! Engines of keys and values, several threads at a store, the store of our own that writes in memory first, and
//! one to begin others from.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod key_value_engines;
mod log;
#[path = "../place/mod.rs"]
mod place;
mod several_connections;
mod sqlite_buffered;
