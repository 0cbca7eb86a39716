//! Where the values come from that a block writes, and which version each has.

use super::{Values, dataset_of};
use crate::HarnessError;
use crate::block::{self, Payloads, Window, group_of, steps};
use crate::dataset::Dataset;
use crate::sequence::Step;
use std::collections::HashMap;
use stowplan_model::{Action, BlockTask, Job, Operation, PayloadSource, Workload};

/// The most memory that values take which are generated before the clock starts. Tests have few
/// values, and blocks of several parts nevertheless.
const MOST_PREPARED_BYTES: usize = if cfg!(test) { 64 << 10 } else { 128 << 20 };

/// Where the values come from that a block writes.
pub(super) enum Source {
    /// It writes none.
    Nowhere,
    /// They are generated before the clock starts.
    Prepared(Box<Values>),
    /// The same; what is inserted is taken from the dataset, as far as that has it.
    Inserting(Dataset),
    /// All are the dataset's, where they lie.
    Stored(Dataset),
    /// They are drawn while it runs.
    Timed,
}

impl Source {
    pub(super) fn of(job: &Job, task: &BlockTask) -> Result<Self, HarnessError> {
        let workload = &job.workload;
        let puts = workload.pattern().iter().any(|action| action.puts());
        match task.payloads {
            _ if !puts || workload.is_about_tables() => Ok(Self::Nowhere),
            _ if workload.operation == Operation::Insert => {
                Ok(Self::Stored(Dataset::open(dataset_of(job)?)?))
            }
            _ if workload.changes_keys() => Ok(Self::Inserting(Dataset::open(dataset_of(job)?)?)),
            PayloadSource::Timed => Ok(Self::Timed),
            PayloadSource::Prepared => Ok(Self::Prepared(Box::new(Values::of(job)?))),
        }
    }

    /// A window in parts, between which the clock stands still while values are generated: memory
    /// stays bounded however much is written. `threads` do so at a time; where they are several,
    /// parts end where transactions do: one that is open between two parts could keep another
    /// thread from reaching the end of its own, and both would wait for ever. What is one
    /// transaction is then prepared whole.
    pub(super) fn parts<'a>(
        &self,
        window: &Window<'a>,
        workload: &Workload,
        threads: usize,
    ) -> Vec<Window<'a>> {
        let unit = match threads {
            0 | 1 => 1,
            _ => usize::try_from(group_of(workload).max(1)).unwrap_or(usize::MAX),
        };
        match self {
            Self::Prepared(_) | Self::Inserting(_) => {
                let parts = block::parts(window, MOST_PREPARED_BYTES / threads.max(1), unit);
                if parts.is_empty() {
                    vec![*window]
                } else {
                    parts
                }
            }
            Self::Nowhere | Self::Timed | Self::Stored(_) => vec![*window],
        }
    }

    /// The values of a window; `versions` are those of its steps, the first one's at `first`.
    pub(super) fn payloads(
        &self,
        window: &Window<'_>,
        versions: &Versions,
        first: usize,
    ) -> Result<Payloads<'_>, HarnessError> {
        let version = |index| versions.at(first + index);
        match self {
            Self::Nowhere => Ok(Payloads::None),
            Self::Timed => Ok(Payloads::Timed(Vec::new())),
            Self::Stored(dataset) => Ok(Payloads::Stored(dataset)),
            Self::Inserting(dataset) => {
                Payloads::prepare(dataset.generator(), Some(dataset), window, version)
            }
            Self::Prepared(values) => Payloads::prepare(values.generator(), None, window, version),
        }
    }
}

/// Refuses a window that was drawn for another workload.
pub(super) fn check_window(job: &Job, window: &Window<'_>) -> Result<(), HarnessError> {
    let pattern = job.workload.pattern();
    match steps(window).find(|step| !pattern.contains(&step.action)) {
        None => Ok(()),
        Some(step) => Err(HarnessError::invalid(format!(
            "the sequence has a step that is a {}, and the workload is a {}",
            step.action, job.workload.operation
        ))),
    }
}

/// The versions that one thread's steps give.
///
/// An overwrite by the very same bytes is none: an engine may notice, and write nothing. So where a
/// block overwrites a key repeatedly, its versions alternate between two, and each thread has two of
/// its own; the last one that the only thread gives is the block's.
#[derive(Debug, Clone)]
pub(super) struct Versions {
    block: u32,
    thread: u32,
    /// Whether a step gives the other version; nothing where no key comes twice.
    other: Option<Vec<bool>>,
}

/// The bits of a version that tell blocks apart; those above tell apart the versions within one.
const BLOCK_BITS: u32 = 21;

impl Versions {
    /// Those of the steps that a thread does, in their order.
    pub(super) fn new(
        block: u32,
        thread: u32,
        repeats: bool,
        steps: impl DoubleEndedIterator<Item = Step>,
    ) -> Self {
        let other = repeats.then(|| {
            let mut next: HashMap<u64, bool> = HashMap::new();
            let from_the_end = |step: Step| {
                if !overwrites(step.action) {
                    return false;
                }
                let other = next.entry(step.key).or_insert(true);
                *other = !*other;
                *other
            };
            let mut other: Vec<bool> = steps.rev().map(from_the_end).collect();
            other.reverse();
            other
        });
        Self {
            block,
            thread,
            other,
        }
    }

    /// The version that an overwrite gives.
    pub(super) fn at(&self, index: usize) -> u32 {
        let other = self.other.as_ref().and_then(|other| other.get(index));
        let within = 2 * self.thread + u32::from(other.copied().unwrap_or(false));
        self.block.wrapping_add(within << BLOCK_BITS)
    }
}

/// Whether an action gives a value a new version.
pub(super) fn overwrites(action: Action) -> bool {
    matches!(action, Action::Overwrite | Action::Modify)
}

/// The versions of a lead-in and the block behind it.
pub(super) fn versions_of(
    job: &Job,
    task: &BlockTask,
    thread: usize,
    windows: [&Window<'_>; 2],
) -> Versions {
    let [lead_in, timed] = windows;
    let thread = u32::try_from(thread).unwrap_or(u32::MAX);
    // Data that someone brought along is visited as they like.
    let repeats = job.workload.order.repeats() || job.dataset.is_none();
    Versions::new(
        task.version,
        thread,
        repeats,
        steps(lead_in).chain(steps(timed)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_overwrite_of_a_key_gives_the_blocks_version_and_the_one_before_another() {
        let step = |key, action| Step {
            action,
            ..Step::reading(key, 1)
        };
        let steps = [
            step(1, Action::Overwrite),
            step(2, Action::Modify),
            step(1, Action::Read),
            step(1, Action::Overwrite),
            step(1, Action::Modify),
        ];
        let versions = Versions::new(7, 0, true, steps.into_iter());
        let [first, second, third, last] = [0, 1, 3, 4].map(|index| versions.at(index));
        assert_eq!((first, second, last), (7, 7, 7));
        assert_ne!(third, 7);
        let others = Versions::new(7, 3, true, steps.into_iter());
        for index in [0, 1, 3, 4] {
            assert!(![7, third].contains(&others.at(index)));
        }
        let once = Versions::new(7, 0, false, steps.into_iter());
        assert!((0..5).all(|index| once.at(index) == 7));
    }
}
