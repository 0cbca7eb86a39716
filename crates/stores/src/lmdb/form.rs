//! Keys as LMDB keeps them.

use super::STORE;
use crate::{Key, KeyBytes, KeyForm, Result};
use ::heed::types::Bytes;
use ::heed::{Comparator, Database, DefaultComparator, IntegerComparator};

/// A form of keys, as a type: heed's databases have the type of their order.
///
/// Keys are handed over as bytes: heed's own types for numbers allocate for each of them.
pub(super) trait Form: Send + Sync + 'static {
    type Order: Comparator + Send + 'static;
    type Held: AsRef<[u8]>;

    const FORM: KeyForm;

    fn held(key: Key) -> Self::Held;

    /// # Errors
    /// They are no key in this form.
    fn key(bytes: &[u8]) -> Result<Key>;
}

/// A handle of a database, which is good for as long as its environment is open.
pub(super) type Opened<F> = Database<'static, Bytes, Bytes, <F as Form>::Order>;

/// Numbers in the machine's own order of bytes (`MDB_INTEGERKEY`).
pub(super) struct Integer;

/// LMDB reads such a key as a number where it lies.
#[repr(align(8))]
pub(super) struct Native([u8; 8]);

impl AsRef<[u8]> for Native {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Form for Integer {
    type Order = IntegerComparator;
    type Held = Native;

    const FORM: KeyForm = KeyForm::Integer;

    fn held(key: Key) -> Native {
        Native(key.0.to_ne_bytes())
    }

    fn key(bytes: &[u8]) -> Result<Key> {
        match bytes.try_into() {
            Ok(bytes) => Ok(Key(u64::from_ne_bytes(bytes))),
            // Only for its message.
            Err(_) => KeyForm::Integer.key(STORE, bytes),
        }
    }
}

pub(super) struct Text;

impl Form for Text {
    type Order = DefaultComparator;
    type Held = KeyBytes;

    const FORM: KeyForm = KeyForm::Text;

    fn held(key: Key) -> KeyBytes {
        KeyForm::Text.bytes(key)
    }

    fn key(bytes: &[u8]) -> Result<Key> {
        KeyForm::Text.key(STORE, bytes)
    }
}
