//! Operations: the layers first, then the disk.

use super::coordinator::{Coordinator, Turn};
use super::layer::Entry;
use super::reader::DiskReader;
use super::{STORE, ours};
use crate::sqlite::table::row_id;
use crate::sqlite::{counters, integrity};
use crate::{Access, Buffer, Counters, Found, Key, Result, Session, StoreError};
use rusqlite::Connection;
use std::collections::BTreeMap;

/// Changes that a scan copies from a layer at once.
const PIECE: usize = 256;

pub(super) struct BufferedSession<'c> {
    coordinator: &'c Coordinator,
    /// The number of its connection.
    number: u64,
    connection: &'c Connection,
    disk: DiskReader<'c>,
    open: Option<Open<'c>>,
}

/// The transaction between `begin` and its end.
enum Open<'c> {
    Reading,
    Writing(Turn<'c>),
}

/// Changes of both layers from one key to another.
struct Overlay {
    changes: BTreeMap<i64, Option<Vec<u8>>>,
    /// The last key for which `changes` are complete.
    upto: i64,
}

impl<'c> BufferedSession<'c> {
    pub(super) fn new(
        coordinator: &'c Coordinator,
        number: u64,
        connection: &'c Connection,
    ) -> Result<Self> {
        Ok(Self {
            coordinator,
            number,
            connection,
            disk: DiskReader::new(connection, coordinator.statements)?,
            open: None,
        })
    }

    /// Whether the layers have to be asked. A connection that writes may have changes in them
    /// that do not count yet.
    fn is_layered(&self) -> bool {
        self.coordinator.buffered() > 0 || matches!(self.open, Some(Open::Writing(_)))
    }

    fn visit(&mut self, key: Key, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<Found> {
        let Some(k) = row_id(key) else {
            return Ok(Found::Missing);
        };
        if self.is_layered() {
            match self.coordinator.visit(self.number, k, visit)? {
                Entry::Value(bytes) => return Ok(Found::Bytes(bytes)),
                Entry::Deleted => return Ok(Found::Missing),
                Entry::Nothing => {}
            }
        }
        let _undisturbed = self.coordinator.reading_disk();
        self.disk.renew(self.coordinator.generation())?;
        self.disk.visit(key, k, visit)
    }

    /// Whether a key is there, and how large its value is.
    fn size(&mut self, key: Key, k: i64) -> Result<Found> {
        if self.is_layered() {
            match self.coordinator.size(self.number, k)? {
                Entry::Value(bytes) => return Ok(Found::Bytes(bytes)),
                Entry::Deleted => return Ok(Found::Missing),
                Entry::Nothing => {}
            }
        }
        let _undisturbed = self.coordinator.reading_disk();
        self.disk.renew(self.coordinator.generation())?;
        self.disk.size(key, k)
    }

    /// Sets the value of a key, or deletes it, if what is there now is as `wanted`; returns what
    /// was there. Nobody else writes between the look and the change.
    fn change(
        &mut self,
        key: Key,
        k: i64,
        value: Option<&[u8]>,
        wanted: fn(Found) -> bool,
    ) -> Result<Found> {
        let turn = match self.open {
            Some(Open::Writing(_)) => None,
            Some(Open::Reading) => return Err(misused("write in a transaction that only reads")),
            None => Some(self.coordinator.take_turn(self.number, false)?),
        };
        let found = self.size(key, k)?;
        if !wanted(found) {
            return Ok(found);
        }
        match (turn, &self.open) {
            (Some(turn), _) => turn.put_alone(k, value)?,
            (None, Some(Open::Writing(turn))) => turn.put(k, value)?,
            (None, _) => {}
        }
        Ok(found)
    }

    /// Ends the part of the transaction that is on disk, and returns the other. It comes first:
    /// where it fails, the other is dropped, and nothing is committed.
    fn end(&mut self, action: &str) -> Result<Open<'c>> {
        let open = self
            .open
            .take()
            .ok_or_else(|| misused(&format!("{action} without a transaction")))?;
        self.disk.end()?;
        Ok(open)
    }

    /// Changes of both layers from `from` on; `limit` is how many rows are wanted.
    fn overlay(&self, from: i64, limit: usize) -> Result<Overlay> {
        let mut overlay = Overlay {
            changes: BTreeMap::new(),
            upto: i64::MAX,
        };
        if !self.is_layered() {
            return Ok(overlay);
        }
        let [active, other] = self
            .coordinator
            .pieces(self.number, from, limit.clamp(1, PIECE))?;
        // What was changed later comes later, and replaces.
        for piece in [other, active] {
            if let Some((last, _)) = piece.changes.last().filter(|_| piece.more) {
                overlay.upto = overlay.upto.min(*last);
            }
            overlay.changes.extend(piece.changes);
        }
        overlay.changes.retain(|k, _| *k <= overlay.upto);
        Ok(overlay)
    }
}

impl Overlay {
    /// Shows the rows from `from` to `upto` by rising key: those of the disk, unless they were
    /// changed, and those that were set.
    fn merge(self, disk: &mut DiskReader<'_>, from: i64, rows: &mut Rows<'_>) -> Result<()> {
        let mut changes = self.changes.into_iter().peekable();
        disk.scan(from, self.upto, &mut |k, value| {
            while let Some((changed, set)) = changes.next_if(|(changed, _)| *changed < k) {
                rows.show_if_set(changed, set);
            }
            match changes.next_if(|(changed, _)| *changed == k) {
                Some((_, set)) => rows.show_if_set(k, set),
                None => rows.show(k, value),
            }
            rows.left > 0
        })?;
        for (changed, set) in changes {
            rows.show_if_set(changed, set);
        }
        Ok(())
    }
}

/// Where the rows of a scan go.
struct Rows<'v> {
    left: usize,
    visit: &'v mut dyn FnMut(Key, &[u8]),
}

impl Rows<'_> {
    fn show(&mut self, k: i64, value: &[u8]) {
        if self.left > 0 {
            self.left -= 1;
            (self.visit)(Key(k.unsigned_abs()), value);
        }
    }

    fn show_if_set(&mut self, k: i64, set: Option<Vec<u8>>) {
        if let Some(value) = set {
            self.show(k, &value);
        }
    }
}

fn misused(what: &str) -> StoreError {
    StoreError::unsupported(STORE, what, "begin and end transactions in pairs")
}

impl Session for BufferedSession<'_> {
    fn begin(&mut self, access: Access) -> Result<()> {
        if self.open.is_some() {
            return Err(misused("begin a transaction within another"));
        }
        let open = match access {
            Access::Read => Open::Reading,
            Access::Write => Open::Writing(self.coordinator.take_turn(self.number, true)?),
        };
        // With other journals it would keep the carrier waiting, and with it whoever waits for
        // room: perhaps the transaction that this one waits for.
        if self.coordinator.readers_apart {
            self.disk.begin(self.coordinator.generation())?;
        }
        self.open = Some(open);
        Ok(())
    }

    /// After an error the transaction is undone.
    fn commit(&mut self) -> Result<()> {
        match self.end("commit")? {
            Open::Writing(turn) => turn.commit(),
            Open::Reading => Ok(()),
        }
    }

    fn rollback(&mut self) -> Result<()> {
        match self.end("roll back")? {
            Open::Writing(turn) => turn.roll_back(),
            Open::Reading => Ok(()),
        }
    }

    /// Of what is on disk.
    fn check_integrity(&mut self) -> Result<()> {
        let _undisturbed = self.coordinator.reading_disk();
        integrity::check(self.connection)
    }

    fn read_into(&mut self, key: Key, buffer: &mut Buffer) -> Result<Found> {
        self.visit(key, &mut |value| buffer.copy_from(value))
    }

    fn read_in_place(&mut self, key: Key, visit: &mut dyn FnMut(&[u8])) -> Result<Found> {
        self.visit(key, &mut |value| {
            visit(value);
            Ok(())
        })
    }

    fn insert(&mut self, key: Key, value: &[u8]) -> Result<()> {
        let Some(k) = row_id(key) else {
            return Err(StoreError::unsupported(
                STORE,
                format!("insert key {key}"),
                "its keys are signed 64-bit numbers",
            ));
        };
        match self.change(key, k, Some(value), |found| found == Found::Missing)? {
            Found::Missing => Ok(()),
            Found::Bytes(_) => Err(StoreError::key_exists(STORE, key)),
        }
    }

    /// One transaction, where there is none around it.
    fn insert_many(&mut self, rows: &[(Key, &[u8])]) -> Result<()> {
        let insert_all = |session: &mut Self| {
            rows.iter()
                .try_for_each(|(key, value)| session.insert(*key, value))
        };
        if self.open.is_some() {
            return insert_all(self);
        }
        self.begin(Access::Write)?;
        match insert_all(self) {
            Ok(()) => self.commit(),
            Err(error) => self.rollback().and(Err(error)),
        }
    }

    fn overwrite(&mut self, key: Key, value: &[u8]) -> Result<Found> {
        let Some(k) = row_id(key) else {
            return Ok(Found::Missing);
        };
        let found = self.change(key, k, Some(value), |found| found != Found::Missing)?;
        Ok(match found {
            Found::Missing => Found::Missing,
            Found::Bytes(_) => Found::Bytes(value.len()),
        })
    }

    fn delete(&mut self, key: Key) -> Result<bool> {
        let Some(k) = row_id(key) else {
            return Ok(false);
        };
        let found = self.change(key, k, None, |found| found != Found::Missing)?;
        Ok(found != Found::Missing)
    }

    fn scan(
        &mut self,
        from: Key,
        limit: usize,
        visit: &mut dyn FnMut(Key, &[u8]),
    ) -> Result<usize> {
        let mut next = row_id(from);
        let mut rows = Rows { left: limit, visit };
        while let Some(from) = next.filter(|_| rows.left > 0) {
            let overlay = self.overlay(from, rows.left)?;
            next = overlay.upto.checked_add(1);
            let _undisturbed = self.coordinator.reading_disk();
            self.disk.renew(self.coordinator.generation())?;
            overlay.merge(&mut self.disk, from, &mut rows)?;
        }
        Ok(limit - rows.left)
    }

    fn counters(&mut self) -> Result<Counters> {
        let mut counters = counters::of(self.connection).map_err(ours)?;
        counters.insert("Carry-overs".to_owned(), self.coordinator.generation());
        counters.insert(
            "Changes in memory only".to_owned(),
            self.coordinator.buffered(),
        );
        Ok(counters)
    }
}
