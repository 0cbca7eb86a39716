//! The report as one HTML file that needs no network.
use stowplan_analysis::Analysis;
/// The report as one HTML document; `raw_result` is the text of `result.jsonl`, which is embedded
/// for download.
#[must_use]
pub fn render(_analysis: &Analysis, _raw_result: &str) -> String {
    String::new()
}
