//! Blocks of several threads.

use super::changing::{EVERYTHING, in_round_0, mix, nothing_left, played};
use super::*;

fn by(threads: u32, mut job: Job) -> Job {
    job.workload.threads = threads;
    job
}

const READS_AND_WRITES: Mix = Mix {
    read: 1,
    overwrite: 3,
    modify: 0,
    insert: 0,
    delete: 0,
    scan: 0,
};

#[test]
fn several_threads_do_together_what_one_would() {
    for spec in ["files", "sqlite:journal=wal,synchronous=off"] {
        let lab = Lab::built(spec);
        let job = by(3, lab.reads(BlockKind::Latency, 0, 5, 30));
        let read = lab.measured(job);
        assert_eq!(
            (read.operations, read.lead_in_operations),
            (30, 5),
            "{spec}"
        );
        assert_eq!(read.bytes, lab.bytes(6..=35), "{spec}");
        assert_eq!((read.commits, read.run_delay_ns), (3, None), "{spec}");
        let text = base64::engine::general_purpose::STANDARD.decode(read.latency.unwrap());
        let histogram: Histogram<u64> = Deserializer::new()
            .deserialize(&mut &text.unwrap()[..])
            .unwrap();
        assert_eq!(histogram.len(), 30);
        assert!(read.wall_ns > 0 && read.thread_cpu_ns > 0);

        let mut job = lab.writes(0, 4, 30);
        job.workload.per_transaction = PerTransaction::Operations(2);
        let written = lab.measured(by(4, job));
        assert_eq!((written.operations, written.commits), (30, 15), "{spec}");
        assert!(written.outside.drain_ns > 0);
        assert_eq!(lab.overwritten(), 34, "{spec}");
    }
}

#[test]
fn writers_that_wait_for_each_other_meet_between_parts_with_no_transaction_open() {
    let lab = Lab::built("redb");
    for per in [
        PerTransaction::Operations(7),
        PerTransaction::Operations(1),
        PerTransaction::All,
    ] {
        let mut job = lab.reads(BlockKind::Ratio, 0, 0, 600);
        job.workload.operation = Operation::Overwrite;
        job.workload.order = AccessOrder::Uniform;
        job.workload.per_transaction = per;
        // Of three threads, one has fewer parts than the others.
        let written = lab.measured(by(3, lab.drawn(job, 600)));
        assert_eq!(written.operations, 600, "{per}");
        assert!(lab.overwritten() > 0, "{per}");
    }
}

#[test]
fn values_that_several_threads_overwrite_have_the_version_of_the_last_one() {
    // Without a rename, one thread finds a file that another has just emptied.
    for spec in ["files:write=rename", "sqlite:journal=wal,synchronous=off"] {
        let lab = Lab::built(spec);
        let job = mix(&lab, AccessOrder::Zipfian, READS_AND_WRITES, 1, 400);
        let measured = lab.measured(by(4, job));
        assert_eq!((measured.operations, measured.commits), (400, 400));
        assert!(lab.overwritten() > 0, "{spec}");
    }
}

#[test]
fn the_store_that_does_nothing_is_timed_by_several_threads() {
    let mut lab = Lab::new("flat");
    lab.spec = "null".parse().unwrap();
    let path = lab.path("sequence");
    sequence::write_steps(&path, 100, &Workload::default(), 100, 1, |_| 1).unwrap();
    let mut job = by(5, lab.reads(BlockKind::Ratio, 0, 10, 90));
    job.paths.dataset = None;
    let measurement = lab.measured(job);
    assert_eq!((measurement.operations, measurement.bytes), (90, 90));
}

#[test]
fn threads_on_a_store_of_their_own_leave_what_the_steps_say() {
    let lab = Lab::new("sqlite:journal=wal,synchronous=off");
    for order in [AccessOrder::Random, AccessOrder::Latest] {
        for per in [1, 3] {
            let job = in_round_0(mix(&lab, order, EVERYTHING, per, 44));
            let block = lab.measured(by(3, job));
            assert_eq!(block.operations, 44, "{order}, {per}");
            assert!(nothing_left(&lab));
        }
    }
    let mut job = lab.writes(0, 0, 40);
    job.workload.operation = Operation::Insert;
    job.workload.per_transaction = PerTransaction::Operations(1);
    let block = lab.measured(by(4, lab.drawn(job, 40)));
    assert_eq!((block.commits, block.counters["Commits"]), (40, 40));
}

#[test]
fn writers_in_each_others_way_try_again_until_all_is_done() {
    let lab = Lab::new("flat");
    for per in [1, 5] {
        let job = in_round_0(mix(&lab, AccessOrder::Uniform, EVERYTHING, per, 220));
        let mut conflicts = 0;
        for _ in 0..50 {
            let block = played(&by(4, job.clone()), "none").unwrap();
            assert_eq!(block.operations, 220);
            conflicts += block.conflicts;
            if conflicts > 0 {
                break;
            }
        }
        assert!(conflicts > 0, "four writers never met");
    }
}

#[test]
fn a_thread_that_fails_or_panics_ends_the_block_and_hangs_nobody() {
    let lab = Lab::new("flat");
    let job = by(
        4,
        in_round_0(mix(&lab, AccessOrder::Random, EVERYTHING, 3, 44)),
    );
    // A key that is added by the block, and by nothing before it.
    let key = COUNT + 2;
    let failed = played(&job, &format!("fails-{key}"))
        .unwrap_err()
        .to_string();
    assert!(failed.contains("by design"), "{failed}");
    let panicked = played(&job, &format!("panics-{key}"))
        .unwrap_err()
        .to_string();
    assert!(panicked.contains("panicked"), "{panicked}");
    assert!(nothing_left(&lab));
}
