//! `stowplan crossover`: at which size of values the order of two stores changes.

use crate::cli::{CacheStateArgument, DurabilityArgument, MeasureOptions};
use crate::drivers;
use crate::error::{CliError, Exit};
use crate::places::Drawn;
use crate::screen::{print, warn};
use crate::study::carry_out;
use clap::{Args, ValueEnum};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use stowplan_analysis::{LOOKS, RefineLimits, SweepPoint, Verdict, analyse, refine, sweep};
use stowplan_harness::HarnessError;
use stowplan_harness::crossover::{Question, SweepSize};
use stowplan_harness::drivers::Drivers;
use stowplan_harness::plan::{PlanOptions, duration, needs};
use stowplan_harness::runner::{Extender, Resumption};
use stowplan_model::{
    AccessOrder, Extension, Operation, PerTransaction, Plan, Role, StoreSpec, Sweep, WorkloadSpec,
    format_bytes, format_size, parse_size, read_result,
};

pub(crate) const EXAMPLES: &str = "\
Examples:
  stowplan crossover                  SQLite or a file each, 1 KiB to 1 MiB
  stowplan crossover sqlite files --page-size 4096 --page-size 16384
                                      the same, with two sizes of pages
  stowplan crossover sqlite:api=blob,mmap=1GiB files:layout=tree --to 8MiB
                                      any two stores, any range
  stowplan crossover sqlite:journal=off,synchronous=off files:write=in-place \\
      --operation overwrite --budget 5m
                                      overwrites, with equal promises

What is found is a zone, not a number: docs/method.md, \"Crossover\".";

/// Memory that each store may use for caching, as in studies.
const MEMORY_BUDGET: u64 = 4 << 20;
/// How often sizes are added where the order changes.
const PASSES: u32 = 2;
/// Comparisons that a pass adds to a sweep, about.
const ADDED: usize = 6;

/// Options of `crossover`.
#[derive(Debug, Args)]
pub(crate) struct CrossoverOptions {
    /// Store A, the baseline: see 'stowplan list stores'.
    #[arg(value_name = "A", default_value = "sqlite")]
    a: String,
    /// Store B.
    #[arg(value_name = "B", default_value = "files")]
    b: String,
    /// The smallest size.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size,
        default_value = "1KiB"
    )]
    from: u64,
    /// The largest size.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = size,
        default_value = "1MiB"
    )]
    to: u64,
    /// Page size of the databases among the stores; may be repeated, and each is a sweep of its own.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    page_size: Vec<u64>,
    /// What is done.
    #[arg(long, value_enum, value_name = "WHAT", default_value = "read")]
    operation: OperationArgument,
    /// In which order keys are visited.
    #[arg(long, value_enum, value_name = "ORDER", default_value = "random")]
    order: OrderArgument,
    /// Operations that share a transaction: a number, or 'all' of a block.
    #[arg(
        long,
        value_name = "N|all",
        value_parser = per_transaction,
        default_value = "all"
    )]
    per_transaction: PerTransaction,
    /// The state of the page cache.
    #[arg(long, value_enum, value_name = "STATE", default_value = "warm")]
    cache_state: CacheStateArgument,
    /// Refuse stores whose writes promise less than this.
    #[arg(long, value_enum, value_name = "CLASS")]
    durability: Option<DurabilityArgument>,
    /// Compare writes although the stores do not promise the same.
    #[arg(long)]
    unlike_promises: bool,
    /// Bytes of values at each size, as far as that is 60 to 20,000 values: fewer make no block,
    /// and building more takes longer than measuring them.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = some_bytes,
        default_value = "100MB"
    )]
    bytes: u64,
    /// How to measure.
    #[command(flatten)]
    measure: MeasureOptions,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OperationArgument {
    /// Read one value whole.
    Read,
    /// Replace one value by another of its size.
    Overwrite,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OrderArgument {
    /// A random permutation of all keys.
    Random,
    /// By rising key.
    Ascending,
    /// By falling key.
    Descending,
}

fn size(text: &str) -> Result<u64, String> {
    parse_size(text).map_err(|error| error.to_string())
}

fn some_bytes(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("a store without values cannot be measured; give 1MB or more".to_owned()),
        bytes => Ok(bytes),
    }
}

fn per_transaction(text: &str) -> Result<PerTransaction, String> {
    match text {
        "all" => Ok(PerTransaction::All),
        number => match number.parse() {
            Ok(0) | Err(_) => Err(format!("it is a number from 1 to {}, or 'all'", u32::MAX)),
            Ok(n) => Ok(PerTransaction::Operations(n)),
        },
    }
}

/// Finds where the order of two stores changes.
pub(crate) fn crossover(options: &CrossoverOptions) -> Result<Exit, CliError> {
    let sizes = sweep(options.from, options.to)
        .map_err(|error| CliError::Usage(format!("--from and --to: {error}")))?;
    check_rounds(&options.measure)?;
    let question = question(options)?;
    check_names(&question)?;
    check_durability(&question, options)?;
    let mut plan = question.plan(&sizes)?;
    plan.study.drivers = drivers::given(&options.measure.run.driver);
    let drivers = Rc::clone(&question.drivers);
    check_memory(options)?;
    check_pairs(&plan, options)?;
    if let Some(text) = cached(&question, &sizes)? {
        warn(&text);
    }
    let exit = carry_out(&plan, &Drawn::new(), &drivers, &options.measure, |run| {
        Refining {
            question,
            result: run.result.clone(),
            passes: PASSES,
            repeated: BTreeSet::new(),
        }
    })?;
    if options.measure.run.dry_run {
        print(&what_follows(&plan));
    }
    Ok(exit)
}

/// A sweep without intervals finds nothing, however long it takes.
fn check_rounds(measure: &MeasureOptions) -> Result<(), CliError> {
    let (least, most) = (LOOKS[0], LOOKS[LOOKS.len() - 1]);
    match measure.run.rounds {
        Some(rounds) if !(least..=most).contains(&rounds) => Err(CliError::Usage(format!(
            "--rounds {rounds}: each size needs an interval, and so {least} rounds at least; give {least} to {most}"
        ))),
        _ => Ok(()),
    }
}

/// Two stores of one name cannot be told apart in what is found.
fn check_names(question: &Question) -> Result<(), CliError> {
    let (a, b) = (&question.a, &question.b);
    let hosted = |store| (question.drivers.host(store), store.name(), &store.settings);
    if hosted(a) != hosted(b) {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "A and B are both '{a}', and a store has no order with itself; give one of them another setting ('stowplan list stores {}' lists them)",
        a.kind
    )))
}

/// Each store promises what was required of both.
fn check_durability(question: &Question, options: &CrossoverOptions) -> Result<(), CliError> {
    let writes = matches!(options.operation, OperationArgument::Overwrite);
    let Some(least) = question.options.durability.filter(|_| writes) else {
        return Ok(());
    };
    for spec in [&question.a, &question.b] {
        let resolved = question.drivers.resolve(spec, MEMORY_BUDGET)?;
        let promise = resolved.capabilities.durability;
        if !promise.keeps(least) {
            return Err(CliError::Usage(format!(
                "{spec} promises '{promise}' for what it wrote, and --durability requires '{least}'; give it other settings ('stowplan list stores {}'), or require less",
                spec.kind
            )));
        }
    }
    Ok(())
}

/// What to know where a store could keep most of a size's values in memory of its own.
fn cached(question: &Question, sizes: &[u64]) -> Result<Option<String>, CliError> {
    let mut cache = 0;
    for spec in [&question.a, &question.b] {
        let settings = question.drivers.resolve(spec, MEMORY_BUDGET)?.settings;
        cache = cache.max(settings.number("cache"));
    }
    let data = |size: u64| size.saturating_mul(question.values(size));
    let held = |size: &&u64| data(**size) < cache.saturating_mul(4);
    let held: Vec<u64> = sizes.iter().filter(held).copied().collect();
    let (Some(first), Some(last)) = (held.first(), held.last()) else {
        return Ok(None);
    };
    let few = held.iter().map(|size| data(*size)).min().unwrap_or(0);
    let advice = if question.bytes < cache.saturating_mul(4) {
        "give more --bytes"
    } else {
        "give a larger --from"
    };
    Ok(Some(format!(
        "from {} to {} the values of a size are {} or little more, and a store may cache {} of them, so what is compared there is caches; {advice}",
        format_size(*first),
        format_size(*last),
        format_bytes(few),
        format_bytes(cache)
    )))
}

/// What refining adds to a plan, for `--dry-run`; an estimate like that of the plan.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn what_follows(plan: &Plan) -> String {
    let needs = needs(plan, false);
    let number = PASSES as usize * ADDED * plan.sweeps.len();
    let share = number as f64 / plan.comparisons.len().max(1) as f64;
    format!(
        "then up to about {number} comparisons follow, where the order changes or a size gave no \
         figure: about {} to {} more, and no more disk unless --keep is given\n",
        duration(needs.least_seconds * share),
        duration(needs.most_seconds * share)
    )
}

fn question(options: &CrossoverOptions) -> Result<Question, CliError> {
    let spec = |text: &str| {
        text.parse::<StoreSpec>()
            .map_err(|error| CliError::Usage(error.to_string()))
    };
    let pages: BTreeSet<u64> = options.page_size.iter().copied().collect();
    let (a, b) = (spec(&options.a)?, spec(&options.b)?);
    let given = drivers::given(&options.measure.run.driver);
    let drivers = drivers::of_stores(&[&a, &b], &given)?;
    Ok(Question {
        drivers,
        a,
        b,
        page_sizes: pages.into_iter().collect(),
        workload: workload(options),
        bytes: options.bytes,
        memory_budget: MEMORY_BUDGET,
        options: PlanOptions {
            durability: options.durability.map(Into::into),
            rounds: options.measure.run.rounds,
            ..PlanOptions::default()
        },
    })
}

fn workload(options: &CrossoverOptions) -> WorkloadSpec {
    WorkloadSpec {
        operation: Some(match options.operation {
            OperationArgument::Read => Operation::Read,
            OperationArgument::Overwrite => Operation::Overwrite,
        }),
        order: Some(match options.order {
            OrderArgument::Random => AccessOrder::Random,
            OrderArgument::Ascending => AccessOrder::Ascending,
            OrderArgument::Descending => AccessOrder::Descending,
        }),
        per_transaction: Some(options.per_transaction),
        cache: Some(options.cache_state.into()),
        ..WorkloadSpec::default()
    }
}

/// The question that a plan of sweeps answers.
fn question_of(plan: &Plan, drivers: &Rc<Drivers>) -> Option<Question> {
    let sweep = plan.sweeps.first()?;
    let page = |sweep: &Sweep| sweep.setting.as_ref()?.split_once('=')?.1.parse().ok();
    let comparison = plan.study.comparisons.first()?;
    let mut question = Question {
        drivers: Rc::clone(drivers),
        a: sweep.a.parse().ok()?,
        b: sweep.b.parse().ok()?,
        page_sizes: plan.sweeps.iter().filter_map(page).collect(),
        workload: WorkloadSpec {
            // It follows from the size.
            operations: None,
            ..comparison.workload.clone()
        },
        bytes: 0,
        memory_budget: plan.study.memory_budget,
        options: PlanOptions {
            rounds: plan.comparisons.first().map(|first| first.max_rounds),
            ..PlanOptions::default()
        },
    };
    question.bytes = bytes_of(plan, &question)?;
    Some(question)
}

/// Bytes of values at each size that give every size of a plan the number of values that it has.
/// That number has bounds: a dataset at the lower one may hold more bytes than were asked for, one at
/// the upper one fewer.
fn bytes_of(plan: &Plan, question: &Question) -> Option<u64> {
    let data: Vec<(u64, u64)> = plan
        .datasets
        .values()
        .map(|data| (data.size.largest(), data.count))
        .collect();
    let fewest = data.iter().map(|(_, count)| *count).min()?;
    let bytes = |(size, count): &(u64, u64)| size.saturating_mul(*count);
    let above = data.iter().filter(|(_, count)| *count > fewest);
    let all = || data.iter().map(bytes);
    let candidates = [above.map(bytes).max(), all().min(), all().max()];
    let fits = |bytes: &u64| {
        let asked = Question {
            bytes: *bytes,
            ..question.clone()
        };
        data.iter()
            .all(|(size, count)| asked.values(*size) == *count)
    };
    let mut candidates = candidates.into_iter().flatten();
    let first = candidates.clone().next();
    candidates.find(fits).or(first)
}

/// A value passes through memory whole, in the worker and in the engine.
fn check_memory(options: &CrossoverOptions) -> Result<(), CliError> {
    let machine = stowplan_harness::environment::examine(Path::new("."));
    let available = machine.memory_available_bytes;
    if options.to > available / 4 {
        return Err(CliError::Usage(format!(
            "--to {}: values of that size do not fit several times into the memory that is free ({}); choose a smaller range",
            format_size(options.to),
            format_bytes(available)
        )));
    }
    Ok(())
}

/// Both stores can do it at each size, and promise the same.
fn check_pairs(plan: &Plan, options: &CrossoverOptions) -> Result<(), CliError> {
    for comparison in &plan.comparisons {
        if let Some(reason) = comparison.not_applicable.values().next() {
            return Err(CliError::Usage(reason.clone()));
        }
        let promise = |role| {
            let cell = comparison.with_role(role);
            cell.map(|cell| cell.capabilities.durability)
        };
        let (a, b) = (promise(Role::Baseline), promise(Role::Candidate));
        let writes = matches!(options.operation, OperationArgument::Overwrite);
        if let (Some(a), Some(b)) = (a, b)
            && writes
            && a != b
            && !options.unlike_promises
        {
            return Err(CliError::Usage(format!(
                "{} promises '{a}' for what it wrote and {} '{b}', so their times say little about either; choose settings that promise the same ('stowplan list stores NAME'), or give --unlike-promises",
                options.a, options.b
            )));
        }
    }
    Ok(())
}

/// Measures those sizes again that gave no figure, and adds sizes where the order changes.
pub(crate) struct Refining {
    question: Question,
    result: PathBuf,
    /// How often sizes may still be added.
    passes: u32,
    /// Sweep and size of what was measured again: once is enough.
    repeated: BTreeSet<(usize, u64)>,
}

/// A sweep as far as it was measured.
struct Measured {
    /// Its position among the sweeps of the plan.
    sweep: usize,
    points: Vec<SweepPoint>,
    /// Every size that is in the plan, measured or not.
    planned: BTreeSet<u64>,
}

impl Extender for Refining {
    fn extend(&mut self, plan: &Plan) -> Result<Option<Extension>, HarnessError> {
        let next = self.next(&self.measured(plan)?);
        if next.is_empty() {
            return Ok(None);
        }
        self.question.extension(&next).map(Some)
    }

    fn expected(&self) -> usize {
        self.passes as usize * ADDED * self.question.page_sizes.len().max(1)
    }
}

impl Refining {
    /// What may follow in a crossover that was broken off, by what its record says; nothing if it
    /// is another study.
    pub(crate) fn resumed(
        resumption: &Resumption,
        drivers: &Rc<Drivers>,
        result: &Path,
    ) -> Option<Self> {
        let plan = resumption.plan();
        let again = |id: &str| id.ends_with("-again");
        let added = resumption.extensions().iter().filter(|more| {
            let mut comparisons = more.comparisons.iter();
            comparisons.any(|comparison| !again(&comparison.id))
        });
        let passes = u32::try_from(added.count()).unwrap_or(PASSES);
        let mut repeated = BTreeSet::new();
        for (number, sweep) in plan.sweeps.iter().enumerate() {
            let comparisons = plan.comparisons.iter().filter(|c| again(&c.id));
            let sizes = comparisons.filter_map(|comparison| sweep.size_of(comparison));
            repeated.extend(sizes.map(|size| (number, size)));
        }
        Some(Self {
            question: question_of(plan, drivers)?,
            result: result.to_owned(),
            passes: PASSES.saturating_sub(passes),
            repeated,
        })
    }

    fn measured(&self, plan: &Plan) -> Result<Vec<Measured>, HarnessError> {
        let bytes =
            std::fs::read(&self.result).map_err(HarnessError::io("read result", &self.result))?;
        let (records, _) = read_result(&bytes);
        let analysis = analyse(&records, None).map_err(|error| {
            HarnessError::invalid(format!("{}: {error}", self.result.display()))
        })?;
        let measured = analysis.sweeps.into_iter().filter_map(|outcome| {
            let sweep = plan.sweeps.iter().position(|s| s.id == outcome.sweep.id)?;
            let comparisons = plan.comparisons.iter();
            Some(Measured {
                sweep,
                points: outcome.points,
                planned: comparisons
                    .filter_map(|c| plan.sweeps[sweep].size_of(c))
                    .collect(),
            })
        });
        Ok(measured.collect())
    }

    /// What is measured next. Repetitions go alone: what they find decides where sizes are added,
    /// and those that are added last are repeated as well.
    fn next(&mut self, sweeps: &[Measured]) -> Vec<SweepSize> {
        let again = interleaved(sweeps.iter().map(|sweep| self.repetitions(sweep)).collect());
        if !again.is_empty() || self.passes == 0 {
            return again;
        }
        self.passes -= 1;
        interleaved(sweeps.iter().map(additions).collect())
    }

    /// The sizes without a result that were measured only once.
    fn repetitions(&mut self, measured: &Measured) -> Vec<SweepSize> {
        let sweep = measured.sweep;
        let without =
            |point: &&SweepPoint| matches!(point.verdict, Verdict::Unreliable | Verdict::NoData);
        let sizes = measured.points.iter().filter(without).map(|p| p.size);
        sizes
            .filter(|size| self.repeated.insert((sweep, *size)))
            .map(|size| SweepSize {
                sweep,
                size,
                again: true,
            })
            .collect()
    }
}

/// Sizes that a sweep still needs, the most needed first. Beside a size that has no figure at all
/// there are none: what failed there, or took too long, would do so again.
fn additions(measured: &Measured) -> Vec<SweepSize> {
    let points = &measured.points;
    let mut sizes = refine(points, &RefineLimits::default());
    sizes.retain(|size| {
        let below = points.iter().rev().find(|point| point.size < *size);
        let above = points.iter().find(|point| point.size > *size);
        let figures = [below, above]
            .into_iter()
            .flatten()
            .all(|point| point.verdict != Verdict::NoData);
        figures && !measured.planned.contains(size)
    });
    let entry = |size| SweepSize {
        sweep: measured.sweep,
        size,
        again: false,
    };
    sizes.into_iter().map(entry).collect()
}

/// The first of each sweep, then the second of each, and so on, so that a budget which ends early
/// has done something for all of them. Equal sizes stand next to each other: they share a dataset.
fn interleaved(sweeps: Vec<Vec<SweepSize>>) -> Vec<SweepSize> {
    let longest = sweeps.iter().map(Vec::len).max().unwrap_or(0);
    let by_rank = (0..longest).flat_map(|rank| sweeps.iter().filter_map(move |s| s.get(rank)));
    let mut order: Vec<SweepSize> = Vec::new();
    for it in by_rank {
        let alike = order.iter().rposition(|other| other.size == it.size);
        order.insert(alike.map_or(order.len(), |position| position + 1), *it);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use stowplan_analysis::RatioEstimate;

    #[test]
    fn operations_per_transaction_are_a_number_or_all() {
        assert_eq!(per_transaction("all"), Ok(PerTransaction::All));
        assert_eq!(per_transaction("10"), Ok(PerTransaction::Operations(10)));
        assert!(per_transaction("0").is_err());
        assert!(per_transaction("some").is_err());
        let message = per_transaction("99999999999").unwrap_err();
        assert!(message.contains("from 1 to 4294967295"), "{message}");
    }

    fn question() -> Question {
        Question {
            drivers: Rc::new(drivers::looked_at()),
            a: "sqlite".parse().unwrap(),
            b: "files".parse().unwrap(),
            page_sizes: Vec::new(),
            workload: WorkloadSpec::default(),
            bytes: 1_000_000,
            memory_budget: MEMORY_BUDGET,
            options: PlanOptions::default(),
        }
    }

    fn refining(question: &Question) -> Refining {
        Refining {
            question: question.clone(),
            result: PathBuf::new(),
            passes: PASSES,
            repeated: BTreeSet::new(),
        }
    }

    /// A size at which B takes `ratio` times as long, for certain.
    fn decided(size: u64, ratio: f64) -> SweepPoint {
        let (low, high) = (ratio * 0.99, ratio * 1.01);
        SweepPoint {
            size,
            estimate: Some(RatioEstimate {
                ratio,
                raw_low: low,
                raw_high: high,
                low,
                high,
                rounds: 10,
            }),
            verdict: if ratio > 1.0 {
                Verdict::Slower
            } else {
                Verdict::Faster
            },
        }
    }

    fn failed(size: u64) -> SweepPoint {
        SweepPoint {
            size,
            estimate: None,
            verdict: Verdict::NoData,
        }
    }

    fn unreliable(size: u64, ratio: f64) -> SweepPoint {
        SweepPoint {
            verdict: Verdict::Unreliable,
            ..decided(size, ratio)
        }
    }

    fn measured(sweep: usize, points: &[SweepPoint]) -> Measured {
        Measured {
            sweep,
            points: points.to_vec(),
            planned: points.iter().map(|point| point.size).collect(),
        }
    }

    /// Sweep, size and whether it is a repetition.
    fn shown(next: &[SweepSize]) -> Vec<(usize, u64, bool)> {
        let shown = |it: &SweepSize| (it.sweep, it.size, it.again);
        next.iter().map(shown).collect()
    }

    #[test]
    fn a_size_without_a_result_is_measured_again_before_any_is_added() {
        let question = question();
        let mut refining = refining(&question);
        let before = [
            decided(1024, 2.0),
            unreliable(2048, 1.5),
            decided(4096, 0.5),
        ];
        let next = refining.next(&[measured(0, &before)]);
        assert_eq!(shown(&next), [(0, 2048, true)]);
        assert_eq!(refining.passes, PASSES, "a repetition is no refinement");
        let after = [decided(1024, 2.0), decided(2048, 1.5), decided(4096, 0.5)];
        let next = refining.next(&[measured(0, &after)]);
        assert_eq!(next.len(), 3);
        let between = |it: &SweepSize| !it.again && (2048..4096).contains(&it.size);
        assert!(next.iter().all(between), "{next:?}");
    }

    #[test]
    fn a_size_is_measured_again_once_also_if_it_was_added_last() {
        let question = question();
        let mut refining = refining(&question);
        refining.passes = 0;
        let sweep = [measured(0, &[decided(1024, 2.0), unreliable(2048, 0.5)])];
        assert_eq!(shown(&refining.next(&sweep)), [(0, 2048, true)]);
        assert!(refining.next(&sweep).is_empty());
    }

    #[test]
    fn no_size_is_added_beside_one_that_failed_or_that_is_planned_already() {
        let question = question();
        let mut refining = refining(&question);
        let points = [decided(1024, 2.0), failed(4096), decided(16384, 0.5)];
        assert_eq!(
            shown(&refining.next(&[measured(0, &points)])),
            [(0, 4096, true)]
        );
        assert!(refining.next(&[measured(0, &points)]).is_empty());
        let mut sweep = measured(0, &[decided(1024, 2.0), decided(2048, 0.5)]);
        let first = additions(&sweep)[0].size;
        sweep.planned.insert(first);
        let rest = additions(&sweep);
        assert_eq!(rest.len(), 2);
        assert!(rest.iter().all(|it| it.size != first));
    }

    #[test]
    fn sweeps_take_turns_and_equal_sizes_stand_next_to_each_other() {
        let sizes_of = |sweep, sizes: &[u64]| -> Vec<SweepSize> {
            let entry = |size: &u64| SweepSize {
                sweep,
                size: *size,
                again: false,
            };
            sizes.iter().map(entry).collect()
        };
        let order = interleaved(vec![sizes_of(0, &[10, 20, 30]), sizes_of(1, &[40, 10])]);
        let order: Vec<(usize, u64)> = order.iter().map(|s| (s.sweep, s.size)).collect();
        assert_eq!(order, [(0, 10), (1, 10), (1, 40), (0, 20), (0, 30)]);
    }

    #[test]
    fn refining_ends_whatever_is_found() {
        let question = question();
        let answers: [fn(u64) -> SweepPoint; 4] = [
            |size| decided(size, if size < 20_000 { 1.3 } else { 0.7 }),
            |size| decided(size, if size % 3 == 0 { 1.02 } else { 0.97 }),
            |size| unreliable(size, 1.5),
            failed,
        ];
        for (number, answer) in answers.into_iter().enumerate() {
            let mut refining = refining(&question);
            let mut points: Vec<SweepPoint> = (10..21).map(|i| answer(1 << i)).collect();
            let mut extensions = 0;
            loop {
                let next = refining.next(&[measured(0, &points)]);
                if next.is_empty() {
                    break;
                }
                extensions += 1;
                assert!(extensions <= 2 * PASSES + 1, "answer {number} never ends");
                for it in next {
                    points.retain(|point| point.size != it.size);
                    points.push(answer(it.size));
                }
                points.sort_by_key(|point| point.size);
            }
            assert!(extensions > 0, "answer {number}");
        }
    }

    #[test]
    fn the_question_of_a_plan_is_the_one_that_it_was_made_for() {
        let sizes: Vec<u64> = (10..21).map(|i| 1 << i).collect();
        for bytes in [1, 100_000, 1_000_000, 2_000_000, 100_000_000, 1 << 40] {
            let asked = Question {
                bytes,
                page_sizes: vec![4096, 16384],
                workload: WorkloadSpec {
                    operation: Some(Operation::Overwrite),
                    ..WorkloadSpec::default()
                },
                options: PlanOptions {
                    rounds: Some(20),
                    ..PlanOptions::default()
                },
                ..question()
            };
            let plan = asked.plan(&sizes).unwrap();
            let found = question_of(&plan, &Rc::new(drivers::looked_at())).unwrap();
            assert_eq!((&found.a, &found.b), (&asked.a, &asked.b));
            assert_eq!(found.page_sizes, asked.page_sizes);
            assert_eq!(found.workload, asked.workload);
            assert_eq!(found.options.rounds, asked.options.rounds);
            assert!(
                found.plan(&sizes).unwrap() == plan,
                "{bytes}: {}",
                found.bytes
            );
            for size in [1500, 3000, 24_000, 100_000, 700_000] {
                let values = (found.values(size), asked.values(size));
                assert!(
                    values.0.abs_diff(values.1) <= 1 + values.1 / 20,
                    "{bytes}: {values:?}"
                );
            }
        }
        let no_sweep = Plan {
            sweeps: Vec::new(),
            ..question().plan(&[1024]).unwrap()
        };
        assert!(question_of(&no_sweep, &Rc::new(drivers::looked_at())).is_none());
    }
}
