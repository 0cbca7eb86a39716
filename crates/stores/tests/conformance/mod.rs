//! What every store must do, checked from outside through its traits.
//!
//! [`check`] runs any kind of store with any settings through the same checks, each in a fresh
//! store, and returns what failed. Nothing here knows a particular store.

mod checks;
mod places;
pub(crate) mod subject;
mod syncs;
mod tables;
pub(crate) mod threads;

pub use syncs::fewest_syncs;

use crate::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use stowplan_model::{SettingKind, Settings, StoreSpec};
use subject::Subject;

/// A check that a store did not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The name of the check: one of [`names`].
    pub check: &'static str,
    /// What was expected and what happened.
    pub message: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.message)
    }
}

/// The names of all checks, in the order in which they run.
pub fn names() -> impl Iterator<Item = &'static str> {
    checks::ALL.iter().map(|(name, _)| *name)
}

/// A store with each of its settings in turn at each of its values (choices all, ranges at their
/// ends, sizes at no more than 64 MiB), the others at their defaults; and with none. What the store
/// refuses is among them.
pub fn each_setting(kind: &Kind) -> BTreeSet<StoreSpec> {
    let spec = |settings| StoreSpec {
        kind: kind.name().to_owned(),
        settings,
    };
    let mut specs = BTreeSet::from([spec(BTreeMap::new())]);
    for setting in kind.settings() {
        let values: Vec<String> = match &setting.kind {
            SettingKind::Text { .. } => Vec::new(),
            SettingKind::Flag => vec!["on".to_owned(), "off".to_owned()],
            SettingKind::Choice(words) => words.iter().map(|w| (*w).to_owned()).collect(),
            SettingKind::Bytes { min, max, .. } => [*min, (*max).min(64 << 20)]
                .map(|bytes| bytes.to_string())
                .to_vec(),
            SettingKind::Integer { min, max } => [min, max].map(u64::to_string).to_vec(),
        };
        let values = values.into_iter();
        specs.extend(values.map(|value| spec(BTreeMap::from([(setting.name.to_owned(), value)]))));
    }
    specs
}

/// Runs every check on stores of this kind and these settings, made below `directory`, which
/// must exist and be empty and on a file system that can sync. Returns the failures; none means
/// that the store conforms.
///
/// Sync calls are counted for the whole process, so a check of durability means something only
/// while no other thread syncs.
#[must_use]
pub fn check(kind: &Kind, settings: &Settings, directory: &Path) -> Vec<Failure> {
    checks::ALL
        .iter()
        .filter_map(|(name, run)| {
            let outcome = Subject::new(kind, settings, &directory.join(name)).and_then(|subject| {
                run(&subject)?;
                subject.remove()
            });
            outcome.err().map(|complaint| Failure {
                check: name,
                message: complaint.0,
            })
        })
        .collect()
}
