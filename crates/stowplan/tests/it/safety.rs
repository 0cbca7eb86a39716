//! Links lead nowhere, and names are no more than text. (That no verb touches what lies around: `.ci/safety-check`.)

use crate::bench::{Bench, Finished, Line, PATIENCE, entries, silently};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use stowplan_report::steers;

/// A study with the fewest and smallest cells.
const TINY: &str = r#"
name = "tiny"
title = "Tiny"
question = "?"
[datasets.blobs]
count = 50
size = { distribution = "fixed", bytes = 100 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read" }
baseline = "dir"
max_rounds = 10
[comparison.cells]
dir = { store = "files", label = "files" }
sql = { store = "sqlite", label = "SQLite" }
[[comparison]]
id = "write"
title = "Overwrites"
dataset = "blobs"
workload = { operation = "overwrite", operations = 20 }
baseline = "dir"
max_rounds = 10
[comparison.cells]
dir = { store = "files", label = "files" }
"#;

/// What a name may be that somebody chose with care.
const NAME: &str = "x\u{1b}[2J\u{1b}]0;y\u{7}\u{9b}1m\u{202e}|`c`</script><img src=q onerror=z> <!-- --> \
                    [l](javascript:1) ../../up\r\n# h\0";

/// Everything below a directory: mode, length, time of the last change, and content.
fn state(directory: &Path) -> BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut left = vec![directory.to_owned()];
    while let Some(path) = left.pop() {
        let data = path.symlink_metadata().unwrap();
        let content = match data.is_file() {
            true => fs::read(&path).unwrap(),
            false => Vec::new(),
        };
        if data.is_dir() {
            left.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|entry| entry.unwrap().path()),
            );
        }
        found.insert(
            path,
            (data.mode(), data.mtime(), data.mtime_nsec(), content),
        );
    }
    found
}

/// The program in a directory that has precious ones beside it, and nothing but those to go to.
struct Guarded {
    bench: Bench,
}

impl Guarded {
    fn new() -> Self {
        let bench = Bench::new();
        for name in ["here", "home", "precious/00/00"] {
            fs::create_dir_all(bench.path(name)).unwrap();
        }
        for name in ["letter", "000001", "00/00/01", "test.db", "report.html"] {
            bench.write(&format!("precious/{name}"), "dear");
        }
        bench.write("here/tiny.toml", TINY);
        Self { bench }
    }

    fn here(&self, name: &str) -> PathBuf {
        self.bench.path("here").join(name)
    }

    /// With the result of a run of one round in `here/out`.
    fn measured() -> Self {
        static OUT: LazyLock<[(&str, String); 3]> = LazyLock::new(|| {
            let guarded = Guarded::new();
            guarded.run("study tiny.toml -o out --rounds 1").exits(0);
            let names = ["report.html", "result.jsonl", "summary.md"];
            names.map(|name| (name, guarded.bench.text(&format!("here/out/{name}"))))
        });
        let guarded = Self::new();
        fs::create_dir(guarded.here("out")).unwrap();
        for (name, text) in &*OUT {
            fs::write(guarded.here("out").join(name), text).unwrap();
        }
        guarded
    }

    fn command(&self, line: &(impl Line + ?Sized)) -> Command {
        let mut command = self.bench.command(line);
        command.current_dir(self.bench.path("here"));
        for variable in "HOME TMPDIR XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME".words() {
            command.env(variable, self.bench.path("home"));
        }
        command
    }

    /// Runs the program; whatever comes of it, nothing around it may change.
    #[track_caller]
    fn run(&self, line: &(impl Line + ?Sized)) -> Finished {
        let around = |bench: &Bench| ["home", "precious"].map(|name| state(&bench.path(name)));
        let before = around(&self.bench);
        let finished = Finished::of(&mut self.command(line));
        let after = around(&self.bench);
        // A temporary directory that came and went changes the time of the one it was in.
        let same = before[0].len() == after[0].len();
        assert!(same, "{:?} left something in HOME or TMPDIR", line.words());
        let same = before[1] == after[1];
        assert!(same, "{:?} changed what is precious", line.words());
        finished
    }

    /// Puts a link to nothing, one to a file, a directory and a pipe in a place, each until it was looked at.
    fn obstructed(&self, place: &str, look: impl Fn(&Self)) {
        let place = self.here(place);
        let link = |to: &str| symlink(to, &place).unwrap();
        let obstacles: [&dyn Fn(); 4] = [
            &|| link("../../precious/new"),
            &|| link("../../precious/letter"),
            &|| fs::create_dir(&place).unwrap(),
            &|| {
                let made = Command::new("mkfifo").arg(&place).status().unwrap();
                assert!(made.success());
            },
        ];
        for put in obstacles {
            let _ = fs::remove_file(&place);
            put();
            look(self);
            let _ = fs::remove_dir(&place);
        }
        let _ = fs::remove_file(&place);
    }
}

#[test]
fn what_stands_in_the_place_of_a_manual_page_is_neither_followed_nor_waited_for() {
    let guarded = Guarded::new();
    fs::create_dir(guarded.here("pages")).unwrap();
    guarded.obstructed("pages/stowplan.1", |guarded| {
        guarded.run("man --to pages").refuses("was not made by");
    });
    let (page, copy) = (guarded.here("pages/stowplan.1"), guarded.here("copy"));
    guarded.run("man --to pages").exits(0);
    fs::hard_link(&page, &copy).unwrap();
    fs::write(&page, fs::read_to_string(&page).unwrap() + "of mine\n").unwrap();
    guarded.run("man --to pages").exits(0);
    assert!(fs::read_to_string(&copy).unwrap().ends_with("of mine\n"));
}

#[test]
fn what_stands_in_the_place_of_a_report_is_neither_followed_nor_waited_for() {
    Guarded::measured().obstructed("out/report.html", |guarded| {
        guarded.run("report out").exits(0).warns("left as it is");
    });
}

#[test]
fn links_that_are_put_in_the_place_of_stores_during_a_run_lead_nowhere() {
    let guarded = Guarded::new();
    let precious = guarded.bench.path("precious");
    for key in 0..=50 {
        fs::write(precious.join(format!("{key:06}")), "dear".repeat(25)).unwrap();
    }
    let before = state(&precious);
    let study = "study tiny.toml -o out --only write --rounds 10";
    let mut child = silently(&mut guarded.command(study));
    let aside = guarded.here("aside");
    let until = Instant::now() + PATIENCE;
    let mut swapped = 0;
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "the run hangs");
        for store in stores(&guarded.here("out/work")) {
            if fs::rename(&store, &aside).is_ok() {
                let linked = symlink(&precious, &store);
                std::thread::sleep(Duration::from_millis(15));
                if linked.is_ok() {
                    swapped += 1;
                    let _ = fs::remove_file(&store);
                }
                let _ = fs::rename(&aside, &store);
            }
            std::thread::sleep(Duration::from_millis(15));
        }
    }
    assert!(swapped > 0);
    let after = state(&precious);
    assert!(
        before == after,
        "after {swapped} swaps the run wrote through a link"
    );
}

fn stores(work: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(work).into_iter().flatten().flatten();
    let stores = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let stores = stores.map(|entry| entry.path());
    let ours = |path: &PathBuf| path.to_string_lossy().contains("/store-");
    stores.filter(ours).collect()
}

#[test]
fn a_work_directory_that_is_a_link_by_now_is_left_alone_by_a_run_that_goes_on() {
    let guarded = Guarded::measured();
    cut(&guarded.here("out/result.jsonl"), |line| line);
    symlink("../../precious", guarded.here("out/work")).unwrap();
    guarded.run("resume out").refuses("left alone");
}

#[test]
fn names_in_a_result_never_become_paths() {
    let guarded = Guarded::measured();
    let result = guarded.here("out/result.jsonl");
    let whole = fs::read(&result).unwrap();
    let escapes = [
        r#""instance":"blobs.files.layout-dir/../../../../precious""#,
        r#""instance":"/tmp/precious""#,
        r#""instance":"""#,
        r#""instance":"a\u0000b""#,
    ];
    for escape in escapes {
        fs::write(&result, &whole).unwrap();
        let mut replaced = false;
        cut(&result, |line| {
            let (before, rest) = line.split_once(r#""instance":""#).unwrap();
            let (_, rest) = rest.split_once('"').unwrap();
            replaced = true;
            format!("{before}{escape}{rest}")
        });
        assert!(replaced);
        guarded.run("resume out").refuses("which no study can give");
        assert_eq!(
            entries(&guarded.here("out")),
            ["report.html", "result.jsonl", "summary.md"]
        );
    }
    for name in ["../../precious/x", "..", "a/b", &"a".repeat(300)] {
        fs::write(&result, &whole).unwrap();
        cut(&result, |line| {
            line.replace("\"blobs\"", &format!("\"{name}\""))
        });
        let finished = guarded.run("resume out");
        // Two dots are no path behind another word.
        if name == ".." {
            continue;
        }
        finished.refuses("which no study can give");
    }
}

/// Leaves the header, as changed, and the sessions: as if the run had ended there.
fn cut(result: &Path, header: impl FnOnce(String) -> String) {
    let text = fs::read_to_string(result).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let sessions = rest
        .lines()
        .filter(|line| line.starts_with(r#"{"type":"session""#));
    let lines: Vec<String> = std::iter::once(header(first.to_owned()))
        .chain(sessions.map(str::to_owned))
        .collect();
    fs::write(result, lines.join("\n") + "\n").unwrap();
}

/// A result in which every text that somebody may have chosen says more than it should.
fn hostile(result: &str) -> String {
    let lines = result.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).unwrap();
        poison(&mut record, "");
        record.to_string()
    });
    let mut lines: Vec<String> = lines.collect();
    let more = |record: Value| record.to_string();
    lines.push(more(serde_json::json!({
        "type": "warning", "kind": "other", "message": NAME, "advice": NAME
    })));
    lines.push(more(serde_json::json!({
        "type": "failure", "cell": "write/dir", "message": NAME, "stderr": NAME
    })));
    lines.join("\n") + "\n"
}

fn poison(value: &mut Value, key: &str) {
    const CHOSEN: &str = "title label question source host os kernel cpu virtualisation kind mount_point options model \
                          scheduler published_label a b";
    let is_chosen = CHOSEN.split_whitespace().any(|chosen| chosen == key);
    match value {
        Value::Object(fields) => {
            // The tag of an enumeration is not chosen.
            let tagged = key == "content";
            for (key, value) in fields.iter_mut().filter(|_| !tagged) {
                poison(value, key);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| poison(value, key)),
        Value::String(text) if is_chosen && !matches!(&**text, "ratio" | "latency") => {
            text.push_str(NAME);
        }
        // Names of the study and of a cell: in every place alike.
        Value::String(text)
            if matches!(key, "name" | "cell" | "reference" | "key")
                && (text.ends_with("sql") || text == "tiny") =>
        {
            text.push_str(NAME);
        }
        _ => {}
    }
}

/// A text without the sequences that set colour.
fn without_styles(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn assert_harmless(what: &str, text: &str) {
    let steering = text.chars().find(|c| *c != '\n' && steers(*c));
    assert!(steering.is_none(), "{what}: {steering:?} in\n{text:?}");
}

/// What Markdown reads as more than text: not what stands between fences, which end at one as long.
fn outside_fences(text: &str) -> String {
    let mut fence: Option<&str> = None;
    let mut read = String::new();
    for line in text.lines() {
        let backticks = line.len() - line.trim_start_matches('`').len();
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if backticks >= 3 => fence = Some(line),
            None => read.extend([line, "\n"]),
        }
    }
    assert!(fence.is_none(), "a fence that does not end: {text}");
    read
}

#[test]
fn names_in_a_result_reach_no_report_as_more_than_text() {
    let guarded = Guarded::measured();
    let text = fs::read_to_string(guarded.here("out/result.jsonl")).unwrap();
    for (name, started) in [("bad", None), ("worse", Some("2031-01-01T00:00:00+00:00"))] {
        fs::create_dir(guarded.here(name)).unwrap();
        let mut text = hostile(&text);
        if let Some(later) = started {
            let (_, rest) = text.split_once(r#""started":""#).unwrap();
            let was = rest.split_once('"').unwrap().0.to_owned();
            text = text.replace(&was, later);
        }
        fs::write(guarded.here(name).join("result.jsonl"), text).unwrap();
    }
    for line in [
        "report bad --color always",
        "report bad -v",
        "report bad --json",
        "report bad --format github-action-benchmark",
        "report bad worse",
        "report bad worse --json",
        "compare bad worse --threshold 5%",
        "compare bad worse",
        "compare out bad",
        "compare bad worse --by ratio --json",
        "resume bad",
        "resume bad --dry-run",
    ] {
        is_harmless(&guarded, line);
    }
    for line in [
        "report bad --format md",
        "report bad worse --format md",
        "compare bad worse --format md --threshold 5%",
    ] {
        let text = guarded.run(line).stdout();
        assert!(
            text.contains("onerror"),
            "{line}: the names are there\n{text}"
        );
        assert_harmless(line, &text);
        let read = outside_fences(&text);
        for markup in ["<img", "<!-- --", "[l](", "</script", " `c`"] {
            assert!(!read.contains(markup), "{line}: {markup}\n{text}");
        }
        for row in text.lines().filter(|line| line.starts_with('|')) {
            assert!(row.ends_with('|'), "{line}: {row}");
        }
    }
    for results in ["bad", "bad worse"] {
        let _ = fs::remove_file(guarded.here("page.html"));
        guarded
            .run(&format!("report {results} --to page.html"))
            .exits(0);
        let text = fs::read_to_string(guarded.here("page.html")).unwrap();
        assert_harmless(results, &text.replace('\t', " "));
        assert!(!text.contains("<img"), "{results}");
        assert!(
            text.contains("&lt;img src=q"),
            "{results}: the names are there"
        );
    }
}

/// Runs a command; nothing that it says steers the terminal, but for colour.
fn is_harmless(guarded: &Guarded, line: &str) {
    let finished = guarded.run(line);
    let (stdout, stderr) = (finished.stdout(), finished.stderr());
    assert_harmless(line, &without_styles(&stdout));
    assert_harmless(line, &without_styles(&stderr));
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn names_of_files_reach_no_message_as_more_than_text() {
    let guarded = Guarded::new();
    let (name, database) = ("\u{1b}[2J\u{9b}1m\u{202e}.toml", "\u{1b}]0;x\u{7}.db");
    let study = TINY.replace("Tiny", "\\u001b[2J\\u009b");
    fs::write(guarded.here(name), study).unwrap();
    guarded.run("kvtest init k.db --count 5").exits(0);
    fs::rename(guarded.here("k.db"), guarded.here(database)).unwrap();
    for line in [
        &format!("study {name} --dry-run --color always"),
        "study \u{1b}[31mno.toml",
        "study tiny.toml --work \u{1b}[31mno",
        "study tiny.toml --only \u{1b}[31mno",
        "\u{1b}[31mno",
        "list stores \u{1b}[31mno",
        &format!("stat {database}"),
        &format!("kvtest run {database} --count 2 --rounds 1"),
        &format!("kvtest export {database} \u{1b}[31mdir"),
        "report \u{1b}[31mno",
    ] {
        is_harmless(&guarded, line);
    }
}

#[test]
fn a_name_in_a_study_breaks_no_message() {
    let bench = Bench::new();
    for (right, wrong) in [
        ("baseline = \"dir\"", r#"baseline = "\u001b[2J\ndir""#),
        (
            "store = \"files\"",
            r#"store = "files:layout=\u001b]0;x\u0007""#,
        ),
        ("store = \"files\"", r#"store = "\u001b[31mfiles""#),
        ("[datasets.blobs]", r#"[datasets."\u001b[31m\r\n"]"#),
        ("id = \"read\"", r#"id = "\u009b2J""#),
    ] {
        assert!(TINY.contains(right), "{right}");
        bench.write("hostile.toml", &TINY.replacen(right, wrong, 1));
        let told = bench.run("study hostile.toml --dry-run").exits(2).stderr();
        // A name that is refused is missed where it is used, which is a line of its own.
        for line in told.lines() {
            assert!(line.starts_with("error: hostile.toml"), "{told:?}");
            assert_harmless(wrong, line);
        }
    }
}

#[test]
fn the_longest_names_are_cut_or_refused_and_odd_ones_are_only_names() {
    let guarded = Guarded::new();
    let named = |name: String| TINY.replace("\"tiny\"", &format!("\"{name}\""));
    fs::write(guarded.here("long.toml"), named("../n".repeat(16))).unwrap();
    let refused = guarded.run("study long.toml -q --rounds 1");
    refused.refuses("a name must consist of letters");
    fs::write(guarded.here("long.toml"), named("n".repeat(64))).unwrap();
    guarded.run("study long.toml -q --rounds 1").exits(0);
    let made = entries(&guarded.here("stowplan-results"));
    assert_eq!(made.len(), 1);
    assert!(made[0].len() < 255 && !made[0].contains('/'), "{made:?}");
    let odd = TINY.replace("blobs", &"b".repeat(65));
    fs::write(guarded.here("odd.toml"), odd).unwrap();
    guarded.run("study odd.toml -o no").refuses("at most 64");
    assert!(!guarded.here("no").exists());
    let (fits, too_long) = ("a".repeat(250), "a".repeat(256));
    for name in ["..a", "con", "a b.", "a\nb", &fits] {
        guarded
            .run(&["kvtest", "init", name, "--count", "3"])
            .exits(0);
        assert!(guarded.here(name).is_file(), "{name:?}");
    }
    guarded
        .run(&["kvtest", "init", &too_long, "--count", "3"])
        .exits(2);
    for name in [".", "..", ""] {
        guarded
            .run(&["kvtest", "init", name, "--count", "3"])
            .exits(2);
    }
}
