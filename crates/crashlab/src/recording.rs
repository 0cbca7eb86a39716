//! The parent's side of a recording: start it, wait for it, read what it wrote.

use crate::log::Log;
use crate::options::Options;
use crate::{part, run_error};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use stowplan_harness::HarnessError;
use stowplan_harness::interrupt::Interrupt;

/// The end of what a program says on stderr, for a message.
const SAID: usize = 600;

/// A process that is killed when nobody waits for it any more. What it started ends with it.
pub(crate) struct Started(pub(crate) Child);

impl Started {
    pub(crate) fn spawn(command: &mut Command) -> Result<Self, HarnessError> {
        let program = command.get_program().to_owned();
        let child = command.spawn();
        child
            .map(Self)
            .map_err(HarnessError::io("start", Path::new(&program)))
    }

    /// Writes to its stdin.
    pub(crate) fn say(&mut self, words: &[u8]) -> std::io::Result<()> {
        let stdin = self.0.stdin.as_mut();
        stdin.map_or(Ok(()), |stdin| stdin.write_all(words))
    }

    /// Waits for its end; nothing if that does not come in time.
    pub(crate) fn ends_within(
        &mut self,
        patience: Duration,
        interrupt: &Interrupt,
    ) -> Result<Option<ExitStatus>, HarnessError> {
        let until = Instant::now() + patience;
        let mut pause = Duration::from_micros(200);
        loop {
            let status = self.0.try_wait();
            let status =
                status.map_err(|error| run_error(format!("cannot wait for a process: {error}")))?;
            if status.is_some() {
                return Ok(status);
            }
            if interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program on the recording file system, in a directory of which nothing is left, and returns
/// what it did, which is kept in the file `log`.
pub(crate) fn of(command: &[OsString], log: &Path, options: &Options) -> Result<Log, HarnessError> {
    let mount = options.work.join("mount");
    // Where there is room for a word of why there is none elsewhere.
    let said = options.scratch.join("stderr");
    fs::create_dir(&mount).map_err(HarnessError::io("create directory", &mount))?;
    let recorded = run((&mount, log, &said), command, options);
    let stderr = last_part(&said);
    let _ = fs::remove_file(&said);
    fs::remove_dir(&mount).map_err(HarnessError::io("remove", &mount))?;
    recorded?;
    let file = fs::read(log).map_err(HarnessError::io("read", log))?;
    let mut log =
        Log::decode(file).ok_or_else(|| run_error("the recording is not whole; run it again"))?;
    log.said = in_a_line(&format!("{}\n{stderr}", log.said));
    Ok(log)
}

fn run(
    (mount, log, said): (&Path, &Path, &Path),
    command: &[OsString],
    options: &Options,
) -> Result<(), HarnessError> {
    let stderr = File::create(said).map_err(HarnessError::io("create", said))?;
    let mut process = part("crash-record")?;
    process
        .args([mount, log])
        .args([&options.limits.written.to_string(), "--"])
        .args(command)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(stderr);
    let patience = options.limits.program;
    let status = Started::spawn(&mut process)?.ends_within(patience, &options.interrupt)?;
    if options.interrupt.raised() {
        return Err(HarnessError::Interrupted);
    }
    match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(run_error(match last_part(said) {
            text if text.is_empty() => {
                format!("the recording file system ended with {}", exit_code(status))
            }
            text => text,
        })),
        None => Err(run_error(format!(
            "the program did not end within {} s, and was ended with all that it had started; --program-limit gives it more",
            patience.as_secs()
        ))),
    }
}

/// The code that a process's end is told by: of a signal 128 and its number, as shells have it.
pub fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    let signal = || status.signal().map_or(-1, |signal| 128 + signal);
    status.code().unwrap_or_else(signal)
}

/// The end of what was said, in a line.
pub(crate) fn last_part(said: &Path) -> String {
    let bytes = fs::read(said).unwrap_or_default();
    let from = bytes.len().saturating_sub(SAID);
    in_a_line(&String::from_utf8_lossy(
        bytes.get(from..).unwrap_or_default(),
    ))
}

/// Lines as one.
pub(crate) fn in_a_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join("; ")
}
