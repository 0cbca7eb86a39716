//! Prints one of the reports of an invented run, to look at while working on reports:
//! `cargo run -p stowplan-report --example preview -- html > preview.html`; with `measured` in
//! front, of one with bars and lines; with `why`, of one with ladders; with the path of a
//! `result.jsonl` in front, of that one. After the form (`html`, `markdown`, `csv`, `json`, `brief`,
//! `verbose`, `colour`; else a terminal) may stand the width of the terminal.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

#[path = "../tests/report/fixture.rs"]
#[allow(dead_code, reason = "some of it is for tests only")]
mod fixture;
#[path = "../tests/report/measured_run.rs"]
mod measured_run;
#[path = "../tests/report/why_run.rs"]
mod why_run;

use stowplan_model::read_records;
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::render::{html, markdown, terminal};
use stowplan_report::{csv, json, run};

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let measured = arguments.next_if(|argument| argument == "measured");
    let why = arguments.next_if(|argument| argument == "why");
    let path = arguments.next_if(|argument| argument.ends_with(".jsonl"));
    let text = path.map(|path| std::fs::read_to_string(path).unwrap());
    let analysis = match (measured, &text) {
        (Some(_), _) => measured_run::analysis(),
        (None, None) if why.is_some() => why_run::analysis(),
        (None, Some(text)) => stowplan_analysis::analyse(&read_records(text).0, None).unwrap(),
        (None, None) => fixture::analysis(),
    };
    let raw = text.unwrap_or_else(fixture::raw_result);
    let format = arguments.next().unwrap_or_default();
    let width = arguments.next().map_or(80, |width| width.parse().unwrap());
    let options = TerminalOptions {
        width,
        colour: format == "colour",
        detail: match format.as_str() {
            "brief" => Detail::Answer,
            "verbose" => Detail::Full,
            _ => Detail::Summary,
        },
    };
    let document = run::document(&analysis, &raw);
    let text = match format.as_str() {
        "html" => html::render(&document),
        "markdown" => markdown::render(&document),
        "csv" => csv::render(&analysis),
        "json" => json::render(&analysis).unwrap(),
        "verbose" => terminal::render(&document, &options),
        _ => terminal::on_one_screen(|rows| run::screen(&analysis, rows), &options),
    };
    print!("{text}");
}
