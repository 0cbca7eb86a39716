//! The settings of redb, typed, and what they promise.

use crate::options::{bytes, flag, refuse};
use crate::{KEY_FORM, KeyForm, Result, choice, options};
use ::redb::{Builder, WriteTransaction};
use stowplan_model::{Durability, DurabilityClaim};

choice! {
    /// What a commit waits for.
    pub(crate) enum Commit {
        Immediate = "immediate",
        None = "none",
    }
}

options! {
    /// The settings, typed.
    pub(crate) struct Options if Self::go_together {
        pub(super) key: KeyForm = KEY_FORM,
        cache: usize = bytes(
            0,
            1 << 40,
            "1GiB",
            "redb's own cache of pages, and of what is written until it is flushed (set_cache_size)",
        ),
        durability: Commit = Commit::setting(
            Commit::Immediate,
            "immediate: a commit syncs; none: it stays in memory until the store is checkpointed or closed",
        ),
        two_phase: bool = flag(
            false,
            "sync what a commit wrote before the commit itself, instead of trusting its checksum",
        ),
        quick_repair: bool = flag(
            false,
            "write with each commit which pages are free, so that no crash needs a long repair; commits in two phases",
        ),
    }
}

impl Options {
    fn go_together(&self) -> Result<()> {
        refuse! {
            !self.is_immediate() && (self.two_phase || self.quick_repair) =>
                "commit in two phases what it does not write",
                "with durability=none, leave two_phase and quick_repair off";
        }
        Ok(())
    }

    /// Whether a commit is on disk when it returns.
    pub(super) fn is_immediate(&self) -> bool {
        self.durability == Commit::Immediate
    }

    /// What redb's documentation of `Durability` says: with `none`, what was committed since the
    /// last immediate commit is nowhere but in memory, and a crash goes back to that one.
    pub(super) fn durability(&self) -> DurabilityClaim {
        DurabilityClaim {
            class: match self.durability {
                Commit::Immediate => Durability::Durable,
                Commit::None => Durability::Consistent,
            },
            atomic: true,
            delayed: !self.is_immediate(),
        }
    }

    pub(super) fn syncs_per_commit(&self) -> u32 {
        match (self.durability, self.two_phase || self.quick_repair) {
            (Commit::None, _) => 0,
            (Commit::Immediate, false) => 1,
            (Commit::Immediate, true) => 2,
        }
    }

    pub(super) fn builder(&self) -> Builder {
        let mut builder = Builder::new();
        builder.set_cache_size(self.cache);
        builder
    }

    /// Has a transaction commit as the settings say.
    pub(super) fn apply(&self, transaction: &mut WriteTransaction) -> Result<()> {
        if !self.is_immediate() {
            transaction.set_durability(::redb::Durability::None)?;
        }
        transaction.set_two_phase_commit(self.two_phase);
        transaction.set_quick_repair(self.quick_repair);
        Ok(())
    }
}
