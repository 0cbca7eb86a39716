//! How often a store syncs: measured commit by commit.

use crate::{Access, Found, Key, Kind, Result, Session, StoreError, sync_calls};
use std::path::Path;
use stowplan_model::Settings;

/// Values below a page, of a few pages, and of many.
const SIZES: [usize; 3] = [100, 5000, 300_000];

/// Commits of each size.
const COMMITS: u8 = 6;

/// The fewest sync calls that any commit of an overwrite made, in a new store below `directory`,
/// which must exist and be empty: what [`Capabilities::syncs_per_commit`] declares. Half of the
/// overwrites are a transaction of their own, half lie between `begin` and `commit`; where a store
/// can, some change the size of the value.
///
/// Sync calls are counted for the whole process, so it means something only while no other thread
/// syncs; and nothing where they are not counted ([`SYNC_CALLS_COUNTED`]).
///
/// # Errors
/// The store refuses, or says that it overwrote a value of another size.
///
/// [`Capabilities::syncs_per_commit`]: stowplan_model::Capabilities::syncs_per_commit
/// [`SYNC_CALLS_COUNTED`]: crate::SYNC_CALLS_COUNTED
pub fn fewest_syncs(kind: &Kind, settings: &Settings, directory: &Path) -> Result<u64> {
    let resizes = kind.capabilities(settings)?.resizes;
    let store = kind.create(directory, settings)?;
    let mut session = store.connect()?;
    session.begin(Access::Write)?;
    for (key, bytes) in (1..).zip(SIZES) {
        session.insert(Key(key), &vec![0; bytes])?;
    }
    session.commit()?;
    let mut fewest = u64::MAX;
    for (key, bytes) in (1..).zip(SIZES) {
        for version in 1..=COMMITS {
            let grown = resizes && version % 3 == 0;
            let bytes = if grown { 2 * bytes } else { bytes };
            let value = vec![version; bytes];
            let within = version % 2 == 0;
            let syncs = syncs_of_overwrite(kind.name(), &mut *session, Key(key), &value, within)?;
            fewest = fewest.min(syncs);
        }
    }
    session.close()?;
    Ok(fewest)
}

/// The syncs of one overwrite, as a transaction of its own or between `begin` and `commit`.
fn syncs_of_overwrite(
    store: &'static str,
    session: &mut dyn Session,
    key: Key,
    value: &[u8],
    within: bool,
) -> Result<u64> {
    let before = sync_calls();
    if within {
        session.begin(Access::Write)?;
    }
    let found = session.overwrite(key, value)?;
    if within {
        session.commit()?;
    }
    if found != Found::Bytes(value.len()) {
        return Err(StoreError::Damaged {
            store,
            key: key.0,
            detail: format!("overwritten by {} bytes, it is {found:?}", value.len()),
        });
    }
    Ok(sync_calls().since(&before).total())
}
