//! Whether an archive is whole: its database, every name, every value.

use crate::error::{Refusal, Refusals};
use crate::outside::directory_of_outside;
use crate::read::Reader;
use crate::rows::each_row;
use crate::sqlar::{Archive, Entry, Kind, NAMED};
use crate::walk::Walk;
use crate::{ArchiveError, Watch};
use parking_lot::Mutex;
use std::path::Path;

/// What was looked at, and what is wrong with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verified {
    /// Entries that are whole.
    pub entries: u64,
    /// Bytes of the files among them.
    pub bytes: u64,
    /// How many of them have no checksum: of these a changed byte is not found.
    pub unchecked: u64,
    /// What SQLite finds wrong with the database, line by line.
    pub database: Vec<String>,
    /// What is wrong with entries: all that `unpack` would not unpack.
    pub refused: Refusals,
}

impl Verified {
    /// Whether nothing is wrong.
    pub fn is_whole(&self) -> bool {
        self.database.is_empty() && self.refused.is_empty()
    }

    fn count(&mut self, entry: &Entry) {
        self.entries += 1;
        self.unchecked += u64::from(!entry.has_checksum());
        if entry.kind == Kind::File {
            self.bytes += entry.size;
        }
    }
}

/// Looks at everything in an archive and beside it.
///
/// # Errors
/// It is no archive, or cannot be read at all, or `watch` wants it to end. What is wrong with a part of
/// it is in what is returned.
pub fn verify(archive: &Path, watch: &dyn Watch) -> Result<Verified, ArchiveError> {
    let opened = Archive::open(archive)?;
    let database = opened.integrity()?;
    let mut verified = verify_entries(archive, watch)?;
    verified.database = database;
    look_beside(&opened, &mut verified)?;
    Ok(verified)
}

/// Reads every value, and holds it against its checksum.
pub(crate) fn verify_entries(archive: &Path, watch: &dyn Watch) -> Result<Verified, ArchiveError> {
    let counted = Mutex::new(Verified::default());
    let look = |(): &mut (), reader: &mut Reader, entry: &Entry| {
        reader.copy(entry, &mut |_| Ok(()))?;
        counted.lock().count(entry);
        Ok(())
    };
    let refused = each_row(archive, watch, &|| Ok(()), &look)?;
    Ok(Verified {
        refused,
        ..counted.into_inner()
    })
}

/// Files beside the archive that it does not know.
fn look_beside(archive: &Archive, verified: &mut Verified) -> Result<(), ArchiveError> {
    let beside = directory_of_outside(archive.path());
    // A link in its place is none of ours; each file that should be there is told.
    let is_directory = beside.symlink_metadata().is_ok_and(|found| found.is_dir());
    if !archive.has_outside() || !is_directory {
        return Ok(());
    }
    let mut walk = Walk::of(&beside, Vec::new())?;
    while let Some(found) = walk.next(&mut verified.refused)? {
        if found.kind == Kind::Directory {
            continue;
        }
        let mut is_known = false;
        archive.rows(true, NAMED, &[&found.path], &mut |_| {
            is_known = true;
            Ok(())
        })?;
        if !is_known {
            let shown = format!("{}/{}", beside.display(), found.path);
            let why = "it lies beside the archive, which does not know it";
            verified.refused.add(Refusal::new(shown, why));
        }
    }
    Ok(())
}
