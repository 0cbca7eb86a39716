//! Keys as libmdbx keeps them.

use crate::STORE;
use stowplan_stores::{Key, KeyBytes, KeyForm, Result};

/// A key, in place.
pub(crate) enum Held {
    /// In the machine's own order of bytes (`MDBX_INTEGERKEY`).
    Number(Native),
    Text(KeyBytes),
}

/// libmdbx reads such a key as a number where it lies.
#[repr(align(8))]
pub(crate) struct Native([u8; 8]);

impl Held {
    #[inline]
    pub(crate) fn new(form: KeyForm, key: Key) -> Self {
        match form {
            KeyForm::Integer => Self::Number(Native(key.0.to_ne_bytes())),
            KeyForm::Text => Self::Text(form.bytes(key)),
        }
    }
}

impl AsRef<[u8]> for Held {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Number(Native(bytes)) => bytes,
            Self::Text(bytes) => bytes.as_ref(),
        }
    }
}

/// The key of these bytes.
///
/// # Errors
/// They are no key in this form.
pub(crate) fn key(form: KeyForm, bytes: &[u8]) -> Result<Key> {
    match (form, bytes.try_into()) {
        (KeyForm::Integer, Ok(number)) => Ok(Key(u64::from_ne_bytes(number))),
        _ => form.key(STORE, bytes),
    }
}
