//! What `stowplan crash` says: what each setting promises about power cuts, and what it kept.

use crate::cells::grouped;
use crate::document::{
    Block, Cell, Column, Detail, Document, Item, Section, Table, Text, Tone, chapter, facts,
    listed, notice, paragraph, plain, remark, strong, text_column, toned,
};
use crate::value::{count, counted, float, time, unbroken};
use crate::words::note;
use stowplan_model::{
    CrashFinding, CrashModel, CrashRun, CrashSetting, Durability, DurabilityClaim, Fate,
    ModelFound, Tally,
};

/// What the words of a report mean, each under a title.
const WORDS: &str = include_str!("words/crash.txt");

/// As one JSON document, ended by a newline.
///
/// # Errors
/// None that is known: every key is a text.
pub fn json(run: &CrashRun) -> Result<String, serde_json::Error> {
    crate::json::of("crash", run)
}

/// What a run found.
#[must_use]
pub fn document(run: &CrashRun) -> Document {
    let mut blocks = vec![remark(judged(run)).at(Detail::Answer)];
    blocks.extend(run.interrupted.then(|| {
        notice("The run ended before everything was tested; what is missing is not in the table.")
    }));
    blocks.push(Block::from(matrix(run)).at(Detail::Answer));
    blocks.extend(
        reasons(run)
            .into_iter()
            .map(|block| block.at(Detail::Answer)),
    );
    blocks.extend(controls(run).map(|text| paragraph(text).at(Detail::Answer)));
    blocks.extend(
        CHAPTERS
            .into_iter()
            .filter_map(|chapter| findings(run, chapter)),
    );
    blocks.extend(untested(run));
    blocks.extend(by_model(run));
    blocks.extend(programs(run));
    blocks.push(meaning(run));
    Document {
        kind: "Stowplan crash".to_owned(),
        title: verdict(run),
        question: plain("What does each setting lose when the power goes?"),
        blocks,
        ..Document::default()
    }
}

/// The run in a sentence.
#[must_use]
pub fn verdict(run: &CrashRun) -> String {
    let claims = |setting: &&CrashSetting| setting.found.iter().any(|found| setting.claims(found));
    let tested = run.settings.iter().filter(claims).count();
    let broken = run.settings.iter().filter(|setting| setting.is_broken());
    match (broken.count(), tested) {
        (_, 0) => "Nothing can be claimed".to_owned(),
        (0, 1) => "No promise was broken".to_owned(),
        (0, tested) => format!("None of {tested} settings broke what it promises"),
        (1, 1) => "A promise was broken".to_owned(),
        (broken, tested) => format!("{broken} of {tested} settings broke what they promise"),
    }
}

fn judged(run: &CrashRun) -> String {
    format!(
        "{} crash states judged in {}. Seed {}.",
        count(run.judged),
        time(float(run.judging_ns)),
        run.seed
    )
}

/// A line a setting; of many settings those are one line that have an engine, a promise, a verdict and the fates that
/// they met in common.
fn matrix(run: &CrashRun) -> Table {
    let many = run.settings.len() > MOST_ROWS;
    let settings = run.settings.iter().enumerate();
    let rows = grouped(settings.map(|(index, setting)| {
        let alone = !many || judgment(setting).1 == Tone::Bad;
        let key = (alone.then_some(index), engine(setting), likeness(setting));
        (key, setting)
    }));
    let rows: Vec<Vec<&CrashSetting>> = rows.into_iter().map(|(_, alike)| alike).collect();
    let setting = |alike: &Vec<&CrashSetting>| {
        let names: Vec<&str> = alike.iter().map(|setting| setting.name.as_str()).collect();
        let name = match alike.as_slice() {
            [one] => label(&one.name),
            several => format!("{}: {} settings", engine(several[0]), several.len()),
        };
        Cell {
            help: names.join("; "),
            ..Cell::text(name)
        }
    };
    let left = |alike: &Vec<&CrashSetting>| {
        let sum = sum(alike);
        Cell {
            sort: Some(float(sum.not_kept())),
            ..Cell::text(toned(fates(&sum), judgment(alike[0]).1))
        }
    };
    let judged = |alike: &Vec<&CrashSetting>| {
        let (word, tone) = judgment(alike[0]);
        Cell::text(toned(word, tone))
    };
    let columns = [
        text_column("setting", "", setting),
        text_column(
            "promises",
            said("promises"),
            |alike: &Vec<&CrashSetting>| Cell::text(promise(alike[0])),
        ),
        text_column("what was left", said("left"), left),
        text_column("", "Whether that is as promised", judged),
    ];
    let columns = columns.map(|column| column.weighing(Column::ESSENTIAL));
    Table::of("What was left after power cuts", columns.into(), &rows)
}

/// From more settings on those that are alike share a line.
const MOST_ROWS: usize = 20;

fn engine(setting: &CrashSetting) -> &str {
    setting.name.split(':').next().unwrap_or_default()
}

fn sum(settings: &[&CrashSetting]) -> Tally {
    let mut sum = Tally::default();
    for setting in settings {
        sum.add(&setting.sum());
    }
    sum
}

/// What settings that share a line have in common beside their engine.
fn likeness(setting: &CrashSetting) -> (DurabilityClaim, &'static str, Vec<bool>) {
    let sum = setting.sum();
    let met = Fate::ALL.into_iter().map(|fate| sum.of(fate) > 0);
    (setting.claim, judgment(setting).0, met.collect())
}

fn judgment(setting: &CrashSetting) -> (&'static str, Tone) {
    let claims = setting.found.iter().any(|found| setting.claims(found));
    match setting {
        setting if setting.failed.is_some() => ("not tested", Tone::Warning),
        _ if !claims => ("no claim", Tone::Warning),
        setting if setting.is_broken() => ("BROKEN", Tone::Bad),
        setting if setting.unjudged().0 > 0 => ("not all judged", Tone::Warning),
        _ => ("as promised", Tone::Good),
    }
}

/// A line for each setting and model, with the control that has no syncs.
fn by_model(run: &CrashRun) -> Option<Block> {
    let rows = run.settings.iter().flat_map(|setting| {
        let found = setting.found.iter();
        found.map(move |found| (setting, found))
    });
    let rows: Vec<(&CrashSetting, &ModelFound)> = rows.collect();
    type Row<'a> = (&'a CrashSetting, &'a ModelFound);
    let columns = vec![
        text_column("setting", "", |row: &Row<'_>| Cell::text(&row.0.name))
            .weighing(Column::ESSENTIAL),
        text_column("promises", said("promises"), |row: &Row<'_>| {
            Cell::text(promise(row.0))
        })
        .weighing(4),
        text_column("model", "", |row: &Row<'_>| Cell::text(row.1.model.name()))
            .weighing(Column::ESSENTIAL),
        text_column("what was left", said("left"), |row: &Row<'_>| {
            left(row.0, row.1)
        })
        .weighing(Column::ESSENTIAL),
        text_column(
            "with no syncs",
            "The control that has to fail",
            |row: &Row<'_>| Cell::text(fates(&row.1.no_syncs)),
        )
        .weighing(5),
    ];
    let title = "By setting and model";
    let table = (!rows.is_empty()).then(|| Table::of(title, columns, &rows).into());
    chapter("models", title, table.into_iter().collect()).map(|block| block.at(Detail::Full))
}

fn left(setting: &CrashSetting, found: &ModelFound) -> Cell {
    let tally = &found.tally;
    let tone = match setting.breaks(found) {
        true => Tone::Bad,
        false => Tone::Plain,
    };
    Cell {
        help: format!(
            "{} made, {} different, {} of them at syncs and acknowledgements{}",
            count(tally.drawn),
            count(tally.states),
            count(tally.systematic),
            age(tally)
        ),
        ..Cell::text(toned(fates(tally), tone))
    }
}

/// A store as its kind, the words of what its promise depends on, and its other settings by their names.
fn label(name: &str) -> String {
    const KNOWN: [&str; 6] = [
        "journal",
        "synchronous",
        "write",
        "fsync",
        "durability",
        "sync",
    ];
    let Some((kind, settings)) = name.split_once(':') else {
        return name.to_owned();
    };
    let words = settings.split(',').map(|pair| {
        let (key, value) = pair.split_once('=')?;
        Some(if KNOWN.contains(&key) { value } else { pair })
    });
    let words = words.collect::<Option<Vec<_>>>();
    words.map_or_else(
        || name.to_owned(),
        |words| format!("{kind} {}", words.join(" ")),
    )
}

/// `D3 A`
fn promise(setting: &CrashSetting) -> String {
    let atomic = if setting.claim.atomic { " A" } else { "" };
    let delayed = if setting.claim.delayed { " late" } else { "" };
    format!("{}{atomic}{delayed}", setting.claim.class.code())
}

/// `kept 12, lost 3`; a fate and its count stay in one line.
fn fates(tally: &Tally) -> String {
    let met = Fate::ALL
        .into_iter()
        .map(|fate| (fate.name(), tally.of(fate)));
    let met = met.chain([("not judged", tally.unjudged)]);
    let met = met.filter(|(_, states)| *states > 0);
    let met: Vec<String> = met
        .map(|(name, states)| unbroken(&format!("{name} {}", count(states))))
        .collect();
    met.join(", ")
}

fn age(tally: &Tally) -> String {
    match tally.most_lost {
        0 => String::new(),
        lost => format!(
            "; at most {} lost, the oldest acknowledged {} operations and {} before the cut",
            commits(lost),
            count(tally.oldest_operations),
            time(float(tally.oldest_ns))
        ),
    }
}

fn commits(number: u64) -> String {
    counted(number, "commit")
}

/// Nothing where no setting could be tested.
fn controls(run: &CrashRun) -> Option<Text> {
    let settings = || {
        run.settings
            .iter()
            .filter(|setting| setting.failed.is_none())
    };
    let found =
        || settings().flat_map(|setting| setting.found.iter().map(move |found| (setting, found)));
    let all: u64 = found().map(|(_, found)| found.no_syncs.states).sum();
    let failed: u64 = found().map(|(_, found)| found.no_syncs.not_kept()).sum();
    let damaged: u64 = found().map(|(_, found)| found.no_syncs.damaged()).sum();
    let synced: u64 = settings().map(|setting| setting.all_synced.states).sum();
    let wrong: u64 = settings()
        .map(|setting| setting.all_synced.not_kept())
        .sum();
    if all == 0 {
        return None;
    }
    let share = |part: u64| 100.0 * float(part) / float(all);
    let text = plain(format!(
        "Controls: with no syncs {:.0}% of {} states fail, {:.0}% by more than losses; with everything synced \
         {} of {}.",
        share(failed),
        count(all),
        share(damaged),
        count(wrong),
        count(synced)
    ));
    let blind = named_where(run, &|setting, found| {
        let durable = setting.claim.class == Durability::Durable;
        let undamaged = found.no_syncs.damaged() + found.tally.damaged() == 0;
        setting.claims(found) && durable && undamaged
    });
    Some(match blind.is_empty() {
        true => text,
        false => text.then(strong(format!(
            " Only of losses something is claimed of {}: no control shows that its judge would see damage.",
            blind.join(", ")
        ))),
    })
}

/// Beside a setting of which nothing is claimed, what its controls did; and beside one that broke its promise and
/// never synced, what is not seen.
fn reasons(run: &CrashRun) -> Vec<Block> {
    let mut reasons = Vec::new();
    for setting in run
        .settings
        .iter()
        .filter(|setting| setting.failed.is_none())
    {
        let unclaimed = setting.found.iter().filter(|found| !setting.claims(found));
        let told =
            grouped(unclaimed.map(|found| (unclaimed_because(setting, found), found.model.name())));
        reasons.extend(told.into_iter().map(|(why, models)| {
            let under = match models.len() == setting.found.len() {
                true => String::new(),
                false => format!(" under {}", models.join(", ")),
            };
            notice(format!(
                "Nothing is claimed of {}{under}: {why}.",
                setting.name
            ))
        }));
        if setting.syncs == 0 && setting.is_broken() {
            reasons.push(notice(format!(
                "No fsync at all was seen of {}. sync(2) and syncfs(2) are not seen here: a program that relies on \
                 them is wrongly called broken.",
                setting.name
            )));
        }
    }
    reasons
}

/// Which control did not do what it must, and what was said in it.
fn unclaimed_because(setting: &CrashSetting, found: &ModelFound) -> String {
    let (synced, none) = (&setting.all_synced, &found.no_syncs);
    if let Some(failure) = &setting.synced_failure {
        let said = match failure.note.as_str() {
            "" => String::new(),
            note => format!(" ({note})"),
        };
        return format!(
            "with everything synced {} of {} states should be kept and are not, the first of them is {}{said}; \
             its check or its acknowledgements are wrong",
            count(synced.not_kept()),
            count(synced.states),
            failure.fate.name()
        );
    }
    if synced.states == 0 || synced.unjudged > 0 {
        return format!(
            "with everything synced not every state was judged: {}",
            synced.unjudged_because
        );
    }
    let ack = match setting.acks {
        0 => "; no line 'ack N' was seen on its stdout, so that nothing can be lost",
        _ => "",
    };
    match none.not_kept() {
        0 => format!(
            "with every sync struck out its check still finds all of {} states kept, and sees nothing missing{ack}",
            count(none.states)
        ),
        lost => format!(
            "with every sync struck out {} of {} states are lost and none is damaged: that its check would see \
             damage is not shown{ack}",
            count(lost),
            count(none.states)
        ),
    }
}

/// The settings that are meant, with the models where not all are.
fn named_where(run: &CrashRun, meant: &dyn Fn(&CrashSetting, &ModelFound) -> bool) -> Vec<String> {
    let named = run.settings.iter().filter_map(|setting| {
        let found = setting.found.iter().filter(|found| meant(setting, found));
        let models: Vec<&str> = found.map(|found| found.model.name()).collect();
        match models.len() {
            0 => None,
            all if all == setting.found.len() => Some(setting.name.clone()),
            _ => Some(format!("{} ({})", setting.name, models.join(", "))),
        }
    });
    named.collect()
}

/// A chapter of findings: its name, its title, who wants to read it, and of which findings it is, by whether anything
/// is claimed of their setting and whether they broke a promise.
type Chapter = (&'static str, &'static str, Detail, fn(bool, bool) -> bool);

const CHAPTERS: [Chapter; 3] = [
    (
        "broken",
        "Promises that were broken",
        Detail::Summary,
        |claims, broken| claims && broken,
    ),
    (
        "within",
        "What was lost as promised",
        Detail::Full,
        |claims, broken| claims && !broken,
    ),
    (
        "unclaimed",
        "What was found where nothing is claimed",
        Detail::Full,
        |claims, _| !claims,
    ),
];

fn findings(run: &CrashRun, (id, title, detail, is_meant): Chapter) -> Option<Block> {
    let mut items = Vec::new();
    for setting in &run.settings {
        for found in &setting.found {
            let of_it = |finding: &&CrashFinding| is_meant(setting.claims(found), finding.broken);
            let told = found.findings.iter().filter(of_it);
            items.extend(told.map(|finding| item(setting, found, finding)));
        }
    }
    list_chapter(id, title, items).map(|block| block.at(detail))
}

fn list_chapter(id: &str, title: &str, items: Vec<Item>) -> Option<Block> {
    chapter(id, title, listed(items).into_iter().collect())
}

fn item(setting: &CrashSetting, found: &ModelFound, finding: &CrashFinding) -> Item {
    let tone = match setting.claims(found) && finding.broken {
        true => Tone::Bad,
        false => Tone::Plain,
    };
    let lost = match (finding.judged.lost, finding.judged.note.as_str()) {
        (0, "") => String::new(),
        (0, note) => format!(": {note}"),
        (lost, "") => format!(" {}", commits(lost)),
        (lost, note) => format!(" {}: {note}", commits(lost)),
    };
    let text = format!(
        "{lost}. Cut after operation {} of {}, the {}; the last acknowledged commit is {}.",
        count(finding.cut),
        count(setting.length),
        finding.after,
        count(finding.acked)
    );
    let mut note = String::new();
    if !finding.shrunk.words.is_empty() {
        note = format!(
            "For {} it is enough that this is lost, of {} operations{}: {}. ",
            effect(finding),
            count(finding.shrunk.cut),
            if finding.shrunk.unfinished {
                " (perhaps less is)"
            } else {
                ""
            },
            finding.shrunk.words.join("; ")
        );
    } else if finding.shrunk.cut > 0 {
        note = format!(
            "For {} nothing need be lost: a cut after operation {} does it. ",
            effect(finding),
            finding.shrunk.cut
        );
    }
    note.push_str(&format!("--replay {}", finding.seed));
    Item {
        title: plain(format!("{}, {}", setting.name, found.model)),
        note: plain(note),
        ..Item::of(plain(format!("{}{text}", finding.judged.fate.name())))
            .with_badge(finding.judged.fate.name(), tone)
    }
}

/// What the fewest losses do, which may be less than what was found first.
fn effect(finding: &CrashFinding) -> String {
    let judged = finding.shrunk.judged.as_ref().unwrap_or(&finding.judged);
    match (judged.fate, judged.lost) {
        (Fate::Lost, lost) => format!("{} to be lost", commits(lost.max(1))),
        (Fate::Unopenable, _) => "it not to open".to_owned(),
        (fate, _) => format!("it to be {}", fate.name()),
    }
}

fn untested(run: &CrashRun) -> Option<Block> {
    let failed = run.settings.iter().filter_map(|setting| {
        let why = match (setting.failed.as_ref(), setting.unjudged()) {
            (Some(why), _) => why.clone(),
            (None, (0, _)) => return None,
            (None, (states, why)) => format!("{} states were not judged: {why}", count(states)),
        };
        Some(Item::of(plain(format!("{}: {why}", setting.name))))
    });
    list_chapter("untested", "What could not be tested", failed.collect())
}

/// The commands of programs, in full.
fn programs(run: &CrashRun) -> Option<Block> {
    let programs = run
        .settings
        .iter()
        .filter(|setting| !setting.check.is_empty());
    let items = programs.map(|setting| Item {
        title: plain(&setting.name),
        note: plain(format!("Checked by: {}", setting.check)),
        ..Item::of(plain(&setting.program))
    });
    list_chapter("programs", "Programs", items.collect()).map(|block| block.at(Detail::Full))
}

fn meaning(run: &CrashRun) -> Block {
    let models = run.models.iter().map(|model| (model.name(), model.about()));
    let clean = |model: CrashModel| -> u64 {
        let clean = run.settings.iter().flat_map(|setting| {
            let found = setting.found.iter().filter(|found| found.model == model);
            found.filter(|found| setting.claims(found) && found.tally.broken == 0)
        });
        let drawn = |tally: &Tally| tally.states.saturating_sub(tally.systematic);
        clean.map(|found| drawn(&found.tally)).min().unwrap_or(0)
    };
    let bounds: Vec<String> = run
        .models
        .iter()
        .filter(|model| clean(**model) > 0)
        .map(|model| {
            let states = clean(*model);
            let bound = 100.0 * (3.0 / float(states)).min(1.0);
            format!(
                "under {model}, none in {} states is at most {bound:.2}%",
                count(states)
            )
        })
        .collect();
    let bounds = (!bounds.is_empty()).then(|| {
        paragraph(format!(
            "Of a setting that broke nothing: {} of the states that would be drawn, at 95%.",
            bounds.join("; ")
        ))
    });
    let mut blocks = vec![facts(models)];
    blocks.extend(bounds);
    blocks.push(remark(said("meaning")));
    let section = Section::new("What was tried, and what it means", blocks).named("meaning");
    Block::from(section.in_contents("Meaning")).at(Detail::Full)
}

/// What is said of every run, by its title.
fn said(title: &str) -> String {
    note(WORDS, title, &[]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{html, markdown, terminal};
    use stowplan_model::{DurabilityClaim, Judged, Shrunk};

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

    fn setting(name: &str, found: Tally, no_syncs: Tally) -> CrashSetting {
        let finding = CrashFinding {
            seed: 8841,
            judged: Judged {
                fate: Fate::Lost,
                lost: 3,
                first_lost: Some(5),
                note: "<b>".to_owned(),
            },
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
                unfinished: false,
                judged: None,
            },
        };
        let findings = if found.not_kept() > 0 {
            vec![finding]
        } else {
            Vec::new()
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
                tally: found,
                findings,
                no_syncs,
            }],
            all_synced: tally(20, 0, 0),
            ..CrashSetting::default()
        }
    }

    fn run(settings: Vec<CrashSetting>) -> CrashRun {
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

    fn drawn(document: &Document, width: usize) -> String {
        let options = terminal::TerminalOptions {
            width,
            colour: false,
            detail: Detail::Summary,
        };
        terminal::render(document, &options)
    }

    /// With no syncs.
    fn good() -> Tally {
        tally(1, 19, 19)
    }

    #[test]
    fn a_broken_promise_is_named_with_what_was_lost_and_how_to_see_it_again() {
        let run = run(vec![
            setting(
                "sqlite:journal=wal,synchronous=full",
                tally(60, 0, 0),
                good(),
            ),
            setting("<mine>", tally(50, 10, 10), good()),
        ]);
        let found = document(&run);
        let text = drawn(&found, 80);
        for said in [
            "1 of 2 settings broke what they promise",
            "sqlite wal full",
            "kept 60",
            "kept 50, lost 10",
            "BROKEN",
            "unlink kv.db-journal",
            "--replay 8841",
            "95% of 40 states fail, 0% by more than losses",
            "Only of losses something is claimed of",
        ] {
            assert!(text.contains(said), "{said}\n{text}");
        }
        let page = html::render(&found);
        assert!(!page.contains("<mine>") && !page.contains("lost 3 commits: <b>"));
        let summary = markdown::render(&found);
        assert!(
            summary.contains("none in 60 states is at most 5.00%"),
            "{summary}"
        );
        let read: CrashRun = serde_json::from_str(&json(&run).unwrap()).unwrap();
        assert_eq!(read, run);
    }

    #[test]
    fn of_a_setting_without_a_claim_it_is_said_what_its_controls_did() {
        let silent = tally(20, 0, 0);
        let mut mine = setting("mine", tally(50, 10, 10), silent);
        let told = |mine: &CrashSetting| {
            let run = run(vec![mine.clone()]);
            assert_eq!(verdict(&run), "Nothing can be claimed");
            markdown::render(&document(&run))
        };
        let summary = told(&mine);
        assert!(!summary.contains("Promises that were broken"), "{summary}");
        assert!(!summary.contains("BROKEN"), "{summary}");
        assert!(summary.contains("where nothing is claimed"), "{summary}");
        let sees_nothing = "Nothing is claimed of mine: with every sync struck out its check still finds all of 20";
        assert!(summary.contains(sees_nothing), "{summary}");
        mine.acks = 0;
        let summary = told(&mine);
        assert!(summary.contains("no line 'ack N' was seen"), "{summary}");
        mine.all_synced = tally(3, 17, 0);
        mine.synced_failure = Some(Judged {
            fate: Fate::Lost,
            lost: 1,
            first_lost: None,
            note: "no such table".to_owned(),
        });
        let summary = told(&mine);
        assert!(
            summary.contains("17 of 20 states should be kept and are not"),
            "{summary}"
        );
        assert!(summary.contains("lost (no such table)"), "{summary}");
    }

    #[test]
    fn all_fates_of_a_setting_stand_in_its_line_and_settings_that_are_alike_share_one() {
        let mut mixed = tally(50, 8, 0);
        mixed.states = 60;
        mixed.fates[4] = 2;
        let mut settings = vec![setting("files:write=truncate", mixed, good())];
        settings[0].claim.class = Durability::None;
        for size in 0..30 {
            let name = format!("sqlite:journal=wal,synchronous=full,page_size={size}");
            settings.push(setting(&name, tally(60, 0, 0), good()));
        }
        let text = drawn(&document(&run(settings)), 80);
        assert!(text.contains("kept 50, lost 8, corrupt 2"), "{text}");
        assert!(text.contains("sqlite: 30 settings"), "{text}");
        assert!(text.contains("kept 1,800"), "{text}");
        assert!(text.contains("files truncate"), "{text}");
        assert!(text.lines().count() < 40, "{text}");
    }

    #[test]
    fn in_a_narrow_table_a_count_stands_beside_its_fate() {
        let mut mixed = tally(8_477, 1_950, 0);
        mixed.fates[3] = 1_652;
        mixed.unjudged = 2;
        let found = document(&run(vec![setting(
            "sqlite:journal=delete,synchronous=full",
            mixed,
            good(),
        )]));
        for width in 44..100 {
            let text = drawn(&found, width);
            for met in ["kept 8,477", "lost 1,950", "torn 1,652", "not judged 2"] {
                assert!(text.contains(met), "{width}\n{text}");
            }
        }
    }

    #[test]
    fn losses_that_were_found_to_be_enough_are_said_of_what_they_do_and_a_program_without_syncs_is_told_why()
     {
        let mut mine = setting("mine", tally(50, 10, 10), good());
        mine.syncs = 0;
        let finding = &mut mine.found[0].findings[0];
        finding.shrunk.judged = Some(Judged {
            lost: 1,
            ..finding.judged.clone()
        });
        let summary = markdown::render(&document(&run(vec![mine])));
        assert!(summary.contains("lost 3 commits"), "{summary}");
        assert!(
            summary.contains("For 1 commit to be lost it is enough"),
            "{summary}"
        );
        assert!(
            summary.contains("No fsync at all was seen of mine"),
            "{summary}"
        );
    }

    #[test]
    fn labels_tell_settings_apart() {
        assert_eq!(label("redb:two_phase=on"), "redb two_phase=on");
        assert_eq!(
            label("sqlite:journal=wal,synchronous=full,key=text"),
            "sqlite wal full key=text"
        );
        assert_eq!(label("./mine: a,b"), "./mine: a,b");
    }

    #[test]
    fn states_that_were_not_judged_are_said_with_the_reason() {
        let mut mine = setting("mine", tally(60, 0, 0), good());
        mine.found[0].tally.unjudged = 2;
        mine.found[0].tally.unjudged_because = "the check was ended by signal 9".to_owned();
        let summary = markdown::render(&document(&run(vec![mine])));
        for said in [
            "not all judged",
            "2 states were not judged: the check was ended by signal 9",
        ] {
            assert!(summary.contains(said), "{said}\n{summary}");
        }
    }
}
