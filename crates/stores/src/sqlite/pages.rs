//! Where in its file a row lies: the leaf of the table's b-tree that holds its beginning, and the
//! chain of overflow pages that holds the rest.
//!
//! Read from the file itself (SQLite's documentation, "Database File Format", sections 1.5 and 1.6),
//! because SQLite tells it only for the whole database at once (`dbstat`), which reads all of it.

use super::failed;
use crate::{Pieces, Result, StoreError};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Kinds of b-tree pages.
const INTERIOR: u8 = 0x05;
const LEAF: u8 = 0x0d;
/// Bytes of the file's header, on its first page.
const FILE_HEADER: usize = 100;
/// Deeper than any tree: 2^64 rows of two cells a page.
const DEEPEST: usize = 64;

/// A database file that is not being written to, and whose log is empty.
pub(super) struct Pages {
    path: PathBuf,
    file: File,
    page: usize,
    /// Bytes of a page that hold content.
    usable: usize,
    root: u32,
}

impl Pages {
    /// Those of the table `kv`, which `connection` has open.
    pub(super) fn open(path: &Path, connection: &rusqlite::Connection) -> Result<Self> {
        let root = "SELECT rootpage FROM sqlite_schema WHERE name = 'kv' AND type = 'table'";
        let root = connection
            .query_row(root, [], |row| row.get(0))
            .map_err(|error| failed("look for the table's root page", &error))?;
        let file = File::open(path).map_err(StoreError::io("open", path))?;
        let mut header = [0; FILE_HEADER];
        file.read_exact_at(&mut header, 0)
            .map_err(StoreError::io("read", path))?;
        // 1 stands for 65,536.
        let page = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 1 << 16,
            bytes => usize::from(bytes),
        };
        Ok(Self {
            path: path.to_owned(),
            file,
            page,
            usable: page.saturating_sub(usize::from(header[20])),
            root,
        })
    }

    /// Where the row with this number lies; nothing if there is none.
    pub(super) fn row(&self, rowid: i64) -> Result<Option<Pieces>> {
        let mut number = self.root;
        for _ in 0..DEEPEST {
            let page = self.read(number)?;
            match self.whole(page.look_for(rowid))? {
                Found::Below(child) => number = child,
                Found::Here(cell) => return self.pieces(&page, cell).map(Some),
                Found::Nowhere => return Ok(None),
            }
        }
        self.whole(None)
    }

    fn pieces(&self, page: &Page, cell: usize) -> Result<Pieces> {
        let (payload, start) = self.whole(page.payload(cell))?;
        let local = local_bytes(payload, self.usable);
        let at = page.offset + start as u64;
        let in_leaf = at..at + local as u64;
        let mut ranges = vec![in_leaf];
        let (mut overflow, mut rest) = (0, payload - local);
        // Of no meaning where nothing is left.
        let mut next = page.u32(start + local);
        while rest > 0 {
            let link = self.read(self.whole(next)?)?;
            let bytes = rest.min(self.usable.saturating_sub(4).max(1));
            let at = link.offset + 4;
            join(&mut ranges, at..at + bytes as u64);
            overflow += 1;
            rest -= bytes;
            next = link.u32(0);
        }
        Ok(Pieces {
            file: self.path.clone(),
            ranges,
            overflow_pages: Some(overflow),
        })
    }

    fn read(&self, number: u32) -> Result<Page> {
        let index = self.whole(number.checked_sub(1))?;
        let offset = u64::from(index) * self.page as u64;
        let mut bytes = vec![0; self.page];
        self.file
            .read_exact_at(&mut bytes, offset)
            .map_err(StoreError::io("read", &self.path))?;
        Ok(Page {
            bytes,
            offset,
            header: if number == 1 { FILE_HEADER } else { 0 },
        })
    }

    /// What a page says, if that can be.
    fn whole<T>(&self, said: Option<T>) -> Result<T> {
        said.ok_or_else(|| {
            let action = format!("follow a row in {}", self.path.display());
            StoreError::engine(action, "a page is none of its b-tree, or damaged")
        })
    }
}

/// Bytes of a row's payload that lie in its leaf page.
fn local_bytes(payload: usize, usable: usize) -> usize {
    let most = usable.saturating_sub(35);
    if payload <= most {
        return payload;
    }
    let least = (usable.saturating_sub(12) * 32 / 255).saturating_sub(23);
    let fitting = least + (payload - least) % usable.saturating_sub(4).max(1);
    if fitting <= most { fitting } else { least }
}

/// Adds a range; one that follows the last with nothing but the next page's link between them
/// (4 bytes, and what a page keeps reserved) belongs to it: the pages follow each other.
fn join(ranges: &mut Vec<Range<u64>>, more: Range<u64>) {
    const BETWEEN: u64 = 4 + 255;
    match ranges.last_mut() {
        Some(last) if more.start >= last.end && more.start - last.end <= BETWEEN => {
            last.end = more.end;
        }
        _ => ranges.push(more),
    }
}

/// What a page says of a row: in which page below it is, where its cell begins, or that there is none.
enum Found {
    Below(u32),
    Here(usize),
    Nowhere,
}

/// A page of a table's b-tree, or of an overflow chain. What it says is nothing where it is damaged.
struct Page {
    bytes: Vec<u8>,
    /// Where it begins in the file.
    offset: u64,
    /// Where its b-tree header begins.
    header: usize,
}

impl Page {
    fn look_for(&self, rowid: i64) -> Option<Found> {
        let is_leaf = match *self.bytes.get(self.header)? {
            INTERIOR => false,
            LEAF => true,
            _ => return None,
        };
        // By rising row, behind a header whose length depends on the kind.
        let list = self.header + if is_leaf { 8 } else { 12 };
        for index in 0..self.u16(self.header + 3)? {
            let cell = usize::from(self.u16(list + 2 * usize::from(index))?);
            // A leaf's row comes behind its size, another's behind the page where it is at most.
            let row = match is_leaf {
                true => self.varint(cell)?.1,
                false => cell + 4,
            };
            let (row, _) = self.varint(row)?;
            match is_leaf {
                true if row == rowid => return Some(Found::Here(cell)),
                false if rowid <= row => return self.u32(cell).map(Found::Below),
                _ => {}
            }
        }
        match is_leaf {
            true => Some(Found::Nowhere),
            false => self.u32(self.header + 8).map(Found::Below),
        }
    }

    /// The size of a row's payload, and where it begins.
    fn payload(&self, cell: usize) -> Option<(usize, usize)> {
        let (bytes, row) = self.varint(cell)?;
        let (_, start) = self.varint(row)?;
        Some((usize::try_from(bytes).ok()?, start))
    }

    fn u16(&self, at: usize) -> Option<u16> {
        self.array(at).map(u16::from_be_bytes)
    }

    fn u32(&self, at: usize) -> Option<u32> {
        self.array(at).map(u32::from_be_bytes)
    }

    fn array<const N: usize>(&self, at: usize) -> Option<[u8; N]> {
        self.bytes.get(at..)?.first_chunk().copied()
    }

    /// A number of up to nine bytes, and where the next thing begins.
    fn varint(&self, at: usize) -> Option<(i64, usize)> {
        let mut value = 0_i64;
        for index in 0..8 {
            let [byte] = self.array(at + index)?;
            value = value << 7 | i64::from(byte & 0x7f);
            if byte < 0x80 {
                return Some((value, at + index + 1));
            }
        }
        let [byte] = self.array(at + 8)?;
        Some((value << 8 | i64::from(byte), at + 9))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::Connection;
    use rusqlite::blob::ZeroBlob;

    /// A database with these values under keys from 1, and its pages.
    fn database(page_size: u32, values: &[Vec<u8>]) -> (tempfile::TempDir, Pages) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(&format!(
                "PRAGMA page_size={page_size}; CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);"
            ))
            .unwrap();
        for value in values {
            let insert = "INSERT INTO kv(v) VALUES(?)";
            connection.execute(insert, [value]).unwrap();
        }
        let pages = Pages::open(&path, &connection).unwrap();
        (directory, pages)
    }

    /// What lies in the file at these places, without what lies between two pages.
    fn content(pages: &Pages, pieces: &Pieces) -> Vec<u8> {
        let mut found = Vec::new();
        for range in &pieces.ranges {
            let mut bytes = vec![0; usize::try_from(range.end - range.start).unwrap()];
            pages.file.read_exact_at(&mut bytes, range.start).unwrap();
            found.extend(bytes);
        }
        found
    }

    #[test]
    fn a_small_row_is_one_piece_that_holds_the_value() {
        let values: Vec<Vec<u8>> = (0..2000_u32).map(|n| n.to_be_bytes().repeat(10)).collect();
        let (_directory, pages) = database(4096, &values);
        for (key, value) in (1..).zip(&values) {
            let found = pages.row(key).unwrap().unwrap();
            assert_eq!((found.ranges.len(), found.overflow_pages), (1, Some(0)));
            assert!(content(&pages, &found).ends_with(value), "row {key}");
        }
        assert!(pages.row(2001).unwrap().is_none());
        assert!(pages.row(-5).unwrap().is_none());
    }

    #[test]
    fn a_large_row_is_its_leaf_and_a_chain_whose_pages_follow_each_other() {
        for page_size in [512, 4096, 65_536] {
            let values: Vec<Vec<u8>> = (0..40_u8).map(|n| vec![n; 10_240 * 8]).collect();
            let (_directory, pages) = database(page_size, &values);
            for (key, value) in (1..).zip(&values) {
                let found = pages.row(key).unwrap().unwrap();
                let usable = u64::from(page_size);
                let bytes: u64 = found
                    .ranges
                    .iter()
                    .map(|range| range.end - range.start)
                    .sum();
                assert!(bytes >= value.len() as u64, "page size {page_size}");
                let overflow = found.overflow_pages.unwrap();
                let expected = value.len() as u64 / (usable - 4);
                assert!((expected..=expected + 1).contains(&overflow), "{overflow}");
                // Written in one go: the leaf, then the chain.
                assert!(found.ranges.len() <= 3, "{:?}", found.ranges);
                let first = *value.first().unwrap();
                let held = content(&pages, &found);
                let right = held.iter().filter(|byte| **byte == first).count();
                assert!(right >= value.len(), "page size {page_size}, row {key}");
            }
        }
    }

    #[test]
    fn a_chain_over_pages_that_were_freed_lies_in_several_pieces() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA page_size=1024; CREATE TABLE kv(k INTEGER PRIMARY KEY, v BLOB);")
            .unwrap();
        let insert = |key: i64, bytes: u64| {
            let sql = "INSERT INTO kv VALUES(?, ?)";
            connection.execute(sql, (key, ZeroBlob(bytes))).unwrap();
        };
        (1..=50).for_each(|key| insert(key, 3_000));
        connection
            .execute_batch("DELETE FROM kv WHERE k % 2 = 0")
            .unwrap();
        insert(100, 40_000);
        let pages = Pages::open(&path, &connection).unwrap();
        let scattered = pages.row(100).unwrap().unwrap();
        assert!(scattered.ranges.len() > 5, "{:?}", scattered.ranges.len());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_never_a_panic() {
        let values: Vec<Vec<u8>> = (0..300_u32).map(|n| vec![7; n as usize * 9]).collect();
        let (_directory, pages) = database(512, &values);
        let length = usize::try_from(pages.file.metadata().unwrap().len()).unwrap();
        let mut bytes = vec![0; length];
        pages.file.read_exact_at(&mut bytes, 0).unwrap();
        let path = pages.path.clone();
        let seed = std::process::id();
        eprintln!("seed {seed}");
        let mut random = u64::from(seed);
        for _ in 0..400 {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let at = usize::try_from(random >> 16).unwrap() % length;
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << ((random >> 60) % 8);
            std::fs::write(&path, &damaged).unwrap();
            let file = File::open(&path).unwrap();
            let pages = Pages {
                file,
                path: path.clone(),
                ..pages
            };
            for key in [1, 150, 300] {
                let _ = pages.row(key);
            }
        }
    }
}
