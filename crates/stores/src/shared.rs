//! An engine that the connections of a store share: opened for the first of them, closed with the
//! last. An engine that stayed open in between would keep what it has cached or mapped, so that
//! its files could not be made cold.

use crate::Result;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// An engine that is open while there are connections. See the module.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Weak<T>>);

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
    pub fn get(&self, open: impl FnOnce() -> Result<T>) -> Result<Arc<T>> {
        let mut slot = self.lock();
        if let Some(engine) = slot.upgrade() {
            return Ok(engine);
        }
        let engine = Arc::new(open()?);
        *slot = Arc::downgrade(&engine);
        Ok(engine)
    }

    /// The engine, if it is open.
    pub(crate) fn opened(&self) -> Option<Arc<T>> {
        self.lock().upgrade()
    }

    /// Takes it back from one connection; from the last, closes it, before another can be opened.
    ///
    /// # Errors
    /// Those of `close`.
    pub fn give_back(&self, engine: Arc<T>, close: impl FnOnce(T) -> Result<()>) -> Result<()> {
        let _slot = self.lock();
        Arc::into_inner(engine).map_or(Ok(()), close)
    }

    /// The slot only ever changes as a whole, so one that a panic left is sound.
    fn lock(&self) -> MutexGuard<'_, Weak<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

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
}
