//! Prints one of the reports of an invented run, to look at while working on reports:
//! `cargo run -p stowplan-report --example preview -- html > preview.html`

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::cast_possible_truncation
)]

#[path = "../tests/report/fixture.rs"]
mod fixture;

use stowplan_report::terminal::TerminalOptions;
use stowplan_report::{csv, html, json, markdown, terminal};

fn main() {
    let analysis = fixture::analysis();
    let mut arguments = std::env::args().skip(1);
    let format = arguments.next().unwrap_or_default();
    let width = arguments.next().map_or(80, |width| width.parse().unwrap());
    let options = TerminalOptions {
        width,
        colour: format == "colour",
        unicode: format != "ascii",
        verbose: format == "verbose",
    };
    let text = match format.as_str() {
        "html" => html::render(&analysis, &fixture::raw_result()),
        "markdown" => markdown::render(&analysis),
        "csv" => csv::render(&analysis),
        "json" => json::render(&analysis).unwrap(),
        _ => terminal::render(&analysis, &options),
    };
    print!("{text}");
}
