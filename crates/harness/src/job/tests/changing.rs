//! Blocks that change which keys there are, each on a store of its own.

use super::*;
use stowplan_stores::Key;

pub(super) fn mix(lab: &Lab, order: AccessOrder, mix: Mix, per: u32, steps: u64) -> Job {
    let mut job = lab.reads(BlockKind::Ratio, 0, 0, steps);
    job.workload.operation = Operation::Mix;
    job.workload.order = order;
    job.workload.mix = Some(mix);
    job.workload.per_transaction = PerTransaction::Operations(per);
    lab.drawn(job, steps)
}

pub(super) const EVERYTHING: Mix = Mix {
    read: 3,
    overwrite: 3,
    modify: 1,
    insert: 2,
    delete: 1,
    scan: 1,
};

const LIFE: Mix = Mix {
    read: 1,
    overwrite: 5,
    modify: 0,
    insert: 1,
    delete: 1,
    scan: 0,
};

pub(super) fn in_round_0(mut job: Job) -> Job {
    let Task::Measure(task) = &mut job.task else {
        panic!("it measures");
    };
    task.round = 0;
    job
}

/// The answer of a toy to a job.
pub(super) fn played(job: &Job, flaw: &str) -> Result<Measurement> {
    let mut job = job.clone();
    job.store = format!("toy:flaw={flaw}").parse().unwrap();
    job.persistent = true;
    match answered(&job)? {
        Answer::Measured(measurement) => Ok(*measurement),
        other => panic!("{other:?}"),
    }
}

pub(super) fn nothing_left(lab: &Lab) -> bool {
    fs::read_dir(lab.path("store")).unwrap().count() == 0
}

#[test]
fn deletes_empty_a_store_that_was_full_and_is_gone_afterwards() {
    for spec in [
        "sqlite",
        "sqlite:location=memory,journal=memory",
        "files:layout=tree",
        "flat",
    ] {
        let lab = Lab::new(spec);
        let mut job = lab.reads(BlockKind::Latency, 0, 0, COUNT);
        job.workload.operation = Operation::Delete;
        job.workload.order = AccessOrder::Random;
        let block = lab.measured(in_round_0(lab.drawn(job, COUNT)));
        assert_eq!((block.operations, block.bytes), (COUNT, 0), "{spec}");
        assert_eq!(block.commits, 1, "{spec}");
        assert!(nothing_left(&lab), "{spec}");
        assert_eq!(
            block.footprint.is_some(),
            !spec.contains("memory"),
            "{spec}"
        );
        assert!(block.latencies.is_empty());
    }
}

#[test]
fn mixes_of_everything_leave_what_their_steps_say() {
    for spec in [
        "sqlite:synchronous=off",
        "flat",
        "sqlite:location=memory,journal=memory",
    ] {
        let lab = Lab::new(spec);
        for order in [
            AccessOrder::Random,
            AccessOrder::Zipfian,
            AccessOrder::Latest,
        ] {
            for (per, block) in [(1, BlockKind::Latency), (7, BlockKind::Ratio)] {
                let mut job = in_round_0(mix(&lab, order, EVERYTHING, per, 44));
                let Task::Measure(task) = &mut job.task else {
                    panic!("it measures");
                };
                task.block = block;
                task.latencies = block == BlockKind::Latency;
                let measured = lab.measured(job);
                assert_eq!(measured.operations, 44, "{spec} {order}");
                let actions = if block == BlockKind::Latency { 6 } else { 0 };
                assert_eq!(measured.latencies.len(), actions, "{spec} {order}");
            }
        }
        assert!(nothing_left(&lab), "{spec}");
    }
}

#[test]
fn lives_begin_and_end_in_a_store_that_is_empty_before_and_after() {
    for spec in ["sqlite:synchronous=off", "files"] {
        let lab = Lab::new(spec);
        // More lives than the dataset has values.
        let steps = (COUNT + 3) * 8 + 4;
        let job = mix(&lab, AccessOrder::Lifecycle, LIFE, 1, steps);
        let measured = lab.measured(in_round_0(job));
        assert_eq!(measured.operations, steps, "{spec}");
        assert!(nothing_left(&lab), "{spec}");
    }
}

#[test]
fn a_table_is_made_and_dropped_once() {
    for spec in ["sqlite", "files", "redb"] {
        let lab = Lab::new(spec);
        for operation in [Operation::CreateTable, Operation::DropTable] {
            let mut job = lab.reads(BlockKind::Ratio, 0, 0, 1);
            job.workload.operation = operation;
            let block = lab.measured(lab.drawn(job, 1));
            assert_eq!(
                (block.operations, block.commits),
                (1, 1),
                "{spec}: {operation}"
            );
            assert!(block.wall_ns > 0 && block.footprint.is_none());
            assert!(nothing_left(&lab), "{spec}: {operation}");
        }
    }
}

#[test]
fn only_the_lack_of_a_table_proves_that_it_was_dropped() {
    let lab = Lab::new("flat");
    let mut job = lab.reads(BlockKind::Ratio, 0, 0, 1);
    job.workload.operation = Operation::DropTable;
    let job = lab.drawn(job, 1);
    played(&job, "none").unwrap();
    let error = played(&job, "breaks-without-table").unwrap_err();
    assert!(error.to_string().contains("by design"), "{error}");
    assert!(nothing_left(&lab));
}

#[test]
fn more_rows_per_statement_than_there_are_rows_take_no_memory() {
    let lab = Lab::new("sqlite:synchronous=off");
    let mut job = lab.writes(0, 0, COUNT);
    job.workload.operation = Operation::Insert;
    job.workload.rows_per_statement = Some(u32::MAX);
    let block = lab.measured(in_round_0(lab.drawn(job, COUNT)));
    assert_eq!((block.operations, block.commits), (COUNT, 1));
}

#[test]
fn a_store_that_loses_what_it_was_told_is_caught_and_nothing_is_left() {
    let lab = Lab::new("flat");
    let job = || in_round_0(mix(&lab, AccessOrder::Random, EVERYTHING, 1, 44));
    for (flaw, message) in [
        ("loses-deletes", "it was deleted and is still there"),
        ("loses-overwrites", "its bytes are not those of version 1"),
        ("deletes-two", "is missing"),
        ("commits-more", "transactions were to be committed"),
    ] {
        let error = played(&job(), flaw).unwrap_err().to_string();
        assert!(error.contains(message), "{flaw}: {error}");
        assert!(nothing_left(&lab), "{flaw}");
    }
    played(&job(), "none").unwrap();
}

#[test]
fn a_store_that_forgets_at_closing_is_caught_by_opening_it_again() {
    let lab = Lab::new("flat");
    for threads in [1, 3] {
        let mut job = in_round_0(mix(&lab, AccessOrder::Random, EVERYTHING, 1, 44));
        job.workload.threads = threads;
        let error = played(&job, "forgets-at-closing").unwrap_err();
        assert!(error.to_string().contains("is missing"), "{error}");
        assert!(nothing_left(&lab));
    }
}

#[test]
fn overwrites_that_nobody_else_checks_are_read_back_after_closing() {
    let lab = Lab::new("flat");
    let cases = [
        ("none", 1),
        ("none", 3),
        ("forgets-at-closing", 1),
        ("forgets-at-closing", 3),
    ];
    for (flaw, threads) in cases {
        let toy = toy::resolve(&format!("toy:flaw={flaw}").parse().unwrap()).unwrap();
        let store = toy.kind.create(&lab.path("store"), &toy.settings).unwrap();
        let mut session = store.connect().unwrap();
        for key in 1..=COUNT {
            session.insert(Key(key), lab.dataset.value(key)).unwrap();
        }
        // This is what it forgets now.
        session.insert(Key(COUNT + 1), b"the last").unwrap();
        drop(session);
        drop(store);
        let mut job = lab.writes(0, 4, COUNT - 4);
        job.workload.threads = threads;
        job.paths.dataset = None;
        job.paths.versions = None;
        match (flaw, played(&job, flaw)) {
            ("none", done) => assert!(done.is_ok(), "{threads}: {done:?}"),
            (_, done) => {
                let error = done.unwrap_err().to_string();
                assert!(error.contains("40 is damaged: it is missing"), "{error}");
            }
        }
    }
}

#[test]
fn a_sequence_drawn_for_another_workload_is_refused() {
    let lab = Lab::built("flat");
    let mut job = lab.reads(BlockKind::Ratio, 0, 0, 5);
    job.workload.operation = Operation::Overwrite;
    let message = failure(job);
    assert!(message.contains("a step that is a read"), "{message}");
}

#[test]
fn draining_counts_what_it_sends_to_storage() {
    let lab = Lab::built("sqlite:journal=wal,synchronous=off");
    let written = lab.measured(lab.writes(0, 0, 40));
    assert!(written.drain_write_bytes.is_some());
    let read = lab.measured(lab.reads(BlockKind::Ratio, 0, 0, 40));
    assert_eq!(read.drain_write_bytes, None);
}
