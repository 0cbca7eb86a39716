//! What the analysis makes of runs whose answer is known.

use crate::runs::{analysis_with, base, changed, failed, warned};
use crate::support::{
    RULE, analysis, block, cell, comparison, contrast, doing, footprint, histogram, id, near,
    outcome, planned, records, rounds, syncs, ten,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use stowplan_analysis::{
    Analysis, CellSummary, Claims, Estimate, FindingRow, Metric, Shown, Source, TWICE_DIFFERED,
    Verdict, WorkDifference, analyse, work_differences,
};
use stowplan_model::{
    BlockKind, CacheState, Comparison, Durability, DurabilityClaim, EffectiveSettings, Footprint,
    IoCounters, Measurement, MetadataReads, Operation, Plan, Record, Role, Value, Warning,
    WarningKind,
};

fn writing(comparison: Comparison) -> Comparison {
    doing(Operation::Overwrite, comparison)
}

#[test]
fn twice_the_time_is_a_ratio_of_two_and_slower() {
    let found = outcome(&comparison(&["slow"]), &ten(&[("slow", 20_000.0)]));
    let slow = &found.contrasts[0];
    let estimate = slow.estimate.unwrap();
    assert_eq!(slow.verdict, Verdict::Slower);
    near(estimate.ratio, 2.0, 0.02);
    assert!(estimate.low > 1.93 && estimate.high < 2.08, "{estimate:?}");
    let time = found.cells[2].time_ns.unwrap();
    near(time.estimate, 20_000.0, 200.0);
    let logs: Vec<f64> = found.cells[2].series.iter().map(|(_, log)| *log).collect();
    let expected = Estimate::hodges_lehmann(&logs, 0.05).unwrap();
    let expected = [expected.low, expected.estimate, expected.high].map(f64::exp);
    assert_eq!([time.low, time.estimate, time.high], expected);
}

#[test]
fn waiting_for_a_cpu_is_subtracted_and_raises_the_floor() {
    let blocks = changed(ten(&[("same", 10_000.0)]), |block| {
        let delay = [200_000, 9_000_000][usize::from(block.cell == id("same"))];
        block.wall_ns += delay;
        block.run_delay_ns = Some(delay);
    });
    let found = outcome(&comparison(&["same"]), &blocks);
    near(found.contrasts[0].estimate.unwrap().ratio, 1.0, 0.01);
    near(found.noise_floor, 1.03_f64.ln(), 1e-12);
    let share = found.delay_share.unwrap();
    assert!((0.15..0.2).contains(&share), "{share}");
    near(found.cells[2].wall_ns, 19_000.0, 200.0);
}

#[test]
fn waits_and_what_other_threads_do_decide_on_the_metric_and_the_floor() {
    use Metric::{Corrected, Wall};
    for (name, wait, threads, in_rounds, metric, floor) in [
        ("neither", Some(0), 0, 3, Corrected, 1.01),
        ("a twentieth waited", Some(50_000), 0, 3, Corrected, 1.01),
        ("more than that", Some(50_001), 0, 3, Corrected, 1.03),
        ("nearly a hundredth", Some(0), 9_999, 3, Corrected, 1.01),
        ("a hundredth", Some(0), 10_000, 3, Wall, 1.01),
        ("in one round", Some(0), 500_000, 1, Corrected, 1.01),
        ("one wait is not told", None, 0, 1, Wall, 1.03),
    ] {
        let equal = [("base", 1_000.0), ("again", 1_000.0)];
        let blocks = changed(rounds(&equal, 0..3), |block| {
            (block.wall_ns, block.process_cpu_ns) = (1_000_000, block.thread_cpu_ns);
            if block.round < in_rounds {
                block.run_delay_ns = wait;
                // One such cell is enough.
                block.process_cpu_ns += threads * u64::from(block.cell == id("again"));
            }
        });
        let found = outcome(&comparison(&[]), &blocks);
        assert_eq!(found.metric, metric, "{name}");
        assert!((found.noise_floor.exp() - floor).abs() < 1e-9, "{name}");
    }
}

/// Rounds of `other`, which takes twice as long as `base`, and of a control that takes so long.
fn with_control(again: f64, number: u32) -> Analysis {
    let cells = [("base", 10_000.0), ("again", again), ("other", 20_000.0)];
    analysis(&comparison(&["other"]), &rounds(&cells, 0..number))
}

#[test]
fn the_control_widens_every_interval_by_what_it_shows_either_way() {
    let ends = |again: f64| {
        let found = &with_control(again, 10).comparisons[0];
        let ratio = found.contrasts[0].estimate.unwrap();
        (ratio.low, ratio.high, found.calibration)
    };
    let (low, high, calibration) = ends(10_000.0);
    assert!((1.0..1.3).contains(&calibration), "{calibration}");
    for (lower, higher, wider) in [9_900.0, 10_100.0].map(ends) {
        assert!(lower < low && higher > high, "{lower} to {higher}");
        assert!(wider > calibration, "{wider}");
    }
}

#[test]
fn the_noise_floor_is_what_the_control_shows_either_way() {
    for again in [9_800.0, 10_200.0] {
        let found = &with_control(again, 10).comparisons[0];
        let shown = found.control.unwrap().estimate.ratio.ln().abs();
        assert!(shown > 0.015, "{shown}");
        near(found.noise_floor, shown, 1e-12);
    }
}

/// Also one that differs by less than half the zone.
#[test]
fn a_control_that_surely_differs_forbids_claims() {
    let half = 1.05_f64.ln() / 2.0;
    for (again, rounds, zone) in [
        (9_600.0, 10, half..1.0),
        (10_400.0, 10, half..1.0),
        (9_790.0, 40, 0.0..half),
        (10_210.0, 40, 0.0..half),
    ] {
        let found = with_control(again, rounds);
        let outcome = &found.comparisons[0];
        let control = outcome.control.unwrap();
        assert!(zone.contains(&control.estimate.ratio.ln().abs()));
        assert!(control.estimate.low > 1.0 || control.estimate.high < 1.0);
        assert!(!outcome.reliable);
        assert_eq!(outcome.contrasts[0].verdict, Verdict::Unreliable);
        assert_eq!(control.verdict, Verdict::Unreliable);
        assert_eq!(outcome.fastest, None);
        let mut warnings = found.warnings.iter();
        assert!(warnings.any(|w| w.message.contains(TWICE_DIFFERED)));
    }
}

#[test]
fn a_control_that_is_only_noisy_forbids_nothing_but_widens_what_is_claimed() {
    for (other, expected) in [
        (20_000.0, Verdict::Slower),
        (10_550.0, Verdict::SmallDifference),
        (10_000.0, Verdict::Equivalent),
    ] {
        let blocks = changed(ten(&[("other", other)]), |block| {
            if block.cell == id("again") {
                let factor = [1.3, 1.03, 0.8, 1.1, 0.97][block.round as usize % 5];
                block.wall_ns = (block.wall_ns as f64 * factor) as u64;
            }
        });
        let found = outcome(&comparison(&["other"]), &blocks);
        let control = found.control.unwrap();
        let estimate = control.estimate;
        assert!(estimate.low < 1.0 && estimate.high > 1.0, "{control:?}");
        assert!(estimate.ratio > 1.025, "{control:?}");
        assert!(found.reliable);
        assert_eq!(control.verdict, Verdict::Unresolved);
        near(found.noise_floor, estimate.ratio.ln(), 1e-12);
        assert_eq!(found.contrasts[0].verdict, expected, "{other}");
    }
}

/// A control is missed only where some ratio has rounds enough.
#[test]
fn without_a_control_or_ten_rounds_times_are_told_and_nothing_is_claimed() {
    for (base, again, other, verdict) in [
        (10, 0, 10, Verdict::Unreliable),
        (10, 0, 9, Verdict::NoData),
        (9, 9, 9, Verdict::NoData),
        (0, 0, 0, Verdict::NoData),
    ] {
        let of = |key, micros, number| rounds(&[(key, micros)], 0..number);
        let control = [of("base", 1e4, base), of("again", 1e4, again)].concat();
        let measured = [control, of("other", 2e4, other)].concat();
        let found = analysis(&comparison(&["other"]), &measured);
        let reliable = verdict == Verdict::NoData;
        assert_eq!(found.warnings.is_empty(), reliable);
        assert_eq!(found.figures.is_empty(), other == 0);
        let found = &found.comparisons[0];
        assert_eq!((found.control, found.reliable), (None, reliable));
        assert_eq!(found.contrasts[0].verdict, verdict);
        near(found.noise_floor, 1.01_f64.ln(), 1e-12);
        let time = found.cells[2].time_ns.filter(|time| time.low < time.high);
        let near = time.is_some_and(|time| time.low >= 19_700.0 && time.high <= 20_300.0);
        assert_eq!(near, other > 0, "{time:?}");
    }
}

#[test]
fn a_failure_voids_what_the_cell_measured_before_it_and_nothing_else() {
    let blocks = ten(&[("bad", 5_000.0), ("good", 20_000.0)]);
    let failed = [failed(id("bad"), "short read"), Record::Unknown];
    let found = analysis_with(&comparison(&["bad", "good"]), &blocks, failed);
    let outcome = &found.comparisons[0];
    assert_eq!(outcome.contrasts[0].verdict, Verdict::NoData);
    let bad = &outcome.cells[2];
    assert_eq!(bad.rounds, 0);
    let means = [bad.wall_ns, bad.cpu_ns, bad.kernel_share, bad.bytes];
    let counts = [bad.storage_read_bytes, bad.faults, bad.syncs_per_commit];
    let mut figures = means.iter().chain(&counts);
    assert!(figures.all(|figure| figure.is_nan()), "{bad:?}");
    assert!(outcome.cells[3].syncs_per_commit.abs() < f64::EPSILON);
    assert_eq!(outcome.contrasts[1].verdict, Verdict::Slower);
    assert_eq!(found.failures.len(), 1);
}

#[test]
fn percentiles_are_those_of_all_latency_blocks_together_and_a_damaged_one_is_a_warning() {
    let mut blocks = ten(&[]);
    let damaged = ["?".to_owned(), STANDARD.encode("rubbish")];
    let whole = [histogram(1..=600), histogram(601..=1000)];
    let latencies = (0..).zip(damaged.into_iter().chain(whole));
    blocks.extend(latencies.map(|(round, latency)| Measurement {
        block: BlockKind::Latency,
        latency: Some(latency),
        ..block("base", round, 1_000_000)
    }));
    let found = analysis(&comparison(&[]), &blocks);
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
    assert!(found.warnings[0].message.contains("c/base, round 0"));
    let cells = &found.comparisons[0].cells;
    // Latency blocks are not ratio blocks.
    assert_eq!((cells[0].rounds, &cells[1].latency), (10, &None));
    near(cells[0].wall_ns, 10_000.0, 200.0);
    let told = cells[0].latency.as_ref().unwrap();
    // One operation lies beyond the last of these.
    let percentiles = [told.p50_ns, told.p90_ns, told.p99_ns, told.p999_ns];
    assert_eq!(percentiles, [Some(500), Some(900), Some(990), None]);
    assert_eq!((told.count, told.max_ns, told.blocks), (1000, 1000, 2));
    assert_eq!(told.intervals, [], "two blocks give none");
    near(told.mean_ns, 500.5, 1e-9);
}

#[test]
fn a_cell_with_latency_blocks_only_is_described_by_them() {
    let mut blocks = changed(ten(&[("other", 10_000.0)]), |block| {
        if block.cell == id("other") {
            block.block = BlockKind::Latency;
        }
    });
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
    near(other.wall_ns, 10_000.0, 200.0);
    assert_eq!(found.contrasts[0].verdict, Verdict::NoData);
}

/// Nor do blocks without operations.
#[test]
fn pilots_count_nowhere() {
    for (kind, operations) in [(BlockKind::Pilot, 1_000), (BlockKind::Ratio, 0)] {
        let mut blocks = ten(&[("other", 10_000.0)]);
        blocks.push(Measurement {
            block: kind,
            operations,
            ..block("other", 10, 1_000_000_000)
        });
        blocks.push(block("base", 10, 10_000_000));
        let found = outcome(&comparison(&["other"]), &blocks);
        let other = &found.cells[2];
        assert_eq!((other.rounds, other.operations), (10, 10_000));
        assert_eq!(found.contrasts[0].verdict, Verdict::Equivalent);
    }
}

#[test]
fn a_last_commit_is_known_where_a_block_was_one_transaction_of_writes() {
    for (commits, ns, known) in [(1, 5_000, Some(5_000.0)), (3, 5_000, None), (1, 0, None)] {
        let base = base(&writing(comparison(&[])), |block| {
            (block.commits, block.outside.last_commit_ns) = (commits, ns);
        });
        assert_eq!(base.last_commit_ns, known, "{commits} commits, {ns} ns");
    }
}

#[test]
fn the_fastest_cell_is_the_one_that_beats_each_rival() {
    for (cells, fastest) in [
        (&[("quick", 5e3), ("other", 8e3)][..], Some("quick")),
        (&[("quick", 5e3), ("other", 5.05e3)], None),
        (&[("quick", 5e3)], None),
        (&[("quick", 15e3), ("other", 12e3)], Some("base")),
    ] {
        let found = outcome(&comparison(&["quick", "other"]), &ten(cells));
        assert_eq!(found.fastest, fastest.map(id), "{cells:?}");
        assert_eq!(found.fastest().map(|cell| cell.cell.key.as_str()), fastest);
    }
}

/// Of longer blocks a ratio is that of single operations.
#[test]
fn writes_of_which_other_numbers_shared_a_commit_are_other_work() {
    let comparison = writing(comparison(&["quick"]));
    let differs = "operations per commit: 10000 against 1000";
    for (often, fastest, difference) in [(1, Some("quick"), None), (10, None, Some(differs))] {
        let blocks = changed(ten(&[("quick", 1_000.0)]), |block| {
            let often = if block.cell == id("quick") { often } else { 1 };
            block.operations *= often;
            block.wall_ns *= often;
        });
        let found = outcome(&comparison, &blocks);
        near(found.contrasts[0].estimate.unwrap().ratio, 0.1, 0.001);
        let differ = work_differences(&found.cells[2], &found.cells[0]);
        let differ = differ.first().map(WorkDifference::in_words);
        assert_eq!(differ.as_deref(), difference);
        assert_eq!(found.fastest, fastest.map(id));
    }
}

#[test]
fn blocks_that_found_their_data_as_a_repair_left_it_are_counted_and_advice_stops_who_evicts() {
    let evicts = Record::Warning(Warning {
        kind: WarningKind::PageOut,
        message: "DAMON evicts pages.".to_owned(),
        advice: "Switch it off.".to_owned(),
    });
    for (from_round, known, advice) in [
        (7, None, "Free some memory"),
        (7, Some(evicts), "Switch it off. Then run it again."),
        (10, None, ""),
    ] {
        let blocks = changed(ten(&[("x", 10_000.0)]), |block| {
            block.read_in_again = block.cell == id("x") && block.round >= from_round;
        });
        let found = analysis_with(&comparison(&["x"]), &blocks, known);
        let counted = "so measured were 3 of 10 blocks of 'the x'";
        let mut lost = found.warnings.iter();
        let lost = lost.find(|warning| warning.message.ends_with(counted));
        assert_eq!(lost.is_some(), from_round == 7, "{:?}", found.warnings);
        assert!(lost.is_none_or(|warning| warning.advice.starts_with(advice)));
    }
}

#[test]
fn a_ratio_that_drifts_is_warned_of_by_name_and_one_beside_it_is_not() {
    let equal = [("base", 1e4), ("again", 1e4), ("x", 9e3), ("y", 9e3)];
    let blocks = changed(rounds(&equal, 0..20), |block| {
        block.wall_ns += u64::from(block.cell == id("x")) * u64::from(block.round) * 100_000;
    });
    let said = &warned(&comparison(&["x", "y"]), &blocks, "not independent")[0];
    let named = "'the x' against 'the base' drifted";
    assert!(said.contains(named) && !said.contains("the y"), "{said}");
}

#[test]
fn a_study_says_of_how_many_ratios_it_claims_something() {
    let times = [("base", 1e4), ("again", 1e4), ("same", 1e4), ("slow", 2e4)];
    // In five rounds there is no ratio.
    for (number, expected) in [(10, (2, 1, 1)), (5, (0, 0, 0))] {
        let found = analysis(&comparison(&["same", "slow"]), &rounds(&times, 0..number));
        let found = Claims::of(&found);
        let claims = (found.ratios, found.differences, found.equivalent);
        assert_eq!(claims, expected);
        near(found.false_at_most, f64::from(number / 10) * 0.1, 1e-12);
    }
}

#[test]
fn a_cell_is_a_multiple_of_the_floor_that_has_as_many_threads_which_is_no_rival() {
    let mut several = comparison(&["two", "four"]);
    several.cells.push(cell("floor-1", Role::Floor));
    several.cells.push(cell("floor-4", Role::Floor));
    for key in ["floor-1", "again"] {
        several.contrasts.push(contrast(key, "base"));
    }
    for (cell, threads) in several.cells.iter_mut().zip([1, 1, 2, 4, 1, 4]) {
        cell.workload.threads = threads;
    }
    let times = [("two", 5e3), ("four", 5e3), ("floor-1", 2.5e3)];
    let found = outcome(&several, &ten(&[&times[..], &[("floor-4", 1e3)]].concat()));
    assert_eq!(found.fastest, None, "all others have other threads");
    assert_eq!(found.contrasts.len(), 3, "the control is none");
    for (key, floor, multiple) in [("base", "floor-1", 4.0), ("four", "floor-4", 5.0)] {
        let summary = found.cell(&id(key)).unwrap();
        assert_eq!(found.floor_of(summary).unwrap().cell.key, floor);
        near(summary.multiple_of_floor.unwrap().ratio, multiple, 0.05);
    }
    for key in ["two", "floor-1"] {
        assert_eq!(found.cell(&id(key)).unwrap().multiple_of_floor, None);
    }
}

#[test]
fn another_durability_promise_is_shown_for_writes_and_forbids_a_fastest() {
    let mut mixed = comparison(&["other"]);
    mixed.cells[2].capabilities.durability = DurabilityClaim {
        class: Durability::None,
        atomic: false,
        delayed: false,
    };
    let mut one_writes = mixed.clone();
    one_writes.cells[2].workload.operation = Operation::Overwrite;
    let found = |comparison| outcome(comparison, &ten(&[("other", 5_000.0)]));
    let [reads, writes, one_writes] = [&mixed, &writing(mixed.clone()), &one_writes].map(found);
    assert!(reads.contrasts[0].same_durability && reads.fastest.is_some());
    assert!(!writes.contrasts[0].same_durability && writes.fastest.is_none());
    assert_eq!(writes.contrasts[0].verdict, Verdict::Faster);
    assert!(!one_writes.contrasts[0].same_durability);
}

#[test]
fn resources_are_counted_per_operation() {
    let used = |block: &mut Measurement| {
        (block.wall_ns, block.process_cpu_ns) = (10_000_000, 8_000_000);
        (block.user_ns, block.system_ns) = (2_000_000, 6_000_000);
        (block.minor_faults, block.major_faults) = (2000, 500);
        block.in_blocks = 3000;
        block.peak_memory_bytes = Some(1000 + u64::from(block.round % 7));
        // One that committed nothing says nothing of syncs.
        block.commits = u64::from(block.round % 2) * 10;
        block.syncs = syncs(block.commits * 2);
        block.footprint = Some(Footprint {
            allocated_bytes: 1_000 * u64::from(block.round * 3 % 10),
            ..Footprint::default()
        });
    };
    let counted = |block: &mut Measurement| {
        used(block);
        block.io = Some(IoCounters {
            read_call_bytes: 1,
            write_call_bytes: 2,
            read_calls: 3_000,
            write_calls: 4_000,
            storage_read_bytes: 5_000,
            storage_write_bytes: 6_000,
        });
    };
    let calls = |c: &CellSummary| [c.read_calls, c.write_calls, c.storage_write_bytes];
    let found = base(&comparison(&[]), used);
    assert_eq!((found.rounds, found.operations), (10, 10_000));
    assert_eq!((found.wall_ns, found.cpu_ns), (10_000.0, 8_000.0));
    assert_eq!((found.kernel_share, found.faults), (0.75, 2.5));
    assert_eq!((found.bytes, found.storage_read_bytes), (10_000.0, 1536.0));
    assert_eq!(calls(&found), [None; 3]);
    assert_eq!(found.peak_memory_bytes, Some(1006));
    assert_eq!(found.syncs_per_commit.to_bits(), 2.0_f64.to_bits());
    let median = found.block_footprint.unwrap().allocated_bytes;
    assert_eq!((median, found.series.len()), (5_000, 10));
    near(found.series[9].1, 10_000_f64.ln(), 1e-12);
    let found = base(&comparison(&[]), counted);
    assert_eq!(calls(&found), [Some(3.0), Some(4.0), Some(6.0)]);
    near(found.storage_read_bytes, 5.0, 1e-12);
}

/// The comparison in which all is read cold.
fn cold(state: CacheState) -> Comparison {
    let mut cold = comparison(&["other"]);
    let cells = cold.cells.iter_mut();
    cells.for_each(|cell| cell.workload.cache = state);
    cold
}

#[test]
fn a_cold_read_through_a_mapping_that_fetches_much_more_than_its_value_is_one_of_read_ahead() {
    let mut mapped = cold(CacheState::Cold);
    mapped.cells[2].capabilities.mapped = true;
    let blocks = ten(&[("other", 10_000.0)]);
    let blocks = changed(blocks, |block| block.in_blocks = 8 * block.bytes / 512);
    let cells = &analysis(&mapped, &blocks).cold[0].cells;
    let ruled: Vec<bool> = cells.iter().map(|cell| cell.ruled_by_read_ahead).collect();
    assert_eq!(ruled, [false, true]);
    let said = warned(&mapped, &blocks, "each cold read of 10 kB fetched");
    assert!(said.len() == 1 && said[0].starts_with("c/other: "));
}

#[test]
fn what_names_take_of_storage_is_told_per_operation_and_only_where_every_block_proved_it() {
    // 20 MB in every other block of 1,000 values, else 30, of which so much was demanded.
    let told = |from_round, least_bytes| {
        let blocks = changed(ten(&[("other", 10_000.0)]), |block| {
            let bytes = 20_000_000 + u64::from(block.round % 2) * 10_000_000;
            let read = MetadataReads { bytes, least_bytes };
            block.metadata_reads = Some(read).filter(|_| block.round >= from_round);
        });
        let cell = &analysis(&cold(CacheState::AllCold), &blocks).cold[0].cells[1];
        (cell.metadata_bytes, cell.metadata_proved)
    };
    assert_eq!(told(0, 500_000), (Some(25_000.0), true));
    assert_eq!(told(0, 0), (Some(25_000.0), false), "too few files");
    assert_eq!(told(1, 500_000), (None, false), "one block told nothing");
    assert_eq!(told(99, 500_000), (None, false), "names were in memory");
}

/// It stands apart and in the total, and with reads nowhere.
#[test]
fn the_drain_is_shared_with_what_the_lead_in_wrote() {
    for (lead_in, drain) in [(0, 3_000.0), (500, 2_000.0)] {
        let drained = |block: &mut Measurement| {
            block.outside.drain_ns = 3_000_000;
            block.lead_in_operations = lead_in;
        };
        let reads = base(&comparison(&[]), drained);
        assert_eq!((reads.drain_ns, reads.total_ns), (None, None));
        let writes = base(&writing(comparison(&[])), drained);
        assert_eq!(writes.drain_ns, Some(drain));
        near(writes.total_ns.unwrap(), 10_000.0 + drain, 100.0);
    }
}

#[test]
fn charts_invert_a_contrast_that_was_measured_the_other_way_round() {
    let found = analysis(&comparison(&["slow"]), &ten(&[("slow", 20_000.0)]));
    let chart = &found.figures[0];
    let [reference, bar, gone, published @ ..] = &chart.groups[0].rows[..] else {
        panic!("{chart:?}")
    };
    let contrast = found.comparisons[0].contrasts[0].estimate.unwrap();
    let (to, label) = (id("slow"), "the slow".to_owned());
    assert_eq!(chart.shown, Shown::Ratios { to, label });
    assert_eq!(reference.source, Source::Reference);
    let ratio = bar.ratio().unwrap();
    assert_eq!(ratio, contrast.inverse());
    assert_eq!((bar.verdict, bar.durability), (Some(Verdict::Faster), None));
    assert!(ratio.low <= ratio.ratio && ratio.ratio <= ratio.high);
    near(ratio.high * contrast.low, 1.0, 1e-12);
    assert!(ratio.ratio < 0.6);
    assert_eq!((&*gone.label, gone.ratio()), ("cannot do it", None));
    assert_eq!(gone.verdict, Some(Verdict::NoData));
    let machine = |row: &FindingRow| row.description.clone().unwrap();
    let published: Vec<String> = published.iter().map(machine).collect();
    assert_eq!(published, ["machine A", "machine B"]);
}

#[test]
fn charts_compute_a_contrast_that_was_not_planned_and_name_the_promise_of_writes() {
    let mut unplanned = writing(comparison(&["slow"]));
    unplanned.contrasts.clear();
    let found = analysis(&unplanned, &ten(&[("slow", 20_000.0)]));
    let bar = &found.figures[0].groups[0].rows[1];
    near(bar.ratio().unwrap().ratio, 0.5, 0.01);
    assert_eq!(bar.durability.unwrap().to_string(), "durable, atomic");
}

#[test]
fn space_is_that_right_after_building_beside_a_figure_and_how_many_values_that_is_of() {
    let told = |sizes: &[(&str, u64, bool)], count: u64| {
        let sizes = sizes.iter();
        let sizes = sizes.map(|(instance, bytes, after)| footprint(instance, *bytes, *after));
        let change = |plan: &mut Plan| plan.datasets.get_mut("blobs").unwrap().count = count;
        let space = planned(&comparison(&["slow"]), change, sizes).space;
        let published = Some(("du".to_owned(), 12_345, Some(1000)));
        assert_eq!(space[0].published, published, "of so many values");
        assert_eq!(space[0].published_ratio, Some(1.0));
        assert_eq!(space[1].published, None);
        let rows = space.into_iter();
        let rows = rows.map(|row| (row.label, row.footprint.apparent_bytes, row.ratio));
        rows.collect::<Vec<_>>()
    };
    let [base, slow] = ["store-of-base", "store-of-slow"];
    let built = [(base, 1, false), (slow, 2, false), (base, 3, true)];
    let sizes = [&built[..], &[(base, 4, false)]].concat();
    let row = |label: &str, bytes, ratio| (label.to_owned(), bytes, Some(ratio));
    let first = [row("du", 1, 1.0), row("files", 2, 2.0)];
    assert_eq!(told(&sizes[..3], 1000), first);
    let built_anew = [row("du", 4, 1.0), row("files", 2, 0.5)];
    assert_eq!(told(&sizes, 999), built_anew);
}

#[test]
fn a_shared_store_is_described_by_its_layout_and_not_by_one_of_its_cells() {
    let mut compared = comparison(&["slow", "other"]);
    for cell in &mut compared.cells {
        for name in ["layout", "write"] {
            cell.settings.set(name, Value::Word("tree".to_owned()));
        }
        cell.instance = "blobs.files.layout-tree".to_owned();
    }
    let size = footprint("blobs.files.layout-tree", 1, false);
    let found = planned(&compared, |plan| plan.study.figures.clear(), [size]);
    assert_eq!(found.space[0].label, "files, layout=tree");
    assert_eq!(found.space[0].ratio, Some(1.0));
}

#[test]
fn a_store_that_syncs_less_often_than_its_settings_say_is_named() {
    for (doing, often, expected) in [
        (Operation::Overwrite, 20, None),
        (Operation::Overwrite, 10, Some("c/base: 1.00 sync calls")),
        (Operation::Read, 10, None),
    ] {
        let comparison = crate::support::doing(doing, comparison(&[]));
        // One block began in the middle of a commit; the median does not mind.
        let blocks = changed(ten(&[]), |block| {
            let first = block.cell == id("base") && block.round == 0;
            block.commits = 10;
            block.syncs = syncs(often - u64::from(first));
        });
        let found = analysis(&comparison, &blocks);
        let told = found.comparisons[0].cells[0].syncs_per_commit;
        assert_eq!(told.to_bits(), (often as f64 / 10.0).to_bits());
        let warning = found.warnings.first();
        assert_eq!(found.warnings.len(), usize::from(expected.is_some()));
        assert!(warning.is_none_or(|w| w.kind == WarningKind::TooFewSyncs));
        assert!(warning.is_none_or(|w| w.message.contains(expected.unwrap())));
    }
}

#[test]
fn a_setting_that_the_engine_did_not_take_is_named_once_and_only_a_cache_may_be_rounded() {
    let set = |journal: &str, cache: u64, limit: u64| {
        let mut comparison = comparison(&[]);
        for settings in comparison.cells.iter_mut().map(|cell| &mut cell.settings) {
            settings.set("journal", Value::Word(journal.to_owned()));
            for (name, number) in [("cache", cache), ("page_size", 4096), ("limit", limit)] {
                settings.set(name, Value::Number(number));
            }
        }
        comparison
    };
    for (cache, journal, taken, limit, named) in [
        (4_000_000, "wal", 4_000_000, 1_000, 0),
        (4_000_000, "delete", 4_000_000, 1_000, 1),
        (4_000_000, "wal", 3_850_000, 1_000, 0),
        (4_000_000, "wal", 2_000_000, 1_000, 1),
        // A page less, and more than that; and what is not the cache.
        (8_192, "wal", 4_096, 1_000, 0),
        (8_192, "wal", 4_095, 1_000, 1),
        (8_192, "wal", 8_192, 999, 1),
    ] {
        let effective = set(journal, taken, limit).cells.into_iter().map(|cell| {
            Record::Effective(EffectiveSettings {
                cell: cell.id,
                settings: cell.settings,
            })
        });
        let warnings = analysis_with(&set("wal", cache, 1_000), &[], effective).warnings;
        assert_eq!(warnings.len(), named, "{taken} {limit}: {warnings:?}");
        for warning in warnings {
            assert_eq!(warning.kind, WarningKind::SettingNotTaken);
            let word = warning.message.contains("journal=wal was asked for");
            assert_eq!(word, journal == "delete", "{}", warning.message);
        }
    }
}

#[test]
fn the_rule_of_the_header_holds_unless_another_is_given() {
    let all = records(&comparison(&["other"]), &ten(&[("other", 12_000.0)]));
    let mut wide = RULE;
    wide.equivalence = 0.5;
    for (rule, verdict) in [(None, Verdict::Slower), (Some(&wide), Verdict::Equivalent)] {
        let found = analyse(&all, rule).unwrap();
        assert_eq!(found.comparisons[0].contrasts[0].verdict, verdict);
    }
}
