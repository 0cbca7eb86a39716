//! What there is, and what would be measured, in lines that fit a terminal of 80 columns.

use crate::bench::{Bench, Finished};

/// Runs what must succeed within a screen of 40 lines of 80 columns, and returns what it prints.
#[track_caller]
fn fits(line: &str) -> String {
    let text = Bench::new().run(line).exits(0).fits().stdout();
    let lines = text.lines().count();
    assert!(lines <= 40, "{line}: {lines} lines");
    text
}

/// The first word of each line that is not indented, except the last: that is a hint.
fn names(text: &str) -> Vec<String> {
    let entries = text.split("\n\n").next().unwrap_or_default();
    let heads = entries.lines().filter(|line| !line.starts_with(' '));
    heads
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

fn describe(spec: &str) -> Finished {
    Bench::new().run(&format!("list stores {spec} --verbose"))
}

#[test]
fn studies_and_their_dry_runs_fit_a_screen() {
    let studies = names(&fits("list studies"));
    assert!(studies.len() >= 7, "{studies:?}");
    fits("list drivers");
    for study in &studies {
        for scale in ["quick", "standard", "full"] {
            let text = fits(&format!("study {study} --scale {scale} --dry-run"));
            assert!(text.contains("\nneeds about "), "{text}");
        }
    }
}

#[test]
fn stores_and_their_descriptions_fit_a_screen_and_give_sizes_in_one_form() {
    let list = fits("list stores");
    let stores = names(&list);
    assert!(stores.len() >= 8, "{stores:?}");
    for store in &stores {
        let text = fits(&format!("list stores {store}"));
        assert!(text.contains("\nWith these values:\n"), "{text}");
        for setting in ["cache=", "page_size="] {
            let start = format!("  {setting}");
            let mut lines = text.lines().filter(|line| line.starts_with(&start));
            assert!(lines.all(|line| line.contains("iB  ")), "{text}");
        }
    }
}

#[test]
fn a_store_spec_is_described_with_its_own_promise_beside_the_defaults() {
    describe("redb").exits(0).prints("(D3)\n");
    describe("redb:durability=none,cache=64MiB")
        .exits(0)
        .prints("\n  durability=none (default immediate)\n")
        .prints("\n  cache=64MiB (default 1GiB)\n")
        .prints("\n  two_phase=off\n")
        .prints("  durability   consistent, atomic, delayed (D2)\n");
}

#[test]
fn a_dry_run_says_once_what_all_cells_of_a_comparison_share() {
    let dry = Bench::new().run("study dbench --dry-run --verbose");
    let text = dry.exits(0).fits().stdout();
    let once = "\n  all cells: one transaction per operation where a store has any;";
    let comparisons = text.matches(" (baseline) ").count();
    assert_eq!(text.matches(once).count(), comparisons, "{text}");
    assert_eq!(text.matches("mix of").count(), comparisons, "{text}");
}

#[test]
fn a_cell_that_many_comparisons_have_is_refused_with_how_it_is_called_and_a_short_list() {
    let finished = Bench::new().run("study crud --only files --dry-run");
    finished
        .refuses("a cell is called COMPARISON/files, such as '")
        .refuses(" more; --dry-run --verbose without --only lists them");
    let length = finished.stderr().len();
    assert!(length < 500, "{length} bytes: {}", finished.stderr());
}
