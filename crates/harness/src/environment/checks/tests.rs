//! Whole machines, made up.

use super::super::root::MadeUp;
use super::*;
use stowplan_model::{Device, FileSystem, Warning};

/// A laptop on mains, with nothing to complain about.
fn laptop() -> MadeUp {
    let cpu = "/sys/devices/system/cpu";
    let cache = format!("{cpu}/cpu0/cache/index3");
    MadeUp::of(&[
        (
            "/etc/os-release",
            "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\n",
        ),
        (
            "/proc/cpuinfo",
            "model name\t: AMD Ryzen 7 7840U\nflags\t: fpu sse\n",
        ),
        (
            "/proc/meminfo",
            "MemTotal: 32000000 kB\nMemAvailable: 28000000 kB\n",
        ),
        ("/proc/loadavg", "0.05 0.03 0.01 1/900 4711\n"),
        ("/proc/self/cgroup", "0::/user.slice\n"),
        (
            "/proc/self/mountinfo",
            "27 1 259:2 / / rw,relatime - ext4 /dev/nvme0n1p2 rw\n",
        ),
        (
            "/proc/9/stat",
            "9 (bash) S 1 1 1 0 -1 4194304 9 0 0 0 7 3 0 0 20 0 1 0 5 1 1\n",
        ),
        (
            &*format!("{cpu}/cpu0/cpufreq/scaling_governor"),
            "performance\n",
        ),
        (&*format!("{cache}/level"), "3\n"),
        (&*format!("{cache}/type"), "Unified\n"),
        (&*format!("{cache}/size"), "16384K\n"),
        ("/sys/class/power_supply/BAT0/type", "Battery\n"),
        ("/sys/class/power_supply/BAT0/status", "Full\n"),
        (
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            "tsc\n",
        ),
        ("/sys/dev/block/259:2/partition", "2\n"),
        ("/sys/dev/block/queue/rotational", "0\n"),
        ("/sys/dev/block/queue/read_ahead_kb", "128\n"),
    ])
}

fn demand() -> Demand {
    Demand {
        what: "study fasterthanfs".to_owned(),
        disk_bytes: 1 << 20,
        least_disk_bytes: 1 << 16,
        cached_bytes: 4 << 30,
        working_set_bytes: Some(1 << 30),
    }
}

/// What is found on a made-up machine; what is found out by doing it is left out.
fn found_on(machine: &MadeUp) -> Vec<Check> {
    let root = machine.root();
    let environment = Environment {
        optimised: true,
        cpus: 8,
        ..examine_below(&root, Path::new("."))
    };
    let facts = Facts::gather(&root, Path::new("."), &environment);
    let facts = Facts {
        probe: None,
        waiting: Some(0.001),
        ..facts
    };
    checks(&Context {
        environment: &environment,
        demand: &demand(),
        facts: &facts,
    })
}

fn of_state(checks: &[Check], state: CheckState) -> Vec<&str> {
    checks
        .iter()
        .filter(|check| check.state == state)
        .map(|check| check.name.as_str())
        .collect()
}

fn found<'a>(checks: &'a [Check], name: &str) -> &'a Check {
    checks.iter().find(|check| check.name == name).unwrap()
}

#[test]
fn a_quiet_machine_has_neither_problems_nor_warnings() {
    let checks = found_on(&laptop());
    assert_eq!(of_state(&checks, CheckState::Problem), [""; 0]);
    let mut warnings = of_state(&checks, CheckState::Warning);
    // Those are this system's own, not the made-up one's.
    warnings.retain(|name| !matches!(*name, "clock" | "waiting for CPU"));
    assert_eq!(warnings, [""; 0]);
    assert_eq!(found(&checks, "CPUs").found, "8, AMD Ryzen 7 7840U");
    assert_eq!(
        found(&checks, "file system").found,
        "ext4 on /, from /dev/nvme0n1p2"
    );
    assert_eq!(found(&checks, "read-ahead").found, "128 KiB");
}

#[test]
fn each_trouble_of_a_machine_is_found_under_its_name() {
    let troubles: [(&str, &str, &str); 12] = [
        ("file scanner", "/proc/11/comm", "clamonacc\n"),
        (
            "governor",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "powersave\n",
        ),
        ("virtual machine", "/sys/class/dmi/id/product_name", "KVM\n"),
        (
            "clock",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            "hpet\n",
        ),
        (
            "CPUs",
            "/sys/fs/cgroup/user.slice/cpu.max",
            "50000 100000\n",
        ),
        ("load", "/proc/loadavg", "9.00 1 1 1/9 9\n"),
        (
            "page-out",
            "/sys/module/damon_reclaim/parameters/enabled",
            "Y\n",
        ),
        (
            "memory",
            "/sys/fs/cgroup/user.slice/memory.max",
            "1073741824\n",
        ),
        (
            "working set",
            "/sys/devices/system/cpu/cpu0/cache/index3/size",
            "512M\n",
        ),
        (
            "mount options",
            "/proc/self/mountinfo",
            "27 1 259:2 / / rw,strictatime - ext4 /dev/x rw\n",
        ),
        (
            "mount options",
            "/proc/fs/ext4/nvme0n1p2/options",
            "rw\nbarrier\nuser_xattr\n",
        ),
        ("read-ahead", "/sys/dev/block/queue/read_ahead_kb", "8192\n"),
    ];
    for (name, file, text) in troubles {
        let machine = laptop();
        machine.write(file, text);
        let checks = found_on(&machine);
        let check = found(&checks, name);
        assert_eq!(check.state, CheckState::Warning, "{check:?}");
        assert!(check.mend.is_some(), "{check:?}");
    }
    let machine = laptop();
    machine.write(
        "/proc/self/mountinfo",
        "27 1 0:25 / / rw - tmpfs tmpfs rw\n",
    );
    assert_eq!(
        of_state(&found_on(&machine), CheckState::Problem),
        ["file system"]
    );
}

#[test]
fn where_the_system_tells_nothing_everything_is_unavailable_and_nothing_a_problem() {
    let checks = found_on(&MadeUp::of(&[]));
    assert_eq!(of_state(&checks, CheckState::Problem), [""; 0]);
    for name in ["governor", "load", "memory", "file system", "FUSE"] {
        assert_eq!(
            found(&checks, name).state,
            CheckState::Unavailable,
            "{name}"
        );
    }
}

#[test]
fn names_are_single_and_short_and_texts_are_sentences_of_one_line() {
    let checks = found_on(&laptop());
    let mut names: Vec<&str> = checks.iter().map(|check| check.name.as_str()).collect();
    let all = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all);
    for check in &checks {
        assert!(check.name.chars().count() <= 16, "{}", check.name);
        assert!(
            check.why.ends_with('.') && !check.why.contains('\n'),
            "{}",
            check.why
        );
        assert!(
            !check.found.is_empty() && !check.found.contains('\n'),
            "{check:?}"
        );
    }
    let groups: Vec<CheckGroup> = checks.iter().map(|check| check.group).collect();
    assert!(groups.is_sorted_by_key(|group| CheckGroup::ALL.iter().position(|g| g == group)));
}

/// The check of syncs, on a file system and with these times.
fn sync_check(kind: &str, syncs_ns: &[u64]) -> Check {
    let environment = Environment {
        optimised: true,
        cpus: 8,
        file_system: FileSystem {
            kind: kind.to_owned(),
            ..FileSystem::default()
        },
        ..Environment::default()
    };
    let checks = checks(&Context {
        environment: &environment,
        demand: &demand(),
        facts: &Facts {
            probe: Some(Ok(probe::Disk::made_up(syncs_ns.to_vec(), None))),
            ..Facts::default()
        },
    });
    found(&checks, "sync").clone()
}

#[test]
fn a_sync_that_is_faster_than_any_device_is_a_problem_and_an_unsteady_one_a_warning() {
    assert_eq!(sync_check("ext4", &[2_000; 20]).state, CheckState::Problem);
    assert_eq!(sync_check("ext4", &[90_000; 20]).state, CheckState::Ok);
    let mut unsteady = vec![90_000; 10];
    unsteady.extend([4_000_000; 10]);
    assert_eq!(sync_check("ext4", &unsteady).state, CheckState::Warning);
    assert_eq!(
        sync_check("tmpfs", &[900; 20]).state,
        CheckState::Unavailable
    );
}

#[test]
fn this_machine_is_looked_at_and_nothing_stays_behind() {
    let directory = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let checkup = check_up(directory.path(), &demand()).unwrap();
    assert!(checkup.checks.len() > 20);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    let error = check_up(&directory.path().join("no"), &demand()).unwrap_err();
    assert!(error.to_string().contains("no such directory"), "{error}");
}

/// What a run would be warned of, on a machine about which nothing else is known.
fn warned(
    environment: &Environment,
    demand: &Demand,
    foreign_write_rate: Option<u64>,
) -> Vec<Warning> {
    let facts = Facts {
        foreign_write_rate,
        ..Facts::default()
    };
    warnings_by(&Context {
        environment,
        demand,
        facts: &facts,
    })
}

/// A machine and a request without any trouble.
fn quiet() -> (Environment, Demand) {
    let environment = Environment {
        cpus: 2,
        last_level_cache_bytes: Some(32 << 20),
        governor: Some("performance".into()),
        memory_bytes: 16 << 30,
        memory_available_bytes: 8 << 30,
        load_average: Some(0.2),
        on_battery: Some(false),
        clock_source: Some("tsc".into()),
        run_queue_delay: true,
        residency_check: Some("cachestat".into()),
        file_system: FileSystem {
            kind: "ext4".into(),
            mount_point: "/".into(),
            ..FileSystem::default()
        },
        device: Some(Device {
            name: "vda".into(),
            ..Device::default()
        }),
        optimised: true,
        ..Environment::default()
    };
    let demand = Demand {
        what: "study s".to_owned(),
        cached_bytes: 3 << 30,
        working_set_bytes: Some(1 << 30),
        ..Demand::default()
    };
    (environment, demand)
}

#[test]
fn a_run_is_warned_of_nothing_on_a_quiet_machine() {
    let (environment, demand) = quiet();
    assert_eq!(warned(&environment, &demand, Some(10_000)), []);
}

#[test]
fn unknown_facts_are_no_reason_to_warn_but_missing_means_are() {
    let environment = Environment {
        optimised: true,
        ..Environment::default()
    };
    let found = warned(&environment, &Demand::default(), None);
    let kinds: Vec<_> = found.iter().map(|warning| warning.kind).collect();
    assert_eq!(kinds, [WarningKind::NoRunQueueDelay]);
}

#[test]
fn a_run_is_warned_of_each_trouble_and_of_no_other_in_the_words_of_the_doctor() {
    type Spoil = fn(&mut Environment, &mut Demand);
    let troubles: [(WarningKind, &str, Spoil); 10] = [
        (WarningKind::DebugBuild, "build", |e, _| e.optimised = false),
        (WarningKind::MemoryFileSystem, "file system", |e, _| {
            e.file_system.kind = "tmpfs".into();
        }),
        (WarningKind::Other, "file system", |e, _| {
            e.file_system.kind = "nfs4".into();
        }),
        (WarningKind::Other, "mount options", |e, _| {
            e.file_system.options = "rw,nobarrier".into();
        }),
        (WarningKind::Memory, "memory", |_, a| {
            a.cached_bytes = 9 << 30;
        }),
        (WarningKind::WorkingSet, "working set", |_, a| {
            a.working_set_bytes = Some(100 << 20);
        }),
        (WarningKind::Load, "load", |e, _| e.load_average = Some(1.1)),
        (WarningKind::Governor, "governor", |e, _| {
            e.governor = Some("powersave".into());
        }),
        (WarningKind::ClockSource, "clock", |e, _| {
            e.clock_source = Some("acpi_pm".into());
        }),
        (WarningKind::NoRunQueueDelay, "waiting for CPU", |e, _| {
            e.run_queue_delay = false;
        }),
    ];
    for (kind, name, spoil) in troubles {
        let (mut environment, mut demand) = quiet();
        spoil(&mut environment, &mut demand);
        let found = warned(&environment, &demand, None);
        let kinds: Vec<_> = found.iter().map(|warning| warning.kind).collect();
        assert_eq!(kinds, [kind], "{name}");
        let facts = Facts::default();
        let checks = checks(&Context {
            environment: &environment,
            demand: &demand,
            facts: &facts,
        });
        let check = checks.iter().find(|check| check.name == name).unwrap();
        let (message, advice) = (&found[0].message, &found[0].advice);
        assert!(
            message.contains(&check.found) && message.ends_with(&check.why),
            "{message}"
        );
        assert_eq!(Some(advice), check.mend.as_ref());
        for text in [message, advice] {
            assert!(text.ends_with('.') && !text.contains('\n'), "{text}");
        }
    }
}

#[test]
fn a_run_is_warned_of_the_writes_of_others_and_of_problems_first() {
    let (mut environment, demand) = quiet();
    let kinds = |environment: &Environment| {
        let found = warned(environment, &demand, Some(5_000_000));
        found.iter().map(|w| w.kind).collect::<Vec<_>>()
    };
    assert_eq!(kinds(&environment), [WarningKind::ForeignWrites]);
    environment.file_system.kind = "tmpfs".into();
    assert_eq!(
        kinds(&environment),
        [WarningKind::MemoryFileSystem, WarningKind::ForeignWrites]
    );
}

#[test]
fn each_thing_that_has_words_is_looked_at() {
    let words = include_str!("rows.toml");
    let named = words.lines().filter(|line| *line == "[[row]]").count();
    assert_eq!(TABLE.len(), named);
    assert!(named > 20, "{named}");
}
