//! One setting in the lab: recorded once, cut many times, judged by several at a time.

use crate::judge::{Judge, Unjudged, Verdict, Verifier};
use crate::log::{Log, Operation};
use crate::options::Options;
use crate::recording;
use crate::run_error;
use crate::shrink::{MOST_TRIES, shrink};
use crate::states::{Cut, Moment, States, Syncs};
use parking_lot::Mutex;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use stowplan_dataset::random::scatter_all;
use stowplan_harness::HarnessError;
use stowplan_model::{
    CrashFinding, CrashModel, CrashSetting, Durability, DurabilityClaim, Fate, Judged, ModelFound,
    Shrunk, Tally,
};

/// Of equal states only one counts; after so many times as many draws as states are wanted, there are
/// no others.
const DRAWS_PER_STATE: u64 = 4;
/// States of each control, as a share of those of a model, and at least.
const CONTROL_SHARE: u64 = 10;
const LEAST_CONTROLS: u64 = 20;
/// Controls are drawn until one shows what it must, at most this many times their number: without syncs
/// SQLite's WAL is damaged in one state of twenty.
const MORE_CONTROLS: u64 = 20;
/// States without a judgment after which no more are drawn: whatever ended their judges goes on, and each may
/// take a minute.
const MOST_UNJUDGED: u64 = 3;
/// Losses that a finding tells in words.
const WORDS: usize = 8;
/// The seeds of moments and of controls are others than those of states.
const OF_MOMENTS: u64 = 0x6d6f_6d65_6e74_7300;
const OF_CONTROLS: u64 = 0x636f_6e74_726f_6c73;

/// What is tested.
#[derive(Debug, Clone)]
pub struct Subject {
    /// In reports.
    pub name: String,
    /// What it promises.
    pub claim: DurabilityClaim,
    /// Whether the order of its commits is part of that.
    pub transactions: bool,
    /// What is run on the recording file system.
    pub command: Vec<OsString>,
    /// Who judges the states.
    pub verifier: Verifier,
}

impl Subject {
    /// As it is before anything was found.
    pub fn setting(&self) -> CrashSetting {
        let mut setting = CrashSetting {
            name: self.name.clone(),
            claim: self.claim,
            transactions: self.transactions,
            ..CrashSetting::default()
        };
        if let (Verifier::Command(check), Some(program)) = (&self.verifier, self.command.last()) {
            setting.program = program.to_string_lossy().into_owned();
            setting.check = check.to_string_lossy().into_owned();
        }
        setting
    }

    /// Where its draws begin: two subjects of one run have no seed in common, by which a state is found again.
    fn seed(&self, run: u64) -> u64 {
        let bytes = self.name.bytes();
        bytes.fold(run, |seed, byte| scatter_all(&[seed, byte.into()]))
    }
}

/// A state that was judged.
struct Found {
    number: u64,
    /// What it was made by, and its number among those that are looked at one by one.
    seed: u64,
    moment: Option<u64>,
    cut: Cut,
    judged: Judged,
}

/// Records a subject in the file `log`, which must not be there, cuts the power, and says what was found.
///
/// # Errors
/// The lab itself does not work: nothing can be mounted or written, or a check fails to judge. A
/// program that fails is a finding, told in the setting.
pub fn test(
    subject: &Subject,
    options: &Options,
    log: &Path,
) -> Result<CrashSetting, HarnessError> {
    let log = recording::of(&subject.command, log, options)?;
    let mut setting = CrashSetting {
        operations: log.count(|it| !matches!(it, Operation::Ack { .. } | Operation::Base)),
        syncs: log.count(|it| matches!(it, Operation::Sync { .. })),
        acks: log.count(|it| matches!(it, Operation::Ack { .. })),
        length: log.entries.len() as u64,
        ran_ns: log.entries.last().map_or(0, |entry| entry.at_ns),
        failed: failure(&log),
        ..subject.setting()
    };
    if setting.failed.is_some() {
        return Ok(setting);
    }
    let lab = Lab::new(subject, options)?;
    for model in &options.models {
        setting.found.push(lab.under(&log, *model)?);
    }
    (setting.all_synced, setting.synced_failure) = lab.all_synced(&log)?;
    Ok(setting)
}

/// Why nothing can be made of a recording.
fn failure(log: &Log) -> Option<String> {
    let ended = (log.exit != Some(0)).then(|| {
        let code = log.exit.map_or("?".to_owned(), |code| code.to_string());
        let said = &log.said;
        format!("it ended with {code} on the recording file system: {said}")
    });
    if let Some(why) = &log.refused {
        let ended = ended.map_or_else(String::new, |ended| format!("; {ended}"));
        return Some(format!("the lab refused a write: {why}{ended}"));
    }
    let malformed =
        |line| format!("its line '{line}' tells of no commit: 'ack 7' does, of commit 7");
    ended.or_else(|| log.malformed.as_ref().map(malformed))
}

/// Several judges of the states of a subject.
struct Lab<'o> {
    subject: &'o Subject,
    options: &'o Options,
    judges: Vec<Mutex<Judge<'o>>>,
}

/// What several judges add to.
#[derive(Default)]
struct Shared {
    tally: Tally,
    seen: HashSet<(u64, u64)>,
    /// The first of each fate.
    found: BTreeMap<Fate, Found>,
    /// States that do not open because their judges hung.
    hung: u64,
    error: Option<HarnessError>,
}

/// Which states are wanted: those of all `moments`, and then `least` that are drawn, or up to `most` until one shows
/// what a control must.
struct Hunt<'h> {
    states: &'h States<'h>,
    moments: Vec<Moment>,
    /// Begins the draws.
    seed: u64,
    /// Nothing is lost, and the power goes after an acknowledgement, or (true) at the end only.
    at_rest: Option<bool>,
    least: u64,
    most: u64,
}

impl Hunt<'_> {
    /// The state of a number: its seed, its number among the moments, and the cut.
    fn draw(&self, number: u64) -> (u64, Option<u64>, Cut) {
        let states = self.states;
        let moment = usize::try_from(number).ok();
        if let Some(moment) = moment.and_then(|at| self.moments.get(at)) {
            let seed = States::seed(self.seed ^ OF_MOMENTS, states.model, number);
            return (seed, Some(number), states.cut_at(*moment));
        }
        let number = number - self.moments.len() as u64;
        let seed = States::seed(self.seed, states.model, number);
        let cut = match self.at_rest {
            Some(only_end) => states.draw_rest(seed, only_end),
            None => states.draw(seed),
        };
        (seed, None, cut)
    }

    fn is_over(&self, tally: &Tally, claim: DurabilityClaim) -> bool {
        let moments = self.moments.len() as u64;
        let states = tally.states - tally.systematic.min(tally.states);
        tally.unjudged >= MOST_UNJUDGED
            || tally.drawn >= moments
                && (states >= self.most
                    || tally.drawn - moments >= self.most * DRAWS_PER_STATE
                    || states >= self.least && tally.shows_failure_of(claim))
    }
}

impl<'o> Lab<'o> {
    fn new(subject: &'o Subject, options: &'o Options) -> Result<Self, HarnessError> {
        let judges = (0..options.judges.max(1)).map(|number| {
            let judge = Judge::new(&subject.verifier, number, options)?;
            Ok(Mutex::new(judge))
        });
        Ok(Self {
            subject,
            options,
            judges: judges.collect::<Result<_, HarnessError>>()?,
        })
    }

    /// What is found under a model.
    fn under(&self, log: &Log, model: CrashModel) -> Result<ModelFound, HarnessError> {
        let states = States::new(log, model, Syncs::Recorded);
        // What is torn only adds to what is lost whole, and what is lost whole is the same.
        let again = model == CrashModel::Torn && self.options.models.contains(&CrashModel::Ordered);
        let found = self.hunt(&Hunt {
            states: &states,
            moments: match again {
                true => Vec::new(),
                false => states.systematic(),
            },
            seed: self.subject.seed(self.options.seed),
            at_rest: None,
            least: self.options.states,
            most: self.options.states,
        })?;
        // A control: the same operations with their syncs struck out.
        let without = States::new(log, model, Syncs::None);
        Ok(ModelFound {
            model,
            tally: found.tally,
            findings: self.findings(&states, found.found)?,
            no_syncs: self.control(&without, MORE_CONTROLS, None)?.tally,
        })
    }

    /// The other one: everything synced, at rest; with the first state that is not kept. What promises nothing of a
    /// process that is killed, or acknowledges before it writes, is at rest at the end.
    fn all_synced(&self, log: &Log) -> Result<(Tally, Option<Judged>), HarnessError> {
        let claim = self.subject.claim;
        let only_end = claim.class == Durability::None || claim.delayed;
        // Where nothing can be lost the models are one.
        let states = States::new(log, CrashModel::Ordered, Syncs::All);
        let Shared { tally, found, .. } = self.control(&states, 1, Some(only_end))?;
        let first = found.into_values().min_by_key(|found| found.number);
        Ok((tally, first.map(|found| found.judged)))
    }

    fn control(
        &self,
        states: &States<'_>,
        times: u64,
        at_rest: Option<bool>,
    ) -> Result<Shared, HarnessError> {
        let least = (self.options.states / CONTROL_SHARE).max(LEAST_CONTROLS);
        self.hunt(&Hunt {
            states,
            moments: Vec::new(),
            seed: self.options.seed ^ OF_CONTROLS,
            at_rest,
            least,
            most: least * times,
        })
    }

    /// Makes states until enough different ones were judged.
    fn hunt(&self, hunt: &Hunt<'_>) -> Result<Shared, HarnessError> {
        let next = AtomicU64::new(0);
        let shared = Mutex::new(Shared::default());
        thread::scope(|scope| {
            for judge in &self.judges {
                let (next, shared) = (&next, &shared);
                let work = move || {
                    let mut judge = judge.lock();
                    let worked = self.work(hunt, next, shared, &mut judge);
                    judge.rest();
                    if let Err(error) = worked {
                        shared.lock().error.get_or_insert(error);
                    }
                };
                // Without another thread the work is done by those that there are.
                let _ = thread::Builder::new().spawn_scoped(scope, work);
            }
        });
        let mut shared = shared.into_inner();
        shared.error.take().map_or(Ok(shared), Err)
    }

    fn work(
        &self,
        hunt: &Hunt<'_>,
        next: &AtomicU64,
        shared: &Mutex<Shared>,
        judge: &mut Judge<'o>,
    ) -> Result<(), HarnessError> {
        let states = hunt.states;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if self.options.interrupt.raised() {
                return Err(HarnessError::Interrupted);
            }
            let (seed, moment, cut) = hunt.draw(number);
            let tree = states.tree(&cut);
            let acked = states.acked(cut.at);
            {
                let mut shared = shared.lock();
                let enough = hunt.is_over(&shared.tally, self.subject.claim);
                if enough || shared.hung >= MOST_UNJUDGED || shared.error.is_some() {
                    return Ok(());
                }
                shared.tally.drawn += 1;
                if !shared.seen.insert((tree.fingerprint(), acked)) {
                    continue;
                }
                shared.tally.states += 1;
                shared.tally.systematic += u64::from(moment.is_some());
            }
            let judging = judge.judge(&tree, acked).map_err(|error| match error {
                HarnessError::Interrupted => error,
                error => run_error(format!(
                    "{error} (under {}, with the power cut after the {}; STOWPLAN_ACKED is {acked})",
                    states.model,
                    states.describe(cut.at.wrapping_sub(1))
                )),
            });
            let mut verdict = judging?;
            if let Err(Unjudged::Endless(_)) = verdict {
                let mut again = |cut: &Cut| judge.judge(&states.tree(cut), acked);
                verdict = after_a_hang(&cut, &mut again)?;
                let is_unopenable = |judged: &Judged| judged.fate == Fate::Unopenable;
                shared.lock().hung += u64::from(verdict.as_ref().is_ok_and(is_unopenable));
            }
            let mut shared = shared.lock();
            match verdict {
                Ok(judged) => {
                    let found = Found {
                        number,
                        seed,
                        moment,
                        cut,
                        judged,
                    };
                    self.count(&mut shared, states, found);
                }
                Err(Unjudged::Ended(why) | Unjudged::Endless(why)) => {
                    let tally = &mut shared.tally;
                    tally.states -= 1;
                    tally.systematic -= u64::from(moment.is_some());
                    tally.unjudged += 1;
                    // The first: others may follow from what that left.
                    if tally.unjudged_because.is_empty() {
                        tally.unjudged_because = why;
                    }
                }
            }
        }
    }

    fn breaks(&self, fate: Fate) -> bool {
        fate.breaks(self.subject.claim, self.subject.transactions)
    }

    fn count(&self, shared: &mut Shared, states: &States<'_>, found: Found) {
        let tally = &mut shared.tally;
        let fate = found.judged.fate;
        tally.fates[fate as usize] += 1;
        tally.broken += u64::from(self.breaks(fate));
        tally.most_lost = tally.most_lost.max(found.judged.lost);
        if let Some(first) = found.judged.first_lost {
            let (operations, ns) = states.age(found.cut.at, first);
            tally.oldest_operations = tally.oldest_operations.max(operations);
            tally.oldest_ns = tally.oldest_ns.max(ns);
        }
        let known = shared.found.get(&fate);
        if fate != Fate::Kept && known.is_none_or(|known| found.number < known.number) {
            shared.found.insert(fate, found);
        }
    }

    /// The first of each fate, the worst first; those that break the promise, and the worst, shrunk.
    fn findings(
        &self,
        states: &States<'_>,
        found: BTreeMap<Fate, Found>,
    ) -> Result<Vec<CrashFinding>, HarnessError> {
        let mut findings = Vec::new();
        for found in found.into_values().rev() {
            let broken = self.breaks(found.judged.fate);
            let shrunk = match broken || findings.is_empty() {
                true => self.shrunk(states, &found)?,
                false => Shrunk::default(),
            };
            findings.push(CrashFinding {
                seed: found.seed,
                moment: found.moment,
                acked: states.acked(found.cut.at),
                judged: found.judged,
                broken,
                cut: found.cut.at as u64,
                after: states.describe(found.cut.at.wrapping_sub(1)),
                shrunk,
            });
        }
        Ok(findings)
    }

    fn shrunk(&self, states: &States<'_>, found: &Found) -> Result<Shrunk, HarnessError> {
        let Some(judge) = self.judges.first() else {
            return Err(run_error("there is no judge"));
        };
        let mut judge = judge.lock();
        let (mut tried, mut hangs) = (0, false);
        let mut kept = found.judged.clone();
        let smallest = shrink(states, &found.cut, &mut |cut| {
            // Each may take as long.
            if hangs {
                return Ok(false);
            }
            tried += 1;
            let judged = judge.judge(&states.tree(cut), states.acked(cut.at))?;
            hangs = matches!(judged, Err(Unjudged::Endless(_)));
            match judged {
                Ok(judged) if judged.fate == found.judged.fate => {
                    kept = judged;
                    Ok(true)
                }
                _ => Ok(false),
            }
        })?;
        judge.rest();
        let lost: Vec<(usize, u32)> = smallest.cut.lost.into_iter().collect();
        let operations = lost.chunk_by(|one, other| one.0 == other.0);
        let mut words: Vec<String> = operations
            .clone()
            .take(WORDS)
            .map(|pieces| {
                let numbers: Vec<u32> = pieces.iter().map(|piece| piece.1).collect();
                states.describe_lost(pieces.first().map_or(0, |piece| piece.0), &numbers)
            })
            .collect();
        let more = operations.count() - words.len();
        if more > 0 {
            words.push(format!("{more} more"));
        }
        let wide = |(operation, piece): &(usize, u32)| (*operation as u64, u64::from(*piece));
        Ok(Shrunk {
            cut: smallest.cut.at as u64,
            lost: lost.iter().map(wide).collect(),
            words,
            tried,
            unfinished: hangs || smallest.tried >= MOST_TRIES,
            judged: Some(kept),
        })
    }
}

/// A state on which a judge hung, judged once more. Where it hangs again, but not on all that was written until
/// then, the state does not open; a judge that hangs on that as well is of no use.
fn after_a_hang(
    cut: &Cut,
    judge: &mut dyn FnMut(&Cut) -> Result<Verdict, HarnessError>,
) -> Result<Verdict, HarnessError> {
    let why = match judge(cut)? {
        Err(Unjudged::Endless(why)) => why,
        other => return Ok(other),
    };
    let whole = Cut {
        at: cut.at,
        lost: BTreeSet::new(),
    };
    match judge(&whole)? {
        Ok(_) => Ok(Ok(Judged::of(Fate::Unopenable, why))),
        Err(Unjudged::Ended(ended)) => Ok(Err(Unjudged::Ended(ended))),
        Err(Unjudged::Endless(_)) => Err(run_error(format!(
            "{why}, not even where nothing was lost; --check-limit gives it more"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of a state whose judge hung once, where it then says this of it, and that of all that was
    /// written.
    fn after(again: Verdict, whole: Verdict) -> (Result<Verdict, HarnessError>, usize) {
        let cut = Cut {
            at: 3,
            lost: BTreeSet::from([(1, 0)]),
        };
        let mut answers = vec![whole, again];
        let verdict = after_a_hang(&cut, &mut |asked| {
            assert_eq!((asked.at, asked.lost.is_empty()), (3, answers.len() == 1));
            Ok(answers.pop().unwrap())
        });
        (verdict, answers.len())
    }

    #[test]
    fn a_state_on_which_judges_hang_does_not_open_and_one_that_hangs_on_whole_ones_is_no_judge() {
        let kept = || Ok(Judged::default());
        let hung = || Err(Unjudged::Endless("it hung".to_owned()));
        let (verdict, left) = after(kept(), kept());
        assert_eq!((verdict.unwrap().unwrap().fate, left), (Fate::Kept, 1));
        let found = after(hung(), kept()).0.unwrap().unwrap();
        assert_eq!((found.fate, &*found.note), (Fate::Unopenable, "it hung"));
        let refused = after(hung(), hung()).0.unwrap_err().to_string();
        assert!(
            refused.contains("not even where nothing was lost"),
            "{refused}"
        );
        let killed = Err(Unjudged::Ended("killed".to_owned()));
        let verdict = after(killed, kept()).0.unwrap();
        assert!(matches!(verdict, Err(Unjudged::Ended(_))));
    }
}
