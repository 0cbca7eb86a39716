//! Counting the system calls of a block's operations: by the kernel's tracepoint where this process may
//! use it, or by `strace` around it.
//!
//! Counted are the calls of the thread that does the operations, between their first and their last:
//! what an engine's own threads do beside it is not an operation's cost.

use crate::{DriverError, platform};
use std::collections::BTreeMap;
use stowplan_model::{CallCounter, STRACE_VARIABLE, SystemCalls};

/// Counts within a block's window. A window may come in parts.
#[derive(Debug)]
pub(crate) enum CallCounting {
    /// The block is timed: nothing is counted.
    Not,
    /// By the tracepoint.
    Tracepoint(platform::CallTrace),
    /// `strace` counts; it is told where the window is.
    Strace,
    /// Nothing can: why.
    Refused(String),
}

impl CallCounting {
    /// For a block by the calling thread.
    pub(crate) fn of(counting: bool) -> Self {
        if !counting {
            return Self::Not;
        }
        if std::env::var_os(STRACE_VARIABLE).is_some() {
            return Self::Strace;
        }
        match platform::CallTrace::open() {
            Ok(trace) => Self::Tracepoint(trace),
            Err(error) => Self::Refused(format!("the tracepoint of system calls: {error}")),
        }
    }

    /// The operations begin. What is done here and in [`Self::end`] falls into the window of the
    /// other counters, so it is one system call each.
    pub(crate) fn begin(&mut self) -> Result<(), DriverError> {
        match self {
            Self::Tracepoint(trace) => trace.begin().map_err(refused)?,
            Self::Strace => platform::mark_for_strace(false),
            Self::Not | Self::Refused(_) => {}
        }
        Ok(())
    }

    /// The operations have ended.
    pub(crate) fn end(&mut self) -> Result<(), DriverError> {
        match self {
            Self::Tracepoint(trace) => trace.end().map_err(refused)?,
            Self::Strace => platform::mark_for_strace(true),
            Self::Not | Self::Refused(_) => {}
        }
        Ok(())
    }

    /// The calls that were counted (by `strace`: none, it tells the parent), and why none could be.
    pub(crate) fn found(self) -> Result<(Option<SystemCalls>, Option<String>), DriverError> {
        Ok(match self {
            Self::Tracepoint(trace) => (trace.calls().map_err(refused)?.map(named), None),
            Self::Not | Self::Strace => (None, None),
            Self::Refused(why) => (None, Some(why)),
        })
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

fn refused(error: std::io::Error) -> DriverError {
    DriverError::invalid(format!("system calls cannot be counted: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calls_of_a_window_are_counted_and_no_others() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, [7; 100]).unwrap();
        // A thread of its own: tracefs may be mounted for it.
        let counted = std::thread::spawn(move || {
            let mut counting_calls = CallCounting::of(true);
            std::fs::metadata(&path).unwrap();
            counting_calls.begin().unwrap();
            for _ in 0..3 {
                std::hint::black_box(rustix::process::getppid());
            }
            counting_calls.end().unwrap();
            std::fs::metadata(&path).unwrap();
            // The second part of the window.
            counting_calls.begin().unwrap();
            std::hint::black_box(rustix::process::getppid());
            counting_calls.end().unwrap();
            std::fs::metadata(&path).unwrap();
            counting_calls.found().unwrap()
        });
        match counted.join().unwrap() {
            (Some(calls), None) => {
                let expected = BTreeMap::from([("getppid".to_owned(), 4)]);
                assert_eq!(calls.calls, expected);
            }
            (_, why) => eprintln!("not tested: {}", why.unwrap()),
        }
    }

    #[test]
    fn nothing_is_counted_while_a_block_is_timed() {
        let mut counting_calls = CallCounting::of(false);
        counting_calls.begin().unwrap();
        counting_calls.end().unwrap();
        assert_eq!(counting_calls.found().unwrap(), (None, None));
    }
}
