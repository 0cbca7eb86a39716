//! A place to run the program in, and assertions that show everything when they fail.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
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
[[chart]]
id = "c"
title = "Reads"
comparison = "read"
reference = "sql"
bars = ["dir", "floor"]
"#;

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

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(Path::new(env!("CARGO_BIN_EXE_stowplan")), arguments)
    }

    /// The same with the program elsewhere.
    pub(crate) fn command_of(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .env_remove("NO_COLOR")
            .env_remove("STOWPLAN_DRIVERS")
            .env("LC_ALL", "C.UTF-8");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Finished {
        Finished::of(&mut self.command(arguments), arguments)
    }

    /// The records of a result directory; every line must be readable.
    pub(crate) fn records(&self, directory: &str) -> Vec<Record> {
        let path = self.path(directory).join("result.jsonl");
        let text = std::fs::read_to_string(&path).unwrap();
        let (records, problems) = read_records(&text);
        assert!(problems.is_empty(), "{}: {problems:?}", path.display());
        records
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
    pub(crate) fn of(command: &mut Command, arguments: &[&str]) -> Self {
        Self {
            arguments: arguments.join(" "),
            output: command.output().unwrap(),
        }
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    fn everything(&self) -> String {
        format!(
            "stowplan {}\nstatus: {:?}\nstdout:\n{}\nstderr:\n{}",
            self.arguments,
            self.output.status.code(),
            self.stdout(),
            self.stderr()
        )
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(
            self.output.status.code(),
            Some(code),
            "{}",
            self.everything()
        );
        self
    }

    #[track_caller]
    pub(crate) fn prints(&self, text: &str) -> &Self {
        assert!(
            self.stdout().contains(text),
            "no '{text}' in\n{}",
            self.everything()
        );
        self
    }

    /// Refused before anything was measured: exit code 2 and one clear line that contains `text`.
    #[track_caller]
    pub(crate) fn refuses(&self, text: &str) -> &Self {
        self.exits(2);
        let stderr = self.stderr();
        let lines: Vec<&str> = stderr
            .lines()
            .filter(|line| line.starts_with("error:"))
            .collect();
        assert_eq!(
            lines.len(),
            1,
            "one line says what is wrong\n{}",
            self.everything()
        );
        assert!(
            stderr.contains(text),
            "no '{text}' in\n{}",
            self.everything()
        );
        assert!(!stderr.contains("panicked"), "{}", self.everything());
        self
    }
}
