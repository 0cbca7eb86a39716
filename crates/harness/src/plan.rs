//! From a study to a plan: cells and comparisons, checked against what each store can do before
//! anything is built.

mod faults;
mod optional;
mod space;
mod text;
mod why;

pub use faults::{Extent, StudyFault, faults};
use optional::left_out;
pub(crate) use optional::left_out_cells;
pub use text::{describe, duration};

use crate::block_size::{BlockSize, most_operations};
use crate::drivers::{Drivers, Resolved};
use crate::environment::checks::Demand;
use crate::file_systems;
use crate::random::scatter_all;
use crate::{HarnessError, Result, environment, page_cache, scanner, sequence};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;
use stowplan_analysis::LOOKS;
use stowplan_dataset::{DatasetError, room};
use stowplan_model::{
    AccessOrder, Action, CacheState, Cell, CellId, CellSpec, Comparison, ComparisonSpec, Contrast,
    DatasetSpec, Durability, Mix, NeighbourKind, Neighbours, OF_CELL, PerTransaction, Plan, Role,
    ScaleSpec, Settings, StoreSpec, Study, Workload, format_bytes, suggestion,
};

/// The scale of the published study: all comparisons, at the sizes of the study's file.
pub const FULL_SCALE: &str = "full";
/// The scale of a study unless another is given: those comparisons that answer its question.
pub const STANDARD_SCALE: &str = "standard";
/// The scale of a first answer.
const QUICK_SCALE: &str = "quick";
/// What [`FULL_SCALE`] was called before.
const FORMERLY: &str = "seed";

/// The time that a study has at a scale; none: as long as it takes until everything is decided.
#[must_use]
pub fn time_of(scale: &str) -> Option<Duration> {
    match scale {
        QUICK_SCALE => Some(Duration::from_secs(60)),
        STANDARD_SCALE => Some(Duration::from_secs(180)),
        _ => None,
    }
}

/// Why an all-cold comparison cannot be measured.
pub(crate) const ROOT_ONLY: &str = "only root may have names dropped from memory, of the whole machine, \
     and there is no way to drop those of the run's own files alone: run it with sudo";

/// Why a metadata-cold comparison is not measured.
pub(crate) const METADATA_COLD: &str = "'metadata-cold' is not measured any more, for it left the file \
     system's own blocks in memory: write 'all-cold', which leaves nothing";

/// What of a study is wanted.
#[derive(Debug, Clone, Default)]
pub struct PlanOptions {
    /// The scale; [`STANDARD_SCALE`] unless given.
    pub scale: Option<String>,
    /// Only these matrices and comparisons (`read`) and cells (`read/sql`); all if empty. The baseline of a
    /// comparison always comes along.
    pub only: Vec<String>,
    /// Only comparisons in this state of the page cache.
    pub cache_state: Option<CacheState>,
    /// Only cells that keep at least this promise when they write.
    pub durability: Option<Durability>,
    /// The most rounds per comparison.
    pub rounds: Option<u32>,
    /// Whether what is measured is also taken apart, step by step.
    pub why: bool,
    /// Directories for file systems that cells are on, by the name that cells give.
    pub on: BTreeMap<String, PathBuf>,
}

/// What a plan needs of the machine; estimates from sizes and typical costs, not measurements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// Bytes of disk.
    pub disk_bytes: u64,
    /// Fewest seconds: every comparison decided at its first look.
    pub least_seconds: f64,
    /// Most seconds: every comparison runs to its cap.
    pub most_seconds: f64,
}

/// Expands a study.
///
/// # Errors
/// A scale, cell, store, setting or combination that does not exist; the message names it.
pub fn plan(study: Study, options: &PlanOptions, drivers: &Drivers) -> Result<Plan> {
    let scale = options.scale.as_deref().unwrap_or(STANDARD_SCALE);
    // A directory may be named though the scale leaves out what it is for.
    check_on(&study.clone().expanded(), &options.on)?;
    let study = at_scale(study, scale)?;
    let only = without_matrices(&study, &options.only);
    let (study, only) = match options.why {
        true => why::explained(study, only, most_open_files(), drivers),
        false => (study, only),
    };
    let options = &PlanOptions {
        only,
        ..options.clone()
    };
    check_only(&study, &options.only)?;
    let mut comparisons = Vec::new();
    for spec in &study.comparisons {
        match expand(&study, spec, options, drivers) {
            Ok(expanded) => comparisons.extend(expanded),
            Err(mistakes) => mistakes.into_iter().try_for_each(|(_, error)| Err(error))?,
        }
    }
    if comparisons.is_empty() {
        return Err(nothing_left());
    }
    let mut datasets = study.datasets.clone();
    let (used, _) = uses(&comparisons);
    datasets.retain(|name, _| used.contains_key(&**name));
    drivers.hang_up();
    Ok(Plan {
        study,
        scale: scale.to_owned(),
        datasets,
        comparisons,
        on: options.on.clone(),
        sweeps: Vec::new(),
        sought: None,
    })
}

/// The file systems that cells of a plan are on, but for that of the work directory.
pub(crate) fn file_systems_of(plan: &Plan) -> BTreeSet<&str> {
    let on = plan.cells().map(|cell| cell.on.as_str());
    on.filter(|on| !on.is_empty()).collect()
}

/// Refuses directories for file systems that no cell is on.
fn check_on(study: &Study, named: &BTreeMap<String, PathBuf>) -> Result<()> {
    let comparisons = study.comparisons.iter();
    let used = comparisons.flat_map(|c| c.cells.values().map(|cell| &cell.on).chain([&c.on]));
    let used: BTreeSet<&str> = used.flatten().map(String::as_str).collect();
    let Some(name) = named.keys().find(|name| !used.contains(name.as_str())) else {
        return Ok(());
    };
    let meant = suggestion(name, used.iter().copied());
    let used = match used.is_empty() {
        true => "none but the work directory's".to_owned(),
        false => Vec::from_iter(used).join(", "),
    };
    Err(HarnessError::invalid(format!(
        "--on {name}: no cell of study '{}' is on '{name}'; its cells are on {used}{meant}",
        study.name,
    )))
}

/// How many files a process may have open that asks for it; none: any number.
fn most_open_files() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::Nofile).maximum
}

/// The study with a scale's changes applied, and then its matrices expanded.
///
/// # Errors
/// There is no such scale; the message names those that there are.
pub fn at_scale(mut study: Study, scale: &str) -> Result<Study> {
    let changes = changes_of(&study, scale)?;
    for (name, count) in &changes.count {
        if let Some(dataset) = study.datasets.get_mut(name) {
            dataset.count = *count;
        }
    }
    let skipped = |id: &String| changes.skip.contains(id);
    let left_out = |comparison: &str, cell: &str| skipped(&format!("{comparison}/{cell}"));
    study
        .comparisons
        .retain(|comparison| !skipped(&comparison.id));
    for comparison in &mut study.comparisons {
        comparison.leave_out(&changes.skip);
    }
    study.figures.retain(|figure| {
        let mut of = figure.comparisons.iter();
        let to = figure.to.as_ref();
        to.is_none_or(|to| of.all(|id| !skipped(id) && !left_out(id, to)))
    });
    for figure in study
        .figures
        .iter_mut()
        .filter(|figure| figure.to.is_some())
    {
        let of = &figure.comparisons;
        figure
            .cells
            .retain(|cell| !of.iter().any(|id| left_out(id, cell)));
    }
    // No cells would mean all of them.
    study
        .figures
        .retain(|figure| figure.to.is_none() || !figure.cells.is_empty());
    study.matrices.retain(|matrix| !skipped(&matrix.id));
    for matrix in &mut study.matrices {
        if let Some(change) = changes.matrix.get(&matrix.id) {
            *matrix = matrix.clone().changed(change);
        }
    }
    let mut study = study.expanded();
    for comparison in &mut study.comparisons {
        if let Some(operations) = changes.operations.get(&comparison.id) {
            comparison.workload.operations = Some(*operations);
        }
        let caps = changes.max_rounds.into_iter().chain(comparison.max_rounds);
        comparison.max_rounds = caps.min();
    }
    Ok(study)
}

/// What a scale changes; those that every study has change nothing unless it says so.
fn changes_of(study: &Study, scale: &str) -> Result<ScaleSpec> {
    if let Some(changes) = study.scales.get(scale) {
        return Ok(changes.clone());
    }
    let everywhere = [STANDARD_SCALE, FULL_SCALE];
    if everywhere.contains(&scale) {
        return Ok(ScaleSpec::default());
    }
    let known = study.scales.keys().map(String::as_str).chain(everywhere);
    let known = Vec::from_iter(known.collect::<BTreeSet<&str>>());
    let meant = match scale {
        FORMERLY => format!("; it is called '{FULL_SCALE}' now"),
        _ => suggestion(scale, known.iter().copied()),
    };
    Err(HarnessError::invalid(format!(
        "study '{}' has no scale '{scale}'; it has {}{meant}",
        study.name,
        known.join(", "),
    )))
}

/// The names that `--only` gives, with those of a matrix's comparisons in place of the matrix.
fn without_matrices(study: &Study, only: &[String]) -> Vec<String> {
    let comparisons = |name: &String| match study.matrices.iter().find(|m| m.id == *name) {
        Some(matrix) => matrix
            .sizes
            .iter()
            .map(|size| matrix.comparison_id(*size))
            .collect(),
        None => vec![name.clone()],
    };
    only.iter().flat_map(comparisons).collect()
}

/// Refuses names in `only` that are none, with the one that is near, and others to choose from.
fn check_only(study: &Study, only: &[String]) -> Result<()> {
    let comparisons = || study.comparisons.iter();
    let cells = || comparisons().flat_map(|spec| spec.cells.keys().map(move |key| (spec, key)));
    let cell = |(spec, key): (&ComparisonSpec, &String)| format!("{}/{key}", spec.id);
    let matrices = || study.matrices.iter().map(|matrix| matrix.id.clone());
    let known = matrices().chain(comparisons().map(|spec| spec.id.clone()));
    let known: Vec<String> = known.chain(cells().map(cell)).collect();
    let Some(name) = only.iter().find(|name| !known.contains(name)) else {
        return Ok(());
    };
    let hint = match cells().find(|(_, key)| *key == name) {
        Some(first) => format!(
            "; a cell is called COMPARISON/{name}, such as '{}'",
            cell(first)
        ),
        None => {
            let all = known.iter().chain(cells().map(|(_, key)| key));
            suggestion(name, all.map(String::as_str))
        }
    };
    let given = comparisons().find(|spec| name.split('/').next() == Some(&spec.id));
    let (what, names): (String, Vec<String>) = match given {
        Some(spec) => {
            let what = format!("cells of '{}'", spec.id);
            (what, spec.cells.keys().cloned().collect())
        }
        None => {
            let others = comparisons().filter(|spec| !study.is_of_matrix(spec));
            let all = matrices().chain(others.map(|spec| spec.id.clone()));
            ("comparisons".to_owned(), all.collect())
        }
    };
    /// As many names are listed.
    const SHOWN: usize = 10;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more; --dry-run --verbose without --only lists them"),
    };
    Err(HarnessError::invalid(format!(
        "--only '{name}' names no comparison or cell of study '{}'; {what}: {shown}{more}{hint}",
        study.name,
    )))
}

/// A mistake of a comparison: the cell it is in, if it is in one, and what is said of it.
type Mistake = (Option<String>, HarnessError);

/// Whether what is written is at fault: not a driver that does not answer, nor a process that cannot
/// be started.
fn is_of_the_study(error: &HarnessError) -> bool {
    let is_of_a_driver = matches!(
        error,
        HarnessError::Worker { .. } | HarnessError::Interrupted
    );
    !is_of_a_driver && !error.is_refusal()
}

/// One comparison with its cells; nothing if the options exclude it.
///
/// # Errors
/// All that is wrong with it, up to what is no mistake of the study. Whether all cells answer the same question is
/// asked of those that can be measured.
fn expand(
    study: &Study,
    spec: &ComparisonSpec,
    options: &PlanOptions,
    drivers: &Drivers,
) -> Result<Option<Comparison>, Vec<Mistake>> {
    let named = |key: &String| options.only.contains(&format!("{}/{key}", spec.id));
    let whole = options.only.is_empty() || options.only.contains(&spec.id);
    let wanted = |key: &String| whole || *key == spec.baseline || named(key);
    let state = spec.workload.complete().cache;
    if options.cache_state.is_some_and(|wanted| wanted != state)
        || !(whole || spec.cells.keys().any(named))
    {
        return Ok(None);
    }
    let (mut cells, mut mistakes) = (Vec::new(), Vec::new());
    let mut not_applicable = BTreeMap::new();
    let mut specs: Vec<_> = spec.cells.iter().filter(|(key, _)| wanted(key)).collect();
    // The rows of a matrix are called by numbers: by value they are easier to read.
    specs.sort_by_key(|(key, _)| key.parse::<u64>().unwrap_or(u64::MAX));
    for (key, cell) in specs {
        if let Some(reason) = left_out(cell, drivers) {
            not_applicable.insert(cell.name(), reason);
            continue;
        }
        match build_cell(study, spec, key, cell, drivers) {
            Ok(cell) => match objection(&cell, study, options) {
                Some(reason) => drop(not_applicable.insert(cell.label, reason)),
                None => cells.push(cell),
            },
            Err(error) => {
                let goes_on = is_of_the_study(&error);
                mistakes.push((Some(key.clone()), error));
                if !goes_on {
                    return Err(mistakes);
                }
            }
        }
    }
    let Some(position) = cells.iter().position(|cell| cell.role == Role::Baseline) else {
        let asked_for = options.only.contains(&spec.id) || spec.cells.keys().any(named);
        let left_out = options.durability.is_some() || (needs_root(spec) && !asked_for);
        return match mistakes.is_empty() {
            true if left_out && !not_applicable.is_empty() => Ok(None),
            true => Err(vec![no_baseline(spec, not_applicable)]),
            false => Err(mistakes),
        };
    };
    cells[..=position].rotate_right(1);
    let baseline = cells[0].clone();
    let others = cells
        .iter()
        .filter(|cell| question(cell) != question(&baseline));
    mistakes.extend(others.map(|cell| other_question(spec, cell, &baseline)));
    let whole = [
        unequal_transactions(&cells),
        unfit_measure(spec, &cells, count(&study.datasets, &spec.dataset)),
    ];
    let whole = whole.into_iter().flatten().map(|why| {
        let place = format!("comparison '{}'", spec.id);
        (None, HarnessError::invalid(place + &why))
    });
    mistakes.extend(whole);
    let max_rounds = max_rounds(spec, options).map_err(|error| vec![(None, error)])?;
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let control = Cell {
        id: CellId(format!("{}#2", baseline.id)),
        label: format!("{} (control)", baseline.label),
        role: Role::Control,
        ..baseline
    };
    cells.insert(1, control);
    keep_writers_apart(study, &mut cells);
    let contrasts = contrasts(study, spec, &cells);
    Ok(Some(Comparison {
        id: spec.id.clone(),
        title: spec.title.clone(),
        contrasts,
        cells,
        not_applicable,
        measure: spec.measure,
        rebuild_every: spec.rebuild_every.filter(|rounds| *rounds > 0),
        published_label: spec.published_label.clone(),
        max_rounds,
        judged: Default::default(),
    }))
}

/// The refusal of a plan without comparisons.
fn nothing_left() -> HarnessError {
    HarnessError::invalid(
        "nothing is left to measure: the filters (--only, --cache-state, --durability) exclude every \
         comparison, or what is left needs root (all-cold: run it with sudo, or measure with names in memory, \
         --cache-state cold); 'stowplan study --dry-run' lists them",
    )
}

/// The refusal of a comparison whose baseline cannot run, with the reasons.
fn no_baseline(spec: &ComparisonSpec, not_applicable: BTreeMap<String, String>) -> Mistake {
    let reasons: BTreeSet<String> = not_applicable.into_values().collect();
    let reasons: Vec<String> = reasons.into_iter().collect();
    let why = format!("the baseline cannot run: {}", reasons.join("; "));
    (
        Some(spec.baseline.clone()),
        in_cell(spec, &spec.baseline, &why),
    )
}

/// The refusal of a cell that does other work than the baseline.
fn other_question(spec: &ComparisonSpec, cell: &Cell, baseline: &Cell) -> Mistake {
    let (work, usual) = (&cell.workload, &baseline.workload);
    let differs = match work.cache == usual.cache {
        true => "different kinds of work".to_owned(),
        false => format!("{} and {}", work.cache, usual.cache),
    };
    let (work, usual, name) = (describe_work(work), describe_work(usual), &baseline.key);
    let why = format!(
        "it does {work} and the baseline '{name}' {usual}; {differs} cannot share a comparison: put this cell into \
         its own [[comparison]]"
    );
    (Some(cell.key.clone()), in_cell(spec, &cell.key, &why))
}

/// What is wrong with a cell, with its place.
fn in_cell(spec: &ComparisonSpec, key: &str, why: &str) -> HarnessError {
    HarnessError::invalid(format!("comparison '{}', cell '{key}': {why}", spec.id))
}

/// The refusal of cells that are told to commit other numbers of operations at once, each block being one
/// transaction: what a commit costs would be shared by other numbers.
fn unequal_transactions(cells: &[Cell]) -> Option<String> {
    let committed_at_once = |cell: &&Cell| {
        let workload = &cell.workload;
        workload.operations.is_some()
            && workload.operation.writes()
            && workload.per_transaction == PerTransaction::All
            && workload.sample_of.is_none()
    };
    let mut given = cells.iter().filter(committed_at_once);
    let given = given.next().zip(Some(given));
    let (first, mut others) = given?;
    let number = first.workload.operations;
    let other = others.find(|other| other.workload.operations != number)?;
    Some(format!(
        ": one commit ends {} operations of cell '{}' and {} of '{}', so each bears another share of it: set the \
         same 'operations' for both, or how many operations share a transaction ('per_transaction', a number)",
        number.unwrap_or(0),
        first.key,
        other.workload.operations.unwrap_or(0),
        other.key
    ))
}

/// The refusal of cells whose blocks are told to have other numbers of operations than the baseline's, or which have
/// too few, where single operations are compared: of more operations the slowest is slower.
fn unfit_measure(spec: &ComparisonSpec, cells: &[Cell], count: u64) -> Option<String> {
    let baseline = &cells[0];
    let least = spec.measure.least_operations();
    let needed = format!("{}, which takes {least} at least", spec.measure.in_words());
    let wrong = |cell: &Cell| match (cell.workload.operations, &cell.key) {
        (Some(few), key) if u64::from(few) < least => Some(format!(
            ", cell '{key}': {few} operations a block have no {needed}; give the workload more operations"
        )),
        (None, key) if most_operations(cell, count) < least => Some(format!(
            ", cell '{key}': a block visits each of {count} values once, and so few operations have no {needed}; give \
             the dataset more values, or the workload an order in which keys come again"
        )),
        (operations, key) if operations != baseline.workload.operations => Some(format!(
            ", cell '{key}' has blocks of another number of operations than the baseline '{}', and of more of them the \
             slowest is slower: set the same 'operations' for both",
            baseline.key
        )),
        _ => None,
    };
    let mut cells = cells.iter().filter(|_| !spec.measure.is_time());
    cells.find_map(wrong)
}

/// Whether a comparison can only be measured by root, which this process is not.
fn needs_root(spec: &ComparisonSpec) -> bool {
    spec.workload.complete().cache == CacheState::AllCold && !page_cache::may_drop_everything()
}

/// The comparisons of a plan's study that are not in it because they need root. Where other
/// comparisons are missing too, somebody chose, and knows.
pub(crate) fn left_to_root(plan: &Plan) -> Vec<&ComparisonSpec> {
    let planned = |spec: &&ComparisonSpec| plan.comparisons.iter().any(|c| c.id == spec.id);
    let missing = plan.study.comparisons.iter().filter(|spec| !planned(spec));
    let missing: Vec<&ComparisonSpec> = missing.collect();
    match missing.iter().all(|spec| needs_root(spec)) {
        true => missing,
        false => Vec::new(),
    }
}

/// What cells have in common whose ratio compares one kind of work: the same steps. Orders in which
/// every key comes once visit the same keys, so the order may be what is compared; of one in which keys come again, with
/// how many keys are never drawn.
fn question(cell: &Cell) -> impl PartialEq + use<> {
    let workload = &cell.workload;
    let order = (workload.order, workload.omit_last);
    (
        (workload.operation, workload.mix, workload.cache),
        Some(order).filter(|(order, _)| order.repeats()),
        workload.scans().then(|| workload.longest_scan()),
    )
}

/// What a cell does, in words: `a warm mix of read 90, overwrite 10, zipfian`.
fn describe_work(workload: &Workload) -> String {
    let Workload {
        cache,
        operation,
        order,
        ..
    } = workload;
    let mix = workload.mix.map(|mix| format!(" of {}", proportions(&mix)));
    let longest = workload.longest_scan();
    let scans = workload
        .scans()
        .then(|| format!(", scans of up to {longest}"));
    let (mix, scans) = (mix.unwrap_or_default(), scans.unwrap_or_default());
    format!("a {cache} {operation}{mix}, {order}{scans}")
}

/// How many values a dataset has.
fn count(datasets: &BTreeMap<String, DatasetSpec>, name: &str) -> u64 {
    datasets.get(name).map_or(0, |dataset| dataset.count)
}

/// `read 90, overwrite 10`.
fn proportions(mix: &Mix) -> String {
    let part = |action| format!("{action} {}", mix.parts(action));
    mix.actions().map(part).collect::<Vec<_>>().join(", ")
}

fn max_rounds(spec: &ComparisonSpec, options: &PlanOptions) -> Result<u32> {
    let cap = LOOKS[LOOKS.len() - 1];
    let rounds = options.rounds.or(spec.max_rounds).unwrap_or(cap);
    if !(1..=cap).contains(&rounds) {
        return Err(HarnessError::invalid(format!(
            "{rounds} rounds are not possible: give 1 to {cap} (an interval needs at least 10; \
             the stopping rule ends at {cap})"
        )));
    }
    Ok(rounds)
}

fn build_cell(
    study: &Study,
    comparison: &ComparisonSpec,
    key: &str,
    spec: &CellSpec,
    drivers: &Drivers,
) -> Result<Cell> {
    let place = |message: String| in_cell(comparison, key, &message);
    let mut workload = spec.workload.over(&comparison.workload).complete();
    let on = spec.on.as_ref().or(comparison.on.as_ref());
    let on = on.cloned().unwrap_or_default();
    let on_in_paths = file_systems::in_paths(&on).or_else(|| on.is_empty().then(String::new));
    let on_in_paths = on_in_paths.ok_or_else(|| {
        place(format!(
            "on = '{}' is no name of a file system: letters, digits, '-' and '_', and options behind a \
             colon, such as btrfs:compress=zstd",
            on.escape_debug()
        ))
    })?;
    let resolved = resolve(drivers, &spec.store, study.memory_budget, workload.threads);
    let resolved = resolved.map_err(|error| match is_of_the_study(&error) {
        true => place(error.to_string()),
        false => error,
    })?;
    workload.check().map_err(place)?;
    let threads = workload.beside.map(|beside| beside.kind) == Some(NeighbourKind::Threads);
    if threads && !resolved.kind.neighbours {
        return Err(place(format!(
            "the driver of {} runs no threads beside a block; write beside = {{ …, as = \"processes\" }}",
            spec.store
        )));
    }
    if workload.rate.is_some() && !resolved.kind.open_loop {
        return Err(place(format!(
            "the driver of {} begins no operations at a stated rate; leave out rate",
            spec.store
        )));
    }
    if workload.changes_keys() && workload.operations.is_none() {
        // As many as go with the dataset.
        let values = count(&study.datasets, &comparison.dataset);
        let all = match workload.order {
            _ if workload.is_about_tables() => 1,
            AccessOrder::Lifecycle => values.saturating_mul(workload.pattern().len() as u64),
            _ => values,
        };
        workload.operations = Some(u32::try_from(all).unwrap_or(u32::MAX));
    }
    let role = match () {
        () if key == comparison.baseline => Role::Baseline,
        () if spec.floor => Role::Floor,
        () if spec.part => Role::Part,
        () => Role::Candidate,
    };
    if role != Role::Part && resolved.kind.keeps_nothing {
        return Err(place(format!(
            "{} keeps no values: it measures a step of what others do, so its cell can only be a part \
             of a ladder (part = true)",
            spec.store
        )));
    }
    let layout = resolved.settings.layout(&resolved.kind.settings);
    let mut cell = Cell {
        id: CellId(format!("{}/{key}", comparison.id)),
        key: key.to_owned(),
        label: spec.name(),
        role,
        instance: String::new(),
        store: spec.store.clone(),
        driver: drivers.host(&spec.store).to_owned(),
        settings: resolved.settings,
        capabilities: resolved.capabilities,
        workload,
        scanned: comparison.scanned(spec),
        dataset: comparison.dataset.clone(),
        on,
        published_seconds: spec.published_seconds,
    };
    cell.instance = instance_name(&cell, &spec.store.kind_in_paths(), &layout, &on_in_paths);
    Ok(cell)
}

/// The store of a cell. Where each connection has a cache of its own, those of all threads share the
/// memory budget: a cell with more threads gets no more memory.
fn resolve(drivers: &Drivers, spec: &StoreSpec, budget: u64, threads: u32) -> Result<Resolved> {
    let each = drivers
        .kind(spec)
        .is_ok_and(|kind| kind.cache_per_connection);
    let shares = if each { u64::from(threads.max(1)) } else { 1 };
    drivers.resolve_or_fail_later(spec, budget / shares)
}

/// A directory name that is the same for cells which can share a built store: how one aged depends on all its
/// settings, and where keys come and go each block makes one of its own. Cells on different file systems share nothing.
fn instance_name(cell: &Cell, kind: &str, layout: &Settings, on: &str) -> String {
    let built = match cell.workload.age {
        _ if cell.workload.changes_keys() => "own".to_owned(),
        0 => layout.to_string(),
        age => format!("{}.age{age}", short(&cell.settings.to_string())),
    };
    let parts = [&*cell.dataset, kind, &*built].into_iter();
    let parts = parts.filter(|part| !part.is_empty());
    let name = safe(&Vec::from_iter(parts).join("."));
    match on {
        "" => name,
        on => format!("{name}-on+{on}"),
    }
}

/// Gives those cells that write a build of their own for which it would matter that others write to the same one
/// (METHOD "Writers share a build"): those whose keys come again, those whose connection visits every value before,
/// and those for which there are too few keys.
fn keep_writers_apart(study: &Study, cells: &mut [Cell]) {
    let apart = |cell: &Cell| {
        let sharing = cells.iter().filter(|other| other.instance == cell.instance);
        let count = count(&study.datasets, &cell.dataset);
        let needed = BlockSize::most_steps(cell, count, study.memory_budget);
        // Keys are drawn for each: some have a few less than others.
        let all = needed.saturating_mul(sharing.count() as u64);
        cell.workload.order.repeats() || !cell.workload.after.is_none() || all > count / 8 * 7
    };
    let writes = |cell: &&Cell| cell.workload.writes() && !cell.workload.changes_keys();
    let apart = cells.iter().filter(writes).filter(|cell| apart(cell));
    let apart: BTreeSet<String> = apart.map(|cell| cell.instance.clone()).collect();
    let theirs = |cell: &&mut Cell| apart.contains(&cell.instance) && writes(&&**cell);
    for cell in cells.iter_mut().filter(theirs) {
        // That of the control is the baseline's: it has the same settings.
        let name = cell.id.0.trim_end_matches("#2").replace('/', ".");
        cell.instance = instance_of_cell(&cell.instance, &name);
    }
}

/// The directory name of the store that a cell has for itself.
fn instance_of_cell(built_alike: &str, cell: &str) -> String {
    /// A file name has an end, and something stands before this.
    const LONGEST: usize = 200;
    let cell = safe(cell);
    let fits = built_alike.len() + OF_CELL.len() + cell.len() <= LONGEST;
    let cell = if fits { cell } else { short(&cell) };
    format!("{built_alike}{OF_CELL}{cell}")
}

/// A name of letters that are safe in file names.
fn safe(name: &str) -> String {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    name.chars()
        .map(|c| if safe(c) { c } else { '-' })
        .collect()
}

/// A text in 16 digits: names of files have an end.
fn short(text: &str) -> String {
    let letters: Vec<u64> = text.bytes().map(u64::from).collect();
    format!("{:016x}", scatter_all(&letters))
}

/// Why this cell cannot run, if it cannot.
fn objection(cell: &Cell, study: &Study, options: &PlanOptions) -> Option<String> {
    let Cell {
        store,
        workload,
        dataset,
        capabilities: can,
        ..
    } = cell;
    let made = !cell.on.is_empty() && !options.on.contains_key(&cell.on);
    let cold = workload.cache.is_cold();
    let deliveries: Vec<&str> = can.deliveries.iter().map(|d| d.name()).collect();
    let values = study.datasets.get(dataset);
    // Values from a directory have names, as far as it is known; those of a table have none.
    let origin = values.and_then(|values| values.from.as_ref());
    let named = origin.is_some_and(|origin| origin.table.is_none());
    // A part only explains what others do.
    let promises = workload.operation.writes() && cell.role != Role::Part;
    let least = options.durability.filter(|_| promises);
    // Scans lend what they visit, whatever the store.
    let reads = !workload.is_about_tables() && workload.pattern().contains(&Action::Read);
    let missing = || {
        let operation = can.missing(workload)?;
        Some(format!("{store} has no {operation} workload"))
    };
    let cannot_be_made = || file_systems::objection(&cell.on, cold);
    let simple = [
        (
            !workload.after.is_none() && !cell.driver.is_empty(),
            format!(
                "{store} comes from a driver, and 'after' is known to the built-in stores only"
            ),
        ),
        (
            workload.threads > 1 && !can.threads,
            format!("{store} is used by one thread at a time; it can run with threads = 1"),
        ),
        (
            reads && !can.deliveries.contains(&workload.delivery),
            format!(
                "{store} cannot deliver '{}', only {}",
                workload.delivery,
                deliveries.join(", ")
            ),
        ),
        (
            cold && !(can.evictable && can.persistent),
            format!("{store} has no cold state: its data is not in files of its own"),
        ),
        (
            workload.cache == CacheState::MetadataCold,
            METADATA_COLD.to_owned(),
        ),
        (
            workload.cache == CacheState::AllCold && !page_cache::may_drop_everything(),
            ROOT_ONLY.to_owned(),
        ),
        (
            workload.age > 0 && !can.persistent,
            format!("{store} does not grow old: each worker loads it anew"),
        ),
        (
            least.is_some_and(|least| !can.durability.keeps(least)),
            format!("{store} promises only {}", can.durability),
        ),
        (
            cell.settings.flag("names") && !named,
            format!(
                "{store} keeps values under their names, and those of dataset '{dataset}' have none; they have where \
                 they come from a directory (from = \"DIR\")"
            ),
        ),
    ];
    let simple = || {
        simple
            .into_iter()
            .find_map(|(holds, why)| holds.then_some(why))
    };
    (made.then(cannot_be_made).flatten())
        .or_else(missing)
        .or_else(simple)
        .or_else(|| too_few_values(workload, values.map_or(0, |d| d.count)))
        .or_else(|| too_little_memory(workload, environment::cache_and_memory))
        .or_else(|| scanner::objection(cell))
}

/// Why the memory that is free is not enough for what streams through it beside a block, if it is not.
/// `machine`: bytes of the largest cache, and of free memory.
fn too_little_memory(
    workload: &Workload,
    machine: impl Fn() -> (Option<u64>, u64),
) -> Option<String> {
    let beside = workload.beside.filter(|beside| beside.memory)?;
    let (cache, free) = machine();
    let each = Neighbours::streamed_bytes(cache);
    let needed = each.saturating_mul(beside.compute_threads.into());
    (1..needed).contains(&free).then(|| {
        format!(
            "{beside} beside a block: {} each, {} in all, and only {} of memory are free",
            format_bytes(each),
            format_bytes(needed),
            format_bytes(free)
        )
    })
}

/// Why `count` values are not enough for a block, if they are not.
fn too_few_values(workload: &Workload, count: u64) -> Option<String> {
    let operations = u64::from(workload.operations.unwrap_or(1));
    if workload.order == AccessOrder::Lifecycle {
        return None;
    }
    if workload.order.repeats() {
        let deleted = sequence::values_deleted(workload, operations);
        let omitted = u64::from(workload.omit_last);
        let leaves_none = |gone: u64| gone > 0 && gone >= count;
        return match () {
            () if leaves_none(deleted) => Some(format!(
                "a block deletes every value that the dataset has ({count})"
            )),
            () if leaves_none(omitted) => Some(format!(
                "omit_last leaves none of the dataset's {count} values"
            )),
            () => None,
        };
    }
    let needed = sequence::values_needed(workload, operations);
    match () {
        () if needed <= count => None,
        () if needed == operations => Some(format!(
            "a block has more operations than the dataset has values ({count})"
        )),
        () => Some(format!(
            "a block visits {needed} values once each, and the dataset has {count}"
        )),
    }
}

/// Each cell over the baseline, and each pair whose ratio a figure shows; where the baseline is alone,
/// its control over it, so that it is measured at all.
fn contrasts(study: &Study, spec: &ComparisonSpec, cells: &[Cell]) -> Vec<Contrast> {
    let contrast = |cell: &Cell, reference: &Cell| Contrast {
        cell: cell.id.clone(),
        reference: reference.id.clone(),
    };
    let of = |roles: [Role; 2]| cells.iter().filter(move |cell| roles.contains(&cell.role));
    let compared = of([Role::Candidate, Role::Floor]).map(|cell| contrast(cell, &cells[0]));
    let mut contrasts: BTreeSet<Contrast> = compared.collect();
    let mut called = |key: &String| {
        let mut called = cells.iter().filter(|cell| cell.key == *key);
        called.find(|cell| cell.role != Role::Control)
    };
    for figure in study
        .figures
        .iter()
        .filter(|it| it.comparisons.contains(&spec.id))
    {
        let Some(reference) = figure.to.as_ref().and_then(&mut called) else {
            continue;
        };
        for bar in figure.cells.iter().filter_map(&mut called) {
            let (shown, opposite) = (contrast(bar, reference), contrast(reference, bar));
            if bar.id != reference.id && !contrasts.contains(&opposite) {
                contrasts.insert(shown);
            }
        }
    }
    if contrasts.is_empty() {
        let controls = of([Role::Control; 2]);
        contrasts.extend(controls.map(|control| contrast(control, &cells[0])));
    }
    contrasts.into_iter().collect()
}

/// What the plan needs of the machine, with two builds of each store; `keep`: nothing is removed before
/// the end.
#[must_use]
pub fn needs(plan: &Plan, keep: bool) -> Needs {
    needs_with(plan, keep, 2)
}

/// What a plan needs with `builds` builds of each store at a time.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn needs_with(plan: &Plan, keep: bool, builds: u64) -> Needs {
    let (mut images, mut everything) = (0, bytes_on(plan, true, builds, ""));
    for on in file_systems_of(plan) {
        if !plan.on.contains_key(on) && file_systems::is_in_image(on) {
            let image = file_systems::image_bytes(bytes_on(plan, keep, builds, on));
            images = image.saturating_add(images);
        }
        everything = bytes_on(plan, true, builds, on).saturating_add(everything);
    }
    let preparing = everything.saturating_add(images) as f64 / 250e6;
    Needs {
        disk_bytes: bytes_on(plan, keep, builds, "").saturating_add(images),
        least_seconds: preparing + rounds_seconds(&plan.comparisons, LOOKS[0]),
        most_seconds: preparing + rounds_seconds(&plan.comparisons, u32::MAX),
    }
}

/// Bytes of sequences for each value of a dataset: of two orders, each beside that of the round before.
const SEQUENCES_BYTES: u64 = 4 * sequence::RECORD_BYTES as u64;

/// The most bytes that there are at a time on a file system that cells are on, with so many builds of each
/// store; `keep`: nothing is removed before the end. On that of the work directory (`""`) lie datasets and
/// sequences, too.
pub(crate) fn bytes_on(plan: &Plan, keep: bool, builds: u64, on: &str) -> u64 {
    let (datasets, instances) = uses(&plan.comparisons);
    let during = |index| {
        let mut there: BTreeMap<&str, u64> = BTreeMap::new();
        for comparison in &plan.comparisons {
            let exists = |cell: &&Cell| {
                cell.capabilities.persistent
                    && cell.on == on
                    && (keep || exists(&instances, &cell.instance, index))
            };
            for cell in comparison.cells.iter().filter(exists) {
                let builds = if has_builds(cell) { builds } else { 1 };
                let bytes = space::store_bytes(plan, comparison, cell).saturating_mul(builds);
                let most = there.entry(&cell.instance).or_default();
                *most = bytes.max(*most);
            }
        }
        let stores = there.into_values().fold(0, u64::saturating_add);
        if !on.is_empty() {
            return stores;
        }
        let names = plan.datasets.keys();
        let names = names.filter(|name| keep || exists(&datasets, name, index));
        names.fold(stores, |sum, name| {
            let sequences = count(&plan.datasets, name).saturating_mul(SEQUENCES_BYTES);
            sum.saturating_add(plan.dataset_bytes(name))
                .saturating_add(sequences)
        })
    };
    (0..plan.comparisons.len()).map(during).max().unwrap_or(0)
}

/// By the name of something that comparisons use, the places of the comparisons from the first that does to the last.
type Spans<'p> = BTreeMap<&'p str, RangeInclusive<usize>>;

/// The datasets and built stores that comparisons use: what no later one does can be removed.
pub(crate) fn uses(comparisons: &[Comparison]) -> (Spans<'_>, Spans<'_>) {
    let mut used = (Spans::new(), Spans::new());
    for (index, comparison) in comparisons.iter().enumerate() {
        for cell in &comparison.cells {
            for (spans, name) in [(&mut used.0, &cell.dataset), (&mut used.1, &cell.instance)] {
                let first = *spans.get(&**name).map_or(&index, RangeInclusive::start);
                spans.insert(name, first..=index);
            }
        }
    }
    used
}

/// Whether something is there while the comparison at a place runs.
fn exists(spans: &Spans<'_>, name: &str, index: usize) -> bool {
    spans.get(name).is_some_and(|span| span.contains(&index))
}

/// What a plan asks of the machine, and the same study at its smallest scale.
#[must_use]
pub fn demand(plan: &Plan, smallest: &Plan) -> Demand {
    let (_, instances_used) = uses(&plan.comparisons);
    let warm = |cell: &&Cell| cell.workload.cache == CacheState::Warm;
    let instances = |exists: &dyn Fn(&Cell) -> bool| -> BTreeMap<&str, u64> {
        let cells = plan.cells().filter(warm).filter(|cell| exists(cell));
        cells
            .map(|cell| (cell.instance.as_str(), plan.dataset_bytes(&cell.dataset)))
            .collect()
    };
    let at_a_time = (0..plan.comparisons.len()).map(|index| {
        let there = instances(&|cell| exists(&instances_used, &cell.instance, index));
        there.values().copied().fold(0, u64::saturating_add)
    });
    let made_up = |cell: &Cell| {
        let spec = plan.datasets.get(&cell.dataset);
        spec.is_none_or(|spec| spec.from.is_none())
    };
    Demand {
        what: format!("study {}", plan.study.name),
        disk_bytes: needs(plan, false).disk_bytes,
        least_disk_bytes: needs_with(smallest, false, 1).disk_bytes,
        cached_bytes: at_a_time.max().unwrap_or(0),
        // What somebody brought along is as large as it is.
        working_set_bytes: instances(&made_up).into_values().min(),
    }
}

/// Whether a cell takes turns on two builds of its store: where it reads what is in memory. What is read
/// from the disk and what is written has one build, and so has a floor, which is no candidate.
pub(crate) fn has_builds(cell: &Cell) -> bool {
    cell.capabilities.persistent
        && !cell.workload.changes_keys()
        && !cell.workload.writes()
        && !cell.workload.cache.is_cold()
        && cell.role != Role::Floor
}

/// Refuses a plan that needs more disk than there is at a place, which need not exist yet, even with
/// one build of each store at a time; `keep` as for [`needs`].
///
/// # Errors
/// Too little space; the message says how much is needed and how much there is.
pub fn require_space(plan: &Plan, keep: bool, place: &Path) -> Result<()> {
    for (on, directory) in &plan.on {
        room::require_free(directory, bytes_on(plan, keep, 1, on))?;
    }
    let existing = environment::nearest_existing(place);
    let room = room::require_free(existing, needs_with(plan, keep, 1).disk_bytes);
    Ok(room.map_err(|mut error| {
        // The place that was asked for says more than the directory above it that exists.
        if let DatasetError::Space { path, .. } = &mut error {
            *path = std::path::absolute(place).unwrap_or_else(|_| place.to_owned());
        }
        error
    })?)
}

/// Typical seconds for building a store of 100 MB again.
const REBUILD_SECONDS: f64 = 0.2;

/// Seconds for this many rounds of each comparison, or its cap; an estimate.
pub(crate) fn rounds_seconds(comparisons: &[Comparison], rounds: u32) -> f64 {
    let seconds = |comparison: &Comparison| {
        let rebuild = |cell: &Cell| match comparison.rebuild_every {
            Some(rounds) => {
                REBUILD_SECONDS * (1.0 + f64::from(cell.workload.age)) / f64::from(rounds)
            }
            None => 0.0,
        };
        let cells = comparison.cells.iter();
        let round: f64 = cells.map(|cell| block_seconds(cell) + rebuild(cell)).sum();
        round * f64::from(rounds.min(comparison.max_rounds))
    };
    comparisons.iter().map(seconds).sum()
}

/// Typical seconds for one sync of a solid-state disk; a disk that has to reach its platters or
/// flash for each takes ten times as long.
const SYNC_SECONDS: f64 = 0.3e-3;
/// Typical seconds for reading one value from storage.
const COLD_SECONDS: f64 = 0.3e-3;

/// Typical seconds for one operation.
fn operation_seconds(cell: &Cell) -> f64 {
    let workload = &cell.workload;
    if workload.is_about_tables() {
        return 1e-3;
    }
    let actions = workload.pattern();
    let seconds = actions.iter().map(|action| action_seconds(cell, *action));
    let each = seconds.sum::<f64>() / f64::from(u32::try_from(actions.len().max(1)).unwrap_or(1));
    let syncs = match workload.per_transaction {
        PerTransaction::Operations(n) if workload.operation.writes() => {
            f64::from(cell.capabilities.syncs_per_commit) / f64::from(n)
        }
        PerTransaction::Operations(_) | PerTransaction::All => 0.0,
    };
    each + syncs * SYNC_SECONDS
}

/// Typical seconds for one action without its commit.
fn action_seconds(cell: &Cell, action: Action) -> f64 {
    let cold = cell.workload.cache.is_cold();
    let read = if cold { COLD_SECONDS } else { 5e-6 };
    match action {
        Action::Read => read,
        // Somewhere in the memory of its own process.
        Action::Overwrite | Action::Modify if !cell.capabilities.persistent => 10e-6,
        Action::Overwrite => 120e-6,
        Action::Modify => read + 120e-6,
        Action::Insert => 3e-6,
        Action::Delete => 10e-6,
        Action::Scan => read + f64::from(cell.workload.longest_scan()) * 1e-6,
    }
}

/// Typical seconds for one cell in one round: what is timed, and a fresh process around it, with eviction and drain
/// where they occur; a store of its own is loaded, mostly with as many values as there are operations.
fn block_seconds(cell: &Cell) -> f64 {
    let workload = &cell.workload;
    let timed = |operations| f64::from(operations) * operation_seconds(cell);
    let drains = workload.cache.is_cold() || workload.operation.writes();
    let loads = workload.changes_keys() && !workload.begins_empty();
    let loaded = workload.operations.filter(|_| loads).unwrap_or(0);
    let around = if drains { 0.2 } else { 0.04 };
    workload.operations.map_or(0.025, timed) + around + f64::from(loaded) * 20e-6
}

#[cfg(test)]
mod tests;
