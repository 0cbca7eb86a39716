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
