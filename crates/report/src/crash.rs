//! What `stowplan crash` says: what each setting promises about power cuts, and what it kept.

use crate::document::{
    Align, Block, Cell, Column, Detail, Document, Item, Row, Section, Table, Text, Tone, chapter,
    facts, listed, notice, paragraph, plain, remark, strong, toned,
};
use crate::format::{count, time};
use stowplan_model::{
    CrashFinding, CrashModel, CrashRun, CrashSetting, Durability, Fate, ModelFound, Tally,
};

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
    for kind in [Found::Broken, Found::AsPromised, Found::Unclaimed] {
        blocks.extend(findings(run, kind));
    }
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
        cells.push(found.map_or_else(Cell::default, |found| of_model(setting, found)));
    }
    let claims = setting.found.iter().any(|found| setting.claims(found));
    let (word, tone) = match setting {
        setting if setting.failed.is_some() => ("not tested", Tone::Warning),
        _ if !claims => ("no claim", Tone::Warning),
        setting if setting.is_broken() => ("BROKEN", Tone::Bad),
        setting if setting.unjudged().0 > 0 => ("not all judged", Tone::Warning),
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
fn of_model(setting: &CrashSetting, found: &ModelFound) -> Cell {
    let tally = &found.tally;
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
    let (text, tone) = match worst {
        _ if !setting.claims(found) => ("no claim".to_owned(), Tone::Warning),
        _ if setting.breaks(found) => (text, Tone::Bad),
        Fate::Kept => (text, Tone::Good),
        _ => (text, Tone::Plain),
    };
    Cell {
        help: format!(
            "{}; {} drawn, {} different{}; with no syncs: {}",
            fates(tally),
            count(tally.drawn),
            count(tally.states),
            age(tally),
            fates(&found.no_syncs)
        ),
        sort: Some(nanoseconds(tally.not_kept())),
        ..Cell::text(toned(text, tone))
    }
}

/// `kept 12, lost 3`
fn fates(tally: &Tally) -> String {
    let met = Fate::ALL
        .into_iter()
        .map(|fate| (fate.name(), tally.of(fate)));
    let met = met.chain([("not judged", tally.unjudged)]);
    let met = met.filter(|(_, states)| *states > 0);
    let met: Vec<String> = met
        .map(|(name, states)| format!("{name} {}", count(states)))
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
    let found =
        || settings().flat_map(|setting| setting.found.iter().map(move |found| (setting, found)));
    let all: u64 = found().map(|(_, found)| found.no_syncs.states).sum();
    let failed: u64 = found().map(|(_, found)| found.no_syncs.not_kept()).sum();
    let damaged: u64 = found().map(|(_, found)| found.no_syncs.damaged()).sum();
    let synced: u64 = settings().map(|setting| setting.all_synced.states).sum();
    let wrong: u64 = settings()
        .map(|setting| setting.all_synced.not_kept())
        .sum();
    let share = |part: u64| match all {
        0 => 0.0,
        all => 100.0 * nanoseconds(part) / nanoseconds(all),
    };
    let text = plain(format!(
        "Controls: with no syncs {:.0}% of {} states fail, {:.0}% by more than losses; with everything synced \
         {} of {}.",
        share(failed),
        count(all),
        share(damaged),
        count(wrong),
        count(synced)
    ));
    EXCEPTIONS.iter().fold(text, |text, (about, why, meant)| {
        let named = named_where(run, meant);
        match named.is_empty() {
            true => text,
            false => text.then(strong(format!(" {about} {}: {why}.", named.join(", ")))),
        }
    })
}

/// What is not claimed, why, and of which.
type Exception = (
    &'static str,
    &'static str,
    fn(&CrashSetting, &ModelFound) -> bool,
);

const EXCEPTIONS: [Exception; 2] = [
    (
        "Nothing is claimed of",
        "there a control did not do what it must",
        |setting, found| !setting.claims(found),
    ),
    (
        "Only of losses something is claimed of",
        "no control shows that its judge would see damage",
        |setting, found| {
            let durable = setting.claim.class == Durability::Durable;
            setting.claims(found) && durable && found.no_syncs.damaged() == 0
        },
    ),
];

/// The settings that are meant, with the models where not all are.
fn named_where(run: &CrashRun, meant: &dyn Fn(&CrashSetting, &ModelFound) -> bool) -> Vec<String> {
    let named = run.settings.iter().filter_map(|setting| {
        let found = setting.found.iter().filter(|found| meant(setting, found));
        let models: Vec<&str> = found.map(|found| found.model.name()).collect();
        // The command line of a program would be most of the sentence.
        let name = match run.settings.len() {
            1 => "this setting",
            _ => &setting.name,
        };
        match models.len() {
            0 => None,
            all if all == setting.found.len() => Some(name.to_owned()),
            _ => Some(format!("{name} ({})", models.join(", "))),
        }
    });
    named.collect()
}

/// What a finding says of the setting.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Broken,
    AsPromised,
    /// The controls allow no claim.
    Unclaimed,
}

impl Found {
    fn of(setting: &CrashSetting, found: &ModelFound, finding: &CrashFinding) -> Self {
        match setting.claims(found) {
            false => Self::Unclaimed,
            true if finding.broken => Self::Broken,
            true => Self::AsPromised,
        }
    }

    /// The name of its part of the report, its title, and who wants to read it.
    fn chapter(self) -> (&'static str, &'static str, Detail) {
        match self {
            Self::Broken => ("broken", "Promises that were broken", Detail::Normal),
            Self::AsPromised => ("within", "What was lost as promised", Detail::Full),
            Self::Unclaimed => (
                "unclaimed",
                "What was found where nothing is claimed",
                Detail::Full,
            ),
        }
    }
}

fn findings(run: &CrashRun, kind: Found) -> Option<Block> {
    let mut items = Vec::new();
    for setting in &run.settings {
        for found in &setting.found {
            let of_kind = |finding: &&CrashFinding| Found::of(setting, found, finding) == kind;
            let told = found.findings.iter().filter(of_kind);
            items.extend(told.map(|finding| item(setting, found, finding)));
        }
    }
    let blocks = listed(items).into_iter().collect();
    let (id, title, detail) = kind.chapter();
    chapter(id, title, blocks).map(|block| block.at(detail))
}

fn item(setting: &CrashSetting, found: &ModelFound, finding: &CrashFinding) -> Item {
    let tone = match Found::of(setting, found, finding) {
        Found::Broken => Tone::Bad,
        Found::AsPromised | Found::Unclaimed => Tone::Plain,
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
        let why = match (setting.failed.as_ref(), setting.unjudged()) {
            (Some(why), _) => why.clone(),
            (None, (0, _)) => return None,
            (None, (states, why)) => format!("{} states were not judged: {why}", count(states)),
        };
        Some(Item::of(plain(format!("{}: {why}", setting.name))))
    });
    let blocks = listed(failed.collect()).into_iter().collect();
    chapter("untested", "What could not be tested", blocks)
}

fn meaning(run: &CrashRun) -> Option<Block> {
    let models = run.models.iter().map(|model| (model.name(), model.about()));
    let clean = |model: CrashModel| -> u64 {
        let clean = run.settings.iter().flat_map(|setting| {
            let found = setting.found.iter().filter(|found| found.model == model);
            found.filter(|found| setting.claims(found) && found.tally.broken == 0)
        });
        clean.map(|found| found.tally.states).min().unwrap_or(0)
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
         seen each millisecond; sync(2) and syncfs(2) are not seen.",
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
                no_syncs,
            }],
            all_synced: tally(20, 0, 0),
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
        assert_eq!(stowplan_model::crash_run(&json(&run).unwrap()), Ok(run));
    }

    #[test]
    fn nothing_is_claimed_where_a_control_did_not_fail() {
        let silent = tally(20, 0, 0);
        let run = run(vec![setting("mine", tally(50, 10, 10), silent)]);
        assert_eq!(verdict(&run), "Nothing can be claimed");
        let summary = markdown::render(&document(&run));
        assert!(!summary.contains("Promises that were broken"), "{summary}");
        assert!(!summary.contains("BROKEN"), "{summary}");
        assert!(summary.contains("where nothing is claimed"), "{summary}");
        assert!(
            summary.contains("Nothing is claimed of this setting"),
            "{summary}"
        );
        assert!(summary.contains("no claim"), "{summary}");
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
