//! What there is, and what a store can do.

use stowplan_model::{Describe, Described, StoreSpec, Workload};
use stowplan_stores::Kind;
use stowplan_stores::registry::{BUILT_IN, Kinds};

/// Answers the question for the stores that are built in.
#[must_use]
pub fn describe(asked: &Describe) -> Described {
    describe_with(asked, BUILT_IN)
}

/// Answers the question.
pub(crate) fn describe_with(asked: &Describe, kinds: Kinds<'_>) -> Described {
    match &asked.store {
        Some(store) => one(store, asked.workload.as_ref(), kinds),
        None => Described {
            kinds: kinds.every().map(kind).collect(),
            ..Described::default()
        },
    }
}

fn kind(kind: &Kind) -> stowplan_model::Kind {
    stowplan_model::Kind {
        name: kind.name().to_owned(),
        about: kind.about().to_owned(),
        settings: kind.settings().to_vec(),
        engine: kind
            .engine()
            .map(|(name, version)| (name.to_owned(), version)),
        cache_per_connection: kind.cache_per_connection(),
        keeps_nothing: !kind.keeps_values(),
        parts: true,
        neighbours: true,
        open_loop: true,
        elsewhere: kind.lies_elsewhere(),
    }
}

fn one(store: &StoreSpec, workload: Option<&Workload>, kinds: Kinds<'_>) -> Described {
    // The budget only fills a `cache` setting that a spec leaves open, and a parent spells out all.
    match kinds.resolve(store, 0) {
        Ok(resolved) => Described {
            capabilities: Some(resolved.capabilities),
            ladder: workload.map_or_else(Vec::new, |workload| {
                resolved.kind.ladder(&resolved.settings, workload)
            }),
            ..Described::default()
        },
        // The parent knows how the spec was written.
        Err(error) => Described {
            refused: Some(error.why),
            ..Described::default()
        },
    }
}
