//! Who says what became of a state: a process that opens stores, or a command of the user's.

use crate::recording::{Started, in_a_line, last_part};
use crate::{own_program, run_error};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;
use stowplan_harness::HarnessError;
use stowplan_harness::interrupt::Interrupt;
use stowplan_model::{Fate, Judged, ToJudge};

/// How long judging a state may take: an engine may hang on what it finds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How states are judged.
#[derive(Debug, Clone)]
pub enum Verifier {
    /// By this program, started with these arguments: it hears of states on stdin, line by line, and
    /// answers.
    Store(Vec<OsString>),
    /// By a command of the shell: exit 0 for kept, 1 for lost, 2 for corrupt.
    Command(OsString),
}

/// Someone who judges one state after the other.
pub(crate) struct Judge<'v> {
    verifier: &'v Verifier,
    /// Where it may leave what it says.
    said: PathBuf,
    interrupt: &'v Interrupt,
    /// Of a store: the process, and what it answers.
    process: Option<(Started, Receiver<String>)>,
}

impl<'v> Judge<'v> {
    pub(crate) fn new(verifier: &'v Verifier, said: PathBuf, interrupt: &'v Interrupt) -> Self {
        Self {
            verifier,
            said,
            interrupt,
            process: None,
        }
    }

    /// Judges a state, which may be changed by that.
    pub(crate) fn judge(&mut self, directory: &Path, acked: u64) -> Result<Judged, HarnessError> {
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
    ) -> Result<Judged, HarnessError> {
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
        let answer = answers.recv_timeout(PATIENCE);
        if self.interrupt.raised() {
            return Err(HarnessError::Interrupted);
        }
        match (asked, answer) {
            (Some(Ok(())), Ok(answer)) => serde_json::from_str(&answer)
                .map_err(|error| run_error(format!("a judge says what is no answer: {error}"))),
            (_, answer) => Ok(self.died(answer == Err(mpsc::RecvTimeoutError::Timeout))),
        }
    }

    /// An engine that takes its process with it has met what it cannot read.
    fn died(&mut self, hangs: bool) -> Judged {
        self.process = None;
        let how = match hangs {
            true => format!("the engine did not end within {} s", PATIENCE.as_secs()),
            false => "the engine ended its process".to_owned(),
        };
        let said = last_part(&self.said);
        let note = if said.is_empty() {
            how
        } else {
            format!("{how}: {said}")
        };
        Judged {
            fate: Fate::Corrupt,
            lost: 0,
            first_lost: None,
            note,
        }
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

    fn check(
        &self,
        command: &OsString,
        directory: &Path,
        acked: u64,
    ) -> Result<Judged, HarnessError> {
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
        let status = Started::spawn(&mut process)?.ends_within(PATIENCE, self.interrupt)?;
        let note = last_part(&self.said);
        let judged = |fate, lost, note| Judged {
            fate,
            lost,
            first_lost: None,
            note,
        };
        let Some(status) = status else {
            let note = format!("the check did not end within {} s", PATIENCE.as_secs());
            return Ok(judged(Fate::Corrupt, 0, note));
        };
        match status.code() {
            Some(0) => Ok(judged(Fate::Kept, 0, note)),
            Some(1) => Ok(judged(Fate::Lost, 1, note)),
            Some(2) => Ok(judged(Fate::Corrupt, 0, note)),
            // By a signal: 128 and more, as shells tell it.
            Some(code @ 129..) => Ok(judged(
                Fate::Corrupt,
                0,
                in_a_line(&format!(
                    "the check was ended by signal {}\n{note}",
                    code - 128
                )),
            )),
            code => Err(run_error(format!(
                "the check ended with {}: exit 0 means kept, 1 lost, 2 corrupt{}{note}",
                code.map_or_else(|| "a signal".to_owned(), |code| code.to_string()),
                if note.is_empty() { "" } else { "; it said: " },
            ))),
        }
    }
}
