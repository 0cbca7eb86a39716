use super::*;

const STUDY: &str = r#"
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

/// The study with these lines in its claim.
fn with(lines: &str) -> Result<Study, String> {
    Study::parse(&format!("{STUDY}{lines}\n"), "t.toml").map_err(|error| error.to_string())
}

#[test]
fn each_kind_of_claim_is_read_and_names_its_cells() {
    for (lines, cells) in [
        (
            "test = [{ of = \"read/dir\", to = \"read/sql\", at_least = 10 }]",
            "read/dir read/sql",
        ),
        (
            "test = [{ of = [\"read/dir\", \"read/blob\"], to = [\"sizes-10k/external\"], at_least = 1, at_most = 2.5 }]",
            "read/blob read/dir sizes-10k/external",
        ),
        (
            "test = [{ of = \"read/sql\", measure = \"page-fill\", at_most = 0.5 }]",
            "read/sql",
        ),
        (
            "order = [\"read/blob\", \"read/sql\", \"read/dir\"]",
            "read/blob read/dir read/sql",
        ),
        (
            "best = { matrix = \"sizes\", rows = [8192], among = [1024, 8192], sizes = [1_000_000] }",
            "sizes-1m/1024 sizes-1m/8192",
        ),
        (
            "comparison = \"read\"\nlarger = { label = \"x\", cell = \"dir\", without = \"sql\" }\n\
             smaller = { label = \"y\", cell = \"blob\", without = \"sql\" }",
            "read/blob read/dir read/sql",
        ),
    ] {
        let study = with(lines).unwrap();
        let named = study.claims[0].cells(&study);
        let named: Vec<&str> = named.iter().map(|cell| cell.0.as_str()).collect();
        assert_eq!(named.join(" "), cells, "{lines}");
        let written = serde_json::to_string(&study).unwrap();
        assert_eq!(serde_json::from_str::<Study>(&written).unwrap(), study);
    }
}

#[test]
fn a_hypothesis_of_an_older_file_is_read_as_a_claim() {
    let text = STUDY
        .replace("[[claim]]", "[[hypothesis]]")
        .replace("quote = ", "claim = ");
    let text = format!(
        "{text}comparison = \"read\"\nlarger = {{ label = \"x\", cell = \"dir\", without = \"sql\" }}\n\
         smaller = {{ label = \"y\", cell = \"blob\", without = \"sql\" }}\n"
    );
    let study = Study::parse(&text, "t.toml").unwrap();
    assert_eq!(study.claims[0].quote, "files take 10 times as long");
    assert!(matches!(
        study.claims[0].deciding(),
        Some(Deciding::Larger("read", _, _))
    ));
}

#[test]
fn what_is_wrong_with_a_claim_is_told_with_line_and_column() {
    for (lines, told) in [
        (
            "",
            "t.toml:27:6: claim 'a': say what decides it: one of 'test', 'order'",
        ),
        (
            "test = [{ of = \"read/dri\", to = \"read/sql\", at_least = 10 }]",
            "t.toml:29:8: claim 'a': unknown cell 'read/dri'; did you mean 'read/dir'?",
        ),
        (
            "test = [{ of = \"dir\", to = \"read/sql\", at_least = 10 }]",
            "(a cell is called COMPARISON/CELL)",
        ),
        (
            "test = [{ of = \"read/dir\", to = \"read/sql\" }]",
            "give 'at_least', 'at_most' or both",
        ),
        (
            "test = [{ of = \"read/dir\", to = \"read/sql\", at_least = 2, at_most = 1 }]",
            "'at_least' is above 'at_most'",
        ),
        (
            "test = [{ of = \"read/dir\", to = \"read/sql\", at_least = -1 }]",
            "a bound is a number, 0 or more",
        ),
        (
            "test = [{ of = \"read/dir\", at_least = 1 }]",
            "give 'to', the cells",
        ),
        (
            "test = [{ of = [], to = \"read/sql\", at_least = 1 }]",
            "'of' needs a cell",
        ),
        (
            "test = [{ of = 3, to = \"read/sql\", at_least = 1 }]",
            "a cell (\"read/sql\") or a list of cells",
        ),
        (
            "test = [{ off = \"read/sql\", at_least = 1 }]",
            "t.toml:29:11: unknown field `off`",
        ),
        (
            "order = [\"read/sql\"]",
            "t.toml:29:9: claim 'a': an order has two cells at least",
        ),
        (
            "order = [\"read/sql\", \"read/dir\"]\ntest = [{ of = \"read/dir\", to = \"read/sql\", at_least = 1 }]",
            "say what decides it",
        ),
        (
            "best = { matrix = \"size\", rows = [8192], among = [1024], sizes = [10_000] }",
            "t.toml:29:8: claim 'a': unknown matrix 'size'; did you mean 'sizes'?",
        ),
        (
            "best = { matrix = \"sizes\", rows = [4096], among = [1024], sizes = [10_000] }",
            "must be rows of the matrix",
        ),
        (
            "best = { matrix = \"sizes\", rows = [1024], among = [1024], sizes = [10_000] }",
            "rows that are not the best",
        ),
        (
            "best = { matrix = \"sizes\", rows = [1024], among = [8192], sizes = [1] }",
            "must be sizes of the matrix",
        ),
        (
            "comparison = \"raed\"\nlarger = { label = \"x\", cell = \"dir\", without = \"sql\" }\n\
             smaller = { label = \"y\", cell = \"blob\", without = \"sql\" }",
            "unknown comparison 'raed'; did you mean 'read'?",
        ),
    ] {
        let refused = with(lines).unwrap_err();
        assert!(refused.contains(told), "{lines}:\n{refused}");
    }
    let twice = "test = [{ of = \"read/dir\", to = \"read/sql\", at_least = 1 }]";
    let refused = with(&format!(
        "{twice}\n[[claim]]\nid = \"a\"\nquote = \"q\"\n{twice}"
    ));
    assert!(refused.unwrap_err().contains("this id is used twice"));
}

#[test]
fn a_mistake_in_a_hypothesis_is_told_with_line_and_column() {
    let lines = "order = [\"read/sqll\", \"read/dir\"]\n";
    let text = format!("{STUDY}{lines}");
    let told = |text: &str| Study::parse(text, "t.toml").unwrap_err().to_string();
    let of_claim = told(&text);
    assert!(of_claim.starts_with("t.toml:29:9: claim 'a'"), "{of_claim}");
    let older = text
        .replace("[[claim]]", "[[hypothesis]]")
        .replace("quote =", "claim =");
    assert_eq!(told(&older), of_claim);
    let unsaid = older.replace("files take 10 times as long", " ");
    assert!(
        told(&unsaid).starts_with("t.toml:28:9: "),
        "{}",
        told(&unsaid)
    );
}

#[test]
fn a_file_with_claims_and_hypotheses_is_told_which_to_write() {
    let both = format!(
        "{STUDY}order = [\"read/sql\", \"read/dir\"]\n[[hypothesis]]\nid = \"b\"\nquote = \"so\"\n\
         order = [\"read/sql\", \"read/dir\"]\n"
    );
    let told = Study::parse(&both, "t.toml").unwrap_err().to_string();
    assert!(
        told.contains("'claim' and 'hypothesis' are one key") && !told.contains('\n'),
        "{told}"
    );
    assert!(!told.starts_with("t.toml:1:1:"), "{told}");
}
