//! What a store takes on the disk: an estimate, by what stores took here.

use crate::block_size::BlockSize;
use stowplan_model::{Cell, Comparison, DatasetSpec, Plan, SizeDistribution};

/// What files are allocated in on most file systems, and most engines' pages.
const BLOCK_BYTES: u64 = 4096;
/// A key, a name, what stands before a value.
const BYTES_PER_VALUE: u64 = 16;
/// A store without a value; that of fjall takes 0.26 MB, others less than 0.1 MB.
const EMPTY_BYTES: u64 = 128 << 10;
/// Logs grow to this before an engine cuts them.
const LOG_BYTES: u64 = 64 << 20;
/// Kinds of drivers in other languages that keep an SQLite database, as the one that is built in does; `ado`
/// unless another provider is named, of whose files the estimate may be far off.
const SQLITE: [&str; 4] = ["ado", "apsw", "modernc", "sqlite"];
/// Of any other driver's store nobody knows how it keeps its values: each with this beside it, ...
const UNKNOWN_BYTES_PER_VALUE: u64 = 64;
/// ... all of that so many times, and a log.
const UNKNOWN_TIMES: u64 = 4;

/// How a store keeps its values, and grows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Nothing,
    /// One after the other.
    Appended,
    /// Each a file.
    Files,
    /// It appends, and removes what is outdated later: 20.6 MB for 10 MB as built, and up to 154 MB more once
    /// values were written again.
    Log,
    /// In pages, most of them of 4 KiB.
    Pages,
    /// Nobody knows.
    Any,
}

fn form_of(cell: &Cell) -> Form {
    match cell.store.name() {
        "null" => Form::Nothing,
        kind if !cell.driver.is_empty() && !SQLITE.contains(&kind) => Form::Any,
        "flat" => Form::Appended,
        "files" | "files-indexed" | "split" => Form::Files,
        "fjall" => Form::Log,
        _ => Form::Pages,
    }
}

/// Bytes of the store of a cell, with what its blocks add.
pub(super) fn store_bytes(plan: &Plan, comparison: &Comparison, cell: &Cell) -> u64 {
    let Some(dataset) = plan.datasets.get(&cell.dataset) else {
        return 0;
    };
    let value = dataset.size.mean().saturating_add(BYTES_PER_VALUE);
    let per_value = match form_of(cell) {
        Form::Nothing => return 0,
        Form::Any => return in_any_engine(dataset),
        Form::Appended => value,
        Form::Files => bytes_of_file(dataset),
        Form::Log => value.saturating_mul(2),
        Form::Pages => bytes_in_pages(cell, dataset),
    };
    let built = dataset.count.saturating_mul(per_value);
    let built = built.saturating_add(EMPTY_BYTES);
    built.saturating_add(written_bytes(plan, comparison, cell, dataset, built))
}

/// A bound for engines that nobody measured: wide, so that no disk is filled by what was not foreseen.
fn in_any_engine(dataset: &DatasetSpec) -> u64 {
    let per_value = dataset.size.mean().saturating_add(UNKNOWN_BYTES_PER_VALUE);
    let once = dataset.count.saturating_mul(per_value);
    once.saturating_mul(UNKNOWN_TIMES).saturating_add(LOG_BYTES)
}

/// A value as a file. Where sizes differ, a file's last block is half full.
fn bytes_of_file(dataset: &DatasetSpec) -> u64 {
    let mean = dataset.size.mean();
    let allocated = match dataset.size {
        SizeDistribution::Fixed { bytes } => bytes.next_multiple_of(BLOCK_BYTES),
        _ => mean.saturating_add(BLOCK_BYTES / 2).max(BLOCK_BYTES),
    };
    allocated.saturating_add(BYTES_PER_VALUE)
}

/// A value in the pages of an engine, of which a quarter may be empty. Of a page that holds a single value
/// more may be: values of 2,048 bytes took 4,096 in SQLite. Of a value of several pages SQLite puts what is
/// left into a page with others: 8 to 12 kB took 10.7 kB on average.
fn bytes_in_pages(cell: &Cell, dataset: &DatasetSpec) -> u64 {
    let page = match cell.settings.get("page_size") {
        Some(_) => cell.settings.number("page_size").max(1),
        None => BLOCK_BYTES,
    };
    let value = dataset.size.mean().saturating_add(BYTES_PER_VALUE);
    let whole_pages = match page / value {
        0 => value.div_ceil(page).saturating_mul(page),
        values => page / values,
    };
    let shares_pages = value > page && SQLITE.contains(&cell.store.name());
    let spare = if shares_pages { 0 } else { value / 3 };
    whole_pages.max(value.saturating_add(spare))
}

/// What the blocks of a cell add to its store before it is tidied up.
fn written_bytes(
    plan: &Plan,
    comparison: &Comparison,
    cell: &Cell,
    dataset: &DatasetSpec,
    built: u64,
) -> u64 {
    let form = form_of(cell);
    if !cell.workload.operation.writes() {
        let ages = form == Form::Log && cell.workload.age > 0;
        return if ages { 3 * LOG_BYTES } else { 0 };
    }
    let mean = dataset.size.mean();
    let steps = BlockSize::most_steps(cell, dataset.count, plan.study.memory_budget);
    match form {
        // Where files are replaced, each thread has a new one beside the old one for a moment.
        Form::Files => u64::from(cell.workload.threads).saturating_mul(dataset.size.largest()),
        Form::Log => {
            // A block that changes keys has a store of its own.
            let all = u64::from(comparison.max_rounds);
            let blocks = if cell.workload.changes_keys() { 1 } else { all };
            let written = steps.saturating_mul(mean.saturating_add(BYTES_PER_VALUE));
            written.saturating_mul(blocks).min(3 * LOG_BYTES)
        }
        _ => {
            let pages = steps.saturating_mul(mean.saturating_add(BLOCK_BYTES));
            pages.min(built).min(LOG_BYTES)
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::drivers::Drivers;
    use crate::plan::{PlanOptions, needs, plan};
    use stowplan_model::{Cell, Study};

    /// A store, values, bytes of each, what is done, and the megabytes that were allocated for it.
    const MEASURED: [(&str, u64, u64, &str, f64); 16] = [
        ("files", 1_000, 36, "read", 4.12),
        ("files", 20_000, 1_024, "read", 82.4),
        ("files", 20_000, 2_048, "read", 82.4),
        ("files", 5_000, 10_000, "read", 61.6),
        ("sqlite", 100_000, 20, "read", 2.93),
        ("sqlite", 20_000, 1_024, "read", 27.4),
        ("sqlite", 20_000, 2_048, "read", 82.1),
        ("sqlite", 10_000, 1_000, "read", 10.3),
        ("sqlite:page_size=65536", 5_000, 10_000, "read", 54.8),
        ("sqlite:page_size=65536", 500, 100_000, "read", 65.7),
        ("flat", 3_000, 10_000, "read", 30.1),
        ("lmdb", 10_000, 1_000, "read", 13.7),
        ("lmdb", 10_000, 1_000, "overwrite", 16.4),
        ("redb", 10_000, 1_000, "overwrite", 17.2),
        ("fjall", 10_000, 1_000, "read", 20.6),
        ("fjall", 10_000, 1_000, "overwrite", 175.0),
    ];

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "megabytes")]
    fn stores_take_no_more_than_is_estimated_and_at_least_half_of_it() {
        for (store, count, bytes, operation, measured) in MEASURED {
            let study = format!(
                r#"
                name = "t"
                title = "t"
                question = "?"
                datasets.d = {{ count = {count}, size = {{ distribution = "fixed", bytes = {bytes} }} }}
                comparison = [{{ id = "c", title = "c", dataset = "d", baseline = "a",
                  workload = {{ operation = "{operation}" }}, cells = {{ a = {{ store = "{store}" }} }} }}]
                "#
            );
            let study = Study::parse(&study, "t.toml").unwrap();
            let plan = plan(study, &PlanOptions::default(), &Drivers::built_in()).unwrap();
            let comparison = &plan.comparisons[0];
            let estimated = super::store_bytes(&plan, comparison, &comparison.cells[0]) as f64;
            let factor = estimated / (measured * 1e6);
            assert!(
                (0.97..=2.0).contains(&factor),
                "{store}, {count} of {bytes} bytes, {operation}: {factor}"
            );
        }
    }

    #[test]
    fn a_store_of_a_driver_may_take_four_times_its_data_unless_it_is_known() {
        let study = r#"
            name = "t"
            title = "t"
            question = "?"
            datasets.d = { count = 1_000_000, size = { distribution = "fixed", bytes = 1_000 } }
            comparison = [{ id = "c", title = "c", dataset = "d", baseline = "a", cells = {
              a = { store = "sqlite" } } }]
        "#;
        let study = Study::parse(study, "t.toml").unwrap();
        let plan = plan(study, &PlanOptions::default(), &Drivers::built_in()).unwrap();
        let comparison = &plan.comparisons[0];
        let cell = &comparison.cells[0];
        let known = super::store_bytes(&plan, comparison, cell);
        assert!(known < 1_500_000_000, "{known}");
        let by_driver = |store: &str| {
            let cell = Cell {
                driver: "other".to_owned(),
                store: store.parse().unwrap(),
                ..cell.clone()
            };
            super::store_bytes(&plan, comparison, &cell)
        };
        assert!(by_driver("other/engine") > 4_000_000_000);
        // What SQLite takes does not depend on the language that calls it.
        assert_eq!(by_driver("other/sqlite"), known);
        assert_eq!(by_driver("other/null"), 0);
    }

    #[test]
    fn a_study_of_little_data_needs_little_room() {
        let study = r#"
            name = "t"
            title = "t"
            question = "?"
            datasets.d = { count = 1_000, size = { distribution = "fixed", bytes = 275 } }
            comparison = [{ id = "c", title = "c", dataset = "d", baseline = "a", cells = {
              a = { store = "files" }, b = { store = "sqlite" }, c = { store = "flat" }, d = { store = "lmdb" } } }]
        "#;
        let study = Study::parse(study, "t.toml").unwrap();
        let plan = plan(study, &PlanOptions::default(), &Drivers::built_in()).unwrap();
        let needed = needs(&plan, false).disk_bytes;
        assert!((3_600_000..12_000_000).contains(&needed), "{needed}");
    }
}
