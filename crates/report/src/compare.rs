//! One result against others: what `stowplan compare` prints.
//!
//! Verdicts come from [`stowplan_analysis::compare`]; here they are worded and set in tables. All factors
//! and percentages have one direction, NEW over BASE: above 1 and with a plus NEW is slower.

mod forms;
mod method;

use crate::cells::grouped;
use crate::document::{
    Block, Cell, Content, Detail, Document, Section, Table, TableBuilder, Tone, Unit, bullets,
    folded, notice, number, paragraph, strong, text_column, toned,
};
use crate::{value, wording};
pub use forms::{CSV_START, csv, json};
use stowplan_analysis::compare::{
    CellChange, Change, ChangeVerdict, Changes, Decides, Difference, MIN_SESSIONS, NotCompared,
    Turns, Unit as Of,
};
use stowplan_analysis::{Analysis, Interval};
use stowplan_model::Role;

/// Stands at the top of the Markdown form, so that whoever posts it can find the comment again and
/// replace it.
pub const MARK: &str = "<!-- stowplan compare -->";

/// A result, and what the user calls it.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Its directory or file, as typed.
    pub name: &'a str,
    /// What was found in it.
    pub analysis: &'a Analysis,
}

/// The results of one side: sessions of the same program, as typed.
#[derive(Debug, Clone)]
pub struct Side<'a> {
    /// The first of them.
    pub first: Source<'a>,
    /// The others; mostly none.
    pub more: Vec<Source<'a>>,
}

impl<'a> From<Source<'a>> for Side<'a> {
    fn from(first: Source<'a>) -> Self {
        let more = Vec::new();
        Self { first, more }
    }
}

impl<'a> Side<'a> {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Source<'a>> {
        [&self.first].into_iter().chain(&self.more)
    }

    /// What to call it: `before`, `before-1 and 3 more`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.more.len() {
            0 => self.first.name.to_owned(),
            more => format!("{} and {more} more", self.first.name),
        }
    }
}

/// BASE, and what each NEW changed against it.
#[derive(Debug)]
pub struct Compared<'a> {
    /// What the others are compared with.
    pub base: Side<'a>,
    /// The others, as typed; at least one.
    pub news: Vec<(Side<'a>, Changes)>,
}

/// The report: for each NEW the verdict, the cells in a table, and the rest folded.
#[must_use]
pub fn document(compared: &Compared<'_>) -> Document {
    let base = &compared.base;
    let against = |new: &Side<'_>| format!("{} against {}", new.name(), base.name());
    let (title, blocks) = match compared.news.as_slice() {
        [(new, changes)] => (against(new), about(base, new, changes)),
        several => {
            let sections = several.iter().map(|(new, changes)| {
                let section = Section::new(against(new), about(base, new, changes));
                Block::from(section.in_contents(new.name())).at(Detail::Answer)
            });
            let title = format!("{} results against {}", several.len(), base.name());
            (title, sections.collect())
        }
    };
    Document {
        kind: "Stowplan compare".to_owned(),
        title,
        blocks,
        ..Document::default()
    }
}

/// Everything about one NEW.
fn about(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Vec<Block> {
    let mut blocks = vec![paragraph(strong(headline(changes)))];
    blocks.extend(reservations(base, new, changes).into_iter().map(notice));
    blocks.extend(out_of_turn(changes));
    blocks.extend(cells(changes));
    let answers = blocks.into_iter().map(|block| block.at(Detail::Answer));
    let others = changes
        .cells
        .iter()
        .filter(|cell| !cell.differences.is_empty());
    let others = others.map(|cell| format!("{}: {}", name(cell), differences(&cell.differences)));
    // What makes it another machine first.
    let changed = changes.environment.iter();
    let (machine, rest): (Vec<_>, Vec<_>) = changed.partition(|change| change.another_machine);
    let around = machine.into_iter().chain(rest);
    let folds = [
        ("Not compared", bullets(not_compared(changes))),
        ("Other settings", bullets(others)),
        ("Disk space, writes and memory", bullets(resources(changes))),
        (
            "What changed around it",
            bullets(around.map(|change| difference(&change.difference))),
        ),
        (
            "What was compared, and how",
            bullets(method::notes(base, new, changes)),
        ),
    ];
    let folds = folds
        .into_iter()
        .filter_map(|(title, list)| Some(folded(title, list?)));
    answers.chain(folds).collect()
}

/// Verdicts as they are told: in the table, by colour, and as a headline counts them.
const VERDICTS: [(ChangeVerdict, &str, Tone, &str); 7] = [
    (ChangeVerdict::Slower, "slower", Tone::Bad, "slower"),
    (ChangeVerdict::Faster, "faster", Tone::Good, "faster"),
    (
        ChangeVerdict::Differs,
        "differs",
        Tone::Warning,
        "different, maybe by more than that",
    ),
    (
        ChangeVerdict::Small,
        "small diff.",
        Tone::Plain,
        "with a small change",
    ),
    (
        ChangeVerdict::Unresolved,
        "unresolved",
        Tone::Warning,
        "unresolved",
    ),
    (
        ChangeVerdict::WithinThreshold,
        "within threshold",
        Tone::Plain,
        "within the threshold",
    ),
    (
        ChangeVerdict::NoChange,
        "no change",
        Tone::Plain,
        "unchanged",
    ),
];

/// What it comes to, in a sentence: what the exit code says, too. Without any cell that was checked, nothing
/// passes.
fn headline(changes: &Changes) -> String {
    if changes.cells.is_empty() {
        return "Nothing could be compared.".to_owned();
    }
    let all = value::counted(changes.cells.len(), "cell");
    let more_than = changes.threshold.map_or_else(String::new, |threshold| {
        format!(" by more than {}", value::percent(threshold))
    });
    let (checked, open) = (changes.checked(), changes.unresolved().count());
    let judged = value::counted(checked + open, "cell");
    let first = match (changes.regressions().count(), checked, open) {
        _ if changes.decides == Decides::Nothing => format!(
            "Different machines ({}): of {all}, none is called a regression",
            other_machine(changes)
        ),
        (0, 0, 0) => "Nothing was judged".to_owned(),
        (0, 0, _) => format!(
            "Inconclusive: of {judged}, none clearly regressed{more_than}, or clearly did not"
        ),
        (0, _, 0) => format!("No regression{more_than} in {judged}"),
        (0, ..) => format!("No regression{more_than} in {checked} of {judged}, open of {open}"),
        (some, ..) => format!("{some} of {all} regressed{more_than}"),
    };
    let rest = changes.cells.iter().filter(|cell| !cell.regression);
    let found = rest.map(|cell| Some(cell.decisive(changes.decides)?.1));
    let found: Vec<Option<ChangeVerdict>> = found.collect();
    let told = VERDICTS.map(|(verdict, .., words)| (Some(verdict), words));
    let told = told
        .into_iter()
        .chain([(None, "without a ratio to a baseline")]);
    let counts = told.filter_map(|(wanted, words)| {
        let count = found.iter().filter(|verdict| **verdict == wanted).count();
        (count > 0).then(|| format!("{count} {words}"))
    });
    let counts = counts.collect::<Vec<_>>().join(", ");
    let semicolon = if counts.is_empty() { "" } else { "; " };
    format!("{first}{semicolon}{counts}.")
}

/// What makes it another machine, the first few items: `host vm → 3f2a9c, CPUs usable 2 → 8 and 1
/// more`. Empty on the same machine.
#[must_use]
pub fn other_machine(changes: &Changes) -> String {
    const TOLD: usize = 3;
    let identifying = changes.environment.iter();
    let identifying = identifying.filter(|change| change.another_machine);
    let all: Vec<String> = identifying.map(|c| difference(&c.difference)).collect();
    match all.get(TOLD..) {
        None | Some([]) => all.join(", "),
        Some(rest) => format!("{} and {} more", all[..TOLD].join(", "), rest.len()),
    }
}

/// What to know beside the headline: that a run ended early, that cells were left out, and what would resolve
/// those of single sessions.
fn reservations(base: &Side<'_>, new: &Side<'_>, changes: &Changes) -> Vec<String> {
    let sides = [("BASE", base), ("NEW", new)];
    let endings = sides.into_iter().flat_map(|(name, side)| {
        side.all().filter_map(move |source| {
            let which = if side.more.is_empty() {
                name
            } else {
                source.name
            };
            Some(format!("{which}: {}", wording::ending(source.analysis)?))
        })
    });
    let left_out = match changes.not_compared.len() {
        0 => None,
        1 => Some("1 cell was not compared.".to_owned()),
        some => Some(format!("{some} cells were not compared.")),
    };
    let mut judged = changes.judged();
    let unresolved = judged.any(|(_, _, verdict)| verdict == ChangeVerdict::Unresolved);
    let sessions = (changes.unit == Of::Round && unresolved).then(|| {
        "Unresolved: needs more sessions. One of each side cannot tell a change from the builds and \
         the machine that it met; several, in turns, measure that (--base, --new)."
            .to_owned()
    });
    // What the time says and the ratio to the baseline does not.
    let doubted = changes.regressions().filter(|cell| {
        use ChangeVerdict::{NoChange, Unresolved, WithinThreshold};
        let by_ratio = cell.ratio_verdict;
        let is_shown = !matches!(by_ratio, Some(NoChange | WithinThreshold | Unresolved));
        changes.decides == Decides::Time && !is_shown
    });
    let doubted: Vec<String> = doubted.map(name).collect();
    let shared = (!doubted.is_empty()).then(|| {
        format!(
            "Of {} the ratio to the baseline does not show that: the cause may be something that both \
             share, such as the machine.",
            wording::list(&doubted)
        )
    });
    let notes = endings.chain(left_out).chain(sessions);
    notes.chain(shared).collect()
}

/// Where sessions took no turns: that what drifts cannot be told from what changed, and the commands by
/// which they take turns.
fn out_of_turn(changes: &Changes) -> Vec<Block> {
    let (first, other) = match (changes.unit, changes.turns) {
        (Of::Session, Turns::BaseFirst) => ("BASE", "NEW"),
        (Of::Session, Turns::NewFirst) => ("NEW", "BASE"),
        _ => return Vec::new(),
    };
    let sessions = changes.base_sessions.max(changes.new_sessions);
    let numbers = 1..=sessions.max(MIN_SESSIONS);
    let numbers: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let filled = [
        ("first", first.to_owned()),
        ("other", other.to_owned()),
        ("numbers", numbers.join(" ")),
    ];
    let commands = "for i in {numbers}; do\n  OLD study STUDY --output base-$i\n  \
                    NEW study STUDY --output new-$i\ndone\n\
                    stowplan compare --base base-* --new new-*";
    let text = method::told("no turns", &filled).unwrap_or_default();
    let commands = Content::Verbatim(crate::words::fill(commands, &filled));
    vec![notice(text), commands.into()]
}

/// The verdict on a cell in one or two words, and what it says by colour.
fn verdict(cell: &CellChange, decides: Decides) -> (&'static str, Tone) {
    let found = cell.decisive(decides).map(|(_, verdict)| verdict);
    let mut all = VERDICTS.into_iter();
    match all.find(|(known, ..)| Some(*known) == found) {
        _ if cell.regression => ("regression", Tone::Bad),
        Some((_, word, tone, _)) => (word, tone),
        None if cell.role == Role::Baseline => ("baseline", Tone::Faint),
        None => ("not judged", Tone::Faint),
    }
}

/// Both times, the change that decides, and in short the other one; nothing without cells.
fn cells(changes: &Changes) -> Option<Block> {
    const BY_TIME: &str = "time in NEW over time in BASE: with a plus, slower";
    const BY_RATIO: &str =
        "its ratio to the baseline in NEW over that in BASE: with a plus, slower";
    let by = changes.decides;
    let (caption, help, other) = match by {
        Decides::Ratio => (
            "ratio to the baseline vs BASE",
            BY_RATIO,
            changed("time", BY_TIME, Decides::Time),
        ),
        Decides::Time | Decides::Nothing => (
            "time vs BASE",
            BY_TIME,
            changed("ratio", BY_RATIO, Decides::Ratio),
        ),
    };
    let ends = move |cell: &CellChange| {
        let change = cell.decisive(by).map(|(change, _)| interval(&change));
        Cell::text(change.unwrap_or_default())
    };
    let verdict = move |cell: &CellChange| {
        let (word, tone) = verdict(cell, by);
        Cell::text(toned(word, tone))
    };
    let both = |base: usize, new: usize| Cell::text(format!("{base}, {new}"));
    let rounds = move |cell: &CellChange| both(cell.time.base_rounds, cell.time.new_rounds);
    let sessions = move |cell: &CellChange| both(cell.time.base_sessions, cell.time.new_sessions);
    let mut columns = vec![
        text_column("cell", "", |cell: &CellChange| Cell::text(name(cell))).weighing(11),
        timed("BASE", |cell| cell.base_time_ns).weighing(5),
        timed("NEW", |cell| cell.new_time_ns).weighing(6),
        changed("NEW/BASE", help, by).weighing(9),
        text_column("interval", "", ends).weighing(8),
        text_column("verdict", "", verdict).weighing(10),
        other.weighing(4),
        number("rounds", "of BASE, of NEW", rounds).weighing(0),
    ];
    if changes.unit == Of::Session {
        columns.push(number("sessions", "of BASE, of NEW", sessions).weighing(3));
    }
    let table = Table::of(caption, columns, &changes.cells);
    (!changes.cells.is_empty()).then(|| table.into())
}

fn timed<'a>(title: &str, of: fn(&CellChange) -> Option<Interval>) -> TableBuilder<'a, CellChange> {
    let cell = move |cell: &CellChange| {
        let time = of(cell).map_or(f64::NAN, |time| time.estimate);
        Cell::number(time, value::time(time))
    };
    number(title, "time per operation", cell).in_unit("ns")
}

fn changed<'a>(title: &str, help: &str, by: Decides) -> TableBuilder<'a, CellChange> {
    number(title, help, move |cell: &CellChange| {
        let change = cell.decisive(by).map(|(change, _)| change.ratio);
        Cell::maybe(change, value::difference)
    })
}

/// Its name in both, `read/sql` or `read/sql → read/blob`.
fn name(cell: &CellChange) -> String {
    match cell.base == cell.new {
        true => cell.base.to_string(),
        false => format!("{} → {}", cell.base, cell.new),
    }
}

/// `[+47%, +55%]`
fn interval(change: &Change) -> String {
    let [low, high] = [change.low, change.high].map(value::difference);
    value::between(&low, &high)
}

/// The reasons why cells were not compared, each with its cells.
fn not_compared(changes: &Changes) -> impl Iterator<Item = String> {
    let cells = changes.not_compared.iter();
    let reasons = cells.map(|NotCompared { cell, reasons }| {
        let reasons = reasons.iter().map(|obstacle| {
            let differences = differences(&obstacle.differences);
            let colon = if differences.is_empty() { "" } else { ": " };
            format!("{}{colon}{differences}", obstacle.reason)
        });
        (reasons.collect::<Vec<_>>().join("; "), cell.to_string())
    });
    let reasons = grouped(reasons).into_iter();
    reasons.map(|(reason, cells)| format!("{}: {reason}", cells.join(", ")))
}

/// What cells take besides time, where that changed enough to be told:
/// `read/sql: 10.0 MB → 12.0 MB on disk (+20%)`.
fn resources(changes: &Changes) -> impl Iterator<Item = String> {
    /// Figures are told from this share on, and all that are beyond the threshold.
    const WORTH_TELLING: f64 = 0.05;
    const FIGURES: [(&str, &str, Unit); 3] = [
        ("allocated_bytes", "on disk", Unit::Bytes),
        (
            "write_amplification",
            "bytes sent to storage per byte written",
            Unit::Ratio,
        ),
        ("peak_memory_bytes", "of memory at most", Unit::Bytes),
    ];
    let told = |cell: &CellChange, (key, what, unit): (&str, &str, Unit)| {
        let change = cell.resources.get(key)?;
        let beyond = match change.beyond_threshold {
            true => ", beyond the threshold",
            false if change.ratio.ln().abs() >= WORTH_TELLING.ln_1p() => "",
            false => return None,
        };
        let [base, new] = [change.base, change.new].map(|number| unit.text(number));
        let (name, difference) = (name(cell), value::difference(change.ratio));
        Some(format!(
            "{name}: {base} → {new} {what} ({difference}{beyond})"
        ))
    };
    let cells = changes.cells.iter();
    cells.flat_map(move |cell| {
        FIGURES
            .into_iter()
            .filter_map(move |figure| told(cell, figure))
    })
}

/// `page_size 4096 → 8192, journal delete → wal`
fn differences(all: &[Difference]) -> String {
    all.iter().map(difference).collect::<Vec<_>>().join(", ")
}

/// `page_size 4096 → 8192`; large numbers have their thousands grouped.
fn difference(difference: &Difference) -> String {
    let [base, new] = [&difference.base, &difference.new].map(|text| match text {
        None => "none".to_owned(),
        Some(text) => match text.parse::<u64>() {
            Ok(number) if number >= 10_000 => value::count(number),
            _ => text.clone(),
        },
    });
    format!("{} {base} → {new}", difference.what)
}
