//! What `stowplan doctor` says of a machine.

use crate::support::{PLAIN, in_brief, words};
use stowplan_model::{Check, CheckGroup, CheckState, Checkup, Environment};
use stowplan_report::doctor::document;
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::{TerminalOptions, render};

pub(crate) fn checkup() -> Checkup {
    use CheckGroup::{Disk, Features, Memory, Processor};
    use CheckState::{Ok, Problem, Unavailable, Warning};
    let damon = "For the run: echo off | sudo tee /sys/kernel/mm/damon/admin/kdamonds/0/state.";
    let strace = "apt install strace, or your system's way.";
    let disk = "Give a directory on a disk.";
    let checks = [
        (Processor, "CPUs", Ok, "2", ""),
        (Processor, "governor", Unavailable, "not told here", ""),
        (Processor, "stolen time", Unavailable, "not told here", ""),
        (Processor, "clock", Ok, "tsc, 24 ns to read", "Nothing."),
        (Memory, "page-out", Warning, "DAMON evicts pages", damon),
        (Disk, "file system", Problem, "tmpfs on /dev/shm", disk),
        (Features, "cachestat", Ok, "yes", ""),
        (Features, "strace", Unavailable, "not found", strace),
    ];
    let checks = checks.map(|(group, name, state, found, mend)| Check {
        name: name.to_owned(),
        group,
        state,
        found: found.to_owned(),
        mend: Some(mend.to_owned()).filter(|mend| !mend.is_empty()),
        why: format!("What the {name} does was measured once."),
    });
    Checkup {
        tool_version: "0.1.0".to_owned(),
        directory: "/dev/shm".to_owned(),
        asked: "study fasterthanfs".to_owned(),
        environment: Environment {
            host: "vm".to_owned(),
            ..Environment::default()
        },
        checks: checks.into(),
    }
}

#[test]
fn the_verdict_comes_first_and_reasons_stand_where_something_is_to_be_mended() {
    let text = |detail| {
        let options = TerminalOptions {
            width: 120,
            detail,
            ..PLAIN
        };
        render(&document(&checkup()), &options)
    };
    let (usual, everything) = (text(Detail::Summary), text(Detail::Full));
    assert!(everything.contains(&usual), "{everything}");
    let reasons = everything.matches("measured once").count();
    assert_eq!(reasons, checkup().checks.len(), "all have one when verbose");
    insta::assert_snapshot!(everything);
}

#[test]
fn a_verdict_names_problems_before_warnings() {
    let mut checkup = checkup();
    let all = "Not fit for measuring: file system. Besides, one warning: page-out.";
    let but_problems = "Fit for measuring, with one warning: page-out.";
    for (without, verdict) in [
        (None, all),
        (Some(CheckState::Problem), but_problems),
        (
            Some(CheckState::Warning),
            "Fit for measuring: nothing was found here that would spoil a measurement.",
        ),
    ] {
        checkup.checks.retain(|check| Some(check.state) != without);
        let said = in_brief(&document(&checkup), &PLAIN);
        assert_eq!(words(&said), verdict);
    }
}
