//! Datasets, operation sequences and versions, as files: written once by whoever runs a study,
//! mapped by whoever measures.
//!
//! What belongs here: what both sides of the driver protocol must agree on byte for byte. What
//! does not: stores, timing, or deciding what is measured.

// Every crate that asks the system for something is above this one.
#[cfg(not(target_os = "linux"))]
compile_error!("Stowplan is built and tested on Linux only");

mod error;
mod files;
mod generator;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod import;
pub mod machine;
pub mod names;
pub mod namespace;
pub mod payloads;
#[cfg(test)]
mod properties;
pub mod publish;
pub mod random;
pub mod room;
pub mod sequence;
pub mod temporary;
pub mod tree;
pub mod versions;

pub use error::{DatasetError, in_words};
pub use files::{Dataset, materialise};
pub use generator::Generator;
pub use import::Import;
