//! Where values lie in the flat file.

use crate::{Key, Result, StoreError};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;

/// First bytes of an index file; the last one is the version of its form.
const MAGIC: [u8; 8] = *b"stowidx\x01";
/// Key, offset and length, each as u64 little-endian.
const ENTRY_BYTES: usize = 24;
/// Keys below this are looked up by position whatever their order of arrival: at worst 16 MiB.
const ALWAYS_DENSE: u64 = 1 << 20;
/// Beyond that a file is looked up by position as far as one in so many is used.
const SPARSEST: u64 = 4;

/// The place of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte in the file.
    pub(crate) offset: u64,
    /// Number of bytes.
    pub(crate) len: u64,
}

impl Span {
    /// Marks a key without a value; no file is that long.
    const NONE: Self = Self {
        offset: u64::MAX,
        len: 0,
    };

    pub(super) fn end(self) -> u64 {
        self.offset + self.len
    }
}

/// The places of all values, by key.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By position, for keys that lie close together, as those of datasets do.
    dense: Vec<Span>,
    /// The others.
    sparse: BTreeMap<u64, Span>,
    /// Behind the last value.
    end: u64,
    /// Whether the file beside the values holds it as it is; a new store has no such file.
    saved: bool,
}

impl Index {
    /// Behind the last value, be it deleted since.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    #[inline]
    pub(super) fn get(&self, key: Key) -> Option<Span> {
        let position = usize::try_from(key.0).ok();
        match position.and_then(|position| self.dense.get(position)) {
            Some(span) if *span != Span::NONE => Some(*span),
            _ if self.sparse.is_empty() => None,
            _ => self.sparse.get(&key.0).copied(),
        }
    }

    /// Notes the place of a value, unless its key has one; true if it had none.
    pub(super) fn add(&mut self, key: Key, span: Span) -> bool {
        let new = self.get(key).is_none();
        if new {
            self.insert(key, span);
        }
        new
    }

    /// Notes the place of a value of a new key.
    fn insert(&mut self, key: Key, span: Span) {
        self.saved = false;
        self.end = self.end.max(span.end());
        let near = key.0 < ALWAYS_DENSE || key.0 / 2 <= self.dense.len() as u64;
        match usize::try_from(key.0) {
            Ok(position) if near => {
                if position >= self.dense.len() {
                    self.dense.resize(position + 1, Span::NONE);
                }
                self.dense[position] = span;
            }
            _ => {
                self.sparse.insert(key.0, span);
            }
        }
    }

    /// Forgets a value; its bytes stay where they are. True if it was there.
    pub(super) fn remove(&mut self, key: Key) -> bool {
        let position = usize::try_from(key.0).ok();
        let there = match position.and_then(|position| self.dense.get_mut(position)) {
            Some(span) if *span != Span::NONE => {
                *span = Span::NONE;
                true
            }
            _ => self.sparse.remove(&key.0).is_some(),
        };
        self.saved &= !there;
        there
    }

    /// Keys from `from` on, by rising key.
    pub(super) fn from(&self, from: Key) -> impl Iterator<Item = (Key, Span)> {
        let first = usize::try_from(from.0).unwrap_or(usize::MAX);
        let dense = self.dense.iter().enumerate().skip(first);
        let mut dense = dense
            .filter(|(_, span)| **span != Span::NONE)
            .map(|(position, span)| (position as u64, *span))
            .peekable();
        let mut sparse = self
            .sparse
            .range(from.0..)
            .map(|(k, s)| (*k, *s))
            .peekable();
        std::iter::from_fn(move || {
            let sparse_first = match (dense.peek(), sparse.peek()) {
                (Some((d, _)), Some((s, _))) => s < d,
                (None, _) => true,
                (Some(_), None) => false,
            };
            let next = if sparse_first {
                sparse.next()
            } else {
                dense.next()
            };
            next.map(|(key, span)| (Key(key), span))
        })
    }

    /// Reads what [`Self::save`] wrote.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(StoreError::io("read", path))?;
        let damaged = || StoreError::Engine {
            store: super::STORE,
            action: format!("read {}", path.display()),
            detail: "it is not an index of a flat store, or cut short".to_owned(),
        };
        let (header, entries) = bytes.split_at_checked(16).ok_or_else(damaged)?;
        let (magic, end) = (word(header, 0), word(header, 1));
        if magic != u64::from_le_bytes(MAGIC) || entries.len() % ENTRY_BYTES != 0 {
            return Err(damaged());
        }
        // Positions cost memory whether they are used or not, and keys of a damaged file can be any.
        let positions = (entries.len() / ENTRY_BYTES) as u64 * SPARSEST;
        let positions = positions.max(ALWAYS_DENSE);
        let mut index = Self::default();
        let mut before = None;
        for entry in entries.chunks_exact(ENTRY_BYTES) {
            let (key, offset, len) = (word(entry, 0), word(entry, 1), word(entry, 2));
            let within = offset.checked_add(len).is_some_and(|behind| behind <= end);
            if !within || before.is_some_and(|before| before >= key) {
                return Err(damaged());
            }
            before = Some(key);
            let span = Span { offset, len };
            if key < positions {
                index.insert(Key(key), span);
            } else {
                index.sparse.insert(key, span);
            }
        }
        index.end = end;
        index.saved = true;
        Ok(index)
    }

    /// Writes the index to `path` by way of a temporary file, if it changed.
    pub(super) fn save(&mut self, path: &Path) -> Result<()> {
        if self.saved {
            return Ok(());
        }
        let mut bytes = Vec::from(MAGIC);
        bytes.extend(self.end.to_le_bytes());
        for (key, span) in self.from(Key(0)) {
            for number in [key.0, span.offset, span.len] {
                bytes.extend(number.to_le_bytes());
            }
        }
        let temporary = path.with_extension("tmp");
        write_new(&temporary, &bytes).map_err(StoreError::io("write", &temporary))?;
        fs::rename(&temporary, path).map_err(StoreError::io("rename", &temporary))?;
        self.saved = true;
        Ok(())
    }
}

/// Never written through a link: what has the name is removed, and then nothing may have it.
fn write_new(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => fs::File::create_new(path)?.write_all(bytes),
    }
}

/// What [`crate::hostile::flat_index`] says.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn hostile(path: &Path) {
    let Ok(index) = Index::load(path) else {
        return;
    };
    let mut before = None;
    for (key, span) in index.from(Key(0)) {
        assert!(before.is_none_or(|before| before < key.0), "{key:?}");
        assert!(
            span.offset
                .checked_add(span.len)
                .is_some_and(|end| end <= index.end())
        );
        assert_eq!(index.get(key), Some(span));
        before = Some(key.0);
    }
    assert!(
        index.dense.len() as u64 <= ALWAYS_DENSE.max(SPARSEST * index.from(Key(0)).count() as u64)
    );
}

/// The `position`th u64 of `bytes`, which are long enough.
fn word(bytes: &[u8], position: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[position * 8..position * 8 + 8]);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(offset: u64) -> Span {
        Span { offset, len: 10 }
    }

    #[test]
    fn keys_in_any_order_and_however_far_apart_are_found_and_listed_by_rising_key() {
        let keys = [5, 1, 3_000_000, 2, u64::MAX, 1 << 20, 0];
        let mut index = Index::default();
        for (i, key) in keys.into_iter().enumerate() {
            index.insert(Key(key), span(i as u64 * 10));
        }
        for (i, key) in keys.into_iter().enumerate() {
            assert_eq!(index.get(Key(key)), Some(span(i as u64 * 10)), "{key}");
        }
        assert_eq!(index.get(Key(4)), None);
        let listed: Vec<u64> = index.from(Key(2)).map(|(key, _)| key.0).collect();
        assert_eq!(listed, [2, 5, 1 << 20, 3_000_000, u64::MAX]);
        assert!(index.remove(Key(u64::MAX)) && index.remove(Key(5)));
        assert!(!index.remove(Key(5)) && !index.remove(Key(4)));
        assert!(index.add(Key(4), span(0)) && !index.add(Key(4), span(10)));
        assert_eq!(index.get(Key(4)), Some(span(0)));
        assert_eq!(index.get(Key(u64::MAX)), None);
        assert_eq!(index.get(Key(5)), None);
    }

    #[test]
    fn an_index_reads_back_as_saved_and_a_damaged_one_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.bin");
        let mut index = Index::default();
        index.insert(Key(7), span(0));
        index.insert(Key(u64::MAX), span(10));
        index.save(&path).unwrap();
        let read = Index::load(&path).unwrap();
        assert_eq!(read.end(), 20);
        assert_eq!(read.get(Key(7)), Some(span(0)));
        assert_eq!(read.get(Key(u64::MAX)), Some(span(10)));

        let precious = directory.path().join("precious");
        fs::write(&precious, "dear").unwrap();
        std::os::unix::fs::symlink(&precious, path.with_extension("tmp")).unwrap();
        index.insert(Key(8), span(20));
        index.save(&path).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "dear");
        assert_eq!(Index::load(&path).unwrap().get(Key(8)), Some(span(20)));

        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(Index::load(&path).is_err());
        let mut beyond_the_end = whole.clone();
        beyond_the_end[16 + 8] = 99;
        fs::write(&path, &beyond_the_end).unwrap();
        assert!(Index::load(&path).is_err());
        fs::write(&path, b"short").unwrap();
        assert!(Index::load(&path).is_err());
    }

    /// An index file of entries with these keys, and values of no bytes.
    fn of_keys(keys: impl Iterator<Item = u64>) -> Vec<u8> {
        let entry = |key: u64| [key.to_le_bytes(), [0; 8], [0; 8]].concat();
        let entries: Vec<u8> = keys.flat_map(entry).collect();
        [&MAGIC[..], &[0; 8], &entries].concat()
    }

    #[test]
    fn a_small_file_never_takes_much_memory_whatever_its_keys_are() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.bin");
        // Each key doubles the positions that the one before it needed.
        fs::write(&path, of_keys((0..64).map(|n| (1 << n) - 1))).unwrap();
        let index = Index::load(&path).unwrap();
        assert!(index.dense.len() <= 1 << 20, "{}", index.dense.len());
        assert_eq!(index.from(Key(0)).count(), 64);
        for n in 0..64 {
            assert!(index.get(Key((1 << n) - 1)).is_some(), "{n}");
        }
    }

    #[test]
    fn keys_that_do_not_rise_are_damage() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("index.bin");
        for keys in [[1, 1], [2, 1]] {
            fs::write(&path, of_keys(keys.into_iter())).unwrap();
            assert!(Index::load(&path).is_err(), "{keys:?}");
        }
    }
}
