//! Who says what became of a state: a process that opens stores, or a command of the user's.

use crate::recording::{Started, code, in_a_line, last_part};
use crate::run::Options;
use crate::{own_program, run_error};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;
use stowplan_harness::HarnessError;
use stowplan_harness::interrupt::Interrupt;
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
    /// Where it may leave what it says.
    said: PathBuf,
    /// How long judging a state may take: an engine may hang on what it finds.
    limit: Duration,
    interrupt: &'v Interrupt,
    /// Of a store: the process, and what it answers.
    process: Option<(Started, Receiver<String>)>,
}

impl<'v> Judge<'v> {
    pub(crate) fn new(verifier: &'v Verifier, said: PathBuf, options: &'v Options) -> Self {
        Self {
            verifier,
            said,
            limit: options.limits.check,
            interrupt: &options.interrupt,
            process: None,
        }
    }

    /// Judges a state, which may be changed by that.
    pub(crate) fn judge(&mut self, directory: &Path, acked: u64) -> Result<Verdict, HarnessError> {
        match self.verifier {
            Verifier::Store(arguments) => self.ask(arguments, directory, acked),
            Verifier::Command(command) => self.check(command, directory, acked),
        }
    }

    /// Ends the process that judges. One that a thread has started ends with that thread, and would be
    /// taken for one that an engine took along.
    pub(crate) fn rest(&mut self) {
        self.process = None;
    }

    fn ask(
        &mut self,
        arguments: &[OsString],
        directory: &Path,
        acked: u64,
    ) -> Result<Verdict, HarnessError> {
        if self.process.is_none() {
            self.process = Some(self.start(arguments)?);
        }
        let Some((process, answers)) = self.process.as_mut() else {
            return Err(run_error("there is no judge"));
        };
        let question = ToJudge {
            directory: directory.to_owned(),
            acked,
        };
        let mut line = serde_json::to_string(&question)
            .map_err(|error| run_error(format!("cannot ask a judge: {error}")))?;
        line.push('\n');
        let stdin = process.child().stdin.as_mut();
        let asked = stdin.map(|stdin| stdin.write_all(line.as_bytes()));
        let answer = answers.recv_timeout(self.limit);
        if self.interrupt.raised() {
            return Err(HarnessError::Interrupted);
        }
        match (asked, answer) {
            (Some(Ok(())), Ok(answer)) => {
                let judged = serde_json::from_str(&answer).map_err(|error| {
                    run_error(format!("a judge says what is no answer: {error}"))
                })?;
                Ok(Ok(judged))
            }
            (_, Err(RecvTimeoutError::Timeout)) => {
                self.process = None;
                Ok(Err(self.endless("the judge")))
            }
            _ => self.died(),
        }
    }

    /// An engine that takes its process with it has met what it cannot read.
    fn died(&mut self) -> Result<Verdict, HarnessError> {
        let ended = self.process.take();
        let status = ended.map(|(mut process, _)| process.ends_within(self.limit, self.interrupt));
        let Some(status) = status.transpose()?.flatten() else {
            return Ok(Err(self.endless("the judge")));
        };
        let code = code(status);
        let note = in_a_line(&format!(
            "{}\n{}",
            ending("the judge", code),
            last_part(&self.said)
        ));
        Ok(match code {
            PANICKED => Ok(judged(Fate::Corrupt, 0, note)),
            129.. if !FROM_OUTSIDE.contains(&(code - 128)) => Ok(judged(Fate::Corrupt, 0, note)),
            _ => Err(Unjudged::Ended(note)),
        })
    }

    fn start(&self, arguments: &[OsString]) -> Result<(Started, Receiver<String>), HarnessError> {
        let stderr = File::create(&self.said).map_err(HarnessError::io("create", &self.said))?;
        let mut process = Command::new(own_program()?);
        process
            .args(arguments)
            .arg("--parent")
            .arg(std::process::id().to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr);
        let mut started = Started::spawn(&mut process)?;
        let (say, answers) = mpsc::channel();
        if let Some(stdout) = started.child().stdout.take() {
            let listen = move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if say.send(line).is_err() {
                        return;
                    }
                }
            };
            let listening = thread::Builder::new().spawn(listen);
            listening.map_err(|error| run_error(format!("cannot start a thread: {error}")))?;
        }
        Ok((started, answers))
    }

    fn endless(&self, who: &str) -> Unjudged {
        Unjudged::Endless(format!(
            "{who} did not end within {} s",
            self.limit.as_secs_f64()
        ))
    }

    fn check(
        &self,
        command: &OsString,
        directory: &Path,
        acked: u64,
    ) -> Result<Verdict, HarnessError> {
        let said = File::create(&self.said).map_err(HarnessError::io("create", &self.said))?;
        let stderr = said.try_clone();
        let mut process = Command::new(own_program()?);
        process
            .args(["crashfs", "cage", "--parent"])
            .arg(std::process::id().to_string())
            .args(["--", "sh", "-c"])
            .arg(command)
            .env("STOWPLAN_DIR", directory)
            .env("STOWPLAN_ACKED", acked.to_string())
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(said)
            .stderr(stderr.map_err(HarnessError::io("open", &self.said))?);
        let status = Started::spawn(&mut process)?.ends_within(self.limit, self.interrupt)?;
        let Some(status) = status else {
            return Ok(Err(self.endless("the check")));
        };
        let note = last_part(&self.said);
        let code = code(status);
        let with_ending = in_a_line(&format!("{}\n{note}", ending("the check", code)));
        Ok(match code {
            0 => Ok(judged(Fate::Kept, 0, note)),
            1 => Ok(judged(Fate::Lost, 1, note)),
            2 => Ok(judged(Fate::Corrupt, 0, note)),
            129.. if FROM_OUTSIDE.contains(&(code - 128)) => Err(Unjudged::Ended(with_ending)),
            // By a signal of its own: 128 and more, as shells tell it.
            129.. => Ok(judged(Fate::Corrupt, 0, with_ending)),
            _ => {
                return Err(run_error(format!(
                    "the check ended with {code}: exit 0 means kept, 1 lost, 2 corrupt{}{note}",
                    if note.is_empty() { "" } else { "; it said: " },
                )));
            }
        })
    }
}

pub(crate) fn judged(fate: Fate, lost: u64, note: String) -> Judged {
    Judged {
        fate,
        lost,
        first_lost: None,
        note,
    }
}

/// How a process ended, in words.
fn ending(who: &str, code: i32) -> String {
    match code {
        129.. => format!("{who} was ended by signal {}", code - 128),
        code => format!("{who} ended with {code}"),
    }
}
