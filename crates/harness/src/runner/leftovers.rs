//! What a run left behind where it was broken off.

use super::Resumption;
use crate::Result;
use crate::disk::WorkDirectory;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long workers of a run that was killed may take to notice.
const ORPHANS_END: Duration = Duration::from_secs(20);

impl Resumption {
    /// Removes what the run left behind, in the directory `beside` its result and where its record says that it
    /// worked, as far as a run made it and none works in it: the record may be a copy. `told` hears of each directory
    /// before: after a run was asked to keep it, somebody may want it.
    ///
    /// # Errors
    /// A run works in it, something in it is not of a run, or it cannot be removed.
    pub fn remove_leftovers(&self, beside: &Path, told: &mut dyn FnMut(&Path)) -> Result<()> {
        let named = self.work().into_iter().chain([beside]);
        for work in named.chain(self.named_directories()) {
            WorkDirectory::remove_unbegun(work);
            if work.symlink_metadata().is_err() {
                continue;
            }
            let left = WorkDirectory::left_behind(work)?;
            if self.is_complete() && left.is_kept() {
                continue;
            }
            told(work);
            let until = Instant::now() + ORPHANS_END;
            while work.symlink_metadata().is_ok() {
                match left.remove() {
                    Ok(()) => break,
                    // A worker that outlived the run has just made something in it.
                    Err(error) if error.is_refusal() && Instant::now() < until => {
                        sleep(Duration::from_millis(100));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
