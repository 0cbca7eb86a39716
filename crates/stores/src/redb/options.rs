//! The settings of redb, typed, and what they promise.

use super::STORE;
use crate::{KEY_FORM, KeyForm, Result, StoreError};
use ::redb::{Builder, Database, DatabaseError, WriteTransaction};
use std::path::Path;
use stowplan_model::{Durability, DurabilityClaim, Setting, SettingKind, Settings};

pub(super) const SETTINGS: &[Setting] = &[
    KEY_FORM,
    Setting {
        name: "cache",
        kind: SettingKind::Bytes {
            min: 0,
            max: 1 << 40,
            power_of_two: false,
        },
        default: "1GiB",
        help: "redb's own cache of pages, and of what is written until it is flushed (set_cache_size)",
        shapes_layout: false,
    },
    Setting {
        name: "durability",
        kind: SettingKind::Choice(&["immediate", "none"]),
        default: "immediate",
        help: "immediate: a commit syncs; none: it stays in memory until the store is checkpointed or closed",
        shapes_layout: false,
    },
    Setting {
        name: "two_phase",
        kind: SettingKind::Flag,
        default: "off",
        help: "sync what a commit wrote before the commit itself, instead of trusting its checksum",
        shapes_layout: false,
    },
    Setting {
        name: "quick_repair",
        kind: SettingKind::Flag,
        default: "off",
        help: "write with each commit which pages are free, so that no crash needs a long repair; commits in two phases",
        shapes_layout: false,
    },
];

#[derive(Debug, Clone, Copy)]
pub(super) struct Options {
    pub(super) key: KeyForm,
    cache: usize,
    /// Whether a commit is on disk when it returns.
    pub(super) immediate: bool,
    two_phase: bool,
    quick_repair: bool,
}

impl Options {
    /// # Errors
    /// Settings that exclude each other.
    pub(super) fn from_settings(settings: &Settings) -> Result<Self> {
        let options = Self {
            key: KeyForm::of(settings),
            cache: usize::try_from(settings.number("cache")).unwrap_or(usize::MAX),
            immediate: settings.word("durability") != "none",
            two_phase: settings.flag("two_phase"),
            quick_repair: settings.flag("quick_repair"),
        };
        if !options.immediate && (options.two_phase || options.quick_repair) {
            return Err(StoreError::unsupported(
                STORE,
                "commit in two phases what it does not write",
                "with durability=none, leave two_phase and quick_repair off",
            ));
        }
        Ok(options)
    }

    /// What redb's documentation of `Durability` says: with `none`, what was committed since the
    /// last immediate commit is nowhere but in memory, and a crash goes back to that one.
    pub(super) fn durability(&self) -> DurabilityClaim {
        DurabilityClaim {
            class: if self.immediate {
                Durability::Durable
            } else {
                Durability::Consistent
            },
            atomic: true,
            delayed: !self.immediate,
        }
    }

    pub(super) fn syncs_per_commit(&self) -> u32 {
        match (self.immediate, self.two_phase || self.quick_repair) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) => 2,
        }
    }

    pub(super) fn create(&self, path: &Path) -> std::result::Result<Database, DatabaseError> {
        self.builder().create(path)
    }

    pub(super) fn open(&self, path: &Path) -> std::result::Result<Database, DatabaseError> {
        self.builder().open(path)
    }

    fn builder(&self) -> Builder {
        let mut builder = Builder::new();
        builder.set_cache_size(self.cache);
        builder
    }

    /// Has a transaction commit as the settings say.
    pub(super) fn apply(&self, transaction: &mut WriteTransaction) -> Result<()> {
        if !self.immediate {
            transaction
                .set_durability(::redb::Durability::None)
                .map_err(|e| super::failed("set durability=none", &e))?;
        }
        transaction.set_two_phase_commit(self.two_phase);
        transaction.set_quick_repair(self.quick_repair);
        Ok(())
    }
}
