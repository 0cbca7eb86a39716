//! What a connection has done to every value before a block, where the study says so.

use crate::DriverError;
use crate::timing::Operator;
use stowplan_model::Operation;
use stowplan_stores::{Access, Found, Key, StoreError};

/// Does it, each kind in a transaction of its own, to all keys in their order. What is overwritten keeps
/// its bytes, so that the store holds what it must.
pub(crate) fn before(operator: &mut Operator<'_>) -> Result<(), DriverError> {
    if operator.workload.after.is_none() {
        return Ok(());
    }
    let mut keys = Vec::new();
    let mut note = |key: Key, _: &[u8]| keys.push(key);
    operator.session.scan(Key(0), usize::MAX, &mut note)?;
    for operation in operator.workload.after.operations() {
        let access = match operation.writes() {
            true => Access::Write,
            false => Access::Read,
        };
        operator.session.begin(access)?;
        for key in &keys {
            one(operator, operation, *key)?;
        }
        operator.session.commit()?;
    }
    Ok(())
}

fn one(operator: &mut Operator<'_>, operation: Operation, key: Key) -> Result<(), StoreError> {
    let Operator {
        session, buffer, ..
    } = operator;
    match operation {
        Operation::Delete => session.delete(key).map(drop),
        Operation::Overwrite => match session.read_into(key, buffer)? {
            Found::Bytes(_) => session.overwrite(key, buffer.bytes()).map(drop),
            Found::Missing => Ok(()),
        },
        _ => session.read_into(key, buffer).map(drop),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::{EarlierPhases, Workload};
    use stowplan_stores::{Buffer, COMMITS_COUNTED, registry};

    /// What is left of three values, and the transactions that wrote, after these phases.
    fn after(phases: &[Operation]) -> (Vec<(u64, Vec<u8>)>, u64) {
        let place = tempfile::tempdir().unwrap();
        let sqlite = registry::resolve(&"sqlite".parse().unwrap(), 0).unwrap();
        let store = sqlite.kind.create(place.path(), &sqlite.settings).unwrap();
        let mut connection = store.connect().unwrap();
        let workload = Workload {
            operation: Operation::DropTable,
            after: EarlierPhases::try_from(phases.to_vec()).unwrap(),
            ..Workload::default()
        };
        let mut session = connection.session().unwrap();
        for key in 1..=3 {
            session.insert(Key(key), &[key as u8; 9]).unwrap();
        }
        let mut operator = Operator {
            session,
            workload: &workload,
            buffer: Buffer::with_capacity(0).unwrap(),
        };
        before(&mut operator).unwrap();
        let mut left = Vec::new();
        let mut note = |key: Key, value: &[u8]| left.push((key.0, value.to_vec()));
        operator.session.scan(Key(0), 9, &mut note).unwrap();
        let commits = operator.session.counters().unwrap()[COMMITS_COUNTED];
        (left, commits - 3)
    }

    #[test]
    fn what_was_overwritten_keeps_its_bytes_and_what_was_deleted_is_gone() {
        let all: Vec<(u64, Vec<u8>)> = (1..=3).map(|key| (key, vec![key as u8; 9])).collect();
        assert_eq!(after(&[]), (all.clone(), 0));
        assert_eq!(after(&[Operation::Read]), (all.clone(), 0));
        assert_eq!(after(&[Operation::Overwrite]), (all, 1));
        // Deleting comes last, in whichever order they are named.
        let both = [Operation::Delete, Operation::Overwrite];
        assert_eq!(after(&both), (Vec::new(), 2));
    }
}
