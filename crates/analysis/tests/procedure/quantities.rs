//! Block times, write amplification, conflicts, latencies by action, and the charts of them.

use crate::support::{
    analysis, comparison, doing, footprint, histogram, id, outcome, planned, rounds,
    syncs as fdatasyncs, ten,
};
use proptest::prelude::*;
use stowplan_analysis::{Analysis, CellSummary, ContrastOutcome, Finding, FindingRow, ServerCost};
use stowplan_model::{
    Across, Action, BlockKind, Comparison, Durability, FigureSpec, IoCounters, Measure,
    Measurement, Mix, NETWORK_RECEIVED, NETWORK_SENT, Operation, PerTransaction, Plan,
    PublishedRow, Record, Role, SERVER_CPU, Value, WarningKind,
};

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs())
}

#[test]
fn a_block_time_is_the_mean_of_the_rounds_with_its_error_beside_our_estimate() {
    let blocks = ten(&[]);
    let base: Vec<f64> = blocks
        .iter()
        .filter(|block| block.cell == id("base"))
        .map(|block| block.wall_ns as f64)
        .collect();
    let mean = base.iter().sum::<f64>() / 10.0;
    let squares: f64 = base.iter().map(|time| (time - mean).powi(2)).sum();
    let found = outcome(&comparison(&[]), &blocks);
    let time = found.cells[0].block_time.unwrap();
    assert_eq!((time.operations, time.extrapolated), (1000, false));
    assert!(close(time.mean_ns, mean));
    assert!(close(
        time.standard_error_ns.unwrap(),
        (squares / 90.0).sqrt()
    ));
    assert!(close(
        time.estimate_ns,
        found.cells[0].time_ns.unwrap().estimate * 1000.0
    ));
}

/// Both cells of a ratio in its rounds; then the machine slows down fourfold, and one of them is done.
#[test]
fn times_are_of_the_rounds_that_the_ratios_rest_on_and_stand_in_that_ratio() {
    let both = [("base", 1_000.0), ("again", 1_000.0), ("done", 1_370.0)];
    let rest = [("base", 4_000.0), ("again", 4_000.0), ("open", 4_100.0)];
    let open = [&both[..], &[("open", 1_010.0)]].concat();
    let mut blocks = rounds(&open, 0..10);
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
        let of_times = time(cell) / time(base);
        assert!((of_times / ratio - 1.0).abs() < 0.02, "{of_times} {ratio}");
        assert!((cell.wall_ns / base.wall_ns / ratio - 1.0).abs() < 0.02);
    }
    assert!((time(base) - 1_000.0).abs() < 20.0, "{}", time(base));
    assert_eq!(base.series.len(), 40, "charts of rounds have all");
}

#[test]
fn a_sample_is_extrapolated_to_all_operations_and_its_commit_is_not_theirs() {
    let mut sample = doing(Operation::Insert, comparison(&[]));
    sample.cells[0].workload.operations = Some(1000);
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.outside.last_commit_ns = 1_000_000;
    }
    let whole = outcome(&sample, &blocks).cells[0].block_time.unwrap();
    assert!(close(
        whole.before_commit_ns.unwrap(),
        whole.estimate_ns - 1e6
    ));
    sample.cells[0].workload.sample_of = Some(50_000);
    let time = outcome(&sample, &blocks).cells[0].block_time.unwrap();
    assert_eq!((time.operations, time.extrapolated), (50_000, true));
    assert!(close(time.mean_ns, whole.mean_ns * 50.0));
    assert_eq!(time.before_commit_ns, None);
}

#[test]
fn write_amplification_counts_what_bringing_to_rest_sends_and_shares_it_with_the_lead_in() {
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.bytes = 1000;
        block.io = Some(IoCounters {
            storage_write_bytes: 2000,
            ..IoCounters::default()
        });
        block.drain_write_bytes = Some(3000);
        block.lead_in_operations = block.operations / 2;
    }
    let of = |comparison: &Comparison, blocks: &[Measurement]| {
        outcome(comparison, blocks).cells[0].write_amplification
    };
    let writes = doing(Operation::Overwrite, comparison(&[]));
    assert_eq!(of(&writes, &blocks), Some(4.0));
    assert_eq!(of(&comparison(&[]), &blocks), None, "reads");
    assert_eq!(
        of(&doing(Operation::Delete, comparison(&[])), &blocks),
        None,
        "no bytes"
    );
    let mut mix = doing(Operation::Mix, comparison(&[]));
    let mut proportions = Mix {
        insert: 1,
        overwrite: 11,
        delete: 1,
        ..Mix::default()
    };
    mix.cells[0].workload.mix = Some(proportions);
    assert_eq!(of(&mix, &blocks), Some(4.0), "a mix of writes");
    proportions.read = 1;
    mix.cells[0].workload.mix = Some(proportions);
    assert_eq!(of(&mix, &blocks), None, "a mix with reads");
    let empty = blocks.iter().cloned();
    let empty: Vec<Measurement> = empty
        .map(|block| Measurement { bytes: 0, ..block })
        .collect();
    assert_eq!(of(&writes, &empty), None, "nothing was written");
    blocks[0].drain_write_bytes = None;
    assert_eq!(of(&writes, &blocks), None, "a counter is missing");
}

#[test]
fn what_an_operation_takes_of_a_server_is_the_median_of_rounds_and_unknown_without_one() {
    let mut blocks = ten(&[]);
    let counted = [
        (NETWORK_SENT, 46),
        (NETWORK_RECEIVED, 1_040),
        (SERVER_CPU, 27_200),
    ];
    for block in blocks.iter_mut().filter(|block| block.cell == id("base")) {
        // One round in which the server did something else besides.
        let often = if block.round == 3 { 9 } else { 1 };
        let counted =
            counted.map(|(name, each)| (name.to_owned(), each * often * block.operations));
        block.counters = counted.into();
    }
    let found = outcome(&comparison(&[]), &blocks);
    let server = found.cells[0].server;
    let told = [server.sent_bytes, server.received_bytes, server.cpu_ns];
    assert_eq!(told, [Some(46.0), Some(1_040.0), Some(27_200.0)]);
    assert_eq!(found.cells[1].server, ServerCost::default());
}

#[test]
fn latencies_of_a_mix_are_told_apart_by_action_and_one_that_is_damaged_is_named() {
    let mut blocks = ten(&[]);
    blocks[0].conflicts = 3;
    blocks[2].conflicts = 4;
    let mut latency = Measurement {
        block: BlockKind::Latency,
        ..blocks[0].clone()
    };
    latency.latencies.insert(Action::Read, histogram(1..=1000));
    latency
        .latencies
        .insert(Action::Overwrite, "???".to_owned());
    blocks.push(latency);
    let found = analysis(&comparison(&[]), &blocks);
    let cell = &found.comparisons[0].cells[0];
    assert_eq!(cell.latencies.keys().collect::<Vec<_>>(), [&Action::Read]);
    let read = &cell.latencies[&Action::Read];
    assert_eq!(
        (read.count, read.p50_ns, read.p95_ns),
        (1000, Some(500), Some(950))
    );
    assert_eq!(cell.conflicts, 7);
    let problems = found.warnings.iter().filter(|w| w.message.contains("base"));
    assert_eq!(problems.count(), 1, "{:?}", found.warnings);
}

fn with_syncs(syncs: u64) -> Vec<Measurement> {
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.commits = 1000;
        block.syncs = fdatasyncs(syncs);
    }
    blocks
}

fn warns_of_syncs(comparison: &Comparison, syncs: u64) -> bool {
    let found = analysis(comparison, &with_syncs(syncs));
    let mut warnings = found.warnings.iter();
    warnings.any(|warning| warning.kind == WarningKind::TooFewSyncs)
}

#[test]
fn threads_that_write_at_the_same_time_may_share_syncs_but_not_more_commits_than_they_are() {
    let mut writes = doing(Operation::Overwrite, comparison(&[]));
    for cell in &mut writes.cells {
        cell.workload.threads = 4;
        cell.capabilities.parallel_writers = true;
    }
    // Two syncs are needed for each of 1,000 commits, and four commits may share them.
    assert!(!warns_of_syncs(&writes, 500));
    assert!(warns_of_syncs(&writes, 499));
    for cell in &mut writes.cells {
        cell.capabilities.parallel_writers = false;
    }
    assert!(warns_of_syncs(&writes, 1999));
    writes.cells[0].workload.threads = 1;
    assert!(warns_of_syncs(&writes, 1999));
}

#[test]
fn transactions_of_a_mix_that_only_read_need_no_sync() {
    let mut mix = doing(Operation::Mix, comparison(&[]));
    for cell in &mut mix.cells {
        cell.workload.mix = Some(Mix {
            read: 3,
            overwrite: 1,
            ..Mix::default()
        });
        cell.workload.per_transaction = PerTransaction::Operations(1);
    }
    assert!(!warns_of_syncs(&mix, 500));
    assert!(warns_of_syncs(&mix, 480));
    // Of four operations one writes, so that each transaction does.
    for cell in &mut mix.cells {
        cell.workload.per_transaction = PerTransaction::Operations(4);
    }
    assert!(warns_of_syncs(&mix, 1900));
    assert!(!warns_of_syncs(&mix, 2000));
}

#[test]
fn cells_with_other_numbers_of_threads_are_no_rivals() {
    let mut both = comparison(&["fast"]);
    let blocks = ten(&[("fast", 1_000.0)]);
    let fastest = |comparison: &Comparison| outcome(comparison, &blocks).fastest;
    assert_eq!(fastest(&both), Some(id("fast")));
    both.cells[2].workload.threads = 8;
    assert_eq!(fastest(&both), None);
}

fn charted(
    comparison: &Comparison,
    blocks: &[Measurement],
    bars: Option<FigureSpec>,
    lines: Option<FigureSpec>,
) -> Analysis {
    let change = |plan: &mut Plan| {
        plan.study.figures.extend(bars);
        plan.study.figures.extend(lines);
    };
    planned(
        comparison,
        change,
        blocks.iter().cloned().map(Record::Measurement),
    )
}

fn bars(measure: Measure) -> FigureSpec {
    FigureSpec {
        id: "bars".to_owned(),
        title: "Bars".to_owned(),
        comparisons: vec!["c".to_owned(), "skipped".to_owned()],
        measure,
        ..FigureSpec::default()
    }
}

/// The rows of the bars of the first comparison.
fn ours(found: &Analysis) -> &[FindingRow] {
    let bars = found.figures.iter().find(|found| found.id == "bars");
    &bars.unwrap().groups[0].rows
}

fn plane(found: &Analysis) -> &Finding {
    let mut figures = found.figures.iter();
    figures.find(|found| found.x.is_some()).unwrap()
}

#[test]
fn bars_stand_by_what_they_promise_weakest_first_and_floors_apart() {
    let mut writes = doing(Operation::Overwrite, comparison(&["weak", "late", "floor"]));
    writes.cells[2].capabilities.durability.class = Durability::None;
    writes.cells[3].capabilities.durability.delayed = true;
    writes.cells[4].role = Role::Floor;
    let blocks = ten(&[("weak", 100.0), ("late", 200.0), ("floor", 50.0)]);
    let found = charted(&writes, &blocks, Some(bars(Measure::Time)), None);
    let rows = ours(&found).chunk_by(|a, b| a.durability == b.durability);
    let classes = rows.map(|class| {
        let claim = class[0].durability;
        let labels = class.iter().map(|row| row.label.as_str());
        (
            claim.map_or("-".to_owned(), |claim| claim.to_string()),
            labels.collect::<Vec<&str>>(),
        )
    });
    let classes: Vec<(String, Vec<&str>)> = classes.collect();
    let expected = [
        ("none, atomic".to_owned(), vec!["the weak"]),
        ("durable, atomic, delayed".to_owned(), vec!["the late"]),
        ("durable, atomic".to_owned(), vec!["the base"]),
        ("-".to_owned(), vec!["the floor"]),
    ];
    assert_eq!(classes, expected);
    let reads = charted(&comparison(&[]), &ten(&[]), Some(bars(Measure::Time)), None);
    assert_eq!(ours(&reads)[0].durability, None);
}

#[test]
fn bars_show_what_is_asked_for_in_its_unit_and_published_figures_in_seconds() {
    let mut measured = comparison(&[]);
    measured.cells[0].published_seconds = Some(2.0);
    let mut blocks = ten(&[]);
    for block in &mut blocks {
        block.peak_memory_bytes = Some(5_000_000);
    }
    let value = |measure: Measure| {
        let found = charted(&measured, &blocks, Some(bars(measure)), None);
        ours(&found)[0].quantity.unwrap()
    };
    let time = value(Measure::Time);
    let rate = value(Measure::Throughput);
    assert!(close(rate.value * time.value, 1e9));
    let (low, high) = rate.ends.unwrap();
    assert!(low <= rate.value && rate.value <= high);
    assert_eq!(
        value(Measure::PeakMemory).value.to_bits(),
        5e6_f64.to_bits()
    );
    let mut spec = bars(Measure::BlockTime);
    spec.published = vec![PublishedRow {
        comparison: Some("c".to_owned()),
        label: Some("other".to_owned()),
        seconds: Some(3.0),
        error_seconds: Some(0.5),
        ..PublishedRow::default()
    }];
    let found = charted(&measured, &blocks, Some(spec), None);
    let published = ours(&found).iter().filter(|row| row.cell.is_none());
    let figures: Vec<_> = published
        .map(|row| (row.label.as_str(), row.quantity.unwrap()))
        .map(|(label, quantity)| (label, quantity.value, quantity.error))
        .collect();
    let expected = [("the base", 2e9, None), ("other", 3e9, Some(0.5e9))];
    assert_eq!(figures, expected);
    // Nothing measures a footprint here.
    let found = charted(&measured, &blocks, Some(bars(Measure::Footprint)), None);
    assert!(found.figures.iter().all(|figure| figure.id != "bars"));
}

#[test]
fn a_published_error_is_that_of_the_cell_in_its_own_comparison() {
    let mut measured = comparison(&[]);
    measured.cells[0].published_seconds = Some(2.0);
    let change = |plan: &mut Plan| {
        let study = &mut plan.study;
        let mut other = study.comparisons[0].clone();
        other.id = "d".to_owned();
        study.comparisons.insert(0, other);
        for (comparison, error) in study.comparisons.iter_mut().zip([0.7, 0.1]) {
            let base = comparison.cells.get_mut("base").unwrap();
            base.published_error_seconds = Some(error);
        }
        study.figures.push(bars(Measure::BlockTime));
    };
    let blocks = ten(&[]).into_iter().map(Record::Measurement);
    let found = planned(&measured, change, blocks);
    let published = ours(&found).iter().find(|row| row.cell.is_none());
    let error = published.unwrap().quantity.unwrap().error.unwrap();
    assert!(close(error, 0.1e9), "{published:?}");
}

#[test]
fn the_footprint_of_a_cell_is_that_of_its_own_store() {
    let measured = comparison(&["slow"]);
    let sizes = [("store-of-slow", 7_000), ("store-of-base", 5_000)];
    let sizes = sizes.map(|(instance, bytes)| footprint(instance, bytes, false));
    let blocks = ten(&[("slow", 20_000.0)])
        .into_iter()
        .map(Record::Measurement);
    let change = |plan: &mut Plan| plan.study.figures.push(bars(Measure::Footprint));
    let found = planned(&measured, change, blocks.chain(sizes));
    let bars = ours(&found).iter();
    let values: Vec<f64> = bars.map(|bar| bar.quantity.unwrap().value).collect();
    assert_eq!(values, [5_000.0, 7_000.0]);
}

fn lines(x: Across) -> FigureSpec {
    FigureSpec {
        id: "lines".to_owned(),
        title: "Lines".to_owned(),
        comparisons: vec!["c".to_owned()],
        x: Some(x),
        ..FigureSpec::default()
    }
}

/// Lines as their labels and places.
fn drawn(found: &Analysis) -> Vec<(String, Vec<u64>)> {
    let lines = plane(found).groups.iter();
    let lines = lines.map(|line| {
        let places = line.rows.iter().filter_map(|row| row.x);
        (line.title.clone(), places.collect::<Vec<u64>>())
    });
    lines.filter(|(_, places)| !places.is_empty()).collect()
}

#[test]
fn cells_that_differ_in_threads_alone_are_one_line_by_rising_threads() {
    let mut threads = comparison(&["four", "two", "other"]);
    let blocks = ten(&[("four", 3_000.0), ("two", 6_000.0), ("other", 100.0)]);
    for (index, number, label) in [
        (0, 1, "A, 1 thread"),
        (2, 4, "A, 4 threads"),
        (3, 2, "A, 2 threads"),
    ] {
        let workload = &mut threads.cells[index].workload;
        workload.threads = number;
        // What it takes to time an operation is not what is timed.
        workload.operations = Some(1_000 * number);
        workload.sample_of = (number == 4).then_some(50_000);
        threads.cells[index].label = label.to_owned();
    }
    threads.cells[4].store = "sqlite".parse().unwrap();
    let found = charted(&threads, &blocks, None, Some(lines(Across::Threads)));
    let expected = [
        ("A".to_owned(), vec![1, 2, 4]),
        ("the other".to_owned(), vec![1]),
    ];
    assert_eq!(drawn(&found), expected);
}

#[test]
fn two_cells_at_one_place_are_two_lines_and_other_promises_another_plane() {
    let mut writes = doing(Operation::Overwrite, comparison(&["twin", "weak"]));
    writes.cells[3].capabilities.durability.class = Durability::None;
    let blocks = ten(&[("twin", 3_000.0), ("weak", 100.0)]);
    let found = charted(&writes, &blocks, None, Some(lines(Across::Threads)));
    let groups = plane(&found).groups.as_slice();
    let promises = groups.chunk_by(|a, b| a.rows[0].durability == b.rows[0].durability);
    let planes: Vec<usize> = promises.map(<[_]>::len).collect();
    assert_eq!(planes, [1, 2], "weakest first");
}

#[test]
fn a_cell_without_the_setting_across_is_a_level() {
    let mut window = comparison(&["large", "plain"]);
    for (index, rows) in [(0, 100), (2, 10_000)] {
        window.cells[index]
            .settings
            .set("window_rows", Value::Number(rows));
        let spec = format!("sqlite-buffered:window_rows={rows}");
        window.cells[index].store = spec.parse().unwrap();
        window.cells[index].label = format!("by {rows} rows");
    }
    let blocks = ten(&[("large", 3_000.0), ("plain", 100.0)]);
    let across = Across::Setting("window_rows".to_owned());
    let found = charted(&window, &blocks, None, Some(lines(across)));
    assert_eq!(drawn(&found), [("by".to_owned(), vec![100, 10_000])]);
    let levels = plane(&found).rows().filter(|row| row.x.is_none());
    let levels: Vec<&str> = levels.map(|row| row.label.as_str()).collect();
    assert_eq!(levels, ["the plain"]);
}

#[test]
fn operations_per_transaction_of_a_block_that_is_one_are_those_of_the_block() {
    let mut batches = doing(Operation::Overwrite, comparison(&["one"]));
    batches.cells[2].workload.per_transaction = PerTransaction::Operations(1);
    let blocks = ten(&[("one", 30_000.0)]);
    let found = charted(&batches, &blocks, None, Some(lines(Across::PerTransaction)));
    assert_eq!(drawn(&found), [("the".to_owned(), vec![1, 1000])]);
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
        let blocks = ten(&[("x", 100.0), ("y", 200.0), ("z", 300.0)]);
        let found = charted(&all, &blocks, Some(bars(Measure::Time)), Some(lines(Across::Threads)));
        let expected = [id("base"), id("x"), id("y"), id("z")];
        let mut bars: Vec<_> = ours(&found).iter().filter_map(|row| row.cell.clone()).collect();
        let mut points: Vec<_> = plane(&found).rows().filter_map(|row| row.cell.clone()).collect();
        bars.sort();
        points.sort();
        prop_assert_eq!(&bars[..], &expected[..]);
        prop_assert_eq!(&points[..], &expected[..]);
    }
}

#[test]
fn what_a_store_cannot_do_is_listed_if_the_chart_asks_for_it() {
    let mut some = comparison(&["slow"]);
    some.not_applicable
        .insert("cannot do it".to_owned(), "no such workload".to_owned());
    let listed = |cells: &[&str]| {
        let spec = FigureSpec {
            cells: cells.iter().map(|key| (*key).to_owned()).collect(),
            ..bars(Measure::Time)
        };
        let found = charted(&some, &ten(&[("slow", 100.0)]), Some(spec), None);
        let bars = found.figures.iter().find(|found| found.id == "bars");
        bars.unwrap().groups[0].not_applicable.len()
    };
    // The study calls the cell `gone` that.
    assert_eq!(
        [listed(&[]), listed(&["base", "gone"]), listed(&["base"])],
        [1, 1, 0]
    );
}
