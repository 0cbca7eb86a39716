//! The driver's end of the protocol.

use crate::{DriverError, Result};
use std::io::{BufRead, Write};
use std::path::Path;
use stowplan_model::{FromDriver, ToDriver, decode, encode};

/// Lines in, lines out.
pub(crate) struct Wire<'a> {
    pub(crate) input: &'a mut dyn BufRead,
    pub(crate) output: &'a mut dyn Write,
}

impl Wire<'_> {
    pub(crate) fn say(&mut self, message: &FromDriver) -> Result<()> {
        let mut line = encode(message);
        line.push('\n');
        self.output
            .write_all(line.as_bytes())
            .and_then(|()| self.output.flush())
            .map_err(DriverError::io("answer", Path::new("the parent process")))
    }

    /// The next message; nothing if the parent is gone.
    pub(crate) fn hear(&mut self) -> Result<Option<ToDriver>> {
        let mut line = String::new();
        let read = self
            .input
            .read_line(&mut line)
            .map_err(DriverError::io("hear", Path::new("the parent process")))?;
        if read == 0 {
            return Ok(None);
        }
        let message = decode(&line).map_err(|error| DriverError::invalid(error.to_string()))?;
        Ok(Some(message))
    }

    /// Says something and waits for `go`.
    pub(crate) fn until_go(&mut self, said: &FromDriver) -> Result<()> {
        self.say(said)?;
        match self.hear()? {
            Some(ToDriver::Go) => Ok(()),
            _ => Err(DriverError::invalid("'go' was expected")),
        }
    }
}
