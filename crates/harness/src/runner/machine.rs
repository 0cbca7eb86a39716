//! The machine before a run, and what the plan will ask of it.

use crate::drivers::Drivers;
use crate::environment;
use crate::environment::checks;
use crate::plan::demand;
use std::path::Path;
use std::time::Duration;
use stowplan_model::{Environment, Plan, Warning};

/// How long other processes' writes to the device are watched before a run.
const FOREIGN_WRITES_FOR: Duration = Duration::from_millis(200);

/// The machine, and the engines that this plan uses.
pub(super) fn examine(plan: &Plan, drivers: &Drivers, work: &Path) -> Environment {
    let mut environment = environment::examine(work);
    for cell in plan.cells() {
        let Some((name, version)) = drivers
            .kind(&cell.store)
            .ok()
            .and_then(|k| k.engine.clone())
        else {
            continue;
        };
        let name = match cell.store.driver() {
            "" => name,
            driver => format!("{name} ({driver})"),
        };
        environment.engines.insert(name, version);
    }
    environment
}

/// What about the machine spoils or qualifies a run of the plan.
pub(super) fn warnings(plan: &Plan, environment: &Environment) -> Vec<Warning> {
    let device = environment.device.as_ref();
    let foreign_write_rate =
        device.and_then(|device| environment::foreign_write_rate(device, FOREIGN_WRITES_FOR));
    checks::warnings(environment, &demand(plan, plan), foreign_write_rate)
}
