use crate::{Across, Axis, Measure, Study};

const STUDY: &str = r#"
name = "t"
title = "T"
question = "?"
[datasets.rows]
count = 10
size = { distribution = "fixed", bytes = 36 }
[[comparison]]
id = "insert"
title = "insert"
dataset = "rows"
workload = { operation = "insert" }
baseline = "small"
[comparison.cells]
small = { store = "sqlite-buffered:window_rows=100", published_seconds = 22.5, published_error_seconds = 0.2 }
large = { store = "sqlite-buffered:window_rows=1k" }
wal = { store = "sqlite:journal=wal" }
[[comparison]]
id = "read"
title = "read"
dataset = "rows"
baseline = "wal"
[comparison.cells]
wal = { store = "sqlite:journal=wal" }
[[bars]]
id = "phases"
title = "Phases"
comparisons = ["insert", "read"]
cells = ["wal", "small"]
measure = "block-time"
axis = "logarithmic"
published_label = "2011"
published = [{ comparison = "insert", label = "SQL CE 4.0", seconds = 0.0258, error_seconds = 0.0006 }]
[[lines]]
id = "window"
title = "Window"
comparisons = ["insert"]
x = "window_rows"
measure = "throughput"
"#;

fn message(wrong: &str, instead: &str) -> String {
    assert!(STUDY.contains(wrong), "{wrong}");
    let text = STUDY.replacen(wrong, instead, 1);
    Study::parse(&text, "t.toml").unwrap_err().to_string()
}

#[test]
fn bars_and_lines_are_read() {
    let study = Study::parse(STUDY, "t.toml").unwrap();
    let bars = &study.bars[0];
    assert_eq!(bars.measure, Measure::BlockTime);
    assert_eq!(bars.axis, Some(Axis::Logarithmic));
    assert_eq!(bars.published[0].error_seconds, Some(0.0006));
    let x = &study.lines[0].x;
    assert_eq!(*x, Across::Setting("window_rows".to_owned()));
    let small = &study.comparisons[0].cells["small"];
    assert_eq!(small.published_error_seconds, Some(0.2));
}

#[test]
fn a_study_with_bars_and_lines_reads_back_from_a_result_as_it_was_run() {
    let study = Study::parse(STUDY, "t.toml").unwrap();
    let text = serde_json::to_string(&study).unwrap();
    assert_eq!(serde_json::from_str::<Study>(&text).unwrap(), study);
    let without = Study::parse(STUDY.split("[[bars]]").next().unwrap(), "t.toml").unwrap();
    let text = serde_json::to_string(&without).unwrap();
    assert!(
        !text.contains("\"bars\"") && !text.contains("\"lines\""),
        "{text}"
    );
}

#[test]
fn every_measure_is_read_by_its_name() {
    for measure in Measure::ALL {
        let text = STUDY.replace("\"throughput\"", &format!("\"{}\"", measure.name()));
        let study = Study::parse(&text, "t.toml").unwrap();
        assert_eq!(study.lines[0].measure, measure);
    }
}

#[test]
fn what_lies_across_is_written_as_it_is_read() {
    for name in ["operations", "per_transaction", "threads", "window_rows"] {
        assert_eq!(Across::from(name.to_owned()).name(), name);
    }
    assert_eq!(
        Across::from("per-transaction".to_owned()),
        Across::PerTransaction
    );
}

#[test]
fn an_unknown_name_is_reported_with_its_place_and_the_nearest_one() {
    let cases = [
        (
            "[\"insert\", \"read\"]",
            "[\"insert\", \"raed\"]",
            "unknown comparison 'raed'; did you mean 'read'?",
        ),
        (
            "[\"wal\", \"small\"]",
            "[\"wal\", \"smal\"]",
            "unknown cell 'smal' in its comparisons; did you mean 'small'?",
        ),
        (
            "\"throughput\"",
            "\"throughputs\"",
            "did you mean 'throughput'?",
        ),
        (
            "x = \"window_rows\"",
            "x = \"window_row\"",
            "did you mean 'window_rows'?",
        ),
        (
            "comparison = \"insert\", label",
            "comparison = \"wal\", label",
            "'wal' is none of its comparisons",
        ),
    ];
    for (wrong, instead, expected) in cases {
        let before = STUDY.split(wrong).next().unwrap();
        let line = before.matches('\n').count() + 1;
        let message = message(wrong, instead);
        assert!(message.starts_with(&format!("t.toml:{line}:")), "{message}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let cases = [
        ("id = \"window\"", "id = \"phases\"", "used twice"),
        ("id = \"window\"", "id = \"a/b\"", "must consist of letters"),
        (
            "comparisons = [\"insert\"]",
            "comparisons = []",
            "at least one",
        ),
        (
            "[\"insert\", \"read\"]",
            "[\"insert\", \"insert\"]",
            "stands here twice",
        ),
        (
            "x = \"window_rows\"",
            "x = \"journal\"",
            "has no numbers to draw: a cell gives 'wal'",
        ),
        (
            "\"block-time\"",
            "\"cpu\"",
            "measure = \"block-time\" shows",
        ),
        ("published_seconds = 22.5, ", "", "needs published_seconds"),
        (
            "seconds = 0.0258",
            "seconds = -1.0",
            "'SQL CE 4.0': -1 is no number of seconds",
        ),
        (
            "published_error_seconds = 0.2",
            "published_error_seconds = nan",
            "nan is no number that a result can hold",
        ),
    ];
    for (wrong, instead, expected) in cases {
        let message = message(wrong, instead);
        assert!(message.contains(expected), "{message}");
    }
}
