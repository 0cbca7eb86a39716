//! Who says what became of a state: a process that opens stores, or a command of the user's.

use crate::options::Options;
use crate::recording::{Started, exit_code, in_a_line, last_part};
use crate::tree::Tree;
use crate::{own_program, part, run_error};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_harness::HarnessError;
use stowplan_harness::disk::remove_directory;
use stowplan_model::{Fate, Judged, ToJudge};

/// How states are judged.
#[derive(Debug, Clone)]
pub enum Verifier {
    /// By this program, started with these arguments: it hears of states on stdin, line by line, and
    /// answers.
    Store(Vec<OsString>),
    /// By a command of the shell: exit 0 for kept, 1 for lost, 2 for corrupt.
    Command(OsString),
}

/// Signals by which others end a process: hang-up, interrupt, kill, terminate. An engine that takes its
/// process along does so by others.
const FROM_OUTSIDE: [i32; 4] = [1, 2, 9, 15];
/// With this code a program of Rust ends that panicked.
const PANICKED: i32 = 101;
/// How long what a judge left running may change a state after its end.
const DYING: Duration = Duration::from_secs(1);

/// Why nothing is known of a state.
#[derive(Debug)]
pub(crate) enum Unjudged {
    /// Its judge was ended.
    Ended(String),
    /// Its judge did not come to an end.
    Endless(String),
}

/// What became of a state.
pub(crate) type Verdict = Result<Judged, Unjudged>;

/// Someone who judges one state after the other.
pub(crate) struct Judge<'v> {
    verifier: &'v Verifier,
    options: &'v Options,
    /// Where it finds a state, and may leave what it says.
    place: PathBuf,
    said: PathBuf,
    /// Of a store: the process, and what it answers.
    process: Option<(Started, Receiver<String>)>,
}

impl<'v> Judge<'v> {
    /// The judge of a number.
    pub(crate) fn new(
        verifier: &'v Verifier,
        number: usize,
        options: &'v Options,
    ) -> Result<Self, HarnessError> {
        let place = options.scratch.join(format!("state-{number}"));
        remove_directory(&place)?;
        Ok(Self {
            verifier,
            options,
            place,
            said: options.scratch.join(format!("said-{number}")),
            process: None,
        })
    }

    /// Writes a state, judges it, and removes it.
    pub(crate) fn judge(&mut self, tree: &Tree, acked: u64) -> Result<Verdict, HarnessError> {
        let place = &self.place;
        fs::create_dir(place).map_err(HarnessError::io("create directory", place))?;
        tree.write_to(place)
            .map_err(HarnessError::io("write a state to", place))?;
        let verdict = match self.verifier {
            Verifier::Store(arguments) => self.ask(arguments, acked),
            Verifier::Command(command) => self.check(command, acked),
        }?;
        remove_left(&self.place)?;
        let before = self.options.judged.fetch_add(1, Ordering::Relaxed);
        (self.options.progress)(before + 1);
        Ok(verdict)
    }

    /// Ends the process that judges. One that a thread has started ends with that thread, and would be
    /// taken for one that an engine took along.
    pub(crate) fn rest(&mut self) {
        self.process = None;
    }

    fn ask(&mut self, arguments: &[OsString], acked: u64) -> Result<Verdict, HarnessError> {
        let question = ToJudge {
            directory: self.place.clone(),
            acked,
        };
        let mut line = serde_json::to_string(&question)
            .map_err(|error| run_error(format!("cannot ask a judge: {error}")))?;
        line.push('\n');
        let (mut process, answers) = match self.process.take() {
            Some(process) => process,
            None => self.start(arguments)?,
        };
        let limits = &self.options.limits;
        let asked = process.say(line.as_bytes());
        let answer = answers.recv_timeout(limits.check);
        if self.options.interrupt.raised() {
            return Err(HarnessError::Interrupted);
        }
        if let (Ok(()), Ok(answer)) = (asked, &answer) {
            self.process = Some((process, answers));
            let judged = serde_json::from_str(answer)
                .map_err(|error| run_error(format!("a judge says what is no answer: {error}")))?;
            return Ok(Ok(judged));
        }
        if let Err(RecvTimeoutError::Timeout) = answer {
            return Ok(Err(self.endless("the judge")));
        }
        // An engine that takes its process with it has met what it cannot read.
        let status = process.ends_within(limits.check, &self.options.interrupt)?;
        let Some(status) = status else {
            return Ok(Err(self.endless("the judge")));
        };
        let note = self.note(&ending("the judge", exit_code(status)));
        Ok(match exit_code(status) {
            PANICKED => Ok(Judged::of(Fate::Corrupt, note)),
            code => by_signal(code, note.clone()).unwrap_or(Err(Unjudged::Ended(note))),
        })
    }

    fn start(&self, arguments: &[OsString]) -> Result<(Started, Receiver<String>), HarnessError> {
        let stderr = File::create(&self.said).map_err(HarnessError::io("create", &self.said))?;
        let mut process = Command::new(own_program()?);
        process
            .args(arguments)
            .arg(std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr);
        let mut started = Started::spawn(&mut process)?;
        let (say, answers) = mpsc::channel();
        let stdout = started.0.stdout.take();
        let listen = move || {
            let lines = stdout.map(BufReader::new).into_iter();
            for line in lines.flat_map(BufRead::lines).map_while(Result::ok) {
                if say.send(line).is_err() {
                    return;
                }
            }
        };
        let listening = thread::Builder::new().spawn(listen);
        listening.map_err(|error| run_error(format!("cannot start a thread: {error}")))?;
        Ok((started, answers))
    }

    fn endless(&self, who: &str) -> Unjudged {
        let seconds = self.options.limits.check.as_secs_f64();
        Unjudged::Endless(format!("{who} did not end within {seconds} s"))
    }

    /// Words, and the end of what it said.
    fn note(&self, words: &str) -> String {
        in_a_line(&format!("{words}\n{}", last_part(&self.said)))
    }

    fn check(&self, command: &OsString, acked: u64) -> Result<Verdict, HarnessError> {
        let said = File::create(&self.said).map_err(HarnessError::io("create", &self.said))?;
        let stderr = said.try_clone();
        let mut process = part("crash-cage")?;
        process
            .args(["--", "sh", "-c"])
            .arg(command)
            .env("STOWPLAN_DIR", &self.place)
            .env("STOWPLAN_ACKED", acked.to_string())
            .current_dir(&self.place)
            .stdin(Stdio::null())
            .stdout(said)
            .stderr(stderr.map_err(HarnessError::io("open", &self.said))?);
        let Options {
            limits, interrupt, ..
        } = self.options;
        let status = Started::spawn(&mut process)?.ends_within(limits.check, interrupt)?;
        let Some(code) = status.map(exit_code) else {
            return Ok(Err(self.endless("the check")));
        };
        let note = last_part(&self.said);
        Ok(match code {
            0 => Ok(Judged::of(Fate::Kept, note)),
            1 => Ok(Judged {
                lost: 1,
                ..Judged::of(Fate::Lost, note)
            }),
            2 => Ok(Judged::of(Fate::Corrupt, note)),
            code => {
                let ended = by_signal(code, self.note(&ending("the check", code)));
                return ended.ok_or_else(|| {
                    let said = if note.is_empty() { "" } else { "; it said: " };
                    run_error(format!(
                        "the check ended with {code}: exit 0 means kept, 1 lost, 2 corrupt{said}{note}"
                    ))
                });
            }
        })
    }
}

/// What it means that a judge was ended by a signal, which is 128 and more, as shells tell it: by one of its own it
/// has met what it cannot read.
fn by_signal(code: i32, note: String) -> Option<Verdict> {
    match code {
        129.. if FROM_OUTSIDE.contains(&(code - 128)) => Some(Err(Unjudged::Ended(note))),
        129.. => Some(Ok(Judged::of(Fate::Corrupt, note))),
        _ => None,
    }
}

/// Removes a state, in which what is being ended may still make files.
fn remove_left(place: &Path) -> Result<(), HarnessError> {
    let until = Instant::now() + DYING;
    loop {
        match remove_directory(place) {
            Err(_) if Instant::now() < until => thread::sleep(Duration::from_millis(20)),
            other => return other,
        }
    }
}

/// How a process ended, in words.
fn ending(who: &str, code: i32) -> String {
    match code {
        129.. => format!("{who} was ended by signal {}", code - 128),
        code => format!("{who} ended with {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_in_which_somebody_still_writes_is_removed_when_that_has_ended() {
        let base = tempfile::tempdir().unwrap();
        let place = base.path().join("state");
        fs::create_dir(&place).unwrap();
        let until = Instant::now() + DYING / 4;
        thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0_u64.. {
                    let _ = fs::write(place.join(format!("{number}")), "x");
                    if Instant::now() > until {
                        break;
                    }
                }
            });
            remove_left(&place).unwrap();
        });
        assert!(!place.exists());
    }
}
