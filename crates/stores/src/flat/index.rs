//! Where values lie in the flat file.

use crate::{Key, Result, StoreError};
use std::fs;
use std::io::Write;
use std::path::Path;

/// First bytes of an index file; the last one is the version of its form. The end of the values follows, and
/// the offset and the length of each by its key from 0 on, all as u64 little-endian.
const MAGIC: [u8; 8] = *b"stowidx\x02";

/// Keys are below this: positions cost memory whether they are used or not.
pub(super) const MOST_KEYS: u64 = 1 << 28;

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

/// The places of all values.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// By key.
    spans: Vec<Span>,
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
        let span = self.spans.get(usize::try_from(key.0).ok()?)?;
        (*span != Span::NONE).then_some(*span)
    }

    /// Notes the place of a value, unless its key has one; true if it had none. The key is below
    /// [`MOST_KEYS`].
    pub(super) fn add(&mut self, key: Key, span: Span) -> bool {
        if self.get(key).is_some() {
            return false;
        }
        let position = usize::try_from(key.0.min(MOST_KEYS)).unwrap_or(0);
        if position >= self.spans.len() {
            self.spans.resize(position + 1, Span::NONE);
        }
        self.spans[position] = span;
        self.end = self.end.max(span.end());
        self.saved = false;
        true
    }

    /// Forgets a value; its bytes stay where they are. True if it was there.
    pub(super) fn remove(&mut self, key: Key) -> bool {
        let there = self.get(key).is_some();
        if there {
            self.spans[usize::try_from(key.0).unwrap_or(0)] = Span::NONE;
            self.saved = false;
        }
        there
    }

    /// Keys from `from` on, by rising key.
    pub(super) fn from(&self, from: Key) -> impl Iterator<Item = (Key, Span)> {
        let keys = from.0..self.spans.len() as u64;
        keys.filter_map(|key| Some((Key(key), self.get(Key(key))?)))
    }

    /// Reads what [`Self::save`] wrote.
    pub(super) fn load(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(StoreError::io("read", path))?;
        let read = || {
            let (words, []) = bytes.as_chunks::<8>() else {
                return None;
            };
            let words: Vec<u64> = words.iter().map(|word| u64::from_le_bytes(*word)).collect();
            let (header, places) = words.split_first_chunk::<2>()?;
            let (places, rest) = places.as_chunks::<2>();
            let [magic, end] = *header;
            let spans = places.iter().map(|[offset, len]| Span {
                offset: *offset,
                len: *len,
            });
            let spans: Vec<Span> = spans.collect();
            let within = |span: &Span| {
                let behind = span.offset.checked_add(span.len);
                *span == Span::NONE || behind.is_some_and(|behind| behind <= end)
            };
            let whole = magic == u64::from_le_bytes(MAGIC) && rest.is_empty();
            (whole && spans.iter().all(within)).then_some(Self {
                spans,
                end,
                saved: true,
            })
        };
        read().ok_or_else(|| {
            let detail = "it is not an index of a flat store, or cut short";
            StoreError::engine(format!("read {}", path.display()), detail)
        })
    }

    /// Writes the index to `path` by way of a temporary file, if it changed.
    pub(super) fn save(&mut self, path: &Path) -> Result<()> {
        if self.saved {
            return Ok(());
        }
        let mut bytes = Vec::from(MAGIC);
        let places = self.spans.iter().flat_map(|span| [span.offset, span.len]);
        let numbers = std::iter::once(self.end).chain(places);
        bytes.extend(numbers.flat_map(u64::to_le_bytes));
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
    for (_, span) in index.from(Key(0)) {
        let end = span.offset.checked_add(span.len);
        assert!(end.is_some_and(|end| end <= index.end()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(offset: u64) -> Span {
        Span { offset, len: 10 }
    }

    #[test]
    fn keys_in_any_order_are_found_and_listed_by_rising_key() {
        let keys = [5, 1, 300_000, 2, 0];
        let mut index = Index::default();
        for (i, key) in keys.into_iter().enumerate() {
            assert!(index.add(Key(key), span(i as u64 * 10)));
        }
        for (i, key) in keys.into_iter().enumerate() {
            assert_eq!(index.get(Key(key)), Some(span(i as u64 * 10)), "{key}");
        }
        assert_eq!(index.get(Key(4)), None);
        let listed: Vec<u64> = index.from(Key(2)).map(|(key, _)| key.0).collect();
        assert_eq!(listed, [2, 5, 300_000]);
        assert!(index.remove(Key(5)));
        assert!(!index.remove(Key(5)) && !index.remove(Key(4)) && !index.remove(Key(u64::MAX)));
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
        index.add(Key(7), span(0));
        index.add(Key(9), span(10));
        index.save(&path).unwrap();
        let read = Index::load(&path).unwrap();
        assert_eq!(read.end(), 20);
        assert_eq!(read.get(Key(7)), Some(span(0)));
        assert_eq!((read.get(Key(8)), read.get(Key(9))), (None, Some(span(10))));

        let precious = directory.path().join("precious");
        fs::write(&precious, "dear").unwrap();
        std::os::unix::fs::symlink(&precious, path.with_extension("tmp")).unwrap();
        index.add(Key(8), span(20));
        index.save(&path).unwrap();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "dear");
        assert_eq!(Index::load(&path).unwrap().get(Key(8)), Some(span(20)));

        let whole = fs::read(&path).unwrap();
        for cut in [1, 8] {
            fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            assert!(Index::load(&path).is_err());
        }
        let mut beyond_the_end = whole.clone();
        beyond_the_end[16 + 7 * 16] = 99;
        fs::write(&path, &beyond_the_end).unwrap();
        assert!(Index::load(&path).is_err());
        fs::write(&path, b"short").unwrap();
        assert!(Index::load(&path).is_err());
    }
}
