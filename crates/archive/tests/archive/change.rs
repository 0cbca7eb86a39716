//! Single entries in and out of an archive that is there.

use crate::bench::{Bench, names, noise};
use rusqlite::Connection;
use std::fs;
use std::os::unix::fs::symlink;
use stowplan_archive::{Add, Added, ArchiveError, Pack, Remove};

fn add(bench: &Bench, paths: &[&str]) -> Result<Added, ArchiveError> {
    let add = Add {
        archive: bench.at("x.sqlar"),
        base: bench.at("from"),
        paths: paths.iter().map(|&path| path.to_owned()).collect(),
        store: false,
    };
    add.run(&())
}

fn remove(bench: &Bench, names: &[&str], recursive: bool) -> Result<u64, ArchiveError> {
    let remove = Remove {
        archive: bench.at("x.sqlar"),
        names: names.iter().map(|&name| name.to_owned()).collect(),
        recursive,
    };
    remove.run()
}

fn packed() -> Bench {
    let bench = Bench::new();
    bench.tree();
    bench.limited(60_000).run(&()).unwrap();
    bench
}

#[test]
fn what_is_added_and_replaced_is_there_and_the_rest_as_it_was() {
    let bench = packed();
    bench.write("from/one", "another one");
    bench.write("from/new/x", "new ".repeat(99));
    bench.write("from/sub/deep/noise", noise(17 << 20));
    let added = add(&bench, &["one", "./new/", "sub/deep/noise"]).unwrap();
    assert_eq!(
        (added.added, added.replaced, added.refused.count),
        (2, 2, 0)
    );
    assert_eq!(
        names(&bench.at("x.sqlar.d/sub/deep")),
        Vec::<String>::new(),
        "it is inside now"
    );
    let whole = bench.verify();
    assert!(whole.is_whole(), "{whole:?}");
    bench.unpack().unwrap();
    let (mut from, mut back) = (bench.looks("from"), bench.looks("back"));
    // Their times are of when they were packed.
    for changed in ["", "/sub/deep"] {
        from.remove(changed);
        back.remove(changed);
    }
    assert_eq!(from, back);
}

#[test]
fn what_would_hide_or_lie_below_something_else_is_refused_and_nothing_is_lost() {
    let bench = packed();
    fs::remove_file(bench.at("from/one")).unwrap();
    fs::create_dir(bench.at("from/one")).unwrap();
    bench.write("from/one/below", "x");
    fs::remove_dir_all(bench.at("from/sub")).unwrap();
    symlink("one", bench.at("from/sub")).unwrap();
    let added = add(&bench, &["one", "sub"]).unwrap();
    assert_eq!(
        (added.added, added.replaced, added.refused.count),
        (0, 0, 3),
        "{added:?}"
    );
    for path in ["../x", "/etc/hosts", ""] {
        let told = add(&bench, &[path]).unwrap_err();
        assert!(told.to_string().contains("cannot be the name"), "{told}");
    }
    assert!(
        add(&bench, &["not there"])
            .unwrap_err()
            .to_string()
            .contains("not there")
    );
    bench.unpack().unwrap();
    assert_eq!(bench.read("back/one"), b"1");
}

#[test]
fn what_is_removed_is_gone_inside_and_beside_and_directories_only_when_asked_for() {
    let bench = packed();
    let told = remove(&bench, &["sub"], false).unwrap_err().to_string();
    assert!(told.contains("--recursive"), "{told}");
    let told = remove(&bench, &["a.txt", "none"], false)
        .unwrap_err()
        .to_string();
    assert!(told.contains("has no none"), "{told}");
    assert_eq!(
        remove(&bench, &["sub", "a.txt", "sub/deep"], true).unwrap(),
        5
    );
    assert_eq!(names(&bench.at("x.sqlar.d/sub/deep")), Vec::<String>::new());
    bench.unpack().unwrap();
    assert_eq!(
        names(&bench.at("back")),
        [
            "-rf",
            "empty",
            "link",
            "nothing in it",
            "one",
            "outward",
            "sub.txt",
            "with space"
        ]
    );
}

#[test]
fn an_archive_that_another_program_uses_is_told_and_left() {
    let bench = packed();
    let other = Connection::open(bench.at("x.sqlar")).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    std::thread::scope(|scope| {
        // Each waits for five seconds.
        let both = [
            scope.spawn(|| add(&bench, &["one"]).unwrap_err()),
            scope.spawn(|| bench.unpack().unwrap_err()),
        ];
        for told in both {
            let told = told.join().unwrap().to_string();
            assert!(told.contains("another program is using it"), "{told}");
        }
    });
    assert_eq!(bench.names(), ["from", "x.sqlar", "x.sqlar.d"]);
}

#[test]
fn a_link_in_the_place_of_the_files_beside_an_archive_costs_nobody_a_file() {
    for named in ["sub/deep/noise", "sub"] {
        let bench = packed();
        fs::rename(bench.at("x.sqlar.d"), bench.at("victim")).unwrap();
        symlink("victim", bench.at("x.sqlar.d")).unwrap();
        let told = bench.unpack().unwrap().refused;
        assert_eq!(told.count, 1, "{told:?}");
        add(&bench, &["a.txt"]).unwrap();
        assert!(remove(&bench, &[named], true).unwrap() > 0);
        let kept = bench.read("victim/sub/deep/noise");
        assert_eq!(kept, noise(70_000));
    }
    let bench = packed();
    fs::rename(bench.at("x.sqlar.d"), bench.at("victim")).unwrap();
    symlink("victim", bench.at("x.sqlar.d")).unwrap();
    let added = add(&bench, &["sub/deep/noise"]).unwrap();
    assert_eq!(added.replaced, 1);
    assert!(bench.at("victim/sub/deep/noise").exists());
}

#[test]
fn a_row_takes_no_file_beside_the_archive_that_is_not_what_it_says() {
    for other in [noise(69_999), vec![0; 70_000]] {
        let bench = packed();
        bench.write("x.sqlar.d/sub/deep/noise", &other);
        assert_eq!(remove(&bench, &["sub/deep/noise"], false).unwrap(), 1);
        assert_eq!(bench.read("x.sqlar.d/sub/deep/noise"), other);
    }
}

#[test]
fn what_belongs_to_the_archive_is_not_added_to_it() {
    let bench = Bench::new();
    bench.write("from/large", noise(1_000));
    bench.write("from/small", "x");
    let archive = bench.at("from/x.sqlar");
    let limited = Pack {
        inline_limit: Some(100),
        archive: archive.clone(),
        ..bench.packing()
    };
    limited.run(&()).unwrap();
    let all = Add {
        archive,
        base: bench.at("from"),
        paths: vec![".".to_owned()],
        store: false,
    };
    let added = all.run(&()).unwrap();
    assert_eq!((added.added, added.replaced), (0, 3), "{added:?}");
}
