//! The answer on the user's own data: one screen, in words that claim no more than was found.

use crate::fixture;
use stowplan_analysis::{
    Advice, Analysis, Aspect, Choice, RatioEstimate, SpaceTaken, Split, Verdict, What,
};
use stowplan_model::{AdviseSpec, CellId, Seconds, Took, WholeSet};
use stowplan_report::document::Detail;
use stowplan_report::render::terminal::{self, TerminalOptions};
use stowplan_report::run::{document, screen};

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

fn advised(choice: Choice) -> Analysis {
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
    analysis.advice = Some(Advice {
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
    });
    analysis
}

fn drawn(choice: Choice, detail: Detail) -> String {
    match detail {
        Detail::Full => terminal::render(&document(&advised(choice), ""), &options(detail)),
        _ => on_screen(&advised(choice)),
    }
}

fn on_screen(analysis: &Analysis) -> String {
    terminal::on_one_screen(|rows| screen(analysis, rows), &options(Detail::Summary))
}

fn options(detail: Detail) -> TerminalOptions {
    TerminalOptions {
        width: 80,
        colour: false,
        detail,
    }
}

#[test]
fn commands_and_programs_can_be_pasted_whatever_the_width() {
    let place = "/home/me/a place of a long name/".repeat(4);
    for width in [40, 80, 200] {
        let mut analysis = advised(Choice::Split { inside: 65_536 });
        if let Some(asked) = &mut analysis.run.plan.study.advise {
            asked.place = format!("{place}thümbs\n").into();
        }
        let options = TerminalOptions {
            width,
            ..options(Detail::Full)
        };
        let text = terminal::render(&document(&analysis, ""), &options);
        let whole = |line: &str| text.lines().any(|found| found.trim_start() == line);
        let pack = format!(
            r"stowplan pack '{place}thümbs'$'\n' 'thümbs'$'\n''.sqlar' --no-deflate --inline-limit 65536 --page-size 8192"
        );
        assert!(whole(&pack), "{width}: {text}");
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

/// A text without its line breaks.
fn flowing(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_answer_is_one_screen_with_ratios_intervals_losses_and_commands() {
    let split = Choice::Split { inside: 65_536 };
    let text = drawn(split, Detail::Summary);
    for part in [
        "Split them: up to 64 KiB into SQLite with pages of 8 KiB, larger ones stay files.",
        "1.71× [1.62, 1.81] faster",
        "1.35× [1.28, 1.43] faster",
        "equivalent",
        "All in one database instead: reads, warm, from C 1.62× [",
        "reads, contents not cached 0.480× [",
        "Reads after a reboot are unknown: only root",
        "Left out: 3 empty values.",
        "−11%",
        "took 110 ms and up to 9.10 MB",
        "list 1.00 ms, files 8.00 ms",
        "--no-deflate --inline-limit 65536 --page-size 8192",
        "Undo it: stowplan unpack",
        "Extrapolated from 1,200 of 20,000 values",
    ] {
        assert!(flowing(&text).contains(part), "{part}: {text}");
    }
    assert!(!text.contains('\u{1b}'), "{text:?}");
    assert!(!text.contains("sqlite3_open_v2"), "{text}");
    let all = drawn(split, Detail::Full);
    assert!(
        all.contains("sqlite3_open_v2") && !all.contains("BEGIN"),
        "{all}"
    );
    assert!(text.lines().count() <= 40, "{text}");
}

#[test]
fn who_is_to_stay_with_files_is_told_no_commands_and_nothing_is_advised_without_ground() {
    let stay = drawn(Choice::Files, Detail::Summary);
    assert!(
        stay.contains("Stay with files") && !stay.contains("stowplan pack"),
        "{stay}"
    );
    let mut analysis = advised(Choice::Files);
    if let Some(advice) = &mut analysis.advice {
        advice.aspects[0].verdict = Verdict::Unresolved;
    }
    let text = flowing(&on_screen(&analysis));
    assert!(
        text.contains("not cached. Not decided: reads, warm, from C."),
        "{text}"
    );
    let open = drawn(Choice::Open, Detail::Summary);
    assert!(
        flowing(&open).contains("Nothing can be advised yet"),
        "{open}"
    );
    assert!(
        !open.contains("stowplan pack") && !open.contains("You give up"),
        "{open}"
    );
    let depends = drawn(Choice::Depends, Detail::Summary);
    assert!(
        flowing(&depends)
            .contains("Split at 64 KiB instead: reads, warm, from C 1.71× [1.62, 1.81] faster"),
        "{depends}"
    );
    let mut analysis = advised(Choice::Depends);
    let split = analysis.advice.as_mut().and_then(|a| a.split.as_mut());
    split.unwrap().aspects.truncate(1);
    let text = flowing(&on_screen(&analysis));
    let lacking = "Split at 64 KiB instead: reads, warm, from C 1.71× [1.62, 1.81] faster.";
    assert!(text.contains(lacking), "{text}");
    let sides = "SQLite with pages of 8 KiB, if what is read is mostly in memory; files, if only names stay in memory.";
    assert!(flowing(&depends).contains(sides), "{depends}");
}

#[test]
fn where_one_transaction_turns_the_answer_that_is_advised_and_the_programs_do_it() {
    let mut analysis = advised(Choice::Database);
    let aspects = analysis.advice.as_mut().map(|advice| &mut advice.aspects);
    aspects
        .unwrap()
        .insert(1, aspect(What::Together, 1.3, Verdict::Faster));
    let all = terminal::render(&document(&analysis, ""), &options(Detail::Full));
    assert!(flowing(&all).contains("1.30× [1.23, 1.38] faster"), "{all}");
    assert!(
        flowing(&all).contains("Read many values in one transaction"),
        "{all}"
    );
    assert_eq!(all.matches("\"BEGIN\"").count(), 3, "{all}");
}

#[test]
fn noise_is_that_of_the_report_and_an_open_interval_says_what_disagrees() {
    let mut analysis = advised(Choice::Depends);
    let aspect = &mut analysis.advice.as_mut().unwrap().aspects[0];
    aspect.verdict = Verdict::Unresolved;
    aspect.gain = Some(ratio(2.0));
    aspect.corrected = Some(ratio(0.9));
    let text = terminal::render(&document(&analysis, ""), &options(Detail::Full));
    let text = flowing(&text);
    let open = "2.00× [1.90, 2.12] by the clock alone";
    assert!(text.contains(open), "{text}");
    let screen = text
        .split("two identical copies differed by ")
        .nth(1)
        .unwrap();
    let noise = screen.split(". ").next().unwrap();
    assert!(text.contains(&format!("differed by {noise}")), "{text}");
    assert!(text.matches(noise).count() > 1, "{noise}: {text}");
}

#[test]
fn where_reads_and_replacements_are_weighed_they_are_rows_and_no_sides() {
    let weighed = |choice| {
        let mut analysis = advised(choice);
        if let Some(advice) = &mut analysis.advice {
            advice.aspects = vec![
                aspect(What::Read, 1.70, Verdict::Faster),
                aspect(What::Cold, 0.48, Verdict::Slower),
                aspect(What::Replace, 0.30, Verdict::Unresolved),
                aspect(What::Mixed, 0.80, Verdict::Slower),
            ];
        }
        let text = on_screen(&analysis);
        flowing(&text)
    };
    let files = weighed(Choice::Files);
    assert!(
        files.contains("slower for reads, contents not cached; both as often as you say."),
        "nothing that decides is open: {files}"
    );
    assert!(files.contains("1.70× [1.61, 1.80] faster"), "{files}");
    let depends = weighed(Choice::Depends);
    assert!(
        depends.contains(
            "files, if only names stay in memory or reads and replacements are as you say"
        ),
        "{depends}"
    );
    assert!(!depends.contains("mostly in memory"), "{depends}");
}
