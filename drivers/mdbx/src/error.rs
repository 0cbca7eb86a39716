//! libmdbx's codes as errors of a store.

use crate::environment::Code;
use stowplan_stores::StoreError;

/// What libmdbx said, in one line; the adapter adds what was attempted.
impl From<Code> for StoreError {
    #[cold]
    fn from(code: Code) -> Self {
        match code {
            Code::MAP_FULL => {
                Self::said("the database has reached its largest size; raise the setting max_size")
            }
            Code::UNDONE => Self::said("the transaction was undone because of an earlier error"),
            Code::BUSY => Self::conflict("", code.to_string()),
            code => Self::said(code),
        }
    }
}
