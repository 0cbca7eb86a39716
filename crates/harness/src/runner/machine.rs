//! The machine before a run, and what the plan will ask of it.

use crate::environment;
use crate::environment::checks::{self, Asked};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use stowplan_model::{Environment, Plan, Warning};
use stowplan_stores::registry;

/// How long other processes' writes to the device are watched before a run.
const FOREIGN_WRITES_FOR: Duration = Duration::from_millis(200);

/// The machine, and the engines that this plan uses.
pub(super) fn examine(plan: &Plan, work: &Path) -> Environment {
    let mut environment = environment::examine(work);
    let kinds: BTreeSet<&str> = plan.cells().map(|cell| cell.store.kind.as_str()).collect();
    let engines = kinds
        .into_iter()
        .filter_map(|kind| registry::find(kind).ok()?.engine());
    environment.engines = engines
        .map(|(name, version)| (name.to_owned(), version))
        .collect();
    environment
}

/// What about the machine spoils or qualifies a run of the plan.
pub(super) fn warnings(plan: &Plan, environment: &Environment) -> Vec<Warning> {
    let device = environment.device.as_ref();
    let foreign_write_rate =
        device.and_then(|device| environment::foreign_write_rate(device, FOREIGN_WRITES_FOR));
    checks::warnings(environment, &Asked::of(plan, plan), foreign_write_rate)
}
