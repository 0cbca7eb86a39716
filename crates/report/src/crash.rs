//! What `stowplan crash` says: what each setting promises about power cuts, and what it kept.

use crate::document::{
    Align, Block, Cell, Column, Detail, Document, Item, Row, Section, Table, Text, Tone, chapter,
    facts, listed, notice, paragraph, plain, remark, strong, toned,
};
use crate::format::{count, time};
use stowplan_model::{CrashFinding, CrashModel, CrashRun, CrashSetting, Fate, ModelFound, Tally};

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
    let mut blocks = vec![remark(rate(run)).at(Detail::Brief)];
    blocks.extend(run.interrupted.then(|| {
        notice("The run ended before everything was tested; what is missing is not in the table.")
    }));
    blocks.push(Block::from(matrix(run)).at(Detail::Brief));
    blocks.push(paragraph(controls(run)).at(Detail::Brief));
    let broken = |finding: &CrashFinding| finding.broken;
    blocks.extend(findings(
        run,
        "broken",
        "Promises that were broken",
        broken,
        Detail::Normal,
    ));
    let within = |finding: &CrashFinding| !finding.broken;
    blocks.extend(findings(
        run,
        "within",
        "What was lost as promised",
        within,
        Detail::Full,
    ));
    blocks.extend(untested(run));
    blocks.extend(meaning(run));
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
    let tested = run.settings.iter().filter(|setting| setting.is_tested());
    let tested = tested.count();
    let broken = run
        .settings
        .iter()
        .filter(|setting| setting.is_tested() && setting.is_broken());
    match (broken.count(), tested) {
        (_, 0) => "Nothing can be claimed".to_owned(),
        (0, 1) => "No promise was broken".to_owned(),
        (0, tested) => format!("None of {tested} settings broke what it promises"),
        (1, 1) => "A promise was broken".to_owned(),
        (broken, tested) => format!("{broken} of {tested} settings broke what they promise"),
    }
}

fn rate(run: &CrashRun) -> String {
    let seconds = nanoseconds(run.judging_ns) / 1e9;
    let rate = match seconds > 0.0 {
        true => nanoseconds(run.judged) / seconds * 60.0,
        false => 0.0,
    };
    format!(
        "{} crash states judged in {}: {rate:.0} a minute. Seed {}.",
        count(run.judged),
        time(nanoseconds(run.judging_ns)),
        run.seed
    )
}

#[expect(clippy::cast_precision_loss, reason = "shown to three digits")]
fn nanoseconds(number: u64) -> f64 {
    number as f64
}

fn matrix(run: &CrashRun) -> Table {
    let column = |title: &str, help: &str, weight| Column {
        title: title.to_owned(),
        help: help.to_owned(),
        align: Align::Left,
        weight,
        ..Column::default()
    };
    let mut columns = vec![
        column("setting", "", Column::ESSENTIAL),
        column(
            "promises",
            "D0 to D3: nothing, to survive the end of the process, to stay consistent, to keep what was \
             acknowledged; A: a value is replaced as a whole; delayed: the last acknowledged writes may go",
            4,
        ),
    ];
    let models = run.models.iter();
    columns.extend(models.map(|model| column(model.name(), model.about(), 5)));
    columns.push(column("", "Whether that is as promised", 5));
    Table {
        caption: "What was left after power cuts, by setting and model".to_owned(),
        columns,
        rows: run
            .settings
            .iter()
            .map(|setting| row(run, setting))
            .collect(),
        is_heat_map: false,
    }
}

fn row(run: &CrashRun, setting: &CrashSetting) -> Row {
    let mut cells = vec![named(setting), Cell::text(plain(promise(setting)))];
    for model in &run.models {
        let found = setting.found.iter().find(|found| found.model == *model);
        cells.push(found.map_or_else(Cell::default, |found| of_model(&found.tally)));
    }
    let (word, tone) = match setting {
        setting if setting.failed.is_some() => ("not tested", Tone::Warning),
        setting if !setting.controls.hold() => ("no claim", Tone::Warning),
        setting if setting.is_broken() => ("BROKEN", Tone::Bad),
        _ => ("as promised", Tone::Good),
    };
    cells.push(Cell::text(toned(word, tone)));
    Row {
        detail: Detail::Brief,
        cells,
    }
}

/// A store as its kind and the values of its settings: their names follow from them.
fn named(setting: &CrashSetting) -> Cell {
    let short = setting.name.split_once(':').and_then(|(kind, settings)| {
        let values = settings
            .split(',')
            .map(|pair| Some(pair.split_once('=')?.1));
        let values = values.collect::<Option<Vec<_>>>()?;
        Some(format!("{kind} {}", values.join(" ")))
    });
    match short {
        Some(short) => Cell {
            help: setting.name.clone(),
            ..Cell::text(plain(short))
        },
        None => Cell::text(plain(&setting.name)),
    }
}

/// `D3, A`
fn promise(setting: &CrashSetting) -> String {
    let atomic = if setting.claim.atomic { ", A" } else { "" };
    let delayed = if setting.claim.delayed {
        ", delayed"
    } else {
        ""
    };
    format!("{}{atomic}{delayed}", setting.claim.class.code())
}

/// The worst that was found, of how many; what else there was for those who ask.
fn of_model(tally: &Tally) -> Cell {
    let worst = tally.worst().unwrap_or(Fate::Kept);
    let many = tally.of(worst);
    let text = match worst {
        Fate::Kept => format!("kept {}", count(many)),
        worst => format!(
            "{} {} of {}",
            worst.name(),
            count(many),
            count(tally.states)
        ),
    };
    let tone = match worst {
        _ if tally.broken > 0 => Tone::Bad,
        Fate::Kept => Tone::Good,
        _ => Tone::Plain,
    };
    let all = Fate::ALL.into_iter().filter(|fate| tally.of(*fate) > 0);
    let all: Vec<String> = all
        .map(|fate| format!("{} {}", fate.name(), count(tally.of(fate))))
        .collect();
    Cell {
        help: format!(
            "{}; {} drawn, {} different{}",
            all.join(", "),
            count(tally.drawn),
            count(tally.states),
            age(tally)
        ),
        sort: Some(nanoseconds(tally.not_kept())),
        ..Cell::text(toned(text, tone))
    }
}

fn age(tally: &Tally) -> String {
    match tally.most_lost {
        0 => String::new(),
        lost => format!(
            "; at most {} lost, the oldest acknowledged {} operations and {} before the cut",
            commits(lost),
            count(tally.oldest_operations),
            time(nanoseconds(tally.oldest_ns))
        ),
    }
}

fn commits(number: u64) -> String {
    match number {
        1 => "1 commit".to_owned(),
        many => format!("{} commits", count(many)),
    }
}

fn controls(run: &CrashRun) -> Text {
    let settings = || {
        run.settings
            .iter()
            .filter(|setting| setting.failed.is_none())
    };
    let sum = |of: fn(&CrashSetting) -> u64| settings().map(of).sum::<u64>();
    let all = sum(|setting| setting.controls.no_syncs.states);
    let failed = sum(|setting| setting.controls.no_syncs.not_kept());
    let synced = sum(|setting| setting.controls.all_synced.states);
    let wrong = sum(|setting| setting.controls.all_synced.not_kept());
    let share = match all {
        0 => 0.0,
        all => 100.0 * nanoseconds(failed) / nanoseconds(all),
    };
    let silent: Vec<&str> = settings()
        .filter(|setting| !setting.controls.hold())
        .map(|setting| setting.name.as_str())
        .collect();
    let text = plain(format!(
        "Controls: with no syncs {share:.0}% of {} states fail; with everything synced {} of {}.",
        count(all),
        count(wrong),
        count(synced)
    ));
    match silent.is_empty() {
        true => text,
        false => text.then(strong(format!(
            " Nothing is claimed of {}: there a control did not do what it must.",
            silent.join(", ")
        ))),
    }
}

fn findings(
    run: &CrashRun,
    id: &str,
    title: &str,
    told: impl Fn(&CrashFinding) -> bool,
    detail: Detail,
) -> Option<Block> {
    let mut items = Vec::new();
    for setting in &run.settings {
        for found in &setting.found {
            let told = found.findings.iter().filter(|finding| told(finding));
            items.extend(told.map(|finding| item(setting, found, finding)));
        }
    }
    let blocks = listed(items).into_iter().collect();
    chapter(id, title, blocks).map(|block| block.at(detail))
}

fn item(setting: &CrashSetting, found: &ModelFound, finding: &CrashFinding) -> Item {
    let tone = if finding.broken {
        Tone::Bad
    } else {
        Tone::Plain
    };
    let lost = match (finding.judged.lost, finding.judged.note.as_str()) {
        (0, "") => String::new(),
        (0, note) => format!(": {note}"),
        (lost, "") => format!(" {}", commits(lost)),
        (lost, note) => format!(" {}: {note}", commits(lost)),
    };
    let text = format!(
        "{lost}. Cut after operation {} of {}, the {}.",
        count(finding.cut),
        count(setting.operations + setting.acks),
        finding.after
    );
    let mut note = String::new();
    if !finding.shrunk.words.is_empty() {
        note = format!(
            "It is enough that this is lost, of {} operations: {}. ",
            count(finding.shrunk.cut),
            finding.shrunk.words.join("; ")
        );
    } else if finding.shrunk.cut > 0 {
        note = format!(
            "Nothing need be lost: a cut after operation {} does it. ",
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

fn untested(run: &CrashRun) -> Option<Block> {
    let failed = run.settings.iter().filter_map(|setting| {
        let why = setting.failed.as_ref()?;
        Some(Item::of(plain(format!("{}: {why}", setting.name))))
    });
    let blocks = listed(failed.collect()).into_iter().collect();
    chapter("untested", "What could not be tested", blocks)
}

fn meaning(run: &CrashRun) -> Option<Block> {
    let models = run.models.iter().map(|model| (model.name(), model.about()));
    let clean = |model: CrashModel| -> u64 {
        let found = run.settings.iter().flat_map(|setting| &setting.found);
        let states = found.filter(|found| found.model == model && found.tally.broken == 0);
        states.map(|found| found.tally.states).min().unwrap_or(0)
    };
    let bounds: Vec<String> = run
        .models
        .iter()
        .filter(|model| clean(**model) > 0)
        .map(|model| {
            let states = clean(*model);
            let bound = 100.0 * (3.0 / nanoseconds(states)).min(1.0);
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
    blocks.push(remark(
        "A violation means that the setting needs an order that the model does not promise, not that it \
         happens on your file system, whose order may be stronger. That none was found says nothing of \
         this disk, its firmware, or a hypervisor. What a program writes through a mapping of memory is \
         seen when the system writes it; sync(2) and syncfs(2) are not seen.",
    ));
    let section: Block = Section::new("What was tried, and what it means", blocks)
        .named("meaning")
        .in_contents("Meaning")
        .into();
    Some(section.at(Detail::Full))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::{html, markdown, terminal};
    use stowplan_model::{Controls, Durability, DurabilityClaim, Judged, Shrunk};

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

    fn setting(name: &str, found: Tally, controls: Controls) -> CrashSetting {
        let finding = CrashFinding {
            seed: 8841,
            judged: Judged {
                fate: Fate::Lost,
                lost: 3,
                first_lost: Some(5),
                note: "<b>".to_owned(),
            },
            broken: found.broken > 0,
            cut: 31,
            after: "write of 9 bytes at 0 of kv.db".to_owned(),
            shrunk: Shrunk {
                cut: 30,
                lost: vec![(7, 0)],
                words: vec!["unlink kv.db-journal".to_owned()],
                tried: 9,
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
            ran_ns: 1,
            found: vec![ModelFound {
                model: CrashModel::Ordered,
                tally: found,
                findings,
            }],
            controls,
            failed: None,
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

    fn good() -> Controls {
        Controls {
            no_syncs: tally(1, 19, 0),
            all_synced: tally(20, 0, 0),
        }
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
        let options = terminal::TerminalOptions {
            width: 80,
            colour: false,
            unicode: true,
            detail: Detail::Normal,
        };
        let text = terminal::render(&found, &options);
        for said in [
            "1 of 2 settings broke what they promise",
            "120 a minute",
            "sqlite wal full",
            "kept 60",
            "lost 10 of 60",
            "BROKEN",
            "unlink kv.db-journal",
            "--replay 8841",
            "95% of 40 states fail",
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
        assert_eq!(stowplan_model::crash_run(&json(&run).unwrap()), Ok(run));
    }

    #[test]
    fn nothing_is_claimed_where_a_control_did_not_fail() {
        let silent = Controls {
            no_syncs: tally(20, 0, 0),
            all_synced: tally(20, 0, 0),
        };
        let run = run(vec![setting("mine", tally(60, 0, 0), silent)]);
        assert_eq!(verdict(&run), "Nothing can be claimed");
        let summary = markdown::render(&document(&run));
        assert!(summary.contains("Nothing is claimed of mine"), "{summary}");
        assert!(summary.contains("no claim"), "{summary}");
    }
}
