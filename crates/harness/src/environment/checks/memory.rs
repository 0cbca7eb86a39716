//! Memory and what keeps the page cache from staying as it is.

use super::super::{control_group, machine};
use super::{Context, Finding, Root, Row, grown, row};
use std::path::PathBuf;
use stowplan_model::{WarningKind, format_bytes};

/// R5: below this multiple of the last-level cache, the processor's cache is measured too.
const CACHE_MULTIPLE: u64 = 4;

/// What is looked at here.
pub(super) const ROWS: &[Row] = &[
    row(
        "memory",
        "What is measured warm has to stay in the page cache: with 0.3% of its files read from the disk, a directory took 1.7 times as long.",
        memory,
    ),
    row(
        "working set",
        "Data that fits the processor's cache is measured there: files against SQLite took 2.10 times as long with 5 MB, 1.45 times with 1 GB.",
        working_set,
    ),
    row(
        "memory limit",
        "The page cache that a process fills counts for its control group.",
        limit,
    ),
    row(
        "page-out",
        "What is measured warm does not stay in the page cache: a file of 50 MB of which nine tenths were gone after an idle minute is read in again before blocks, and lies there in another order.",
        page_out,
    ),
    row(
        "swap",
        "A store's cache that was swapped out comes back from the disk, and that counts as the store's time.",
        swap,
    ),
];

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Bytes that the control group may use.
    limit: Option<u64>,
    /// Bytes of swap, and of them in use.
    swap: Option<(u64, u64)>,
    /// Pages that came or went while we looked.
    swapped: u64,
    /// What evicts pages that are idle, and how to stop it.
    evicts: Vec<(&'static str, String)>,
}

impl Facts {
    pub(super) fn gather(root: &Root, swapped_before: Option<u64>) -> Self {
        Self {
            swapped: grown(swapped_before, pages_swapped(root)).unwrap_or(0),
            ..Self::read(root)
        }
    }

    pub(super) fn read(root: &Root) -> Self {
        let text = root.text("/proc/meminfo").unwrap_or_default();
        let bytes = machine::memory_field(&text, "SwapTotal");
        let free = machine::memory_field(&text, "SwapFree");
        Self {
            limit: control_group::memory_limit(root),
            swap: bytes
                .zip(free)
                .map(|(bytes, free)| (bytes, bytes.saturating_sub(free))),
            swapped: 0,
            evicts: evicting(root),
        }
    }
}

/// What DAMON may be told to do with idle pages.
const EVICTING: [&str; 4] = ["pageout", "cold", "migrate_cold", "lru_deprio"];

/// What DAMON was told to do with idle pages: by its files in `/sys`, and by its modules that need no more
/// than to be switched on (the kernel's `Documentation/admin-guide/mm/damon`).
fn evicting(root: &Root) -> Vec<(&'static str, String)> {
    let entries = |directory: PathBuf| directory.to_str().map_or(Vec::new(), |d| root.entries(d));
    let evicts = |kdamond: &PathBuf| {
        let contexts = entries(kdamond.join("contexts"));
        let mut schemes = contexts.iter().flat_map(|c| entries(c.join("schemes")));
        let is_on = root.line(kdamond.join("state")).as_deref() == Some("on");
        is_on
            && schemes.any(|scheme| {
                let action = root.line(scheme.join("action"));
                action.is_some_and(|action| EVICTING.contains(&action.as_str()))
            })
    };
    let kdamonds = root.entries("/sys/kernel/mm/damon/admin/kdamonds");
    let by_hand = kdamonds.into_iter().filter(evicts).map(|kdamond| {
        let state = kdamond.join("state");
        ("DAMON", format!("echo off | sudo tee {}", state.display()))
    });
    let modules = [
        (
            "DAMON_RECLAIM",
            "/sys/module/damon_reclaim/parameters/enabled",
        ),
        (
            "DAMON_LRU_SORT",
            "/sys/module/damon_lru_sort/parameters/enabled",
        ),
    ];
    let modules = modules
        .into_iter()
        .filter(|(_, switch)| root.line(switch).as_deref() == Some("Y"))
        .map(|(name, switch)| (name, format!("echo N | sudo tee {switch}")));
    by_hand.chain(modules).collect()
}

/// Pages that were ever swapped in or out.
pub(super) fn pages_swapped(root: &Root) -> Option<u64> {
    let text = root.text("/proc/vmstat")?;
    let field = |name: &str| {
        let mut lines = text.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        value.trim().parse::<u64>().ok()
    };
    field("pswpin")?.checked_add(field("pswpout")?)
}

fn memory(context: &Context<'_>) -> Finding {
    let environment = context.environment;
    let available = environment.memory_available_bytes;
    if available == 0 {
        return Finding::untold();
    }
    Finding::judged(
        format!(
            "{} of {} available; {} keeps {} cached",
            format_bytes(available),
            format_bytes(environment.memory_bytes),
            context.demand.what,
            format_bytes(context.demand.cached_bytes)
        ),
        context.demand.cached_bytes > available,
        "Choose a smaller scale, measure fewer cells at a time with --only, or free memory.",
    )
    .of(WarningKind::Memory)
}

fn working_set(context: &Context<'_>) -> Finding {
    let Some(cache) = context.environment.last_level_cache_bytes else {
        return Finding::unavailable("the size of the processor's cache is not told here");
    };
    let Some(visited) = context.demand.working_set_bytes else {
        return Finding::ok(format!(
            "{} visits nothing again and again",
            context.demand.what
        ));
    };
    Finding::judged(
        format!(
            "{} visits {}; the processor caches {}",
            context.demand.what,
            format_bytes(visited),
            format_bytes(cache)
        ),
        visited < cache.saturating_mul(CACHE_MULTIPLE),
        "Use a larger dataset unless your application's data is as small; ratios can differ by half.",
    )
    .of(WarningKind::WorkingSet)
}

fn limit(context: &Context<'_>) -> Finding {
    let Some(limit) = context.facts.memory.limit else {
        return Finding::ok("none");
    };
    Finding::judged(
        format!("{} for the control group", format_bytes(limit)),
        limit < context.demand.cached_bytes,
        "Raise it for the run (docker run --memory), or choose a smaller scale.",
    )
    .of(WarningKind::Memory)
}

fn page_out(context: &Context<'_>) -> Finding {
    let evicts = &context.facts.memory.evicts;
    if evicts.is_empty() {
        return Finding::ok("nothing that evicts idle pages is switched on");
    }
    let (names, stop): (Vec<&str>, Vec<&str>) =
        evicts.iter().map(|(name, stop)| (*name, &**stop)).unzip();
    Finding::judged(
        format!(
            "{} evicts pages that are idle for a while",
            names.join(", ")
        ),
        context.demand.cached_bytes > 0,
        &format!("For the run, switch it off: {}.", stop.join("; ")),
    )
    .of(WarningKind::PageOut)
}

fn swap(context: &Context<'_>) -> Finding {
    let moved = context.facts.memory.swapped;
    match context.facts.memory.swap {
        None => Finding::untold(),
        Some((0, _)) => Finding::ok("none"),
        Some((bytes, used)) => Finding::judged(
            format!(
                "{} of {} used, {moved} pages moved while this looked",
                format_bytes(used),
                format_bytes(bytes),
            ),
            moved > 0,
            "Free memory, or 'sudo swapoff -a' for the run.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;

    #[test]
    fn swap_is_read_with_the_pages_that_moved() {
        let tree = MadeUp::of(&[
            ("/proc/meminfo", "SwapTotal: 2048 kB\nSwapFree: 1024 kB\n"),
            ("/proc/vmstat", "pswpin 3\npswpout 4\nnr_free 1\n"),
        ]);
        assert_eq!(pages_swapped(&tree.root()), Some(7));
        assert_eq!(Facts::read(&tree.root()).swap, Some((2 << 20, 1 << 20)));
    }

    #[test]
    fn what_evicts_idle_pages_is_found_with_the_way_to_stop_it() {
        let damon = "/sys/kernel/mm/damon/admin/kdamonds";
        let file = |name: &str| format!("{damon}/0/{name}");
        let schemes = "contexts/0/schemes";
        let tree = MadeUp::of(&[
            (&*format!("{damon}/nr_kdamonds"), "1\n"),
            (&*file("state"), "on\n"),
            (&*file(&format!("{schemes}/nr_schemes")), "2\n"),
            (&*file(&format!("{schemes}/0/action")), "stat\n"),
            (&*file(&format!("{schemes}/1/action")), "pageout\n"),
        ]);
        let stop = format!("echo off | sudo tee {damon}/0/state");
        assert_eq!(evicting(&tree.root()), [("DAMON", stop)]);
        tree.write(&file(&format!("{schemes}/1/action")), "stat\n");
        assert_eq!(evicting(&tree.root()), [], "it only looks");
        tree.write("/sys/module/damon_reclaim/parameters/enabled", "N\n");
        tree.write("/sys/module/damon_lru_sort/parameters/enabled", "Y\n");
        assert_eq!(evicting(&tree.root())[0].0, "DAMON_LRU_SORT");
    }
}
