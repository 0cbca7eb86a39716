//! What the analysis recommends, in words. Nothing is decided here.

use crate::value;
use crate::value::NO_BREAK;
use crate::wording::{self, list, quoted};
use stowplan_analysis::{
    Alternative, Analysis, CellSummary, ComparisonOutcome, Kind, LOOKS, NoFastest, Open,
    PromiseDifference, Promises, RatioEstimate, Recommendation, Unbeaten, Verdict, When,
    WorkDifference, same_work, work_differences,
};
use stowplan_model::{Cell, CellId, Statistic};

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

/// `2.10 times as fast`, for a ratio of times below 1 (and, inverted, for any other).
pub(crate) fn times_as_fast(ratio: &RatioEstimate) -> String {
    format!("{} times as fast", value::ratio(1.0 / ratio.ratio))
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

/// The labels, or the first of them and how many there are besides.
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
            return match open {
                Open::NoBaseline | Open::Failed => "failed".to_owned(),
                Open::Unreliable | Open::ControlTooShort => "not decided: too noisy".to_owned(),
                Open::TooFewRounds { rounds: 0, .. } => "not measured".to_owned(),
                Open::TooFewRounds { rounds, needed } => {
                    format!("not decided: {rounds} of {needed} rounds")
                }
                Open::NoRatio | Open::Alone => "not decided".to_owned(),
                Open::Undecided => match self.bound() {
                    Some(bound) => format!("no difference above {bound}"),
                    None => "not decided".to_owned(),
                },
                Open::NoChoice => match self.dearest() {
                    Some((_, circumstance)) => format!("dearest {circumstance}"),
                    None => "no difference shown".to_owned(),
                },
            };
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

    /// What the circumstances cost that cost most, of those that are shown to cost anything.
    fn cost_of_circumstances(&self) -> String {
        let of = match self.comparison.measure {
            Statistic::Time => "an operation".to_owned(),
            measure => format!("the {}", measure.in_words()),
        };
        self.dearest().map_or_else(
            || format!("what its cells differ in was not shown to make {of} slower"),
            |(ratio, circumstance)| {
                format!(
                    "{circumstance}, {of} takes {} times as long {}",
                    value::ratio(ratio.ratio),
                    ends(&ratio)
                )
            },
        )
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

    /// Why what is chosen is not called the fastest.
    fn not_the_fastest(&self) -> Option<String> {
        let because = match self.found.no_fastest? {
            NoFastest::Promises => "not all promise the same",
            NoFastest::NotEachBeaten => {
                return Some("it is not clearly ahead of each other one".to_owned());
            }
            NoFastest::OtherWork if self.chosen().is_some_and(|c| self.does_other_work(c)) => {
                "it does other work"
            }
            NoFastest::OtherWork => "not all do the same work",
        };
        Some(format!("it is not called the fastest, because {because}"))
    }

    /// Whether a cell does other work than the baseline.
    fn does_other_work(&self, cell: &CellSummary) -> bool {
        self.baseline
            .is_some_and(|baseline| !same_work(cell, baseline))
    }

    /// What that means for the user, in a sentence.
    pub(crate) fn in_a_sentence(&self) -> String {
        let claim_nothing = "Claim nothing from this comparison;";
        match &self.found.open {
            Some(Open::NoBaseline) => return "See the failures.".to_owned(),
            Some(Open::Unreliable) => {
                return format!("{claim_nothing} run it again on a quieter machine.");
            }
            Some(Open::ControlTooShort) => {
                return format!(
                    "{claim_nothing} its control has too few rounds: go on with it, or run it again."
                );
            }
            _ => {}
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
            (Some(open), _) => vec![self.left_open(open)],
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

    /// That nothing can be said, and why or what would help.
    fn left_open(&self, open: &Open) -> String {
        let why = match (open, self.bound()) {
            (Open::NoChoice, _) => return self.cost_of_circumstances(),
            (Open::Undecided, Some(bound)) => {
                return format!(
                    "no difference above {bound} was found; smaller ones take a quieter machine"
                );
            }
            (Open::Undecided | Open::NoRatio, _) => {
                "measure again, with more rounds or on a quieter machine"
            }
            (Open::Alone, _) => "there is nothing to compare it with",
            (Open::TooFewRounds { rounds, needed }, _) => {
                &format!("too few rounds ({rounds} of {needed}) to compare; go on with it")
            }
            _ => "what was to be compared failed",
        };
        format!("nothing was decided: {why}")
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
        if !self.found.may_change() {
            return format!("speed is no reason to leave {base}");
        }
        let may_be = self.found.unbeaten.iter().filter(|cell| cell.may_be_faster);
        let (small, rest): (Vec<&Unbeaten>, Vec<&Unbeaten>) =
            may_be.partition(|cell| cell.verdict == Verdict::SmallDifference);
        let gains = small
            .iter()
            .filter_map(|cell| Some((cell, cell.possible_gain?)));
        let gain = gains
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(cell, gain)| {
                let (gain, label) = (value::percent(gain), self.label(&cell.cell));
                format!("a gain of up to {gain} by {label} is not ruled out")
            });
        let rest = (!rest.is_empty()).then(|| "some cells have no verdict yet".to_owned());
        let why: Vec<String> = gain.into_iter().chain(rest).collect();
        format!(
            "nothing measured so far is a reason to leave {base}; {}",
            list(&why)
        )
    }

    /// `A answers sooner, B is done sooner`, where it depends on that.
    pub(crate) fn both(&self) -> String {
        let sooner = self.found.flush.as_ref().and_then(|f| f.sooner.as_ref());
        let sooner = sooner.map_or_else(String::new, |sooner| self.label(sooner));
        format!("{} answers sooner, {sooner} is done sooner", self.choice)
    }

    /// What else to choose, and when.
    fn alternatives(&self) -> Vec<String> {
        let all = self.found.alternatives.iter();
        let of = |when: When| all.clone().filter(move |other| other.when == when);
        let other_work = of(When::OtherWorkWillDo).filter_map(|other| {
            let factor = told(&other.ratio?.inverse());
            let label = self.label(&other.cell);
            Some(format!("{}: {label}, {factor}", other_work(&other.work)))
        });
        let safer = of(When::MoreMustSurvive).filter_map(|other| {
            let facts = [Some(other.promise?.to_string()), self.work_of(other)];
            let facts: Vec<String> = facts.into_iter().flatten().collect();
            Some(format!(
                "{} ({})",
                self.label(&other.cell),
                facts.join("; ")
            ))
        });
        let safer: Vec<String> = safer.collect();
        let safer = (!safer.is_empty())
            .then(|| format!("where more must survive a crash, {}", some(&safer)));
        let weaker = of(When::LessIsEnough).filter_map(|other| {
            let lacks = PromiseDifference::between(other.promise?, self.baseline?.promise()?)?;
            let faster = format!("{} as {}", times_as_fast(&other.ratio?), self.base);
            let facts = [
                Some(self.label(&other.cell)),
                Some(faster),
                self.work_of(other),
            ];
            let facts: Vec<String> = facts.into_iter().flatten().collect();
            Some(format!(
                "where {} is enough, {}",
                lacking(&lacks),
                facts.join(", ")
            ))
        });
        other_work.chain(safer).chain(weaker).collect()
    }

    /// `doing other work than B: 4 threads against one thread`: that an alternative does not do what
    /// the baseline or the choice does.
    fn work_of(&self, other: &Alternative) -> Option<String> {
        let (than, work) = self.other_work(other)?;
        let work = wording::other_work(&work);
        Some(format!("doing other work than {}: {work}", name(than)))
    }

    /// What an alternative does otherwise than the baseline, or else than the choice.
    fn other_work(&self, other: &Alternative) -> Option<(&'a CellSummary, Vec<WorkDifference>)> {
        let cell = self.comparison.cell(&other.cell)?;
        let beside = [self.baseline, self.chosen()];
        let mut beside = beside.into_iter().flatten();
        beside.find_map(|than| {
            let work = work_differences(cell, than);
            (!work.is_empty()).then_some((than, work))
        })
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

/// `with more per transaction and more threads`
fn other_work(differences: &[WorkDifference]) -> String {
    let more = differences.iter().filter(|difference| difference.more);
    let more = more.map(|difference| match difference.what {
        WorkDifference::THREADS => "more threads",
        _ => "more per transaction",
    });
    let more: Vec<String> = more.map(str::to_owned).collect();
    if more.is_empty() {
        return "doing other work".to_owned();
    }
    format!("with {}", list(&more))
}
