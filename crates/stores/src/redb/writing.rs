//! A transaction that writes, kept together with its table.
//!
//! A table of redb borrows its transaction, so a session that is called once per operation could
//! only keep the transaction and open the table each time. That takes 0.5 to 1.5 µs, about as long
//! as writing a small value: no user who has the transaction in a local variable pays it.

use super::failed;
use super::form::{Form, WriteTable};
use crate::{Result, StoreError};
use ::redb::WriteTransaction;
use std::ptr::NonNull;

pub(super) struct Writing<F: Form> {
    /// Borrows from what `transaction` points to. Never leaves this module but by reference, and
    /// is dropped first.
    table: Option<WriteTable<'static, F>>,
    /// From a box, and valid until [`Self::end`] takes it. Not a `Box`: moving one would claim
    /// that nobody else refers to what it holds.
    transaction: Option<NonNull<WriteTransaction>>,
}

#[expect(
    unsafe_code,
    reason = "a table and the transaction it borrows outlive each call of the session"
)]
impl<F: Form> Writing<F> {
    /// # Errors
    /// redb refuses to open the table.
    pub(super) fn new(transaction: WriteTransaction) -> Result<Self> {
        let place = NonNull::from(Box::leak(Box::new(transaction)));
        let mut writing = Self {
            table: None,
            transaction: Some(place),
        };
        // SAFETY: the place is valid until `end`, which drops the table before it frees the
        // place, and only shared references are made to it until then. The lifetime that is
        // claimed here leaves this module with no reference: tables are lent for shorter ones.
        let transaction: &'static WriteTransaction = unsafe { place.as_ref() };
        let table = transaction.open_table(F::TABLE);
        writing.table = Some(table.map_err(|e| failed("open the table", &e))?);
        Ok(writing)
    }

    /// # Errors
    /// None in practice: there is a table until the transaction ends.
    pub(super) fn table(&self) -> Result<&WriteTable<'static, F>> {
        self.table.as_ref().ok_or_else(ended)
    }

    /// As [`Self::table`].
    pub(super) fn table_mut(&mut self) -> Result<&mut WriteTable<'static, F>> {
        self.table.as_mut().ok_or_else(ended)
    }

    /// Closes the table; the transaction is left, unless it was taken before.
    pub(super) fn end(&mut self) -> Option<WriteTransaction> {
        self.table = None;
        let place = self.transaction.take()?;
        // SAFETY: it came from a box, is taken once, and the table that borrowed it is gone.
        Some(*unsafe { Box::from_raw(place.as_ptr()) })
    }
}

#[cold]
fn ended() -> StoreError {
    failed("use the table", &"its transaction has ended")
}

impl<F: Form> Drop for Writing<F> {
    /// What was not committed is undone, as redb does when a transaction is dropped.
    fn drop(&mut self) {
        drop(self.end());
    }
}
