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
    bench.run(&format!("crash {line}"))
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
    assert_eq!(fates(&kept.exits(0).json())[1..], [0; 5]);
    let lost = crash(
        &bench,
        &format!("files:write=rename,fsync=file {line} lost"),
    );
    let found = lost.exits(0).json();
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
fn what_cannot_be_tested_is_refused_with_the_reason() {
    let bench = Bench::new();
    crash(&bench, "sqllite").refuses("did you mean 'sqlite'");
    crash(&bench, "sqlite:location=memory").refuses("keeps nothing that a power cut could leave");
    crash(&bench, "--program ./mine").refuses("--check");
    assert!(!bench.path("stowplan-results").exists());
}

/// `crash` of a program with a check, as one model and few states.
fn of_program(bench: &Bench, program: &str, check: &str, more: &str, output: &str) -> Finished {
    let mut words = vec!["crash", "--program", program, "--check", check];
    words.extend("--states 4 --model strict".split(' '));
    words.extend(["--output", output]);
    words.extend(more.split_whitespace());
    bench.run(&words)
}

const CHECKED: &str = r#"test "$STOWPLAN_ACKED" = 0 || test "$(cat value)" = 7"#;
const KEEPS: &str = "echo 7 > value && sync value . && echo ack 1";
const FORGETS: &str = "echo 7 > value; echo ack 1";

#[test]
fn a_program_that_forgets_a_sync_breaks_its_promise_and_one_that_does_not_keeps_it() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    of_program(&bench, KEEPS, CHECKED, "", "right").exits(0);
    let wrong = of_program(&bench, FORGETS, CHECKED, "", "wrong");
    wrong.exits(1).says("No fsync at all was seen");
    bench
        .run("report wrong")
        .exits(0)
        .prints("A promise was broken");
    let found: Value = serde_json::from_str(&bench.text("wrong/crash.json")).unwrap();
    let seed = &found["settings"][0]["found"][0]["findings"][0]["seed"];
    let again = crash(
        &bench,
        &format!("--replay {seed} --from wrong --output again"),
    );
    again.exits(0).prints("STOWPLAN_ACKED=1");
    assert!(bench.path("again/operations").exists());
}

#[test]
fn a_judge_that_is_killed_has_judged_nothing_and_a_check_that_dies_by_itself_found_damage() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    for (signal, unjudged) in [("KILL", true), ("SEGV", false)] {
        let check = format!("kill -{signal} $$");
        let run = of_program(&bench, FORGETS, &check, "--json", signal);
        let found = run.exits(1).json();
        assert_eq!(fates(&found).iter().sum::<u64>() == 0, unjudged, "{found}");
        let tally = &found["settings"][0]["found"][0]["tally"];
        assert_eq!(tally["unjudged"].as_u64().is_some(), unjudged, "{found}");
        assert!(bench.path(&format!("{signal}/report.html")).exists());
    }
}

#[test]
fn programs_and_checks_that_hang_or_write_too_much_are_ended_and_told() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let ended = |program: &str, check: &str, limit: &str, output: &str| {
        let run = of_program(&bench, program, check, limit, output);
        run.exits(1);
        run
    };
    ended(KEEPS, "sleep 1000", "--check-limit 1s", "check")
        .says("did not end within 1 s, not even where nothing was lost");
    ended("sleep 1000", CHECKED, "--program-limit 1s", "program")
        .says("the program did not end within 1 s");
    let large = "head -c 100000 /dev/zero > value || exit 4; echo ack 1";
    ended(large, CHECKED, "--most-written 64KiB", "large")
        .says("the lab refused a write")
        .says("--most-written");
}

#[test]
fn what_a_program_says_wrong_is_said() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let odd = "echo 7 > value; echo ack x";
    of_program(&bench, odd, CHECKED, "", "malformed")
        .exits(1)
        .prints("its line 'ack x' tells of no commit");
    of_program(&bench, "echo 7 > value", CHECKED, "--name silent", "none")
        .exits(1)
        .says("no line 'ack N' was seen")
        .says("silent");
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
fn the_file_system_counts_links_refuses_names_and_is_made_where_a_killed_run_was_as_elsewhere() {
    if !available() {
        return;
    }
    let bench = Bench::new();
    let links = |path: &str, links| format!("test $(stat -c %h {path}) = {links}");
    let (none, two, kept) = (links(".", 2), links(".", 4), links("a", 2));
    let long = "n=$(printf %256s | tr ' ' n); ! echo x > $n 2>/dev/null";
    let program =
        format!("{none} && mkdir a b && {two} && {kept} || exit 4; {long} || exit 4; {KEEPS}");
    drop(stowplan_harness::disk::WorkDirectory::create(
        &bench.path("killed/work"),
    ));
    of_program(&bench, &program, CHECKED, "", "killed").exits(0);
}
