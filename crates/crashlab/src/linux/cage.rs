//! Namespaces in which a program runs: nobody else sees what is mounted there, and when the first
//! process ends, the kernel ends the others and takes the mounts away.
//!
//! Three processes stand in a row, each of which ends when the one before it does: the parent, the cage
//! (this program, in namespaces of its own), and the first process within (this program again, which
//! starts the tested one and is its init). Whichever is killed, nothing stays.

use crate::recording::exit_code;
use crate::{own_program, part, run_error};
use rustix::mount::{MountFlags, mount};
use rustix::process::{Signal, getppid, set_parent_process_death_signal};
use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use stowplan_dataset::namespace::{own_mounts, own_processes};
use stowplan_harness::HarnessError;

const FUSE: &str = "/dev/fuse";
/// This program, for whoever runs it: by its number it is not found in every namespace.
const THIS_PROGRAM: &str = "/proc/self/exe";
/// How long a page of a mapping that was changed stays in memory only. The kernel may write it at any
/// time, and after seconds does.
const WRITE_BACK_AFTER: Duration = Duration::from_millis(1);

/// Ends this process when the one that started it ends, by whatever signal.
///
/// # Errors
/// It has ended already, or the system does not know of such a thing.
pub fn end_with_parent(parent: u32) -> Result<(), HarnessError> {
    die_with_parent()?;
    let alive = getppid().is_some_and(|pid| pid.as_raw_nonzero().get().unsigned_abs() == parent);
    match alive {
        true => Ok(()),
        false => Err(run_error("the process that started this one is gone")),
    }
}

fn die_with_parent() -> Result<(), HarnessError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| run_error(format!("cannot tie this process to its parent: {error}")))
}

/// The code with which a program in a cage ended.
pub(super) fn waited(child: &mut Child) -> Result<i32, HarnessError> {
    let status = child.wait();
    status
        .map(exit_code)
        .map_err(|error| run_error(format!("cannot wait for the program: {error}")))
}

/// What this machine lacks for the lab; nothing if it has all.
pub fn reason_against() -> Option<String> {
    let opened = OpenOptions::new().read(true).write(true).open(FUSE);
    let why = match opened.err().map(|error| error.kind()) {
        None => return refused_namespaces(),
        Some(ErrorKind::NotFound) => {
            "is missing: load the kernel's module (modprobe fuse), or start the container with \
             --device /dev/fuse"
        }
        Some(ErrorKind::PermissionDenied) => {
            "may not be opened: ask for its permissions to be 0666"
        }
        Some(_) => "cannot be opened: the kernel has no FUSE, or the container may not use it",
    };
    Some(format!("{FUSE} {why}"))
}

/// What a cage says in which nothing can be run.
fn refused_namespaces() -> Option<String> {
    let tried = part("crash-cage")
        .ok()?
        .args(["--", "true"])
        .output()
        .ok()?;
    let said = String::from_utf8_lossy(&tried.stderr);
    let said = said.trim().trim_start_matches("error: ");
    (!tried.status.success()).then(|| said.to_owned())
}

/// Moves this process into a mount namespace of its own.
pub(super) fn enter() -> Result<(), HarnessError> {
    own_mounts().map_err(|error| {
        run_error(format!(
            "cannot make namespaces of this user's own ({error}): run as root, or allow them (sysctl \
             kernel.unprivileged_userns_clone=1, user.max_user_namespaces; Ubuntu: \
             kernel.apparmor_restrict_unprivileged_userns=0)"
        ))
    })
}

/// Starts the first process of a new process namespace, which starts the program. It waits for a word,
/// so that it is tied to this process before anything else happens. Once there is such a namespace, this
/// thread can start no other one. Where it is recorded, what it changes in mapped files is written early.
pub(super) fn start(
    command: &[OsString],
    recorded: bool,
    prepare: impl FnOnce(&mut Command),
) -> Result<Child, HarnessError> {
    own_processes()
        .map_err(|error| run_error(format!("cannot make a process namespace: {error}")))?;
    let own = own_program()?;
    let mut process = Command::new(&own);
    process
        .arg("crash-init")
        .args(recorded.then_some("--write-back"))
        .arg("--")
        .args(command)
        .stdin(Stdio::piped());
    prepare(&mut process);
    let refused = || HarnessError::io("start", &own);
    let mut child = process.spawn().map_err(refused())?;
    let go = child
        .stdin
        .take()
        .map_or(Ok(()), |mut stdin| stdin.write_all(b"g"));
    go.map_err(refused())?;
    Ok(child)
}

/// Runs a program in a cage without a mount, and returns its code.
///
/// # Errors
/// There are no namespaces to be had, or the program cannot be started.
pub fn cage(parent: u32, command: &[OsString]) -> Result<i32, HarnessError> {
    end_with_parent(parent)?;
    enter()?;
    waited(&mut start(command, false, |_| {})?)
}

/// Shows the processes of this namespace in `/proc`, by the numbers that they have in it. Without root
/// that is not allowed: then a program that looks itself up there by its number does not find itself.
fn show_own_processes() {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    let _ = mount("proc", "/proc", "proc", flags, None);
}

/// Has the kernel write the changed pages of mappings, again and again: else they would come with the next
/// sync, as they are then, and not as they were at the moments before at which they could have been
/// written. Not for whoever serves the file system, for this waits for it.
fn write_back(ended: &AtomicBool) {
    let Ok(here) = File::open(".") else {
        return;
    };
    while !ended.load(Ordering::Relaxed) && rustix::fs::syncfs(&here).is_ok() {
        thread::sleep(WRITE_BACK_AFTER);
    }
}

/// The first process of a namespace: ties itself to the one that started it, runs the program, and
/// ends with its code. What the program leaves running ends with this. An empty word for the program
/// stands for this one.
///
/// # Errors
/// The program cannot be started.
pub fn init(command: &[OsString], recorded: bool) -> Result<i32, HarnessError> {
    die_with_parent()?;
    let mut word = [0];
    let heard = std::io::stdin().read_exact(&mut word);
    heard.map_err(|_| run_error("the process that started this one is gone"))?;
    show_own_processes();
    let Some((program, arguments)) = command.split_first() else {
        return Err(run_error("no program is named"));
    };
    let program = match program.is_empty() {
        true => OsStr::new(THIS_PROGRAM),
        false => program,
    };
    let mut process = Command::new(program);
    process.args(arguments).stdin(Stdio::null());
    let ended = AtomicBool::new(false);
    let status = thread::scope(|scope| {
        if recorded {
            let _ = thread::Builder::new().spawn_scoped(scope, || write_back(&ended));
        }
        let status = process.status();
        ended.store(true, Ordering::Relaxed);
        status
    });
    status
        .map(exit_code)
        .map_err(HarnessError::io("start", Path::new(program)))
}
