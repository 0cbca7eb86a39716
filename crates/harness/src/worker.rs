//! The worker: one process, one job, one answer.
//!
//! Everything that can be prepared is prepared before `ready`: the store is open, the operation
//! sequence and the payloads are in memory, the destination buffer is touched. Between `go` and
//! the last timestamp nothing runs but the lead-in and the measured operations.

mod build;
mod crew;
mod deal;
mod fates;
mod measure;
mod own;
mod rendezvous;
mod source;
mod timing;
mod verify;

use crate::dataset::{Dataset, Generator};
use crate::{HarnessError, platform};
use std::io::{BufRead, Write};
use std::path::Path;
use stowplan_model::{
    Content, DatasetSpec, FromWorker, Job, PROTOCOL_NAME, PROTOCOL_VERSION, Settings,
    SizeDistribution, Task, ToWorker, decode, encode,
};
use stowplan_stores::registry;

/// Runs one worker: greets, takes a job, does it, answers. Failures of the job are answered, not
/// returned.
///
/// # Errors
/// The parent is gone, or says what is no message.
pub fn worker(input: &mut dyn BufRead, output: &mut dyn Write) -> Result<(), HarnessError> {
    platform::die_with_parent();
    platform::name_process(c"stowplan");
    let mut wire = Wire { input, output };
    wire.say(&FromWorker::Hello {
        protocol: PROTOCOL_NAME.to_owned(),
        version: PROTOCOL_VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
    })?;
    let job = match wire.hear()? {
        Some(ToWorker::Prepare(job)) => job,
        Some(ToWorker::Go) => return Err(HarnessError::invalid("'go' came before 'prepare'")),
        Some(ToWorker::Bye) | None => return Ok(()),
    };
    let answer = match perform(&job, &mut wire) {
        Ok(answer) => answer,
        Err(error) => FromWorker::Failed {
            message: error.to_string(),
        },
    };
    wire.say(&answer)?;
    wire.hear().map(|_| ())
}

/// The worker's end of the protocol.
struct Wire<'a> {
    input: &'a mut dyn BufRead,
    output: &'a mut dyn Write,
}

impl Wire<'_> {
    fn say(&mut self, message: &FromWorker) -> Result<(), HarnessError> {
        let mut line = encode(message);
        line.push('\n');
        self.output
            .write_all(line.as_bytes())
            .and_then(|()| self.output.flush())
            .map_err(HarnessError::io("answer", Path::new("the parent process")))
    }

    /// The next message; nothing if the parent is gone.
    fn hear(&mut self) -> Result<Option<ToWorker>, HarnessError> {
        let mut line = String::new();
        let read = self
            .input
            .read_line(&mut line)
            .map_err(HarnessError::io("hear", Path::new("the parent process")))?;
        if read == 0 {
            return Ok(None);
        }
        decode(&line)
            .map(Some)
            .map_err(|error| HarnessError::invalid(error.to_string()))
    }

    /// Says that everything is prepared and waits for `go`.
    fn ready(&mut self, effective: Settings) -> Result<(), HarnessError> {
        self.say(&FromWorker::Ready { effective })?;
        match self.hear()? {
            Some(ToWorker::Go) => Ok(()),
            _ => Err(HarnessError::invalid("'go' was expected")),
        }
    }
}

fn perform(job: &Job, wire: &mut Wire<'_>) -> Result<FromWorker, HarnessError> {
    // The budget only fills a `cache` setting that a job leaves open, and a job spells out all.
    let resolved = registry::resolve(&job.store, 0)?;
    match &job.task {
        Task::Build => build::build(job, &resolved, wire),
        Task::Verify => verify::verify(job, &resolved, wire),
        Task::Measure(task) if job.workload.changes_keys() => own::own(job, task, &resolved, wire),
        Task::Measure(task) => measure::measure(job, task, &resolved, wire),
    }
}

/// The dataset of a job that needs one.
fn dataset_of(job: &Job) -> Result<&Path, HarnessError> {
    job.dataset.as_deref().ok_or_else(no_dataset)
}

fn no_dataset() -> HarnessError {
    HarnessError::invalid("this task needs a dataset, and the job names none")
}

/// What is known of the values of a job's store.
enum Values {
    /// Everything.
    Dataset(Dataset),
    /// Someone brought them along: only what is written here is known.
    Foreign(Generator),
}

impl Values {
    fn of(job: &Job) -> Result<Self, HarnessError> {
        let Some(directory) = &job.dataset else {
            let spec = DatasetSpec {
                count: 1,
                size: SizeDistribution::Fixed { bytes: 0 },
                content: Content::Random,
                seed: 0,
            };
            return Ok(Self::Foreign(Generator::new(&spec)?));
        };
        Ok(Self::Dataset(Dataset::open(directory)?))
    }

    fn generator(&self) -> &Generator {
        match self {
            Self::Dataset(dataset) => dataset.generator(),
            Self::Foreign(generator) => generator,
        }
    }

    /// Whether these are the bytes of a version of a value.
    fn right(&self, key: u64, version: u32, bytes: &[u8]) -> bool {
        match (self, version) {
            (Self::Dataset(dataset), 0) if key <= dataset.count() => bytes == dataset.value(key),
            _ => self.generator().filled(key, version, bytes),
        }
    }
}

#[cfg(test)]
mod tests;
