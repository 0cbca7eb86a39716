//! `stowplan crash`: what is lost is found and can be seen again; what is kept is not called lost.

use crate::bench::{Bench, Finished};
use serde_json::Value;
use std::io::Write;
use std::process::Command;

/// Whether the lab can run here.
fn available() -> bool {
    let there = std::fs::File::open("/dev/fuse").is_ok();
    if !there {
        let _ = writeln!(std::io::stderr(), "not tried: there is no /dev/fuse");
    }
    there
}

fn crash(bench: &Bench, line: &str) -> Finished {
    let words: Vec<&str> = std::iter::once("crash").chain(line.split(' ')).collect();
    bench.run(&words)
}

fn found(run: &Finished) -> Value {
    serde_json::from_str(&run.stdout()).unwrap()
}

/// How many states met each fate.
fn fates(found: &Value) -> Vec<u64> {
    let tally = &found["settings"][0]["found"][0]["tally"]["fates"];
    let fates = tally.as_array().unwrap().iter();
    fates.map(|count| count.as_u64().unwrap()).collect()
}

#[test]
fn a_store_that_syncs_everything_keeps_everything_and_one_that_does_not_loses_as_it_says() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let line = "--states 25 --transactions 12 --model ordered --json --output";
    let kept = crash(
        &bench,
        &format!("files:write=rename,fsync=directory {line} kept"),
    );
    kept.exits(0);
    assert_eq!(fates(&found(&kept))[1..], [0; 5]);
    let lost = crash(
        &bench,
        &format!("files:write=rename,fsync=file {line} lost"),
    );
    lost.exits(0);
    let found = found(&lost);
    assert!(fates(&found)[1] > 0, "{found}");
    // Its state again.
    let seed = &found["settings"][0]["found"][0]["findings"][0]["seed"];
    let again = crash(
        &bench,
        &format!("--replay {seed} --from lost --output again"),
    );
    again.exits(0).prints("The state is in again.");
    for made in ["again/state", "again/shrunk", "again/lost"] {
        assert!(bench.path(made).exists(), "{made}");
    }
    crash(&bench, "--replay 77 --from lost --output other").exits(2);
    for made in ["report.html", "summary.md", "crash.json"] {
        assert!(bench.path(&format!("lost/{made}")).exists(), "{made}");
    }
    assert!(!bench.path("lost/work").exists());
}

#[test]
fn a_program_that_forgets_a_sync_breaks_its_promise_and_one_that_does_not_keeps_it() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    for (name, syncs, code) in [("right", "sync value .", 0), ("wrong", "true", 1)] {
        let program = format!("echo 7 > value && {syncs} && echo ack 1");
        let check = r#"test "$STOWPLAN_ACKED" = 0 || test "$(cat value)" = 7"#;
        let words = [
            "crash",
            "--program",
            &program,
            "--check",
            check,
            "--states",
            "8",
            "--model",
            "strict",
            "--output",
            name,
        ];
        bench.run(&words).exits(code);
    }
}

#[test]
fn a_judge_that_is_killed_has_judged_nothing_and_a_check_that_dies_by_itself_found_damage() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    for (signal, unjudged) in [("KILL", true), ("SEGV", false)] {
        let check = format!("kill -{signal} $$");
        let words = [
            "crash",
            "--program",
            "echo 7 > value; echo ack 1",
            "--check",
            &check,
            "--states",
            "4",
            "--model",
            "strict",
            "--json",
            "--output",
            signal,
        ];
        let run = bench.run(&words);
        run.exits(1);
        let found = found(&run);
        assert_eq!(fates(&found).iter().sum::<u64>() == 0, unjudged, "{found}");
        let tally = &found["settings"][0]["found"][0]["tally"];
        assert_eq!(tally["unjudged"].as_u64().is_some(), unjudged, "{found}");
        assert!(bench.path(&format!("{signal}/report.html")).exists());
    }
}

#[test]
fn what_cannot_be_tested_is_refused_with_the_reason() {
    let bench = Bench::new();
    crash(&bench, "sqllite").refuses("did you mean 'sqlite'");
    crash(&bench, "sqlite:location=memory").refuses("keeps nothing that a power cut could leave");
    crash(&bench, "--program ./mine").refuses("--check");
    assert!(!bench.path("stowplan-results").exists());
}

/// `crash` of a program with a check, as one model and few states.
fn of_program(bench: &Bench, program: &str, check: &str, more: &[&str], output: &str) -> Finished {
    let mut words = vec!["crash", "--program", program, "--check", check];
    words.extend(["--states", "4", "--model", "strict", "--output", output]);
    words.extend(more);
    bench.run(&words)
}

/// Whether it says this, on however many lines.
fn says(run: &Finished, text: &str) {
    let said = run
        .stdout()
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    assert!(said.contains(text), "no '{text}' in\n{}", run.stdout());
}

const CHECKED: &str = r#"test "$STOWPLAN_ACKED" = 0 || test "$(cat value)" = 7"#;

#[test]
fn programs_and_checks_that_hang_or_write_too_much_are_ended_and_told() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let writes = "echo 7 > value && sync value . && echo ack 1";
    let limit = ["--check-limit", "1s"];
    let run = of_program(&bench, writes, "sleep 1000", &limit, "check");
    run.exits(1);
    says(
        &run,
        "did not end within 1 s, not even where nothing was lost",
    );

    let limit = ["--program-limit", "1s"];
    let run = of_program(&bench, "sleep 1000", CHECKED, &limit, "program");
    run.exits(1);
    says(&run, "the program did not end within 1 s");

    let limit = ["--most-written", "64KiB"];
    let large = "head -c 100000 /dev/zero > value || exit 4; echo ack 1";
    let run = of_program(&bench, large, CHECKED, &limit, "large");
    run.exits(1);
    says(&run, "the lab refused a write");
    says(&run, "--most-written");
}

#[test]
fn what_a_program_says_wrong_is_said_and_what_went_wrong_can_be_judged_again() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    of_program(
        &bench,
        "echo 7 > value; echo ack x",
        CHECKED,
        &[],
        "malformed",
    )
    .exits(1)
    .prints("its line 'ack x' tells of no commit");
    let none = of_program(
        &bench,
        "echo 7 > value",
        CHECKED,
        &["--name", "silent"],
        "none",
    );
    none.exits(1);
    says(&none, "no line 'ack N' was seen");
    says(&none, "silent");
    let wrong = of_program(&bench, "echo 7 > value; echo ack 1", CHECKED, &[], "wrong");
    wrong.exits(1);
    says(&wrong, "No fsync at all was seen");
    bench
        .run(&["report", "wrong"])
        .exits(0)
        .prints("A promise was broken");
    let text = std::fs::read_to_string(bench.path("wrong/crash.json")).unwrap();
    let found: Value = serde_json::from_str(&text).unwrap();
    let seed = found["settings"][0]["found"][0]["findings"][0]["seed"].to_string();
    let again = bench.run(&[
        "crash", "--replay", &seed, "--from", "wrong", "--output", "again",
    ]);
    again.exits(0).prints("STOWPLAN_ACKED=1");
    assert!(bench.path("again/operations").exists());
}

#[test]
fn where_namespaces_are_refused_the_lab_does_not_begin() {
    let in_another = |limits: &str, program: &str| {
        let script = format!("{limits} exec {program}");
        let unshared = Command::new("unshare")
            .args(["-Ur", "sh", "-c", &script])
            .output();
        unshared.ok()
    };
    let refused = "echo 0 >/proc/sys/user/max_mnt_namespaces &&";
    let is_possible = in_another(refused, "true").is_some_and(|tried| tried.status.success());
    if !available() || !is_possible {
        return;
    }
    let bench = Bench::new();
    let program = format!(
        "{} crash flat --output {}",
        env!("CARGO_BIN_EXE_stowplan"),
        bench.path("out").display()
    );
    let tried = in_another(refused, &program).unwrap();
    let said = String::from_utf8_lossy(&tried.stderr);
    assert_eq!(tried.status.code(), Some(2), "{said}");
    assert!(said.contains("cannot make namespaces"), "{said}");
    assert!(!bench.path("out").exists());
}

#[test]
fn a_directory_has_as_many_links_as_names_its_directories_and_itself() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let links = |path: &str, links| format!("test $(stat -c %h {path}) = {links}");
    let (none, two, kept) = (links(".", 2), links(".", 4), links("a", 2));
    let program = format!(
        "{none} && mkdir a b && {two} && {kept} || exit 4; echo 7 > value && sync value . && echo ack 1"
    );
    of_program(&bench, &program, CHECKED, &[], "links").exits(0);
}

#[test]
fn a_name_that_is_too_long_is_refused_as_elsewhere_and_what_a_killed_run_left_is_in_nobodys_way() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let program = "n=$(printf %256s | tr ' ' n); ! echo x > $n 2>/dev/null && echo 7 > value && sync value . && echo ack 1";
    of_program(&bench, program, CHECKED, &[], "long").exits(0);
    drop(stowplan_harness::disk::WorkDirectory::create(
        &bench.path("killed/work"),
    ));
    of_program(&bench, program, CHECKED, &[], "killed").exits(0);
}
