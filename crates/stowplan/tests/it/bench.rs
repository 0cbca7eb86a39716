//! A place to run the program in, and assertions that show everything when they fail.

use serde_json::Value;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use stowplan_model::{Record, read_records};
use tempfile::TempDir;

/// A study whose blocks are of a few operations, so that it takes about as long as its workers take to
/// begin and end.
pub(crate) const SMALL: &str = r#"
name = "small"
title = "A small study"
question = "Does everything work?"
[datasets.blobs]
count = 300
size = { distribution = "uniform", min = 500, max = 1_500 }
[[comparison]]
id = "read"
title = "Reads"
dataset = "blobs"
workload = { operation = "read", operations = 100 }
baseline = "dir"
[comparison.cells]
dir = { store = "files:layout=dir", label = "files" }
sql = { store = "sqlite:api=sql", label = "SQLite" }
floor = { store = "flat", floor = true, label = "floor" }
[[comparison]]
id = "write"
title = "Overwrites"
dataset = "blobs"
workload = { operation = "overwrite", operations = 50 }
baseline = "dir"
[comparison.cells]
dir = { store = "files:layout=dir", label = "files" }
wal = { store = "sqlite:journal=wal,synchronous=normal", label = "SQLite, WAL" }
[[figure]]
id = "c"
title = "Reads"
comparisons = ["read"]
to = "sql"
cells = ["dir", "floor"]
"#;

pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_stowplan");

/// Not the system's temporary directory, which may lie in memory.
const DISK: &str = env!("CARGO_TARGET_TMPDIR");

/// More bytes than all tests together have at the same time.
const ROOM: u64 = 1 << 30;

/// A directory of its own, with `small.toml` in it.
pub(crate) struct Bench {
    directory: TempDir,
}

impl Bench {
    /// In memory, where the machine has room there: what is tested is what the program does, and not
    /// for how long a disk that others use keeps it waiting.
    pub(crate) fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let room = rustix::fs::statvfs(memory).map_or(0, |found| found.f_bavail * found.f_frsize);
        Self::below(if room >= ROOM { memory } else { DISK.as_ref() })
    }

    /// Where the build lies: for what files in memory cannot do, such as leaving the page cache.
    pub(crate) fn on_disk() -> Self {
        Self::below(DISK.as_ref())
    }

    fn below(place: &Path) -> Self {
        let directory = TempDir::new_in(place).unwrap();
        std::fs::write(directory.path().join("small.toml"), SMALL).unwrap();
        Self { directory }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn command(&self, line: &(impl Line + ?Sized)) -> Command {
        self.command_of(PROGRAM.as_ref(), line)
    }

    /// A command of a copy of the program.
    pub(crate) fn command_of(&self, program: &Path, line: &(impl Line + ?Sized)) -> Command {
        let mut command = Command::new(program);
        command
            .args(line.words())
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .env_remove("NO_COLOR")
            .env_remove("STOWPLAN_DRIVERS")
            .env("LC_ALL", "C.UTF-8");
        command
    }

    pub(crate) fn run(&self, line: &(impl Line + ?Sized)) -> Finished {
        Finished::of(&mut self.command(line))
    }

    /// Starts a command of which nothing is heard.
    pub(crate) fn silently(&self, line: &(impl Line + ?Sized)) -> Child {
        silently(&mut self.command(line))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The records of a result directory; every line must be readable.
    pub(crate) fn records(&self, directory: &str) -> Vec<Record> {
        let (records, problems) = read_records(&self.text(&format!("{directory}/result.jsonl")));
        assert!(problems.is_empty(), "{directory}: {problems:?}");
        records
    }

    /// A bench with what a run of ten rounds of the first comparison left in `out`.
    pub(crate) fn measured() -> Self {
        static OUT: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
            let bench = Bench::new();
            let line = "study small.toml --output out --rounds 10 --only read --quiet";
            bench.run(line).exits(0);
            let names = entries(&bench.path("out")).into_iter();
            let read = |name: String| {
                let bytes = std::fs::read(bench.path("out").join(&name)).unwrap();
                (name, bytes)
            };
            names.map(read).collect()
        });
        let bench = Self::new();
        std::fs::create_dir(bench.path("out")).unwrap();
        for (name, bytes) in &*OUT {
            std::fs::write(bench.path("out").join(name), bytes).unwrap();
        }
        bench
    }
}

/// The result of a run of ten rounds of both comparisons.
pub(crate) static WHOLE: LazyLock<String> = LazyLock::new(|| {
    let bench = Bench::new();
    let line = "study small.toml --output out --rounds 10 --quiet";
    bench.run(line).exits(0);
    bench.text("out/result.jsonl")
});

/// A command line: one text, or word by word where a word has blanks in it.
pub(crate) trait Line {
    fn words(&self) -> Vec<String>;
}

impl Line for str {
    fn words(&self) -> Vec<String> {
        self.split_whitespace().map(str::to_owned).collect()
    }
}

impl Line for String {
    fn words(&self) -> Vec<String> {
        self.as_str().words()
    }
}

impl<const N: usize> Line for [&str; N] {
    fn words(&self) -> Vec<String> {
        self.map(str::to_owned).into()
    }
}

impl Line for Vec<&str> {
    fn words(&self) -> Vec<String> {
        self.iter().map(|&word| word.to_owned()).collect()
    }
}

/// Starts a command of which nothing is heard.
pub(crate) fn silently(command: &mut Command) -> Child {
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Longer than anything takes on a machine that others keep busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(300);

/// Waits for something that comes, however busy the machine is.
#[track_caller]
pub(crate) fn until<T>(mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(found) = condition() {
            return found;
        }
        assert!(Instant::now() < deadline, "nothing came of it");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The names in a directory.
pub(crate) fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// What a finished run printed.
pub(crate) struct Finished {
    arguments: String,
    output: Output,
}

impl Finished {
    pub(crate) fn of(command: &mut Command) -> Self {
        let words: Vec<_> = command
            .get_args()
            .map(|word| word.to_string_lossy())
            .collect();
        let arguments = words.join(" ");
        Self {
            arguments,
            output: command.output().unwrap(),
        }
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// What it printed, as one line.
    pub(crate) fn flat(&self) -> String {
        flat(&self.stdout())
    }

    /// What it printed, as one JSON document.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let parsed = serde_json::from_str(&self.stdout());
        self.holds(parsed.is_ok(), "this is no JSON");
        parsed.unwrap()
    }

    /// Shows everything where something does not hold.
    #[track_caller]
    fn holds(&self, holds: bool, what: &str) -> &Self {
        let status = self.output.status.code();
        let (stdout, stderr) = (self.stdout(), self.stderr());
        let ran = format!("stowplan {}\nstatus: {status:?}", self.arguments);
        assert!(holds, "{what}\n{ran}\nstdout:\n{stdout}\nstderr:\n{stderr}");
        self
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        let wanted = format!("{code} is wanted");
        self.holds(self.output.status.code() == Some(code), &wanted)
    }

    #[track_caller]
    pub(crate) fn prints(&self, text: &str) -> &Self {
        self.holds(self.stdout().contains(text), &format!("no '{text}'"))
    }

    /// Prints a text, however its lines are broken.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) -> &Self {
        self.holds(self.flat().contains(text), &format!("no '{text}'"))
    }

    /// Prints a text to stderr.
    #[track_caller]
    pub(crate) fn warns(&self, text: &str) -> &Self {
        self.holds(self.stderr().contains(text), &format!("no '{text}'"))
    }

    /// Prints no line that is wider than a terminal, but for names of files.
    #[track_caller]
    pub(crate) fn fits(&self) -> &Self {
        let is_wide = |line: &&str| line.chars().count() > 80 && !line.starts_with("The report");
        assert_eq!(self.stdout().lines().find(is_wide), None);
        self
    }

    /// Refused before anything was measured: exit code 2 and one clear line that contains `text`.
    #[track_caller]
    pub(crate) fn refuses(&self, text: &str) -> &Self {
        let stderr = self.stderr();
        let told = stderr.lines().filter(|line| line.starts_with("error:"));
        self.exits(2).warns(text);
        self.holds(told.count() == 1, "one line says what is wrong");
        self.holds(!stderr.contains("panicked"), "it panicked")
    }
}

/// A text as one line.
pub(crate) fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub(crate) fn make_executable(path: &Path) {
    std::fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
}
