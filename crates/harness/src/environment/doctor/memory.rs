//! Memory and what keeps the page cache from staying as it is.

use super::super::{control_group, device, machine};
use super::{Check, CheckGroup, CheckState, Known, NOT_TOLD, Root, Subject};
use std::path::PathBuf;
use stowplan_model::{WarningKind, format_bytes};

const fn subject(name: &'static str, why: &'static str) -> Subject {
    Subject {
        group: CheckGroup::Memory,
        name,
        why,
    }
}

const MEMORY: Subject = subject(
    "memory",
    "What is measured warm has to stay in the page cache: with 0.3% of its files read from the disk, a directory took 1.7 times as long.",
);
const WORKING_SET: Subject = subject(
    "working set",
    "Data that fits the processor's cache is measured there: files against SQLite took 2.10 times as long with 5 MB, 1.45 times with 1 GB.",
);
const LIMIT: Subject = subject(
    "memory limit",
    "The page cache that a process fills counts for its control group.",
);
const SWAP: Subject = subject(
    "swap",
    "A store's cache that was swapped out comes back from the disk, and that counts as the store's time.",
);
const PAGE_OUT: Subject = subject(
    "page-out",
    "It took the page cache from 5.1 GB to 0.45 GB in 110 s of idling. Blocks that had to read from the disk are repeated, which takes time.",
);
const HUGE_PAGES: Subject = subject(
    "huge pages",
    "With 'always' the kernel merges pages of stores that map memory, at moments of its own.",
);

#[derive(Debug, Default)]
pub(super) struct Facts {
    limit: Option<u64>,
    swap: Option<Swap>,
    /// What pages out memory that was not touched for a while; nothing where it cannot be known.
    page_out: Option<Vec<Daemon>>,
    /// `always`, `madvise` or `never`.
    huge_pages: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Swap {
    bytes: u64,
    used: u64,
    /// Pages that came or went while we looked.
    moved: u64,
}

/// Something that evicts idle pages, and the file that stops it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Daemon {
    name: &'static str,
    stop: String,
}

impl Facts {
    pub(super) fn gather(root: &Root, before: Option<u64>, after: Option<u64>) -> Self {
        let moved = after.zip(before).map_or(0, |(a, b)| a.saturating_sub(b));
        Self {
            limit: control_group::memory_limit(root),
            swap: swap(root, moved),
            page_out: page_out(root),
            huge_pages: root
                .line("/sys/kernel/mm/transparent_hugepage/enabled")
                .map(|list| device::selected(&list).to_owned()),
        }
    }
}

fn swap(root: &Root, moved: u64) -> Option<Swap> {
    let text = root.text("/proc/meminfo")?;
    let bytes = machine::memory_field(&text, "SwapTotal")?;
    let free = machine::memory_field(&text, "SwapFree")?;
    Some(Swap {
        bytes,
        used: bytes.saturating_sub(free),
        moved,
    })
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

/// What DAMON was told to page out, by its files in `/sys`.
fn page_out(root: &Root) -> Option<Vec<Daemon>> {
    if !root.has("/sys/kernel/mm") {
        return None;
    }
    let mut found: Vec<Daemon> = root
        .entries("/sys/kernel/mm/damon/admin/kdamonds")
        .into_iter()
        .filter(|kdamond| root.line(kdamond.join("state")).as_deref() == Some("on"))
        .filter(|kdamond| actions(root, kdamond).iter().any(|action| evicts(action)))
        .map(|kdamond| Daemon {
            name: "DAMON",
            stop: format!("echo off | sudo tee {}", kdamond.join("state").display()),
        })
        .collect();
    let reclaim = "/sys/module/damon_reclaim/parameters/enabled";
    if root.line(reclaim).as_deref() == Some("Y") {
        found.push(Daemon {
            name: "DAMON_RECLAIM",
            stop: format!("echo N | sudo tee {reclaim}"),
        });
    }
    Some(found)
}

/// What the schemes of a kdamond do.
fn actions(root: &Root, kdamond: &std::path::Path) -> Vec<String> {
    let children = |directory: PathBuf| match directory.to_str() {
        Some(directory) => root.entries(directory),
        None => Vec::new(),
    };
    let contexts = children(kdamond.join("contexts"));
    let schemes = contexts
        .iter()
        .flat_map(|context| children(context.join("schemes")));
    schemes
        .filter_map(|scheme| root.line(scheme.join("action")))
        .collect()
}

fn evicts(action: &str) -> bool {
    matches!(action, "pageout" | "cold" | "migrate_cold" | "lru_deprio")
}

pub(super) fn checks(known: &Known<'_>, facts: &Facts) -> Vec<Check> {
    vec![
        memory(known),
        working_set(known),
        limit(known, facts),
        swap_check(facts),
        page_out_check(facts),
        huge_pages(facts),
    ]
}

fn memory(known: &Known<'_>) -> Check {
    let (all, available) = (
        known.environment.memory_bytes,
        known.environment.memory_available_bytes,
    );
    if available == 0 {
        return MEMORY.unavailable(NOT_TOLD);
    }
    MEMORY.judged(
        format!(
            "{} of {} available; {} keeps {} cached",
            format_bytes(available),
            format_bytes(all),
            known.asked.what,
            format_bytes(known.asked.plans.cached_bytes)
        ),
        known.advice(WarningKind::Memory),
    )
}

fn working_set(known: &Known<'_>) -> Check {
    let Some(cache) = known.environment.last_level_cache_bytes else {
        return WORKING_SET.unavailable("the size of the processor's cache is not told here");
    };
    WORKING_SET.judged(
        format!(
            "{} visits {}; the processor caches {}",
            known.asked.what,
            format_bytes(known.asked.plans.working_set_bytes),
            format_bytes(cache)
        ),
        known.advice(WarningKind::WorkingSet),
    )
}

fn limit(known: &Known<'_>, facts: &Facts) -> Check {
    let Some(limit) = facts.limit else {
        return LIMIT.ok("none");
    };
    let found = format!("{} for the control group", format_bytes(limit));
    let little = limit < known.asked.plans.cached_bytes;
    LIMIT.judged(
        found,
        little.then_some("Raise it for the run (docker run --memory), or choose a smaller scale."),
    )
}

fn swap_check(facts: &Facts) -> Check {
    match facts.swap {
        None => SWAP.unavailable(NOT_TOLD),
        Some(Swap { bytes: 0, .. }) => SWAP.ok("none"),
        Some(swap) => SWAP.judged(
            format!(
                "{} of {} used, {} pages moved while this looked",
                format_bytes(swap.used),
                format_bytes(swap.bytes),
                swap.moved
            ),
            (swap.moved > 0).then_some("Free memory, or 'sudo swapoff -a' for the run."),
        ),
    }
}

fn page_out_check(facts: &Facts) -> Check {
    let Some(daemons) = &facts.page_out else {
        return PAGE_OUT.unavailable(NOT_TOLD);
    };
    let Some(first) = daemons.first() else {
        return PAGE_OUT.ok("nothing evicts idle pages");
    };
    PAGE_OUT.warning(
        format!("{} evicts pages that are idle for a while", first.name),
        &format!("For the run: {}.", first.stop),
    )
}

fn huge_pages(facts: &Facts) -> Check {
    match facts.huge_pages.as_deref() {
        None => HUGE_PAGES.unavailable(NOT_TOLD),
        Some("always") => HUGE_PAGES.check(
            CheckState::Ok,
            "always",
            Some(
                "For steadier times: echo madvise | sudo tee \
                 /sys/kernel/mm/transparent_hugepage/enabled",
            ),
        ),
        Some(other) => HUGE_PAGES.ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;

    #[test]
    fn a_scheme_that_pages_out_is_found_with_the_file_that_stops_it() {
        let damon = "/sys/kernel/mm/damon/admin/kdamonds";
        let action = format!("{damon}/0/contexts/0/schemes/1/action");
        let tree = MadeUp::of(&[
            (&*format!("{damon}/nr_kdamonds"), "1\n"),
            (&*format!("{damon}/0/state"), "on\n"),
            (&*format!("{damon}/0/contexts/0/schemes/nr_schemes"), "2\n"),
            (&*format!("{damon}/0/contexts/0/schemes/0/action"), "stat\n"),
            (&*action, "pageout\n"),
        ]);
        let found = page_out(&tree.root()).unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(
            found[0].stop,
            format!("echo off | sudo tee {damon}/0/state")
        );
        tree.write(&action, "stat\n");
        assert_eq!(page_out(&tree.root()), Some(Vec::new()));
        tree.write(&action, "cold\n");
        tree.write(&format!("{damon}/0/state"), "off\n");
        assert_eq!(page_out(&tree.root()), Some(Vec::new()));
        tree.write("/sys/module/damon_reclaim/parameters/enabled", "Y\n");
        assert_eq!(page_out(&tree.root()).unwrap()[0].name, "DAMON_RECLAIM");
        assert_eq!(page_out(&MadeUp::of(&[]).root()), None);
    }

    #[test]
    fn only_swap_that_moves_is_a_warning() {
        let tree = MadeUp::of(&[
            ("/proc/meminfo", "SwapTotal: 2048 kB\nSwapFree: 1024 kB\n"),
            ("/proc/vmstat", "pswpin 3\npswpout 4\nnr_free 1\n"),
        ]);
        assert_eq!(pages_swapped(&tree.root()), Some(7));
        for (moved, state) in [(0, CheckState::Ok), (9, CheckState::Warning)] {
            let facts = Facts {
                swap: swap(&tree.root(), moved),
                ..Facts::default()
            };
            assert_eq!(swap_check(&facts).state, state);
        }
        tree.write("/proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\n");
        let facts = Facts::gather(&tree.root(), Some(7), Some(7));
        assert_eq!(swap_check(&facts).found, "none");
    }
}
