//! What must hold of any bytes whatever that lie where a database is looked for. Property tests damage
//! what was written, fuzz targets (`fuzz/`) find more by following the code.

#![expect(
    clippy::missing_panics_doc,
    reason = "a check says that it failed by panicking"
)]

use crate::inspect::{self, Container, Database};
use std::path::Path;
use stowplan_stores::StoreError;

/// A database, or what is taken for one: all that is asked of it is answered or refused. Returns
/// whether it was taken for one.
pub fn database(path: &Path) -> bool {
    if !matches!(inspect::recognise(path), Ok(Container::Database)) {
        return false;
    }
    let Ok(database) = Database::open(path) else {
        return true;
    };
    // Whatever is refused is refused in words; nothing here may panic.
    let _ = database.integrity_check(10);
    let _ = (database.number("page_size"), database.number("page_count"));
    let _ = (database.number("freelist_count"), database.count());
    let mut listed = Vec::new();
    let complete = database.values(&mut |key, bytes| {
        let before = listed.last().map_or(0, |(before, _)| *before);
        assert!(before < key, "keys begin at 1 and rise");
        listed.push((key, bytes));
        Ok(())
    });
    let mut read = Vec::new();
    let scanned = database.scan::<StoreError>(|key, value| {
        read.push((key, value.len() as u64));
        Ok(())
    });
    if complete.is_ok() && scanned.is_ok() {
        assert_eq!(read, listed, "what is listed is what is read");
    }
    true
}
