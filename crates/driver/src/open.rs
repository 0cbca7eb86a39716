//! A store while it is open.

use crate::Result;
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Session, Store};

/// The store of a session, which is open.
pub(crate) struct Open<'s> {
    pub(crate) store: &'s dyn Store,
    pub(crate) resolved: &'s Resolved,
    pub(crate) session: Option<Box<dyn Session + 's>>,
}

impl<'s> Open<'s> {
    /// One of this thread, opened when it is first needed.
    pub(crate) fn session(&mut self) -> Result<&mut Box<dyn Session + 's>> {
        let session = &mut self.session;
        Ok(match session {
            Some(session) => session,
            None => session.insert(self.store.connect()?),
        })
    }

    /// Whether the data is there once the store is closed.
    pub(crate) fn lasts(&self) -> bool {
        self.resolved.capabilities.persistent
    }
}
