//! What about a machine would spoil a measurement, how to mend it, and what can be used here: one
//! table. A run warns by it, and `stowplan doctor` says all of it.
//!
//! Facts come from the system's files, below a root, so that made-up trees test them; judging is pure.
//! Only `probe` acts, for the doctor alone: it spins for a moment, asks for features, and writes one
//! small file, which it removes.

mod disk;
#[cfg(any(test, feature = "fuzzing"))]
pub mod hostile;
mod probe;
mod rows;
mod scanners;

use super::mounts::Mount;
use super::root::Root;
use super::{control_group, device, examine_below, mounts};
use crate::{HarnessError, Result, counting};
use rows::TABLE;
use rustix::fs::Access;
use serde::Deserialize;
use std::path::Path;
use std::time::Duration;
use stowplan_model::{Check, CheckGroup, CheckState, Checkup, Environment, Warning, WarningKind};

/// How long others are watched while this program does nothing.
const WATCHED_FOR: Duration = Duration::from_millis(300);
/// How long this program spins, to see how long it waits for a CPU.
const SPUN_FOR: Duration = Duration::from_millis(200);

/// What is to be measured, as far as memory and disk depend on it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Demand {
    /// What it is called: `study fasterthanfs`.
    pub what: String,
    /// Bytes of disk that it needs.
    pub disk_bytes: u64,
    /// Bytes of disk that it needs at its smallest scale.
    pub least_disk_bytes: u64,
    /// Bytes that should stay in the page cache at the same time: the built stores that are
    /// measured warm.
    pub cached_bytes: u64,
    /// Bytes that the smallest comparison of made-up values visits; nothing where none is warm.
    pub working_set_bytes: Option<u64>,
}

/// What a run begins with that should be known before trusting it: what of the table it can see
/// without doing anything, problems first. `foreign_write_rate` is in bytes per second.
#[must_use]
pub fn warnings(
    environment: &Environment,
    demand: &Demand,
    foreign_write_rate: Option<u64>,
) -> Vec<Warning> {
    let mut facts = Facts::read(&Root::system(), None);
    facts.foreign_write_rate = foreign_write_rate;
    warnings_by(&Context {
        environment,
        demand,
        facts: &facts,
    })
}

fn warnings_by(context: &Context<'_>) -> Vec<Warning> {
    let found = TABLE.iter().map(|row| (row, row.judged(context)));
    let mut found: Vec<(&Row, Finding)> = found.filter(|(_, finding)| finding.spoils()).collect();
    found.sort_by_key(|(_, finding)| finding.state != CheckState::Problem);
    let warnings = found.into_iter().filter_map(|(row, finding)| {
        Some(Warning {
            kind: finding.kind?,
            message: format!(
                "{}: {}. {}",
                capitalised(&row.words.name),
                finding.found,
                row.words.why
            ),
            advice: finding.mend.unwrap_or_default(),
        })
    });
    warnings.collect()
}

/// Looks at everything.
///
/// # Errors
/// The directory does not exist, or is none. Whatever else cannot be found out is a finding.
pub fn check_up(directory: &Path, demand: &Demand) -> Result<Checkup> {
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
        asked: demand.what.clone(),
        checks: checks(&Context {
            environment: &environment,
            demand,
            facts: &facts,
        }),
        environment,
    })
}

fn checks(context: &Context<'_>) -> Vec<Check> {
    let check = |row: &Row| {
        let Words {
            group, name, why, ..
        } = &row.words;
        let finding = row.judged(context);
        Check {
            name: name.clone(),
            group: *group,
            state: finding.state,
            found: finding.found,
            mend: finding.mend,
            why: why.clone(),
        }
    };
    TABLE.iter().map(check).collect()
}

/// What is known beyond the [`Environment`]; what was not looked at, or is not told, is nothing.
#[derive(Debug, Default)]
struct Facts {
    /// CPUs' worth of time that the control group may use.
    cpu_limit: Option<f64>,
    /// Bytes per second that others write to the device.
    foreign_write_rate: Option<u64>,
    /// Share of a spin for which this program waited for a CPU.
    waiting: Option<f64>,
    /// Who is asked before files are opened, as far as it is seen.
    scanners: Vec<String>,
    /// What evicts pages that are idle, and how to stop it.
    evicts: Vec<(&'static str, String)>,
    /// The mounted thing: `/dev/vda`, `tmpfs`, `host:/path`.
    source: Option<String>,
    /// An ext4 that was made without a journal (`mkfs.ext4 -O ^has_journal`).
    no_journal: bool,
    /// What the directory's file system did when it was tried.
    probe: Option<Result<probe::Disk>>,
    /// Whether this user may write to it, where it exists.
    drop_caches: Option<bool>,
    fuse: Option<bool>,
    strace: Option<String>,
}

impl Facts {
    /// What the system's files tell at once.
    fn read(root: &Root, mount: Option<&Mount>) -> Self {
        let writable = |path: &str| {
            let path = root.path(path);
            let exists = path.symlink_metadata().is_ok();
            exists.then(|| rustix::fs::access(&path, Access::WRITE_OK).is_ok())
        };
        Self {
            cpu_limit: control_group::cpu_limit(root),
            source: mount.map(|mount| mount.source.clone()),
            no_journal: mount.is_some_and(|mount| disk::has_no_journal(root, mount)),
            scanners: scanners::seen(root),
            evicts: rows::evicting(root),
            drop_caches: writable("/proc/sys/vm/drop_caches"),
            fuse: writable("/dev/fuse"),
            ..Self::default()
        }
    }

    /// First what does nothing, then what does: our own writes are not to be seen as others'.
    fn gather(root: &Root, directory: &Path, environment: &Environment) -> Self {
        let mount = mounts::mount_below(root, directory);
        let watched = environment.device.as_ref();
        let watched = watched.and_then(|device| device::foreign_write_rate(device, WATCHED_FOR));
        Self {
            foreign_write_rate: watched,
            waiting: probe::waiting_share(SPUN_FOR),
            probe: Some(probe::disk(directory)),
            strace: counting::on_path("strace").map(|file| file.display().to_string()),
            ..Self::read(root, mount.as_ref())
        }
    }
}

/// What everything is judged by.
struct Context<'a> {
    environment: &'a Environment,
    demand: &'a Demand,
    facts: &'a Facts,
}

/// What a thing to look at is called, why it matters, and how to mend it.
#[derive(Deserialize)]
struct Words {
    group: CheckGroup,
    name: String,
    why: String,
    #[serde(default)]
    mend: String,
}

/// A thing to look at, and what it means for a measurement here.
struct Row {
    words: Words,
    judge: fn(&Context<'_>) -> Finding,
}

impl Row {
    fn judged(&self, context: &Context<'_>) -> Finding {
        let mut finding = (self.judge)(context);
        if let Some(mend) = finding.mend.as_mut().filter(|mend| mend.is_empty()) {
            mend.clone_from(&self.words.mend);
        }
        finding
    }
}

/// What was found of one thing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    state: CheckState,
    found: String,
    /// How to mend it, where there is something to mend; empty: as its row says.
    mend: Option<String>,
    /// What a run calls it that warns of it.
    kind: Option<WarningKind>,
}

impl Finding {
    fn new(state: CheckState, found: impl Into<String>) -> Self {
        let mend = matches!(state, CheckState::Warning | CheckState::Problem);
        Self {
            state,
            found: found.into(),
            mend: mend.then(String::new),
            kind: None,
        }
    }

    fn ok(found: impl Into<String>) -> Self {
        Self::new(CheckState::Ok, found)
    }

    fn warning(found: impl Into<String>) -> Self {
        Self::new(CheckState::Warning, found)
    }

    fn problem(found: impl Into<String>) -> Self {
        Self::new(CheckState::Problem, found)
    }

    fn unavailable(found: impl Into<String>) -> Self {
        Self::new(CheckState::Unavailable, found)
    }

    /// The system does not tell.
    fn untold() -> Self {
        Self::unavailable("not told here")
    }

    /// A warning where it spoils a measurement.
    fn judged(found: impl Into<String>, spoils: bool) -> Self {
        match spoils {
            true => Self::warning(found),
            false => Self::ok(found),
        }
    }

    /// A feature that is not there, and can be had.
    fn lacking(found: impl Into<String>) -> Self {
        Self {
            mend: Some(String::new()),
            ..Self::unavailable(found)
        }
    }

    /// Where it is to be mended, in this way.
    fn by(self, mend: impl Into<String>) -> Self {
        Self {
            mend: self.mend.map(|_| mend.into()),
            ..self
        }
    }

    /// A run warns of it, too.
    fn of(self, kind: WarningKind) -> Self {
        Self {
            kind: Some(kind),
            ..self
        }
    }

    fn spoils(&self) -> bool {
        matches!(self.state, CheckState::Warning | CheckState::Problem)
    }
}

fn capitalised(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

#[cfg(test)]
mod tests;
