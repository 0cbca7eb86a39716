//! The process of a scanner: it is asked before files are opened, and permits it. It never forbids, and
//! whatever becomes of it, nobody waits for long: it looks after itself, its parent looks after it, and the
//! kernel permits all that waits once it is gone.

use super::fanotify::Openings;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::fs::File;
use std::io::{Read, Result, Write, copy, sink, stdin, stdout};
use std::os::fd::{AsRawFd, RawFd};
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
        openings: Openings::new()?,
        held: Mutex::default(),
        counts: Mutex::default(),
    });
    let (answering, watching) = (Arc::clone(&listener), Arc::clone(&listener));
    listener.openings.of_mount(place)?;
    thread::Builder::new().spawn(move || or_end(answering.answer(reads)))?;
    thread::Builder::new().spawn(move || or_end(watching.watch()))?;
    say("ready")?;
    copy(&mut stdin(), &mut sink())?;
    listener.openings.of_none()?;
    say(&encode(&*lock(&listener.counts)))
}

struct Listener {
    openings: Openings,
    /// The file that somebody waits for, and since when.
    held: Mutex<Option<(Instant, RawFd)>>,
    counts: Mutex<ScannerCounts>,
}

impl Listener {
    /// Permits one opening after another.
    fn answer(&self, reads: bool) -> Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        loop {
            let files = self.openings.next()?;
            let heard = Instant::now();
            for file in files {
                let descriptor = file.as_raw_fd();
                *lock(&self.held) = Some((Instant::now(), descriptor));
                let bytes = match reads {
                    true => read_through(&file, &mut buffer),
                    false => 0,
                };
                if lock(&self.held).take().is_some() {
                    self.openings.permit(descriptor)?;
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
            if let Some((_, file)) = held.take_if(|(since, _)| since.elapsed() > LATE) {
                // The kernel permits the others, but not before the thread that reads has come back.
                self.openings.of_none()?;
                self.openings.permit(file)?;
                let late = "reading a file took too long, and it was permitted";
                return Err(std::io::Error::other(late));
            }
        }
    }
}

/// Reads a file to its end; the bytes. One that cannot be read is nothing to its opener.
fn read_through(mut file: &File, buffer: &mut [u8]) -> u64 {
    let mut bytes = 0;
    while let Ok(read @ 1..) = file.read(buffer) {
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
