//! Block times, write amplification, conflicts, latencies by action, and the charts of them.

use crate::runs::{base, changed, recorded, warned};
use crate::support::{
    analysis, comparison, doing, footprint, histogram, id, near, outcome, planned, rounds, syncs,
    ten,
};
use proptest::prelude::*;
use stowplan_analysis::{CellSummary, ContrastOutcome, Finding, FindingGroup, ServerCost};
use stowplan_model::{
    Across, Action, BlockKind, Comparison, Durability, FigureSpec, IoCounters, Measure,
    Measurement, Mix, NETWORK_RECEIVED, NETWORK_SENT, Operation, PerTransaction, Plan,
    PublishedRow, SERVER_CPU,
};

/// Both cells of a ratio in its rounds; then the machine slows down fourfold, and one of them is done.
#[test]
fn times_are_of_the_rounds_that_the_ratios_rest_on_and_stand_in_that_ratio() {
    let both = [("base", 1e3), ("again", 1e3), ("done", 1.37e3)];
    let rest = [("base", 4e3), ("again", 4e3), ("open", 4.1e3)];
    let mut blocks = rounds(&[&both[..], &[("open", 1_010.0)]].concat(), 0..10);
    blocks.extend(rounds(&rest, 10..40));
    let found = outcome(&comparison(&["done", "open"]), &blocks);
    let [base, _, done, open] = &found.cells[..] else {
        panic!("{:?}", found.cells);
    };
    let rounds = [base, done, open].map(|cell| (cell.rounds, cell.time_rounds));
    assert_eq!(rounds, [(40, 10), (10, 10), (40, 10)]);
    let time = |cell: &CellSummary| cell.time_ns.unwrap().estimate;
    for cell in [done, open] {
        let wanted = |c: &&ContrastOutcome| c.cell == cell.cell.id;
        let ratio = found.contrasts.iter().find(wanted).unwrap().estimate;
        let ratio = ratio.unwrap().ratio;
        near(time(cell) / time(base) / ratio, 1.0, 0.02);
        near(cell.wall_ns / base.wall_ns / ratio, 1.0, 0.02);
    }
    near(time(base), 1_000.0, 20.0);
    assert_eq!(base.series.len(), 40, "charts of rounds have all");
}

#[test]
fn a_sample_is_extrapolated_to_all_operations_and_its_commit_is_not_theirs() {
    let mut sample = doing(Operation::Insert, comparison(&[]));
    sample.cells[0].workload.operations = Some(1000);
    let commit = |block: &mut Measurement| block.outside.last_commit_ns = 1_000_000;
    let found = base(&sample, commit);
    let whole = found.block_time.unwrap();
    assert_eq!((whole.operations, whole.extrapolated), (1000, false));
    let estimate = found.time_ns.unwrap().estimate * 1000.0;
    near(whole.estimate_ns / estimate, 1.0, 1e-9);
    let before_commit = whole.before_commit_ns.unwrap();
    near(before_commit / (whole.estimate_ns - 1e6), 1.0, 1e-9);
    sample.cells[0].workload.sample_of = Some(50_000);
    let time = base(&sample, commit).block_time.unwrap();
    assert_eq!((time.operations, time.extrapolated), (50_000, true));
    near(time.mean_ns / whole.mean_ns, 50.0, 50e-9);
    assert_eq!(time.before_commit_ns, None);
}

/// A mix of so many parts of each.
fn mix([read, insert, overwrite, delete]: [u16; 4]) -> Comparison {
    let mut mixed = doing(Operation::Mix, comparison(&[]));
    for cell in &mut mixed.cells {
        cell.workload.mix = Some(Mix {
            read,
            insert,
            overwrite,
            delete,
            ..Mix::default()
        });
    }
    mixed
}

#[test]
fn write_amplification_counts_what_bringing_to_rest_sends_and_shares_it_with_the_lead_in() {
    let doing = |operation| doing(operation, comparison(&[]));
    for (name, comparison, bytes, missing, expected) in [
        ("writes", doing(Operation::Overwrite), 1_000, 0, Some(4.0)),
        ("reads", doing(Operation::Read), 1_000, 0, None),
        ("no bytes", doing(Operation::Delete), 1_000, 0, None),
        ("all write", mix([0, 1, 11, 1]), 1_000, 0, Some(4.0)),
        ("one reads", mix([1, 1, 11, 1]), 1_000, 0, None),
        ("nothing", doing(Operation::Overwrite), 0, 0, None),
        ("unknown", doing(Operation::Overwrite), 1_000, 1, None),
    ] {
        let found = base(&comparison, |block| {
            block.bytes = bytes;
            block.io = Some(IoCounters {
                storage_write_bytes: 2000,
                ..IoCounters::default()
            });
            block.drain_write_bytes = (block.round >= missing).then_some(3_000);
            block.lead_in_operations = block.operations / 2;
        });
        assert_eq!(found.write_amplification, expected, "{name}");
    }
}

#[test]
fn what_an_operation_takes_of_a_server_is_the_median_of_rounds_and_unknown_without_one() {
    let names = [NETWORK_SENT, NETWORK_RECEIVED, SERVER_CPU].map(str::to_owned);
    let found = base(&comparison(&[]), |block| {
        // One round in which the server did something else besides.
        let often = block.operations * if block.round == 3 { 9 } else { 1 };
        let counted = [46, 1_040, 27_200].map(|each| each * often);
        block.counters = names.clone().into_iter().zip(counted).collect();
    });
    let told = found.server;
    let told = [told.sent_bytes, told.received_bytes, told.cpu_ns];
    assert_eq!(told, [Some(46.0), Some(1_040.0), Some(27_200.0)]);
    assert_eq!(base(&comparison(&[]), |_| ()).server, ServerCost::default());
}

#[test]
fn latencies_of_a_mix_are_told_apart_by_action_and_one_that_is_damaged_is_named() {
    let mut blocks = ten(&[]);
    (blocks[0].conflicts, blocks[2].conflicts) = (3, 4);
    let damaged = (Action::Overwrite, "???".to_owned());
    blocks.push(Measurement {
        block: BlockKind::Latency,
        latencies: [(Action::Read, histogram(1..=1000)), damaged].into(),
        ..blocks[0].clone()
    });
    let found = analysis(&comparison(&[]), &blocks);
    let cell = &found.comparisons[0].cells[0];
    assert_eq!(cell.latencies.keys().collect::<Vec<_>>(), [&Action::Read]);
    let read = &cell.latencies[&Action::Read];
    let told = (read.count, read.p50_ns, read.p95_ns);
    assert_eq!(told, (1000, Some(500), Some(950)));
    assert_eq!(cell.conflicts, 7);
    let problems = found.warnings.iter().filter(|w| w.message.contains("base"));
    assert_eq!(problems.count(), 1, "{:?}", found.warnings);
}

/// Two syncs are needed for each of 1,000 commits. Four commits at the same time may share them, and
/// transactions of a mix that only read need none: of four operations one writes.
#[test]
fn syncs_are_too_few_where_more_commits_would_share_them_than_write_at_the_same_time() {
    let writes = || doing(Operation::Overwrite, comparison(&[]));
    let each = PerTransaction::Operations;
    for (mut comparison, threads, parallel_writers, per_transaction, enough, too_few) in [
        (writes(), 4, true, each(1_000), 500, 499),
        (writes(), 4, false, each(1_000), 2_000, 1_999),
        (writes(), 1, false, each(1_000), 2_000, 1_999),
        (mix([3, 0, 1, 0]), 1, false, each(1), 500, 480),
        (mix([3, 0, 1, 0]), 1, false, each(4), 2_000, 1_900),
    ] {
        for cell in &mut comparison.cells {
            cell.workload.threads = threads;
            cell.workload.per_transaction = per_transaction;
            cell.capabilities.parallel_writers = parallel_writers;
        }
        for (number, warnings) in [(enough, 0), (too_few, 1)] {
            let blocks = changed(ten(&[]), |block| {
                (block.commits, block.syncs) = (1000, syncs(number));
            });
            let found = warned(&comparison, &blocks, "sync calls");
            assert_eq!(found.len(), warnings, "{number}: {found:?}");
        }
    }
}

/// The chart that a study asks for, of the comparison and of one that was left out.
fn charted(of: &Comparison, blocks: Vec<Measurement>, chart: FigureSpec) -> Option<Finding> {
    let change = |plan: &mut Plan| plan.study.figures.push(chart);
    let found = planned(of, change, recorded(blocks));
    found.figures.into_iter().find(|found| found.id == "ours")
}

fn bars(measure: Measure) -> FigureSpec {
    FigureSpec {
        id: "ours".to_owned(),
        title: "Ours".to_owned(),
        comparisons: vec!["c".to_owned(), "skipped".to_owned()],
        measure,
        ..FigureSpec::default()
    }
}

fn lines(x: Across) -> FigureSpec {
    FigureSpec {
        x: Some(x),
        ..bars(Measure::Time)
    }
}

#[test]
fn bars_show_what_is_asked_for_in_its_unit_and_published_figures_in_seconds() {
    let blocks = changed(ten(&[]), |block| block.peak_memory_bytes = Some(5_000_000));
    let shown = |spec: FigureSpec| charted(&comparison(&[]), blocks.clone(), spec);
    let first = |chart: Finding| chart.groups[0].rows[0].quantity.unwrap();
    let value = |measure| first(shown(bars(measure)).unwrap());
    let (time, rate) = (value(Measure::Time), value(Measure::Throughput));
    near(rate.value * time.value / 1e9, 1.0, 1e-9);
    let (low, high) = rate.ends.unwrap();
    assert!(low <= rate.value && rate.value <= high);
    let memory = value(Measure::PeakMemory).value;
    assert_eq!(memory.to_bits(), 5e6_f64.to_bits());
    let published = PublishedRow {
        comparison: Some("c".to_owned()),
        label: Some("other".to_owned()),
        seconds: Some(3.0),
        error_seconds: Some(0.5),
        ..PublishedRow::default()
    };
    let found = shown(FigureSpec {
        published: vec![published],
        ..bars(Measure::BlockTime)
    });
    let published = found.unwrap().groups[0].rows[1].quantity.unwrap();
    assert_eq!((published.value, published.error), (3e9, Some(0.5e9)));
    // Nothing measures a footprint here.
    assert_eq!(shown(bars(Measure::Footprint)), None);
}

#[test]
fn the_footprint_of_a_cell_is_that_of_its_own_store() {
    let sizes = [("store-of-slow", 7_000), ("store-of-base", 5_000)];
    let sizes = sizes.map(|(instance, bytes)| footprint(instance, bytes, false));
    let blocks = recorded(ten(&[("slow", 20_000.0)]));
    let change = |plan: &mut Plan| plan.study.figures = vec![bars(Measure::Footprint)];
    let found = planned(&comparison(&["slow"]), change, blocks.chain(sizes));
    let bars = found.figures[0].groups[0].rows.iter();
    let values: Vec<f64> = bars.map(|bar| bar.quantity.unwrap().value).collect();
    assert_eq!(values, [5_000.0, 7_000.0]);
}

/// Lines as their titles and places, those of weaker promises first.
fn drawn(comparison: &Comparison, times: &[(&str, f64)], across: Across) -> Vec<String> {
    let found = charted(comparison, ten(times), lines(across)).unwrap();
    let lines = found.groups.iter().map(|line| {
        let places = line.rows.iter().map(|row| row.x.unwrap_or_default());
        let places: Vec<u64> = places.collect();
        format!("{} {places:?}", line.title)
    });
    lines.collect()
}

#[test]
fn cells_that_differ_in_threads_alone_are_one_line_by_rising_threads() {
    let mut all = comparison(&["four", "two", "other"]);
    for (index, threads) in [(0, 1), (2, 4), (3, 2)] {
        let cell = &mut all.cells[index];
        cell.label = format!("A, {threads} threads");
        cell.workload.threads = threads;
        // What it takes to time an operation is not what is timed.
        cell.workload.operations = Some(1_000 * threads);
        cell.workload.sample_of = (threads == 4).then_some(50_000);
    }
    all.cells[4].store = "sqlite".parse().unwrap();
    let times = [("four", 3_000.0), ("two", 6_000.0), ("other", 100.0)];
    let drawn = drawn(&all, &times, Across::Threads);
    assert_eq!(drawn, ["A [1, 2, 4]", "the other [1]"]);
}

#[test]
fn operations_per_transaction_of_a_block_that_is_one_are_those_of_the_block() {
    let mut batches = doing(Operation::Overwrite, comparison(&["one"]));
    batches.cells[2].workload.per_transaction = PerTransaction::Operations(1);
    let drawn = drawn(&batches, &[("one", 30_000.0)], Across::PerTransaction);
    assert_eq!(drawn, ["the [1, 1000]"]);
}

proptest! {
    #[test]
    fn each_measured_cell_is_in_a_chart_exactly_once(
        threads in proptest::collection::vec(1u32..4, 3),
        classes in proptest::collection::vec(0usize..4, 3),
    ) {
        let mut all = doing(Operation::Overwrite, comparison(&["x", "y", "z"]));
        for ((cell, threads), class) in all.cells[2..].iter_mut().zip(&threads).zip(&classes) {
            cell.workload.threads = *threads;
            cell.capabilities.durability.class = Durability::ALL[*class];
        }
        for chart in [bars(Measure::Time), lines(Across::Threads)] {
            let blocks = ten(&[("x", 100.0), ("y", 200.0), ("z", 300.0)]);
            let found = charted(&all, blocks, chart).unwrap();
            let mut shown: Vec<_> = found.rows().filter_map(|row| row.cell.clone()).collect();
            shown.sort();
            prop_assert_eq!(&shown[..], &["base", "x", "y", "z"].map(id)[..]);
            // A second cell at one place begins another line.
            let rising = |line: &FindingGroup| {
                let places: Vec<_> = line.rows.iter().filter_map(|row| row.x).collect();
                places.windows(2).all(|pair| pair[0] < pair[1])
            };
            prop_assert!(found.groups.iter().all(rising), "{:?}", found.groups);
        }
    }
}

#[test]
fn what_a_store_cannot_do_is_listed_if_the_chart_asks_for_it() {
    let mut some = comparison(&["slow"]);
    // The study calls the cell `gone` that.
    let why = "no such workload".to_owned();
    some.not_applicable.insert("cannot do it".to_owned(), why);
    for (cells, listed) in [(&[][..], 1), (&["base", "gone"], 1), (&["base"], 0)] {
        let chart = FigureSpec {
            cells: cells.iter().map(|key: &&str| (*key).to_owned()).collect(),
            ..bars(Measure::Time)
        };
        let found = charted(&some, ten(&[("slow", 100.0)]), chart).unwrap();
        assert_eq!(found.groups[0].not_applicable.len(), listed, "{cells:?}");
    }
}
