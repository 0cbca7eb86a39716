//! Where the user's own data belongs: into one database, into files, or into both by size. Decided from
//! verdicts and intervals only, of the comparisons that [`AdviseSpec`] names.

use crate::stopping::verdict;
use crate::{Analysis, CellSummary, ComparisonOutcome, RatioEstimate, SpaceRow, Verdict};
use serde::Serialize;
use stowplan_model::{AdviseSpec, Cell, CellId, WholeSet, built_alike};

/// What is advised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What to do.
    pub choice: Choice,
    /// Bytes of a page of the database that is meant.
    pub page_size: Option<u64>,
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
    /// The largest size inside, in bytes: of those that are not shown to be slower to read than another
    /// one, the middle one.
    pub inside: u64,
    /// The least of those sizes.
    pub from: u64,
    /// The greatest of them.
    pub to: u64,
    /// How it stands against files in each respect that was measured.
    pub aspects: Vec<Aspect>,
    /// What its values take on disk, in bytes.
    pub allocated_bytes: Option<u64>,
}

/// What is done with the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum What {
    /// Values are read that are in memory.
    Read,
    /// Values are read from storage.
    Cold,
    /// One value is replaced.
    Replace,
    /// Values are read that are in memory, and replaced, as often as the user says: the figures of both,
    /// weighed by the time that they take in files.
    Mixed,
    /// All values are read, one after the other.
    All,
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
    let asked_of = analysis.run.plan.study.advise.as_ref()?;
    // Where reads are left out, replacements alone say which database is meant.
    let first = of(analysis, AdviseSpec::READ).or_else(|| of(analysis, AdviseSpec::REPLACE));
    let page_size = first
        .and_then(|comparison| best(comparison, is_database))
        .map(|cell| cell.cell.settings.number("page_size"));
    let aspects = aspects(analysis, asked_of, is_database, page_size);
    let split = split(analysis, asked_of, first);
    let choice = choose(&aspects, split.as_ref());
    let (measured_values, measured_bytes) = measured(analysis);
    Some(Advice {
        choice,
        page_size: match choice {
            Choice::Split { .. } => page_of_split(analysis),
            _ => page_size,
        },
        space: space(analysis, page_size),
        aspects,
        split,
        whole: asked_of.whole,
        measured_values,
        measured_bytes,
    })
}

/// The pages with which splits were measured.
fn page_of_split(analysis: &Analysis) -> Option<u64> {
    let cell = cells(analysis).iter().find(|cell| is_split(cell))?;
    Some(cell.settings.number("page_size"))
}

fn of<'a>(analysis: &'a Analysis, id: &str) -> Option<&'a ComparisonOutcome> {
    analysis.comparisons.iter().find(|found| found.id == id)
}

/// Whether everything of a cell lies in one database.
fn is_database(cell: &Cell) -> bool {
    cell.settings.get("page_size").is_some() && !is_split(cell)
}

/// Whether small values of a cell lie in a database, and larger ones in files.
fn is_split(cell: &Cell) -> bool {
    cell.settings.get("inline_limit").is_some()
}

/// The cells of one kind that are not shown to be slower than another of them, by intervals that do not
/// overlap.
fn unbeaten(comparison: &ComparisonOutcome, kind: fn(&Cell) -> bool) -> Vec<&CellSummary> {
    let cells = || {
        let of_kind = comparison.rivals().filter(move |cell| kind(&cell.cell));
        of_kind.filter_map(|cell| {
            let estimate = comparison.to_baseline(cell)?.estimate?;
            Some((cell, estimate))
        })
    };
    let Some(least) = cells().map(|(_, ratio)| ratio.high).reduce(f64::min) else {
        return Vec::new();
    };
    let unbeaten = cells().filter(|(_, ratio)| ratio.low <= least);
    unbeaten.map(|(cell, _)| cell).collect()
}

/// The first of them.
fn best(comparison: &ComparisonOutcome, kind: fn(&Cell) -> bool) -> Option<&CellSummary> {
    unbeaten(comparison, kind).first().copied()
}

/// How the stores of one kind stand against files, in each respect that was to be measured: the one with
/// pages of `page` bytes, where it was measured.
fn aspects(
    analysis: &Analysis,
    asked: &AdviseSpec,
    kind: fn(&Cell) -> bool,
    page: Option<u64>,
) -> Vec<Aspect> {
    let found = [
        (What::Read, AdviseSpec::READ),
        (What::Cold, AdviseSpec::COLD),
        (What::Replace, AdviseSpec::REPLACE),
        (What::All, AdviseSpec::ALL),
    ];
    let found = found
        .into_iter()
        .filter_map(|(what, id)| aspect(what, of(analysis, id)?, kind, page));
    let mut aspects: Vec<Aspect> = found.collect();
    let zone = analysis.run.equivalence.ln_1p();
    aspects.extend(mixed(&aspects, asked.overwrites, zone));
    aspects
}

/// What was found in one respect; one that was to be measured and was not is there without a figure.
fn aspect(
    what: What,
    comparison: &ComparisonOutcome,
    kind: fn(&Cell) -> bool,
    page: Option<u64>,
) -> Option<Aspect> {
    let of_kind = || comparison.rivals().filter(|cell| kind(&cell.cell));
    let others = |cell: &&CellSummary| comparison.to_baseline(cell).is_some();
    let advised = |cell: &&CellSummary| {
        let found = comparison.to_baseline(cell);
        page == Some(cell.cell.settings.number("page_size"))
            && found.is_some_and(|found| found.estimate.is_some())
    };
    let cell = of_kind().find(advised).or_else(|| best(comparison, kind));
    let cell = cell.or_else(|| of_kind().find(others));
    let cell = cell.or_else(|| of_kind().last())?;
    let contrast = comparison.to_baseline(cell);
    let time = |cell: &CellSummary| cell.time_ns.map(|time| time.estimate);
    let estimate = contrast.and_then(|contrast| contrast.estimate);
    Some(Aspect {
        what,
        cell: cell.cell.id.clone(),
        gain: estimate.map(|estimate| estimate.inverse()),
        verdict: contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
        files_ns: comparison.baseline().and_then(time),
        time_ns: time(cell),
    })
}

/// Reads and replacements together, of which a share (0 to 1) is replacements. The ratio of the times is
/// the mean of both ratios, weighed by the times that they take in files; its interval goes from the mean of
/// both lower ends to that of both upper ones, so it is not narrower than it may be.
fn mixed(aspects: &[Aspect], overwrites: Option<f64>, zone: f64) -> Option<Aspect> {
    let share = overwrites.filter(|share| 0.0 < *share && *share < 1.0)?;
    let of = |what| aspects.iter().find(|aspect| aspect.what == what);
    let (read, replace) = (of(What::Read)?, of(What::Replace)?);
    let unreliable = |aspect: &Aspect| aspect.verdict == Verdict::Unreliable;
    let times = [
        (read.files_ns? * (1.0 - share), read.gain?.inverse()),
        (replace.files_ns? * share, replace.gain?.inverse()),
    ];
    let files_ns = times[0].0 + times[1].0;
    let mean = |of: fn(&RatioEstimate) -> f64| {
        let weighed = times.iter().map(|(time, ratio)| time * of(ratio));
        weighed.sum::<f64>() / files_ns
    };
    let ratio = RatioEstimate {
        ratio: mean(|ratio| ratio.ratio),
        raw_low: mean(|ratio| ratio.raw_low),
        raw_high: mean(|ratio| ratio.raw_high),
        low: mean(|ratio| ratio.low),
        high: mean(|ratio| ratio.high),
        rounds: times[0].1.rounds.min(times[1].1.rounds),
    };
    Some(Aspect {
        what: What::Mixed,
        cell: read.cell.clone(),
        gain: Some(ratio.inverse()),
        verdict: match unreliable(read) || unreliable(replace) {
            true => Verdict::Unreliable,
            false => verdict(ratio.low.ln(), ratio.high.ln(), zone),
        },
        files_ns: Some(files_ns),
        time_ns: Some(read.time_ns? * (1.0 - share) + replace.time_ns? * share),
    })
}

/// What was found of splits by size.
fn split(
    analysis: &Analysis,
    asked: &AdviseSpec,
    first: Option<&ComparisonOutcome>,
) -> Option<Split> {
    let limit = |cell: &CellSummary| cell.cell.settings.number("inline_limit");
    let unbeaten = unbeaten(first?, is_split);
    let mut limits: Vec<u64> = unbeaten.iter().map(|cell| limit(cell)).collect();
    limits.sort_unstable();
    let inside = *limits.get(limits.len() / 2)?;
    let cells = cells(analysis).iter();
    let mut alike = cells.filter(|cell| cell.settings.number("inline_limit") == inside);
    Some(Split {
        inside,
        from: *limits.first()?,
        to: *limits.last()?,
        aspects: aspects(analysis, asked, is_split, None),
        allocated_bytes: alike
            .find_map(|cell| row(analysis, cell))
            .map(|row| row.footprint.allocated_bytes),
    })
}

/// What decides. Reading all values is rarely what a place is chosen for: it is told, and decides nothing.
/// Where reads and replacements are weighed, they do not decide each by itself.
fn deciding(aspects: &[Aspect]) -> impl Iterator<Item = &Aspect> {
    let weighed = aspects.iter().any(|aspect| aspect.what == What::Mixed);
    aspects.iter().filter(move |aspect| match aspect.what {
        What::All => false,
        What::Read | What::Replace => !weighed,
        What::Cold | What::Mixed => true,
    })
}

fn choose(database: &[Aspect], split: Option<&Split>) -> Choice {
    let choice = alone(database);
    let Some(split) = split.filter(|split| alone(&split.aspects) == Choice::Database) else {
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
    let is = |verdict: Verdict| deciding(aspects).any(|aspect| aspect.verdict == verdict);
    let claims = deciding(aspects).any(|aspect| {
        matches!(
            aspect.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::Equivalent | Verdict::SmallDifference
        )
    });
    // What was to be measured and could not be is no ground to advise on.
    let lacks = is(Verdict::NoData) || is(Verdict::Unreliable);
    match (is(Verdict::Faster), is(Verdict::Slower)) {
        (true, true) => Choice::Depends,
        _ if lacks || !claims => Choice::Open,
        (true, false) => Choice::Database,
        // Nothing is shown to be gained by moving, and something to be lost.
        (false, true) => Choice::Files,
        (false, false) if deciding(aspects).all(|aspect| is_settled(aspect.verdict)) => {
            Choice::Files
        }
        (false, false) => Choice::Open,
    }
}

/// Whether a verdict says that the database is not faster by more than matters.
fn is_settled(verdict: Verdict) -> bool {
    matches!(
        verdict,
        Verdict::Slower | Verdict::Equivalent | Verdict::SmallDifference
    )
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

fn space(analysis: &Analysis, page_size: Option<u64>) -> Option<SpaceTaken> {
    let taken = |wanted: &dyn Fn(&Cell) -> bool| {
        let cell = cells(analysis).iter().find(|cell| wanted(cell))?;
        Some(row(analysis, cell)?.footprint.allocated_bytes)
    };
    Some(SpaceTaken {
        files: taken(&|cell| cell.settings.get("page_size").is_none())?,
        database: taken(&|cell| {
            is_database(cell) && Some(cell.settings.number("page_size")) == page_size
        })?,
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

    fn aspect(what: What, verdict: Verdict) -> Aspect {
        Aspect {
            what,
            cell: CellId("read/8192".to_owned()),
            gain: None,
            verdict,
            files_ns: None,
            time_ns: None,
        }
    }

    fn aspects(verdicts: [Verdict; 3]) -> [Aspect; 4] {
        let [read, cold, replace] = verdicts;
        [
            aspect(What::Read, read),
            aspect(What::Cold, cold),
            aspect(What::Replace, replace),
            aspect(What::All, Verdict::Faster),
        ]
    }

    #[test]
    fn what_is_faster_somewhere_and_slower_nowhere_is_chosen_and_nothing_without_a_claim() {
        use Verdict::{
            Equivalent, Faster, NoData, Slower, SmallDifference, Unreliable, Unresolved,
        };
        for (verdicts, choice) in [
            ([Faster, Equivalent, Unresolved], Choice::Database),
            ([Faster, Slower, Faster], Choice::Depends),
            ([Slower, Equivalent, Unresolved], Choice::Files),
            ([Equivalent, Equivalent, SmallDifference], Choice::Files),
            ([Equivalent, Unresolved, Equivalent], Choice::Open),
            ([Unresolved, Unreliable, NoData], Choice::Open),
            ([NoData, Slower, NoData], Choice::Open),
            ([Faster, NoData, Faster], Choice::Open),
            ([Faster, Slower, NoData], Choice::Depends),
        ] {
            assert_eq!(choose(&aspects(verdicts), None), choice, "{verdicts:?}");
        }
        assert_eq!(choose(&[], None), Choice::Open);
    }

    /// The gain of an interval of 5% to each side.
    fn gaining(aspect: Aspect, gain: f64) -> Aspect {
        let gain = RatioEstimate {
            ratio: gain,
            raw_low: gain * 0.97,
            raw_high: gain * 1.03,
            low: gain * 0.95,
            high: gain * 1.05,
            rounds: 10,
        };
        Aspect {
            gain: Some(gain),
            ..aspect
        }
    }

    fn split(aspects: Vec<Aspect>) -> Split {
        Split {
            inside: 65_536,
            from: 16_384,
            to: 262_144,
            aspects,
            allocated_bytes: None,
        }
    }

    #[test]
    fn a_split_is_chosen_where_it_is_shown_to_be_better_than_one_database() {
        use Verdict::{Equivalent, Faster, Slower};
        let pair = |read: f64, cold: f64, verdicts: [Verdict; 2]| {
            vec![
                gaining(aspect(What::Read, verdicts[0]), read),
                gaining(aspect(What::Cold, verdicts[1]), cold),
            ]
        };
        let chosen = Choice::Split { inside: 65_536 };
        let both = |database: Vec<Aspect>, other| choose(&database, Some(&split(other)));
        let database = || pair(1.5, 1.2, [Faster; 2]);
        assert_eq!(both(database(), pair(2.0, 1.2, [Faster; 2])), chosen);
        assert_eq!(
            both(database(), pair(1.52, 1.22, [Faster; 2])),
            Choice::Database
        );
        assert_eq!(
            both(database(), pair(2.0, 1.0, [Faster, Equivalent])),
            Choice::Database
        );
        assert_eq!(
            both(database(), pair(2.0, 0.5, [Faster, Slower])),
            Choice::Database
        );
        let depends = || pair(1.5, 0.5, [Faster, Slower]);
        assert_eq!(
            both(depends(), pair(1.4, 1.0, [Faster, Equivalent])),
            chosen
        );
        assert_eq!(
            both(depends(), pair(1.4, 0.8, [Faster, Slower])),
            Choice::Depends
        );
        let files = || pair(0.8, 0.8, [Slower; 2]);
        assert_eq!(
            both(files(), pair(1.0, 1.0, [Equivalent; 2])),
            Choice::Files
        );
        assert_eq!(both(files(), pair(1.2, 1.0, [Faster, Equivalent])), chosen);
    }

    #[test]
    fn reads_and_replacements_decide_together_where_their_shares_are_given() {
        let read = Aspect {
            files_ns: Some(10_000.0),
            time_ns: Some(5_000.0),
            ..gaining(aspect(What::Read, Verdict::Faster), 2.0)
        };
        let replace = Aspect {
            files_ns: Some(100_000.0),
            time_ns: Some(200_000.0),
            ..gaining(aspect(What::Replace, Verdict::Slower), 0.5)
        };
        let with = |share| {
            let mut aspects = vec![read.clone(), replace.clone()];
            aspects.extend(mixed(&aspects, Some(share), 0.05));
            (choose(&aspects, None), aspects.pop().unwrap())
        };
        // 99 reads of 10 µs and a replacement of 100 µs: 595 + 200 µs of 1,090.
        let (choice, rarely) = with(0.01);
        assert_eq!(choice, Choice::Database);
        assert_eq!(rarely.what, What::Mixed);
        let gain = rarely.gain.unwrap();
        let expected = 1_090.0 / (99.0 * 5.0 + 200.0);
        assert!((gain.ratio - expected).abs() < 1e-9, "{gain:?}");
        assert!(
            gain.low < expected * 0.96 && gain.high > expected * 1.04,
            "{gain:?}"
        );
        assert_eq!(with(0.5).0, Choice::Files);
        assert_eq!(with(0.0).0, Choice::Depends);
    }
}
