//! Processes that keep CPUs busy.

use crate::Result;
use crate::interrupt::Interrupt;
use crate::worker_process::{Server, WorkerCommand};
use std::ops::ControlFlow::Break;
use std::process::Command;

/// The hidden verb of this program by which it keeps a CPU busy.
const VERB: &str = "busy";

/// Some processes that do nothing but keep a CPU busy each, until this is dropped. They end with
/// their parent, however that ends: they hold the other end of a pipe to it.
#[derive(Debug)]
pub struct Busy {
    children: Vec<Server>,
}

/// What busy processes are started by: this executable. With `memory` each streams through memory that
/// is larger than the processor's caches.
///
/// # Errors
/// The system does not tell where this executable lies.
pub fn command(memory: bool) -> Result<WorkerCommand> {
    let memory = memory.then_some("--memory");
    let arguments = [VERB].into_iter().chain(memory);
    Ok(WorkerCommand {
        arguments: arguments.map(str::to_owned).collect(),
        ..WorkerCommand::this_executable()?
    })
}

impl Busy {
    /// Starts them, each once the one before has said in a line that it is busy.
    ///
    /// # Errors
    /// One of them cannot be started, or ends at once; those before it are ended.
    pub fn start(command: &WorkerCommand, processes: u32) -> Result<Self> {
        let program = command.program.display();
        let what = format!("the busy process {program} {}", command.arguments.join(" "));
        let start = |_| {
            let mut process = Command::new(&command.program);
            process.args(&command.arguments);
            Server::start(process, &what, &Interrupt::never(), &mut |_| Break(()))
        };
        let children = (0..processes).map(|number| Ok(start(number)?.0));
        Ok(Self {
            children: children.collect::<Result<_>>()?,
        })
    }

    /// Whether all of them still run.
    pub fn all_run(&mut self) -> bool {
        let mut children = self.children.iter();
        children.all(Server::runs)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// Says that it is busy, and waits.
    fn waiting() -> WorkerCommand {
        WorkerCommand::new("/bin/sh", &["-c", "echo busy; exec cat"])
    }

    #[test]
    fn the_processes_run_until_they_are_dropped() {
        let mut busy = Busy::start(&waiting(), 2).unwrap();
        assert!(busy.all_run());
        let ids: Vec<u32> = busy.children.iter().map(Server::id).collect();
        drop(busy);
        for id in ids {
            // Waited for, so that not even a zombie has this number.
            let stat = std::fs::read_to_string(format!("/proc/{id}/comm"));
            assert_ne!(stat.ok().as_deref(), Some("cat\n"));
        }
    }

    #[test]
    fn a_process_that_ends_at_once_is_no_neighbour() {
        let command = WorkerCommand::new("/bin/true", &["--memory"]);
        let error = Busy::start(&command, 1).unwrap_err().to_string();
        assert!(error.contains("/bin/true --memory"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let command = WorkerCommand::new("/nowhere/busy", &[]);
        let error = Busy::start(&command, 1).unwrap_err().to_string();
        assert!(error.contains("/nowhere/busy"), "{error}");
    }
}
