//! Runs that end early: what was measured stays, and nothing else does.
use crate::bench::{Bench, PROGRAM, entries, silently, until};
use std::collections::BTreeSet;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;
use stowplan_model::{Record, RunOutcome};

/// Starts the small study and waits until its result holds some measurements.
fn started_by(program: &Path, bench: &Bench, options: &str) -> Child {
    let study = format!("study small.toml --output out {options}");
    let child = silently(&mut bench.command_of(program, &study));
    until(|| {
        let text = std::fs::read_to_string(bench.path("out/result.jsonl")).unwrap_or_default();
        let measured = text.matches("\"type\":\"measurement\"").count();
        (measured >= 5).then_some(())
    });
    child
}

fn started(bench: &Bench, options: &str) -> Child {
    started_by(PROGRAM.as_ref(), bench, options)
}

pub(crate) fn signal(child: &Child, name: &str) {
    let mut kill = Command::new("kill");
    let status = kill.args([name, &child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

/// Command lines of living processes that mention a directory.
pub(crate) fn processes_in(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let places =
        entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path().join("cwd")).ok());
    let ours = places.filter(|cwd| cwd == directory);
    ours.map(|cwd| cwd.display().to_string()).collect()
}

/// Waits until nobody works in the directory of a run that is gone.
#[track_caller]
pub(crate) fn everybody_goes(bench: &Bench) {
    until(|| processes_in(&bench.path("")).is_empty().then_some(()));
}

#[track_caller]
fn ended(bench: &Bench, outcome: RunOutcome) {
    let records = bench.records("out");
    assert!(matches!(records.last(), Some(Record::End(end)) if end.outcome == outcome));
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );
}

#[test]
fn ctrl_c_saves_what_was_measured_and_removes_the_work_directory_also_if_it_comes_twice_at_once() {
    let bench = Bench::new();
    let mut child = started(&bench, "");
    let id = child.id();
    // As 'timeout' does: to the process, and to all in its group.
    let twice = format!("kill -INT {id}; kill -INT {id}");
    let status = Command::new("sh").args(["-c", &twice]).status();
    assert!(status.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    ended(&bench, RunOutcome::Interrupted);
}

#[test]
fn a_run_whose_program_is_replaced_meanwhile_goes_on_with_the_one_that_it_is() {
    let bench = Bench::new();
    let program = bench.path("stowplan");
    std::fs::copy(PROGRAM, &program).unwrap();
    let mut child = started_by(&program, &bench, "--rounds 3");
    bench.write("other", "#!/bin/sh\nexit 9\n");
    std::fs::rename(bench.path("other"), &program).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    ended(&bench, RunOutcome::Complete);
}

#[test]
fn a_copy_of_a_result_does_not_remove_what_a_run_works_in() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    let mut child = started(&bench, "--rounds 10 --work disk");
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
        .run("resume copy")
        .refuses("is the work directory of a run that still goes on");
    assert!(marker.exists());
    drop(held);
    let resumed = bench.run("resume copy --budget 1s");
    resumed
        .exits(0)
        .warns(&format!("{work}, where this run worked"));
    assert!(entries(&bench.path("disk")).is_empty());
}

#[test]
fn kill_9_loses_at_most_the_measurement_in_flight_and_leaves_no_process() {
    let bench = Bench::new();
    let mut child = started(&bench, "");
    signal(&child, "-KILL");
    child.wait().unwrap();
    let records = bench.records("out").into_iter();
    let measured = records.filter(|record| matches!(record, Record::Measurement(_)));
    assert!(measured.count() >= 5);
    everybody_goes(&bench);
    assert_eq!(
        entries(&bench.path("")),
        ["out", "small.toml"],
        "nothing outside the output"
    );
    bench.run("report out").exits(0);
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

const HANGING: &str = r#"
name = "hangs"
title = "A driver that hangs"
question = "What is left?"
drivers.sh = { command = ["/bin/sh", "hangs.sh"] }
datasets.blobs = { count = 50, size = { distribution = "fixed", bytes = 1_000 } }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 50 }
baseline = "here"
cells = { here = { store = "files" }, hangs = { store = "sh/null" } }
"#;

#[test]
fn a_driver_that_hangs_in_a_block_ends_with_a_run_that_is_killed() {
    let bench = Bench::new();
    bench.write("hangs.sh", HANGS);
    bench.write("hangs.toml", HANGING);
    let mut child = bench.silently("study hangs.toml --output out");
    let told = until(|| std::fs::read_to_string(bench.path("process")).ok());
    signal(&child, "-KILL");
    child.wait().unwrap();
    let process = Path::new("/proc").join(told.trim()).join("cwd");
    until(|| std::fs::read_link(&process).is_err().then_some(()));
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
cells = { here = { store = "files" }, ext4 = { store = "files", on = "ext4" } }
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
fn killed_with_an_image(bench: &Bench, line: &str, place: &str) -> Option<()> {
    let place = bench.path(place);
    let before = images(&place);
    let mut child = bench.silently(line);
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
    for (place, option) in [("out", ""), ("disk", "--work disk")] {
        let bench = Bench::new();
        bench.write("in-an-image.toml", IN_AN_IMAGE);
        std::fs::create_dir(bench.path("disk")).unwrap();
        let study = format!("study in-an-image.toml --output out --quiet {option}");
        if killed_with_an_image(&bench, &study, place).is_none() {
            eprintln!("no file systems are made here: that takes root, and mkfs.ext4");
            return;
        }
        killed_with_an_image(&bench, "resume out --quiet", place).unwrap();
        bench.run("resume out --quiet").exits(0);
        assert_eq!(entries(&bench.path("disk")).len(), 0, "{place}");
        assert!(!bench.path("out/work").exists(), "{place}");
        let records = bench.records("out");
        let made = |record: &Record| matches!(record, Record::FileSystems(made) if made.on["ext4"].contains("mkfs.ext4"));
        assert!(records.iter().any(made), "{records:?}");
    }
}
