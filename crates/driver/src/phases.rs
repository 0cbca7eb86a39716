//! What a connection has done before a block, where the study says so.

use crate::timing::Operator;
use crate::{DriverError, Result};
use stowplan_model::Operation;
use stowplan_stores::{Access, Found, Key, StoreError};

/// What a new table gets is held in memory; more than this is refused.
const MOST_BYTES: usize = 64 << 20;

/// A key, and its value where that is inserted again.
type Row = (Key, Box<[u8]>);

/// Does it, each kind in a transaction of its own, to all keys in their order. What is overwritten keeps
/// its bytes, and a table that is made anew gets what the one before it had, so that the store holds what
/// it must.
pub(crate) fn before(operator: &mut Operator<'_>) -> Result<()> {
    if operator.workload.after.is_none() {
        return Ok(());
    }
    let rows = rows(operator)?;
    for operation in operator.workload.after.operations() {
        if operation == Operation::CreateTable {
            operator.session.drop_table()?;
            operator.session.create_table()?;
            continue;
        }
        let access = match operation.writes() {
            true => Access::Write,
            false => Access::Read,
        };
        operator.session.begin(access)?;
        for row in &rows {
            one(operator, operation, row)?;
        }
        operator.session.commit()?;
    }
    Ok(())
}

/// What is there.
fn rows(operator: &mut Operator<'_>) -> Result<Vec<Row>> {
    let again = operator.workload.after.has(Operation::Insert);
    let (mut rows, mut bytes) = (Vec::new(), 0);
    let mut note = |key: Key, value: &[u8]| {
        bytes += value.len();
        let held = again && bytes <= MOST_BYTES;
        rows.push((key, Box::from(if held { value } else { &[] })));
    };
    operator.session.scan(Key(0), usize::MAX, &mut note)?;
    if again && bytes > MOST_BYTES {
        return Err(DriverError::invalid(format!(
            "after = [\"insert\"] is for {} MiB of values at most, which are held in memory, and these are \
             {bytes} bytes; take fewer values",
            MOST_BYTES >> 20
        )));
    }
    Ok(rows)
}

fn one(
    operator: &mut Operator<'_>,
    operation: Operation,
    (key, value): &Row,
) -> Result<(), StoreError> {
    let Operator {
        session, buffer, ..
    } = operator;
    match operation {
        Operation::Insert => session.insert(*key, value),
        Operation::Delete => session.delete(*key).map(drop),
        Operation::Overwrite => match session.read_into(*key, buffer)? {
            Found::Bytes(_) => session.overwrite(*key, buffer.bytes()).map(drop),
            Found::Missing => Ok(()),
        },
        _ => session.read_into(*key, buffer).map(drop),
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
        let mut session = store.connect().unwrap();
        let workload = Workload {
            operation: Operation::DropTable,
            after: EarlierPhases::try_from(phases.to_vec()).unwrap(),
            ..Workload::default()
        };
        for key in 1..=3 {
            session.insert(Key(key), &[key as u8; 9]).unwrap();
        }
        let mut operator = Operator {
            session: &mut *session,
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
        assert_eq!(after(&[Operation::Overwrite]), (all.clone(), 1));
        // A table made anew gets what was there, where that is inserted.
        let anew = [Operation::CreateTable, Operation::Insert];
        assert_eq!(after(&anew).0, all);
        assert_eq!(after(&[Operation::CreateTable]).0, []);
        // Deleting comes last, in whichever order they are named.
        let both = [Operation::Delete, Operation::Overwrite];
        assert_eq!(after(&both), (Vec::new(), 2));
    }
}
