use crate::Study;

pub(in crate::study) const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.blobs]
count = 10
size = { distribution = "fixed", bytes = 1 }
[[comparison]]
id = "read"
title = "reads"
dataset = "blobs"
baseline = "dir"
[comparison.cells]
dir = { store = "files" }
sql = { store = "sqlite" }
blob = { store = "sqlite:api=blob" }
[[matrix]]
id = "sizes"
title = "sizes"
sizes = [10_000, 1_000_000]
bytes = 1_000_000
internal = { store = "sqlite" }
row_setting = "page_size"
rows = [1_024, 8_192]
external = { store = "files" }
[[claim]]
id = "a"
quote = "files take 10 times as long"
"#;

#[test]
fn each_kind_of_claim_is_read_and_names_its_cells() {
    let table = r#"
        test = [{ of = "read/dir", to = "read/sql", at_least = 10 }] | read/dir read/sql
        test = [{ of = ["read/dir", "read/blob"], to = ["sizes-1m/external"], at_least = 1, \
                  at_most = 2.5 }] | read/blob read/dir sizes-1m/external
        test = [{ of = "read/sql", measure = "page-fill", at_most = 0.5 }] | read/sql
        order = ["read/blob", "read/sql", "read/dir"] | read/blob read/dir read/sql
    "#;
    // A line that ends with a backslash goes on.
    for line in table.replace("\\\n", "").trim().lines() {
        let (claim, cells) = line.split_once(" | ").unwrap();
        let study = Study::parse(&format!("{STUDY}{claim}\n"), "t.toml").unwrap();
        let named = study.claims[0].cells();
        let named: Vec<&str> = named.iter().map(|cell| cell.0.as_str()).collect();
        assert_eq!(named.join(" "), cells, "{claim}");
    }
}
