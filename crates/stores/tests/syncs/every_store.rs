//! Every listed store, with every value of every setting, through the conformance suite: in memory, and
//! without settings also on a disk.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::process::{Child, Command, Stdio};
use std::{env, thread};
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

/// Says which of the specs a process tries, as `1/2`: the second of each two.
const PART: &str = "STOWPLAN_TEST_PART";

/// A kind of place, and a store spec that is tried there.
type Tried = (fn() -> TempDir, String);

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

/// One test, so that nothing else syncs while a store's syncs are counted; they are counted for a whole process, so others try
/// a part each at the same time.
#[test]
fn every_store_conforms_with_every_setting() {
    let _alone = crate::alone();
    match env::var(PART) {
        Ok(part) => assert_conform(&part),
        Err(_) => in_parts(),
    }
}

/// Runs this test in as many processes as there are processors.
fn in_parts() {
    let parts = thread::available_parallelism().map_or(1, NonZero::get);
    let part = |part| {
        let mut command = Command::new(env::current_exe().unwrap());
        command.args([
            "--exact",
            "every_store::every_store_conforms_with_every_setting",
        ]);
        command.env(PART, format!("{part}/{parts}"));
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let processes: Vec<Child> = (0..parts).map(part).collect();
    for process in processes {
        let done = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout);
        // None would pass, too, if this test had another name.
        assert!(done.status.success() && said.contains("1 passed"), "{said}");
    }
}

/// Tries one part of all specs, one after the other.
fn assert_conform(part: &str) {
    let (part, parts) = part.split_once('/').unwrap();
    let tried = all().into_iter().skip(part.parse().unwrap());
    let tried = tried.step_by(parts.parse().unwrap());
    let failures: Vec<String> = tried
        .flat_map(|(place, spec)| failures(&spec, &place()))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn all() -> Vec<Tried> {
    let place = beside_the_build as fn() -> TempDir;
    let on_disk = on_disk().into_iter().map(|spec| (place, spec));
    let place = crate::place::in_memory as fn() -> TempDir;
    let in_memory = registry::all().flat_map(one_setting_at_a_time);
    let in_memory = in_memory.chain(combinations()).map(|spec| (place, spec));
    on_disk.chain(in_memory).collect()
}

/// Settings of which what a store does depends together.
fn combinations() -> Vec<String> {
    let few = [
        "redb:key=text,durability=none",
        "redb:key=text,cache=0",
        "fjall:bulk=ingest,key=text",
        "fjall:bulk=ingest,separation=on",
        "spin",
        "spin:base=5000,per_kib=100",
    ];
    [
        few.map(str::to_owned).to_vec(),
        files_that_sync("files"),
        files_that_sync("files-indexed"),
        files_that_stay_open(),
        files_read_by_streams(),
        files_indexed_by_each_journal(),
        split(),
        with_names(),
        sqlite_journals(),
        sqlite_blobs(),
        sqlite_forms(),
        sqlite_buffered(),
        lmdb(),
        documents(),
    ]
    .concat()
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
