//! What lies below a directory, and doing something to each of many things by several threads.

use crate::{HarnessError, Result};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// What lies at `root` and below it: what it takes, and its regular files that are not empty. Links
/// count as themselves and are not followed; what vanishes meanwhile is passed over.
pub(crate) fn below(root: &Path) -> Result<(Footprint, Vec<PathBuf>)> {
    let (mut sum, mut files) = (Footprint::default(), Vec::new());
    let mut pending = vec![root.to_owned()];
    while let Some(path) = pending.pop() {
        let found = match path.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound && path != root => continue,
            found => found.map_err(HarnessError::io("look at", &path))?,
        };
        // In units of 512 bytes, whatever the file system's block size (POSIX, stat.h).
        sum.allocated_bytes += found.blocks() * 512;
        if found.is_dir() {
            sum.directories += 1;
            let entries = std::fs::read_dir(&path).map_err(HarnessError::io("list", &path))?;
            pending.extend(entries.flatten().map(|entry| entry.path()));
            continue;
        }
        sum.files += 1;
        sum.apparent_bytes += found.len();
        if found.is_file() && found.len() > 0 {
            files.push(path);
        }
    }
    Ok((sum, files))
}
