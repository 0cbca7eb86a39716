//! libmdbx's codes as errors of a store.

use crate::environment::Code;
use stowplan_stores::{Result, StoreError};

/// What libmdbx said, in one line; the adapter adds what was attempted.
pub(crate) trait Said<T> {
    fn said(self) -> Result<T>;
}

impl<T> Said<T> for std::result::Result<T, Code> {
    fn said(self) -> Result<T> {
        self.map_err(|code| match code {
            Code::MAP_FULL => StoreError::said(
                "the database has reached its largest size; raise the setting max_size",
            ),
            Code::UNDONE => {
                StoreError::said("the transaction was undone because of an earlier error")
            }
            Code::BUSY => StoreError::conflict("", "", code.to_string()),
            code => StoreError::said(code),
        })
    }
}
