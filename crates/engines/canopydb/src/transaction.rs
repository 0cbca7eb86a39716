//! A transaction, kept together with its tree.
//!
//! A tree of canopydb borrows its transaction, so a session that is called once per operation could
//! only keep the transaction and look the tree up each time, which a user who has both in local
//! variables does not pay for.

use crate::{STORE, TABLE, failed};
use canopydb::{Error, ReadTransaction, Transaction, Tree, WriteTransaction};
use self_cell::self_cell;
use stowplan_stores::{Result, StoreError};

self_cell!(
    pub(crate) struct Reading {
        owner: ReadTransaction,
        #[not_covariant]
        dependent: Tree,
    }
);

self_cell!(
    pub(crate) struct Writing {
        owner: WriteTransaction,
        #[not_covariant]
        dependent: Tree,
    }
);

/// The tree, in a transaction.
///
/// # Errors
/// There is none, or canopydb refuses.
pub(crate) fn tree(transaction: &Transaction) -> Result<Tree<'_>> {
    transaction
        .get_tree(TABLE)
        .map_err(|e| failed("open the tree", &e))?
        .ok_or_else(|| StoreError::no_table(STORE, "open the tree"))
}

/// Keeps a transaction that reads.
///
/// # Errors
/// As [`tree`].
pub(crate) fn reading(transaction: std::result::Result<ReadTransaction, Error>) -> Result<Reading> {
    let transaction = transaction.map_err(|e| failed("begin a transaction", &e))?;
    Reading::try_new(transaction, |transaction| tree(transaction))
}

/// Keeps a transaction that writes.
///
/// # Errors
/// As [`tree`].
pub(crate) fn writing(
    transaction: std::result::Result<WriteTransaction, Error>,
) -> Result<Writing> {
    let transaction = transaction.map_err(|e| failed("begin a transaction", &e))?;
    Writing::try_new(transaction, |transaction| tree(transaction))
}
