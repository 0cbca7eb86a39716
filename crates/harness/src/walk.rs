//! What lies below a directory, and doing something to each of many things by several threads.

use crate::{HarnessError, Result};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use stowplan_dataset::tree;
use stowplan_model::Footprint;

/// Does something to each of some things, by so many threads, this one among them, and by fewer where the system
/// grants no more; each of them ends with its first error.
pub(crate) fn each_by<T: Sync>(
    threads: usize,
    things: &[T],
    act: impl Fn(&T) -> Result<()> + Sync,
) -> Result<()> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
            act(thing)?;
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let others = (1..things.len().min(threads))
            .map_while(|_| std::thread::Builder::new().spawn_scoped(scope, work).ok());
        let others: Vec<_> = others.collect();
        let own = work();
        others.into_iter().fold(own, |all, other| {
            all.and(
                other
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            )
        })
    })
}

/// What lies at `root` and below it: what it takes, and its regular files that are not empty.
pub(crate) fn below(root: &Path) -> Result<(Footprint, Vec<PathBuf>)> {
    tree::below(root, |action, path, error| {
        HarnessError::io(action, path)(error)
    })
}
