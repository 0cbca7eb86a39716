//! The background thread: carries one layer after the other to the disk.

use super::coordinator::Coordinator;
use super::layer::{Change, Layer};
use super::{STORE, ours};
use crate::sqlite::base::Link;
use crate::sqlite::failed;
use crate::sqlite::options::Statements;
use crate::sqlite::statement::{Sql, Transaction};
use crate::{Access, Result, StoreError};
use rusqlite::Connection;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How soon a failed carry-over is tried again; each time after twice as long, up to the second.
const RETRY: Duration = Duration::from_millis(10);
const RETRY_MOST: Duration = Duration::from_secs(1);

/// Changes that are copied under the lock at once.
const PIECE: usize = 256;

/// The running thread. Dropping it makes a last attempt and ends it.
pub(super) struct Carrier {
    coordinator: Arc<Coordinator>,
    thread: Option<JoinHandle<()>>,
}

impl Carrier {
    pub(super) fn start(coordinator: &Arc<Coordinator>) -> Result<Self> {
        let shared = Arc::clone(coordinator);
        let thread = thread::Builder::new()
            .name("carrier".to_owned())
            .spawn(move || run(&shared))
            .map_err(|error| StoreError::Engine {
                store: STORE,
                action: "start the thread that carries over".to_owned(),
                detail: error.to_string(),
            })?;
        Ok(Self {
            coordinator: Arc::clone(coordinator),
            thread: Some(thread),
        })
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.coordinator.stop();
        if let Some(thread) = self.thread.take() {
            // It returns nothing, and a panic of its has been printed.
            let _ = thread.join();
        }
    }
}

fn run(coordinator: &Coordinator) {
    let mut link = None;
    let mut delay = RETRY;
    let mut retry = None;
    while coordinator.next_attempt(retry) {
        let last = coordinator.is_stopping();
        match carry_over(coordinator, &mut link) {
            Ok(empty) => {
                coordinator.carried_over(empty);
                (delay, retry) = (RETRY, None);
            }
            Err(error) => {
                // Closing undoes the transaction, and the next attempt finds the file anew.
                link = None;
                coordinator.not_carried_over(&error);
                if last {
                    return;
                }
                retry = Some(Instant::now() + delay);
                delay = RETRY_MOST.min(delay * 2);
            }
        }
    }
}

/// Carries the layer over in one transaction, and returns an empty one to take its place.
fn carry_over<'h>(coordinator: &'h Coordinator, link: &mut Option<Link<'h>>) -> Result<Layer> {
    let empty = Layer::new(coordinator.statements)?;
    let _alone = coordinator.writing_disk();
    let link = match link {
        Some(link) => link,
        None => link.insert(coordinator.base.connect().map_err(ours)?),
    };
    let (connection, _) = link.begin_session().map_err(ours)?;
    let mut transaction = Transaction::new(connection).map_err(ours)?;
    transaction.begin(Access::Write).map_err(ours)?;
    apply(coordinator, connection)?;
    transaction.commit().map_err(ours)?;
    Ok(empty)
}

/// Makes every change of the layer on disk, by rising key: neighbours share pages.
fn apply(coordinator: &Coordinator, connection: &Connection) -> Result<()> {
    let prepared = |text| Sql::of(connection, text, Statements::Once).map_err(ours);
    let mut set = prepared("REPLACE INTO kv(k,v) VALUES(?1,?2)")?;
    let mut delete = prepared("DELETE FROM kv WHERE k=?1")?;
    let mut from = 0;
    loop {
        let piece = coordinator.piece_to_carry(from, PIECE)?;
        for change in &piece.changes {
            apply_one(&mut set, &mut delete, change)?;
        }
        match piece.changes.last() {
            Some((last, _)) if piece.more && *last < i64::MAX => from = last + 1,
            _ => return Ok(()),
        }
    }
}

fn apply_one<'c>(set: &mut Sql<'c>, delete: &mut Sql<'c>, (key, value): &Change) -> Result<()> {
    let statement = if value.is_some() { set } else { delete };
    statement.run(|statement| {
        let done = statement
            .raw_bind_parameter(1, key)
            .and_then(|()| match value {
                Some(value) => statement.raw_bind_parameter(2, value),
                None => Ok(()),
            })
            .and_then(|()| statement.raw_execute());
        match done {
            Ok(_) => Ok(()),
            Err(error) => Err(ours(failed(format!("carry over key {key}"), &error))),
        }
    })
}
