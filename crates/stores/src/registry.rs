//! Which stores there are, and from a store spec to a store with settings.

use crate::{Kind, StoreError};
use std::fmt;
use stowplan_model::{Capabilities, Settings, StoreSpec, suggestion};
use thiserror::Error;

/// The stores that are built in. A new store gets its line here, among those that are listed.
pub static BUILT_IN: Kinds<'static> = Kinds {
    listed: &[
        crate::files::KIND,
        crate::composite::INDEXED,
        crate::sqlite::KIND,
        crate::sqlite_buffered::KIND,
        crate::composite::SPLIT,
        crate::lmdb::KIND,
        crate::redb::KIND,
        crate::fjall::KIND,
        crate::document::KIND,
        crate::flat::KIND,
    ],
    hidden: &[
        crate::probe::NULL,
        crate::probe::PRIMITIVE,
        crate::probe::SPIN,
    ],
};

/// The kinds of stores that a program hosts.
#[derive(Clone, Copy)]
pub struct Kinds<'k> {
    listed: &'k [&'static Kind],
    /// They exist for the harness itself: found by name, never listed.
    hidden: &'k [&'static Kind],
}

/// Settings that stores had: the store, the setting, and what to do without it.
const GONE: &[(&str, &str, &str)] = &[(
    "fjall",
    "transactions",
    "its writers wait for each other; leave it out, or use rocksdb, whose writers do not",
)];

/// Why a store spec means no store.
#[derive(Debug, Error)]
#[error("{}{why}", of_spec(spec))]
pub struct ResolveError {
    /// The spec, where what is wrong is not its name.
    spec: Option<String>,
    /// What is wrong, and what would do.
    pub why: String,
}

fn of_spec(spec: &Option<String>) -> String {
    spec.as_ref()
        .map_or_else(String::new, |spec| format!("store spec '{spec}': "))
}

/// A store spec, checked and with nothing left open.
#[derive(Clone)]
pub struct Resolved {
    /// The kind of store.
    pub kind: &'static Kind,
    /// Every setting of the kind.
    pub settings: Settings,
    /// What the kind can do with these settings.
    pub capabilities: Capabilities,
}

impl fmt::Debug for Resolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.settings)
    }
}

impl<'k> Kinds<'k> {
    /// These, and the store by which it is measured what a driver costs.
    #[must_use]
    pub const fn of(listed: &'k [&'static Kind]) -> Self {
        Self {
            listed,
            hidden: &[crate::probe::NULL],
        }
    }

    /// All of them, those that are listed first.
    pub fn every(self) -> impl Iterator<Item = &'static Kind> {
        self.listed.iter().chain(self.hidden).copied()
    }

    /// The store of this name, hidden ones included.
    ///
    /// # Errors
    /// There is none; the message names the nearest one.
    pub fn find(self, name: &str) -> Result<&'static Kind, ResolveError> {
        let known = || self.listed.iter().map(|kind| kind.name());
        let unknown = || ResolveError {
            spec: None,
            why: format!(
                "unknown store '{name}'; known: {}{}",
                known().collect::<Vec<_>>().join(", "),
                suggestion(name, known())
            ),
        };
        let found = self.every().find(|kind| kind.name() == name);
        found.ok_or_else(unknown)
    }

    /// Finds the store of a spec, checks its settings, and fills in what the spec leaves open: a
    /// `cache` gets `memory_budget` (in bytes, as far as the setting allows), everything else its
    /// default.
    ///
    /// # Errors
    /// An unknown store or setting, a value that is not accepted, or settings that exclude each
    /// other.
    pub fn resolve(self, spec: &StoreSpec, memory_budget: u64) -> Result<Resolved, ResolveError> {
        resolve_kind(self.find(&spec.kind)?, spec, memory_budget)
    }
}

/// The stores that are built in and listed, in the order of listing.
pub fn all() -> impl Iterator<Item = &'static Kind> {
    BUILT_IN.listed.iter().copied()
}

/// As [`Kinds::find`], among those that are built in.
///
/// # Errors
/// As there.
pub fn find(name: &str) -> Result<&'static Kind, ResolveError> {
    BUILT_IN.find(name)
}

/// As [`Kinds::resolve`], of a store that is built in.
///
/// # Errors
/// As there.
pub fn resolve(spec: &StoreSpec, memory_budget: u64) -> Result<Resolved, ResolveError> {
    BUILT_IN.resolve(spec, memory_budget)
}

/// As [`Kinds::resolve`], of a kind that was found.
///
/// # Errors
/// An unknown setting, a value that is not accepted, or settings that exclude each other.
pub(crate) fn resolve_kind(
    kind: &'static Kind,
    spec: &StoreSpec,
    memory_budget: u64,
) -> Result<Resolved, ResolveError> {
    let wrong = |why: String| ResolveError {
        spec: Some(spec.to_string()),
        why,
    };
    let mut gone = GONE.iter().filter(|(store, _, _)| *store == kind.name());
    if let Some((_, name, why)) = gone.find(|(_, name, _)| spec.settings.contains_key(*name)) {
        let gone = StoreError::unsupported(format!("have '{name}' any more"), *why);
        return Err(wrong(gone.to_string()));
    }
    let settings = Settings::resolve_within(kind.settings(), &spec.settings, Some(memory_budget));
    let settings = settings.map_err(|error| wrong(error.to_string()))?;
    let capabilities = kind.capabilities(&settings);
    Ok(Resolved {
        kind,
        capabilities: capabilities.map_err(|error| wrong(error.to_string()))?,
        settings,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const BUDGET: u64 = 8 << 20;

    fn resolved(spec: &str) -> Result<Resolved, ResolveError> {
        resolve(&spec.parse().unwrap(), BUDGET)
    }

    fn message(spec: &str) -> String {
        let message = resolved(spec).unwrap_err().to_string();
        assert!(!message.contains('\n'), "{message}");
        message
    }

    #[test]
    fn every_store_has_a_name_of_its_own_and_says_what_it_is() {
        let kinds: Vec<_> = BUILT_IN.every().collect();
        let names: BTreeSet<_> = kinds.iter().map(|kind| kind.name()).collect();
        assert_eq!(names.len(), kinds.len());
        assert!(kinds.iter().all(|kind| !kind.about().is_empty()));
    }

    #[test]
    fn every_setting_has_help_a_name_of_its_own_and_a_default_that_parses() {
        for kind in BUILT_IN.every() {
            let mut names = BTreeSet::new();
            for setting in kind.settings() {
                assert!(names.insert(setting.name), "{} twice", setting.name);
                assert!(!setting.help.is_empty(), "{}", setting.name);
                setting.parse(setting.default).unwrap();
            }
        }
    }

    #[test]
    fn the_defaults_of_every_store_go_together() {
        for kind in BUILT_IN.every() {
            resolved(kind.name()).unwrap();
        }
    }

    #[test]
    fn stores_of_the_harness_are_found_but_not_listed() {
        for (name, mistyped) in [("null", "nul"), ("spin", "spni"), ("primitive", "primitve")] {
            assert!(find(name).is_ok());
            assert!(all().all(|kind| kind.name() != name));
            let text = message(mistyped);
            assert!(!text.contains(name), "{text}");
        }
    }

    #[test]
    fn every_store_that_is_listed_keeps_its_values() {
        assert!(all().all(Kind::keeps_values));
        assert!(!find("primitive").unwrap().keeps_values());
    }

    #[test]
    fn stores_say_whether_they_read_through_a_mapping() {
        let mapped = |spec| resolved(spec).unwrap().capabilities.mapped;
        for spec in ["lmdb", "flat:read=mmap", "sqlite:mmap=64MiB"] {
            assert!(mapped(spec), "{spec}");
        }
        for spec in [
            "flat",
            "sqlite",
            "sqlite:mmap=64MiB,location=memory",
            "files",
            "redb",
            "fjall",
        ] {
            assert!(!mapped(spec), "{spec}");
        }
    }

    #[test]
    fn a_mistyped_store_or_setting_names_the_nearest_one() {
        assert!(message("sqllite").contains("did you mean 'sqlite'?"));
        let text = message("sqlite:jorunal=wal");
        assert!(text.contains("store spec 'sqlite:jorunal=wal'"), "{text}");
        assert!(text.contains("did you mean 'journal'?"), "{text}");
        let text = message("files:layout=flat");
        assert!(text.contains("'layout' cannot be 'flat'"), "{text}");
        assert!(text.contains("dir, tree"), "{text}");
    }

    #[test]
    fn of_a_setting_that_is_gone_it_is_said_what_to_do() {
        let text = message("fjall:transactions=optimistic");
        assert!(text.contains("leave it out, or use rocksdb"), "{text}");
    }

    #[test]
    fn settings_that_exclude_each_other_are_refused_with_the_reason() {
        let text = message("files:write=in-place,fsync=directory");
        assert!(text.contains("write=rename"), "{text}");
        let text = message("sqlite:location=memory,journal=wal");
        assert!(text.contains("location=disk"), "{text}");
    }

    #[test]
    fn the_memory_budget_goes_to_a_cache_that_the_spec_leaves_open() {
        assert_eq!(resolved("sqlite").unwrap().settings.number("cache"), BUDGET);
        let given = resolved("sqlite:cache=1MiB").unwrap();
        assert_eq!(given.settings.number("cache"), 1 << 20);
        assert!(resolved("files").unwrap().settings.get("cache").is_none());
    }
}
