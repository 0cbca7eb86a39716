//! Several results of one study as one page, made of the same pieces as that of one result.

use super::chart::{Grid, group, ratio_tick, row};
use super::element::{anchor, escape};
use super::{SCRIPT, STYLE, embed, fill, notices};
use crate::document::Scale;
use crate::machines::{self, Answers, Findings, Report, Statement};
use crate::{format, wording};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use stowplan_analysis::{BarOn, ChartAcross, ComparisonAcross, PublishedRatio, Verdict};

const TEMPLATE: &str = include_str!("machines.html");

/// The results are embedded if they take at most this many bytes together, compressed: a page must
/// stay one that can be sent to somebody.
const EMBEDDED_AT_MOST: usize = 6 << 20;

/// The page; `raw` are the texts of the results, in their order.
pub(crate) fn render(report: &Report<'_>, raw: &[&str]) -> String {
    let outcome = &report.outcome;
    let charts = charts(report);
    let answers = answers(report);
    let findings = findings(report);
    let comparisons = comparisons(report);
    let contents = super::contents(&[
        ("overview", "Findings", !findings.is_empty()),
        ("answers", "Answers of each", !answers.is_empty()),
        ("charts", "Charts", !charts.is_empty()),
        ("machines", "Machines", true),
        ("comparisons", "Each comparison", !comparisons.is_empty()),
        ("method", "Method", true),
        ("raw", "Raw results", true),
    ]);
    fill(
        TEMPLATE,
        &[
            ("mark", crate::MARK),
            ("title", &escape(&outcome.title)),
            ("count", &report.count()),
            ("style", STYLE),
            ("script", SCRIPT),
            ("question", &escape(&outcome.question)),
            ("byline", &byline(report)),
            ("contents", &contents),
            ("notices", &notices(&report.notes())),
            ("findings", &findings),
            ("answers", &answers),
            ("charts", &charts),
            ("machines", &grid("Machines", &report.machine_table())),
            ("comparisons", &comparisons),
            ("method", METHOD),
            ("raw", &raw_results(report, raw)),
        ],
    )
}

const METHOD: &str = "<p>Each ratio is one machine's: time of a cell over the time of the baseline in \
    the same rounds, with the interval and the verdict of that machine's own analysis, widened by \
    that machine's own noise. Nothing is averaged or pooled over machines. Where several machines \
    agree, the range given is from the least to the most of their own estimates. Times per operation \
    are not comparable between machines as ratios are; they stand here for orientation.</p>";

fn byline(report: &Report<'_>) -> String {
    let outcome = &report.outcome;
    let machines = outcome.machines.iter();
    let labels = machines.map(|machine| format!("<span>{}</span>", escape(&machine.label)));
    let mut line: String = labels.collect();
    line.push_str(&format!("<span>scale {}</span>", escape(&outcome.scale)));
    // Only an address that is visibly one becomes a link: study files are written by anyone.
    let source = outcome.source.as_ref();
    if let Some(source) = source.filter(|source| source.starts_with("https://")) {
        let source = escape(source);
        line.push_str(&format!(
            "<span><a href=\"{source}\" rel=\"noreferrer\">the published study</a></span>"
        ));
    }
    line
}

/// The first thing to read: a row per comparison, with the count beside it.
fn findings(report: &Report<'_>) -> String {
    let all = report.outcome.machines.len();
    let noun = report.noun();
    let rows = report.findings().into_iter().map(|findings| {
        let headline = &findings.headline;
        let class = class(headline.verdict);
        let count = if headline.holds > 0 {
            format!("<b>{} of {all}</b><span>{noun}s</span>", headline.holds)
        } else {
            String::new()
        };
        format!(
            "<li class=\"{class}\"><p class=\"asked\"><a href=\"#finding-{}\">{}</a></p>\
             <p class=\"answer\">{}</p><p class=\"reason\">{}</p><p class=\"factor\">{count}</p></li>",
            anchor(&findings.id),
            escape(&findings.title),
            escape(&headline.text),
            escape(&findings.noise)
        )
    });
    let rows: String = rows.collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<section id=\"overview\"><h2>On how many {noun}s each finding holds</h2>\
         <ol class=\"answers\">{rows}</ol></section>\n"
    )
}

fn statements(findings: &Findings) -> String {
    let statements: String = findings.statements.iter().map(statement).collect();
    let fastest = findings.fastest.as_ref();
    let fastest = fastest.map_or_else(String::new, |text| {
        format!("<p class=\"headline\">{}</p>", escape(text))
    });
    format!(
        "<div class=\"verdict\">{fastest}<ul class=\"statements\">{statements}</ul>\
         <p class=\"noise\">{}</p></div>",
        escape(&findings.noise)
    )
}

fn statement(statement: &Statement) -> String {
    format!(
        "<li><span class=\"badge {}\">{}</span><span>{}</span></li>",
        class(statement.verdict),
        wording::verdict(statement.verdict),
        escape(&statement.text)
    )
}

fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "faster",
        Verdict::Slower => "slower",
        Verdict::Equivalent | Verdict::SmallDifference => "same",
        Verdict::Unresolved | Verdict::Unreliable | Verdict::NoData => "open",
    }
}

/// What each machine answers to what is no count of verdicts.
fn answers(report: &Report<'_>) -> String {
    let answers = report.answers();
    let answers: String = answers
        .iter()
        .map(|answers| answer(answers, report))
        .collect();
    if answers.is_empty() {
        return answers;
    }
    let noun = report.noun();
    format!("<section id=\"answers\"><h2>What each {noun} answers</h2>{answers}</section>\n")
}

fn answer(answers: &Answers, report: &Report<'_>) -> String {
    let lines = answers.lines(report).into_iter();
    let items =
        lines.map(|(who, answer)| format!("<li><b>{}</b>: {}</li>", escape(&who), escape(&answer)));
    format!(
        "<article class=\"panel\"><h3>{}</h3><ul>{}</ul></article>\n",
        escape(&answers.title),
        items.collect::<String>()
    )
}

fn charts(report: &Report<'_>) -> String {
    let charts: String = report.charts().map(|c| chart(c, report)).collect();
    if charts.is_empty() {
        return charts;
    }
    format!("<section id=\"charts\"><h2>Charts</h2>{charts}</section>\n")
}

fn chart(chart: &ChartAcross, report: &Report<'_>) -> String {
    let machines = &report.outcome.machines;
    let scale = machines::scale(chart, &chart.groups);
    let mut rows = String::new();
    for (index, drawn) in chart.groups.iter().enumerate() {
        let durability = drawn.durability.as_ref();
        let promise = durability.map_or_else(String::new, |d| format!(" (durability: {d})"));
        let title = format!("{} / {}{promise}", drawn.label, chart.reference);
        rows.push_str(&group(&title));
        for (machine, bar) in machines.iter().zip(&drawn.on) {
            // What a machine is stands beside its first bar.
            let detail = (index == 0).then(|| Report::short(machine));
            let label = (machine.label.as_str(), detail.as_deref());
            rows.push_str(&bar_row(label, bar.as_ref(), drawn.is_floor, &scale));
        }
        // The first cell is the one that the published ratios are of.
        if index == 0 {
            rows.push_str(&published_rows(chart, &scale));
        }
    }
    let grid = grid_of(&scale);
    rows.push_str(&grid.axis_at(&scale.ticks(), ratio_tick));
    let logarithmic = if scale.is_logarithmic() {
        " Logarithmic axis."
    } else {
        ""
    };
    let reference = escape(&chart.reference);
    format!(
        "<figure class=\"chart\" id=\"chart-{}\"{}><figcaption><h3>{}</h3><p>Time per operation, as \
         a multiple of {reference} on the same machine. Shorter is faster.{logarithmic}</p>{}\
         </figcaption><div class=\"rows\">{rows}</div><p class=\"legend\"><span><i class=\"key \
         reference\"></i>1.0 = {reference}</span><span><i class=\"key whisker\"></i>interval; for \
         published bars, how precisely they could be read</span></p></figure>\n",
        anchor(&chart.id),
        grid.attribute(),
        escape(&chart.title),
        notices(&report.chart_note(chart).into_iter().collect::<Vec<_>>())
    )
}

fn published_rows(chart: &ChartAcross, scale: &Scale) -> String {
    if chart.published.is_empty() {
        return String::new();
    }
    let label = chart.published_label.as_deref();
    let label = label.map_or_else(String::new, |label| format!(": {label}"));
    let published = chart.published.iter();
    let rows = published.map(|p| published_row(p, chart.published_precision, scale));
    format!(
        "{}{}",
        group(&format!("Published{label}")),
        rows.collect::<String>()
    )
}

fn grid_of(scale: &Scale) -> Grid<'_> {
    Grid {
        scale,
        reference: Some(1.0),
        floor: None,
    }
}

fn bar_row(
    (label, detail): (&str, Option<&str>),
    bar: Option<&BarOn>,
    is_floor: bool,
    scale: &Scale,
) -> String {
    let Some(BarOn { estimate, verdict }) = bar else {
        let mut drawing = grid_of(scale).row_at(&scale.ticks(), &format!("{label}: no data"));
        drawing.line_before(scale.position(1.0), "reference");
        return row(label, detail, &drawing.finish(), "<b>no data</b>", None);
    };
    let (ratio, interval) = (
        format::ratio(estimate.ratio),
        format::interval(estimate.low, estimate.high),
    );
    let class = match verdict {
        _ if is_floor => "floor-bar",
        Verdict::NoData | Verdict::Unreliable => "ours uncertain",
        _ => "ours",
    };
    let title = format!(
        "{label}: {ratio}, interval {} to {}, {} rounds: {}",
        format::ratio(estimate.low),
        format::ratio(estimate.high),
        estimate.rounds,
        wording::verdict(*verdict)
    );
    let bar = Drawn {
        value: estimate.ratio,
        ends: Some((estimate.low, estimate.high)),
        class,
    };
    let value = format!("<b>{ratio}</b> <span>{}</span>", escape(&interval));
    row(
        label,
        detail,
        &bar.draw(scale, &title),
        &value,
        Some(estimate.ratio),
    )
}

fn published_row(published: &PublishedRatio, precision: Option<f64>, scale: &Scale) -> String {
    let ratio = format::ratio(published.ratio);
    let PublishedRatio {
        system,
        description,
        ..
    } = published;
    let bar = Drawn {
        value: published.ratio,
        ends: precision.map(|p| ((published.ratio - p).max(0.0), published.ratio + p)),
        class: "published",
    };
    let title = format!("{system} ({description}): {ratio} as published");
    let value = format!("<b>{ratio}</b>");
    let drawing = bar.draw(scale, &title);
    row(
        system,
        Some(description),
        &drawing,
        &value,
        Some(published.ratio),
    )
}

/// One bar.
struct Drawn {
    value: f64,
    ends: Option<(f64, f64)>,
    class: &'static str,
}

impl Drawn {
    fn draw(&self, scale: &Scale, title: &str) -> String {
        let mut drawing = grid_of(scale).row_at(&scale.ticks(), title);
        let origin = scale.position(scale.origin());
        drawing.bar(origin, scale.position(self.value), self.class);
        drawing.line_before(scale.position(1.0), "reference");
        if let Some((low, high)) = self.ends {
            drawing.whisker(scale.position(low), scale.position(high));
        }
        drawing.finish()
    }
}

/// Each comparison: what was found, and every ratio; parts of matrices and sweeps are folded.
fn comparisons(report: &Report<'_>) -> String {
    let findings = report.findings();
    let draw = |comparison: &ComparisonAcross| {
        let mut known = findings.iter();
        let found = known.find(|findings| findings.id == comparison.id);
        format!(
            "<details class=\"comparison\" id=\"finding-{}\" open><summary><h3>{}</h3></summary>{}\
             <section class=\"numbers\"><h4>All ratios</h4><p>Time over that of {}; of the \
             baseline, time per operation.</p>{}</section></details>\n",
            anchor(&comparison.id),
            escape(&comparison.title),
            found.map_or_else(String::new, statements),
            escape(&comparison.baseline_label),
            grid(&comparison.title, &report.comparison_grid(comparison))
        )
    };
    let comparisons = &report.outcome.comparisons;
    let (parts, singles): (Vec<_>, Vec<_>) = comparisons.iter().partition(|c| c.part);
    let count = wording::comparisons(parts.len());
    let parts: String = parts.into_iter().map(draw).collect();
    let singles: String = singles.into_iter().map(draw).collect();
    let summary = format!("The {count} that matrices and sweeps are made of");
    let parts = super::folded(&summary, &parts);
    if singles.is_empty() && parts.is_empty() {
        return singles;
    }
    format!("<section id=\"comparisons\"><h2>Each comparison</h2>{singles}{parts}</section>\n")
}

/// A table that scrolls on its own when the page is narrow; the script makes its heads sort it.
fn grid(caption: &str, grid: &machines::Grid) -> String {
    let class = |numeric: bool| if numeric { " class=\"number\"" } else { "" };
    let heads = grid.heads.iter().map(|head| {
        let title = escape(&head.title);
        format!("<th scope=\"col\"{}>{title}</th>", class(head.numeric))
    });
    let rows = grid.rows.iter().map(|fields| {
        let fields = fields.iter().zip(&grid.heads).enumerate();
        let fields = fields.map(|(index, (field, head))| {
            let text = escape(&field.text);
            if index == 0 {
                return format!("<th scope=\"row\">{text}</th>");
            }
            let sort = field.sort.filter(|sort| sort.is_finite());
            let sort = sort.map_or_else(String::new, |sort| format!(" data-sort=\"{sort}\""));
            format!("<td{}{sort}>{text}</td>", class(head.numeric))
        });
        format!("<tr>{}</tr>\n", fields.collect::<String>())
    });
    let caption = escape(caption);
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\"><table>\
         <thead><tr>{}</tr></thead><tbody>{}</tbody></table></div>\n",
        heads.collect::<String>(),
        rows.collect::<String>()
    )
}

/// A link to each result, compressed; or where to find them.
fn raw_results(report: &Report<'_>, raw: &[&str]) -> String {
    let compressed = raw.iter().map(|text| embed::gzip(text.as_bytes()));
    let compressed: Result<Vec<_>, _> = compressed.collect();
    let size = |all: &Vec<Vec<u8>>| all.iter().map(Vec::len).sum::<usize>();
    let all = match compressed {
        Ok(all) if size(&all) <= EMBEDDED_AT_MOST => all,
        Ok(all) => {
            return format!(
                "<p>The results are not embedded: compressed, they take {} together. Keep their \
                 <code>result.jsonl</code>; <code>stowplan report</code> reads them again.</p>",
                stowplan_model::format_bytes(size(&all) as u64)
            );
        }
        Err(_) => return "<p>The results could not be compressed.</p>".to_owned(),
    };
    let links = report.outcome.machines.iter().zip(all).map(|(machine, data)| {
        let name = format!("{}-result.jsonl.gz", anchor(&machine.label));
        let size = stowplan_model::format_bytes(data.len() as u64);
        let data = STANDARD.encode(data);
        format!(
            "<li>{}: <a download=\"{name}\" href=\"data:application/gzip;base64,{data}\">{name} \
             ({size})</a></li>",
            escape(&machine.label)
        )
    });
    format!(
        "<p>Every block that was timed on each machine: unpack them with <code>gunzip</code> and give \
         them to <code>stowplan report</code>.</p><ul>{}</ul>",
        links.collect::<String>()
    )
}
