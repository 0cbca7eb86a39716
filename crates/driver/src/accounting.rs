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

use crate::platform::monotonic_ns;
use crate::platform::{self, CpuClock, Rusage};
use std::marker::PhantomData;
use stowplan_model::IoCounters;

/// What a timed window cost. Times are nanoseconds; the fields are those of
/// [`stowplan_model::Measurement`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Wall time, by the monotonic clock.
    pub wall_ns: u64,
    /// Time the thread was ready but waited for a CPU, within the wall time; unknown where the
    /// system does not tell.
    pub run_delay_ns: Option<u64>,
    /// CPU time of this thread.
    pub thread_cpu_ns: u64,
    /// CPU time of the whole process.
    pub process_cpu_ns: u64,
    /// CPU time in user mode, whole process.
    pub user_ns: u64,
    /// CPU time in the kernel, whole process.
    pub system_ns: u64,
    /// Page faults served without I/O.
    pub minor_faults: u64,
    /// Page faults served with I/O.
    pub major_faults: u64,
    /// Context switches the process asked for.
    pub voluntary_switches: u64,
    /// Context switches forced on it.
    pub involuntary_switches: u64,
    /// Blocks of 512 bytes read from storage.
    pub in_blocks: u64,
    /// Blocks of 512 bytes written to storage.
    pub out_blocks: u64,
    /// Counters of `/proc/self/io`, without what the accounting itself read.
    pub io: Option<IoCounters>,
    /// Largest resident set of the process up to now, in bytes.
    pub peak_memory_bytes: Option<u64>,
}

impl Usage {
    /// As it is told to the parent.
    #[must_use]
    pub fn told(&self) -> stowplan_model::Usage {
        stowplan_model::Usage {
            run_delay_ns: self.run_delay_ns,
            thread_cpu_ns: Some(self.thread_cpu_ns),
            process_cpu_ns: Some(self.process_cpu_ns),
            user_ns: Some(self.user_ns),
            system_ns: Some(self.system_ns),
            minor_faults: Some(self.minor_faults),
            major_faults: Some(self.major_faults),
            voluntary_switches: Some(self.voluntary_switches),
            involuntary_switches: Some(self.involuntary_switches),
            in_blocks: Some(self.in_blocks),
            out_blocks: Some(self.out_blocks),
            io: self.io,
            peak_memory_bytes: self.peak_memory_bytes,
        }
    }
}

impl std::ops::AddAssign for Usage {
    /// Two windows as one; what one of them does not know, both do not.
    fn add_assign(&mut self, more: Self) {
        self.wall_ns += more.wall_ns;
        self.run_delay_ns = self.run_delay_ns.zip(more.run_delay_ns).map(|(a, b)| a + b);
        self.thread_cpu_ns += more.thread_cpu_ns;
        self.process_cpu_ns += more.process_cpu_ns;
        self.user_ns += more.user_ns;
        self.system_ns += more.system_ns;
        self.minor_faults += more.minor_faults;
        self.major_faults += more.major_faults;
        self.voluntary_switches += more.voluntary_switches;
        self.involuntary_switches += more.involuntary_switches;
        self.in_blocks += more.in_blocks;
        self.out_blocks += more.out_blocks;
        self.io = self.io.zip(more.io).map(|(a, b)| a.and(&b));
        self.peak_memory_bytes = self.peak_memory_bytes.max(more.peak_memory_bytes);
    }
}

/// Takes the readings. Belongs to the thread that made it, because the run-queue delay does.
#[derive(Debug)]
pub struct Accounting {
    run_delay: platform::RunDelay,
    io: platform::ProcessIo,
    /// A raw pointer is neither `Send` nor `Sync`.
    this_thread: PhantomData<*const ()>,
}

/// The readings at the start of a window.
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    io: Option<(IoCounters, u64)>,
    usage: Rusage,
    process_cpu_ns: u64,
    thread_cpu_ns: u64,
    wall_ns: u64,
    run_delay: Option<(u64, u64)>,
}

impl Accounting {
    /// For the calling thread. What the system does not offer stays unknown.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self {
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
        let usage = platform::rusage();
        let process_cpu_ns = platform::cpu_ns(CpuClock::Process);
        let thread_cpu_ns = platform::cpu_ns(CpuClock::Thread);
        // Fields are evaluated in the order written.
        Snapshot {
            io,
            usage,
            process_cpu_ns,
            thread_cpu_ns,
            wall_ns: monotonic_ns(),
            run_delay: self.run_delay.read(),
        }
    }

    /// Ends a window: to be called right behind the last operation.
    #[must_use]
    #[inline]
    pub fn end(&self, begin: &Snapshot) -> Usage {
        let run_delay = self.run_delay.read();
        let wall_ns = monotonic_ns();
        let thread_cpu_ns = platform::cpu_ns(CpuClock::Thread);
        let process_cpu_ns = platform::cpu_ns(CpuClock::Process);
        let usage = platform::rusage().since(&begin.usage);
        let io = self.io.read();
        let own_reads = [
            begin.io.map(|io| io.1),
            begin.run_delay.map(|delay| delay.1),
        ];
        let own_reads = || {
            own_reads
                .into_iter()
                .chain([run_delay.map(|delay| delay.1)])
                .flatten()
        };
        Usage {
            wall_ns: wall_ns - begin.wall_ns,
            run_delay_ns: begin
                .run_delay
                .zip(run_delay)
                .map(|(before, after)| after.0.saturating_sub(before.0)),
            thread_cpu_ns: thread_cpu_ns.saturating_sub(begin.thread_cpu_ns),
            process_cpu_ns: process_cpu_ns.saturating_sub(begin.process_cpu_ns),
            user_ns: usage.user_ns,
            system_ns: usage.system_ns,
            minor_faults: usage.minor_faults,
            major_faults: usage.major_faults,
            voluntary_switches: usage.voluntary_switches,
            involuntary_switches: usage.involuntary_switches,
            in_blocks: usage.in_blocks,
            out_blocks: usage.out_blocks,
            io: begin.io.zip(io).map(|(before, after)| {
                difference(
                    &after.0,
                    &before.0,
                    own_reads().count() as u64,
                    own_reads().sum(),
                )
            }),
            peak_memory_bytes: platform::peak_memory_bytes(),
        }
    }
}

/// The counters' growth, without the reads of the accounting itself.
fn difference(
    after: &IoCounters,
    before: &IoCounters,
    own_calls: u64,
    own_bytes: u64,
) -> IoCounters {
    let read_call_bytes = after.read_call_bytes.saturating_sub(before.read_call_bytes);
    let read_calls = after.read_calls.saturating_sub(before.read_calls);
    IoCounters {
        read_call_bytes: read_call_bytes.saturating_sub(own_bytes),
        write_call_bytes: after
            .write_call_bytes
            .saturating_sub(before.write_call_bytes),
        read_calls: read_calls.saturating_sub(own_calls),
        write_calls: after.write_calls.saturating_sub(before.write_calls),
        storage_read_bytes: after
            .storage_read_bytes
            .saturating_sub(before.storage_read_bytes),
        storage_write_bytes: after
            .storage_write_bytes
            .saturating_sub(before.storage_write_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;
    use std::time::{Duration, Instant};

    /// A window in which this thread does not rest.
    fn busy_window(accounting: &Accounting) -> Usage {
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
        let told = |window: &Usage| window.thread_cpu_ns + window.run_delay_ns.unwrap_or(0);
        let lost = |window: &Usage| window.wall_ns.saturating_sub(told(window));
        let windows = (0..5).map(|_| busy_window(&accounting));
        let busy = windows.min_by_key(lost).unwrap();
        let begin = accounting.begin();
        std::thread::sleep(Duration::from_millis(20));
        let asleep = accounting.end(&begin);
        assert!(busy.wall_ns >= 20_000_000 && asleep.wall_ns >= 20_000_000);
        assert!(asleep.thread_cpu_ns < 10_000_000, "{asleep:?}");
        if let Some(delay) = busy.run_delay_ns {
            assert!(delay <= busy.wall_ns);
            // Wall time is CPU time plus waiting; steal and rounding leave a rest.
            assert!(busy.thread_cpu_ns + delay > busy.wall_ns / 2, "{busy:?}");
        }
        assert!(busy.peak_memory_bytes.is_none_or(|bytes| bytes > 100_000));
    }
}
