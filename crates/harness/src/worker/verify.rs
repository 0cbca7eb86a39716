//! Reading every value once, untimed, and comparing it with what it must be.

use super::build::{PROGRESS_EVERY, load};
use super::measure::{needs_loading, open_store};
use super::{Values, Wire, no_dataset};
use crate::sequence::Step;
use crate::{HarnessError, versions};
use stowplan_model::{Action, Delivery, FromWorker, Job, Verification};
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
    // As the workload reads values; what it does otherwise says nothing about reading them.
    let delivery = if job.workload.pattern().contains(&Action::Read) {
        job.workload.delivery
    } else {
        Delivery::Copy
    };
    session.begin(Access::Read)?;
    let mut overwritten = 0;
    for (key, version) in (1..=count).zip(&versions) {
        let bytes = u32::try_from(dataset.size(key)).unwrap_or(u32::MAX);
        let step = Step::reading(key, bytes);
        checker.check(&mut *session, delivery, step, *version)?;
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
        self.check_any(session, delivery, step, &[version])
            .map(|_| ())
    }

    /// Checks one value, which must be one of several versions; returns which.
    pub(super) fn check_any(
        &mut self,
        session: &mut dyn Session,
        delivery: Delivery,
        step: Step,
        versions: &[u32],
    ) -> Result<u32, HarnessError> {
        let Step { key, bytes, .. } = step;
        let values = self.values;
        let which = |value: &[u8]| {
            let mut versions = versions.iter().copied();
            versions.find(|version| values.right(key, *version, value))
        };
        let mut version = None;
        let found = match delivery {
            Delivery::Copy => {
                let found = session.read_into(Key(key), &mut self.buffer)?;
                version = which(self.buffer.bytes());
                found
            }
            Delivery::InPlace => {
                session.read_in_place(Key(key), &mut |value| version = which(value))?
            }
        };
        let detail = match (found, version) {
            (Found::Missing, _) => "it is missing".to_owned(),
            (Found::Bytes(n), _) if n != bytes as usize => {
                format!("it has {n} bytes instead of {bytes}")
            }
            (Found::Bytes(_), Some(version)) => return Ok(version),
            (Found::Bytes(_), None) => {
                let versions: Vec<String> = versions.iter().map(u32::to_string).collect();
                format!(
                    "its bytes are not those of version {}",
                    versions.join(" or ")
                )
            }
        };
        Err(self.damaged(key, detail))
    }

    /// Checks that a value is not there.
    pub(super) fn check_gone(
        &mut self,
        session: &mut dyn Session,
        step: Step,
    ) -> Result<(), HarnessError> {
        match session.read_into(Key(step.key), &mut self.buffer)? {
            Found::Missing => Ok(()),
            Found::Bytes(_) => {
                Err(self.damaged(step.key, "it was deleted and is still there".to_owned()))
            }
        }
    }

    fn damaged(&self, key: u64, detail: String) -> HarnessError {
        StoreError::Damaged {
            store: self.store,
            key,
            detail,
        }
        .into()
    }
}
