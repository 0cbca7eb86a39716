//! Where the user's own data belongs: one screen of answer, with what is given up, the commands to do it and
//! to undo it, and how a program reads a value afterwards.

use crate::document::{
    Block, Cell, Content, Detail, Section, Table, Text, Tone, number, paragraph, plain, remark,
    strong, text_column, toned,
};
use crate::shell::quoted;
use crate::words::{halves, note};
use crate::{noise, value, wording};
use stowplan_analysis::{
    Advice, Analysis, Aspect, Choice, ComparisonOutcome, MIN_ROUNDS, Split, Verdict, What, deciding,
};
use stowplan_model::{AdviseSpec, Seconds, Took, format_bytes, format_count, format_size};

/// What is said, each under a title of its own.
const WORDS: &str = include_str!("../words/advise.txt");

/// How to read a value of an archive, in three languages; a test runs them.
const EXAMPLES: [(&str, &str); 3] = [
    ("Python", include_str!("../../snippets/read_value.py")),
    ("C", include_str!("../../snippets/read_value.c")),
    ("Rust", include_str!("../../snippets/read_value.rs")),
];

/// The answer as a part of the report; nothing in a study that does not ask.
pub(super) fn section(analysis: &Analysis) -> Option<Block> {
    let section = Section::new("", blocks(analysis)?);
    let section = section.named("advice").in_contents("Advice");
    Some(Block::from(section).at(Detail::Answer))
}

/// The answer; nothing in a study that does not ask.
pub(super) fn blocks(analysis: &Analysis) -> Option<Vec<Block>> {
    let asked = analysis.run.plan.study.advise.as_ref()?;
    let advice = analysis.advice.as_ref()?;
    let held = Held::of(analysis, asked);
    let warning = |text: String| paragraph(toned(text, Tone::Warning));
    let unknown = advice.boot_needs_root.then(|| {
        let text = "Reads after a reboot are unknown: only root can have the machine forget what it has read.";
        warning(text.to_owned())
    });
    let limits = (!asked.limits.is_empty()).then(|| warning(asked.limits.join(" ")));
    let commands = commands(asked, advice, &held).into_iter();
    let commands =
        commands.flat_map(|(name, command)| [paragraph(name), Content::Verbatim(command).into()]);
    let first = [
        paragraph(&asked.about),
        paragraph(strong(what_to_do(asked, advice))),
        respects(analysis, advice).into(),
    ];
    let said = first.into_iter().chain(unknown);
    let said = said.chain(instead(advice).map(paragraph)).chain(limits);
    let said = said.chain(gives_up(asked, advice, &held).map(paragraph));
    let said = said.chain(whole_set(advice).map(paragraph)).chain(commands);
    let mut blocks: Vec<Block> = said.map(|block| block.at(Detail::Answer)).collect();
    blocks.push(remark(why(analysis, asked, advice)));
    blocks.extend(is_database(advice).then(|| examples(reads_together(advice))));
    Some(blocks)
}

/// What the database that is advised is to be like, beside its pages.
#[derive(Debug, Default)]
struct Held {
    /// Larger values there are, in bytes; they were not measured.
    limit: Option<u64>,
    /// Whether it was measured with a log written ahead.
    wal: bool,
}

impl Held {
    fn of(analysis: &Analysis, asked: &AdviseSpec) -> Self {
        let plan = &analysis.run.plan;
        let datasets = plan.datasets.values();
        let origins = datasets.filter_map(|found| found.from.as_ref());
        let limit = origins.filter_map(|from| from.largest).min();
        let mut cells = plan.comparisons.iter().flat_map(|found| &found.cells);
        Self {
            limit: limit.filter(|limit| *limit < asked.largest),
            wal: cells.any(|cell| cell.settings.word("journal") == "wal"),
        }
    }
}

fn what_to_do(asked: &AdviseSpec, advice: &Advice) -> String {
    let open = of(advice, Verdict::Unresolved);
    let undecided = match advice.choice {
        Choice::Open | Choice::Split { .. } => None,
        _ => open.map(|names| format!(" Not decided: {names}.")),
    };
    let together = match reads_together(advice) && advice.choice != Choice::Files {
        true => " Read many values in one transaction where you can.",
        false => "",
    };
    choice(asked, advice) + &undecided.unwrap_or_default() + together
}

fn choice(asked: &AdviseSpec, advice: &Advice) -> String {
    let lacking = match of(advice, Verdict::NoData) {
        None => "no difference was larger than the noise of this machine".to_owned(),
        Some(names) => format!("not measured to the end: {names}"),
    };
    let worse = of(advice, Verdict::Slower).map(|names| format!(", and was slower for {names}"));
    let pages = advice.page_size;
    let pages = pages.map(|page| format!(" with pages of {}", format_size(page)));
    let (title, inside) = match (advice.choice, asked.in_database) {
        (Choice::Database, false) => ("Database", 0),
        (Choice::Database, true) => ("Database kept", 0),
        (Choice::Files, false) => ("Files", 0),
        (Choice::Files, true) => ("Files instead", 0),
        (Choice::Split { inside }, false) => ("Split", inside),
        (Choice::Split { inside }, true) => ("Split out", inside),
        (Choice::Depends, _) => ("Depends", 0),
        (Choice::Open, _) => ("Open", 0),
    };
    let filled = [
        ("pages", pages.unwrap_or_default()),
        ("worse", worse.unwrap_or_default()),
        ("inside", format_size(inside)),
        ("faster", sides(advice, Verdict::Faster)),
        ("slower", sides(advice, Verdict::Slower)),
        ("lacking", lacking),
    ];
    told(title, &filled)
}

fn told(title: &str, filled: &[(&str, String)]) -> String {
    note(WORDS, title, filled).unwrap_or_default()
}

/// The names of the respects that decide and have this verdict.
fn of(advice: &Advice, verdict: Verdict) -> Option<String> {
    let names: Vec<String> = decided(advice, verdict).map(name).collect();
    (!names.is_empty()).then(|| names.join("; "))
}

/// When the respects that have this verdict are what decides, as a user would say. Languages are named where
/// they differ.
fn sides(advice: &Advice, verdict: Verdict) -> String {
    let mut reads = deciding(chosen(advice))
        .filter(|aspect| matches!(aspect.what, What::Read | What::ReadByPython));
    let alike = reads.all(|aspect| aspect.verdict == verdict);
    let mut words: Vec<String> = decided(advice, verdict)
        .map(|what| match what {
            What::Read | What::ReadByPython if alike => told("in memory", &[]),
            what => respected(what).1,
        })
        .collect();
    words.dedup();
    words.join(" or ")
}

/// The respects that decide and have this verdict.
fn decided(advice: &Advice, verdict: Verdict) -> impl Iterator<Item = What> {
    let decide = deciding(chosen(advice));
    let with = decide.filter(move |aspect| aspect.verdict == verdict);
    with.map(|aspect| aspect.what)
}

/// The split where it is advised, and what it has room for.
fn advised_split(advice: &Advice) -> Option<&Split> {
    let is_split = matches!(advice.choice, Choice::Split { .. });
    advice.split.as_ref().filter(|_| is_split)
}

/// How what is advised, or else the database, stands against files.
fn chosen(advice: &Advice) -> &[Aspect] {
    advised_split(advice).map_or(&advice.aspects, |split| &split.aspects)
}

/// What a respect is called, and when it is what decides, as a user would say.
fn respected(what: What) -> (String, String) {
    halves(WORDS, &format!("{what:?}"))
}

fn name(what: What) -> String {
    respected(what).0
}

/// A row of the table of respects: what it is, both figures, what they come to, and what was found.
type Respect = (String, [String; 3], Text);

/// Each respect: the database against files.
fn respects(analysis: &Analysis, advice: &Advice) -> Table {
    let measured = chosen(advice).iter();
    let mut rows: Vec<Respect> = measured.map(|aspect| respect(analysis, aspect)).collect();
    rows.extend(advice.space.map(|taken| {
        let ours = advised_split(advice).and_then(|split| split.allocated_bytes);
        let ours = ours.unwrap_or(taken.database);
        let share = value::float(ours) / value::float(taken.files.max(1));
        let bytes = [taken.files, ours].map(format_bytes);
        let [files, database] = bytes;
        let name = "space of what was measured".to_owned();
        let figures = [files, database, String::new()];
        (name, figures, plain(value::difference(share)))
    }));
    let ours = match advised_split(advice) {
        Some(_) => "split",
        None => "SQLite",
    };
    let figure =
        |title: &str, at: usize| number(title, "", move |row: &Respect| Cell::text(&row.1[at]));
    let columns = vec![
        text_column("", "", |row: &Respect| Cell::text(&row.0)).weighing(9),
        figure("files", 0).weighing(4),
        figure(ours, 1).weighing(4),
        figure("times as fast", 2).weighing(8),
        text_column("", "", |row: &Respect| Cell::text(row.2.clone())).weighing(9),
    ];
    Table::of("", columns, &rows)
}

fn respect(analysis: &Analysis, aspect: &Aspect) -> Respect {
    let cell = analysis.cell(&aspect.cell);
    let rounds = cell.map_or(0, |cell| cell.rounds);
    let found = match aspect.gain {
        Some(_) => toned(word(aspect), Tone::of(aspect.verdict)),
        None if rounds == 0 => toned("not measured yet", Tone::Warning),
        None => toned(
            format!("{rounds} of {MIN_ROUNDS} rounds yet"),
            Tone::Warning,
        ),
    };
    let times = [aspect.files_ns, aspect.time_ns].map(|time| value::maybe(time, value::time));
    let [files, ours] = times;
    (name(aspect.what), [files, ours, gain(aspect)], found)
}

/// `1.62× [1.55, 1.70]`, of the store beside files.
fn gain(aspect: &Aspect) -> String {
    value::maybe(aspect.gain, |gain| {
        let ends = value::interval(gain.low, gain.high);
        format!("{}× {ends}", value::ratio(gain.ratio))
    })
}

/// The verdict, and where an interval that excludes 1 does not say why nothing is claimed, that corrected time
/// disagrees.
fn word(aspect: &Aspect) -> &'static str {
    let is_apart = aspect
        .gain
        .is_some_and(|gain| gain.low > 1.0 || gain.high < 1.0);
    match aspect.verdict {
        Verdict::Unresolved if is_apart && aspect.corrected.is_some() => "by the clock alone",
        verdict => wording::verdict(verdict),
    }
}

/// What was measured beside what is advised: a split, or beside a split one database.
fn instead(advice: &Advice) -> Option<String> {
    let split = advice.split.as_ref()?;
    let (what, aspects) = match advised_split(advice) {
        Some(_) => ("All in one database instead".to_owned(), &advice.aspects),
        None => {
            let what = format!("Split at {} instead", format_size(split.inside));
            (what, &split.aspects)
        }
    };
    let told = aspects.iter();
    let told =
        told.map(|aspect| format!("{} {} {}", name(aspect.what), gain(aspect), word(aspect)));
    Some(format!("{what}: {}.", told.collect::<Vec<_>>().join("; ")))
}

/// Whether something is to be moved, or kept, in a database.
fn is_database(advice: &Advice) -> bool {
    !matches!(advice.choice, Choice::Files | Choice::Open)
}

fn gives_up(asked: &AdviseSpec, advice: &Advice, held: &Held) -> Option<String> {
    let inside = match advice.choice {
        Choice::Split { inside } => inside.min(asked.largest),
        _ => held.limit.unwrap_or(asked.largest),
    };
    let vacuum = match advice.whole {
        None => format!("up to {} meanwhile", format_bytes(asked.bytes)),
        Some(whole) => format!(
            "of {}, half of them deleted, it took {} and up to {}",
            format_bytes(whole.bytes),
            time(whole.vacuum),
            format_bytes(whole.vacuum_bytes)
        ),
    };
    let filled = [("largest", format_bytes(inside)), ("vacuum", vacuum)];
    (!asked.in_database && is_database(advice)).then(|| told("gives up", &filled))
}

fn time(seconds: Seconds) -> String {
    value::time(seconds.median * 1e9)
}

/// What work on all values takes, where it was measured and something is to be moved.
fn whole_set(advice: &Advice) -> Option<String> {
    let whole = advice.whole.filter(|_| is_database(advice))?;
    let took = |took: Took| format!("{}, files {}", time(took.database), time(took.files));
    let filled = [
        ("values", format_count(whole.values)),
        ("bytes", format_bytes(whole.bytes)),
        ("list", took(whole.list)),
        ("copy", took(whole.copy)),
        ("delete", took(whole.delete)),
    ];
    Some(told("whole", &filled))
}

/// How to do it, and how to undo it.
fn commands(asked: &AdviseSpec, advice: &Advice, held: &Held) -> Vec<(&'static str, String)> {
    if !is_database(advice) {
        return Vec::new();
    }
    let place = asked.place.to_string_lossy();
    let wal = |database: &str| format!("sqlite3 {database} 'PRAGMA journal_mode=wal'");
    if asked.in_database {
        let name = "All was measured in WAL mode, in which this database is not:";
        let command = wal(&quoted(&place));
        return Vec::from_iter((held.wal && !asked.wal).then_some((name, command)));
    }
    let limit = match advice.choice {
        Choice::Split { inside } => Some(inside),
        _ => held.limit,
    };
    let limit = limit.map_or_else(String::new, |limit| format!(" --inline-limit {limit}"));
    let name = asked.place.file_name();
    let name = name.map_or_else(|| "data".into(), |name| name.to_string_lossy());
    let archive = file(&format!("{name}.sqlar"));
    let back = file(&format!("{name}-back"));
    let page = advice.page_size.unwrap_or(4096);
    let pack = format!(
        "stowplan pack {} {archive} --no-deflate{limit} --page-size {page}",
        quoted(&place)
    );
    let pack = match held.wal {
        true => (
            "Do it, in WAL mode as it was measured, which the file keeps:",
            format!("{pack}\n{}", wal(&archive)),
        ),
        false => ("Do it:", pack),
    };
    let unpack = format!("stowplan unpack {archive} {back}");
    vec![pack, ("Undo it:", unpack)]
}

/// The name of a file here as a shell reads it; no program takes it for an option.
fn file(name: &str) -> String {
    match name.starts_with('-') {
        true => quoted(&format!("./{name}")),
        false => quoted(name),
    }
}

fn why(analysis: &Analysis, asked: &AdviseSpec, advice: &Advice) -> String {
    let rounds = analysis.cells().map(|cell| cell.rounds);
    let rounds: Vec<usize> = rounds.filter(|n| *n > 0).collect();
    let measured: Vec<&ComparisonOutcome> = analysis.comparisons.iter().collect();
    let noise = noise::noise(&measured).unwrap_or_else(|| "an unknown part".to_owned());
    let mut cells = analysis.cells();
    let by_text = cells.any(|cell| cell.cell.settings.word("key") == "text");
    let found = match (asked.in_database, by_text) {
        (false, _) => "Your paths were names of files and keys of rows.",
        (true, true) => {
            "Files had numbers for names; rows were looked up by a text of 36 characters."
        }
        (true, false) => "Files had numbers for names; rows were looked up by integers.",
    };
    let from = match advice.measured_values < asked.values {
        true => format!(
            "Extrapolated from {} of {} values, with SQLite's cache in proportion.",
            format_count(advice.measured_values),
            format_count(asked.values)
        ),
        false => format!("All {} values were measured.", format_count(asked.values)),
    };
    let filled = [
        ("rounds", wording::range_of_rounds(&rounds)),
        ("noise", noise),
        ("found", found.to_owned()),
        ("from", from),
    ];
    told("why", &filled)
}

/// Whether reads are faster, many in one transaction.
fn reads_together(advice: &Advice) -> bool {
    chosen(advice)
        .iter()
        .any(|aspect| matches!(aspect.what, What::Together | What::TogetherByPython))
}

/// Programs that read as was measured: each value by itself, or in a transaction that others share.
fn examples(together: bool) -> Block {
    let languages = EXAMPLES.iter().flat_map(|(language, text)| {
        let lines = text.lines();
        let lines = lines.filter(|line| together || !line.contains("BEGIN"));
        let text = lines.collect::<Vec<_>>().join("\n");
        [
            paragraph(format!("{language}:")),
            Content::Verbatim(text).into(),
        ]
    });
    let fold = Section::fold("How a program reads a value", languages.collect());
    Block::from(fold).at(Detail::Full)
}
