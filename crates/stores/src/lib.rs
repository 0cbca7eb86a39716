//! Places for data, behind one trait.
//!
//! What belongs here: the [`Store`] traits, one file or folder per store, the registry, and the
//! conformance suite that every store must pass. What does not: timing, choosing what to run,
//! or judging it.
//!
//! A store is added by writing one file and one line in the registry (docs/adding-a-store.md).

mod buffer;
mod error;
mod key;
mod store;

pub use buffer::Buffer;
pub use error::StoreError;
pub use key::Key;
pub use store::{Access, Connection, Found, Session, Store, StoreKind};

/// What every function of a store returns.
pub type Result<T> = std::result::Result<T, StoreError>;
