//! What the analysis recommends, in words: a phrase, and a sentence with its reasons. Nothing is decided here.

use crate::cells::grouped;
use crate::value::{self, NO_BREAK};
use crate::wording::{self, list, quoted};
use crate::words::{fill, halves};
use stowplan_analysis::{
    Analysis, CellSummary, ComparisonOutcome, Kind, LOOKS, Open, PromiseDifference, Promises,
    RatioEstimate, Recommendation, Verdict, When,
};
use stowplan_model::{Cell, CellId, Statistic};

/// What to do, and why nothing can be said: in a few words, and as part of a sentence.
const WORDS: &str = include_str!("words/advice.txt");

/// What is in a time that ends only when the data is on disk.
const FLUSH: &str = "including the final flush to disk";

/// A comparison and what is recommended there.
pub(crate) struct Advice<'a> {
    analysis: &'a Analysis,
    comparison: &'a ComparisonOutcome,
    found: &'a Recommendation,
    baseline: Option<&'a CellSummary>,
    chosen: Option<&'a CellSummary>,
}

/// What is given with a cell, and chosen by nobody: what is busy beside it, stands before its files or lies below.
fn circumstance(cell: &Cell) -> Option<String> {
    let beside = cell.workload.beside;
    let beside = beside.map(|beside| format!("beside {beside}"));
    let scanned = (!cell.scanned.is_no()).then(|| format!("with {}", cell.scanned));
    let on = (!cell.on.is_empty()).then(|| format!("on {}", cell.on));
    beside.or(scanned).or(on)
}

/// `5.01× [3.78, 5.95]`
fn told(factor: &RatioEstimate) -> String {
    let ends = value::interval(factor.low, factor.high);
    format!("{}× {ends}", value::ratio(factor.ratio))
}

/// The names of cells, or the first of them and how many there are besides.
fn some(labels: &[String]) -> String {
    const SHOWN: usize = 4;
    match labels {
        [first, rest @ ..] if rest.len() >= SHOWN => format!("{first} and {} others", rest.len()),
        few => list(few),
    }
}

impl<'a> Advice<'a> {
    pub(crate) fn of(analysis: &'a Analysis, comparison: &'a ComparisonOutcome) -> Self {
        let found = &comparison.recommendation;
        Self {
            analysis,
            comparison,
            found,
            baseline: comparison.baseline(),
            chosen: found.chosen(comparison),
        }
    }

    fn label(&self, id: &CellId) -> String {
        let cell = self.comparison.cell(id);
        cell.map_or_else(|| id.0.clone(), |cell| quoted(&cell.cell.label))
    }

    /// What to do, in a few words, with names as they stand in a sentence or in a table.
    pub(crate) fn phrase(&self, name: fn(&str) -> String) -> String {
        self.said(name)[0].clone()
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

    /// What that means for the user, in a sentence: what to do, what qualifies that, and what else to choose.
    pub(crate) fn in_a_sentence(&self) -> String {
        let [_, to_do] = self.said(quoted);
        if let Some(Open::NoBaseline | Open::Unreliable | Open::ControlTooShort) = self.found.open {
            return to_do;
        }
        let work = self.baseline;
        let work = work.map(|baseline| wording::work(self.analysis, baseline));
        let measure = match self.comparison.measure {
            Statistic::Time => String::new(),
            measure => format!(" by the {},", measure.in_words()),
        };
        let flush = self.flush().filter(|_| self.found.open.is_none());
        let clauses = [to_do].into_iter().chain(flush).chain(self.unresolved());
        let clauses = clauses.chain(self.alternatives());
        let clauses = clauses.collect::<Vec<_>>().join("; ");
        format!(
            "On this machine,{measure} {}, {clauses}.",
            work.unwrap_or_default()
        )
    }

    /// What to do, or that nothing can be said, in a few words; and the same as part of a sentence.
    fn said(&self, name: fn(&str) -> String) -> [String; 2] {
        let label = |cell: Option<&CellSummary>| {
            cell.map_or_else(String::new, |cell| name(&cell.cell.label))
        };
        let lacks = self.found.condition();
        let condition = lacks.map(|lacks| {
            let lacking = lacking(&lacks);
            format!(", provided that its {lacking} is enough")
        });
        let sooner = self.found.flush.as_ref().and_then(|f| f.sooner.as_ref());
        let less = if lacks.is_some() {
            ", promising less"
        } else {
            ""
        };
        let mut filled = vec![
            ("base", label(self.baseline)),
            ("choice", label(self.chosen)),
            ("less", less.to_owned()),
            ("condition", condition.unwrap_or_default()),
            (
                "sooner",
                sooner.map_or_else(String::new, |id| self.label(id)),
            ),
            ("why", self.not_the_fastest()),
        ];
        let title = match (&self.found.open, self.found.kind) {
            (Some(open), _) => self.open(open, &mut filled),
            (None, Kind::Keep) if self.found.may_change() => "so far".to_owned(),
            (None, kind) => format!("{kind:?}"),
        };
        let (short, long) = halves(WORDS, &title);
        [short, long].map(|text| fill(&text, &filled))
    }

    /// What may yet be faster than the baseline that is kept.
    fn unresolved(&self) -> Option<String> {
        let kept = self.found.kind == Kind::Keep && self.found.open.is_none();
        let unbeaten = self.found.unbeaten.iter().filter(|_| kept);
        let unbeaten =
            unbeaten.filter(|cell| matches!(cell.verdict, Verdict::Unresolved | Verdict::NoData));
        let labels: Vec<String> = unbeaten.map(|cell| self.label(&cell.cell)).collect();
        (!labels.is_empty()).then(|| format!("{}: unresolved", some(&labels)))
    }

    /// Why what is preferred is not called the fastest.
    fn not_the_fastest(&self) -> String {
        match self.found.over.as_ref().map(|over| over.work.as_slice()) {
            None | Some([]) => {
                "another one promises something else, or was not shown to be slower".to_owned()
            }
            Some(work) => format!("it does other work ({})", wording::other_work(work)),
        }
    }

    /// Under which title it is said that nothing can be said, and what is filled in there.
    fn open(&self, open: &Open, filled: &mut Vec<(&'static str, String)>) -> String {
        match open {
            Open::TooFewRounds { rounds, needed } => {
                let numbers = [("rounds", rounds), ("needed", needed)];
                filled.extend(numbers.map(|(name, number)| (name, number.to_string())));
                if *rounds == 0 {
                    "no rounds"
                } else {
                    "few rounds"
                }
                .to_owned()
            }
            Open::Undecided => match self.bound() {
                None => "NoRatio".to_owned(),
                Some(bound) => {
                    filled.push(("bound", bound));
                    "Undecided".to_owned()
                }
            },
            Open::NoChoice => {
                let of = match self.comparison.measure {
                    Statistic::Time => "an operation".to_owned(),
                    measure => format!("the {}", measure.in_words()),
                };
                filled.push(("of", of));
                let Some((ratio, circumstance)) = self.dearest() else {
                    return "no cost".to_owned();
                };
                let [number, low, high] = [ratio.ratio, ratio.low, ratio.high].map(value::ratio);
                // The interval of a factor stays on one line.
                let ends = format!("({low}{NO_BREAK}to{NO_BREAK}{high})");
                let known = [
                    ("ratio", number),
                    ("ends", ends),
                    ("circumstance", circumstance),
                ];
                filled.extend(known);
                "NoChoice".to_owned()
            }
            other => format!("{other:?}"),
        }
    }

    /// The circumstance that costs most, of those that are shown to cost anything.
    fn dearest(&self) -> Option<(RatioEstimate, String)> {
        let all = self.comparison.stores().filter_map(|cell| {
            let contrast = self.comparison.to_baseline(cell)?;
            let slower = contrast.verdict == Verdict::Slower;
            Some((
                contrast.estimate.filter(|_| slower)?,
                circumstance(&cell.cell)?,
            ))
        });
        all.max_by(|a, b| a.0.ratio.total_cmp(&b.0.ratio))
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

    /// What else to choose, and when: with its promise where that is the reason, else by how much it is ahead.
    fn alternatives(&self) -> Vec<String> {
        let told = self.found.alternatives.iter().filter_map(|other| {
            let (when, why) = match other.when {
                When::MoreMustSurvive => (
                    "where more must survive a crash".to_owned(),
                    other.promise?.to_string(),
                ),
                When::OtherWorkWillDo => {
                    ("doing other work".to_owned(), told(&other.ratio?.inverse()))
                }
                When::LessIsEnough => {
                    let (ours, theirs) = (other.promise?, self.baseline?.promise()?);
                    let lacks = PromiseDifference::between(ours, theirs)?;
                    let when = format!("where {} is enough", lacking(&lacks));
                    (when, told(&other.ratio?.inverse()))
                }
            };
            let mut facts = vec![why, wording::other_work(&other.work)];
            facts.retain(|fact| !fact.is_empty());
            let facts = facts.join("; ");
            Some((when, format!("{} ({facts})", self.label(&other.cell))))
        });
        let told = grouped(told).into_iter();
        told.map(|(when, cells)| format!("{when}, {}", some(&cells)))
            .collect()
    }

    /// What the lead comes to including the final flush, and who is done sooner then.
    fn flush(&self) -> Option<String> {
        let (flush, choice) = self.found.flush.as_ref().zip(self.chosen)?;
        let factor = flush.ratio.filter(|_| self.found.kind != Kind::Depends);
        let factor = factor.map(|ratio| told(&ratio.inverse()));
        let sooner = flush
            .sooner
            .as_ref()
            .and_then(|id| self.comparison.cell(id));
        let done = sooner.map(|sooner| {
            let [ours, theirs] =
                [sooner, choice].map(|cell| value::maybe(cell.total_ns, value::time));
            format!(
                "{} is done sooner: {ours} against {theirs}",
                quoted(&sooner.cell.label)
            )
        });
        let said: Vec<String> = factor.into_iter().chain(done).collect();
        (!said.is_empty()).then(|| format!("{FLUSH} {}", said.join(", and ")))
    }
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
        use Open::{Alone, ControlTooShort, Failed, NoBaseline, NoChoice, NoRatio, Undecided};
        let plain = [
            NoBaseline,
            Alone,
            Open::Unreliable,
            ControlTooShort,
            NoRatio,
        ];
        let plain = plain.into_iter().chain([Failed, Undecided, NoChoice]);
        let plain = plain.map(|open| format!("{open:?}"));
        let others = ["no rounds", "few rounds", "no cost"].map(str::to_owned);
        for title in plain.chain(others) {
            let (short, helps) = halves(WORDS, &title);
            assert!(!short.is_empty() && !helps.is_empty(), "{title}");
        }
    }
}
