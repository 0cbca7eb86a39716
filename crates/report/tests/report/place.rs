//! The answer on the user's own data: one screen, in words that claim no more than was found.

use crate::fixture;
use crate::holds::{lacks, says};
use crate::support::{PLAIN, VERBOSE, screen, terminal, words};
use stowplan_analysis::{
    Advice, Analysis, Aspect, Choice, RatioEstimate, SpaceTaken, Split, Verdict, What,
};
use stowplan_model::{AdviseSpec, CellId, Origin, Seconds, Took, WholeSet};
use stowplan_report::render::terminal::TerminalOptions;

const SPLIT: Choice = Choice::Split { inside: 65_536 };

fn ratio(ratio: f64) -> RatioEstimate {
    RatioEstimate {
        ratio,
        low: ratio * 0.95,
        high: ratio * 1.06,
        rounds: 20,
    }
}

fn aspect(what: What, gain: f64, verdict: Verdict) -> Aspect {
    Aspect {
        what,
        cell: CellId("read/sql-8192".to_owned()),
        gain: Some(ratio(gain)),
        corrected: None,
        verdict,
        files_ns: Some(4_000.0 * gain),
        time_ns: Some(4_000.0),
    }
}

fn whole() -> WholeSet {
    let took = |files: f64, database: f64| Took {
        files: Seconds::of(vec![files, 2.0 * files, files / 2.0]),
        database: Seconds::of(vec![database]),
    };
    WholeSet {
        values: 600,
        bytes: 16_000_000,
        tries: 5,
        list: took(0.008, 0.001),
        copy: took(0.090, 0.012),
        delete: took(0.020, 0.005),
        vacuum: Seconds::of(vec![0.11]),
        vacuum_bytes: 9_100_000,
    }
}

/// What is advised of 20,000 files, and what was changed of that.
pub(crate) fn advised(choice: Choice, change: impl FnOnce(&mut Advice)) -> Analysis {
    let mut analysis = fixture::analysis();
    analysis.run.plan.study.advise = Some(AdviseSpec {
        place: "/home/me/my \u{1b}thumbs".into(),
        in_database: false,
        about: "20,000 files, 812 MB.".to_owned(),
        values: 20_000,
        bytes: 812_000_000,
        largest: 200_000,
        wal: false,
        overwrites: None,
        limits: vec!["Left out: 3 empty values.".to_owned()],
        whole: None,
        python: None,
    });
    let mut advice = Advice {
        choice,
        page_size: Some(8_192),
        boot_needs_root: true,
        aspects: vec![
            aspect(What::Read, 1.62, Verdict::Faster),
            aspect(What::ReadByPython, 1.30, Verdict::Faster),
            aspect(What::Cold, 0.48, Verdict::Slower),
            aspect(What::Replace, 1.01, Verdict::Equivalent),
        ],
        split: Some(Split {
            inside: 65_536,
            aspects: vec![
                aspect(What::Read, 1.71, Verdict::Faster),
                aspect(What::ReadByPython, 1.35, Verdict::Faster),
                aspect(What::Cold, 1.01, Verdict::Equivalent),
            ],
            allocated_bytes: Some(800_000_000),
        }),
        space: Some(SpaceTaken {
            files: 903_000_000,
            database: 780_000_000,
        }),
        whole: Some(whole()),
        measured_values: 1_200,
        measured_bytes: 48_000_000,
    };
    change(&mut advice);
    analysis.advice = Some(advice);
    analysis
}

fn on_screen(choice: Choice, change: impl FnOnce(&mut Advice)) -> String {
    screen(&advised(choice, change), &PLAIN)
}

#[test]
fn commands_and_programs_can_be_pasted_whatever_the_width() {
    let place = "/home/me/a place of a long name/".repeat(4);
    for width in [40, 80, 200] {
        let mut analysis = advised(SPLIT, |_| {});
        let asked = analysis.run.plan.study.advise.as_mut().unwrap();
        asked.place = format!("{place}thümbs\n").into();
        let text = terminal(&analysis, &TerminalOptions { width, ..PLAIN });
        let pack = format!(
            r"stowplan pack '{place}thümbs'$'\n' 'thümbs'$'\n''.sqlar' --no-deflate --inline-limit 65536 --page-size 8192"
        );
        let mut lines = text.lines().map(str::trim_start);
        assert!(lines.any(|line| line == pack), "{width}: {text}");
        for program in [
            include_str!("../../snippets/read_value.py"),
            include_str!("../../snippets/read_value.c"),
            include_str!("../../snippets/read_value.rs"),
        ] {
            // Reads by themselves: nothing is to be gained by one transaction.
            let lines = program.lines().filter(|line| !line.contains("BEGIN"));
            let program = lines.collect::<Vec<_>>().join("\n");
            assert!(text.contains(&program), "{width}: {text}");
        }
    }
}

#[test]
fn the_answer_is_one_screen_with_ratios_intervals_losses_and_commands() {
    let text = on_screen(SPLIT, |_| {});
    assert!(text.lines().count() <= 40, "{text}");
    insta::assert_snapshot!(text);
    let all = terminal(&advised(SPLIT, |_| {}), &VERBOSE);
    says(&all, ["sqlite3_open_v2"]);
    lacks(&all, &["BEGIN"]);
}

#[test]
fn who_is_to_stay_with_files_is_told_no_commands_and_nothing_is_advised_without_ground() {
    insta::assert_snapshot!("stay_with_files", on_screen(Choice::Files, |_| {}));
    insta::assert_snapshot!("nothing_advised", on_screen(Choice::Open, |_| {}));
    insta::assert_snapshot!("it_depends", on_screen(Choice::Depends, |_| {}));
    let undecided = on_screen(Choice::Files, |advice| {
        advice.aspects[0].verdict = Verdict::Unresolved;
    });
    says(
        &undecided,
        ["not cached. Not decided: reads, warm, from C."],
    );
    let lacking = on_screen(Choice::Depends, |advice| {
        advice.split.as_mut().unwrap().aspects.truncate(1);
    });
    let instead = "Split at 64 KiB instead: reads, warm, from C 1.71× [1.62, 1.81] faster.";
    says(&lacking, [instead]);
}

#[test]
fn commands_do_what_was_measured_and_take_no_name_for_an_option() {
    let commands = |choice, was_limited: bool| {
        let mut analysis = advised(choice, |_| {});
        let plan = &mut analysis.run.plan;
        let asked = plan.study.advise.as_mut().unwrap();
        (asked.place, asked.largest) = ("/a/-x".into(), 100 << 20);
        if was_limited {
            // With a log, and without the largest values.
            plan.comparisons = crate::inserts::analysis().run.plan.comparisons;
            plan.datasets.values_mut().for_each(|dataset| {
                dataset.from = Some(Origin {
                    largest: Some(8 << 20),
                    ..Origin::default()
                });
            });
        }
        let text = terminal(&analysis, &PLAIN);
        let lines = text.lines().filter(|line| line.contains(".sqlar"));
        let lines: Vec<&str> = lines.collect();
        format!("{choice:?}, {was_limited}\n{}\n", lines.join("\n"))
    };
    insta::assert_snapshot!(
        [
            commands(Choice::Database, false),
            commands(Choice::Depends, true),
            commands(SPLIT, true),
            commands(Choice::Files, true),
        ]
        .concat()
    );
}

#[test]
fn where_one_transaction_turns_the_answer_that_is_advised_and_the_programs_do_it() {
    let together = aspect(What::Together, 1.3, Verdict::Faster);
    let analysis = advised(Choice::Database, |it| it.aspects.insert(1, together));
    let all = terminal(&analysis, &VERBOSE);
    let advice = "Read many values in one transaction";
    says(&all, ["1.30× [1.23, 1.38] faster", advice]);
    assert_eq!(all.matches("\"BEGIN\"").count(), 3, "{all}");
}

#[test]
fn noise_is_that_of_the_report_and_an_open_interval_says_what_disagrees() {
    let analysis = advised(Choice::Depends, |advice| {
        advice.aspects[0] = Aspect {
            corrected: Some(ratio(0.9)),
            ..aspect(What::Read, 2.0, Verdict::Unresolved)
        };
    });
    let text = words(&terminal(&analysis, &VERBOSE));
    says(&text, ["2.00× [1.90, 2.12] by the clock alone"]);
    let (_, noise) = text
        .split_once("two identical copies differed by ")
        .unwrap();
    let noise = noise.split(". ").next().unwrap();
    assert!(text.matches(noise).count() > 1, "{noise}: {text}");
}

#[test]
fn where_reads_and_replacements_are_weighed_they_are_rows_and_no_sides() {
    let weighed = |advice: &mut Advice| {
        advice.aspects = vec![
            aspect(What::Read, 1.70, Verdict::Faster),
            aspect(What::Cold, 0.48, Verdict::Slower),
            aspect(What::Replace, 0.30, Verdict::Unresolved),
            aspect(What::Mixed, 0.80, Verdict::Slower),
        ];
    };
    insta::assert_snapshot!("weighed_files", on_screen(Choice::Files, weighed));
    let depends = on_screen(Choice::Depends, weighed);
    let sides = "files, if only names stay in memory or reads and replacements are as you say";
    says(&depends, [sides]);
    lacks(&depends, &["mostly in memory"]);
}
