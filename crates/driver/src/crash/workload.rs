//! The program that is run on the recording file system: commits, and tells of each.

use super::CrashTask;
use super::plan::{Change, Plan};
use crate::{DriverError, Result};
use std::io::Write;
use std::path::Path;
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Access, Found, Key, Session};

/// Makes the store in an empty directory, brings its first values to rest, and from then on tells a
/// line `ack N` to `tell` as each commit returns.
///
/// # Errors
/// The store refuses, or nobody listens.
pub fn workload(task: &CrashTask, directory: &Path, tell: &mut dyn Write) -> Result<()> {
    let resolved = task.resolved()?;
    committed(task, &resolved, directory, tell).map_err(|error| error.of(resolved.kind.name()))
}

fn committed(
    task: &CrashTask,
    resolved: &Resolved,
    directory: &Path,
    tell: &mut dyn Write,
) -> Result<(), DriverError> {
    let plan = task.plan(resolved);
    first_values(resolved, &plan, directory)?;
    let mut say = |line: String| {
        let told = tell.write_all(line.as_bytes()).and_then(|()| tell.flush());
        told.map_err(|error| DriverError::invalid(format!("cannot tell of a commit: {error}")))
    };
    say("base\n".to_owned())?;
    let store = resolved.kind.open(directory, &resolved.settings)?;
    let mut session = store.connect()?;
    for (number, step) in (1..).zip(&plan.steps) {
        if plan.transactions {
            session.begin(Access::Write)?;
        }
        for (key, change) in step {
            apply(&mut *session, &plan, (*key, *change), number)?;
        }
        if plan.transactions {
            session.commit()?;
        }
        say(format!("ack {number}\n"))?;
    }
    session.close()?;
    Ok(store.close()?)
}

/// What lies there long before: written, checked in, closed.
fn first_values(resolved: &Resolved, plan: &Plan, directory: &Path) -> Result<()> {
    let store = resolved.kind.create(directory, &resolved.settings)?;
    let mut session = store.connect()?;
    if plan.transactions {
        session.begin(Access::Write)?;
    }
    for key in plan.first_keys() {
        session.insert(Key(key), &plan.value(key, 0))?;
    }
    if plan.transactions {
        session.commit()?;
    }
    session.close()?;
    store.checkpoint()?;
    Ok(store.close()?)
}

fn apply(
    session: &mut dyn Session,
    plan: &Plan,
    (key, change): (u64, Change),
    number: u64,
) -> Result<()> {
    let missing = || DriverError::invalid(format!("key {key} is not there before commit {number}"));
    match change {
        Change::Insert => session.insert(Key(key), &plan.value(key, number))?,
        Change::Overwrite => match session.overwrite(Key(key), &plan.value(key, number))? {
            Found::Bytes(_) => {}
            Found::Missing => return Err(missing()),
        },
        Change::Delete => match session.delete(Key(key))? {
            true => {}
            false => return Err(missing()),
        },
    }
    Ok(())
}
