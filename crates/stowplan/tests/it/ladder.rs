//! A cost taken apart from measuring to the page: a store with known added costs.

use crate::bench::Bench;

/// A read that lasts 2 µs, 10 µs more, and then with two and with four pairs of open and close. How
/// close the costs come is judged on simulated rounds (analysis, tests/procedure/ladder.rs), for here
/// it depends on what else the machine does.
const KNOWN: &str = r#"
name = "known"
title = "Known costs"
question = "Are known costs found?"
[datasets.blobs]
count = 1_000
size = { distribution = "fixed", bytes = 1_000 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 1_000 }
baseline = "base"
max_rounds = 10
[comparison.cells]
base = { store = "spin:base=2000", label = "2 µs" }
spin = { store = "spin:base=12000", part = true }
two = { store = "spin:base=12000,opens=2", part = true }
four = { store = "spin:base=12000,opens=4" }
[[ladder]]
id = "known"
title = "Known steps"
comparison = "read"
rungs = [
  { cell = "base", step = "the lowest" },
  { cell = "spin", step = "ten more" },
  { cell = "two", step = "two pairs" },
  { cell = "four", step = "two pairs more", isolated = { two = 1, spin = -1 } },
]
[[claim]]
id = "spin"
quote = "Spinning and opening costs more than spinning."
test = [{ of = ["read/four", "read/base"], to = ["read/spin", "read/base"], at_least = 1 }]
"#;

#[test]
fn known_added_costs_are_found_from_measuring_to_every_report() {
    let bench = Bench::new();
    bench.write("known.toml", KNOWN);
    let document = bench.run("study known.toml --output out --json").json();
    let ladder = &document["ladders"][0];
    let cost = |step: usize| ladder["steps"][step]["cost"]["estimate"].as_f64().unwrap();
    for step in [2, 3] {
        assert_eq!(ladder["steps"][step]["calls"]["openat"], 2.0, "{ladder:#}");
        assert_eq!(ladder["steps"][step]["calls"]["close"], 2.0, "{ladder:#}");
    }
    assert!(ladder["steps"][3]["isolated"].is_object(), "{ladder:#}");
    let sum: f64 = (0..4).map(cost).sum();
    let whole = ladder["whole"]["estimate"].as_f64().unwrap();
    let remainder = ladder["remainder"]["estimate"].as_f64().unwrap();
    assert!((sum + remainder - whole).abs() < 1e-6 * whole, "{ladder:#}");

    // A part is measured in every round and is no answer.
    let cells = document["comparisons"][0]["cells"].as_array().unwrap();
    assert!(cells.iter().all(|cell| cell["rounds"] == 10), "{cells:#?}");
    // Whatever else the machine does, a wait by the clock is never shorter than it is told to be.
    for cell in cells {
        let base = cell["cell"]["settings"]["base"].as_f64().unwrap();
        assert!(cell["wall_ns"].as_f64().unwrap() >= base, "{cell:#}");
    }
    let contrasts = document["comparisons"][0]["contrasts"].as_array().unwrap();
    let about: Vec<&str> = contrasts
        .iter()
        .filter_map(|c| c["cell"].as_str())
        .collect();
    assert_eq!(about, ["read/four"]);

    let claim = &document["claims"][0];
    // What is measured decides, and on a busy machine that may be nothing.
    let ratio = &claim["figures"][0]["estimate"];
    let (low, high) = (&ratio["low"], &ratio["high"]);
    let expected = match (low.as_f64().unwrap(), high.as_f64().unwrap()) {
        _ if document["comparisons"][0]["reliable"] == false => "unreliable",
        (low, _) if low >= 1.0 => "holds",
        (_, high) if high < 1.0 => "fails",
        _ => "undecided",
    };
    assert_eq!(claim["verdict"], expected, "{claim:#}");

    let shown = bench.run("report out --verbose");
    for words in [
        "What the article says",
        "Why: costs taken apart",
        "Reads",
        "Known steps",
        "two pairs more",
        "remainder",
        "the whole",
    ] {
        shown.fits().prints(words);
    }
    let (summary, page) = (bench.text("out/summary.md"), bench.text("out/report.html"));
    assert!(summary.contains("#### Known steps"), "{summary}");
    assert!(page.contains("id=\"ladder-read\""));
}
