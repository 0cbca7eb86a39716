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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::terminal::{TerminalOptions, render};
    use stowplan_model::Environment;

    fn check(
        (group, name, state, found, mend): (CheckGroup, &str, CheckState, &str, &str),
    ) -> Check {
        Check {
            name: name.to_owned(),
            group,
            state,
            found: found.to_owned(),
            mend: Some(mend.to_owned()).filter(|mend| !mend.is_empty()),
            why: format!(
                "What the {name} does to a measurement was measured once, and it takes more than one line to say."
            ),
        }
    }

    fn checkup() -> Checkup {
        use CheckGroup::{Disk, Features, Memory, Processor};
        use CheckState::{Ok, Problem, Unavailable, Warning};
        Checkup {
            tool_version: "0.1.0".to_owned(),
            directory: "/dev/shm".to_owned(),
            asked: "study fasterthanfs".to_owned(),
            environment: Environment {
                host: "vm".to_owned(),
                ..Environment::default()
            },
            checks: [
                (Processor, "CPUs", Ok, "2", ""),
                (Processor, "governor", Unavailable, "not told here", ""),
                (Processor, "stolen time", Unavailable, "not told here", ""),
                (Processor, "clock", Ok, "tsc, 24 ns to read", "Nothing."),
                (
                    Memory,
                    "page-out",
                    Warning,
                    DAMON,
                    &format!("For the run: {NO_DAMON}."),
                ),
                (Disk, "file system", Problem, "tmpfs on /dev/shm", DISK),
                (Features, "cachestat", Ok, "yes", ""),
                (Features, "strace", Unavailable, "not found", STRACE),
            ]
            .map(check)
            .into(),
        }
    }

    const DAMON: &str = "DAMON evicts pages that are idle for a while";
    const NO_DAMON: &str = "echo off | sudo tee /sys/kernel/mm/damon/admin/kdamonds/0/state";
    const DISK: &str = "Give a directory on a disk.";
    const STRACE: &str = "apt install strace, or your system's way.";

    fn text(checkup: &Checkup, detail: Detail, width: usize) -> String {
        let options = TerminalOptions {
            width,
            colour: false,
            detail,
        };
        render(&document(checkup), &options)
    }

    #[test]
    fn the_verdict_comes_first_and_reasons_stand_where_something_is_to_be_mended() {
        insta::assert_snapshot!(text(&checkup(), Detail::Summary, 80), @r#"
        Not fit for measuring: file system. Besides, one warning: page-out.
        In /dev/shm on vm, judged for study fasterthanfs.

        Processor
        • ok: CPUs: 2
        • ok: clock: tsc, 24 ns to read
        not available here: governor, stolen time

        Memory
        • warning: page-out: DAMON evicts pages that are idle for a while
          Mend: For the run: echo off | sudo tee
          /sys/kernel/mm/damon/admin/kdamonds/0/state. Why: What the page-out does to a
          measurement was measured once, and it takes more than one line to say.

        Disk
        • problem: file system: tmpfs on /dev/shm
          Mend: Give a directory on a disk. Why: What the file system does to a
          measurement was measured once, and it takes more than one line to say.

        What can be used
        • yes: cachestat: yes
        • no: strace: not found
          Mend: apt install strace, or your system's way.
        "#);
    }

    #[test]
    fn verbose_gives_a_reason_for_everything_and_names_what_is_unknown() {
        let everything = text(&checkup(), Detail::Full, 120);
        assert_eq!(
            everything.matches("measured once").count(),
            checkup().checks.len()
        );
        let unknown = "governor: unknown: not told here. What the governor does";
        assert!(everything.contains(unknown), "{everything}");
        let mend = "it takes more than one line to say. Nothing.";
        assert!(everything.contains(mend), "{everything}");
        let normal = text(&checkup(), Detail::Summary, 120);
        assert!(everything.contains(&normal), "{everything}");
    }

    #[test]
    fn a_verdict_names_problems_before_warnings() {
        let mut checkup = checkup();
        let all = "Not fit for measuring: file system. Besides, one warning: page-out.";
        assert_eq!(verdict(&checkup), all);
        assert_eq!(text(&checkup, Detail::Answer, 80), format!("{all}\n"));
        checkup
            .checks
            .retain(|check| check.state != CheckState::Problem);
        assert_eq!(
            verdict(&checkup),
            "Fit for measuring, with one warning: page-out."
        );
        checkup
            .checks
            .retain(|check| check.state != CheckState::Warning);
        assert!(verdict(&checkup).starts_with("Fit for measuring: nothing"));
    }

    #[test]
    fn the_document_says_what_it_is_and_reads_back() {
        let text = json(&checkup()).unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["document"], "checkup");
        assert_eq!(document["fit"], false);
        assert_eq!(document["checks"][5]["state"], "problem");
        let back: Checkup = serde_json::from_str(&text).unwrap();
        assert_eq!(back, checkup());
    }
}
