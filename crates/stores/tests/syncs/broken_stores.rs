//! Stores that are broken on purpose must each be caught by the check that is meant for it: a
//! conformance suite that passes everything would pass these too.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::thread::{self, ThreadId};
use std::time::Duration;
use stowplan_model::{Capabilities, Durability, Footprint, Settings, Value};
use stowplan_stores::{
    Access, Buffer, Found, Key, Kind, Result, Session, Store, Visit, conformance, registry,
};

/// What a broken store does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Forgets key 2 although the insert succeeded.
    DropsAKey,
    /// Replaces the last bytes of every value longer than a page.
    TearsValues,
    /// Acknowledges overwrites outside a transaction and keeps the old value.
    KeepsTheOldVersion,
    /// Commits where it should roll back.
    CommitsInsteadOfRollingBack,
    /// Delivers less than it announces.
    ReadsShort,
    /// Claims to be durable and syncs nothing.
    NeverSyncs,
    /// Declares the syncs that its settings ask for, promises nothing by them, and makes none.
    SkipsSyncs,
    /// Creates what it should only overwrite.
    CreatesMissingKeys,
    /// Replaces what an insert should leave alone.
    InsertsOverExistingKeys,
    /// Lends a value that differs from the one it copies.
    LendsSomethingElse,
    /// Visits a value more than it was asked for.
    ScansTooFar,
    /// Reports a setting that nobody asked for.
    IgnoresASetting,
    /// Reports that it takes no space.
    HidesItsFootprint,
    /// Deletes nothing.
    KeepsDeletedKeys,
    /// Drops and makes nothing.
    KeepsItsTable,
    /// Drops the table with its values, and only says that it made one.
    ForgetsNewTables,
    /// Says that it dropped a table, which it does not declare that it can.
    PretendsToDrop,
    /// Visits values by rising number, whatever the order of its keys.
    ScansByNumber,
    /// Does not visit the last of as many values as it was asked for.
    ScansTooLittle,
    /// Lets others see an overwrite half done.
    ShowsHalfAValue,
    /// Begins a transaction that writes only when it first writes.
    LosesUpdates,
    /// Forgets what all threads but the first one insert.
    ForgetsOtherThreads,
    /// Adds several rows one by one, and keeps those before one that cannot be added.
    KeepsSomeRows,
    /// Makes a store where it should open one.
    MakesWhatItShouldOpen,
    /// Opens a store whatever the form of its keys.
    IgnoresTheKeyForm,
    /// Ends every value at its first zero byte.
    EndsAtAZeroByte,
    /// Acknowledges an empty value and keeps none.
    ForgetsEmptyValues,
    /// Overwrites as many bytes as there were, whatever the length of the new value.
    KeepsTheOldLength,
    /// Rolls back where it should commit.
    RollsBackInsteadOfCommitting,
    /// Undoes the transaction that is open when another one is begun.
    BeginsWithinAnother,
    /// Names none of its files.
    HidesItsFiles,
}

struct Broken {
    inner: &'static Kind,
    fault: Fault,
}

impl Broken {
    /// The kind, for as long as the test runs.
    fn kind(self) -> Kind {
        let (broken, about) = (&*Box::leak(Box::new(self)), "broken on purpose");
        Kind::new(
            ("broken", about, broken.inner.settings()),
            Box::leak(Box::new(|settings: &Settings| {
                broken.capabilities(settings)
            })),
            Box::leak(Box::new(
                |directory: &Path, settings: &Settings, new| match new {
                    true => broken.create(directory, settings),
                    false => broken.open(directory, settings),
                },
            )),
        )
    }

    fn capabilities(&self, settings: &Settings) -> Result<Capabilities> {
        let mut capabilities = self.inner.capabilities(settings)?;
        if self.fault == Fault::NeverSyncs {
            capabilities.durability.class = Durability::Durable;
            capabilities.syncs_per_commit = 1;
        }
        Ok(capabilities)
    }

    fn create(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let inner = self
            .inner
            .create(directory, &self.inner_settings(settings))?;
        Ok(Box::new(self.store(inner, settings)))
    }

    fn open(&self, directory: &Path, settings: &Settings) -> Result<Box<dyn Store>> {
        let given = self.inner_settings(settings);
        let inner = match self.inner.open(directory, &given) {
            Err(_) if self.fault == Fault::MakesWhatItShouldOpen => {
                self.inner.create(directory, &given)?
            }
            Err(_) if self.fault == Fault::IgnoresTheKeyForm => {
                let mut other = given.clone();
                let form = match given.word("key") {
                    "text" => "integer",
                    _ => "text",
                };
                other.set("key", Value::Word(form.to_owned()));
                self.inner.open(directory, &other)?
            }
            opened => opened?,
        };
        Ok(Box::new(self.store(inner, settings)))
    }

    /// The settings that the inner store is really given.
    fn inner_settings(&self, asked: &Settings) -> Settings {
        let mut settings = asked.clone();
        if self.fault == Fault::SkipsSyncs {
            for (name, _) in asked.iter() {
                if ["fsync", "synchronous"].contains(&name) {
                    settings.set(name, Value::Word("off".to_owned()));
                }
            }
        }
        settings
    }

    fn store(&self, inner: Box<dyn Store>, asked: &Settings) -> BrokenStore {
        BrokenStore {
            inner,
            fault: self.fault,
            asked: asked.clone(),
            first_thread: thread::current().id(),
        }
    }
}

struct BrokenStore {
    inner: Box<dyn Store>,
    fault: Fault,
    asked: Settings,
    first_thread: ThreadId,
}

impl Store for BrokenStore {
    fn connect(&self) -> Result<Box<dyn Session + '_>> {
        Ok(Box::new(BrokenSession {
            inner: self.inner.connect()?,
            fault: self.fault,
            asked: &self.asked,
            in_transaction: false,
            first_thread: self.first_thread == thread::current().id(),
        }))
    }

    fn footprint(&self) -> Result<Footprint> {
        if self.fault == Fault::HidesItsFootprint {
            return Ok(Footprint::default());
        }
        self.inner.footprint()
    }

    fn data_files(&self, keys: &mut dyn Iterator<Item = Key>) -> Vec<PathBuf> {
        if self.fault == Fault::HidesItsFiles {
            return Vec::new();
        }
        self.inner.data_files(keys)
    }

    fn checkpoint(&self) -> Result<()> {
        self.inner.checkpoint()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.inner.close()
    }
}

struct BrokenSession<'c> {
    inner: Box<dyn Session + 'c>,
    fault: Fault,
    asked: &'c Settings,
    in_transaction: bool,
    /// Whether it belongs to the thread that opened the store.
    first_thread: bool,
}

impl Session for BrokenSession<'_> {
    fn effective_settings(&self) -> Result<Settings> {
        if self.fault == Fault::SkipsSyncs {
            return Ok(self.asked.clone());
        }
        let mut settings = self.inner.effective_settings()?;
        if self.fault == Fault::IgnoresASetting {
            settings.set("journal", Value::Word("memory".to_owned()));
        }
        Ok(settings)
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.inner.close()
    }

    fn begin(&mut self, access: Access) -> Result<()> {
        let within = std::mem::replace(&mut self.in_transaction, true);
        match self.fault {
            Fault::LosesUpdates => Ok(()),
            Fault::BeginsWithinAnother if within => {
                self.inner.rollback()?;
                self.inner.begin(access)
            }
            _ => self.inner.begin(access),
        }
    }

    fn commit(&mut self) -> Result<()> {
        self.in_transaction = false;
        match self.fault {
            Fault::LosesUpdates => Ok(()),
            Fault::RollsBackInsteadOfCommitting => self.inner.rollback(),
            _ => self.inner.commit(),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        self.in_transaction = false;
        if self.fault == Fault::CommitsInsteadOfRollingBack {
            return self.inner.commit();
        }
        self.inner.rollback()
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        let found = self.inner.read_into(key, buffer)?;
        if self.fault == Fault::ReadsShort {
            buffer.truncate(4096);
        }
        Ok(found)
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        let fault = self.fault;
        self.inner.read_in_place(key, &mut |value| match fault {
            Fault::LendsSomethingElse => visit(&vec![0; value.len()]),
            _ => visit(value),
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        match self.fault {
            Fault::DropsAKey if key == Key(2) => Ok(()),
            Fault::ForgetsOtherThreads if !self.first_thread => Ok(()),
            Fault::ForgetsEmptyValues if value.is_empty() => Ok(()),
            Fault::EndsAtAZeroByte => {
                let end = value.iter().position(|byte| *byte == 0);
                self.inner.insert(key, &value[..end.unwrap_or(value.len())])
            }
            Fault::TearsValues if value.len() > 4096 => {
                let mut torn = value.to_vec();
                torn[4096..].fill(0);
                self.inner.insert(key, &torn)
            }
            Fault::InsertsOverExistingKeys => match self.inner.overwrite(key, value)? {
                Found::Bytes(_) => Ok(()),
                Found::Missing => self.inner.insert(key, value),
            },
            _ => self.inner.insert(key, value),
        }
    }

    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        if self.fault == Fault::KeepsSomeRows {
            let mut rows = rows.iter();
            return rows.try_for_each(|(key, value)| self.inner.insert(*key, value));
        }
        self.inner.insert_many(rows)
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        match self.fault {
            Fault::KeepsTheOldVersion if !self.in_transaction => Ok(Found::Bytes(value.len())),
            Fault::CreatesMissingKeys if key.0 < 10 => {
                if self.inner.overwrite(key, value)? == Found::Missing {
                    self.inner.insert(key, value)?;
                }
                Ok(Found::Bytes(value.len()))
            }
            Fault::ShowsHalfAValue if value.len() > 4096 => {
                // Each half of the change is a transaction of its own.
                self.inner.commit()?;
                let mut half = value.to_vec();
                half[4096..].fill(0);
                self.inner.overwrite(key, &half)?;
                thread::sleep(Duration::from_millis(5));
                self.inner.begin(Access::Write)?;
                self.inner.overwrite(key, value)
            }
            Fault::KeepsTheOldLength => {
                let mut buffer = Buffer::with_capacity(0)?;
                let Found::Bytes(length) = self.inner.read_into(key, &mut buffer)? else {
                    return Ok(Found::Missing);
                };
                let mut as_long = value.to_vec();
                as_long.resize(length, 0);
                self.inner.overwrite(key, &as_long)?;
                Ok(Found::Bytes(value.len()))
            }
            _ => self.inner.overwrite(key, value),
        }
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let mut buffer = Buffer::with_capacity(0)?;
        match self.fault {
            Fault::KeepsDeletedKeys => {
                Ok(self.inner.read_into(key, &mut buffer)? != Found::Missing)
            }
            _ => self.inner.delete(key),
        }
    }

    fn scan(&mut self, from: Key, limit: usize, visit: &mut Visit<'_>) -> Result<usize> {
        let limit = match self.fault {
            Fault::ScansTooFar => limit.saturating_add(1),
            Fault::ScansTooLittle if limit > 5 => limit - 1,
            _ => limit,
        };
        if self.fault != Fault::ScansByNumber {
            return self.inner.scan(from, limit, visit);
        }
        let mut visited = BTreeMap::new();
        self.inner.scan(from, limit, &mut |key, value| {
            visited.insert(key, value.to_vec());
        })?;
        for (key, value) in &visited {
            visit(*key, value);
        }
        Ok(visited.len())
    }

    fn create_table(&mut self) -> Result<()> {
        match self.fault {
            Fault::KeepsItsTable | Fault::ForgetsNewTables => Ok(()),
            _ => self.inner.create_table(),
        }
    }

    fn drop_table(&mut self) -> Result<()> {
        match self.fault {
            Fault::KeepsItsTable | Fault::PretendsToDrop => Ok(()),
            _ => self.inner.drop_table(),
        }
    }
}

/// Asserts that `spec` with a fault fails the check `expected`, which it passes without.
#[track_caller]
fn assert_caught(fault: Fault, spec: &str, expected: &str) {
    let _alone = crate::alone();
    let resolved = registry::resolve(&spec.parse().unwrap(), 4 << 20).unwrap();
    let failures_of = |kind: &Kind| {
        let directory = crate::place::in_memory();
        conformance::check(kind, &resolved.settings, directory.path())
    };
    assert_eq!(failures_of(resolved.kind), []);
    let broken = Broken {
        inner: resolved.kind,
        fault,
    };
    let failures = failures_of(&broken.kind());
    let caught = failures.iter().any(|failure| failure.check == expected);
    assert!(caught, "{fault:?} in {spec} failed only {failures:#?}");
}

const FAST: &str = "sqlite:journal=memory,synchronous=off";

/// Carries every commit over, while the next one is made.
const BUFFERED: &str = "sqlite-buffered:window_rows=1,synchronous=off";

#[test]
fn a_dropped_key_is_caught() {
    assert_caught(Fault::DropsAKey, FAST, "round-trip");
    assert_caught(Fault::DropsAKey, "files", "round-trip");
}

#[test]
fn a_torn_value_is_caught() {
    assert_caught(Fault::TearsValues, FAST, "round-trip");
    assert_caught(Fault::TearsValues, "flat", "round-trip");
}

#[test]
fn a_stale_version_is_caught() {
    assert_caught(Fault::KeepsTheOldVersion, FAST, "overwrite");
    assert_caught(Fault::KeepsTheOldVersion, "files", "overwrite");
    assert_caught(Fault::KeepsTheOldVersion, "files", "reopen");
    assert_caught(Fault::KeepsTheOldVersion, "files-indexed", "reopen");
    assert_caught(Fault::KeepsTheOldVersion, BUFFERED, "reopen");
}

#[test]
fn an_ignored_rollback_is_caught() {
    assert_caught(Fault::CommitsInsteadOfRollingBack, FAST, "rollback");
    assert_caught(Fault::CommitsInsteadOfRollingBack, BUFFERED, "rollback");
}

#[test]
fn a_transaction_that_another_one_undoes_is_caught() {
    assert_caught(Fault::BeginsWithinAnother, FAST, "one-transaction");
}

#[test]
fn a_short_read_is_caught() {
    assert_caught(Fault::ReadsShort, FAST, "round-trip");
    assert_caught(Fault::ReadsShort, "files", "large-value");
}

#[test]
fn a_durable_store_that_never_syncs_is_caught() {
    for spec in [
        FAST,
        "files:write=rename",
        "sqlite:journal=wal,synchronous=off",
    ] {
        assert_caught(Fault::NeverSyncs, spec, "durability");
    }
}

#[test]
fn declared_syncs_that_are_not_made_are_caught_whatever_they_promise() {
    for spec in [
        "files:write=truncate,fsync=file",
        "files:write=in-place,fsync=file",
        "files-indexed:write=in-place,fsync=file",
        "sqlite:journal=memory",
        "sqlite:journal=off,synchronous=normal",
        "sqlite:journal=truncate,synchronous=normal",
    ] {
        let resolved = registry::resolve(&spec.parse().unwrap(), 4 << 20).unwrap();
        assert!(resolved.capabilities.durability.class < Durability::Consistent);
        assert!(resolved.capabilities.syncs_per_commit > 0);
        assert_caught(Fault::SkipsSyncs, spec, "durability");
    }
}

#[test]
fn a_created_key_is_caught() {
    assert_caught(Fault::CreatesMissingKeys, FAST, "unknown-key");
}

#[test]
fn an_insert_over_an_existing_key_is_caught() {
    assert_caught(Fault::InsertsOverExistingKeys, FAST, "existing-key");
}

#[test]
fn a_loan_of_something_else_is_caught() {
    assert_caught(Fault::LendsSomethingElse, FAST, "in-place");
    assert_caught(Fault::LendsSomethingElse, "flat:read=mmap", "in-place");
}

#[test]
fn a_scan_that_goes_too_far_is_caught() {
    assert_caught(Fault::ScansTooFar, FAST, "scan");
}

#[test]
fn an_ignored_setting_is_caught() {
    assert_caught(
        Fault::IgnoresASetting,
        "sqlite:journal=off,synchronous=off",
        "effective-settings",
    );
}

#[test]
fn a_hidden_footprint_is_caught() {
    assert_caught(Fault::HidesItsFootprint, "files", "footprint");
}

#[test]
fn a_key_that_outlives_its_deletion_is_caught() {
    assert_caught(Fault::KeepsDeletedKeys, FAST, "delete");
    assert_caught(Fault::KeepsDeletedKeys, BUFFERED, "reopen");
}

/// Has tables, and syncs nothing.
const TABLES: &str = "lmdb:database=named,sync=none";

/// Has no tables.
const NO_TABLES: &str = "lmdb:sync=none";

#[test]
fn a_table_that_outlives_its_removal_is_caught() {
    assert_caught(Fault::KeepsItsTable, TABLES, "tables");
    assert_caught(Fault::KeepsItsTable, "redb:durability=none", "tables");
}

#[test]
fn a_table_that_was_not_made_is_caught() {
    assert_caught(Fault::ForgetsNewTables, TABLES, "tables");
}

#[test]
fn a_removal_that_is_neither_declared_nor_done_is_caught() {
    assert_caught(Fault::PretendsToDrop, NO_TABLES, "undeclared");
    assert_caught(Fault::PretendsToDrop, "flat", "undeclared");
}

#[test]
fn an_order_that_is_not_that_of_the_keys_is_caught() {
    assert_caught(Fault::ScansByNumber, "lmdb:key=text,sync=none", "scan");
}

#[test]
fn a_key_that_is_missed_between_two_scans_is_caught() {
    assert_caught(Fault::ScansTooLittle, NO_TABLES, "scan-in-parts");
}

#[test]
fn a_value_that_others_see_half_written_is_caught() {
    assert_caught(Fault::ShowsHalfAValue, NO_TABLES, "readers-beside-a-writer");
}

#[test]
fn an_update_that_is_lost_between_threads_is_caught() {
    assert_caught(Fault::LosesUpdates, NO_TABLES, "writers");
    assert_caught(Fault::LosesUpdates, "redb:durability=none", "writers");
}

#[test]
fn what_another_thread_wrote_and_is_lost_is_caught() {
    assert_caught(Fault::ForgetsOtherThreads, NO_TABLES, "writers");
    assert_caught(Fault::ForgetsOtherThreads, "flat", "writers");
}

#[test]
fn rows_that_are_added_in_part_are_caught() {
    assert_caught(Fault::KeepsSomeRows, FAST, "several-rows");
    assert_caught(Fault::KeepsSomeRows, BUFFERED, "several-rows");
}

#[test]
fn a_store_that_opening_makes_is_caught() {
    assert_caught(Fault::MakesWhatItShouldOpen, FAST, "places");
    assert_caught(Fault::MakesWhatItShouldOpen, NO_TABLES, "places");
}

#[test]
fn keys_that_are_taken_for_others_are_caught() {
    assert_caught(Fault::IgnoresTheKeyForm, FAST, "key-forms");
    assert_caught(
        Fault::IgnoresTheKeyForm,
        "redb:durability=none",
        "key-forms",
    );
}

#[test]
fn a_value_that_is_taken_for_text_is_caught() {
    assert_caught(Fault::EndsAtAZeroByte, FAST, "any-bytes");
    assert_caught(Fault::EndsAtAZeroByte, "files", "any-bytes");
}

#[test]
fn an_empty_value_that_is_lost_is_caught() {
    assert_caught(Fault::ForgetsEmptyValues, FAST, "empty-value");
    assert_caught(Fault::ForgetsEmptyValues, "files", "empty-value");
}

#[test]
fn a_length_that_does_not_change_is_caught() {
    assert_caught(Fault::KeepsTheOldLength, FAST, "resize");
    assert_caught(Fault::KeepsTheOldLength, "files", "resize");
}

#[test]
fn an_ignored_commit_is_caught() {
    assert_caught(Fault::RollsBackInsteadOfCommitting, FAST, "commit");
}

#[test]
fn files_that_are_not_named_are_caught() {
    assert_caught(Fault::HidesItsFiles, "files", "data-files");
    assert_caught(Fault::HidesItsFiles, FAST, "data-files");
}

/// Rows of a table, as the tests above have it: each fault, what it does, and the checks that catch it.
fn table() -> BTreeSet<String> {
    let source = include_str!("broken_stores.rs");
    let between = |text: &'static str, from: &str, to: &str| {
        let (_, rest) = text.split_once(from).unwrap();
        rest.split_once(to).unwrap().0
    };
    let mut checks: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for call in source.split(concat!("    assert", "_caught(")).skip(1) {
        let fault = between(call, "Fault::", ",");
        let arguments = call.split_once(")").unwrap().0;
        let check = arguments.rsplit('"').nth(1).unwrap();
        checks.entry(fault).or_default().insert(check);
    }
    let faults = between(source, "enum Fault {", "\n}")
        .split("    ///")
        .skip(1);
    let rows = faults.map(|fault| {
        let (what, name) = fault.split_once(".\n").unwrap();
        let name = name.trim().trim_end_matches(',');
        let caught = checks.remove(name).unwrap_or_default();
        let caught: Vec<String> = caught.iter().map(|check| format!("`{check}`")).collect();
        format!("| `{name}` |{what} | {} |", caught.join(", "))
    });
    let rows: BTreeSet<String> = rows.collect();
    assert!(checks.is_empty(), "no such faults: {checks:?}");
    rows
}

#[test]
fn every_check_of_the_suite_is_failed_by_a_broken_store() {
    let table = table();
    for check in conformance::names() {
        let quoted = format!("`{check}`");
        let fails = table.iter().any(|row| row.contains(&quoted));
        assert!(fails, "no broken store fails the check {check}");
    }
}
