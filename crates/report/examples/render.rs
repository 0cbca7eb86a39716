//! tmp
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]
use stowplan_model::read_records;
use stowplan_report::document::Detail;
use stowplan_report::render::{html, markdown, terminal};
fn main() {
    let a: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&a[1]).unwrap();
    let analysis = stowplan_analysis::analyse(&read_records(&text).0, None).unwrap();
    let doc = stowplan_report::run::document(&analysis, &text);
    let width: usize = a.get(3).map_or(80, |w| w.parse().unwrap());
    let opt = |detail, unicode| terminal::TerminalOptions {
        width,
        colour: false,
        unicode,
        detail,
    };
    print!(
        "{}",
        match a[2].as_str() {
            "html" => html::render(&doc),
            "md" => markdown::render(&doc),
            "verbose" => terminal::render(&doc, &opt(Detail::All, true)),
            "ascii" => terminal::render(&doc, &opt(Detail::All, false)),
            "brief" => terminal::render(
                &stowplan_report::run::brief(&analysis),
                &opt(Detail::Brief, true)
            ),
            _ => terminal::render(&doc, &opt(Detail::Normal, true)),
        }
    );
}
