//! What about this machine would spoil a measurement in a directory, how to mend it, and what can
//! be used here: `stowplan doctor`.
//!
//! Each part gathers facts and judges them. Facts come from the system's files, below a root, so
//! that made-up trees test them; judging is pure, and shares its limits with the warnings of a run.
//! Only `probe` acts: it spins for a moment, asks for features, and writes one small file, which it
//! removes.

mod disk;
mod features;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod memory;
mod others;
mod probe;
mod processor;

use super::root::Root;
use super::{Plans, device, examine_below, mounts, warnings};
use crate::HarnessError;
use std::path::Path;
use std::thread;
use std::time::Duration;
use stowplan_model::{
    Check, CheckGroup, CheckState, Checkup, Environment, Plan, Warning, WarningKind,
};

/// How long others are watched while this program does nothing.
const WATCHED_FOR: Duration = Duration::from_millis(300);
/// How long this program spins, to see how long it waits for a CPU.
const SPUN_FOR: Duration = Duration::from_millis(200);

/// What is to be measured, as far as memory and disk depend on it.
#[derive(Debug, Clone)]
pub struct Asked {
    /// What it is called: `study fasterthanfs`.
    pub what: String,
    /// Bytes of disk that it needs.
    pub disk_bytes: u64,
    /// Bytes of disk that it needs at its smallest scale.
    pub least_disk_bytes: u64,
    /// What it will ask of memory.
    pub plans: Plans,
}

impl Asked {
    /// What a plan asks for, and the same study at its smallest scale.
    #[must_use]
    pub fn of(plan: &Plan, smallest: &Plan) -> Self {
        let disk = |plan: &Plan| crate::plan::needs(plan, false).disk_bytes;
        Self {
            what: format!("study {}", plan.study.name),
            disk_bytes: disk(plan),
            least_disk_bytes: disk(smallest),
            plans: Plans::of(plan),
        }
    }
}

/// Looks at everything.
///
/// # Errors
/// The directory does not exist, or is none. Whatever else cannot be found out is a finding.
pub fn check_up(directory: &Path, asked: &Asked) -> Result<Checkup, HarnessError> {
    if !directory.is_dir() {
        return Err(HarnessError::invalid(format!(
            "{}: there is no such directory; give the one in which you would measure",
            directory.display()
        )));
    }
    let root = Root::system();
    let shown = directory.canonicalize();
    let shown = shown.unwrap_or_else(|_| directory.to_owned());
    let environment = examine_below(&root, directory);
    let facts = Facts::gather(&root, directory, &environment);
    Ok(Checkup {
        tool_version: env!("CARGO_PKG_VERSION").to_owned(),
        directory: shown.display().to_string(),
        asked: asked.what.clone(),
        checks: judge(&environment, asked, &facts),
        environment,
    })
}

/// What is known beyond the [`Environment`].
#[derive(Debug, Default)]
struct Facts {
    processor: processor::Facts,
    others: others::Facts,
    memory: memory::Facts,
    disk: disk::Facts,
    features: features::Facts,
}

impl Facts {
    /// First what does nothing, then what does: our own writes are not to be seen as others'.
    fn gather(root: &Root, directory: &Path, environment: &Environment) -> Self {
        let mount = mounts::mount_below(root, directory);
        let before = Counters::read(root);
        let foreign_write_rate = match &environment.device {
            Some(device) => device::foreign_write_rate(device, WATCHED_FOR),
            None => {
                thread::sleep(WATCHED_FOR);
                None
            }
        };
        let busy = others::busy(
            &before.processes,
            &others::processes(root),
            WATCHED_FOR.as_secs_f64(),
        );
        let waiting = probe::waiting_share(SPUN_FOR);
        let after = Counters::read(root);
        Self {
            processor: processor::Facts::gather(root, before.throttled),
            others: others::Facts {
                foreign_write_rate,
                busy,
                waiting,
                stolen: others::stolen(before.cpu, after.cpu),
                pressure: others::pressure(root),
            },
            memory: memory::Facts::gather(root, before.swapped, after.swapped),
            disk: disk::Facts::gather(root, mount.as_ref(), directory),
            features: features::Facts::gather(root),
        }
    }
}

/// What only its growth tells something.
#[derive(Debug)]
struct Counters {
    processes: Vec<others::Process>,
    cpu: Option<others::CpuTime>,
    throttled: Option<u64>,
    swapped: Option<u64>,
}

impl Counters {
    fn read(root: &Root) -> Self {
        Self {
            processes: others::processes(root),
            cpu: others::cpu_time(root),
            throttled: processor::times_throttled(root),
            swapped: memory::pages_swapped(root),
        }
    }
}

/// Says of everything what it means for a measurement.
fn judge(environment: &Environment, asked: &Asked, facts: &Facts) -> Vec<Check> {
    let plans = Plans {
        foreign_write_rate: facts.others.foreign_write_rate,
        ..asked.plans
    };
    let known = Known {
        environment,
        asked,
        warnings: warnings(environment, &plans),
    };
    let mut checks = processor::checks(&known, &facts.processor);
    let others = others::checks(&known, &facts.others);
    let others_work = others::found(&known, &others);
    checks.extend(others);
    checks.extend(memory::checks(&known, &facts.memory));
    checks.extend(disk::checks(&known, &facts.disk, others_work));
    checks.extend(features::checks(&known, &facts.features, &facts.disk));
    checks
}

/// What every part judges by.
struct Known<'a> {
    environment: &'a Environment,
    asked: &'a Asked,
    /// The warnings that a run would begin with.
    warnings: Vec<Warning>,
}

impl Known<'_> {
    /// How to mend what a run would warn of.
    fn advice(&self, kind: WarningKind) -> Option<&str> {
        let mut warnings = self.warnings.iter();
        let warning = warnings.find(|warning| warning.kind == kind)?;
        Some(&warning.advice)
    }
}

/// A thing to look at.
#[derive(Debug, Clone, Copy)]
struct Subject {
    group: CheckGroup,
    name: &'static str,
    why: &'static str,
}

impl Subject {
    fn check(self, state: CheckState, found: impl Into<String>, mend: Option<&str>) -> Check {
        Check {
            name: self.name.to_owned(),
            group: self.group,
            state,
            found: found.into(),
            mend: mend.map(str::to_owned),
            why: self.why.to_owned(),
        }
    }

    fn ok(self, found: impl Into<String>) -> Check {
        self.check(CheckState::Ok, found, None)
    }

    fn warning(self, found: impl Into<String>, mend: &str) -> Check {
        self.check(CheckState::Warning, found, Some(mend))
    }

    fn problem(self, found: impl Into<String>, mend: &str) -> Check {
        self.check(CheckState::Problem, found, Some(mend))
    }

    fn unavailable(self, found: impl Into<String>) -> Check {
        self.check(CheckState::Unavailable, found, None)
    }

    /// A warning if there is something to mend.
    fn judged(self, found: impl Into<String>, mend: Option<&str>) -> Check {
        match mend {
            Some(mend) => self.warning(found, mend),
            None => self.ok(found),
        }
    }

    /// A feature: there, or not, and how to get it.
    fn feature(self, there: bool, found: impl Into<String>, mend: &str) -> Check {
        if there {
            self.ok(found)
        } else {
            self.check(CheckState::Unavailable, found, Some(mend))
        }
    }
}

/// What is said where the system does not tell.
const NOT_TOLD: &str = "not told here";

/// A share as a percentage with one decimal.
fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

#[cfg(test)]
mod tests;
