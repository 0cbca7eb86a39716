//! What the analysis recommends, in words. Nothing is decided here.

use crate::cells::grouped;
use crate::value::{self, NO_BREAK};
use crate::wording::{self, list, quoted};
use crate::words::{fill, halves};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, Kind, LOOKS, Open, PromiseDifference, Promises,
    RatioEstimate, Recommendation, Unbeaten, Verdict, When,
};
use stowplan_model::{Cell, CellId, Statistic};

/// Why nothing can be said, by what it is because of: in a few words, and what would help.
const WORDS: &str = include_str!("words/open.txt");

/// A comparison and what is recommended there.
pub(crate) struct Advice<'a> {
    analysis: &'a Analysis,
    comparison: &'a ComparisonOutcome,
    found: &'a Recommendation,
    baseline: Option<&'a CellSummary>,
    /// What the baseline is called, and the choice; empty where there is none.
    base: String,
    choice: String,
}

/// What is given with a cell, and chosen by nobody: what is busy beside it, stands before its files or lies below.
fn circumstance(cell: &Cell) -> Option<String> {
    let scanned = (!cell.scanned.is_no()).then(|| format!("with {}", cell.scanned));
    let on = (!cell.on.is_empty()).then(|| format!("on {}", cell.on));
    let beside = cell
        .workload
        .beside
        .map(|beside| format!("beside {beside}"));
    beside.or(scanned).or(on)
}

/// `5.01× [3.78, 5.95]`
fn told(factor: &RatioEstimate) -> String {
    let ends = value::interval(factor.low, factor.high);
    format!("{}× {ends}", value::ratio(factor.ratio))
}

/// `(2.06 to 2.15)`: the interval of a factor, which stays on one line.
pub(crate) fn ends(factor: &RatioEstimate) -> String {
    let [low, high] = [factor.low, factor.high].map(value::ratio);
    format!("({low}{NO_BREAK}to{NO_BREAK}{high})")
}

/// The names of cells, or the first of them and how many there are besides.
fn some(labels: &[String]) -> String {
    const SHOWN: usize = 4;
    match labels {
        [first, rest @ ..] if labels.len() > SHOWN => {
            format!("{first} and {} others", rest.len())
        }
        few => list(few),
    }
}

impl<'a> Advice<'a> {
    pub(crate) fn of(analysis: &'a Analysis, comparison: &'a ComparisonOutcome) -> Self {
        let (found, baseline) = (&comparison.recommendation, comparison.baseline());
        let label = |cell: Option<&CellSummary>| cell.map_or_else(String::new, name);
        Self {
            analysis,
            comparison,
            found,
            baseline,
            base: label(baseline),
            choice: label(found.chosen(comparison)),
        }
    }

    fn label(&self, id: &CellId) -> String {
        let cell = self.comparison.cell(id);
        cell.map_or_else(|| id.0.clone(), name)
    }

    /// What to do, in a few words.
    pub(crate) fn phrase(&self) -> String {
        self.phrase_with(quoted)
    }

    /// What to do, in a few words, with names as they stand in a table.
    pub(crate) fn phrase_with(&self, name: fn(&str) -> String) -> String {
        let label = |cell: Option<&CellSummary>| {
            cell.map_or_else(String::new, |cell| name(&cell.cell.label))
        };
        let (base, choice) = (label(self.baseline), label(self.chosen()));
        let may_change = self.found.may_change();
        if let Some(open) = &self.found.open {
            return self.open(open).0;
        }
        let less = match self.found.condition() {
            Some(_) => ", promising less",
            None => "",
        };
        match self.found.kind {
            Kind::Equivalent => "any: equivalent".to_owned(),
            Kind::Depends => self.both(),
            Kind::Prefer => format!("prefer {choice}{less}"),
            Kind::Keep if may_change => format!("{base}, so far"),
            Kind::Keep => base,
            _ => format!("{choice}{less}"),
        }
    }

    /// By how much the choice is ahead, with the interval; of what has no choice, what costs most.
    pub(crate) fn by_how_much(&self) -> String {
        match (&self.found.open, &self.found.over) {
            (Some(Open::NoChoice), _) => self.dearest().map_or_else(String::new, |(ratio, _)| {
                format!("{} the time", told(&ratio))
            }),
            // What a baseline that is only kept beats says nothing of what it does not.
            (None, Some(over)) if self.found.kind != Kind::Keep => told(&over.ratio.inverse()),
            _ => String::new(),
        }
    }

    /// The circumstance that costs most, of those that are shown to cost anything.
    fn dearest(&self) -> Option<(RatioEstimate, String)> {
        let all = self.comparison.stores().filter_map(|cell| {
            let contrast = self.comparison.to_baseline(cell)?;
            let ratio = contrast
                .estimate
                .filter(|_| contrast.verdict == Verdict::Slower)?;
            Some((ratio, circumstance(&cell.cell)?))
        });
        all.max_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio))
    }

    /// Why what is preferred is not called the fastest.
    fn not_the_fastest(&self) -> Option<String> {
        let over = self.found.over.as_ref();
        let over = over.filter(|_| self.found.kind == Kind::Prefer)?;
        Some(match over.work.as_slice() {
            [] => "another one promises something else, or was not shown to be slower".to_owned(),
            work => format!("it does other work ({})", wording::other_work(work)),
        })
    }

    /// What that means for the user, in a sentence.
    pub(crate) fn in_a_sentence(&self) -> String {
        if let Some(open @ (Open::NoBaseline | Open::Unreliable | Open::ControlTooShort)) =
            &self.found.open
        {
            return self.open(open).1;
        }
        let work = self
            .baseline
            .map(|baseline| wording::work(self.analysis, baseline));
        let measure = match self.comparison.measure {
            Statistic::Time => String::new(),
            measure => format!(" by the {},", measure.in_words()),
        };
        let (work, clauses) = (work.unwrap_or_default(), self.clauses().join("; "));
        format!("On this machine,{measure} {work}, {clauses}.")
    }

    /// What to do, what qualifies that, and what else to choose.
    fn clauses(&self) -> Vec<String> {
        let mut clauses = match (&self.found.open, self.found.kind) {
            (Some(open), _) => vec![self.open(open).1],
            (None, Kind::Use | Kind::Stay | Kind::Prefer | Kind::Depends) => {
                let more = [self.not_the_fastest(), self.flush()];
                let more = more.into_iter().flatten();
                [self.to_do()].into_iter().chain(more).collect()
            }
            (None, _) => [self.kept()].into_iter().chain(self.unbeaten()).collect(),
        };
        clauses.extend(self.alternatives());
        clauses
    }

    /// That nothing can be said, in a few words; and why, or what would help.
    fn open(&self, open: &Open) -> (String, String) {
        let of = match self.comparison.measure {
            Statistic::Time => "an operation".to_owned(),
            measure => format!("the {}", measure.in_words()),
        };
        let mut filled = vec![("of", of)];
        let title = match open {
            Open::TooFewRounds { rounds, needed } => {
                filled.extend([
                    ("rounds", rounds.to_string()),
                    ("needed", needed.to_string()),
                ]);
                if *rounds == 0 {
                    "no rounds"
                } else {
                    "few rounds"
                }
                .to_owned()
            }
            Open::Undecided => match self.bound() {
                Some(bound) => {
                    filled.push(("bound", bound));
                    "Undecided".to_owned()
                }
                None => "NoRatio".to_owned(),
            },
            Open::NoChoice => match self.dearest() {
                Some((ratio, circumstance)) => {
                    let (ends, ratio) = (ends(&ratio), value::ratio(ratio.ratio));
                    filled.extend([
                        ("ratio", ratio),
                        ("ends", ends),
                        ("circumstance", circumstance),
                    ]);
                    "NoChoice".to_owned()
                }
                None => "no cost".to_owned(),
            },
            other => format!("{other:?}"),
        };
        let (short, long) = halves(WORDS, &title);
        (fill(&short, &filled), fill(&long, &filled))
    }

    /// Where nothing was decided after the most rounds that there are: above which size a difference
    /// between the baseline and anything to choose would have been found.
    fn bound(&self) -> Option<String> {
        let [.., most] = LOOKS;
        let ends = self.found.unbeaten.iter().map(|unbeaten| {
            let cell = self.comparison.cell(&unbeaten.cell)?;
            let ratio = self.comparison.to_baseline(cell)?.estimate?;
            (ratio.rounds >= most as usize).then(|| ratio.high.max(1.0 / ratio.low))
        });
        let ends: Option<Vec<f64>> = ends.collect();
        let bound = ends?.into_iter().reduce(f64::max)?;
        bound.is_finite().then(|| value::by_how_much(bound - 1.0))
    }

    /// What to do, where something is to be used, preferred or stayed with, or where it depends.
    fn to_do(&self) -> String {
        let Self { base, choice, .. } = self;
        let to_do = match self.found.kind {
            Kind::Use => format!("use {choice}"),
            Kind::Stay => format!("stay with {choice}"),
            Kind::Prefer => format!("prefer {choice} to {base}"),
            _ => format!(
                "it depends on when the data must be on disk: {}",
                self.both()
            ),
        };
        match self.found.condition() {
            Some(lacks) => format!("{to_do}, provided that its {} is enough", lacking(&lacks)),
            None => to_do,
        }
    }

    /// Nothing is shown to be faster: whether it may yet turn out to be.
    fn kept(&self) -> String {
        let base = &self.base;
        match self.found.may_change() {
            true => format!("nothing measured so far is a reason to leave {base}"),
            false => format!("speed is no reason to leave {base}"),
        }
    }

    /// `A answers sooner, B is done sooner`, where it depends on that.
    pub(crate) fn both(&self) -> String {
        let sooner = self.found.flush.as_ref().and_then(|f| f.sooner.as_ref());
        let sooner = sooner.map_or_else(String::new, |sooner| self.label(sooner));
        format!("{} answers sooner, {sooner} is done sooner", self.choice)
    }

    /// What else to choose, and when: with its promise where that is the reason, else by how much it is ahead.
    fn alternatives(&self) -> Vec<String> {
        let told = self.found.alternatives.iter().filter_map(|other| {
            let when = match other.when {
                When::OtherWorkWillDo => "doing other work".to_owned(),
                When::MoreMustSurvive => "where more must survive a crash".to_owned(),
                When::LessIsEnough => {
                    let (ours, theirs) = (other.promise?, self.baseline?.promise()?);
                    let lacks = PromiseDifference::between(ours, theirs)?;
                    format!("where {} is enough", lacking(&lacks))
                }
            };
            let why = match other.when {
                When::MoreMustSurvive => other.promise?.to_string(),
                _ => told(&other.ratio?.inverse()),
            };
            let work = wording::other_work(&other.work);
            let facts = [why, work].into_iter().filter(|fact| !fact.is_empty());
            let facts = facts.collect::<Vec<_>>().join("; ");
            Some((when, format!("{} ({facts})", self.label(&other.cell))))
        });
        let told = grouped(told).into_iter();
        told.map(|(when, cells)| format!("{when}, {}", some(&cells)))
            .collect()
    }

    /// What the baseline does not beat, by verdict.
    fn unbeaten(&self) -> Vec<String> {
        let mut rest = Vec::new();
        for (wanted, is) in [
            (Verdict::Equivalent, "equivalent to it"),
            (Verdict::SmallDifference, "a small difference away"),
            (Verdict::Unresolved, "unresolved"),
            (Verdict::NoData, "without data"),
        ] {
            let cells = self.found.unbeaten.iter();
            let cells = cells.filter(|cell| cell.verdict == wanted);
            let labels: Vec<String> = cells
                .map(|cell: &Unbeaten| self.label(&cell.cell))
                .collect();
            if !labels.is_empty() {
                rest.push(format!("{}: {is}", some(&labels)));
            }
        }
        rest
    }

    /// What the lead comes to including the final flush, and who is done sooner then.
    fn flush(&self) -> Option<String> {
        let (flush, choice) = self.found.flush.as_ref().zip(self.chosen())?;
        let sooner = flush.sooner.as_ref();
        let sooner = sooner.and_then(|sooner| self.comparison.cell(sooner));
        let done = sooner.map(|sooner| {
            let totals = totals(sooner, choice);
            format!("{} is done sooner: {totals}", name(sooner))
        });
        let told = flush.ratio.map(|ratio| told(&ratio.inverse()));
        Some(match (told, done) {
            _ if self.found.kind == Kind::Depends => format!("{FLUSH} {}", totals(choice, sooner?)),
            (Some(factor), Some(done)) => format!("{FLUSH} {factor}, and {done}"),
            (Some(factor), None) => format!("{FLUSH} {factor}"),
            (None, done) => format!("{FLUSH}, {}", done?),
        })
    }

    fn chosen(&self) -> Option<&'a CellSummary> {
        self.found.chosen(self.comparison)
    }
}

fn name(cell: &CellSummary) -> String {
    quoted(&cell.cell.label)
}

/// What is in a time that ends only when the data is on disk.
pub(crate) const FLUSH: &str = "including the final flush to disk";

/// `5.18 µs against 12.2 µs`: times including the flush.
fn totals(first: &CellSummary, second: &CellSummary) -> String {
    let time = |cell: &CellSummary| cell.total_ns.map_or_else(String::new, value::time);
    format!("{} against {}", time(first), time(second))
}

/// `weaker durability (none)`
fn lacking(lacks: &PromiseDifference) -> String {
    let kind = match lacks.is {
        Promises::Less => "weaker",
        Promises::More | Promises::SomethingElse => "different",
    };
    format!("{kind} durability ({})", lacks.ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_keeps_an_answer_open_is_worded() {
        let plain = [
            Open::NoBaseline,
            Open::Alone,
            Open::Unreliable,
            Open::ControlTooShort,
            Open::NoRatio,
            Open::Failed,
            Open::Undecided,
            Open::NoChoice,
        ];
        let plain = plain.iter().map(|open| format!("{open:?}"));
        let others = ["no rounds", "few rounds", "no cost"].map(str::to_owned);
        for title in plain.chain(others) {
            let (short, helps) = halves(WORDS, &title);
            assert!(!short.is_empty() && !helps.is_empty(), "{title}");
        }
    }
}
