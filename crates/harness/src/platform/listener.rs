//! The process of a scanner: it is asked before files are opened, and permits it. It never forbids, and
//! whatever becomes of it, nobody waits for long: it looks after itself, its parent looks after it, and the
//! kernel permits all that waits once it is gone.

use super::fanotify::{mark, openings};
use nix::sys::fanotify::{
    Fanotify, FanotifyEvent, FanotifyResponse, MarkFlags, MaskFlags, Response,
};
use rustix::fs::CWD;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::io::{Error, ErrorKind, Result, Write, copy, sink, stdin, stdout};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_model::{ScannerCounts, encode};

/// How often it says that it lives, and looks whether it is late.
const TICK: Duration = Duration::from_millis(200);
/// After this a file that is still being read is permitted, and all is over: it is too large, or its disk does
/// not answer.
const LATE: Duration = Duration::from_secs(2);
/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 18;

/// Permits whatever is opened through the mount on which `place` lies, and reads it before where it
/// `reads`, until stdin ends. Says on stdout that it is ready, then that it lives, and what it did.
pub(crate) fn listen(place: &Path, reads: bool) -> Result<()> {
    // Whoever started it is not to be held up by it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let listener = Arc::new(Listener {
        openings: openings()?,
        held: Mutex::default(),
        counts: Mutex::default(),
    });
    let (answering, watching) = (Arc::clone(&listener), Arc::clone(&listener));
    let of_mount = MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_MOUNT;
    mark(&listener.openings, of_mount, place)?;
    thread::Builder::new().spawn(move || or_end(answering.answer(reads)))?;
    thread::Builder::new().spawn(move || or_end(watching.watch()))?;
    say("ready")?;
    copy(&mut stdin(), &mut sink())?;
    listener.hear_no_more()?;
    say(&encode(&*lock(&listener.counts)))
}

struct Listener {
    openings: Fanotify,
    /// The file that somebody waits for, and since when.
    held: Mutex<Option<(Instant, Arc<FanotifyEvent>)>>,
    counts: Mutex<ScannerCounts>,
}

impl Listener {
    /// Hears of no mount any more. What waits still waits.
    fn hear_no_more(&self) -> Result<()> {
        let flags = MarkFlags::FAN_MARK_FLUSH | MarkFlags::FAN_MARK_MOUNT;
        Ok(self
            .openings
            .mark(flags, MaskFlags::empty(), CWD, Some("/"))?)
    }

    /// Lets whoever opens the file of this event go on.
    fn permit(&self, event: &FanotifyEvent) -> Result<()> {
        let permitted = event
            .fd()
            .map(|file| FanotifyResponse::new(file, Response::FAN_ALLOW));
        Ok(permitted.map_or(Ok(()), |response| self.openings.write_response(response))?)
    }

    /// Permits one opening after another.
    fn answer(&self, reads: bool) -> Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let events = self.openings.read_events()?;
            let heard = Instant::now();
            for event in events.into_iter().map(Arc::new) {
                if !event.check_version() {
                    let why = "the kernel tells of files that are opened in another way";
                    return Err(Error::new(ErrorKind::Unsupported, why));
                }
                let Some(file) = event.fd() else {
                    continue;
                };
                *lock(&self.held) = Some((Instant::now(), Arc::clone(&event)));
                let bytes = match reads {
                    true => read_through(file, &mut buffer),
                    false => 0,
                };
                if lock(&self.held).take().is_some() {
                    self.permit(&event)?;
                }
                let waited = u64::try_from(heard.elapsed().as_nanos()).unwrap_or(u64::MAX);
                let mut counts = lock(&self.counts);
                counts.opens += 1;
                counts.read_bytes += bytes;
                counts.longest_wait_ns = counts.longest_wait_ns.max(waited);
            }
        }
    }

    /// Says that this process lives, until it is late.
    fn watch(&self) -> Result<()> {
        loop {
            thread::sleep(TICK);
            say(".")?;
            let mut held = lock(&self.held);
            if let Some((_, event)) = held.take_if(|(since, _)| since.elapsed() > LATE) {
                // The kernel permits the others, but not before the thread that reads has come back.
                self.hear_no_more()?;
                self.permit(&event)?;
                let late = "reading a file took too long, and it was permitted";
                return Err(Error::other(late));
            }
        }
    }
}

/// Reads a file to its end; the bytes. One that cannot be read is nothing to its opener.
fn read_through(file: BorrowedFd<'_>, buffer: &mut [u8]) -> u64 {
    let mut bytes = 0;
    while let Ok(read @ 1..) = rustix::io::read(file, &mut *buffer) {
        bytes += read as u64;
    }
    bytes
}

/// Ends the process where one of its threads cannot go on; that permits whatever waits.
fn or_end(done: Result<()>) {
    if let Err(error) = done {
        let _ = say(&error.to_string());
        std::process::exit(1);
    }
}

fn say(line: &str) -> Result<()> {
    let mut output = stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
