//! Where the user's own data belongs: into one database, into files, or into both by size. Decided from
//! verdicts and intervals only, of the comparisons that [`AdviseSpec`] names.

use crate::estimate::{Estimate, median};
use crate::stopping::ALPHA_PER_LOOK;
use crate::verdict::{bears_out, verdict};
use crate::{Analysis, CellSummary, ComparisonOutcome, RatioEstimate, SpaceRow, Verdict};
use serde::Serialize;
use stowplan_model::{AdviseSpec, Cell, CellId, PerTransaction, WholeSet, built_alike};

/// By how much, in its logarithm, a ratio of reads may be another in another program than those that were
/// measured: of warm reads in several in C and Python over the same values, and of reads after a reboot in those
/// that make another number of them (docs/advise.md).
const PROGRAMS: f64 = 0.14;

/// What is advised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What to do.
    pub choice: Choice,
    /// Bytes of a page of the database that is meant.
    pub page_size: Option<u64>,
    /// Whether reads after a reboot are unknown because only root may have the machine forget what it
    /// has in memory.
    pub boot_needs_root: bool,
    /// How the database stands against files in each respect that was measured.
    pub aspects: Vec<Aspect>,
    /// Small values in a database and larger ones in files, where that was measured.
    pub split: Option<Split>,
    /// What the measured values take on disk.
    pub space: Option<SpaceTaken>,
    /// What work on all values takes, as it was tried before the study.
    pub whole: Option<WholeSet>,
    /// Values that were measured.
    pub measured_values: u64,
    /// Bytes of them.
    pub measured_bytes: u64,
}

/// Where the data belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Choice {
    /// Into one database: in some respect it is faster, in none slower.
    Database,
    /// Into files: in no respect is the database shown to be faster.
    Files,
    /// Values up to `inside` bytes into a database, and larger ones into files.
    Split {
        /// The largest size inside.
        inside: u64,
    },
    /// The database is faster in one respect and slower in another.
    Depends,
    /// Not enough was measured to say anything.
    Open,
}

/// Small values in a database, and larger ones in files.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Split {
    /// The largest size inside, in bytes.
    pub inside: u64,
    /// How it stands against files in each respect that was measured.
    pub aspects: Vec<Aspect>,
    /// What its values take on disk, in bytes.
    pub allocated_bytes: Option<u64>,
}

/// What is done with the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Values are read that are in memory, each by itself, by calls from C.
    Read,
    /// Values are read by a program in Python.
    ReadByPython,
    /// As [`What::Read`], many in one transaction, where that has another verdict, and a better one.
    Together,
    /// Many values are read in one transaction by a program in Python.
    TogetherByPython,
    /// Values are read from storage; names are in memory.
    Cold,
    /// Values are read of which nothing is in memory, not even names.
    Boot,
    /// One value is replaced.
    Replace,
    /// Values are read that are in memory, and replaced, as often as the user says: the figures of both,
    /// weighed by the time that they take in files.
    Mixed,
}

/// A store of another kind against files in one respect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Aspect {
    /// In which.
    pub what: What,
    /// Its cell; of what was weighed, that of the reads.
    pub cell: CellId,
    /// Time of files over its time: above 1 it is faster.
    pub gain: Option<RatioEstimate>,
    /// The gain by corrected time, where that stands beside wall time: what is claimed needs both.
    pub corrected: Option<RatioEstimate>,
    /// The verdict on its time.
    pub verdict: Verdict,
    /// Headline time of an operation in files, in nanoseconds.
    pub files_ns: Option<f64>,
    /// Its headline time of an operation, in nanoseconds.
    pub time_ns: Option<f64>,
}

/// What the measured values take on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SpaceTaken {
    /// Allocated bytes as files.
    pub files: u64,
    /// Allocated bytes in the database.
    pub database: u64,
}

/// The advice that a study on the user's own data asks for.
pub(crate) fn advise(analysis: &Analysis) -> Option<Advice> {
    let asked = analysis.run.plan.study.advise.as_ref()?;
    let aspects = aspects(analysis, asked, Rival::Database);
    let split = cell(analysis, Rival::Split).map(|cell| Split {
        inside: cell.settings.number("inline_limit"),
        aspects: self::aspects(analysis, asked, Rival::Split),
        allocated_bytes: row(analysis, cell).map(|row| row.footprint.allocated_bytes),
    });
    let choice = choose(&aspects, split.as_ref());
    let meant = match choice {
        Choice::Split { .. } => Rival::Split,
        _ => Rival::Database,
    };
    let (measured_values, measured_bytes) = measured(analysis);
    Some(Advice {
        choice,
        page_size: cell(analysis, meant).map(|cell| cell.settings.number("page_size")),
        boot_needs_root: lacks_boot(analysis),
        space: space(analysis),
        aspects,
        split,
        whole: asked.whole,
        measured_values,
        measured_bytes,
    })
}

/// Whether the study asks for reads after a reboot and the plan, which was made by somebody else than root,
/// has none.
fn lacks_boot(analysis: &Analysis) -> bool {
    let plan = &analysis.run.plan;
    let mut asked = plan.study.comparisons.iter();
    let mut planned = plan.comparisons.iter();
    asked.any(|comparison| comparison.id == AdviseSpec::BOOT)
        && !planned.any(|comparison| comparison.id == AdviseSpec::BOOT)
}

/// What is set against files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rival {
    /// Everything in one database, each operation by itself.
    Database,
    /// Everything in one database, with many operations in one transaction.
    Together,
    /// Small values in a database, and larger ones in files.
    Split,
}

impl Rival {
    fn is_of(self, cell: &Cell) -> bool {
        let is_split = cell.settings.get("inline_limit").is_some();
        let is_database = cell.settings.get("page_size").is_some() && !is_split;
        let is_together = cell.workload.per_transaction == PerTransaction::All;
        match self {
            Self::Database => is_database && !is_together,
            Self::Together => is_database && is_together,
            Self::Split => is_split,
        }
    }
}

/// How a store stands against files, in each respect that was to be measured: reads of C, each by itself and, where
/// that is better, many in a transaction, and those of Python; then the others.
fn aspects(analysis: &Analysis, asked: &AdviseSpec, rival: Rival) -> Vec<Aspect> {
    let zone = analysis.run.equivalence.ln_1p();
    let of = |what, id: &str, rival| {
        let found = aspect(what, analysis.comparison(id)?, rival)?;
        Some(as_programs_find(found, zone))
    };
    let mut aspects: Vec<Aspect> = Vec::new();
    if let Some(read) = of(What::Read, AdviseSpec::READ, rival) {
        let together = of(What::Together, AdviseSpec::READ, Rival::Together);
        let is_asked = |found: &Aspect| rival == Rival::Database && is_better(found, &read);
        let python = by_python(asked, rival, &read, zone);
        let together = together.filter(is_asked);
        aspects.push(read);
        aspects.extend(together.into_iter().chain(python));
    }
    let others = [
        of(What::Cold, AdviseSpec::COLD, rival),
        of(What::Boot, AdviseSpec::BOOT, rival),
        of(What::Replace, AdviseSpec::REPLACE, rival),
    ];
    aspects.extend(others.into_iter().flatten());
    aspects.extend(mixed(&aspects, asked.overwrites, zone));
    aspects
}

/// The reads of a program in Python, where the same reads from C are known.
fn by_python(asked: &AdviseSpec, rival: Rival, read: &Aspect, zone: f64) -> Vec<Aspect> {
    let Some(reads) = &asked.python else {
        return Vec::new();
    };
    let aspect = |what, ours: &[f64]| {
        let pairs = ours.iter().zip(&reads.files);
        let differences: Vec<f64> = pairs.map(|(ours, files)| (ours / files).ln()).collect();
        let estimate = Estimate::hodges_lehmann(&differences, ALPHA_PER_LOOK)?;
        let (low, high) = estimate.widened(PROGRAMS);
        Some(Aspect {
            what,
            cell: read.cell.clone(),
            gain: Some(estimate.to_ratio(PROGRAMS).inverse()),
            corrected: None,
            verdict: verdict(low, high, zone),
            files_ns: median(reads.files.clone()),
            time_ns: median(ours.to_vec()),
        })
    };
    if rival == Rival::Split {
        return Vec::from_iter(aspect(What::ReadByPython, &reads.split));
    }
    let Some(alone) = aspect(What::ReadByPython, &reads.database) else {
        return Vec::new();
    };
    let together = aspect(What::TogetherByPython, &reads.together);
    let together = together.filter(|together| is_better(together, &alone));
    [alone].into_iter().chain(together).collect()
}

/// A read with the interval of what other programs find: warm, those that read in other ways, into other buffers;
/// after a reboot, those that read more values or fewer, for each file's inode and name brings in those of others.
fn as_programs_find(mut aspect: Aspect, zone: f64) -> Aspect {
    let differs = matches!(aspect.what, What::Read | What::Together | What::Boot);
    if let Some(gain) = aspect.gain.as_mut().filter(|_| differs) {
        gain.low *= (-PROGRAMS).exp();
        gain.high *= PROGRAMS.exp();
        let claims = matches!(
            aspect.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::SmallDifference
        );
        if claims {
            aspect.verdict = verdict(-gain.high.ln(), -gain.low.ln(), zone);
        }
    }
    aspect
}

/// Whether many reads in one transaction have a better verdict than each by itself.
fn is_better(together: &Aspect, single: &Aspect) -> bool {
    let rank = |verdict| match verdict {
        Verdict::Slower => Some(0),
        Verdict::Equivalent | Verdict::SmallDifference | Verdict::Unresolved => Some(1),
        Verdict::Faster => Some(2),
        Verdict::Unreliable | Verdict::NoData => None,
    };
    rank(single.verdict).is_some_and(|single| rank(together.verdict) > Some(single))
}

/// What was found in one respect; one that was to be measured and was not is there without a figure.
fn aspect(what: What, comparison: &ComparisonOutcome, rival: Rival) -> Option<Aspect> {
    let cell = comparison.rivals().find(|cell| rival.is_of(&cell.cell))?;
    let contrast = comparison.to_baseline(cell);
    let time = |cell: &CellSummary| cell.time_ns.map(|time| time.estimate);
    let estimate = contrast.and_then(|contrast| contrast.estimate);
    let corrected = contrast.and_then(|contrast| contrast.corrected);
    Some(Aspect {
        what,
        cell: cell.cell.id.clone(),
        gain: estimate.map(|estimate| estimate.inverse()),
        corrected: corrected.map(|corrected| corrected.estimate.inverse()),
        verdict: contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
        files_ns: comparison.baseline().and_then(time),
        time_ns: time(cell),
    })
}

/// Reads and replacements together, of which a share (0 to 1) is replacements. The ratio of the times is
/// the mean of both ratios, weighed by the times that they take in files; its interval goes from the mean of
/// both lower ends to that of both upper ones, so it is not narrower than it may be. Where corrected time
/// stands beside one of them, the same mean of corrected ratios has to bear out what is claimed (R8).
fn mixed(aspects: &[Aspect], overwrites: Option<f64>, zone: f64) -> Option<Aspect> {
    let share = overwrites.filter(|share| 0.0 < *share && *share < 1.0)?;
    let of = |what| aspects.iter().find(|aspect| aspect.what == what);
    let (read, replace) = (of(What::Read)?, of(What::Replace)?);
    let weights = [read.files_ns? * (1.0 - share), replace.files_ns? * share];
    let weighed = |gains: [RatioEstimate; 2]| weighed_mean(weights, gains.map(|g| g.inverse()));
    let gains = [read.gain?, replace.gain?];
    let ratio = weighed(gains);
    let corrected = [read.corrected, replace.corrected];
    let is_beside = corrected.iter().any(Option::is_some);
    let corrected = [0, 1].map(|at| corrected[at].unwrap_or(gains[at]));
    let corrected = is_beside.then(|| weighed(corrected));
    let by_wall = verdict(ratio.low.ln(), ratio.high.ln(), zone);
    let agrees = corrected.is_none_or(|other| bears_out(by_wall, &ratio, &other, zone));
    let unreliable = [read, replace].map(|aspect| aspect.verdict == Verdict::Unreliable);
    Some(Aspect {
        what: What::Mixed,
        cell: read.cell.clone(),
        gain: Some(ratio.inverse()),
        corrected: corrected.map(|corrected| corrected.inverse()),
        verdict: match agrees {
            _ if unreliable.contains(&true) => Verdict::Unreliable,
            true => by_wall,
            false => Verdict::Unresolved,
        },
        files_ns: Some(weights[0] + weights[1]),
        time_ns: Some(read.time_ns? * (1.0 - share) + replace.time_ns? * share),
    })
}

/// The mean of two ratios, and of the ends of their intervals.
fn weighed_mean(weights: [f64; 2], ratios: [RatioEstimate; 2]) -> RatioEstimate {
    let mean = |of: fn(&RatioEstimate) -> f64| {
        let weighed = weights.iter().zip(&ratios);
        let weighed = weighed.map(|(weight, ratio)| weight * of(ratio));
        weighed.sum::<f64>() / (weights[0] + weights[1])
    };
    RatioEstimate {
        ratio: mean(|ratio| ratio.ratio),
        low: mean(|ratio| ratio.low),
        high: mean(|ratio| ratio.high),
        rounds: ratios[0].rounds.min(ratios[1].rounds),
    }
}

/// What decides. Where reads and replacements are weighed, they do not decide each by itself; that many reads
/// in one transaction are faster is how to read, and no ground to move.
pub fn deciding(aspects: &[Aspect]) -> impl Iterator<Item = &Aspect> {
    let weighed = aspects.iter().any(|aspect| aspect.what == What::Mixed);
    aspects.iter().filter(move |aspect| match aspect.what {
        What::Together | What::TogetherByPython => false,
        What::Read | What::ReadByPython | What::Replace => !weighed,
        What::Cold | What::Boot | What::Mixed => true,
    })
}

fn choose(database: &[Aspect], split: Option<&Split>) -> Choice {
    let choice = alone(database);
    let split = split.filter(|split| alone(&split.aspects) == Choice::Database);
    // What the database was measured for decides on a split as well, so it has to be known of that.
    let is_known = |split: &&Split| {
        let of_split = |wanted: &Aspect| deciding(&split.aspects).any(|a| a.what == wanted.what);
        deciding(database).all(of_split)
    };
    let Some(split) = split.filter(is_known) else {
        return choice;
    };
    let better = match choice {
        // Two parts instead of one have to be worth it.
        Choice::Database => is_ahead(&split.aspects, database),
        Choice::Files | Choice::Depends => true,
        Choice::Split { .. } | Choice::Open => false,
    };
    match better {
        true => Choice::Split {
            inside: split.inside,
        },
        false => choice,
    }
}

/// Whether one is faster than the other in some respect that decides, and slower in none, by intervals that
/// do not overlap.
fn is_ahead(of: &[Aspect], other: &[Aspect]) -> bool {
    let gains = |what| {
        let find = |aspects: &[Aspect]| aspects.iter().find(|aspect| aspect.what == what)?.gain;
        find(of).zip(find(other))
    };
    let pairs = || deciding(of).filter_map(|aspect| gains(aspect.what));
    pairs().any(|(of, other)| of.low > other.high)
        && pairs().all(|(of, other)| of.high >= other.low)
}

/// What is to be said of a store against files, by itself.
fn alone(aspects: &[Aspect]) -> Choice {
    let verdicts: Vec<Verdict> = deciding(aspects).map(|aspect| aspect.verdict).collect();
    let is = |verdict: Verdict| verdicts.contains(&verdict);
    // That the database is not faster by more than matters.
    let settled = |verdict: &Verdict| {
        matches!(
            verdict,
            Verdict::Slower | Verdict::Equivalent | Verdict::SmallDifference
        )
    };
    let claims = is(Verdict::Faster) || verdicts.iter().any(settled);
    // What was to be measured and could not be is no ground to advise on.
    let lacks = is(Verdict::NoData) || is(Verdict::Unreliable);
    match (is(Verdict::Faster), is(Verdict::Slower)) {
        _ if lacks || !claims => Choice::Open,
        (true, true) => Choice::Depends,
        (true, false) => Choice::Database,
        // Nothing is shown to be gained by moving, and something to be lost.
        (false, true) => Choice::Files,
        (false, false) if verdicts.iter().all(settled) => Choice::Files,
        (false, false) => Choice::Open,
    }
}

/// The cells of the first of the comparisons of the user's values.
fn cells(analysis: &Analysis) -> &[Cell] {
    let comparisons = &analysis.run.plan.comparisons;
    let of = |id: &str| comparisons.iter().find(|found| found.id == id);
    let found = of(AdviseSpec::READ).or_else(|| of(AdviseSpec::REPLACE));
    found.map_or(&[], |comparison| &comparison.cells)
}

/// What the store of a cell takes.
fn row<'a>(analysis: &'a Analysis, cell: &Cell) -> Option<&'a SpaceRow> {
    let alike = built_alike(&cell.instance);
    analysis.space.iter().find(|row| row.instance == alike)
}

/// The cell of a rival of files.
fn cell(analysis: &Analysis, rival: Rival) -> Option<&Cell> {
    cells(analysis).iter().find(|cell| rival.is_of(cell))
}

fn space(analysis: &Analysis) -> Option<SpaceTaken> {
    let taken = |cell: &Cell| Some(row(analysis, cell)?.footprint.allocated_bytes);
    let files = cells(analysis).iter();
    let mut files = files.filter(|cell| cell.settings.get("page_size").is_none());
    Some(SpaceTaken {
        files: taken(files.next()?)?,
        database: taken(cell(analysis, Rival::Database)?)?,
    })
}

/// How many of the user's values were measured, and their bytes.
fn measured(analysis: &Analysis) -> (u64, u64) {
    let Some(cell) = cells(analysis).first() else {
        return (0, 0);
    };
    let dataset = analysis.run.plan.datasets.get(&cell.dataset);
    (
        dataset.map_or(0, |dataset| dataset.count),
        row(analysis, cell).map_or(0, |row| row.value_bytes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use Verdict::{Equivalent, Faster, NoData, Slower, SmallDifference, Unreliable, Unresolved};

    /// With an interval of 5% to each side.
    fn gain(ratio: f64) -> RatioEstimate {
        RatioEstimate {
            ratio,
            low: ratio * 0.95,
            high: ratio * 1.05,
            rounds: 10,
        }
    }

    /// An operation that takes so long in files, and is faster by this gain.
    fn aspect(what: What, verdict: Verdict, files_ns: f64, ratio: f64) -> Aspect {
        Aspect {
            what,
            cell: CellId("read/8192".to_owned()),
            gain: Some(gain(ratio)),
            corrected: None,
            verdict,
            files_ns: Some(files_ns),
            time_ns: Some(files_ns / ratio),
        }
    }

    fn read(verdict: Verdict, ratio: f64) -> Aspect {
        aspect(What::Read, verdict, 10_000.0, ratio)
    }

    fn replace(verdict: Verdict, ratio: f64) -> Aspect {
        aspect(What::Replace, verdict, 100_000.0, ratio)
    }

    #[test]
    fn what_is_faster_somewhere_and_slower_nowhere_is_chosen_and_nothing_without_a_claim() {
        for (verdicts, choice) in [
            ([Faster, Equivalent, Unresolved], Choice::Database),
            ([Faster, Slower, Faster], Choice::Depends),
            ([Slower, Equivalent, Unresolved], Choice::Files),
            ([Equivalent, Equivalent, SmallDifference], Choice::Files),
            ([Equivalent, Unresolved, Equivalent], Choice::Open),
            ([Unresolved, Unreliable, NoData], Choice::Open),
            ([NoData, Slower, NoData], Choice::Open),
            ([Faster, NoData, Faster], Choice::Open),
            ([Faster, Slower, NoData], Choice::Open),
            ([NoData, Slower, Faster], Choice::Open),
        ] {
            // That one transaction is faster decides nothing.
            let whats = [What::Read, What::Cold, What::Replace, What::Together];
            let all = whats.into_iter().zip(verdicts.into_iter().chain([Faster]));
            let all: Vec<_> = all
                .map(|(what, verdict)| aspect(what, verdict, 1.0, 1.0))
                .collect();
            assert_eq!(choose(&all, None), choice, "{verdicts:?}");
        }
        assert_eq!(choose(&[], None), Choice::Open);
    }

    const SPLIT: Choice = Choice::Split { inside: 65_536 };

    /// What is chosen where a split can be as well.
    fn chosen(database: &[Aspect], split: &[Aspect]) -> Choice {
        let split = Split {
            inside: 65_536,
            aspects: split.to_vec(),
            allocated_bytes: None,
        };
        choose(database, Some(&split))
    }

    #[test]
    fn a_split_is_chosen_where_it_is_shown_to_be_better_than_one_database() {
        let pair = |gains: [f64; 2]| {
            let verdict = |gain: f64| match gain {
                1.0 => Equivalent,
                gain if gain < 1.0 => Slower,
                _ => Faster,
            };
            let [read, cold] = gains;
            [
                aspect(What::Read, verdict(read), 1.0, read),
                aspect(What::Cold, verdict(cold), 1.0, cold),
            ]
        };
        for (database, split, choice) in [
            ([1.5, 1.2], [2.0, 1.2], SPLIT),
            ([1.5, 1.2], [1.52, 1.22], Choice::Database),
            ([1.5, 1.2], [2.0, 1.0], Choice::Database),
            ([1.5, 1.2], [2.0, 0.5], Choice::Database),
            ([1.5, 0.5], [1.4, 1.0], SPLIT),
            ([1.5, 0.5], [1.4, 0.8], Choice::Depends),
            ([0.8, 0.8], [1.0, 1.0], Choice::Files),
            ([0.8, 0.8], [1.2, 1.0], SPLIT),
        ] {
            assert_eq!(chosen(&pair(database), &pair(split)), choice, "{split:?}");
        }
    }

    #[test]
    fn reads_and_replacements_decide_together_where_their_shares_are_given() {
        let parts = [read(Faster, 2.0), replace(Slower, 0.5)];
        for (share, choice) in [
            (0.01, Choice::Database),
            (0.5, Choice::Files),
            (0.0, Choice::Depends),
        ] {
            let both = parts
                .iter()
                .cloned()
                .chain(mixed(&parts, Some(share), 0.05));
            assert_eq!(choose(&both.collect::<Vec<_>>(), None), choice, "{share}");
        }
        // 99 reads of 10 µs and a replacement of 100 µs: 595 + 200 µs of 1,090.
        let rarely = mixed(&parts, Some(0.01), 0.05).unwrap();
        let (gain, expected) = (rarely.gain.unwrap(), 1_090.0 / (99.0 * 5.0 + 200.0));
        assert_eq!(rarely.what, What::Mixed);
        assert!((gain.ratio - expected).abs() < 1e-9, "{gain:?}");
        assert!(gain.low < expected * 0.96 && gain.high > expected * 1.04);
        // It has to hold by corrected time as well, where that stands beside wall time.
        for (corrected, own, verdict) in [
            (None, Faster, Faster),
            (Some(2.0), Faster, Faster),
            (Some(0.4), Unresolved, Unresolved),
        ] {
            let mut replace = aspect(What::Replace, own, 10_000.0, 2.0);
            replace.corrected = corrected.map(self::gain);
            let both = mixed(&[read(Equivalent, 1.0), replace], Some(0.5), 0.05).unwrap();
            assert_eq!(both.verdict, verdict, "{corrected:?}: {both:?}");
        }
    }
}
