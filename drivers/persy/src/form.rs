//! The forms of keys, as types of persy's indexes.

use crate::STORE;
use persy::{IndexType, IndexTypeId};
use stowplan_stores::{Key, KeyForm, Result};

/// One form of keys.
pub(crate) trait Form: 'static {
    /// persy's type of the keys of the index.
    type Stored: IndexType;

    fn stored(key: Key) -> Self::Stored;

    /// # Errors
    /// The key is none of ours.
    fn key(stored: &Self::Stored) -> Result<Key>;
}

pub(crate) struct Integer;

impl Form for Integer {
    type Stored = u64;

    fn stored(key: Key) -> u64 {
        key.0
    }

    fn key(stored: &u64) -> Result<Key> {
        Ok(Key(*stored))
    }
}

pub(crate) struct Text;

impl Form for Text {
    type Stored = String;

    fn stored(key: Key) -> String {
        KeyForm::Text.bytes(key).text().to_owned()
    }

    fn key(stored: &String) -> Result<Key> {
        KeyForm::Text.key(STORE, stored.as_bytes())
    }
}

/// Of an index whose keys have this type.
pub(crate) fn of_type(id: &IndexTypeId) -> Option<KeyForm> {
    match id {
        IndexTypeId::U64 => Some(KeyForm::Integer),
        IndexTypeId::String => Some(KeyForm::Text),
        _ => None,
    }
}
