//! What `stowplan calibrate` prints: a verdict, then each figure beside its limit.

mod words;

pub use words::{advice, verdict};

use crate::document::{
    Block, Cell, Detail, Document, Section, Table, Tone, Unit, Value, notice, paragraph, remark,
    text_column, toned,
};
use crate::run::{self, environment};
use crate::value::{self, NOTHING, count};
use crate::{json, wording};
use stowplan_analysis::Analysis;
use stowplan_analysis::calibration::{Calibration, Figure, FigureUnit, Group, LimitStatus};

/// The report of a calibration. `raw` is the text of the result, which the page carries; `more`
/// stands behind the figures: what else there is to know of the run.
#[must_use]
pub fn document(
    calibration: &Calibration,
    analysis: &Analysis,
    raw: &str,
    more: Vec<Block>,
) -> Document {
    let study = &analysis.run.plan.study;
    let tone = state(words::worst(calibration)).1;
    let verdict = paragraph(toned(verdict(calibration), tone));
    let mut blocks = vec![verdict.at(Detail::Answer)];
    let advice = advice(calibration).into_iter();
    blocks.extend(advice.map(|advice| notice(advice).at(Detail::Answer)));
    blocks.extend(wording::ending(analysis).map(|ending| notice(ending).at(Detail::Answer)));
    let figures = calibration.groups.iter().map(figures).collect();
    let section = Section::new("Does it measure truly?", figures).named("overview");
    blocks.push(section.in_contents("Figures").into());
    blocks.extend(more.into_iter().map(|block| block.at(Detail::Full)));
    blocks.push(run::raw(raw));
    Document {
        kind: "Stowplan calibration".to_owned(),
        title: study.title.clone(),
        question: study.question.clone().into(),
        byline: environment::byline(analysis),
        blocks,
    }
}

/// How a figure stands, in a word and by colour.
fn state(status: LimitStatus) -> (&'static str, Tone) {
    match status {
        LimitStatus::Met => ("ok", Tone::Good),
        LimitStatus::Unsure => ("unsure", Tone::Warning),
        LimitStatus::Missed => ("missed", Tone::Bad),
        LimitStatus::Unknown => ("unknown", Tone::Bad),
    }
}

/// Figures about one thing, a row for each.
fn figures(group: &Group) -> Block {
    let about_state = "ok: within its limit with its whole interval; unsure: by estimate only";
    let state = |figure: &Figure| {
        let (word, tone) = figure.status.map_or(("", Tone::Faint), state);
        Cell {
            sort: figure.status.map(|status| f64::from(status as u8)),
            ..Cell::text(toned(word, tone))
        }
    };
    let columns = vec![
        text_column("figure", "what was measured", |figure: &Figure| {
            Cell::text(&figure.name)
        })
        .weighing(9),
        text_column("state", about_state, state).weighing(8),
        text_column("found", "the estimate with its interval", |figure| {
            Cell::text(found(figure))
        })
        .weighing(10),
        text_column("limit", "what it may be", |figure| {
            Cell::text(limit(figure))
        })
        .weighing(7),
    ];
    let table = Table::of(&group.title, columns, &group.figures);
    let about = remark(words::about(group.subject)).at(Detail::Full);
    Section::new(&group.title, vec![about, table.into()]).into()
}

/// How the numbers of a figure are written, and what is counted, if anything is.
fn unit(figure: &Figure) -> (Unit, Option<&'static str>) {
    match figure.unit {
        FigureUnit::Ns | FigureUnit::NsOff => (Unit::Time, None),
        FigureUnit::ShareOff | FigureUnit::ShareOfTime => (Unit::Percent, None),
        FigureUnit::ShareOfSessions => (Unit::Percent, Some("session")),
        FigureUnit::Blocks => (Unit::Count, Some("block")),
        FigureUnit::Pages => (Unit::Count, Some("page")),
        FigureUnit::Bytes => (Unit::Bytes, None),
    }
}

/// What was found, with its interval where it has one: `+2.50 ns [+1.00, +3.00 ns]`, `3 of 80 sessions (3.75%)`.
fn found(figure: &Figure) -> String {
    let Some(found) = figure.found else {
        return NOTHING.to_owned();
    };
    let (unit, noun) = unit(figure);
    let is_off = matches!(figure.unit, FigureUnit::NsOff | FigureUnit::ShareOff);
    let mark = if is_off && found.estimate > 0.0 {
        "+"
    } else {
        ""
    };
    let mut value = Value {
        mark,
        ..Value::new(found.estimate, unit)
    };
    if found.low < found.high {
        value = value.between(found.low, found.high);
    }
    let share = unit == Unit::Percent;
    let all = if share {
        figure.of.map_or(0.0, value::float)
    } else {
        1.0
    };
    let number = (found.estimate * all).round() as u64;
    match (noun, figure.of) {
        (None, _) => value.whole(),
        (Some(noun), Some(of)) if share => {
            let of = value::counted(of, noun);
            format!("{} of {of} ({})", count(number), value.whole())
        }
        (Some(noun), Some(of)) => format!("{} of {}", count(number), value::counted(of, noun)),
        (Some(noun), None) => value::counted(number, noun),
    }
}

/// What a figure may be; empty where it may be anything.
fn limit(figure: &Figure) -> String {
    let text = |limit| unit(figure).0.tick(limit);
    match (figure.at_least, figure.at_most) {
        (Some(_), Some(most)) => format!("±{}", text(most)),
        (Some(least), None) => format!("at least {}", text(least)),
        (None, Some(most)) => format!("at most {}", text(most)),
        (None, None) => String::new(),
    }
}

/// As one JSON document, ended by a newline. Times are nanoseconds, shares from 0 to 1.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(calibration: &Calibration, analysis: &Analysis) -> Result<String, serde_json::Error> {
    let run = &analysis.run;
    let mut content = serde_json::to_value(calibration)?;
    content["verdict"] = verdict(calibration).into();
    content["advice"] = advice(calibration).into();
    content["host"] = run.environment.host.as_str().into();
    content["started"] = run.started.as_str().into();
    content["seconds"] = analysis.end.as_ref().map(|end| end.seconds).into();
    content["tool_version"] = run.environment.tool_version.as_str().into();
    json::of("calibration", &content)
}
