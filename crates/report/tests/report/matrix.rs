//! How a matrix is shown: as a heat map, as a table of the terminal, and in rules of thumb.

use crate::by_size::{PUBLISHED, of_pages, row_of, sweep_points, with_matrix};
use crate::said::in_text;
use crate::support::{PLAIN, brief, html, markdown, screen, terminal, three_digits};
use stowplan_analysis::{Analysis, ContrastOutcome, SizePoint, SizeRow, Verdict};
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::TerminalOptions;
use stowplan_report::run;

#[test]
fn shows_the_matrix_and_its_rules_in_80_columns() {
    insta::assert_snapshot!(screen(&with_matrix(), &PLAIN));
}

#[test]
fn in_brief_only_the_answer_and_the_rules() {
    insta::assert_snapshot!(brief(&with_matrix(), &PLAIN));
}

#[test]
fn columns_that_do_not_fit_follow_below() {
    let options = TerminalOptions { width: 40, ..PLAIN };
    let text = terminal(&with_matrix(), &options);
    assert_eq!(text.matches("page size  ").count(), 6, "{text}");
}

#[test]
fn the_terminal_shows_the_published_matrix() {
    let text = terminal(&with_matrix(), &PLAIN);
    for ratio in PUBLISHED.iter().flatten() {
        assert!(text.contains(&format!("{ratio:.3}")), "{ratio}");
    }
}

/// Class, title and text of each cell of the heat maps: ours, then the published ones.
fn cells_of(page: &str) -> Vec<(String, String, String)> {
    let cells = page.split("<td class=\"").skip(1);
    let cells = cells.filter_map(|cell| {
        let (tag, rest) = cell.split_once('>')?;
        let (text, _) = rest.split_once("</td>")?;
        let (class, others) = tag.split_once('"')?;
        let (_, title) = others.split_once(" title=\"")?;
        let title = title.trim_end_matches('"');
        let shades = ["above-", "below-", "even", "open"];
        let is_of_map = shades.iter().any(|shade| class.starts_with(shade));
        is_of_map.then(|| (class.to_owned(), title.to_owned(), text.to_owned()))
    });
    cells.collect()
}

fn matrix_page() -> String {
    html(&with_matrix(), "")
}

fn cells(analysis: &Analysis) -> Vec<SizePoint> {
    analysis.by_size[0].points().cloned().collect()
}

#[test]
fn every_cell_has_its_ratio_interval_rounds_verdict_and_published_ratio() {
    let drawn = cells_of(&matrix_page());
    assert_eq!(drawn.len(), 2 * 49);
    for (cell, (_, title, text)) in cells(&with_matrix()).iter().zip(&drawn) {
        let published = format!("; published {:.3}", cell.published.unwrap());
        assert!(title.ends_with(&published), "{title}");
        let Some(estimate) = cell.found.estimate else {
            assert!(title.starts_with("no data"), "{title}");
            continue;
        };
        let ratio = three_digits(estimate.ratio);
        let (low, high) = (three_digits(estimate.low), three_digits(estimate.high));
        assert!(text.starts_with(&ratio), "{text}");
        assert!(title.starts_with(&format!("{ratio}: ")), "{title}");
        let interval = format!("; interval {low} to {high}, 20 rounds; ");
        assert!(title.contains(&interval), "{title}");
        // What the title says is there for those who cannot point at it, too.
        let (_, detail) = title.split_once(": ").unwrap();
        assert!(text.contains(detail), "{text}");
    }
    for (ratio, (_, _, text)) in PUBLISHED.iter().flatten().zip(&drawn[49..]) {
        assert!(text.starts_with(&format!("{ratio:.3}")), "{text}");
    }
}

#[test]
fn colours_and_signs_follow_the_side_that_is_claimed() {
    let drawn = cells_of(&matrix_page());
    let mut seen = std::collections::BTreeSet::new();
    for (cell, (class, title, text)) in cells(&with_matrix()).iter().zip(&drawn) {
        let ratio = cell.found.estimate.map_or(1.0, |estimate| estimate.ratio);
        let (side, sign, words) = match cell.found.verdict {
            Verdict::Slower => ("above-", "▲", "inside faster"),
            Verdict::Faster => ("below-", "▼", "outside faster"),
            Verdict::SmallDifference if ratio > 1.05 => ("above-", "△", "inside faster, perhaps"),
            Verdict::SmallDifference if ratio < 1.0 / 1.05 => {
                ("below-", "▽", "outside faster, perhaps")
            }
            Verdict::SmallDifference => ("even", "▽", "outside faster, perhaps"),
            Verdict::Equivalent => ("even", "≈", "equivalent within 5%"),
            Verdict::Unresolved => ("open", "?", "unresolved"),
            Verdict::Unreliable => ("open", "!", "session unreliable, nothing claimed"),
            Verdict::NoData => ("open", "·", "no data"),
        };
        assert!(class.starts_with(side), "{class}: {title}");
        assert!(text.contains(sign), "{text}");
        assert!(title.contains(words), "{title}");
        seen.insert(sign);
    }
    assert_eq!(
        seen.len(),
        8,
        "the fixture has every kind of cell: {seen:?}"
    );
    for (ratio, (class, ..)) in PUBLISHED.iter().flatten().zip(&drawn[49..]) {
        let side = match *ratio {
            ratio if ratio >= 1.05 => "above-",
            ratio if ratio <= 1.0 / 1.05 => "below-",
            _ => "even",
        };
        assert!(class.starts_with(side), "{ratio}: {class}");
    }
}

#[test]
fn every_number_can_be_read_on_its_colour() {
    let page = matrix_page();
    let (_, light) = page.split_once(":root {").unwrap();
    let (_, dark) = light.split_once(":root {").unwrap();
    for scheme in [light, dark] {
        let colour = |name: &str| luminance(value(scheme, name));
        for side in ["above", "below"] {
            for depth in 1..=5 {
                let ink = match depth {
                    5 => "deepest-ink",
                    4 => "strong-ink",
                    _ => "ink",
                };
                let back = colour(&format!("{side}-{depth}"));
                let contrast = contrast(back, colour(ink));
                assert!(contrast >= 4.5, "{side}-{depth}: {contrast}");
            }
        }
        assert!(contrast(colour("even"), colour("ink")) >= 4.5);
    }
}

/// The value of a custom property where it is next defined.
fn value<'a>(css: &'a str, name: &str) -> &'a str {
    let (_, rest) = css.split_once(&format!("--{name}: #")).unwrap();
    rest.split(';').next().unwrap()
}

/// The relative luminance of a colour, by WCAG 2.
fn luminance(hex: &str) -> f64 {
    let channel = |at: usize| {
        let value = u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
}

fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn the_comparisons_of_a_matrix_are_folded() {
    let analysis = with_matrix();
    let page = matrix_page();
    for comparison in &analysis.comparisons {
        let card = format!(
            "<details id=\"finding-{}\" class=\"comparison\">",
            comparison.id
        );
        let (before, _) = page.split_once(&card).unwrap();
        let (opened, closed) = (before.matches("<details"), before.matches("</details>"));
        assert_eq!(opened.count(), closed.count() + 1, "{}", comparison.id);
    }
    let (short, document) = (screen(&analysis, &PLAIN), markdown(&analysis));
    for comparison in &analysis.comparisons {
        assert!(!short.contains(&comparison.title));
        assert!(document.contains(&comparison.title));
    }
}

#[test]
fn the_document_has_both_matrices_and_the_rules() {
    let text = markdown(&with_matrix());
    assert!(
        text.contains("| 4 KiB | 1.76 ▲ | 1.43 ▲ | 1.06 △ |"),
        "{text}"
    );
    assert!(text.contains("| 4 KiB | 2.261 | 1.886 | 1.173 |"), "{text}");
    assert!(text.contains("- With pages of 1 KiB, faster at 10 kB: inside; "));
    assert!(text.contains("The cache holds 2 MB of pages"));
}

/// The rules of a matrix with these rows at 1 KiB, 2 KiB … .
fn rules(rows: &[(&str, &str)]) -> Vec<String> {
    let rows = rows.iter();
    let rows = rows.map(|(row, letters)| row_of(row, sweep_points(letters)));
    let mut analysis = with_matrix();
    analysis.by_size = vec![of_pages(rows.collect())];
    // They are no parts of what the matrix is now.
    analysis.comparisons.clear();
    let text = in_text(&run::document(&analysis, ""), Detail::Full);
    let (_, rules) = text.split_once("\nChart\n").unwrap();
    let bullet = |line: &&str| !line.starts_with("• ");
    let rules = rules.lines().skip_while(bullet);
    let rules = rules.map_while(|line| line.strip_prefix("• "));
    rules
        .map(|rule| rule.trim_matches([' ', '|']).to_owned())
        .collect()
}

#[test]
fn every_kind_of_rule_says_what_was_found_and_no_more() {
    let cases = [
        (
            "AA?B",
            "faster at 1 KiB to 2 KiB: inside; at 8 KiB: outside; other sizes are open.",
        ),
        (
            "BBA",
            "faster at 1 KiB to 2 KiB: outside; at 4 KiB: inside.",
        ),
        ("AAA", "faster at 1 KiB to 4 KiB: inside."),
        ("A=A", "faster at 1 KiB and 4 KiB: inside; else equivalent."),
        (
            "=b",
            "faster, perhaps by less than 5%, at 2 KiB: outside; equivalent within 5% at 1 KiB.",
        ),
        ("==", "equivalent within 5% at 1 KiB to 2 KiB."),
        (
            "=?=",
            "equivalent within 5% at 1 KiB; at 4 KiB; not decided at 2 KiB.",
        ),
        ("A?", "faster at 1 KiB: inside; other sizes are open."),
        (
            "ABA",
            "of single sizes only, faster at 1 KiB: inside; at 2 KiB: outside; at 4 KiB: inside.",
        ),
        ("?!.", "not decided at 1 KiB to 4 KiB."),
    ];
    for (letters, expected) in cases {
        let found = rules(&[("8192", letters)]);
        assert_eq!(
            found,
            [format!("With pages of 8 KiB, {expected}")],
            "{letters}"
        );
    }
}

#[test]
fn rows_that_teach_the_same_share_a_rule_and_only_leads_tell_them_apart() {
    let found = rules(&[("4096", "AAB"), ("8192", "aaB"), ("16384", "aaB")]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[1].starts_with("With pages of 8 KiB and 16 KiB, faster at 4 KiB: outside"));
    assert_eq!(
        found[2],
        "Inside does best with pages of 4 KiB for values of 1 KiB to 2 KiB."
    );
}

#[test]
fn the_overview_says_what_holds_for_every_row() {
    let row = |analysis: &Analysis| {
        let analysis = crate::fixture::decided(analysis.clone());
        let text = in_text(&run::document(&analysis, ""), Detail::Full);
        let item = text.lines().find_map(|line| line.strip_prefix("• "));
        let answer = item.and_then(|item| item.split(" | ").nth(1));
        answer.unwrap().to_owned()
    };
    let mut analysis = with_matrix();
    assert_eq!(
        row(&analysis),
        "It depends on the page size: see the details"
    );
    analysis.by_size[0].rows.truncate(4);
    assert_eq!(
        row(&analysis),
        "At 10 kB: inside; other sizes depend on the page size or are open"
    );
    analysis.by_size[0].rows.remove(0);
    assert_eq!(
        row(&analysis),
        "At 10 kB to 20 kB: inside; at 500 kB to 1 MB: outside; other sizes depend on the page \
         size or are open"
    );
    analysis.by_size[0].rows.truncate(1);
    let said = row(&analysis);
    assert!(said.ends_with("outside; other sizes are open"), "{said}");
}

#[test]
fn columns_that_were_not_measured_are_said_to_be_that() {
    let mut analysis = with_matrix();
    assert!(!terminal(&analysis, &PLAIN).contains("not measured"));
    for row in &mut analysis.by_size[0].rows {
        let mut points = row.points.clone();
        for point in &mut points[3..] {
            (point.found.estimate, point.found.verdict) = (None, Verdict::NoData);
            point.comparison = None;
        }
        *row = SizeRow::of(&row.setting, points);
    }
    let text = terminal(&analysis, &PLAIN);
    assert!(
        text.contains("\nPlanned and not measured: 100 kB to 1 MB.\n"),
        "{text}"
    );
}

#[test]
fn the_method_says_how_many_sizes_become_one_claim() {
    assert!(matrix_page().contains("<dt>Order by size</dt>"));
    let other = html(&crate::fixture::analysis(), "");
    assert!(!other.contains("Order by size"));
}

#[test]
fn promises_that_differ_stand_beside_the_ratios() {
    let mut analysis = with_matrix();
    let column = &mut analysis.comparisons[0];
    for cell in &mut column.cells {
        cell.cell.workload.operation = stowplan_model::Operation::Overwrite;
    }
    let unlike = |contrast: &mut ContrastOutcome| contrast.same_durability = false;
    column.contrasts.iter_mut().for_each(unlike);
    analysis.by_size[0].same_durability = false;
    analysis.decide();
    let expected = "Different durability: inside: none; outside: none. The ratios compare";
    for text in [terminal(&analysis, &PLAIN), html(&analysis, "")] {
        assert!(text.contains(expected), "{text}");
        let advice = ["keep values", "Keep values", "does best", "does not matter"];
        for verb in advice {
            assert!(!text.contains(verb), "{verb}: {text}");
        }
    }
    let text = markdown(&analysis);
    let mut rows = text
        .lines()
        .filter(|line| line.starts_with("- **Reading BLOBs"));
    let row = rows.next().unwrap();
    assert!(row.contains(": **No choice by time alone"), "{row}");
}
