//! Runs that are broken off and go on.
use crate::bench::{Bench, SMALL, WHOLE, entries, until};
use crate::damage::Chance;
use crate::ending::signal;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::time::Duration;
use stowplan_model::{BlockKind, Measurement, Record, Role, RunOutcome, read_result};

const STUDY: &str = "study small.toml --output out --rounds 10 --quiet";
/// That of the first comparison only, which says what it does.
const SHORT: &str = "study small.toml --output out --rounds 10 --only read";
const RESUME: &str = "resume out --quiet";

/// Lines of the result so far.
fn lines(bench: &Bench) -> usize {
    let text = std::fs::read(bench.path("out/result.jsonl")).unwrap_or_default();
    text.iter().filter(|byte| **byte == b'\n').count()
}

/// Runs the program and sends it a signal once its result has so many lines; returns its exit code,
/// which is none if it was killed, and what it said.
fn broken_off(bench: &Bench, line: &str, at: usize, name: &str) -> (Option<i32>, String) {
    let mut command = bench.command(line);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    until(|| (lines(bench) >= at || child.try_wait().unwrap().is_some()).then_some(()));
    if child.try_wait().unwrap().is_none() {
        signal(&child, name);
    }
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

/// What a run measured: of each cell, in how many rounds.
fn rounds(records: &[Record]) -> BTreeMap<String, usize> {
    let mut rounds: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
    for record in records {
        if let Record::Measurement(block) = record
            && block.block == BlockKind::Ratio
        {
            let cell = rounds.entry(block.cell.0.clone()).or_default();
            assert!(cell.insert(block.round), "measured twice: {block:?}");
        }
    }
    let counted = rounds
        .into_iter()
        .map(|(cell, rounds)| (cell, rounds.len()));
    counted.collect()
}

/// Cells whose values were checked, and stores that were weighed.
fn checked(records: &[Record]) -> BTreeSet<String> {
    let name = |record: &Record| match record {
        Record::Verification(found) => Some(format!("checked {}", found.cell)),
        Record::Footprint(found) => Some(format!("weighed {}", found.instance)),
        _ => None,
    };
    records.iter().filter_map(name).collect()
}

/// The result in `out` is complete, and as good as one without a break.
#[track_caller]
fn is_whole(bench: &Bench, whole: &[Record]) {
    let records = bench.records("out");
    assert!(
        matches!(records.last(), Some(Record::End(end)) if end.outcome == RunOutcome::Complete)
    );
    let (found, expected) = (rounds(&records), rounds(whole));
    assert!(found.keys().eq(expected.keys()), "{found:?}");
    for (cell, rounds) in &found {
        assert!(rounds >= &expected[cell], "{cell}: {found:?}");
    }
    let document = bench.run("report out --json").json();
    for comparison in document["comparisons"].as_array().unwrap() {
        let control = &comparison["control"]["estimate"];
        assert!(control.is_object(), "{comparison}");
        for contrast in comparison["contrasts"].as_array().unwrap() {
            let rounds = contrast["estimate"]["rounds"].as_u64();
            assert_eq!(rounds, Some(10), "looks stop where they would: {contrast}");
        }
    }
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );
    assert_eq!(entries(&bench.path("")), ["out", "small.toml"]);
}

/// The record of a run without a break.
fn whole() -> Vec<Record> {
    read_result(WHOLE.as_bytes()).0
}

fn whole_lines() -> Vec<&'static [u8]> {
    let lines = WHOLE.split_inclusive('\n');
    lines.map(str::as_bytes).collect()
}

#[test]
fn wherever_a_result_is_cut_it_goes_on_and_keeps_what_was_whole() {
    let mut chance = Chance::new();
    let (bench, whole) = (Bench::new(), whole());
    std::fs::create_dir(bench.path("out")).unwrap();
    let result = bench.path("out/result.jsonl");
    let bytes = WHOLE.as_bytes();
    let lines = whole_lines();
    let begun = lines[0].len() + lines[1].len();
    let mut cuts = vec![0, lines[0].len() - 1, begun - 3, begun - 1];
    cuts.extend((0..1).map(|_| begun + chance.below(bytes.len() - begun)));
    for cut in cuts {
        println!("cut at byte {cut} of {}", bytes.len());
        std::fs::write(&result, &bytes[..cut]).unwrap();
        let resumed = bench.run(RESUME);
        if cut < begun - 1 {
            resumed.refuses("run the study again");
            assert_eq!(std::fs::read(&result).unwrap(), &bytes[..cut]);
            continue;
        }
        resumed.exits(0);
        is_whole(&bench, &whole);
        let kept = bytes[..cut]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .unwrap();
        assert!(std::fs::read(&result).unwrap().starts_with(&bytes[..kept]));
        let records = bench.records("out");
        let lacks = |record: &Record| matches!(record, Record::Warning(w) if w.message.contains("before what it wrote was checked"));
        let all = checked(&records).is_superset(&checked(&whole));
        assert!(all || records.iter().any(lacks), "{:?}", checked(&records));
    }
}

/// Whether a line is the last ratio block of the control of the first comparison.
fn last_of_control(line: &[u8]) -> bool {
    let records = read_result(line).0;
    matches!(
        records.first(),
        Some(Record::Measurement(block))
            if block.block == BlockKind::Ratio && block.round == 9 && block.cell.0 == control()
    )
}

/// The control of the first comparison.
fn control() -> String {
    let records = whole();
    let plan = records.iter().find_map(|record| match record {
        Record::Run(header) => Some(&header.plan),
        _ => None,
    });
    let control = plan.unwrap().comparisons[0].with_role(Role::Control);
    control.unwrap().id.0.clone()
}

#[test]
fn a_run_broken_off_just_before_a_block_of_the_control_measures_it_in_another_round() {
    let (bench, whole) = (Bench::new(), whole());
    std::fs::create_dir(bench.path("out")).unwrap();
    let lines = whole_lines();
    let at = lines.iter().position(|line| last_of_control(line)).unwrap();
    let last_round = lines[at..].iter().take_while(|line| {
        let of_round = |block: &Measurement| {
            block.round == 9 && block.cell.0.split('/').next() == control().split('/').next()
        };
        matches!(read_result(line).0.first(), Some(Record::Measurement(block)) if of_round(block))
    });
    // As if its turn had been the last one.
    let end = at + last_round.count();
    let cut = [&lines[..at], &lines[at + 1..end]].concat().concat();
    std::fs::write(bench.path("out/result.jsonl"), &cut).unwrap();
    bench.run(RESUME).exits(0);
    is_whole(&bench, &whole);
}

#[test]
fn a_complete_result_that_lost_a_line_is_mended_and_otherwise_left_as_it_is() {
    let (bench, whole) = (Bench::new(), whole());
    std::fs::create_dir(bench.path("out")).unwrap();
    let result = bench.path("out/result.jsonl");
    std::fs::write(&result, WHOLE.as_bytes()).unwrap();
    let dry = format!("{RESUME} --dry-run");
    bench.run(&dry).exits(0).prints("nothing to go on with");
    assert_eq!(entries(&bench.path("out")), ["result.jsonl"]);

    let lines = whole_lines();
    let at = lines.iter().position(|line| last_of_control(line)).unwrap();
    let lost = [&lines[..at], &lines[at + 1..]].concat().concat();
    std::fs::write(&result, lost).unwrap();
    bench.run(RESUME).exits(0);
    is_whole(&bench, &whole);

    std::fs::write(&result, WHOLE.as_bytes()).unwrap();
    change_line(&bench, at, |block| block["round"] = u32::MAX.into());
    let resumed = bench.run(RESUME);
    resumed.exits(0).warns("has a round 4294967295");
    is_whole(&bench, &whole);
}

#[test]
fn an_interrupted_run_says_what_to_type() {
    let bench = Bench::new();
    let (code, said) = broken_off(&bench, SHORT, 12, "-INT");
    assert_eq!(code, Some(130), "{said}");
    let (_, typed) = said.split_once("to go on where it stands: ").unwrap();
    let typed = Command::new("sh")
        .args(["-c", typed.trim()])
        .current_dir(bench.path(""))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&typed.stderr);
    assert_eq!(typed.status.code(), Some(0), "{stderr}");
    assert!(stderr.contains("going on with small: "), "{stderr}");
    // Nothing is left, so it is shown again and not touched.
    let before = std::fs::read(bench.path("out/result.jsonl")).unwrap();
    let again = bench.run("resume out/result.jsonl");
    again
        .exits(0)
        .prints("A small study")
        .warns("this run is complete");
    let after = std::fs::read(bench.path("out/result.jsonl")).unwrap();
    assert_eq!(before, after);
}

#[test]
fn a_run_that_ran_out_of_time_names_what_it_did_not_answer_and_goes_on_with_more() {
    let bench = Bench::new();
    // Its two cells of the first comparison wait for more than the budget, on any machine.
    let slow = SMALL.replacen("files:layout=dir", "spin:base=300000", 1);
    bench.write("small.toml", &slow);
    let run = bench.run("study small.toml --output out --rounds 10 --budget 1s");
    run.exits(0).warns("resume out");
    let result = bench.text("out/result.jsonl");
    let named = "The time was over before these comparisons had an answer";
    assert!(result.contains(named), "{result}");
    bench.run(RESUME).exits(0);
    is_whole(&bench, &whole());
}

#[test]
fn a_finished_run_is_extended_by_more_rounds() {
    let bench = Bench::new();
    // Fewer than 10 rounds decide nothing.
    bench
        .run("study small.toml --output out --rounds 5 --quiet")
        .exits(0);
    for (rounds, told) in [("5", "up to 5 rounds already"), ("41", "ends at 40")] {
        let refused = bench.run(&format!("{RESUME} --rounds {rounds}"));
        refused.refuses(told);
    }
    bench.run(&format!("{RESUME} --rounds 10")).exits(0);
    is_whole(&bench, &whole());
    let again = bench.run("resume out");
    again.exits(0).warns("this run is complete");
}

#[test]
fn a_run_whose_last_round_outlasted_its_budget_was_not_cut_short() {
    let bench = Bench::new();
    let over = WHOLE.replace("\"outcome\":\"complete\"", "\"outcome\":\"budget\"");
    assert_ne!(over, *WHOLE);
    std::fs::create_dir(bench.path("out")).unwrap();
    bench.write("out/result.jsonl", &over);
    let before = lines(&bench);
    let mut command = bench.command("resume out --budget 1s");
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    until(|| (lines(&bench) > before || child.try_wait().unwrap().is_some()).then_some(()));
    // It has begun, and has nothing to measure; so its time must pass before it has looked.
    signal(&child, "-STOP");
    std::thread::sleep(Duration::from_millis(1100));
    signal(&child, "-CONT");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(!said.contains(" resume "), "{said}");
    is_whole(&bench, &whole());
}

#[test]
fn the_place_of_the_data_is_remembered_and_cleared() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    broken_off(&bench, &format!("{SHORT} --work disk"), 10, "-KILL");
    assert_eq!(entries(&bench.path("disk")).len(), 1);
    broken_off(&bench, RESUME, lines(&bench) + 5, "-KILL");
    let left = entries(&bench.path("disk"));
    assert_eq!(left.len(), 1, "it works where the data lay: {left:?}");
    bench.run(RESUME).exits(0);
    assert!(entries(&bench.path("disk")).is_empty());
    let rounds = rounds(&bench.records("out"));
    assert!(rounds.values().all(|of_cell| *of_cell >= 10), "{rounds:?}");
}

#[test]
fn what_no_run_made_is_left_alone() {
    let bench = Bench::new();
    broken_off(&bench, STUDY, 20, "-KILL");
    let place = bench.path("out/work");
    std::fs::remove_dir_all(&place).unwrap();
    std::fs::create_dir(&place).unwrap();
    let letter = place.join("letter");
    std::fs::write(&letter, "dear").unwrap();
    bench.run(RESUME).refuses("left alone");
    assert!(letter.exists());
}

#[test]
fn a_run_that_still_goes_on_is_not_joined() {
    let bench = Bench::new();
    let mut child = bench.silently(STUDY);
    until(|| (lines(&bench) >= 5).then_some(()));
    bench.run(RESUME).refuses("still goes on");
    signal(&child, "-INT");
    child.wait().unwrap();
}

#[test]
fn what_would_change_the_measurement_is_refused() {
    let bench = Bench::new();
    let options = "small.toml --seed=2 --scale=quick --only=read --precision=2% --equivalence=3% \
                   --cache-state=cold --durability=durable --output=other";
    for option in options.split_whitespace() {
        let run = bench.run(&["resume", "out", option]);
        let name = option.split('=').next().unwrap();
        run.refuses(name).refuses("'stowplan help resume'");
    }
    bench
        .run("resume nowhere")
        .refuses("there is no result.jsonl in it");
}

/// Changes a line of the result in `out`.
fn change_line(bench: &Bench, number: usize, change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let path = bench.path("out/result.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut value = serde_json::from_str(&lines[number]).unwrap();
    change(&mut value);
    lines[number] = value.to_string();
    let text = lines.join("\n") + "\n";
    std::fs::write(&path, &text).unwrap();
    text.into_bytes()
}

#[test]
fn a_run_of_another_machine_or_version_is_refused_and_left_as_it_is_and_another_kernel_is_told() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("out")).unwrap();
    let lines = whole_lines();
    let broken_off = lines[..lines.len() - 20].concat();
    std::fs::write(bench.path("out/result.jsonl"), broken_off).unwrap();
    let result = bench.path("out/result.jsonl");
    let before = std::fs::read(&result).unwrap();
    let refused = |number, change: fn(&mut Value), text: &str| {
        let changed = change_line(&bench, number, change);
        bench.run(RESUME).refuses(text);
        assert_eq!(std::fs::read(&result).unwrap(), changed);
        std::fs::write(&result, &before).unwrap();
    };
    refused(
        0,
        |header| header["environment"]["cpu"] = "Fast 9000".into(),
        "the processor was Fast 9000 and is",
    );
    refused(
        0,
        |header| header["environment"]["file_system"]["kind"] = "zfs".into(),
        "the file system was zfs",
    );
    refused(
        0,
        |header| header["environment"]["engines"]["SQLite"] = "2.8.17".into(),
        "the build of SQLite was 2.8.17",
    );
    refused(0, |header| header["schema"] = 99.into(), "it has schema 99");
    refused(
        1,
        |session| session["protocol"] = 1.into(),
        "version 1 of the worker protocol",
    );
    change_line(&bench, 0, |header| {
        header["environment"]["kernel"] = "1.0".into();
    });
    bench.run(RESUME).exits(0);
    let report = bench.run("report out --json");
    report.exits(0).prints("the kernel was 1.0 and is ");
}

#[test]
fn a_crossover_goes_on_with_the_sizes_that_it_added() {
    let bench = Bench::new();
    let sweep = "crossover spin:base=1000,per_kib=2048 spin:base=33000 --from 8KiB --to 32KiB \
                 --bytes 1MB --rounds 10 --output out --quiet";
    let mut chance = Chance::new();
    let mut at = 10;
    let mut line = sweep;
    for _ in 0..2 {
        at += chance.below(100);
        println!("broken off at line {at}");
        broken_off(&bench, line, at, "-KILL");
        at = lines(&bench);
        line = RESUME;
    }
    bench.run(RESUME).exits(0);
    let records = bench.records("out");
    let extensions = records.iter().filter_map(|record| match record {
        Record::Extension(more) => Some(more),
        _ => None,
    });
    let added: Vec<&str> = extensions
        .flat_map(|more| &more.comparisons)
        .map(|comparison| comparison.id.as_str())
        .collect();
    let distinct: BTreeSet<&&str> = added.iter().collect();
    assert_eq!(distinct.len(), added.len(), "added twice: {added:?}");
    let found = bench.run("report out --json").json();
    let found = &found["by_size"][0]["rows"][0]["finding"];
    let runs = found["runs"].as_array().unwrap();
    let won = |side: &'static str| {
        runs.iter()
            .filter(move |run| run["claimed"] == true && run["standing"]["wins"] == side)
    };
    let low = won("a").filter_map(|run| run["to"].as_u64()).max();
    let high = won("b").filter_map(|run| run["from"].as_u64()).min();
    // How narrow it is, and which size stays open, depends on the machine's noise, and not on breaks.
    assert!(!runs.is_empty(), "{found}");
    assert!(low.is_none_or(|low| low < 16_000), "{found}");
    assert!(high.is_none_or(|high| 16_000 < high), "{found}");
    assert!(!bench.path("out/work").exists());
}
