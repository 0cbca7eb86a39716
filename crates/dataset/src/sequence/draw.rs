//! Drawing the steps of a sequence.
//!
//! What is done at a position follows from the workload's pattern, which repeats; where, from the
//! order and the seed. Values of the dataset have the keys from 1 to its count, new ones those
//! above, and a key that was deleted is never visited again.

use super::zipf::{Scatter, Zipf};
use super::{Part, Step, step_bytes, visit_permuted};
use crate::DatasetError;
use crate::random::{Random, scatter_all};
use stowplan_model::{AccessOrder, Action, Operation, Workload};

/// Separate the seeds of keys, of scans' lengths, of scattering and of deletes.
const KEYS: u64 = 1;
const ROWS: u64 = 2;
const PLACES: u64 = 3;
const DELETES: u64 = 4;
/// Draws of a popular key that was deleted before any other that lives is taken.
const DRAWS: u32 = 100;

/// How many values of the dataset the steps of a workload visit that visits each once.
pub fn values_needed(workload: &Workload, steps: u64) -> u64 {
    count(workload, steps, |action| !is_new(workload, action))
}

/// How many values of the dataset the steps of a workload delete.
pub fn values_deleted(workload: &Workload, steps: u64) -> u64 {
    count(workload, steps, |action| action == Action::Delete)
}

/// How many of the steps of a workload, whose pattern repeats, do something of a kind.
fn count(workload: &Workload, steps: u64, is_of_kind: impl Fn(Action) -> bool) -> u64 {
    let pattern = workload.pattern();
    let among = |part: &[Action]| part.iter().filter(|action| is_of_kind(**action)).count() as u64;
    let length = pattern.len().max(1) as u64;
    let rest = usize::try_from(steps % length).unwrap_or(0);
    steps / length * among(&pattern) + among(&pattern[..rest])
}

/// Whether a step visits a key that no value of the dataset has. A workload of nothing but inserts
/// adds the dataset's own.
fn is_new(workload: &Workload, action: Action) -> bool {
    action == Action::Insert && workload.operation == Operation::Mix
}

/// Where steps go.
type Put<'p> = &'p mut dyn FnMut(Step) -> Result<(), DatasetError>;

/// The steps of a sequence.
pub(super) struct Draw<'a> {
    /// Values of the dataset.
    pub(super) count: u64,
    /// Those of them that are visited where each comes once.
    pub(super) part: Part,
    pub(super) workload: &'a Workload,
    /// How many steps there are to be.
    pub(super) steps: u64,
    pub(super) seed: u64,
    /// The size of the value that belongs to a key.
    pub(super) size: &'a dyn Fn(u64) -> usize,
}

impl Draw<'_> {
    /// Hands over the steps, one after the other.
    pub(super) fn all(&self, put: Put<'_>) -> Result<(), DatasetError> {
        match self.workload.order {
            AccessOrder::Random | AccessOrder::Ascending | AccessOrder::Descending => {
                self.once_each(put)
            }
            AccessOrder::Uniform | AccessOrder::Zipfian | AccessOrder::Latest => self.repeated(put),
            AccessOrder::Lifecycle => self.lives(put),
        }
    }

    /// Each value of the dataset once at most; inserts between them.
    fn once_each(&self, put: Put<'_>) -> Result<(), DatasetError> {
        let needed = values_needed(self.workload, self.steps);
        if needed > self.part.count(self.count, self.workload.order) {
            return Err(DatasetError::invalid(format!(
                "{} operations visit {needed} values once each, and the dataset has {}",
                self.steps, self.count
            )));
        }
        let mut steps = self.steps_from(put);
        let visit = |key: u64| {
            if !self.part.has(key, self.count, self.workload.order) {
                return Ok(());
            }
            steps.inserts()?;
            steps.next(key)
        };
        match self.workload.order {
            AccessOrder::Ascending => (1..=self.count).try_for_each(visit)?,
            AccessOrder::Descending => (1..=self.count).rev().try_for_each(visit)?,
            _ => visit_permuted(self.count, self.seed, visit)?,
        }
        steps.inserts()
    }

    /// Keys with replacement.
    fn repeated(&self, put: Put<'_>) -> Result<(), DatasetError> {
        let deleted = values_deleted(self.workload, self.steps);
        if deleted >= self.count {
            return Err(DatasetError::invalid(format!(
                "{} operations delete {deleted} values, and the dataset has {}: none would be left",
                self.steps, self.count
            )));
        }
        if u64::from(self.workload.omit_last) >= self.count {
            return Err(DatasetError::invalid(format!(
                "omit_last leaves out {} keys, and the dataset has {}",
                self.workload.omit_last, self.count
            )));
        }
        let mut popular = Popularity::new(self);
        let mut living = (deleted > 0).then(|| Living::new(self.count));
        let mut deletes = Random::new(scatter_all(&[self.seed, DELETES]));
        let mut steps = self.steps_from(put);
        while !steps.done() {
            steps.inserts()?;
            let key = match (&mut living, steps.action()) {
                (Some(living), Action::Delete) => living.remove_any(&mut deletes),
                (Some(living), _) => living.draw(&mut popular, steps.newest, &mut deletes),
                (None, _) => popular.draw(steps.newest),
            };
            steps.next(key)?;
        }
        Ok(())
    }

    /// One life after the other.
    fn lives(&self, put: Put<'_>) -> Result<(), DatasetError> {
        let pattern = self.workload.pattern();
        let between = |action: &&Action| !matches!(action, Action::Insert | Action::Delete);
        let life: Vec<Action> = std::iter::once(Action::Insert)
            .chain(pattern.iter().filter(between).copied())
            .chain([Action::Delete])
            .collect();
        let mut steps = self.steps_from(put);
        steps.pattern = life;
        for key in 1.. {
            for _ in 0..steps.pattern.len() {
                if steps.done() {
                    return Ok(());
                }
                steps.next(key)?;
            }
        }
        Ok(())
    }

    fn steps_from<'p>(&'p self, put: Put<'p>) -> Steps<'p> {
        Steps {
            draw: self,
            pattern: self.workload.pattern(),
            position: 0,
            newest: self.count,
            rows: Random::new(scatter_all(&[self.seed, ROWS])),
            put,
        }
    }
}

/// The steps that were put so far.
struct Steps<'p> {
    draw: &'p Draw<'p>,
    pattern: Vec<Action>,
    position: u64,
    /// The largest key.
    newest: u64,
    rows: Random,
    put: Put<'p>,
}

impl Steps<'_> {
    fn done(&self) -> bool {
        self.position >= self.draw.steps
    }

    /// What is done next.
    fn action(&self) -> Action {
        let length = self.pattern.len().max(1) as u64;
        let index = usize::try_from(self.position % length).unwrap_or(0);
        self.pattern.get(index).copied().unwrap_or_default()
    }

    /// Puts the inserts of new keys that come next.
    fn inserts(&mut self) -> Result<(), DatasetError> {
        while !self.done() && is_new(self.draw.workload, self.action()) {
            self.newest += 1;
            self.next(self.newest)?;
        }
        Ok(())
    }

    /// Puts the next step, at a key; nothing once all are there.
    fn next(&mut self, key: u64) -> Result<(), DatasetError> {
        if self.done() {
            return Ok(());
        }
        let action = self.action();
        let rows = match action {
            Action::Scan => {
                let longest = u64::from(self.draw.workload.longest_scan());
                u16::try_from(self.rows.below(longest) + 1).unwrap_or(u16::MAX)
            }
            _ => 0,
        };
        self.position += 1;
        (self.put)(Step {
            key,
            bytes: step_bytes(key, (self.draw.size)(key) as u64)?,
            action,
            rows,
        })
    }
}

/// Which keys come how often.
struct Popularity {
    order: AccessOrder,
    count: u64,
    random: Random,
    zipf: Zipf,
    scatter: Scatter,
}

impl Popularity {
    fn new(draw: &Draw<'_>) -> Self {
        Self {
            order: draw.workload.order,
            // With other orders there is nothing to leave out.
            count: draw.count - u64::from(draw.workload.omit_last),
            random: Random::new(scatter_all(&[draw.seed, KEYS])),
            zipf: Zipf::new(draw.count),
            scatter: Scatter::new(draw.count, scatter_all(&[draw.seed, PLACES])),
        }
    }

    /// A key, where `newest` is the largest one. Only the newest are ever new ones.
    fn draw(&mut self, newest: u64) -> u64 {
        match self.order {
            AccessOrder::Latest => {
                if self.zipf.ranks() != newest {
                    self.zipf = Zipf::new(newest);
                }
                newest + 1 - self.zipf.draw(&mut self.random)
            }
            AccessOrder::Zipfian => {
                let rank = self.zipf.draw(&mut self.random);
                self.scatter.place(rank - 1) + 1
            }
            _ => self.random.below(self.count) + 1,
        }
    }
}

/// The values of the dataset that were not deleted.
struct Living {
    keys: Vec<u64>,
    /// Where each key stands among them; nowhere once it is deleted.
    places: Vec<Option<usize>>,
}

impl Living {
    fn new(count: u64) -> Self {
        let keys: Vec<u64> = (1..=count).collect();
        Self {
            places: (0..keys.len()).map(Some).collect(),
            keys,
        }
    }

    fn lives(&self, key: u64) -> bool {
        let index = usize::try_from(key - 1).unwrap_or(usize::MAX);
        // Those above the dataset's are new, and are not deleted.
        self.places.get(index).is_none_or(Option::is_some)
    }

    /// A living key: popular ones as often as they are among those that live.
    fn draw(&self, popular: &mut Popularity, newest: u64, any: &mut Random) -> u64 {
        let draws = (0..DRAWS).map(|_| popular.draw(newest));
        let mut living = draws.filter(|key| self.lives(*key));
        living.next().unwrap_or_else(|| self.keys[self.place(any)])
    }

    /// Deletes a key of the dataset, each with the same probability: popular ones would soon all
    /// be gone.
    fn remove_any(&mut self, any: &mut Random) -> u64 {
        let place = self.place(any);
        let key = self.keys.swap_remove(place);
        let index = |key: u64| usize::try_from(key - 1).unwrap_or(usize::MAX);
        self.places[index(key)] = None;
        if let Some(moved) = self.keys.get(place) {
            self.places[index(*moved)] = Some(place);
        }
        key
    }

    fn place(&self, any: &mut Random) -> usize {
        usize::try_from(any.below(self.keys.len() as u64)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests;
