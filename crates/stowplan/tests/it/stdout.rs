//! What goes to stdout is the result and nothing else, whatever is asked for and whoever reads it.

use crate::bench::{Bench, Finished};
use crate::help::verbs;
use serde_json::Value;
use std::process::Stdio;

/// A directory with a small run in `out`, and a database and a directory of blobs.
fn measured() -> Bench {
    let bench = Bench::new();
    for line in [
        "study small.toml --output out --rounds 10 --only read --quiet",
        "kvtest init x.db --count 120 --size 100 --quiet",
        "kvtest export x.db d --quiet",
        "pack d p.sqlar --quiet",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        bench.run(&words).exits(0);
    }
    bench
}

/// A command line for each verb that has `--json`; `OUT` is another directory each time.
const DOCUMENTS: [&str; 13] = [
    "report out",
    "resume out",
    "claims --of dbench",
    "compare out out --cells read/sql=read/dir",
    "doctor",
    "crash redb --states 1 --transactions 2 --model ordered --output OUT",
    "calibrate --scale quick --sessions 0 --busy 0 --output OUT",
    "stat x.db",
    "advise d --rounds 1 --output OUT",
    "ls p.sqlar",
    "kvtest run d --count 20 --rounds 1",
    "study small.toml --output OUT --rounds 1 --only read",
    "crossover files flat --from 1KiB --to 2KiB --bytes 100kB --rounds 10 --output OUT",
];

/// These measure for seconds: they are tried with less.
fn is_long(line: &str) -> bool {
    line.contains("OUT")
}

/// The options of `all` that a verb has; the first is none.
fn options_of(verb: &str, all: &[&'static str]) -> Vec<&'static str> {
    let help = Bench::new().run(&["help", verb]).stdout();
    let has = |option: &&str| help.contains(option.split(' ').next().unwrap_or_default());
    std::iter::once("")
        .chain(all.iter().copied().filter(has))
        .collect()
}

#[track_caller]
fn one_document(run: &Finished, line: &str) {
    let text = run.stdout();
    let document: Result<Value, _> = serde_json::from_str(&text);
    assert!(
        document.is_ok_and(|value| value.is_object()),
        "{line}\n{text}\n{}",
        run.stderr()
    );
    assert!(!text.contains('\u{1b}'), "{line}: {text}");
}

#[test]
fn every_verb_that_has_json_prints_one_document_under_every_option() {
    let bench = measured();
    let mut runs = 0;
    for line in DOCUMENTS {
        let verb = line.split(' ').next().unwrap();
        if verb == "crash" && std::fs::File::open("/dev/fuse").is_err() {
            eprintln!("not tried, without /dev/fuse: {line}");
            continue;
        }
        let mut loud = options_of(verb, &["--quiet", "--verbose"]);
        if is_long(line) {
            loud.drain(..loud.len() - 1);
        }
        let colours: &[&str] = match is_long(line) {
            true => &["--color always"],
            false => &["", "--color always", "--color never"],
        };
        for (loud, colour) in loud
            .iter()
            .flat_map(|l| colours.iter().map(move |c| (l, c)))
        {
            runs += 1;
            let line = line.replace("OUT", &format!("out-{runs}"));
            let line = format!("{line} --json {loud} {colour}");
            let words: Vec<&str> = line.split_whitespace().collect();
            one_document(&bench.run(&words), &line);
        }
    }
}

#[test]
fn no_verb_that_has_json_is_forgotten_here() {
    for verb in verbs() {
        // Of kvtest's own verbs two have it.
        let own = (verb == "kvtest").then_some("run");
        let words: Vec<&str> = ["help", verb.as_str()].into_iter().chain(own).collect();
        let help = Bench::new().run(&words).stdout();
        let tried = DOCUMENTS
            .iter()
            .any(|line| line.split(' ').next() == Some(verb.as_str()));
        assert_eq!(help.contains("--json"), tried, "{verb}");
    }
}

/// Command lines that have nothing to make a document of.
const NO_DOCUMENT: [&str; 5] = [
    "study",
    "study small.toml --dry-run",
    "study fasterthanfs --scale quick --dry-run",
    "resume out --dry-run",
    "crossover --dry-run",
];

#[test]
fn json_is_refused_where_there_is_nothing_to_make_a_document_of() {
    let bench = measured();
    for line in NO_DOCUMENT {
        let line = format!("{line} --json");
        let run = bench.run(&line.split(' ').collect::<Vec<_>>());
        run.refuses("--json");
        assert_eq!(run.stdout(), "", "{line}");
    }
}

#[test]
fn a_document_stays_one_where_there_is_much_to_warn_of() {
    let bench = measured();
    let path = bench.path("out/result.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"{\"type\":\"\xff\n");
    std::fs::write(&path, bytes).unwrap();
    bench.write("out/summary.md", "mine");
    for option in [
        "--json",
        "--json --quiet",
        "--json --verbose --color always",
    ] {
        let line = format!("report out {option}");
        let run = bench.run(&line.split(' ').collect::<Vec<_>>());
        one_document(&run, &line);
        assert!(
            run.stderr().contains("the line is left out"),
            "{}",
            run.stderr()
        );
    }
}

#[test]
fn results_go_to_stdout_and_warnings_to_stderr() {
    let bench = Bench::new();
    let line = "study small.toml --output out --rounds 2 --only read";
    let run = bench.run(&line.split(' ').collect::<Vec<_>>());
    run.exits(0).prints("Reads");
    // A build without optimisation warns of itself.
    if cfg!(debug_assertions) {
        assert!(run.stderr().contains("warning:"), "{}", run.stderr());
    }
    assert!(!run.stderr().contains("baseline"), "{}", run.stderr());
    assert!(!run.stdout().contains("warning:"), "{}", run.stdout());
    assert!(
        !run.stderr().contains('\u{1b}'),
        "no progress where there is no terminal"
    );
    let quiet = bench.run(&["report", "out", "--quiet"]);
    assert_eq!(quiet.exits(0).stderr(), "");
}

/// Lines that print much, of all kinds of printing.
const TALKATIVE: [&str; 9] = [
    "--help",
    "study --help",
    "list studies",
    "list stores",
    "list stores sqlite",
    "kvtest --help",
    "man study",
    "completions bash",
    "study fasterthanfs --dry-run",
];

#[test]
fn a_reader_that_goes_away_does_no_harm() {
    let bench = measured();
    let lines = TALKATIVE
        .iter()
        .chain(&["report out", "report out --json", "stat x.db"]);
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = bench.command(&words);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), &*said), (Some(0), ""), "{line}");
    }
}

#[test]
fn what_cannot_be_printed_is_an_error_and_no_panic() {
    let bench = measured();
    for line in TALKATIVE
        .iter()
        .chain(&["report out --json", "doctor --json"])
    {
        let words: Vec<&str> = line.split(' ').collect();
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .unwrap();
        let ended = bench.command(&words).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("cannot write to stdout"), "{line}: {said}");
        assert!(!said.contains("panicked"), "{line}: {said}");
    }
}

#[test]
fn colour_is_where_it_is_wanted_and_nowhere_else() {
    let bench = measured();
    let coloured = |line: &str, variables: &[(&str, &str)]| {
        let words: Vec<&str> = line.split(' ').collect();
        let mut command = bench.command(&words);
        command.envs(variables.iter().copied());
        let ended = command.output().unwrap();
        ended.stdout.contains(&0x1b)
    };
    for line in ["report out", "doctor", "study --help"] {
        let (no, force) = (("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"));
        assert!(!coloured(line, &[]), "{line}: a pipe has none");
        assert!(coloured(line, &[force]), "{line}: it can be asked for");
        assert!(!coloured(line, &[force, no]), "{line}: NO_COLOR");
        assert!(coloured(&format!("{line} --color always"), &[no]), "{line}");
        assert!(
            !coloured(&format!("{line} --color=never"), &[force]),
            "{line}"
        );
    }
}
