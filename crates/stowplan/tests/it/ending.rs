//! Runs that end early: what was measured stays, and nothing else does.
use crate::bench::{Bench, entries};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use stowplan_model::{Record, RunOutcome};

fn started_with(bench: &Bench, options: &[&str]) -> Child {
    started_by(Path::new(env!("CARGO_BIN_EXE_stowplan")), bench, options)
}

/// Starts the program, and hears nothing of it.
fn silently(program: &Path, bench: &Bench, words: &[&str]) -> Child {
    let mut command = Command::new(program);
    command.args(words).current_dir(bench.path("."));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Starts the small study and waits until its result holds some measurements.
#[expect(clippy::zombie_processes, reason = "callers wait for it")]
fn started_by(program: &Path, bench: &Bench, options: &[&str]) -> Child {
    let words = [&["study", "small.toml", "--output", "out"], options].concat();
    let child = silently(program, bench, &words);
    let result = bench.path("out").join("result.jsonl");
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let text = std::fs::read_to_string(&result).unwrap_or_default();
        if text.matches("\"type\":\"measurement\"").count() >= 5 {
            return child;
        }
        assert!(Instant::now() < deadline, "no measurement within a minute");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn started(bench: &Bench) -> Child {
    started_with(bench, &[])
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .arg(name)
        .arg(child.id().to_string())
        .status()
        .unwrap();
    assert!(status.success());
}

/// Command lines of living processes that mention a directory.
pub(crate) fn processes_in(directory: &Path) -> Vec<String> {
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path().join("cwd")).ok())
        .filter(|cwd| cwd == directory)
        .map(|cwd| cwd.display().to_string())
        .collect()
}

#[test]
fn ctrl_c_saves_what_was_measured_and_removes_the_work_directory() {
    let bench = Bench::new();
    let mut child = started(&bench);
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let records = bench.records("out");
    assert!(
        matches!(records.last(), Some(Record::End(end)) if end.outcome == RunOutcome::Interrupted)
    );
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );
}

#[test]
fn a_run_whose_program_is_replaced_meanwhile_goes_on_with_the_one_that_it_is() {
    let bench = Bench::new();
    let program = bench.path("stowplan");
    std::fs::copy(env!("CARGO_BIN_EXE_stowplan"), &program).unwrap();
    let mut child = started_by(&program, &bench, &["--rounds", "10"]);
    std::fs::write(bench.path("other"), "#!/bin/sh\nexit 9\n").unwrap();
    std::fs::rename(bench.path("other"), &program).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let records = bench.records("out");
    assert!(
        matches!(records.last(), Some(Record::End(end)) if end.outcome == RunOutcome::Complete)
    );
}

#[test]
fn a_signal_that_comes_twice_at_once_ends_the_run_in_order() {
    let bench = Bench::new();
    let mut child = started(&bench);
    let id = child.id();
    // As 'timeout' does: to the process, and to all in its group.
    let twice = format!("kill -INT {id}; kill -INT {id}");
    assert!(
        Command::new("sh")
            .args(["-c", &twice])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let records = bench.records("out");
    assert!(
        matches!(records.last(), Some(Record::End(end)) if end.outcome == RunOutcome::Interrupted)
    );
    assert!(!bench.path("out/work").exists());
}

#[test]
fn a_copy_of_a_result_does_not_remove_what_a_run_works_in() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    let mut child = started_with(&bench, &["--work", "disk"]);
    signal(&child, "-KILL");
    child.wait().unwrap();
    std::fs::create_dir(bench.path("copy")).unwrap();
    let result = |directory| bench.path(directory).join("result.jsonl");
    std::fs::copy(result("out"), result("copy")).unwrap();
    let [work] = &entries(&bench.path("disk"))[..] else {
        panic!("one work directory");
    };
    let marker = bench.path("disk").join(work).join(".stowplan-work");
    let held = std::fs::File::open(&marker).unwrap();
    held.lock().unwrap();
    bench
        .run(&["resume", "copy"])
        .refuses("is the work directory of a run that still goes on");
    assert!(marker.exists());
    drop(held);
    let resumed = bench.run(&["resume", "copy", "--budget", "1s"]);
    let said = resumed.exits(0).stderr();
    assert!(
        said.contains(&format!("{work}, where this run worked")),
        "{said}"
    );
    assert!(entries(&bench.path("disk")).is_empty());
}

#[test]
fn kill_9_loses_at_most_the_measurement_in_flight_and_leaves_no_process() {
    let bench = Bench::new();
    let mut child = started(&bench);
    signal(&child, "-KILL");
    child.wait().unwrap();
    let measured = |records: &[Record]| {
        records
            .iter()
            .filter(|record| matches!(record, Record::Measurement(_)))
            .count()
    };
    assert!(measured(&bench.records("out")) >= 5);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !processes_in(&bench.path("")).is_empty() {
        assert!(Instant::now() < deadline, "a worker outlived its parent");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(
        entries(&bench.path("")),
        ["out", "small.toml"],
        "nothing outside the output"
    );
    bench.run(&["report", "out"]).exits(0);
}

/// A driver that hangs in its first block, once it has told its process.
const HANGS: &str = r#"
echo '{"hello":{"protocol":"stowplan-driver","version":4,"tool":"sh"}}'
while IFS= read -r task; do case $task in
    '{"describe'*) echo '{"described":{"kinds":[{"name":"null","about":"hangs"}],
"capabilities":{"operations":["read"]}}}' | tr -d '\n'; echo ;;
    '{"run'*) echo '{"ready":{"effective":{}}}' ;;
    '"go"') echo $$ > process.new; mv process.new process; exec sleep 1000 ;;
    *) echo '"done"' ;;
esac; done
"#;

#[test]
fn a_driver_that_hangs_in_a_block_ends_with_a_run_that_is_killed() {
    let bench = Bench::new();
    bench.write("hangs.sh", HANGS);
    let study = r#"store = "sh/null""#;
    let study = IN_AN_IMAGE.replace(r#"store = "files", on = "ext4""#, study);
    let command = "drivers.sh = { command = [\"/bin/sh\", \"hangs.sh\"] }\ndatasets.blobs";
    bench.write("hangs.toml", &study.replacen("datasets.blobs", command, 1));
    let words = ["study", "hangs.toml", "--output", "out"];
    let mut child = silently(Path::new(env!("CARGO_BIN_EXE_stowplan")), &bench, &words);
    let deadline = Instant::now() + Duration::from_secs(60);
    let told = loop {
        if let Ok(told) = std::fs::read_to_string(bench.path("process")) {
            break told;
        }
        assert!(Instant::now() < deadline, "no block within a minute");
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(10));
    };
    signal(&child, "-KILL");
    child.wait().unwrap();
    let process = Path::new("/proc").join(told.trim()).join("cwd");
    let deadline = Instant::now() + Duration::from_secs(10);
    while std::fs::read_link(&process).is_ok() {
        assert!(Instant::now() < deadline, "the driver outlived the run");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A study with a cell on a file system that takes an image.
const IN_AN_IMAGE: &str = r#"
name = "in-an-image"
title = "In an image"
question = "What is left?"
datasets.blobs = { count = 50, size = { distribution = "fixed", bytes = 1_000 } }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 50 }
baseline = "here"
max_rounds = 1
[comparison.cells]
here = { store = "files" }
ext4 = { store = "files", on = "ext4" }
"#;

/// Images below a place, by their inodes: what has the name of one that was removed is another.
fn images(place: &Path) -> BTreeSet<(PathBuf, u64)> {
    let (mut found, mut below) = (BTreeSet::new(), vec![place.to_owned()]);
    while let Some(path) = below.pop() {
        if path.file_name().is_some_and(|name| name == "image-ext4")
            && let Ok(image) = path.metadata()
        {
            found.insert((path.clone(), image.ino()));
        }
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        below.extend(entries.map(|entry| entry.path()));
    }
    found
}

/// Starts a run, and kills it once it writes an image below a place; nothing where it makes none.
fn killed_with_an_image(bench: &Bench, words: &[&str], place: &str) -> Option<()> {
    let place = bench.path(place);
    let before = images(&place);
    let mut child = silently(Path::new(env!("CARGO_BIN_EXE_stowplan")), bench, words);
    loop {
        if let Some((image, _)) = images(&place).difference(&before).next() {
            signal(&child, "-KILL");
            child.wait().unwrap();
            assert!(image.exists(), "a run that is killed removes nothing");
            return Some(());
        }
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_run_that_is_killed_while_it_makes_file_systems_goes_on_and_its_images_are_removed() {
    let study = ["study", "in-an-image.toml", "--output", "out", "--quiet"];
    let resume = ["resume", "out", "--quiet"];
    for (place, options) in [("out", &[] as &[&str]), ("disk", &["--work", "disk"])] {
        let bench = Bench::new();
        bench.write("in-an-image.toml", IN_AN_IMAGE);
        std::fs::create_dir(bench.path("disk")).unwrap();
        let begin = [&study, options].concat();
        if killed_with_an_image(&bench, &begin, place).is_none() {
            eprintln!("no file systems are made here: that takes root, and mkfs.ext4");
            return;
        }
        killed_with_an_image(&bench, &resume, place).unwrap();
        bench.run(&resume).exits(0);
        assert_eq!(entries(&bench.path("disk")).len(), 0, "{place}");
        assert!(!bench.path("out/work").exists(), "{place}");
        let records = bench.records("out");
        let made = |record: &Record| matches!(record, Record::FileSystems(made) if made.on["ext4"].contains("mkfs.ext4"));
        assert!(records.iter().any(made), "{records:?}");
    }
}
