//! How a matrix is shown: as a heat map, as a table of the terminal, and in rules of thumb.

use crate::by_size::{PUBLISHED, of_pages, row_of, with_matrix};
use crate::fixture::decided;
use crate::holds::{lacks, says};
use crate::said::in_text;
use crate::support::{PLAIN, html, markdown, screen, terminal};
use crate::sweep::answer;
use stowplan_analysis::{SizePoint, Verdict};
use stowplan_model::Operation;
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::run;

#[test]
fn shows_the_matrix_and_its_rules_in_80_columns() {
    insta::assert_snapshot!(screen(&with_matrix(), &PLAIN));
}

#[test]
fn every_cell_of_the_page_has_its_colour_ratio_interval_rounds_verdict_and_published_ratio() {
    let page = html(&with_matrix(), "");
    let cells = page.split("<td class=\"").skip(1);
    // Class, title and text: ours, then the published ones.
    let cells = cells.filter_map(|cell| {
        let (tag, rest) = cell.split_once('>')?;
        let (text, _) = rest.split_once("</td>")?;
        let (class, others) = tag.split_once('"')?;
        let (_, title) = others.split_once(" title=\"")?;
        let shades = ["above-", "below-", "even", "open"];
        let is_of_map = shades.iter().any(|shade| class.starts_with(shade));
        is_of_map.then(|| [class, title.trim_end_matches('"'), text].join(" | "))
    });
    let drawn: Vec<String> = cells.collect();
    assert_eq!(drawn.len(), 2 * 49);
    insta::assert_snapshot!(drawn.join("\n"));
    // The sign says which side is claimed, and so does the colour.
    let points: Vec<SizePoint> = with_matrix().by_size[0].points().cloned().collect();
    for (point, cell) in points.iter().zip(&drawn) {
        let side = match point.found.verdict {
            Verdict::Slower => "above-",
            Verdict::Faster => "below-",
            Verdict::Equivalent => "even",
            Verdict::SmallDifference => continue,
            _ => "open",
        };
        assert!(cell.starts_with(side), "{cell}");
    }
    // Where a terminal has no room for all columns, the others follow below.
    for width in [40, PLAIN.width] {
        let text = terminal(&with_matrix(), &TerminalOptions { width, ..PLAIN });
        for ratio in PUBLISHED.iter().flatten() {
            assert!(text.contains(&format!("{ratio:.3}")), "{width}, {ratio}");
        }
    }
}

#[test]
fn every_number_can_be_read_on_its_colour() {
    let page = html(&with_matrix(), "");
    let (_, light) = page.split_once(":root {").unwrap();
    let (_, dark) = light.split_once(":root {").unwrap();
    for scheme in [light, dark] {
        let readable = |back: &str, ink: &str| {
            let [back, ink] = [back, ink].map(|name| luminance(scheme, name));
            let contrast = (back.max(ink) + 0.05) / (back.min(ink) + 0.05);
            assert!(contrast >= 4.5, "{back}: {contrast}");
        };
        readable("even", "ink");
        for side in ["above", "below"] {
            let inks = ["ink", "ink", "ink", "strong-ink", "deepest-ink"];
            for (depth, ink) in (1..).zip(inks) {
                readable(&format!("{side}-{depth}"), ink);
            }
        }
    }
}

/// The relative luminance, by WCAG 2, of the colour with this name where it is next defined.
fn luminance(css: &str, name: &str) -> f64 {
    let (_, hex) = css.split_once(&format!("--{name}: #")).unwrap();
    let channel = |at: usize| {
        let value = u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let value = f64::from(value) / 255.0;
        match value <= 0.04045 {
            true => value / 12.92,
            false => ((value + 0.055) / 1.055).powf(2.4),
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

#[test]
fn the_comparisons_of_a_matrix_are_folded() {
    let analysis = with_matrix();
    let (page, short) = (html(&analysis, ""), screen(&analysis, &PLAIN));
    let document = markdown(&analysis);
    for comparison in &analysis.comparisons {
        let id = &comparison.id;
        let card = format!("<details id=\"finding-{id}\" class=\"comparison\">");
        let (before, _) = page.split_once(&card).unwrap();
        let (opened, closed) = (before.matches("<details"), before.matches("</details>"));
        assert_eq!(opened.count(), closed.count() + 1, "{id}");
        assert!(!short.contains(&comparison.title));
        assert!(document.contains(&comparison.title));
    }
}

#[test]
fn the_document_has_both_matrices_their_rules_and_how_many_sizes_become_one_claim() {
    let text = markdown(&with_matrix());
    says(
        &text,
        [
            "| 4 KiB | 1.76 ▲ | 1.43 ▲ | 1.06 △ |",
            "| 4 KiB | 2.261 | 1.886 | 1.173 |",
        ],
    );
    says(
        &text,
        [
            "- With pages of 1 KiB, faster at 10 kB: inside; ",
            "Order by size",
            "The cache holds 2 MB of pages, whatever their size.",
        ],
    );
    lacks(&markdown(&crate::fixture::analysis()), &["Order by size"]);
}

/// The rules of a matrix with these rows.
fn rules(rows: &[(&str, &str)]) -> Vec<String> {
    let rows = rows.iter().map(|(row, letters)| row_of(row, letters));
    let mut analysis = with_matrix();
    analysis.by_size = vec![of_pages(rows.collect())];
    // They are no parts of what the matrix is now.
    analysis.comparisons.clear();
    let text = in_text(&run::document(&analysis, ""), Detail::Full);
    let (_, rules) = text.split_once("\nChart\n").unwrap();
    let rules = rules.lines().skip_while(|line| !line.starts_with("• "));
    let rules = rules.map_while(|line| line.strip_prefix("• "));
    rules
        .map(|rule| rule.trim_matches([' ', '|']).to_owned())
        .collect()
}

#[test]
fn every_kind_of_rule_says_what_was_found_and_no_more() {
    let kinds = "AA?B BBA AAA A=A =b == =?= A? ABA ?!.".split(' ');
    let said = kinds.map(|letters| format!("{letters}: {:?}\n", rules(&[("8192", letters)])));
    // Rows that teach the same share a rule, and only leads tell them apart.
    let alike = rules(&[("4096", "AAB"), ("8192", "aaB"), ("16384", "aaB")]);
    insta::assert_snapshot!(said.collect::<String>() + &alike.join("\n"));
}

#[test]
fn the_overview_says_what_holds_for_every_row() {
    for (rows, said) in [
        (0..7, "It depends on the page size: see the details"),
        (
            0..4,
            "At 10 kB: inside; other sizes depend on the page size or are open",
        ),
        (
            1..4,
            "At 10 kB to 20 kB: inside; at 500 kB to 1 MB: outside; other sizes depend on the \
             page size or are open",
        ),
        (
            1..2,
            "At 10 kB to 20 kB: inside; at 500 kB to 1 MB: outside; other sizes are open",
        ),
    ] {
        let mut analysis = with_matrix();
        let all = &mut analysis.by_size[0].rows;
        *all = all.drain(rows).collect();
        assert_eq!(answer(&decided(analysis)), said);
    }
}

#[test]
fn promises_that_differ_stand_beside_the_ratios() {
    let mut analysis = with_matrix();
    let column = &mut analysis.comparisons[0];
    for cell in &mut column.cells {
        cell.cell.workload.operation = Operation::Overwrite;
    }
    for contrast in &mut column.contrasts {
        contrast.same_durability = false;
    }
    analysis.by_size[0].same_durability = false;
    let analysis = decided(analysis);
    for text in [terminal(&analysis, &PLAIN), html(&analysis, "")] {
        says(
            &text,
            ["Different durability: inside: none; outside: none. The ratios compare"],
        );
        lacks(
            &text,
            &["keep values", "Keep values", "does best", "does not matter"],
        );
    }
    assert!(answer(&analysis).starts_with("No choice by time alone"));
}
