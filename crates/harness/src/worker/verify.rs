//! Reading every value once, untimed, and comparing it with what it must be.

use super::build::{PROGRESS_EVERY, load};
use super::measure::{needs_loading, open_store};
use super::{Values, Wire, no_dataset};
use crate::sequence::Step;
use crate::{HarnessError, versions};
use stowplan_model::{Delivery, FromWorker, Job, Verification};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Access, Buffer, Found, Key, Session, StoreError};

pub(super) fn verify(
    job: &Job,
    resolved: &Resolved,
    wire: &mut Wire<'_>,
) -> Result<FromWorker, HarnessError> {
    let values = Values::of(job)?;
    let Values::Dataset(dataset) = &values else {
        return Err(no_dataset());
    };
    let (count, bytes) = (dataset.count(), dataset.total_bytes());
    let versions = match &job.versions {
        Some(versions) if resolved.capabilities.persistent => versions::read(versions, count)?,
        _ => vec![0; usize::try_from(count).unwrap_or(usize::MAX)],
    };
    let store = open_store(job, resolved)?;
    let mut connection = store.connect()?;
    if needs_loading(resolved) {
        load(&mut *connection, dataset, 1..=count, &mut |_| Ok(()))?;
    }
    let effective = connection.effective_settings()?;
    let mut session = connection.session()?;
    wire.ready(effective)?;
    let mut checker = Checker {
        buffer: Buffer::with_capacity(dataset.largest())?,
        values: &values,
        store: resolved.kind.name(),
    };
    session.begin(Access::Read)?;
    let mut overwritten = 0;
    for (key, version) in (1..=count).zip(&versions) {
        let bytes = u32::try_from(dataset.size(key)).unwrap_or(u32::MAX);
        let step = Step::reading(key, bytes);
        checker.check(&mut *session, job.workload.delivery, step, *version)?;
        overwritten += u64::from(*version > 0);
        if key % PROGRESS_EVERY == 0 {
            wire.say(&FromWorker::Progress {
                done: key,
                total: count,
            })?;
        }
    }
    session.commit()?;
    drop(session);
    connection.close()?;
    Ok(FromWorker::Verified(Verification {
        cell: job.cell.clone(),
        values: count,
        bytes,
        overwritten,
    }))
}

/// Reads values and compares them byte for byte with what they must be.
pub(super) struct Checker<'a> {
    pub(super) values: &'a Values,
    pub(super) buffer: Buffer,
    pub(super) store: &'static str,
}

impl Checker<'_> {
    /// Checks one value, which must have the size that its step says.
    pub(super) fn check(
        &mut self,
        session: &mut dyn Session,
        delivery: Delivery,
        step: Step,
        version: u32,
    ) -> Result<(), HarnessError> {
        let Step { key, bytes, .. } = step;
        let values = self.values;
        let mut good = false;
        let found = match delivery {
            Delivery::Copy => {
                let found = session.read_into(Key(key), &mut self.buffer)?;
                good = values.right(key, version, self.buffer.bytes());
                found
            }
            Delivery::InPlace => session.read_in_place(Key(key), &mut |bytes| {
                good = values.right(key, version, bytes);
            })?,
        };
        let detail = match found {
            Found::Missing => "it is missing".to_owned(),
            Found::Bytes(n) if n != bytes as usize => {
                format!("it has {n} bytes instead of {bytes}")
            }
            Found::Bytes(_) if good => return Ok(()),
            Found::Bytes(_) => format!("its bytes are not those of version {version}"),
        };
        Err(StoreError::Damaged {
            store: self.store,
            key,
            detail,
        }
        .into())
    }
}
