use super::*;
use crate::DriverError;
use std::collections::BTreeMap;
use std::time::Duration;
use stowplan_dataset::Generator;
use stowplan_dataset::sequence::RawStep;
use stowplan_model::{
    AccessOrder, CacheState, Content, DatasetSpec, PerTransaction, SizeDistribution,
};

#[derive(Debug, Clone, PartialEq, Eq)]
enum Call {
    Begin(Access),
    Commit,
    Rollback,
    Read(u64),
    Lend(u64),
    Overwrite(u64, Vec<u8>),
    Insert(u64),
    Delete(u64),
    Scan(u64, usize),
}

/// A session that notes what it is asked; its values have the sizes it is given.
#[derive(Default)]
struct Recorder {
    calls: Vec<Call>,
    sizes: BTreeMap<u64, usize>,
    /// How long a transaction takes to begin and to commit.
    ceremony: Duration,
    /// The call, by its number, that takes so long.
    stall: Option<(usize, Duration)>,
    /// The numbers of calls, from 1, at which another transaction is in the way.
    conflicts: Vec<usize>,
}

impl Recorder {
    /// One that holds what these steps expect.
    fn holding(steps: &[RawStep]) -> Self {
        let size = |raw| {
            let Step { key, bytes, .. } = Step::decode(raw);
            (key, bytes as usize)
        };
        Self {
            sizes: steps.iter().map(size).collect(),
            ..Self::default()
        }
    }

    fn found(&self, key: Key) -> Found {
        let size = self.sizes.get(&key.0);
        size.map_or(Found::Missing, |bytes| Found::Bytes(*bytes))
    }

    fn count(&self, wanted: impl Fn(&Call) -> bool) -> usize {
        self.calls.iter().filter(|call| wanted(call)).count()
    }

    fn operations(&self) -> usize {
        self.count(|call| !matches!(call, Call::Begin(_) | Call::Commit))
    }

    /// Notes a call, or meets another transaction.
    fn note(&mut self, call: Call) -> Result<()> {
        self.calls.push(call);
        if let Some((at, time)) = self.stall
            && at == self.calls.len()
        {
            std::thread::sleep(time);
        }
        if self.conflicts.contains(&self.calls.len()) {
            return Err(StoreError::Conflict {
                store: "recorder",
                action: "go on".to_owned(),
                detail: "by design".to_owned(),
            });
        }
        Ok(())
    }
}

type Result<T> = std::result::Result<T, StoreError>;

impl Session for Recorder {
    fn begin(&mut self, access: Access) -> Result<()> {
        std::thread::sleep(self.ceremony);
        self.note(Call::Begin(access))
    }

    fn commit(&mut self) -> Result<()> {
        std::thread::sleep(self.ceremony);
        self.note(Call::Commit)
    }

    fn read_into(&mut self, key: Key, _: &mut Buffer) -> Result<Found> {
        self.note(Call::Read(key.0))?;
        Ok(self.found(key))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.note(Call::Lend(key.0))?;
        if let Some(bytes) = self.sizes.get(&key.0) {
            let fresh = memmap2::MmapMut::map_anon((*bytes).max(1)).unwrap();
            visit(&fresh[..*bytes]);
        }
        Ok(self.found(key))
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        self.note(Call::Overwrite(key.0, value.to_vec()))?;
        Ok(self.found(key))
    }

    fn rollback(&mut self) -> Result<()> {
        self.note(Call::Rollback)
    }

    fn insert(&mut self, key: Key, _: &[u8]) -> Result<()> {
        self.note(Call::Insert(key.0))
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        self.note(Call::Delete(key.0))?;
        Ok(self.found(key) != Found::Missing)
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut stowplan_stores::Visit<'_>,
    ) -> Result<usize> {
        self.note(Call::Scan(from.0, limit))?;
        let some = self.sizes.range(from.0..).take(limit);
        Ok(some
            .map(|(key, bytes)| visit(Key(*key), &vec![1; *bytes]))
            .count())
    }
}

fn workload(operation: Operation, delivery: Delivery, per: PerTransaction) -> Workload {
    Workload {
        operation,
        order: AccessOrder::Random,
        per_transaction: per,
        delivery,
        cache: CacheState::Warm,
        ..Workload::default()
    }
}

fn reads(per: PerTransaction) -> Workload {
    workload(Operation::Read, Delivery::Copy, per)
}

fn raw(key: u64, bytes: u32) -> RawStep {
    Step::reading(key, bytes).encode()
}

fn doing(action: Action, mut raw: RawStep) -> RawStep {
    raw[12] = action as u8;
    raw
}

/// Keys from 1 on, each with a size of its own.
fn some_steps(count: u32) -> Vec<RawStep> {
    (1..=count).map(|key| raw(key.into(), 10 * key)).collect()
}

fn run_on(
    session: &mut Recorder,
    workload: &Workload,
    window: &Window<'_>,
    mut timing: Timing<'_>,
) -> std::result::Result<Done, DriverError> {
    let mut buffer = Buffer::with_capacity(1).unwrap();
    let mut payloads = match workload.operation {
        Operation::Read => Payloads::None,
        _ => prepared(window),
    };
    let mut block = Block::new(session, workload, &mut buffer, None);
    block.part(window, &mut payloads, &mut timing, true)?;
    Ok(block.done())
}

/// The values of a window as a parent writes them: version 3 of each.
fn prepared(window: &Window<'_>) -> Payloads {
    let directory = tempfile::tempdir().unwrap();
    let files = stowplan_model::Payloads {
        values: directory.path().join("values"),
        offsets: directory.path().join("offsets"),
    };
    let (mut values, mut offsets) = (vec![0], Vec::new());
    for step in super::steps(window) {
        offsets.extend((values.len() as u64).to_le_bytes());
        let begin = values.len();
        values.resize(begin + step.bytes as usize, 0);
        generator().fill(step.key, 3, &mut values[begin..]);
    }
    offsets.push(0);
    std::fs::write(&files.values, values).unwrap();
    std::fs::write(&files.offsets, offsets).unwrap();
    Payloads::prepared_in(&files, super::steps(window)).unwrap()
}

fn generator() -> Generator {
    let spec = DatasetSpec {
        count: 100,
        size: SizeDistribution::Uniform {
            min: 1,
            max: 10_000,
        },
        content: Content::Random,
        seed: 5,
        from: None,
    };
    Generator::new(&spec).unwrap()
}

/// Steps with the sizes of a generator's values.
fn generated(generator: &Generator, keys: impl Iterator<Item = u64>) -> Vec<RawStep> {
    keys.map(|key| raw(key, u32::try_from(generator.size(key)).unwrap()))
        .map(|raw| doing(Action::Overwrite, raw))
        .collect()
}

#[test]
fn operations_share_transactions_as_they_are_told_and_none_is_empty() {
    let steps = some_steps(20);
    for (per, shared, last_is_short) in [
        (PerTransaction::All, &[20][..], true),
        (PerTransaction::Operations(7), &[7, 7, 6], true),
        (PerTransaction::Operations(5), &[5; 4], false),
    ] {
        let mut session = Recorder::holding(&steps);
        session.ceremony = Duration::from_millis(1);
        let window = [&steps[..], &[]];
        let done = run_on(&mut session, &reads(per), &window, Timing::Ends).unwrap();
        assert_eq!(done.commits, shared.len() as u64, "{per}");
        let told_apart = done.last_commit_ns >= 1_000_000;
        assert_eq!(told_apart, last_is_short, "{per}");
        let begun = session.calls.split(|c| *c == Call::Begin(Access::Read));
        let groups: Vec<&[Call]> = begun.skip(1).collect();
        assert!(groups.iter().all(|g| g.ends_with(&[Call::Commit])), "{per}");
        let sizes: Vec<usize> = groups.iter().map(|group| group.len() - 1).collect();
        assert_eq!(sizes, shared, "{per}");
    }
    let mut session = Recorder::holding(&steps);
    let alone = reads(PerTransaction::Operations(1));
    let done = run_on(&mut session, &alone, &[&steps[..], &[]], Timing::Ends).unwrap();
    assert_eq!((done.commits, done.last_commit_ns), (20, 0));
    let expected: Vec<Call> = (1..=20).map(Call::Read).collect();
    assert_eq!(session.calls, expected, "neither begun nor committed");
    let mut session = Recorder::default();
    let all = reads(PerTransaction::All);
    let done = run_on(&mut session, &all, &[&[], &[]], Timing::Ends);
    assert_eq!(done.unwrap(), Done::default());
    assert!(session.calls.is_empty(), "an empty block does nothing");
}

#[test]
fn a_window_over_the_end_goes_on_with_its_second_part() {
    let steps = some_steps(6);
    let mut session = Recorder::holding(&steps);
    let window = [&steps[4..], &steps[..3]];
    assert_eq!((len(&window), len(&[&[], &[]])), (5, 0));
    let per = PerTransaction::Operations(1);
    run_on(&mut session, &reads(per), &window, Timing::Ends).unwrap();
    assert_eq!(session.calls, [5, 6, 1, 2, 3].map(Call::Read));
}

#[test]
fn a_missing_value_or_one_of_another_size_ends_the_block_and_names_the_key() {
    let steps = some_steps(20);
    let damages = [
        (None, "value 7 is damaged: it is missing"),
        (
            Some(69),
            "value 7 is damaged: it has 69 bytes instead of 70",
        ),
        (
            Some(71),
            "value 7 is damaged: it has 71 bytes instead of 70",
        ),
    ];
    let workloads = [
        (Operation::Read, Delivery::Copy),
        (Operation::Read, Delivery::InPlace),
        (Operation::Overwrite, Delivery::Copy),
    ];
    for (size, expected) in damages {
        for (operation, delivery) in workloads {
            let mut session = Recorder::holding(&steps);
            match size {
                Some(size) => session.sizes.insert(7, size),
                None => session.sizes.remove(&7),
            };
            let workload = workload(operation, delivery, PerTransaction::All);
            let window = [&steps[..], &[]];
            let error = run_on(&mut session, &workload, &window, Timing::Ends).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(expected), "{operation}: {message}");
            assert_eq!(session.operations(), 7, "nothing after the damaged value");
            assert_eq!(session.count(|c| *c == Call::Commit), 0);
        }
    }
}

#[test]
fn there_is_one_latency_for_each_operation() {
    let steps = some_steps(20);
    for per in [1, 7, 20].map(PerTransaction::Operations) {
        let mut session = Recorder::holding(&steps);
        let mut latencies = Latencies::default();
        let window = [&steps[..12], &steps[12..]];
        let timing = Timing::EachOperation(&mut latencies);
        run_on(&mut session, &reads(per), &window, timing).unwrap();
        assert_eq!(latencies.len(), 20, "{per}");
    }
}

/// One read takes long: at a stated rate, those that wait for it meanwhile do so, too.
#[test]
fn a_stall_is_one_slow_operation_in_a_closed_loop_and_many_at_a_stated_rate() {
    let steps = some_steps(40);
    let slow = |schedule: Option<Schedule>| {
        let mut session = Recorder::holding(&steps);
        session.stall = Some((10, Duration::from_millis(80)));
        let mut latencies = Some(Latencies::default());
        let timing = Timing::of(&mut latencies, schedule);
        let per = PerTransaction::Operations(1);
        run_on(&mut session, &reads(per), &[&steps[..], &[]], timing).unwrap();
        let latencies = latencies.unwrap();
        assert_eq!(latencies.len(), 40);
        latencies.longer_than(20_000_000)
    };
    let (closed, open) = (slow(None), slow(Some(Schedule::of(1_000, 0, 1))));
    assert!(closed >= 1 && open >= closed + 20, "{closed} and {open}");
}

#[test]
fn threads_begin_their_operations_in_turn() {
    let steps = some_steps(5);
    let mut latencies = Some(Latencies::default());
    let timing = Timing::of(&mut latencies, Some(Schedule::of(400, 3, 4)));
    let began = std::time::Instant::now();
    let per = PerTransaction::Operations(1);
    let mut session = Recorder::holding(&steps);
    run_on(&mut session, &reads(per), &[&steps[..], &[]], timing).unwrap();
    // The last of four threads begins 7.5 ms later, and then every 10 ms.
    assert!(began.elapsed() >= Duration::from_micros(47_500));
}

#[test]
fn beginning_and_committing_belong_to_no_operation() {
    let ceremony = Duration::from_millis(40);
    let steps = some_steps(9);
    let mut session = Recorder::holding(&steps);
    session.ceremony = ceremony;
    let per = PerTransaction::Operations(4);
    let mut latencies = Latencies::default();
    let window = [&steps[..], &[]];
    let timing = Timing::EachOperation(&mut latencies);
    run_on(&mut session, &reads(per), &window, timing).unwrap();
    assert_eq!(latencies.len(), 9);
    assert!(u128::from(latencies.longest()) < ceremony.as_nanos());
}

#[test]
fn of_several_threads_beginning_belongs_to_the_first_operation_and_committing_to_the_last() {
    let ceremony = Duration::from_millis(40);
    let (steps, mut workload) = overwrites(PerTransaction::Operations(4));
    workload.threads = 2;
    let slow_of = |conflicts: Vec<usize>| {
        let mut session = Recorder::holding(&steps);
        session.ceremony = ceremony;
        session.conflicts = conflicts;
        let mut latencies = Latencies::default();
        let timing = Timing::EachOperation(&mut latencies);
        let done = run_on(&mut session, &workload, &[&steps, &[]], timing).unwrap();
        assert_eq!((latencies.len(), done.commits), (10, 3));
        let nanoseconds = u64::try_from(ceremony.as_nanos()).unwrap();
        let slower = |times: u64| latencies.longer_than(times * nanoseconds / 1000 * 999);
        [slower(1), slower(3)]
    };
    // What the system takes a thread away for makes more of them slow, and never fewer.
    let is_met = |conflicts: &[usize], slow: [usize; 2]| {
        (0..5).any(|_| {
            let found = slow_of(conflicts.to_vec());
            assert!(found[0] >= slow[0] && found[1] >= slow[1], "{found:?}");
            found == slow
        })
    };
    // Three transactions of 4, 4 and 2 operations.
    assert!(is_met(&[], [6, 0]));
    // The first commit is refused: the fourth operation bears two commits and another begin.
    assert!(is_met(&[6], [6, 1]));
    // The second operation is refused: it bears another begin.
    assert!(is_met(&[3], [7, 0]));
}

#[test]
fn of_several_threads_a_transaction_of_one_step_is_timed_from_begin_to_commit() {
    let ceremony = Duration::from_millis(40);
    let (steps, mut workload) = overwrites(PerTransaction::Operations(3));
    workload.threads = 2;
    let mut session = Recorder::holding(&steps);
    session.ceremony = ceremony;
    let mut latencies = Latencies::default();
    let timing = Timing::EachOperation(&mut latencies);
    // The last of ten steps is alone in its transaction.
    run_on(&mut session, &workload, &[&steps[..5], &steps[5..]], timing).unwrap();
    assert_eq!(latencies.len(), 10);
    assert!(u128::from(latencies.longest()) * 1001 / 1000 >= 2 * ceremony.as_nanos());
}

#[test]
fn reads_in_place_are_lent_and_never_copied() {
    let steps = some_steps(5);
    let mut session = Recorder::holding(&steps);
    let workload = workload(
        Operation::Read,
        Delivery::InPlace,
        PerTransaction::Operations(1),
    );
    let window = [&steps[..], &[]];
    run_on(&mut session, &workload, &window, Timing::Ends).unwrap();
    let expected: Vec<Call> = (1..=5).map(Call::Lend).collect();
    assert_eq!(session.calls, expected);
}

/// Page faults of this thread: a page that nobody touches is never faulted in.
fn page_faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, behind_name) = stat.rsplit_once(')').unwrap();
    let minor = behind_name.split_whitespace().nth(7);
    minor.unwrap().parse().unwrap()
}

#[test]
fn every_page_of_a_lent_value_is_touched() {
    const PAGES: u32 = 200;
    let steps = [raw(1, PAGES * 4096)];
    let mut session = Recorder::holding(&steps);
    let workload = workload(Operation::Read, Delivery::InPlace, PerTransaction::All);
    let before = page_faults();
    run_on(&mut session, &workload, &[&steps, &[]], Timing::Ends).unwrap();
    assert!(page_faults() - before >= u64::from(PAGES));
}

#[test]
fn overwrites_hand_each_key_its_own_payload() {
    let generator = generator();
    let steps = generated(&generator, (1..=30).rev());
    let mut session = Recorder::holding(&steps);
    let workload = workload(Operation::Overwrite, Delivery::Copy, PerTransaction::All);
    let window = [&steps[10..], &steps[..10]];
    run_on(&mut session, &workload, &window, Timing::Ends).unwrap();
    assert_eq!(session.calls[0], Call::Begin(Access::Write));
    let mut keys = Vec::new();
    for call in &session.calls {
        if let Call::Overwrite(key, value) = call {
            assert!(generator.matches(*key, 3, value), "key {key}");
            keys.push(*key);
        }
    }
    assert_eq!(
        keys,
        (1..=20).rev().chain((21..=30).rev()).collect::<Vec<_>>()
    );
}

#[test]
fn payloads_drawn_within_the_time_have_their_size_and_differ() {
    let mut payloads = Payloads::Timed(Vec::new());
    let mut draw = |bytes| payloads.get(0, &Step::reading(1, bytes)).to_vec();
    let drawn = [draw(100), draw(50), draw(100)];
    assert_eq!(drawn.each_ref().map(Vec::len), [100, 50, 100]);
    assert_ne!(drawn[0], drawn[2]);
    assert_ne!(drawn[0][..50], drawn[1][..]);
}

#[test]
fn a_transaction_goes_over_the_ends_of_parts() {
    let steps = some_steps(10);
    for (per, commits) in [
        (PerTransaction::All, 1),
        (PerTransaction::Operations(4), 3),
        (PerTransaction::Operations(1), 10),
    ] {
        let mut session = Recorder::holding(&steps);
        let workload = workload(Operation::Read, Delivery::Copy, per);
        let mut buffer = Buffer::with_capacity(1).unwrap();
        let mut block = Block::new(&mut session, &workload, &mut buffer, None);
        for (from, to) in [(0, 3), (3, 9), (9, 10)] {
            let part = [&steps[from..to], &[]];
            block
                .part(&part, &mut Payloads::None, &mut Timing::Ends, to == 10)
                .unwrap();
        }
        assert_eq!(block.done().commits, commits, "{per}");
        let begun = session
            .calls
            .iter()
            .filter(|c| matches!(c, Call::Begin(_)))
            .count();
        let expected = if per == PerTransaction::Operations(1) {
            0
        } else {
            commits
        };
        assert_eq!(begun as u64, expected, "{per}");
    }
}

#[test]
fn a_mix_overwrites_the_steps_that_are_marked_and_reads_the_others() {
    let generator = generator();
    let steps: Vec<RawStep> = generated(&generator, 1..=20)
        .into_iter()
        .enumerate()
        .map(|(index, raw)| match index % 4 {
            0 => raw,
            _ => doing(Action::Read, raw),
        })
        .collect();
    let mut session = Recorder::holding(&steps);
    let mut workload = workload(Operation::Mix, Delivery::Copy, PerTransaction::All);
    workload.mix = Some(stowplan_model::Mix {
        read: 3,
        overwrite: 1,
        ..Default::default()
    });
    run_on(&mut session, &workload, &[&steps, &[]], Timing::Ends).unwrap();
    let mut written = Vec::new();
    for call in &session.calls {
        if let Call::Overwrite(key, value) = call {
            assert!(generator.matches(*key, 3, value), "key {key}");
            written.push(*key);
        }
    }
    assert_eq!(written, [1, 5, 9, 13, 17]);
}

/// Steps of a mix of everything, with the sizes of a generator's values.
fn everything() -> (Vec<RawStep>, Workload) {
    let generator = generator();
    let actions = (1..=20).zip(Action::ALL.into_iter().cycle());
    let steps = actions.map(|(key, action)| {
        Step {
            key,
            bytes: u32::try_from(generator.size(key)).unwrap(),
            action,
            rows: if action == Action::Scan { 3 } else { 0 },
        }
        .encode()
    });
    let mut workload = workload(
        Operation::Mix,
        Delivery::Copy,
        PerTransaction::Operations(1),
    );
    workload.mix = Some(stowplan_model::Mix {
        read: 1,
        overwrite: 1,
        modify: 1,
        insert: 1,
        delete: 1,
        scan: 1,
    });
    (steps.collect(), workload)
}

#[test]
fn each_action_of_a_mix_is_done_and_what_is_modified_is_read_and_written_in_one_transaction() {
    let (steps, workload) = everything();
    let mut session = Recorder::holding(&steps);
    let window = [&steps[..6], &[]];
    let done = run_on(&mut session, &workload, &window, Timing::Ends).unwrap();
    let size = |key| session.sizes[&key] as u64;
    let visited = size(6) + size(7) + size(8);
    assert_eq!((done.bytes, done.commits), (visited, 6));
    let kinds: Vec<String> = session
        .calls
        .iter()
        .map(|call| format!("{call:?}").split(", ").next().unwrap().to_owned())
        .collect();
    let expected = [
        "Read(1)",
        "Overwrite(2",
        "Begin(Write)",
        "Read(3)",
        "Overwrite(3",
        "Commit",
        "Insert(4)",
        "Delete(5)",
        "Scan(6",
    ];
    assert_eq!(kinds, expected);
}

#[test]
fn a_transaction_of_a_mix_that_only_reads_says_so() {
    let (steps, mut workload) = everything();
    workload.per_transaction = PerTransaction::Operations(2);
    let reads = [steps[0], steps[5], steps[6], steps[1]];
    let mut session = Recorder::holding(&steps);
    run_on(&mut session, &workload, &[&reads, &[]], Timing::Ends).unwrap();
    let begun = session.calls.iter().filter_map(|call| match call {
        Call::Begin(access) => Some(*access),
        _ => None,
    });
    assert_eq!(begun.collect::<Vec<_>>(), [Access::Read, Access::Write]);
}

#[test]
fn a_delete_of_nothing_and_a_scan_of_nothing_are_errors() {
    let (steps, workload) = everything();
    for (index, expected) in [(4, "it is missing"), (5, "visited 0 values")] {
        let mut session = Recorder::default();
        let window = [&steps[index..=index], &[]];
        let error = run_on(&mut session, &workload, &window, Timing::Ends).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
}

#[test]
fn a_scan_in_place_touches_what_it_visits_and_copies_nothing() {
    let (steps, mut workload) = everything();
    workload.operation = Operation::Scan;
    workload.delivery = Delivery::InPlace;
    let mut session = Recorder::holding(&steps);
    let mut buffer = Buffer::with_capacity(1).unwrap();
    let mut block = Block::new(&mut session, &workload, &mut buffer, None);
    let window = [&steps[5..6], &[]];
    block
        .part(&window, &mut Payloads::None, &mut Timing::Ends, true)
        .unwrap();
    assert!(block.done().bytes > 0);
    assert!(buffer.bytes().is_empty());
}

#[test]
fn what_a_scan_visited_before_a_conflict_counts_once() {
    let (steps, mut workload) = everything();
    workload.per_transaction = PerTransaction::All;
    let mut session = Recorder::holding(&steps);
    // Of the second scan, behind `begin` and the first one.
    session.conflicts = vec![3];
    let scans = [steps[5], steps[5]];
    let done = run_on(&mut session, &workload, &[&scans, &[]], Timing::Ends).unwrap();
    let visited: usize = (6..=8).map(|key| session.sizes[&key]).sum();
    assert_eq!((done.bytes, done.conflicts), (2 * visited as u64, 1));
}

/// The steps that a conflict is tried on, and what is done to them.
fn overwrites(per: PerTransaction) -> (Vec<RawStep>, Workload) {
    let steps = generated(&generator(), 1..=10);
    (steps, workload(Operation::Overwrite, Delivery::Copy, per))
}

#[test]
fn a_conflict_undoes_a_transaction_which_begins_again_with_its_first_step() {
    // Begin, three overwrites, commit: each may be refused, in the second of four transactions.
    for refused in 6..=10 {
        let (steps, workload) = overwrites(PerTransaction::Operations(3));
        let mut session = Recorder::holding(&steps);
        session.conflicts = vec![refused];
        let mut latencies = Latencies::default();
        let timing = Timing::EachOperation(&mut latencies);
        let done = run_on(&mut session, &workload, &[&steps, &[]], timing).unwrap();
        assert_eq!((done.commits, done.conflicts), (4, 1), "call {refused}");
        assert_eq!(latencies.len(), 10, "call {refused}");
        let begun = refused > 6;
        assert_eq!(session.count(|c| *c == Call::Rollback), usize::from(begun));
        let keys = |calls: &[Call]| -> Vec<u64> {
            let key = |call: &Call| match call {
                Call::Overwrite(key, _) => Some(*key),
                _ => None,
            };
            calls.iter().filter_map(key).collect()
        };
        let again = keys(&session.calls[refused..]);
        assert_eq!(again, (4..=10).collect::<Vec<_>>(), "call {refused}");
    }
}

#[test]
fn an_operation_alone_that_is_refused_is_tried_again_and_nothing_before_it() {
    let (steps, workload) = overwrites(PerTransaction::Operations(1));
    let mut session = Recorder::holding(&steps);
    session.conflicts = vec![4, 5, 6, 9];
    let done = run_on(
        &mut session,
        &workload,
        &[&steps[..3], &steps[3..]],
        Timing::Ends,
    )
    .unwrap();
    assert_eq!((done.commits, done.conflicts), (10, 4));
    assert_eq!(session.calls.len(), 14);
    assert_eq!(
        session.count(|c| *c == Call::Rollback),
        0,
        "nothing is open"
    );
}

#[test]
fn the_conflict_of_a_transaction_that_began_in_an_earlier_part_is_an_error() {
    let (steps, workload) = overwrites(PerTransaction::All);
    let mut session = Recorder::holding(&steps);
    session.conflicts = vec![9];
    let mut buffer = Buffer::with_capacity(1).unwrap();
    let mut block = Block::new(&mut session, &workload, &mut buffer, None);
    let mut part = |steps: &[RawStep], last| {
        let window = [steps, &[]];
        let mut payloads = prepared(&window);
        block.part(&window, &mut payloads, &mut Timing::Ends, last)
    };
    part(&steps[..5], false).unwrap();
    let error = part(&steps[5..], true).unwrap_err().to_string();
    assert!(error.contains("too large to be tried again"), "{error}");
}

#[test]
fn a_block_that_was_given_up_stops_at_its_next_transaction() {
    let steps = some_steps(20);
    let mut session = Recorder::holding(&steps);
    let mut buffer = Buffer::with_capacity(1).unwrap();
    let stop = AtomicBool::new(true);
    let workload = reads(PerTransaction::Operations(1));
    let mut block = Block::new(&mut session, &workload, &mut buffer, Some(&stop));
    let window = [&steps[..], &[]];
    let ended = block.part(&window, &mut Payloads::None, &mut Timing::Ends, true);
    assert!(ended.is_err() && session.calls.is_empty());
}

#[test]
fn values_that_do_not_lie_within_their_file_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let files = stowplan_model::Payloads {
        values: directory.path().join("values"),
        offsets: directory.path().join("offsets"),
    };
    std::fs::write(&files.values, [7; 100]).unwrap();
    let steps = [doing(Action::Overwrite, raw(1, 60))];
    let window: Window<'_> = [&steps, &[]];
    for (offsets, right) in [
        (vec![40u64], true),
        (vec![41], false),
        (vec![u64::MAX], false),
    ] {
        let bytes: Vec<u8> = offsets.into_iter().flat_map(u64::to_le_bytes).collect();
        std::fs::write(&files.offsets, bytes).unwrap();
        let opened = Payloads::prepared_in(&files, super::steps(&window));
        assert_eq!(opened.is_ok(), right);
    }
    std::fs::write(&files.offsets, [0; 7]).unwrap();
    assert!(Payloads::prepared_in(&files, super::steps(&window)).is_err());
}

#[test]
fn parts_are_the_whole_of_a_block_or_it_is_refused() {
    let steps = some_steps(10);
    let window = [&steps[..4], &steps[4..]];
    let joined = |parts: Vec<Window<'_>>| -> Vec<RawStep> {
        parts.iter().flatten().copied().flatten().copied().collect()
    };
    assert_eq!(joined(parts(&window, &[3, 1, 6]).unwrap()), steps);
    assert_eq!(parts(&window, &[]).unwrap().len(), 1);
    assert!(parts(&window, &[3, 1]).is_err());
}
