//! The parent's end of a worker: start it, speak the protocol, never wait for ever, leave no
//! process behind.

use crate::interrupt::Interrupt;
use crate::{HarnessError, platform};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use stowplan_model::{
    FromWorker, Job, PROTOCOL_NAME, PROTOCOL_VERSION, Settings, ToWorker, decode, encode,
};

/// How long a worker may take to greet, and to end after it was told to.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the wait for a worker looks for Ctrl-C.
const TICK: Duration = Duration::from_millis(50);
/// How much of a worker's stderr is kept: its end.
const STDERR_KEPT: usize = 4096;

/// How to start a worker.
#[derive(Debug, Clone)]
pub struct WorkerCommand {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
}

impl WorkerCommand {
    /// This executable's hidden verb `worker`.
    ///
    /// # Errors
    /// The system does not tell where this executable lies.
    pub fn this_executable() -> Result<Self, HarnessError> {
        let program = platform::own_program().map_err(|error| {
            HarnessError::invalid(format!(
                "cannot find this program's own file, which is started again as worker: {error}"
            ))
        })?;
        Ok(Self {
            program,
            arguments: vec!["worker".to_owned()],
        })
    }
}

/// A worker that was started and has greeted.
pub(crate) struct WorkerProcess<'a> {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<std::io::Result<String>>,
    stderr: Option<JoinHandle<String>>,
    interrupt: &'a Interrupt,
}

impl<'a> WorkerProcess<'a> {
    pub(crate) fn start(
        command: &WorkerCommand,
        interrupt: &'a Interrupt,
    ) -> Result<Self, HarnessError> {
        let mut process = Command::new(&command.program);
        process
            .args(&command.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        // A group of its own: Ctrl-C in the terminal reaches the parent only, which then ends
        // the worker in order.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut process, 0);
        let mut child = process
            .spawn()
            .map_err(HarnessError::io("start worker", &command.program))?;
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(HarnessError::worker(
                "the worker has no standard streams",
                "",
            ));
        };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines() {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let stderr = Some(thread::spawn(move || last_part(stderr)));
        let mut worker = Self {
            child,
            stdin: Some(stdin),
            lines,
            stderr,
            interrupt,
        };
        worker.greet()?;
        Ok(worker)
    }

    fn greet(&mut self) -> Result<(), HarnessError> {
        match self.hear(PATIENCE)? {
            FromWorker::Hello {
                protocol, version, ..
            } if protocol == PROTOCOL_NAME && version == PROTOCOL_VERSION => Ok(()),
            FromWorker::Hello {
                protocol,
                version,
                tool,
            } => Err(self.failed(&format!(
                "the worker speaks {protocol} version {version} (program {tool}), this program \
                 {PROTOCOL_NAME} version {PROTOCOL_VERSION}: use a driver of the same version"
            ))),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Has the worker prepare a job within a time; returns the settings that its engine reports.
    pub(crate) fn prepare(&mut self, job: Job, within: Duration) -> Result<Settings, HarnessError> {
        self.say(&ToWorker::Prepare(job))?;
        match self.hear(within)? {
            FromWorker::Ready { effective } => Ok(effective),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Has the worker do the task, ends it, and returns its answer. A worker that says nothing
    /// for `silence` is ended.
    pub(crate) fn go(
        mut self,
        silence: Duration,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<FromWorker, HarnessError> {
        self.say(&ToWorker::Go)?;
        loop {
            match self.hear(silence)? {
                FromWorker::Progress { done, total } => progress(done, total),
                answer => {
                    self.end()?;
                    return Ok(answer);
                }
            }
        }
    }

    fn say(&mut self, message: &ToWorker) -> Result<(), HarnessError> {
        let mut line = encode(message);
        line.push('\n');
        let sent = match self.stdin.as_mut() {
            Some(stdin) => stdin
                .write_all(line.as_bytes())
                .and_then(|()| stdin.flush()),
            None => Ok(()),
        };
        // A worker that died has closed its end; what it said last is the better message.
        match sent {
            Ok(()) => Ok(()),
            Err(error) => match self.hear(Duration::from_secs(1)) {
                Err(error) => Err(error),
                Ok(_) => Err(self.failed(&format!("the worker takes no messages: {error}"))),
            },
        }
    }

    /// The next message. A worker that reports a failure, dies, says nothing for `silence`, or
    /// says what is no message, is an error; so is Ctrl-C.
    fn hear(&mut self, silence: Duration) -> Result<FromWorker, HarnessError> {
        let deadline = Instant::now() + silence;
        loop {
            if self.interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
            match self.lines.recv_timeout(TICK) {
                Ok(Ok(line)) => return self.understand(&line),
                Ok(Err(error)) => {
                    return Err(self.failed(&format!("cannot read from the worker: {error}")));
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) => {
                    return Err(self.failed(&format!(
                        "the worker said nothing for {} s and was ended",
                        silence.as_secs()
                    )));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    fn understand(&mut self, line: &str) -> Result<FromWorker, HarnessError> {
        match decode(line) {
            Ok(FromWorker::Failed { message }) => Err(self.failed(&message)),
            Ok(message) => Ok(message),
            Err(error) => Err(self.failed(&error.to_string())),
        }
    }

    /// Tells the worker to end and waits until it has.
    fn end(&mut self) -> Result<(), HarnessError> {
        let _ = self.say(&ToWorker::Bye);
        drop(self.stdin.take());
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) if status.success() => return Ok(()),
                Ok(Some(status)) => {
                    return Err(self.failed(&format!("the worker ended badly: {}", cause(status))));
                }
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(1)),
                Ok(None) => return Err(self.failed("the worker did not end when told to")),
                Err(error) => {
                    return Err(self.failed(&format!("cannot wait for the worker: {error}")));
                }
            }
        }
    }

    fn died(&mut self) -> HarnessError {
        let cause = match self.child.wait() {
            Ok(status) => cause(status),
            Err(error) => error.to_string(),
        };
        self.failed(&format!("the worker died: {cause}"))
    }

    fn unexpected(&mut self, message: &FromWorker) -> HarnessError {
        let text: String = encode(message).chars().take(120).collect();
        self.failed(&format!("the worker answered out of turn: {text}"))
    }

    /// Ends the worker and makes the error, with the end of its stderr.
    fn failed(&mut self, message: &str) -> HarnessError {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let stderr = self
            .stderr
            .take()
            .and_then(|thread| thread.join().ok())
            .unwrap_or_default();
        HarnessError::worker(message, stderr.trim())
    }
}

impl Drop for WorkerProcess<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Why a process ended, in words.
fn cause(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        let hint = if signal == 9 {
            " (killed; if nobody did it, the system ran out of memory: see the kernel log)"
        } else {
            ""
        };
        return format!("signal {signal}{hint}");
    }
    status.to_string()
}

/// Reads a stream to its end and keeps its last part.
fn last_part(mut stream: impl Read) -> String {
    let mut kept = Vec::new();
    let mut piece = [0; 1024];
    while let Ok(n) = stream.read(&mut piece) {
        if n == 0 {
            break;
        }
        kept.extend_from_slice(&piece[..n]);
        if kept.len() > 2 * STDERR_KEPT {
            kept.drain(..kept.len() - STDERR_KEPT);
        }
    }
    let start = kept.len().saturating_sub(STDERR_KEPT);
    String::from_utf8_lossy(&kept[start..]).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// A worker played by a shell script.
    fn scripted(script: &str) -> WorkerCommand {
        WorkerCommand {
            program: "/bin/sh".into(),
            arguments: vec!["-c".to_owned(), script.to_owned()],
        }
    }

    fn error_of(script: &str) -> String {
        let interrupt = Interrupt::never();
        let error = WorkerProcess::start(&scripted(script), &interrupt).err();
        let (message, stderr) = error.map(HarnessError::split).unwrap_or_default();
        format!("{message}\n{stderr}")
    }

    #[test]
    fn a_worker_that_dies_is_reported_with_its_stderr() {
        let message = error_of("echo 'no such engine' >&2; exit 3");
        assert!(
            message.contains("died") && message.contains("no such engine"),
            "{message}"
        );
    }

    #[test]
    fn a_worker_that_is_killed_is_reported_with_its_signal() {
        let message = error_of("kill -9 $$");
        assert!(message.contains("signal 9"), "{message}");
    }

    #[test]
    fn a_worker_that_prints_garbage_is_reported_with_the_line() {
        let message = error_of("echo hello world; sleep 5");
        assert!(message.contains("hello world"), "{message}");
    }

    #[test]
    fn a_worker_of_another_version_is_refused() {
        let hello = r#"{"hello":{"protocol":"stowplan-worker","version":99,"tool":"9.9"}}"#;
        let message = error_of(&format!("echo '{hello}'; sleep 5"));
        assert!(message.contains("version 99"), "{message}");
    }

    #[test]
    fn an_interrupt_ends_the_wait() {
        let interrupt = Interrupt::never();
        interrupt.raise();
        let result = WorkerProcess::start(&scripted("sleep 60"), &interrupt);
        assert!(matches!(result, Err(HarnessError::Interrupted)));
    }

    #[test]
    fn only_the_end_of_a_long_stderr_is_kept() {
        let text = "x".repeat(100_000) + "the end";
        let kept = last_part(text.as_bytes());
        assert!(kept.len() <= STDERR_KEPT && kept.ends_with("the end"));
    }
}
