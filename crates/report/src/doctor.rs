//! What `stowplan doctor` prints: a verdict, then what was looked at, group by group.

use crate::terminal::TerminalOptions;
use crate::terminal::canvas::{Canvas, Span, Tone, span};
use serde::Serialize;
use stowplan_model::{Check, CheckGroup, CheckState, Checkup};

/// The version of the JSON document; a change that old readers would misread raises it.
pub const SCHEMA_VERSION: u32 = 1;

/// Columns of the state and of the name, each with the space behind it.
const STATE: usize = 9;
const NAME: usize = 18;
/// Columns in front of a remark, with the word that it begins with.
const REMARK: usize = STATE + 6;

#[derive(Serialize)]
struct Document<'a> {
    tool: &'static str,
    document: &'static str,
    schema: u32,
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
    let document = Document {
        tool: "stowplan",
        document: "checkup",
        schema: SCHEMA_VERSION,
        fit: checkup.is_fit(),
        verdict: verdict(checkup),
        checkup,
    };
    let mut text = crate::steering::pretty(&document)?;
    text.push('\n');
    Ok(text)
}

/// Only the verdict, as text.
#[must_use]
pub fn brief(checkup: &Checkup, options: &TerminalOptions) -> String {
    let mut canvas = open(options);
    head(&mut canvas, checkup);
    canvas.finish()
}

/// Everything as text; reasons only where there is something to mend, unless all is asked for.
#[must_use]
pub fn text(checkup: &Checkup, options: &TerminalOptions) -> String {
    let mut canvas = open(options);
    head(&mut canvas, checkup);
    let place = format!(
        "In {} on {}, judged for {}.",
        checkup.directory, checkup.environment.host, checkup.asked
    );
    canvas.paragraph(&place, 0, Tone::Faint);
    for group in CheckGroup::ALL {
        let checks = checkup.checks.iter().filter(|check| check.group == group);
        let checks: Vec<&Check> = checks.collect();
        draw_group(&mut canvas, group, &checks, options.verbose);
    }
    canvas.finish()
}

fn open(options: &TerminalOptions) -> Canvas {
    Canvas::new(options.width.max(40), options.colour, options.unicode)
}

fn head(canvas: &mut Canvas, checkup: &Checkup) {
    let warnings = checkup.in_state(CheckState::Warning).next().is_some();
    let tone = match (checkup.is_fit(), warnings) {
        (true, false) => Tone::Good,
        (true, true) => Tone::Strong,
        (false, _) => Tone::Bad,
    };
    canvas.paragraph(&verdict(checkup), 0, tone);
}

/// One sentence, or two.
fn verdict(checkup: &Checkup) -> String {
    let names = |state| {
        let names = checkup.in_state(state).map(|check| check.name.as_str());
        names.collect::<Vec<_>>()
    };
    let (problems, warnings) = (names(CheckState::Problem), names(CheckState::Warning));
    let warned = match warnings.len() {
        0 => None,
        1 => Some(format!("one warning: {}.", warnings[0])),
        many => Some(format!("{many} warnings: {}.", warnings.join(", "))),
    };
    match (problems.is_empty(), warned) {
        (true, None) => {
            "Fit for measuring: nothing was found here that would spoil a measurement.".to_owned()
        }
        (true, Some(warned)) => format!("Fit for measuring, with {warned}"),
        (false, None) => format!("Not fit for measuring: {}.", problems.join(", ")),
        (false, Some(warned)) => {
            format!(
                "Not fit for measuring: {}. Besides, {warned}",
                problems.join(", ")
            )
        }
    }
}

fn draw_group(canvas: &mut Canvas, group: CheckGroup, checks: &[&Check], verbose: bool) {
    if checks.is_empty() {
        return;
    }
    let title = match group {
        CheckGroup::Processor => "Processor",
        CheckGroup::OtherWork => "Other work",
        CheckGroup::Memory => "Memory",
        CheckGroup::Disk => "Disk",
        CheckGroup::Features => "What can be used",
    };
    canvas.heading(title);
    // That a feature is missing is a finding; that a fact is not told is none.
    let told = |check: &&&Check| {
        verbose || group == CheckGroup::Features || check.state != CheckState::Unavailable
    };
    let (told, untold): (Vec<&Check>, Vec<&Check>) = checks.iter().partition(|c| told(c));
    for check in told {
        draw(canvas, check, verbose);
    }
    if !untold.is_empty() {
        let names: Vec<&str> = untold.iter().map(|check| check.name.as_str()).collect();
        let text = format!("not available here: {}", names.join(", "));
        canvas.paragraph(&text, STATE, Tone::Faint);
    }
}

fn draw(canvas: &mut Canvas, check: &Check, verbose: bool) {
    let (state, tone) = match (check.state, check.group) {
        (CheckState::Ok, CheckGroup::Features) => ("yes", Tone::Good),
        (CheckState::Unavailable, CheckGroup::Features) => ("no", Tone::Faint),
        (CheckState::Ok, _) => ("ok", Tone::Good),
        (CheckState::Warning, _) => ("warning", Tone::Warning),
        (CheckState::Problem, _) => ("problem", Tone::Bad),
        (CheckState::Unavailable, _) => ("unknown", Tone::Faint),
    };
    let prefix = [
        span(format!("{state:<STATE$}"), tone),
        span(format!("{:<NAME$}", check.name), Tone::Plain),
    ];
    canvas.hanging(&prefix, STATE + NAME, &check.found, Tone::Plain);
    let wrong = matches!(check.state, CheckState::Warning | CheckState::Problem);
    let missing = check.group == CheckGroup::Features && check.state == CheckState::Unavailable;
    if let Some(mend) = check.mend.as_ref().filter(|_| wrong || missing || verbose) {
        let tone = if wrong { Tone::Strong } else { Tone::Plain };
        canvas.hanging(&remark("mend"), REMARK, mend, tone);
    }
    if wrong || verbose {
        canvas.hanging(&remark("why"), REMARK, &check.why, Tone::Faint);
    }
}

/// The head of a line below a check.
fn remark(word: &str) -> [Span; 1] {
    [span(format!("{:STATE$}{word}: ", ""), Tone::Faint)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_model::Environment;

    fn check(
        group: CheckGroup,
        name: &str,
        state: CheckState,
        found: &str,
        mend: Option<&str>,
    ) -> Check {
        Check {
            name: name.to_owned(),
            group,
            state,
            found: found.to_owned(),
            mend: mend.map(str::to_owned),
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
            checks: vec![
                check(Processor, "CPUs", Ok, "2", None),
                check(Processor, "governor", Unavailable, "not told here", None),
                check(Processor, "turbo", Unavailable, "not told here", None),
                check(
                    Processor,
                    "clock",
                    Ok,
                    "tsc, 24 ns to read",
                    Some("Nothing."),
                ),
                check(
                    Memory,
                    "page-out",
                    Warning,
                    "DAMON evicts pages that are idle for a while",
                    Some(
                        "For the run: echo off | sudo tee /sys/kernel/mm/damon/admin/kdamonds/0/state.",
                    ),
                ),
                check(
                    Disk,
                    "file system",
                    Problem,
                    "tmpfs on /dev/shm",
                    Some("Give a directory on a disk."),
                ),
                check(Features, "cachestat", Ok, "yes", None),
                check(
                    Features,
                    "strace",
                    Unavailable,
                    "not found",
                    Some("apt install strace, or your system's way."),
                ),
            ],
        }
    }

    fn options() -> TerminalOptions {
        TerminalOptions {
            width: 80,
            colour: false,
            unicode: true,
            verbose: false,
        }
    }

    #[test]
    fn the_verdict_comes_first_and_reasons_stand_where_something_is_to_be_mended() {
        insta::assert_snapshot!(text(&checkup(), &options()), @r#"
        Not fit for measuring: file system. Besides, one warning: page-out.
        In /dev/shm on vm, judged for study fasterthanfs.

        Processor
        ok       CPUs              2
        ok       clock             tsc, 24 ns to read
                 not available here: governor, turbo

        Memory
        warning  page-out          DAMON evicts pages that are idle for a while
                 mend: For the run: echo off | sudo tee
                       /sys/kernel/mm/damon/admin/kdamonds/0/state.
                 why:  What the page-out does to a measurement was measured once, and it
                       takes more than one line to say.

        Disk
        problem  file system       tmpfs on /dev/shm
                 mend: Give a directory on a disk.
                 why:  What the file system does to a measurement was measured once, and
                       it takes more than one line to say.

        What can be used
        yes      cachestat         yes
        no       strace            not found
                 mend: apt install strace, or your system's way.
        "#);
    }

    #[test]
    fn verbose_gives_a_reason_for_everything_and_names_what_is_unknown() {
        let everything = text(
            &checkup(),
            &TerminalOptions {
                verbose: true,
                ..options()
            },
        );
        assert_eq!(
            everything.matches("measured once").count(),
            checkup().checks.len()
        );
        assert!(everything.contains("\nunknown  governor"), "{everything}");
    }

    #[test]
    fn every_width_is_kept_and_without_unicode_all_is_ascii() {
        let mut checkup = checkup();
        checkup.checks[0].found = "0.2 µs × 3".to_owned();
        for width in [40, 60, 80, 100] {
            let options = TerminalOptions {
                width,
                unicode: false,
                verbose: true,
                ..options()
            };
            let text = text(&checkup, &options);
            assert!(text.is_ascii(), "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= width),
                "{text}"
            );
        }
    }

    #[test]
    fn a_verdict_names_problems_before_warnings() {
        let mut checkup = checkup();
        let all = "Not fit for measuring: file system. Besides, one warning: page-out.";
        assert_eq!(verdict(&checkup), all);
        assert_eq!(brief(&checkup, &options()), format!("{all}\n"));
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
