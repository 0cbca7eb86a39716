//! Drivers in another language that are killed in a block, hang in one, or lie: their cells fail, with what
//! contradicts them, and all others are measured.
use crate::bench::{Bench, PROGRAM};
use crate::faults::{Told, options, rounds};
use std::process::Command;
use std::rc::Rc;
use std::time::Duration;
use stowplan_harness::conformance::{Outcome, Verdict, check};
use stowplan_harness::disk::WorkDirectory;
use stowplan_harness::drivers::Drivers;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::{PlanOptions, plan};
use stowplan_harness::runner::{self, AsPlanned};
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_model::{Record, RunOutcome, Study};

const DRIVER: &str = include_str!("liar.py");

/// What the driver does in reads, and what is said of it.
const IN_READS: [(&str, &str); 8] = [
    ("killed", "signal 9"),
    ("hangs", "said nothing new for"),
    ("garbage", "free(): invalid pointer"),
    ("wrong-value", "value 7"),
    ("no-time", "a time of 0 ns"),
    ("short-time", "20 operations took 5 ns"),
    ("long-time", "after it was told to begin"),
    ("more-cpu", "were on a CPU for"),
];

const STUDY: &str = r#"
name = "lies"
title = "Lies"
question = "Who is believed?"
[datasets.blobs]
count = 40
size = { distribution = "fixed", bytes = 300 }
"#;

fn comparison(operation: &str, flaws: &[&str]) -> String {
    let cells = flaws
        .iter()
        .map(|flaw| format!("{flaw} = {{ store = \"liar/dict:flaw={flaw}\" }}\n"));
    format!(
        "[[comparison]]\nid = \"{operation}\"\ntitle = \"T\"\ndataset = \"blobs\"\nbaseline = \"none\"\n\
         workload = {{ operation = \"{operation}\", operations = 20 }}\n[comparison.cells]\n{}",
        cells.collect::<String>()
    )
}

/// The program's stores, and the driver where there is Python to run it.
fn drivers(bench: &Bench) -> std::io::Result<Drivers> {
    // By name it may be a script that looks for Python each time, which takes longer than the driver.
    let found = Command::new("python3")
        .args(["-ISc", "import sys; print(sys.executable)"])
        .output()?;
    let python = String::from_utf8(found.stdout).unwrap();
    bench.write("liar.py", DRIVER);
    let path = bench.path("liar.py");
    let mut command = WorkerCommand::new(python.trim(), &["-IS", path.to_str().unwrap()]);
    // Long for one that does something on a machine that does other things, too.
    command.patience.silence = Duration::from_secs(3);
    command.patience.operation = Duration::from_millis(50);
    let program = WorkerCommand::new(PROGRAM, &["worker"]);
    let mut drivers = Drivers::new(program, Interrupt::never());
    drivers.add("liar", command);
    Ok(drivers)
}

#[test]
fn a_driver_that_is_killed_hangs_or_lies_is_a_failed_cell_beside_others_that_are_measured() {
    let bench = Bench::new();
    let drivers = match drivers(&bench) {
        Ok(drivers) => drivers,
        Err(error) => return eprintln!("python3 cannot be run here: {error}"),
    };
    let drivers = Rc::new(drivers);
    let flaws = IN_READS.map(|(flaw, _)| flaw);
    let reads = comparison("read", &[&["none"][..], &flaws].concat());
    let writes = comparison("overwrite", &["none", "lost-write"]);
    let study = Study::parse(&format!("{STUDY}{reads}{writes}"), "lies.toml").unwrap();
    let plan = plan(study, &PlanOptions::default(), &drivers).unwrap();
    std::fs::create_dir_all(bench.path("out")).unwrap();
    let work = WorkDirectory::create(&bench.path("out/work")).unwrap();
    let mut told = Told::default();
    let options = options(&bench, &work, Rc::clone(&drivers));
    let end = runner::run(&plan, &options, &mut told, &mut AsPlanned).unwrap();
    work.remove().unwrap();
    assert_eq!(end.outcome, RunOutcome::Complete);
    let records = bench.records("out");
    let in_writes = [("lost-write", "value")];
    let expected = IN_READS.iter().map(|flaw| ("read", flaw));
    let expected = expected.chain(in_writes.iter().map(|flaw| ("overwrite", flaw)));
    for (operation, (flaw, said)) in expected {
        let cell = format!("{operation}/{flaw}");
        let failure = told.0.iter().find(|failure| failure.cell.0 == cell);
        let failure = failure.unwrap_or_else(|| panic!("{cell} did not fail: {:?}", told.0));
        assert!(failure.message.contains(said), "{failure:?}");
        assert!(records.contains(&Record::Failure(failure.clone())));
    }
    assert_eq!(told.0.len(), IN_READS.len() + 1, "{:?}", told.0);
    let rounds = rounds(&records);
    for whole in [
        "read/none",
        "read/none#2",
        "overwrite/none",
        "overwrite/none#2",
    ] {
        assert_eq!(rounds.get(whole), Some(&2), "{rounds:?}");
    }
}

/// What a check finds of the driver with a flaw, where there is Python to run it.
fn outcomes(flaw: &str) -> std::io::Result<Vec<Outcome>> {
    let bench = Bench::new();
    let drivers = drivers(&bench)?;
    let spec = format!("liar/dict:flaw={flaw}").parse().unwrap();
    let work = WorkDirectory::create(&bench.path("work")).unwrap();
    let outcomes = check(&drivers, &spec, work.path()).unwrap();
    work.remove().unwrap();
    Ok(outcomes)
}

#[test]
fn a_check_finds_bytes_that_are_told_of_what_is_no_scan() {
    let outcomes = match outcomes("bytes-of-reads") {
        Ok(outcomes) => outcomes,
        Err(error) => return eprintln!("python3 cannot be run here: {error}"),
    };
    let of_reads = |outcome: &&Outcome| outcome.check.starts_with("reads are timed");
    let found = outcomes.iter().find(of_reads).unwrap();
    let words = "bytes of scans where there was none";
    let told = matches!(&found.verdict, Verdict::Failed(why) if why.contains(words));
    assert!(told, "{found:?}");
}

#[test]
fn a_check_finds_a_clock_that_tells_less_than_passes() {
    let outcomes = match outcomes("quarter-time") {
        Ok(outcomes) => outcomes,
        Err(error) => return eprintln!("python3 cannot be run here: {error}"),
    };
    let found = outcomes
        .into_iter()
        .partition(|o| o.check.starts_with("the time that is told"));
    let (clock, others): (Vec<Outcome>, Vec<Outcome>) = found;
    let told = &clock[0].verdict;
    let failed = |outcome: &Outcome| matches!(outcome.verdict, Verdict::Failed(_));
    assert!(!others.iter().any(failed), "{others:?}");
    assert!(
        matches!(told, Verdict::Failed(why) if why.contains("to answer")),
        "{told:?}"
    );
}
