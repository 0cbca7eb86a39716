//! What else runs, and what it takes.

use super::{Context, Finding, Root, Row, percent, row};
use std::collections::BTreeMap;
use stowplan_model::{WarningKind, format_bytes};

/// Load per CPU above which other work clearly takes part.
const LOAD_PER_CPU: f64 = 0.5;
/// Writes of others above this compete with ours; below are logs and the like.
const FOREIGN_BYTES_PER_SECOND: u64 = 1_000_000;
/// A process that uses more of a CPU takes part.
const BUSY: f64 = 0.1;
/// As many are named.
const NAMED: usize = 3;
/// Above this share of the time, intervals are widened by 3% instead of 1% (docs/method.md).
const WAITING: f64 = 0.05;
/// Above this share of the time, what the host takes away matters.
const STOLEN: f64 = 0.01;

const WAITING_FOR_CPU: &str = "waiting for CPU";

/// What is looked at here.
pub(super) const ROWS: &[Row] = &[
    row(
        "load",
        "Beside two busy processes warm reads took 3 times as long by the wall clock, and 2 to 4% longer after waiting for a CPU was subtracted.",
        load,
    ),
    row(
        "busy processes",
        "They take CPUs, and parts of the caches, from what is measured.",
        busy_processes,
    ),
    row(
        WAITING_FOR_CPU,
        "It is subtracted, else the same precision takes 9 to 85 times as long. Above 5% intervals are widened by 3% instead of 1%.",
        waiting,
    ),
    row(
        "stolen time",
        "Time that the host takes away cannot be told from the store's own.",
        stolen_time,
    ),
    row(
        "others' writes",
        "They stand in the same queue of the device as cold reads and syncs.",
        writes,
    ),
];

#[derive(Debug, Default)]
pub(super) struct Facts {
    /// Bytes per second.
    pub(super) foreign_write_rate: Option<u64>,
    /// The busiest first; nothing where processes cannot be seen.
    pub(super) busy: Option<Vec<Busy>>,
    /// Share of a spin; nothing where the system does not tell.
    pub(super) waiting: Option<f64>,
    /// Share of the machine's CPU time that its host took away meanwhile.
    pub(super) stolen: Option<f64>,
}

/// A process and the CPU time it has used, in ticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Process {
    id: u32,
    name: String,
    ticks: u64,
}

/// A process that uses CPUs: 1 is a whole one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Busy {
    id: u32,
    name: String,
    share: f64,
}

/// Every process but this one.
pub(super) fn processes(root: &Root) -> Vec<Process> {
    let own = std::process::id();
    root.entries("/proc")
        .into_iter()
        .filter_map(|entry| {
            let id: u32 = entry.file_name()?.to_str()?.parse().ok()?;
            parse_process(id, &root.text(entry.join("stat"))?)
        })
        .filter(|process| process.id != own)
        .collect()
}

/// `17 (name with ) in it) S 1 …`: user and system time are the 12th and 13th behind the name.
fn parse_process(id: u32, stat: &str) -> Option<Process> {
    let (head, rest) = stat.rsplit_once(')')?;
    let (_, name) = head.split_once('(')?;
    let mut fields = rest.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(Process {
        id,
        name: name.to_owned(),
        ticks: user.checked_add(system)?,
    })
}

/// Who used more than a little of a CPU between two looks, the busiest first; nothing where there
/// is nobody to be seen, as without `/proc`.
pub(super) fn busy(before: &[Process], after: &[Process], seconds: f64) -> Option<Vec<Busy>> {
    if before.is_empty() {
        return None;
    }
    let ticks: BTreeMap<u32, u64> = before.iter().map(|p| (p.id, p.ticks)).collect();
    #[expect(clippy::cast_precision_loss, reason = "a share for people")]
    let per_second = rustix::param::clock_ticks_per_second() as f64;
    let mut busy: Vec<Busy> = after
        .iter()
        .filter_map(|process| {
            let used = process.ticks.saturating_sub(*ticks.get(&process.id)?);
            #[expect(clippy::cast_precision_loss, reason = "a share for people")]
            let share = used as f64 / per_second / seconds;
            (share > BUSY).then(|| Busy {
                id: process.id,
                name: process.name.clone(),
                share,
            })
        })
        .collect();
    busy.sort_by(|a, b| b.share.total_cmp(&a.share));
    Some(busy)
}

/// CPU time of the whole machine, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CpuTime {
    all: u64,
    stolen: u64,
}

pub(super) fn cpu_time(root: &Root) -> Option<CpuTime> {
    parse_cpu_time(&root.text("/proc/stat")?)
}

/// `cpu user nice system idle iowait irq softirq steal …`
fn parse_cpu_time(stat: &str) -> Option<CpuTime> {
    let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
    let fields = line.split_whitespace().take(8);
    let fields: Vec<u64> = fields.map_while(|field| field.parse().ok()).collect();
    Some(CpuTime {
        all: fields.iter().copied().fold(0, u64::saturating_add),
        stolen: *fields.get(7)?,
    })
}

/// The share of the machine's CPU time that its host took away between two looks.
#[expect(clippy::cast_precision_loss, reason = "a share for people")]
pub(super) fn stolen(before: Option<CpuTime>, after: Option<CpuTime>) -> Option<f64> {
    let (before, after) = (before?, after?);
    let stolen = after.stolen.saturating_sub(before.stolen);
    let all = after.all.saturating_sub(before.all);
    Some(stolen as f64 / all.max(1) as f64)
}

/// Whether something else runs; that a system does not tell is nothing of the sort.
pub(super) fn found(context: &Context<'_>) -> bool {
    let untold = waiting(context).kind == Some(WarningKind::NoRunQueueDelay);
    ROWS.iter()
        .filter(|row| !(untold && row.name == WAITING_FOR_CPU))
        .any(|row| (row.judge)(context).spoils())
}

fn load(context: &Context<'_>) -> Finding {
    let Some(load) = context.environment.load_average else {
        return Finding::untold();
    };
    let count = context.environment.cpus.max(1);
    let cpus = match count {
        1 => "1 CPU".to_owned(),
        cpus => format!("{cpus} CPUs"),
    };
    Finding::judged(
        format!("{load:.2} on {cpus} over the last minute"),
        load > LOAD_PER_CPU * f64::from(count),
        "Stop other work, or measure more rounds: waiting for a CPU is subtracted, but caches and \
         disks are shared.",
    )
    .of(WarningKind::Load)
}

fn busy_processes(context: &Context<'_>) -> Finding {
    let Some(busy) = &context.facts.others.busy else {
        return Finding::unavailable("processes of others are not seen here");
    };
    if busy.is_empty() {
        return Finding::ok("none above a tenth of a CPU");
    }
    let named = busy.iter().take(NAMED).map(|process| {
        let (name, id, share) = (&process.name, process.id, process.share * 100.0);
        format!("{name} ({id}) {share:.0}%")
    });
    let named: Vec<String> = named.collect();
    let more = match busy.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Finding::warning(
        format!("{}{more} of a CPU", named.join(", ")),
        "Stop them, or wait until they are done; 'top' shows them.",
    )
}

fn waiting(context: &Context<'_>) -> Finding {
    if !context.environment.run_queue_delay {
        return Finding::warning(
            "the system does not tell, so it cannot be subtracted",
            "Run on an otherwise idle machine, or on Linux with /proc/thread-self/schedstat.",
        )
        .of(WarningKind::NoRunQueueDelay);
    }
    let Some(share) = context.facts.others.waiting else {
        return Finding::untold();
    };
    Finding::judged(
        format!("{} of the time, and it can be subtracted", percent(share)),
        share > WAITING,
        "Stop other work, or give it other CPUs (taskset).",
    )
}

fn stolen_time(context: &Context<'_>) -> Finding {
    let Some(stolen) = context.facts.others.stolen else {
        return Finding::untold();
    };
    Finding::judged(
        format!("{} while this looked", percent(stolen)),
        stolen > STOLEN,
        "Take a machine whose CPUs are not shared, or another hour of the day.",
    )
}

fn writes(context: &Context<'_>) -> Finding {
    let device = context.environment.device.as_ref();
    let (Some(rate), Some(device)) = (context.facts.others.foreign_write_rate, device) else {
        return Finding::untold();
    };
    Finding::judged(
        format!("{} per second to {}", format_bytes(rate), device.name),
        rate > FOREIGN_BYTES_PER_SECOND,
        "Stop them (iotop shows who it is), or do not trust cold reads and durable writes.",
    )
    .of(WarningKind::ForeignWrites)
}

#[cfg(test)]
mod tests {
    use super::super::super::root::MadeUp;
    use super::*;
    use proptest::prelude::*;

    const STAT: &str = "(a) b) R 1 1 1 0 -1 4194304 9 0 0 0 700 34 0 0 20 0 1 0 5 1 1\n";

    fn process(id: u32, ticks: u64) -> Process {
        Process {
            id,
            name: format!("p{id}"),
            ticks,
        }
    }

    #[test]
    fn a_process_is_read_whatever_its_name() {
        let own = std::process::id();
        let tree = MadeUp::of(&[
            ("/proc/17/stat", &*format!("17 {STAT}")),
            (&*format!("/proc/{own}/stat"), &*format!("{own} {STAT}")),
            ("/proc/18/stat", "18 (gone"),
            ("/proc/self/stat", "1"),
        ]);
        let expected = Process {
            id: 17,
            name: "a) b".to_owned(),
            ticks: 734,
        };
        assert_eq!(processes(&tree.root()), [expected]);
    }

    #[test]
    fn the_busiest_come_first_and_idle_or_new_ones_not_at_all() {
        let hertz = rustix::param::clock_ticks_per_second();
        let before = [process(1, 0), process(2, 50), process(3, 7)];
        let after = [
            process(1, hertz / 4),
            process(2, 50 + hertz),
            process(3, 7),
            process(4, hertz),
        ];
        let found = busy(&before, &after, 1.0).unwrap();
        let ids: Vec<u32> = found.iter().map(|busy| busy.id).collect();
        assert_eq!(ids, [2, 1]);
        assert!((found[0].share - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(busy(&[], &after, 1.0), None);
    }

    #[test]
    fn stolen_time_is_the_eighth_field() {
        let time = parse_cpu_time("cpu  100 0 50 800 10 0 0 40 7 7\ncpu0 1\n").unwrap();
        assert_eq!(
            time,
            CpuTime {
                all: 1000,
                stolen: 40
            }
        );
        let later = CpuTime {
            all: 1100,
            stolen: 45,
        };
        let stolen = stolen(Some(time), Some(later)).unwrap();
        assert!((stolen - 0.05).abs() < 1e-9);
        assert_eq!(parse_cpu_time("cpu 1 2 3 4\n"), None, "an old kernel");
    }

    proptest! {
        #[test]
        fn garbage_is_unknown_and_never_a_panic(text in "[ -~\n]{0,200}") {
            let _ = parse_process(1, &text);
            let _ = parse_cpu_time(&text);
        }
    }
}
