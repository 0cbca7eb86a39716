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
[[figure]]
id = "phases"
title = "Phases"
comparisons = ["insert", "read"]
cells = ["wal", "small"]
measure = "block-time"
axis = "logarithmic"
published_label = "2011"
published = [{ comparison = "insert", label = "SQL CE 4.0", seconds = 0.0258, error_seconds = 0.0006 }]
[[figure]]
id = "window"
title = "Window"
comparisons = ["insert"]
x = "window_rows"
measure = "throughput"
"#;

#[test]
fn bars_and_lines_are_read() {
    let study = Study::parse(STUDY, "t.toml").unwrap();
    let bars = &study.figures[0];
    assert_eq!(bars.measure, Measure::BlockTime);
    assert_eq!(bars.axis, Some(Axis::Logarithmic));
    assert_eq!(bars.published[0].error_seconds, Some(0.0006));
    let x = Across::Setting("window_rows".to_owned());
    assert_eq!(study.figures[1].x, Some(x));
    let small = &study.comparisons[0].cells["small"];
    assert_eq!(small.published_error_seconds, Some(0.2));
    for measure in Measure::ALL {
        let text = STUDY.replace("\"throughput\"", &format!("\"{}\"", measure.name()));
        let study = Study::parse(&text, "t.toml").unwrap();
        assert_eq!(study.figures[1].measure, measure);
    }
}

#[test]
fn a_result_from_before_there_were_figures_keeps_them() {
    let before = r#"{ "name": "t", "title": "T", "question": "?", "systems": {}, "comparison": [],
        "chart": [{ "id": "a", "title": "A", "comparison": "r", "reference": "x", "bars": ["y"],
            "published": { "mac": 1.5 }, "published_label": null, "published_precision": null }],
        "lines": [{ "id": "b", "title": "B", "comparisons": ["r"], "cells": [], "x": "threads" }],
        "published": [{ "id": "c", "title": "C", "rows": [{ "what": "w", "operations": 1, "seconds": 2.0 }] }],
        "space": [{ "cell": "r/x", "label": "X", "bytes": 5, "count": null }] }"#;
    let mut before = serde_json::Deserializer::from_str(before);
    let study = super::of_result(&mut before).unwrap();
    let [a, b, c, _] = &study.figures[..] else {
        panic!("{:?}", study.figures)
    };
    assert_eq!((&*a.comparisons[0], a.to.as_deref()), ("r", Some("x")));
    assert_eq!((&*a.cells[0], a.published_ratios["mac"]), ("y", 1.5));
    assert_eq!(b.x, Some(Across::Threads));
    assert_eq!(c.published[0].label.as_deref(), Some("w"));
    assert_eq!(study.space().next().unwrap().bytes, Some(5));
    assert!(study.matrices.is_empty(), "nor were there matrices");
}

#[test]
fn what_lies_across_is_written_as_it_is_read() {
    for name in ["operations", "per_transaction", "threads", "window_rows"] {
        assert_eq!(Across::from(name.to_owned()).name(), name);
    }
    let dashed = Across::from("per-transaction".to_owned());
    assert_eq!(dashed, Across::PerTransaction);
}
