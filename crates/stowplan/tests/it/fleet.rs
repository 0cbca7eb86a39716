//! One study on several machines, by the scripts in `fleet/`: two directories stand for two hosts, a
//! stub for ssh runs what it is given in them.

use crate::bench::{Bench, PROGRAM, entries, make_executable};
use std::path::Path;
use std::process::Command;

/// `ssh [options] HOST COMMAND`, where a host is a directory.
const SSH: &str = r#"#!/bin/sh
while case $1 in -*) true ;; *) false ;; esac; do
  case $1 in -o) shift ;; esac
  shift
done
[ "$1" != down ] || { echo "ssh: connect to host down: No route to host" >&2; exit 255; }
cd "$FLEET_TEST_HOSTS/$1" || exit 255
exec sh -c "$2"
"#;

#[expect(
    clippy::print_stderr,
    reason = "who runs the tests is told what is not tested"
)]
fn script(name: &str) -> Option<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fleet");
    let found = Command::new("bash").arg("--version").output();
    if found.is_err() {
        eprintln!("not tested: there is no bash");
        return None;
    }
    let mut command = Command::new("bash");
    command.arg(root.canonicalize().unwrap().join(name));
    Some(command)
}

/// A place with the hosts `alpha` and `beta`, and the stub.
fn fleet(hosts: &str) -> Bench {
    let bench = Bench::new();
    for host in ["alpha", "beta"] {
        std::fs::create_dir_all(bench.path("hosts").join(host)).unwrap();
    }
    bench.write("hosts.txt", hosts).write("ssh", SSH);
    make_executable(&bench.path("ssh"));
    bench
}

/// Runs a study on the hosts; its exit code, and what was said.
fn over_ssh(bench: &Bench, only: &str) -> Option<(i32, String)> {
    let ssh = format!("{} -o BatchMode=yes", bench.path("ssh").display());
    let mut command = script("over-ssh")?;
    command
        .args(["--hosts", "hosts.txt", "--ssh", &ssh])
        .args(["--binary", PROGRAM, "--"])
        .args(["small.toml", "--rounds", "1", "--only", only])
        .current_dir(bench.path("."))
        .env("FLEET_TEST_HOSTS", bench.path("hosts"));
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    Some((done.status.code().unwrap(), said))
}

/// Nothing of a run is left on a host, only what the next one would copy again.
#[track_caller]
fn is_clean(bench: &Bench) {
    let left = entries(&bench.path("hosts/alpha/stowplan-fleet"));
    assert_eq!(left, ["stowplan", "study.toml"]);
}

#[test]
fn a_study_runs_on_every_host_and_the_results_are_merged_also_of_one_with_two_names() {
    let bench = fleet("alpha\n\nbeta   # the other one\nalias\n");
    std::os::unix::fs::symlink("alpha", bench.path("hosts/alias")).unwrap();
    let Some((code, said)) = over_ssh(&bench, "read") else {
        return;
    };
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("3 hosts, 0 failed"), "{said}");
    let results = [
        "alias",
        "alias.log",
        "alpha",
        "alpha.log",
        "beta",
        "beta.log",
    ];
    assert_eq!(entries(&bench.path("results")), results);
    is_clean(&bench);
    let report = bench.run("report results/alpha results/beta");
    report
        .exits(0)
        .prints("2 results of 1 machine")
        .prints("stowplan-results/machines-small.html");
    assert_eq!(report.stderr(), "");
}

#[test]
fn a_host_that_fails_is_named_and_the_others_go_on() {
    let bench = fleet("down\nalpha\n");
    let Some((code, said)) = over_ssh(&bench, "read") else {
        return;
    };
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("down cannot be prepared: ssh: connect"),
        "{said}"
    );
    assert!(bench.path("results/alpha/result.jsonl").is_file(), "{said}");
    let (code, said) = over_ssh(&bench, "read").unwrap();
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("results/alpha exists"), "{said}");
}

#[test]
fn a_host_named_twice_is_refused_before_anything_is_done() {
    for (hosts, named) in [
        ("alpha\nalpha\n", "'alpha' and 'alpha'"),
        ("a@b\nalpha\na_b\n", "'a@b' and 'a_b'"),
        ("alpha\nAlpha\n", "'alpha' and 'Alpha'"),
    ] {
        let bench = fleet(hosts);
        let Some((code, said)) = over_ssh(&bench, "read") else {
            return;
        };
        assert_eq!(code, 2, "{said}");
        assert!(said.contains(named), "{said}");
        assert!(!bench.path("results").exists());
        assert!(entries(&bench.path("hosts/alpha")).is_empty());
    }
}

#[test]
fn what_a_study_refuses_is_said_by_the_host() {
    let bench = fleet("alpha\n");
    let Some((code, said)) = over_ssh(&bench, "it's not there") else {
        return;
    };
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("alpha has no result (code 2): error:"),
        "{said}"
    );
    assert!(said.contains("it's not there"), "{said}");
    assert_eq!(entries(&bench.path("results")), ["alpha.log"]);
    is_clean(&bench);
}

#[test]
fn the_manifest_is_a_job_whose_results_can_be_fetched() {
    let bench = Bench::new();
    let Some(mut command) = script("check") else {
        return;
    };
    command
        .args([PROGRAM, "small.toml"])
        .current_dir(bench.path("."))
        .env("FLEET_CHECK_OPTIONS", "--only read --rounds 1");
    let done = command.output().unwrap();
    let said = |stream: &[u8]| String::from_utf8_lossy(stream).into_owned();
    let (out, err) = (said(&done.stdout), said(&done.stderr));
    assert_eq!(done.status.code(), Some(0), "{out}{err}");
    if err.contains("NOT checked") {
        eprintln!("{err}");
        return;
    }
    assert!(out.contains("2 results of 1 machine"), "{out}{err}");
}
