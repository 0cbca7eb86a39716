//! Datasets: values derived from a seed, materialised on disk once, the same bytes for every
//! store.

mod files;
mod generator;

pub use files::{Dataset, materialise};
pub use generator::Generator;
