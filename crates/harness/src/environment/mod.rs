//! The machine and its state, and what about them spoils a measurement.

mod mounts;

pub(crate) use mounts::mount_of;
