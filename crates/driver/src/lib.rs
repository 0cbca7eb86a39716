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
mod describe;
mod error;
mod load;
mod platform;
mod run;
mod session;
mod threads;
mod timing;
mod wire;

pub use accounting::Accounting;
pub use describe::describe;
use describe::describe_with;
pub use error::DriverError;

use session::Session;
use std::io::{BufRead, Write};
use stowplan_model::{FromDriver, PROTOCOL_NAME, PROTOCOL_VERSION, StoreSpec, ToDriver};
use stowplan_stores::registry::{self, ResolveError, Resolved};
use wire::Wire;

/// Which stores a driver hosts: from a spec with every setting to a store.
pub type Resolve<'a> = &'a dyn Fn(&StoreSpec) -> Result<Resolved, ResolveError>;

/// Serves a parent with the stores of the registry until it is gone, or says `bye`. A task that fails
/// is answered, and ends it.
///
/// # Errors
/// The parent does not listen, or says what is no message.
pub fn serve(input: &mut dyn BufRead, output: &mut dyn Write) -> Result<(), DriverError> {
    platform::die_with_parent();
    platform::name_process(c"stowplan");
    // The budget only fills a `cache` setting that a spec leaves open, and a task spells out all.
    serve_with(input, output, &|spec| registry::resolve(spec, 0))
}

/// As [`serve`], with stores of its own.
///
/// # Errors
/// As [`serve`].
pub fn serve_with(
    input: &mut dyn BufRead,
    output: &mut dyn Write,
    resolve: Resolve<'_>,
) -> Result<(), DriverError> {
    let mut wire = Wire { input, output };
    wire.say(&FromDriver::Hello {
        protocol: PROTOCOL_NAME.to_owned(),
        version: PROTOCOL_VERSION,
        tool: concat!("stowplan ", env!("CARGO_PKG_VERSION")).to_owned(),
    })?;
    loop {
        let done = match wire.hear()? {
            None | Some(ToDriver::Bye) => return Ok(()),
            Some(ToDriver::Go) => return Err(DriverError::invalid("'go' came before 'run'")),
            // Nothing is open.
            Some(ToDriver::Rest(_)) => wire.say(&FromDriver::Done).map(|()| true),
            Some(ToDriver::Describe(asked)) => {
                let described = describe_with(&asked, resolve);
                wire.say(&FromDriver::Described(described)).map(|()| true)
            }
            Some(task) => {
                let session = Session::of(&task, resolve);
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
