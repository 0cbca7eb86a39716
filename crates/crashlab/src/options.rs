//! How settings are tested, and what that may take.

use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::time::Duration;
use stowplan_harness::interrupt::Interrupt;
use stowplan_model::CrashModel;

/// What a program or a check may take.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// How long a program may run.
    pub program: Duration,
    /// How long judging a state may take.
    pub check: Duration,
    /// Bytes that a program may write, each counted every time.
    pub written: u64,
}

/// How a setting is tested.
pub struct Options {
    /// Begins all draws.
    pub seed: u64,
    /// States wanted of each model.
    pub states: u64,
    /// The models.
    pub models: Vec<CrashModel>,
    /// Judges at work at the same time.
    pub judges: usize,
    /// Limits of one test.
    pub limits: Limits,
    /// A directory for the mount.
    pub work: PathBuf,
    /// A directory for states, best in memory.
    pub scratch: PathBuf,
    /// Whether the run is to end.
    pub interrupt: Interrupt,
    /// States judged so far.
    pub judged: AtomicU64,
    /// Hears how many they are as each is judged.
    pub progress: Box<dyn Fn(u64) + Send + Sync>,
}
