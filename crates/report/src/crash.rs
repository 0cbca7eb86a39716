//! What `stowplan crash` says: what each setting promises about power cuts, and what it kept.

use crate::cells::grouped;
use crate::document::{
    Block, Cell, Column, Detail, Document, Item, Section, Table, Tone, chapter, facts, listed,
    notice, paragraph, plain, remark, text_column, toned,
};
use crate::value::{count, counted, float, time, unbroken};
use crate::words::note;
use stowplan_model::{CrashFinding, CrashRun, CrashSetting, Durability, Fate, ModelFound, Tally};

/// What the words of a report mean, each under a title.
const WORDS: &str = include_str!("words/crash.txt");
/// From more settings on those that are alike share a line.
const MOST_ROWS: usize = 20;

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
    let judged = format!(
        "{} crash states judged in {}. Seed {}.",
        count(run.judged),
        time(float(run.judging_ns)),
        run.seed
    );
    let mut answers = vec![remark(judged)];
    answers.extend(run.interrupted.then(|| {
        notice("The run ended before everything was tested; what is missing is not in the table.")
    }));
    answers.push(by_setting(run).into());
    answers.extend(reasons(run).into_iter().map(notice));
    answers.extend(controls(run).into_iter().map(paragraph));
    let answers = answers.into_iter().map(|block| block.at(Detail::Answer));
    let is_broken = |setting: &CrashSetting, found: &ModelFound, finding: &CrashFinding| {
        setting.claims(found) && finding.broken
    };
    let title = "Promises that were broken";
    let broken = findings(run, "broken", title, &is_broken);
    let title = "What was lost as promised, or where nothing is claimed";
    let other = findings(run, "within", title, &|setting, found, finding| {
        !is_broken(setting, found, finding)
    });
    let full = [other, by_model(run), programs(run), meaning(run)];
    let full = full
        .into_iter()
        .flatten()
        .map(|block| block.at(Detail::Full));
    Document {
        kind: "Stowplan crash".to_owned(),
        title: verdict(run),
        question: plain("What does each setting lose when the power goes?"),
        blocks: answers
            .chain(broken)
            .chain(untested(run))
            .chain(full)
            .collect(),
        ..Document::default()
    }
}

/// The run in a sentence.
#[must_use]
pub fn verdict(run: &CrashRun) -> String {
    let tested = run.settings.iter().filter(|setting| claims_any(setting));
    let broken = run.settings.iter().filter(|setting| setting.is_broken());
    match (broken.count(), tested.count()) {
        (_, 0) => "Nothing can be claimed".to_owned(),
        (0, 1) => "No promise was broken".to_owned(),
        (0, tested) => format!("None of {tested} settings broke what it promises"),
        (1, 1) => "A promise was broken".to_owned(),
        (broken, tested) => format!("{broken} of {tested} settings broke what they promise"),
    }
}

fn claims_any(setting: &CrashSetting) -> bool {
    setting.found.iter().any(|found| setting.claims(found))
}

/// A line a setting; of many settings those are one line that have an engine, a promise, a verdict and the fates that
/// they met in common.
fn by_setting(run: &CrashRun) -> Table {
    type Alike<'a> = Vec<&'a CrashSetting>;
    let many = run.settings.len() > MOST_ROWS;
    let settings = run.settings.iter().enumerate();
    let rows = grouped(settings.map(|(index, setting)| {
        let (word, tone) = judgment(setting);
        let alone = (!many || tone == Tone::Bad).then_some(index);
        let met = Fate::ALL.map(|fate| setting.sum().of(fate) > 0);
        ((alone, engine(setting), setting.claim, word, met), setting)
    }));
    let rows: Vec<Alike<'_>> = rows.into_iter().map(|(_, alike)| alike).collect();
    let name = |alike: &Alike<'_>| {
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
    let left = |alike: &Alike<'_>| {
        let mut sum = Tally::default();
        alike.iter().for_each(|setting| sum.add(&setting.sum()));
        Cell {
            sort: Some(float(sum.not_kept())),
            ..Cell::text(toned(fates(&sum), judgment(alike[0]).1))
        }
    };
    let judged = |alike: &Alike<'_>| {
        let (word, tone) = judgment(alike[0]);
        Cell::text(toned(word, tone))
    };
    let promised = |alike: &Alike<'_>| Cell::text(promise(alike[0]));
    let columns = [
        text_column("setting", "", name),
        text_column("promises", said("promises"), promised),
        text_column("what was left", said("left"), left),
        text_column("", "Whether that is as promised", judged),
    ];
    let columns = columns.map(|column| column.weighing(Column::ESSENTIAL));
    Table::of("What was left after power cuts", columns.into(), &rows)
}

fn engine(setting: &CrashSetting) -> &str {
    setting.name.split(':').next().unwrap_or_default()
}

fn judgment(setting: &CrashSetting) -> (&'static str, Tone) {
    match () {
        () if setting.failed.is_some() => ("not tested", Tone::Warning),
        () if !claims_any(setting) => ("no claim", Tone::Warning),
        () if setting.is_broken() => ("BROKEN", Tone::Bad),
        () if setting.unjudged().0 > 0 => ("not all judged", Tone::Warning),
        () => ("as promised", Tone::Good),
    }
}

/// A line for each setting and model, with the control that has no syncs.
fn by_model(run: &CrashRun) -> Option<Block> {
    type Row<'a> = (&'a CrashSetting, &'a ModelFound);
    let rows = run.settings.iter().flat_map(|setting| {
        let found = setting.found.iter();
        found.map(move |found| (setting, found))
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let left = |(setting, found): &Row<'_>| {
        let tally = &found.tally;
        let tone = match setting.breaks(found) {
            true => Tone::Bad,
            false => Tone::Plain,
        };
        let [drawn, states, systematic] = [tally.drawn, tally.states, tally.systematic].map(count);
        Cell {
            help: format!(
                "{drawn} made, {states} different, {systematic} of them at syncs and acknowledgements{}",
                age(tally)
            ),
            ..Cell::text(toned(fates(tally), tone))
        }
    };
    let no_syncs = |row: &Row<'_>| Cell::text(fates(&row.1.no_syncs));
    let columns = [
        text_column("setting", "", |row: &Row<'_>| Cell::text(&row.0.name)),
        text_column("promises", said("promises"), |row: &Row<'_>| {
            Cell::text(promise(row.0))
        }),
        text_column("model", "", |row: &Row<'_>| Cell::text(row.1.model.name())),
        text_column("what was left", said("left"), left),
        text_column("with no syncs", "The control that has to fail", no_syncs),
    ];
    let columns = columns.map(|column| column.weighing(Column::ESSENTIAL));
    let title = "By setting and model";
    let table = (!rows.is_empty()).then(|| Table::of(title, columns.into(), &rows).into());
    chapter("models", title, table.into_iter().collect())
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
    let words: Option<Vec<&str>> = words.collect();
    words.map_or(name.to_owned(), |words| {
        format!("{kind} {}", words.join(" "))
    })
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
    let met = met.map(|(name, states)| unbroken(&format!("{name} {}", count(states))));
    met.collect::<Vec<_>>().join(", ")
}

fn age(tally: &Tally) -> String {
    match tally.most_lost {
        0 => String::new(),
        lost => format!(
            "; at most {} lost, the oldest acknowledged {} operations and {} before the cut",
            counted(lost, "commit"),
            count(tally.oldest_operations),
            time(float(tally.oldest_ns))
        ),
    }
}

/// What the controls of the tested settings did; nothing where no setting could be tested.
fn controls(run: &CrashRun) -> Option<String> {
    let settings = || {
        run.settings
            .iter()
            .filter(|setting| setting.failed.is_none())
    };
    let sum = |of: fn(&Tally) -> u64| -> u64 {
        let found = settings().flat_map(|setting| &setting.found);
        found.map(|found| of(&found.no_syncs)).sum()
    };
    let all = sum(|tally| tally.states);
    let synced = |of: fn(&Tally) -> u64| count(settings().map(|it| of(&it.all_synced)).sum());
    let share = |part: u64| 100.0 * float(part) / float(all);
    let controls = format!(
        "Controls: with no syncs {:.0}% of {} states fail, {:.0}% by more than losses; with everything synced \
         {} of {}.",
        share(sum(Tally::not_kept)),
        count(all),
        share(sum(Tally::damaged)),
        synced(Tally::not_kept),
        synced(|tally| tally.states)
    );
    let is_blind = |setting: &&CrashSetting| {
        let durable = setting.claim.class == Durability::Durable;
        let mut claimed = setting.found.iter().filter(|found| setting.claims(found));
        durable && claimed.any(|found| found.no_syncs.damaged() + found.tally.damaged() == 0)
    };
    let blind = grouped(
        settings()
            .filter(is_blind)
            .map(|it| (engine(it), &*it.name)),
    );
    let blind = blind
        .into_iter()
        .map(|(engine, names)| match names.as_slice() {
            [one] => (*one).to_owned(),
            several => format!("{} settings of {engine}", several.len()),
        });
    let blind = match blind.collect::<Vec<_>>().join(", ").as_str() {
        "" => String::new(),
        blind => format!(
            " Only of losses something is claimed of {blind}: no control shows that its judge would see damage."
        ),
    };
    (all > 0).then(|| controls + &blind)
}

/// Beside a setting of which nothing is claimed, what its controls did; and beside one that broke its promise and
/// never synced, what is not seen.
fn reasons(run: &CrashRun) -> Vec<String> {
    let tested = run
        .settings
        .iter()
        .filter(|setting| setting.failed.is_none());
    let reasons = tested.flat_map(|setting| {
        let unclaimed = setting.found.iter().filter(|found| !setting.claims(found));
        let told = unclaimed.map(|found| (unclaimed_because(setting, found), found.model.name()));
        let told = grouped(told).into_iter().map(|(why, models)| {
            let under = match models.len() == setting.found.len() {
                true => String::new(),
                false => format!(" under {}", models.join(", ")),
            };
            format!("Nothing is claimed of {}{under}: {why}.", setting.name)
        });
        let unseen = (setting.syncs == 0 && setting.is_broken()).then(|| {
            format!(
                "No fsync at all was seen of {}. sync(2) and syncfs(2) are not seen here: a program that relies on \
                 them is wrongly called broken.",
                setting.name
            )
        });
        told.chain(unseen).collect::<Vec<_>>()
    });
    reasons.collect()
}

/// Which control did not do what it must, and what was said in it.
fn unclaimed_because(setting: &CrashSetting, found: &ModelFound) -> String {
    let (synced, none) = (&setting.all_synced, &found.no_syncs);
    if let Some(failure) = &setting.synced_failure {
        return format!(
            "with everything synced {} of {} states should be kept and are not, the first of them is {}{}; \
             its check or its acknowledgements are wrong",
            count(synced.not_kept()),
            count(synced.states),
            failure.fate.name(),
            in_brackets(&failure.note)
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
    let states = count(none.states);
    match none.not_kept() {
        0 => format!(
            "with every sync struck out its check still finds all of {states} states kept, and sees nothing missing{ack}"
        ),
        lost => format!(
            "with every sync struck out {} of {states} states are lost and none is damaged: that its check would see \
             damage is not shown{ack}",
            count(lost)
        ),
    }
}

fn in_brackets(note: &str) -> String {
    match note {
        "" => String::new(),
        note => format!(" ({note})"),
    }
}

/// A chapter of the findings that are meant.
fn findings(
    run: &CrashRun,
    id: &str,
    title: &str,
    is_meant: &dyn Fn(&CrashSetting, &ModelFound, &CrashFinding) -> bool,
) -> Option<Block> {
    let items = run.settings.iter().flat_map(|setting| {
        let found = setting.found.iter().flat_map(move |found| {
            let told = found.findings.iter();
            let told = told.filter(|finding| is_meant(setting, found, finding));
            told.map(move |finding| item(setting, found, finding))
        });
        found.collect::<Vec<_>>()
    });
    list_chapter(id, title, items.collect())
}

fn list_chapter(id: &str, title: &str, items: Vec<Item>) -> Option<Block> {
    chapter(id, title, listed(items).into_iter().collect())
}

fn item(setting: &CrashSetting, found: &ModelFound, finding: &CrashFinding) -> Item {
    let tone = match setting.claims(found) && finding.broken {
        true => Tone::Bad,
        false => Tone::Plain,
    };
    let (judged, shrunk) = (&finding.judged, &finding.shrunk);
    let fate = judged.fate.name();
    let text = format!(
        "{}{}. Cut after operation {} of {}, the {}; the last acknowledged commit is {}.",
        with_losses(judged.fate, judged.lost),
        in_brackets(&judged.note),
        count(finding.cut),
        count(setting.length),
        finding.after,
        count(finding.acked)
    );
    // What the fewest losses do may be less than what was found first.
    let least = shrunk.judged.as_ref().unwrap_or(judged);
    let least = with_losses(least.fate, least.lost);
    let perhaps = if shrunk.unfinished {
        " (perhaps less is)"
    } else {
        ""
    };
    let enough = match shrunk.words.as_slice() {
        [] if shrunk.cut == 0 => String::new(),
        [] => format!(
            "A cut after operation {} does the same: {least}. ",
            shrunk.cut
        ),
        words => format!(
            "Enough for “{least}”, of {} operations{perhaps}: {}. ",
            count(shrunk.cut),
            words.join("; ")
        ),
    };
    Item {
        title: plain(format!("{}, {}", setting.name, found.model)),
        note: plain(format!("{enough}--replay {}", finding.seed)),
        ..Item::of(plain(text)).with_badge(fate, tone)
    }
}

/// `lost 3 commits`
fn with_losses(fate: Fate, lost: u64) -> String {
    match lost {
        0 => fate.name().to_owned(),
        lost => format!("{} {}", fate.name(), counted(lost, "commit")),
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
    list_chapter("programs", "Programs", items.collect())
}

/// The models, what it says where a setting broke nothing under one, and what none of it says.
fn meaning(run: &CrashRun) -> Option<Block> {
    let models = facts(run.models.iter().map(|model| (model.name(), model.about())));
    let bounds = run.models.iter().filter_map(|model| {
        let found = run.settings.iter().flat_map(|setting| {
            let claimed = setting.found.iter().filter(|found| setting.claims(found));
            claimed.filter(|found| found.model == *model && found.tally.broken == 0)
        });
        let drawn = |tally: &Tally| tally.states.saturating_sub(tally.systematic);
        let states = found
            .map(|found| drawn(&found.tally))
            .min()
            .filter(|states| *states > 0)?;
        let bound = 100.0 * (3.0 / float(states)).min(1.0);
        let states = count(states);
        Some(format!(
            "under {model}, none in {states} states is at most {bound:.2}%"
        ))
    });
    let bounds: Vec<String> = bounds.collect();
    let bounds = (!bounds.is_empty()).then(|| {
        paragraph(format!(
            "Of a setting that broke nothing: {} of the states that would be drawn, at 95%.",
            bounds.join("; ")
        ))
    });
    let blocks = [models]
        .into_iter()
        .chain(bounds)
        .chain([remark(said("meaning"))]);
    let section = Section::new("What was tried, and what it means", blocks.collect());
    Some(section.named("meaning").in_contents("Meaning").into())
}

/// What is said of every run, by its title.
fn said(title: &str) -> String {
    note(WORDS, title, &[]).unwrap_or_default()
}
