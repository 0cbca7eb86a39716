use super::*;

mod matrix;
mod on;
mod workloads;

const STUDY: &str = r#"
name = "places"
title = "Places for blobs"
question = "Which is faster?"
memory_budget = 4_096_000

[datasets.blobs]
count = 1_000
size = { distribution = "fixed", bytes = 10_000 }
[datasets.spare]
count = 50
size = { distribution = "fixed", bytes = 100 }

[scales.quick]
count = { blobs = 100 }
operations = { write = 20 }
max_rounds = 10
skip = ["cold"]

[[comparison]]
id = "read"
title = "Warm reads"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files:layout=dir", label = "files" }
lent = { store = "files:layout=dir", label = "files, lent", workload = { delivery = "in-place" } }
many = { store = "files", label = "too many", workload = { operations = 1_001 } }
sql = { store = "sqlite" }
stdio = { store = "files:read=stdio" }
tree = { store = "files:layout=tree" }

[[comparison]]
id = "cold"
title = "Cold reads"
dataset = "blobs"
workload = { cache = "cold", operations = 100 }
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
memory = { store = "sqlite:location=memory", label = "memory" }

[[comparison]]
id = "write"
title = "Overwrites"
dataset = "blobs"
workload = { operation = "overwrite", operations = 200, per_transaction = 1 }
baseline = "safe"
max_rounds = 5
[comparison.cells]
floor = { store = "flat", floor = true }
lax = { store = "files:write=truncate", label = "lax" }
safe = { store = "files:write=rename,fsync=directory" }

[[comparison]]
id = "lax-first"
title = "Overwrites of few"
dataset = "spare"
workload = { operation = "overwrite" }
baseline = "lax"
max_rounds = 20
[comparison.cells]
lax = { store = "files:write=truncate" }
safe = { store = "files:write=rename,fsync=directory" }

[[figure]]
id = "one"
title = "Over SQLite"
comparisons = ["read"]
to = "sql"
cells = ["dir", "tree", "sql"]
[[figure]]
id = "two"
title = "Over SQLite again"
comparisons = ["read"]
to = "sql"
cells = ["tree", "lent"]
[[figure]]
id = "three"
title = "The other way round"
comparisons = ["read"]
to = "tree"
cells = ["sql"]
[[figure]]
id = "four"
title = "Cold"
comparisons = ["cold"]
to = "dir"
cells = ["memory"]
"#;

fn study(text: &str) -> Study {
    Study::parse(text, "t.toml").unwrap()
}

fn only(names: &[&str]) -> PlanOptions {
    PlanOptions {
        only: names.iter().map(|name| (*name).to_owned()).collect(),
        ..PlanOptions::default()
    }
}

fn at(scale: &str) -> PlanOptions {
    PlanOptions {
        scale: Some(scale.to_owned()),
        ..PlanOptions::default()
    }
}

fn in_state(state: CacheState) -> PlanOptions {
    PlanOptions {
        cache_state: Some(state),
        ..PlanOptions::default()
    }
}

fn as_durable_as(class: Durability) -> PlanOptions {
    PlanOptions {
        durability: Some(class),
        ..PlanOptions::default()
    }
}

fn rounds_of(rounds: u32) -> PlanOptions {
    PlanOptions {
        rounds: Some(rounds),
        ..PlanOptions::default()
    }
}

fn planned(options: &PlanOptions) -> Plan {
    planned_of(STUDY, options)
}

fn planned_of(text: &str, options: &PlanOptions) -> Plan {
    plan(study(text), options, &Drivers::built_in()).unwrap()
}

fn refusal(text: &str, options: &PlanOptions) -> String {
    let refused = plan(study(text), options, &Drivers::built_in());
    let message = refused.unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message
}

fn comparison<'p>(plan: &'p Plan, id: &str) -> &'p Comparison {
    plan.comparisons.iter().find(|c| c.id == id).unwrap()
}

fn cell<'p>(plan: &'p Plan, id: &str) -> &'p Cell {
    plan.cells().find(|cell| cell.id.0 == id).unwrap()
}

fn ids(comparison: &Comparison) -> Vec<&str> {
    comparison.cells.iter().map(|c| c.id.0.as_str()).collect()
}

fn comparison_ids(plan: &Plan) -> Vec<&str> {
    plan.comparisons.iter().map(|c| c.id.as_str()).collect()
}

fn pairs(comparison: &Comparison) -> Vec<(&str, &str)> {
    comparison
        .contrasts
        .iter()
        .map(|c| (c.cell.0.as_str(), c.reference.0.as_str()))
        .collect()
}

#[test]
fn cells_share_a_built_store_where_only_settings_differ_that_do_not_shape_it() {
    let plan = planned(&PlanOptions::default());
    let instance = |id| cell(&plan, id).instance.as_str();
    assert_eq!(instance("read/dir"), instance("read/stdio"));
    assert_eq!(
        instance("read/dir"),
        instance("cold/dir"),
        "across comparisons too"
    );
    for other in ["read/tree", "read/sql", "write/floor", "lax-first/safe"] {
        assert_ne!(instance("read/dir"), instance(other));
    }
}

#[test]
fn cells_that_write_share_a_build_where_there_are_keys_for_each() {
    let shared = |study_of: &str, one: &str, other: &str| {
        let plan = planned_of(study_of, &PlanOptions::default());
        let cells = [one, other].map(|id| cell(&plan, id));
        assert_eq!(
            cells[0].shares_writes(),
            !cells[0].instance.contains(stowplan_model::OF_CELL)
        );
        cells[0].instance == cells[1].instance
    };
    let both = ["write/safe", "write/lax"];
    let changed = |to: &str| STUDY.replace("operations = 200, per", to);
    let few = changed("operations = 50, per");
    assert!(shared(&few, both[0], both[1]), "250 keys of 333 each");
    assert!(shared(&few, "write/safe", "read/dir"), "its second build");
    assert!(!shared(&few, "write/safe", "write/floor"), "another store");
    for (study, why) in [
        (
            changed("operations = 500, per"),
            "more keys than there are for each of three",
        ),
        (
            changed("order = \"zipfian\", operations = 50, per"),
            "the same keys again and again",
        ),
    ] {
        assert!(!shared(&study, both[0], both[1]), "{why}");
        assert!(shared(&study, "write/safe", "write/safe#2"), "the control");
    }
}

#[test]
fn the_name_of_a_store_that_a_cell_has_for_itself_has_an_end() {
    let long = "x".repeat(300);
    let name = instance_of_cell("blobs.sqlite", &format!("{long}.a"));
    assert!(name.len() < 100 && name != instance_of_cell("blobs.sqlite", &format!("{long}.b")));
    assert_eq!(stowplan_model::built_alike(&name), "blobs.sqlite");
}

#[test]
fn the_name_of_a_built_store_is_fit_for_a_directory() {
    for cell in planned(&PlanOptions::default()).cells() {
        let fit = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        assert!(cell.instance.chars().all(fit), "{}", cell.instance);
        assert!(cell.instance.starts_with(&format!("{}.", cell.dataset)));
    }
}

#[test]
fn the_baseline_comes_first_and_a_copy_of_it_second() {
    let plan = planned(&PlanOptions::default());
    let write = comparison(&plan, "write");
    assert_eq!(
        ids(write),
        ["write/safe", "write/safe#2", "write/floor", "write/lax"]
    );
    let roles: Vec<Role> = write.cells.iter().map(|cell| cell.role).collect();
    use Role::{Baseline, Candidate, Control, Floor};
    assert_eq!(roles, [Baseline, Control, Floor, Candidate]);
    let [baseline, control, ..] = &write.cells[..] else {
        panic!("two cells at least");
    };
    let expected = Cell {
        id: control.id.clone(),
        label: format!("{} (control)", baseline.label),
        role: Control,
        ..baseline.clone()
    };
    assert_eq!(*control, expected);
}

#[test]
fn contrasts_are_each_cell_over_the_baseline_and_each_pair_of_a_chart_once() {
    let plan = planned(&PlanOptions::default());
    assert_eq!(
        pairs(comparison(&plan, "read")),
        [
            ("read/sql", "read/dir"),
            ("read/stdio", "read/dir"),
            ("read/tree", "read/dir"),
            ("read/tree", "read/sql"),
        ]
    );
    assert_eq!(
        pairs(comparison(&plan, "write")),
        [("write/floor", "write/safe"), ("write/lax", "write/safe")]
    );
}

#[test]
fn a_baseline_that_is_alone_is_contrasted_with_its_control() {
    let expected = [("read/dir#2", "read/dir")];
    let plan = planned(&only(&["read/dir"]));
    assert_eq!(
        ids(comparison(&plan, "read")),
        ["read/dir", "read/dir#2"],
        "nothing else was asked for"
    );
    assert_eq!(pairs(comparison(&plan, "read")), expected);
    let plan = planned(&only(&["read/lent"]));
    assert_eq!(pairs(comparison(&plan, "read")), expected);
    let plan = planned(&PlanOptions::default());
    assert_eq!(
        pairs(comparison(&plan, "cold")),
        [("cold/dir#2", "cold/dir")],
        "a bar that cannot run makes no pair"
    );
}

#[test]
fn only_takes_what_it_names_and_the_baseline_along() {
    let plan = planned(&only(&["read/tree", "write"]));
    assert_eq!(comparison_ids(&plan), ["read", "write"]);
    assert_eq!(
        ids(comparison(&plan, "read")),
        ["read/dir", "read/dir#2", "read/tree"]
    );
    assert!(
        comparison(&plan, "read").not_applicable.is_empty(),
        "what was not asked for is not listed either"
    );
    assert_eq!(comparison(&plan, "write").cells.len(), 4);
    let datasets: Vec<_> = plan.datasets.keys().collect();
    assert_eq!(datasets, ["blobs"], "the other one is not needed");
}

/// Every refusal says where the mistake is and what to write instead.
#[test]
fn what_cannot_be_planned_is_refused_with_its_place_and_the_next_step() {
    let all = PlanOptions::default;
    let refused = |from: &str, to: &str, options: &PlanOptions, said: &[&str]| {
        assert!(STUDY.contains(from), "{from}");
        let message = refusal(&STUDY.replacen(from, to, 1), options);
        for part in said {
            assert!(message.contains(part), "{part} is not in: {message}");
        }
        message
    };
    for (names, said) in [
        (["read/tre"], "did you mean 'read/tree'?"),
        (["stdoi"], "did you mean 'stdio'?"),
        (
            ["tree"],
            "a cell is called COMPARISON/tree, such as 'read/tree'",
        ),
        (
            ["dir"],
            "a cell is called COMPARISON/dir, such as 'read/dir'",
        ),
        (
            ["write/sqlite"],
            "; cells of 'write': floor, lax, safe; did you mean",
        ),
    ] {
        refused("", "", &only(&names), &[said]);
    }
    let said = ["did you mean 'read'?", "; comparisons: read, cold, write, "];
    let message = refused("", "", &only(&["reed"]), &said);
    assert!(!message.contains("read/"), "too many to list: {message}");
    // A question ends its sentence.
    let ending = "no scale 'quik'; it has full, quick, standard; did you mean 'quick'?";
    for (options, said) in [
        (at("quik"), ending),
        (at("seed"), "it is called 'full' now"),
        (rounds_of(0), "0 rounds are not possible: give 1 to 40"),
        (rounds_of(41), "41 rounds are not possible: give 1 to 40"),
        (
            PlanOptions {
                only: only(&["read"]).only,
                ..in_state(CacheState::Cold)
            },
            "nothing is left to measure",
        ),
        (
            PlanOptions {
                only: only(&["lax-first"]).only,
                ..as_durable_as(Durability::Durable)
            },
            "nothing is left to measure",
        ),
    ] {
        refused("", "", &options, &[said]);
    }
    for (from, to, said) in [
        (
            "operations = 100 }",
            "operations = 1_001 }",
            &[
                "comparison 'cold', cell 'dir': the baseline cannot run: ",
                "(1000)",
            ][..],
        ),
        (
            r#"cache = "cold""#,
            r#"cache = "metadata-cold""#,
            &[
                "'cold'",
                "'metadata-cold' is not measured",
                "write 'all-cold'",
            ],
        ),
        (
            "\"sqlite\"",
            "\"sqllite\"",
            &[
                "comparison 'read', cell 'sql': unknown store 'sqllite'",
                "did you mean 'sqlite'?",
            ],
        ),
        (
            "read=stdio",
            "raed=stdio",
            &["cell 'stdio'", "did you mean 'read'?"],
        ),
        (
            "operations = 1_001",
            "operations = 0",
            &["comparison 'read', cell 'many': operations must be at least 1"],
        ),
        (
            "sql = {",
            r#"sql = { workload = { operation = "overwrite" },"#,
            &["its own [[comparison]]"],
        ),
        (
            "sql = {",
            r#"sql = { workload = { cache = "cold" },"#,
            &["its own [[comparison]]"],
        ),
    ] {
        refused(from, to, &all(), said);
    }
}

#[test]
fn a_scale_changes_counts_operations_and_rounds_and_leaves_comparisons_out() {
    let (whole, quick) = (planned(&PlanOptions::default()), planned(&at("quick")));
    assert_eq!(
        (whole.scale.as_str(), quick.scale.as_str()),
        ("standard", "quick")
    );
    assert_eq!(whole.datasets["blobs"].count, 1_000);
    assert_eq!(quick.datasets["blobs"].count, 100);
    assert_eq!(
        quick.datasets["spare"].count, 50,
        "not mentioned, not changed"
    );
    let operations = |plan, id| cell(plan, id).workload.operations;
    assert_eq!(operations(&whole, "write/lax"), Some(200));
    assert_eq!(operations(&quick, "write/lax"), Some(20));
    assert_eq!(operations(&quick, "read/dir"), None);
    assert_eq!(
        comparison_ids(&whole),
        ["read", "cold", "write", "lax-first"]
    );
    assert_eq!(comparison_ids(&quick), ["read", "write", "lax-first"]);
    let cold = ["cold".to_owned()];
    assert!(quick.study.figures.iter().all(|f| f.comparisons != cold));
    assert_eq!(quick.study.figures.len(), whole.study.figures.len() - 1);
    let rounds = |plan, id| comparison(plan, id).max_rounds;
    assert_eq!(rounds(&whole, "read"), LOOKS[LOOKS.len() - 1]);
    assert_eq!(stowplan_model::MOST_ROUNDS, LOOKS[LOOKS.len() - 1]);
    assert_eq!(rounds(&quick, "read"), 10);
    assert_eq!(rounds(&whole, "lax-first"), 20);
    assert_eq!(rounds(&quick, "lax-first"), 10);
    assert_eq!(rounds(&quick, "write"), 5, "a scale only lowers the cap");
}

#[test]
fn a_scale_may_leave_single_cells_out_and_they_are_drawn_nowhere() {
    let skipping = |cells: &str| STUDY.replace("skip = [\"cold\"]", &format!("skip = [{cells}]"));
    let text = skipping(r#""read/tree", "write/lax""#);
    let quick = planned_of(&text, &at("quick"));
    assert!(
        quick
            .cells()
            .all(|cell| cell.id.0 != "read/tree" && cell.id.0 != "write/lax")
    );
    assert!(quick.cells().any(|cell| cell.id.0 == "lax-first/lax"));
    let charts: Vec<(&str, &[String])> = quick
        .study
        .figures
        .iter()
        .map(|chart| (chart.id.as_str(), &chart.cells[..]))
        .collect();
    let bars = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(charts[0], ("one", &bars(&["dir", "sql"])[..]));
    assert_eq!(charts[1], ("two", &bars(&["lent"])[..]));
    // The third is of what was left out.
    assert_eq!(charts[2].0, "four");
    let error = Study::parse(&skipping("\"write/safe\""), "t.toml").unwrap_err();
    assert!(error.to_string().contains("write/safe"), "{error}");
}

#[test]
fn the_standard_scale_can_be_named_and_changed_like_any_other_and_the_full_one_is_the_file() {
    assert_eq!(planned(&at("standard")), planned(&PlanOptions::default()));
    assert_eq!(
        planned(&at("full")).comparisons,
        planned(&PlanOptions::default()).comparisons
    );
    let text = STUDY.replace("scales.quick", "scales.standard");
    let plan = planned_of(&text, &PlanOptions::default());
    assert_eq!(plan.datasets["blobs"].count, 100);
}

#[test]
fn cells_that_cannot_run_are_listed_with_the_reason_and_never_measured() {
    let plan = planned(&PlanOptions::default());
    let read = comparison(&plan, "read");
    assert_eq!(
        ids(read),
        [
            "read/dir",
            "read/dir#2",
            "read/sql",
            "read/stdio",
            "read/tree"
        ]
    );
    let labels: Vec<_> = read.not_applicable.keys().collect();
    assert_eq!(labels, ["files, lent", "too many"]);
    let lent = &read.not_applicable["files, lent"];
    assert!(
        lent.contains("cannot deliver 'in-place', only copy"),
        "{lent}"
    );
    let many = &read.not_applicable["too many"];
    assert!(many.contains("(1000)"), "{many}");
    let as_many = planned_of(&STUDY.replace("1_001", "1_000"), &PlanOptions::default());
    assert!(ids(comparison(&as_many, "read")).contains(&"read/many"));
    let cold = comparison(&plan, "cold");
    assert_eq!(ids(cold), ["cold/dir", "cold/dir#2"]);
    let memory = &cold.not_applicable["memory"];
    assert!(memory.contains("no cold state"), "{memory}");
    for comparison in &plan.comparisons {
        for contrast in &comparison.contrasts {
            assert!(comparison.cell(&contrast.cell).is_some());
            assert!(comparison.cell(&contrast.reference).is_some());
        }
    }
}

#[test]
fn nobody_is_asked_for_more_values_than_they_brought_along() {
    let mut plan = planned(&PlanOptions::default());
    assert!(demand(&plan, &plan).working_set_bytes.is_some());
    for dataset in plan.datasets.values_mut() {
        dataset.from = Some(stowplan_model::Origin::default());
    }
    assert_eq!(demand(&plan, &plan).working_set_bytes, None);
}

#[test]
fn a_store_that_keeps_names_is_for_values_that_may_have_some() {
    let text = STUDY.replace("files:layout=tree", "files:names=on");
    let reason = |from: Option<stowplan_model::Origin>| {
        let mut study = study(&text);
        study.datasets.get_mut("blobs").unwrap().from = from;
        let drivers = Drivers::built_in();
        let mut plan = plan(study, &PlanOptions::default(), &drivers).unwrap();
        plan.comparisons[0].not_applicable.remove("files:names=on")
    };
    let directory = stowplan_model::Origin::default();
    let table = stowplan_model::Origin {
        table: Some("t".to_owned()),
        ..directory.clone()
    };
    for from in [None, Some(table)] {
        let reason = reason(from).unwrap();
        assert!(
            reason.contains("those of dataset 'blobs' have none"),
            "{reason}"
        );
    }
    assert_eq!(reason(Some(directory)), None);
}

#[test]
fn the_durability_filter_leaves_out_weaker_writers_and_no_readers() {
    let plan = planned(&as_durable_as(Durability::Durable));
    assert_eq!(
        comparison_ids(&plan),
        ["read", "cold", "write"],
        "a comparison without its baseline is left out"
    );
    assert_eq!(
        comparison(&plan, "read"),
        comparison(&planned(&PlanOptions::default()), "read")
    );
    let write = comparison(&plan, "write");
    assert_eq!(ids(write), ["write/safe", "write/safe#2"]);
    let lax = &write.not_applicable["lax"];
    assert!(lax.contains("promises only none"), "{lax}");
    let least = planned(&as_durable_as(Durability::None));
    assert_eq!(least, planned(&PlanOptions::default()));
}

#[test]
fn the_cache_state_filter_keeps_comparisons_in_that_state() {
    assert_eq!(
        comparison_ids(&planned(&in_state(CacheState::Cold))),
        ["cold"]
    );
    assert_eq!(
        comparison_ids(&planned(&in_state(CacheState::Warm))),
        ["read", "write", "lax-first"]
    );
}

#[test]
fn what_needs_root_is_planned_for_root_and_left_out_for_others_with_the_reason() {
    let text = STUDY.replace(r#"cache = "cold""#, r#"cache = "all-cold""#);
    let all_cold = in_state(CacheState::AllCold);
    if page_cache::may_drop_everything() {
        let planned = planned_of(&text, &all_cold);
        assert_eq!(comparison_ids(&planned), ["cold"]);
        return;
    }
    let message = refusal(&text, &all_cold);
    for part in ["run it with sudo", "--cache-state cold"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn rounds_that_are_asked_for_replace_those_of_the_study_within_the_cap() {
    for rounds in [1, 12, 40] {
        let plan = planned(&rounds_of(rounds));
        assert!(plan.comparisons.iter().all(|c| c.max_rounds == rounds));
    }
}

#[test]
fn a_store_that_keeps_no_values_can_only_be_a_part_of_a_ladder() {
    let with = |more: &str| {
        let step = format!("stdio = {{ store = \"primitive:call=open-close\"{more} }}");
        STUDY.replace("stdio = { store = \"files:read=stdio\" }", &step)
    };
    for more in ["", ", floor = true"] {
        let message = refusal(&with(more), &PlanOptions::default());
        assert!(message.contains("cell 'stdio'"), "{message}");
        assert!(message.contains("part = true"), "{message}");
    }
    let plan = planned_of(&with(", part = true"), &PlanOptions::default());
    assert_eq!(cell(&plan, "read/stdio").role, Role::Part);
}

#[test]
fn cells_take_the_memory_budget_fill_in_every_setting_and_are_called_by_their_stores() {
    let plan = planned(&PlanOptions::default());
    assert_eq!(cell(&plan, "read/sql").settings.number("cache"), 4_096_000);
    assert_eq!(cell(&plan, "read/stdio").settings.word("layout"), "dir");
    let all = stowplan_stores::registry::find("sqlite")
        .unwrap()
        .settings()
        .len();
    assert_eq!(cell(&plan, "read/sql").settings.iter().count(), all);
    assert_eq!(cell(&plan, "read/dir").label, "files", "it has a label");
    assert_eq!(cell(&plan, "read/tree").label, "files:layout=tree");
}

#[test]
fn needs_grow_with_the_number_of_values_and_of_rounds() {
    let more = STUDY.replace("count = 1_000", "count = 100_000");
    let small = needs(&planned(&PlanOptions::default()), true);
    let large = needs(&planned_of(&more, &PlanOptions::default()), true);
    let values = 99_000 * 10_000;
    assert!(
        large.disk_bytes >= small.disk_bytes + 5 * values,
        "the dataset and four stores: {small:?} {large:?}"
    );
    assert!(large.least_seconds > small.least_seconds);
    assert!(small.most_seconds > small.least_seconds);
    let few = needs(&planned(&rounds_of(10)), true);
    assert_eq!(few.disk_bytes, small.disk_bytes);
    assert!(few.most_seconds < small.most_seconds);
}

#[test]
fn sequences_need_room_too() {
    let tiny = STUDY.replace("bytes = 10_000 }", "bytes = 1 }");
    let many = tiny.replace("count = 1_000\n", "count = 50_001_000\n");
    let room = |text: &str| needs(&planned_of(text, &only(&["read/dir"])), false).disk_bytes;
    // A byte in the dataset, and a block and a name in each of two builds of its store.
    let more = room(&many) - room(&tiny);
    let values = 1 + 2 * (4096 + 16);
    // Sequences of two orders, each beside that of the round before.
    assert_eq!(more, 50_000_000 * (values + 4 * 16));
}

#[test]
fn a_shared_store_needs_room_once_and_one_in_memory_none() {
    let room = |names: &[&str]| needs(&planned(&only(names)), true).disk_bytes;
    assert_eq!(room(&["read/dir"]), room(&["read/stdio"]));
    assert!(room(&["read/tree"]) >= room(&["read/dir"]) + 10_000_000);
    let text = STUDY.replace("cache = \"cold\", ", "");
    let plan = |names: &[&str]| planned_of(&text, &only(names));
    let with_memory = plan(&["cold/memory"]);
    assert_eq!(comparison(&with_memory, "cold").cells.len(), 3);
    assert_eq!(
        needs(&with_memory, true).disk_bytes,
        needs(&plan(&["cold/dir"]), true).disk_bytes
    );
}

#[test]
fn a_plan_larger_than_the_disk_is_refused_before_its_place_exists() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("not/yet");
    let huge = STUDY.replace("count = 1_000\n", "count = 1_000_000_000_000_000\n");
    let huge = planned_of(&huge, &PlanOptions::default());
    let error = require_space(&huge, false, &place).unwrap_err();
    let HarnessError::Files(DatasetError::Space { path, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(path, place, "the place that was asked for is named");
    assert!(!place.exists());
}

#[test]
fn a_driver_that_is_missing_is_told_once_below_all_comparisons_with_the_cells_that_want_it() {
    let wants = |cells: [(&str, &str); 2]| {
        cells.map(|(key, label)| {
            format!("{key} = {{ store = \"go/{key}\", label = \"{label}\", optional = true }}\n")
        })
    };
    let sql = "sql = { store = \"sqlite\" }\n";
    let safe = "safe = { store = \"files:write=rename,fsync=directory\" }\n";
    let read = wants([("bbolt", "Bolt"), ("pebble", "Pebble")]).concat();
    let write = wants([("badger", "Badger"), ("bbolt", "Bolt")]).concat();
    let text = STUDY
        .replace(sql, &format!("{sql}{read}"))
        .replace(safe, &format!("{safe}{write}"));
    let plan = planned_of(&text, &PlanOptions::default());
    let told = describe(&plan, false, 1_000, None, &Drivers::built_in());
    let why = "not applicable: Badger; Bolt; Pebble: driver 'go' was not found";
    let line = told.lines().position(|line| line.starts_with(why));
    assert_eq!(told.matches("driver 'go'").count(), 1, "{told}");
    let write = told.lines().position(|line| line.starts_with("write: "));
    assert!(line > write, "{told}");
    // What a store cannot do is told where it was asked for.
    assert!(told.contains("  not applicable: files, lent: "), "{told}");
}

#[test]
fn an_optional_cell_that_its_driver_refuses_is_left_out_with_the_drivers_words() {
    let sql = "sql = { store = \"sqlite\" }\n";
    let cell = "map = { store = \"lmdb:sync=map-async\", optional = true }\n";
    let plan_of = |cell: &str| {
        let text = STUDY.replace(sql, &format!("{sql}{cell}"));
        let drivers = Drivers::built_in();
        super::plan(study(&text), &PlanOptions::default(), &drivers)
    };
    let plan = plan_of(cell).unwrap();
    let mut reasons = plan.comparisons[0].not_applicable.values();
    assert!(reasons.any(|why| why.contains("write_map=on")), "{plan:?}");
    let needed = plan_of(&cell.replace(", optional = true", ""));
    assert!(needed.is_err(), "what is not optional is an error");
}

#[test]
fn the_description_names_datasets_cells_roles_promises_reasons_and_needs() {
    let drivers = Drivers::built_in();
    let text = describe(&planned(&PlanOptions::default()), false, 80, None, &drivers);
    for expected in [
        "Places for blobs (study 'places', scale 'standard')\n",
        "dataset blobs: 1000 values, 10000 bytes each, random, seed 1\n",
        "\nread: Warm reads (at most 40 rounds)\n",
        "\nwrite: Overwrites (at most 5 rounds)\n",
        "  all cells: one transaction where a store has any\n",
        "  all cells: no transactions\n",
        "  all cells: no transactions (one batch)\n",
        "  dir (baseline)   files:layout=dir\n",
        "  dir (control)    files:layout=dir\n",
        "  tree             files:layout=tree\n",
        "  floor (floor)    flat; durability none\n",
        "durability durable, atomic\n",
        "  not applicable: files, lent: files:layout=dir cannot deliver",
        "\nneeds about ",
    ] {
        assert!(text.contains(expected), "{expected:?} is not in\n{text}");
    }
    let lines = text.lines().filter(|line| line.contains("durability"));
    assert_eq!(lines.count(), 7, "only writers promise anything\n{text}");
}

#[test]
fn a_description_with_more_lines_than_are_wanted_has_comparisons_or_else_their_number() {
    let (plan, drivers) = (planned(&PlanOptions::default()), Drivers::built_in());
    let in_lines = |most| describe(&plan, false, 80, Some(most), &drivers);
    let whole = in_lines(1_000);
    let short = in_lines(whole.lines().count() - 1);
    assert!(
        short.contains("\nread: Warm reads (4 cells, at most 40 rounds)\n  not applicable: "),
        "{short}"
    );
    let counted = in_lines(short.lines().count() - 1);
    assert!(
        counted.contains("\n4 comparisons of 10 cells, on 2 datasets\n"),
        "{counted}"
    );
    for text in [&short, &counted] {
        assert!(
            text.contains("all: --verbose") && text.contains("\nneeds about "),
            "{text}"
        );
        assert!(!text.contains("(baseline)"), "{text}");
    }
}

#[test]
fn what_is_read_from_memory_takes_turns_on_two_builds_and_nothing_else_does() {
    let plan = planned(&PlanOptions::default());
    let builds = |id| has_builds(cell(&plan, id));
    assert!(builds("read/dir") && builds("read/sql"));
    assert!(!builds("cold/dir") && !builds("write/safe") && !builds("write/floor"));
}
