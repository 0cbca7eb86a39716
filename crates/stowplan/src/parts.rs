//! Processes that this program starts of itself, by a verb that is not for people. They are known by the first
//! word alone, before anything else is looked at. Each is in its parent's hands: stdin, stdout, or the system
//! tells it when that has gone.

use crate::error::{CliError, Exit};
use std::ffi::{OsStr, OsString};
use std::io::{stdin, stdout};
use std::path::Path;
use std::str::FromStr;
use stowplan_driver::CrashTask;

type Part = fn(&Words) -> Result<Exit, CliError>;

/// What each of them does.
const PARTS: [(&str, Part); 8] = [
    // Measures blocks for a parent process (docs/driver-format.md).
    ("worker", |_| done(stowplan_driver::built_in())),
    // Keeps a CPU busy until stdin ends, beside a block or a calibration.
    ("busy", |words| {
        let memory = words.has("--memory");
        done(stowplan_driver::keep_busy(stdin(), &mut stdout(), memory))
    }),
    // Permits what a block opens, until stdin ends.
    ("scanner", |words| {
        let reads = words.has("--read");
        stowplan_harness::scanner::listen(words.path(0)?, reads);
        Ok(Exit::Done)
    }),
    // Runs a program of the power-loss lab on the file system that records.
    ("crash-record", |words| {
        let (mount, log) = (words.path(1)?, words.path(2)?);
        stowplan_crashlab::record(words.at(0)?, mount, log, words.at(3)?, &words.command)?;
        Ok(Exit::Done)
    }),
    // Runs a program of the lab in namespaces of its own.
    ("crash-cage", |words| {
        Ok(Exit::of(stowplan_crashlab::cage(
            words.at(0)?,
            &words.command,
        )?))
    }),
    // Is the first process in these namespaces; writes changed pages of mappings early, for whoever records.
    ("crash-init", |words| {
        let early = words.has("--write-back");
        Ok(Exit::of(stowplan_crashlab::init(&words.command, early)?))
    }),
    // Commits to a store in the current directory, and tells of each commit.
    ("crash-workload", |words| {
        let (task, here) = (words.task()?, Path::new("."));
        done(stowplan_driver::workload(&task, here, &mut stdout().lock()))
    }),
    // Judges the crash states of a store that stdin names.
    ("crash-judge", |words| {
        stowplan_crashlab::end_with_parent(words.at(3)?)?;
        let (mut states, mut said) = (stdin().lock(), stdout().lock());
        done(stowplan_driver::judge(
            &words.task()?,
            &mut states,
            &mut said,
        ))
    }),
];

/// Does what one of these processes does, and says how it ended; nothing if this was not started as one.
pub(crate) fn started() -> Option<Exit> {
    let verb = std::env::args_os().nth(1)?;
    let (name, part) = PARTS.into_iter().find(|(name, _)| verb == *name)?;
    let mut words = std::env::args_os().skip(2);
    let own = words.by_ref().take_while(|word| word != "--");
    let is_flag = |word: &OsString| word.as_encoded_bytes().starts_with(b"--");
    let (flags, own) = own.partition(is_flag);
    let words = Words {
        verb: name,
        flags,
        own,
        command: words.collect(),
    };
    Some(crate::ended(part(&words)))
}

/// What stands behind the verb: flags, wherever they stand, words by their places, and a command behind `--`.
struct Words {
    verb: &'static str,
    flags: Vec<OsString>,
    own: Vec<OsString>,
    command: Vec<OsString>,
}

impl Words {
    fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|word| word == flag)
    }

    fn path(&self, at: usize) -> Result<&Path, CliError> {
        let word = self.own.get(at).map(OsString::as_os_str);
        word.map(Path::new).ok_or_else(|| self.wrong(at))
    }

    fn at<T: FromStr>(&self, at: usize) -> Result<T, CliError> {
        let word = self.own.get(at).and_then(|word| OsStr::to_str(word));
        let read = word.and_then(|word| word.parse().ok());
        read.ok_or_else(|| self.wrong(at))
    }

    fn task(&self) -> Result<CrashTask, CliError> {
        Ok(CrashTask {
            store: self.at(0)?,
            seed: self.at(1)?,
            transactions: self.at(2)?,
        })
    }

    fn wrong(&self, at: usize) -> CliError {
        let number = at + 1;
        let text = "stowplan starts this of itself, and it is not for people; 'stowplan --help' lists what is";
        CliError::Usage(format!("{}, word {number}: {text}", self.verb))
    }
}

fn done<E: ToString>(result: Result<(), E>) -> Result<Exit, CliError> {
    result.map_err(|error| CliError::Usage(error.to_string()))?;
    Ok(Exit::Done)
}
