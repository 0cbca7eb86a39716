//! What is left in a crash state, held against what had been committed.

use super::CrashTask;
use super::plan::Plan;
use crate::{DriverError, Result};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::path::Path;
use stowplan_model::{Fate, Judged, ToJudge, decode, encode};
use stowplan_stores::registry::Resolved;
use stowplan_stores::{Buffer, Found, Key, StoreError};

/// What is under a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// This version, whole; nothing if there is none.
    Version(Option<u64>),
    /// The beginning of this version, and not the rest.
    Part(u64),
    /// Bytes that nobody has written, and their number.
    Strange(usize),
}

/// Judges the states that `input` names, line by line, until it ends, and answers each by a line. An
/// engine that takes its process along is judged by whoever started that.
///
/// # Errors
/// The store does not exist, or nobody listens.
pub fn judge(task: &CrashTask, input: &mut dyn BufRead, output: &mut dyn Write) -> Result<()> {
    let resolved = task.resolved()?;
    let plan = task.plan(&resolved);
    for line in input.lines() {
        let line = line.map_err(|error| DriverError::invalid(error.to_string()))?;
        let asked: ToJudge =
            decode(&line).map_err(|error| DriverError::invalid(error.to_string()))?;
        let judged = one(&resolved, &plan, &asked);
        let said = writeln!(output, "{}", encode(&judged)).and_then(|()| output.flush());
        said.map_err(|error| DriverError::invalid(error.to_string()))?;
    }
    Ok(())
}

fn one(resolved: &Resolved, plan: &Plan, asked: &ToJudge) -> Judged {
    match look(resolved, plan, &asked.directory) {
        Err((fate, error)) => Judged::of(fate, error.of(resolved.kind.name()).to_string()),
        Ok(seen) if plan.transactions => of_transactions(plan, &seen, asked.acked),
        Ok(seen) => of_values(plan, &seen, asked.acked),
    }
}

/// Opens the store, which recovers it, has it check itself, and reads every key that there may be.
fn look(
    resolved: &Resolved,
    plan: &Plan,
    directory: &Path,
) -> Result<BTreeMap<u64, Seen>, (Fate, StoreError)> {
    let closed = |error| (Fate::Unopenable, error);
    let corrupt = |error| (Fate::Corrupt, error);
    let store = resolved
        .kind
        .open(directory, &resolved.settings)
        .map_err(closed)?;
    let mut session = store.connect().map_err(closed)?;
    session.check_integrity().map_err(corrupt)?;
    let mut buffer = Buffer::with_capacity(1).map_err(corrupt)?;
    let mut seen = BTreeMap::new();
    for key in plan.histories.keys() {
        let found = session.read_into(Key(*key), &mut buffer).map_err(corrupt)?;
        let value = match found {
            Found::Missing => Seen::Version(None),
            Found::Bytes(_) => value(plan, *key, buffer.bytes()),
        };
        seen.insert(*key, value);
    }
    session.close().map_err(corrupt)?;
    store.close().map_err(corrupt)?;
    Ok(seen)
}

fn value(plan: &Plan, key: u64, bytes: &[u8]) -> Seen {
    match plan.version_of(key, bytes) {
        Some(version) if plan.value(key, version) == bytes => Seen::Version(Some(version)),
        Some(version) => Seen::Part(version),
        None => Seen::Strange(bytes.len()),
    }
}

/// A value that is not whole.
fn damaged(seen: &BTreeMap<u64, Seen>) -> Option<Judged> {
    let damage = seen.iter().filter_map(|(key, seen)| match seen {
        Seen::Version(_) => None,
        Seen::Part(version) => Some(Judged::of(
            Fate::Torn,
            format!("value {key} is version {version} in part"),
        )),
        // What was cut off, as a file that was truncated and not yet written.
        Seen::Strange(0) => Some(Judged::of(Fate::Torn, format!("value {key} is empty"))),
        Seen::Strange(bytes) => Some(Judged::of(
            Fate::Corrupt,
            format!("value {key} is {bytes} bytes that nobody has written"),
        )),
    });
    damage.max_by_key(|judged| judged.fate)
}

/// Of a store with transactions: it must be what some number of them left, and at least those that were
/// acknowledged.
fn of_transactions(plan: &Plan, seen: &BTreeMap<u64, Seen>, acked: u64) -> Judged {
    if let Some(damage) = damaged(seen) {
        return damage;
    }
    let is_after = |number: u64| {
        let mut keys = seen.iter();
        keys.all(|(key, seen)| *seen == Seen::Version(plan.after(*key, number)))
    };
    // One may have been begun besides.
    match (0..=acked + 1).rev().find(|number| is_after(*number)) {
        Some(number) if number >= acked => Judged::default(),
        Some(number) => Judged {
            lost: acked - number,
            first_lost: Some(number + 1),
            ..Judged::of(Fate::Lost, format!("commits up to {number} are there"))
        },
        None => in_part(plan, seen, acked),
    }
}

/// What is there is the work of some transactions and not of others: of one in part, or of a later one
/// without an earlier one.
fn in_part(plan: &Plan, seen: &BTreeMap<u64, Seen>, acked: u64) -> Judged {
    let mut gone: Option<u64> = None;
    for (number, step) in (1..=acked + 1).zip(&plan.steps) {
        let (mut there, mut missing) = (0, 0);
        for (key, _) in step {
            match state_of(plan, seen, *key, (number, acked + 1)) {
                State::There => there += 1,
                State::Missing => missing += 1,
                State::Hidden => {}
            }
        }
        if there > 0 && missing > 0 {
            return Judged::of(
                Fate::Torn,
                format!("of commit {number} {there} keys are there and {missing} are not"),
            );
        }
        if missing > 0 {
            gone = gone.or(Some(number));
        }
    }
    let lost = gone.filter(|gone| *gone <= acked);
    Judged {
        lost: lost.map_or(0, |gone| acked - gone + 1),
        first_lost: lost,
        ..Judged::of(
            Fate::Reordered,
            format!(
                "commit {} is not there, and later ones are",
                gone.unwrap_or(0)
            ),
        )
    }
}

/// What a transaction has left of a key.
enum State {
    There,
    Missing,
    /// A later one has replaced it.
    Hidden,
}

/// What the transaction `number` has left of a key, of those up to `begun`.
fn state_of(
    plan: &Plan,
    seen: &BTreeMap<u64, Seen>,
    key: u64,
    (number, begun): (u64, u64),
) -> State {
    let Some(Seen::Version(version)) = seen.get(&key) else {
        return State::Missing;
    };
    let history = plan.histories.get(&key).map_or(&[][..], Vec::as_slice);
    // That a key is not there may be the work of several; of the last one before its next version.
    let of = |(from, each): &&(u64, Option<u64>)| each == version && *from <= number;
    let mut since = history.iter().filter(of).map(|(from, _)| *from);
    if since.next_back() == Some(number) {
        return State::There;
    }
    let later =
        |(from, each): &(u64, Option<u64>)| each == version && (number + 1..=begun).contains(from);
    match history.iter().any(later) {
        true => State::Hidden,
        false => State::Missing,
    }
}

/// Of a store without transactions: each value for itself.
fn of_values(plan: &Plan, seen: &BTreeMap<u64, Seen>, acked: u64) -> Judged {
    if let Some(damage) = damaged(seen) {
        return damage;
    }
    let (mut lost, mut first_lost, mut last_there) = (0, None::<u64>, 0);
    for (key, history) in &plan.histories {
        let Some(Seen::Version(version)) = seen.get(key) else {
            continue;
        };
        let begun = history.iter().filter(|(from, _)| *from <= acked + 1);
        let Some((from, _)) = begun.clone().rev().find(|(_, each)| each == version) else {
            return Judged::of(Fate::Corrupt, format!("value {key} is gone"));
        };
        last_there = last_there.max(*from);
        for (number, _) in begun.filter(|(number, _)| number > from && *number <= acked) {
            lost += 1;
            first_lost = Some(first_lost.map_or(*number, |first| first.min(*number)));
        }
    }
    let Some(first) = first_lost else {
        return Judged::default();
    };
    let (fate, note) = match last_there > first {
        true => (
            Fate::Reordered,
            format!("commit {first} is not there, and {last_there} is"),
        ),
        false => (Fate::Lost, format!("commit {first} is not there")),
    };
    Judged {
        lost,
        first_lost,
        ..Judged::of(fate, note)
    }
}

#[cfg(test)]
mod tests;
