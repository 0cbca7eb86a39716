//! The verbs of archives, as they are typed and as they answer.

use crate::bench::Bench;
use std::fs;

fn packed() -> Bench {
    let bench = Bench::new();
    fs::create_dir_all(bench.path("from/sub")).unwrap();
    fs::write(bench.path("from/a"), "a".repeat(5_000)).unwrap();
    fs::write(bench.path("from/sub/b\u{1b}[2J"), "b").unwrap();
    std::os::unix::fs::symlink("a", bench.path("from/link")).unwrap();
    bench
        .run("pack from x.sqlar")
        .exits(0)
        .warns("x.sqlar: 2 files, 2 directories, 1 link, 5.00 kB in 6.14 kB; ");
    bench
}

#[test]
fn an_archive_is_listed_printed_verified_changed_and_unpacked() {
    let bench = packed();
    let names = bench.run("ls x.sqlar").exits(0).stdout();
    assert_eq!(names, ".\na\nlink\nsub\nsub/b\u{1b}[2J\n");
    bench
        .run("ls x.sqlar --long")
        .prints("lrwxrwxrwx           1 ")
        .prints(" link -> a\n");
    let json = &bench.run("ls x.sqlar --json").json()["entries"];
    assert_eq!(json[1]["bytes"], 5_000);
    assert_eq!(json[1]["deflated"], true);
    assert_eq!(json[4]["name"], "sub/b\u{1b}[2J");
    let value = bench.run("cat x.sqlar a").exits(0).stdout();
    assert_eq!(value, "a".repeat(5_000));
    bench
        .run("verify x.sqlar")
        .exits(0)
        .warns("x.sqlar: 5 entries are whole, 5.00 kB; ");
    fs::write(bench.path("from/new"), "new").unwrap();
    bench
        .run("add x.sqlar -C from new a")
        .exits(0)
        .warns("x.sqlar: 1 entry added, 1 replaced; ");
    bench
        .run("rm x.sqlar sub -r")
        .exits(0)
        .warns("x.sqlar: 2 entries removed; ");
    bench.run("unpack x.sqlar back --quiet").exits(0);
    assert_eq!(fs::read(bench.path("back/new")).unwrap(), b"new");
    assert!(!bench.path("back/sub").exists());
}

#[test]
fn names_in_a_pipe_are_those_that_other_verbs_take() {
    let bench = Bench::new();
    let names = ["a b", "a\nb", "a\\tb", "a\tb", "\u{1b}[31mred"];
    fs::create_dir(bench.path("from")).unwrap();
    for name in names {
        fs::write(bench.path("from").join(name), name).unwrap();
    }
    bench.run("pack from x.sqlar -q").exits(0);
    let listed = bench.run("ls x.sqlar -0").exits(0).stdout();
    let listed: Vec<&str> = listed.split_terminator('\0').collect();
    assert_eq!(
        listed,
        ["\u{1b}[31mred", ".", "a\tb", "a\nb", "a b", "a\\tb"]
    );
    for name in listed.iter().filter(|name| **name != ".") {
        let value = bench.run(&["cat", "x.sqlar", name]).exits(0).stdout();
        assert_eq!(value, *name);
    }
    bench.run(&["rm", "x.sqlar", "a b", "-q"]).exits(0);
    let left = bench.run("ls x.sqlar").exits(0).stdout();
    assert_eq!(left, "\u{1b}[31mred\n.\na\tb\na\nb\na\\tb\n");
}

#[test]
fn what_was_packed_is_removed_by_the_command_that_is_told_unless_the_archive_lies_in_it() {
    let bench = Bench::new();
    fs::create_dir(bench.path("it's")).unwrap();
    fs::write(bench.path("it's/a"), "a").unwrap();
    let told = bench.run("pack it's x.sqlar").exits(0).stderr();
    assert!(told.ends_with(" rm -r 'it'\\''s'\n"), "{told}");
    let told = bench.run("pack it's it's/x.sqlar").exits(0).stderr();
    assert!(!told.contains("rm -r"), "{told}");
}

#[test]
fn what_cannot_be_done_is_one_line_and_what_was_left_out_a_line_each() {
    let bench = packed();
    bench.write("text", "no archive");
    for (typed, said) in [
        ("pack from x.sqlar", "x.sqlar exists already"),
        ("pack nowhere y.sqlar", "cannot open nowhere"),
        ("pack text y.sqlar", "text is no directory"),
        ("unpack text y", "text: it is not an SQLite database"),
        ("unpack x.sqlar from", "from is not empty"),
        ("unpack none y", "cannot open none"),
        ("ls from", "from is a directory"),
        ("cat x.sqlar sub", "sub of x.sqlar is a directory"),
        ("cat x.sqlar none", "x.sqlar has no none"),
        ("rm x.sqlar sub", "--recursive removes it"),
        ("add x.sqlar ../x", "--base says where names begin"),
        ("mount none from", "cannot open none"),
        ("mount x.sqlar from --", "no command behind '--'"),
        ("pack from nowhere/y.sqlar", "there is no directory nowhere"),
        ("-q pack from y.sqlar", "unexpected argument '-q' found"),
    ] {
        let run = bench.run(typed);
        run.refuses(said);
        assert_eq!(run.stderr().lines().count(), 1, "{typed}: {}", run.stderr());
    }
    assert!(!bench.path("y").exists() && !bench.path("y.sqlar").exists());
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("from/s")).unwrap();
    let told = bench.run("pack from y.sqlar -q").exits(1).stderr();
    assert_eq!(told, "warning: not packed: s: it is a socket\n");
    let mut bytes = fs::read(bench.path("y.sqlar")).unwrap();
    let stream = bytes
        .windows(2)
        .position(|pair| matches!(pair, [0x78, 0x01 | 0x5e | 0x9c | 0xda]))
        .unwrap();
    bytes[stream + 3] ^= 0xff;
    fs::write(bench.path("y.sqlar"), bytes).unwrap();
    bench
        .run("verify y.sqlar -q")
        .exits(1)
        .warns("warning: damaged: a: its data is damaged");
}
