//! A worker's process and those that it starts.

use super::streams::{self, Stderr};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::Receiver;

/// A program that was started, and its streams: it hears on stdin, says lines on stdout, and whatever it likes on
/// stderr.
pub(crate) struct Program {
    pub(crate) group: Group,
    pub(crate) stdin: Option<ChildStdin>,
    pub(crate) lines: Receiver<std::io::Result<String>>,
    pub(super) stderr: Stderr,
}

impl Program {
    pub(crate) fn start(command: &mut Command) -> std::io::Result<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut group = Group::start(piped.stderr(Stdio::piped()))?;
        let child = &mut group.child;
        let (stdin, out) = (child.stdin.take(), child.stdout.take());
        let Some((stdout, stderr)) = out.zip(child.stderr.take()) else {
            return Err(std::io::Error::other("it has no standard streams"));
        };
        Ok(Self {
            stdin,
            lines: streams::lines(stdout)?,
            stderr: Stderr::read(stderr)?,
            group,
        })
    }
}

/// A process that leads a group of its own. None of the group is left once this is gone, but for
/// processes that have left the group themselves.
#[derive(Debug)]
pub(crate) struct Group {
    child: Child,
    status: Option<ExitStatus>,
}

impl Group {
    /// Starts a program. With a group of its own, Ctrl-C in the terminal reaches the parent only,
    /// which then ends the worker in order.
    fn start(command: &mut Command) -> std::io::Result<Self> {
        Ok(Self {
            child: command.process_group(0).spawn()?,
            status: None,
        })
    }

    pub(crate) fn id(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    pub(crate) fn number(&self) -> u32 {
        self.child.id()
    }

    /// Whether the worker itself has ended. It is not reaped: as long as it is not, its number is
    /// nobody else's, nor is that of its group.
    pub(super) fn has_ended(&self) -> std::io::Result<bool> {
        if self.status.is_some() {
            return Ok(true);
        }
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        Ok(waitid(WaitId::Pid(self.id()), how)?.is_some())
    }

    /// Ends whoever of the group has not; the worker itself is not reaped.
    pub(crate) fn kill(&self) {
        // Nothing can be done about one that may not be killed (it has become another user's).
        let _ = kill_process_group(self.id(), Signal::KILL);
    }

    /// Ends whoever of the group has not, and says how the worker itself ended.
    pub(super) fn end(&mut self) -> std::io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.kill();
        let status = self.child.wait()?;
        self.status = Some(status);
        Ok(status)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// Why a process ended, in words.
pub(super) fn cause(status: ExitStatus) -> String {
    let Some(signal) = status.signal() else {
        return status.to_string();
    };
    let hint = match Signal::from_named_raw(signal) {
        Some(Signal::KILL) => {
            " (killed; if nobody did it, the system ran out of memory: see the kernel log)"
        }
        Some(Signal::ABORT) => " (it gave up itself; its stderr says why)",
        Some(Signal::BUS) => {
            " (a mapped file could not be read or written: a full disk, or one that fails)"
        }
        Some(Signal::SEGV) => " (a fault in the engine or its driver)",
        Some(Signal::XFSZ) => " (a file grew beyond the limit: see 'ulimit -f')",
        Some(Signal::XCPU) => " (it used more CPU time than the limit: see 'ulimit -t')",
        _ => "",
    };
    format!("signal {signal}{hint}")
}
