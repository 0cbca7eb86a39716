//! An engine that the connections of a store share: opened for the first of them, closed with the
//! last. An engine that stayed open in between would keep what it has cached or mapped, so that
//! its files could not be made cold.

use crate::Result;
use parking_lot::Mutex;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::{Arc, Weak};

/// An engine that is open while there are connections. See the module.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Weak<T>>);

/// The engine, lent to one connection. If this is dropped instead of given back, and was the last,
/// the engine is dropped before another can be opened; it then has nobody to tell its errors.
#[derive(Debug)]
pub struct Lent<'s, T> {
    shared: &'s Shared<T>,
    /// There until this is dropped or given back.
    engine: ManuallyDrop<Arc<T>>,
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Shared<T> {
    /// Nothing is open.
    #[must_use]
    pub fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    /// The engine that is open, or else a newly opened one.
    ///
    /// # Errors
    /// Those of `open`.
    pub fn get(&self, open: impl FnOnce() -> Result<T>) -> Result<Lent<'_, T>> {
        let mut slot = self.0.lock();
        if let Some(engine) = slot.upgrade() {
            return Ok(self.lent(engine));
        }
        let engine = Arc::new(open()?);
        *slot = Arc::downgrade(&engine);
        Ok(self.lent(engine))
    }

    /// The engine, if it is open.
    pub(crate) fn opened(&self) -> Option<Lent<'_, T>> {
        let engine = self.0.lock().upgrade()?;
        Some(self.lent(engine))
    }

    /// Takes it back from one connection; from the last, closes it, before another can be opened.
    ///
    /// # Errors
    /// Those of `close`.
    pub fn give_back(
        &self,
        engine: Lent<'_, T>,
        close: impl FnOnce(T) -> Result<()>,
    ) -> Result<()> {
        let _slot = self.0.lock();
        Arc::into_inner(engine.into_engine()).map_or(Ok(()), close)
    }

    fn lent(&self, engine: Arc<T>) -> Lent<'_, T> {
        Lent {
            shared: self,
            engine: ManuallyDrop::new(engine),
        }
    }
}

impl<T> Lent<'_, T> {
    /// Runs `work` if no other connection has the engine, and keeps others from getting it
    /// meanwhile. `work` must not get or give back one itself.
    pub fn alone<R>(&self, work: impl FnOnce() -> R) -> Option<R> {
        let _slot = self.shared.0.lock();
        (Arc::strong_count(&self.engine) == 1).then(work)
    }

    #[expect(unsafe_code, reason = "the engine leaves something that has a drop")]
    fn into_engine(self) -> Arc<T> {
        let mut lent = ManuallyDrop::new(self);
        // SAFETY: this was not dropped, and is neither used nor dropped from here on.
        unsafe { ManuallyDrop::take(&mut lent.engine) }
    }
}

impl<T> Deref for Lent<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.engine
    }
}

impl<T> Drop for Lent<'_, T> {
    #[expect(unsafe_code, reason = "the engine is dropped while the slot is locked")]
    fn drop(&mut self) {
        let _slot = self.shared.0.lock();
        // SAFETY: this is dropped once, and then not used.
        unsafe { ManuallyDrop::drop(&mut self.engine) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::time::Duration;

    #[test]
    fn the_first_opens_and_the_last_closes() {
        let shared = Shared::new();
        let (opened, closed) = (Cell::new(0), Cell::new(0));
        let get = || {
            shared.get(|| {
                opened.set(opened.get() + 1);
                Ok(())
            })
        };
        let give_back = |engine| {
            shared.give_back(engine, |()| {
                closed.set(closed.get() + 1);
                Ok(())
            })
        };
        let (one, two) = (get().unwrap(), get().unwrap());
        give_back(one).unwrap();
        assert_eq!((opened.get(), closed.get()), (1, 0));
        give_back(two).unwrap();
        assert_eq!((opened.get(), closed.get()), (1, 1));
        give_back(get().unwrap()).unwrap();
        assert_eq!((opened.get(), closed.get()), (2, 2));
    }

    /// An engine that counts how many of it are open, and takes its time to close.
    struct Slow<'c>(&'c AtomicUsize);

    impl Drop for Slow<'_> {
        fn drop(&mut self) {
            std::thread::sleep(Duration::from_micros(200));
            self.0.fetch_sub(1, SeqCst);
        }
    }

    #[test]
    fn one_that_is_dropped_is_closed_before_another_opens() {
        let open = AtomicUsize::new(0);
        let shared = Shared::new();
        let connect_and_drop = || {
            for _ in 0..100 {
                let lent = shared.get(|| {
                    assert_eq!(open.fetch_add(1, SeqCst), 0);
                    Ok(Slow(&open))
                });
                drop(lent.unwrap());
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(connect_and_drop);
            }
        });
        assert_eq!(open.load(SeqCst), 0);
    }

    #[test]
    fn only_one_that_is_alone_works_alone() {
        let shared = Shared::new();
        let one = shared.get(|| Ok(())).unwrap();
        assert_eq!(one.alone(|| 1), Some(1));
        let two = shared.get(|| Ok(())).unwrap();
        assert_eq!((one.alone(|| 1), two.alone(|| 2)), (None, None));
        drop(one);
        assert_eq!(two.alone(|| 2), Some(2));
    }
}
