//! The process of a scanner: it is asked before files are opened, and permits it. It never forbids, and
//! whatever becomes of it, nobody waits for long: its parent kills it when it says nothing for a while, and the
//! kernel permits all that waits once it is gone.

use super::fanotify::{mark, openings};
use nix::sys::fanotify::{
    Fanotify, FanotifyEvent, FanotifyResponse, MarkFlags, MaskFlags, Response,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::CWD;
use rustix::io::retry_on_intr;
use rustix::process::{Signal, set_parent_process_death_signal};
use std::io::{Error, ErrorKind, Result, Write, stdin, stdout};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::time::{Duration, Instant};
use stowplan_model::{ScannerCounts, encode};

/// How often it says that it lives.
const TICK: Duration = Duration::from_millis(200);
/// [`TICK`] as the system takes it.
const TICK_OF_POLL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 200_000_000,
};
/// Bytes that are read at a time.
const READ_BYTES: usize = 1 << 18;

/// Permits whatever is opened through the mount on which `place` lies, and reads it before where it
/// `reads`, until stdin ends. Says on stdout that it is ready, then that it lives, and what it did.
pub(crate) fn listen(place: &Path, reads: bool) -> Result<()> {
    // Whoever started it is not to be held up by it.
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let openings = openings()?;
    let of_mount = MarkFlags::FAN_MARK_ADD | MarkFlags::FAN_MARK_MOUNT;
    mark(&openings, of_mount, place)?;
    say("ready")?;
    let mut buffer = vec![0; if reads { READ_BYTES } else { 0 }];
    let mut counts = ScannerCounts::default();
    let mut said = Instant::now();
    while is_wanted(&openings, &mut counts, &mut buffer)? {
        if said.elapsed() >= TICK {
            say(".")?;
            said = Instant::now();
        }
    }
    let no_more = MarkFlags::FAN_MARK_FLUSH | MarkFlags::FAN_MARK_MOUNT;
    openings.mark(no_more, MaskFlags::empty(), CWD, Some("/"))?;
    say(&encode(&counts))
}

/// Answers what is asked within a tick; whether stdin is still open.
fn is_wanted(openings: &Fanotify, counts: &mut ScannerCounts, buffer: &mut [u8]) -> Result<bool> {
    let input = stdin();
    let mut heard = [
        PollFd::new(openings, PollFlags::IN),
        PollFd::new(&input, PollFlags::IN),
    ];
    retry_on_intr(|| poll(&mut heard, Some(&TICK_OF_POLL)))?;
    let [asked, ended] = heard.map(|one| !one.revents().is_empty());
    if asked {
        let since = Instant::now();
        let events = openings.read_events()?;
        events
            .into_iter()
            .try_for_each(|event| answer(openings, &event, since, counts, buffer))?;
    }
    Ok(!ended)
}

/// Reads the file that somebody wants to open, as far as there is a `buffer` for it, and permits it. `since`: when
/// the event was heard of.
fn answer(
    openings: &Fanotify,
    event: &FanotifyEvent,
    since: Instant,
    counts: &mut ScannerCounts,
    buffer: &mut [u8],
) -> Result<()> {
    if !event.check_version() {
        let why = "the kernel tells of files that are opened in another way";
        return Err(Error::new(ErrorKind::Unsupported, why));
    }
    let Some(file) = event.fd() else {
        return Ok(());
    };
    counts.read_bytes += read_through(file, buffer);
    openings.write_response(FanotifyResponse::new(file, Response::FAN_ALLOW))?;
    let waited = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
    counts.opens += 1;
    counts.longest_wait_ns = counts.longest_wait_ns.max(waited);
    Ok(())
}

/// Reads a file to its end; the bytes. One that cannot be read is nothing to its opener.
fn read_through(file: BorrowedFd<'_>, buffer: &mut [u8]) -> u64 {
    let mut bytes = 0;
    while !buffer.is_empty()
        && let Ok(read @ 1..) = rustix::io::read(file, &mut *buffer)
    {
        bytes += read as u64;
    }
    bytes
}

fn say(line: &str) -> Result<()> {
    let mut output = stdout().lock();
    writeln!(output, "{line}")?;
    output.flush()
}
