//! A block whose data is not in memory: how that is brought about, and how it is proved.
//!
//! That data is not there is seen before the block, page by page. Of names (directory entries, inodes,
//! and the file system's own blocks that hold them) no system tells whether they are in memory: that
//! they were not is seen by what had to be fetched from storage beside the data.

use super::outside::{io, program_files, with_children};
use crate::environment::{Image, image_below};
use crate::{HarnessError, Result, page_cache, platform};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::slice::from_ref;
use stowplan_model::{CacheState, MetadataReads, Residency};

/// Inodes with numbers that differ in their last bits only may share a read: 16 share a block of ext4, 64
/// a cluster of XFS, and about as many a leaf of btrfs.
const SHARED_READ_INODES: u64 = 64;
/// The least that a file system reads at a time, in bytes.
const LEAST_READ_BYTES: u64 = 4096;
/// Of fewer such groups nothing is demanded: it would be less than what one name takes by itself, which
/// does not depend on the files. ext4 reads 32 blocks of inodes at a time, so that the inode of their
/// directory takes 131 kB, and a database with its one name took 147 kB (METHOD "Warm and cold"). Of 200
/// groups it is 410 kB.
const LEAST_GROUPS: usize = 200;

/// What is known of a block's data before it is timed.
#[derive(Debug)]
pub(super) struct Cold {
    files: Vec<PathBuf>,
    residency: Residency,
    /// Where names were dropped too.
    names: Option<Dropped>,
    /// The image that the files lie in, whose own pages hold their data a second time unless it is read directly.
    image: Option<Image>,
}

/// What is known of the names once they were dropped.
#[derive(Debug)]
struct Dropped {
    /// The harness, which looks the store up, and its driver, which opens it, or has a process of its own
    /// do so.
    processes: BTreeSet<u32>,
    /// What these had fetched from storage up to then.
    fetched_bytes: u64,
    least_bytes: u64,
}

impl Cold {
    /// Takes the data of `files`, which lie at `place`, out of memory, and names too where the state asks
    /// for it. `driver` is the process that is going to read them.
    ///
    /// # Errors
    /// Data stays in memory, the system does not tell, or does not let this process do so.
    pub(super) fn make(
        files: Vec<PathBuf>,
        place: &Path,
        state: CacheState,
        driver: u32,
    ) -> Result<Self> {
        let residency = page_cache::make_cold(&files)?;
        let image = evicted_image(place)?;
        let names = (state == CacheState::AllCold)
            .then(|| Dropped::make(&files, driver, page_cache::drop_everything));
        Ok(Self {
            residency,
            names: names.transpose()?,
            image,
            files,
        })
    }

    /// Refuses data most of which came into memory again when its store was opened.
    ///
    /// # Errors
    /// It did: what reads a file first reads a database as a whole.
    pub(super) fn require_still_cold(&self) -> Result<()> {
        let now = page_cache::residency(&self.files)?;
        match now.is_some_and(|now| now.resident_pages > now.checked_pages / 2) {
            false => Ok(()),
            true => Err(HarnessError::invalid(
                "the scanner read the data into memory when the store was opened, so that no read of it is \
                 cold: measure it warm, or let the scanner permit only (scanned = \"open\")",
            )),
        }
    }

    /// What the block has brought into memory.
    ///
    /// # Errors
    /// It had less from storage than names take that are not in memory.
    pub(super) fn after(self) -> Result<(Residency, Option<MetadataReads>)> {
        let after = page_cache::residency(&self.files)?.map(|after| after.resident_pages);
        let residency = Residency {
            after_block_pages: after,
            ..self.residency
        };
        self.image.map_or(Ok(()), require_not_read)?;
        let names = self
            .names
            .map(|names| names.proved(after.unwrap_or(0), self.files.len()));
        Ok((residency, names.transpose()?))
    }
}

/// The image that a place lies in, taken out of memory; nothing where the place lies in none, or the image may not be
/// looked at, and is read directly.
fn evicted_image(place: &Path) -> Result<Option<Image>> {
    let Some(image) = image_below(place) else {
        return Ok(None);
    };
    match page_cache::make_cold(from_ref(&image.file)) {
        Err(_) if image.direct => Ok(None),
        made => made.map(|_| Some(image)),
    }
}

/// Refuses an image that came into memory though its loop device reads it directly.
fn require_not_read(image: Image) -> Result<()> {
    let after = page_cache::residency(from_ref(&image.file))?;
    match after.map_or(0, |after| after.resident_pages) {
        pages if image.direct && pages > 0 => Err(HarnessError::invalid(format!(
            "{pages} pages of the image {} came into memory, though its loop device reads it directly: \
             something else reads it; end that",
            image.file.display()
        ))),
        _ => Ok(()),
    }
}

impl Dropped {
    fn make(
        files: &[PathBuf],
        driver: u32,
        drop_names: impl FnOnce() -> Result<()>,
    ) -> Result<Self> {
        let least_bytes = least_bytes(files)?;
        let mut processes = with_children(driver);
        processes.insert(std::process::id());
        // Several may run the same files.
        let programs: BTreeSet<PathBuf> =
            processes.iter().copied().flat_map(program_files).collect();
        drop_names()?;
        // What runs is in memory itself.
        page_cache::warm(&Vec::from_iter(programs))?;
        Ok(Self {
            fetched_bytes: fetched(&processes)?,
            processes,
            least_bytes,
        })
    }

    /// `data_pages` are those that the block brought into the page cache.
    fn proved(&self, data_pages: u64, files: usize) -> Result<MetadataReads> {
        let data = data_pages.saturating_mul(platform::page_bytes());
        let reads = MetadataReads {
            bytes: fetched(&self.processes)?
                .saturating_sub(self.fetched_bytes)
                .saturating_sub(data),
            least_bytes: self.least_bytes,
        };
        match reads.are_enough() {
            true => Ok(reads),
            false => Err(in_memory(&reads, files)),
        }
    }
}

fn in_memory(reads: &MetadataReads, files: usize) -> HarnessError {
    HarnessError::invalid(format!(
        "names were in memory though they were dropped: for {files} files the storage delivered {} \
         bytes beside data, and would have delivered at least {}; something else reads these files or \
         keeps them open: end it, or measure cold reads of data alone (--cache-state cold)",
        reads.bytes, reads.least_bytes
    ))
}

/// What has to be fetched at least to find these files, where nothing of their names is in memory: half
/// of the reads that their inodes take, for others may have looked at neighbours meanwhile. Too few inodes
/// prove nothing: 0.
fn least_bytes(files: &[PathBuf]) -> Result<u64> {
    let mut reads = BTreeSet::new();
    for file in files {
        let found = file
            .symlink_metadata()
            .map_err(HarnessError::io("look at", file))?;
        reads.insert((found.dev(), found.ino() / SHARED_READ_INODES));
    }
    Ok(match reads.len() {
        groups if groups < LEAST_GROUPS => 0,
        groups => groups as u64 / 2 * LEAST_READ_BYTES,
    })
}

/// Bytes that these processes have had from storage up to now. What one had that has ended is its
/// parent's.
fn fetched(processes: &BTreeSet<u32>) -> Result<u64> {
    let each = processes.iter().filter_map(|process| io(*process));
    let all = each
        .map(|io| io.storage_read_bytes)
        .reduce(u64::saturating_add);
    all.ok_or_else(|| {
        HarnessError::invalid(
            "reads without names in memory cannot be verified here: /proc/PID/io does not tell what is \
             fetched from storage; measure cold reads of data alone (--cache-state cold)",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(least_bytes: u64) -> Dropped {
        Dropped {
            processes: BTreeSet::from([std::process::id()]),
            fetched_bytes: 0,
            least_bytes,
        }
    }

    #[test]
    fn a_block_that_had_less_from_storage_than_its_names_take_is_refused_with_a_way_out() {
        if io(std::process::id()).is_none() {
            return;
        }
        let error = dropped(u64::MAX).proved(0, 300).unwrap_err().to_string();
        for part in ["names were in memory", "300 files", "--cache-state cold"] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(error.lines().count(), 1);
        assert!(dropped(0).proved(0, 300).is_ok());
    }

    #[test]
    fn data_is_not_taken_for_names() {
        if io(std::process::id()).is_none() {
            return;
        }
        let of_data = dropped(1).proved(u64::MAX, 300);
        assert!(of_data.is_err(), "all that was fetched is data");
    }

    #[test]
    fn many_files_take_reads_of_their_own_and_few_prove_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let files: Vec<PathBuf> = (0..16_000)
            .map(|number| directory.path().join(number.to_string()))
            .collect();
        for file in &files {
            std::fs::write(file, "").unwrap();
        }
        assert_eq!(least_bytes(&files[..1]).unwrap(), 0);
        // Should their numbers follow each other, 3,000 files take 48 groups: less than the inode of
        // their directory by itself.
        let one_name = 131_072;
        let least = least_bytes(&files[..3_000]).unwrap();
        assert!(least == 0 || least > 3 * one_name, "{least}");
        // 16,000 numbers lie in 250 groups of 64 at least, and each file in one.
        let least = least_bytes(&files).unwrap();
        assert!((125 * 4096..=8_000 * 4096).contains(&least), "{least}");
    }

    /// Takes root, and a file system on a disk; to be run alone, for what others read is counted:
    /// `cargo test -p stowplan-harness -- --ignored names_that_were_dropped`.
    #[test]
    #[ignore = "empties the page cache of the whole machine"]
    fn names_that_were_dropped_are_fetched_again_and_those_that_were_not_are_noticed() {
        let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let files: Vec<PathBuf> = (0..16_000)
            .map(|number| directory.path().join(number.to_string()))
            .collect();
        for file in &files {
            std::fs::write(file, [7; 100]).unwrap();
        }
        let own = std::process::id();
        let read = |drop_names: fn() -> Result<()>| {
            let cold = Cold {
                residency: page_cache::make_cold(&files).unwrap(),
                names: Some(Dropped::make(&files, own, drop_names).unwrap()),
                image: None,
                files: files.clone(),
            };
            page_cache::warm(&files).unwrap();
            cold.after()
        };
        let (residency, reads) = read(page_cache::drop_everything).unwrap();
        assert_eq!(residency.after_block_pages, Some(residency.checked_pages));
        assert!(reads.unwrap().least_bytes > 0);
        let error = read(|| Ok(())).unwrap_err().to_string();
        assert!(error.contains("names were in memory"), "{error}");
    }
}
