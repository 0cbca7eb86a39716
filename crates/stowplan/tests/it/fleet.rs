//! One study on several machines, by the scripts in `fleet/`: two directories stand for two hosts, a
//! stub for ssh runs what it is given in them.

use crate::bench::{Bench, entries};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

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

fn script(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fleet");
    root.canonicalize().unwrap().join(name)
}

fn has(program: &str) -> bool {
    let found = Command::new("sh")
        .args(["-c", &format!("command -v {program}")])
        .stdout(Stdio::null())
        .status();
    found.unwrap().success()
}

/// A place with the hosts `alpha` and `beta`, and the stub.
fn fleet(hosts: &str) -> Bench {
    let bench = Bench::new();
    for host in ["alpha", "beta"] {
        std::fs::create_dir_all(bench.path("hosts").join(host)).unwrap();
    }
    bench.write("hosts.txt", hosts);
    bench.write("ssh", SSH);
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("ssh"), executable).unwrap();
    bench
}

fn over_ssh(bench: &Bench, study: &[&str]) -> Output {
    let ssh = format!("{} -o BatchMode=yes", bench.path("ssh").display());
    Command::new("bash")
        .arg(script("over-ssh"))
        .args(["--hosts", "hosts.txt", "--ssh", &ssh])
        .args(["--binary", env!("CARGO_BIN_EXE_stowplan"), "--"])
        .args(study)
        .current_dir(bench.path("."))
        .env("FLEET_TEST_HOSTS", bench.path("hosts"))
        .output()
        .unwrap()
}

const STUDY: [&str; 5] = ["small.toml", "--only", "read", "--rounds", "10"];

#[test]
fn a_study_runs_on_every_host_and_the_results_are_merged() {
    if !has("bash") {
        eprintln!("not tested: there is no bash");
        return;
    }
    let bench = fleet("alpha\n\nbeta   # the other one\n");
    let done = over_ssh(&bench, &STUDY);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    assert!(said.contains("2 hosts, 0 failed"), "{said}");
    assert_eq!(
        entries(&bench.path("results")),
        ["alpha", "alpha.log", "beta", "beta.log"]
    );
    // Nothing of the run is left there, only what the next one would copy again.
    let left = entries(&bench.path("hosts/alpha/stowplan-fleet"));
    assert_eq!(left, ["stowplan", "study.toml"]);
    let report = bench.run(&["report", "results/alpha", "results/beta"]);
    report
        .exits(0)
        .prints("2 results of 1 machine")
        .prints("stowplan-results/machines-small.html");
    assert_eq!(report.stderr(), "");
}

#[test]
fn a_host_that_fails_is_named_and_the_others_go_on() {
    if !has("bash") {
        eprintln!("not tested: there is no bash");
        return;
    }
    let bench = fleet("down\nalpha\n");
    let done = over_ssh(&bench, &STUDY);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("down cannot be prepared: ssh: connect"),
        "{said}"
    );
    assert!(bench.path("results/alpha/result.jsonl").is_file(), "{said}");
    let again = over_ssh(&bench, &STUDY);
    let said = String::from_utf8_lossy(&again.stderr);
    assert_eq!(again.status.code(), Some(2), "{said}");
    assert!(said.contains("results/alpha exists"), "{said}");
}

#[test]
fn a_host_named_twice_is_refused_before_anything_is_done() {
    if !has("bash") {
        eprintln!("not tested: there is no bash");
        return;
    }
    for (hosts, named) in [
        ("alpha\nalpha\n", "'alpha' and 'alpha'"),
        ("a@b\nalpha\na_b\n", "'a@b' and 'a_b'"),
        ("alpha\nAlpha\n", "'alpha' and 'Alpha'"),
    ] {
        let bench = fleet(hosts);
        let done = over_ssh(&bench, &STUDY);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{said}");
        assert!(said.contains(named), "{said}");
        assert!(!bench.path("results").exists());
        assert!(entries(&bench.path("hosts/alpha")).is_empty());
    }
}

#[test]
fn two_names_of_one_machine_do_not_remove_each_others_run() {
    if !has("bash") {
        eprintln!("not tested: there is no bash");
        return;
    }
    let bench = fleet("alpha\nalias\n");
    let hosts = bench.path("hosts");
    std::os::unix::fs::symlink("alpha", hosts.join("alias")).unwrap();
    let done = over_ssh(&bench, &STUDY);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(0), "{said}");
    for host in ["alpha", "alias"] {
        let result = bench.path("results").join(host).join("result.jsonl");
        assert!(result.is_file(), "{host}: {said}");
    }
    let left = entries(&hosts.join("alpha/stowplan-fleet"));
    assert_eq!(left, ["stowplan", "study.toml"]);
}

#[test]
fn what_a_study_refuses_is_said_by_the_host() {
    if !has("bash") {
        eprintln!("not tested: there is no bash");
        return;
    }
    let bench = fleet("alpha\n");
    let done = over_ssh(&bench, &["small.toml", "--only", "it's not there"]);
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(
        said.contains("alpha has no result (code 2): error:"),
        "{said}"
    );
    assert!(said.contains("it's not there"), "{said}");
    assert_eq!(entries(&bench.path("results")), ["alpha.log"]);
    let left = entries(&bench.path("hosts/alpha/stowplan-fleet"));
    assert_eq!(left, ["stowplan", "study.toml"]);
}

#[test]
fn the_manifest_is_a_job_whose_results_can_be_fetched() {
    if !has("bash") {
        eprintln!("not tested: there is no bash");
        return;
    }
    let bench = Bench::new();
    let done = Command::new("bash")
        .arg(script("check"))
        .args([env!("CARGO_BIN_EXE_stowplan"), "small.toml"])
        .current_dir(bench.path("."))
        .env("FLEET_CHECK_OPTIONS", "--only read --rounds 10")
        .output()
        .unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr),
    );
    assert_eq!(done.status.code(), Some(0), "{out}{err}");
    if err.contains("NOT checked") {
        eprintln!("{err}");
        return;
    }
    assert!(out.contains("2 results of 1 machine"), "{out}{err}");
}
