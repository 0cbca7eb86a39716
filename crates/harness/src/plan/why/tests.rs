use crate::drivers::Drivers;
use crate::plan::{PlanOptions, plan};
use stowplan_model::{LadderSpec, Operation, Plan, Role, Study};

const STUDY: &str = r#"
name = "places"
title = "Places for blobs"
question = "Which is faster?"
memory_budget = 4_096_000

[datasets.blobs]
count = 100
size = { distribution = "fixed", bytes = 10_000 }

[[comparison]]
id = "read"
title = "Warm reads"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files", label = "files" }
why-files = { store = "files:layout=tree", label = "tree" }
sql = { store = "sqlite", label = "SQLite" }
each = { store = "sqlite", label = "SQLite, tx each", workload = { per_transaction = 1 } }
floor = { store = "flat", floor = true }
two = { store = "files", workload = { threads = 2 } }
redb = { store = "redb" }

[[comparison]]
id = "cold"
title = "Cold reads"
dataset = "blobs"
workload = { cache = "cold", operations = 100 }
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
sql = { store = "sqlite" }

[[comparison]]
id = "write"
title = "Overwrites"
dataset = "blobs"
workload = { operation = "overwrite", operations = 100, per_transaction = 1 }
baseline = "safe"
[comparison.cells]
safe = { store = "files:write=rename,fsync=directory" }
wal = { store = "sqlite:journal=wal" }

[[comparison]]
id = "scan"
title = "Scans"
dataset = "blobs"
workload = { operation = "scan" }
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
"#;

fn planned(text: &str, only: &[&str]) -> Plan {
    let options = PlanOptions {
        why: true,
        only: only.iter().copied().map(str::to_owned).collect(),
        ..PlanOptions::default()
    };
    plan(
        Study::parse(text, "t.toml").unwrap(),
        &options,
        &Drivers::built_in(),
    )
    .unwrap()
}

fn ladder<'a>(plan: &'a Plan, id: &str) -> &'a LadderSpec {
    let known: Vec<&str> = plan.study.ladders.iter().map(|l| l.id.as_str()).collect();
    let found = plan.study.ladders.iter().find(|ladder| ladder.id == id);
    found.unwrap_or_else(|| panic!("{id} is not in {known:?}"))
}

/// The stores of a ladder's rungs, from the bottom up.
fn stores(plan: &Plan, ladder: &LadderSpec) -> Vec<String> {
    let cells = |key: &String| {
        let of_it = plan.study.comparisons.iter();
        let mut of_it = of_it.filter(|c| c.id == ladder.comparison);
        of_it.next().unwrap().cells[key].store.to_string()
    };
    ladder.rungs.iter().map(|rung| cells(&rung.cell)).collect()
}

#[test]
fn each_cell_of_a_store_that_knows_its_steps_gets_a_ladder() {
    let plan = planned(STUDY, &[]);
    let ids: Vec<&str> = plan.study.ladders.iter().map(|l| l.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "why-read-dir",
            "why-read-each",
            "why-read-sql",
            "why-read-why-files",
            "why-cold-dir",
            "why-cold-sql",
            "why-write-safe",
            "why-write-wal",
        ]
    );
    let of_files = ladder(&plan, "why-read-dir");
    assert_eq!(
        stores(&plan, of_files),
        [
            "flat",
            "files:open=kept,stat=none",
            "files:stat=none",
            "files",
        ]
    );
    assert_eq!(of_files.rungs[0].cell, "floor");
    assert_eq!(of_files.rungs[3].cell, "dir");
    assert_eq!(of_files.rungs[2].isolated["why-open-close"], 1.0);
    let cold = ladder(&plan, "why-cold-sql");
    assert_eq!(stores(&plan, cold), ["flat", "sqlite"]);
    assert!(cold.rungs.iter().all(|rung| rung.isolated.is_empty()));
}

#[test]
fn what_ladders_share_is_added_once_under_a_free_name_and_is_only_a_part() {
    let plan = planned(STUDY, &[]);
    let own = Study::parse(STUDY, "t.toml").unwrap();
    for (before, after) in own.comparisons.iter().zip(&plan.study.comparisons) {
        let added = after
            .cells
            .iter()
            .filter(|(k, _)| !before.cells.contains_key(*k));
        let mut seen = Vec::new();
        for (key, cell) in added {
            assert!(cell.part && !cell.floor, "{key}");
            let what = (cell.store.clone(), cell.workload.clone());
            assert!(!seen.contains(&what), "{key}: {} twice", cell.store);
            seen.push(what);
        }
        let kept = before
            .cells
            .iter()
            .all(|(key, cell)| after.cells[key] == *cell);
        assert!(kept, "{}", before.id);
    }
    let read = &plan.comparisons[0];
    let cell = |key: &str| read.cells.iter().find(|cell| cell.key == key).unwrap();
    // The study has a cell of that name.
    assert_eq!(cell("why-files-2").role, Role::Part);
    assert_eq!(cell("why-open-close").label, "alone: open-close");
    let cached = read
        .cells
        .iter()
        .any(|c| c.label == "sqlite:cache=16GiB,preload=on");
    assert!(
        cached,
        "{:?}",
        read.cells.iter().map(|c| &c.label).collect::<Vec<_>>()
    );
    assert!(
        plan.comparisons
            .iter()
            .all(|c| c.not_applicable.is_empty() || c.id == "read")
    );
}

#[test]
fn a_rung_without_transactions_serves_ladders_with_one_and_with_many() {
    let plan = planned(STUDY, &["read"]);
    let lowest = |id: &str| ladder(&plan, id).rungs[0].cell.clone();
    assert_eq!(lowest("why-read-each"), lowest("why-read-sql"));
}

#[test]
fn what_the_study_takes_apart_itself_is_left_as_it_is() {
    let text = format!(
        "{STUDY}[[ladder]]\nid = \"why-read-sql\"\ntitle = \"t\"\ncomparison = \"read\"\n\
         rungs = [{{ cell = \"floor\", step = \"one\" }}, {{ cell = \"dir\", step = \"two\" }}]\n"
    );
    let plan = planned(&text, &["read"]);
    let ids: Vec<&str> = plan.study.ladders.iter().map(|l| l.id.as_str()).collect();
    let expected = [
        "why-read-sql",
        "why-read-each",
        "why-read-sql-2",
        "why-read-why-files",
    ];
    assert_eq!(ids, expected);
}

#[test]
fn only_what_is_chosen_is_taken_apart_with_the_baseline_beside_it() {
    let plan = planned(STUDY, &["read/sql"]);
    let ids: Vec<&str> = plan.study.ladders.iter().map(|l| l.id.as_str()).collect();
    assert_eq!(ids, ["why-read-dir", "why-read-sql"]);
    assert_eq!(plan.comparisons.len(), 1);
    let measured: Vec<&str> = plan.cells().map(|cell| cell.key.as_str()).collect();
    for ladder in &plan.study.ladders {
        for rung in &ladder.rungs {
            let cells = rung.isolated.keys().chain([&rung.cell]);
            for cell in cells {
                assert!(measured.contains(&cell.as_str()), "{cell} of {}", ladder.id);
            }
        }
    }
    assert!(!measured.contains(&"each"), "{measured:?}");
}

#[test]
fn a_step_that_cannot_run_here_is_one_with_the_step_above_it() {
    let study = Study::parse(STUDY, "t.toml").unwrap();
    let (study, _) = super::explained(
        study,
        vec!["read/dir".to_owned()],
        Some(100),
        &Drivers::built_in(),
    );
    let rungs = &study.ladders[0].rungs;
    let steps: Vec<&str> = rungs.iter().map(|rung| rung.step.as_str()).collect();
    assert_eq!(
        steps,
        [
            "one read of a file that stays open",
            "a file of its own for each value; open and close",
            "fstat of the open file",
        ]
    );
    assert_eq!(rungs[1].isolated["why-open-close"], 1.0);
}

#[test]
fn without_why_nothing_is_added() {
    let study = Study::parse(STUDY, "t.toml").unwrap();
    let plan = plan(study, &PlanOptions::default(), &Drivers::built_in()).unwrap();
    assert!(plan.study.ladders.is_empty());
    assert!(plan.cells().all(|cell| cell.role != Role::Part));
}

#[test]
fn a_study_that_was_expanded_is_still_a_valid_one() {
    let plan = planned(STUDY, &[]);
    let text = toml::to_string(&plan.study).unwrap();
    Study::parse(&text, "expanded.toml").unwrap();
}

#[test]
fn nothing_was_done_before_to_a_primitive_which_has_no_values() {
    let study = STUDY.replace(
        "operations = 100, per_transaction = 1",
        "operations = 100, per_transaction = 1, after = [\"read\"]",
    );
    let plan = planned(&study, &["write"]);
    let (primitives, others): (Vec<_>, Vec<_>) = plan
        .cells()
        .partition(|cell| cell.store.kind == "primitive");
    assert!(!primitives.is_empty());
    assert!(primitives.iter().all(|cell| cell.workload.after.is_none()));
    assert!(
        others
            .iter()
            .all(|cell| cell.workload.after.has(Operation::Read))
    );
}
