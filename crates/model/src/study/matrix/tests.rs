use crate::{MatrixSpec, SizeDistribution, Study};

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
    // Those that agree in number and size of values share a dataset, and a block of given bytes
    // holds fewer operations the larger the values.
    let all = study.comparisons.iter();
    let all = all.map(|c| (c.id.as_str(), c.dataset.as_str(), c.workload.operations));
    let expected = [
        ("first", "few", None),
        ("read-10k", "200x10k", None),
        ("read-20k", "100x20k", None),
        ("write-20k", "100x20k", Some(5)),
        ("write-20Ki", "97x20Ki", Some(4)),
        ("read-1m", "2x1m", None),
    ];
    assert_eq!(all.collect::<Vec<_>>(), expected);
    assert_eq!(study.datasets.len(), 5, "and nothing else");
    let dataset = &study.datasets["97x20Ki"];
    assert_eq!((dataset.count, dataset.size.mean()), (97, 20_480));
}

#[test]
fn a_column_compares_each_row_and_what_stands_beside_with_the_external_store() {
    let study = study().expanded();
    let column = &study.comparisons[1];
    assert_eq!(column.baseline, "external");
    let cells = column.cells.iter();
    let cells = cells.map(|(key, cell)| format!("{key} = {}", cell.store));
    let expected = [
        "1024 = sqlite:page_size=1024",
        "4096 = sqlite:page_size=4096",
        "external = files-indexed",
        "files = files",
    ];
    assert_eq!(cells.collect::<Vec<_>>(), expected);
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
fn a_scale_changes_what_it_names_and_nothing_else() {
    let quick = matrix("read").changed(&study().scales["quick"].matrix["read"]);
    let expected = MatrixSpec {
        sizes: vec![20_000],
        bytes: 40_000,
        ..matrix("read")
    };
    assert_eq!(quick, expected);
    // A published ratio is found by its row and size at any scale.
    let published = quick.published.unwrap();
    assert_eq!(published.ratio(1_024, 1_000_000), Some(0.2));
    assert_eq!(published.ratio(1_024, 20_000), None);
    assert_eq!(published.ratio(4_096, 10_000), None);
}

#[test]
fn a_study_of_matrices_alone_is_a_study_and_one_of_nothing_is_none() {
    let matrices_at = STUDY.find("[[matrix]]").unwrap();
    let head = "name = \"m\"\ntitle = \"M\"\nquestion = \"?\"\n";
    let alone = Study::parse(&format!("{head}{}", &STUDY[matrices_at..]), "m.toml");
    assert_eq!(alone.unwrap().expanded().comparisons.len(), 5);
    let message = Study::parse(head, "m.toml").unwrap_err().to_string();
    let expected =
        "m.toml: study 'm': it compares nothing: give it a [[comparison]] or a [[matrix]]";
    assert_eq!(message, expected);
}

#[test]
fn cells_of_a_matrix_may_be_hosted_by_a_driver() {
    let hosted = r#"internal = { store = "sqlite", driver = "mine", label"#;
    let text = STUDY.replacen(r#"internal = { store = "sqlite", label"#, hosted, 1);
    let study = Study::parse(&text, "m.toml").unwrap().expanded();
    let cell = &study.comparisons[1].cells["1024"];
    assert_eq!(cell.store.to_string(), "mine/sqlite:page_size=1024");
}

#[test]
fn sizes_below_100_bytes_and_between_multiples_of_it_spread_as_far_as_they_should() {
    let column = |size, spread_percent| {
        let matrix = MatrixSpec {
            spread_percent,
            ..matrix("read")
        };
        matrix.distribution(size)
    };
    for (size, percent, min, max) in [(50, 40, 30, 70), (1_050, 20, 840, 1_260)] {
        let expected = SizeDistribution::Uniform { min, max };
        assert_eq!(column(size, percent), expected, "{size} ± {percent}%");
    }
    assert_eq!(column(50, 0), SizeDistribution::Fixed { bytes: 50 });
}
