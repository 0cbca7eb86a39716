//! The checks, one function each.

use super::subject::{
    Complaint, Outcome, Subject, ensure, expect, expect_lent, expect_missing, expect_value, fill,
    value,
};
use super::{places, tables, threads};
use crate::{Access, Found, Key, SYNC_CALLS_COUNTED, Session, StoreError, sync_calls};
use std::sync::LazyLock;
use stowplan_model::{Durability, Operation};

type Check = fn(&Subject<'_>) -> Outcome;

/// Every check, with its name.
pub(super) const ALL: &[(&str, Check)] = &[
    ("round-trip", round_trip),
    ("any-bytes", any_bytes),
    ("empty-value", empty_value),
    ("large-value", large_value),
    ("overwrite", overwrite),
    ("resize", resize),
    ("delete", delete),
    ("unknown-key", unknown_key),
    ("existing-key", existing_key),
    ("several-rows", several_rows),
    ("in-place", in_place),
    ("scan", scan),
    ("scan-in-parts", scan_in_parts),
    ("places", places::places),
    ("key-forms", places::key_forms),
    ("reopen", reopen),
    ("commit", commit),
    ("rollback", rollback),
    ("one-transaction", one_transaction),
    ("footprint", footprint),
    ("effective-settings", effective_settings),
    ("data-files", data_files),
    ("durability", durability),
    ("tables", tables::tables),
    ("undeclared", tables::undeclared),
    ("readers-beside-a-writer", threads::readers_beside_a_writer),
    ("writers", threads::writers),
];

/// Around the sizes at which pages, overflow chains and buffers change.
const SIZES: &[usize] = &[1, 100, 511, 512, 4095, 4096, 4097, 10_000, 65_536, 100_001];

fn round_trip(subject: &Subject<'_>) -> Outcome {
    let store = subject.create()?;
    subject.with_session(&*store, |session| {
        let keys = || (1..).zip(SIZES);
        session.begin(Access::Write)?;
        for (key, bytes) in keys() {
            session.insert(Key(key), &value(key, 0, *bytes))?;
        }
        session.commit()?;
        // Once each in its own transaction, then in falling order within one.
        for (key, bytes) in keys() {
            expect_value(session, key, &value(key, 0, *bytes))?;
        }
        session.begin(Access::Read)?;
        let falling: Vec<_> = keys().take(SIZES.len()).collect();
        for (key, bytes) in falling.into_iter().rev() {
            expect_value(session, key, &value(key, 0, *bytes))?;
        }
        Ok(session.commit()?)
    })
}

/// Bytes that are no text come back as they were; a store of text says that it cannot keep them, and
/// keeps nothing else instead.
fn any_bytes(subject: &Subject<'_>) -> Outcome {
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().skip(0x80).take(10_000).collect();
    subject.with_values(1, 10_000, |session| {
        match session.insert(Key(2), &bytes) {
            Ok(()) => expect_value(session, 2, &bytes)?,
            Err(StoreError::Unsupported { .. }) => expect_missing(session, 2)?,
            Err(error) => return Err(error.into()),
        }
        match session.overwrite(Key(1), &bytes) {
            Ok(_) => expect_value(session, 1, &bytes),
            Err(StoreError::Unsupported { .. }) => expect_value(session, 1, &value(1, 0, 10_000)),
            Err(error) => Err(error.into()),
        }
    })
}

fn empty_value(subject: &Subject<'_>) -> Outcome {
    subject.with_values(2, 0, |session| {
        expect_value(session, 1, &[])?;
        expect(session.overwrite(Key(1), &[])?, Found::Bytes(0), || {
            "overwriting an empty value by an empty one".to_owned()
        })?;
        expect_value(session, 1, &[])?;
        expect(session.delete(Key(1))?, true, || {
            "deleting an empty value".to_owned()
        })?;
        expect_missing(session, 1)
    })
}

fn large_value(subject: &Subject<'_>) -> Outcome {
    const BYTES: usize = 5 << 20;
    // Made once for all stores: that takes longer than to write and read them.
    static VALUES: LazyLock<[Vec<u8>; 2]> =
        LazyLock::new(|| [0, 1].map(|version| value(1, version, BYTES)));
    let [first, second] = &*VALUES;
    let store = subject.create()?;
    subject.with_session(&*store, |session| {
        session.insert(Key(1), first)?;
        expect_value(session, 1, first)?;
        session.overwrite(Key(1), second)?;
        expect_value(session, 1, second)
    })
}

fn overwrite(subject: &Subject<'_>) -> Outcome {
    subject.with_values(3, 10_000, |session| {
        // A read before the write would uncover a stale copy after it.
        expect_value(session, 2, &value(2, 0, 10_000))?;
        for version in 1..=3 {
            let found = session.overwrite(Key(2), &value(2, version, 10_000))?;
            expect(found, Found::Bytes(10_000), || {
                "overwriting key 2".to_owned()
            })?;
            expect_value(session, 2, &value(2, version, 10_000))?;
        }
        session.begin(Access::Write)?;
        for key in 1..=3 {
            session.overwrite(Key(key), &value(key, 9, 10_000))?;
            expect_value(session, key, &value(key, 9, 10_000))?;
        }
        session.commit()?;
        (1..=3).try_for_each(|key| expect_value(session, key, &value(key, 9, 10_000)))
    })
}

/// Every way from one size to another; or, if the store cannot, an error that changes nothing.
fn resize(subject: &Subject<'_>) -> Outcome {
    subject.with_values(2, 10_000, |session| {
        let mut bytes = 10_000;
        for next in [100, 20_000, 4096, 0, 5000] {
            let overwritten = session.overwrite(Key(1), &value(1, next as u64, next));
            match (overwritten, subject.capabilities.resizes) {
                (Ok(found), true) => {
                    expect(found, Found::Bytes(next), || format!("resizing to {next}"))?;
                    bytes = next;
                    expect_value(session, 1, &value(1, bytes as u64, bytes))?;
                }
                (Err(error), true) => return Err(error.into()),
                (Ok(_), false) => {
                    return Err(Complaint(format!(
                        "{bytes} bytes were overwritten by {next} in spite of resizes=false"
                    )));
                }
                (Err(_), false) => expect_value(session, 1, &value(1, 0, bytes))?,
            }
        }
        expect_value(session, 2, &value(2, 0, 10_000))
    })
}

fn delete(subject: &Subject<'_>) -> Outcome {
    subject.with_values(3, 5000, |session| {
        expect_value(session, 2, &value(2, 0, 5000))?;
        expect(session.delete(Key(2))?, true, || {
            "deleting key 2".to_owned()
        })?;
        expect_missing(session, 2)?;
        expect(session.delete(Key(2))?, false, || {
            "deleting key 2 again".to_owned()
        })?;
        expect_value(session, 1, &value(1, 0, 5000))?;
        session.insert(Key(2), &value(2, 1, 6000))?;
        expect_value(session, 2, &value(2, 1, 6000))
    })
}

/// A key that is not there is missing to every operation, is not created by any, and leaves the
/// session as usable as before, within a transaction and outside.
fn unknown_key(subject: &Subject<'_>) -> Outcome {
    subject.with_values(2, 5000, |session| {
        for access in [None, Some(Access::Write)] {
            if let Some(access) = access {
                session.begin(access)?;
            }
            for key in [0, 3, 1_000_000, u64::MAX] {
                expect_value(session, 1, &value(1, 0, 5000))?;
                expect_unknown(subject, session, key)?;
                expect_value(session, 2, &value(2, 0, 5000))?;
            }
            if access.is_some() {
                session.commit()?;
            }
        }
        Ok(())
    })
}

fn expect_unknown(subject: &Subject<'_>, session: &mut dyn Session, key: u64) -> Outcome {
    expect_missing(session, key)?;
    if subject.delivers_in_place() {
        let mut visited = false;
        let found = session.read_in_place(Key(key), &mut |_| visited = true)?;
        expect(found, Found::Missing, || {
            format!("reading key {key} in place")
        })?;
        ensure(!visited, || format!("missing key {key} was lent"))?;
    }
    let found = session.overwrite(Key(key), &value(key, 1, 5000))?;
    expect(found, Found::Missing, || format!("overwriting key {key}"))?;
    expect(session.delete(Key(key))?, false, || {
        format!("deleting key {key}")
    })?;
    expect_missing(session, key)
}

fn existing_key(subject: &Subject<'_>) -> Outcome {
    subject.with_values(2, 5000, |session| {
        let inserted = session.insert(Key(1), &value(1, 1, 5000));
        ensure(inserted.is_err(), || {
            "key 1 was inserted a second time".to_owned()
        })?;
        expect_value(session, 1, &value(1, 0, 5000))?;
        session.insert(Key(3), &value(3, 0, 5000))?;
        expect_value(session, 3, &value(3, 0, 5000))
    })
}

/// Several rows by one call are added together or, if one of them cannot be, not at all.
fn several_rows(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.transactions {
        return Ok(());
    }
    let values: Vec<_> = (1..=3).map(|key| value(key, 1, 5000)).collect();
    let rows: Vec<(Key, &[u8])> = (1..)
        .map(Key)
        .zip(values.iter().map(Vec::as_slice))
        .collect();
    let store = subject.create()?;
    subject.with_session(&*store, |session| {
        session.insert(Key(3), &value(3, 0, 5000))?;
        ensure(session.insert_many(&rows).is_err(), || {
            "key 3 was inserted a second time".to_owned()
        })?;
        expect_missing(session, 1)?;
        expect_value(session, 3, &value(3, 0, 5000))?;
        session.insert_many(&rows[..2])?;
        (1..=2).try_for_each(|key| expect_value(session, key, &value(key, 1, 5000)))
    })
}

fn in_place(subject: &Subject<'_>) -> Outcome {
    subject.with_values(3, 10_000, |session| {
        if !subject.delivers_in_place() {
            let refused = session.read_in_place(Key(1), &mut |_| ()).is_err();
            return ensure(refused, || {
                "a delivery that the store does not declare succeeded".to_owned()
            });
        }
        for key in [3, 1, 2] {
            expect_lent(session, key, &value(key, 0, 10_000))?;
            expect_value(session, key, &value(key, 0, 10_000))?;
        }
        session.overwrite(Key(2), &value(2, 1, 10_000))?;
        expect_lent(session, 2, &value(2, 1, 10_000))
    })
}

/// In the order of the keys in the store's own form, whatever the order of their numbers.
fn scan(subject: &Subject<'_>) -> Outcome {
    if !tables::declares(subject, Operation::Scan) {
        return Ok(());
    }
    let store = subject.create()?;
    subject.with_session(&*store, |session| {
        // Not in order, beyond one level of a directory tree, and with a gap.
        let keys = [20_001, 3, 101, 1, 1_000_000, 2];
        session.begin(Access::Write)?;
        for key in keys {
            session.insert(Key(key), &value(key, 0, 300))?;
        }
        session.commit()?;
        for (from, limit) in [
            (0, usize::MAX),
            (2, 3),
            (4, 1),
            (20_001, 9),
            (1_000_001, 9),
            (1, 0),
        ] {
            let mut expected = in_order(subject, keys);
            expected.retain(|key| place(subject, *key) >= place(subject, from));
            expected.truncate(limit);
            expect_scan(session, from, limit, &expected)?;
        }
        Ok(())
    })
}

/// Where the store's own order has a key.
fn place(subject: &Subject<'_>, key: u64) -> Vec<u8> {
    subject.key.bytes(Key(key)).as_ref().to_vec()
}

fn in_order(subject: &Subject<'_>, keys: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut keys: Vec<u64> = keys.into_iter().collect();
    keys.sort_by_key(|key| place(subject, *key));
    keys
}

/// Scans that each go on where the last one ended visit each key once, in the store's order.
fn scan_in_parts(subject: &Subject<'_>) -> Outcome {
    const KEYS: u64 = 200;
    const PART: usize = 9;
    if !tables::declares(subject, Operation::Scan) {
        return Ok(());
    }
    subject.with_values(KEYS, 300, |session| {
        let mut from = match in_order(subject, 1..=KEYS).first() {
            Some(first) => *first,
            None => return Ok(()),
        };
        let mut visited = vec![from];
        loop {
            // The first of each part is the last of the one before.
            let mut part = Vec::new();
            session.scan(Key(from), PART, &mut |key, _| part.push(key.0))?;
            ensure(part.first() == Some(&from), || {
                format!("a scan from {from}, which is there, visits {part:?}")
            })?;
            visited.extend(&part[1..]);
            match part.last() {
                Some(last) if part.len() == PART => from = *last,
                _ => break,
            }
        }
        let expected = in_order(subject, 1..=KEYS);
        ensure(visited == expected, || {
            let missed = expected.iter().filter(|key| !visited.contains(key));
            format!(
                "scans in parts visit {} of {KEYS} keys, or not in order; missed: {:?}",
                visited.len(),
                missed.collect::<Vec<_>>()
            )
        })
    })
}

fn expect_scan(session: &mut dyn Session, from: u64, limit: usize, expected: &[u64]) -> Outcome {
    let mut keys = Vec::new();
    let mut damaged = None;
    let visited = session.scan(Key(from), limit, &mut |key, bytes| {
        keys.push(key.0);
        if bytes != value(key.0, 0, 300) {
            damaged = Some(key);
        }
    })?;
    ensure(keys == expected && visited == expected.len(), || {
        format!("scan from {from}, at most {limit}: {keys:?} ({visited}), expected {expected:?}")
    })?;
    ensure(damaged.is_none(), || {
        format!("scan from {from}: a wrong value for key {damaged:?}")
    })
}

/// What was written is there after the store was closed and opened again.
fn reopen(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.persistent {
        return Ok(());
    }
    let store = subject.create()?;
    subject.with_session(&*store, |session| {
        fill(session, 20, 3000)?;
        session.overwrite(Key(7), &value(7, 1, 3000))?;
        session.delete(Key(8))?;
        Ok(())
    })?;
    drop(store);
    for _ in 0..2 {
        let store = subject.open()?;
        subject.with_session(&*store, |session| {
            expect_missing(session, 8)?;
            for key in (1..=20).filter(|key| *key != 8) {
                expect_value(session, key, &value(key, u64::from(key == 7), 3000))?;
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// What was committed is there for the next session and, where there is one, for the next
/// connection.
fn commit(subject: &Subject<'_>) -> Outcome {
    let store = subject.create()?;
    let mut connection = store.connect()?;
    {
        let session = &mut *connection;
        fill(&mut *session, 3, 3000)?;
        session.begin(Access::Write)?;
        session.overwrite(Key(1), &value(1, 1, 3000))?;
        session.insert(Key(4), &value(4, 1, 3000))?;
        session.delete(Key(2))?;
        session.commit()?;
    }
    expect_committed(&mut *connection)?;
    connection.close()?;
    if subject.capabilities.persistent {
        subject.with_session(&*store, expect_committed)?;
    }
    Ok(())
}

fn expect_committed(session: &mut dyn Session) -> Outcome {
    expect_value(session, 1, &value(1, 1, 3000))?;
    expect_missing(session, 2)?;
    expect_value(session, 3, &value(3, 0, 3000))?;
    expect_value(session, 4, &value(4, 1, 3000))
}

/// A rollback undoes everything; a store that has no transactions says so. One that shares a
/// transaction among operations but promises no atomicity may refuse to roll back.
fn rollback(subject: &Subject<'_>) -> Outcome {
    subject.with_values(3, 3000, |session| {
        session.begin(Access::Write)?;
        if !subject.capabilities.transactions {
            return ensure(session.rollback().is_err(), || {
                "a rollback succeeded in spite of transactions=false".to_owned()
            });
        }
        session.overwrite(Key(1), &value(1, 1, 3000))?;
        session.insert(Key(4), &value(4, 1, 3000))?;
        session.delete(Key(2))?;
        match session.rollback() {
            Err(StoreError::Unsupported { .. }) if !subject.capabilities.durability.atomic => {
                return Ok(session.commit()?);
            }
            rolled_back => rolled_back?,
        }
        for key in 1..=3 {
            expect_value(session, key, &value(key, 0, 3000))?;
        }
        expect_missing(session, 4)?;
        session.overwrite(Key(1), &value(1, 2, 3000))?;
        expect_value(session, 1, &value(1, 2, 3000))
    })
}

/// A transaction within another is refused, and the one that is open goes on.
fn one_transaction(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.transactions {
        return Ok(());
    }
    subject.with_values(1, 3000, |session| {
        session.begin(Access::Write)?;
        session.overwrite(Key(1), &value(1, 1, 3000))?;
        for access in [Access::Write, Access::Read] {
            ensure(session.begin(access).is_err(), || {
                "a transaction could be begun within another".to_owned()
            })?;
        }
        session.insert(Key(2), &value(2, 1, 3000))?;
        session.commit()?;
        expect_value(session, 1, &value(1, 1, 3000))?;
        expect_value(session, 2, &value(2, 1, 3000))
    })
}

/// The footprint grows with the data, and is neither less than the data nor many times as much.
fn footprint(subject: &Subject<'_>) -> Outcome {
    const KEYS: u64 = 200;
    const BYTES: usize = 5000;
    if !subject.capabilities.persistent {
        return Ok(());
    }
    let store = subject.create()?;
    let empty = store.footprint()?;
    subject.with_session(&*store, |session| fill(session, KEYS, BYTES))?;
    store.checkpoint()?;
    let full = store.footprint()?;
    let data = KEYS * BYTES as u64;
    let grown = full.apparent_bytes.saturating_sub(empty.apparent_bytes);
    // Half as much again for structure, and a fixed amount for logs that are kept.
    let plausible = data..=data * 3 / 2 + (8 << 20);
    ensure(plausible.contains(&grown), || {
        format!("{data} bytes of values made it grow by {grown} bytes")
    })?;
    ensure(full.allocated_bytes > empty.allocated_bytes, || {
        format!("no blocks were allocated: {full:?}")
    })?;
    ensure(full.files > 0 && full.directories > 0, || {
        format!("it has no files or no directory: {full:?}")
    })
}

fn effective_settings(subject: &Subject<'_>) -> Outcome {
    let store = subject.create()?;
    let mut connection = store.connect()?;
    fill(&mut *connection, 3, 5000)?;
    let effective = connection.effective_settings()?;
    let undescribed = effective
        .iter()
        .map(|(name, _)| name)
        .find(|name| subject.kind.settings().iter().all(|s| s.name != *name));
    ensure(undescribed.is_none(), || {
        format!("setting {undescribed:?} is reported and not described")
    })?;
    let differences = subject.settings.differences(&effective);
    ensure(differences.is_empty(), || {
        format!("asked and effective settings differ: {differences:?}")
    })?;
    Ok(connection.close()?)
}

/// The files that would have to leave the page cache exist, and hold at least the data.
fn data_files(subject: &Subject<'_>) -> Outcome {
    if !subject.capabilities.evictable {
        return Ok(());
    }
    let store = subject.create()?;
    subject.with_session(&*store, |session| fill(session, 20, 5000))?;
    store.checkpoint()?;
    let mut bytes = 0;
    for path in store.data_files(&mut (1..=20).map(Key)) {
        let metadata = std::fs::metadata(&path)
            .map_err(|e| Complaint(format!("data file {}: {e}", path.display())))?;
        bytes += metadata.len();
    }
    ensure(bytes >= 20 * 5000, || {
        format!("the data files of 100000 bytes of values have {bytes} bytes")
    })
}

/// Every commit syncs as often as declared, be it of a transaction or of a single overwrite; and
/// a class that promises something against power loss cannot keep it without syncing.
fn durability(subject: &Subject<'_>) -> Outcome {
    const COMMITS: u64 = 6;
    let declared = u64::from(subject.capabilities.syncs_per_commit);
    let may_defer = subject.capabilities.durability.class < Durability::Durable;
    ensure(declared > 0 || may_defer, || {
        "a durable store must sync at every commit, and declares syncs_per_commit 0".to_owned()
    })?;
    subject.with_values(3, 5000, |session| {
        for version in 1..=COMMITS {
            let before = sync_calls();
            let alone = version % 2 == 0;
            if !alone {
                session.begin(Access::Write)?;
            }
            session.overwrite(Key(2), &value(2, version, 5000))?;
            if !alone {
                session.commit()?;
            }
            let syncs = sync_calls().since(&before).total();
            ensure(!SYNC_CALLS_COUNTED || syncs >= declared, || {
                format!("commit {version} synced {syncs} times, syncs_per_commit is {declared}")
            })?;
        }
        Ok(())
    })
}
