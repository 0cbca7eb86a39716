//! Processes that keep CPUs busy.

use crate::HarnessError;
use crate::worker_process::WorkerCommand;
use std::hint::black_box;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::thread;

/// Some processes that do nothing but keep a CPU busy each, until this is dropped. They end with
/// their parent, however that ends: they hold the other end of a pipe to it.
#[derive(Debug)]
pub struct Busy {
    children: Vec<Child>,
}

impl Busy {
    /// Starts them; `command` leads to [`keep_busy`].
    ///
    /// # Errors
    /// One of them cannot be started; those before it are ended.
    pub fn start(command: &WorkerCommand, processes: u32) -> Result<Self, HarnessError> {
        let mut busy = Self {
            children: Vec::new(),
        };
        for _ in 0..processes {
            let mut process = Command::new(&command.program);
            process
                .args(&command.arguments)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null());
            // As workers: Ctrl-C in the terminal is for the parent.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut process, 0);
            let child = process.spawn().map_err(HarnessError::io(
                "start a busy process of",
                &command.program,
            ))?;
            busy.children.push(child);
        }
        Ok(busy)
    }

    /// Whether all of them still run.
    pub fn all_run(&mut self) -> bool {
        let mut children = self.children.iter_mut();
        children.all(|child| matches!(child.try_wait(), Ok(None)))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        for child in &mut self.children {
            // One that has ended by itself cannot be ended again, and that is all the same.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Keeps a CPU busy until `input` ends.
pub fn keep_busy(mut input: impl Read + Send + 'static) {
    let waiting = move || {
        let mut ignored = [0; 64];
        // An input that cannot be read has ended as well.
        while matches!(input.read(&mut ignored), Ok(1..)) {}
    };
    // Without the thread nothing would tell when to end.
    let Ok(waiting) = thread::Builder::new().spawn(waiting) else {
        return;
    };
    let mut number = 0_u64;
    while !waiting.is_finished() {
        number = black_box(
            number
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn waiting() -> WorkerCommand {
        WorkerCommand::new("/bin/cat", &[])
    }

    #[test]
    fn the_processes_run_until_they_are_dropped() {
        let mut busy = Busy::start(&waiting(), 2).unwrap();
        assert!(busy.all_run());
        let ids: Vec<u32> = busy.children.iter().map(Child::id).collect();
        drop(busy);
        for id in ids {
            // Waited for, so that not even a zombie has this number.
            let stat = std::fs::read_to_string(format!("/proc/{id}/comm"));
            assert_ne!(stat.ok().as_deref(), Some("cat\n"));
        }
    }

    #[test]
    fn it_ends_with_its_input() {
        keep_busy(&b"something"[..]);
        keep_busy(std::io::empty());
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let command = WorkerCommand::new("/nowhere/busy", &[]);
        let error = Busy::start(&command, 1).unwrap_err().to_string();
        assert!(error.contains("/nowhere/busy"), "{error}");
    }
}
