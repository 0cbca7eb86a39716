//! What `stowplan crash` tells of settings that keep, lose and break.

use crate::holds::says;
use crate::said::in_text;
use crate::support::PLAIN;
use stowplan_model::{
    CrashFinding, CrashModel, CrashRun, CrashSetting, Durability, DurabilityClaim, Fate, Judged,
    ModelFound, Shrunk, Tally,
};
use stowplan_report::crash::{document, json, verdict};
use stowplan_report::document::Detail;
use stowplan_report::render::{html, terminal};

fn tally(kept: u64, lost: u64, broken: u64) -> Tally {
    Tally {
        drawn: kept + lost,
        states: kept + lost,
        fates: [kept, lost, 0, 0, 0, 0],
        broken,
        most_lost: lost.min(3),
        ..Tally::default()
    }
}

fn lost(lost: u64, note: &str) -> Judged {
    Judged {
        fate: Fate::Lost,
        lost,
        first_lost: Some(5),
        note: note.to_owned(),
    }
}

/// A setting of which this was found, and where no syncs are done, that 19 of 20 states fail.
fn setting(name: &str, found: Tally) -> CrashSetting {
    let finding = CrashFinding {
        seed: 8841,
        judged: lost(3, "<b>"),
        broken: found.broken > 0,
        moment: None,
        acked: 4,
        cut: 31,
        after: "write of 9 bytes at 0 of kv.db".to_owned(),
        shrunk: Shrunk {
            cut: 30,
            lost: vec![(7, 0)],
            words: vec!["unlink kv.db-journal".to_owned()],
            tried: 9,
            ..Shrunk::default()
        },
    };
    CrashSetting {
        name: name.to_owned(),
        claim: DurabilityClaim {
            class: Durability::Durable,
            atomic: true,
            delayed: false,
        },
        transactions: true,
        operations: 100,
        syncs: 10,
        acks: 20,
        found: vec![ModelFound {
            model: CrashModel::Ordered,
            findings: Vec::from_iter((found.not_kept() > 0).then_some(finding)),
            tally: found,
            no_syncs: tally(1, 19, 19),
        }],
        all_synced: tally(20, 0, 0),
        ..CrashSetting::default()
    }
}

/// One that loses 10 of 60 states, changed like this.
fn losing(name: &str, change: impl Fn(&mut CrashSetting)) -> CrashSetting {
    let mut setting = setting(name, tally(50, 10, 10));
    change(&mut setting);
    setting
}

pub(crate) fn run(settings: Vec<CrashSetting>) -> CrashRun {
    CrashRun {
        version: "0".to_owned(),
        seed: 1,
        states: 60,
        models: vec![CrashModel::Ordered],
        settings,
        judged: 120,
        judging_ns: 60_000_000_000,
        interrupted: false,
    }
}

/// Settings of which nothing is claimed, because of what their controls did.
pub(crate) fn unclaimed() -> Vec<CrashSetting> {
    let silent = |setting: &mut CrashSetting| setting.found[0].no_syncs = tally(20, 0, 0);
    let unheard = losing("unheard", |setting| {
        silent(setting);
        setting.acks = 0;
    });
    let damaged = losing("damaged", |setting| {
        silent(setting);
        setting.all_synced = tally(3, 17, 0);
        setting.synced_failure = Some(lost(1, "no such table"));
    });
    vec![losing("silent", silent), unheard, damaged]
}

#[test]
fn what_is_kept_lost_broken_unclaimed_or_not_judged_is_told_with_how_to_see_it_again() {
    let mut settings = vec![
        setting("sqlite:journal=wal,synchronous=full", tally(60, 0, 0)),
        setting("redb:two_phase=on", tally(60, 0, 0)),
        losing("<mine>", |_| {}),
        losing("./unsynced: a,b", |setting| {
            setting.syncs = 0;
            setting.found[0].findings[0].shrunk.judged = Some(lost(1, ""));
        }),
    ];
    settings.extend(unclaimed());
    let mut unjudged = setting("unjudged", tally(60, 0, 0));
    unjudged.found[0].tally.unjudged = 2;
    unjudged.found[0].tally.unjudged_because = "the check was ended by signal 9".to_owned();
    settings.push(unjudged);
    let run = run(settings);
    insta::assert_snapshot!(in_text(&document(&run), Detail::Full));
    let page = html::render(&document(&run));
    assert!(!page.contains("<mine>") && !page.contains("lost 3 commits (<b>)"));
    let read: CrashRun = serde_json::from_str(&json(&run).unwrap()).unwrap();
    assert_eq!(read, run);
}

#[test]
fn where_the_controls_of_all_say_nothing_nothing_can_be_claimed() {
    let run = run(unclaimed());
    assert_eq!(verdict(&run), "Nothing can be claimed");
    let text = in_text(&document(&run), Detail::Full);
    assert!(
        !text.contains("broken") && !text.contains("BROKEN"),
        "{text}"
    );
}

#[test]
fn settings_that_are_alike_share_a_line_and_a_count_stands_beside_its_fate() {
    let mut mixed = tally(8_477, 1_950, 0);
    mixed.fates[3] = 1_652;
    let mut settings = vec![setting("files:write=truncate", mixed)];
    settings[0].claim.class = Durability::None;
    for size in 0..30 {
        let name = format!("sqlite:journal=wal,synchronous=full,page_size={size}");
        settings.push(setting(&name, tally(60, 0, 0)));
    }
    let mut run = run(settings);
    let drawn = |run: &CrashRun, width| {
        let options = terminal::TerminalOptions { width, ..PLAIN };
        terminal::render(&document(run), &options)
    };
    let text = drawn(&run, 80);
    let files = "files truncate D0 A kept 8,477, lost 1,950, torn 1,652";
    let blind = "Only of losses something is claimed of 30 settings of sqlite:";
    says(&text, ["sqlite: 30 settings", "kept 1,800", files, blind]);
    assert!(text.lines().count() < 40, "{text}");
    run.settings[0].found[0].tally.unjudged = 2;
    for width in 44..100 {
        let text = drawn(&run, width);
        for part in ["kept 8,477", "lost 1,950", "torn 1,652", "not judged 2"] {
            assert!(text.contains(part), "{width}, {part}\n{text}");
        }
    }
}
