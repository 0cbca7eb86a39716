//! `stowplan doctor`: what it finds, how it says so, and that nothing stays behind.

use crate::bench::{Bench, entries};

#[test]
fn the_verdict_stands_first_and_everything_fits_80_columns() {
    let bench = Bench::on_disk();
    let run = bench.run("doctor --verbose --study small.toml");
    let text = run.fits().stdout();
    let first = text.lines().next().unwrap();
    assert!(first.contains("it for measuring"), "{text}");
    let groups = "Processor|Other work|Memory|Disk|What can be used|judged for study small";
    for group in groups.split('|') {
        run.says(group);
    }
    assert_eq!(entries(&bench.path(".")), ["small.toml"]);
    assert_eq!(run.stderr(), "");
}

#[test]
fn the_document_and_the_exit_code_say_the_same() {
    let bench = Bench::new();
    let run = bench.run("doctor --json");
    let document = run.json();
    let fit = document["fit"].as_bool().unwrap();
    run.exits(if fit { 0 } else { 1 });
    let checks = document["checks"].as_array().unwrap();
    let problem = checks.iter().any(|check| check["state"] == "problem");
    assert_eq!(problem, !fit);
    // The tests are a build without optimisation, which spoils what it measures.
    if cfg!(debug_assertions) {
        let build = checks.iter().find(|check| check["name"] == "build");
        assert_eq!(build.unwrap()["state"], "problem");
    }
    for check in checks {
        assert!(check["why"].as_str().unwrap().ends_with('.'), "{check}");
    }
}

#[test]
fn memory_is_no_disk() {
    let Ok(directory) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let place = directory.path().to_str().unwrap();
    let run = Bench::new().run(&["doctor", place, "--quiet"]);
    run.exits(1)
        .prints("Not fit for measuring")
        .prints("file system");
    assert_eq!(entries(directory.path()), [""; 0]);
}

#[test]
fn a_directory_in_which_nothing_can_be_written_is_a_finding() {
    // Refuses root too.
    let run = Bench::new().run("doctor /proc");
    run.exits(1).prints("nothing can be written here");
}
