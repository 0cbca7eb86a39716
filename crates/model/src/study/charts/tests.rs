use crate::{Across, Axis, Measure, Study};

pub(in crate::study) const STUDY: &str = r#"
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
