//! Every listed store, with every value of every setting, through the conformance suite: in memory, and
//! without settings also on a disk.

use std::collections::BTreeSet;
use stowplan_model::StoreSpec;
use stowplan_stores::{Kind, conformance, registry};
use tempfile::TempDir;

/// What the conformance suite has to say about a store spec in this directory.
fn failures(spec: &str, directory: &TempDir) -> Vec<String> {
    let spec: StoreSpec = spec.parse().unwrap();
    let resolved = registry::resolve(&spec, 4 << 20).unwrap();
    conformance::check(resolved.kind, &resolved.settings, directory.path())
        .into_iter()
        .map(|failure| format!("{spec}: {failure}"))
        .collect()
}

/// Runs all specs, one after the other because sync calls are counted for the whole process.
#[track_caller]
fn assert_conform(specs: impl IntoIterator<Item = String>) {
    assert_conform_in(crate::place::in_memory, specs);
}

/// The same in directories of this kind.
#[track_caller]
fn assert_conform_in(place: fn() -> TempDir, specs: impl IntoIterator<Item = String>) {
    let failures = specs.into_iter().flat_map(|spec| failures(&spec, &place()));
    let failures: Vec<String> = failures.collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A new directory on what is a disk as a rule; the system's temporary one may lie in memory.
fn beside_the_build() -> TempDir {
    tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

/// Each kind with no settings, if it needs none, and the ways to write and to sync that differ most.
fn on_disk() -> Vec<String> {
    let kinds = registry::all().map(|kind| kind.name().to_owned());
    let kinds = kinds.filter(|kind| registry::resolve(&kind.parse().unwrap(), 4 << 20).is_ok());
    let others = [
        "files:layout=tree,write=rename,fsync=directory",
        "files-indexed:write=in-place,fsync=file,journal=wal",
        "sqlite:journal=wal,synchronous=full,mmap=64MiB",
        "sqlite:journal=truncate,synchronous=extra,api=blob",
        "sqlite-buffered:window_ms=1,synchronous=full",
        "lmdb:write_map=on,sync=full",
    ];
    kinds.chain(others.map(str::to_owned)).collect()
}

/// Each setting in turn; combinations that the store refuses are left out.
fn one_setting_at_a_time(kind: &Kind) -> BTreeSet<String> {
    let specs = conformance::each_setting(kind).into_iter();
    let mut specs: BTreeSet<String> = specs
        .filter(|spec| registry::resolve(spec, 4 << 20).is_ok())
        .map(|spec| spec.to_string())
        .collect();
    // Keeps text only, and the values here are any bytes; tested beside its code.
    specs.remove("sqlite:column_type=text");
    specs
}

/// One test, so that nothing else syncs while a store's syncs are counted.
#[test]
fn every_store_conforms_with_every_setting() {
    let _alone = crate::alone();
    assert_conform_in(beside_the_build, on_disk());
    for kind in registry::all() {
        assert_conform(one_setting_at_a_time(kind));
    }
    assert_conform(files_that_sync("files"));
    assert_conform(files_that_sync("files-indexed"));
    assert_conform(files_that_stay_open());
    assert_conform(files_read_by_streams());
    assert_conform(files_indexed_by_each_journal());
    assert_conform(split());
    assert_conform(with_names());
    assert_conform(sqlite_journals());
    assert_conform(sqlite_blobs());
    assert_conform(sqlite_forms());
    assert_conform(sqlite_buffered());
    assert_conform(lmdb());
    assert_conform(["redb:key=text,durability=none", "redb:key=text,cache=0"].map(str::to_owned));
    assert_conform(
        [
            "fjall:bulk=ingest,key=text",
            "fjall:bulk=ingest,separation=on",
        ]
        .map(str::to_owned),
    );
    assert_conform(documents());
    assert_conform(["spin", "spin:base=5000,per_kib=100"].map(str::to_owned));
}

fn documents() -> Vec<String> {
    let synced = ["off", "file", "directory"].into_iter();
    synced
        .map(|fsync| format!("document:format=binary,fsync={fsync}"))
        .collect()
}

fn files_that_sync(store: &str) -> Vec<String> {
    let mut specs = Vec::new();
    for layout in ["dir", "tree"] {
        for write in ["truncate", "stdio,open=path", "in-place", "rename"] {
            for fsync in ["off", "file", "directory"] {
                if write == "rename" || fsync != "directory" {
                    specs.push(format!(
                        "{store}:layout={layout},write={write},fsync={fsync}"
                    ));
                }
            }
        }
    }
    specs
}

/// In each layout, with each way to write that does not replace the file.
fn files_that_stay_open() -> Vec<String> {
    let mut specs = Vec::new();
    for layout in ["dir", "tree"] {
        for other in ["write=truncate,fsync=file", "write=in-place,stat=none"] {
            specs.push(format!("files:layout={layout},open=kept,{other}"));
        }
    }
    specs
}

/// As kvtest does, and where the size is not looked at.
fn files_read_by_streams() -> Vec<String> {
    let mut specs = Vec::new();
    for store in ["files", "files-indexed"] {
        for other in [
            "read=stdio,stat=stat,buffer=fresh",
            "read=stdio",
            "write=stdio,stat=none",
        ] {
            specs.push(format!("{store}:open=path,{other}"));
        }
    }
    specs
}

/// With values of the suite on both sides of the limit.
fn split() -> Vec<String> {
    let durable = "write=rename,fsync=directory,journal=wal,synchronous=full";
    vec![
        "split:inline_limit=4000".to_owned(),
        format!("split:inline_limit=4000,key=text,{durable}"),
        "split:inline_limit=4999,layout=tree,write=in-place,fsync=file,journal=truncate".to_owned(),
    ]
}

/// Under names that values had where they come from.
fn with_names() -> Vec<String> {
    let specs = [
        "files:names=on,write=rename,fsync=directory",
        "files:names=on,open=kept,stat=none",
        "sqlite:key=text,names=on",
        "sqlite:key=text,names=on,rowid=off",
        "split:key=text,names=on,inline_limit=4000,write=rename",
    ];
    specs.map(str::to_owned).to_vec()
}

fn files_indexed_by_each_journal() -> Vec<String> {
    let mut specs = Vec::new();
    for journal in ["delete", "truncate", "persist", "memory", "wal", "off"] {
        for other in ["synchronous=extra", "synchronous=off", "statement=each"] {
            specs.push(format!("files-indexed:journal={journal},{other}"));
        }
    }
    specs
}

fn sqlite_journals() -> Vec<String> {
    let mut specs = Vec::new();
    for journal in ["delete", "truncate", "persist", "memory", "wal", "off"] {
        for synchronous in ["off", "normal", "full", "extra"] {
            specs.push(format!(
                "sqlite:journal={journal},synchronous={synchronous}"
            ));
        }
        specs.push(format!("sqlite:journal={journal},locking=exclusive"));
    }
    specs
}

fn sqlite_blobs() -> Vec<String> {
    [
        "journal=wal,synchronous=normal",
        "journal=truncate",
        "locking=exclusive",
        "statement=each",
        "location=memory",
        "location=temp",
        "page_size=512",
        "page_size=65536",
        "mmap=64MiB",
    ]
    .map(|settings| format!("sqlite:api=blob,{settings}"))
    .to_vec()
}

/// Tables that are not kvtest's.
fn sqlite_forms() -> Vec<String> {
    [
        "key=text,rowid=off",
        "key=text,rowid=off,columns=5,journal=wal",
        "key=text,statement=each,location=shared",
        "columns=2,statement=each",
        "key=text,rowid=off,columns=2,statement=literal",
        "statement=literal,ids=assigned,columns=2",
        "ids=assigned,location=memdb",
        "statement=literal,journal=wal,location=disk",
        "cache=0,cache_spill=off",
    ]
    .map(|settings| format!("sqlite:{settings}"))
    .to_vec()
}

/// With a window of a change, and with one that only closing ends.
fn sqlite_buffered() -> Vec<String> {
    let mut specs = Vec::new();
    for window in ["window_rows=1", "window_ms=1", "window_ms=86400000"] {
        for synchronous in ["off", "full"] {
            specs.push(format!(
                "sqlite-buffered:{window},synchronous={synchronous}"
            ));
        }
    }
    specs
}

/// Every way to sync, with and without a writable map; each form of keys in each database.
fn lmdb() -> Vec<String> {
    let mut specs = vec!["lmdb:sync=map-async,write_map=on".to_owned()];
    for sync in ["full", "no-meta", "none"] {
        specs.push(format!("lmdb:write_map=on,sync={sync}"));
    }
    for key in ["integer", "text"] {
        specs.push(format!("lmdb:database=named,sync=none,key={key}"));
        specs.push(format!("lmdb:append=on,key={key}"));
    }
    specs
}
