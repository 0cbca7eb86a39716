//! `stowplan crossover`: at which size of values the order of two stores changes.

use crate::drivers;
use crate::error::{CliError, Exit};
use crate::measuring::MeasureOptions;
use crate::places::Drawn;
use crate::screen::{print, warn, width, wrap};
use crate::study::carry_out;
use crate::values::{CACHE_STATES, DURABILITIES, one_of, size};
use clap::Args;
use std::path::Path;
use std::rc::Rc;
use stowplan_analysis::{LOOKS, sweep};
use stowplan_harness::crossover::{Question, Refining};
use stowplan_harness::plan::{duration, needs};
use stowplan_harness::runner::Extender;
use stowplan_model::{
    AccessOrder, CacheState, Durability, Operation, PerTransaction, Plan, Role, Sought, StoreSpec,
    WorkloadSpec, format_bytes, format_size,
};

/// Memory that each store may use for caching, as in studies.
const MEMORY_BUDGET: u64 = 4 << 20;

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
    /// What is done.
    #[arg(long, value_parser = one_of(OPERATIONS, Operation::name), value_name = "WHAT", default_value = "read")]
    operation: Operation,
    /// In which order keys are visited.
    #[arg(long, hide_short_help = true, value_parser = one_of(ORDERS, AccessOrder::name), value_name = "ORDER", default_value = "random")]
    order: AccessOrder,
    /// Operations that share a transaction: a number, or 'all' of a block.
    #[arg(
        long, hide_short_help = true,
        value_name = "N|all",
        value_parser = per_transaction,
        default_value = "all"
    )]
    per_transaction: PerTransaction,
    /// The state of the page cache.
    #[arg(long, hide_short_help = true, value_parser = one_of(CACHE_STATES, CacheState::name), value_name = "STATE", default_value = "warm")]
    cache_state: CacheState,
    /// Refuse stores whose writes promise less than this.
    #[arg(long, hide_short_help = true, value_parser = one_of(DURABILITIES, Durability::name), value_name = "CLASS")]
    durability: Option<Durability>,
    /// Compare writes although the stores do not promise the same.
    #[arg(long, hide_short_help = true)]
    unlike_promises: bool,
    /// Bytes of values at each size, as far as that is 60 to 20,000 values: fewer make no block,
    /// and building more takes longer than measuring them.
    #[arg(
        long, hide_short_help = true,
        value_name = "SIZE",
        value_parser = some_bytes,
        default_value = "100MB"
    )]
    bytes: u64,
    /// How to measure.
    #[command(flatten)]
    measure: MeasureOptions,
}

/// What can be done.
const OPERATIONS: &[(Operation, &str)] = &[
    (Operation::Read, "Read one value whole"),
    (
        Operation::Overwrite,
        "Replace one value by another of its size",
    ),
];

/// In which orders.
const ORDERS: &[(AccessOrder, &str)] = &[
    (AccessOrder::Random, "A random permutation of all keys"),
    (AccessOrder::Ascending, "By rising key"),
    (AccessOrder::Descending, "By falling key"),
];

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
    let mut plan = question.plan(&sizes)?;
    plan.study.drivers = options.measure.run.driver.iter().cloned().collect();
    let drivers = Rc::clone(&question.drivers);
    check_memory(options)?;
    check_pairs(&plan, &question, options)?;
    if let Some(text) = cached(&plan, &question, &sizes) {
        warn(&text);
    }
    let follows = Refining::begun(question.clone(), Path::new("")).expected();
    let exit = carry_out(&plan, &Drawn::new(), &drivers, &options.measure, |run| {
        Refining::begun(question, &run.result)
    })?;
    if options.measure.run.dry_run {
        let follows = wrap(&what_follows(&plan, follows), width());
        print(&follows.join("\n"));
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
    let (a, b) = (&question.sought.a, &question.sought.b);
    let hosted = |store| (question.drivers.host(store), store.name(), &store.settings);
    if hosted(a) != hosted(b) {
        return Ok(());
    }
    Err(CliError::Usage(format!(
        "A and B are both '{a}', and a store has no order with itself; give one of them another setting ('stowplan list stores {}' lists them)",
        a.kind
    )))
}

/// What to know where a store could keep most of a size's values in memory of its own.
fn cached(plan: &Plan, question: &Question, sizes: &[u64]) -> Option<String> {
    let caches = plan.cells().map(|cell| cell.settings.number("cache"));
    let cache = caches.max().unwrap_or(0);
    let data = |size: u64| size.saturating_mul(question.values(size));
    let held = |size: &&u64| data(**size) < cache.saturating_mul(4);
    let held: Vec<u64> = sizes.iter().filter(held).copied().collect();
    let (first, last) = (held.first()?, held.last()?);
    let few = held.iter().map(|size| data(*size)).min().unwrap_or(0);
    let advice = if question.sought.bytes < cache.saturating_mul(4) {
        "give more --bytes"
    } else {
        "give a larger --from"
    };
    Some(format!(
        "from {} to {} the values of a size are {} or little more, and a store may cache {} of them, so what is compared there is caches; {advice}",
        format_size(*first),
        format_size(*last),
        format_bytes(few),
        format_bytes(cache)
    ))
}

/// What refining adds to a plan, for `--dry-run`; an estimate like that of the plan.
fn what_follows(plan: &Plan, number: usize) -> String {
    let needs = needs(plan, false);
    let share = number as f64 / plan.comparisons.len().max(1) as f64;
    format!(
        "then up to about {number} comparisons follow, where the order changes or a size gave no \
         figure: about {} to {} more, and no more disk unless --keep is given\n",
        duration(needs.least_seconds * share),
        duration(needs.most_seconds * share)
    )
}

fn question(options: &CrossoverOptions) -> Result<Question, CliError> {
    let (a, b): (StoreSpec, StoreSpec) = (options.a.parse()?, options.b.parse()?);
    let given = options.measure.run.driver.iter().cloned();
    let drivers = drivers::of_stores(&[&a, &b], &given.collect())?;
    Ok(Question {
        drivers,
        sought: Sought {
            a,
            b,
            workload: WorkloadSpec {
                operation: Some(options.operation),
                order: Some(options.order),
                per_transaction: Some(options.per_transaction),
                cache: Some(options.cache_state),
                ..WorkloadSpec::default()
            },
            bytes: options.bytes,
            memory_budget: MEMORY_BUDGET,
            rounds: options.measure.run.rounds,
        },
    })
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

/// Both stores can do it at each size, and what they write keeps what was required of both, and the same.
fn check_pairs(
    plan: &Plan,
    question: &Question,
    options: &CrossoverOptions,
) -> Result<(), CliError> {
    let writes = matches!(options.operation, Operation::Overwrite);
    for comparison in &plan.comparisons {
        if let Some(reason) = comparison.not_applicable.values().next() {
            return Err(CliError::Usage(reason.clone()));
        }
        let promised = |role| Some(comparison.with_role(role)?.capabilities.durability);
        let (a, b) = (&question.sought.a, &question.sought.b);
        let both = promised(Role::Baseline).zip(promised(Role::Candidate));
        let Some((of_a, of_b)) = both.filter(|_| writes) else {
            continue;
        };
        for (spec, promise) in [(a, of_a), (b, of_b)] {
            if let Some(least) = options.durability.filter(|least| !promise.keeps(*least)) {
                return Err(CliError::Usage(format!(
                    "{spec} promises '{promise}' for what it wrote, and --durability requires '{least}'; give it other settings ('stowplan list stores {}'), or require less",
                    spec.kind
                )));
            }
        }
        if of_a != of_b && !options.unlike_promises {
            return Err(CliError::Usage(format!(
                "{} promises '{of_a}' for what it wrote and {} '{of_b}', so their times say little about either; choose settings that promise the same ('stowplan list stores NAME'), or give --unlike-promises",
                options.a, options.b
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_per_transaction_are_a_number_or_all() {
        assert_eq!(per_transaction("all"), Ok(PerTransaction::All));
        assert_eq!(per_transaction("10"), Ok(PerTransaction::Operations(10)));
        assert!(per_transaction("0").is_err());
        assert!(per_transaction("some").is_err());
        let message = per_transaction("99999999999").unwrap_err();
        assert!(message.contains("from 1 to 4294967295"), "{message}");
    }
}
