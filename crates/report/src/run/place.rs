//! Where the user's own data belongs: one screen of answer, with what is given up, the commands to do it and
//! to undo it, and how a program reads a value afterwards.

use crate::document::{
    Block, Content, Detail, Fold, Section, bullets, facts, paragraph, plain, remark, strong, toned,
};
use crate::document::{Text, Tone};
use crate::format;
use stowplan_analysis::{Advice, Analysis, Aspect, Choice, Crossover, Side, Verdict, What};
use stowplan_model::{AdviseSpec, format_bytes, format_count, format_size};

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
        brief(facts(respects(advice))),
    ];
    blocks.extend(by_size(advice).map(|text| brief(paragraph(plain(text)))));
    blocks.extend(gives_up(asked, advice).map(brief));
    for (name, command) in commands(asked, advice).into_iter().flatten() {
        blocks.push(brief(paragraph(plain(name))));
        blocks.push(brief(Content::Verbatim(command).into()));
    }
    blocks.push(remark(why(analysis, advice)));
    if !matches!(advice.choice, Choice::Files | Choice::Open) {
        blocks.push(examples());
    }
    let section = Section::new("Where your data belongs", blocks);
    let section = section.named("advice").in_contents("Advice");
    Some(Block::from(section).at(Detail::Brief))
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
            format!("Keep them in the database{pages}: in no respect are files shown to be faster.")
        }
        Choice::Database => format!("Put them into one SQLite database{pages}."),
        Choice::Files if asked.in_database => {
            "Files would be as good or better: in no respect is the database shown to be \
             faster."
                .to_owned()
        }
        Choice::Files => "Stay with files: in no respect is a database shown to be faster.".to_owned(),
        Choice::Split { inside, outside } => format!(
            "Split them: up to {} into SQLite{pages}, from {} on as files; between these two sizes \
             nothing was shown.",
            format_size(inside),
            format_size(outside)
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
    let aspects = advice.aspects.iter();
    let with = aspects.filter(|aspect| aspect.verdict == verdict && aspect.what != What::All);
    let names: Vec<&str> = with.map(|aspect| name(aspect.what)).collect();
    names.join(" and ")
}

fn name(what: What) -> &'static str {
    match what {
        What::Read => "reads, in memory",
        What::Cold => "reads, from the disk",
        What::Replace => "replacing one",
        What::All => "reading all (backup)",
    }
}

/// Each respect: the database against files.
fn respects(advice: &Advice) -> Vec<(String, Text)> {
    let measured = advice.aspects.iter();
    let mut facts: Vec<(String, Text)> = measured
        .map(|aspect| (name(aspect.what).to_owned(), in_words(aspect)))
        .collect();
    if let Some(taken) = advice.space {
        #[expect(clippy::cast_precision_loss, reason = "a share for people")]
        let share = taken.database as f64 / taken.files.max(1) as f64;
        let text = format!(
            "{} instead of {} as files ({})",
            format_bytes(taken.database),
            format_bytes(taken.files),
            format::difference(share)
        );
        facts.push(("space of what was measured".to_owned(), plain(text)));
    }
    facts
}

fn in_words(aspect: &Aspect) -> Text {
    let Some(gain) = aspect.gain else {
        return toned("not measured", Tone::Warning);
    };
    let interval = |low, high| format::interval(low, high);
    let text = match aspect.verdict {
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
    };
    let times = match (aspect.database_ns, aspect.files_ns) {
        (Some(database), Some(files)) => format!(
            " ({} instead of {})",
            format::time(database),
            format::time(files)
        ),
        _ => String::new(),
    };
    toned(text, Tone::of(aspect.verdict)).then(plain(times))
}

/// What the sizes show, where it is not the answer already.
fn by_size(advice: &Advice) -> Option<String> {
    let split = matches!(advice.choice, Choice::Split { .. });
    let side = |side: &Side| match side {
        Side::A => "SQLite",
        Side::B => "files",
    };
    match advice.by_size.as_ref()? {
        Crossover::Zone {
            smaller, low, high, ..
        } if !split => Some(format!(
            "By size (made-up values, reads in memory): up to {} {} faster, from {} on the other.",
            format_size(*low),
            match smaller {
                Side::A => "SQLite is",
                Side::B => "files are",
            },
            format_size(*high)
        )),
        Crossover::Throughout { winner, from, to } => Some(format!(
            "By size (made-up values, reads in memory): {} ahead from {} to {}; splitting gains nothing.",
            side(winner),
            format_size(*from),
            format_size(*to)
        )),
        _ => None,
    }
}

fn gives_up(asked: &AdviseSpec, advice: &Advice) -> Option<Block> {
    if asked.in_database || matches!(advice.choice, Choice::Files | Choice::Open) {
        return None;
    }
    let inside = match advice.choice {
        Choice::Split { inside, .. } => inside.min(asked.largest),
        _ => asked.largest,
    };
    let lost = [
        "tools that want paths ('stowplan mount' shows them, read-only);".to_owned(),
        "two writers at a time: in one database one waits for the other;".to_owned(),
        "backups file by file: one changed value makes another file of the whole;".to_owned(),
        format!(
            "memory: a SELECT holds a value whole, here up to {} (the blob API reads pieces);",
            format_bytes(inside)
        ),
        format!(
            "the space of deleted values until VACUUM, which needs up to {} more meanwhile.",
            format_bytes(asked.bytes)
        ),
    ];
    let list = bullets(lost.map(plain))?;
    let title = paragraph(plain("You give up:"));
    let blocks = vec![title.at(Detail::Brief), list.at(Detail::Brief)];
    Some(Section::new("", blocks).into())
}

/// How to do it, and how to undo it.
fn commands(asked: &AdviseSpec, advice: &Advice) -> Option<[(&'static str, String); 2]> {
    if asked.in_database {
        return None;
    }
    let limit = match advice.choice {
        Choice::Files | Choice::Open => return None,
        Choice::Split { inside, .. } => format!(" --inline-limit {inside}"),
        Choice::Database | Choice::Depends => String::new(),
    };
    let place = asked.place.to_string_lossy();
    let name = asked.place.file_name();
    let name = name.map_or_else(
        || "data".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    );
    let archive = quoted(&format!("{name}.sqlar"));
    let page = advice.page_size.unwrap_or(4096);
    let pack = format!(
        "stowplan pack {} {archive} --store{limit} --page-size {page}",
        quoted(&place)
    );
    let unpack = format!(
        "stowplan unpack {archive} {}",
        quoted(&format!("{name}-back"))
    );
    Some([("Do it:", pack), ("Undo it:", unpack)])
}

/// A word as a shell reads it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:=@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn why(analysis: &Analysis, advice: &Advice) -> String {
    let read = analysis.comparisons.iter();
    let read = read.into_iter().find(|found| found.id == AdviseSpec::READ);
    let rounds = read.map_or(0, |read| {
        read.cells.iter().map(|cell| cell.rounds).max().unwrap_or(0)
    });
    let noise = read.map_or(0.0, |read| read.noise_floor.exp() - 1.0);
    format!(
        "Why believe it? {rounds} rounds, {} of your values ({}); noise up to {}. \
         Files were measured under numbered names, one to a value; the database finds a value by a text of 36 \
         characters, as an archive does by its name. More: --verbose, or the report.",
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
