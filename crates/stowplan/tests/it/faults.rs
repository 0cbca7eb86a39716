//! Workers that misbehave within a run, and a system that refuses: the run says so in one line, goes
//! on where it can, and leaves nothing behind. What takes root or minutes is in `.ci/fault-check` and
//! `.ci/kill-loop`.
use crate::bench::{Bench, PATIENCE, PROGRAM, entries};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::rc::Rc;
use std::time::{Duration, Instant};
use stowplan_analysis::StoppingRule;
use stowplan_harness::HarnessError;
use stowplan_harness::disk::WorkDirectory;
use stowplan_harness::drivers::Drivers;
use stowplan_harness::interrupt::Interrupt;
use stowplan_harness::plan::{PlanOptions, plan};
use stowplan_harness::runner::{self, AsPlanned, Event, Observer, Resumption, RunOptions};
use stowplan_harness::worker_process::WorkerCommand;
use stowplan_model::{CellFailure, PROTOCOL_VERSION, Record, RunEnd, RunOutcome, Study};

/// One worker that does as it should, and how others do not: by the key of a cell, what a shell does
/// instead of its block, and what is said of it.
const FAULTS: [(&str, &str, &str); 12] = [
    (
        "dies",
        "echo 'out of ideas' >&2; exit 7",
        ": exit status: 7",
    ),
    (
        "killed",
        "kill -9 $$",
        "signal 9 (killed; if nobody did it, the system",
    ),
    (
        "garbage",
        "echo 'Segmentation fault'; cat",
        "Segmentation fault",
    ),
    (
        "half",
        r#"printf '{"ready":{"eff'; exit 0"#,
        r#"{"ready":{"eff"#,
    ),
    ("endless", "exec cat /dev/zero", "a line of more than"),
    (
        "flood",
        "exec yes '{\"progress\":{\"done\":1,\"total\":9}}'",
        // Not done after as long, or nothing new for as long: whichever is noticed first.
        "4 s",
    ),
    ("early", "echo '{\"measured\":{}}'; cat", "out of turn"),
    (
        "closes",
        "exec >&-; sleep 1000",
        "closed its stdout and lived on",
    ),
    (
        "chatters",
        "yes noise | head -c 300000 >&2; exit 1",
        ": exit status: 1",
    ),
    (
        "fails",
        "echo '{\"failed\":{\"message\":\"no such table\"}}'; cat",
        "no such table",
    ),
    ("starves", "ulimit -v 6000; exec \"$1\" worker", "died"),
    ("hangs", "sleep 1000", "said nothing new for 4 s"),
];

/// The interface and the page size by which the cell of each fault is told from the others.
fn specs() -> impl Iterator<Item = (&'static str, u32)> {
    let pages = [512, 1_024, 2_048, 4_096, 8_192, 16_384];
    let apis = ["blob", "sql"];
    apis.into_iter()
        .flat_map(move |api| pages.map(|page| (api, page)))
}

/// A study with a cell for each fault, and one without.
fn study() -> String {
    let cells: Vec<String> = FAULTS
        .iter()
        .zip(specs())
        .map(|((key, ..), (api, page))| {
            format!(
                "{key} = {{ store = \"sqlite:api={api},page_size={page}\", label = \"{key}\" }}\n"
            )
        })
        .collect();
    format!(
        r#"
name = "faults"
title = "Faults"
question = "Who goes on?"
[datasets.blobs]
count = 100
size = {{ distribution = "fixed", bytes = 300 }}
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = {{ operation = "read", operations = 20 }}
baseline = "dir"
[comparison.cells]
dir = {{ store = "files", label = "files" }}
flat = {{ store = "flat", label = "flat" }}
{}"#,
        cells.concat()
    )
}

/// Keeps the failures that a run tells.
#[derive(Default)]
pub(crate) struct Told(pub(crate) Vec<CellFailure>);

impl Observer for Told {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Failure(failure) = event {
            self.0.push(failure.clone());
        }
    }
}

/// A worker that does what `script` says for the blocks of a cell, whose job is in `$job`, and
/// otherwise hands everything to the real one. The place of the run is `$2`, by which its processes
/// are found.
fn wrapped(bench: &Bench, faults: &[(&str, &str, &str)]) -> WorkerCommand {
    let spec_of = |wanted: &str| {
        let mut known = FAULTS.iter().zip(specs());
        known.find(|((key, ..), _)| *key == wanted).unwrap().1
    };
    let cases: Vec<String> = faults
        .iter()
        .map(|(key, script, _)| {
            let (api, page) = spec_of(key);
            format!("'{{\"run\":'*'api={api},'*'page_size={page},'*) {script};;\n")
        })
        .collect();
    let script = format!(
        r#"printf '%s\n' '{{"hello":{{"protocol":"stowplan-driver","version":{PROTOCOL_VERSION},"tool":"0"}}}}'
IFS= read -r job
case "$job" in
{}esac
{{ printf '%s\n' "$job"; cat; }} | "$1" worker | sed -u 1d
"#,
        cases.concat()
    );
    let place = place_of(bench);
    let mut command = WorkerCommand::new("/bin/sh", &["-c", &script, "sh", PROGRAM, &place]);
    // Long for a worker that does something, short for one that does not.
    command.patience.preparing = Duration::from_secs(4);
    command
}

pub(crate) fn options(bench: &Bench, work: &WorkDirectory, drivers: Rc<Drivers>) -> RunOptions {
    RunOptions {
        result: bench.path("out/result.jsonl"),
        work: work.path().to_owned(),
        seed: 1,
        budget: None,
        rule: StoppingRule {
            equivalence: 0.05,
            max_rounds: 2,
            precision: None,
        },
        drivers,
        interrupt: Interrupt::never(),
        keep: false,
    }
}

/// Runs the study with workers that misbehave.
fn run_with(
    bench: &Bench,
    faults: &[(&str, &str, &str)],
    told: &mut Told,
) -> Result<RunEnd, HarnessError> {
    let study = Study::parse(&study(), "faults.toml").unwrap();
    let drivers = Rc::new(Drivers::new(wrapped(bench, faults), Interrupt::never()));
    let plan = plan(study, &PlanOptions::default(), &drivers).unwrap();
    std::fs::create_dir_all(bench.path("out")).unwrap();
    let work = WorkDirectory::create(&bench.path("out/work")).unwrap();
    let options = options(bench, &work, drivers);
    let ended = runner::run(&plan, &options, told, &mut AsPlanned);
    work.remove().unwrap();
    ended
}

/// In how many rounds each cell was measured.
pub(crate) fn rounds(records: &[Record]) -> BTreeMap<&str, usize> {
    let mut rounds = BTreeMap::new();
    for record in records {
        if let Record::Measurement(block) = record
            && block.block == stowplan_model::BlockKind::Ratio
        {
            *rounds.entry(block.cell.0.as_str()).or_default() += 1;
        }
    }
    rounds
}

/// The directory of a bench, as processes name it.
fn place_of(bench: &Bench) -> String {
    let here = bench.path("").canonicalize().unwrap();
    here.to_string_lossy().into_owned()
}

/// Processes that work in a directory, or name it, once those that were told to end had the time.
fn processes_in(bench: &Bench) -> usize {
    let until = Instant::now() + PATIENCE;
    loop {
        let found = processes_now_in(bench);
        if found == 0 || Instant::now() > until {
            return found;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn processes_now_in(bench: &Bench) -> usize {
    let mark = place_of(bench);
    let here = Path::new(&mark);
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter(|process| {
            let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let cwd = std::fs::read_link(process.path().join("cwd"));
            String::from_utf8_lossy(&arguments).contains(&mark) || cwd.is_ok_and(|cwd| cwd == here)
        })
        .count()
}

#[test]
fn whatever_one_worker_does_the_other_cells_are_measured() {
    let bench = Bench::new();
    let mut told = Told::default();
    let end = run_with(&bench, &FAULTS, &mut told).unwrap();
    assert_eq!(end.outcome, RunOutcome::Complete);
    let records = bench.records("out");
    let rounds = rounds(&records);
    let whole: Vec<&str> = rounds.keys().copied().collect();
    assert_eq!(whole, ["read/dir", "read/dir#2", "read/flat"]);
    assert!(rounds.values().all(|rounds| *rounds == 2), "{rounds:?}");
    for (key, _, said) in FAULTS {
        let of = |failure: &&CellFailure| failure.cell.0 == format!("read/{key}");
        let failures: Vec<&CellFailure> = told.0.iter().filter(of).collect();
        let [failure] = failures[..] else {
            panic!("{key} failed {} times: {failures:?}", failures.len());
        };
        assert!(failure.message.contains(said), "{key}: {failure:?}");
        assert!(!failure.message.contains('\n'), "{failure:?}");
        assert!(records.contains(&Record::Failure(failure.clone())));
    }
    let stderr = |key: &str| {
        let mut failures = told.0.iter();
        let failure = failures.find(|failure| failure.cell.0.ends_with(key));
        failure.unwrap().stderr.clone()
    };
    assert_eq!(stderr("dies"), "out of ideas");
    assert!(stderr("chatters").ends_with("noise\nnoise"));
    assert!(stderr("chatters").len() <= 4_096);
    assert_eq!(processes_in(&bench), 0);
}

#[test]
fn a_store_that_finds_the_disk_full_ends_the_run_which_goes_on_once_there_is_room() {
    let bench = Bench::new();
    let full = "cannot write /w/7: No space left on device (os error 28)";
    let script = format!(r#"echo '{{"failed":{{"message":"{full}"}}}}'; cat"#);
    let mut told = Told::default();
    let error = run_with(&bench, &[("hangs", &script, "")], &mut told).unwrap_err();
    let said = error.to_string();
    let work = bench.path("out/work").display().to_string();
    assert!(
        said.starts_with(&format!(
            "{work} takes no more data: read/hangs: cannot write"
        )),
        "{said}"
    );
    assert!(said.contains("make room there"), "{said}");
    assert!(
        told.0.is_empty(),
        "it is no failure of the cell: {:?}",
        told.0
    );

    let resumption = Resumption::open(&bench.path("out/result.jsonl")).unwrap();
    let place = WorkDirectory::create(&bench.path("out/work")).unwrap();
    let drivers = Drivers::new(wrapped(&bench, &[]), Interrupt::never());
    let options = options(&bench, &place, Rc::new(drivers));
    let end = runner::resume(resumption, &options, &mut told, &mut AsPlanned).unwrap();
    assert_eq!((end.outcome, told.0.len()), (RunOutcome::Complete, 0));
    let records = bench.records("out");
    assert_eq!(rounds(&records).len(), FAULTS.len() + 3);
}

/// Takes a store away once it was read back behind the rounds, and keeps the failures.
struct Thief {
    store: std::path::PathBuf,
    rounds: bool,
    told: Told,
}

impl Observer for Thief {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Block { .. } => self.rounds = true,
            Event::Preparing { what, done, total }
                if self.rounds && what == "checking every value" && done == total =>
            {
                // All that is left to do with it is to weigh it.
                let _ = std::fs::remove_file(&self.store);
            }
            event => self.told.event(event),
        }
    }
}

#[test]
fn a_store_that_cannot_be_weighed_behind_the_rounds_fails_its_cell_and_no_other() {
    let bench = Bench::new();
    let text = r#"
name = "thief"
title = "A thief"
question = "Who goes on?"
datasets.blobs = { count = 2000, size = { distribution = "fixed", bytes = 100 } }
[[comparison]]
id = "write"
title = "Writes"
dataset = "blobs"
workload = { operation = "overwrite", operations = 20, per_transaction = "all" }
baseline = "kept"
[comparison.cells]
kept = { store = "sqlite", label = "kept" }
lost = { store = "sqlite:page_size=8192", label = "lost" }
last = { store = "sqlite:page_size=16384", label = "last" }
"#;
    let study = Study::parse(text, "thief.toml").unwrap();
    let drivers = Rc::new(Drivers::new(wrapped(&bench, &[]), Interrupt::never()));
    let plan = plan(study, &PlanOptions::default(), &drivers).unwrap();
    std::fs::create_dir_all(bench.path("out")).unwrap();
    let work = WorkDirectory::create(&bench.path("out/work")).unwrap();
    let lost = plan.cells().find(|cell| cell.key == "lost").unwrap();
    let store = work.path().join(format!("store-{}", lost.instance));
    let mut thief = Thief {
        store: store.join(stowplan_stores::DATABASE_FILE),
        rounds: false,
        told: Told::default(),
    };
    let options = options(&bench, &work, drivers);
    let end = runner::run(&plan, &options, &mut thief, &mut AsPlanned).unwrap();
    work.remove().unwrap();
    assert_eq!(end.outcome, RunOutcome::Complete);
    let failed: Vec<&str> = thief.told.0.iter().map(|f| f.cell.0.as_str()).collect();
    assert_eq!(failed, ["write/lost"]);
    let records = bench.records("out");
    let weighed = |record: &&Record| matches!(record, Record::Footprint(footprint) if footprint.after_workloads);
    assert_eq!(records.iter().filter(weighed).count(), 2);
}

const STUDY: &str = "study small.toml --output out --rounds 1 --only read";

/// A result that outgrows the limit of its file.
const LONG_STUDY: &str = "study small.toml --output out --rounds 10 --only read";

/// Runs the small study from a shell, with limits or redirections; returns its exit code and
/// what it said.
fn from_shell(bench: &Bench, before: &str, arguments: &str) -> (Option<i32>, String) {
    let script = format!("{before}; exec \"$0\" {arguments}");
    let mut command = Command::new("bash");
    command
        .args(["-c", &script, PROGRAM])
        .current_dir(bench.path(""))
        .stdin(Stdio::null())
        .env("LC_ALL", "C.UTF-8");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), said)
}

/// The one line that says what is wrong.
#[track_caller]
fn error_in(said: &str) -> &str {
    let mut errors = said.lines().filter(|line| line.starts_with("error:"));
    let error = errors.next().unwrap_or_default();
    assert!(!error.is_empty() && errors.next().is_none(), "{said}");
    assert!(!said.contains("panicked"), "{said}");
    error
}

const DONE: [&str; 3] = ["report.html", "result.jsonl", "summary.md"];

#[test]
fn a_result_that_may_not_grow_ends_the_run_in_order_and_it_goes_on_without_the_limit() {
    let bench = Bench::new();
    // The signal that comes with it would end the program without a word.
    let (code, said) = from_shell(&bench, "ulimit -f 1", STUDY);
    assert_eq!(code, Some(2), "{said}");
    let error = error_in(&said);
    assert!(
        error.contains("out/result.jsonl: File too large"),
        "{error}"
    );
    assert!(
        entries(&bench.path("out")).is_empty(),
        "nothing can be made of half a header"
    );

    let (code, said) = from_shell(&bench, "ulimit -f 100", LONG_STUDY);
    assert_eq!(code, Some(1), "{said}");
    let error = error_in(&said);
    assert!(error.contains("File too large"), "{error}");
    assert!(error.contains("resume out"), "{error}");
    assert_eq!(entries(&bench.path("out")), ["result.jsonl"]);
    bench.run("resume out --quiet").exits(0);
    assert_eq!(entries(&bench.path("out")), DONE);
    let records = bench.records("out");
    assert!(
        !records
            .iter()
            .any(|record| matches!(record, Record::Failure(_)))
    );
}

#[test]
fn however_few_descriptors_there_are_it_is_told_and_nothing_is_left_behind() {
    // The want of one comes up at another place each.
    for limit in 5..=16 {
        let bench = Bench::new();
        let (code, said) = from_shell(&bench, &format!("ulimit -n {limit}"), STUDY);
        assert!(matches!(code, Some(1 | 2)), "{limit}: {said}");
        assert!(
            error_in(&said).contains("Too many open files"),
            "{limit}: {said}"
        );
        assert_eq!(processes_in(&bench), 0, "{limit}");
        let out = bench.path("out");
        if out.exists() {
            let left = entries(&out);
            assert!(
                left.is_empty() || left == ["result.jsonl"],
                "{limit}: {left:?}, {said}"
            );
        }
    }
}

#[test]
fn where_nobody_can_be_told_a_run_goes_on_to_its_end() {
    // The last one is not read for a while, and its pipe is nearly full.
    for (nobody, ends) in [
        ("exec 2>/dev/full", 0),
        ("exec >/dev/full", 1),
        ("exec >&-", 0),
        ("exec 2>&-", 0),
        ("exec 2> >(head -c 1 >/dev/null)", 0),
        ("exec <&- >&- 2>&-", 0),
        (
            "exec > >(sleep 1; cat >/dev/null); head -c 65000 /dev/zero",
            0,
        ),
    ] {
        let bench = Bench::new();
        let (code, _) = from_shell(&bench, nobody, &format!("{STUDY} --verbose"));
        assert_eq!(code, Some(ends), "{nobody}");
        assert_eq!(entries(&bench.path("out")), DONE, "{nobody}");
    }
}

#[test]
fn what_a_run_that_was_killed_at_its_very_end_left_behind_is_removed() {
    let bench = Bench::new();
    let (code, said) = from_shell(&bench, "true", &format!("{STUDY} --keep --quiet"));
    assert_eq!(code, Some(0), "{said}");
    let with_work = ["report.html", "result.jsonl", "summary.md", "work"];
    bench.run("resume out").exits(0);
    assert_eq!(
        entries(&bench.path("out")),
        with_work,
        "it was asked to stay"
    );

    let work = bench.path("out/work");
    std::fs::remove_dir_all(&work).unwrap();
    // As it is before its end is noted.
    drop(WorkDirectory::create(&work).unwrap());
    std::fs::write(work.join("data"), "x").unwrap();
    std::fs::create_dir(bench.path("out/.stowplan-abcdef.tmp")).unwrap();
    let shown = bench.run("resume out");
    shown.exits(0).warns("removing out/work");
    assert_eq!(entries(&bench.path("out")), DONE);

    // Before it was marked.
    std::fs::create_dir(&work).unwrap();
    bench.run("resume out --quiet").exits(0);
    assert_eq!(entries(&bench.path("out")), DONE);
}

#[test]
fn what_a_run_that_was_killed_before_it_had_a_result_left_behind_is_removed() {
    let bench = Bench::new();
    let work = bench.path("out/work");
    std::fs::create_dir(bench.path("out")).unwrap();
    let works = WorkDirectory::create(&work).unwrap();
    std::fs::write(work.join("image"), "x").unwrap();
    bench.run("resume out").refuses("a run that still goes on");
    assert!(work.join("image").exists(), "a run still works there");
    drop(works);
    let dry = bench.run("resume out --dry-run");
    dry.refuses("would be removed");
    assert!(work.join("image").exists(), "nothing is done");
    bench.write("out/result.jsonl", "");
    bench
        .run("resume out/result.jsonl")
        .refuses("what it left in out/work was removed; run the study again");
    assert!(entries(&bench.path("out")).is_empty());

    // Of what has no mark nothing is a run's, and what is no plain file may be the result of another.
    std::fs::create_dir(&work).unwrap();
    bench.run("resume out").refuses("no run was begun there");
    assert!(work.exists());
    std::fs::remove_dir(&work).unwrap();
    drop(WorkDirectory::create(&work).unwrap());
    std::os::unix::fs::symlink("elsewhere", bench.path("out/result.jsonl")).unwrap();
    bench.run("resume out").refuses("no run was begun there");
    assert!(work.exists());
}

/// A driver that hands everything to the real one, but gives up itself when it hears of a task.
const ABORTS: &str = r#"#!/bin/sh
ulimit -c 0
fifo=$(mktemp -u)
mkfifo "$fifo"
"$STOWPLAN" worker < "$fifo" &
exec 4> "$fifo"
rm "$fifo"
while IFS= read -r line; do
case "$line" in '{"TASK":'*) kill -ABRT $$;; esac
printf '%s\n' "$line" >&4
done
exec 4>&-
wait
"#;

#[test]
fn a_driver_that_aborts_in_any_task_fails_its_cells_and_the_others_are_measured() {
    const TASKS: [&str; 7] = [
        "describe", "create", "load", "run", "dump", "rest", "inspect",
    ];
    let bench = Bench::new();
    let cell = |task: &str| {
        let script = ABORTS.replace("TASK", task).replace("$STOWPLAN", PROGRAM);
        bench.write(&format!("{task}.sh"), &script);
        let driver = format!("drivers.{task}.command = [\"/bin/sh\", \"{task}.sh\"]\n");
        let cell = format!("{task} = {{ store = \"flat\", driver = \"{task}\" }}\n");
        (driver, cell)
    };
    let (drivers, cells): (Vec<String>, Vec<String>) = TASKS
        .iter()
        .chain(&["nothing"])
        .map(|task| cell(task))
        .unzip();
    let study = format!(
        r#"
name = "aborts"
title = "Drivers that give up"
question = "Who goes on?"
{}
[datasets.blobs]
count = 60
size = {{ distribution = "fixed", bytes = 300 }}
[[comparison]]
id = "write"
title = "Overwrites"
dataset = "blobs"
workload = {{ operation = "overwrite", operations = 20 }}
baseline = "flat"
[comparison.cells]
flat = {{ store = "flat" }}
{}"#,
        drivers.concat(),
        cells.concat()
    );
    std::fs::write(bench.path("aborts.toml"), study).unwrap();
    let ran = bench.run("study aborts.toml --rounds 2 -o out");
    ran.exits(1);
    let records = bench.records("out");
    let rounds = rounds(&records);
    for measured in ["flat", "flat#2", "nothing"] {
        assert_eq!(
            rounds[format!("write/{measured}").as_str()],
            2,
            "{measured}"
        );
    }
    for task in TASKS {
        let id = format!("write/{task}");
        let failure = records.iter().find_map(|record| match record {
            Record::Failure(failure) if failure.cell.0 == id => Some(&failure.message),
            _ => None,
        });
        let message = failure.unwrap_or_else(|| panic!("{task} did not fail"));
        assert!(message.contains("signal 6"), "{task}: {message}");
    }
    assert_eq!(processes_in(&bench), 0);
}
