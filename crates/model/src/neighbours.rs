//! Busy neighbours of a block: threads or processes that want the processor and memory while it is
//! timed, as the other work of an application does.

use crate::words::{data, words};
use std::fmt;

data! {
    /// Neighbours that are busy from before the first timed operation of a block to after the last.
    #[derive(Copy, Eq, Hash)]
    pub struct Neighbours {
        /// How many, each with one thread; 0: none, where the comparison has some.
        pub compute_threads: u32,
        /// Whether they stream through memory that is larger than the processor's caches; otherwise they
        /// only compute.
        pub memory: bool = default,
        /// What they are.
        #[serde(rename = "as")]
        pub kind: Kind = default,
    }
}

words! {
    /// What neighbours are.
    #[derive(Default)]
    #[cfg_attr(feature = "schema", schemars(rename = "NeighbourKind"))]
    pub enum Kind {
        /// Threads of the process that is measured.
        #[default]
        Threads = "threads",
        /// Processes of their own.
        Processes = "processes",
    }
}

impl Neighbours {
    /// The most neighbours.
    pub const MOST: u32 = 64;

    /// Bytes that each streams through that is to use memory: twice the processor's largest cache, where that
    /// is known and not beyond reason.
    pub fn streamed_bytes(largest_cache: Option<u64>) -> u64 {
        let twice = largest_cache.unwrap_or(0).saturating_mul(2);
        twice.clamp(64 << 20, 512 << 20)
    }

    /// What is wrong with them, if anything is.
    ///
    /// # Errors
    /// Too many.
    pub(crate) fn check(self) -> Result<(), String> {
        if self.compute_threads <= Self::MOST {
            return Ok(());
        }
        Err(format!(
            "beside: compute_threads must be from 0 to {}, not {}",
            Self::MOST,
            self.compute_threads
        ))
    }
}

impl fmt::Display for Neighbours {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match (self.kind, self.compute_threads) {
            (Kind::Threads, 1) => "thread",
            (Kind::Threads, _) => "threads",
            (Kind::Processes, 1) => "process",
            (Kind::Processes, _) => "processes",
        };
        let does = match (self.memory, self.compute_threads) {
            (false, 1) => "computes",
            (false, _) => "compute",
            (true, 1) => "streams through memory",
            (true, _) => "stream through memory",
        };
        write!(f, "{} {what} that {does}", self.compute_threads)
    }
}
