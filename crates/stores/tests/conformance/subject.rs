//! The store under test, and the values it is given.

use crate::{Access, Buffer, Found, Key, KeyForm, Kind, Session, Store, StoreError};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};
use stowplan_dataset::names::{self, beside};
use stowplan_model::{Capabilities, Delivery, Settings};

/// Why a check failed.
pub(crate) struct Complaint(pub(crate) String);

impl From<StoreError> for Complaint {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}

impl From<std::io::Error> for Complaint {
    fn from(error: std::io::Error) -> Self {
        Self(error.to_string())
    }
}

/// What a check returns.
pub(crate) type Outcome<T = ()> = Result<T, Complaint>;

/// Complains unless `condition` holds.
pub(crate) fn ensure(condition: bool, message: impl FnOnce() -> String) -> Outcome {
    if condition {
        Ok(())
    } else {
        Err(Complaint(message()))
    }
}

/// A kind of store with settings, and a directory for one check.
pub(super) struct Subject<'a> {
    pub(super) kind: &'a Kind,
    pub(super) settings: &'a Settings,
    pub(super) capabilities: Capabilities,
    pub(super) key: KeyForm,
    directory: PathBuf,
}

impl<'a> Subject<'a> {
    pub(super) fn new(kind: &'a Kind, settings: &'a Settings, directory: &Path) -> Outcome<Self> {
        fs::create_dir(directory)?;
        let named = settings.flag("names");
        if named {
            give_names(directory)?;
        }
        Ok(Self {
            kind,
            settings,
            capabilities: kind.capabilities(settings)?,
            // The names are in the order of their numbers.
            key: match named {
                true => KeyForm::Integer,
                false => KeyForm::of(settings)?,
            },
            directory: directory.to_owned(),
        })
    }

    /// Removes what the check made. A failed check leaves it for the reader.
    pub(super) fn remove(self) -> Outcome {
        if self.settings.flag("names") {
            fs::remove_file(beside(&self.directory))?;
        }
        Ok(fs::remove_dir_all(&self.directory)?)
    }

    pub(super) fn create(&self) -> Outcome<Box<dyn Store>> {
        Ok(self.kind.create(&self.directory, self.settings)?)
    }

    pub(super) fn open(&self) -> Outcome<Box<dyn Store>> {
        self.open_with(self.settings)
    }

    pub(super) fn open_with(&self, settings: &Settings) -> Outcome<Box<dyn Store>> {
        Ok(self.kind.open(&self.directory, settings)?)
    }

    /// Whether nothing lies in its directory.
    pub(super) fn is_empty(&self) -> Outcome<bool> {
        Ok(fs::read_dir(&self.directory)?.next().is_none())
    }

    pub(super) fn delivers_in_place(&self) -> bool {
        self.capabilities.deliveries.contains(&Delivery::InPlace)
    }

    /// Runs `work` on a new store in which the keys 1 to `keys` have the values
    /// `value(key, 0, bytes)`.
    pub(super) fn with_values(
        &self,
        keys: u64,
        bytes: usize,
        work: impl FnOnce(&mut dyn Session) -> Outcome,
    ) -> Outcome {
        let store = self.create()?;
        self.with_session(&*store, |session| {
            fill(session, keys, bytes)?;
            work(session)
        })
    }

    /// Runs `work` with a connection of its own, and closes it.
    pub(super) fn with_session(
        &self,
        store: &dyn Store,
        work: impl FnOnce(&mut dyn Session) -> Outcome,
    ) -> Outcome {
        let mut session = store.connect()?;
        let outcome = work(&mut *session);
        // A failed check may leave a transaction open, so its own complaint comes first.
        let closed = session.close();
        outcome?;
        Ok(closed?)
    }
}

/// Gives the values of a store names: some of the keys that are used, in nested directories.
fn give_names(directory: &Path) -> Outcome {
    let names: Vec<String> = (1..=150)
        .map(|key| format!("{}/{:03} of ü/{key:03}.bin", key / 100, key / 10))
        .collect();
    let written = names::write(&beside(directory), names.iter().map(String::as_bytes));
    written.map_err(|error| Complaint(error.to_string()))
}

/// Inserts the keys 1 to `keys` in one transaction.
pub(super) fn fill(session: &mut dyn Session, keys: u64, bytes: usize) -> Outcome {
    session.begin(Access::Write)?;
    for key in 1..=keys {
        session.insert(Key(key), &value(key, 0, bytes))?;
    }
    Ok(session.commit()?)
}

/// The value of a key in one of its versions: bytes that no other key or version shares
/// (xorshift64*). They are ASCII, for stores that keep text; a check of its own has all others.
pub(super) fn value(key: u64, version: u64, bytes: usize) -> Vec<u8> {
    const ASCII: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let mut state = (key << 20 | version).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut value = vec![0; bytes];
    for chunk in value.chunks_mut(8) {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        let word = (state.wrapping_mul(0x2545_F491_4F6C_DD1D) & ASCII).to_le_bytes();
        chunk.copy_from_slice(&word[..chunk.len()]);
    }
    value
}

/// Complains unless reading `key` copies exactly `expected` into a page-aligned buffer.
pub(crate) fn expect_value(session: &mut dyn Session, key: u64, expected: &[u8]) -> Outcome {
    let mut buffer = Buffer::with_capacity(64)?;
    // What an earlier read left behind must not pass for this one's value.
    buffer.copy_from(b"no value was delivered")?;
    let found = session.read_into(Key(key), &mut buffer)?;
    ensure(found == Found::Bytes(expected.len()), || {
        format!("key {key} should have {} bytes: {found:?}", expected.len())
    })?;
    let delivered = buffer.bytes();
    ensure(delivered == expected, || {
        format!("key {key} {}", difference(delivered, expected))
    })?;
    // A store that measures what new memory costs says so, and each value shows that it is new.
    let aligned = buffer.is_new() || delivered.as_ptr().addr() % 4096 == 0;
    ensure(aligned, || {
        format!("key {key} was delivered off a page boundary")
    })
}

/// Complains unless reading `key` in place lends exactly `expected`, once.
pub(super) fn expect_lent(session: &mut dyn Session, key: u64, expected: &[u8]) -> Outcome {
    let mut lent = Vec::new();
    let found = session.read_in_place(Key(key), &mut |value| lent.push(value.to_vec()))?;
    ensure(found == Found::Bytes(expected.len()), || {
        format!("key {key} in place: {found:?} for {} bytes", expected.len())
    })?;
    ensure(lent.len() == 1, || {
        format!("key {key} was lent {} times", lent.len())
    })?;
    ensure(lent[0] == expected, || {
        format!("key {key} in place {}", difference(&lent[0], expected))
    })
}

/// Complains unless `key` is missing.
pub(crate) fn expect_missing(session: &mut dyn Session, key: u64) -> Outcome {
    let mut buffer = Buffer::with_capacity(64)?;
    expect(
        session.read_into(Key(key), &mut buffer)?,
        Found::Missing,
        || format!("reading key {key}"),
    )
}

/// Complains unless an operation found what it should have.
pub(crate) fn expect<T: PartialEq + Debug>(
    found: T,
    expected: T,
    what: impl FnOnce() -> String,
) -> Outcome {
    ensure(found == expected, || {
        format!("{}: {found:?}, expected {expected:?}", what())
    })
}

fn difference(delivered: &[u8], expected: &[u8]) -> String {
    if delivered.len() != expected.len() {
        return format!(
            "was delivered with {} of {} bytes",
            delivered.len(),
            expected.len()
        );
    }
    let first = delivered.iter().zip(expected).position(|(d, e)| d != e);
    format!("differs from byte {} on", first.unwrap_or(0))
}
