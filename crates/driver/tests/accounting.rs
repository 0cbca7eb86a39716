//! The counters of `/proc/self/io` belong to the whole process: this test has one to itself.

use std::fs::File;
use std::os::unix::fs::FileExt;
use stowplan_driver::Accounting;
use stowplan_model::IoCounters;

#[test]
fn the_reads_of_a_window_are_counted_exactly_and_those_of_the_accounting_are_not() {
    let file = File::open("/proc/self/exe").unwrap();
    let accounting = Accounting::of_this_thread();
    let empty = accounting.end(&accounting.begin());
    let begin = accounting.begin();
    for _ in 0..10 {
        file.read_exact_at(&mut [0; 100], 0).unwrap();
    }
    let reads = accounting.end(&begin);
    if let (Some(empty), Some(reads)) = (empty.usage.io, reads.usage.io) {
        assert_eq!(empty, IoCounters::default());
        assert_eq!((reads.read_calls, reads.read_call_bytes), (10, 1_000));
    }
}
