//! A calibration as one page, made of the same pieces as the page of any other result.

use super::element::escape;
use super::{SCRIPT, STYLE, TEMPLATE, embed, fill, notices, table};
use crate::calibration::figures::{Figures as Section, Row, sections, state};
use crate::calibration::{advice, place, verdict};
use crate::table::{Column, Entry, Table};
use crate::wording;
use stowplan_analysis::calibration::{Calibration, Standing};
use stowplan_analysis::{Analysis, RatioEstimate};

/// The page; `raw` is the text of the result.
pub(crate) fn render(calibration: &Calibration, analysis: &Analysis, raw: &str) -> String {
    let study = &analysis.run.plan.study;
    let warnings = super::warnings(analysis);
    let sessions = sessions(calibration);
    let contents = super::contents(&[
        ("overview", "Figures", true),
        ("charts", "Sessions", !sessions.is_empty()),
        ("warnings", "Warnings", !warnings.is_empty()),
        ("environment", "Environment", true),
        ("method", "Method", true),
        ("raw", "Raw result", true),
    ]);
    let ending = wording::ending(analysis).map_or_else(String::new, |text| notices(&[text]));
    fill(
        TEMPLATE,
        &[
            ("mark", crate::MARK),
            ("title", &escape(&study.title)),
            ("style", STYLE),
            ("script", SCRIPT),
            ("question", &escape(&study.question)),
            (
                "byline",
                &format!("<span>{}</span>", escape(&place(analysis))),
            ),
            ("contents", &contents),
            ("ending", &ending),
            ("overview", &overview(calibration)),
            ("charts", &sessions),
            ("warnings", &warnings),
            ("environment", &super::environment_section(analysis)),
            ("method", &super::method_section(analysis)),
            ("raw", &embed::raw_result(raw)),
        ],
    )
}

/// The verdict, what to do, and each figure beside its limit.
fn overview(calibration: &Calibration) -> String {
    let class = if calibration.passed {
        "faster"
    } else {
        "slower"
    };
    let word = if calibration.passed { "ok" } else { "not ok" };
    let advice: Vec<String> = advice(calibration).into_iter().map(str::to_owned).collect();
    let sections: String = sections(calibration).iter().map(section).collect();
    format!(
        "<section id=\"overview\"><h2>Does it measure truly?</h2>\
         <article class=\"panel\"><p class=\"answer\"><span class=\"badge {class}\">{word}</span> \
         {}</p></article>{}{sections}</section>\n",
        escape(&verdict(calibration)),
        notices(&advice)
    )
}

fn section(section: &Section) -> String {
    let has_limits = section.rows.iter().any(|row| !row.limit.is_empty());
    let has_states = section.rows.iter().any(|row| row.standing.is_some());
    let mut columns = vec![column("figure", "what was measured")];
    if has_states {
        columns.push(column(
            "state",
            "ok: within its limit with its whole interval; unsure: by estimate only",
        ));
    }
    columns.push(column("found", "the estimate with its interval"));
    if has_limits {
        columns.push(column("limit", "what it may be"));
    }
    let rows = section
        .rows
        .iter()
        .map(|row| fields(row, has_states, has_limits));
    let table = Table {
        columns,
        rows: rows.collect(),
    };
    format!(
        "<article class=\"panel\"><h3>{}</h3><p class=\"hint\">{}</p>{}</article>\n",
        escape(&section.title),
        escape(section.about),
        table::table(&section.title, &table)
    )
}

fn column(title: &'static str, help: &'static str) -> Column {
    Column {
        title,
        help,
        numeric: false,
        unit: "",
    }
}

fn fields(row: &Row, has_states: bool, has_limits: bool) -> Vec<Entry> {
    let order = row.standing.map(|standing| match standing {
        Standing::Met => 0.0,
        Standing::Unsure => 1.0,
        Standing::Missed => 2.0,
        Standing::Unknown => 3.0,
    });
    let state = Entry {
        text: state(row.standing).to_owned(),
        sort: order,
    };
    let mut fields = vec![Entry::text(row.name.clone())];
    if has_states {
        fields.push(state);
    }
    fields.push(Entry::text(row.found.clone()));
    if has_limits {
        fields.push(Entry::text(row.limit.clone()));
    }
    fields
}

/// The interval of each session of both series.
fn sessions(calibration: &Calibration) -> String {
    let identical = &calibration.identical.intervals;
    let mut figures = figure("Identical cells", 1.0, identical);
    for series in &calibration.different {
        figures.push_str(&figure(&series.label, series.truth, &series.intervals));
    }
    if figures.is_empty() {
        return figures;
    }
    format!(
        "<section id=\"charts\"><h2>Sessions</h2><p class=\"hint\">A stroke for each session: the \
         interval of the ratio as it was reported, with its estimate. The band is the zone of \
         equivalence, ±5% around 1; the dashed line is what is true.</p>{figures}</section>\n"
    )
}

/// Percent of the height at which a ratio is drawn, from the top, where `reach` is the most that is
/// drawn on either side of 1, as a logarithm.
fn height(ratio: f64, reach: f64) -> f64 {
    (50.0 - 50.0 * ratio.ln() / reach).clamp(0.0, 100.0)
}

/// Sessions from left to right, ratios upwards.
fn figure(title: &str, truth: f64, intervals: &[RatioEstimate]) -> String {
    const ZONE: f64 = 1.05;
    if intervals.is_empty() {
        return String::new();
    }
    let ends = intervals.iter().flat_map(|i| [i.low, i.high]);
    let ends = ends.chain([truth, ZONE]).map(|ratio| ratio.ln().abs());
    let reach = ends.fold(0.0, f64::max).min(1.0_f64) * 1.1;
    let at = |ratio: f64| height(ratio, reach);
    #[expect(clippy::cast_precision_loss, reason = "a number of sessions")]
    let step = 100.0 / intervals.len() as f64;
    let mut drawn = format!(
        "<rect x=\"0\" width=\"100\" y=\"{:.2}\" height=\"{:.2}\" style=\"fill:var(--even)\"/>",
        at(ZONE),
        at(1.0 / ZONE) - at(ZONE)
    );
    let mut x = step / 2.0;
    for interval in intervals {
        drawn.push_str(&stroke(x, at(interval.high), at(interval.low), 1.5));
        drawn.push_str(&stroke(
            x,
            at(interval.ratio) - 0.6,
            at(interval.ratio) + 0.6,
            5.0,
        ));
        x += step;
    }
    let line = at(truth);
    drawn.push_str(&format!(
        "<line x1=\"0\" x2=\"100\" y1=\"{line:.2}\" y2=\"{line:.2}\" vector-effect=\"non-scaling-stroke\" \
         style=\"stroke:var(--reference);stroke-width:1.5;stroke-dasharray:5 4\"/>"
    ));
    let label = |ratio: f64, text: &str| {
        format!(
            "<span style=\"position:absolute;right:0;top:{:.2}%;transform:translateY(-50%)\">{text}</span>",
            at(ratio)
        )
    };
    let labels = [
        label(ZONE, "1.05"),
        label(1.0, "1"),
        label(1.0 / ZONE, "0.952"),
    ]
    .concat();
    format!(
        "<figure class=\"chart\"><figcaption><h3>{0}</h3></figcaption>\
         <div style=\"position:relative;padding-right:3.2rem;font-size:.85rem\">\
         <svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{0}: \
         intervals of {1} sessions\" style=\"display:block;width:100%;height:11rem\">{drawn}</svg>\
         {labels}</div></figure>\n",
        escape(title),
        intervals.len()
    )
}

fn stroke(x: f64, from: f64, to: f64, width: f64) -> String {
    format!(
        "<line x1=\"{x:.2}\" x2=\"{x:.2}\" y1=\"{from:.2}\" y2=\"{to:.2}\" \
         vector-effect=\"non-scaling-stroke\" style=\"stroke:var(--ours);stroke-width:{width}\"/>"
    )
}
