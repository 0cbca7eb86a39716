use crate::{MatrixSpec, Study};

pub(in crate::study) const STUDY: &str = r#"
name = "m"
title = "M"
question = "?"

[scales.quick.matrix.read]
sizes = [20_000]
bytes = 40_000

[[comparison]]
id = "first"
title = "F"
dataset = "few"
baseline = "dir"
cells = { dir = { store = "files" } }

[datasets.few]
count = 3
size = { distribution = "fixed", bytes = 10 }

[[matrix]]
id = "read"
title = "Reads"
sizes = [10_000, 20_000, 1_000_000]
bytes = 2_000_000
internal = { store = "sqlite", label = "SQLite" }
row_setting = "page_size"
rows = [1_024, 4_096]
external = { store = "files-indexed" }
beside = { files = { store = "files", label = "by key" } }
[matrix.published]
label = "2011"
sizes = [10_000, 1_000_000]
ratios = { 1024 = [1.5, 0.2] }

[[matrix]]
id = "write"
title = "Writes"
workload = { operation = "overwrite" }
sizes = [20_000, 20_480]
bytes = 2_000_000
block_bytes = 100_000
max_rounds = 20
internal = { store = "sqlite:journal=off" }
row_setting = "page-size"
rows = [4_096]
external = { store = "files-indexed:write=in-place" }
"#;

fn study() -> Study {
    Study::parse(STUDY, "m.toml").unwrap()
}

fn matrix(id: &str) -> MatrixSpec {
    let study = study();
    study.matrices.into_iter().find(|m| m.id == id).unwrap()
}

#[test]
fn a_matrix_becomes_one_comparison_per_size_all_of_one_size_after_each_other() {
    let study = study().expanded();
    let ids: Vec<&str> = study.comparisons.iter().map(|c| c.id.as_str()).collect();
    let expected = [
        "first",
        "read-10k",
        "read-20k",
        "write-20k",
        "write-20Ki",
        "read-1m",
    ];
    assert_eq!(ids, expected);
}

#[test]
fn a_column_compares_each_row_and_what_stands_beside_with_the_external_store() {
    let study = study().expanded();
    let column = &study.comparisons[1];
    assert_eq!(column.baseline, "external");
    let cells: Vec<(&str, String)> = column
        .cells
        .iter()
        .map(|(key, cell)| (key.as_str(), cell.store.to_string()))
        .collect();
    let expected = [
        ("1024", "sqlite:page_size=1024"),
        ("4096", "sqlite:page_size=4096"),
        ("external", "files-indexed"),
        ("files", "files"),
    ]
    .map(|(key, store)| (key, store.to_owned()));
    assert_eq!(cells, expected);
    let matrix = matrix("read");
    assert_eq!(matrix.cell_id(4_096, 10_000).0, "read-10k/4096");
    assert_eq!(matrix.external_id(10_000).0, "read-10k/external");
    assert!(study.is_of_matrix(column) && !study.is_of_matrix(&study.comparisons[0]));
}

#[test]
fn a_row_is_labelled_by_the_store_and_the_value_of_the_setting() {
    assert_eq!(matrix("read").row(1_024).name(), "SQLite, page_size 1024");
    let unlabelled = matrix("write").row(4_096).name();
    assert_eq!(unlabelled, "sqlite:journal=off,page_size=4096");
}

#[test]
fn matrices_that_agree_in_number_and_size_of_values_share_a_dataset() {
    let study = study().expanded();
    let of = |id: &str| {
        let found = study.comparisons.iter().find(|c| c.id == id);
        found.unwrap().dataset.clone()
    };
    assert_eq!(of("read-20k"), "100x20k");
    assert_eq!(of("read-20k"), of("write-20k"));
    assert_eq!(of("write-20Ki"), "97x20Ki");
    let dataset = &study.datasets["97x20Ki"];
    assert_eq!((dataset.count, dataset.size.mean()), (97, 20_480));
    let names: Vec<&String> = study.datasets.keys().collect();
    assert_eq!(
        names,
        ["100x20k", "200x10k", "2x1m", "97x20Ki", "few"],
        "and nothing else"
    );
}

#[test]
fn a_block_of_given_bytes_holds_fewer_operations_the_larger_the_values() {
    let study = study().expanded();
    let operations = |id: &str| {
        let found = study.comparisons.iter().find(|c| c.id == id);
        found.unwrap().workload.operations
    };
    assert_eq!(operations("write-20k"), Some(5));
    assert_eq!(operations("write-20Ki"), Some(4));
    assert_eq!(operations("read-20k"), None, "about 25 ms");
}

#[test]
fn a_published_ratio_is_found_by_its_row_and_size_at_any_scale() {
    let study = study();
    let quick = matrix("read").changed(&study.scales["quick"].matrix["read"]);
    for matrix in [matrix("read"), quick] {
        let published = matrix.published.unwrap();
        assert_eq!(published.ratio(1_024, 1_000_000), Some(0.2));
        assert_eq!(published.ratio(1_024, 20_000), None);
        assert_eq!(published.ratio(4_096, 10_000), None);
    }
}

#[test]
fn a_scale_changes_what_it_names_and_nothing_else() {
    let quick = matrix("read").changed(&study().scales["quick"].matrix["read"]);
    let expected = MatrixSpec {
        sizes: vec![20_000],
        bytes: 40_000,
        ..matrix("read")
    };
    assert_eq!(quick, expected);
}

#[test]
fn a_study_of_matrices_alone_is_a_study_and_one_of_nothing_is_none() {
    let matrices_at = STUDY.find("[[matrix]]").unwrap();
    let head = "name = \"m\"\ntitle = \"M\"\nquestion = \"?\"\n";
    let alone = Study::parse(&format!("{head}{}", &STUDY[matrices_at..]), "m.toml");
    assert_eq!(alone.unwrap().expanded().comparisons.len(), 5);
    let message = Study::parse(head, "m.toml").unwrap_err().to_string();
    assert_eq!(
        message,
        "m.toml: study 'm': it compares nothing: give it a [[comparison]] or a [[matrix]]"
    );
}

#[test]
fn a_study_with_a_matrix_reads_back_from_a_result_as_it_was_run() {
    let expanded = study().expanded();
    let text = serde_json::to_string(&expanded).unwrap();
    assert_eq!(serde_json::from_str::<Study>(&text).unwrap(), expanded);
}

#[test]
fn a_study_of_an_old_result_has_no_matrices() {
    let mut plain = serde_json::to_value(study()).unwrap();
    plain.as_object_mut().unwrap().remove("matrix");
    let read: Study = serde_json::from_value(plain).unwrap();
    assert!(read.matrices.is_empty());
    assert_eq!(read.expanded().comparisons.len(), 1);
}

#[test]
fn cells_of_a_matrix_may_be_hosted_by_a_driver() {
    let text = STUDY.replacen(
        r#"internal = { store = "sqlite", label"#,
        r#"internal = { store = "sqlite", driver = "mine", label"#,
        1,
    );
    let study = Study::parse(&text, "m.toml").unwrap().expanded();
    let cell = &study.comparisons[1].cells["1024"];
    assert_eq!(cell.store.to_string(), "mine/sqlite:page_size=1024");
}
