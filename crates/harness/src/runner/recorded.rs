//! The records of a run, and where its comparisons stand by them. A session that goes on replays the records of those
//! before it into the same state, and so stops where a run without a break would have.

use super::writers;
use crate::block_size::BlockSize;
use std::collections::{BTreeMap, BTreeSet};
use stowplan_analysis::{Interim, LOOKS, StoppingRule, contrast_of_control, interim};
use stowplan_model::{
    BlockKind, Cell, CellId, Comparison, Contrast, Measurement, Plan, Record, Role, built_alike,
};

/// The records of a run, as far as it depends on them how it goes on.
#[derive(Debug, Default)]
pub(super) struct Recorded {
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

impl Recorded {
    /// Takes note of a record of a run of `plan`.
    pub(super) fn note(&mut self, record: Record, plan: &Plan) {
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
            Record::Measurement(mut block) => {
                if plan.statistic_of(&block.cell).is_time() {
                    block.without_latencies();
                }
                self.measured_in(block);
            }
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
    pub(super) fn disregard_from(&mut self, end: u32) -> Vec<String> {
        for blocks in self.blocks.values_mut() {
            blocks.retain(|block| block.round < end);
        }
        let mut problems = Vec::new();
        for (cell, rounds) in &mut self.rounds {
            let impossible = rounds.split_off(&end).into_iter();
            let impossible = impossible
                .map(|round| format!("{cell} has a round {round}, to which no run comes"));
            problems.extend(impossible);
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

    /// The ratio block of a cell that was measured last.
    pub(super) fn last_of(&self, cell: &Cell) -> Option<&Measurement> {
        self.blocks.get(&cell.id)?.last()
    }

    /// How many operations the blocks of a cell hold: as many as before.
    pub(super) fn size(&self, cell: &Cell) -> Option<BlockSize> {
        Some(BlockSize::of(cell, self.last_of(cell)?))
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
    fn baseline_failed(&self, comparison: &Comparison) -> bool {
        let essential = |c: &&Cell| matches!(c.role, Role::Baseline | Role::Control);
        let mut essential = comparison.cells.iter().filter(essential);
        essential.any(|cell| self.failed.contains(&cell.id))
    }

    /// Where a comparison stands. Its looks are replayed from the record.
    pub(super) fn standing(&self, comparison: &Comparison, rule: &StoppingRule) -> Standing {
        let measured = self.measured(comparison);
        let going_on = self.going_on(comparison);
        let known = interim(&going_on, &measured, rule);
        let undecided = known.iter().filter(|interim| !interim.decided);
        let mut open = Vec::from_iter(undecided.map(|interim| interim.contrast.clone()));
        if self.baseline_failed(comparison) {
            open.clear();
        }
        let cap = comparison.max_rounds.min(rule.max_rounds);
        let pairs = |contrast: &Contrast| pairs(&measured, contrast).min(cap);
        // Nothing is claimed without the control.
        let control = contrast_of_control(&going_on);
        let counted = match open.is_empty() {
            true => None,
            false => open.iter().chain(&control).map(pairs).min(),
        };
        let mut contrasts = going_on.contrasts.iter().chain(&control);
        Standing {
            counted: counted.unwrap_or(cap),
            is_answered: contrasts.all(|contrast| pairs(contrast) >= LOOKS[0].min(cap)),
            known,
            open,
        }
    }

    /// Whether a comparison was broken off after its last round, before what it wrote was checked.
    pub(super) fn lacks_check(&self, comparison: &Comparison) -> bool {
        let written: Vec<&Cell> = writers(comparison)
            .filter(|cell| !self.failed.contains(&cell.id) && self.rounds.contains_key(&cell.id))
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

/// Where a comparison stands.
pub(super) struct Standing {
    /// Its contrasts, and what is known of each.
    pub(super) known: Vec<Interim>,
    /// The contrasts that need further rounds; none where the cells failed with which all others are compared.
    pub(super) open: Vec<Contrast>,
    /// Paired rounds of the open contrast that has the fewest.
    pub(super) counted: u32,
    /// Whether there are rounds enough for an interval of every contrast.
    pub(super) is_answered: bool,
}

impl Standing {
    /// Whether it needs no further round.
    pub(super) fn is_over(&self) -> bool {
        self.open.is_empty()
    }
}

/// How many paired rounds a contrast has.
fn pairs(measured: &[Measurement], contrast: &Contrast) -> u32 {
    let rounds = |id: &CellId| -> BTreeSet<u32> {
        let blocks = measured.iter().filter(|block| block.cell == *id);
        blocks.map(|block| block.round).collect()
    };
    let both = rounds(&contrast.cell);
    let both = both.intersection(&rounds(&contrast.reference)).count();
    u32::try_from(both).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanOptions, plan};
    use stowplan_analysis::undecided;
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

    fn planned(operation: &str) -> Plan {
        let study = Study::parse(&STUDY.replace("OPERATION", operation), "s.toml").unwrap();
        let drivers = crate::drivers::Drivers::built_in();
        plan(study, &PlanOptions::default(), &drivers).unwrap()
    }

    fn comparison(operation: &str) -> Comparison {
        planned(operation).comparisons.remove(0)
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

    fn recorded(blocks: impl IntoIterator<Item = Measurement>) -> Recorded {
        let (mut recorded, plan) = (Recorded::default(), planned("read"));
        for block in blocks {
            recorded.note(Record::Measurement(block), &plan);
        }
        recorded
    }

    #[test]
    fn a_round_that_was_broken_off_keeps_its_pairs_and_its_number() {
        let comparison = comparison("read");
        let mut blocks: Vec<Measurement> = (0..4).flat_map(|n| round(n, 2.0)).collect();
        blocks.pop();
        let recorded = recorded(blocks);
        assert_eq!(recorded.next_round(&comparison), 4);
        let measured = recorded.measured(&comparison);
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
                let found = recorded(blocks.clone())
                    .standing(&comparison, &RULE)
                    .is_over();
                let open = undecided(&comparison, &blocks, &RULE);
                assert_eq!(found, open.is_empty(), "{ratio} {number}");
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
        assert!(
            recorded(blocks.clone())
                .standing(&comparison, &rule)
                .is_over()
        );
        blocks.retain(|block| block.round != 9 || block.cell.0 != "c/a#2");
        assert!(!recorded(blocks).standing(&comparison, &rule).is_over());
    }

    #[test]
    fn a_round_to_which_no_run_comes_is_left_out() {
        let comparison = comparison("read");
        let blocks = (0..3).flat_map(|n| round(n, 2.0));
        let mut recorded = recorded(blocks.chain([block("b", u32::MAX, 1)]));
        let problems = recorded.disregard_from(45);
        assert_eq!(
            problems,
            ["c/b has a round 4294967295, to which no run comes"]
        );
        assert_eq!(recorded.next_round(&comparison), 3);
        assert_eq!(recorded.measured(&comparison).len(), 9);
    }

    #[test]
    fn nothing_is_decided_of_what_nobody_began_and_nothing_left_where_the_baseline_failed() {
        let comparison = comparison("read");
        let mut recorded = recorded([]);
        assert!(!recorded.standing(&comparison, &RULE).is_over());
        assert_eq!(recorded.next_round(&comparison), 0);
        let failure = Record::Failure(CellFailure {
            cell: CellId("c/a".to_owned()),
            message: String::new(),
            stderr: String::new(),
        });
        recorded.note(failure, &planned("read"));
        assert!(recorded.standing(&comparison, &RULE).is_over());
    }

    #[test]
    fn blocks_hold_as_many_operations_as_before() {
        let comparison = comparison("read");
        let recorded = recorded(round(0, 2.0));
        let size = recorded.size(&comparison.cells[0]).unwrap();
        assert_eq!((size.lead_in, size.operations), (7, 1_000));
        let mut other = comparison.cells[0].clone();
        other.id = CellId("c/other".to_owned());
        assert_eq!(recorded.size(&other), None);
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
        let mut recorded = recorded(round(0, 2.0));
        assert!(recorded.lacks_check(&comparison));
        recorded.note(checked("a"), &planned("read"));
        assert!(recorded.lacks_check(&comparison), "one of two");
        recorded.note(checked("b"), &planned("read"));
        assert!(!recorded.lacks_check(&comparison));
        recorded.note(Record::Measurement(block("b", 1, 1)), &planned("read"));
        assert!(recorded.lacks_check(&comparison));
    }
}
