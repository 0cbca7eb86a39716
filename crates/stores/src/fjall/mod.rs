//! One keyspace of a fjall database: a log-structured merge tree, written in Rust.

mod database;
mod ingest;
mod options;
mod session;

use crate::kv::KvKind;
use crate::{StoreError, StoreKind};
use database::Database;

const STORE: &str = "fjall";

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// One keyspace of a fjall database. See the module.
pub(crate) const KIND: &dyn StoreKind = &KvKind::<Database>::new();

/// What fjall said about an action, in one line. Its own text is that of `Debug`.
fn failed(action: impl Into<String>, error: &::fjall::Error) -> StoreError {
    let detail = match error {
        ::fjall::Error::Io(e) => e.to_string(),
        ::fjall::Error::Storage(e) => e.to_string(),
        ::fjall::Error::Locked => "another process has it open".to_owned(),
        ::fjall::Error::Poisoned => {
            "an earlier write or sync failed; nothing more is written until it is opened again"
                .to_owned()
        }
        other => format!("{other:?}"),
    };
    StoreError::engine(STORE, action, detail)
}

#[cfg(test)]
mod tests;
