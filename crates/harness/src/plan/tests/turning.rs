//! What is switched in a pair: what cannot be measured here is left out, and ends no search.

use super::study;
use crate::HarnessError;
use crate::drivers::Drivers;
use crate::plan::turning::{require_room, tries, turn};
use crate::plan::{PlanOptions, plan};
use std::path::Path;
use stowplan_model::{DatasetSpec, Extension, Pair, SizeDistribution, Study, Turn};

const STUDY: &str = r#"
name = "turn"
title = "Turn"
question = "What turns it?"
[datasets.blobs]
count = 1_000
size = { distribution = "fixed", bytes = 100 }
[[comparison]]
id = "scan"
title = "Scans"
dataset = "blobs"
workload = { operation = "scan", operations = 20, order = "uniform" }
baseline = "files"
max_rounds = 10
[comparison.cells]
files = { store = "sqlite", label = "files" }
memory = { store = "sqlite:location=memory", label = "in memory" }
disk = { store = "sqlite:page_size=8192", label = "larger pages" }
[[factor]]
id = "cold"
title = "not in memory"
workload = { cache = "cold" }
[[factor]]
id = "short"
title = "shorter scans"
workload = { scan_rows = 3 }
[[factor]]
id = "few"
title = "fewer scans"
workload = { operations = 10 }
"#;

fn searched(cell: &str) -> (Study, Turn, Drivers) {
    let (study, drivers) = (study(STUDY), Drivers::built_in());
    let pair = Pair {
        comparison: "scan".to_owned(),
        cell: cell.to_owned(),
        reference: "files".to_owned(),
        published: None,
    };
    let turn = turn(&study, &pair, 1, &drivers).unwrap();
    (study, turn, drivers)
}

/// The factors of each comparison's tries.
fn groups(more: &Extension) -> Vec<Vec<Vec<&str>>> {
    let factors = |id: &str| {
        let tries = more.tries.iter().filter(|tried| tried.comparison() == id);
        tries
            .map(|tried| tried.factors.iter().map(String::as_str).collect())
            .collect()
    };
    more.comparisons.iter().map(|c| factors(&c.id)).collect()
}

#[test]
fn a_factor_that_one_of_both_cannot_have_is_left_out_with_the_reason() {
    let (study, turn, drivers) = searched("memory");
    assert_eq!(turn.factors, ["short", "few"]);
    let why = &turn.left_out["cold"];
    assert!(why.contains("has no cold state"), "{why}");
    let more = tries(&study, &turn, 1, &drivers).unwrap();
    assert_eq!(more.tries.len(), 3);
    for tried in &more.tries {
        let mut cells = more.comparisons.iter().flat_map(|c| &c.cells);
        assert!(cells.any(|cell| cell.id == tried.cell), "{tried:?}");
    }
}

#[test]
fn what_does_other_work_is_measured_in_rounds_of_its_own() {
    let (study, turn, drivers) = searched("disk");
    assert_eq!(turn.factors, ["cold", "short", "few"]);
    let one = tries(&study, &turn, 1, &drivers).unwrap();
    let alone = |factor| vec![vec![factor]];
    assert_eq!(
        groups(&one),
        [vec![vec![]], alone("cold"), alone("short"), alone("few")]
    );
    let two = tries(&study, &turn, 2, &drivers).unwrap();
    assert_eq!(two.comparisons.len(), 3);
    for comparison in &two.comparisons {
        assert_eq!(
            (comparison.max_rounds, comparison.first_look),
            (20, Some(20))
        );
    }
}

#[test]
fn what_needs_more_room_than_there_is_says_how_to_go_on() {
    let (study, turn, drivers) = searched("disk");
    let more = tries(&study, &turn, 1, &drivers).unwrap();
    let plan = plan(study, &PlanOptions::default(), &drivers).unwrap();
    let place = tempfile::tempdir().unwrap();
    let asked = |more: &Extension| require_room(&plan, more, false, place.path());
    asked(&more).unwrap();
    let endless = DatasetSpec {
        size: SizeDistribution::Fixed { bytes: 1 << 50 },
        ..more.datasets["blobs"].clone()
    };
    let endless = Extension {
        datasets: [("blobs".to_owned(), endless)].into(),
        ..more
    };
    let message = asked(&endless).unwrap_err().to_string();
    assert!(
        message.contains("no room for what is to be switched next")
            && message.contains("--ignore-space"),
        "{message}"
    );
    let nowhere = require_room(&plan, &endless, false, Path::new("/dev/null/x"));
    assert!(matches!(nowhere, Err(HarnessError::Files(_))));
}
