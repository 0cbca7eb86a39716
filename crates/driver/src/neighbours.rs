//! Busy neighbours: threads that want the processor, and memory, beside a block. Those of a worker's own
//! process run here; a process of its own that is a neighbour does the same work ([`keep_busy`]).

use crate::{DriverError, Result};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};
use stowplan_dataset::machine::last_level_cache_bytes;
use stowplan_model::{NeighbourKind, Neighbours};

/// Words between two looks at whether to go on: 32 KiB.
const BATCH: usize = 4096;

/// What neighbours are to do.
const WAIT: u8 = 0;
const WORK: u8 = 1;
const END: u8 = 2;

/// The neighbours of a block within its own process. They end when this is dropped.
pub(crate) struct Beside {
    turn: Arc<Turn>,
    threads: Vec<JoinHandle<()>>,
}

struct Turn {
    state: AtomicU8,
    /// Where all meet that have begun to work.
    begun: Barrier,
}

impl Beside {
    /// Starts those that a workload has in the process of the worker; each has its memory and waits.
    pub(crate) fn of(neighbours: Option<Neighbours>) -> Result<Self> {
        let own = neighbours.filter(|neighbours| neighbours.kind == NeighbourKind::Threads);
        let (count, memory) = own.map_or((0, false), |own| (own.compute_threads, own.memory));
        let turn = Turn {
            state: AtomicU8::new(WAIT),
            begun: Barrier::new(count as usize + 1),
        };
        let mut beside = Self {
            turn: Arc::new(turn),
            threads: Vec::new(),
        };
        for number in 1..=count {
            let (work, turn) = (Work::of(memory)?, Arc::clone(&beside.turn));
            let thread = thread::Builder::new().spawn(move || neighbour(work, &turn));
            let thread = thread.map_err(|error| {
                DriverError::invalid(format!(
                    "cannot start thread {number} of {count} beside the block: {error}"
                ))
            })?;
            beside.threads.push(thread);
        }
        Ok(beside)
    }

    /// Has them work; all of them do once this returns.
    pub(crate) fn begin(&self) {
        self.turn_to(WORK);
        self.turn.begun.wait();
    }

    fn turn_to(&self, state: u8) {
        self.turn.state.store(state, Ordering::Release);
        for neighbour in &self.threads {
            neighbour.thread().unpark();
        }
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        self.turn_to(END);
        for thread in self.threads.drain(..) {
            // One that panicked has ended as well.
            let _ = thread.join();
        }
    }
}

/// The life of a thread beside a block.
fn neighbour(mut work: Work, turn: &Turn) {
    let is = |state| turn.state.load(Ordering::Acquire) == state;
    while is(WAIT) {
        thread::park();
    }
    if is(WORK) {
        work.batch();
        turn.begun.wait();
    }
    while is(WORK) {
        work.batch();
    }
}

/// What keeps a CPU busy.
struct Work {
    /// What is streamed through; nothing: only computing.
    memory: Vec<u64>,
    at: usize,
    number: u64,
}

impl Work {
    fn of(memory: bool) -> Result<Self> {
        let mut words = Vec::new();
        if memory {
            let cache = last_level_cache_bytes(Path::new("/"));
            let bytes = Neighbours::streamed_bytes(cache);
            let count = usize::try_from(bytes).unwrap_or(usize::MAX) / size_of::<u64>();
            words.try_reserve_exact(count).map_err(|_| {
                DriverError::invalid(format!(
                    "there is no memory for what streams through it beside the block ({} MiB each)",
                    (count * size_of::<u64>()) >> 20
                ))
            })?;
            words.resize(count, 1);
        }
        Ok(Self {
            memory: words,
            at: 0,
            number: 1,
        })
    }

    /// Computes for some microseconds, or reads and writes 32 KiB more.
    fn batch(&mut self) {
        let next = |number: u64| {
            number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1)
        };
        if self.memory.is_empty() {
            self.number = (0..BATCH).fold(self.number, |number, _| black_box(next(number)));
            return;
        }
        let end = (self.at + BATCH).min(self.memory.len());
        for word in &mut self.memory[self.at..end] {
            *word = word.wrapping_add(self.number);
        }
        self.number = next(self.number);
        self.at = if end == self.memory.len() { 0 } else { end };
        black_box(&self.memory);
    }
}

/// Keeps a CPU busy until `input` ends, and memory as well if that is asked for; says so in a line of
/// `output` once it does.
///
/// # Errors
/// There is no memory, or no thread that could wait for the end.
pub fn keep_busy(
    mut input: impl Read + Send + 'static,
    output: &mut impl Write,
    memory: bool,
) -> Result<()> {
    let mut work = Work::of(memory)?;
    let waiting = move || {
        let mut ignored = [0; 64];
        // An input that cannot be read has ended as well.
        while matches!(input.read(&mut ignored), Ok(1..)) {}
    };
    // Without the thread nothing would tell when to end.
    let waiting = thread::Builder::new().spawn(waiting);
    let waiting =
        waiting.map_err(|error| DriverError::invalid(format!("cannot start a thread: {error}")))?;
    work.batch();
    // A parent that is gone has closed the input too.
    let _ = writeln!(output, "busy").and_then(|()| output.flush());
    while !waiting.is_finished() {
        work.batch();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    fn threads(compute_threads: u32, memory: bool) -> Neighbours {
        Neighbours {
            compute_threads,
            memory,
            kind: NeighbourKind::Threads,
        }
    }

    /// CPU time of a thread that was not joined, in nanoseconds.
    fn cpu_ns(thread: &JoinHandle<()>) -> i64 {
        use std::os::unix::thread::JoinHandleExt;
        #[expect(unsafe_code, reason = "rustix has no clock of another thread")]
        // SAFETY: the thread was not joined, so its handle is valid; both calls write to what they are
        // given, and zeros are a valid `timespec`.
        let time = unsafe {
            let mut clock = 0;
            assert_eq!(
                libc::pthread_getcpuclockid(thread.as_pthread_t(), &raw mut clock),
                0
            );
            let mut time: libc::timespec = std::mem::zeroed();
            assert_eq!(libc::clock_gettime(clock, &raw mut time), 0);
            time
        };
        time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    #[test]
    fn neighbours_are_busy_from_begin_to_drop_only() {
        const BUSY_NS: i64 = 5_000_000;
        let beside = Beside::of(Some(threads(2, false))).unwrap();
        let cpu = || -> Vec<i64> { beside.threads.iter().map(cpu_ns).collect() };
        let before = cpu();
        assert_eq!(before.len(), 2);
        thread::sleep(Duration::from_millis(50));
        let waited = cpu();
        let grew = before.iter().zip(&waited).map(|(a, b)| b - a).max();
        assert!(grew < Some(BUSY_NS), "busy before the block: {grew:?} ns");
        beside.begin();
        let end = Instant::now() + Duration::from_secs(60);
        while waited.iter().zip(cpu()).any(|(a, b)| b - a < BUSY_NS) {
            assert!(
                Instant::now() < end,
                "one is not busy: {waited:?} {:?}",
                cpu()
            );
            thread::sleep(Duration::from_millis(5));
        }
        let turn = Arc::clone(&beside.turn);
        drop(beside);
        assert_eq!(Arc::strong_count(&turn), 1, "a thread still has it");
    }

    #[test]
    fn those_that_stream_have_more_memory_than_the_caches() {
        let mut work = Work::of(true).unwrap();
        let bytes = (work.memory.len() * size_of::<u64>()) as u64;
        let cache = last_level_cache_bytes(Path::new("/")).unwrap_or(0);
        assert!(bytes >= 64 << 20 && (bytes >= cache || bytes == 512 << 20));
        let batches = work.memory.len().div_ceil(BATCH);
        for _ in 0..batches {
            work.batch();
        }
        assert_eq!(work.at, 0, "from its end it goes on at its beginning");
        assert!(
            work.memory.iter().all(|word| *word != 1),
            "it left some out"
        );
    }

    #[test]
    fn a_workload_without_neighbours_and_one_with_processes_start_no_thread() {
        let processes = Neighbours {
            kind: NeighbourKind::Processes,
            ..threads(2, false)
        };
        for none in [None, Some(processes)] {
            let beside = Beside::of(none).unwrap();
            beside.begin();
            assert!(beside.threads.is_empty());
        }
    }

    #[test]
    fn a_neighbour_that_was_never_begun_ends_all_the_same() {
        let began = Instant::now();
        drop(Beside::of(Some(threads(1, false))).unwrap());
        assert!(began.elapsed() < Duration::from_secs(60));
    }

    #[test]
    fn a_process_is_busy_until_its_input_ends_and_says_so() {
        for memory in [false, true] {
            let mut output = Vec::new();
            keep_busy(&b"something"[..], &mut output, memory).unwrap();
            assert_eq!(output, b"busy\n");
        }
    }
}
