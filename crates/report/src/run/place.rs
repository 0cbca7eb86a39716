//! Where the user's own data belongs: one screen of answer, with what is given up, the commands to do it and
//! to undo it, and how a program reads a value afterwards.

use crate::document::{
    Block, Content, Detail, Fold, Section, bullets, facts, paragraph, plain, remark, strong, toned,
};
use crate::document::{Text, Tone};
use crate::format;
use crate::shell::quoted;
use stowplan_analysis::{Advice, Analysis, Aspect, Choice, Split, Verdict, What, deciding};
use stowplan_model::{AdviseSpec, Cell, Seconds, Took, format_bytes, format_count, format_size};

/// How to read a value of an archive, in three languages; a test runs them.
const EXAMPLES: [(&str, &str); 3] = [
    ("Python", include_str!("../../snippets/read_value.py")),
    ("C", include_str!("../../snippets/read_value.c")),
    ("Rust", include_str!("../../snippets/read_value.rs")),
];

/// The answer; nothing in a study that does not ask.
pub(super) fn section(analysis: &Analysis) -> Option<Block> {
    let asked = analysis.run.plan.study.advise.as_ref()?;
    let advice = analysis.advice.as_ref()?;
    let brief = |block: Block| block.at(Detail::Brief);
    let mut blocks = vec![
        brief(paragraph(plain(&asked.about))),
        brief(paragraph(strong(what_to_do(asked, advice)))),
        brief(facts(respects(analysis, advice))),
    ];
    blocks.extend(instead(advice).map(|text| brief(paragraph(plain(text)))));
    let held = Held::of(analysis, asked);
    blocks.extend(held.left_out().map(|text| brief(paragraph(plain(text)))));
    blocks.extend(gives_up(asked, advice, &held).map(brief));
    blocks.extend(whole_set(advice).map(|text| brief(paragraph(plain(text)))));
    for (name, command) in commands(asked, advice, &held) {
        blocks.push(brief(paragraph(plain(name))));
        blocks.push(brief(Content::Verbatim(command).into()));
    }
    blocks.push(remark(why(analysis, asked, advice)));
    if !matches!(advice.choice, Choice::Files | Choice::Open) {
        blocks.push(examples());
    }
    let section = Section::new("Where your data belongs", blocks);
    let section = section.named("advice").in_contents("Advice");
    Some(Block::from(section).at(Detail::Brief))
}

/// What the database that is advised is to be like, beside its pages.
#[derive(Debug, Default)]
struct Held {
    /// Larger values there are, in bytes; they were not measured.
    limit: Option<u64>,
    /// Whether replacements were measured with a log written ahead.
    wal: bool,
}

impl Held {
    fn of(analysis: &Analysis, asked: &AdviseSpec) -> Self {
        let plan = &analysis.run.plan;
        let origins = plan
            .datasets
            .values()
            .filter_map(|found| found.from.as_ref());
        let limit = origins.filter_map(|from| from.largest).min();
        let replace = plan.comparisons.iter();
        let replace = replace.filter(|found| found.id == AdviseSpec::REPLACE);
        Self {
            limit: limit.filter(|limit| *limit < asked.largest),
            wal: replace.flat_map(|found| &found.cells).any(is_wal),
        }
    }

    fn left_out(&self) -> Option<String> {
        let limit = format_size(self.limit?);
        Some(format!(
            "Values above {limit} were not measured: of these, nothing is said."
        ))
    }
}

fn is_wal(cell: &Cell) -> bool {
    cell.settings.word("journal") == "wal"
}

/// The pages that are advised, where it matters.
fn pages(advice: &Advice) -> String {
    advice.page_size.map_or_else(String::new, |page| {
        format!(" with pages of {}", format_size(page))
    })
}

fn what_to_do(asked: &AdviseSpec, advice: &Advice) -> String {
    let undecided = match (advice.choice, of(advice, Verdict::Unresolved)) {
        (Choice::Database | Choice::Files, names) if !names.is_empty() => {
            format!(" Not decided: {names}.")
        }
        _ => String::new(),
    };
    choice(asked, advice) + &undecided
}

fn choice(asked: &AdviseSpec, advice: &Advice) -> String {
    let pages = pages(advice);
    match advice.choice {
        Choice::Database if asked.in_database => {
            format!(
                "Keep them in the database{pages}: in no respect that decides are files shown to be faster."
            )
        }
        Choice::Database => format!("Put them into one SQLite database{pages}."),
        Choice::Files if asked.in_database => {
            "Files would be as good or better: in no respect that decides is the database shown to \
             be faster."
                .to_owned()
        }
        Choice::Files => {
            "Stay with files: in no respect that decides is a database shown to be faster.".to_owned()
        }
        Choice::Split { inside } => format!(
            "Split them: up to {} into SQLite{pages}, larger ones {} files.",
            format_size(inside),
            if asked.in_database { "into" } else { "stay" }
        ),
        Choice::Depends => format!("It depends: SQLite{pages} is {}.", sides(advice)),
        Choice::Open => "Nothing can be advised yet: too little was measured, or no difference was larger \
                         than the noise of this machine. Measure longer (--budget 5m), or when less else runs."
            .to_owned(),
    }
}

/// In which respects the database is ahead, and in which behind.
fn sides(advice: &Advice) -> String {
    format!(
        "ahead for {}, and behind for {}",
        of(advice, Verdict::Faster),
        of(advice, Verdict::Slower)
    )
}

/// The respects that decide and have this verdict.
fn of(advice: &Advice, verdict: Verdict) -> String {
    let with = deciding(chosen(advice)).filter(|aspect| aspect.verdict == verdict);
    let names: Vec<&str> = with.map(|aspect| name(aspect.what)).collect();
    names.join(" and ")
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

fn name(what: What) -> &'static str {
    match what {
        What::Read => "reads, in memory",
        What::Cold => "reads, from the disk",
        What::Replace => "replacing one",
        What::Mixed => "both as often as you say",
        What::All => "reading all (backup)",
    }
}

/// Each respect: the database against files.
fn respects(analysis: &Analysis, advice: &Advice) -> Vec<(String, Text)> {
    let measured = chosen(advice).iter();
    let mut facts: Vec<(String, Text)> = measured
        .map(|aspect| {
            let how = how(analysis, advice, aspect);
            (name(aspect.what).to_owned(), in_words(aspect, &how))
        })
        .collect();
    if let Some(taken) = advice.space {
        let ours = advised_split(advice).and_then(|split| split.allocated_bytes);
        let ours = ours.unwrap_or(taken.database);
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let share = ours as f64 / taken.files.max(1) as f64;
        let text = format!(
            "{} instead of {} as files ({})",
            format_bytes(ours),
            format_bytes(taken.files),
            format::difference(share)
        );
        facts.push(("space of what was measured".to_owned(), plain(text)));
    }
    facts
}

/// How the database was measured, where it is not the one that is advised as it is packed.
fn how(analysis: &Analysis, advice: &Advice, aspect: &Aspect) -> String {
    let comparisons = analysis.run.plan.comparisons.iter();
    let mut cells = comparisons.flat_map(|found| &found.cells);
    let Some(cell) = cells.find(|cell| cell.id == aspect.cell) else {
        return String::new();
    };
    let page = cell.settings.number("page_size");
    let mut how = String::new();
    if page > 0 && advice.page_size.is_some_and(|advised| advised != page) {
        how.push_str(&format!(", pages of {}", format_size(page)));
    }
    let limit = cell.settings.number("inline_limit");
    if advised_split(advice).is_some_and(|split| split.inside != limit) {
        how.push_str(&format!(", split at {}", format_size(limit)));
    }
    if aspect.what == What::Replace && is_wal(cell) {
        how.push_str(", WAL");
    }
    how
}

fn in_words(aspect: &Aspect, how: &str) -> Text {
    let times = match (aspect.time_ns, aspect.files_ns) {
        (Some(ours), Some(files)) if aspect.gain.is_some() => format!(
            " ({} instead of {}{how})",
            format::time(ours),
            format::time(files)
        ),
        _ => String::new(),
    };
    let tone = match aspect.gain {
        Some(_) => Tone::of(aspect.verdict),
        None => Tone::Warning,
    };
    toned(claim(aspect), tone).then(plain(times))
}

/// `1.62× as fast [1.55, 1.70]`
fn claim(aspect: &Aspect) -> String {
    let Some(gain) = aspect.gain else {
        return "not measured".to_owned();
    };
    let interval = |low, high| format::interval(low, high);
    match aspect.verdict {
        Verdict::Slower => {
            let loss = gain.inverse();
            format!(
                "{}× as long {}",
                format::ratio(loss.ratio),
                interval(loss.low, loss.high)
            )
        }
        Verdict::Faster => format!(
            "{}× as fast {}",
            format::ratio(gain.ratio),
            interval(gain.low, gain.high)
        ),
        Verdict::Equivalent => format!("about the same {}", interval(gain.low, gain.high)),
        Verdict::SmallDifference => format!(
            "{}× as fast, a small difference {}",
            format::ratio(gain.ratio),
            interval(gain.low, gain.high)
        ),
        Verdict::Unresolved => format!("not decided {}", interval(gain.low, gain.high)),
        Verdict::Unreliable => "not claimed: the control differed from itself".to_owned(),
        Verdict::NoData => "not measured often enough".to_owned(),
    }
}

/// What was measured beside what is advised: a split, or beside a split one database.
fn instead(advice: &Advice) -> Option<String> {
    let split = advice.split.as_ref()?;
    let sizes = match split.from == split.to {
        true => String::new(),
        false => format!(
            " At sizes from {} to {} none was shown to be slower to read than another.",
            format_size(split.from),
            format_size(split.to)
        ),
    };
    let (what, aspects) = match advised_split(advice) {
        Some(_) => ("All in one database instead".to_owned(), &advice.aspects),
        None => {
            let what = format!("Split at {} instead", format_size(split.inside));
            (what, &split.aspects)
        }
    };
    let told = aspects.iter().filter(|aspect| aspect.what != What::All);
    let told = told.map(|aspect| format!("{}: {}", name(aspect.what), claim(aspect)));
    let known = |what: What| aspects.iter().any(|aspect| aspect.what == what);
    let lacking = advice.aspects.iter().filter(|aspect| !known(aspect.what));
    let lacking = lacking.filter(|aspect| aspect.what != What::All);
    let lacking = lacking.map(|aspect| format!("{}: not measured", name(aspect.what)));
    let told: Vec<String> = told.chain(lacking).collect();
    Some(format!("{what}: {}.{sizes}", told.join("; ")))
}

fn gives_up(asked: &AdviseSpec, advice: &Advice, held: &Held) -> Option<Block> {
    if asked.in_database || matches!(advice.choice, Choice::Files | Choice::Open) {
        return None;
    }
    let inside = match advice.choice {
        Choice::Split { inside } => inside.min(asked.largest),
        _ => held.limit.unwrap_or(asked.largest),
    };
    let lost = [
        "tools that want paths ('stowplan mount' shows them, read-only);".to_owned(),
        "two writers at a time: in one database one waits for the other;".to_owned(),
        "owners other than yours, extended attributes and hard links (pack counts them);"
            .to_owned(),
        "backups file by file: one changed value makes another file of the whole;".to_owned(),
        format!(
            "memory: a SELECT holds a value whole, here up to {} (the blob API reads pieces);",
            format_bytes(inside)
        ),
        vacuum(asked, advice),
    ];
    let list = bullets(lost.map(plain))?;
    let title = paragraph(plain("You give up:"));
    let blocks = vec![title.at(Detail::Brief), list.at(Detail::Brief)];
    Some(Section::new("", blocks).into())
}

fn vacuum(asked: &AdviseSpec, advice: &Advice) -> String {
    let Some(whole) = advice.whole else {
        return format!(
            "the space of deleted values until VACUUM, which needs up to {} more meanwhile.",
            format_bytes(asked.bytes)
        );
    };
    format!(
        "the space of deleted values until VACUUM: here {} and {} more meanwhile, half of {} being deleted.",
        time(whole.vacuum),
        format_bytes(whole.vacuum_bytes),
        format_bytes(whole.bytes)
    )
}

fn time(seconds: Seconds) -> String {
    format::time(seconds.median * 1e9)
}

/// What work on all values takes, where it was measured and something is to be moved.
fn whole_set(advice: &Advice) -> Option<String> {
    if matches!(advice.choice, Choice::Files | Choice::Open) {
        return None;
    }
    let whole = advice.whole?;
    let took = |took: Took| format!("{} instead of {}", time(took.database), time(took.files));
    Some(format!(
        "All at once, in one database instead of files ({} of your values, {}; medians of {} tries): listing \
         names and sizes {}, copying {}, deleting {} (files not synced, the database durably).",
        format_count(whole.values),
        format_bytes(whole.bytes),
        whole.tries,
        took(whole.list),
        took(whole.copy),
        took(whole.delete)
    ))
}

/// How to do it, and how to undo it.
fn commands(asked: &AdviseSpec, advice: &Advice, held: &Held) -> Vec<(&'static str, String)> {
    if matches!(advice.choice, Choice::Files | Choice::Open) {
        return Vec::new();
    }
    let wal = |database: &str| format!("sqlite3 {database} 'PRAGMA journal_mode=wal'");
    if asked.in_database {
        let name = "Replacements were measured in WAL mode, in which this database is not:";
        let command = wal(&quoted(&asked.place.to_string_lossy()));
        return Vec::from_iter((held.wal && !asked.wal).then_some((name, command)));
    }
    let limit = match advice.choice {
        Choice::Files | Choice::Open => None,
        Choice::Split { inside } => Some(inside),
        Choice::Database | Choice::Depends => held.limit,
    };
    let limit = limit.map_or_else(String::new, |limit| format!(" --inline-limit {limit}"));
    let place = asked.place.to_string_lossy();
    let name = asked.place.file_name();
    let name = name.map_or_else(|| "data".into(), |name| name.to_string_lossy());
    let archive = file(&format!("{name}.sqlar"));
    let page = advice.page_size.unwrap_or(4096);
    let pack = format!(
        "stowplan pack {} {archive} --store{limit} --page-size {page}",
        quoted(&place)
    );
    let mut commands = vec![("Do it:", pack)];
    if held.wal {
        commands.push((
            "Replacements were measured in WAL mode, which the file then keeps:",
            wal(&archive),
        ));
    }
    let back = file(&format!("{name}-back"));
    commands.push(("Undo it:", format!("stowplan unpack {archive} {back}")));
    commands
}

/// The name of a file here as a shell reads it; no program takes it for an option.
fn file(name: &str) -> String {
    match name.starts_with('-') {
        true => quoted(&format!("./{name}")),
        false => quoted(name),
    }
}

fn why(analysis: &Analysis, asked: &AdviseSpec, advice: &Advice) -> String {
    let of = |id: &str| analysis.comparisons.iter().find(|found| found.id == id);
    let read = of(AdviseSpec::READ).or_else(|| of(AdviseSpec::REPLACE));
    let rounds = read.map_or(0, |read| {
        read.cells.iter().map(|cell| cell.rounds).max().unwrap_or(0)
    });
    let noise = read.map_or(0.0, |read| read.noise_floor.exp() - 1.0);
    let found = match asked.in_database {
        false => "Files lay under your own names, and rows were found by these, as in an archive.",
        true => {
            "Files were measured under numbers; the database finds a value by a text of 36 characters."
        }
    };
    let others = match advice.measured_values < asked.values {
        true => " That all are read as these is inferred: SQLite had a cache in proportion.",
        false => "",
    };
    format!(
        "Why believe it? {rounds} rounds, {} of your values ({}); noise up to {}. {found}{others} \
         More: --verbose, or the report.",
        format_count(advice.measured_values),
        format_bytes(advice.measured_bytes),
        format::percent(noise)
    )
}

fn examples() -> Block {
    let languages = EXAMPLES.iter().flat_map(|(language, text)| {
        [
            paragraph(plain(format!("{language}:"))),
            Content::Verbatim((*text).to_owned()).into(),
        ]
    });
    let fold = Fold::new("How a program reads a value", languages.collect());
    Block::from(fold).at(Detail::All)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(place: &str, choice: Choice, held: &Held) -> Vec<String> {
        let asked = AdviseSpec {
            place: place.into(),
            in_database: false,
            about: String::new(),
            values: 1_000,
            bytes: 1 << 30,
            largest: 100 << 20,
            wal: false,
            overwrites: None,
            whole: None,
        };
        let advice = Advice {
            choice,
            page_size: Some(8_192),
            aspects: Vec::new(),
            split: None,
            space: None,
            whole: None,
            measured_values: 0,
            measured_bytes: 0,
        };
        let commands = commands(&asked, &advice, held).into_iter();
        commands.map(|(_, command)| command).collect()
    }

    #[test]
    fn a_name_that_begins_as_an_option_does_is_given_as_a_path() {
        let commands = told("/a/-x", Choice::Database, &Held::default());
        assert_eq!(
            commands,
            [
                "stowplan pack /a/-x ./-x.sqlar --store --page-size 8192",
                "stowplan unpack ./-x.sqlar ./-x-back"
            ]
        );
    }

    #[test]
    fn what_was_not_measured_stays_outside_and_a_log_that_was_measured_is_turned_on() {
        let held = Held {
            limit: Some(8 << 20),
            wal: true,
        };
        let commands = told("/a/x", Choice::Depends, &held);
        assert!(
            commands[0].contains("--inline-limit 8388608 "),
            "{commands:?}"
        );
        assert_eq!(commands[1], "sqlite3 x.sqlar 'PRAGMA journal_mode=wal'");
        let split = Choice::Split { inside: 65_536 };
        let commands = told("/a/x", split, &held);
        assert!(
            commands[0].contains("--inline-limit 65536 "),
            "{commands:?}"
        );
        assert!(told("/a/x", Choice::Files, &held).is_empty());
        assert!(held.left_out().is_some_and(|text| text.contains("8 MiB")));
        assert!(Held::default().left_out().is_none());
    }
}
