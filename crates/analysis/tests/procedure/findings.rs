//! What the analysis makes of runs whose answer is known.

use crate::support::{
    RULE, analysis, block, cell, comparison, contrast, doing, footprint, header, histogram, id,
    outcome, records, rounds, syncs, ten,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use stowplan_analysis::{
    Analysis, AnalysisError, Claims, Estimate, Metric, RunWarning, Shown, Source, TWICE_DIFFERED,
    Verdict, WorkDifference, analyse, work_differences,
};
use stowplan_model::{
    BlockKind, CacheState, Cell, CellFailure, Comparison, Delivery, Durability, DurabilityClaim,
    EffectiveSettings, Footprint, IoCounters, Measurement, MetadataReads, Operation,
    PerTransaction, Record, Role, SCHEMA_VERSION, Value, Warning, WarningKind, Workload,
};

const EQUAL: [(&str, f64); 2] = [("base", 10_000.0), ("again", 10_000.0)];

pub(crate) fn writing(comparison: Comparison) -> Comparison {
    doing(Operation::Overwrite, comparison)
}

#[test]
fn twice_the_time_is_a_ratio_of_two_and_slower() {
    let found = outcome(&comparison(&["slow"]), &ten(&[("slow", 20_000.0)]));
    let slow = &found.contrasts[0];
    let estimate = slow.estimate.unwrap();
    assert_eq!(slow.verdict, Verdict::Slower);
    assert!((estimate.ratio - 2.0).abs() < 0.02, "{estimate:?}");
    assert!(estimate.low > 1.93 && estimate.high < 2.08, "{estimate:?}");
    let time = found.cells[2].time_ns.unwrap();
    assert!((time.estimate - 20_000.0).abs() < 200.0, "{time:?}");
    let logs: Vec<f64> = found.cells[2].series.iter().map(|(_, log)| *log).collect();
    let expected = Estimate::hodges_lehmann(&logs, 0.05).unwrap();
    assert_eq!(
        [time.low, time.estimate, time.high],
        [
            expected.low.exp(),
            expected.estimate.exp(),
            expected.high.exp()
        ]
    );
}

#[test]
fn identical_cells_are_equivalent_and_the_session_reliable() {
    let found = outcome(&comparison(&["same"]), &ten(&[("same", 10_000.0)]));
    assert_eq!(found.contrasts[0].verdict, Verdict::Equivalent);
    assert_eq!(found.control.unwrap().verdict, Verdict::Equivalent);
    assert!(found.reliable);
    assert_eq!(found.metric, Metric::Corrected);
    assert!((found.noise_floor - 1.01_f64.ln()).abs() < 1e-12);
}

#[test]
fn waiting_for_a_cpu_is_subtracted_and_raises_the_floor() {
    let mut blocks = ten(&[("same", 10_000.0)]);
    for (index, block) in blocks.iter_mut().enumerate() {
        let delay = if index % 3 == 2 { 9_000_000 } else { 200_000 };
        block.wall_ns += delay;
        block.run_delay_ns = Some(delay);
    }
    let found = outcome(&comparison(&["same"]), &blocks);
    assert!((found.contrasts[0].estimate.unwrap().ratio - 1.0).abs() < 0.01);
    assert!((found.noise_floor - 1.03_f64.ln()).abs() < 1e-12);
    let share = found.delay_share.unwrap();
    assert!((0.15..0.2).contains(&share), "{share}");
    assert!((found.cells[2].wall_ns - 19_000.0).abs() < 200.0);
}

#[test]
fn a_machine_is_busy_above_a_twentieth_of_waiting_and_not_at_it() {
    let floor = |delay: u64| {
        let mut blocks = [block("base", 0, 1_000_000), block("again", 0, 1_000_000)];
        for block in &mut blocks {
            block.run_delay_ns = Some(delay);
        }
        outcome(&comparison(&[]), &blocks).noise_floor.exp()
    };
    assert!((floor(50_000) - 1.01).abs() < 1e-9);
    assert!((floor(50_001) - 1.03).abs() < 1e-9);
}

#[test]
fn a_machine_that_does_not_tell_its_waits_is_taken_for_a_busy_one() {
    let mut blocks = ten(&[("other", 10_000.0)]);
    for block in &mut blocks {
        block.process_cpu_ns *= 2;
    }
    let floor = |blocks: &[Measurement]| {
        let found = outcome(&comparison(&["other"]), blocks);
        assert_eq!(found.metric, Metric::Wall);
        found.noise_floor.exp()
    };
    assert!((floor(&blocks) - 1.01).abs() < 1e-9, "waits are known");
    blocks[7].run_delay_ns = None;
    assert!((floor(&blocks) - 1.03).abs() < 1e-9, "one is not");
}

#[test]
fn one_cell_with_busy_threads_turns_the_whole_comparison_to_wall_time() {
    let mut blocks = ten(&[("threaded", 10_000.0), ("plain", 10_000.0)]);
    for block in blocks.iter_mut().filter(|m| m.cell.0 == "c/threaded") {
        block.process_cpu_ns += block.wall_ns / 50;
    }
    for block in &mut blocks {
        block.wall_ns += 50_000;
        block.run_delay_ns = Some(50_000);
    }
    let found = outcome(&comparison(&["threaded", "plain"]), &blocks);
    assert_eq!(found.metric, Metric::Wall);
    let time = found.cells[3].time_ns.unwrap();
    assert!((time.estimate - 10_050.0).abs() < 60.0, "{time:?}");
}

#[test]
fn other_threads_are_busy_from_a_hundredth_of_the_time_on() {
    let metric = |cpu_ns: u64| {
        let mut blocks = [block("base", 0, 1_000_000), block("again", 0, 1_000_000)];
        for block in &mut blocks {
            block.process_cpu_ns = block.thread_cpu_ns + cpu_ns;
        }
        outcome(&comparison(&[]), &blocks).metric
    };
    assert_eq!(metric(9_999), Metric::Corrected);
    assert_eq!(metric(10_000), Metric::Wall);
}

#[test]
fn one_block_with_busy_threads_among_ten_does_not() {
    let mut blocks = ten(&[("other", 10_000.0)]);
    blocks[2].process_cpu_ns *= 2;
    assert_eq!(
        outcome(&comparison(&["other"]), &blocks).metric,
        Metric::Corrected
    );
    blocks[2].run_delay_ns = None;
    assert_eq!(
        outcome(&comparison(&["other"]), &blocks).metric,
        Metric::Wall
    );
}

#[test]
fn the_control_widens_every_interval_by_what_it_shows_either_way() {
    let ends = |again: f64| {
        let cells = [("base", 10_000.0), ("again", again), ("other", 20_000.0)];
        let found = outcome(&comparison(&["other"]), &rounds(&cells, 0..10));
        let ratio = found.contrasts[0].estimate.unwrap();
        (ratio.low, ratio.high, found.calibration)
    };
    let (low, high, calibration) = ends(10_000.0);
    assert!((1.0..1.3).contains(&calibration), "{calibration}");
    for again in [9_900.0, 10_100.0] {
        let (lower, higher, wider) = ends(again);
        assert!(
            lower < low && higher > high && wider > calibration,
            "{wider}"
        );
    }
}

#[test]
fn the_noise_floor_is_what_the_control_shows_either_way() {
    for again in [9_800.0, 10_200.0] {
        let cells = [("base", 10_000.0), ("again", again), ("other", 20_000.0)];
        let found = outcome(&comparison(&["other"]), &rounds(&cells, 0..10));
        let control = found.control.unwrap().estimate;
        let shown = control.ratio.ln().abs();
        assert!(
            shown > 0.015 && (found.noise_floor - shown).abs() < 1e-12,
            "{found:?}"
        );
    }
}

#[test]
fn a_control_that_surely_differs_forbids_claims() {
    for again in [9_600.0, 10_400.0] {
        let cells = [("base", 10_000.0), ("again", again), ("other", 20_000.0)];
        let found = analysis(&comparison(&["other"]), &rounds(&cells, 0..10));
        let outcome = &found.comparisons[0];
        assert!(!outcome.reliable);
        assert_eq!(outcome.contrasts[0].verdict, Verdict::Unreliable);
        assert_eq!(outcome.control.unwrap().verdict, Verdict::Unreliable);
        assert!(outcome.fastest().is_none());
        assert!(
            found
                .warnings
                .iter()
                .any(|w| w.message.contains(TWICE_DIFFERED))
        );
    }
}

#[test]
fn a_control_that_differs_by_little_but_surely_forbids_claims_too() {
    for again in [9_790.0, 10_210.0] {
        let cells = [("base", 10_000.0), ("again", again), ("other", 20_000.0)];
        let found = outcome(&comparison(&["other"]), &rounds(&cells, 0..40));
        let control = found.control.unwrap().estimate;
        assert!(
            control.ratio.ln().abs() < 1.05_f64.ln() / 2.0,
            "{control:?}"
        );
        assert!(control.low > 1.0 || control.high < 1.0, "{control:?}");
        assert!(!found.reliable);
    }
}

/// Ten rounds whose control is 3% off, with an interval that includes 1.
fn with_noisy_control(other: f64) -> Vec<Measurement> {
    let mut blocks = ten(&[("other", other)]);
    for block in blocks.iter_mut().filter(|m| m.cell.0 == "c/again") {
        let factor = [1.3, 1.03, 0.8, 1.1, 0.97][block.round as usize % 5];
        block.wall_ns = (block.wall_ns as f64 * factor) as u64;
    }
    blocks
}

#[test]
fn a_control_that_is_only_noisy_forbids_nothing_but_widens_what_is_claimed() {
    for (other, expected) in [
        (20_000.0, Verdict::Slower),
        (10_550.0, Verdict::SmallDifference),
        (10_000.0, Verdict::Equivalent),
    ] {
        let found = outcome(&comparison(&["other"]), &with_noisy_control(other));
        let control = found.control.unwrap();
        let estimate = control.estimate;
        assert!(estimate.low < 1.0 && estimate.high > 1.0, "{control:?}");
        assert!(estimate.ratio > 1.025, "{control:?}");
        assert!(found.reliable);
        assert_eq!(control.verdict, Verdict::Unresolved);
        assert!((found.noise_floor - estimate.ratio.ln()).abs() < 1e-12);
        assert_eq!(found.contrasts[0].verdict, expected, "{other}");
    }
}

#[test]
fn a_session_whose_control_is_missing_claims_nothing() {
    let blocks = rounds(&[("base", 10_000.0), ("other", 20_000.0)], 0..10);
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(found.control, None);
    assert_eq!(found.contrasts[0].verdict, Verdict::Unreliable);
    assert!((found.noise_floor - 1.01_f64.ln()).abs() < 1e-12);
}

#[test]
fn a_control_is_missed_only_where_some_ratio_has_rounds_enough() {
    let mut blocks = rounds(&[("base", 10_000.0)], 0..10);
    blocks.extend(rounds(&[("other", 20_000.0)], 0..9));
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!((found.control, found.reliable), (None, true));
    assert_eq!(found.contrasts[0].verdict, Verdict::NoData);
}

#[test]
fn fewer_than_ten_rounds_describe_but_claim_nothing() {
    let cells = [&EQUAL[..], &[("other", 20_000.0)]].concat();
    let found = analysis(&comparison(&["other"]), &rounds(&cells, 0..9));
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    let found = &found.comparisons[0];
    assert_eq!(found.contrasts[0].verdict, Verdict::NoData);
    assert_eq!((found.control, found.reliable), (None, true));
    let time = found.cells[2].time_ns.unwrap();
    assert!(
        time.low >= 19_700.0 && time.high <= 20_300.0 && time.low < time.high,
        "{time:?}"
    );
}

#[test]
fn a_run_that_measured_nothing_has_findings_without_numbers() {
    let found = analysis(&comparison(&["other"]), &[]);
    assert_eq!(found.comparisons[0].contrasts[0].verdict, Verdict::NoData);
    assert_eq!(found.comparisons[0].cells[0].time_ns, None);
    assert!(found.figures.is_empty());
}

#[test]
fn a_failure_voids_what_the_cell_measured_before_it_and_nothing_else() {
    let comparison = comparison(&["bad", "good"]);
    let mut all = records(&comparison, &ten(&[("bad", 5_000.0), ("good", 20_000.0)]));
    all.push(Record::Failure(CellFailure {
        cell: crate::support::id("bad"),
        message: "short read".to_owned(),
        stderr: String::new(),
    }));
    all.push(Record::Unknown);
    let found = analyse(&all, None).unwrap();
    let outcome = &found.comparisons[0];
    assert_eq!(outcome.contrasts[0].verdict, Verdict::NoData);
    assert_eq!(outcome.cells[2].rounds, 0);
    let bad = &outcome.cells[2];
    let means = [
        bad.wall_ns,
        bad.cpu_ns,
        bad.kernel_share,
        bad.bytes,
        bad.storage_read_bytes,
        bad.faults,
        bad.syncs_per_commit,
    ];
    assert!(means.iter().all(|mean| mean.is_nan()), "{means:?}");
    assert!(outcome.cells[3].syncs_per_commit.abs() < f64::EPSILON);
    assert_eq!(outcome.contrasts[1].verdict, Verdict::Slower);
    assert_eq!(found.failures.len(), 1);
}

#[test]
fn records_without_a_header_or_of_a_later_schema_are_refused() {
    assert_eq!(analyse(&[], None), Err(AnalysisError::NoHeader));
    assert_eq!(
        analyse(&[Record::Unknown], None),
        Err(AnalysisError::NoHeader)
    );
    let Record::Run(mut run) = header(&comparison(&[])) else {
        panic!("not a header")
    };
    run.schema = SCHEMA_VERSION + 1;
    let refused = analyse(&[Record::Run(run)], None).unwrap_err();
    assert!(refused.to_string().contains("newer"), "{refused}");
}

fn latency_block(key: &str, round: u32, latency: String) -> Measurement {
    Measurement {
        block: BlockKind::Latency,
        latency: Some(latency),
        ..block(key, round, 1_000_000)
    }
}

#[test]
fn percentiles_are_those_of_all_latency_blocks_together() {
    let mut blocks = ten(&[]);
    blocks.push(latency_block("base", 0, histogram(1..=600)));
    blocks.push(latency_block("base", 1, histogram(601..=1000)));
    let found = outcome(&comparison(&[]), &blocks);
    let latency = found.cells[0].latency.clone().unwrap();
    assert_eq!(latency.count, 1000);
    assert_eq!(
        (latency.p50_ns, latency.p90_ns, latency.p99_ns),
        (Some(500), Some(900), Some(990))
    );
    assert_eq!(latency.p999_ns, None, "one operation lies beyond it");
    assert_eq!((latency.max_ns, latency.blocks), (1000, 2));
    assert_eq!(latency.intervals, [], "two blocks give none");
    assert!((latency.mean_ns - 500.5).abs() < 1e-9);
    assert_eq!(
        found.cells[0].rounds, 10,
        "latency blocks are not ratio blocks"
    );
    assert!((found.cells[0].wall_ns - 10_000.0).abs() < 200.0);
    assert_eq!(found.cells[1].latency, None);
}

#[test]
fn a_damaged_histogram_is_a_warning_and_the_rest_counts() {
    let mut blocks = ten(&[]);
    blocks.push(latency_block("base", 0, "?".to_owned()));
    blocks.push(latency_block("base", 1, STANDARD.encode("rubbish")));
    blocks.push(latency_block("base", 2, histogram(1..=10)));
    let found = analysis(&comparison(&[]), &blocks);
    assert_eq!(
        found.comparisons[0].cells[0]
            .latency
            .as_ref()
            .unwrap()
            .count,
        10
    );
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    assert!(found.warnings[0].message.contains("c/base, round 0"));
}

#[test]
fn a_comparison_with_latency_blocks_only_takes_its_ratios_from_them() {
    let blocks: Vec<Measurement> = ten(&[("other", 20_000.0)])
        .into_iter()
        .map(|block| Measurement {
            block: BlockKind::Latency,
            ..block
        })
        .collect();
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(found.contrasts[0].verdict, Verdict::Slower);
}

#[test]
fn a_block_without_operations_is_none() {
    let mut blocks = ten(&[("other", 10_000.0)]);
    blocks.push(Measurement {
        operations: 0,
        ..block("other", 10, 1_000_000)
    });
    blocks.push(block("base", 10, 10_000_000));
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(found.cells[2].rounds, 10);
    assert_eq!(found.contrasts[0].verdict, Verdict::Equivalent);
}

#[test]
fn a_cell_with_latency_blocks_only_is_described_by_them() {
    let mut blocks = ten(&[("other", 10_000.0)]);
    for block in blocks.iter_mut().filter(|m| m.cell.0 == "c/other") {
        block.block = BlockKind::Latency;
    }
    for (kind, operations) in [(BlockKind::Pilot, 1_000), (BlockKind::Latency, 0)] {
        blocks.push(Measurement {
            block: kind,
            operations,
            ..block("other", 20, 1_000_000_000)
        });
    }
    let found = outcome(&comparison(&["other"]), &blocks);
    let other = &found.cells[2];
    assert_eq!((other.rounds, other.operations), (0, 10_000));
    assert!((other.wall_ns - 10_000.0).abs() < 200.0, "{other:?}");
    assert_eq!(found.contrasts[0].verdict, Verdict::NoData);
}

#[test]
fn a_last_commit_is_known_where_a_block_was_one_transaction_of_writes() {
    let known = |commits: u64, last_commit_ns: u64| {
        let mut blocks = ten(&[]);
        for block in &mut blocks {
            block.commits = commits;
            block.outside.last_commit_ns = last_commit_ns;
        }
        let found = outcome(&writing(comparison(&[])), &blocks);
        found.cells[0].last_commit_ns
    };
    assert_eq!(known(1, 5_000), Some(5_000.0));
    assert_eq!([known(3, 5_000), known(1, 0)], [None, None]);
}

#[test]
fn a_block_that_committed_nothing_says_nothing_of_syncs() {
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.commits = u64::from(block.round % 2) * 10;
        block.syncs = syncs(block.commits * 2);
    }
    let found = outcome(&writing(comparison(&[])), &blocks);
    assert_eq!(found.cells[0].syncs_per_commit.to_bits(), 2.0_f64.to_bits());
}

#[test]
fn the_store_of_the_median_block_is_the_one_that_is_shown() {
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        let bytes = 1_000 * u64::from(block.round * 3 % 10);
        block.footprint = Some(Footprint {
            allocated_bytes: bytes,
            ..Footprint::default()
        });
    }
    let found = outcome(&comparison(&[]), &blocks);
    let footprint = found.cells[0].block_footprint.unwrap();
    assert_eq!(footprint.allocated_bytes, 5_000);
}

#[test]
fn pilots_count_nowhere() {
    let mut blocks = ten(&[("other", 10_000.0)]);
    blocks.push(Measurement {
        block: BlockKind::Pilot,
        ..block("other", 10, 1_000_000_000)
    });
    let found = outcome(&comparison(&["other"]), &blocks);
    assert_eq!(
        (found.cells[2].rounds, found.cells[2].operations),
        (10, 10_000)
    );
}

#[test]
fn the_fastest_cell_is_the_one_that_beats_each_rival() {
    let candidates = ["quick", "other"];
    let found = outcome(
        &comparison(&candidates),
        &ten(&[("quick", 5_000.0), ("other", 8_000.0)]),
    );
    assert_eq!(found.fastest().unwrap().cell.key, "quick");
    let found = outcome(
        &comparison(&candidates),
        &ten(&[("quick", 5_000.0), ("other", 5_050.0)]),
    );
    assert!(found.fastest().is_none(), "two are equivalent");
    let found = outcome(&comparison(&candidates), &ten(&[("quick", 5_000.0)]));
    assert!(found.fastest().is_none(), "one was not measured");
    let found = outcome(
        &comparison(&candidates),
        &ten(&[("quick", 15_000.0), ("other", 12_000.0)]),
    );
    assert_eq!(found.fastest().unwrap().cell.key, "base");
}

#[test]
fn a_cell_that_does_other_work_than_the_baseline_neither_is_fastest_nor_prevents_one() {
    type Change = fn(&mut Workload);
    let changes: [Change; 2] = [
        |workload| workload.per_transaction = PerTransaction::Operations(1),
        |workload| workload.delivery = Delivery::InPlace,
    ];
    for change in changes {
        for other in [4_000.0, 5_000.0, 9_000.0] {
            let mut mixed = comparison(&["quick", "other"]);
            change(&mut mixed.cells[3].workload);
            let blocks = ten(&[("quick", 5_000.0), ("other", other)]);
            let found = outcome(&mixed, &blocks);
            assert_eq!(found.fastest().unwrap().cell.key, "quick", "{other}");
        }
        let mut alone = comparison(&["other"]);
        change(&mut alone.cells[2].workload);
        let found = outcome(&alone, &ten(&[("other", 5_000.0)]));
        assert_eq!(found.contrasts[0].verdict, Verdict::Faster);
        assert!(found.fastest().is_none(), "no rival is left");
    }
}

#[test]
fn writes_of_which_other_numbers_shared_a_commit_are_other_work() {
    let comparison = writing(comparison(&["quick"]));
    let fastest = |operations: u64| {
        let mut blocks = ten(&[("quick", 1_000.0)]);
        for block in &mut blocks {
            if block.cell == id("quick") {
                block.operations = operations;
            }
        }
        let found = outcome(&comparison, &blocks);
        let (quick, base) = (&found.cells[2], &found.cells[0]);
        let words = work_differences(quick, base);
        let words = words.first().map(WorkDifference::in_words);
        (found.fastest, words)
    };
    assert_eq!(fastest(1_000), (Some(id("quick")), None));
    let differs = "operations per commit: 10000 against 1000".to_owned();
    assert_eq!(fastest(10_000), (None, Some(differs)));
}

#[test]
fn blocks_that_found_their_data_as_a_repair_left_it_are_counted_in_a_warning() {
    let mut blocks = ten(&[("x", 10_000.0)]);
    let said = |blocks: &[Measurement]| -> Vec<String> {
        let warnings = analysis(&comparison(&["x"]), blocks).warnings;
        let messages = warnings.into_iter().map(|warning| warning.message);
        messages.filter(|m| m.contains("read in again")).collect()
    };
    assert!(said(&blocks).is_empty());
    let of_x = blocks.iter_mut().filter(|m| m.cell == id("x"));
    of_x.skip(7).for_each(|block| block.read_in_again = true);
    let messages = said(&blocks);
    assert_eq!(messages.len(), 1);
    assert!(messages[0].ends_with("so measured were 3 of 10 blocks of 'the x'"));
}

#[test]
fn the_warning_of_lost_pages_advises_what_stops_the_one_who_is_known_to_evict_them() {
    let mut blocks = ten(&[("x", 10_000.0)]);
    blocks[0].read_in_again = true;
    let mut records = records(&comparison(&["x"]), &blocks);
    let advice = |records: &[Record]| {
        let warnings = analyse(records, None).unwrap().warnings;
        let mut lost = warnings
            .into_iter()
            .filter(|w| w.message.contains("read in again"));
        lost.next().unwrap().advice
    };
    assert!(advice(&records).starts_with("Free some memory"));
    records.push(Record::Warning(Warning {
        kind: WarningKind::PageOut,
        message: "DAMON evicts pages.".to_owned(),
        advice: "Switch it off.".to_owned(),
    }));
    assert_eq!(advice(&records), "Switch it off. Then run it again.");
}

#[test]
fn a_ratio_that_drifts_is_warned_of_by_name_and_one_beside_it_is_not() {
    let mut blocks = rounds(
        &[&EQUAL[..], &[("x", 9_000.0), ("y", 9_000.0)]].concat(),
        0..20,
    );
    for block in blocks.iter_mut().filter(|m| m.cell == id("x")) {
        block.wall_ns += u64::from(block.round) * 100_000;
    }
    let warnings = analysis(&comparison(&["x", "y"]), &blocks).warnings;
    let mut messages = warnings.iter().map(|warning| &warning.message);
    let said = messages.find(|m| m.contains("not independent")).unwrap();
    assert!(
        said.contains("'the x' against 'the base' drifted"),
        "{said}"
    );
    assert!(!said.contains("the y"), "{said}");
}

#[test]
fn a_study_says_of_how_many_ratios_it_claims_something() {
    let blocks = ten(&[("same", 10_000.0), ("slow", 20_000.0)]);
    let found = Claims::of(&analysis(&comparison(&["same", "slow"]), &blocks));
    let (ratios, different, same) = (found.ratios, found.differences, found.equivalent);
    assert_eq!((ratios, different, same), (2, 1, 1));
    assert!((found.false_at_most - 0.1).abs() < 1e-12);
    let short = rounds(&[&EQUAL[..], &[("slow", 20_000.0)]].concat(), 0..5);
    let found = Claims::of(&analysis(&comparison(&["slow"]), &short));
    assert_eq!(found.ratios, 0, "too few rounds for a ratio");
}

#[test]
fn the_floor_is_no_rival_but_everything_is_shown_as_its_multiple() {
    let mut with_floor = comparison(&["other"]);
    with_floor.cells.push(cell("floor", Role::Floor));
    with_floor.contrasts.push(contrast("floor", "base"));
    let found = outcome(&with_floor, &ten(&[("other", 5_000.0), ("floor", 2_500.0)]));
    assert_eq!(found.fastest().unwrap().cell.key, "other");
    let multiple = |key: &str| {
        found
            .cell(&crate::support::id(key))
            .unwrap()
            .multiple_of_floor
    };
    assert!((multiple("base").unwrap().ratio - 4.0).abs() < 0.05);
    assert!((multiple("other").unwrap().ratio - 2.0).abs() < 0.03);
    assert_eq!(multiple("floor"), None);
}

#[test]
fn a_cell_is_a_multiple_of_the_floor_that_has_as_many_threads_and_of_no_other() {
    let mut several = comparison(&["two", "four"]);
    let mut threads = |key: &str, role: Role, threads: u32| {
        let known = several.cells.iter().position(|known| known.key == key);
        let at = known.unwrap_or_else(|| {
            several.cells.push(cell(key, role));
            several.cells.len() - 1
        });
        several.cells[at].workload.threads = threads;
    };
    threads("two", Role::Candidate, 2);
    threads("four", Role::Candidate, 4);
    threads("floor-1", Role::Floor, 1);
    threads("floor-4", Role::Floor, 4);
    let times = [
        ("two", 5e3),
        ("four", 5e3),
        ("floor-1", 2.5e3),
        ("floor-4", 1e3),
    ];
    let found = outcome(&several, &ten(&times));
    let multiple = |key: &str| {
        let summary = found.cell(&crate::support::id(key)).unwrap();
        let floor = found.floor_of(summary).map(|floor| floor.cell.key.clone());
        (floor, summary.multiple_of_floor.map(|of| of.ratio.round()))
    };
    assert_eq!(multiple("base"), (Some("floor-1".to_owned()), Some(4.0)));
    assert_eq!(multiple("four"), (Some("floor-4".to_owned()), Some(5.0)));
    assert_eq!(multiple("two"), (None, None));
}

#[test]
fn another_durability_promise_is_shown_for_writes_and_forbids_a_fastest() {
    let mut mixed = comparison(&["other"]);
    mixed.cells[2].capabilities.durability = DurabilityClaim {
        class: Durability::None,
        atomic: false,
        delayed: false,
    };
    let blocks = ten(&[("other", 5_000.0)]);
    let reads = outcome(&mixed, &blocks);
    assert!(reads.contrasts[0].same_durability);
    assert!(reads.fastest().is_some());
    let writes = outcome(&writing(mixed), &blocks);
    assert!(!writes.contrasts[0].same_durability);
    assert_eq!(writes.contrasts[0].verdict, Verdict::Faster);
    assert!(writes.fastest().is_none());
}

#[test]
fn a_promise_is_another_one_where_only_one_of_two_cells_writes() {
    let mut mixed = comparison(&["other"]);
    mixed.cells[2].workload.operation = Operation::Overwrite;
    mixed.cells[2].capabilities.durability.class = Durability::None;
    let found = outcome(&mixed, &ten(&[("other", 5_000.0)]));
    assert!(!found.contrasts[0].same_durability);
}

#[test]
fn resources_are_counted_per_operation() {
    let mut blocks = ten(&[]);
    for block in blocks.iter_mut().filter(|m| m.cell.0 == "c/base") {
        block.wall_ns = 10_000_000;
        block.process_cpu_ns = 8_000_000;
        (block.user_ns, block.system_ns) = (2_000_000, 6_000_000);
        (block.minor_faults, block.major_faults) = (2000, 500);
        block.in_blocks = 3000;
        block.peak_memory_bytes = Some(1000 + u64::from(block.round % 7));
    }
    let found = outcome(&comparison(&[]), &blocks);
    let base = &found.cells[0];
    assert_eq!((base.rounds, base.operations), (10, 10_000));
    assert_eq!((base.wall_ns, base.cpu_ns), (10_000.0, 8_000.0));
    assert_eq!((base.kernel_share, base.faults), (0.75, 2.5));
    assert_eq!((base.bytes, base.storage_read_bytes), (10_000.0, 1536.0));
    assert_eq!((base.read_calls, base.write_calls), (None, None));
    assert_eq!(
        (base.storage_write_bytes, base.peak_memory_bytes),
        (None, Some(1006))
    );
    assert_eq!(base.series.len(), 10);
    assert!((base.series[9].1 - 10_000_f64.ln()).abs() < 1e-12);

    for block in &mut blocks {
        block.io = Some(IoCounters {
            read_call_bytes: 1,
            write_call_bytes: 2,
            read_calls: 3_000,
            write_calls: 4_000,
            storage_read_bytes: 5_000,
            storage_write_bytes: 6_000,
        });
    }
    let found = outcome(&comparison(&[]), &blocks);
    let base = &found.cells[0];
    assert_eq!((base.read_calls, base.write_calls), (Some(3.0), Some(4.0)));
    assert_eq!(
        (base.storage_read_bytes, base.storage_write_bytes),
        (5.0, Some(6.0))
    );
}

/// A comparison of cold reads in which the cell `mapped` is changed by `map`, and every block fetches
/// eight times its values.
fn much_read_ahead(map: impl Fn(&mut Cell)) -> Analysis {
    let mut blocks = ten(&[("mapped", 10_000.0)]);
    for block in &mut blocks {
        block.in_blocks = 8 * block.bytes / 512;
    }
    let mut planned = comparison(&["mapped"]);
    for cell in &mut planned.cells {
        cell.workload.cache = CacheState::Cold;
    }
    planned
        .cells
        .iter_mut()
        .filter(|cell| cell.key == "mapped")
        .for_each(map);
    analysis(&planned, &blocks)
}

#[test]
fn a_cold_read_through_a_mapping_that_fetches_much_more_than_its_value_is_one_of_read_ahead() {
    let found = much_read_ahead(|cell| cell.capabilities.mapped = true);
    let cells = &found.cold[0].cells;
    let ruled: Vec<(&str, bool)> = cells
        .iter()
        .map(|cell| (cell.cell.0.as_str(), cell.ruled_by_read_ahead))
        .collect();
    assert_eq!(ruled, [("c/base", false), ("c/mapped", true)]);
    let mut warnings = found.warnings.iter();
    assert!(warnings.any(|w| {
        w.message
            .starts_with("c/mapped: each cold read of 10 kB fetched")
    }));
}

/// What a cell had from storage beside data in blocks of 1,000 values, where that was told, of which at
/// least so much was demanded; and whether that proves anything.
fn of_names(bytes: impl Fn(u32) -> Option<u64>, least_bytes: u64) -> (Option<f64>, bool) {
    let mut blocks = ten(&[("other", 10_000.0)]);
    for block in &mut blocks {
        block.operations = 1_000;
        block.metadata_reads = bytes(block.round).map(|bytes| MetadataReads { bytes, least_bytes });
    }
    let mut planned = comparison(&["other"]);
    for cell in &mut planned.cells {
        cell.workload.cache = CacheState::AllCold;
    }
    let cell = &analysis(&planned, &blocks).cold[0].cells[1];
    (cell.metadata_bytes, cell.metadata_proved)
}

#[test]
fn what_names_take_of_storage_is_told_per_operation_and_only_where_every_block_proved_it() {
    let half = |round| {
        Some(if round % 2 == 0 {
            20_000_000
        } else {
            30_000_000
        })
    };
    assert_eq!(of_names(half, 500_000), (Some(25_000.0), true));
    assert_eq!(of_names(half, 0), (Some(25_000.0), false), "too few files");
    let but_first = |round| half(round).filter(|_| round > 0);
    assert_eq!(of_names(but_first, 500_000), (None, false));
    let none = of_names(|_| None, 500_000);
    assert_eq!(none, (None, false), "names were in memory");
}

#[test]
fn the_control_is_no_contrast_even_if_one_was_planned() {
    let mut planned = comparison(&["other"]);
    planned.contrasts.push(contrast("again", "base"));
    let found = outcome(&planned, &ten(&[("other", 10_000.0)]));
    assert_eq!(found.contrasts.len(), 1);
}

#[test]
fn the_drain_of_writes_stands_apart_and_in_the_total() {
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.outside.drain_ns = 3_000_000;
        block.lead_in_operations = 0;
    }
    let reads = outcome(&comparison(&[]), &blocks);
    assert_eq!(
        (reads.cells[0].drain_ns, reads.cells[0].total_ns),
        (None, None)
    );
    let writes = outcome(&writing(comparison(&[])), &blocks);
    assert_eq!(writes.cells[0].drain_ns, Some(3_000.0));
    assert!((writes.cells[0].total_ns.unwrap() - 13_000.0).abs() < 100.0);
}

#[test]
fn the_drain_is_shared_with_what_the_lead_in_wrote() {
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.outside.drain_ns = 3_000_000;
        block.lead_in_operations = block.operations / 2;
    }
    let writes = outcome(&writing(comparison(&[])), &blocks);
    assert_eq!(writes.cells[0].drain_ns, Some(2_000.0));
    assert!((writes.cells[0].total_ns.unwrap() - 12_000.0).abs() < 100.0);
}

#[test]
fn charts_invert_a_contrast_that_was_measured_the_other_way_round() {
    let found = analysis(&comparison(&["slow"]), &ten(&[("slow", 20_000.0)]));
    let chart = &found.figures[0];
    let rows = &chart.groups[0].rows;
    let contrast = found.comparisons[0].contrasts[0].estimate.unwrap();
    let to = id("slow");
    let label = "the slow".to_owned();
    assert_eq!(chart.shown, Shown::Ratios { to, label });
    assert_eq!(rows[0].source, Source::Reference);
    assert_eq!(rows[1].ratio(), Some(contrast.inverse()));
    assert_eq!(rows[1].verdict, Some(Verdict::Faster));
    let bar = rows[1].ratio().unwrap();
    assert!(bar.low <= bar.ratio && bar.ratio <= bar.high, "{bar:?}");
    assert!((bar.high * contrast.low - 1.0).abs() < 1e-12, "{bar:?}");
    assert!(bar.ratio < 0.6);
    assert_eq!(
        (rows[2].label.as_str(), rows[2].ratio()),
        ("cannot do it", None)
    );
    assert_eq!(rows[2].verdict, Some(Verdict::NoData));
    let published = rows[3..].iter().map(|row| row.description.as_deref());
    let published: Vec<&str> = published.map(Option::unwrap).collect();
    assert_eq!(published, ["machine A", "machine B"]);
    assert_eq!(rows[1].durability, None);
}

#[test]
fn charts_compute_a_contrast_that_was_not_planned_and_name_the_promise_of_writes() {
    let mut unplanned = writing(comparison(&["slow"]));
    unplanned.contrasts.clear();
    let found = analysis(&unplanned, &ten(&[("slow", 20_000.0)]));
    let bar = &found.figures[0].groups[0].rows[1];
    assert!((bar.ratio().unwrap().ratio - 0.5).abs() < 0.01);
    assert_eq!(bar.durability.unwrap().to_string(), "durable, atomic");
}

#[test]
fn space_is_that_right_after_building_beside_a_figure_and_how_many_values_that_is_of() {
    let mut all = records(&comparison(&["slow"]), &[]);
    all.push(footprint("store-of-base", 1, false));
    all.push(footprint("store-of-slow", 2, false));
    all.push(footprint("store-of-base", 3, true));
    let found = analyse(&all, None).unwrap();
    let rows: Vec<_> = found
        .space
        .iter()
        .map(|r| (r.label.as_str(), r.footprint.apparent_bytes))
        .collect();
    assert_eq!(rows, [("du", 1), ("files", 2)]);
    assert_eq!(
        found.space.iter().map(|r| r.ratio).collect::<Vec<_>>(),
        [Some(1.0), Some(2.0)]
    );
    assert_eq!(found.space[0].published_ratio, Some(1.0));
    assert_eq!(
        found.space[0].published,
        Some(("du".to_owned(), 12_345, Some(1000)))
    );
    assert_eq!(found.space[1].published, None);

    all.push(footprint("store-of-base", 4, false));
    let found = analyse(&all, None).unwrap();
    assert_eq!(found.space.len(), 2);
    assert_eq!(found.space[0].footprint.apparent_bytes, 4, "built anew");

    let Record::Run(run) = &mut all[0] else {
        panic!("not a header")
    };
    run.plan.datasets.get_mut("blobs").unwrap().count = 999;
    let found = analyse(&all, None).unwrap();
    let published = found.space[0].published.as_ref().unwrap();
    assert_eq!(published.2, Some(1000), "another number of values");
    assert_eq!(found.space[0].label, "du", "it is the same store");
}

#[test]
fn a_shared_store_is_described_by_its_layout_and_not_by_one_of_its_cells() {
    let mut compared = comparison(&["slow", "other"]);
    for cell in &mut compared.cells {
        let tree = Value::Word("tree".to_owned());
        cell.settings.set("layout", tree.clone());
        cell.settings.set("write", tree);
        cell.instance = "blobs.files.layout-tree".to_owned();
    }
    let mut all = records(&compared, &[]);
    all.push(footprint("blobs.files.layout-tree", 1, false));
    let Record::Run(run) = &mut all[0] else {
        panic!("not a header")
    };
    run.plan.study.figures.clear();
    let found = analyse(&all, None).unwrap();
    assert_eq!(found.space[0].label, "files, layout=tree");
    assert_eq!(found.space[0].ratio, Some(1.0));
}

fn kinds(warnings: &[RunWarning]) -> Vec<WarningKind> {
    warnings.iter().map(|warning| warning.kind).collect()
}

#[test]
fn a_store_that_syncs_less_often_than_its_settings_say_is_named() {
    let writes = writing(comparison(&[]));
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.commits = 10;
        block.syncs = syncs(20);
    }
    // One block began in the middle of a commit; the median does not mind.
    blocks[0].syncs = syncs(19);
    let found = analysis(&writes, &blocks);
    assert!(found.warnings.is_empty(), "{:?}", found.warnings);
    assert_eq!(
        found.comparisons[0].cells[0].syncs_per_commit.to_bits(),
        2.0_f64.to_bits()
    );
    for block in &mut blocks {
        block.syncs = syncs(10);
    }
    let found = analysis(&writes, &blocks);
    assert_eq!(kinds(&found.warnings), [WarningKind::TooFewSyncs]);
    assert!(
        found.warnings[0]
            .message
            .contains("c/base: 1.00 sync calls")
    );
    assert!(
        analysis(&comparison(&[]), &blocks).warnings.is_empty(),
        "reads"
    );
}

#[test]
fn a_setting_that_the_engine_did_not_take_is_named_but_a_rounded_cache_is_not() {
    let mut asked = comparison(&[]);
    asked.cells[0]
        .settings
        .set("journal", Value::Word("wal".to_owned()));
    asked.cells[0]
        .settings
        .set("cache", Value::Number(4_000_000));
    let found = |journal: &str, cache: u64| {
        let mut settings = asked.cells[0].settings.clone();
        settings.set("journal", Value::Word(journal.to_owned()));
        settings.set("cache", Value::Number(cache));
        let mut all = records(&asked, &[]);
        all.push(Record::Effective(EffectiveSettings {
            cell: crate::support::id("base"),
            settings,
        }));
        analyse(&all, None).unwrap().warnings
    };
    assert!(found("wal", 3_997_696).is_empty());
    assert!(found("wal", 3_850_000).is_empty(), "less than 5%");
    assert_eq!(
        kinds(&found("wal", 2_000_000)),
        [WarningKind::SettingNotTaken]
    );
    let warnings = found("delete", 4_000_000);
    assert_eq!(kinds(&warnings), [WarningKind::SettingNotTaken]);
    assert!(
        warnings[0].message.contains("journal=wal was asked for"),
        "{warnings:?}"
    );
}

#[test]
fn a_setting_is_named_once_and_only_a_cache_may_be_rounded() {
    let mut asked = comparison(&[]);
    for cell in &mut asked.cells {
        cell.settings.set("cache", Value::Number(8192));
        cell.settings.set("page_size", Value::Number(4096));
        cell.settings.set("limit", Value::Number(1000));
    }
    let found = |cache: u64, limit: u64| {
        let mut settings = asked.cells[0].settings.clone();
        settings.set("cache", Value::Number(cache));
        settings.set("limit", Value::Number(limit));
        let mut all = records(&asked, &[]);
        all.extend(["base", "again"].map(|key| {
            Record::Effective(EffectiveSettings {
                cell: crate::support::id(key),
                settings: settings.clone(),
            })
        }));
        analyse(&all, None).unwrap().warnings
    };
    assert!(found(4096, 1000).is_empty(), "one page less");
    assert_eq!(found(4095, 1000).len(), 1, "more than a page less");
    assert_eq!(found(8192, 999).len(), 1, "not the cache");
}

#[test]
fn the_order_of_the_records_of_a_run_does_not_matter() {
    let blocks = ten(&[("other", 12_000.0)]);
    let reversed: Vec<Measurement> = blocks.iter().rev().cloned().collect();
    let comparison = comparison(&["other"]);
    assert_eq!(
        outcome(&comparison, &blocks),
        outcome(&comparison, &reversed)
    );
}

#[test]
fn faster_blocks_of_all_cells_alike_change_no_ratio() {
    let comparison = comparison(&["other"]);
    let blocks = ten(&[("other", 12_000.0)]);
    let mut scaled = blocks.clone();
    for block in &mut scaled {
        block.operations *= 8;
        block.wall_ns *= 4;
        block.process_cpu_ns *= 4;
        block.thread_cpu_ns *= 4;
    }
    let (a, b) = (outcome(&comparison, &blocks), outcome(&comparison, &scaled));
    let (x, y) = (
        a.contrasts[0].estimate.unwrap(),
        b.contrasts[0].estimate.unwrap(),
    );
    assert!((x.ratio / y.ratio - 1.0).abs() < 1e-12);
    assert!((x.low / y.low - 1.0).abs() < 1e-12);
    assert!((a.cells[0].wall_ns / b.cells[0].wall_ns - 2.0).abs() < 1e-12);
}

#[test]
fn the_rule_of_the_header_holds_unless_another_is_given() {
    let all = records(&comparison(&["other"]), &ten(&[("other", 12_000.0)]));
    let with = |equivalence| {
        let rule = stowplan_analysis::StoppingRule {
            equivalence,
            ..RULE
        };
        analyse(&all, Some(&rule)).unwrap().comparisons[0].contrasts[0].verdict
    };
    let found = analyse(&all, None).unwrap();
    assert_eq!(found.comparisons[0].contrasts[0].verdict, Verdict::Slower);
    assert_eq!(with(0.5), Verdict::Equivalent);
}
