use super::*;
use crate::testing::{self, created, message, read, settings};
use crate::{Buffer, Found, Key, Session, StoreError, sync_calls};
use std::fs;
use std::path::Path;

fn with_store(pairs: &[(&str, &str)], test: impl FnOnce(&Path, &mut dyn Session)) {
    testing::with_session(KIND, pairs, test);
}

fn with_session(pairs: &[(&str, &str)], test: impl FnOnce(&Path, &mut dyn Session)) {
    testing::with_session(KIND, pairs, test);
}

#[test]
fn kvtest_finds_the_files_where_it_looks_for_them() {
    with_session(&[("layout", "tree")], |directory, session| {
        session.insert(Key(123_456), b"a").unwrap();
        session.insert(Key(7_000_001), b"b").unwrap();
        assert_eq!(fs::read(directory.join("12/34/56")).unwrap(), b"a");
        assert_eq!(fs::read(directory.join("700/00/01")).unwrap(), b"b");
    });
    with_store(&[], |directory, connection| {
        fs::write(directory.join("000042"), b"theirs").unwrap();
        let session = &mut *connection;
        assert_eq!(read(&mut *session, 42).unwrap().unwrap(), b"theirs");
    });
}

/// Every way to read a file that is not refused.
fn ways_to_read() -> Vec<Vec<(&'static str, &'static str)>> {
    let mut ways = Vec::new();
    for open in ["directory", "path", "kept"] {
        for stat in ["fstat", "stat", "none"] {
            for read in ["plain", "stdio"] {
                for buffer in ["reused", "fresh"] {
                    let way = vec![
                        ("open", open),
                        ("stat", stat),
                        ("read", read),
                        ("buffer", buffer),
                    ];
                    if KIND.capabilities(&settings(KIND, &way)).is_ok() {
                        ways.push(way);
                    }
                }
            }
        }
    }
    ways
}

#[test]
fn every_way_to_read_delivers_the_same() {
    assert_eq!(ways_to_read().len(), 2 * 7 + 2);
    for way in ways_to_read() {
        with_session(&way, |directory, session| {
            let mut buffer = Buffer::with_capacity(16).unwrap();
            // Sizes around that of the buffer, which has 4,096 bytes, and of one that has doubled.
            let sizes = [10_007, 0, 1, 4095, 4096, 4097, 8192, 5, 100_000];
            for (key, size) in (1..).zip(sizes) {
                let value = vec![key as u8; size];
                session.insert(Key(key), &value).unwrap();
                for _ in 0..2 {
                    let found = session.read_into(Key(key), &mut buffer).unwrap();
                    assert_eq!(found, Found::Bytes(size), "{way:?}");
                    assert!(buffer.bytes() == value, "{way:?}: {size}");
                }
            }
            let missing = session.read_into(Key(99), &mut buffer).unwrap();
            assert_eq!(missing, Found::Missing, "{way:?}");
            fs::create_dir(directory.join("000098")).unwrap();
            let message = message(session.read_into(Key(98), &mut buffer));
            assert!(message.contains("000098"), "{way:?}: {message}");
        });
    }
}

/// The number of reading calls that this thread has made (proc_pid_io(5)); none where the system does
/// not count them.
fn reads_of_this_thread() -> Option<u64> {
    let text = fs::read_to_string("/proc/thread-self/io").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("syscr: "))?;
    line.parse().ok()
}

#[test]
fn a_read_makes_as_many_calls_that_read_as_its_settings_say() {
    let Some(own) =
        reads_of_this_thread().and_then(|before| Some(reads_of_this_thread()? - before))
    else {
        eprintln!("not tested: the system does not count this thread's reads");
        return;
    };
    for way in ways_to_read() {
        with_session(&way, |_, session| {
            let mut buffer = Buffer::with_capacity(10_000).unwrap();
            session.insert(Key(1), &[1; 10_000]).unwrap();
            session.read_into(Key(1), &mut buffer).unwrap();
            let before = reads_of_this_thread().unwrap();
            for _ in 0..100 {
                session.read_into(Key(1), &mut buffer).unwrap();
            }
            let reads = reads_of_this_thread().unwrap() - before - own;
            // A stream reads whole pages into the caller's memory, and the rest into its own; one
            // that is not told where the file ends has to find it.
            if way.contains(&("read", "stdio")) {
                assert!((200..=400).contains(&reads), "{way:?}: {reads}");
            } else {
                assert_eq!(reads, 100, "{way:?}");
            }
        });
    }
}

/// How many of this process's descriptors are of files below `directory`; none where the system does
/// not list them.
fn open_below(directory: &Path) -> Option<usize> {
    let entries = fs::read_dir("/proc/self/fd").ok()?;
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let files = links.filter(|link| link != directory && link.starts_with(directory));
    Some(files.count())
}

#[test]
fn files_are_kept_open_as_long_as_the_session_and_no_second_thread_has_one() {
    for layout in ["dir", "tree"] {
        let pairs = [("layout", layout), ("open", "kept"), ("stat", "none")];
        let capabilities = KIND.capabilities(&settings(KIND, &pairs));
        assert!(!capabilities.unwrap().threads);
        let (directory, store) = created(KIND, &pairs);
        let path = directory.path().canonicalize().unwrap();
        let Some(0) = open_below(&path) else {
            eprintln!("not tested: the system does not list this process's descriptors");
            return;
        };
        let mut session = store.connect().unwrap();
        for key in 1..=50 {
            session.insert(Key(key), b"value").unwrap();
        }
        drop(session);
        assert_eq!(open_below(&path), Some(0));
        let mut session = store.connect().unwrap();
        assert_eq!(open_below(&path), Some(50));
        assert!(session.delete(Key(50)).unwrap());
        assert_eq!(open_below(&path), Some(49));
        for key in [51_u64, 1 << 20, 1 << 21] {
            let value = key.to_be_bytes();
            session.insert(Key(key), &value).unwrap();
            assert_eq!(read(&mut *session, key).unwrap().unwrap(), value);
        }
        assert_eq!(open_below(&path), Some(51), "the last two share a place");
        drop(session);
        assert_eq!(open_below(&path), Some(0));
    }
}

#[test]
fn a_file_that_stays_open_is_read_and_overwritten_though_its_name_is_gone() {
    for write in ["truncate", "in-place"] {
        let pairs = [("open", "kept"), ("write", write), ("fsync", "file")];
        with_session(&pairs, |directory, session| {
            let value = vec![7; 5000];
            session.insert(Key(1), &value).unwrap();
            let mut held = || read(session, 1).unwrap().unwrap();
            assert_eq!(held(), value);
            fs::rename(directory.join("000001"), directory.join("000002")).unwrap();
            assert_eq!(held(), value);
            let before = sync_calls();
            session.overwrite(Key(1), b"short").unwrap();
            assert!(sync_calls().since(&before).fsync >= 1);
            assert_eq!(read(session, 1).unwrap().unwrap(), b"short");
            assert_eq!(fs::read(directory.join("000002")).unwrap(), b"short");
        });
    }
}

#[test]
fn settings_that_do_not_go_together_are_refused_with_the_reason() {
    for (pairs, reason) in [
        ([("open", "kept"), ("read", "stdio")], "fclose"),
        ([("open", "kept"), ("stat", "stat")], "looked up"),
        ([("open", "kept"), ("write", "rename")], "replaced"),
        ([("open", "kept"), ("write", "stdio")], "open=path"),
        ([("buffer", "fresh"), ("read", "plain")], "read=stdio"),
        ([("read", "stdio"), ("stat", "none")], "stat=stat"),
        ([("fsync", "directory"), ("write", "truncate")], "no name"),
    ] {
        let message = message(KIND.capabilities(&settings(KIND, &pairs)));
        for (name, value) in pairs {
            assert!(message.contains(&format!("{name}={value}")), "{message}");
        }
        assert!(message.contains(reason), "{message}");
    }
}

#[test]
fn a_file_that_was_shortened_or_emptied_reads_as_what_it_now_is() {
    for way in ways_to_read() {
        with_session(&way, |directory, session| {
            session.insert(Key(1), &[7; 5000]).unwrap();
            for len in [100, 0] {
                let file = fs::File::options()
                    .write(true)
                    .open(directory.join("000001"));
                file.unwrap().set_len(len).unwrap();
                let left = read(session, 1).unwrap().unwrap();
                assert_eq!(left.len() as u64, len);
            }
        });
    }
}

#[test]
fn a_link_in_the_place_of_a_value_is_refused_and_its_target_stays_untouched() {
    for (write, open) in [
        ("truncate", "directory"),
        ("in-place", "directory"),
        ("rename", "directory"),
        ("stdio", "path"),
    ] {
        with_session(&[("write", write), ("open", open)], |directory, session| {
            let outside = tempfile::NamedTempFile::new().unwrap();
            fs::write(outside.path(), b"precious").unwrap();
            std::os::unix::fs::symlink(outside.path(), directory.join("000001")).unwrap();
            assert!(read(session, 1).is_err());
            assert!(session.overwrite(Key(1), b"x").is_err());
            assert!(session.insert(Key(1), b"x").is_err());
            assert_eq!(fs::read(outside.path()).unwrap(), b"precious");
        });
    }
}

#[test]
fn a_link_in_the_place_of_a_value_is_not_read_unless_a_stream_opens_it_by_its_path() {
    for way in ways_to_read() {
        let follows = way.contains(&("open", "path"))
            && way.contains(&("read", "stdio"))
            && !way.contains(&("stat", "stat"));
        with_store(&way, |directory, connection| {
            let outside = tempfile::NamedTempFile::new().unwrap();
            std::os::unix::fs::symlink(outside.path(), directory.join("000001")).unwrap();
            // Where files stay open, the session opens it.
            let read = read(connection, 1);
            assert_eq!(read.is_ok(), follows, "{way:?}");
        });
    }
}

#[test]
fn a_directory_of_the_other_layout_and_none_are_not_opened() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("00")).unwrap();
    let error = message(KIND.open(directory.path(), &settings(KIND, &[])));
    assert!(error.contains("layout=tree"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("000001"), b"").unwrap();
    let tree = settings(KIND, &[("layout", "tree")]);
    let error = message(KIND.open(directory.path(), &tree));
    assert!(error.contains("layout=dir"), "{error}");
    let error = message(KIND.open(Path::new("/nonexistent/x"), &tree));
    assert!(error.contains("/nonexistent/x"), "{error}");
}

#[test]
fn a_rename_leaves_no_temporary_file_behind_be_it_refused_or_not() {
    with_session(&[("write", "rename")], |directory, session| {
        session.insert(Key(1), b"old").unwrap();
        assert_eq!(
            session.overwrite(Key(1), b"newer").unwrap(),
            Found::Bytes(5)
        );
        assert_eq!(session.overwrite(Key(2), b"newer").unwrap(), Found::Missing);
        let error = session.insert(Key(1), b"other").unwrap_err();
        assert!(matches!(error, StoreError::KeyExists { key: 1, .. }));
        assert_eq!(fs::read_dir(directory).unwrap().count(), 1);
        assert_eq!(fs::read(directory.join("000001")).unwrap(), b"newer");
    });
}

#[test]
fn files_that_are_not_values_are_no_part_of_a_scan() {
    with_session(&[], |directory, session| {
        session.insert(Key(5), b"five").unwrap();
        session.insert(Key(2_000_000), b"big").unwrap();
        for stranger in [".tmp-1-1", "README", "0000007", "12"] {
            fs::write(directory.join(stranger), b"x").unwrap();
        }
        let mut keys = Vec::new();
        session.scan(Key(0), 9, &mut |k, _| keys.push(k.0)).unwrap();
        assert_eq!(keys, [5, 2_000_000]);
    });
}

#[test]
fn every_write_syncs_what_its_setting_says() {
    for (write, fsync, least) in [
        ("in-place", "file", 1),
        ("truncate", "file", 1),
        ("stdio", "file", 1),
        ("rename", "file", 1),
        ("rename", "directory", 2),
    ] {
        let open = (
            "open",
            if write == "stdio" {
                "path"
            } else {
                "directory"
            },
        );
        with_session(&[("write", write), ("fsync", fsync), open], |_, session| {
            session.insert(Key(1), b"a").unwrap();
            let before = sync_calls();
            session.overwrite(Key(1), b"b").unwrap();
            let syncs = sync_calls().since(&before).fsync;
            assert!(syncs >= least, "{write} {fsync}: {syncs}");
            let before = sync_calls();
            session.insert(Key(2), b"a").unwrap();
            let syncs = sync_calls().since(&before).fsync;
            assert!(syncs >= least, "insert, {write} {fsync}: {syncs}");
        });
    }
}

#[test]
fn a_stream_writes_whole_blocks_at_once_and_their_rest_when_it_is_closed() {
    // Blocks of 4 KiB: two of them and what is left, one of them alone, and less than one.
    for (bytes, calls) in [(10_000, 2), (8192, 1), (100, 1)] {
        let pairs = [("write", "stdio"), ("open", "path")];
        with_session(&pairs, |directory, session| {
            session.insert(Key(1), &[1; 20_000]).unwrap();
            let before = write_calls();
            session.overwrite(Key(1), &vec![2; bytes]).unwrap();
            let made = write_calls().zip(before).map(|(now, then)| now - then);
            let read = fs::read(directory.join("000001")).unwrap();
            assert_eq!(read, vec![2; bytes]);
            assert!(made.is_none_or(|made| made == calls), "{bytes}: {made:?}");
            assert_eq!(session.overwrite(Key(2), b"x").unwrap(), Found::Missing);
            assert!(!directory.join("000002").exists());
        });
    }
}

/// The calls of this thread that write, where the system tells.
fn write_calls() -> Option<u64> {
    let io = fs::read_to_string("/proc/thread-self/io").ok()?;
    let line = io.lines().find_map(|line| line.strip_prefix("syscw: "))?;
    line.parse().ok()
}

#[test]
fn with_renames_a_new_value_is_seen_whole_or_not_at_all() {
    let value = vec![7; 16 << 20];
    for layout in ["dir", "tree"] {
        let (_directory, store) = created(KIND, &[("write", "rename"), ("layout", layout)]);
        let mut session = store.connect().unwrap();
        let mut buffer = Buffer::with_capacity(value.len()).unwrap();
        std::thread::scope(|scope| {
            let inserting = scope.spawn(|| {
                let mut session = store.connect().unwrap();
                for key in 1..=10 {
                    session.insert(Key(key), &value).unwrap();
                }
            });
            for key in 1..=10 {
                loop {
                    let all_are_there = inserting.is_finished();
                    match session.read_into(Key(key), &mut buffer).unwrap() {
                        Found::Missing => assert!(!all_are_there, "{layout}: {key}"),
                        Found::Bytes(_) => break,
                    }
                }
                assert!(buffer.bytes() == value, "{layout}: {key}");
            }
        });
    }
}

#[test]
fn the_directory_goes_with_everything_in_it_and_is_made_again() {
    for layout in ["dir", "tree"] {
        with_store(&[("layout", layout)], |directory, connection| {
            let session = &mut *connection;
            for key in [1, 2, 30_000, 7_000_001] {
                session.insert(Key(key), b"old").unwrap();
            }
            let (leaf, top) = (directory.join("00/00"), directory.to_owned());
            let left = if layout == "tree" { leaf } else { top };
            fs::write(left.join(".tmp-12-34"), b"left by a kill").unwrap();
            session.drop_table().unwrap();
            assert!(!directory.exists());
            assert!(session.insert(Key(1), b"nowhere").is_err());
            assert!(session.drop_table().is_err());
            session.create_table().unwrap();
            assert!(session.create_table().is_err());
            session.insert(Key(1), b"new").unwrap();
            assert!(session.delete(Key(1)).unwrap());
            assert!(!session.delete(Key(2)).unwrap());
        });
    }
}

#[test]
fn a_directory_with_something_else_in_it_is_not_dropped_and_links_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("000001"), b"precious").unwrap();
    fs::create_dir(outside.path().join("00")).unwrap();
    fs::write(outside.path().join("00/01"), b"precious").unwrap();
    for layout in ["dir", "tree"] {
        with_session(&[("layout", layout)], |directory, session| {
            session.insert(Key(1), b"ours").unwrap();
            fs::write(directory.join("letter"), b"dear").unwrap();
            std::os::unix::fs::symlink(outside.path(), directory.join("55")).unwrap();
            let error = session.drop_table().unwrap_err().to_string();
            assert!(error.contains("remove directory"), "{error}");
            assert_eq!(fs::read(directory.join("letter")).unwrap(), b"dear");
            let precious = fs::read(outside.path().join("000001")).unwrap();
            assert_eq!(precious, b"precious");
            assert!(outside.path().join("00/01").exists());
        });
    }
}

#[test]
fn where_new_names_are_to_last_so_does_the_directory() {
    for (fsync, syncs) in [("file", false), ("directory", true)] {
        let pairs = [("write", "rename"), ("fsync", fsync)];
        with_session(&pairs, |_, session| {
            let before = sync_calls();
            session.drop_table().unwrap();
            session.create_table().unwrap();
            let made = sync_calls().since(&before).fsync;
            // Other tests sync meanwhile.
            assert!(!syncs || made >= 2, "{made}");
        });
    }
}
