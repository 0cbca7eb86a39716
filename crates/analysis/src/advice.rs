//! Where the user's own data belongs: into one database, into files, or into both by size. Decided from
//! verdicts and intervals only, of the comparisons that [`AdviseSpec`] names.

use crate::{
    Analysis, CellSummary, ComparisonOutcome, Crossover, RatioEstimate, Side, SpaceRow, Verdict,
};
use serde::Serialize;
use stowplan_model::{AdviseSpec, Cell, CellId, SizeDistribution, built_alike};

/// Shares of the values, or of their bytes, below which a part is not worth a place of its own.
const WORTH_SPLITTING: f64 = 0.1;

/// What is advised.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Advice {
    /// What to do.
    pub choice: Choice,
    /// Bytes of a page of the database that is meant.
    pub page_size: Option<u64>,
    /// How the database stands against files in each respect that was measured.
    pub aspects: Vec<Aspect>,
    /// Up to which size values belong into the database (side A), and from which on into files.
    pub by_size: Option<Crossover>,
    /// What both take on disk.
    pub space: Option<SpaceTaken>,
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
    /// Values up to `inside` bytes into a database, and from `outside` bytes on into files; in between
    /// nothing was shown.
    Split {
        /// The largest size up to which the database is faster.
        inside: u64,
        /// The smallest size from which files are faster.
        outside: u64,
    },
    /// The database is faster in one respect and slower in another.
    Depends,
    /// Not enough was measured to say anything.
    Open,
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
    /// All values are read, one after the other.
    All,
}

/// The database against files in one respect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Aspect {
    /// In which.
    pub what: What,
    /// The database's cell.
    pub cell: CellId,
    /// Time of files over time of the database: above 1 the database is faster.
    pub gain: Option<RatioEstimate>,
    /// The verdict on the database's time.
    pub verdict: Verdict,
    /// Headline time of an operation in files, in nanoseconds.
    pub files_ns: Option<f64>,
    /// Headline time of an operation in the database, in nanoseconds.
    pub database_ns: Option<f64>,
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
    let of = |id: &str| analysis.comparisons.iter().find(|found| found.id == id);
    // Where reads are left out, replacements alone say which database is meant.
    let page_size = of(AdviseSpec::READ)
        .or_else(|| of(AdviseSpec::REPLACE))
        .and_then(best)
        .map(|cell| cell.cell.settings.number("page_size"));
    let asked = [
        (What::Read, AdviseSpec::READ),
        (What::Cold, AdviseSpec::COLD),
        (What::Replace, AdviseSpec::REPLACE),
        (What::All, AdviseSpec::ALL),
    ];
    let aspects: Vec<Aspect> = asked
        .into_iter()
        .filter_map(|(what, id)| aspect(what, of(id)?))
        .collect();
    let by_size = analysis
        .matrices
        .iter()
        .find(|matrix| matrix.id == AdviseSpec::SPLIT)
        .and_then(|matrix| matrix.rules.first())
        .map(|rule| rule.crossover.clone());
    let (measured_values, measured_bytes) = measured(analysis);
    Some(Advice {
        choice: choose(&aspects, by_size.as_ref(), &shares(analysis, asked_of)),
        page_size,
        space: space(analysis, page_size),
        aspects,
        by_size,
        measured_values,
        measured_bytes,
    })
}

/// The cell of the database that stands for it: the first that is not shown to be slower than another one,
/// by intervals that do not overlap.
fn best(comparison: &ComparisonOutcome) -> Option<&CellSummary> {
    let cells = || {
        comparison.rivals().filter_map(|cell| {
            let estimate = comparison.to_baseline(cell)?.estimate?;
            Some((cell, estimate))
        })
    };
    let least = cells().map(|(_, ratio)| ratio.high).reduce(f64::min)?;
    let first = cells().find(|(_, ratio)| ratio.low <= least);
    first.map(|(cell, _)| cell)
}

/// What was found in one respect; one that was to be measured and was not is there without a figure.
fn aspect(what: What, comparison: &ComparisonOutcome) -> Option<Aspect> {
    let others = |cell: &&CellSummary| comparison.to_baseline(cell).is_some();
    let cell = best(comparison).or_else(|| comparison.rivals().find(others));
    let cell = cell.or_else(|| comparison.rivals().last())?;
    let contrast = comparison.to_baseline(cell);
    let time = |cell: &CellSummary| cell.time_ns.map(|time| time.estimate);
    let estimate = contrast.and_then(|contrast| contrast.estimate);
    Some(Aspect {
        what,
        cell: cell.cell.id.clone(),
        gain: estimate.map(|estimate| estimate.inverse()),
        verdict: contrast.map_or(Verdict::NoData, |contrast| contrast.verdict),
        files_ns: comparison.baseline().and_then(time),
        database_ns: time(cell),
    })
}

/// The histogram of the values that were measured, as shares of the values and of the bytes up to a size.
struct Shares(Vec<(u64, f64, f64)>);

fn shares(analysis: &Analysis, asked: &AdviseSpec) -> Shares {
    let dataset = analysis.run.plan.comparisons.iter().find_map(|comparison| {
        let dataset = &comparison.cells.first()?.dataset;
        let dataset = analysis.run.plan.datasets.get(dataset);
        dataset.filter(|_| comparison.id == AdviseSpec::READ)
    });
    let Some((dataset, SizeDistribution::Histogram { bins })) =
        dataset.map(|dataset| (dataset, &dataset.size))
    else {
        return Shares(Vec::new());
    };
    #[expect(clippy::cast_precision_loss, reason = "shares")]
    let weighed = bins.iter().map(|bin| {
        let values = bin.values as f64;
        (bin.to, values, values * bin.from.midpoint(bin.to) as f64)
    });
    let mut rows: Vec<_> = weighed.collect();
    let limit = dataset.from.as_ref().and_then(|from| from.largest);
    if limit.is_some_and(|limit| limit < asked.largest) {
        rows.push((asked.largest, 0.0, left_out(asked, &rows)));
    }
    Shares(rows)
}

/// At least so many bytes lie in values that were too large to be measured, at the scale of the rows of those
/// that were: what the place holds beyond as many values of their mean.
#[expect(clippy::cast_precision_loss, reason = "shares")]
fn left_out(asked: &AdviseSpec, measured: &[(u64, f64, f64)]) -> f64 {
    let values: f64 = measured.iter().map(|row| row.1).sum();
    let bytes: f64 = measured.iter().map(|row| row.2).sum();
    (asked.bytes as f64 * values / asked.values.max(1) as f64 - bytes).max(0.0)
}

impl Shares {
    /// The shares of the values and of their bytes up to a size.
    fn up_to(&self, size: u64) -> (f64, f64) {
        let sum = |upto: u64| {
            let rows = self.0.iter().filter(|(to, ..)| *to <= upto);
            rows.fold((0.0, 0.0), |(values, bytes), row| {
                (values + row.1, bytes + row.2)
            })
        };
        let (all_values, all_bytes) = sum(u64::MAX);
        let (values, bytes) = sum(size);
        match all_values > 0.0 && all_bytes > 0.0 {
            true => (values / all_values, bytes / all_bytes),
            false => (0.0, 0.0),
        }
    }

    /// Whether both parts are worth a place: many values on the one side, many bytes on the other.
    fn both_sides(&self, inside: u64, outside: u64) -> bool {
        let (small_values, _) = self.up_to(inside);
        let (_, small_bytes) = self.up_to(outside);
        small_values >= WORTH_SPLITTING && 1.0 - small_bytes >= WORTH_SPLITTING
    }
}

fn choose(aspects: &[Aspect], by_size: Option<&Crossover>, shares: &Shares) -> Choice {
    // Reading all values is rarely what a place is chosen for: it is told, and decides nothing.
    let deciding = || aspects.iter().filter(|aspect| aspect.what != What::All);
    let is = |verdict: Verdict| deciding().any(|aspect| aspect.verdict == verdict);
    let claims = deciding().any(|aspect| {
        matches!(
            aspect.verdict,
            Verdict::Faster | Verdict::Slower | Verdict::Equivalent | Verdict::SmallDifference
        )
    });
    // What was to be measured and could not be is no ground to advise on.
    let lacks = is(Verdict::NoData) || is(Verdict::Unreliable);
    // The zone is of random reads in memory and of made-up values: it does not outweigh what was found on the
    // user's own.
    if let Some(Crossover::Zone {
        smaller: Side::A,
        low,
        high,
        ..
    }) = by_size
        && shares.both_sides(*low, *high)
        && !lacks
        && !is(Verdict::Slower)
    {
        return Choice::Split {
            inside: *low,
            outside: *high,
        };
    }
    match (is(Verdict::Faster), is(Verdict::Slower)) {
        (true, true) => Choice::Depends,
        _ if lacks || !claims => Choice::Open,
        (true, false) => Choice::Database,
        // Nothing is shown to be gained by moving, and something to be lost.
        (false, true) => Choice::Files,
        (false, false) if deciding().all(|aspect| is_settled(aspect.verdict)) => Choice::Files,
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
            cell.settings.get("page_size").is_some()
                && Some(cell.settings.number("page_size")) == page_size
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
            database_ns: None,
        }
    }

    fn chosen(verdicts: [Verdict; 3]) -> Choice {
        let [read, cold, replace] = verdicts;
        let aspects = [
            aspect(What::Read, read),
            aspect(What::Cold, cold),
            aspect(What::Replace, replace),
            aspect(What::All, Verdict::Faster),
        ];
        choose(&aspects, None, &Shares(Vec::new()))
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
            assert_eq!(chosen(verdicts), choice, "{verdicts:?}");
        }
        assert_eq!(choose(&[], None, &Shares(Vec::new())), Choice::Open);
    }

    fn zone() -> Crossover {
        Crossover::Zone {
            smaller: Side::A,
            from: 1_024,
            low: 16_384,
            high: 65_536,
            to: 1 << 20,
            between: Vec::new(),
        }
    }

    #[test]
    fn values_are_split_where_both_parts_are_worth_it() {
        let aspects = [aspect(What::Read, Verdict::Faster)];
        let with = |shares| choose(&aspects, Some(&zone()), &Shares(shares));
        let split = Choice::Split {
            inside: 16_384,
            outside: 65_536,
        };
        assert_eq!(with(vec![(10_000, 90.0, 9e5), (500_000, 10.0, 5e6)]), split);
        let no_large = vec![(10_000, 100.0, 1e6), (30_000, 1.0, 3e4)];
        assert_eq!(with(no_large), Choice::Database);
        let no_small = vec![(500_000, 10.0, 5e6)];
        assert_eq!(with(no_small), Choice::Database);
    }

    #[test]
    fn nothing_is_split_against_what_was_found_on_the_values_themselves() {
        use Verdict::{Equivalent, Faster, NoData, Slower, Unreliable};
        let shares = Shares(vec![(10_000, 90.0, 9e5), (500_000, 10.0, 5e6)]);
        let split = Choice::Split {
            inside: 16_384,
            outside: 65_536,
        };
        for (replace, choice) in [
            (Equivalent, split),
            (Slower, Choice::Depends),
            (NoData, Choice::Open),
            (Unreliable, Choice::Open),
        ] {
            let aspects = [aspect(What::Read, Faster), aspect(What::Replace, replace)];
            assert_eq!(
                choose(&aspects, Some(&zone()), &shares),
                choice,
                "{replace:?}"
            );
        }
    }

    #[test]
    fn bytes_of_values_that_were_too_large_count_on_the_side_of_files() {
        let asked = AdviseSpec {
            place: "/d".into(),
            in_database: false,
            about: String::new(),
            values: 1_000,
            bytes: 1_000 * 10_000 + 90_000_000,
            largest: 20_000_000,
        };
        let mut rows = vec![(10_000, 100.0, 1e6)];
        let large = left_out(&asked, &rows);
        assert!((large - 9e6).abs() < 1.0, "{large}");
        assert!(!Shares(rows.clone()).both_sides(10_000, 65_536));
        rows.push((asked.largest, 0.0, large));
        assert!(Shares(rows).both_sides(10_000, 65_536));
    }
}
