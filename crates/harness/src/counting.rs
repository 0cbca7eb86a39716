//! Counting what a block does, in a pass of its own that is never timed: system calls by name,
//! requests to the device. By the kernel's tracepoints where this process may use them, else by
//! `strace` around the worker.
//!
//! Counted are the calls of the thread that does the operations, between their first and their last:
//! what an engine's own threads do beside it is not an operation's cost.

mod strace;

use crate::environment::device_counters;
use crate::{HarnessError, platform};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stowplan_model::{BlockKind, CallCounter, DeviceCounters, SystemCalls};

pub(crate) use strace::calls_in;

/// What a worker is told by, in its environment, that `strace` looks on.
pub(crate) const LOOKED_ON: &str = "STOWPLAN_STRACE";

/// The most operations of a counting block: enough that what happens once in a while shows, few
/// enough for `strace`, which takes 0.1 ms a call.
const MOST_OPERATIONS: u64 = 1_000;

/// By what the system calls of workers are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Counter {
    /// The kernel's tracepoint, in the worker itself.
    Tracepoint,
    /// The program `strace`, around the worker.
    Strace(PathBuf),
    /// Nothing; why, and how to allow it.
    Missing(String),
}

impl Counter {
    /// The best that this process may use. Tries it, on a thread of its own: a mount namespace that
    /// this takes would be the whole process' otherwise.
    pub(crate) fn find() -> Self {
        let tried = std::thread::spawn(|| platform::CallTrace::open().map(drop)).join();
        let refused = match tried {
            Ok(Ok(())) => return Self::Tracepoint,
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it could not be tried".to_owned(),
        };
        match on_path("strace").map(|program| try_strace(&program).map(|()| program)) {
            Some(Ok(program)) => Self::Strace(program),
            tried => Self::Missing(format!(
                "the tracepoint of system calls: {refused}; strace: {}",
                tried
                    .and_then(Result::err)
                    .unwrap_or_else(|| "not installed".to_owned())
            )),
        }
    }
}

/// Whether it may trace anything here.
fn try_strace(program: &Path) -> Result<(), String> {
    let mut trial = std::process::Command::new(program);
    trial.args(["-f", "-qq", "-o", "/dev/null", "true"]);
    let done = trial.stdin(std::process::Stdio::null()).output();
    let done = done.map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    let first = said.lines().find(|line| !line.trim().is_empty());
    Err(first.unwrap_or("it fails without a word").to_owned())
}

/// Where a program is that a shell would find.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| {
            file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
        })
}

/// How many operations a counting block has at most whose values have so many bytes on average: a
/// store may take a call for each page of a value, and so many calls are kept.
pub(crate) fn most_operations(mean_bytes: u64) -> u64 {
    const SMALLEST_PAGE: u64 = 512;
    const BESIDES: u64 = 20;
    let calls = mean_bytes / SMALLEST_PAGE + BESIDES;
    (platform::MOST_CALLS / calls).clamp(10, MOST_OPERATIONS)
}

/// Counts in the worker, within a block's window. A window may come in parts.
#[derive(Debug)]
pub(crate) struct Tally {
    how: How,
    device: DeviceWindow,
}

#[derive(Debug)]
enum How {
    /// The block is timed: nothing is counted.
    Not,
    /// By the tracepoint.
    Tracepoint(platform::CallTrace),
    /// `strace` counts; it is told where the window is.
    Strace,
    /// Only the device is looked at.
    DeviceOnly,
}

impl Tally {
    /// Of a block that is timed.
    pub(crate) fn none() -> Self {
        Self {
            how: How::Not,
            device: DeviceWindow::default(),
        }
    }

    /// For a block of this kind over data in `place`, by the calling thread.
    pub(crate) fn of(kind: BlockKind, place: &Path) -> Self {
        if kind != BlockKind::Counting {
            return Self::none();
        }
        let how = if std::env::var_os(LOOKED_ON).is_some() {
            How::Strace
        } else {
            match platform::CallTrace::open() {
                Ok(trace) => How::Tracepoint(trace),
                // The parent knows why, and says it.
                Err(_) => How::DeviceOnly,
            }
        };
        Self {
            how,
            device: DeviceWindow {
                place: place.to_owned(),
                ..DeviceWindow::default()
            },
        }
    }

    /// Looks at the device before a part of the window.
    pub(crate) fn look(&mut self) {
        if !matches!(self.how, How::Not) {
            self.device.begin();
        }
    }

    /// Looks at it afterwards.
    pub(crate) fn look_again(&mut self) {
        if !matches!(self.how, How::Not) {
            self.device.end();
        }
    }

    /// The operations begin. What is done here and in [`Self::end`] falls into the window of the
    /// other counters, so it is one system call each.
    pub(crate) fn begin(&mut self) -> Result<(), HarnessError> {
        match &self.how {
            How::Tracepoint(trace) => trace.begin().map_err(refused)?,
            How::Strace => platform::mark_for_strace(false),
            How::Not | How::DeviceOnly => {}
        }
        Ok(())
    }

    /// The operations have ended.
    pub(crate) fn end(&mut self) -> Result<(), HarnessError> {
        match &mut self.how {
            How::Tracepoint(trace) => trace.end().map_err(refused)?,
            How::Strace => platform::mark_for_strace(true),
            How::Not | How::DeviceOnly => {}
        }
        Ok(())
    }

    /// What was counted: system calls (by `strace`: nothing, it tells the parent), the device.
    pub(crate) fn found(
        self,
    ) -> Result<(Option<SystemCalls>, Option<DeviceCounters>), HarnessError> {
        let calls = match self.how {
            How::Tracepoint(trace) => trace.calls().map_err(refused)?.map(named),
            How::Not | How::Strace | How::DeviceOnly => None,
        };
        Ok((calls, self.device.grown))
    }
}

fn named(calls: BTreeMap<u64, u64>) -> SystemCalls {
    let calls = calls.into_iter();
    SystemCalls {
        by: CallCounter::Tracepoint,
        calls: calls
            .map(|(number, count)| (platform::call_name(number), count))
            .collect(),
    }
}

/// What the device below the data does.
#[derive(Debug, Default)]
struct DeviceWindow {
    place: PathBuf,
    before: Option<DeviceCounters>,
    grown: Option<DeviceCounters>,
}

impl DeviceWindow {
    fn begin(&mut self) {
        self.before = device_counters(&self.place);
    }

    fn end(&mut self) {
        let Some((before, after)) = self.before.take().zip(device_counters(&self.place)) else {
            return;
        };
        let so_far = self.grown.take().unwrap_or_default();
        let total = |field: fn(&DeviceCounters) -> u64| {
            field(&so_far) + field(&after).saturating_sub(field(&before))
        };
        let flushes = after.flushes.zip(before.flushes);
        let flushes = flushes.map(|(after, before)| after.saturating_sub(before));
        self.grown = Some(DeviceCounters {
            reads: total(|d| d.reads),
            read_bytes: total(|d| d.read_bytes),
            writes: total(|d| d.writes),
            written_bytes: total(|d| d.written_bytes),
            flushes: flushes.map(|flushes| flushes + so_far.flushes.unwrap_or(0)),
            device: after.device,
        });
    }
}

fn refused(error: std::io::Error) -> HarnessError {
    HarnessError::invalid(format!("system calls cannot be counted: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counting_block_of_large_values_is_shorter_so_that_no_call_is_lost() {
        assert_eq!(most_operations(10_000), 1_000);
        assert!(most_operations(1 << 20) < 40);
        assert_eq!(most_operations(u64::MAX), 10);
    }

    #[test]
    fn the_calls_of_a_window_are_counted_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, [7; 100]).unwrap();
        // A thread of its own: tracefs may be mounted for it.
        let counted = std::thread::spawn(move || {
            let mut tally = Tally::of(BlockKind::Counting, directory.path());
            std::fs::metadata(&path).unwrap();
            tally.look();
            tally.begin().unwrap();
            for _ in 0..3 {
                std::hint::black_box(rustix::process::getppid());
            }
            tally.end().unwrap();
            std::fs::metadata(&path).unwrap();
            // The second part of the window.
            tally.begin().unwrap();
            std::hint::black_box(rustix::process::getppid());
            tally.end().unwrap();
            std::fs::metadata(&path).unwrap();
            tally.found().unwrap().0
        });
        match counted.join().unwrap() {
            Some(calls) => {
                let expected = BTreeMap::from([("getppid".to_owned(), 4)]);
                assert_eq!(calls.calls, expected);
            }
            None => eprintln!("not tested: this process may not use tracepoints"),
        }
    }

    #[test]
    fn nothing_is_counted_while_a_block_is_timed() {
        for kind in [BlockKind::Ratio, BlockKind::Latency, BlockKind::Pilot] {
            let mut tally = Tally::of(kind, Path::new("/"));
            tally.begin().unwrap();
            tally.end().unwrap();
            assert_eq!(tally.found().unwrap(), (None, None));
        }
    }
}
