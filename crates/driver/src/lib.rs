//! A driver's side of the protocol, for every store written in Rust: one process, one store, one
//! task after the other.
//!
//! Everything that can be prepared is prepared before `ready`: the store is open, the operation
//! sequence and the values to write are in memory, the destination buffer is touched. Between `go`
//! and the last timestamp nothing runs but the lead-in and the measured operations.
//!
//! What belongs here: what has to happen in the process that holds the store. What does not:
//! deciding what is measured, checking it, or reading what the system counts from outside.

mod accounting;
mod barrier;
mod block;
mod counting;
mod crash;
mod describe;
mod error;
mod load;
mod neighbours;
mod phases;
mod platform;
mod program;
mod run;
mod session;
mod threads;
mod timing;
mod traffic;
mod wire;

pub use accounting::Accounting;
pub use crash::{CrashTask, judge, workload};
pub use describe::describe;
use describe::describe_with;
pub use error::{DriverError, Result};
pub use neighbours::keep_busy;
pub use program::{built_in, program, survive_large_files};

use session::Session;
use std::io::{BufRead, Write};
use stowplan_model::{FromDriver, PROTOCOL_NAME, PROTOCOL_VERSION, ToDriver};
use stowplan_stores::registry::Kinds;
use wire::Wire;

/// Serves a parent with these stores until it is gone, or says `bye`. A task that fails is answered, and
/// ends it. `tool` is what the greeting says of the program: its name and version.
///
/// # Errors
/// The parent does not listen, or says what is no message.
pub fn serve(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    tool: &str,
    kinds: Kinds<'_>,
) -> Result<()> {
    let mut wire = Wire { input, output };
    wire.say(&FromDriver::Hello {
        protocol: PROTOCOL_NAME.to_owned(),
        version: PROTOCOL_VERSION,
        tool: tool.to_owned(),
    })?;
    loop {
        let done = match wire.hear()? {
            None | Some(ToDriver::Bye) => return Ok(()),
            Some(ToDriver::Go) => return Err(DriverError::invalid("'go' came before 'run'")),
            // Nothing is open.
            Some(ToDriver::Rest(_)) => wire.say(&FromDriver::Done).map(|()| true),
            Some(ToDriver::Describe(asked)) => {
                let described = describe_with(&asked, kinds);
                wire.say(&FromDriver::Described(described)).map(|()| true)
            }
            Some(task) => {
                let session = Session::of(&task, kinds);
                session.and_then(|session| session.serve(task, &mut wire))
            }
        };
        match done {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(error) => {
                let message = error.to_string();
                return wire.say(&FromDriver::Failed { message });
            }
        }
    }
}

#[cfg(test)]
mod tests;
