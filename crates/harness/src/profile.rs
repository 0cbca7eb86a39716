//! Flame graphs of workers: where the processor's time goes within an operation, by samples that the
//! program `perf` takes in a pass of its own, which is never timed.
//!
//! Samples come from a clock, so that a virtual machine without hardware counters has them too. Stacks
//! are unwound by the tables that every program has for its exceptions: no frame pointers are needed.
//! Kept is what a block's operations do, its lead-in included, and nothing of what a worker does
//! before and after.
//!
//! Drawing is left to `inferno-flamegraph`, a program of its own: its licence, the CDDL, is another
//! than that of all the rest.

use crate::HarnessError;
use crate::counting::on_path;
use crate::worker_process::WorkerCommand;
use std::collections::BTreeMap;
use std::fs::{Permissions, read_to_string};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Samples for each second of the processor's time; odd, so that nothing periodic keeps step.
const SAMPLES_PER_SECOND: &str = "1999";
/// Bytes of the stack that a sample takes along.
const UNWINDING: &str = "dwarf,16384";
/// How the names of the measuring loop begin, which is in every stack of a block's operations.
const LOOP: [&str; 2] = ["stowplan_driver::block::", "<stowplan_driver::block::"];
/// What stands for it at the foot of every stack: how much of it a sample saw differs.
const FOOT: &str = "operations";
/// From here on the kernel has the addresses.
const KERNEL: u64 = 1 << 63;

/// The program that draws.
const DRAWS: &str = "inferno-flamegraph";

/// Samples by stack: functions from the outermost in, joined by `;`.
pub(crate) type Stacks = BTreeMap<String, u64>;

/// `perf`, as far as this process may use it.
#[derive(Debug, Clone)]
pub(crate) struct Profiler {
    program: PathBuf,
    /// The event, for the kernel's time too or for the user's alone.
    event: &'static str,
}

impl Profiler {
    /// Tries it; `work` is for what the trial writes. Where there is none, why.
    pub(crate) fn find(work: &Path) -> Result<Self, String> {
        let Some(program) = on_path("perf") else {
            return Err("the program perf is not installed".to_owned());
        };
        let mut refused = String::new();
        for event in ["cpu-clock", "cpu-clock:u"] {
            let profiler = Self {
                program: program.clone(),
                event,
            };
            match profiler.tried(work) {
                Ok(()) => return Ok(profiler),
                Err(why) => refused = why,
            }
        }
        Err(refused)
    }

    /// Whether what the kernel does is seen. Where it may not be, perf takes the user's part of the
    /// event that was asked for, and does not say so.
    pub(crate) fn sees_kernel(&self) -> bool {
        const USER_ONLY: i32 = 2;
        let level = paranoia().parse().unwrap_or(USER_ONLY);
        let allowed = level < USER_ONLY || rustix::process::geteuid().is_root();
        allowed && !self.event.ends_with(":u")
    }

    fn tried(&self, work: &Path) -> Result<(), String> {
        let data = data_file(work);
        let mut command = Command::new(&self.program);
        command.args(self.arguments(&data)).arg(&self.program);
        command.arg("--version").stdin(Stdio::null());
        let output = command.output();
        // There is none where it was refused.
        let _ = std::fs::remove_file(&data);
        match output {
            Ok(output) if output.status.success() => Ok(()),
            Ok(output) => Err(reason(&output)),
            Err(error) => Err(error.to_string()),
        }
    }

    fn arguments(&self, data: &Path) -> Vec<String> {
        let words = [
            "record",
            "-q",
            // Nothing is copied to the user's ~/.debug.
            "--no-buildid-cache",
            "-F",
            SAMPLES_PER_SECOND,
            "-e",
            self.event,
            "--call-graph",
            UNWINDING,
            "-o",
        ];
        let mut arguments = words.map(str::to_owned).to_vec();
        arguments.extend([data.display().to_string(), "--".to_owned()]);
        arguments
    }

    /// The same worker with this around it, which writes what it sees below `work`.
    pub(crate) fn around(&self, command: &WorkerCommand, work: &Path) -> WorkerCommand {
        let mut arguments = self.arguments(&data_file(work));
        arguments.push(command.program.display().to_string());
        arguments.extend(command.arguments.iter().cloned());
        WorkerCommand {
            program: self.program.clone(),
            arguments,
            ..command.clone()
        }
    }

    /// What it saw of the worker that ended last.
    pub(crate) fn stacks(&self, work: &Path) -> Result<Stacks, HarnessError> {
        let data = data_file(work);
        let mut command = Command::new(&self.program);
        command.args(["script", "--no-inline", "-F", "ip,sym", "-i"]);
        command.arg(&data).stdin(Stdio::null());
        let output = command.output();
        let output = output.map_err(HarnessError::io("run", &self.program))?;
        std::fs::remove_file(&data).map_err(HarnessError::io("remove", &data))?;
        if !output.status.success() {
            let why = reason(&output);
            return Err(HarnessError::invalid(format!(
                "perf cannot read what it wrote: {why}"
            )));
        }
        Ok(stacks_in(&String::from_utf8_lossy(&output.stdout)))
    }
}

fn data_file(work: &Path) -> PathBuf {
    work.join("perf.data")
}

/// The kernel's setting of who may look at what; empty where it tells none.
fn paranoia() -> String {
    let level = read_to_string("/proc/sys/kernel/perf_event_paranoid");
    level.unwrap_or_default().trim().to_owned()
}

/// Why perf refused, in a line.
fn reason(output: &Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr);
    let lines = stderr.lines().map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && *line != "Error:");
    let first = lines.next().unwrap_or("perf failed and said nothing");
    match paranoia().as_str() {
        "" => format!("perf: {first}"),
        level => format!("perf: {first} kernel.perf_event_paranoid is {level}"),
    }
}

/// The stacks of operations in what `perf script -F ip,sym` prints: a paragraph for each sample, a
/// line for each function, the innermost first.
fn stacks_in(text: &str) -> Stacks {
    let mut stacks = Stacks::new();
    for sample in text.split("\n\n") {
        let frames: Vec<String> = sample.lines().filter_map(frame).collect();
        let is_loop = |frame: &String| LOOP.iter().any(|name| frame.starts_with(name));
        let Some(innermost) = frames.iter().position(is_loop) else {
            continue;
        };
        let shown = if innermost == 0 {
            &frames[..1]
        } else {
            &frames[..innermost]
        };
        let outwards = shown.iter().map(String::as_str).chain([FOOT]);
        let stack: Vec<&str> = outwards.rev().collect();
        *stacks.entry(stack.join(";")).or_default() += 1;
    }
    stacks
}

/// The function of a line: `    7f8f00 name of the function`. Those of the kernel get the mark by which
/// the graph colours them.
fn frame(line: &str) -> Option<String> {
    let (address, name) = line.trim().split_once(' ')?;
    let address = u64::from_str_radix(address, 16).ok()?;
    let name = without_hash(name.trim()).replace(';', ":");
    let mark = if address >= KERNEL { "_[k]" } else { "" };
    Some(format!("{name}{mark}"))
}

/// A name without the hash that compilers put behind it: `::h` and 16 digits.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((plain, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            plain
        }
        _ => name,
    }
}

/// Writes samples by stack into a file, which is replaced: a line for each stack, as
/// `flamegraph.pl`, inferno and speedscope read it.
pub(crate) fn write(stacks: &Stacks, file: &Path) -> Result<(), HarnessError> {
    let mut lines = String::new();
    for (stack, samples) in stacks {
        lines.push_str(&format!("{stack} {samples}\n"));
    }
    replace(file, lines.as_bytes())
}

/// Has `inferno-flamegraph` draw what [`write`] wrote into a file, which is replaced. Draws nothing
/// where that program is not installed.
pub(crate) fn draw(
    folded: &Path,
    title: &str,
    subtitle: &str,
    file: &Path,
) -> Result<(), HarnessError> {
    let Some(program) = on_path(DRAWS) else {
        return Ok(());
    };
    let mut command = Command::new(&program);
    // In one word each: a title may begin with a dash.
    command.arg(format!("--title={title}"));
    command.arg(format!("--subtitle={subtitle}"));
    command.args(["--colors=rust", "--deterministic"]);
    let output = command.arg(folded).stdin(Stdio::null()).output();
    let output = output.map_err(HarnessError::io("run", &program))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let line = stderr.lines().next_back().unwrap_or("it said nothing");
        return Err(HarnessError::invalid(format!("{DRAWS} failed: {line}")));
    }
    replace(file, &output.stdout)
}

fn replace(file: &Path, content: &[u8]) -> Result<(), HarnessError> {
    let written = || {
        let mut whole = tempfile::Builder::new()
            // As any new file: what the umask leaves of it.
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(file.parent().unwrap_or(Path::new(".")))?;
        whole.write_all(content)?;
        whole.persist(file).map_err(|error| error.error)
    };
    written().map(drop).map_err(HarnessError::io("write", file))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "\
\n\tffffffff8158c954 filemap_map_pages\n\tffffffff81000c82 asm_exc_page_fault\n\
\t          98f21 pread64\n\
\t         7f8f00 <stowplan_stores::flat::FlatSession as stowplan_stores::store::Session>::read_into\n\
\t         80b390 stowplan_driver::block::run::Loop::steps\n\
\t         80b391 stowplan_driver::block::Block::with::h0123456789abcdef\n\
\t         80b392 stowplan_driver::run::by_one\n\
\n\t          98934 malloc\n\t         80b392 stowplan_driver::run::by_one\n\
\n\t           2929 [unknown]\n\
\t         80b390 stowplan_driver::block::run::Loop::steps\n\
\n\t         80b390 stowplan_driver::block::run::Loop::steps\n\
\t         80b391 stowplan_driver::block::Block::with\n\
\n\t         80b390 stowplan_driver::block::run::Loop::steps\n\n";

    #[test]
    fn only_what_operations_do_is_kept_from_the_outermost_function_in() {
        let stacks = stacks_in(SCRIPT);
        let of_kernel = "operations;\
                         <stowplan_stores::flat::FlatSession as stowplan_stores::store::Session>::read_into;\
                         pread64;asm_exc_page_fault_[k];filemap_map_pages_[k]";
        let expected = [
            (of_kernel, 1),
            ("operations;[unknown]", 1),
            ("operations;stowplan_driver::block::run::Loop::steps", 2),
        ];
        let expected = expected.map(|(stack, samples)| (stack.to_owned(), samples));
        assert_eq!(stacks, BTreeMap::from(expected));
        assert!(stacks_in("").is_empty());
        assert!(stacks_in("no sample\nat all").is_empty());
    }

    #[test]
    fn samples_are_written_a_stack_a_line_and_drawn_where_there_is_a_program_for_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        let stacks = stacks_in(SCRIPT);
        for _ in 0..2 {
            write(&stacks, &at("p.folded")).unwrap();
            draw(&at("p.folded"), "-files <&>", "2 samples", &at("p.svg")).unwrap();
        }
        let folded = read_to_string(at("p.folded")).unwrap();
        let lines: Vec<&str> = folded.lines().collect();
        assert_eq!(lines.len(), 3, "{folded}");
        assert_eq!(lines[1], "operations;[unknown] 1");
        let files = std::fs::read_dir(directory.path()).unwrap().count();
        if on_path(DRAWS).is_none() {
            assert_eq!(files, 1);
            eprintln!("not tested: {DRAWS} is not installed");
            return;
        }
        assert_eq!(files, 2);
        let svg = read_to_string(at("p.svg")).unwrap();
        assert!(svg.contains("<svg") && svg.contains("filemap_map_pages"));
        assert!(svg.contains("-files &lt;&amp;&gt;"), "{svg}");
    }

    #[test]
    fn a_hash_behind_a_name_is_none_of_it() {
        assert_eq!(without_hash("a::b::h0123456789abcdef"), "a::b");
        assert_eq!(without_hash("a::head"), "a::head");
    }

    #[test]
    fn perf_is_found_or_there_is_a_line_that_says_why_not() {
        let directory = tempfile::tempdir().unwrap();
        match Profiler::find(directory.path()) {
            Ok(profiler) => assert!(profiler.program.is_absolute()),
            Err(why) => {
                assert!(!why.is_empty() && !why.contains('\n'), "{why}");
                eprintln!("not tested: {why}");
            }
        }
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
    }
}
