//! What `stowplan calibrate` prints: a verdict, then each figure beside its limit.

mod figures;
mod numbers;
mod sessions;
mod verdict;

pub use verdict::{advice, verdict};

use crate::document::{
    Block, Detail, Document, Look, Section, Tone, notice, paragraph, remark, strong,
};
use crate::{json, run, value, wording};
use stowplan_analysis::calibration::{Calibration, LimitStatus, metric_of};
use stowplan_analysis::{Analysis, Metric};

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
    let mut blocks = vec![outcome(calibration)];
    let advice = advice(calibration).into_iter();
    blocks.extend(advice.map(|advice| notice(advice).at(Detail::Answer)));
    blocks.extend(wording::ending(analysis).map(|ending| notice(ending).at(Detail::Answer)));
    blocks.push(remark(place(analysis)));
    let figures = figures::panels(calibration);
    let section = Section::new("Does it measure truly?", figures).named("overview");
    blocks.push(section.in_contents("Figures").into());
    blocks.extend(sessions::section(calibration, analysis.run.equivalence));
    blocks.extend(more.into_iter().map(|block| block.at(Detail::Full)));
    blocks.push(run::raw(raw));
    Document {
        kind: "Stowplan calibration".to_owned(),
        title: study.title.clone(),
        question: study.question.clone().into(),
        byline: Vec::new(),
        blocks,
    }
}

/// The verdict.
fn outcome(calibration: &Calibration) -> Block {
    let tone = match verdict::worst(calibration) {
        LimitStatus::Met => Tone::Good,
        LimitStatus::Unsure => Tone::Strong,
        LimitStatus::Missed | LimitStatus::Unknown => Tone::Bad,
    };
    let text = paragraph(strong(verdict(calibration))).at(Detail::Answer);
    let panel = Section {
        look: Look::Panel,
        tone,
        ..Section::new("", vec![text])
    };
    Block::from(panel).at(Detail::Answer)
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

/// Where and when, in a sentence.
fn place(analysis: &Analysis) -> String {
    let run = &analysis.run;
    let machine = &run.environment;
    let cpu = machine.cpu.as_ref().unwrap_or(&machine.architecture);
    let lasted = analysis.end.as_ref().map_or_else(String::new, |end| {
        format!(", in {}", value::seconds(end.seconds))
    });
    let time = match metric_of(analysis) {
        Metric::Corrected => "corrected time",
        Metric::Wall => "wall time",
    };
    format!(
        "stowplan {} on {} ({cpu}, {} CPUs), {}{lasted}; times are {time}, intervals 95%.",
        machine.tool_version,
        machine.host,
        machine.cpus,
        run.started.split('T').next().unwrap_or_default()
    )
}
