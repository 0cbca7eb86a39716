//! What a block cost: time, CPU, faults, switches, I/O.
//!
//! The readings nest, so that the wall time holds the operations, two readings of the run-queue
//! delay (about 1 µs each) and nothing else:
//!
//! ```text
//! counters, CPU clocks, wall clock, run-queue delay | operations | run-queue delay, wall clock, …
//! ```
//!
//! The delay lies inside the wall time, hence can never exceed it (METHOD R7).

use crate::platform::{self, CpuClock, monotonic_ns};
use std::marker::PhantomData;
use stowplan_model::{IoCounters, Usage};

/// What a timed window cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Wall time in nanoseconds, by the monotonic clock.
    pub wall_ns: u64,
    /// The rest, of which `io` is without what the accounting itself read.
    pub usage: Usage,
}

impl Cost {
    /// Two windows as one.
    #[must_use]
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            wall_ns: self.wall_ns + other.wall_ns,
            usage: self.usage.and(other.usage),
        }
    }
}

/// Takes the readings. Belongs to the thread that made it, because the run-queue delay does.
#[derive(Debug)]
pub struct Accounting {
    /// Of whose work the processor's time and the like are.
    whose: CpuClock,
    run_delay: platform::RunDelay,
    io: platform::ProcessIo,
    /// A raw pointer is neither `Send` nor `Sync`.
    this_thread: PhantomData<*const ()>,
}

/// The readings at the start of a window. Those that cost a read come with its bytes.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    io: Option<(IoCounters, u64)>,
    usage: Usage,
    wall_ns: u64,
    run_delay: Option<(u64, u64)>,
}

impl Accounting {
    /// For the calling thread. What the system does not offer stays unknown.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self::of(CpuClock::Process)
    }

    /// For the calling thread, without the CPU time of the process's other threads.
    pub(crate) fn of_this_thread_alone() -> Self {
        Self::of(CpuClock::Thread)
    }

    fn of(whose: CpuClock) -> Self {
        Self {
            whose,
            run_delay: platform::RunDelay::of_this_thread(),
            io: platform::ProcessIo::open(),
            this_thread: PhantomData,
        }
    }

    /// Begins a window; the operations follow at once.
    #[must_use]
    #[inline]
    pub fn begin(&self) -> Snapshot {
        let io = self.io.read();
        let mut usage = platform::rusage(self.whose);
        usage.process_cpu_ns = platform::cpu_ns(self.whose);
        usage.thread_cpu_ns = platform::cpu_ns(CpuClock::Thread);
        // Fields are evaluated in the order written.
        Snapshot {
            io,
            usage,
            wall_ns: monotonic_ns(),
            run_delay: self.run_delay.read(),
        }
    }

    /// Ends a window: to be called right behind the last operation.
    #[must_use]
    #[inline]
    pub fn end(&self, begin: &Snapshot) -> Cost {
        let run_delay = self.run_delay.read();
        let wall_ns = monotonic_ns();
        let thread_cpu_ns = platform::cpu_ns(CpuClock::Thread);
        let process_cpu_ns = platform::cpu_ns(self.whose);
        let usage = Usage {
            thread_cpu_ns,
            process_cpu_ns,
            ..platform::rusage(self.whose)
        };
        let io = self.io.read();
        let delays = begin.run_delay.zip(run_delay);
        let own_reads = [begin.run_delay, run_delay].into_iter().flatten();
        let own_reads: Vec<u64> = own_reads
            .map(|(_, bytes)| bytes)
            .chain(begin.io.map(|(_, bytes)| bytes))
            .collect();
        Cost {
            wall_ns: wall_ns - begin.wall_ns,
            usage: Usage {
                run_delay_ns: delays.map(|(before, after)| after.0.saturating_sub(before.0)),
                io: begin
                    .io
                    .zip(io)
                    .map(|(before, after)| without_reads(after.0.since(&before.0), &own_reads)),
                peak_memory_bytes: platform::peak_memory_bytes(),
                ..usage.since(begin.usage)
            },
        }
    }
}

/// The counters without reads of so many bytes each.
fn without_reads(io: IoCounters, reads: &[u64]) -> IoCounters {
    IoCounters {
        read_calls: io.read_calls.saturating_sub(reads.len() as u64),
        read_call_bytes: io.read_call_bytes.saturating_sub(reads.iter().sum()),
        ..io
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::hint::black_box;
    use std::os::unix::fs::FileExt;
    use std::process::Command;
    use std::time::{Duration, Instant};

    /// A window in which this thread does not rest.
    fn busy_window(accounting: &Accounting) -> Cost {
        let begin = accounting.begin();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(20) {
            black_box(());
        }
        accounting.end(&begin)
    }

    #[test]
    fn busy_time_is_cpu_time_and_sleep_is_not() {
        let accounting = Accounting::of_this_thread();
        // What a host gives to other machines is neither: the window that lost least to them.
        let cpu = |cost: &Cost| cost.usage.thread_cpu_ns.unwrap_or(0);
        let told = |cost: &Cost| cpu(cost) + cost.usage.run_delay_ns.unwrap_or(0);
        let lost = |cost: &Cost| cost.wall_ns.saturating_sub(told(cost));
        let windows = (0..5).map(|_| busy_window(&accounting));
        let busy = windows.min_by_key(lost).unwrap();
        let begin = accounting.begin();
        std::thread::sleep(Duration::from_millis(20));
        let asleep = accounting.end(&begin);
        assert!(busy.wall_ns >= 20_000_000 && asleep.wall_ns >= 20_000_000);
        assert!(cpu(&asleep) < 10_000_000, "{asleep:?}");
        if let Some(delay) = busy.usage.run_delay_ns {
            assert!(delay <= busy.wall_ns);
            // Wall time is CPU time plus waiting; steal and rounding leave a rest.
            assert!(cpu(&busy) + delay > busy.wall_ns / 2, "{busy:?}");
        }
        assert!(
            busy.usage
                .peak_memory_bytes
                .is_none_or(|bytes| bytes > 100_000)
        );
    }

    /// Set where the test has a process to itself, to whose counters nobody else adds.
    const ALONE: &str = "STOWPLAN_TEST_ALONE";

    #[test]
    fn the_reads_of_a_window_are_counted_exactly_and_those_of_the_accounting_are_not() {
        if std::env::var_os(ALONE).is_none() {
            let mut again = Command::new(std::env::current_exe().unwrap());
            again.args(["the_reads_of_a_window", "--test-threads=1"]);
            let run = again.env(ALONE, "").output().unwrap();
            let told = String::from_utf8_lossy(&run.stdout);
            assert!(told.contains("1 passed"), "{told}");
            return;
        }
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
}
