//! Going on with a run that was broken off, by its record.
//!
//! A comparison goes on with a round that no session has begun: a round that was broken off is not
//! completed. Its blocks would then be of different sessions, hours apart perhaps, and ratios are
//! of blocks that lie close together (METHOD R1, R2). The pairs that it has stay: both blocks of
//! each were measured within seconds, as of any round. A new number also means fresh keys (R3).

use super::log::ResultLog;
use super::recorded::Recorded;
use super::{SPARE_ROUNDS, machine};
use crate::disk::WorkDirectory;
use crate::drivers::Drivers;
use crate::plan::uses;
use crate::{HarnessError, Result};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};
use stowplan_analysis::{LOOKS, StoppingRule};
use stowplan_model::{
    Change, Comparison, Extension, PROTOCOL_VERSION, Plan, Record, RunEnd, RunHeader, RunOutcome,
    SCHEMA_VERSION, Session, is_one_run, read_result,
};

/// How long workers of a run that was killed may take to notice.
const ORPHANS_END: Duration = Duration::from_secs(20);

/// A run that was broken off and can go on. While it exists, no other run writes to the result.
#[derive(Debug)]
pub struct Resumption {
    pub(super) log: ResultLog,
    /// The bytes of the file, whose last line may be incomplete.
    pub(super) bytes: Vec<u8>,
    /// The header, its plan with what was added to it.
    pub header: RunHeader,
    /// The parts that were added to the plan, in their order.
    pub extensions: Vec<Extension>,
    sessions: Vec<Session>,
    end: Option<RunEnd>,
    /// A message for each line that could not be read; what it said is measured again, or lost.
    pub problems: Vec<String>,
    /// The most rounds from now on, where more are asked for than before.
    pub(super) raised: Option<u32>,
    pub(super) recorded: Recorded,
}

impl Resumption {
    /// Reads the result of a run that was broken off. Nothing is changed in it.
    ///
    /// # Errors
    /// It cannot be read or written; a run still writes to it; it has no header; another version
    /// wrote it, whose blocks may not do the same.
    pub fn open(result: &Path) -> Result<Self> {
        let (log, bytes) = ResultLog::reopen(result)?;
        let (records, problems) = read_result(&bytes);
        let refused = |why: &str| HarnessError::invalid(format!("{}: {why}", result.display()));
        let header = header(&records).map_err(|why| refused(&why))?;
        let mut resumption = Self {
            log,
            bytes,
            header,
            extensions: Vec::new(),
            sessions: Vec::new(),
            end: None,
            problems,
            raised: None,
            recorded: Recorded::default(),
        };
        for record in records {
            resumption.note(record);
        }
        resumption.check_protocol().map_err(|why| refused(&why))?;
        resumption.check_names().map_err(|why| refused(&why))?;
        resumption.disregard_impossible_rounds();
        resumption.note_judged();
        Ok(resumption)
    }

    /// Where a session came to its end its ratios were shown: what follows pays for it.
    fn note_judged(&mut self) {
        if self.end.is_some() {
            let recorded = &self.recorded;
            self.header
                .judge(|comparison| recorded.next_round(comparison));
        }
    }

    /// Leaves out what bears the number of a round that no session can have come to. The next round
    /// is numbered after the last: none could follow it.
    fn disregard_impossible_rounds(&mut self) {
        let sessions = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX);
        let [.., most] = LOOKS;
        let end = (most + SPARE_ROUNDS).saturating_mul(sessions);
        let problems = self.recorded.disregard_from(end);
        self.problems.extend(problems);
    }

    fn note(&mut self, record: Record) {
        match record {
            Record::Session(session) => {
                self.note_judged();
                self.end = None;
                if let Some(rounds) = session.max_rounds {
                    self.header.raise_rounds(rounds);
                }
                self.sessions.push(session);
            }
            Record::Extension(more) => {
                self.header.plan.extend(&more);
                self.extensions.push(more);
            }
            Record::End(end) => self.end = Some(end),
            other => self.recorded.note(other, &self.header.plan),
        }
    }

    /// A result is a file as any other: names in it become parts of paths only if they are such as
    /// a plan has.
    fn check_names(&self) -> Result<(), String> {
        match self.header.plan.name_unfit_for_paths() {
            None => Ok(()),
            Some(name) => Err(format!(
                "its plan has the name '{}', which no study can give; run the study again",
                name.escape_debug()
            )),
        }
    }

    fn check_protocol(&self) -> Result<(), String> {
        let Some(Session { protocol, .. }) = self.sessions.first() else {
            let why = "it does not say by which worker protocol it was measured, so it was begun by an \
                       earlier stowplan, or broken off at once; run the study again";
            return Err(why.to_owned());
        };
        match *protocol {
            PROTOCOL_VERSION => Ok(()),
            other => Err(format!(
                "its blocks follow version {other} of the worker protocol, and this program's \
                 version {PROTOCOL_VERSION}, so they need not do the same; go on with the program \
                 that began it, or run the study again"
            )),
        }
    }

    /// Refuses to go on where measurements would be of something else than those so far: on
    /// another machine or file system, with other versions of the engines. `place` is where the
    /// data will lie.
    ///
    /// # Errors
    /// Something is not the same, with what it was and is; or a driver is no longer found.
    pub fn check_machine(&self, drivers: &Drivers, place: &Path) -> Result<()> {
        for cell in self.header.plan.cells() {
            match drivers.kind(&cell.store) {
                // One that fails, fails its cells only.
                Ok(_) | Err(HarnessError::Worker { .. }) => {}
                Err(missing) => return Err(missing),
            }
            if drivers.host(&cell.store) != cell.driver {
                return Err(HarnessError::invalid(format!(
                    "this run cannot go on: when it was begun '{}' was hosted by {}, and now it is \
                     by {}; run the study again",
                    cell.store,
                    host(&cell.driver),
                    host(drivers.host(&cell.store)),
                )));
            }
        }
        let now = machine::examine(&self.header.plan, drivers, place);
        let mut changes = self.header.environment.changes(&now);
        changes.retain(|change| change.decisive);
        if changes.is_empty() {
            return Ok(());
        }
        let changes: Vec<String> = changes.iter().map(Change::to_string).collect();
        Err(HarnessError::invalid(format!(
            "this run cannot go on here: {}; go on where it was begun (--work names the place of \
             the data), or run the study again",
            changes.join(", ")
        )))
    }

    /// Has it go on for more rounds than it was begun with, also where it is complete: what is not
    /// decided is measured further. What is decided stays so, because the looks at it were the same.
    ///
    /// # Errors
    /// More rounds than the stopping rule knows, or no more than there were to be before.
    pub fn raise_rounds(&mut self, rounds: u32) -> Result<()> {
        let [.., most] = LOOKS;
        let before = self.header.rounds_of_all();
        if rounds > most {
            return Err(HarnessError::invalid(format!(
                "{rounds} rounds are not possible: the stopping rule ends at {most}"
            )));
        }
        if rounds <= before {
            return Err(HarnessError::invalid(format!(
                "this run has up to {before} rounds already; --rounds with 'resume' gives it more, up to \
                 {most}"
            )));
        }
        self.header.raise_rounds(rounds);
        self.raised = Some(rounds);
        Ok(())
    }

    /// When a comparison is decided.
    #[must_use]
    pub fn rule(&self) -> StoppingRule {
        StoppingRule::of(&self.header)
    }

    /// Where the data of the last session lay, if not beside the result.
    #[must_use]
    pub fn work(&self) -> Option<&Path> {
        let session = self.sessions.last()?;
        session.work.as_deref().map(Path::new)
    }

    /// The directories that the last session made on file systems that the user named.
    fn named_directories(&self) -> impl Iterator<Item = &Path> {
        let session = self.sessions.last().into_iter();
        session.flat_map(|session| session.on.values().map(PathBuf::as_path))
    }

    /// Removes what the run left behind, in the directory `beside` its result and where its record says that it
    /// worked, as far as a run made it and none works in it: the record may be a copy. `told` hears of each directory
    /// before: after a run was asked to keep it, somebody may want it.
    ///
    /// # Errors
    /// A run works in it, something in it is not of a run, or it cannot be removed.
    pub fn remove_leftovers(&self, beside: &Path, told: &mut dyn FnMut(&Path)) -> Result<()> {
        let named = self.work().into_iter().chain([beside]);
        for work in named.chain(self.named_directories()) {
            WorkDirectory::remove_unbegun(work);
            if work.symlink_metadata().is_err() {
                continue;
            }
            let left = WorkDirectory::left_behind(work)?;
            if self.is_complete() && left.is_kept() {
                continue;
            }
            told(work);
            let until = Instant::now() + ORPHANS_END;
            while work.symlink_metadata().is_ok() {
                match left.remove() {
                    Ok(()) => break,
                    // A worker that outlived the run has just made something in it.
                    Err(error) if error.is_refusal() && Instant::now() < until => {
                        sleep(Duration::from_millis(100));
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Whether it ended by itself, with nothing left to measure. Where lines that it had when it
    /// ended are lost, there is.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let outcome = self.end.as_ref().map(|end| end.outcome);
        outcome == Some(RunOutcome::Complete) && self.remaining().comparisons.is_empty()
    }

    /// The part of the plan that is left to measure.
    #[must_use]
    pub fn remaining(&self) -> Plan {
        let rule = self.rule();
        let mut plan = self.header.plan.clone();
        let open = |comparison: &Comparison| !self.recorded.standing(comparison, &rule).is_over();
        plan.comparisons.retain(open);
        let (used, _) = uses(&plan.comparisons);
        plan.datasets.retain(|name, _| used.contains_key(&**name));
        plan
    }
}

fn header(records: &[Record]) -> Result<RunHeader, String> {
    match records.first() {
        Some(Record::Run(RunHeader { schema, .. }) | Record::Newer(schema))
            if *schema != SCHEMA_VERSION =>
        {
            Err(format!(
                "it has schema {schema} and this program writes {SCHEMA_VERSION}; go on with the program that \
                 began it, or run the study again"
            ))
        }
        Some(Record::Run(header)) if is_one_run(records) => Ok(header.clone()),
        _ => Err(
            "its header is not the first line, or not the only one, so its lines are not those of one run in their \
             order; give it as it was written, or run the study again"
                .to_owned(),
        ),
    }
}

/// A driver, or the program itself, in words.
fn host(driver: &str) -> String {
    match driver {
        "" => "the program itself".to_owned(),
        driver => format!("the driver '{driver}'"),
    }
}
