//! What goes to stdout is the result and nothing else, whatever is asked for and whoever reads it.

use crate::bench::{Bench, Finished};
use crate::help::verbs;
use std::process::Stdio;

/// With a small run in `out`, and a database, a directory and an archive of blobs.
fn measured() -> Bench {
    let bench = Bench::measured();
    for line in [
        "kvtest init x.db --count 120 --size 100 --quiet",
        "kvtest export x.db d --quiet",
        "pack d p.sqlar --quiet",
    ] {
        bench.run(line).exits(0);
    }
    bench
}

/// Verbs whose documents other tests read, under `--verbose --color always`: what they measure takes long.
const ELSEWHERE: [&str; 3] = ["calibrate", "crossover", "study"];

/// A command line for each other verb that has `--json`; one with `--output` measures for seconds.
const DOCUMENTS: [&str; 10] = [
    "report out",
    "resume out",
    "claims --of dbench",
    "compare out out --cells read/sql=read/dir",
    "doctor",
    "crash redb --states 1 --transactions 2 --model ordered --output crash",
    "stat x.db",
    "advise d --rounds 1 --output advise",
    "ls p.sqlar",
    "kvtest run d --count 20 --rounds 1",
];

/// Prints one document, in no colour.
#[track_caller]
fn is_one_document(run: &Finished) {
    assert!(run.json().is_object());
    assert!(!run.stdout().contains('\u{1b}'), "{}", run.stdout());
}

#[test]
fn every_verb_that_has_json_prints_one_document_under_every_option() {
    let bench = measured();
    for line in DOCUMENTS {
        let verb = line.split(' ').next().unwrap();
        if verb == "crash" && std::fs::File::open("/dev/fuse").is_err() {
            eprintln!("not tried, without /dev/fuse: {line}");
            continue;
        }
        let help = bench.run(&format!("help {verb}")).stdout();
        let all = ["", "--quiet --color never", "--verbose --color always"];
        let has = |option: &&&str| help.contains(option.split(' ').next().unwrap());
        let mut options: Vec<_> = all.iter().filter(has).collect();
        if line.contains("--output") {
            options.drain(..options.len() - 1);
        }
        for option in options {
            is_one_document(&bench.run(&format!("{line} --json {option}")));
        }
    }
}

#[test]
fn no_verb_that_has_json_is_forgotten_here() {
    for verb in verbs() {
        // Of kvtest's own verbs two have it.
        let own = if verb == "kvtest" { "run" } else { "" };
        let help = Bench::new().run(&format!("help {verb} {own}")).stdout();
        let mut tried = DOCUMENTS.iter().chain(&ELSEWHERE);
        let tried = tried.any(|line| line.split(' ').next() == Some(verb.as_str()));
        assert_eq!(help.contains("--json"), tried, "{verb}");
    }
}

#[test]
fn json_is_refused_where_there_is_nothing_to_make_a_document_of() {
    let bench = Bench::measured();
    for line in [
        "study",
        "study small.toml --dry-run",
        "study fasterthanfs --scale quick --dry-run",
        "resume out --dry-run",
        "crossover --dry-run",
    ] {
        let run = bench.run(&format!("{line} --json"));
        run.refuses("--json");
        assert_eq!(run.stdout(), "", "{line}");
    }
}

#[test]
fn a_document_stays_one_where_there_is_much_to_warn_of() {
    let bench = Bench::measured();
    let damaged = bench.text("out/result.jsonl") + "{\"type\":\"\u{1}\n";
    bench.write("out/result.jsonl", &damaged);
    bench.write("out/summary.md", "mine");
    for option in ["--quiet", "--verbose --color always"] {
        let run = bench.run(&format!("report out --json {option}"));
        is_one_document(run.warns("the line is left out"));
    }
}

#[test]
fn results_go_to_stdout_and_warnings_to_stderr() {
    let bench = Bench::new();
    let run = bench.run("study small.toml --output out --rounds 2 --only read");
    run.exits(0).prints("Reads");
    // A build without optimisation warns of itself.
    if cfg!(debug_assertions) {
        run.warns("warning:");
    }
    assert!(!run.stderr().contains("baseline"), "{}", run.stderr());
    assert!(!run.stdout().contains("warning:"), "{}", run.stdout());
    let steers = run.stderr().contains('\u{1b}');
    assert!(!steers, "no progress where there is no terminal");
    let quiet = bench.run("report out --quiet");
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
    let more = ["report out", "report out --json", "stat x.db"];
    for line in TALKATIVE.iter().chain(&more) {
        let mut command = bench.command(*line);
        let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        drop(child.stdout.take());
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!((ended.status.code(), &*said), (Some(0), ""), "{line}");
    }
}

#[test]
fn what_cannot_be_printed_is_an_error_and_no_panic() {
    let bench = Bench::measured();
    let more = ["report out --json", "doctor --json"];
    for line in TALKATIVE.iter().chain(&more) {
        let full = std::fs::File::options().write(true).open("/dev/full");
        let ended = bench.command(*line).stdout(full.unwrap()).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{line}: {said}");
        assert!(said.contains("cannot write to stdout"), "{line}: {said}");
        assert!(!said.contains("panicked"), "{line}: {said}");
    }
}

#[test]
fn colour_is_where_it_is_wanted_and_nowhere_else() {
    let bench = Bench::measured();
    let coloured = |line: &str, variables: &[(&str, &str)]| {
        let mut command = bench.command(line);
        let ended = command.envs(variables.iter().copied()).output().unwrap();
        ended.stdout.contains(&0x1b)
    };
    for line in ["report out", "doctor", "study --help"] {
        let (no, force) = (("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1"));
        assert!(!coloured(line, &[]), "{line}: a pipe has none");
        assert!(coloured(line, &[force]), "{line}: it can be asked for");
        assert!(!coloured(line, &[force, no]), "{line}: NO_COLOR");
        let (always, never) = (
            format!("{line} --color always"),
            format!("{line} --color=never"),
        );
        assert!(coloured(&always, &[no]), "{line}");
        assert!(!coloured(&never, &[force]), "{line}");
    }
}
