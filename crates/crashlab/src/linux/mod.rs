//! What only Linux has: FUSE, and namespaces in which a mount and every process of a program end with
//! whoever started them.

mod cage;
mod file_system;
mod recorder;

pub use cage::{cage, end_with_parent, init, reason_against};
pub use recorder::record;
