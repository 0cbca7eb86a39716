//! Counting what a block does, in a pass of its own that is never timed: system calls by name,
//! requests to the device. By `strace` around the worker.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use stowplan_model::{CallCounter, STRACE_MARK, SystemCalls};

/// The most operations of a counting block: enough that what happens once in a while shows, few
/// enough for `strace`, which takes 0.1 ms a call.
const MOST_OPERATIONS: u64 = 1_000;

/// The program `strace`, where it is installed and may be used; else why not.
pub(crate) fn find_strace() -> Result<PathBuf, String> {
    let program = on_path("strace").ok_or("strace: not installed")?;
    try_strace(&program).map_err(|why| format!("strace: {why}"))?;
    Ok(program)
}

/// Whether it may trace anything here.
fn try_strace(program: &Path) -> Result<(), String> {
    let mut trial = std::process::Command::new(program);
    trial.args(["-f", "-qq", "-o", "/dev/null", "true"]);
    let done = trial.stdin(std::process::Stdio::null()).output();
    let done = done.map_err(|error| error.to_string())?;
    if done.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&done.stderr).into_owned();
    let first = stderr.lines().find(|line| !line.trim().is_empty());
    Err(first.unwrap_or("it fails without a word").to_owned())
}

/// Where a program is that a shell would find.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|directory| directory.join(program))
        .find(|file| {
            file.is_file() && rustix::fs::access(file, rustix::fs::Access::EXEC_OK).is_ok()
        })
}

/// How many operations a counting block has at most whose values have so many bytes on average: a
/// store may take a call for each page of a value, and `strace` takes its time for each.
pub(crate) fn most_operations(mean_bytes: u64) -> u64 {
    const SMALLEST_PAGE: u64 = 512;
    const OTHER_CALLS: u64 = 20;
    const MOST_CALLS: u64 = 40_000;
    let calls = mean_bytes / SMALLEST_PAGE + OTHER_CALLS;
    (MOST_CALLS / calls).clamp(10, MOST_OPERATIONS)
}

/// The calls between the marks, by name; where marks are missing, why. `text` is what
/// `strace -f -qq -o` writes: a line for each call, `PID name(arguments) = answer`; a call during
/// which another thread was heard has two lines, of which the second is resumed.
///
/// Counted are the calls of the thread that made the marks.
pub(crate) fn calls_in(text: &str) -> Result<SystemCalls, &'static str> {
    let mut calls = BTreeMap::new();
    let mut within = None;
    let mut windows = 0;
    for call in text.lines().filter_map(call) {
        let (thread, name, _) = call;
        match within {
            None if is_mark(&call, 0) => within = Some(thread),
            Some(_) if is_mark(&call, 1) => {
                within = None;
                windows += 1;
            }
            Some(marked) if marked == thread => *calls.entry(name.to_owned()).or_default() += 1,
            _ => {}
        }
    }
    match within {
        None if windows > 0 => Ok(SystemCalls {
            by: CallCounter::Strace,
            calls,
        }),
        None => Err("its driver does not tell strace where its operations are"),
        Some(_) => Err("what strace wrote ends within its operations"),
    }
}

/// Process, name and arguments of a call; nothing for a signal, an end, or what is resumed.
fn call(line: &str) -> Option<(&str, &str, &str)> {
    let (pid, rest) = line.trim_start().split_once(' ')?;
    let (name, arguments) = rest.trim_start().split_once('(')?;
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let named = !name.is_empty() && name.chars().all(plain);
    named.then_some((pid, name, arguments))
}

/// Whether this is the mark with this number.
fn is_mark((_, name, arguments): &(&str, &str, &str), number: i32) -> bool {
    let mark = (STRACE_MARK + number).to_string();
    let who = arguments.split([',', ')']).nth(1);
    // Without its answer where another thread was heard meanwhile: `N <unfinished ...>`.
    let who = who.and_then(|who| who.split_whitespace().next());
    *name == "getpriority" && who == Some(&mark)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counting_block_of_large_values_is_shorter_so_that_it_ends_soon() {
        assert_eq!(most_operations(10_000), 1_000);
        assert!(most_operations(1 << 20) < 40);
        assert_eq!(most_operations(u64::MAX), 10);
    }

    fn marked(between: &str) -> String {
        let mark = |number| {
            format!(
                "7 getpriority(PRIO_PROCESS, {}) = -1 ESRCH",
                STRACE_MARK + number
            )
        };
        format!(
            "7 openat(AT_FDCWD, \"x\") = 3\n{}\n{between}{}\n7 close(3) = 0\n",
            mark(0),
            mark(1)
        )
    }

    #[test]
    fn calls_between_the_marks_are_counted_by_name() {
        let text = marked(
            "7 openat(4, \"000017\", O_RDONLY) = 5\n7 fstat(5, {st_size=3}) = 0\n\
             7 read(5,  <unfinished ...>\n7 <... read resumed>\"a(b\", 3) = 3\n7 close(5) = 0\n\
             --- SIGCHLD ---\n7 --- SIGALRM {si_signo=SIGALRM} ---\n8 futex(0x1, FUTEX_WAIT) = 0\n\
             7 +++ exited with 0 +++\n",
        );
        let found = calls_in(&text).unwrap();
        let names: Vec<(&str, u64)> = found.calls.iter().map(|(n, c)| (n.as_str(), *c)).collect();
        assert_eq!(
            names,
            [("close", 1), ("fstat", 1), ("openat", 1), ("read", 1)]
        );
        assert_eq!(found.by, CallCounter::Strace);
    }

    #[test]
    fn without_both_marks_nothing_is_counted() {
        let whole = marked("7 read(5, \"\", 3) = 0\n");
        let cut = whole.rfind("7 getpriority").unwrap();
        assert!(calls_in(&whole[..cut]).unwrap_err().contains("ends within"));
        let twice = calls_in(&format!("{whole}7 close(4) = 0\n{whole}")).unwrap();
        assert_eq!(twice.calls, BTreeMap::from([("read".to_owned(), 2)]));
        for text in ["7 read(5, \"\", 3) = 0\n", ""] {
            assert!(calls_in(text).unwrap_err().contains("does not tell"));
        }
    }

    #[test]
    fn a_mark_that_another_thread_interrupts_is_one() {
        let text = marked("7 close(3) = 0\n").replacen(") = -1 ESRCH", " <unfinished ...>", 1);
        let found = calls_in(&text).unwrap();
        assert_eq!(found.calls, BTreeMap::from([("close".to_owned(), 1)]));
    }

    #[test]
    fn another_getpriority_is_a_call_like_others() {
        let found = calls_in(&marked("7 getpriority(PRIO_PROCESS, 0) = 20\n")).unwrap();
        assert_eq!(found.calls, BTreeMap::from([("getpriority".to_owned(), 1)]));
    }
}
