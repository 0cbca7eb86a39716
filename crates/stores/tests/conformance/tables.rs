//! Checks of what a store says it can do: of tables, and of what it does not declare.

use super::subject::{Outcome, Subject, ensure, expect_missing, expect_value, fill, value};
use crate::{Key, Result, Session};
use stowplan_model::Operation;

const KEYS: u64 = 5;
const BYTES: usize = 3000;

pub(super) fn declares(subject: &Subject<'_>, operation: Operation) -> bool {
    subject.capabilities.operations.contains(&operation)
}

/// A table that was dropped takes its values along, and one that is made is empty and can be used,
/// by this connection and after the store was opened again.
pub(super) fn tables(subject: &Subject<'_>) -> Outcome {
    let (drops, creates) = (
        declares(subject, Operation::DropTable),
        declares(subject, Operation::CreateTable),
    );
    ensure(drops == creates, || {
        "of making and dropping tables, it declares only one".to_owned()
    })?;
    if !drops {
        return Ok(());
    }
    let store = subject.create()?;
    let mut connection = store.connect()?;
    for version in 0..2 {
        let session = &mut *connection;
        fill(&mut *session, KEYS, BYTES)?;
        session.overwrite(Key(1), &value(1, version, BYTES))?;
        session.drop_table()?;
        ensure(session.drop_table().is_err(), || {
            "a table was dropped twice".to_owned()
        })?;
        session.create_table()?;
        expect_empty(session)?;
    }
    fill(&mut *connection, 1, BYTES)?;
    connection.close()?;
    if !subject.capabilities.persistent {
        return Ok(());
    }
    drop(store);
    let store = subject.open()?;
    subject.with_session(&*store, |session| {
        expect_value(session, 1, &value(1, 0, BYTES))?;
        (2..=KEYS).try_for_each(|key| expect_missing(session, key))?;
        session.insert(Key(2), &value(2, 0, BYTES))?;
        expect_value(session, 2, &value(2, 0, BYTES))
    })
}

fn expect_empty(session: &mut dyn Session) -> Outcome {
    (1..=KEYS).try_for_each(|key| expect_missing(session, key))?;
    let visited = session.scan(Key(0), usize::MAX, &mut |_, _| ())?;
    ensure(visited == 0, || format!("a new table has {visited} values"))
}

/// What is not declared is refused, and changes nothing, or it is done; but it is not passed over.
/// What is declared is done by the other checks.
pub(super) fn undeclared(subject: &Subject<'_>) -> Outcome {
    let undeclared = |operation| !declares(subject, operation);
    subject.with_values(KEYS, BYTES, |session| {
        if undeclared(Operation::CreateTable) {
            expect_refused("create", session.create_table())?;
        }
        if undeclared(Operation::DropTable) {
            expect_refused("drop", session.drop_table())?;
        }
        if undeclared(Operation::Scan) {
            expect_all_or_refused(session)?;
        }
        let deleted = undeclared(Operation::Delete) && session.delete(Key(2)).is_ok();
        let gone = deleted.then_some(2);
        for key in (1..=KEYS).filter(|key| Some(*key) != gone) {
            expect_value(session, key, &value(key, 0, BYTES))?;
        }
        gone.map_or(Ok(()), |key| expect_missing(session, key))
    })
}

fn expect_refused(what: &str, outcome: Result<()>) -> Outcome {
    ensure(outcome.is_err(), || {
        format!("it does not declare that it can {what} a table, and says that it did")
    })
}

fn expect_all_or_refused(session: &mut dyn Session) -> Outcome {
    let mut bytes = 0;
    let scanned = session.scan(Key(0), usize::MAX, &mut |_, value| bytes += value.len());
    let Ok(visited) = scanned else {
        return Ok(());
    };
    let all = KEYS as usize;
    ensure(visited == all && bytes == all * BYTES, || {
        format!("a scan that is not declared visited {visited} of {all} values")
    })
}
