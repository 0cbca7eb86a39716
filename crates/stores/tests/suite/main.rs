//! Engines of keys and values, several threads at a store, the store of our own that writes in memory first, and
//! one to begin others from.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod key_value_engines;
mod log;
#[path = "../place/mod.rs"]
mod place;
mod several_connections;
mod sqlite_buffered;

use stowplan_stores::suite;

#[test]
fn the_store_that_others_begin_from_does_what_every_store_must_do() {
    let directory = tempfile::tempdir().unwrap();
    let wrong = suite::every_setting(log::KIND, &["sync=commit"], directory.path());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let wrong = suite::behaviour(log::KIND, &[""], directory.path());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Saved in the program it is compiled without the suite.
#[test]
fn the_store_that_others_begin_from_uses_nothing_that_only_tests_have() {
    let source = include_str!("log.rs");
    let uses = |line: &&str| line.starts_with("use ") || line.contains("::");
    for line in source.lines().filter(uses) {
        for only_in_tests in ["suite", "conformance", "tempfile", "test]"] {
            assert!(!line.contains(only_in_tests), "{line}");
        }
    }
}
