//! What `stowplan doctor` says: a verdict, then what was looked at, group by group.

use crate::document::{
    Block, Detail, Document, Item, Look, Section, Text, Tone, facts, faint, listed, plain, remark,
    strong,
};
use serde::Serialize;
use stowplan_model::{Check, CheckGroup, CheckState, Checkup};

#[derive(Serialize)]
struct Json<'a> {
    /// Whether nothing speaks against measuring here.
    fit: bool,
    verdict: String,
    #[serde(flatten)]
    checkup: &'a Checkup,
}

/// As one JSON document, ended by a newline.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(checkup: &Checkup) -> Result<String, serde_json::Error> {
    let content = Json {
        fit: checkup.is_fit(),
        verdict: verdict(checkup),
        checkup,
    };
    crate::json::of("checkup", &content)
}

/// The verdict is its title: that alone is shown where only the outcome is wanted. Reasons stand
/// where there is something to mend; the others follow at the end for those who want everything.
#[must_use]
pub fn document(checkup: &Checkup) -> Document {
    let place = format!(
        "In {} on {}, judged for {}.",
        checkup.directory, checkup.environment.host, checkup.asked
    );
    let mut blocks = vec![remark(place)];
    for group in CheckGroup::ALL {
        let checks = checkup.checks.iter().filter(|check| check.group == group);
        blocks.extend(section(group, &checks.collect::<Vec<_>>()));
    }
    blocks.extend(other_reasons(checkup));
    Document {
        kind: "Stowplan doctor".to_owned(),
        title: verdict(checkup),
        blocks,
        ..Document::default()
    }
}

fn section(group: CheckGroup, checks: &[&Check]) -> Option<Block> {
    let (told, untold): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|c| is_told(c));
    let told = listed(told.into_iter().map(item).collect());
    let untold: Vec<&str> = untold.iter().map(|check| check.name.as_str()).collect();
    let missing = format!("not available here: {}", untold.join(", "));
    let missing = (!untold.is_empty()).then(|| remark(missing));
    let blocks: Vec<Block> = told.into_iter().chain(missing).collect();
    (!blocks.is_empty()).then(|| Section::new(group_title(group), blocks).into())
}

fn group_title(group: CheckGroup) -> &'static str {
    match group {
        CheckGroup::Processor => "Processor",
        CheckGroup::OtherWork => "Other work",
        CheckGroup::Memory => "Memory",
        CheckGroup::Disk => "Disk",
        CheckGroup::Features => "What can be used",
    }
}

/// That a feature is missing is a finding; that a fact is not told is none.
fn is_told(check: &Check) -> bool {
    check.group == CheckGroup::Features || check.state != CheckState::Unavailable
}

fn item(check: &Check) -> Item {
    let (word, tone) = badge(check);
    let wrong = is_wrong(check);
    let mend = check.mend.as_ref().filter(|_| wrong || is_missing(check));
    let mut note = Text::default();
    if let Some(mend) = mend {
        let text = if wrong { strong(mend) } else { plain(mend) };
        note = note.then(faint("Mend: ")).then(text);
    }
    if wrong {
        let gap = if note.is_empty() { "" } else { " " };
        note = note.then(faint(format!("{gap}Why: {}", check.why)));
    }
    Item {
        title: plain(&check.name),
        note,
        ..Item::of(&check.found).with_badge(word, tone)
    }
}

fn badge(check: &Check) -> (&'static str, Tone) {
    match (check.state, check.group) {
        (CheckState::Ok, CheckGroup::Features) => ("yes", Tone::Good),
        (CheckState::Unavailable, CheckGroup::Features) => ("no", Tone::Faint),
        (CheckState::Ok, _) => ("ok", Tone::Good),
        (CheckState::Warning, _) => ("warning", Tone::Warning),
        (CheckState::Problem, _) => ("problem", Tone::Bad),
        (CheckState::Unavailable, _) => ("unknown", Tone::Faint),
    }
}

/// Whether it is a feature that this machine lacks.
fn is_missing(check: &Check) -> bool {
    check.group == CheckGroup::Features && check.state == CheckState::Unavailable
}

fn is_wrong(check: &Check) -> bool {
    matches!(check.state, CheckState::Warning | CheckState::Problem)
}

/// Why everything else was looked at, and what could be done about it.
fn other_reasons(checkup: &Checkup) -> Option<Block> {
    let others = checkup.checks.iter().filter(|check| !is_wrong(check));
    let reasons: Vec<(&String, Text)> = others.map(|check| (&check.name, reason(check))).collect();
    if reasons.is_empty() {
        return None;
    }
    let fold = Section {
        look: Look::Finding,
        ..Section::new("Why the others are looked at", vec![facts(reasons)])
    };
    Some(Block::from(fold).at(Detail::Full))
}

fn reason(check: &Check) -> Text {
    let told = match is_told(check) {
        true => Text::default(),
        false => plain(format!("unknown: {}. ", check.found.trim_end_matches('.'))),
    };
    let mend = check.mend.as_ref().filter(|_| !is_missing(check));
    let mend = mend.map_or_else(String::new, |mend| format!(" {mend}"));
    told.then(&check.why).then(mend)
}

/// One sentence, or two.
fn verdict(checkup: &Checkup) -> String {
    let names = |state| {
        let names = checkup.in_state(state).map(|check| check.name.as_str());
        names.collect::<Vec<_>>()
    };
    let (problems, warnings) = (names(CheckState::Problem), names(CheckState::Warning));
    let (problems, all) = (problems.join(", "), warnings.join(", "));
    let warned = match warnings.len() {
        1 => format!("one warning: {all}."),
        many => format!("{many} warnings: {all}."),
    };
    match (problems.is_empty(), warnings.is_empty()) {
        (true, true) => {
            "Fit for measuring: nothing was found here that would spoil a measurement.".to_owned()
        }
        (true, false) => format!("Fit for measuring, with {warned}"),
        (false, true) => format!("Not fit for measuring: {problems}."),
        (false, false) => format!("Not fit for measuring: {problems}. Besides, {warned}"),
    }
}
