//! A result is shown again, and files of others beside it are left alone.

use crate::bench::{Bench, entries};

const MINE: &str = "# My notes\n\nYears of work.\n";

/// A directory with a small run in `out`.
fn measured() -> Bench {
    let bench = Bench::new();
    let arguments = "study small.toml --output out --rounds 10 --only read --quiet";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    bench.run(&arguments).exits(0);
    bench
}

fn text(bench: &Bench, name: &str) -> String {
    std::fs::read_to_string(bench.path(name)).unwrap()
}

#[test]
fn a_file_that_stowplan_did_not_write_is_left_alone_and_named() {
    let bench = measured();
    let page = text(&bench, "out/report.html");
    bench.write("out/report.html", &format!("{page}and more"));
    bench.write("out/summary.md", MINE);
    let again = bench.run(&["report", "out"]);
    again.exits(0).prints("report.html");
    let stderr = again.stderr();
    let about: Vec<&str> = stderr.lines().collect();
    assert_eq!(about.len(), 1, "{stderr}");
    assert!(about[0].contains("out/summary.md is left as it is"));
    assert_eq!(text(&bench, "out/summary.md"), MINE);
    assert_eq!(text(&bench, "out/report.html"), page, "its own is replaced");
    assert_eq!(
        entries(&bench.path("out")),
        ["report.html", "result.jsonl", "summary.md"]
    );
}

#[test]
fn nothing_is_written_through_a_link() {
    let bench = measured();
    bench.write("mine", MINE);
    for name in ["summary.tmp", "report.tmp"] {
        std::os::unix::fs::symlink("../mine", bench.path("out").join(name)).unwrap();
    }
    // Even a link to a report of another run.
    std::fs::rename(bench.path("out/summary.md"), bench.path("other.md")).unwrap();
    std::os::unix::fs::symlink("../other.md", bench.path("out/summary.md")).unwrap();
    bench.write("other.md", &text(&bench, "other.md").replace("Reads", "R"));
    let other = text(&bench, "other.md");
    let again = bench.run(&["report", "out/result.jsonl"]);
    again.exits(0);
    assert!(again.stderr().contains("out/summary.md is left as it is"));
    assert_eq!(text(&bench, "mine"), MINE);
    assert_eq!(text(&bench, "other.md"), other);
}

#[test]
fn a_damaged_line_is_left_out_and_the_rest_is_shown() {
    let bench = measured();
    let path = bench.path("out/result.jsonl");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend(b"{\"type\":\"\xff\n");
    std::fs::write(&path, bytes).unwrap();
    let again = bench.run(&["report", "out"]);
    again.exits(0).prints("SQLite");
    assert!(
        again.stderr().contains("the line is left out"),
        "{}",
        again.stderr()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn where_nothing_can_be_written_the_analysis_is_still_printed() {
    let bench = measured();
    // Its directory refuses root too, unlike one without write permission.
    let result = std::fs::File::open(bench.path("out/result.jsonl")).unwrap();
    let mut command = bench.command(&["report", "/proc/self/fd/0"]);
    let output = command.stdin(result).output().unwrap();
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(stdout.contains("SQLite"), "{stdout}");
    assert!(!stdout.contains("report.html"), "{stdout}");
    let warnings: Vec<&str> = stderr.lines().collect();
    assert_eq!(warnings.len(), 2, "{stderr}");
    assert!(!stderr.contains(".tmp"), "{stderr}");
    assert!(warnings[0].contains("summary.md") && warnings[1].contains("report.html"));
}
