use super::*;

fn with(on: &str, named: &[&str]) -> Result<Plan> {
    let text = format!(
        r#"
        name = "t"
        title = "t"
        question = "?"
        datasets.d = {{ count = 100, size = {{ distribution = "fixed", bytes = 1_000 }} }}
        [[comparison]]
        id = "c"
        title = "c"
        dataset = "d"
        on = "first"
        baseline = "a"
        [comparison.cells]
        a = {{ store = "files" }}
        b = {{ store = "files", on = "{on}" }}
        "#
    );
    let named = named
        .iter()
        .map(|on| ((*on).to_owned(), PathBuf::from("/mnt")));
    let options = PlanOptions {
        on: named.collect(),
        ..PlanOptions::default()
    };
    plan(study(&text), &options, &Drivers::built_in())
}

#[test]
fn cells_on_different_file_systems_share_no_store_and_those_of_one_do() {
    let plan = with("other", &["first", "other"]).unwrap();
    let [a, control, b] = &plan.comparisons[0].cells[..] else {
        panic!("three cells");
    };
    assert_eq!((a.on.as_str(), b.on.as_str()), ("first", "other"));
    assert_eq!(a.instance, control.instance);
    assert_ne!(a.instance, b.instance);
    assert_eq!(b.label, "files on other");
    assert_eq!(plan.name_unfit_for_paths(), None);
    let plan = with("first", &["first"]).unwrap();
    let cells = &plan.comparisons[0].cells;
    assert_eq!(cells[0].instance, cells[2].instance);
}

#[test]
fn a_file_system_that_nobody_makes_leaves_its_cells_out_with_what_helps() {
    let plan = with("nas", &["first"]).unwrap();
    let comparison = &plan.comparisons[0];
    let why = &comparison.not_applicable["files on nas"];
    assert!(why.contains("--on NAME=DIR"));
    assert_eq!(left_out_cells(&plan), BTreeMap::from([(why.as_str(), 1)]));
}

#[test]
fn a_name_that_is_none_and_a_directory_that_nothing_is_on_are_refused() {
    let wrong = with("../x", &["first"]).unwrap_err().to_string();
    assert!(
        wrong.contains("cell 'b'") && wrong.contains("no name of a file system"),
        "{wrong}"
    );
    let unused = with("other", &["first", "otter"]).unwrap_err().to_string();
    assert!(unused.contains("did you mean 'other'"), "{unused}");
}

#[test]
fn data_on_a_directory_of_the_users_needs_no_room_where_the_run_works() {
    let named = with("other", &["first", "other"]).unwrap();
    let on = bytes_on(&named, false, 1, "other");
    assert!(on >= 400_000, "{on}");
    let here = needs(&named, false).disk_bytes;
    assert!(here < on, "{here}");
}
