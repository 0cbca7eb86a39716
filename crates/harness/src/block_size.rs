//! How many operations a block has (R4).

use std::collections::BTreeMap;
use stowplan_model::{CacheState, Cell, CellId, Measurement, PerTransaction};

/// How long a block should last, nanoseconds of corrected time (R4).
const BLOCK_NS: f64 = 25e6;
/// Bounds on the operations of a block (R4).
const OPERATIONS: (u64, u64) = (1_000, 10_000);
/// Operations of a block where every one waits for the disk.
const SYNCED_OPERATIONS: u64 = 200;
/// Operations of the lead-in (R4), where they do not last much longer than a block.
pub(crate) const LEAD_IN: u64 = 500;
/// Operations of the lead-in of writes: after a switch the first 50 cost 23% more, those up to 300 4.6%, which is
/// 0.2% of a block of 2,000; and what they write is written for nothing.
const LEAD_IN_OF_WRITES: u64 = 200;
/// Operations of a latency block of overwrites: enough for p99.9, and no more of the disk's time.
const LATENCY_WRITES: u64 = 2_000;

/// Operations of a block and of its lead-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockSize {
    pub(crate) lead_in: u64,
    pub(crate) operations: u64,
    writes: bool,
    /// Whether the study, or an earlier session, said so.
    fixed: bool,
}

impl BlockSize {
    /// The size of a first, short trial.
    pub(crate) fn trial(cell: &Cell, count: u64, cache_bytes: u64) -> Self {
        let (lead_in, operations) = if waits_for_disk(cell) {
            (5, 50)
        } else {
            (filling_all(cell, cache_bytes), OPERATIONS.0)
        };
        Self::within(cell, lead_in, operations, count)
    }

    /// Just that.
    pub(crate) fn exactly(cell: &Cell, lead_in: u64, operations: u64) -> Self {
        Self {
            lead_in,
            operations,
            writes: cell.workload.operation.writes(),
            fixed: true,
        }
    }

    /// The size that a block had.
    pub(crate) fn of(cell: &Cell, block: &Measurement) -> Self {
        Self::exactly(cell, block.lead_in_operations, block.operations)
    }

    /// The size where the workload fixes it.
    pub(crate) fn given(cell: &Cell, count: u64) -> Option<Self> {
        let operations = u64::from(cell.workload.operations?);
        let lead_in = match waits_for_disk(cell) {
            // The block has a store of its own, from its first operation on; or what is cold is read once.
            _ if cell.workload.changes_keys() || cell.workload.cache != CacheState::Warm => 0,
            true => LEAD_IN / 25,
            false if cell.workload.operation.writes() => LEAD_IN_OF_WRITES,
            false => LEAD_IN,
        };
        // No longer than two blocks: of large values few make one, and 500 would take more
        // of the disk's time than the block itself.
        let lead_in = lead_in
            .min((2 * operations).max(20))
            .min(most_operations(cell, count).saturating_sub(operations));
        let operations = operations.min(most_operations(cell, count));
        Some(Self::exactly(cell, lead_in, operations))
    }

    /// The size at which a block lasts about 25 ms, judged by a trial.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a choice of size"
    )]
    pub(crate) fn from_trial(
        cell: &Cell,
        trial: &Measurement,
        count: u64,
        cache_bytes: u64,
    ) -> Self {
        let time = trial.corrected_ns().unwrap_or(trial.wall_ns).max(1) as f64;
        let each = time / trial.operations.max(1) as f64;
        let fitting = (BLOCK_NS / each) as u64;
        let least = match waits_for_disk(cell) {
            true => SYNCED_OPERATIONS,
            false => OPERATIONS.0,
        };
        let operations = fitting.clamp(least, OPERATIONS.1);
        let lead_in = match cell.workload.cache == CacheState::Warm {
            // Lasts no longer than two blocks.
            true => filling_all(cell, cache_bytes).min((2 * fitting).max(20)),
            false => 0,
        };
        Self::within(cell, lead_in, operations, count)
    }

    /// Seconds that a block takes beyond the 25 ms that are thought of it, of operations that take `each`
    /// nanoseconds.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn seconds_beyond(self, each: f64) -> f64 {
        ((self.steps() as f64 * each - BLOCK_NS) / 1e9).max(0.0)
    }

    /// A latency block: the same, but overwrites are fewer.
    pub(crate) fn for_latency(self) -> Self {
        self.at_most(if self.writes {
            LATENCY_WRITES
        } else {
            u64::MAX
        })
    }

    /// Bounds the operations.
    pub(crate) fn at_most(self, operations: u64) -> Self {
        Self {
            operations: self.operations.min(operations),
            ..self
        }
    }

    /// The most steps that blocks of a cell can have, lead-in included, before any was tried.
    pub(crate) fn most_steps(cell: &Cell, count: u64, cache_bytes: u64) -> u64 {
        match Self::given(cell, count) {
            Some(given) => given.steps(),
            None => filling_all(cell, cache_bytes) + OPERATIONS.1,
        }
    }

    /// Its operations and those of its lead-in.
    pub(crate) fn steps(self) -> u64 {
        self.lead_in + self.operations
    }

    /// A block visits no key twice unless its order does, and its lead-in comes first: of a small
    /// dataset at most a third goes to the lead-in, and the rest bounds the block.
    fn within(cell: &Cell, lead_in: u64, operations: u64, count: u64) -> Self {
        let count = most_operations(cell, count);
        let lead_in = lead_in.min(count / 3);
        Self {
            fixed: false,
            ..Self::exactly(cell, lead_in, operations.min(count.saturating_sub(lead_in)))
        }
    }
}

/// Operations that fill a store's private cache: each brings in one page of it at least. With a
/// cache of 4 MB the first thousand SELECTs took twice the time of later ones here.
pub fn filling(cache_bytes: u64) -> u64 {
    LEAD_IN.max(cache_bytes / 4096 * 5 / 4)
}

/// Operations that fill the caches of all threads of a cell: each has one of its own.
fn filling_all(cell: &Cell, cache_bytes: u64) -> u64 {
    filling(cache_bytes).saturating_mul(u64::from(cell.workload.threads))
}

/// The most steps for which a dataset of `count` values suffices; where keys may repeat or are new,
/// any number of them.
pub(crate) fn most_operations(cell: &Cell, count: u64) -> u64 {
    if cell.workload.order.repeats() || cell.workload.changes_keys() {
        u64::MAX
    } else {
        count
    }
}

/// Gives all cells of a comparison whose writes share transactions of one kind as many operations a
/// block, and so as many a transaction: a commit would otherwise cost an operation of a fast store a
/// tenth of what it costs one of a slow store. That is what the cell with the fewest has, in whole
/// transactions, or, where the number of some is fixed, the fewest of those. `count`: values of the dataset.
pub(crate) fn equal_transactions(
    cells: &[Cell],
    sizes: &mut BTreeMap<CellId, BlockSize>,
    count: u64,
) {
    let known = sizes.clone();
    let sharing = cells.iter().filter(|cell| shares_transactions(cell));
    let sharing: Vec<(&Cell, BlockSize)> = sharing
        .filter_map(|cell| Some((cell, *known.get(&cell.id)?)))
        .collect();
    for (cell, size) in sharing.iter().filter(|(_, size)| !size.fixed) {
        let per = cell.workload.per_transaction;
        let alike = |fixed| {
            let alike = sharing.iter().filter(move |(_, size)| size.fixed == fixed);
            alike.filter(move |(other, _)| other.workload.per_transaction == per)
        };
        let fewest = |fixed| alike(fixed).map(|(_, size)| size.operations).min();
        let tried = fewest(false).unwrap_or(size.operations);
        let wanted = fewest(true).unwrap_or_else(|| whole_transactions(per, tried));
        let possible = alike(false).map(|(cell, size)| {
            wanted.min(most_operations(cell, count).saturating_sub(size.lead_in))
        });
        if let Some((size, operations)) = sizes.get_mut(&cell.id).zip(possible.min()) {
            size.operations = operations;
        }
    }
}

/// Gives all blocks of a comparison as many operations as the shortest has, for of more operations the slowest
/// is slower; but no fewer than `least`, without which a block has no figure, in whole transactions.
/// `count`: values of the dataset, which bounds them ([`most_operations`]).
pub(crate) fn equal_blocks(
    cells: &[Cell],
    sizes: &mut BTreeMap<CellId, BlockSize>,
    least: u64,
    count: u64,
) {
    let whole = |least: u64, cell: &Cell| match cell.workload.per_transaction {
        PerTransaction::Operations(each) => least.next_multiple_of(u64::from(each.max(1))),
        PerTransaction::All => least,
    };
    let least = cells.iter().fold(least, whole);
    let fewest = sizes.values().map(|size| size.operations).min();
    let operations = fewest.map_or(least, |fewest| fewest.max(least));
    for cell in cells {
        let most = most_operations(cell, count);
        if let Some(size) = sizes.get_mut(&cell.id) {
            size.operations = operations.min(most);
            size.lead_in = size.lead_in.min(most - size.operations);
        }
    }
}

/// Whether several writes of a cell share a transaction whose size the program may choose.
fn shares_transactions(cell: &Cell) -> bool {
    let workload = &cell.workload;
    workload.operation.writes()
        && !workload.changes_keys()
        && workload.per_transaction != PerTransaction::Operations(1)
}

/// As many operations, but no part of a transaction: the last one would be another than the others.
fn whole_transactions(per: PerTransaction, operations: u64) -> u64 {
    match per {
        PerTransaction::All => operations,
        PerTransaction::Operations(each) => {
            let each = u64::from(each).max(1);
            (operations / each).max(1).saturating_mul(each)
        }
    }
}

/// Whether each operation waits for the disk.
pub(crate) fn waits_for_disk(cell: &Cell) -> bool {
    let synced = cell.capabilities.syncs_per_commit > 0
        && cell.workload.operation.writes()
        && cell.workload.per_transaction != PerTransaction::All;
    synced || cell.workload.cache.is_cold()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use stowplan_model::{CellId, Operation, Role, Scanned, StoreSpec, Workload};
    use stowplan_stores::registry;

    const MANY: u64 = 100_000;

    /// A cell that reads, warm, in one transaction, as many operations as fit.
    pub(crate) fn cell(spec: &str) -> Cell {
        let store: StoreSpec = spec.parse().unwrap();
        let resolved = registry::resolve(&store, 4 << 20).unwrap();
        let layout = resolved.settings.layout(resolved.kind.settings());
        Cell {
            id: CellId("c/x".to_owned()),
            key: "x".to_owned(),
            label: spec.to_owned(),
            role: Role::Candidate,
            instance: format!("{}.{layout}", store.kind),
            driver: String::new(),
            store,
            settings: resolved.settings,
            capabilities: resolved.capabilities,
            workload: Workload::default(),
            scanned: Scanned::No,
            dataset: "blobs".to_owned(),
            on: String::new(),
            published_seconds: None,
        }
    }

    /// One that overwrites.
    pub(crate) fn writing(spec: &str, per: PerTransaction) -> Cell {
        let mut cell = cell(spec);
        cell.workload.operation = Operation::Overwrite;
        cell.workload.per_transaction = per;
        cell
    }

    /// One whose every operation waits for the disk.
    fn syncing() -> Cell {
        writing(
            "files:write=rename,fsync=directory",
            PerTransaction::Operations(1),
        )
    }

    fn cold() -> Cell {
        let mut cell = cell("files");
        cell.workload.cache = CacheState::Cold;
        cell
    }

    fn with_operations(mut cell: Cell, operations: u32) -> Cell {
        cell.workload.operations = Some(operations);
        cell
    }

    /// A trial of 1,000 operations that took so long each.
    fn trial(each_ns: u64) -> Measurement {
        Measurement {
            operations: 1_000,
            wall_ns: each_ns * 1_000,
            ..Measurement::default()
        }
    }

    fn sized(cell: &Cell, each_ns: u64, count: u64, cache_bytes: u64) -> (u64, u64) {
        let size = BlockSize::from_trial(cell, &trial(each_ns), count, cache_bytes);
        (size.lead_in, size.operations)
    }

    #[test]
    fn a_block_lasts_25_ms_within_1_000_and_10_000_operations() {
        let operations = |each_ns| sized(&cell("files"), each_ns, MANY, 0).1;
        assert_eq!(operations(5_000), 5_000);
        assert_eq!(operations(10_000), 2_500);
        assert_eq!(operations(100), 10_000);
        assert_eq!(operations(1_000_000), 1_000);
    }

    #[test]
    fn blocks_that_wait_for_the_disk_may_be_as_short_as_200() {
        let appended = writing("files:write=rename,fsync=directory", PerTransaction::All);
        let unsynced = writing("files", PerTransaction::Operations(1));
        for (cell, least) in [
            (syncing(), 200),
            (cold(), 200),
            (appended, 1_000),
            (unsynced, 1_000),
            (cell("files:write=rename,fsync=directory"), 1_000),
        ] {
            let operations = |each_ns| sized(&cell, each_ns, MANY, 0).1;
            assert_eq!(operations(5_000_000), least, "{:?}", cell.workload);
            assert_eq!(operations(10_000), 2_500);
            assert_eq!(operations(10), 10_000);
        }
    }

    #[test]
    fn a_trial_is_judged_by_its_time_without_waiting_for_a_cpu() {
        let delayed = Measurement {
            run_delay_ns: Some(5_000_000),
            ..trial(10_000)
        };
        let size = BlockSize::from_trial(&cell("files"), &delayed, MANY, 0);
        assert_eq!(size.operations, 5_000);
    }

    #[test]
    fn a_trial_of_nothing_gives_a_block_all_the_same() {
        let size = BlockSize::from_trial(&cell("files"), &Measurement::default(), MANY, 0);
        assert_eq!(size.operations, 10_000);
    }

    #[test]
    fn a_block_and_its_lead_in_visit_no_value_twice() {
        let all = [cell("files"), syncing(), cold()];
        for cell in &all {
            for count in [1, 7, 50, 199, 200, 700, 1_200, 10_000, 10_300] {
                for each_ns in [1, 5_000, 40_000_000] {
                    let sizes = [
                        BlockSize::trial(cell, count, 4 << 20),
                        BlockSize::from_trial(cell, &trial(each_ns), count, 4 << 20),
                        BlockSize::given(&with_operations(cell.clone(), 300), count).unwrap(),
                    ];
                    for size in sizes {
                        assert!(size.operations >= 1, "{count} {size:?}");
                        assert!(size.lead_in + size.operations <= count, "{count} {size:?}");
                    }
                }
            }
        }
        assert_eq!(sized(&cell("files"), 100, 10_300, 0), (500, 9_800));
        assert_eq!(sized(&cell("files"), 100, 900, 0), (300, 600));
    }

    #[test]
    fn the_lead_in_fills_the_cache_but_lasts_no_longer_than_two_blocks() {
        let lead_in = |each_ns, cache_bytes| sized(&cell("sqlite"), each_ns, MANY, cache_bytes).0;
        assert_eq!(lead_in(5_000, 0), 500);
        assert_eq!(lead_in(5_000, 4 << 20), 1_280);
        assert_eq!(lead_in(100_000, 4 << 20), 500, "two blocks of 250");
        assert_eq!(lead_in(1_000_000, 0), 50, "two blocks of 25");
        assert_eq!(lead_in(20_000_000, 0), 20, "but 20 at least");
        assert_eq!(sized(&cold(), 100_000, MANY, 4 << 20).0, 0);
    }

    #[test]
    fn where_keys_repeat_a_block_may_be_longer_than_the_dataset() {
        let mut zipfian = cell("files");
        zipfian.workload.order = stowplan_model::AccessOrder::Zipfian;
        assert_eq!(sized(&zipfian, 100, 50, 0), (500, 10_000));
        let given = BlockSize::given(&with_operations(zipfian.clone(), 300), 50).unwrap();
        assert_eq!((given.lead_in, given.operations), (500, 300));
        let trial = BlockSize::trial(&zipfian, 50, 0);
        assert!(trial.steps() <= BlockSize::most_steps(&zipfian, 50, 0));
        assert_eq!(BlockSize::most_steps(&zipfian, 50, 0), 10_500);
    }

    #[test]
    fn a_store_of_a_blocks_own_has_no_lead_in() {
        let mut delete = with_operations(cell("files"), 50);
        delete.workload.operation = Operation::Delete;
        let size = BlockSize::given(&delete, 50).unwrap();
        assert_eq!((size.lead_in, size.operations), (0, 50));
        assert_eq!(BlockSize::most_steps(&delete, 50, 0), 50);
    }

    #[test]
    fn each_thread_fills_a_cache_of_its_own() {
        let mut four = cell("sqlite");
        four.workload.threads = 4;
        assert_eq!(BlockSize::trial(&four, MANY, 4 << 20).lead_in, 4 * 1_280);
        assert_eq!(sized(&four, 5_000, MANY, 4 << 20).0, 4 * 1_280);
    }

    #[test]
    fn a_trial_is_short_where_operations_wait_for_the_disk() {
        let size = |cell: &Cell| {
            let size = BlockSize::trial(cell, MANY, 4 << 20);
            (size.lead_in, size.operations)
        };
        assert_eq!(size(&cell("sqlite")), (1_280, 1_000));
        assert_eq!(size(&syncing()), (5, 50));
        assert_eq!(size(&cold()), (5, 50));
    }

    #[test]
    fn a_fixed_number_of_operations_is_taken_as_it_is() {
        assert_eq!(BlockSize::given(&cell("files"), MANY), None);
        let given = |cell, operations, count| {
            let size = BlockSize::given(&with_operations(cell, operations), count).unwrap();
            (size.lead_in, size.operations)
        };
        assert_eq!(given(cell("files"), 30_000, MANY), (500, 30_000));
        assert_eq!(given(cell("files"), 100, MANY), (200, 100), "two blocks");
        assert_eq!(given(cell("files"), 3, MANY), (20, 3), "but 20 at least");
        assert_eq!(given(syncing(), 100, MANY), (20, 100));
        assert_eq!(given(cold(), 300, MANY), (0, 300));
        assert_eq!(given(cell("files"), 300, 300), (0, 300));
    }

    #[test]
    fn a_block_is_as_much_longer_than_was_thought_as_its_pilot_says() {
        let size = BlockSize::exactly(&syncing(), 5, 195);
        let beyond = |each_ns| (size.seconds_beyond(each_ns) * 1e3).round();
        assert!((beyond(4e6) - 775.0).abs() < 1e-9);
        assert!((beyond(1e3) - 0.0).abs() < 1e-9, "less than 25 ms");
    }

    #[test]
    fn latency_blocks_of_overwrites_have_2_000_operations_at_most() {
        let write = writing("files", PerTransaction::All);
        let latency = |cell: &Cell, operations| {
            let cell = with_operations(cell.clone(), operations);
            let size = BlockSize::given(&cell, MANY).unwrap().for_latency();
            (size.lead_in, size.operations)
        };
        assert_eq!(latency(&write, 10_000), (200, 2_000));
        assert_eq!(latency(&write, 300), (200, 300));
        assert_eq!(latency(&cell("files"), 10_000), (500, 10_000));
    }

    /// Cells called a, b, … of these stores, with the sizes that trials of so many nanoseconds an
    /// operation give.
    fn tried(cells: &[(Cell, u64)], count: u64) -> (Vec<Cell>, BTreeMap<CellId, BlockSize>) {
        let mut sizes = BTreeMap::new();
        let mut named = Vec::new();
        for (letter, (cell, each_ns)) in ('a'..).zip(cells) {
            let mut cell = cell.clone();
            cell.id = CellId(format!("c/{letter}"));
            let size = match BlockSize::given(&cell, count) {
                Some(given) => given,
                None => BlockSize::from_trial(&cell, &trial(*each_ns), count, 0),
            };
            sizes.insert(cell.id.clone(), size);
            named.push(cell);
        }
        (named, sizes)
    }

    /// The operations that each then has; those with a number in their workload have it fixed.
    fn equalised(cells: &[(Cell, u64)], count: u64) -> Vec<u64> {
        let (cells, mut sizes) = tried(cells, count);
        equal_transactions(&cells, &mut sizes, count);
        cells
            .iter()
            .map(|cell| sizes[&cell.id].operations)
            .collect()
    }

    #[test]
    fn a_block_of_one_transaction_holds_as_many_writes_in_each_store_of_a_comparison() {
        let at = |spec, each_ns| (writing(spec, PerTransaction::All), each_ns);
        let three = [at("files", 3_000), at("sqlite", 10_000), at("flat", 1)];
        assert_eq!(equalised(&three, MANY), [2_500; 3], "those of the slowest");
        let slower = [at("files", 300_000), at("sqlite", 1)];
        assert_eq!(equalised(&slower, MANY), [1_000; 2]);
        assert_eq!(equalised(&slower, 900), [600; 2], "a small dataset");
    }

    #[test]
    fn reads_and_writes_that_are_transactions_of_their_own_have_as_many_as_fit() {
        let read = [(cell("files"), 3_000), (cell("sqlite"), 10_000)];
        assert_eq!(equalised(&read, MANY), [8_333, 2_500]);
        let each = |spec, each_ns| (writing(spec, PerTransaction::Operations(1)), each_ns);
        let apart = [each("files", 3_000), each("sqlite", 10_000)];
        assert_eq!(equalised(&apart, MANY), [8_333, 2_500]);
    }

    #[test]
    fn transactions_of_a_given_number_are_whole_ones() {
        let at = |number, each_ns| {
            let per = PerTransaction::Operations(number);
            (writing("files", per), each_ns)
        };
        assert_eq!(
            equalised(&[at(300, 3_000), at(300, 10_000)], MANY),
            [2_400; 2]
        );
        assert_eq!(
            equalised(&[at(7_000, 3_000), at(7_000, 10_000)], MANY),
            [7_000; 2]
        );
        assert_eq!(
            equalised(&[at(7_000, 3_000), at(7_000, 10_000)], 5_000),
            [4_500; 2]
        );
        let two_kinds = [at(100, 3_000), at(1_000, 10_000), at(1_000, 5_000)];
        assert_eq!(equalised(&two_kinds, MANY), [8_300, 2_000, 2_000]);
    }

    #[test]
    fn blocks_whose_slowest_operations_are_compared_have_equally_many() {
        let all = [(cell("files"), 3_000), (cell("sqlite"), 10_000)];
        let (cells, mut sizes) = tried(&all, MANY);
        equal_blocks(&cells, &mut sizes, 1, MANY);
        let operations: Vec<u64> = sizes.values().map(|size| size.operations).collect();
        assert_eq!(operations, [2_500; 2]);
    }

    #[test]
    fn such_blocks_have_as_many_operations_as_their_figure_takes() {
        let sized = |all: &[(Cell, u64)], least, count| {
            let (cells, mut sizes) = tried(all, count);
            equal_blocks(&cells, &mut sizes, least, count);
            sizes
                .values()
                .map(|size| (size.lead_in, size.operations))
                .collect::<Vec<_>>()
        };
        // Each waits for 40 ms, so that 200 would do.
        let slow = [(syncing(), 40_000_000), (syncing(), 1_000_000)];
        assert_eq!(sized(&slow, 100, MANY), [(20, 200), (50, 200)]);
        assert_eq!(sized(&slow, 1_000, MANY), [(20, 1_000), (50, 1_000)]);
        let each_300 = writing(
            "files:write=rename,fsync=directory",
            PerTransaction::Operations(300),
        );
        let whole = sized(&[(each_300, 40_000_000)], 1_000, MANY);
        assert_eq!(whole[0].1, 1_200);
        // A third of the values would go to the lead-in.
        let few = [(cell("files"), 40_000), (cell("sqlite"), 10_000)];
        assert_eq!(sized(&few, 1_000, 1_000), [(0, 1_000); 2]);
    }

    #[test]
    fn where_the_number_of_one_is_fixed_the_others_have_it_too() {
        let at = |spec, each_ns| (writing(spec, PerTransaction::All), each_ns);
        let fixed = (with_operations(at("files", 0).0, 6_000), 0);
        let all = [at("sqlite", 10_000), fixed, at("flat", 2_500)];
        assert_eq!(equalised(&all, MANY), [6_000; 3]);
    }
}
