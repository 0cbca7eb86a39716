//! On-access scanners beside blocks, as anti-virus software is one: before a file is opened, a process is
//! asked, which may read it first.
//!
//! Only the worker of a block is held up, by what it opens below its own store. The worker gets a mount
//! namespace of its own, in which the directory of its store is bound onto itself, and the scanner marks
//! that mount alone. All others, this process, the scanner and whoever else uses the machine, come to the
//! same files by other mounts, of which nobody is asked; a mark on the file system would hear of them, and
//! one on each directory not of those that a block makes. Mount and namespace are gone with the worker, and
//! the marks with the scanner, which lives as long as one block: nothing is left to be removed.
//!
//! A scanner that does not answer is killed, stopped or not: the kernel permits what it held up.

use crate::platform;
use crate::worker_process::{Group, Program, WorkerCommand};
use crate::{HarnessError, Result};
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;
use stowplan_model::{CacheState, Cell, Scanned, ScannerCounts, decode};

/// The hidden verb of this program by which it is a scanner.
const VERB: &str = "scanner";
/// How long it may say nothing, who says five times a second that it lives.
const SILENCE: Duration = Duration::from_secs(3);

/// Is a scanner of what is opened through the mount on which `place` lies, until stdin ends. What goes wrong
/// is said on stdout.
pub fn listen(place: &Path, reads: bool) {
    use std::io::Write;
    if let Err(error) = platform::listen(place, reads) {
        // Where nobody listens any more, nobody waits for it either.
        let _ = writeln!(std::io::stdout(), "{error}");
    }
}

/// Why a cell cannot be scanned, if it is to be and cannot.
pub(crate) fn objection(cell: &Cell) -> Option<String> {
    if cell.scanned.is_no() {
        return None;
    }
    if !cell.capabilities.persistent {
        let store = &cell.store;
        return Some(format!("{store} has no files that could be scanned"));
    }
    if cell.workload.is_about_tables() {
        let why = "what makes or drops a table may remove the directory that is scanned";
        return Some(why.to_owned());
    }
    if (cell.workload.cache, cell.scanned) == (CacheState::AllCold, Scanned::Read) {
        let why = "that nothing was in memory is seen by what the block itself reads from storage, and here the \
                   scanner reads it: measure with names in memory (cold)";
        return Some(why.to_owned());
    }
    static WHY_NOT: OnceLock<Option<&str>> = OnceLock::new();
    WHY_NOT
        .get_or_init(platform::why_nothing_is_scanned)
        .map(str::to_owned)
}

/// The scanner of a block, which is asked until it is ended.
pub(crate) struct Scanner {
    group: Group,
    /// It ends when this is closed.
    stdin: Option<ChildStdin>,
    watch: Option<JoinHandle<Result<ScannerCounts, String>>>,
}

impl Scanner {
    /// Starts that of what a worker opens below `place`, which is a mount of its own to it.
    pub(crate) fn start(scanned: Scanned, worker: u32, place: &Path) -> Result<Self> {
        let program = WorkerCommand::this_executable()?.program;
        let mut command = Command::new(program);
        let reads = (scanned == Scanned::Read).then(|| OsString::from("--read"));
        command.arg(VERB).args(reads).arg(seen_by(worker, place)?);
        Self::of(command)
    }

    /// Starts a program as a scanner, and waits until it hears of openings.
    fn of(mut command: Command) -> Result<Self> {
        let program = PathBuf::from(command.get_program());
        let refused = || HarnessError::io("start a scanner of", &program);
        let Program {
            group,
            stdin,
            lines,
            ..
        } = Program::start(&mut command).map_err(refused())?;
        match lines.recv_timeout(SILENCE) {
            Ok(Ok(line)) if line.trim() == "ready" => {}
            Ok(Ok(line)) => return Err(failed(line.trim())),
            _ => return Err(failed("it does not begin")),
        }
        let id = group.id();
        let watch = thread::Builder::new().spawn(move || heard(&lines, id));
        Ok(Self {
            watch: Some(watch.map_err(refused())?),
            group,
            stdin,
        })
    }

    /// Ends it, and says what it did.
    ///
    /// # Errors
    /// It ended before, was late, or heard of nothing.
    pub(crate) fn end(mut self) -> Result<ScannerCounts> {
        drop(self.stdin.take());
        let heard = self.watch.take().map(JoinHandle::join);
        let lost = || Err("it is lost".to_owned());
        match heard.and_then(Result::ok).unwrap_or_else(lost) {
            Ok(counts) if counts.opens == 0 => Err(failed(
                "no file was opened below the store; its driver may have another process do so",
            )),
            Ok(counts) => Ok(counts),
            Err(why) => Err(failed(&why)),
        }
    }
}

impl Drop for Scanner {
    fn drop(&mut self) {
        self.group.kill();
        // Before it is reaped, with its number.
        let _ = self.watch.take().map(JoinHandle::join);
    }
}

/// A place as another process sees it.
fn seen_by(process: u32, place: &Path) -> Result<OsString> {
    let place = place
        .canonicalize()
        .map_err(HarnessError::io("find", place))?;
    let mut seen = OsString::from(format!("/proc/{process}/root"));
    seen.push(place);
    Ok(seen)
}

/// What a scanner says at last; one that is silent is killed, so that nobody waits for it.
fn heard(lines: &Receiver<std::io::Result<String>>, process: Pid) -> Result<ScannerCounts, String> {
    loop {
        match lines.recv_timeout(SILENCE) {
            Ok(Ok(line)) if line.trim() == "." => {}
            Ok(Ok(line)) => return decode(&line).map_err(|_| line.trim().to_owned()),
            Err(RecvTimeoutError::Timeout) => {
                // It is not reaped before this thread has ended: the number is nobody else's.
                let _ = kill_process(process, Signal::KILL);
                let seconds = SILENCE.as_secs();
                return Err(format!("it did not answer for {seconds} s and was killed"));
            }
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => {
                return Err("it ended before the block did".to_owned());
            }
        }
    }
}

fn failed(why: &str) -> HarnessError {
    HarnessError::invalid(format!(
        "the scanner of the block: {why}; nothing is known of the block"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;
    use stowplan_model::encode;

    /// A scanner that is a script.
    fn script(text: &str) -> Result<Scanner> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]);
        Scanner::of(command)
    }

    fn ended(text: &str) -> String {
        script(text).unwrap().end().unwrap_err().to_string()
    }

    #[test]
    fn a_scanner_says_what_it_did_when_its_input_ends() {
        let said = r#"{"opens":3,"read_bytes":4096,"longest_wait_ns":70}"#;
        let counts = script(&format!("echo ready; echo .; cat; echo '{said}'")).unwrap();
        let expected = ScannerCounts {
            opens: 3,
            read_bytes: 4096,
            longest_wait_ns: 70,
        };
        assert_eq!(counts.end().unwrap(), expected);
    }

    #[test]
    fn a_block_of_which_the_scanner_heard_nothing_or_in_which_it_died_has_failed() {
        let none = encode(&ScannerCounts::default());
        let nothing = ended(&format!("echo ready; cat; echo '{none}'"));
        assert!(nothing.contains("no file was opened"), "{nothing}");
        let died = ended("echo ready; exit 0");
        assert!(died.contains("ended before the block did"), "{died}");
        let broken = ended("echo ready; echo the disk is gone");
        assert!(broken.contains("the disk is gone"), "{broken}");
        let refused = script("echo no such mount").map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("no such mount"), "{refused}");
    }

    #[test]
    fn a_scanner_that_is_stopped_is_killed_so_that_nobody_waits_for_it() {
        let scanner = script("echo ready; kill -STOP $$").unwrap();
        let began = Instant::now();
        let told = scanner.end().unwrap_err().to_string();
        assert!(told.contains("was killed"), "{told}");
        assert!(began.elapsed() < Duration::from_secs(60));
    }
}
