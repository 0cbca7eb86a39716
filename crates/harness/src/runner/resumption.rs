//! What a run recorded before it was broken off, and where it goes on.
//!
//! A comparison goes on with a round that no session has begun: a round that was broken off is not
//! completed. Its blocks would then be of different sessions, hours apart perhaps, and ratios are
//! of blocks that lie close together (METHOD R1, R2). The pairs that it has stay: both blocks of
//! each were measured within seconds, as of any round. A new number also means fresh keys (R3).

use super::log::ResultLog;
use super::{SPARE_ROUNDS, machine, writers};
use crate::block_size::BlockSize;
use crate::drivers::Drivers;
use crate::{HarnessError, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use stowplan_analysis::{LOOKS, StoppingRule, undecided};
use stowplan_model::{
    BlockKind, Cell, CellId, Change, Comparison, Contrast, Extension, Measurement,
    PROTOCOL_VERSION, Plan, Record, Role, RunEnd, RunHeader, RunOutcome, SCHEMA_VERSION, Session,
    built_alike, is_one_run, read_result,
};

/// A run that was broken off and can go on. While it exists, no other run writes to the result.
#[derive(Debug)]
pub struct Resumption {
    pub(super) log: ResultLog,
    /// What the file holds, if its last line may be incomplete.
    pub(super) bytes: Vec<u8>,
    /// The header, its plan with what was added to it.
    pub header: RunHeader,
    /// What was added to the plan, in its order.
    pub extensions: Vec<Extension>,
    sessions: Vec<Session>,
    end: Option<RunEnd>,
    /// A message for each line that could not be read; what it said is measured again, or lost.
    pub problems: Vec<String>,
    /// The most rounds from now on, where more are asked for than before.
    pub(super) raised: Option<u32>,
    pub(super) earlier: Earlier,
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
            earlier: Earlier::default(),
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
            let earlier = &self.earlier;
            self.header
                .judge(|comparison| earlier.next_round(comparison));
        }
    }

    /// Leaves out what bears the number of a round that no session can have come to. The next round
    /// is numbered after the last: none could follow it.
    fn disregard_impossible_rounds(&mut self) {
        let sessions = u32::try_from(self.sessions.len()).unwrap_or(u32::MAX);
        let [.., most] = LOOKS;
        let end = (most + SPARE_ROUNDS).saturating_mul(sessions);
        let problems = self.earlier.disregard_from(end);
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
            Record::Measurement(mut block) => {
                if self.header.plan.statistic_of(&block.cell).is_time() {
                    block.without_latencies();
                }
                self.earlier.note(Record::Measurement(block));
            }
            other => self.earlier.note(other),
        }
    }

    /// A result is a file as any other: names in it become parts of paths only if they are such as
    /// a plan has.
    fn check_names(&self) -> Result<(), String> {
        let unfit = self.header.plan.name_unfit_for_paths();
        unfit.map_or(Ok(()), |name| {
            Err(format!(
                "its plan has the name '{}', which no study can give; run the study again",
                name.escape_debug()
            ))
        })
    }

    fn check_protocol(&self) -> Result<(), String> {
        match self.sessions.first().map(|session| session.protocol) {
            Some(PROTOCOL_VERSION) => Ok(()),
            Some(other) => Err(format!(
                "its blocks follow version {other} of the worker protocol, and this program's \
                 version {PROTOCOL_VERSION}, so they need not do the same; go on with the program \
                 that began it, or run the study again"
            )),
            None => Err(
                "it does not say by which worker protocol it was measured, so it was begun by an \
                 earlier stowplan, or broken off at once; run the study again"
                    .to_owned(),
            ),
        }
    }

    /// Refuses to go on where measurements would be of something else than those so far: on
    /// another machine or file system, with other versions of the engines. `place` is where the
    /// data will lie.
    ///
    /// # Errors
    /// What is not the same, with what it was and is; or a driver that is no longer found.
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
    pub(super) fn named_directories(&self) -> impl Iterator<Item = &Path> {
        let session = self.sessions.last().into_iter();
        session.flat_map(|session| session.on.values().map(PathBuf::as_path))
    }

    /// Whether it ended by itself, with nothing left to measure. Where lines that it had when it
    /// ended are lost, there is.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let outcome = self.end.as_ref().map(|end| end.outcome);
        outcome == Some(RunOutcome::Complete) && self.remaining().comparisons.is_empty()
    }

    /// What of the plan is left to measure.
    #[must_use]
    pub fn remaining(&self) -> Plan {
        let rule = self.rule();
        let mut plan = self.header.plan.clone();
        let open = |comparison: &Comparison| !self.earlier.decided(comparison, &rule);
        plan.comparisons.retain(open);
        let used = |name: &String| plan.cells().any(|cell| cell.dataset == *name);
        let datasets = plan.datasets.clone();
        let used = datasets.into_iter().filter(|(name, _)| used(name));
        plan.datasets = used.collect();
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

/// What earlier sessions recorded, as far as this one goes on from it. Empty in the first one.
#[derive(Debug, Default)]
pub(super) struct Earlier {
    /// Ratio blocks by cell, without what percentiles need where no verdict rests on them.
    blocks: BTreeMap<CellId, Vec<Measurement>>,
    /// Rounds in which anything was measured.
    rounds: BTreeMap<CellId, BTreeSet<u32>>,
    pub(super) failed: BTreeSet<CellId>,
    /// Stores whose footprint after building is known.
    pub(super) weighed: BTreeSet<String>,
    /// Cells whose effective settings are known.
    pub(super) effective: BTreeSet<CellId>,
    /// Cells whose system calls are counted.
    counted: BTreeSet<CellId>,
    /// Cells whose store was checked after their last block.
    checked: BTreeSet<CellId>,
    /// Drivers whose cost is known; the program itself is the one without a name.
    pub(super) costs: BTreeSet<String>,
    /// Builds that were numbered.
    pub(super) builds: u32,
}

impl Earlier {
    pub(super) fn note(&mut self, record: Record) {
        match record {
            Record::HarnessCost(_) => _ = self.costs.insert(String::new()),
            Record::DriverCost(cost) => _ = self.costs.insert(cost.driver),
            Record::Footprint(footprint) if !footprint.after_workloads => {
                let alike = built_alike(&footprint.instance);
                self.weighed.insert(alike.to_owned());
            }
            Record::Effective(effective) => {
                self.effective.insert(effective.cell);
            }
            Record::Verification(verification) => {
                self.checked.insert(verification.cell);
            }
            Record::Measurement(measurement) => self.measured_in(measurement),
            Record::Failure(failure) => {
                self.blocks.remove(&failure.cell);
                self.failed.insert(failure.cell);
            }
            _ => {}
        }
    }

    fn measured_in(&mut self, measurement: Measurement) {
        let cell = measurement.cell.clone();
        self.checked.remove(&cell);
        let builds = measurement.build.map_or(0, |build| build.saturating_add(1));
        self.builds = self.builds.max(builds);
        if measurement.block == BlockKind::Counting {
            self.counted.insert(cell);
            return;
        }
        let rounds = self.rounds.entry(cell.clone()).or_default();
        rounds.insert(measurement.round);
        match measurement.block {
            BlockKind::Ratio => self.blocks.entry(cell).or_default().push(measurement),
            BlockKind::Latency | BlockKind::Pilot | BlockKind::Counting => {}
        }
    }

    /// Leaves out all blocks of rounds from `end` on; returns a message for each such round of a
    /// cell.
    fn disregard_from(&mut self, end: u32) -> Vec<String> {
        for blocks in self.blocks.values_mut() {
            blocks.retain(|block| block.round < end);
        }
        let mut problems = Vec::new();
        for (cell, rounds) in &mut self.rounds {
            let impossible = rounds.split_off(&end);
            problems.extend(
                impossible
                    .iter()
                    .map(|round| format!("{cell} has a round {round}, to which no run comes")),
            );
        }
        problems
    }

    /// Whether what a cell does was counted.
    pub(super) fn counted(&self, cell: &Cell) -> bool {
        self.counted.contains(&cell.id)
    }

    /// The ratio blocks of a comparison.
    pub(super) fn measured(&self, comparison: &Comparison) -> Vec<Measurement> {
        let cells = comparison.cells.iter();
        let blocks = cells.filter_map(|cell| self.blocks.get(&cell.id));
        blocks.flatten().cloned().collect()
    }

    /// The first round of a comparison that no session has begun.
    pub(super) fn next_round(&self, comparison: &Comparison) -> u32 {
        let cells = comparison.cells.iter();
        let rounds = cells.filter_map(|cell| self.rounds.get(&cell.id)?.last());
        rounds.max().map_or(0, |round| round.saturating_add(1))
    }

    /// How many operations the blocks of a cell hold: as many as before.
    pub(super) fn size(&self, cell: &Cell) -> Option<BlockSize> {
        let last = self.blocks.get(&cell.id)?.last()?;
        Some(BlockSize::of(cell, last))
    }

    /// The comparison without the cells that failed, as the analysis will see it.
    pub(super) fn going_on(&self, comparison: &Comparison) -> Comparison {
        let failed = |id: &CellId| self.failed.contains(id);
        let mut comparison = comparison.clone();
        comparison.cells.retain(|cell| !failed(&cell.id));
        let whole = |c: &Contrast| !failed(&c.cell) && !failed(&c.reference);
        comparison.contrasts.retain(whole);
        comparison
    }

    /// Whether the cells failed with which all others are compared.
    pub(super) fn baseline_failed(&self, comparison: &Comparison) -> bool {
        let essential = |c: &&Cell| matches!(c.role, Role::Baseline | Role::Control);
        let mut essential = comparison.cells.iter().filter(essential);
        essential.any(|cell| self.failed.contains(&cell.id))
    }

    /// Whether a comparison needs no further round. Its looks are replayed from the record, and so
    /// stop where those of a run without a break would have.
    pub(super) fn decided(&self, comparison: &Comparison, rule: &StoppingRule) -> bool {
        if self.baseline_failed(comparison) {
            return true;
        }
        let measured = self.measured(comparison);
        let going_on = self.going_on(comparison);
        !measured.is_empty() && undecided(&going_on, &measured, rule).is_empty()
    }

    /// Whether a comparison was broken off after its last round, before what it wrote was checked.
    pub(super) fn lacks_check(&self, comparison: &Comparison) -> bool {
        let written: Vec<&Cell> = writers(comparison)
            .filter(|cell| !self.failed.contains(&cell.id))
            .collect();
        let checked = |cell: &Cell| {
            let same = |other: &&&Cell| {
                (&other.instance, &other.settings) == (&cell.instance, &cell.settings)
            };
            let mut alike = written.iter().filter(same);
            alike.any(|other| self.checked.contains(&other.id))
        };
        !written.iter().all(|cell| checked(cell))
    }
}

/// How many paired rounds a contrast has.
pub(super) fn pairs(measured: &[Measurement], contrast: &Contrast) -> u32 {
    let rounds = |id: &CellId| -> BTreeSet<u32> {
        let blocks = measured.iter().filter(|block| block.cell == *id);
        blocks.map(|block| block.round).collect()
    };
    let both = rounds(&contrast.cell);
    let both = both.intersection(&rounds(&contrast.reference)).count();
    u32::try_from(both).unwrap_or(u32::MAX)
}

/// A driver, or the program itself, in words.
fn host(driver: &str) -> String {
    match driver {
        "" => "the program itself".to_owned(),
        driver => format!("the driver '{driver}'"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanOptions, plan};
    use stowplan_model::{CellFailure, Study, Verification};

    const STUDY: &str = r#"
name = "s"
title = "S"
question = "?"
[datasets.blobs]
count = 1_000
size = { distribution = "fixed", bytes = 100 }
[[comparison]]
id = "c"
title = "C"
dataset = "blobs"
workload = { operation = "OPERATION" }
baseline = "a"
[comparison.cells]
a = { store = "files" }
b = { store = "flat" }
"#;

    fn comparison(operation: &str) -> Comparison {
        let study = Study::parse(&STUDY.replace("OPERATION", operation), "s.toml").unwrap();
        let plan = plan(
            study,
            &PlanOptions::default(),
            &crate::drivers::Drivers::built_in(),
        )
        .unwrap();
        plan.comparisons[0].clone()
    }

    const RULE: StoppingRule = StoppingRule {
        equivalence: 0.05,
        max_rounds: 40,
        precision: None,
    };

    /// A ratio block that took so many nanoseconds.
    fn block(cell: &str, round: u32, wall_ns: u64) -> Measurement {
        Measurement {
            cell: CellId(format!("c/{cell}")),
            round,
            operations: 1_000,
            lead_in_operations: 7,
            wall_ns,
            run_delay_ns: Some(0),
            ..Measurement::default()
        }
    }

    /// A round in which `b` takes `ratio` times as long as the others.
    fn round(number: u32, ratio: f64) -> Vec<Measurement> {
        // No two rounds alike, or there would be nothing to estimate.
        let each = 1_000_000 + u64::from(number) * 1_000;
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a few digits"
        )]
        let times = (each as f64 * ratio) as u64;
        vec![
            block("a", number, each),
            block("a#2", number, each + 500),
            block("b", number, times),
        ]
    }

    fn earlier(blocks: impl IntoIterator<Item = Measurement>) -> Earlier {
        let mut earlier = Earlier::default();
        for block in blocks {
            earlier.note(Record::Measurement(block));
        }
        earlier
    }

    #[test]
    fn a_round_that_was_broken_off_keeps_its_pairs_and_its_number() {
        let comparison = comparison("read");
        let mut blocks: Vec<Measurement> = (0..4).flat_map(|n| round(n, 2.0)).collect();
        blocks.pop();
        let earlier = earlier(blocks);
        assert_eq!(earlier.next_round(&comparison), 4);
        let measured = earlier.measured(&comparison);
        let of = |cell: &str| {
            let contrast = Contrast {
                cell: CellId(format!("c/{cell}")),
                reference: CellId("c/a".to_owned()),
            };
            pairs(&measured, &contrast)
        };
        assert_eq!((of("a#2"), of("b")), (4, 3));
    }

    #[test]
    fn a_comparison_is_decided_after_the_same_rounds_whether_there_was_a_break_or_not() {
        let comparison = comparison("read");
        for ratio in [0.5, 1.0, 1.049, 1.06] {
            let mut blocks = Vec::new();
            for number in 0..40 {
                // Rounds before and after a break are the same to a look.
                let found = earlier(blocks.clone()).decided(&comparison, &RULE);
                let open = undecided(&comparison, &blocks, &RULE);
                assert_eq!(found, number > 0 && open.is_empty(), "{ratio} {number}");
                if found {
                    break;
                }
                blocks.extend(round(number, ratio));
            }
        }
    }

    #[test]
    fn a_control_that_lacks_a_round_leaves_a_comparison_open() {
        let comparison = comparison("read");
        let rule = StoppingRule {
            max_rounds: 10,
            ..RULE
        };
        let mut blocks: Vec<Measurement> = (0..10).flat_map(|n| round(n, 2.0)).collect();
        assert!(earlier(blocks.clone()).decided(&comparison, &rule));
        blocks.retain(|block| block.round != 9 || block.cell.0 != "c/a#2");
        assert!(!earlier(blocks).decided(&comparison, &rule));
    }

    #[test]
    fn a_round_to_which_no_run_comes_is_left_out() {
        let comparison = comparison("read");
        let blocks = (0..3).flat_map(|n| round(n, 2.0));
        let mut earlier = earlier(blocks.chain([block("b", u32::MAX, 1)]));
        let problems = earlier.disregard_from(45);
        assert_eq!(
            problems,
            ["c/b has a round 4294967295, to which no run comes"]
        );
        assert_eq!(earlier.next_round(&comparison), 3);
        assert_eq!(earlier.measured(&comparison).len(), 9);
    }

    #[test]
    fn nothing_is_decided_of_what_nobody_began_and_nothing_left_where_the_baseline_failed() {
        let comparison = comparison("read");
        let mut earlier = earlier([]);
        assert!(!earlier.decided(&comparison, &RULE));
        assert_eq!(earlier.next_round(&comparison), 0);
        earlier.note(Record::Failure(CellFailure {
            cell: CellId("c/a".to_owned()),
            message: String::new(),
            stderr: String::new(),
        }));
        assert!(earlier.decided(&comparison, &RULE));
    }

    #[test]
    fn blocks_hold_as_many_operations_as_before() {
        let comparison = comparison("read");
        let earlier = earlier(round(0, 2.0));
        let size = earlier.size(&comparison.cells[0]).unwrap();
        assert_eq!((size.lead_in, size.operations), (7, 1_000));
        let mut other = comparison.cells[0].clone();
        other.id = CellId("c/other".to_owned());
        assert_eq!(earlier.size(&other), None);
    }

    #[test]
    fn what_was_written_after_a_check_lacks_one() {
        let comparison = comparison("overwrite");
        let checked = |cell: &str| {
            Record::Verification(Verification {
                cell: CellId(format!("c/{cell}")),
                values: 1_000,
                bytes: 100_000,
                overwritten: 1_000,
            })
        };
        let mut earlier = earlier(round(0, 2.0));
        assert!(earlier.lacks_check(&comparison));
        earlier.note(checked("a"));
        assert!(earlier.lacks_check(&comparison), "one of two");
        earlier.note(checked("b"));
        assert!(!earlier.lacks_check(&comparison));
        earlier.note(Record::Measurement(block("b", 1, 1)));
        assert!(earlier.lacks_check(&comparison));
    }
}
