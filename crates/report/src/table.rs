//! Tables before they are drawn: columns, and rows of finished texts with the number to sort by.
//! Markdown and HTML draw the same tables; the terminal has narrower ones of its own.

use crate::{format, quantity, wording};
use stowplan_analysis::{CellSummary, ComparisonOutcome, LatencySummary, RatioEstimate, SpaceRow};
use stowplan_model::{Action, Measure, Operation, Role, format_bytes};

/// A table.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Entry>>,
}

/// A column of a table.
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// What it means, for those who ask.
    pub(crate) help: &'static str,
    /// Numbers stand to the right.
    pub(crate) numeric: bool,
    /// The unit of the numbers to sort by, such as `ns`; empty where they are counts or ratios.
    pub(crate) unit: &'static str,
}

/// One field of a table.
#[derive(Default)]
pub(crate) struct Entry {
    pub(crate) text: String,
    pub(crate) sort: Option<f64>,
}

impl Entry {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            sort: None,
        }
    }

    pub(crate) fn number(value: f64, text: String) -> Self {
        Self {
            text,
            sort: value.is_finite().then_some(value),
        }
    }

    pub(crate) fn maybe(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        value.map_or_else(Self::default, |value| Self::number(value, text(value)))
    }
}

/// A column and how its field is made from a thing that is one row.
pub(crate) struct Maker<'a, T> {
    column: Column,
    make: Box<dyn Fn(&T) -> Entry + 'a>,
}

pub(crate) fn numeric<'a, T>(
    title: &'static str,
    help: &'static str,
    make: impl Fn(&T) -> Entry + 'a,
) -> Maker<'a, T> {
    maker(title, help, true, make)
}

pub(crate) fn textual<'a, T>(
    title: &'static str,
    help: &'static str,
    make: impl Fn(&T) -> Entry + 'a,
) -> Maker<'a, T> {
    maker(title, help, false, make)
}

fn maker<'a, T>(
    title: &'static str,
    help: &'static str,
    numeric: bool,
    make: impl Fn(&T) -> Entry + 'a,
) -> Maker<'a, T> {
    Maker {
        column: Column {
            title,
            help,
            numeric,
            unit: "",
        },
        make: Box::new(make),
    }
}

impl<T> Maker<'_, T> {
    /// The same column, whose numbers have a unit.
    pub(crate) fn in_unit(mut self, unit: &'static str) -> Self {
        self.column.unit = unit;
        self
    }
}

/// The table of `things`, without columns in which no row has anything to show.
pub(crate) fn build<T>(makers: Vec<Maker<'_, T>>, things: &[T]) -> Table {
    let mut table = Table::default();
    table.rows.resize_with(things.len(), Vec::new);
    for maker in makers {
        let entries: Vec<Entry> = things.iter().map(&maker.make).collect();
        if entries.iter().all(|entry| entry.text.is_empty()) {
            continue;
        }
        table.columns.push(maker.column);
        for (row, entry) in table.rows.iter_mut().zip(entries) {
            row.push(entry);
        }
    }
    table
}

/// Everything about the cells of a comparison.
pub(crate) fn cells(comparison: &ComparisonOutcome) -> Table {
    let mut makers = verdict_columns(comparison);
    makers.extend(time_columns());
    makers.extend(resource_columns());
    makers.extend(evidence_columns());
    let cells = comparison.cells.iter();
    let cells: Vec<&CellSummary> = cells.filter(|c| c.cell.role != Role::Part).collect();
    build(makers, &cells)
}

/// The cells that only explain others: what they took, without any verdict; nothing if there are
/// none.
pub(crate) fn parts(comparison: &ComparisonOutcome) -> Option<Table> {
    let cells = comparison.cells.iter();
    let parts: Vec<&CellSummary> = cells.filter(|c| c.cell.role == Role::Part).collect();
    let mut makers = vec![textual("cell", "what was timed", |cell: &&CellSummary| {
        Entry::text(label(cell))
    })];
    makers.extend(time_columns());
    makers.extend(resource_columns());
    makers.extend(evidence_columns());
    (!parts.is_empty()).then(|| build(makers, &parts))
}

type CellMaker<'a> = Maker<'a, &'a CellSummary>;

fn verdict_columns(comparison: &ComparisonOutcome) -> Vec<CellMaker<'_>> {
    let estimate = move |cell: &CellSummary| wording::to_baseline(comparison, cell)?.0;
    vec![
        textual("cell", "what was timed", |cell: &&CellSummary| {
            Entry::text(label(cell))
        }),
        numeric(
            "ratio",
            "time of the cell over time of the baseline; below 1 is faster",
            move |cell: &&CellSummary| {
                if cell.cell.role == Role::Baseline {
                    return Entry::number(1.0, "1.00".to_owned());
                }
                Entry::maybe(estimate(cell).map(|e| e.ratio), format::ratio)
            },
        ),
        numeric(
            "interval",
            "interval of the ratio, widened by the noise floor",
            move |cell: &&CellSummary| {
                estimate(cell).map_or_else(Entry::default, |e| {
                    Entry::number(e.low, format::interval(e.low, e.high))
                })
            },
        ),
        textual("verdict", "against the baseline", |cell: &&CellSummary| {
            let text = match cell.cell.role {
                Role::Baseline => "baseline",
                _ => wording::to_baseline(comparison, cell)
                    .map_or("", |(_, verdict)| wording::verdict(verdict)),
            };
            Entry::text(text)
        }),
        textual(
            "durability",
            "what an acknowledged write survives",
            |cell: &&CellSummary| {
                Entry::text(wording::claim(cell).map_or_else(String::new, |c| c.to_string()))
            },
        ),
    ]
}

/// Operations per second, where that is how people think of it: of mixes and of several threads.
pub(crate) fn rate(cell: &CellSummary) -> Option<f64> {
    let workload = &cell.cell.workload;
    let asked = workload.threads > 1 || workload.operation == Operation::Mix;
    let time = cell.time_ns.filter(|_| asked)?;
    Some(1e9 / time.estimate)
}

fn time_columns<'a>() -> Vec<CellMaker<'a>> {
    let latency = |get: fn(&LatencySummary) -> u64| {
        move |cell: &&CellSummary| {
            #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
            let value = cell.latency.as_ref().map(|latency| get(latency) as f64);
            Entry::maybe(value, format::time)
        }
    };
    vec![
        numeric(
            "time/op",
            "headline time of one operation, by the metric of the comparison",
            |cell: &&CellSummary| {
                let time = wording::headline_time(cell);
                Entry::number(time, format::time(time))
            },
        )
        .in_unit("ns"),
        numeric(
            "ops/s",
            "operations per second, all threads together",
            |cell: &&CellSummary| {
                Entry::maybe(rate(cell), |rate| {
                    quantity::value(Measure::Throughput, rate)
                })
            },
        ),
        numeric(
            "wall/op",
            "wall time of one operation: median of rounds",
            |cell: &&CellSummary| Entry::number(cell.wall_ns, format::time(cell.wall_ns)),
        )
        .in_unit("ns"),
        numeric(
            "drain/op",
            "bringing the written data to rest (checkpoint, close, syncfs)",
            |cell: &&CellSummary| Entry::maybe(cell.drain_ns, format::time),
        )
        .in_unit("ns"),
        numeric(
            "total/op",
            "headline time and drain together",
            |cell: &&CellSummary| Entry::maybe(cell.total_ns, format::time),
        )
        .in_unit("ns"),
        numeric(
            "p50",
            "median latency of single operations",
            latency(|l| l.p50_ns),
        )
        .in_unit("ns"),
        numeric(
            "p95",
            "95% of the operations took at most this",
            latency(|l| l.p95_ns),
        )
        .in_unit("ns"),
        numeric(
            "p99",
            "99% of the operations took at most this",
            latency(|l| l.p99_ns),
        )
        .in_unit("ns"),
        numeric(
            "p99.9",
            "99.9% of the operations took at most this",
            latency(|l| l.p999_ns),
        )
        .in_unit("ns"),
        numeric(
            "× floor",
            "time over the time of the cheapest conceivable way to do the same work",
            |cell: &&CellSummary| {
                Entry::maybe(cell.multiple_of_floor.map(|e| e.ratio), format::ratio)
            },
        ),
    ]
}

fn resource_columns<'a>() -> Vec<CellMaker<'a>> {
    vec![
        numeric(
            "CPU/op",
            "CPU time of one operation",
            |cell: &&CellSummary| Entry::number(cell.cpu_ns, format::time(cell.cpu_ns)),
        )
        .in_unit("ns"),
        numeric(
            "kernel",
            "share of the CPU time in the kernel",
            |cell: &&CellSummary| {
                Entry::number(cell.kernel_share, format::percent(cell.kernel_share))
            },
        ),
        numeric(
            "read calls/op",
            "read-like system calls",
            |cell: &&CellSummary| Entry::maybe(cell.read_calls, format::per_operation),
        ),
        numeric(
            "write calls/op",
            "write-like system calls",
            |cell: &&CellSummary| Entry::maybe(cell.write_calls, format::per_operation),
        ),
        numeric(
            "bytes/op",
            "bytes delivered or written",
            |cell: &&CellSummary| Entry::number(cell.bytes, format::bytes(cell.bytes)),
        )
        .in_unit("B"),
        numeric(
            "storage read/op",
            "bytes fetched from storage",
            |cell: &&CellSummary| {
                let bytes = cell.storage_read_bytes;
                Entry::number(bytes, format::bytes(bytes))
            },
        )
        .in_unit("B"),
        numeric(
            "storage written/op",
            "bytes sent to storage",
            |cell: &&CellSummary| Entry::maybe(cell.storage_write_bytes, format::bytes),
        )
        .in_unit("B"),
        numeric(
            "write ampl.",
            "bytes sent to storage, bringing the data to rest included, per byte that the operations \
             wrote",
            |cell: &&CellSummary| Entry::maybe(cell.write_amplification, format::ratio),
        ),
        numeric(
            "conflicts",
            "transactions that the engine refused because of another one and that were tried again",
            |cell: &&CellSummary| {
                #[expect(clippy::cast_precision_loss, reason = "only sorted by")]
                let sort = cell.conflicts as f64;
                let some = (cell.conflicts > 0).then_some(sort);
                Entry::maybe(some, |_| format::count(cell.conflicts))
            },
        ),
        numeric(
            "syncs/commit",
            "sync calls per committed transaction",
            |cell: &&CellSummary| {
                let writes = cell.cell.workload.operation.writes();
                let syncs = writes.then_some(cell.syncs_per_commit);
                Entry::maybe(syncs, format::per_operation)
            },
        ),
        numeric("faults/op", "page faults", |cell: &&CellSummary| {
            Entry::number(cell.faults, format::per_operation(cell.faults))
        }),
        numeric(
            "peak memory",
            "largest resident set of a worker",
            |cell: &&CellSummary| {
                #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
                let bytes = cell.peak_memory_bytes.map(|bytes| bytes as f64);
                Entry::maybe(bytes, format::bytes)
            },
        )
        .in_unit("B"),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
fn evidence_columns<'a>() -> Vec<CellMaker<'a>> {
    vec![
        numeric("rounds", "rounds measured", |cell: &&CellSummary| {
            Entry::number(cell.rounds as f64, cell.rounds.to_string())
        }),
        numeric("operations", "operations timed", |cell: &&CellSummary| {
            Entry::number(cell.operations as f64, format::count(cell.operations))
        }),
        numeric(
            "values verified",
            "values read back afterwards and compared byte for byte",
            |cell: &&CellSummary| {
                cell.verification.as_ref().map_or_else(Entry::default, |v| {
                    let overwritten = if v.overwritten > 0 {
                        format!(" ({} overwritten)", format::count(v.overwritten))
                    } else {
                        String::new()
                    };
                    let text = format!("{}{overwritten}", format::count(v.values));
                    Entry::number(v.values as f64, text)
                })
            },
        ),
    ]
}

/// Latency by what the operations of a mix did; nothing without mixes.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn latencies(comparison: &ComparisonOutcome) -> Option<Table> {
    type Row<'a> = (&'a CellSummary, Action, &'a LatencySummary);
    let rows: Vec<Row<'_>> = comparison
        .cells
        .iter()
        .flat_map(|cell| {
            let latencies = cell.latencies.iter();
            latencies.map(move |(action, summary)| (cell, *action, summary))
        })
        .collect();
    let time = |get: fn(&LatencySummary) -> f64| {
        move |row: &Row<'_>| Entry::number(get(row.2), format::time(get(row.2)))
    };
    let makers: Vec<Maker<'_, Row<'_>>> = vec![
        textual("cell", "what was timed", |row: &Row<'_>| {
            Entry::text(label(row.0))
        }),
        textual("operation", "what it did", |row: &Row<'_>| {
            Entry::text(row.1.name())
        }),
        textual(
            "durability",
            "what an acknowledged write survives",
            |row: &Row<'_>| {
                let claim = wording::claim(row.0);
                Entry::text(claim.map_or_else(String::new, |claim| claim.to_string()))
            },
        ),
        numeric("count", "operations timed singly", |row: &Row<'_>| {
            Entry::number(row.2.count as f64, format::count(row.2.count))
        }),
        numeric("mean", "", time(|l| l.mean_ns)).in_unit("ns"),
        numeric(
            "p50",
            "half of them took at most this",
            time(|l| l.p50_ns as f64),
        )
        .in_unit("ns"),
        numeric(
            "p95",
            "95% of them took at most this",
            time(|l| l.p95_ns as f64),
        )
        .in_unit("ns"),
        numeric(
            "p99",
            "99% of them took at most this",
            time(|l| l.p99_ns as f64),
        )
        .in_unit("ns"),
        numeric(
            "p99.9",
            "99.9% of them took at most this",
            time(|l| l.p999_ns as f64),
        )
        .in_unit("ns"),
        numeric("largest", "", time(|l| l.max_ns as f64)).in_unit("ns"),
    ];
    (!rows.is_empty()).then(|| build(makers, &rows))
}

/// Latency of single operations, a row for each cell that has any.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn tails(comparison: &ComparisonOutcome) -> Table {
    type Row<'a> = (&'a CellSummary, &'a LatencySummary);
    let rows = comparison.cells.iter();
    let rows: Vec<Row<'_>> = rows
        .filter_map(|cell| Some((cell, cell.latency.as_ref()?)))
        .collect();
    let time = |get: fn(&LatencySummary) -> f64| {
        move |row: &Row<'_>| Entry::number(get(row.1), format::time(get(row.1)))
    };
    let at = |percentile: f64| {
        move |row: &Row<'_>| {
            let mut curve = row.1.curve.iter();
            let point = curve.find(|(known, _)| known.to_bits() == percentile.to_bits());
            Entry::maybe(point.map(|(_, ns)| *ns as f64), format::time)
        }
    };
    let help = "at most this";
    let makers: Vec<Maker<'_, Row<'_>>> = vec![
        textual("cell", "what was timed", |row: &Row<'_>| {
            Entry::text(label(row.0))
        }),
        numeric("count", "operations timed singly", |row: &Row<'_>| {
            Entry::number(row.1.count as f64, format::count(row.1.count))
        }),
        numeric("mean", "", time(|l| l.mean_ns)).in_unit("ns"),
        numeric("p50", help, time(|l| l.p50_ns as f64)).in_unit("ns"),
        numeric("p90", help, time(|l| l.p90_ns as f64)).in_unit("ns"),
        numeric("p95", help, time(|l| l.p95_ns as f64)).in_unit("ns"),
        numeric("p99", help, time(|l| l.p99_ns as f64)).in_unit("ns"),
        numeric("p99.9", help, time(|l| l.p999_ns as f64)).in_unit("ns"),
        numeric(
            "p99.99",
            "at most this; empty where too few operations lie beyond it",
            at(99.99),
        )
        .in_unit("ns"),
        numeric("largest", "", time(|l| l.max_ns as f64)).in_unit("ns"),
    ];
    build(makers, &rows)
}

/// One ratio of a matrix or of a sweep.
pub(crate) struct Ratio {
    /// The row of the matrix; empty for a sweep.
    pub(crate) setting: String,
    /// Bytes of a value.
    pub(crate) size: u64,
    pub(crate) estimate: Option<RatioEstimate>,
    /// The verdict in words.
    pub(crate) verdict: String,
    /// The published ratio, as it was published.
    pub(crate) published: Option<String>,
}

/// Every ratio of a matrix or of a sweep.
#[expect(clippy::cast_precision_loss, reason = "only sorted by")]
pub(crate) fn ratios(ratios: &[Ratio]) -> Table {
    let estimated = |make: fn(&RatioEstimate) -> Entry| {
        move |ratio: &Ratio| ratio.estimate.as_ref().map_or_else(Entry::default, make)
    };
    let makers = vec![
        textual("setting", "the row of the matrix", |ratio: &Ratio| {
            Entry::text(&ratio.setting)
        }),
        numeric("size", "size of a value", |ratio: &Ratio| {
            Entry::number(ratio.size as f64, format::size(ratio.size))
        })
        .in_unit("B"),
        numeric(
            "ratio",
            "see above the drawing",
            estimated(|e| Entry::number(e.ratio, format::ratio(e.ratio))),
        ),
        numeric(
            "interval",
            "interval of the ratio, widened by the noise floor",
            estimated(|e| Entry::number(e.low, format::interval(e.low, e.high))),
        ),
        numeric(
            "rounds",
            "rounds that the ratio rests on",
            estimated(|e| Entry::number(e.rounds as f64, e.rounds.to_string())),
        ),
        textual("verdict", "", |ratio: &Ratio| Entry::text(&ratio.verdict)),
        numeric("published", "the published ratio", |ratio: &Ratio| {
            Entry::text(ratio.published.clone().unwrap_or_default())
        }),
    ];
    build(makers, ratios)
}

/// A cell's label with its part in the comparison, where that is not to be compared.
pub(crate) fn label(cell: &CellSummary) -> String {
    let label = &cell.cell.label;
    match cell.cell.role {
        Role::Control if !label.to_lowercase().contains("control") => format!("{label} (control)"),
        Role::Floor if !label.to_lowercase().contains("floor") => format!("{label} (floor)"),
        _ => label.clone(),
    }
}

/// What the built stores take on disk.
pub(crate) fn space(rows: &[&SpaceRow]) -> Table {
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    fn bytes(bytes: u64) -> Entry {
        Entry::number(bytes as f64, format_bytes(bytes))
    }
    #[expect(clippy::cast_precision_loss, reason = "only sorted by")]
    fn count(count: u64) -> Entry {
        Entry::number(count as f64, format::count(count))
    }
    let makers = vec![
        textual("store", "", |row: &&SpaceRow| Entry::text(&row.label)),
        numeric("values", "bytes of the values in it", |row: &&SpaceRow| {
            bytes(row.value_bytes)
        })
        .in_unit("B"),
        numeric(
            "allocated",
            "bytes of allocated blocks, as du counts",
            |row: &&SpaceRow| bytes(row.footprint.allocated_bytes),
        )
        .in_unit("B"),
        numeric(
            "relative",
            "allocated bytes beside those of the first store that the study names",
            |row: &&SpaceRow| Entry::maybe(row.ratio, relative),
        ),
        textual(
            "published",
            "the figure of the published study, and how it relates to its first one",
            |row: &&SpaceRow| Entry::text(published(row)),
        ),
        numeric("apparent", "sum of the file lengths", |row: &&SpaceRow| {
            bytes(row.footprint.apparent_bytes)
        })
        .in_unit("B"),
        numeric(
            "allocated/value byte",
            "allocated bytes per byte of the values",
            |row: &&SpaceRow| Entry::maybe(overhead(row), |ratio| format!("{ratio:.3}")),
        ),
        numeric("files", "", |row: &&SpaceRow| count(row.footprint.files)),
        numeric("directories", "", |row: &&SpaceRow| {
            count(row.footprint.directories)
        }),
    ];
    build(makers, rows)
}

/// Allocated bytes per byte of values.
#[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
pub(crate) fn overhead(row: &SpaceRow) -> Option<f64> {
    (row.value_bytes > 0).then(|| row.footprint.allocated_bytes as f64 / row.value_bytes as f64)
}

/// `+13%`, or `reference` for the store that the others are related to.
pub(crate) fn relative(ratio: f64) -> String {
    if ratio.to_bits() == 1.0_f64.to_bits() {
        return "reference".to_owned();
    }
    format::difference(ratio)
}

/// `1.23 GB (+20%)`
pub(crate) fn published_in_short(row: &SpaceRow) -> Option<String> {
    let (_, bytes, _) = row.published.as_ref()?;
    Some(format!(
        "{}{}",
        format_bytes(*bytes),
        published_relative(row)
    ))
}

/// ` (+20%)`, how a published figure relates to that of the reference; nothing for itself.
fn published_relative(row: &SpaceRow) -> String {
    row.published_ratio
        .filter(|ratio| ratio.to_bits() != 1.0_f64.to_bits())
        .map(|ratio| format!(" ({})", format::difference(ratio)))
        .unwrap_or_default()
}

/// The published figure beside a store: `1,228,800,000 bytes (+20%), 100,000 values`.
pub(crate) fn published(row: &SpaceRow) -> String {
    let Some((what, bytes, values)) = &row.published else {
        return String::new();
    };
    let what = if *what == row.label {
        String::new()
    } else {
        format!("{what}: ")
    };
    let relative = published_relative(row);
    let values = values
        .map(|values| format!(", {} values", format::count(values)))
        .unwrap_or_default();
    format!("{what}{} bytes{relative}{values}", format::count(*bytes))
}

/// Settings as asked and as the engines report them, one row per cell.
pub(crate) fn settings(comparison: &ComparisonOutcome) -> Table {
    let makers: Vec<CellMaker<'_>> = vec![
        textual("cell", "", |cell: &&CellSummary| Entry::text(label(cell))),
        textual("store", "as asked for", |cell: &&CellSummary| {
            Entry::text(cell.cell.store.to_string())
        }),
        textual("workload", "", |cell: &&CellSummary| {
            let workload = &cell.cell.workload;
            let delivery = if workload.operation.writes() {
                String::new()
            } else {
                format!(", {}", workload.delivery)
            };
            let threads = match workload.threads {
                1 => String::new(),
                threads => format!(", {threads} threads"),
            };
            Entry::text(format!(
                "{} {}, {}, {}{delivery}{threads}",
                workload.cache, workload.operation, workload.order, workload.per_transaction
            ))
        }),
        textual(
            "effective settings",
            "read back from the engine",
            |cell: &&CellSummary| {
                Entry::text(cell.effective.as_ref().map_or_else(
                    || "not reported".to_owned(),
                    |settings| settings.to_string().replace(',', ", "),
                ))
            },
        ),
        textual(
            "not taken",
            "asked for, but reported otherwise",
            |cell: &&CellSummary| {
                let differences = cell
                    .effective
                    .as_ref()
                    .map(|effective| cell.cell.settings.differences(effective))
                    .unwrap_or_default();
                let texts: Vec<String> = differences
                    .iter()
                    .map(|(name, asked, got)| format!("{name}: asked {asked}, got {got}"))
                    .collect();
                Entry::text(texts.join("; "))
            },
        ),
    ];
    let cells: Vec<&CellSummary> = comparison.cells.iter().collect();
    build(makers, &cells)
}
