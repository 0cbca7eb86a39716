//! One keyspace of a fjall database: a log-structured merge tree, written in Rust.

mod engine;
mod options;

use crate::{Kind, StoreError};
use engine::Database;

const STORE: &str = "fjall";

/// The directory of the database below a store's.
const DATABASE: &str = "db";

/// One keyspace of a fjall database. See the module.
pub(crate) const KIND: &Kind = &Kind::of_engine::<Database>();

impl From<::fjall::Error> for StoreError {
    /// What fjall says. Its own text is that of `Debug`.
    fn from(error: ::fjall::Error) -> Self {
        match error {
            ::fjall::Error::Io(error) => Self::said(error),
            ::fjall::Error::Storage(error) => Self::said(error),
            ::fjall::Error::Locked => Self::said("another process has it open"),
            ::fjall::Error::Poisoned => Self::said(
                "an earlier write or sync failed; nothing more is written until it is opened again",
            ),
            other => Self::said(format!("{other:?}")),
        }
    }
}

#[cfg(test)]
mod tests;
