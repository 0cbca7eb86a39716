//! Commits of several threads that share a sync.

use parking_lot::{Condvar, Mutex};
use std::io;

/// Which commits wait for a sync, in the order in which they came.
#[derive(Default)]
pub(super) struct Commits {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// Commits that have written what they have to write.
    written: u64,
    /// How many of them a sync covered that began after they had.
    synced: u64,
    /// One thread syncs; those that come meanwhile need the next one.
    syncing: bool,
}

impl Commits {
    /// Returns when a `sync` has succeeded that began after this call; it is the caller's own, or that of
    /// another thread, for all that wait.
    pub(super) fn wait_for(&self, sync: impl Fn() -> io::Result<()>) -> io::Result<()> {
        let mut state = self.state.lock();
        state.written += 1;
        let own = state.written;
        while state.synced < own {
            if state.syncing {
                self.ended.wait(&mut state);
                continue;
            }
            state.syncing = true;
            let covered = state.written;
            drop(state);
            let synced = sync();
            state = self.state.lock();
            state.syncing = false;
            self.ended.notify_all();
            synced?;
            state.synced = covered;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn no_commit_returns_before_a_sync_that_began_after_it_was_written() {
        const THREADS: u64 = 8;
        const COMMITS: u64 = 50;
        let commits = Commits::default();
        let (written, safe, syncs) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let sync = || {
            let covered = written.load(SeqCst);
            thread::sleep(Duration::from_micros(200));
            safe.fetch_max(covered, SeqCst);
            syncs.fetch_add(1, SeqCst);
            Ok(())
        };
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..COMMITS {
                        let own = written.fetch_add(1, SeqCst) + 1;
                        commits.wait_for(sync).unwrap();
                        assert!(safe.load(SeqCst) >= own);
                    }
                });
            }
        });
        let syncs = syncs.into_inner();
        assert!(
            (COMMITS..THREADS * COMMITS).contains(&syncs),
            "{syncs} syncs"
        );
    }

    #[test]
    fn a_sync_that_fails_is_told_and_the_next_commit_syncs_again() {
        let commits = Commits::default();
        let failing = || Err(io::Error::from(io::ErrorKind::StorageFull));
        assert!(commits.wait_for(failing).is_err());
        commits.wait_for(|| Ok(())).unwrap();
        let state = commits.state.lock();
        assert_eq!((state.synced, state.syncing), (2, false));
    }
}
