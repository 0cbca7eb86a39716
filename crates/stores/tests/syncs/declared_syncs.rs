//! Whether `syncs_per_commit` is true of every commit: each combination of the settings that
//! decide about syncing is measured, commit by commit.
//!
//! A single test, because sync calls are counted for the whole process.

use stowplan_model::{Operation, Settings};
use stowplan_stores::registry::{self, Resolved};
use stowplan_stores::{Key, Kind, SYNC_CALLS_COUNTED, conformance, sync_calls};

#[test]
fn the_fewest_syncs_of_a_commit_are_those_declared() {
    if !SYNC_CALLS_COUNTED {
        return;
    }
    let _alone = crate::alone();
    let mut wrong = Vec::new();
    for spec in specs() {
        let (declared, fewest) = declared_and_fewest(&spec);
        // Where every commit also checkpoints, there are more.
        let right = if spec.contains("autocheckpoint=1") {
            declared <= fewest
        } else {
            declared == fewest
        };
        if !right {
            wrong.push(format!("{spec}: {declared} declared, {fewest} seen"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn specs() -> Vec<String> {
    let mut specs = vec![
        "null".to_owned(),
        "flat".to_owned(),
        "flat:sync=commit".to_owned(),
        "spin".to_owned(),
        "primitive:call=pwrite".to_owned(),
        "primitive:call=fdatasync".to_owned(),
    ];
    for layout in ["dir", "tree"] {
        for write in ["truncate", "stdio,open=path", "in-place", "rename"] {
            for fsync in ["off", "file", "directory"] {
                specs.push(format!("files:layout={layout},write={write},fsync={fsync}"));
                // However the database syncs, an overwrite leaves it alone.
                for database in [
                    "journal=delete,synchronous=extra",
                    "journal=wal,synchronous=full",
                    "journal=off,synchronous=off",
                ] {
                    specs.push(format!(
                        "files-indexed:layout={layout},write={write},fsync={fsync},{database}"
                    ));
                }
            }
        }
    }
    // Values of this check lie on both sides of the limit.
    for (write, journal) in [
        (
            "write=rename,fsync=directory",
            "journal=wal,synchronous=full",
        ),
        (
            "write=rename,fsync=file",
            "journal=truncate,synchronous=extra",
        ),
        (
            "write=rename,fsync=directory",
            "journal=wal,synchronous=normal",
        ),
        (
            "write=truncate,fsync=off",
            "journal=delete,synchronous=full",
        ),
    ] {
        specs.push(format!("split:{write},{journal}"));
    }
    for journal in ["delete", "truncate", "persist", "memory", "wal", "off"] {
        for synchronous in ["off", "normal", "full", "extra"] {
            let synced = format!("sqlite:journal={journal},synchronous={synchronous}");
            for other in [
                "locking=normal",
                "locking=exclusive",
                "cache=0",
                "autocheckpoint=1",
                "autocheckpoint=0",
                "page_size=512",
                "page_size=65536",
                "mmap=64MiB",
                "api=blob",
                "api=blob,locking=exclusive",
                "location=memory",
                "location=temp",
            ] {
                specs.push(format!("{synced},{other}"));
            }
        }
    }
    // Its syncs are the background thread's, so some commits see none, though others see several.
    for synchronous in ["off", "normal", "full", "extra"] {
        for window in ["window_rows=1000000", "window_ms=1"] {
            specs.push(format!(
                "sqlite-buffered:synchronous={synchronous},{window}"
            ));
        }
    }
    for durability in ["buffer", "sync-data", "sync-all"] {
        for other in ["separation=on", "compression=none"] {
            specs.push(format!("fjall:durability={durability},{other}"));
        }
    }
    for database in ["unnamed", "named"] {
        for sync in ["full", "no-meta", "none", "map-async"] {
            for write_map in ["on", "off"] {
                specs.push(format!(
                    "lmdb:database={database},sync={sync},write_map={write_map}"
                ));
            }
        }
    }
    for format in ["json", "binary"] {
        for fsync in ["off", "file", "directory"] {
            specs.push(format!("document:format={format},fsync={fsync}"));
        }
    }
    for durability in ["immediate", "none"] {
        for two_phase in ["on", "off"] {
            for quick_repair in ["on", "off"] {
                specs.push(format!(
                    "redb:durability={durability},two_phase={two_phase},quick_repair={quick_repair}"
                ));
            }
        }
    }
    // Combinations that a store refuses are no settings; those without overwrites no subject.
    specs.retain(|spec| {
        registry::resolve(&spec.parse().unwrap(), 4 << 20)
            .is_ok_and(|r| r.capabilities.operations.contains(&Operation::Overwrite))
    });
    specs
}

/// What is declared, and the fewest syncs that any commit of an overwrite made; of files also of an
/// insert, which without a database makes as many.
fn declared_and_fewest(spec: &str) -> (u64, u64) {
    let resolved = registry::resolve(&spec.parse().unwrap(), 4 << 20).unwrap();
    let Resolved { kind, settings, .. } = &resolved;
    let directory = crate::place::in_memory();
    let mut fewest = conformance::fewest_syncs(kind, settings, directory.path()).unwrap();
    if kind.name() == "files" {
        fewest = fewest.min(fewest_of_inserts(kind, settings));
    }
    (u64::from(resolved.capabilities.syncs_per_commit), fewest)
}

fn fewest_of_inserts(kind: &Kind, settings: &Settings) -> u64 {
    let directory = crate::place::in_memory();
    let store = kind.create(directory.path(), settings).unwrap();
    let mut session = store.connect().unwrap();
    let syncs = (1..=10).map(|key| {
        let before = sync_calls();
        session.insert(Key(key), &[1; 5000]).unwrap();
        sync_calls().since(&before).total()
    });
    syncs.min().unwrap()
}
