//! A store in the power-loss lab: a program that commits and tells, and a judge of what is left.
//!
//! Both are programs of the form in which anybody's program is tested, and not tasks of the driver
//! protocol: an acknowledgement must leave the process as each commit returns, and within a `run` of
//! that protocol nothing is said.

mod judge;
mod plan;
mod workload;

pub use judge::judge;
pub use workload::workload;

use plan::Plan;
use stowplan_model::StoreSpec;
use stowplan_stores::registry::{BUILT_IN, Resolved};

/// What both sides of a test must agree on.
#[derive(Debug, Clone)]
pub struct CrashTask {
    /// The store, with every setting spelled out.
    pub store: StoreSpec,
    /// Begins keys, sizes and bytes.
    pub seed: u64,
    /// Commits.
    pub transactions: u64,
}

/// The memory that a spec's `cache` gets where it is left open, bytes: small, so that stores have to
/// write.
const CACHE: u64 = 1 << 20;

impl CrashTask {
    fn resolved(&self) -> crate::Result<Resolved> {
        Ok(BUILT_IN.resolve(&self.store, CACHE)?)
    }

    fn plan(&self, resolved: &Resolved) -> Plan {
        Plan::new(self.seed, self.transactions, &resolved.capabilities)
    }
}
